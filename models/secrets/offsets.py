"""Graphs that look only at how far two values lie apart on each axis.

Four of the kinds are one family. Each axis charges an integer for the offset between x and y, the
charges are added (or their maximum is taken), and x != y are joined iff that is within a bound:

    kind              an axis charges                                  taken   bound
    full              1 if different                                   max     1
    attribute, c      1 if different                                   sum     c
    partition, by     1 if different; over the bound on axes in `by`   max     1
    distance, theta   |a - b|, squared for l2; over the bound on       sum,    theta, in units that
                      the axes that must be equal                      max     keep charges whole

"Over the bound" is how an axis is frozen: no edge can afford to change it. Nothing else is special.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from math import prod
from typing import Literal

from blowproof.models.base.errors import BudgetError
from blowproof.models.base.numbers import Exact
from blowproof.models.domain.domain import Domain
from blowproof.models.domain.regions import Area, Box, Point, Positions
from blowproof.models.secrets.axes import Axis, closest, farthest
from blowproof.models.secrets.graph import (
    LISTING_LIMIT,
    Components,
    Pair,
    PartitionGraph,
    SecretGraph,
    refuse_above,
)
from blowproof.models.secrets.hops import fewest_hops
from blowproof.models.secrets.spelling import show_value
from blowproof.models.secrets.spread import best_sum

__all__ = ["ByGraph", "OffsetGraph"]

COUNTING_LIMIT = 2_000_000


@dataclass(frozen=True)
class OffsetGraph(SecretGraph):
    """x != y are joined iff the charges of their offsets, taken together, are within the bound."""

    domain: Domain
    axes: tuple[Axis, ...]
    together: Literal["sum", "max"]
    bound: int

    def _total(self, costs: list[int]) -> int:
        return sum(costs) if self.together == "sum" else max(costs, default=0)

    def _charge(self, x: Point, y: Point) -> int:
        columns = zip(self.axes, x, y, strict=True)
        return self._total([axis.cost(axis.offset(p, q)) for axis, p, q in columns])

    def _left(self, budget: int, cost: int) -> int:
        return budget - cost if self.together == "sum" else budget

    @property
    def complete(self) -> bool:
        """Whether the bound pays for the largest offset on every axis at once."""
        return self._total([axis.cost(axis.longest) for axis in self.axes]) <= self.bound

    def is_edge(self, x: Point, y: Point) -> bool:
        """Whether x != y and their charge is within the bound."""
        return x != y and self._charge(x, y) <= self.bound

    def edge_between(self, a: Box, b: Box) -> Pair | None:
        """Return a cheapest pair of distinct values, if the bound pays for it.

        Charges grow with the offset and axes are free of each other, so the closest positions on
        each axis are cheapest. If they give x == y, the cheapest change is a least one on one axis.
        """
        if not a or not b:
            return None
        close = [closest(s, t, apart=False) for s, t in zip(a.sides, b.sides, strict=True)]
        chosen = [pair for pair in close if pair is not None]
        if all(p == q for p, q in chosen) and not self._set_apart(chosen, a, b):
            return None
        x, y = _pair(chosen)
        return (x, y) if self._charge(x, y) <= self.bound else None

    def _set_apart(self, chosen: list[tuple[int, int]], a: Box, b: Box) -> bool:
        """Replace the choice on one axis by its cheapest distinct pair; False if there is none."""
        options = []
        for place, (axis, s, t) in enumerate(zip(self.axes, a.sides, b.sides, strict=True)):
            pair = closest(s, t, apart=True)
            if pair is not None:
                options.append((axis.cost(axis.offset(*pair)), place, pair))
        if not options:
            return False
        _, place, pair = min(options)
        chosen[place] = pair
        return True

    def plain_between(self, a: Box, b: Box) -> Pair | None:
        """Return a dearest pair, if it is over the bound (and so distinct and not joined)."""
        if not a or not b:
            return None
        x, y = _pair([farthest(s, t) for s, t in zip(a.sides, b.sides, strict=True)])
        return (x, y) if self._charge(x, y) > self.bound else None

    def distance(self, x: Point, y: Point) -> int | None:
        """Return the hops from x to y.

        A frozen axis that differs: None (see `components`). Charges combined by max: an axis at
        offset d needs ceil(d / reach) hops, and axes move at once, towards y and so inside the
        domain: the largest of these. Charges that add up: `hops.fewest_hops`, exact or BudgetError.
        """
        columns = zip(self.axes, x, y, strict=True)
        apart = [(axis, axis.offset(p, q)) for axis, p, q in columns if p != q]
        if any(axis.weight > self.bound for axis, _ in apart):
            return None
        if self.together == "max":
            return max((-(-d // axis.reach(self.bound)) for axis, d in apart), default=0)
        parts = [(d, axis.weight, axis.power) for axis, d in apart]
        return fewest_hops(parts, self.bound)

    def components(self) -> Components:
        """Return the components: values that agree on every frozen axis.

        An axis is frozen iff one step on it (its weight) is over the bound. An edge changes no
        frozen axis, as the smallest change there already costs too much; and on the others single
        steps, all edges, lead from any position to any other. Hence one component for each way to
        fix the frozen axes.
        """
        frozen = [axis.weight > self.bound for axis in self.axes]

        def component_of(point: Point) -> Point:
            return tuple(p if kept else 0 for p, kept in zip(point, frozen, strict=True))

        def area_of(key: Point) -> Area:
            sides = zip(key, frozen, self.domain.whole.sides, strict=True)
            return Area((Box.of(Positions.of([p]) if kept else all_ for p, kept, all_ in sides),))

        held = (axis.size for axis, kept in zip(self.axes, frozen, strict=True) if kept)
        return Components(prod(held), component_of, area_of)

    def neighbours(self, x: Point) -> Iterator[Point]:
        """Yield the values joined to x, row-major."""
        return (y for y in self._ball(x, self.bound) if y != x)

    def _ball(self, x: Point, budget: int) -> Iterator[Point]:
        place = len(self.axes) - len(x)
        if not x:
            yield ()
            return
        axis, p = self.axes[place], x[0]
        for q in axis.around(p, axis.reach(budget)):
            for rest in self._ball(x[1:], self._left(budget, axis.cost(axis.offset(p, q)))):
                yield (q, *rest)

    def degree(self, x: Point) -> int:
        """Return how many values are joined to x (counted by charge; BudgetError if too many)."""
        columns = zip(self.axes, x, strict=True)
        ways = [_Ways(axis, partial(axis.at, p), partial(axis.within, p)) for axis, p in columns]
        return self._count(ways) - 1

    @property
    def edge_count(self) -> int:
        """How many edges there are (counted by charge; BudgetError if too many charges)."""
        ways = [_Ways(axis, axis.pairs_at, axis.pairs_within) for axis in self.axes]
        return (self._count(ways) - self.domain.size) // 2

    def _count(self, ways: list[_Ways]) -> int:
        """Return how many ways lead to a charge within the bound, the widest axis by formula."""
        if self.together == "max":
            return prod(way.within(way.axis.reach(self.bound)) for way in ways)
        *others, last = sorted(ways, key=lambda way: way.axis.reach(self.bound))
        spent = {0: 1}
        for way in others:
            spent = _spend(spent, way, self.bound)
        return sum(n * last.within(last.axis.reach(self.bound - c)) for c, n in spent.items())

    def edges(self, *, limit: int = LISTING_LIMIT) -> Iterator[Pair]:
        """Yield the edges (x, y), x < y, in order.

        If any edge exists, an axis that is not frozen gives every value one: |T| <= 2 |edges|.
        """
        count = self.edge_count
        refuse_above(limit, count, "edges")
        points = self.domain.points(limit=2 * count) if count else iter(())
        return ((x, y) for x in points for y in self.neighbours(x) if x < y)

    def on(self, kept: Sequence[int]) -> OffsetGraph:
        """Return the graph of these axes alone: of values that agree on all others."""
        domain = Domain(dict(self.domain.attributes[axis] for axis in kept))
        return OffsetGraph(
            domain, tuple(self.axes[axis] for axis in kept), self.together, self.bound
        )

    def reach(self, axis: int) -> int:
        """Return the most positions that one edge passes on an axis, alone or with others.

        Off the line an offset is 0 or 1, and one step leads anywhere on the axis.
        """
        item = self.axes[axis]
        reach = item.reach(self.bound)
        return reach if item.line else (item.size - 1) * min(reach, 1)

    def reach_alone(self, axis: int) -> int:
        """Return the same: what is paid for together is paid for alone."""
        return self.reach(axis)

    def gaps(self, axis: int) -> Iterable[tuple[int, int]]:
        """Return one stretch: a shorter way on one axis, and nothing else, is an edge too."""
        return [(0, self.reach(axis))]

    def stretch(self, axes: Sequence[int]) -> Exact:
        """Return the largest l1 distance along an edge on some axes (see `best_sum`)."""
        return best_sum(self, axes)


@dataclass(frozen=True)
class ByGraph(OffsetGraph, PartitionGraph):
    """A partition by attributes: a cell per way to fix them, row-major in the order written."""

    by: tuple[int, ...] = ()

    @property
    def fixed(self) -> tuple[int, ...]:
        """The attributes in `by`."""
        return self.by

    @property
    def cell_count(self) -> int:
        """How many cells there are."""
        return prod(self.axes[place].size for place in self.by)

    def cell_of(self, point: Point) -> int:
        """Return the cell's key: its place in row-major order of the attributes in `by`."""
        key = 0
        for place in self.by:
            key = key * self.axes[place].size + point[place]
        return key

    def _fixed(self, key: int) -> dict[int, int]:
        box = Box.of(self.domain.whole.sides[place] for place in self.by)
        return dict(zip(self.by, box.nth(key), strict=True))

    def cell_area(self, key: int) -> Area:
        """Return the values of a cell."""
        sides = list(self.domain.whole.sides)
        for place, at in self._fixed(key).items():
            sides[place] = Positions.of([at])
        return Area((Box.of(sides),))

    def cell_label(self, key: int) -> str:
        """Return the cell in words: "sex = 'F', age = 3"."""
        return ", ".join(
            f"{self.domain.names[place]} = {show_value(self.domain.attribute(place).value(at))}"
            for place, at in self._fixed(key).items()
        )


@dataclass(frozen=True, slots=True)
class _Ways:
    """In how many ways an axis gives an offset: exactly `at`, or up to `within`."""

    axis: Axis
    at: Callable[[int], int]
    within: Callable[[int], int]


def _spend(spent: dict[int, int], way: _Ways, bound: int) -> dict[int, int]:
    """Return the number of ways for each total charge, one more axis included."""
    work = len(spent) * (way.axis.reach(bound) + 1)
    if work > COUNTING_LIMIT:
        raise BudgetError(f"counting edges takes {work} steps; the budget is {COUNTING_LIMIT}")
    result: dict[int, int] = {}
    for charge, ways in spent.items():
        for offset in range(way.axis.reach(bound - charge) + 1):
            key = charge + way.axis.cost(offset)
            result[key] = result.get(key, 0) + ways * way.at(offset)
    return result


def _pair(chosen: list[tuple[int, int]]) -> Pair:
    return tuple(p for p, _ in chosen), tuple(q for _, q in chosen)
