"""The cumulative histogram of one ordered attribute."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

from blowproof.models.domain.regions import Point
from blowproof.models.norms.norm import Counted
from blowproof.models.queries.query import BoundQuery, Row

__all__ = ["Cumulative", "prefix_runs"]


@dataclass(frozen=True, repr=False)
class Cumulative(BoundQuery):
    """The cumulative histogram s_i of one ordered attribute: how many records are at most i."""

    axis: int
    size: int
    name: str = "cumulative"
    binary = True

    def row(self, point: Point) -> Row:
        """One record adds 1 to every prefix that reaches it."""
        return dict.fromkeys(range(point[self.axis], self.size), 1)

    def counted(self, change: Mapping[Point, int]) -> list[Counted]:
        """Return the prefix sums, run by run: the axis is never walked."""
        return list(prefix_runs(change, self.axis, self.size))


def prefix_runs(change: Mapping[Point, int], axis: int, size: int) -> list[tuple[int, int]]:
    """Return the prefix sums of a change along an axis, as (value, how many positions)."""
    steps: dict[int, int] = defaultdict(int)
    for point, times in change.items():
        steps[point[axis]] += times
    runs: list[tuple[int, int]] = []
    running, last = 0, 0
    for place in sorted(steps):
        if place > last:
            runs.append((running, place - last))
        running, last = running + steps[place], place
    runs.append((running, size - last))
    return runs
