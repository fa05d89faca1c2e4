"""All range counts of one ordered attribute."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations

from blowproof.models.base.numbers import Exact
from blowproof.models.domain.regions import Point
from blowproof.models.norms.norm import Counted
from blowproof.models.queries.cumulative import prefix_runs
from blowproof.models.queries.query import BoundQuery, Row

__all__ = ["Ranges"]


@dataclass(frozen=True, repr=False)
class Ranges(BoundQuery):
    """Every range count [i, j] of one ordered attribute: |A|(|A|+1)/2 outputs."""

    axis: int
    size: int
    name: str = "ranges"
    binary = True

    def row(self, point: Point) -> Row:
        """One record adds 1 to every range that holds it."""
        place = point[self.axis]
        return {(i, j): 1 for i in range(place + 1) for j in range(place, self.size)}

    def counted(self, change: Mapping[Point, int]) -> list[Counted]:
        """Return S_j - S_i for all i < j of the prefix sums S_0 = 0, S_1, ..., two runs at once."""
        runs = [(0, 1), *prefix_runs(change, self.axis, self.size)]
        within = sum(length * (length - 1) // 2 for _, length in runs)
        return [
            (0, within),
            *((high - low, one * other) for (low, one), (high, other) in combinations(runs, 2)),
        ]

    def norm(self, change: Mapping[Point, int]) -> Exact:
        """Sum |S_j - S_i| over all pairs i < j of the prefix sums S_0 = 0, S_1, ..., S_|A|."""
        runs = sorted([(0, 1), *prefix_runs(change, self.axis, self.size)])
        total = seen = weighted = 0
        for value, length in runs:
            total += length * (value * seen - weighted)
            seen += length
            weighted += value * length
        return total
