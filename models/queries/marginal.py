"""Marginals: the histogram of some attributes."""

from __future__ import annotations

from dataclasses import dataclass

from blowproof.models.domain.regions import Point
from blowproof.models.queries.query import BoundQuery, Row

__all__ = ["MarginalQuery"]


@dataclass(frozen=True, repr=False)
class MarginalQuery(BoundQuery):
    """The histogram of some attributes."""

    axes: tuple[int, ...]
    name: str = "marginal"
    binary = True

    def row(self, point: Point) -> Row:
        """One record adds 1 to its cell of the marginal."""
        return {tuple(point[axis] for axis in self.axes): 1}
