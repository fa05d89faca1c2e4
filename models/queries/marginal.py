"""Marginals: the histogram of some attributes."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from blowproof.models.base.numbers import Exact
from blowproof.models.domain.domain import Domain
from blowproof.models.domain.regions import Area, Point
from blowproof.models.queries.arguments import query_name
from blowproof.models.queries.outputs import Outputs, cell_label, cell_outputs
from blowproof.models.queries.query import BoundQuery, Row, cells_on
from blowproof.models.secrets import SecretGraph

if TYPE_CHECKING:
    from blowproof.models.policy.policy import Policy

__all__ = ["MarginalQuery", "change_along"]


@dataclass(frozen=True, repr=False)
class MarginalQuery(BoundQuery):
    """The histogram of some attributes."""

    axes: tuple[int, ...]
    name: str = "marginal"
    binary = True

    @classmethod
    def parse(cls, kind: str, arguments: Sequence[str], policy: Policy) -> MarginalQuery:
        """Return the marginal of the attributes named."""
        return cls(policy.domain.axes(arguments), query_name(kind, arguments))

    def row(self, point: Point) -> Row:
        """One record adds 1 to its cell of the marginal."""
        return {tuple(point[axis] for axis in self.axes): 1}

    def arguments(self, domain: Domain) -> list[str | Exact]:
        """Return the attributes."""
        return [domain.names[axis] for axis in self.axes]

    def outputs(self, domain: Domain) -> Outputs:
        """Return the cells, row-major."""
        return cell_outputs([domain.attribute(axis).size for axis in self.axes])

    def label(self, key: Hashable, domain: Domain) -> str:
        """Return the cell's values."""
        return cell_label(domain, self.axes, key)

    def axes_read(self, domain: Domain) -> frozenset[int]:
        """Return its attributes."""
        return frozenset(self.axes)

    def counted_areas(self, domain: Domain) -> list[Area] | None:
        """Return the cells, if they are few."""
        return cells_on(self.axes, domain)

    def cell_axes(self, domain: Domain) -> tuple[int, ...]:
        """Return its attributes."""
        return self.axes

    def counted_along(self, domain: Domain) -> int | None:
        """Return the attribute, if it is one."""
        return self.axes[0] if len(self.axes) == 1 else None

    def adds_up(self, other: BoundQuery) -> bool:
        """Whether the other is a marginal of these attributes, or of more."""
        return isinstance(other, MarginalQuery) and set(self.axes) <= set(other.axes)

    def one_record(self, domain: Domain) -> Exact:
        """One cell changes."""
        return 1

    def farthest(self, domain: Domain) -> tuple[Point, Point]:
        """Return the first and the last value, which differ on every axis of several values."""
        return domain.ends

    def along(self, graph: SecretGraph) -> Exact | None:
        """Return 2 iff an edge changes one of the attributes."""
        return change_along(graph, self.axes)


def change_along(graph: SecretGraph, axes: Sequence[int]) -> Exact | None:
    """Return 2 if an edge changes a position on one of the axes, else 0; None: unknown."""
    found = [graph.reach(axis) for axis in axes]
    return None if None in found else 2 * any(found)
