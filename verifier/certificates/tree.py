"""A search tree as a proof: the engine's own search, written down for the kernel's effects."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from blowproof.verifier.irreducible.tracing import Trace, traced
from blowproof.verifier.kernel.tree import Replay, independent
from blowproof.verifier.kernel.world import Effects

__all__ = ["trees"]

NOTHING_EXCEEDS = 10**1000
SAMPLE = 20_000  # nodes that are looked at to choose how sums are kept
MOST_BITS = 4_000  # of an excluded set, and there are many
SHARES = (1.0, 0.99, 0.97, 0.95, 0.9, 0.85, 0.8, 0.7, 0.6)


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
            if found.short:
                found = _Pruned(moves, _proof(moves, found), NOTHING_EXCEEDS).of(found)
            yield _proof(moves, found)


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
    """Return, for each coordinate that the kernel keeps, up to where sums are to be bits.

    The kernel takes a time for a node that grows with the bits, and a long one beyond the reach.
    """
    kept = np.array(independent(moves.effects, moves.world.budget), dtype=np.int64)
    steps = np.concatenate([np.maximum(kept, 0), np.maximum(-kept, 0)]).T
    path: list[int] = []
    sums = []
    every = 1 + len(trace.branches) // SAMPLE
    for place, (d, depth) in enumerate(zip(trace.branches, trace.depths, strict=True)):
        path[depth - 1 :] = [d]
        if place % every == 0:
            sums.append(steps[path].sum(axis=0))
    if not sums:
        return [0] * len(kept)
    far = np.array(sums).reshape(len(sums), 2, -1).max(axis=1)
    best, cost = [0] * len(kept), 25.0
    for share in SHARES:
        reach = np.quantile(far, share, axis=0, method="higher").astype(int)
        radix = reach + 2 * np.abs(kept).max(axis=1) + 1.0
        bits = 2.0 * float(np.prod(radix))
        within = float((far <= reach).all(axis=1).mean())
        found = within * (4 + bits / 15_000) + (1 - within) * 25  # microseconds
        if found < cost and bits / radix.max() < MOST_BITS:
            best, cost = reach.tolist(), found
    return best


class _Pruned(Replay):
    """A replay that leaves out branches that only close or are excluded, and what is below them.

    The engine may have kept too few sums to see that they do; the kernel keeps all.
    """

    def of(self, trace: Trace) -> Trace:
        """Return what is left of a trace."""
        self.kept: list[int] = []
        self.cut: int | None = None
        self.depths = trace.depths
        self.run(self._entries(trace))
        branches, choices, marks, depths = (
            [column[k] for k in self.kept]
            for column in (trace.branches, trace.choices, trace.marks, trace.depths)
        )
        return replace(
            trace, branches=branches, choices=choices, marks=marks, depths=depths, short=False
        )

    def _entries(self, trace: Trace) -> Iterator[tuple[int, int, int]]:
        entries = zip(trace.branches, trace.choices, trace.marks, strict=True)
        for place, entry in enumerate(entries):
            if self.cut is None or trace.depths[place] <= self.cut:
                self.cut = None
                self.kept.append(place)
                yield entry

    def refuse(self, reason: str) -> None:
        """Leave the entry out."""
        self.cut = self.depths[self.kept.pop()]
