"""The noise that S is for, in each norm: what its parameter must be for what is promised.

    l1          Laplace on every number, scale S / epsilon
    l2-squared  Gaussian on every number, variance S / (2 rho), for rho-zCDP
    linf        the place of the largest number, after Laplace noise of scale 2 S / epsilon on each
    range       the exponential mechanism: a place is chosen by exp(number / scale), S / epsilon

Each is exact but the third: noise on all numbers moves the largest by no more than the largest
change either way, and by no more than the range of the changes (`certify` takes the smaller one).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import inf, pi, sqrt

from blowproof.models import Exact, show
from blowproof.models.policy.in_words import number

__all__ = ["NOISE", "Noise"]


@dataclass(frozen=True)
class Noise:
    """A kind of noise: its parameter (a scale, a variance) is `per` * S / what is promised."""

    kind: str
    name: str
    parameter: str
    promise: str
    per: Fraction

    def needed(self, size: Exact, promised: Fraction) -> Fraction:
        """Return the parameter that is enough for changes of this size."""
        return self.per * size / promised

    def covers(self, parameter: Fraction, promised: Fraction) -> Fraction:
        """Return the size of changes that a parameter is enough for."""
        return parameter * promised / self.per

    def deviation(self, parameter: Exact) -> float:
        """Return the standard deviation of one draw, for people."""
        try:
            value = float(parameter)
        except OverflowError:
            return inf
        return sqrt(value) if self.parameter == "variance" else sqrt(2) * value

    def expected(self, parameter: Exact) -> float:
        """Return by how much one draw is off on average, for people."""
        deviation = self.deviation(parameter)
        return deviation * sqrt(2 / pi) if self.parameter == "variance" else deviation / sqrt(2)

    def as_large_as(self, parameter: Exact, size: int) -> bool:
        """Whether the noise is at least as large as a number: compared without rounding."""
        return parameter >= (size * size if self.parameter == "variance" else size)

    def order(self, parameter: Fraction) -> str:
        """Return what to do with so much noise, as an order."""
        amount = number(parameter)
        if self.kind == "noisy-maximum":
            laplace = f"Laplace noise of scale {amount}"
            return f"Publish where the largest is, with {laplace} on each number,"
        if self.kind == "exponential":
            return f"Publish one place, each chosen with a weight of exp(its number / {amount}),"
        return f"Add {self.name} noise of {self.parameter} {amount} to each number"

    def allowed(self, query: str, parameter: Fraction) -> str:
        """Return what may be published with so much noise."""
        amount = number(parameter)
        if self.kind == "noisy-maximum":
            laplace = f"with Laplace noise of scale {amount} on each number"
            return f"where {query} is largest may be published, {laplace},"
        if self.kind == "exponential":
            chosen = f"each chosen with weight exp(its number / {amount})"
            return f"one place of {query} may be published, {chosen},"
        return f"{query} may be published with {self.name} noise of {self.parameter} {amount}"

    def words(self, parameter: Fraction, promised: Fraction) -> str:
        """Return how much noise that is, and what is promised, in a sentence."""
        amount, aim = number(parameter), f"for {self.promise} = {show(promised)}"
        if self.kind == "exponential":
            return f"{self.name}, weights exp(number / {amount}) {aim}."
        if self.kind == "noisy-maximum":
            return f"{self.name}, Laplace of scale {amount} {aim}."
        expected = amount if self.kind == "laplace" else _rounded(self.expected(parameter))
        return (
            f"{self.name} of {self.parameter} {amount} {aim}: each number is then off by "
            f"{expected} on average (standard deviation {_rounded(self.deviation(parameter))})."
        )


def _rounded(value: float) -> str:
    """Return a number to four digits, as numbers are written beside it.

    >>> _rounded(5.6568), _rounded(4751716.8), _rounded(inf)
    ('5.657', '4,752,000', 'inf')
    """
    if not 9999.5 <= value < inf:
        return f"{value:.4g}"
    digits = f"{value:.3e}"
    return number(int(digits[0] + digits[2:5]) * 10 ** (int(digits[6:]) - 3))


NOISE = {
    "l1": Noise("laplace", "Laplace", "scale", "epsilon", Fraction(1)),
    "l2-squared": Noise("gaussian", "Gaussian", "variance", "rho", Fraction(1, 2)),
    "linf": Noise("noisy-maximum", "noisy maximum", "scale", "epsilon", Fraction(2)),
    "range": Noise("exponential", "exponential mechanism", "scale", "epsilon", Fraction(1)),
}
"""By the name of the norm."""
