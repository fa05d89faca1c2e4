"""One count over an area: a range of one attribute, or a count that the policy names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from blowproof.models.base.numbers import Exact, plain, show
from blowproof.models.domain.attributes import Attribute, Labels
from blowproof.models.domain.domain import Domain
from blowproof.models.domain.regions import Area, Between, Box, Point, Region
from blowproof.models.queries.arguments import ordered_axis, query_arguments, query_name
from blowproof.models.queries.outputs import Outputs
from blowproof.models.queries.query import BoundQuery, Row
from blowproof.models.secrets import SecretGraph

if TYPE_CHECKING:
    from blowproof.models.policy.policy import Policy

__all__ = ["CountQuery"]

LONGEST = 1000
"""Digits of a number that is a label."""


@dataclass(frozen=True, repr=False)
class CountQuery(BoundQuery):
    """One count over an area: `range(...)` and `count(NAME)`."""

    area: Area
    name: str = "count"
    binary = True

    @classmethod
    def parse(cls, kind: str, arguments: Sequence[str], policy: Policy) -> CountQuery:
        """Return a range of an ordered attribute, or a count that the policy names."""
        if kind == "range":
            return cls._range(arguments, policy.domain)
        return cls(policy.query_area(arguments[0]), query_name(kind, arguments))

    @classmethod
    def _range(cls, arguments: Sequence[str], domain: Domain) -> CountQuery:
        name, *ends = arguments
        axis = ordered_axis(domain, name)
        attribute = domain.attribute(axis)
        low, high = (_end(attribute, text) for text in ends)
        area = domain.area(Region({name: Between(low, high)}))
        side = area.boxes[0].sides[axis]
        values = [attribute.value(side.nth(place)) for place in (0, side.size - 1)]
        told = [value if isinstance(value, str) else show(value) for value in values]
        return cls(area, query_name("range", [name, *told]))

    def row(self, point: Point) -> Row:
        """One record adds 1 iff it lies in the area."""
        return {0: 1} if point in self.area else {}

    def arguments(self, domain: Domain) -> list[str | Exact]:
        """Return the name of a named count, or the attribute and the two ends of a range."""
        named: list[str | Exact] = [*query_arguments(self.name)]
        if not self.name.startswith("range("):
            return named
        axis = domain.axis(str(named[0]))
        attribute, side = domain.attribute(axis), self.area.boxes[0].sides[axis]
        ends = (attribute.value(side.nth(place)) for place in (0, side.size - 1))
        return [named[0], *(end if isinstance(end, str) else plain(end) for end in ends)]

    def outputs(self, domain: Domain) -> Outputs:
        """Return the one output."""
        return Outputs(1, lambda key: 0)

    def axes_read(self, domain: Domain) -> frozenset[int]:
        """Return the axes on which the area does not hold everything."""
        return domain.restricted([self.area])

    def counted_areas(self, domain: Domain) -> list[Area]:
        """Return the area."""
        return [self.area]

    def counted_along(self, domain: Domain) -> int | None:
        """Return the one axis that the area restricts."""
        axes = self.axes_read(domain)
        return min(axes) if len(axes) == 1 else None

    def one_record(self, domain: Domain) -> Exact:
        """The one output changes."""
        return 1

    def one_move(self, domain: Domain) -> Exact:
        """The one output changes by 1 at the most."""
        return 1

    def largest_change(self, domain: Domain) -> Exact:
        """Return 1 iff some values lie inside and some outside."""
        return int(0 < self.area.size < domain.size)

    def along(self, graph: SecretGraph) -> Exact | None:
        """Return 1 if an edge joins the area with the rest of the domain, else 0."""
        rest: tuple[Box, ...] = (graph.domain.whole,)
        for box in self.area.boxes:
            rest = tuple(part for piece in rest for part in piece.minus(box))
        return int(any(graph.edge_between(a, b) for a in self.area.boxes for b in rest))


def _end(attribute: Attribute, text: str) -> str | int:
    """Return an end of a range: a number as it is written, or a label."""
    labels = attribute.labels if isinstance(attribute, Labels) else ()
    whole = text.removeprefix("-").isdecimal() and len(text) < LONGEST
    return int(text) if whole and labels and isinstance(labels[0], int) else text
