"""Blocks of a grid, each cut in halves along one attribute: what a partition is drawn from.

Level 0 are the values. Each level above joins two neighbouring blocks along the ordered attribute
that has most blocks left, so that blocks are about as many of the domain's parts wide along every
attribute; values of attributes without an order are never joined. Sizes that are no powers of two
leave narrower blocks at the end.

A block costs the sum of |count - median| over its values (`medians`), and a public penalty.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from blowproof.mechanisms.answers.vectors import largest, prefix_sums, roomy
from blowproof.mechanisms.structures.medians import FINE
from blowproof.models import Domain
from blowproof.models.base.kept import cached_property

__all__ = ["Halvings"]

Ints = NDArray[Any]


@dataclass(frozen=True, eq=False)
class Halvings:
    """The blocks of a domain."""

    domain: Domain

    @cached_property
    def widths(self) -> list[tuple[int, ...]]:
        """How many positions a block of each level has along each attribute.

        >>> from blowproof.models import Integers, Labels
        >>> Halvings(Domain(x=Integers(0, 3), y=Integers(0, 2), s=Labels(["a", "b"]))).widths
        [(1, 1, 1), (2, 1, 1), (2, 2, 1), (4, 2, 1), (4, 4, 1)]
        """
        kinds = [kind for _, kind in self.domain.attributes]
        found = [(1,) * len(kinds)]
        while True:
            left = [-(-kind.size // wide) if kind.ordered else 1
                    for kind, wide in zip(kinds, found[-1], strict=True)]  # fmt: skip
            axis = left.index(max(left))
            if left[axis] == 1:
                return found
            found.append(tuple(wide * (1 + (at == axis)) for at, wide in enumerate(found[-1])))

    @property
    def count(self) -> int:
        """How many blocks there are on all levels together."""
        sizes = [kind.size for _, kind in self.domain.attributes]
        return sum(
            prod(-(-size // wide) for size, wide in zip(sizes, widths, strict=True))
            for widths in self.widths
        )

    def vertex(self, level: int) -> NDArray[np.int64]:
        """Return the block of a level in which each value lies (row-major)."""
        sizes = [kind.size for _, kind in self.domain.attributes]
        return _blocks(sizes, self.widths[level])

    @cached_property
    def parents(self) -> list[NDArray[np.int64]]:
        """The block above each block, for all levels but the last."""
        kinds = [kind for _, kind in self.domain.attributes]
        found = []
        for low, high in zip(self.widths, self.widths[1:], strict=False):
            many = [-(-kind.size // wide) for kind, wide in zip(kinds, low, strict=True)]
            found.append(_blocks(many, [b // a for a, b in zip(low, high, strict=True)]))
        return found

    def costs(self, counts: Ints, penalty: Fraction) -> list[Ints]:
        """Return what each block costs, level by level, in units of 1 / `FINE`.

        >>> from blowproof.models import Integers
        >>> [row.tolist() for row in Halvings(Domain(x=Integers(0, 2))).costs(
        ...     np.array([5, 5, 9]), Fraction(1, 2))]
        [[32, 32, 32], [32, 32], [288]]
        """
        fixed = round(FINE * penalty)
        # a deviation is at most the sum of all counts
        bound = 2 * FINE * len(counts) * largest(counts) + abs(fixed)
        (counts,) = roomy(bound, counts)
        ranked = np.argsort(counts, kind="stable")
        found = []
        for level in range(len(self.widths)):
            vertex = self.vertex(level)
            order = ranked[np.argsort(vertex[ranked], kind="stable")]  # by block, then by count
            (sums,) = roomy(bound, prefix_sums(counts[order]))
            ends = np.cumsum(np.bincount(vertex))
            begins = np.concatenate([[0], ends[:-1]])
            low, high = (begins + ends) // 2, -(-(begins + ends) // 2)
            found.append(FINE * (sums[ends] - sums[high] - sums[low] + sums[begins]) + fixed)
        return found

    def buckets(self, whole: Sequence[Sequence[int]]) -> NDArray[np.int64]:
        """Return the bucket of each value, where these blocks of each level are the buckets."""
        found = np.full(self.domain.size, -1, dtype=np.int64)
        reached = 0
        for level, some in enumerate(whole):
            vertex = self.vertex(level)
            number = np.full(int(vertex.max()) + 1, -1, dtype=np.int64)
            number[np.asarray(some, dtype=np.int64)] = reached + np.arange(len(some))
            found = np.where(number[vertex] >= 0, number[vertex], found)
            reached += len(some)
        return found


def _blocks(sizes: Sequence[int], widths: Sequence[int]) -> NDArray[np.int64]:
    """Return the block of every cell of a table, for blocks of some cells along each axis."""
    places = [np.arange(size) // wide for size, wide in zip(sizes, widths, strict=True)]
    many = [-(-size // wide) for size, wide in zip(sizes, widths, strict=True)]
    found = np.ravel_multi_index(tuple(np.meshgrid(*places, indexing="ij")), many)
    return np.asarray(found, dtype=np.int64).ravel()
