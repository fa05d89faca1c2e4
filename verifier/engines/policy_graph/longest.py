"""Longest simple cycles and paths of a digraph, exact, or with sound bounds when stopped.

Both problems are one: a path from s to t is a cycle through the node that s and t become when they
are made one. The graph is cut up first, for a cycle never leaves a block (of the underlying graph
of a strongly connected component). What is left, block by block, the largest first:

* at most 12 nodes: dynamic programming over sets of nodes, in plain Python;
* symmetric ones (all policy graphs) first get a long cycle by greedy search (`cycle_search`), and
  are done if its length is an upper bound that can be read off: the number of nodes, or for a
  bipartite block twice the smaller side. That settles cliques and most dense blocks;
* the others go to a linear model: choose arcs that make disjoint cycles, as long as possible. While
  several cycles come out, each is forbidden to be apart from the rest. See `_Master`.

Work is counted arc by arc. What would not be done by the deadline is not begun, so that a graph of
millions of arcs is told the number of its nodes as a bound.

Whatever was found is verified in the graph itself before it is returned.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING

from blowproof.models import InternalError
from blowproof.models.base.clock import Pace, now
from blowproof.verifier.engines.policy_graph.cycle_program import improve
from blowproof.verifier.engines.policy_graph.cycle_search import Block, by_subsets, greedy_cycle
from blowproof.verifier.limits.limit import real_limit, whole_limit

if TYPE_CHECKING:
    import networkx as nx

__all__ = ["Longest", "OnLongest", "longest_cycle", "longest_path"]

SUBSET_LIMIT = whole_limit(__name__, "SUBSET_LIMIT")
SUBSET = real_limit(__name__, "SUBSET")
PART = real_limit(__name__, "PART")

OnLongest = Callable[["Longest"], None]


@dataclass(frozen=True)
class Longest:
    """lower <= the longest length <= upper, in edges; `nodes` is one of length `lower`.

    A cycle's nodes are listed once, from any of them on; a path's from end to end. There are none
    where lower is 0.
    """

    lower: int
    upper: int
    nodes: tuple[Hashable, ...] = ()

    @property
    def exact(self) -> bool:
        """Whether the length is known."""
        return self.lower == self.upper


def longest_cycle(
    graph: nx.DiGraph, *, time_limit: float | None = None, on_bound: OnLongest | None = None
) -> Longest:
    """Return a longest simple cycle; two opposite arcs are a cycle of length 2.

    >>> import networkx as nx
    >>> longest_cycle(nx.DiGraph([(1, 2), (2, 3), (3, 1), (3, 4), (4, 3)]))
    Longest(lower=3, upper=3, nodes=(1, 2, 3))
    >>> longest_cycle(nx.complete_graph(200, nx.DiGraph)).lower
    200
    """
    search = _LongestCycle(Pace(_deadline(time_limit)), on_bound or _nobody)
    search.cut_up(graph)
    return _verified(graph, search.best(), closed=True)


def longest_path(
    graph: nx.DiGraph,
    source: Hashable,
    target: Hashable,
    *,
    time_limit: float | None = None,
    on_bound: OnLongest | None = None,
) -> Longest:
    """Return a longest simple path between two different nodes (length 0: there is none).

    >>> import networkx as nx
    >>> longest_path(nx.DiGraph([(1, 2), (2, 3), (1, 3)]), 1, 3)
    Longest(lower=2, upper=2, nodes=(1, 2, 3))
    """
    if source == target:
        raise ValueError(f"a path from {source!r} to itself is a cycle: use longest_cycle")
    floor = Longest(1, 1, (source, target)) if graph.has_edge(source, target) else Longest(0, 0)

    def opened(found: Longest) -> Longest:
        """Return the path that a cycle through the merged node stands for."""
        if found.lower <= floor.lower:
            return Longest(floor.lower, max(floor.upper, found.upper), floor.nodes)
        place = found.nodes.index(_HUB)
        inner = (*found.nodes[place + 1 :], *found.nodes[:place])
        return Longest(found.lower, found.upper, (source, *inner, target))

    report = on_bound or _nobody
    search = _LongestCycle(Pace(_deadline(time_limit)), lambda found: report(opened(found)))
    search.cut_up(graph, (source, target))
    return _verified(graph, opened(search.best()), closed=False)


class _Hub:
    """The node that the ends of a path become; equal to no node of the caller's."""

    def __repr__(self) -> str:
        return "hub"


_HUB = _Hub()


def _merged(graph: nx.DiGraph, source: Hashable, target: Hashable) -> nx.DiGraph:
    """Return the graph with both ends made one: out of it as from source, into it as to target."""
    result = graph.copy()
    result.remove_nodes_from([source, target])
    ends = {source, target}
    result.add_edges_from((_HUB, v) for v in graph.successors(source) if v not in ends)
    result.add_edges_from((v, _HUB) for v in graph.predecessors(target) if v not in ends)
    return result


def _blocks(graph: nx.DiGraph, through: Hashable | None) -> list[tuple[Block, list[Hashable]]]:
    """Return the parts that a cycle (through a node, if any) can lie in, with their nodes."""
    import networkx

    if through is not None and through not in graph:
        return []
    parts = []
    place = {node: number for number, node in enumerate(graph)}
    for component in networkx.strongly_connected_components(graph):
        simple = networkx.Graph()
        for u in sorted(component, key=place.__getitem__):
            simple.add_edges_from((u, v) for v in graph[u] if v in component and v != u)
        for block in networkx.biconnected_component_edges(simple):
            order = sorted({node for edge in block for node in edge}, key=place.__getitem__)
            if through is None or through in order:
                parts.append((_block(graph, block, order, through), order))
    return sorted(parts, key=lambda part: -part[0].upper)


def _block(
    graph: nx.DiGraph,
    edges: Iterable[tuple[Hashable, Hashable]],
    order: Sequence[Hashable],
    through: Hashable | None,
) -> Block:
    number = {node: place for place, node in enumerate(order)}
    arcs: list[list[int]] = [[] for _ in order]
    for one, other in edges:
        for u, v in ((one, other), (other, one)):
            if graph.has_edge(u, v):
                arcs[number[u]].append(number[v])
    following = tuple(tuple(sorted(row)) for row in arcs)
    return Block(following, None if through is None else number[through])


@dataclass
class _LongestCycle:
    """The blocks, one after the other; the longest cycle so far, and what each block allows."""

    pace: Pace
    on_bound: OnLongest
    cycle: tuple[Hashable, ...] = ()
    uppers: list[int] = field(default_factory=list)

    def best(self) -> Longest:
        """Return what is known."""
        upper = max([len(self.cycle), *self.uppers])
        return Longest(len(self.cycle), upper, self.cycle)

    def cut_up(self, graph: nx.DiGraph, ends: tuple[Hashable, Hashable] | None = None) -> None:
        """Search all blocks of a graph, or of that with both ends made one, if there is time to."""
        if self.pace.fits((len(graph) + graph.number_of_edges()) * PART):
            self.run(_blocks(graph, None) if ends is None else _blocks(_merged(graph, *ends), _HUB))
        else:
            self.uppers = [len(graph)]

    def run(self, parts: Sequence[tuple[Block, list[Hashable]]]) -> None:
        """Search all blocks: quick ways in each of them, then the linear model where it matters."""
        self.uppers = [block.upper for block, _ in parts]
        self.on_bound(self.best())
        for place, (block, order) in enumerate(parts):
            if self.uppers[place] > len(self.cycle):
                self._quick(place, block, order)
        for place, (block, order) in enumerate(parts):
            if self.uppers[place] > len(self.cycle):
                improve(
                    block,
                    floor=len(self.cycle),
                    pace=self.pace,
                    on_cycle=partial(self._found, order),
                    on_upper=partial(self._limit, place),
                )

    def _quick(self, place: int, block: Block, order: Sequence[Hashable]) -> None:
        if self.pace.late:
            return
        if block.size <= SUBSET_LIMIT:
            self.pace.over(SUBSET * block.size * 2**block.size)
            exact = by_subsets(block)
            self._found(order, exact)
            self._limit(place, len(exact))
        elif block.symmetric:
            self._found(order, greedy_cycle(block, self.pace))

    def _found(self, order: Sequence[Hashable], cycle: Sequence[int]) -> None:
        if len(cycle) > len(self.cycle):
            self.cycle = tuple(order[node] for node in cycle)
            self.on_bound(self.best())

    def _limit(self, place: int, upper: int) -> None:
        if upper < self.uppers[place]:
            self.uppers[place] = upper
            self.on_bound(self.best())


def _nobody(found: Longest) -> None:
    """Tell nobody."""


def _deadline(time_limit: float | None) -> float | None:
    return None if time_limit is None else now() + time_limit


def _verified(graph: nx.DiGraph, found: Longest, *, closed: bool) -> Longest:
    """Return the finding, after checking its witness in the graph."""
    nodes = found.nodes
    steps: Iterable[tuple[Hashable, Hashable]] = pairwise(nodes)
    if closed and nodes:
        steps = [*steps, (nodes[-1], nodes[0])]
    taken = list(steps)
    simple = len(set(nodes)) == len(nodes) and all(graph.has_edge(u, v) for u, v in taken)
    if not simple or len(taken) != found.lower or found.lower > found.upper:
        raise InternalError(f"not a simple {'cycle' if closed else 'path'}: {found}")
    return found
