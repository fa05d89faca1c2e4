"""Blocks of a grid, within blocks, within blocks: their counts, and least squares.

Level 0 are the values; a block of level l has up to fan_out^l positions of every ordered attribute,
and one value of every other. Blocks of a level are disjoint, and a block's children are the blocks
of the level below that lie in it; so least squares goes up the tree once and down once, as on a
line (Hay et al. 2010), with any variances and any numbers of children.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from blowproof.models import Domain
from blowproof.models.base.kept import cached_property

__all__ = ["Blocks"]

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Blocks:
    """The blocks of a domain, for one fan-out along each ordered attribute."""

    domain: Domain
    fan_out: int
    levels: int | None = None
    """How many levels are counted (None: all)."""

    @cached_property
    def shapes(self) -> list[tuple[int, ...]]:
        """How many blocks there are along each attribute, level by level.

        The last level has one block along every ordered attribute, and is left out where that is
        all there is: its count is n.

        >>> from blowproof.models import Integers, Labels
        >>> Blocks(Domain(x=Integers(0, 8), y=Integers(0, 4)), 3).shapes
        [(9, 5), (3, 2)]
        >>> Blocks(Domain(x=Integers(0, 8), y=Integers(0, 4), s=Labels(["a", "b"])), 4).shapes
        [(9, 5, 2), (3, 2, 2), (1, 1, 2)]
        """
        kinds = [kind for _, kind in self.domain.attributes]
        found = [tuple(kind.size for kind in kinds)]
        while any(kind.ordered and many > 1 for kind, many in zip(kinds, found[-1], strict=True)):
            found.append(tuple(
                -(-many // self.fan_out) if kind.ordered else many
                for kind, many in zip(kinds, found[-1], strict=True)
            ))  # fmt: skip
        if all(many == 1 for many in found[-1]) and len(found) > 1:
            found.pop()
        return found[: self.levels]

    def vertex(self, level: int) -> Ints:
        """Return the block of a level in which each value lies (row-major)."""
        return self._above(self.shapes[0], self.shapes[level], self.fan_out**level)

    @cached_property
    def parents(self) -> list[Ints]:
        """The block above each block, for all levels but the last."""
        return [
            self._above(below, above, self.fan_out)
            for below, above in zip(self.shapes, self.shapes[1:], strict=False)
        ]

    def _above(self, below: tuple[int, ...], above: tuple[int, ...], width: int) -> Ints:
        places = [
            np.arange(size) // (width if kind.ordered else 1)
            for size, (_, kind) in zip(below, self.domain.attributes, strict=True)
        ]
        found = np.ravel_multi_index(tuple(np.meshgrid(*places, indexing="ij")), above)
        return np.asarray(found, dtype=np.int64).ravel()

    def fitted(
        self, noisy: Sequence[Floats], variances: Sequence[float], size: int | None
    ) -> Floats:
        """Return the counts of all values by least squares from noisy counts of every level.

        `variances` are those of the levels' noise; `size` is n, where it is public.
        """
        best, spread = [noisy[0]], [np.full(len(noisy[0]), variances[0])]
        for level, above in enumerate(self.parents):
            many = len(noisy[level + 1])
            sums = np.bincount(above, weights=best[-1], minlength=many)
            wide = np.bincount(above, weights=spread[-1], minlength=many)
            own = variances[level + 1]
            best.append((noisy[level + 1] * wide + sums * own) / (wide + own))
            spread.append(wide * own / (wide + own))
        top = best[-1]
        if size is not None:
            share = spread[-1] / spread[-1].sum()
            top = top + share * (size - top.sum())
        for level in reversed(range(len(self.parents))):
            above = self.parents[level]
            sums = np.bincount(above, weights=best[level], minlength=len(top))
            wide = np.bincount(above, weights=spread[level], minlength=len(top))
            top = best[level] + spread[level] / wide[above] * (top - sums)[above]
        return top
