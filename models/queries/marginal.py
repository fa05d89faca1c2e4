"""Marginals: the histogram of some attributes, and the two values of one compared in its cells."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import TYPE_CHECKING

from blowproof.models.base.errors import PolicyError
from blowproof.models.base.numbers import Exact
from blowproof.models.domain.domain import Domain
from blowproof.models.domain.regions import Area, Point
from blowproof.models.norms.norm import Counted
from blowproof.models.queries.arguments import query_name
from blowproof.models.queries.outputs import Outputs, cell_label, cell_outputs, value_label
from blowproof.models.queries.query import BoundQuery, Row, cells_on
from blowproof.models.secrets import SecretGraph

if TYPE_CHECKING:
    from blowproof.models.policy.policy import Policy

__all__ = ["Difference", "MarginalQuery", "change_along"]


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

    def counted(self, change: Mapping[Point, int]) -> list[Counted]:
        """Return the changes of the cells."""
        if not self.axes:
            return list(super().counted(change))
        cell = itemgetter(*self.axes)
        found: dict[object, int] = defaultdict(int)
        for point, times in change.items():
            found[cell(point)] += times
        return [(times, 1) for times in found.values() if times]

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

    def counts_by(self, domain: Domain) -> frozenset[int]:
        """Return the attributes."""
        return frozenset(self.axes)

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


@dataclass(frozen=True, repr=False)
class Difference(BoundQuery):
    """How many more records have an attribute's first value than its second, cell by cell.

    `axis` has two values; the cells are those of `others`, of none a single one. Beside a table of
    the cells alone, this says as much as the whole table does, with half as many outputs.
    """

    axis: int
    others: tuple[int, ...]
    name: str = "difference"
    unit = 1

    @classmethod
    def parse(cls, kind: str, arguments: Sequence[str], policy: Policy) -> Difference:
        """Return the differences of the first attribute in the cells of the others."""
        axis, *others = policy.domain.axes(arguments)
        if policy.domain.attribute(axis).size != 2:
            raise PolicyError(
                f"{arguments[0]!r} has {policy.domain.attribute(axis).size} values",
                hint="name an attribute of two values first, or ask for marginal(...)",
            )
        return cls(axis, tuple(others), query_name(kind, arguments))

    @property
    def compared(self) -> tuple[int, tuple[int, ...]]:
        """Return its attributes."""
        return self.axis, self.others

    def row(self, point: Point) -> Row:
        """One record adds 1 to its cell, or takes 1 off it."""
        return {tuple(point[axis] for axis in self.others): -1 if point[self.axis] else 1}

    def arguments(self, domain: Domain) -> list[str | Exact]:
        """Return the attributes, the one with two values first."""
        return [domain.names[axis] for axis in (self.axis, *self.others)]

    def outputs(self, domain: Domain) -> Outputs:
        """Return the cells, row-major."""
        return cell_outputs([domain.attribute(axis).size for axis in self.others])

    def label(self, key: Hashable, domain: Domain) -> str:
        """Return what is compared, and where."""
        first, second = (value_label(domain, self.axis, at) for at in (0, 1))
        where = cell_label(domain, self.others, key)
        return f"{first} less {second}" + (f", {where}" if where else "")

    def axes_read(self, domain: Domain) -> frozenset[int]:
        """Return its attributes."""
        return frozenset((self.axis, *self.others))

    def areas(self, domain: Domain) -> list[Area] | None:
        """Return the cells of all its attributes, if they are few."""
        return self.cells(domain)

    def one_record(self, domain: Domain) -> Exact:
        """One cell changes."""
        return 1

    def farthest(self, domain: Domain) -> tuple[Point, Point]:
        """Return two values of one cell: its difference changes by 2, and no two change f more."""
        first, _ = domain.ends
        return first, tuple(1 if axis == self.axis else at for axis, at in enumerate(first))

    def along(self, graph: SecretGraph) -> Exact | None:
        """Return 2 iff an edge changes one of the attributes: one cell by 2, or two by 1 each."""
        return change_along(graph, (self.axis, *self.others))

    def largest_answer(self, domain: Domain, size: int) -> Exact:
        """Return n: all records may be alike."""
        return size
