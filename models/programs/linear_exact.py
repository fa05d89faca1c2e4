"""Linear models with numbers beyond 64 bits, solved in whole numbers of any size.

Two ways, one after the other:

* branch and bound over exact linear programs (`linear_lp`). Facts that count records have vertices
  that are nearly whole, so a few nodes are enough as a rule;
* CP-SAT on a window around the vertex of the root (`linear_window`).
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from math import floor, gcd

from blowproof.models.base.clock import now
from blowproof.models.programs.linear import (
    BoolLiteral,
    Clause,
    LinearConstraint,
    LinearExpr,
    LinearModel,
    weighted_sum,
)
from blowproof.models.programs.linear_lp import Inequality, Vertex, maximum
from blowproof.models.programs.linear_window import windowed
from blowproof.models.programs.to_cpsat import Outcome

__all__ = ["reduced", "solve_exactly"]

NODES = 400
SECONDS = 20.0

Span = tuple[int, int]


def solve_exactly(
    model: LinearModel,
    *,
    time_limit: float | None = None,
    seed: int = 0,
    stop: Callable[[], bool] | None = None,
) -> Outcome:
    """Return what `to_cpsat.solve` would, for numbers of any size; "unknown" where it is too hard.

    >>> model = LinearModel()
    >>> x, y = (model.int_var(name, lower=0, upper=10**40) for name in "xy")
    >>> _ = model.add(2 * x + 3 * y, lower=10**30, upper=10**30)
    >>> model.maximise(x - y)
    >>> outcome = solve_exactly(model)
    >>> outcome.status, outcome.upper == 10**30 // 2, outcome.assignment["y"]
    ('optimal', True, 0)
    """
    deadline = now() + (SECONDS if time_limit is None else min(SECONDS, time_limit))
    smaller = reduced(model)
    if smaller is None:
        return Outcome("infeasible")
    search = _BranchAndBound(smaller, deadline, stop)
    outcome = search.run()
    if outcome.status in ("optimal", "infeasible") or search.root is None:
        return outcome
    left = deadline - now()
    if left <= 0:
        return outcome
    return windowed(smaller, search.root, outcome, left, seed, stop)


# --- rows without common factors -----------------------------------------------------------------


def reduced(model: LinearModel) -> LinearModel | None:
    """Return the model with each row divided by the gcd of its coefficients; None: no solution.

    The bounds are rounded to whole numbers, which leaves out no solution.
    """
    result = LinearModel(name=model.name)
    for variable in model.variables:
        result.int_var(variable.name, lower=variable.lower, upper=variable.upper)
    for row in model.constraints:
        if isinstance(row, Clause):
            result.add_clause(row.literals, name=row.name, group=row.group)
            continue
        factor = gcd(*(times for times, _ in row.expr.terms)) or 1
        low = None if row.lower is None else -(-row.lower // factor)
        high = None if row.upper is None else row.upper // factor
        if low is not None and high is not None and low > high:
            if row.enforced_by is None:
                return None
            result.add_clause([~row.enforced_by], name=row.name, group=row.group)
            continue
        result.add(
            weighted_sum((times // factor, v) for times, v in row.expr.terms),
            lower=low,
            upper=high,
            enforced_by=row.enforced_by,
            name=row.name,
            group=row.group,
        )
    if model.objective is not None:
        result.maximise(model.objective)
    return result


# --- branch and bound ----------------------------------------------------------------------------


@dataclass(order=True)
class _Node:
    """A box of variables, and (negated, so that the best comes first) how good it can be."""

    key: Fraction
    number: int
    spans: dict[str, Span] = field(compare=False)
    point: dict[str, Fraction] = field(compare=False)


class _BranchAndBound:
    """Branch and bound; `root` is the vertex of the whole model, once it is known."""

    def __init__(
        self, model: LinearModel, deadline: float, stop: Callable[[], bool] | None
    ) -> None:
        self.model, self.deadline, self.stop = model, deadline, stop
        self.goal = model.objective or LinearExpr()
        self.root: dict[str, Fraction] | None = None
        self.best: dict[str, int] | None = None
        self.value: int | None = None
        self.nodes: list[_Node] = []
        self.made = 0
        self.upper_rows: set[str] = set()

    def run(self) -> Outcome:
        """Search until the nodes, the time or the patience end."""
        try:
            self._add({v.name: (v.lower, v.upper) for v in self.model.variables})
            while self.nodes and not self._settled():
                if self.made > NODES or (self.stop is not None and self.stop()):
                    return self._open()
                self._branch(heapq.heappop(self.nodes))
        except (TimeoutError, OverflowError):
            return self._open()
        if self.best is None:
            return Outcome("infeasible")
        value = None if self.model.objective is None else self.value
        return Outcome("optimal", value, value, self.best)

    def _settled(self) -> bool:
        """Whether no open node can beat the best."""
        return self.value is not None and floor(-self.nodes[0].key) <= self.value

    def _open(self) -> Outcome:
        """Return what is known where the search was stopped."""
        if self.model.objective is None:
            status = "unknown" if self.best is None else "optimal"
            return Outcome(status, assignment=self.best)  # type: ignore[arg-type]
        upper = self.goal.bounds()[1]
        if self.root is not None and self.nodes:
            top = floor(-self.nodes[0].key)
            upper = min(upper, top if self.value is None else max(top, self.value))
        if self.best is None:
            return Outcome("unknown", upper=upper)
        status = "optimal" if self.value == upper else "feasible"
        return Outcome(status, self.value, upper, self.best)  # type: ignore[arg-type]

    def _add(self, spans: dict[str, Span]) -> None:
        """Solve the linear program of a box, and keep the box unless it is empty."""
        found = self._vertex(spans)
        if found is None:
            return
        point, value = found
        self.made += 1
        if self.root is None:
            self.root = point
        if self.value is not None and floor(value) <= self.value:
            return
        heapq.heappush(self.nodes, _Node(-value, self.made, spans, point))

    def _branch(self, node: _Node) -> None:
        for name, place in node.point.items():
            if place.denominator != 1:
                self._split(node, name, floor(place))
                return
        whole = {name: int(value) for name, value in node.point.items()}
        broken = self.model.evaluate(whole)
        if not broken:
            value = self.goal.evaluate(whole)
            if self.value is None or value > self.value:
                self.best, self.value = whole, value
            return
        row = broken[0]  # only a row with a condition: the others are in the linear program
        assert isinstance(row, LinearConstraint) and row.enforced_by is not None
        self._split(node, row.enforced_by.variable.name, 0)

    def _split(self, node: _Node, name: str, place: int) -> None:
        low, high = node.spans[name]
        for span in ((low, place), (place + 1, high)):
            if span[0] <= span[1]:
                try:
                    self._add({**node.spans, name: span})
                except (TimeoutError, OverflowError):
                    heapq.heappush(self.nodes, node)  # still open
                    raise

    def _vertex(self, spans: dict[str, Span]) -> tuple[dict[str, Fraction], Fraction] | None:
        """Return the best vertex of a box and its value; ends of ranges come in where needed."""
        names = {name: place for place, name in enumerate(spans)}
        rows = list(self._rows(spans, names))
        goal = {names[v.name]: times for times, v in self.goal.terms}
        start = sum(times * spans[v.name][0] for times, v in self.goal.terms) + self.goal.constant
        while True:
            known = [
                Inequality({names[name]: 1}, "<=", high - low)
                for name, (low, high) in spans.items()
                if name in self.upper_rows
            ]
            found: Vertex = maximum([*rows, *known], goal, len(names), deadline=self.deadline)
            if found.status == "infeasible":
                return None
            if found.status == "unbounded":
                missing = {v.name for times, v in self.goal.terms if times > 0}
            else:
                missing = {
                    name
                    for (name, (low, high)), value in zip(spans.items(), found.point, strict=True)
                    if value > high - low
                }
            if not missing:
                point = {
                    name: low + value
                    for (name, (low, _)), value in zip(spans.items(), found.point, strict=True)
                }
                return point, found.value + start
            self.upper_rows |= missing

    def _rows(self, spans: dict[str, Span], names: dict[str, int]) -> Iterator[Inequality]:
        """Yield what holds in the box, for the variables less their lower ends."""
        low: int | None
        high: int | None
        for row in self.model.constraints:
            if isinstance(row, Clause):
                expr = weighted_sum((-1 if x.negated else 1, x.variable) for x in row.literals)
                low, high = 1 - sum(x.negated for x in row.literals), None
            elif row.enforced_by is None or _holds(row.enforced_by, spans):
                expr, low, high = row.expr, row.lower, row.upper
            else:
                continue
            base = sum(times * spans[v.name][0] for times, v in expr.terms)
            shifted = {names[v.name]: times for times, v in expr.terms}
            if low is not None and low == high:
                yield Inequality(shifted, "=", low - base)
                continue
            if low is not None:
                yield Inequality(shifted, ">=", low - base)
            if high is not None:
                yield Inequality(shifted, "<=", high - base)


def _holds(literal: BoolLiteral, spans: dict[str, Span]) -> bool:
    value = 0 if literal.negated else 1
    return spans[literal.variable.name] == (value, value)
