"""A sum that weighs each record: linear, but not in the histogram."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from blowproof.models.base.numbers import Exact, magnitude, plain
from blowproof.models.domain.domain import Domain
from blowproof.models.domain.regions import Point
from blowproof.models.queries.query import BoundQuery, Move, Row

__all__ = ["WeightedSum"]


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
