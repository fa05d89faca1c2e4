"""Ratios of polynomials in one variable: the largest value over z > 0, an algebraic number.

R(z) = a(z) / b(z), with coefficients that are not negative. Its largest value is a limit (z to 0 or
to infinity: corners, which are tried elsewhere), or R(z0) at a root z0 of a'b - ab'. Roots are
isolated exactly (sympy); since a and b grow, R on a short interval lies between two fractions, and
the value's minimal polynomial is a factor of the resultant of that root's polynomial and a - y b.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import gcd
from typing import Any

from blowproof.verifier.limits.limit import whole_limit

__all__ = ["Algebraic", "Peak", "peaks"]

DEGREE = whole_limit(__name__, "DEGREE")
"""Values at roots of a higher degree are bounded, not named."""
NARROW = Fraction(1, 10**30)


@dataclass(frozen=True)
class Algebraic:
    """A real root of a polynomial with whole coefficients, the only one between two fractions.

    >>> two = Algebraic((1, 0, -2), Fraction(1), Fraction(2))
    >>> two.text, [float(x) for x in two.between(20)]
    ('sqrt(2)', [1.41421..., 1.41421...])
    """

    coefficients: tuple[int, ...]
    """The highest power first."""
    low: Fraction
    high: Fraction

    def _at(self, x: Fraction) -> Fraction:
        return _at(self.coefficients, x)

    def between(self, bits: int) -> tuple[Fraction, Fraction]:
        """Return fractions around it, at most 2^-bits apart."""
        low, high = self.low, self.high
        rising = self._at(high) > 0
        while high - low > Fraction(1, 1 << bits):
            middle = (low + high) / 2
            at = self._at(middle)
            if at == 0:
                return middle, middle
            low, high = (low, middle) if (at > 0) is rising else (middle, high)
        return low, high

    @property
    def text(self) -> str:
        """It as an expression with roots up to degree 2, else as a root of its polynomial."""
        import sympy

        y = sympy.Symbol("y")
        polynomial = sympy.Poly(self.coefficients, y)
        if polynomial.degree() <= 2:
            for root in sympy.roots(polynomial, multiple=True):
                if self.low <= _fraction(root.evalf(40)) <= self.high:
                    return str(sympy.radsimp(root))
        near = float(sum(self.between(60))) / 2
        return f"root of {polynomial.as_expr()} near {near:.12g}"


@dataclass(frozen=True)
class Peak:
    """A value that is reached: where (a fraction near z0), and the value, exactly or between."""

    place: Fraction
    low: Fraction
    high: Fraction
    exact: Algebraic | Fraction | None


def peaks(tops: Sequence[Fraction], bottoms: Sequence[Fraction]) -> list[Peak]:
    """Return the values of a / b at its critical points z > 0; coefficients from z^0 on."""
    import sympy

    z = sympy.Symbol("z")
    one, two = (_poly(numbers, z) for numbers in (tops, bottoms))
    critical = one.diff() * two - one * two.diff()
    found: list[Peak] = []
    if critical.is_zero:
        return found
    for factor, _ in critical.factor_list()[1]:
        for (low, high), _ in factor.intervals(inf=0, eps=sympy.Rational(1, 10**12)):
            ends = _fraction(low), _fraction(high)
            if ends[1] > 0:
                found.append(_peak(factor, ends, one, two))
    return found


def _poly(numbers: Sequence[Fraction], z: Any) -> Any:
    import sympy

    rationals = [sympy.Rational(x.numerator, x.denominator) for x in reversed(numbers)]
    return sympy.Poly(rationals, z, domain="QQ")


def _peak(factor: Any, ends: tuple[Fraction, Fraction], one: Any, two: Any) -> Peak:
    root = Algebraic(_whole(factor), *ends)
    low, high = ends if ends[0] == ends[1] else root.between(120)
    tops, bottoms = ([_fraction(c) for c in poly.all_coeffs()] for poly in (one, two))
    least, most = _at(tops, low) / _at(bottoms, high), _at(tops, high) / _at(bottoms, low)
    place = (low + high) / 2
    if low == high:
        return Peak(place, least, most, least)
    exact = _value(factor, one, two, least, most) if factor.degree() <= DEGREE else None
    return Peak(place, least, most, exact)


def _value(
    factor: Any, one: Any, two: Any, least: Fraction, most: Fraction
) -> Algebraic | Fraction | None:
    """Return the value as the root of a polynomial; None where two roots are too close to it."""
    import sympy

    y = sympy.Symbol("y")
    z = factor.gen
    difference = sympy.Poly(one.as_expr() - y * two.as_expr(), z, y)
    eliminated = sympy.resultant(factor.as_expr(), difference.as_expr(), z)
    candidates = []
    for part, _ in sympy.Poly(eliminated, y).factor_list()[1]:
        low, high = (sympy.Rational(x.numerator, x.denominator) for x in (least, most))
        for (a, b), _ in part.intervals(eps=sympy.Rational(1, 10**20)):
            if a <= high and b >= low:
                candidates.append((part, _fraction(a), _fraction(b)))
    if len(candidates) != 1:
        return None
    part, a, b = candidates[0]
    if part.degree() == 1:
        slope, rest = (_fraction(c) for c in part.all_coeffs())
        return -rest / slope
    return Algebraic(_whole(part), a, b)


def _whole(poly: Any) -> tuple[int, ...]:
    numbers = [_fraction(c) for c in poly.clear_denoms()[1].all_coeffs()]
    common = gcd(*(int(x) for x in numbers))
    return tuple(int(x) // common for x in numbers)


def _at(coefficients: Sequence[int] | Sequence[Fraction], x: Fraction) -> Fraction:
    value = Fraction(0)
    for number in coefficients:
        value = value * x + number
    return value


def _fraction(number: Any) -> Fraction:
    import sympy

    exact = sympy.Rational(number)
    return Fraction(int(exact.p), int(exact.q))
