"""exp(-x) for a fraction x >= 0, enclosed between integers times 2^-precision.

Only integer arithmetic, every rounding away from the value, so the enclosures are theorems. The
samplers compare random bits with them.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

__all__ = ["Bounds", "exp_minus", "gaussian_powers", "powers_of_exp_minus"]

Bounds = tuple[int, int]


def exp_minus(x: Fraction, precision: int) -> Bounds:
    """Return (low, high) with low <= 2^precision exp(-x) <= high, at most a few units apart.

    >>> exp_minus(Fraction(0), 4), exp_minus(Fraction(1), 20)
    ((16, 16), (385749, 385750))
    """
    if x == 0:
        return 1 << precision, 1 << precision
    if x > precision:  # exp(-x) < 2^-x
        return 0, 1
    halvings = max(0, x.numerator.bit_length() - x.denominator.bit_length() + 2)
    bits = precision + halvings + 16
    one = 1 << 2 * bits
    low, high = _exp(x / 2**halvings, bits)
    low, high = one // high, -(-one // low)
    for _ in range(halvings):
        low, high = low * low >> bits, _up(high * high, bits)
    shift = bits - precision
    return low >> shift, _up(high, shift)


def powers_of_exp_minus(x: Fraction, precision: int) -> Iterator[Bounds]:
    """Yield enclosures of exp(-x), exp(-2x), ...: each about one unit wider than the one before."""
    low, high = exp_minus(x, precision)
    first_low, first_high = low, high
    while True:
        yield low, high
        low, high = low * first_low >> precision, _up(high * first_high, precision)


def gaussian_powers(
    first: Fraction, step: Fraction, variance: Fraction, precision: int
) -> Iterator[Bounds]:
    """Yield enclosures of exp(-x^2 / (2 variance)) for x = first, first + step, ..., both >= 0.

    Each is the one before times exp(-(2 x step + step^2) / (2 variance)), and those factors in turn
    fall by exp(-step^2 / variance) each: so an enclosure is a few units wider than the one before.

    >>> list(zip(range(2), gaussian_powers(Fraction(0), Fraction(1), Fraction(1, 2), 20)))
    [(0, (1048576, 1048576)), (1, (385749, 385750))]
    """
    low, high = exp_minus(first**2 / (2 * variance), precision)
    factor = exp_minus((2 * first + step) * step / (2 * variance), precision)
    fall = exp_minus(step**2 / variance, precision)
    while True:
        yield low, high
        low, high = low * factor[0] >> precision, _up(high * factor[1], precision)
        factor = factor[0] * fall[0] >> precision, _up(factor[1] * fall[1], precision)


def _exp(x: Fraction, bits: int) -> Bounds:
    """Return bounds on 2^bits exp(x) for 0 < x < 1: the series, and twice its first missing term.

    From the second term on each term is at most half of the one before.
    """
    above, each = x.numerator, x.denominator
    low = high = 1 << bits
    term_low = term_high = low
    k = below = 0
    while term_high > 1 or k < 2:
        k += 1
        below += each
        term_low = term_low * above // below
        term_high = -(-term_high * above // below)
        low += term_low
        high += term_high
    return low, high + 2


def _up(value: int, shift: int) -> int:
    """Return value / 2^shift, rounded up."""
    return -(-value >> shift)
