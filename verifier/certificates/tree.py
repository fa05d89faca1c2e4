"""A search tree as a proof: the engine's own search, written down for the kernel's effects."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from operator import add
from typing import Any

from blowproof.verifier.irreducible.tracing import Trace, traced
from blowproof.verifier.kernel.tree import Replay, independent
from blowproof.verifier.kernel.world import Effects

__all__ = ["trees"]

NOTHING_EXCEEDS = 10**1000


def trees(moves: Effects, time_limit: float | None) -> Iterator[dict[str, Any]]:
    """Yield proofs to try: with symmetries (only sums of weights count then), and without."""
    if not moves.effects:
        yield _proof(moves, Trace((), (), [], [], [], [], short=False))
        return
    secret = [d in moves.secret for d in moves.effects]

    def keeps(p: Sequence[int]) -> bool:
        return all(secret[i] == secret[image] for i, image in enumerate(p))

    for symmetry in (True, False):
        found = traced(
            moves.effects,
            moves.weights,
            symmetry=symmetry,
            keeps=keeps,
            largest=moves.longest,
            time_limit=time_limit,
        )
        if found is None:
            return
        if found.symmetries or not symmetry:
            yield _proof(moves, _without_superfluous(moves, found))


def _proof(moves: Effects, trace: Trace) -> dict[str, Any]:
    return {
        "kind": "irreducible",
        "effects": len(moves.effects),
        "functionals": [list(row) for row in trace.functionals],
        "symmetries": [list(p) for p in trace.symmetries],
        "branches": trace.branches,
        "choices": trace.choices,
        "marks": trace.marks,
        "reach": _reach(moves, trace),
    }


def _reach(moves: Effects, trace: Trace) -> list[int]:
    """Return, for each coordinate that the kernel keeps, what no sum of a part exceeds."""
    vectors = list(zip(*independent(moves.effects, moves.world.budget), strict=True))
    steps = [tuple(max(x, 0) for x in d) + tuple(max(-x, 0) for x in d) for d in vectors]
    path = [(0,) * len(steps[0])] if steps else [()]
    most = path[0]
    for d, depth in zip(trace.branches, trace.depths, strict=True):
        del path[depth:]
        path.append(tuple(map(add, path[-1], steps[d])))
        most = tuple(map(max, most, path[-1]))
    half = len(most) // 2
    return [max(pair) for pair in zip(most[:half], most[half:], strict=True)]


def _without_superfluous(moves: Effects, trace: Trace) -> Trace:
    """Leave out branches that only close or are excluded, and what is below them.

    The engine may have kept too few sums to see that they do; the kernel keeps all.
    """
    replay = Replay(moves, _proof(moves, trace), NOTHING_EXCEEDS)
    kept: list[int] = []
    cut: int | None = None
    for number, (d, depth) in enumerate(zip(trace.branches, trace.depths, strict=True)):
        if cut is not None and depth > cut:
            continue
        cut = None
        if replay.takes(d):
            replay.step(d, trace.choices[number], trace.marks[number])
            kept.append(number)
        else:
            cut = depth
    return Trace(
        trace.functionals,
        trace.symmetries,
        [trace.branches[k] for k in kept],
        [trace.choices[k] for k in kept],
        [trace.marks[k] for k in kept],
        [trace.depths[k] for k in kept],
        short=False,
    )
