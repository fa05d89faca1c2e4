"""Matchings of largest weight, ties settled by one fixed order of all matchings.

The order, which neither the data nor the noise enters: first the weight, the larger the better;
then the sum of *tickets*, one number for each pair that a fixed rule draws from the pair's place,
the smaller the better; then vertex by vertex from 0, the partner with the smaller number, and none
last. So no two matchings are level, and the best of all is one and the same for every algorithm.

The matching library breaks ties as its search happens to run. It is asked for the best of
`weight * 2**50 - ticket`, which leaves a tie to it only where the tickets of two heaviest matchings
add up to the same, about one time in 2**18. Whether that has happened is certain: each edge of the
matching found is made a little lighter, by less than 1 in all, and the library asked once more.
Another matching as good as the first lacks one of its edges at least (no weight is negative), so it
is the better one now; and if there is none, the first one is found again. Where there is one, the
vertices are settled one by one (`_first`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from blowproof.mechanisms.answers.vectors import largest
from blowproof.models.base.errors import InternalError

__all__ = ["MOST_MATCHED", "heaviest_matching", "tickets"]

Edge = tuple[int, int, int]
"""Two vertices, the smaller first, and a weight."""
Matching = set[tuple[int, int]]

MOST_MATCHED = 2048
WIDEST = 2**56
"""No weight is larger: the library counts in 128 bits, and wraps round in silence beyond."""
TICKET_BITS = 39
_TICKETS = 50
"""Tickets of a matching add up to less than 2**50."""


def tickets(pairs: int) -> NDArray[np.int64]:
    """Return the ticket of each pair: a fixed scramble of its number (splitmix64, its top bits).

    >>> tickets(3).tolist() == tickets(5).tolist()[:3], len(set(tickets(1000).tolist()))
    (True, 1000)
    """
    mixed = np.arange(1, pairs + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    mixed ^= mixed >> np.uint64(31)
    return (mixed >> np.uint64(64 - TICKET_BITS)).astype(np.int64)


def heaviest_matching(
    size: int, left: NDArray[Any], right: NDArray[Any], weight: NDArray[Any]
) -> Matching:
    """Return the best matching in the order above, as pairs with the smaller vertex first.

    `left`, `right` and `weight` are all pairs of vertices, (0, 1), (0, 2), ..., (1, 2), ... Pairs
    of no weight are in no best matching: without them it weighs the same and has fewer tickets.
    """
    if size > MOST_MATCHED or largest(weight) > WIDEST:
        raise InternalError(f"{size} values with costs up to {largest(weight)} are too many")
    kept = np.flatnonzero(weight > 0)
    ticket = tickets(len(weight))[kept].tolist()
    edges = [
        (a, b, (w << _TICKETS) - t - 1)
        for a, b, w, t in zip(
            left[kept].tolist(), right[kept].tolist(), weight[kept].tolist(), ticket, strict=True
        )
    ]
    found = _solved(size, edges)
    lighter = [(a, b, size * w - ((a, b) in found)) for a, b, w in edges]
    return found if _solved(size, lighter) == found else _first(size, edges)


def _first(size: int, edges: Sequence[Edge]) -> Matching:
    """Return the heaviest matching in which vertex 0 has the smallest partner, then vertex 1, ...

    In units of 1 / (size + 1) a partner's number cannot outweigh a whole unit.
    """
    result: Matching = set()
    gone: set[int] = set()
    for vertex in range(size):
        left = [edge for edge in edges if not gone & {edge[0], edge[1]}]
        if vertex not in gone and left:
            found = _solved(size, [_preferring(vertex, size, edge) for edge in left])
            chosen = {pair for pair in found if vertex in pair}
            result |= chosen
            gone |= {end for pair in chosen for end in pair}
        gone.add(vertex)
    return result


def _preferring(vertex: int, size: int, edge: Edge) -> Edge:
    a, b, weight = edge
    return a, b, weight * (size + 1) + (size - (a + b - vertex) if vertex in (a, b) else 0)


def _solved(size: int, edges: Sequence[Edge]) -> Matching:
    """Return some matching of largest weight."""
    import rustworkx

    graph: Any = rustworkx.PyGraph(multigraph=False)
    graph.add_nodes_from(range(size))
    graph.add_edges_from(list(edges))
    found = rustworkx.max_weight_matching(graph, max_cardinality=False, weight_fn=int)
    return {(min(a, b), max(a, b)) for a, b in found}
