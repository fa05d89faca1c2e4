"""The coordinate sums of clusters, at fixed centroids."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass

from blowproof.models.base.numbers import Exact, plain
from blowproof.models.domain.domain import Domain
from blowproof.models.domain.regions import Point
from blowproof.models.queries.cluster_sizes import Clusters, coordinates
from blowproof.models.queries.outputs import Outputs, cell_outputs
from blowproof.models.queries.query import Row
from blowproof.models.queries.sums import coordinate_steps, farthest_out

__all__ = ["ClusterSums"]


@dataclass(frozen=True, repr=False)
class ClusterSums(Clusters):
    """The coordinate sums of each cluster, at fixed centroids."""

    name: str = "cluster-sums"

    def row(self, point: Point) -> Row:
        """One record adds its whole coordinate vector to its cluster's sums."""
        cluster = self.nearest(point)
        return {
            (cluster, axis): value
            for axis, value in enumerate(coordinates(self.domain, point))
            if value
        }

    def outputs(self, domain: Domain) -> Outputs:
        """Return the coordinates within clusters."""
        return cell_outputs([len(self.centroids), len(domain)])

    def label(self, key: Hashable, domain: Domain) -> str:
        """Return the cluster and the attribute."""
        assert isinstance(key, tuple)
        return f"cluster {key[0] + 1}, {domain.names[key[1]]}"

    def entries(self, domain: Domain, *, labelled: bool) -> Iterable[Exact]:
        """Return steps and first coordinates: a record that changes its cluster takes all along."""
        return coordinate_steps(domain, range(len(domain)), labelled=False)

    def largest_answer(self, domain: Domain, size: int) -> Exact:
        """Return so many times the coordinate that is farthest out."""
        return size * farthest_out(domain, range(len(domain)))

    def one_record(self, domain: Domain) -> Exact:
        """Return the sum of the largest coordinates."""
        ends = (farthest_out(domain, [axis]) for axis in range(len(domain)))
        return plain(sum(ends, start=0))
