"""Natural logarithms of fractions, enclosed between fractions."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache

from blowproof.models import BudgetError
from blowproof.verifier.limits.limit import whole_limit

__all__ = ["logarithm", "rounded_down", "rounded_up"]

MOST_BITS = whole_limit(__name__, "MOST_BITS")


def logarithm(x: Fraction, bits: int = 96) -> tuple[Fraction, Fraction]:
    """Return fractions around ln x, for x > 0, some 2^-bits apart.

    ln x = k ln 2 + 2 artanh((m - 1) / (m + 1)) with x = 2^k m and 2/3 <= m <= 4/3, where the last
    fraction is at most 1/5.

    >>> low, high = logarithm(Fraction(10))
    >>> float(low), high - low < Fraction(1, 2**80)
    (2.302585092994046, True)
    """
    length = x.numerator.bit_length() + x.denominator.bit_length()
    if length > MOST_BITS:
        raise BudgetError("a number is too long for its logarithm")
    power = x.numerator.bit_length() - x.denominator.bit_length()
    rest = x / Fraction(2) ** power
    while rest > Fraction(4, 3):
        rest, power = rest / 2, power + 1
    while rest < Fraction(2, 3):
        rest, power = rest * 2, power - 1
    width = bits + power.bit_length() + 8
    low, high = _artanh((rest - 1) / (rest + 1), width)
    below, above = _ln_2(width)
    if power < 0:
        below, above = above, below
    return 2 * low + power * below, 2 * high + power * above


@lru_cache(maxsize=64)
def _ln_2(bits: int) -> tuple[Fraction, Fraction]:
    low, high = _artanh(Fraction(1, 3), bits)
    return 2 * low, 2 * high


def _artanh(x: Fraction, bits: int) -> tuple[Fraction, Fraction]:
    """Return fractions around artanh x for |x| <= 1/3: x + x^3/3 + x^5/5 + ...

    In units of 2^-width every power is rounded down, so it is at most 2 too small; what is left out
    is less than the last power.
    """
    if x < 0:
        low, high = _artanh(-x, bits)
        return -high, -low
    width = bits + 8
    power = (x.numerator << width) // x.denominator
    square = x * x
    top, bottom = square.numerator, square.denominator
    total = count = 0
    while power > 0:
        total += power // (2 * count + 1)
        count += 1
        power = power * top // bottom
    return Fraction(total, 1 << width), Fraction(total + 3 * count + 4, 1 << width)


def rounded_up(x: Fraction, digits: int = 12) -> Fraction:
    """Return x, or the next fraction above it with so many decimal places.

    >>> rounded_up(Fraction(1, 3), 4), rounded_up(Fraction(1, 2), 4)
    (Fraction(1667, 5000), Fraction(1, 2))
    """
    return Fraction(-int(-x * 10**digits // 1), 10**digits)


def rounded_down(x: Fraction, digits: int = 12) -> Fraction:
    """Return x, or the next fraction below it with so many decimal places."""
    return -rounded_up(-x, digits)
