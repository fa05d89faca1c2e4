"""Sums of numeric attributes."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from blowproof.models.base.numbers import Exact, magnitude, plain
from blowproof.models.domain.domain import Domain
from blowproof.models.domain.regions import Area, Point
from blowproof.models.queries.arguments import numeric_axis, query_name
from blowproof.models.queries.outputs import Outputs
from blowproof.models.queries.query import BoundQuery, Row
from blowproof.models.secrets import SecretGraph

if TYPE_CHECKING:
    from blowproof.models.policy.policy import Policy

__all__ = ["SumQuery", "coordinate_steps", "farthest_out"]


@dataclass(frozen=True, repr=False)
class SumQuery(BoundQuery):
    """Sums of one or more numeric attributes, one output each."""

    domain: Domain
    axes: tuple[int, ...]
    name: str = "sum"
    widest_at_ends = True

    @classmethod
    def parse(cls, kind: str, arguments: Sequence[str], policy: Policy) -> SumQuery:
        """Return the sums of the attributes named."""
        policy.domain.axes(arguments)
        axes = tuple(numeric_axis(policy.domain, name) for name in arguments)
        return cls(policy.domain, axes, query_name(kind, arguments))

    def row(self, point: Point) -> Row:
        """One record adds its own numbers."""
        return {axis: self.domain.attribute(axis).coordinate(point[axis]) for axis in self.axes}

    def arguments(self, domain: Domain) -> list[str | Exact]:
        """Return the attributes."""
        return [domain.names[axis] for axis in self.axes]

    def outputs(self, domain: Domain) -> Outputs:
        """Return the sums, in the order in which the attributes are named."""
        return Outputs(len(self.axes), self._place)

    def _place(self, key: Hashable) -> int:
        assert isinstance(key, int)
        return self.axes.index(key)

    def label(self, key: Hashable, domain: Domain) -> str:
        """Return the attribute, where there are several."""
        assert isinstance(key, int)
        return domain.names[key] if len(self.axes) > 1 else ""

    def entries(self, domain: Domain, *, labelled: bool) -> Iterable[Exact]:
        """Return the steps, and the first coordinates where records come or go alone."""
        return coordinate_steps(domain, self.axes, labelled=labelled)

    def largest_answer(self, domain: Domain, size: int) -> Exact:
        """Return so many times the coordinate that is farthest out."""
        return size * farthest_out(domain, self.axes)

    def axes_read(self, domain: Domain) -> frozenset[int]:
        """Return its attributes."""
        return frozenset(self.axes)

    def areas(self, domain: Domain) -> list[Area]:
        """Return none: ||change||_1 is convex in each record's row, so corners are enough."""
        return []

    @property
    def slopes(self) -> tuple[int, ...]:
        """The attributes."""
        return self.axes

    def one_record(self, domain: Domain) -> Exact:
        """Return the sum of the largest coordinates."""
        return plain(sum((farthest_out(domain, [axis]) for axis in self.axes), start=0))

    def one_move(self, domain: Domain) -> Exact | None:
        """Return the sum of the widths of the attributes."""
        return self.largest_change(domain)

    def farthest(self, domain: Domain) -> tuple[Point, Point]:
        """Return the first and the last value."""
        return domain.ends

    def along(self, graph: SecretGraph) -> Exact | None:
        """Return the largest l1 distance of an edge's ends: the outputs' changes add up to one."""
        return graph.stretch(self.axes)


def coordinate_steps(domain: Domain, axes: Iterable[int], *, labelled: bool) -> Iterator[Exact]:
    """Yield the steps of some attributes, and their first coordinates if not `labelled`.

    n records hold n times the first coordinate, whatever else they hold.
    """
    for axis in axes:
        attribute = domain.attribute(axis)
        yield attribute.step
        if not labelled:
            yield attribute.coordinate(0)


def farthest_out(domain: Domain, axes: Iterable[int]) -> Exact:
    """Return the largest coordinate of some attributes, without its sign."""
    kinds = [domain.attribute(axis) for axis in axes]
    return max(magnitude(kind.coordinate(at)) for kind in kinds for at in (0, kind.size - 1))
