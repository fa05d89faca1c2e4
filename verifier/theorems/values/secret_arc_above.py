"""Where G is not complete, a cycle of classes has a secret arc, and that may cost it something.

*Statement.* As in `simple_cycles`, in readings 1, 2 and 5, for a query in l1. For classes a and b
let E_ab be the largest change of f along an edge of G between a value of a and one of b, C_ab the
largest along any move between them, m_c the largest within class c, and E_aa the largest along an
edge within a. Then S(f, P) is at most the largest of

    E_aa, over classes a; and E_ab + C_ab + sum of m_c over the other classes c, over pairs a, b
    that an edge of G joins.

*Proof.* A pair is a simple cycle of moves on the classes, or a move within a class, and at least
one move is along an edge of G. If it is a move within a class a, f changes by E_aa at the most.
Else let a record go along an edge from x in a to y in b. The cycle takes one more record out of b,
with value x', and brings one more into a, to y'; and each other class that it visits loses one
record and gains one. So f changes by (y - x) + (y' - x') and one element of D_c for each other
class (rows stand for values): by E_ab + C_ab + sum m_c at the most. QED.

A move that changes one attribute changes nothing else: of secrets by attribute, one that changes
the published attribute leaves the query alone.

*Where no fact speaks of the attributes that f looks at* (`free_change`), let L be the largest
change of f by any move and E that along an edge of G: then E_ab <= E, C_ab <= L and m_c <= L, so
that S(f, P) <= E + (N - 1) L for N classes. That holds on axes of any length. If secrets are by
attribute, an edge between two classes changes an attribute that facts speak of, and no other one:
E_ab = 0, and S(f, P) <= max(E, (N - 1) L). In other norms the sizes of single changes add up as the
norm says (`Norm.together`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations_with_replacement, product

import numpy as np
from numpy.typing import NDArray

from blowproof.models import (
    Area,
    AttributeChange,
    BlowproofError,
    BoundQuery,
    Box,
    Exact,
    Point,
    Positions,
    SecretGraph,
    Setting,
)
from blowproof.models.base.clock import now
from blowproof.models.norms import L1
from blowproof.models.secrets import OffsetGraph
from blowproof.models.secrets.axes import Axis, closest
from blowproof.models.stacks.stacked import Stacked
from blowproof.verifier.databases.value_classes import class_table
from blowproof.verifier.limits.limit import whole_limit
from blowproof.verifier.theorems.values.free_change import axes_of_facts, largest_free
from blowproof.verifier.theorems.values.in_norms import free_edge

__all__ = ["free_of_facts", "with_a_secret_arc"]

MOST_PARTS = whole_limit(__name__, "MOST_PARTS")
MOST_BOXES = whole_limit(__name__, "MOST_BOXES")

Key = bytes
Home = Callable[[Key], int | None]


def free_of_facts(setting: Setting, query: BoundQuery, count: int) -> Exact | None:
    """Return the bound for so many classes where no fact speaks of what the query looks at."""
    if query.axes_read(setting.domain) & axes_of_facts(setting):
        return None
    if query.measure is not L1:
        return _in_norm(setting, query, count) if isinstance(query, Stacked) else None
    change, along = largest_free(query, setting.domain), query.along(setting.graph)
    if change is None or along is None:
        return None
    others = max(0, count - 1) * change.upper
    return max(along, others) if setting.policy.secrets == AttributeChange() else along + others


def _in_norm(setting: Setting, query: Stacked, count: int) -> Exact | None:
    """Return the bound in another norm: sizes of single changes, together."""
    edge = free_edge(setting, query, along=True)
    move = free_edge(setting, query, along=False)
    if edge is None or move is None or count > MOST_PARTS:
        return None
    others = [move[0]] * max(0, count - 1)
    if setting.policy.secrets == AttributeChange():
        return max(edge[0], query.measure.together(others))
    return query.measure.together([edge[0], *others])


@dataclass(frozen=True)
class _Part:
    """Values of one class that the query does not tell apart."""

    home: int
    boxes: tuple[Box, ...]
    value: Point
    row: int


def with_a_secret_arc(
    setting: Setting, query: BoundQuery, home: Home, *, end: float
) -> Exact | None:
    """Return the bound, or None where it is not to be had in time.

    `home` gives the class of a signature, None for one where no record can be.
    """
    areas = query.cells(setting.domain)
    if query.measure is not L1 or areas is None or query.separates:
        return None
    try:
        parts = _parts(setting, query, areas, home, end)
    except BlowproofError:
        return None
    if parts is None:
        return None
    return _bound(setting, query, parts, end)


def _parts(
    setting: Setting, query: BoundQuery, areas: Sequence[Area], home: Home, end: float
) -> list[_Part] | None:
    table = class_table(setting, tuple(areas), deadline=end)
    if len(table.classes) > MOST_PARTS:
        return None
    numbers: dict[object, int] = {}
    found: list[_Part] = []
    boxes = 0
    for number, item in enumerate(table.classes):
        place = home(table.effects[number].tobytes())
        if place is None:
            continue
        covered = []
        for box in item.boxes():
            covered.append(box)
            boxes += 1
            if boxes > MOST_BOXES or now() > end:
                return None
        (value,) = item.take(1)
        row = frozenset(query.row(value).items())
        found.append(_Part(place, tuple(covered), value, numbers.setdefault(row, len(numbers))))
    return found


def _bound(setting: Setting, query: BoundQuery, parts: Sequence[_Part], end: float) -> Exact | None:
    rows: dict[int, Point] = {}
    classes: dict[int, list[_Part]] = {}
    for part in parts:
        rows.setdefault(part.row, part.value)
        classes.setdefault(part.home, []).append(part)
    near = _Near(setting.graph, classes)
    sizes: dict[tuple[int, int], Exact] = {}

    def size(a: _Part, b: _Part) -> Exact:
        ends = min(a.row, b.row), max(a.row, b.row)
        if ends not in sizes:
            sizes[ends] = 0 if a.row == b.row else query.norm({rows[ends[0]]: -1, rows[ends[1]]: 1})
        return sizes[ends]

    within: dict[int, Exact] = {}
    joined: list[tuple[int, int, Exact, Exact]] = []  # what an edge changes, and any move
    most: dict[tuple[frozenset[int], frozenset[int]], Exact] = {}
    seen = {home: frozenset(part.row for part in found) for home, found in classes.items()}
    for one, two in combinations_with_replacement(classes, 2):
        if now() > end:
            return None
        ends = seen[one], seen[two]
        if ends not in most:
            most[ends] = max(size(a, b) for a in classes[one] for b in classes[two])
        if one == two:
            within[one] = most[ends]
        largest: Exact = -1
        for a, b in near.pairs(one, two):
            if size(a, b) > largest and near.joins(a, b):
                largest = size(a, b)
        if largest >= 0:
            joined.append((one, two, largest, most[ends]))
    whole = sum(within.values())
    return max(
        (
            along if a == b else along + any_ + whole - within[a] - within[b]
            for a, b, along, any_ in joined
        ),
        default=0,
    )


class _Near:
    """Which parts of two classes an edge joins.

    Where no edge joins the boxes around two classes, none joins them. In a graph of offsets an edge
    joins two boxes where the closest positions on each axis cost no more than the bound together:
    each two sides of an axis are compared once, and all parts of two classes at once.
    """

    def __init__(self, graph: SecretGraph, classes: Mapping[int, Sequence[_Part]]) -> None:
        self.graph, self.classes = graph, classes
        self.around = {home: _around(box for part in found for box in part.boxes)
                       for home, found in classes.items()}  # fmt: skip
        alone = all(len(part.boxes) == 1 for found in classes.values() for part in found)
        self.tables: list[NDArray[np.int64]] | None = None
        if alone and isinstance(graph, OffsetGraph):
            most = len(graph.axes) * (graph.bound + 1)
            if most.bit_length() < np.iinfo(np.int64).bits:  # sums of costs are exact
                self._compare(graph)

    def _compare(self, graph: OffsetGraph) -> None:
        """Compare the sides of each axis; what costs more than the bound costs 1 more than it."""
        numbers: list[dict[Positions, int]] = [{} for _ in graph.axes]
        self.sides = {
            home: np.array([
                [numbers[k].setdefault(side, len(numbers[k]))
                 for k, side in enumerate(part.boxes[0].sides)]
                for part in found
            ], dtype=np.int64).reshape(len(found), len(graph.axes))
            for home, found in self.classes.items()
        }  # fmt: skip
        self.tables = []
        for axis, sides in zip(graph.axes, numbers, strict=True):
            costs = [[_cost(axis, s, t, graph.bound) for t in sides] for s in sides]
            self.tables.append(np.array(costs, dtype=np.int64).reshape(len(sides), len(sides)))

    def pairs(self, one: int, two: int) -> Iterator[tuple[_Part, _Part]]:
        """Yield the parts of two classes that an edge may join."""
        if self.graph.edge_between(self.around[one], self.around[two]) is None:
            return
        here, there = self.classes[one], self.classes[two]
        if self.tables is None:
            yield from product(here, there)
            return
        assert isinstance(self.graph, OffsetGraph)
        costs = [table[np.ix_(self.sides[one][:, k], self.sides[two][:, k])]
                 for k, table in enumerate(self.tables)]  # fmt: skip
        whole = sum(costs) if self.graph.together == "sum" else np.maximum.reduce(costs)
        for i, j in np.argwhere(whole <= self.graph.bound).tolist():
            yield here[i], there[j]

    def joins(self, a: _Part, b: _Part) -> bool:
        """Whether an edge joins two parts."""
        return any(self.graph.edge_between(x, y) for x in a.boxes for y in b.boxes)


def _cost(axis: Axis, one: Positions, two: Positions, bound: int) -> int:
    """Return what the closest positions of two sides cost, or 1 more than the bound."""
    pair = closest(one, two, apart=False)
    return bound + 1 if pair is None else min(bound + 1, axis.cost(axis.offset(*pair)))


def _around(boxes: Iterable[Box]) -> Box:
    """Return one box that holds some boxes: where no edge ends in it, none ends in any of them."""
    columns = zip(*(box.sides for box in boxes), strict=True)
    return Box.of(Positions.joined(run for side in sides for run in side.runs) for sides in columns)
