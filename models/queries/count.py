"""One count over an area: a range of one attribute, or a count that the policy names."""

from __future__ import annotations

from dataclasses import dataclass

from blowproof.models.domain.regions import Area, Point
from blowproof.models.queries.query import BoundQuery, Row

__all__ = ["CountQuery"]


@dataclass(frozen=True, repr=False)
class CountQuery(BoundQuery):
    """One count over an area: `range(...)` and `count(NAME)`."""

    area: Area
    name: str = "count"
    binary = True

    def row(self, point: Point) -> Row:
        """One record adds 1 iff it lies in the area."""
        return {0: 1} if point in self.area else {}
