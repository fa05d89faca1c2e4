"""The coordinate sums of clusters, at fixed centroids."""

from __future__ import annotations

from dataclasses import dataclass

from blowproof.models.domain.regions import Point
from blowproof.models.queries.cluster_sizes import ClusterSizes, coordinates
from blowproof.models.queries.query import Row

__all__ = ["ClusterSums"]


@dataclass(frozen=True, repr=False)
class ClusterSums(ClusterSizes):
    """The coordinate sums of each cluster, at fixed centroids."""

    name: str = "cluster-sums"
    binary = False

    def row(self, point: Point) -> Row:
        """One record adds its whole coordinate vector to its cluster's sums."""
        cluster = self.nearest(point)
        return {
            (cluster, axis): value
            for axis, value in enumerate(coordinates(self.domain, point))
            if value
        }
