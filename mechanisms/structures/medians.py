"""What intervals cost, by the sum of |count - median|: whole numbers, which a record changes by 1.

The sum of |count - m| is least at the median, and each such sum changes by at most 1 when a count
does; the sum about the mean may change by nearly 2. So a partition that is drawn by these costs is
drawn with half the noise.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from blowproof.mechanisms.answers.vectors import largest, prefix_sums, roomy
from blowproof.mechanisms.structures.partitions import Ranked

__all__ = ["FINE", "median_costs"]

FINE = 64
"""Costs are whole multiples of one over this."""
Ints = NDArray[Any]


def median_costs(counts: Ints, rows: int, penalty: Fraction) -> Ints:
    """Return the cost of each bucket of 2**row values that ends before each place, times `FINE`.

    >>> median_costs(np.array([1, 3, 3]), 2, Fraction(1)).tolist()
    [[0, 64, 64, 64], [0, 0, 192, 64]]
    """
    size, fixed = len(counts), round(FINE * penalty)
    # a deviation is at most the sum of all counts
    (counts,) = roomy(2 * FINE * size * largest(counts) + abs(fixed), counts)
    costs = np.zeros((rows, size + 1), dtype=counts.dtype)
    costs[0, 1:] = fixed
    ranked, before = Ranked(counts), prefix_sums(counts)
    for row in range(1, rows):
        length = 1 << row
        first = np.arange(size - length + 1)
        low = ranked.smallest(np.full(len(first), length // 2), first, first + length)
        costs[row, length:] = FINE * (before[length:] - before[:-length] - 2 * low) + fixed
    return costs
