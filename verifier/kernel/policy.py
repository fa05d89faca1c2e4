"""The policy of a certificate, from its canonical form: values, regions, facts, secret graph.

A value is a *point*, its position on each axis. A *side* is a set of positions, kept as half-open
runs; a *box* is one side for each axis; an *area* is a list of boxes (their union). Nothing here
lists a domain.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import pairwise, product
from math import prod
from typing import Any, NamedTuple

from .boxes import Area, Box, Finder, Point, Side, first, inside, single
from .document import Exact, Unreadable, common, want

MOST_CELLS = 20_000
MOST_FACTS = 40_000
MOST_AXES = 1_000
MOST_SIDES = 10_000_000
LABEL = (str, int)
LIMITS = {"at_least?": int, "at_most?": int}
FACTS: dict[str, Any] = {
    "impossible": {"impossible": object},
    "clause": {"clause": [{"record": int, "in?": object, "not_in?": object}]},
    "marginal": {"marginal": [str], "answers?": [int]},
    "count": {"count": object, "answer?": int, **LIMITS},
    "sum": {"sum": [{"times": int, "count": object}], "equals?": int, **LIMITS},
}
SECRETS: dict[str, Any] = {
    "full": {},
    "attribute": {"changes": int},
    "partition": {"by?": [str], "cells?": [object]},
    "distance": {"metric": str, "threshold": Fraction, "strict?": bool, "attributes?": [str]},
    "edges": {"pairs": [[dict]]},
}
POLICY = {
    "database": {"answers": str, "data?": (str, dict), "size?": int},
    "domain": dict,
    "known?": [dict],
    "query?": [{"name": str, "count": object}],
    "secrets": dict,
}


class Axis(NamedTuple):
    """One attribute: listed labels, or the numbers low, low + step, ... (`size` of them)."""

    size: int
    ordered: bool
    labels: dict[object, int] | None = None
    low: Exact = 0
    step: Exact = 1

    def place(self, value: object) -> int:
        """Return the position of a value."""
        if self.labels is not None:
            return self.labels[want(value, LABEL, "a label")]
        steps = Fraction(want(value, Fraction, "a value") - self.low) / self.step
        if steps.denominator != 1 or not 0 <= steps < self.size:
            raise Unreadable(f"{str(value)[:40]!r} is no value of its attribute")
        return int(steps)

    def coordinate(self, place: int) -> Exact:
        """Return the number that stands for a position."""
        return place if self.labels is not None else self.low + place * self.step


def _axis(item: Any) -> Axis:
    table = {"labels": item, "ordered": False} if isinstance(item, list) else item
    if "labels" in table:
        table = want(table, {"labels": [LABEL], "ordered": bool}, "an attribute")
        places: dict[object, int] = {label: k for k, label in enumerate(table["labels"])}
        if not places or len(places) != len(table["labels"]) or len(set(map(type, places))) > 1:
            raise Unreadable("labels are missing, stand twice, or mix text and integers")
        return Axis(len(places), table["ordered"], places)
    table = want(item, {"min": Fraction, "max": Fraction, "step?": Fraction}, "an attribute")
    step = table.get("step", 1)
    steps = Fraction(table["max"] - table["min"]) / step
    if step <= 0 or steps < 0 or steps.denominator != 1:
        raise Unreadable("an attribute has no values, or its max is off the grid")
    return Axis(int(steps) + 1, True, None, table["min"], step)


class Fact(NamedTuple):
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
        known = self.answer is None or total == self.answer
        above = self.low is None or total >= self.low
        return known and above and (self.high is None or total <= self.high)


class Policy:
    """Domain, facts, impossible values, clauses, graph, named counts, scope and written size."""

    def __init__(self, document: dict[str, Any]) -> None:
        table = want(document, POLICY, "the policy")
        self.names = list(table["domain"])
        self.places = {name: k for k, name in enumerate(self.names)}
        if len(self.names) > MOST_AXES:
            raise Unreadable("too many attributes")
        self.sides = 0
        self.axes = [_axis(item) for item in table["domain"].values()]
        self.size = prod(axis.size for axis in self.axes)
        database = table["database"]
        self.scope, self.records = database["answers"], database.get("size")
        self.data = "data" in database
        if self.scope not in ("any", "given") or (self.records or 0) < 0 or not self.axes:
            raise Unreadable("the domain, the scope or the size makes no sense")
        self.facts: list[Fact] = []
        self.zeros: list[Box] = []
        self.clauses: list[list[tuple[int, Area, bool]]] = []
        for fact in table.get("known", []):
            self._add(fact)
        named = sorted({k for clause in self.clauses for k, _, _ in clause})
        self.named = dict.fromkeys(named)  # records, from 0, in order
        self.queries = {each["name"]: self.area(each["count"]) for each in table.get("query", [])}
        self.graph = Graph(self, table["secrets"])

    def columns(self, names: Sequence[object]) -> list[int]:
        """Return the places of attributes, each named once."""
        found = {self.places[want(name, str, "an attribute")]: name for name in names}
        if len(found) != len(names):
            raise Unreadable("an attribute is named twice")
        return list(found)

    def point(self, values: Sequence[object]) -> Point:
        """Return the point of a full record, in domain order."""
        return tuple(axis.place(value) for axis, value in zip(self.axes, values, strict=True))

    def box(self, sides: Mapping[int, Side]) -> Box:
        """Return the box with these sides, and all positions on the other axes."""
        self.sides += len(self.axes)
        if self.sides > MOST_SIDES:
            raise Unreadable("too many regions")
        return tuple(sides.get(k, ((0, axis.size),)) for k, axis in enumerate(self.axes))

    def area(self, regions: Any) -> Area:
        """Return the area of a region or of a list of regions."""
        found = []
        for region in regions if isinstance(regions, list) else [regions]:
            names = want(region, dict, "a region")
            found.append(self.box({self.places[k]: self._side(k, v) for k, v in names.items()}))
        if not found:
            raise Unreadable("a union of no regions")
        return tuple(found)

    def _side(self, name: str, condition: Any) -> Side:
        axis = self.axes[self.places[name]]
        if isinstance(condition, dict):
            ends = want(condition, {"min": object, "max": object}, "a range")
            low, high = axis.place(ends["min"]), axis.place(ends["max"])
            if low > high or not axis.ordered:
                raise Unreadable("a range is empty, or its attribute not ordered")
            return ((low, high + 1),)
        values = condition if isinstance(condition, list) else [condition]
        return tuple((p, p + 1) for p in sorted({axis.place(value) for value in values}))

    def _add(self, item: dict[str, Any]) -> None:
        kind = next((kind for kind in FACTS if kind in item), "")
        table = want(item, FACTS[kind], "a fact")
        if kind == "impossible":
            self.zeros += self.area(table[kind])
        elif kind == "clause":
            self.clauses.append([self._literal(literal) for literal in table[kind]])
        elif kind == "marginal":
            self._marginal(self.columns(table[kind]), table.get("answers"))
        else:
            terms = table["sum"] if kind == "sum" else [{"times": 1, "count": table["count"]}]
            answer = table.get("equals", table.get("answer"))
            fact = Fact(
                tuple((term["times"], self.area(term["count"])) for term in terms),
                *(answer, table.get("at_least"), table.get("at_most")),
            )
            if answer is not None and fact.bounded:
                raise Unreadable("a fact with a number and a bound")
            self.facts.append(fact)

    def _literal(self, table: dict[str, Any]) -> tuple[int, Area, bool]:
        if table["record"] < 1 or len(table) != 2:
            raise Unreadable("a literal of a clause")
        return table["record"] - 1, self.area(table.get("in", table.get("not_in"))), "in" in table

    def _marginal(self, places: list[int], answers: list[int] | None) -> None:
        cells = prod(self.axes[place].size for place in places)
        if cells > MOST_CELLS or len(self.facts) + cells > MOST_FACTS:
            raise Unreadable("too many facts")
        every = product(*(range(self.axes[place].size) for place in places))
        told: Sequence[int | None] = [None] * cells if answers is None else answers
        for cell, answer in zip(every, told, strict=True):
            sides = {place: ((p, p + 1),) for place, p in zip(places, cell, strict=True)}
            self.facts.append(Fact(((1, (self.box(sides),)),), answer))


class Graph:
    """G. All but listed cells and pairs look at the offset on each axis only: an axis charges
    weight * offset ** power (None: it must not differ; off a `line`, every offset is 1), charges
    are added or the largest is taken, and two values are joined iff that is within the bound. All
    of them are whole numbers, `scale` times what the policy says.
    """

    def __init__(self, policy: Policy, document: dict[str, Any]) -> None:
        self.kind = kind = want(document.get("kind"), str, "secrets")
        table = want(document, {"kind": str, **SECRETS[kind]}, "secrets")
        axes, power = policy.axes, {"l1": 1, "l2": 2, "linf": 1}[table.get("metric", "l1")]
        self.by = policy.columns(table.get("by", []))
        free = set(policy.columns(table.get("attributes", policy.names)))
        self.line = [kind == "distance" and axis.ordered for axis in axes]
        self.power, self.strict = power, table.get("strict", False)
        self.added = kind == "attribute" or table.get("metric", "linf") != "linf"
        bound: Exact = table.get("changes", table.get("threshold", 1)) ** power
        weights: list[Exact | None] = [
            None if k in self.by or k not in free else axis.step**power if line else 1
            for k, (axis, line) in enumerate(zip(axes, self.line, strict=True))
        ]
        self.scale = common(each.denominator for each in (bound, *weights) if each is not None)
        self.bound = int(bound * self.scale)
        self.weights = [None if each is None else int(each * self.scale) for each in weights]
        self.cells = [policy.area(cell) for cell in table.get("cells", [])]
        if len({box for cell in self.cells for box in cell}) > MOST_CELLS:
            raise Unreadable("too many cells")
        self.held = [k for k, area in enumerate(self.cells) for _ in area]
        self.finder = Finder([box for area in self.cells for box in area])
        self.pairs: set[tuple[Point, Point]] = set()
        for pair in table.get("pairs", []):
            x, y = (policy.point([end[name] for name in policy.names]) for end in pair)
            self.pairs |= {(x, y), (y, x)}
        if kind == "distance" and not table["threshold"] > 0:
            raise Unreadable("a threshold that makes no sense")
        if kind == "partition" and ("by" in table) == bool(self.cells):
            raise Unreadable("a partition is by attributes, or by cells")
        whole, listed = policy.box({}), bool(self.cells) or kind == "edges"
        most = [axis.size - 1 if line else min(1, axis.size - 1)
                for axis, line in zip(axes, self.line, strict=True)]  # fmt: skip
        everything = len(self.cells) == 1 and whole in self.cells[0]
        self.complete = policy.size == 1 or everything or (not listed and self.pays(most))

    @property
    def cuts(self) -> list[Box]:
        """Boxes that edges depend on, besides offsets."""
        listed = [single(x) for pair in sorted(self.pairs) for x in pair]
        return [*(box for area in self.cells for box in area), *listed]

    def pays(self, offsets: Sequence[int]) -> bool:
        """Whether the charges of these offsets are within the bound."""
        charges = [0]
        for offset, weight in zip(offsets, self.weights, strict=True):
            if offset:
                if weight is None:
                    return False
                charges.append(weight * offset**self.power)
        return self.within(sum(charges) if self.added else max(charges))

    def within(self, charge: int) -> bool:
        """Whether a charge is within the bound."""
        return charge < self.bound or (charge == self.bound and not self.strict)

    def reach(self, place: int, size: int) -> int:
        """Return the largest offset on an axis of this size that is within the bound alone."""
        weight = self.weights[place]
        if weight is None or not self.within(weight):
            return 0
        low, high = 1, size - 1 if self.line[place] else min(1, size - 1)
        while low < high:  # charges grow with the offset
            middle = (low + high + 1) // 2
            paid = self.within(weight * middle**self.power)
            low, high = (middle, high) if paid else (low, middle - 1)
        return min(low, high)

    def cell(self, point: Point) -> object:
        """Return the cell of a partition that holds a point."""
        if self.cells:
            place = self.finder.first(point)
            return None if place is None else self.held[place]
        return tuple(point[place] for place in self.by)

    def joined(self, x: Point, y: Point) -> bool:
        """Whether (x, y) is an edge."""
        return self.touches(single(x), single(y))

    def touches(self, a: Box, b: Box) -> bool:
        """Whether an edge joins a box to a box: equal or disjoint, each in one listed cell;
        where pairs are listed, their ends are boxes of their own.
        """
        if self.kind == "edges":
            return (first(a), first(b)) in self.pairs
        if self.cells:
            many = any(side[-1][1] - side[0][0] > 1 for side in a)
            return self.cell(first(a)) == self.cell(first(b)) and (a != b or many)
        if a != b:
            return self.pays([self.gap(k, s, t) for k, (s, t) in enumerate(zip(a, b, strict=True))])
        offsets = [[0] * k + [self.gap(k, side)] + [0] * (len(a) - k - 1)
                   for k, side in enumerate(a)]  # fmt: skip
        return any(any(each) and self.pays(each) for each in offsets)

    def gap(self, place: int, s: Side, t: Side | None = None) -> int:
        """Return the least offset between two sides; within one the least above 0 (0: none)."""
        if t is not None:
            i = j = 0
            gap = max(s[-1][1], t[-1][1])
            while gap and i < len(s) and j < len(t):  # the run that ends first is done with
                (a, b), (c, d) = s[i], t[j]
                gap = min(gap, max(0, a - d + 1, c - b + 1))
                i, j = (i + 1, j) if b < d else (i, j + 1)
        elif any(high - low > 1 for low, high in s):
            gap = 1
        else:
            gap = min((b[0] - a[1] + 1 for a, b in pairwise(s)), default=0)
        return gap if self.line[place] else min(gap, 1)
