"""What a bound secret graph answers, and the small helpers that all kinds share.

A graph is never listed to answer a question: regions come as boxes, and the cost follows their
runs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from blowproof.models.base.errors import BudgetError
from blowproof.models.domain.domain import Domain
from blowproof.models.domain.regions import Area, Box, Point

if TYPE_CHECKING:
    import networkx as nx

__all__ = ["LISTING_LIMIT", "Components", "Pair", "SecretGraph"]

LISTING_LIMIT = 1_000_000

Pair = tuple[Point, Point]


class SecretGraph(Protocol):
    """The graph G over a domain: (x, y) is an edge iff nobody may tell x from y."""

    @property
    def domain(self) -> Domain:
        """The domain whose values are the vertices."""
        ...

    @property
    def complete(self) -> bool:
        """Whether every two distinct values are joined (true for a one-value domain)."""
        ...

    @property
    def edge_count(self) -> int:
        """How many undirected edges there are."""
        ...

    def is_edge(self, x: Point, y: Point) -> bool:
        """Whether x and y are joined; never for x == y; symmetric."""
        ...

    def edge_between(self, a: Box, b: Box) -> Pair | None:
        """Return some edge (x, y) with x in a and y in b, or None if there is none."""
        ...

    def plain_between(self, a: Box, b: Box) -> Pair | None:
        """Return some x in a and y in b, x != y, that are not joined, or None."""
        ...

    def distance(self, x: Point, y: Point) -> int | None:
        """Return the hops d_G from x to y: 0 if equal, None if y cannot be reached."""
        ...

    def components(self) -> Components:
        """Return the connected components."""
        ...

    def neighbours(self, x: Point) -> Iterator[Point]:
        """Yield the values joined to x, lazily and row-major."""
        ...

    def degree(self, x: Point) -> int:
        """Return how many values are joined to x."""
        ...

    def edges(self, *, limit: int = LISTING_LIMIT) -> Iterator[Pair]:
        """Yield every edge once as (x, y), x < y, in order; refuse more than the limit."""
        ...

    def to_networkx(self, *, limit: int = LISTING_LIMIT) -> nx.Graph:
        """Return the graph on points; refuse more values or edges than the limit."""
        ...


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


def as_networkx(graph: SecretGraph, limit: int) -> nx.Graph:
    """Return the graph on points, isolated values included."""
    import networkx

    refuse_above(limit, graph.domain.size, "values")
    result = networkx.Graph()
    result.add_nodes_from(graph.domain.points(limit=limit))
    result.add_edges_from(graph.edges(limit=limit))
    return result
