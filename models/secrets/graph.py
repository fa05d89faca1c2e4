"""What a bound secret graph answers, and the small helpers that all kinds share.

A graph is never listed to answer a question: regions come as boxes, and the cost follows their
runs.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from blowproof.models.base.errors import BudgetError
from blowproof.models.base.numbers import Exact
from blowproof.models.domain.domain import Domain
from blowproof.models.domain.regions import Area, Box, Point

if TYPE_CHECKING:
    import networkx as nx

__all__ = ["LISTING_LIMIT", "Components", "Pair", "PartitionGraph", "SecretGraph"]

LISTING_LIMIT = 1_000_000

Pair = tuple[Point, Point]


class SecretGraph(ABC):
    """The graph G over a domain: (x, y) is an edge iff nobody may tell x from y.

    What answers None knows no short way: who asks then goes from value to value, or from edge to
    edge. A kind that knows nothing but its rule is a `RuleGraph`.
    """

    domain: Domain

    @property
    @abstractmethod
    def complete(self) -> bool:
        """Whether every two distinct values are joined (true for a one-value domain)."""

    @property
    @abstractmethod
    def edge_count(self) -> int:
        """How many undirected edges there are."""

    @abstractmethod
    def is_edge(self, x: Point, y: Point) -> bool:
        """Whether x and y are joined; never for x == y; symmetric."""

    @abstractmethod
    def edge_between(self, a: Box, b: Box) -> Pair | None:
        """Return some edge (x, y) with x in a and y in b, or None if there is none."""

    @abstractmethod
    def plain_between(self, a: Box, b: Box) -> Pair | None:
        """Return some x in a and y in b, x != y, that are not joined, or None."""

    @abstractmethod
    def distance(self, x: Point, y: Point) -> int | None:
        """Return the hops d_G from x to y: 0 if equal, None if y cannot be reached."""

    @abstractmethod
    def components(self) -> Components:
        """Return the connected components."""

    @abstractmethod
    def neighbours(self, x: Point) -> Iterator[Point]:
        """Yield the values joined to x, lazily and row-major."""

    @abstractmethod
    def degree(self, x: Point) -> int:
        """Return how many values are joined to x."""

    @abstractmethod
    def edges(self, *, limit: int = LISTING_LIMIT) -> Iterator[Pair]:
        """Yield every edge once as (x, y), x < y, in order; refuse more than the limit."""

    def to_networkx(self, *, limit: int = LISTING_LIMIT) -> nx.Graph:
        """Return the graph on points, isolated values included; refuse more values or edges than
        the limit.
        """
        import networkx

        refuse_above(limit, self.domain.size, "values")
        result = networkx.Graph()
        result.add_nodes_from(self.domain.points(limit=limit))
        result.add_edges_from(self.edges(limit=limit))
        return result

    def reach(self, axis: int) -> int | None:
        """Return the largest |p - q| of an edge's ends on an axis; None: not known so shortly."""
        return None

    def gaps(self, axis: int) -> Iterable[tuple[int, int]] | None:
        """Return stretches (least, most) of |p - q|: edges have each number in them on that axis,
        and no other but 0. None: not known so shortly.
        """
        return None

    def stretch(self, axes: Sequence[int]) -> Exact | None:
        """Return the largest l1 distance of an edge's ends on some axes, by coordinates; None: not
        known so shortly.
        """
        return None

    def reach_alone(self, axis: int) -> int | None:
        """Return how far apart two positions of an axis may be, to be joined whenever nothing else
        differs; None: not known so shortly.
        """
        return None

    @property
    def fixed(self) -> tuple[int, ...] | None:
        """The axes on which joined values agree, all others being free; None: it is not so."""
        return None

    @property
    def listed(self) -> bool:
        """Whether its edges stand in a list, so that going through it is the shortest way."""
        return False

    def cell_areas(self, limit: int) -> list[Area] | None:
        """Return regions such that two values are joined iff they share one; None: there are none,
        or more than the limit.
        """
        return None


class PartitionGraph(SecretGraph):
    """A graph whose edges join the values of one cell; cells have keys 0, 1, 2, ..."""

    @property
    @abstractmethod
    def cell_count(self) -> int:
        """How many cells there are."""

    @abstractmethod
    def cell_of(self, point: Point) -> int:
        """Return the key of the cell that holds a point."""

    @abstractmethod
    def cell_area(self, key: int) -> Area:
        """Return the values of a cell."""

    @abstractmethod
    def cell_label(self, key: int) -> str:
        """Return a cell in words."""

    @property
    def cells(self) -> range:
        """The keys in canonical order."""
        return range(self.cell_count)

    def cell_areas(self, limit: int) -> list[Area] | None:
        """Return the cells, if they are so few."""
        few = self.cell_count <= limit
        return [self.cell_area(key) for key in self.cells] if few else None


@dataclass(frozen=True, eq=False)
class Components:
    """Connected components; each is named by its smallest value (row-major)."""

    count: int
    component_of: Callable[[Point], Point]
    area_of: Callable[[Point], Area]

    def connected(self, x: Point, y: Point) -> bool:
        """Whether a path of edges leads from x to y (true for x == y)."""
        return self.component_of(x) == self.component_of(y)


def distinct_pair(a: Box, b: Box) -> Pair | None:
    """Return some x in a and y in b with x != y, or None."""
    if not a or not b:
        return None
    x, y = a.nth(0), b.nth(0)
    if x != y:
        return x, y
    if b.size > 1:
        return x, b.nth(1)
    return (a.nth(1), y) if a.size > 1 else None


def refuse_above(limit: int, found: int, what: str) -> None:
    """Raise BudgetError if there is more to list than the limit."""
    if found > limit:
        raise BudgetError(f"the secret graph has {found} {what}; listing stops at {limit}")
