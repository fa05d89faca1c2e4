"""The complete histogram: one count per value of the domain."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from blowproof.models.base.numbers import Exact
from blowproof.models.domain.domain import Domain
from blowproof.models.domain.regions import Area, Point
from blowproof.models.norms.norm import Counted
from blowproof.models.queries.marginal import change_along
from blowproof.models.queries.outputs import Outputs, cell_label, cell_outputs
from blowproof.models.queries.query import BoundQuery, Row
from blowproof.models.secrets import SecretGraph

if TYPE_CHECKING:
    from blowproof.models.policy.policy import Policy

__all__ = ["Histogram"]


@dataclass(frozen=True, repr=False)
class Histogram(BoundQuery):
    """The complete histogram h: one count per value of the domain."""

    name = "histogram"
    separates = True
    binary = True
    few = 2
    """What leaves a class leaves from one value, what enters it enters at another."""

    @classmethod
    def parse(cls, kind: str, arguments: Sequence[str], policy: Policy) -> Histogram:
        """Return the histogram."""
        return cls()

    def row(self, point: Point) -> Row:
        """One record adds 1 to its own cell."""
        return {point: 1}

    def counted(self, change: Mapping[Point, int]) -> list[Counted]:
        """Return the changes of the cells."""
        return [(times, 1) for times in change.values()]

    def outputs(self, domain: Domain) -> Outputs:
        """Return the cells, row-major."""
        return cell_outputs([attribute.size for _, attribute in domain.attributes])

    def label(self, key: Hashable, domain: Domain) -> str:
        """Return the cell's value."""
        return cell_label(domain, range(len(domain)), key)

    def cell_axes(self, domain: Domain) -> tuple[int, ...]:
        """Return all attributes."""
        return tuple(range(len(domain)))

    def counted_along(self, domain: Domain) -> int | None:
        """Return the attribute, if the domain has one."""
        return 0 if len(domain) == 1 else None

    def areas(self, domain: Domain) -> list[Area]:
        """Return none: see `few`."""
        return []

    def one_record(self, domain: Domain) -> Exact:
        """One cell changes."""
        return 1

    def farthest(self, domain: Domain) -> tuple[Point, Point]:
        """Return the first and the last value: any two will do."""
        return domain.ends

    def along(self, graph: SecretGraph) -> Exact | None:
        """Return 2 iff there is an edge."""
        return change_along(graph, range(len(graph.domain)))
