"""The complete histogram: one count per value of the domain."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from blowproof.models.base.numbers import Exact
from blowproof.models.domain.regions import Point
from blowproof.models.queries.query import BoundQuery, Row

__all__ = ["Histogram"]


@dataclass(frozen=True, repr=False)
class Histogram(BoundQuery):
    """The complete histogram h: one count per value of the domain."""

    name = "histogram"

    def row(self, point: Point) -> Row:
        """One record adds 1 to its own cell."""
        return {point: 1}

    def norm(self, change: Mapping[Point, int]) -> Exact:
        """Return the sum of the absolute changes of the cells."""
        return sum(abs(times) for times in change.values())
