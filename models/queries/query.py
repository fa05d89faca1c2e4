"""Queries, bound to a policy: how much f changes between two databases, exactly.

A bound query answers one question for the engines: `difference(moves)`, the L1 norm of the change
of f when records move (from `before` to `after`; None is a record that is not there, for readings
that add and remove). `row(point)` is one record's own contribution, a sparse vector: every query
here but the weighted sum is the sum of its rows.

The textual form, `parse_query("range(age,18,65)", policy)`, is in `parse`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

from blowproof.models.base.numbers import Exact, magnitude, plain
from blowproof.models.base.numbers import total as plain_sum
from blowproof.models.domain.domain import Domain
from blowproof.models.domain.regions import Area, Point

__all__ = [
    "BoundQuery",
    "ClusterSizes",
    "ClusterSums",
    "CountQuery",
    "Cumulative",
    "Histogram",
    "MarginalQuery",
    "MatrixQuery",
    "Move",
    "PartitionHistogram",
    "Ranges",
    "SumQuery",
    "WeightedSum",
]

Row = Mapping[Hashable, Exact]


class Move(NamedTuple):
    """One record's change from `before` to `after`; `record` (from 0) where records matter."""

    before: Point | None
    after: Point | None
    record: int | None = None


class HasCells(Protocol):
    """A secret partition: all that the partition query needs of it."""

    def cell_of(self, point: Point) -> Hashable:
        """Return the key of the cell that holds a point."""


class BoundQuery(ABC):
    """A query on one domain. `name` is its contract form; `per_record` marks the weighted sum."""

    name: str
    per_record: bool = False

    @abstractmethod
    def row(self, point: Point) -> Row:
        """Return one record's contribution as a sparse vector of exact numbers."""

    def difference(self, moves: Iterable[Move]) -> Exact:
        """Return the exact L1 norm of f's change under the moves."""
        return self.norm(net_change(moves))

    def norm(self, change: Mapping[Point, int]) -> Exact:
        """Return the L1 norm of f's change when the histogram changes by `change`."""
        total: dict[Hashable, Exact] = defaultdict(int)
        for point, times in change.items():
            for output, value in self.row(point).items():
                total[output] += times * value
        return plain_sum(magnitude(value) for value in total.values())

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


@dataclass(frozen=True, repr=False)
class Histogram(BoundQuery):
    """The complete histogram h: one count per value of the domain."""

    name = "histogram"

    def row(self, point: Point) -> Row:
        """One record adds 1 to its own cell."""
        return {point: 1}

    def norm(self, change: Mapping[Point, int]) -> Exact:
        """Return the sum of the absolute changes of the cells."""
        return sum(abs(times) for times in change.values())


@dataclass(frozen=True, repr=False)
class MarginalQuery(BoundQuery):
    """The histogram of some attributes."""

    axes: tuple[int, ...]
    name: str = "marginal"

    def row(self, point: Point) -> Row:
        """One record adds 1 to its cell of the marginal."""
        return {tuple(point[axis] for axis in self.axes): 1}


@dataclass(frozen=True, repr=False)
class CountQuery(BoundQuery):
    """One count over an area: `range(...)` and `count(NAME)`."""

    area: Area
    name: str = "count"

    def row(self, point: Point) -> Row:
        """One record adds 1 iff it lies in the area."""
        return {0: 1} if point in self.area else {}


@dataclass(frozen=True, repr=False)
class Cumulative(BoundQuery):
    """The cumulative histogram s_i of one ordered attribute: how many records are at most i."""

    axis: int
    size: int
    name: str = "cumulative"

    def row(self, point: Point) -> Row:
        """One record adds 1 to every prefix that reaches it."""
        return dict.fromkeys(range(point[self.axis], self.size), 1)

    def norm(self, change: Mapping[Point, int]) -> Exact:
        """Sum |prefix sum| over the positions, run by run: the axis is never walked."""
        return sum(abs(value) * length for value, length in _prefixes(change, self.axis, self.size))


@dataclass(frozen=True, repr=False)
class Ranges(BoundQuery):
    """Every range count [i, j] of one ordered attribute: |A|(|A|+1)/2 outputs."""

    axis: int
    size: int
    name: str = "ranges"

    def row(self, point: Point) -> Row:
        """One record adds 1 to every range that holds it."""
        place = point[self.axis]
        return {(i, j): 1 for i in range(place + 1) for j in range(place, self.size)}

    def norm(self, change: Mapping[Point, int]) -> Exact:
        """Sum |S_j - S_i| over all pairs i < j of the prefix sums S_0 = 0, S_1, ..., S_|A|."""
        runs = sorted([(0, 1), *_prefixes(change, self.axis, self.size)])
        total = seen = weighted = 0
        for value, length in runs:
            total += length * (value * seen - weighted)
            seen += length
            weighted += value * length
        return total


def _prefixes(change: Mapping[Point, int], axis: int, size: int) -> list[tuple[int, int]]:
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


@dataclass(frozen=True, repr=False)
class SumQuery(BoundQuery):
    """Sums of one or more numeric attributes, one output each."""

    domain: Domain
    axes: tuple[int, ...]
    name: str = "sum"

    def row(self, point: Point) -> Row:
        """One record adds its own numbers."""
        return {axis: self.domain.attribute(axis).coordinate(point[axis]) for axis in self.axes}


@dataclass(frozen=True, repr=False)
class PartitionHistogram(BoundQuery):
    """The histogram of the secret partition's cells."""

    graph: HasCells
    name = "partition"

    def row(self, point: Point) -> Row:
        """One record adds 1 to its cell."""
        return {self.graph.cell_of(point): 1}


@dataclass(frozen=True, repr=False)
class MatrixQuery(BoundQuery):
    """An explicit matrix: rows are outputs, columns are values in row-major order."""

    domain: Domain
    columns: tuple[Row, ...] = field(hash=False)  # of mappings
    name: str = "matrix"

    def row(self, point: Point) -> Row:
        """One record adds its column."""
        return self.columns[self.domain.rank(point)]


@dataclass(frozen=True, repr=False)
class ClusterSizes(BoundQuery):
    """How many records are nearest to each centroid (L2; ties go to the first)."""

    domain: Domain
    centroids: tuple[tuple[Exact, ...], ...]
    name: str = "cluster-sizes"

    def nearest(self, point: Point) -> int:
        """Return the place of the nearest centroid, by exact squares."""
        place = coordinates(self.domain, point)
        distances = [
            sum((a - b) ** 2 for a, b in zip(place, centroid, strict=True))
            for centroid in self.centroids
        ]
        return distances.index(min(distances))

    def row(self, point: Point) -> Row:
        """One record adds 1 to its cluster."""
        return {self.nearest(point): 1}


@dataclass(frozen=True, repr=False)
class ClusterSums(ClusterSizes):
    """The coordinate sums of each cluster, at fixed centroids."""

    name: str = "cluster-sums"

    def row(self, point: Point) -> Row:
        """One record adds its whole coordinate vector to its cluster's sums."""
        cluster = self.nearest(point)
        return {
            (cluster, axis): value
            for axis, value in enumerate(coordinates(self.domain, point))
            if value
        }


def coordinates(domain: Domain, point: Point) -> tuple[Exact, ...]:
    """Return a point's coordinates (values of numbers, positions of ordered labels)."""
    return tuple(
        attribute.coordinate(place)
        for (_, attribute), place in zip(domain.attributes, point, strict=True)
    )


@dataclass(frozen=True, repr=False)
class WeightedSum(BoundQuery):
    """sum_i w_i x_i over labelled records: linear, but not in the histogram."""

    domain: Domain
    axis: int
    weights: tuple[Exact, ...]
    name: str = "weighted-sum"
    per_record = True

    def row(self, point: Point) -> Row:
        """Return one record's value, before its weight."""
        return {0: self.domain.attribute(self.axis).coordinate(point[self.axis])}

    def difference(self, moves: Iterable[Move]) -> Exact:
        """Return |sum_i w_i (x'_i - x_i)|; every move must name its record."""
        attribute = self.domain.attribute(self.axis)
        total: Exact = 0
        for before, after, record in moves:
            if before is None or after is None or record is None:
                raise ValueError("the weighted sum needs labelled records")
            step = attribute.coordinate(after[self.axis]) - attribute.coordinate(before[self.axis])
            total += self.weights[record] * step
        return plain(magnitude(total))


def moves_between(before: Sequence[Point], after: Sequence[Point]) -> list[Move]:
    """Return the moves between two labelled databases of equal size."""
    return [
        Move(x, y, record)
        for record, (x, y) in enumerate(zip(before, after, strict=True))
        if x != y
    ]
