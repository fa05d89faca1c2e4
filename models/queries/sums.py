"""Sums of numeric attributes."""

from __future__ import annotations

from dataclasses import dataclass

from blowproof.models.domain.domain import Domain
from blowproof.models.domain.regions import Point
from blowproof.models.queries.query import BoundQuery, Row

__all__ = ["SumQuery"]


@dataclass(frozen=True, repr=False)
class SumQuery(BoundQuery):
    """Sums of one or more numeric attributes, one output each."""

    domain: Domain
    axes: tuple[int, ...]
    name: str = "sum"

    def row(self, point: Point) -> Row:
        """One record adds its own numbers."""
        return {axis: self.domain.attribute(axis).coordinate(point[axis]) for axis in self.axes}
