"""Noisy prefix counts made to rise, in straight stretches where those explain the noise as well.

Where neighbouring counts are alike, their prefixes lie on a line, and a line through many noisy
numbers is far closer to the truth than each of them. Isotonic regression does not know that: its
steps follow the noise. So every stretch of 16, 32, 64, ... prefixes is asked which explains it more
cheaply: one line, its best halves, or the nearest rising sequence. A description costs its sum of
squares in variances of the noise (which is public), and `EACH` for every free number: two of a
line, one of each level of a rising sequence. The halves' best is known before the whole's, so all
stretches take no more than a few passes over the numbers.

Scattered counts are left to isotonic regression, or nearly so (within 3 % on the seven histograms
of the papers at epsilon 0.1). Where counts are alike the error of a count falls from 3.8 to 2.1
(medcost), and from 20 to nearly nothing where all are equal. It looks at noisy numbers only.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from blowproof.mechanisms.estimates.isotonic import rising

__all__ = ["EACH", "SHORTEST", "rising_straight"]

Floats = NDArray[np.float64]
SHORTEST = 16
"""Prefixes in the shortest stretch that may become a line: few numbers lie on one by chance."""
EACH = 3.0
"""What a free number costs, in squares of one standard deviation. At 2, chance makes it worth its
price too often among so many stretches; at 4 bends are cut off."""


def rising_straight(values: Floats, variance: float, *, most: int | None) -> Floats:
    """Return a rising sequence from 0 to `most` near the values, whose noise has this variance.

    >>> noisy = np.arange(64.0) + np.tile([3.0, -3.0], 32)
    >>> found = rising_straight(noisy, 9.0, most=63)
    >>> bool(abs(found - np.arange(64)).max() < 1)
    True
    >>> rising_straight(np.array([5.0, 1.0]), 0.0, most=None).tolist()
    [3.0, 3.0]
    """
    steps = rising(values, most=most)
    whole = len(values) // SHORTEST
    if variance <= 0 or not whole:
        return steps
    levels = np.diff(steps, prepend=-np.inf) > 0
    cost = (values - steps) ** 2 / variance + EACH * levels
    fitted = steps.copy()
    _draw_lines(fitted, *_lines(values, cost, variance))
    return rising(fitted, most=most)


def _lines(
    values: Floats, cost: Floats, variance: float
) -> tuple[list[NDArray[np.bool_]], list[Floats], list[Floats]]:
    """Return for each length of stretches which of them a line is best for, and the lines.

    A stretch is as long as its length says, or not looked at: what is left over at the end stays.
    A line goes through `middle` with a `slope`; what it leaves of a whole follows from what lines
    leave of its halves, and from how far these are from it: nothing large is subtracted.
    """
    length, many = SHORTEST, len(values) // SHORTEST
    table = values[: many * length].reshape(many, length)
    at, spread = np.arange(length) - (length - 1) / 2, _spread(length)
    middle = table.mean(axis=1)
    slope = (table - middle[:, None]) @ at / spread
    left = ((table - middle[:, None] - slope[:, None] * at) ** 2).sum(axis=1)
    best = cost[: many * length].reshape(many, length).sum(axis=1)
    found, middles, slopes = [], [], []
    while True:
        straight = left / variance + 2 * EACH
        found.append(straight < best)
        middles.append(middle)
        slopes.append(slope)
        best = np.minimum(straight, best)
        many //= 2
        if not many:
            return found, middles, slopes
        ends, turns, left, best = (
            part[: 2 * many].reshape(many, 2) for part in (middle, slope, left, best)
        )
        rise, half, spread = ends[:, 1] - ends[:, 0], length, _spread(2 * length)
        middle = ends.mean(axis=1)
        slope = (turns.sum(axis=1) * _spread(half) + rise * (half * half / 2)) / spread
        beside = 2 * half * ((rise - slope * half) / 2) ** 2
        turned = ((turns - slope[:, None]) ** 2).sum(axis=1) * _spread(half)
        left = left.sum(axis=1) + beside + turned
        best = best.sum(axis=1)
        length *= 2


def _spread(length: int) -> float:
    """Return the sum of squares of so many places in a row about their middle."""
    return length * (length * length - 1) / 12


def _draw_lines(
    fitted: Floats, found: list[NDArray[np.bool_]], middles: list[Floats], slopes: list[Floats]
) -> None:
    """Put the lines into their places, the longest stretches last: they cover the others."""
    length = SHORTEST
    for chosen, middle, slope in zip(found, middles, slopes, strict=True):
        at = np.arange(length) - (length - 1) / 2
        places = np.flatnonzero(chosen)
        lines = middle[places, None] + slope[places, None] * at
        fitted[: len(chosen) * length].reshape(len(chosen), length)[places] = lines
        length *= 2
