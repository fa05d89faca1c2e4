"""Exact numbers of the form sum of c * e^y, c and y rational, and their signs.

By the theorem of Lindemann and Weierstrass, powers of e with distinct rational exponents are
linearly independent over the rationals: a sum is zero iff every coefficient is. A sum that is not
zero has a sign, which intervals with more and more digits find in the end.

Formally in eps: terms c * eps^k * e^(a eps + r). The functions eps^k e^(a eps) are linearly
independent over the real numbers, so a formal sum is zero for every eps iff every coefficient is.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from blowproof.models import BudgetError
from blowproof.verifier.limits.limit import whole_limit

__all__ = ["MOST_BITS", "Formal", "Number", "Quotient", "Term", "enclosure"]

Term = tuple[int, Fraction, Fraction]
"""(k, a, r), standing for eps^k * e^(a eps + r)."""

FIRST_BITS = whole_limit(__name__, "FIRST_BITS")
MOST_BITS = whole_limit(__name__, "MOST_BITS")
MOST_TERMS = whole_limit(__name__, "MOST_TERMS")
LARGEST_EXPONENT = whole_limit(__name__, "LARGEST_EXPONENT")
MOST_BITS_OF_A_FACTOR = whole_limit(__name__, "MOST_BITS_OF_A_FACTOR")


@dataclass(frozen=True)
class Number:
    """A sum of c * e^y, by y; no coefficient is zero.

    >>> (Number({Fraction(1): Fraction(1)}) - Number({Fraction(0): Fraction(27, 10)})).sign()
    1
    """

    terms: Mapping[Fraction, Fraction]

    def __sub__(self, other: Number) -> Number:
        found = dict(self.terms)
        for power, factor in other.terms.items():
            found[power] = found.get(power, Fraction(0)) - factor
        return Number({power: factor for power, factor in found.items() if factor})

    def __mul__(self, other: Number) -> Number:
        if len(self.terms) * len(other.terms) > MOST_TERMS:
            raise BudgetError("a probability has too many terms to compare it exactly")
        found: dict[Fraction, Fraction] = {}
        for one, a in self.terms.items():
            for two, b in other.terms.items():
                found[one + two] = found.get(one + two, Fraction(0)) + a * b
        return Number({power: factor for power, factor in found.items() if factor})

    def sign(self) -> int:
        """Return -1, 0 or 1, without doubt."""
        if not self.terms:
            return 0
        bits = FIRST_BITS
        while bits <= MOST_BITS:
            low, high = self.between(bits)
            if low > 0 or high < 0:
                return 1 if low > 0 else -1
            bits *= 4
        raise BudgetError("two probabilities are too close to be told apart")

    def between(self, bits: int) -> tuple[Fraction, Fraction]:
        """Return fractions around the number, closer with more bits."""
        low = high = Fraction(0)
        for power, factor in self.terms.items():
            a, b = enclosure(power, bits)
            low += factor * (a if factor > 0 else b)
            high += factor * (b if factor > 0 else a)
        return low, high


def enclosure(power: Fraction, bits: int) -> tuple[Fraction, Fraction]:
    """Return fractions below and above e^power, about 2^-bits apart, relatively.

    The series of e^x for |x| <= 1/2, with its remainder, and then squares, rounded outwards.
    """
    if abs(power) > LARGEST_EXPONENT:
        raise BudgetError(f"e^{power} is out of reach: exponents end at {LARGEST_EXPONENT}")
    if power == 0:
        return Fraction(1), Fraction(1)
    if power < 0:
        below, above = enclosure(-power, bits)
        return 1 / above, 1 / below
    halvings = max(0, (2 * power).__ceil__().bit_length())
    x, width = power / 2**halvings, bits + 2 * halvings + 8
    one = 1 << width
    term, count, total = one, 0, 0
    while term > 0:  # rounded down, a term is at most 2 too small, and the next is half as large
        total += term
        count += 1
        term = term * x.numerator // (x.denominator * count)
    low, high = total, total + 2 * count + 8  # what rounding took, and the terms that are left
    for _ in range(halvings):
        low, high = low * low >> width, (high * high >> width) + 1
    return Fraction(low, one), Fraction(high, one)


def _length(factor: Fraction) -> int:
    return factor.numerator.bit_length() + factor.denominator.bit_length()


@dataclass(frozen=True)
class Formal:
    """A sum of c * eps^k * e^(a eps + r), by (k, a, r); no coefficient is zero."""

    terms: Mapping[Term, Fraction]

    @staticmethod
    def constant(value: Fraction | int) -> Formal:
        """Return a rational number as a sum."""
        return Formal({(0, Fraction(0), Fraction(0)): Fraction(value)} if value else {})

    def __add__(self, other: Formal) -> Formal:
        found = dict(self.terms)
        for term, factor in other.terms.items():
            found[term] = found.get(term, Fraction(0)) + factor
        return Formal({term: factor for term, factor in found.items() if factor})

    def __neg__(self) -> Formal:
        return Formal({term: -factor for term, factor in self.terms.items()})

    def __mul__(self, other: Formal) -> Formal:
        if len(self.terms) * len(other.terms) > MOST_TERMS:
            raise BudgetError("an expression has too many terms")
        found: dict[Term, Fraction] = {}
        for (k, a, r), one in self.terms.items():
            for (m, b, s), two in other.terms.items():
                term = (k + m, a + b, r + s)
                found[term] = found.get(term, Fraction(0)) + one * two
        if any(_length(factor) > MOST_BITS_OF_A_FACTOR for factor in found.values()):
            raise BudgetError("an expression has too long numbers")
        return Formal({term: factor for term, factor in found.items() if factor})

    def at(self, epsilon: Fraction) -> Number:
        """Return the value at a rational epsilon."""
        found: dict[Fraction, Fraction] = {}
        for (k, a, r), factor in self.terms.items():
            power = a * epsilon + r
            found[power] = found.get(power, Fraction(0)) + factor * epsilon**k
        return Number({power: factor for power, factor in found.items() if factor})


@dataclass(frozen=True)
class Quotient:
    """One sum divided by another that is not zero."""

    top: Formal
    bottom: Formal

    @staticmethod
    def of(value: Fraction | int) -> Quotient:
        """Return a rational number."""
        return Quotient(Formal.constant(value), Formal.constant(1))

    def __add__(self, other: Quotient) -> Quotient:
        if self.bottom == other.bottom:
            return Quotient(self.top + other.top, self.bottom)
        return Quotient(
            self.top * other.bottom + other.top * self.bottom, self.bottom * other.bottom
        )

    def __neg__(self) -> Quotient:
        return Quotient(-self.top, self.bottom)

    def __mul__(self, other: Quotient) -> Quotient:
        if self.bottom == other.top:
            return Quotient(self.top, other.bottom)
        if self.top == other.bottom:
            return Quotient(other.top, self.bottom)
        return Quotient(self.top * other.top, self.bottom * other.bottom)

    def inverse(self) -> Quotient:
        """Return 1 divided by the quotient; the caller knows that it is not zero."""
        return Quotient(self.bottom, self.top)

    def equals(self, other: Quotient) -> bool:
        """Whether the two are equal for every eps."""
        return self.top * other.bottom == other.top * self.bottom
