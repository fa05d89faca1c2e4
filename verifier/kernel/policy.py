"""The policy of a certificate, from its canonical form: values, regions, facts, secret graph.

A value is a *point*, its position on each axis. A *side* is a set of positions, kept as half-open
runs; a *box* is one side for each axis; an *area* is a list of boxes (their union). Nothing here
lists a domain.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise, product
from math import prod
from typing import Any

from .document import Exact, Unreadable, items, number, only, take, whole

Point = tuple[int, ...]
Side = tuple[tuple[int, int], ...]
Box = tuple[Side, ...]
Area = tuple[Box, ...]

MOST_CELLS = 20_000
MOST_FACTS = 40_000
FACTS = {
    "count": ("answer", "at_least", "at_most"),
    "sum": ("equals", "at_least", "at_most"),
    "marginal": ("answers",),
    "impossible": (),
    "clause": (),
}
SECRETS = {
    "full": (),
    "attribute": ("changes",),
    "partition": ("by", "cells"),
    "distance": ("metric", "threshold", "strict", "attributes"),
    "edges": ("pairs",),
}


@dataclass(frozen=True)
class Axis:
    """One attribute: listed labels, or the numbers low, low + step, ... (`size` of them)."""

    size: int
    ordered: bool
    labels: dict[object, int] | None = None
    low: Exact = 0
    step: Exact = 1

    def place(self, value: object) -> int:
        """Return the position of a value."""
        if self.labels is not None:
            text = isinstance(value, (str, int)) and not isinstance(value, bool)
            if text and value in self.labels:
                return self.labels[value]
        else:
            steps = Fraction(number(value, "a value") - self.low) / self.step
            if steps.denominator == 1 and 0 <= steps < self.size:
                return int(steps)
        raise Unreadable(f"{str(value)[:40]!r} is no value of its attribute")

    def coordinate(self, place: int) -> Exact:
        """Return the number that stands for a position."""
        return place if self.labels is not None else self.low + place * self.step

    @property
    def whole(self) -> Side:
        """All positions."""
        return ((0, self.size),)


@dataclass(frozen=True)
class Fact:
    """A sum of integer multiples of counts: known (answer may be None), or between limits."""

    terms: tuple[tuple[int, Area], ...]
    answer: int | None = None
    low: int | None = None
    high: int | None = None

    @property
    def bounded(self) -> bool:
        """Whether it is a bound."""
        return self.low is not None or self.high is not None

    def at(self, point: Point) -> int:
        """Return what one record adds."""
        return sum(times for times, area in self.terms if inside(point, area))

    def fits(self, total: int) -> bool:
        """Whether a database with this total satisfies the fact."""
        if self.answer is not None and total != self.answer:
            return False
        return (self.low is None or total >= self.low) and (self.high is None or total <= self.high)


def inside(point: Point, area: Area) -> bool:
    """Whether a point lies in an area."""
    return any(
        all(any(a <= p < b for a, b in side) for p, side in zip(point, box, strict=True))
        for box in area
    )


class Policy:
    """Domain, facts, impossible values, clauses, graph, named counts, scope and written size."""

    def __init__(self, table: dict[str, Any]) -> None:
        only(table, ("database", "domain", "known", "query", "secrets"), "the policy")
        domain = take(table, "domain", dict, where="the policy")
        if not domain:
            raise Unreadable("the domain has no attributes")
        self.names = list(domain)
        self.axes = [_axis(item) for item in domain.values()]
        self.size = prod(axis.size for axis in self.axes)
        database = only(take(table, "database", dict), ("answers", "data", "size"), "database")
        self.scope = take(database, "answers", str)
        self.records = whole(database["size"], "size") if "size" in database else None
        self.data = take(database, "data", str) if "data" in database else None
        if self.scope not in ("any", "given") or (self.records or 0) < 0:
            raise Unreadable("the scope or the size makes no sense")
        self.facts: list[Fact] = []
        self.zeros: list[Box] = []
        self.clauses: list[list[tuple[int, Area, bool]]] = []
        for fact in items(table.get("known", []), "known"):
            self._add(fact)
        self.queries = {
            take(only(query, ("name", "count"), "a query"), "name", str): self.area(query["count"])
            for query in items(table.get("query", []), "query")
        }
        self.graph = Graph(self, take(table, "secrets", dict))

    def axis(self, name: object) -> int:
        """Return the place of an attribute."""
        if name not in self.names:
            raise Unreadable(f"there is no attribute {str(name)[:40]!r}")
        return self.names.index(str(name))

    def point(self, values: Sequence[object]) -> Point:
        """Return the point of a full record, in domain order."""
        if len(values) != len(self.axes):
            raise Unreadable("a record has the wrong number of values")
        return tuple(axis.place(value) for axis, value in zip(self.axes, values, strict=True))

    def area(self, regions: object) -> Area:
        """Return the area of a region or of a list of regions."""
        listed = regions if isinstance(regions, list) else [regions]
        if not listed:
            raise Unreadable("a union of no regions")
        return tuple(self._box(region) for region in listed)

    def _box(self, region: object) -> Box:
        if not isinstance(region, dict):
            raise Unreadable("a region is no object")
        sides = [axis.whole for axis in self.axes]
        for name, condition in region.items():
            place = self.axis(name)
            axis = self.axes[place]
            if isinstance(condition, dict):
                only(condition, ("min", "max"), "a range")
                low, high = axis.place(condition.get("min")), axis.place(condition.get("max"))
                if low > high or not axis.ordered:
                    raise Unreadable("a range is empty, or its attribute not ordered")
                sides[place] = ((low, high + 1),)
            else:
                values = condition if isinstance(condition, list) else [condition]
                sides[place] = tuple((p, p + 1) for p in sorted({axis.place(v) for v in values}))
        return tuple(sides)

    def _add(self, fact: object) -> None:
        kind = next((key for key in FACTS if isinstance(fact, dict) and key in fact), "")
        table = only(fact, (kind, *FACTS.get(kind, ())), "a fact")
        if kind == "impossible":
            self.zeros.extend(self.area(table[kind]))
        elif kind == "clause":
            self.clauses.append([self._literal(item) for item in items(table[kind], kind)])
        elif kind == "marginal":
            self._marginal(table)
        else:
            terms = [{"times": 1, "count": table.get(kind)}]
            terms = items(table.get("sum", terms), "sum")
            keys = ("answer" if kind == "count" else "equals", "at_least", "at_most")
            answer, low, high = (
                None if table.get(key) is None else whole(table[key], key) for key in keys
            )
            if answer is not None and (low, high) != (None, None):
                raise Unreadable("a fact with a number and a bound")
            areas = (
                (whole(only(t, ("times", "count"), "a term").get("times"), "times"),
                 self.area(t.get("count")))
                for t in terms
            )  # fmt: skip
            self.facts.append(Fact(tuple(areas), answer, low, high))

    def _literal(self, item: object) -> tuple[int, Area, bool]:
        item = only(item, ("record", "in", "not_in"), "a literal")
        record = take(item, "record", int) - 1
        if record < 0 or ("in" in item) == ("not_in" in item):
            raise Unreadable("a literal of a clause")
        return record, self.area(item.get("in", item.get("not_in"))), "in" in item

    def _marginal(self, table: dict[str, Any]) -> None:
        places = [self.axis(name) for name in items(table["marginal"], "marginal")]
        cells = prod(self.axes[place].size for place in places)
        answers = items(table.get("answers", [None] * min(cells, MOST_CELLS)), "answers")
        if cells > MOST_CELLS or len(answers) != cells or len(set(places)) != len(places):
            raise Unreadable("a marginal does not fit its answers, or is too large")
        cuts = product(*(range(self.axes[place].size) for place in places))
        if len(self.facts) + cells > MOST_FACTS:
            raise Unreadable("too many facts")
        for cell, answer in zip(cuts, answers, strict=True):
            sides = [axis.whole for axis in self.axes]
            for place, position in zip(places, cell, strict=True):
                sides[place] = ((position, position + 1),)
            told = None if answer is None else whole(answer, "answers")
            self.facts.append(Fact(((1, (tuple(sides),)),), told))


def _axis(item: object) -> Axis:
    if isinstance(item, list) or (isinstance(item, dict) and "labels" in item):
        labels = item if isinstance(item, list) else items(item["labels"], "labels")
        if any(isinstance(v, bool) or not isinstance(v, (str, int)) for v in labels):
            raise Unreadable("a label is no text")
        places: dict[object, int] = {label: place for place, label in enumerate(labels)}
        if not labels or len(places) != len(labels):
            raise Unreadable("labels are missing, or stand twice")
        return Axis(len(labels), isinstance(item, dict) and take(item, "ordered", bool), places)
    table = only(item, ("min", "max", "step"), "an attribute")
    low, high = number(table.get("min"), "min"), number(table.get("max"), "max")
    step = number(table.get("step", 1), "step")
    steps = Fraction(high - low) / step if step > 0 else Fraction(-1)
    if steps < 0 or steps.denominator != 1:
        raise Unreadable("an attribute has no values, or its max is off the grid")
    return Axis(int(steps) + 1, True, None, low, step)


class Graph:
    """G. Distances, attribute changes and `by` partitions look at the offset on each axis only:
    each axis charges for its offset, charges are added (or the largest is taken), and two values
    are joined iff that is within `bound` (None: the axis must not differ).
    """

    def __init__(self, policy: Policy, table: dict[str, Any]) -> None:
        self.kind = take(table, "kind", str, where="secrets")
        only(table, ("kind", *SECRETS.get(self.kind, ())), "secrets")
        axes = policy.axes
        self.cells: list[Area] = []
        self.pairs: set[tuple[Point, Point]] = set()
        self.weights: list[Exact | None] = [1] * len(axes)
        self.line, self.power = [False] * len(axes), 1
        self.added, self.bound, self.strict = False, Fraction(1), False
        self.by: list[int] = []
        if self.kind == "attribute":
            self.added, self.bound = True, Fraction(whole(table.get("changes"), "changes"))
        elif self.kind == "partition" and "by" in table:
            self.by = [policy.axis(name) for name in items(table["by"], "by")]
            self.weights = [None if place in self.by else 1 for place in range(len(axes))]
        elif self.kind == "partition":
            self.cells = [policy.area(cell) for cell in items(table.get("cells"), "cells")]
            if len({b for cell in self.cells for b in cell}) > MOST_CELLS:
                raise Unreadable("too many cells")
        elif self.kind == "distance":
            free = [policy.axis(name) for name in items(table.get("attributes", policy.names), "")]
            self.power = {"l1": 1, "l2": 2, "linf": 1}.get(take(table, "metric", str), 0)
            self.added = table["metric"] != "linf"
            self.bound = Fraction(number(table.get("threshold"), "threshold")) ** self.power
            self.strict = take({"strict": False, **table}, "strict", bool)
            self.weights = [
                Fraction(axis.step) ** self.power if place in free else None
                for place, axis in enumerate(axes)
            ]
            self.line = [axis.ordered for axis in axes]
        elif self.kind == "edges":
            for one, two in items(table.get("pairs"), "pairs"):
                ends = [only(end, policy.names, "a record") for end in (one, two)]
                x, y = (policy.point([end[name] for name in policy.names]) for end in ends)
                self.pairs |= {(x, y), (y, x)}
        elif self.kind != "full":
            raise Unreadable("secrets of no known kind")
        if self.kind == "distance" and not (self.power and self.bound > 0):
            raise Unreadable("a metric or a threshold that makes no sense")
        longest = [axis.size - 1 if line else min(1, axis.size - 1)
                   for axis, line in zip(axes, self.line, strict=True)]  # fmt: skip
        whole_box = tuple(axis.whole for axis in axes)
        by_offset = not self.cells and self.kind != "edges"
        self.complete = (
            policy.size == 1
            or (by_offset and self.pays(longest))
            or (len(self.cells) == 1 and whole_box in self.cells[0])
        )

    def pays(self, offsets: Sequence[int]) -> bool:
        """Whether the charges of these offsets are within the bound."""
        costs: list[Exact] = []
        for offset, weight in zip(offsets, self.weights, strict=True):
            if offset and weight is None:
                return False
            costs.append(0 if weight is None else weight * offset**self.power)
        charge = sum(costs) if self.added else max(costs)
        return charge < self.bound if self.strict else charge <= self.bound

    def cell(self, point: Point) -> object:
        """Return the cell of a partition that holds a point."""
        if self.cells:
            return next((k for k, area in enumerate(self.cells) if inside(point, area)), None)
        return tuple(point[place] for place in self.by)

    def joined(self, x: Point, y: Point) -> bool:
        """Whether (x, y) is an edge."""
        if x == y or self.kind == "edges":
            return (x, y) in self.pairs
        if self.cells:
            return self.cell(x) == self.cell(y)
        columns = zip(x, y, self.line, strict=True)
        return self.pays([abs(p - q) if line else int(p != q) for p, q, line in columns])

    def touches(self, a: Box, b: Box) -> bool:
        """Whether some edge joins a box to a box, equal or disjoint (not for listed pairs)."""
        if self.cells:  # boxes are cut so that each lies in one cell
            return self.cell(first(a)) == self.cell(first(b)) and (a != b or _many(a))
        if a != b:
            gaps = [_gap(s, t, apart=False) for s, t in zip(a, b, strict=True)]
            return self.pays([self._offset(gap, place) for place, gap in enumerate(gaps)])
        for place, side in enumerate(a):  # the least change on one axis
            gap = _gap(side, side, apart=True)
            offsets = [0] * len(a)
            offsets[place] = self._offset(gap, place)
            if gap and self.pays(offsets):
                return True
        return False

    def _offset(self, gap: int, place: int) -> int:
        return gap if self.line[place] else min(gap, 1)


def first(box: Box) -> Point:
    """Return the first point of a box."""
    return tuple(side[0][0] for side in box)


def _many(box: Box) -> bool:
    return any(side[0][1] - side[0][0] > 1 or len(side) > 1 for side in box)


def _gap(s: Side, t: Side, *, apart: bool) -> int:
    """Return the least offset between two sets of positions; if `apart`, the least above 0."""
    if apart:  # within one set: inside a run, or from run to run; 0 if it has one element
        if any(high - low > 1 for low, high in s):
            return 1
        return min((b[0] - a[1] + 1 for a, b in pairwise(s)), default=0)
    return min(max(0, a - d + 1, c - b + 1) for a, b in s for c, d in t)
