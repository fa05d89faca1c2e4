"""Kind `cycles`, for sparse policies: each effect raises at most one count and lowers at most one.

An effect is then an arc of a graph whose vertices are the counts and one more; a multiset that sums
to zero is a circulation and contains a simple cycle. So an irreducible one is a simple cycle. It
lies in one part of the arcs, whose vertices are one more than the dimension of what it spans.
"""

from __future__ import annotations

from typing import Any

from ..document import Exact, Rejected, want
from ..independent import parts
from ..world import Effects, World


def refute(world: World, proof: dict[str, Any], value: Exact) -> None:
    """Refuse unless a part's vertices times its largest change are within the value."""
    want(proof, {"kind": str}, "the proof")
    moves = Effects(world)
    if bound(moves) > moves.measure.claim(value, moves.scale):
        raise Rejected("the bound that the proof gives is above the value")


def bound(moves: Effects) -> int:
    """Return what no neighbour pair exceeds, as a size."""
    columns = dict.fromkeys(zip(*moves.effects, strict=True))
    for effect in zip(*columns, strict=True):
        ends = sorted(x for x in effect if x)
        if ends not in ([-1], [1], [-1, 1]):
            raise Rejected("a move raises or lowers two counts")
    longest = [(part, size + 1) for part, size in parts(moves)]
    if moves.longest is not None:
        longest = [(part, min(size, moves.longest)) for part, size in longest]
    measure = moves.measure
    sizes = [
        measure.repeated(max(measure.size(x) for d in part.effects for x in moves.changes[d]), size)
        for part, size in longest
    ]
    return max([moves.idle, *sizes])
