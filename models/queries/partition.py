"""The histogram of the secret partition's cells."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from blowproof.models.base.errors import PolicyError
from blowproof.models.base.numbers import Exact
from blowproof.models.domain.domain import Domain
from blowproof.models.domain.regions import Area, Point
from blowproof.models.queries.outputs import Outputs, numbered_outputs
from blowproof.models.queries.query import MOST_CELLS, BoundQuery, Row
from blowproof.models.secrets import PartitionGraph, SecretGraph

if TYPE_CHECKING:
    from blowproof.models.policy.policy import Policy

__all__ = ["PartitionHistogram"]


@dataclass(frozen=True, repr=False)
class PartitionHistogram(BoundQuery):
    """The histogram of the secret partition's cells."""

    graph: PartitionGraph
    name = "partition"
    binary = True

    @classmethod
    def parse(cls, kind: str, arguments: Sequence[str], policy: Policy) -> PartitionHistogram:
        """Return the histogram of the policy's cells; its secrets must be a partition."""
        graph = policy.graph
        if not isinstance(graph, PartitionGraph):
            raise PolicyError(
                "the secrets are not a partition",
                hint='the query "partition" needs [secrets] kind = "partition"',
            )
        return cls(graph)

    def row(self, point: Point) -> Row:
        """One record adds 1 to its cell."""
        return {self.graph.cell_of(point): 1}

    def outputs(self, domain: Domain) -> Outputs:
        """Return the cells, as the graph counts them."""
        return numbered_outputs(self.graph.cell_count)

    def axes_read(self, domain: Domain) -> frozenset[int]:
        """Return the axes that a cell restricts."""
        areas = self.counted_areas(domain)
        return super().axes_read(domain) if areas is None else domain.restricted(areas)

    def counted_areas(self, domain: Domain) -> list[Area] | None:
        """Return the cells, if they are few."""
        return self.graph.cell_areas(MOST_CELLS)

    def one_record(self, domain: Domain) -> Exact:
        """One cell changes."""
        return 1

    def largest_change(self, domain: Domain) -> Exact:
        """Return 2 iff there are several cells."""
        return 2 if self.graph.cell_count > 1 else 0

    def along(self, graph: SecretGraph) -> Exact | None:
        """Return 0 if these are the cells of G: an edge never leaves its cell."""
        return 0 if graph == self.graph else None
