"""The histogram of the secret partition's cells."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Protocol

from blowproof.models.domain.regions import Point
from blowproof.models.queries.query import BoundQuery, Row

__all__ = ["HasCells", "PartitionHistogram"]


class HasCells(Protocol):
    """A secret partition: all that the partition query needs of it."""

    def cell_of(self, point: Point) -> Hashable:
        """Return the key of the cell that holds a point."""


@dataclass(frozen=True, repr=False)
class PartitionHistogram(BoundQuery):
    """The histogram of the secret partition's cells."""

    graph: HasCells
    name = "partition"
    binary = True

    def row(self, point: Point) -> Row:
        """One record adds 1 to its cell."""
        return {self.graph.cell_of(point): 1}
