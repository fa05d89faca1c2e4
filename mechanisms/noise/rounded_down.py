"""Numbers of so many bits times a power of two, every step rounded down: weights of choices.

A number is below the truth by a factor of 1 + 2^(1 - bits) for each step at the most, and never
above it; whoever adds up knows how many steps there were. No float takes part.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from blowproof.mechanisms.noise.exponential import exp_minus

__all__ = ["WORD", "Big", "Powers", "cut", "shifted", "times", "total"]

WORD, DIGIT, SPARE = 8, 6, 64
Big = tuple[int, int]
"""A whole number, and the power of two that it is multiplied by."""


class Powers:
    """exp(-rate k) for whole k up to a largest one, from tables of its digits; rounded down."""

    def __init__(self, rate: Fraction, most: int, bits: int) -> None:
        self._bits = bits
        halvings = max(0, rate.numerator.bit_length() - rate.denominator.bit_length() + 1)
        width = max(1, most.bit_length())
        self._fine = bits + width + halvings + SPARE
        low = exp_minus(rate / 2**halvings, self._fine)[0]
        unit = cut(low, -self._fine, self._fine)
        for _ in range(halvings):
            unit = times(unit, unit, self._fine)
        self._tables: list[list[Big]] = []
        for _ in range(0, width, DIGIT):
            self._tables.append([(1 << self._fine - 1, 1 - self._fine), unit])
            for _ in range(DIGIT):  # rounded down as often as by one product after the other
                unit = times(unit, unit, self._fine)

    def __call__(self, steps: int) -> Big:
        """Return exp(-rate * steps), at most 2^(2 - bits) of it too little.

        Powers of a digit are multiplied out as far as some number of steps has asked for.
        """
        result: Big = (1 << self._fine - 1, 1 - self._fine)
        for row in self._tables:
            if digit := steps & (1 << DIGIT) - 1:
                while len(row) <= digit:
                    row.append(times(row[-1], row[1], self._fine))
                result = times(result, row[digit], self._fine)
            steps >>= DIGIT
        return cut(*result, self._bits)


def cut(mantissa: int, power: int, bits: int) -> Big:
    """Return a number with so many bits, rounded down."""
    more = mantissa.bit_length() - bits
    return (mantissa >> more if more >= 0 else mantissa << -more), power + more


def times(one: Big, two: Big, bits: int) -> Big:
    """Return a product, rounded down."""
    return cut(one[0] * two[0], one[1] + two[1], bits)


def shifted(number: Big, lowest: int) -> int:
    """Return a number in units of 2**lowest, rounded down."""
    move = number[1] - lowest
    return number[0] << move if move >= 0 else number[0] >> -move


def total(terms: Sequence[Big], bits: int) -> Big:
    """Return a sum, rounded down; of terms that are far smaller than the largest, less is kept."""
    lowest = max(power for _, power in terms) - WORD
    return cut(sum(shifted(term, lowest) for term in terms), lowest, bits)
