"""Queries, bound to a policy: how much f changes between two databases, exactly.

A bound query answers one question for the engines: `difference(moves)`, the norm of the change of f
when records move (from `before` to `after`; None is a record that is not there, for readings that
add and remove). `row(point)` is one record's own contribution, a sparse vector: every query here
but the weighted sum is the sum of its rows. The norm is L1, unless a query says so in `measure`
(see `stacked`).

The textual form, `parse_query("range(age,18,65)", policy)`, is in `parse`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping
from typing import NamedTuple

from blowproof.models.base.numbers import Exact
from blowproof.models.domain.regions import Point
from blowproof.models.norms import L1, Norm
from blowproof.models.norms.norm import Counted

__all__ = ["BoundQuery", "Move", "Row", "net_change"]

Row = Mapping[Hashable, Exact]


class Move(NamedTuple):
    """One record's change from `before` to `after`; `record` (from 0) where records matter."""

    before: Point | None
    after: Point | None
    record: int | None = None


class BoundQuery(ABC):
    """A query on one domain. `name` is its contract form; `per_record` marks the weighted sum.

    `binary`: all entries of all rows are 0 or 1. `measure` is the norm in which its change counts;
    `width` says how many outputs there are, where somebody needs to know.
    """

    name: str
    per_record: bool = False
    binary: bool = False
    measure: Norm = L1
    width: int | None = None

    @abstractmethod
    def row(self, point: Point) -> Row:
        """Return one record's contribution as a sparse vector of exact numbers."""

    def difference(self, moves: Iterable[Move]) -> Exact:
        """Return the exact norm of f's change under the moves."""
        return self.norm(net_change(moves))

    def norm(self, change: Mapping[Point, int]) -> Exact:
        """Return the norm of f's change when the histogram changes by `change`."""
        return self.measure.of(self.counted(change))

    def counted(self, change: Mapping[Point, int]) -> Iterable[Counted]:
        """Return how the outputs change when the histogram does: (change, how many change so)."""
        total: dict[Hashable, Exact] = defaultdict(int)
        for point, times in change.items():
            for output, value in self.row(point).items():
                total[output] += times * value
        return [(value, 1) for value in total.values() if value]

    def weight(self, output: Hashable) -> Exact:
        """Return how often an output counts in `measure`."""
        return 1

    def still(self, changed: int) -> bool:
        """Return whether some output does not change, where so many may (for the norm `range`)."""
        return self.width is not None and changed < self.width

    def __repr__(self) -> str:
        return self.name


def net_change(moves: Iterable[Move]) -> dict[Point, int]:
    """Return the change of the histogram under the moves, without its zeros.

    >>> net_change([Move((0,), (1,)), Move((1,), (2,))])
    {(0,): -1, (2,): 1}
    """
    change: dict[Point, int] = {}
    for before, after, _ in moves:
        if before is not None:
            change[before] = change.get(before, 0) - 1
        if after is not None:
            change[after] = change.get(after, 0) + 1
    return {point: times for point, times in change.items() if times}
