"""Spanning forests of a secret graph: counts become flows along edges, and edges stretch.

Let x count the records on each vertex. In a rooted tree the flow of an edge is the number of
records below it, so x at a vertex is the flow into it minus the flows out of it: with P the
vertex-edge incidence matrix of the tree (the root's row dropped, its total being known), x = P y
and y = P^-1 x (data-dependent-blowfish, Definition 3.3). A record that moves along an edge of the
tree changes one flow by 1, one that moves along another edge of G those of the path between its
ends. The longest such path is the stretch.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from blowproof.mechanisms.answers.vectors import largest, prefix_sums, roomy
from blowproof.models.base.errors import InternalError
from blowproof.models.base.kept import cached_property

__all__ = ["Forest", "Rated", "best_forest", "forests", "hubs", "path", "rated"]

Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Forest:
    """A rooted forest on the vertices 0, 1, ...: the parent of each, -1 for a root."""

    parent: Ints

    def __post_init__(self) -> None:
        """Keep the array as it is: what was proved of a forest stays true of it."""
        self.parent.setflags(write=False)

    @cached_property
    def order(self) -> Ints:
        """The vertices, every tree in one piece and every subtree too (a preorder)."""
        size = len(self.parent)
        children: list[list[int]] = [[] for _ in range(size)]
        stack: list[int] = []
        for vertex, parent in enumerate(self.parent.tolist()):
            (stack if parent < 0 else children[parent]).append(vertex)
        order = []
        while stack:
            vertex = stack.pop()
            order.append(vertex)
            stack.extend(children[vertex])
        if len(order) != size:
            raise InternalError("the parents of a forest form a cycle")
        return np.array(order, dtype=np.int64)

    @cached_property
    def sizes(self) -> Ints:
        """How many vertices each subtree has."""
        sizes = [1] * len(self.parent)
        parents = self.parent.tolist()
        for vertex in reversed(self.order.tolist()):
            if parents[vertex] >= 0:
                sizes[parents[vertex]] += sizes[vertex]
        return np.array(sizes, dtype=np.int64)

    @cached_property
    def depth(self) -> Ints:
        """How many edges lie between each vertex and its root."""
        depth = [0] * len(self.parent)
        parents = self.parent.tolist()
        for vertex in self.order.tolist():
            if parents[vertex] >= 0:
                depth[vertex] = depth[parents[vertex]] + 1
        return np.array(depth, dtype=np.int64)

    @cached_property
    def root(self) -> Ints:
        """The root of each vertex."""
        above = np.where(self.parent < 0, np.arange(len(self.parent)), self.parent)
        while (above[above] != above).any():
            above = above[above]
        return above

    @cached_property
    def roots(self) -> Ints:
        """The roots."""
        return np.flatnonzero(self.parent < 0)

    @cached_property
    def heads(self) -> Ints:
        """The vertices that have a parent: each stands for the edge above it."""
        return np.flatnonzero(self.parent >= 0)

    def flows(self, counts: NDArray[Any]) -> NDArray[Any]:
        """Return, for each vertex, the sum of the counts in its subtree.

        >>> path(4).flows(np.array([1, 2, 3, 4])).tolist()
        [1, 3, 6, 10]
        """
        sums = prefix_sums(counts[self.order])
        place = np.empty_like(self.order)
        place[self.order] = np.arange(len(self.order))
        found: NDArray[Any] = sums[place + self.sizes] - sums[place]
        return found

    def counts(self, flows: NDArray[Any]) -> NDArray[Any]:
        """Return the counts that have these sums over subtrees: the inverse of `flows`.

        >>> path(4).counts(np.array([1, 3, 6, 10])).tolist()
        [1, 2, 3, 4]
        """
        (held,) = roomy(len(flows) * largest(flows), flows)
        result = held.copy()
        np.subtract.at(result, self.parent[self.heads], held[self.heads])
        return result

    def distances(self, u: Ints, v: Ints) -> Ints:
        """Return the edges between u[i] and v[i], which lie in one tree."""
        up = [np.where(self.parent < 0, np.arange(len(self.parent)), self.parent)]
        for _ in range(int(self.depth.max(initial=0)).bit_length()):
            up.append(up[-1][up[-1]])
        deep = self.depth[u] >= self.depth[v]
        low, high = np.where(deep, u, v), np.where(deep, v, u)
        rise = self.depth[low] - self.depth[high]
        for power, above in enumerate(up):
            low = np.where(rise >> power & 1, above[low], low)
        for above in reversed(up):
            apart = above[low] != above[high]
            low, high = np.where(apart, above[low], low), np.where(apart, above[high], high)
        meet = np.where(low == high, low, up[0][low])
        return self.depth[u] + self.depth[v] - 2 * self.depth[meet]

    def stretch(self, u: Ints, v: Ints) -> int:
        """Return the longest distance in the forest between the ends of G's edges (u[i], v[i])."""
        return int(self.distances(u, v).max(initial=0))


Rated = tuple[Forest, int]
"""A forest and its stretch."""


def path(size: int) -> Forest:
    """Return 0 - 1 - 2 - ..., rooted at its last vertex: its flows are the prefix sums."""
    parent = np.arange(1, size + 1, dtype=np.int64)
    parent[-1] = -1
    return Forest(parent)


def hubs(size: int, reach: int) -> Forest:
    """Return a tree for the line on which values up to `reach` apart are joined: stretch 3.

    The last value of every `reach` is a hub. Hubs form a path, and other values hang on the next
    hub (the last ones, which have none, on the last hub). The ends of an edge have the same hub or
    hubs next to each other, so at most three edges lie between them.

    >>> hubs(7, 3).parent.tolist()
    [2, 2, 5, 5, 5, -1, 5]
    """
    place = np.arange(size, dtype=np.int64)
    last = max(reach * (size // reach) - 1, 0)
    hub = np.minimum((place // reach + 1) * reach - 1, last)
    parent = np.where(place == hub, np.minimum(place + reach, last), hub)
    parent[last] = -1
    return Forest(parent)


def forests(size: int, u: Ints, v: Ints) -> list[Forest]:
    """Return spanning forests of the graph with these edges to choose from.

    One by breadth-first search from a vertex of largest degree in each component, and one from a
    vertex in the middle of a longest breadth-first path.
    """
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    # Each edge both ways, so that no search below has to turn the graph round.
    tails, heads = np.divmod(np.unique(np.concatenate([u * size + v, v * size + u])), size)
    borders = np.searchsorted(tails, np.arange(size + 1))
    graph = csr_array((np.ones(len(heads)), heads, borders), shape=(size, size))
    component = connected_components(graph, connection="strong")[1].astype(np.int64)
    degree = np.diff(borders)
    return [
        _searched(graph, component, lambda members: int(members[degree[members].argmax()])),
        _searched(graph, component, lambda members: _middle(graph, int(members[0]))),
    ]


def _searched(graph: Any, component: Ints, root_of: Callable[[Ints], int]) -> Forest:
    from scipy.sparse.csgraph import breadth_first_order

    parent = np.full(graph.shape[0], -1, dtype=np.int64)
    order = np.argsort(component, kind="stable")
    borders = np.flatnonzero(np.diff(component[order])) + 1
    for members in np.split(order, borders):
        if len(members) < 2:
            continue
        reached, before = breadth_first_order(graph, root_of(members))
        parent[reached[1:]] = before[reached[1:]]
    return Forest(parent)


def _middle(graph: Any, start: int) -> int:
    """Walk to a farthest vertex, from there to a farthest again, and half the way back."""
    from scipy.sparse.csgraph import breadth_first_order

    order, _ = breadth_first_order(graph, start)
    order, before = breadth_first_order(graph, int(order[-1]))
    walk = [int(order[-1])]
    while before[walk[-1]] >= 0:
        walk.append(int(before[walk[-1]]))
    return walk[len(walk) // 2]


def rated(candidates: list[Forest], u: Ints, v: Ints) -> list[Rated]:
    """Return forests with their stretches."""
    return [(forest, forest.stretch(u, v)) for forest in candidates]


def best_forest(candidates: Sequence[Rated], error: Callable[[Forest], float]) -> Rated:
    """Return the forest whose noise hurts a workload least, and its stretch.

    `error(forest)` is the workload's squared error for noise of variance 1 on every flow; noise has
    to grow with the stretch, so its square is a factor.
    """
    return min(candidates, key=lambda pair: max(pair[1], 1) ** 2 * error(pair[0]))
