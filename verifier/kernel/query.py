"""The query of a certificate: one record's row, and the exact change of the query over a pair."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Mapping
from fractions import Fraction
from typing import Any

from .document import MOST_DIGITS, Exact, Rejected, Unreadable, items, number, only, take
from .policy import Area, Box, Point, Policy, inside

Row = dict[Hashable, Exact]

MOST_OUTPUTS = 4_000
SEVERAL = 99
ARGUMENTS = {
    **{"histogram": 0, "partition": 0, "marginal": SEVERAL, "sum": SEVERAL, "cumulative": 1},
    **{"ranges": 1, "range": 3, "count": 1, "weighted-sum": 2},
    **{"matrix": 1, "cluster-sizes": 1, "cluster-sums": 1},
}
FROM_FILES = ("matrix", "cluster-sizes", "cluster-sums", "weighted-sum")


class Query:
    """A query of the contract, bound to a policy. `text` is what the claim names."""

    def __init__(self, policy: Policy, table: dict[str, Any]) -> None:
        only(table, ("kind", "arguments", "data"), "the query")
        self.policy, self.kind = policy, take(table, "kind", str)
        self.arguments = list(items(table.get("arguments", []), "arguments"))
        if any(not isinstance(v, str) for v in self.arguments):
            raise Unreadable("an argument of the query is no text")
        self.text = self.kind + (f"({','.join(self.arguments)})" if self.arguments else "")
        self.weights: list[Exact] | None = None
        self.places: list[int] = []
        self.area: Area = ()
        self.data: list[list[Exact]] = []
        named, data = self.arguments, table.get("data")
        count = ARGUMENTS.get(self.kind, -1)
        if count < 0 or (len(named) != count if count != SEVERAL else not named):
            raise Unreadable("no query of the contract, or the wrong number of arguments")
        if ("data" in table) != (self.kind in FROM_FILES):
            raise Unreadable("the query has data iff it names a file")
        if self.kind in ("marginal", "sum", "cumulative", "ranges"):
            self.places = [policy.axis(name) for name in named]
        elif self.kind == "range":
            axis = policy.axes[policy.axis(named[0])]
            ends = {"min": _written(axis.labels, named[1]), "max": _written(axis.labels, named[2])}
            self.area = policy.area({named[0]: ends})
        elif self.kind == "count":
            self.area = policy.queries[named[0]]
        elif self.kind == "weighted-sum":
            self.places = [policy.axis(named[0])]
            self.weights = [number(w, "a weight") for w in items(data, "data")]
        elif self.kind in FROM_FILES:
            self.data = [[number(v, "data") for v in items(row, "")] for row in items(data, "data")]
            width = policy.size if self.kind == "matrix" else len(policy.axes)
            if not self.data or any(len(row) != width for row in self.data):
                raise Unreadable("the data of the query have the wrong shape")
        elif self.kind == "partition" and policy.graph.kind != "partition":
            raise Unreadable("the secrets are no partition")
        if len(set(self.places)) != len(self.places):
            raise Unreadable("the query names an attribute twice")
        self._check_axes()

    def _check_axes(self) -> None:
        policy = self.policy
        ordered = self.kind in ("cumulative", "ranges", "cluster-sizes", "cluster-sums")
        used = self.places or list(range(len(policy.axes)))
        if ordered and not all(policy.axes[place].ordered for place in used):
            raise Unreadable("the query needs ordered attributes")
        numeric = self.kind in ("sum", "weighted-sum")
        if numeric and any(policy.axes[place].labels is not None for place in self.places):
            raise Unreadable("the query needs numbers")

    @property
    def cuts(self) -> list[Box]:
        """Boxes that the rows depend on."""
        cells = self.policy.graph.cells if self.kind == "partition" else []
        return [*self.area, *(box for area in cells for box in area)]

    @property
    def listed(self) -> list[int]:
        """The axes of which the rows depend on every position."""
        if self.kind in ("marginal", "cumulative", "ranges"):
            return self.places
        if self.kind in ("matrix", "cluster-sizes", "cluster-sums", "weighted-sum"):
            return list(range(len(self.policy.axes)))
        return self.policy.graph.by if self.kind == "partition" else []

    def row(self, x: Point) -> Row:  # noqa: PLR0911 # one return for each query
        """Return what one record adds to each output."""
        axes = self.policy.axes
        if self.kind in ("histogram", "marginal"):
            return {tuple(x[p] for p in self.places) if self.places else x: 1}
        if self.kind in ("range", "count"):
            return {0: 1} if inside(x, self.area) else {}
        if self.kind in ("sum", "weighted-sum"):
            return {p: axes[p].coordinate(x[p]) for p in self.places}
        if self.kind == "partition":
            return {self.policy.graph.cell(x): 1}
        if self.kind in ("cumulative", "ranges"):
            place, size = x[self.places[0]], axes[self.places[0]].size
            if size > MOST_OUTPUTS or (self.kind == "ranges" and size * size > MOST_OUTPUTS):
                raise Rejected("the query has too many outputs for this kind of proof")
            if self.kind == "cumulative":
                return dict.fromkeys(range(place, size), 1)
            return {(i, j): 1 for i in range(place + 1) for j in range(place, size)}
        if self.kind == "matrix":
            rank = 0
            for axis, p in zip(axes, x, strict=True):
                rank = rank * axis.size + p
            return {k: row[rank] for k, row in enumerate(self.data)}
        spot = [axis.coordinate(p) for axis, p in zip(axes, x, strict=True)]
        far = [sum((a - b) ** 2 for a, b in zip(spot, c, strict=True)) for c in self.data]
        nearest = far.index(min(far))
        if self.kind == "cluster-sizes":
            return {nearest: 1}
        return {(nearest, k): value for k, value in enumerate(spot)}

    def norm(self, change: Mapping[Point, int]) -> Exact:
        """Return the L1 norm of the query's change when the histogram changes like this."""
        if self.kind in ("cumulative", "ranges"):
            return self._prefix_norm(change)
        total: dict[Hashable, Exact] = defaultdict(int)
        for point, times in change.items():
            for output, value in self.row(point).items():
                total[output] += times * value
        return sum((v if v >= 0 else -v for v in total.values()), Fraction(0))

    def _prefix_norm(self, change: Mapping[Point, int]) -> Exact:
        """Sum |prefix sum| over positions; ranges: |difference| over all pairs of prefix sums."""
        steps: dict[int, int] = defaultdict(int)
        for point, times in change.items():
            steps[point[self.places[0]]] += times
        runs, running, last = [], 0, 0
        for place in sorted(steps):
            runs.append((running, place - last))
            running, last = running + steps[place], place
        runs.append((running, self.policy.axes[self.places[0]].size - last))
        if self.kind == "cumulative":
            return sum(abs(value) * length for value, length in runs)
        runs.append((0, 1))
        return sum(abs(a - b) * m * k for i, (a, m) in enumerate(runs) for b, k in runs[:i])

    def labelled(self, changes: Mapping[int, tuple[Point, Point]]) -> Exact:
        """Return |sum_i w_i (x'_i - x_i)| of the weighted sum."""
        axis, total = self.policy.axes[self.places[0]], Fraction(0)
        for record, (x, y) in changes.items():
            step = axis.coordinate(y[self.places[0]]) - axis.coordinate(x[self.places[0]])
            total += (self.weights or [])[record] * step
        return abs(total)


def _written(labels: Mapping[object, int] | None, text: str) -> object:
    """Return an argument as a value: a label, or a number."""
    whole = text.removeprefix("-")
    digits = whole.isascii() and whole.isdigit() and len(whole) < MOST_DIGITS
    return int(text) if digits and (labels is None or text not in labels) else text
