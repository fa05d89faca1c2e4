"""The sizes of clusters, at fixed centroids."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from blowproof.models.base.numbers import Exact
from blowproof.models.domain.domain import Domain
from blowproof.models.domain.regions import Point
from blowproof.models.queries.arguments import ordered_axis, query_file, query_name
from blowproof.models.queries.outputs import Outputs, numbered_outputs
from blowproof.models.queries.query import BoundQuery, Row

if TYPE_CHECKING:
    from blowproof.models.policy.policy import Policy

__all__ = ["ClusterSizes", "Clusters", "coordinates"]


@dataclass(frozen=True, repr=False)
class Clusters(BoundQuery):
    """What is asked of each cluster: the values nearest to each centroid (L2; ties go to the
    first).
    """

    domain: Domain
    centroids: tuple[tuple[Exact, ...], ...]
    name: str = ""

    @classmethod
    def parse(cls, kind: str, arguments: Sequence[str], policy: Policy) -> Self:
        """Return the clusters around the centroids in a file; all attributes must be ordered."""
        from blowproof.models.files.tables import read_centroids

        for name in policy.domain.names:
            ordered_axis(policy.domain, name)
        path = query_file(arguments[0], policy.folder)
        centroids = tuple(read_centroids(path, len(policy.domain)))
        return cls(policy.domain, centroids, query_name(kind, arguments))

    def nearest(self, point: Point) -> int:
        """Return the place of the nearest centroid, by exact squares."""
        place = coordinates(self.domain, point)
        distances = [
            sum((a - b) ** 2 for a, b in zip(place, centroid, strict=True))
            for centroid in self.centroids
        ]
        return distances.index(min(distances))

    def arguments(self, domain: Domain) -> list[str | Exact]:
        """Return nothing: the centroids are in a file."""
        return []

    def data(self) -> list[list[Exact]]:
        """Return the centroids."""
        return [list(centroid) for centroid in self.centroids]


@dataclass(frozen=True, repr=False)
class ClusterSizes(Clusters):
    """How many records are nearest to each centroid."""

    name: str = "cluster-sizes"
    binary = True

    def row(self, point: Point) -> Row:
        """One record adds 1 to its cluster."""
        return {self.nearest(point): 1}

    def outputs(self, domain: Domain) -> Outputs:
        """Return the clusters."""
        return numbered_outputs(len(self.centroids))

    def one_record(self, domain: Domain) -> Exact:
        """One size changes."""
        return 1


def coordinates(domain: Domain, point: Point) -> tuple[Exact, ...]:
    """Return a point's coordinates (values of numbers, positions of ordered labels)."""
    return tuple(
        attribute.coordinate(place)
        for (_, attribute), place in zip(domain.attributes, point, strict=True)
    )
