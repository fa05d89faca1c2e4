"""Several queries with weights, as one: what pays for all that is released together.

A part has one weight for all of its outputs, or (sums of attributes) one for each. In l2-squared a
weight says how often a square counts; in the other norms rows are multiplied by it.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from fractions import Fraction
from typing import Any

from .boxes import Area, Box, Point
from .document import Budget, Exact, Rejected, Unreadable, common, want
from .policy import Policy
from .query import Query, Row

PART = {"weights": [Fraction], "query": dict}


class Stack(Query):
    """A stack, where everything else sees a query. Every part's outputs are told apart by place."""

    def __init__(
        self, policy: Policy, document: dict[str, Any], budget: Budget | None, measure: str
    ) -> None:
        table = want(document, {"kind": str, "parts": [PART]}, "the query")
        self.policy, self.kind, self.budget, self.measure = policy, "stack", budget, measure
        self.parts = [Query(policy, part["query"], budget) for part in table["parts"]]
        self.factors: list[list[Exact]] = [part["weights"] for part in table["parts"]]
        self.weights, self.places, self.scale = None, [], 1
        self.area: Area = ()
        self.data: list[list[Exact]] = []
        if not self.parts:
            raise Unreadable("a stack of nothing")
        for part, factors in zip(self.parts, self.factors, strict=True):
            if part.weights is not None:
                raise Unreadable("a query that weighs records has no place in a stack")
            if len(factors) != 1 and (part.kind != "sum" or len(factors) != len(part.places)):
                raise Unreadable("one weight for all outputs, or one for each sum")
            if min(factors) <= 0:
                raise Unreadable("a weight is above 0")
        self.one = common((w.denominator for some in self.factors for w in some), budget)
        self.text = "+".join(map(_named, self.parts, self.factors))

    @property
    def cost(self) -> int:
        """What it costs to find a row."""
        return len(self.parts) + sum(part.cost for part in self.parts)

    @property
    def cuts(self) -> list[Box]:
        """Boxes that the rows depend on."""
        return [box for part in self.parts for box in part.cuts]

    @property
    def listed(self) -> list[int]:
        """The axes of which the rows depend on every position: of a histogram, all."""
        every = range(len(self.policy.axes))
        found = {
            place
            for part in self.parts
            for place in (
                every if part.kind == "histogram" else (*part.listed, *part.places)
            )
        }  # fmt: skip
        return sorted(found)

    def row(self, x: Point) -> Row:
        """Return what one record adds to each output, times the weights but in l2-squared."""
        rows = self.measure != "l2-squared"
        return {
            (number, key): value * self._factor(number, key) if rows else value
            for number, part in enumerate(self.parts)
            for key, value in part.row(x).items()
        }

    def _factor(self, number: int, key: Hashable) -> Exact:
        factors = self.factors[number]
        if len(factors) == 1:
            return factors[0]
        assert isinstance(key, int)  # the axis of a sum
        return factors[self.parts[number].places.index(key)]

    def weight(self, output: Hashable) -> int:
        """Return how often the square of an output counts, `one` standing for once."""
        assert isinstance(output, tuple)
        return int(self._factor(*output) * self.one)

    @property
    def outputs(self) -> int:
        """How many outputs there are."""
        return sum(part.outputs for part in self.parts)

    @property
    def single(self) -> bool:
        """Whether proofs about l1 say something of it: they do not ask."""
        return False

    def norm(self, change: Mapping[Point, int]) -> Exact:
        """Return the norm of the stack's change when the histogram changes like this."""
        total: dict[Hashable, Exact] = {}
        for point, times in change.items():
            for output, value in self.row(point).items():
                total[output] = total.get(output, 0) + times * value
        moved = {output: value for output, value in total.items() if value}
        if self.measure == "l2-squared":
            squares = (self.weight(key) * Fraction(value) ** 2 for key, value in moved.items())
            return sum(squares, start=Fraction(0)) / self.one
        return self.size(list(moved.values()))


def query_of(policy: Policy, document: dict[str, Any], budget: Budget, measure: str) -> Query:
    """Return the query of a certificate, a single one or a stack."""
    if document.get("kind") == "stack":
        return Stack(policy, document, budget, measure)
    return Query(policy, document, budget, measure)


def width_of(query: Query) -> int | None:
    """Return how many outputs a query has; None where that is not counted, or values stand for
    others (in a histogram, "some" value may be any).
    """
    if query.kind == "histogram":
        return None
    try:
        return query.outputs
    except Rejected:
        return None


def _named(query: Query, factors: list[Exact]) -> str:
    """Return a part as the claim names it."""
    if factors == [1]:
        return query.text
    shown = ",".join(str(Fraction(factor)) for factor in factors)
    return f"{shown if len(factors) == 1 else f'[{shown}]'}*{query.text}"
