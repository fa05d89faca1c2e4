"""The complete histogram: one count per value of the domain."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from blowproof.models.domain.regions import Point
from blowproof.models.norms.norm import Counted
from blowproof.models.queries.query import BoundQuery, Row

__all__ = ["Histogram"]


@dataclass(frozen=True, repr=False)
class Histogram(BoundQuery):
    """The complete histogram h: one count per value of the domain."""

    name = "histogram"
    binary = True

    def row(self, point: Point) -> Row:
        """One record adds 1 to its own cell."""
        return {point: 1}

    def counted(self, change: Mapping[Point, int]) -> list[Counted]:
        """Return the changes of the cells."""
        return [(times, 1) for times in change.values()]
