"""Edges that are written out one by one; every other value stands alone.

And graphs that know nothing but a rule: their edges are listed once, and the list answers.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

from blowproof.models.base.kept import cached_property
from blowproof.models.domain.domain import Domain
from blowproof.models.domain.regions import Area, Box, Point
from blowproof.models.secrets.graph import (
    LISTING_LIMIT,
    Components,
    Pair,
    SecretGraph,
    refuse_above,
)

__all__ = ["EdgeGraph", "RuleGraph"]


@dataclass(frozen=True)
class EdgeGraph(SecretGraph):
    """Listed edges (x, y), x < y, sorted and without repeats."""

    domain: Domain
    pairs: tuple[Pair, ...]

    @cached_property
    def _around(self) -> dict[Point, set[Point]]:
        around: dict[Point, set[Point]] = {}
        for x, y in self.pairs:
            around.setdefault(x, set()).add(y)
            around.setdefault(y, set()).add(x)
        return around

    @cached_property
    def _roots(self) -> dict[Point, Point]:
        """The smallest value of the component of each value that has an edge."""
        roots: dict[Point, Point] = {}
        for start in sorted(self._around):
            if start not in roots:
                roots.update(dict.fromkeys(self._hops(start), start))
        return roots

    def _hops(self, start: Point) -> dict[Point, int]:
        """Return the hops to every value that can be reached, breadth first."""
        hops, queue = {start: 0}, deque([start])
        while queue:
            x = queue.popleft()
            for y in self._around.get(x, ()):
                if y not in hops:
                    hops[y] = hops[x] + 1
                    queue.append(y)
        return hops

    @property
    def complete(self) -> bool:
        """Whether every pair of values is listed."""
        return 2 * len(self.pairs) == self.domain.size * (self.domain.size - 1)

    @property
    def edge_count(self) -> int:
        """How many edges there are."""
        return len(self.pairs)

    @property
    def listed(self) -> bool:
        """They do."""
        return True

    def is_edge(self, x: Point, y: Point) -> bool:
        """Whether the pair is listed, in either direction."""
        return y in self._around.get(x, ())

    def edge_between(self, a: Box, b: Box) -> Pair | None:
        """Return a listed edge that leads from a to b, or None."""
        for x, y in self.pairs:
            if x in a and y in b:
                return x, y
            if y in a and x in b:
                return y, x
        return None

    def plain_between(self, a: Box, b: Box) -> Pair | None:
        """Return distinct values of a and b without an edge, or None.

        Few values need a look. Of the first (values with edges) + 2 in a, two have no edge at all,
        and one of them differs from some y in b; if a has fewer values, all are tried. For a fixed
        x, of the first degree + 2 values in b one is neither x nor joined to it.
        """
        for i in range(min(a.size, len(self._around) + 2)):
            x = a.nth(i)
            for j in range(min(b.size, self.degree(x) + 2)):
                y = b.nth(j)
                if x != y and not self.is_edge(x, y):
                    return x, y
        return None

    def distance(self, x: Point, y: Point) -> int | None:
        """Return the hops from x to y, by breadth-first search over the listed edges."""
        return self._hops(x).get(y)

    def components(self) -> Components:
        """Return the components; a value without an edge is one by itself."""
        roots = self._roots
        alone = self.domain.size - len(roots)

        def area_of(key: Point) -> Area:
            return Area(tuple(Box.at(point) for point in sorted(self._hops(key))))

        return Components(
            alone + len(set(roots.values())), lambda point: roots.get(point, point), area_of
        )

    def neighbours(self, x: Point) -> Iterator[Point]:
        """Yield the values joined to x, row-major."""
        return iter(sorted(self._around.get(x, ())))

    def degree(self, x: Point) -> int:
        """Return how many edges x has."""
        return len(self._around.get(x, ()))

    def edges(self, *, limit: int = LISTING_LIMIT) -> Iterator[Pair]:
        """Yield the edges (x, y), x < y, in order."""
        refuse_above(limit, len(self.pairs), "edges")
        return iter(self.pairs)


class RuleGraph(SecretGraph):
    """A graph that knows nothing but `is_edge`: right at once, and slow.

    Every two values are looked at, once, and from then on the list of edges answers. What is too
    many for that is refused.
    """

    @cached_property
    def _list(self) -> EdgeGraph:
        size = self.domain.size
        refuse_above(LISTING_LIMIT, size * (size - 1) // 2, "pairs of values to look at")
        pairs = combinations(self.domain.points(), 2)
        return EdgeGraph(self.domain, tuple((x, y) for x, y in pairs if self.is_edge(x, y)))

    @property
    def listed(self) -> bool:
        """They will, as soon as somebody asks."""
        return True

    @property
    def complete(self) -> bool:
        """Whether every two values are joined."""
        return self._list.complete

    @property
    def edge_count(self) -> int:
        """How many edges there are."""
        return self._list.edge_count

    def edge_between(self, a: Box, b: Box) -> Pair | None:
        """Return an edge that leads from a to b, or None."""
        return self._list.edge_between(a, b)

    def plain_between(self, a: Box, b: Box) -> Pair | None:
        """Return distinct values of a and b without an edge, or None."""
        return self._list.plain_between(a, b)

    def distance(self, x: Point, y: Point) -> int | None:
        """Return the hops from x to y, or None."""
        return self._list.distance(x, y)

    def components(self) -> Components:
        """Return the components."""
        return self._list.components()

    def neighbours(self, x: Point) -> Iterator[Point]:
        """Yield the values joined to x, row-major."""
        return self._list.neighbours(x)

    def degree(self, x: Point) -> int:
        """Return how many edges x has."""
        return self._list.degree(x)

    def edges(self, *, limit: int = LISTING_LIMIT) -> Iterator[Pair]:
        """Yield the edges (x, y), x < y, in order."""
        return self._list.edges(limit=limit)
