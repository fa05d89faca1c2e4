"""Kind `cycles`, for sparse policies: each effect raises at most one count and lowers at most one.

An effect is then an arc of a graph whose vertices are the counts and one more; a multiset that sums
to zero is a circulation and contains a simple cycle. So an irreducible one is a simple cycle, no
longer than its component has vertices.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import Any

from .document import Exact, Rejected, want
from .world import Effects, World


def refute(world: World, proof: dict[str, Any], value: Exact) -> None:
    """Refuse unless the component's vertices times its largest change are within the value."""
    want(proof, {"kind": str}, "the proof")
    moves = Effects(world)
    if bound(moves) > value * moves.scale:
        raise Rejected("the bound that the proof gives is above the value")


def bound(moves: Effects) -> int:
    """Return what no neighbour pair exceeds, scaled."""
    columns = [c for c in dict.fromkeys(zip(*moves.effects, strict=True)) if any(c)]
    parent = list(range(len(columns) + 1))

    def root(v: int) -> int:
        while parent[v] != v:
            parent[v] = v = parent[parent[v]]
        return v

    arcs = []
    for effect, weight in zip(zip(*columns, strict=True), moves.weights, strict=True):
        ups = [j for j, x in enumerate(effect) if x > 0]
        downs = [j for j, x in enumerate(effect) if x < 0]
        if max(map(abs, effect)) > 1 or len(ups) > 1 or len(downs) > 1:
            raise Rejected("a move raises or lowers two counts")
        one, two = (*ups, len(columns))[0], (*downs, len(columns))[0]
        parent[root(one)] = root(two)
        arcs.append((one, weight))
    lengths = Counter(root(v) for v in range(len(parent)))
    weights: dict[int, int] = defaultdict(int)
    for vertex, weight in arcs:
        weights[root(vertex)] = max(weights[root(vertex)], weight)
    most = len(parent) if moves.longest is None else moves.longest
    return max([moves.idle, *(min(lengths[v], most) * weight for v, weight in weights.items())])
