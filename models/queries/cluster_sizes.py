"""The sizes of clusters, at fixed centroids."""

from __future__ import annotations

from dataclasses import dataclass

from blowproof.models.base.numbers import Exact
from blowproof.models.domain.domain import Domain
from blowproof.models.domain.regions import Point
from blowproof.models.queries.query import BoundQuery, Row

__all__ = ["ClusterSizes", "coordinates"]


@dataclass(frozen=True, repr=False)
class ClusterSizes(BoundQuery):
    """How many records are nearest to each centroid (L2; ties go to the first)."""

    domain: Domain
    centroids: tuple[tuple[Exact, ...], ...]
    name: str = "cluster-sizes"
    binary = True

    def nearest(self, point: Point) -> int:
        """Return the place of the nearest centroid, by exact squares."""
        place = coordinates(self.domain, point)
        distances = [
            sum((a - b) ** 2 for a, b in zip(place, centroid, strict=True))
            for centroid in self.centroids
        ]
        return distances.index(min(distances))

    def row(self, point: Point) -> Row:
        """One record adds 1 to its cluster."""
        return {self.nearest(point): 1}


def coordinates(domain: Domain, point: Point) -> tuple[Exact, ...]:
    """Return a point's coordinates (values of numbers, positions of ordered labels)."""
    return tuple(
        attribute.coordinate(place)
        for (_, attribute), place in zip(domain.attributes, point, strict=True)
    )
