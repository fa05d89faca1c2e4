"""The query of a certificate: one record's row, and the exact change of the query over a pair."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Hashable, Mapping
from fractions import Fraction
from hashlib import sha256
from itertools import product
from math import prod
from typing import Any

from .boxes import Area, Box, Point, inside
from .document import Budget, Exact, Rejected, Unreadable, common, want, words
from .policy import LABEL, Policy

Row = dict[Hashable, Exact]

MOST_OUTPUTS = 4_000
SEVERAL = 99
ARGUMENTS = {
    **{"histogram": 0, "partition": 0, "marginal": SEVERAL, "sum": SEVERAL, "cumulative": 1},
    **{"difference": SEVERAL, "rectangles": 2},
    **{"ranges": 1, "range": 3, "count": 1, "weighted-sum": 1},
    **{"matrix": 0, "cluster-sizes": 0, "cluster-sums": 0},
}
FROM_FILES = {"matrix", "cluster-sizes", "cluster-sums", "weighted-sum"}
BARE = re.compile(r"[A-Za-z0-9_./~+%-]+")  # no colon: sha256:... is a file
ORDERED = {"cumulative", "ranges", "rectangles", "cluster-sizes", "cluster-sums"}


class Query:
    """A query of the contract, bound to a policy. `text` is what the claim names: names in it are
    ASCII letters and digits, or quoted, and a file is named by the digest of its numbers.
    """

    def __init__(
        self,
        policy: Policy,
        document: dict[str, Any],
        budget: Budget | None = None,
        measure: str = "l1",
    ) -> None:
        data = {"data": [(int, str, list)]} if document.get("kind") in FROM_FILES else {}
        table = want(document, {"kind": str, "arguments": [LABEL], **data}, "the query")
        self.policy, self.kind, named = policy, table["kind"], table["arguments"]
        self.text = _text(self.kind, named, table.get("data"))
        self.weights: list[int] | None = None
        self.places: list[int] = []
        self.area: Area = ()
        self.data: list[list[Exact]] = []
        self.scale, self.budget, self.measure = 1, budget, measure
        count, axes = ARGUMENTS[self.kind], policy.axes
        if len(named) != count if count != SEVERAL else not named:
            raise Unreadable("the query has the wrong number of arguments")
        if self.kind in ("marginal", "difference", "sum", "cumulative", "ranges", "rectangles"):
            self.places = policy.columns(named)
        elif self.kind == "range":
            self.area = policy.area({named[0]: {"min": named[1], "max": named[2]}})
        elif self.kind == "count":
            self.area = policy.queries[named[0]]
        elif self.kind == "weighted-sum":
            self.places = policy.columns(named)
            found: list[Exact] = want(table["data"], [Fraction], "weights")
            self.scale = common((w.denominator for w in found), budget)
            self.weights = [int(w * self.scale) for w in found]
        elif self.kind in FROM_FILES:
            self.data = want(table["data"], [[Fraction]], "data")
            width = policy.size if self.kind == "matrix" else len(axes)
            if not self.data or any(len(row) != width for row in self.data):
                raise Unreadable("the data of the query have the wrong shape")
            if self.kind != "matrix":
                ends = [end for axis in axes for end in (axis.low, axis.step)]
                every = [*ends, *(value for row in self.data for value in row)]
                self.scale = common((value.denominator for value in every), budget)
                self.data = [[int(value * self.scale) for value in row] for row in self.data]
        elif self.kind == "partition" and policy.graph.kind != "partition":
            raise Unreadable("the secrets are no partition")
        used = self.places or range(len(axes))
        ordered = self.kind not in ORDERED or all(axes[place].ordered for place in used)
        numbers = self.kind in ("sum", "weighted-sum")
        if (
            (numbers and any(axes[place].labels is not None for place in used))
            or not ordered
            or (self.kind == "difference" and axes[used[0]].size != 2)
        ):
            raise Unreadable("the query needs numbers, ordered attributes, or two values")

    @property
    def cost(self) -> int:
        """What it costs to find a row."""
        if self.kind == "partition":
            return self.policy.graph.finder.cost
        each = 1 if self.kind == "matrix" else len(self.policy.axes) * words(self.scale) ** 2
        return 1 + 4 * len(self.area) + 8 * len(self.data) * each

    @property
    def cuts(self) -> list[Box]:
        """Boxes that the rows depend on."""
        cells = self.policy.graph.cells if self.kind == "partition" else []
        return [*self.area, *(box for area in cells for box in area)]

    @property
    def listed(self) -> list[int]:
        """The axes of which the rows depend on every position."""
        if self.kind in ("marginal", "difference", "cumulative", "ranges", "rectangles"):
            return self.places
        if self.kind in FROM_FILES:
            return list(range(len(self.policy.axes)))
        return self.policy.graph.by if self.kind == "partition" else []

    def row(self, x: Point) -> Row:  # noqa: PLR0911 # one return for each query
        """Return what one record adds to each output."""
        axes = self.policy.axes
        if self.kind in ("histogram", "marginal"):
            return {tuple(x[p] for p in self.places) if self.places else x: 1}
        if self.kind == "difference":
            return {tuple(x[p] for p in self.places[1:]): 1 - 2 * x[self.places[0]]}
        if self.kind in ("range", "count"):
            return {0: 1} if inside(x, self.area) else {}
        if self.kind in ("sum", "weighted-sum"):
            return {p: axes[p].coordinate(x[p]) for p in self.places}
        if self.kind == "partition":
            return {self.policy.graph.cell(x): 1}
        if self.kind in ("cumulative", "ranges", "rectangles"):
            return self._spans(x)
        if self.kind == "matrix":
            rank = 0
            for axis, p in zip(axes, x, strict=True):
                rank = rank * axis.size + p
            return {k: row[rank] for k, row in enumerate(self.data)}
        spot = [axis.coordinate(p) for axis, p in zip(axes, x, strict=True)]
        whole = [int(value * self.scale) for value in spot]
        far = [sum((a - b) ** 2 for a, b in zip(whole, c, strict=True)) for c in self.data]
        nearest = far.index(min(far))
        if self.kind == "cluster-sizes":
            return {nearest: 1}
        return {(nearest, k): value for k, value in enumerate(spot)}

    def _spans(self, x: Point) -> Row:
        """Return 1 for each prefix, range or rectangle that holds a value."""
        sizes = [self.policy.axes[p].size for p in self.places]
        if self.long:
            raise Rejected("the query has too many outputs for this proof", limit=True)
        if self.kind == "cumulative":
            return dict.fromkeys(range(x[self.places[0]], sizes[0]), 1)
        spans = [[(i, j) for i in range(x[p] + 1) for j in range(x[p], size)]
                 for p, size in zip(self.places, sizes, strict=True)]  # fmt: skip
        return dict.fromkeys(spans[0] if self.kind == "ranges" else product(*spans), 1)

    @property
    def outputs(self) -> int:
        """How many outputs there are."""
        sizes = [axis.size for axis in self.policy.axes]
        if self.kind in ("histogram", "marginal"):
            return prod(sizes[p] for p in self.places or range(len(sizes)))
        if self.kind == "difference":
            return prod(sizes[p] for p in self.places[1:])
        if self.kind == "rectangles":
            return prod(sizes[p] * (sizes[p] + 1) // 2 for p in self.places)
        if self.kind in ("cumulative", "ranges"):
            size = sizes[self.places[0]]
            return size if self.kind == "cumulative" else size * (size + 1) // 2
        if self.kind == "partition":
            raise Rejected("how many cells a partition has is not counted here", limit=True)
        if self.kind == "cluster-sums":
            return len(self.data) * len(sizes)
        return len(self.places) if self.kind == "sum" else len(self.data) or 1

    @property
    def single(self) -> bool:
        """Whether there is one output."""
        return self.kind in ("range", "count", "weighted-sum") or (
            len(self.places) == 1 and (self.kind == "sum")
        )

    def norm(self, change: Mapping[Point, int]) -> Exact:
        """Return the norm of the query's change when the histogram changes like this."""
        if self.measure == "l1":
            return self._l1(change)
        if self.along and self.long:
            return self._prefix_norm(change)
        total: dict[Hashable, Exact] = defaultdict(int)
        for point, times in change.items():
            for output, value in self.row(point).items():
                total[output] += times * value
        return self.size([value for value in total.values() if value])

    def size(self, changes: list[Exact]) -> Exact:
        """Return the norm of changes, those of all outputs that change."""
        if self.measure == "l2-squared":
            return Fraction(sum(Fraction(x) ** 2 for x in changes))
        if self.measure == "range" and len(changes) < self.outputs:
            changes = [*changes, 0]
        top, bottom = max(changes, default=0), min(changes, default=0)
        if self.measure == "linf":
            return max(top, -bottom)
        if self.measure == "range":
            return top - bottom
        return sum((x if x > 0 else -x for x in changes), start=Fraction(0))

    def _l1(self, change: Mapping[Point, int]) -> Exact:
        if self.kind in ("cumulative", "ranges"):
            return self._prefix_norm(change)
        rows = [(times, self.row(point)) for point, times in change.items()]
        scale = common((v.denominator for _, row in rows for v in row.values()), self.budget)
        total: dict[Hashable, int] = defaultdict(int)
        for times, row in rows:
            for output, value in row.items():
                total[output] += times * int(value * scale)
        return Fraction(sum(map(abs, total.values())), scale)

    def _prefix_norm(self, change: Mapping[Point, int]) -> int:
        """Return the norm of all prefix sums; ranges: of the differences of every two of them."""
        steps: dict[int, int] = defaultdict(int)
        for point, times in change.items():
            steps[point[self.places[0]]] += times
        return self.spread(steps) if self.measure == "l1" else self._in_norm(steps)

    @property
    def along(self) -> bool:
        """Whether the outputs are all prefixes, or all ranges, of one attribute's positions."""
        return self.kind in ("cumulative", "ranges")

    @property
    def long(self) -> bool:
        """Whether prefixes, ranges or rectangles are too many for rows that list them."""
        sizes = [self.policy.axes[p].size for p in self.places]
        several = self.kind != "cumulative" and prod(sizes) ** 2 > MOST_OUTPUTS
        return max(sizes) > MOST_OUTPUTS or several

    def reach(self, far: int) -> int:
        """Return the most that a record changes in l1 which goes no further than so many positions.

        A move by d changes d prefixes, and d (m + 1 - d) ranges of m positions: most at the middle.
        """
        if self.kind == "cumulative":
            return far
        size = self.policy.axes[self.places[0]].size + 1
        far = min(far, size // 2)
        return far * (size - far)

    def _runs(self, steps: Mapping[int, int]) -> list[tuple[int, int]]:
        """Return the prefix sums in the order of the axis, and for how many positions each holds,
        where so many records come at each position (less than 0: go).
        """
        runs, running, last = [], 0, 0
        for place in sorted(steps):
            runs.append((running, place - last))
            running, last = running + steps[place], place
        runs.append((running, self.policy.axes[self.places[0]].size - last))
        return runs

    def _in_norm(self, steps: Mapping[int, int]) -> int:
        """Return the norm, other than l1, of all prefixes or ranges, from the prefix sums.

        Ranges are differences of two prefix sums, 0 coming before all: the later less the earlier.
        """
        runs = [run for run in self._runs(steps) if run[1]]
        if self.kind == "ranges":
            runs = [(0, 1), *runs]
        squares = sum(value * value * length for value, length in runs)
        high, low = max(value for value, _ in runs), min(value for value, _ in runs)
        if self.kind == "cumulative":
            size = {"l2-squared": squares, "linf": max(high, -low), "range": high - low}
            return size[self.measure]
        if self.measure == "l2-squared":
            total = sum(value * length for value, length in runs)
            return squares * sum(length for _, length in runs) - total * total
        if self.measure == "linf":
            return high - low
        most = least = 0
        apart = [0] if any(length > 1 for _, length in runs) else []
        for value, _ in runs[1:]:
            apart += [value - least, value - most]
            most, least = max(most, value), min(least, value)
        return max(apart) - min(apart)

    def spread(self, steps: Mapping[int, int]) -> int:
        """Return the l1 norm where so many records come at each position (less than 0: go).

        A range is a difference of two prefixes, of which one is 0. In order of the prefix sums,
        the one at a place is added for each before it and taken away for each after it.
        """
        runs = self._runs(steps)
        if self.kind == "cumulative":
            return sum(abs(value) * length for value, length in runs)
        total, before, after = 0, 0, sum(length for _, length in runs) + 1
        for value, length in sorted([*runs, (0, 1)]):
            after -= length
            total += value * length * (before - after)
            before += length
        return total


def _text(kind: str, arguments: list[str | int], data: object) -> str:
    """Return the query as the claim names it; no name can pass for another, or for more of it."""
    told = [str(item) if BARE.fullmatch(str(item)) else json.dumps(item) for item in arguments]
    if data is not None:
        text = json.dumps(data, separators=(",", ":"))
        told.append(f"sha256:{sha256(text.encode('ascii')).hexdigest()}")
    return f"{kind}({','.join(told)})" if told else kind
