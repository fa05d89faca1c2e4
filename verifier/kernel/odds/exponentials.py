"""Sums of c * e^x with fractions c and x, and their signs: in whole numbers, without any doubt.

Powers of e with different rational exponents are independent over the rationals (Lindemann and
Weierstrass), so a sum is 0 iff every c is; else more and more digits find its sign in the end.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from ..document import Budget, Rejected

Sum = dict[Fraction, Fraction]
"""Coefficients by exponent; none of them is 0."""

BITS = (64, 256, 1024, 4096)
LARGEST = 2_000


def add(into: Sum, other: Mapping[Fraction, Fraction], times: Fraction = Fraction(1)) -> None:
    """Add a multiple of one sum to another."""
    for power, factor in other.items():
        total = into.get(power, Fraction(0)) + factor * times
        if total:
            into[power] = total
        else:
            into.pop(power, None)


def product(one: Mapping[Fraction, Fraction], two: Mapping[Fraction, Fraction]) -> Sum:
    """Return the product of two sums."""
    found: Sum = {}
    for power, factor in one.items():
        add(found, {power + other: value for other, value in two.items()}, factor)
    return found


def positive(number: Mapping[Fraction, Fraction], budget: Budget) -> bool:
    """Whether a sum is above 0."""
    if not number:
        return False
    budget.spend(8 * len(number))
    if all(factor > 0 for factor in number.values()):
        return True
    if all(factor < 0 for factor in number.values()):
        return False
    for bits in BITS:
        budget.spend(len(number) * bits)
        low = high = Fraction(0)
        for power, factor in number.items():
            below, above = exp(power, bits)
            low += factor * (below if factor > 0 else above)
            high += factor * (above if factor > 0 else below)
        if low > 0 or high < 0:
            return low > 0
    raise Rejected("two probabilities are too close to be told apart", limit=True)


def exp(power: Fraction, bits: int) -> tuple[Fraction, Fraction]:
    """Return fractions below and above e^power."""
    if abs(power) > LARGEST:
        raise Rejected("an exponent is out of reach", limit=True)
    if power < 0:
        below, above = exp(-power, bits)
        return 1 / above, 1 / below
    halvings = (2 * power).__ceil__().bit_length()
    x, one = power / 2**halvings, 1 << (bits + 2 * halvings + 16)
    total = term = one
    count = 0
    while term:  # |x| <= 1/2: what is left is less than the last term, and rounding lost 1 each
        count += 1
        term = term * x.numerator // (x.denominator * count)
        total += term
    low, high = total, total + 2 * count + 4
    for _ in range(halvings):
        low, high = low * low // one, high * high // one + 1
    return Fraction(low, one), Fraction(high, one)
