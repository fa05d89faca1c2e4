"""A sum that weighs each record: linear, but not in the histogram."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import lcm
from typing import TYPE_CHECKING

from blowproof.models.base.numbers import Exact, magnitude, plain
from blowproof.models.domain.domain import Domain
from blowproof.models.domain.regions import Area, Point
from blowproof.models.queries.arguments import numeric_axis, query_file, query_name
from blowproof.models.queries.outputs import Outputs
from blowproof.models.queries.query import BoundQuery, Move, Row
from blowproof.models.queries.sums import coordinate_steps, farthest_out
from blowproof.models.secrets import SecretGraph

if TYPE_CHECKING:
    from blowproof.models.policy.policy import Policy

__all__ = ["WeightedSum"]


@dataclass(frozen=True, repr=False)
class WeightedSum(BoundQuery):
    """sum_i w_i x_i over labelled records: linear, but not in the histogram."""

    domain: Domain
    axis: int
    weights: tuple[Exact, ...]
    name: str = "weighted-sum"
    per_record = True

    @classmethod
    def parse(cls, kind: str, arguments: Sequence[str], policy: Policy) -> WeightedSum:
        """Return the sum of an attribute with the weights in a file."""
        from blowproof.models.files.tables import read_weights

        axis = numeric_axis(policy.domain, arguments[0])
        weights = read_weights(query_file(arguments[1], policy.folder))
        return cls(policy.domain, axis, weights, query_name(kind, arguments))

    @property
    def records(self) -> int:
        """As many as there are weights."""
        return len(self.weights)

    @property
    def heaviest(self) -> Exact:
        """The largest weight, without its sign."""
        return max(map(magnitude, self.weights), default=0)

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

    def arguments(self, domain: Domain) -> list[str | Exact]:
        """Return the attribute."""
        return [domain.names[self.axis]]

    def data(self) -> list[Exact]:
        """Return the weights."""
        return list(self.weights)

    def outputs(self, domain: Domain) -> Outputs:
        """Return the one output."""
        return Outputs(1, lambda key: 0)

    def entries(self, domain: Domain, *, labelled: bool) -> Iterable[Exact]:
        """Return the steps, and the first coordinates where records come or go, times weights."""
        steps = list(coordinate_steps(domain, [self.axis], labelled=labelled))
        return (weight * step for weight in self.weights for step in steps)

    def grid(self, domain: Domain) -> Fraction:
        """Return the grid of the weights times that of the attribute."""
        numbers = [*coordinate_steps(domain, [self.axis], labelled=False)]
        below = lcm(*(x.denominator for x in self.weights))
        return Fraction(1, below * lcm(*(x.denominator for x in numbers)))

    def largest_answer(self, domain: Domain, size: int) -> Exact:
        """Return the sum of the weights times the coordinate that is farthest out."""
        return sum(map(magnitude, self.weights), start=0) * farthest_out(domain, [self.axis])

    def axes_read(self, domain: Domain) -> frozenset[int]:
        """Return the attribute."""
        return frozenset([self.axis])

    def areas(self, domain: Domain) -> list[Area]:
        """Return none: the change is convex in each record's value, so corners are enough."""
        return []

    @property
    def slopes(self) -> tuple[int, ...]:
        """The attribute."""
        return (self.axis,)

    def one_record(self, domain: Domain) -> None:
        """Return nothing: n is known wherever records have weights."""
        return

    def all_records(self, domain: Domain) -> Exact:
        """Return the width of the attribute, times the sum of the weights."""
        attribute = domain.attribute(self.axis)
        span = attribute.coordinate(attribute.size - 1) - attribute.coordinate(0)
        return plain(sum(map(magnitude, self.weights), start=0) * span)

    def one_move(self, domain: Domain) -> Exact:
        """Return the width of the attribute, times the largest weight."""
        return self.largest_change(domain)

    def largest_change(self, domain: Domain) -> Exact:
        """Return the width of the attribute, times the largest weight."""
        attribute = domain.attribute(self.axis)
        return plain(self.heaviest * (attribute.size - 1) * attribute.step)

    def along(self, graph: SecretGraph) -> Exact | None:
        """Return the longest way of an edge along the attribute, times the largest weight."""
        found = graph.reach(self.axis)
        step = self.domain.attribute(self.axis).step
        return None if found is None else self.heaviest * found * step
