"""A search tree as a proof: the engine's own search, written down for the kernel's effects."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from blowproof.verifier.engines.irreducibles.arrays.state import EXCLUDED, MARKED
from blowproof.verifier.engines.irreducibles.trace import Trace, traced
from blowproof.verifier.kernel.document import Rejected
from blowproof.verifier.kernel.proofs.irreducible import Replay, independent
from blowproof.verifier.kernel.world import Effects

__all__ = ["proof_of", "trees", "written"]

NOTHING_EXCEEDS = 10**1000
EVERYWHERE = 10**9


def trees(moves: Effects, time_limit: float | None) -> Iterator[dict[str, Any]]:
    """Yield proofs to try: with symmetries (only sums of weights count then), and without."""
    if not moves.effects:
        yield proof_of(moves, Trace((), (), [], [], [], [], None, short=False))
        return
    secret = [d in moves.secret for d in moves.effects]

    def keeps(p: Sequence[int]) -> bool:
        return all(secret[i] == secret[image] for i, image in enumerate(p))

    def searched(symmetry: bool, cores: int | None) -> Trace | None:
        return traced(
            moves.effects,
            moves.weights,
            symmetry=symmetry,
            keeps=keeps,
            largest=moves.longest,
            time_limit=time_limit,
            cores=cores,
        )

    for symmetry in (True, False):
        found = searched(symmetry, None)
        if found is None:
            return
        if not found.symmetries and symmetry:
            continue
        proof = written(moves, found)
        if proof is None:
            found = searched(symmetry, 1)
            proof = None if found is None else written(moves, found)
        if proof is None:
            return
        yield proof


def written(moves: Effects, trace: Trace) -> dict[str, Any] | None:
    """Return a traced search as the kernel reads it, without what it holds needlessly.

    None where that leaves branches out that the kernel would take: tasks of a search that was split
    know less of one another than one walk does, and in rare cases they know it elsewhere.
    """
    whole = proof_of(moves, trace)
    if not trace.short:
        return whole
    try:
        return proof_of(moves, _Pruned(moves, whole, NOTHING_EXCEEDS).of(trace, whole["nodes"]))
    except Rejected as reason:
        if reason.limit:
            raise
        return None


def proof_of(moves: Effects, trace: Trace) -> dict[str, Any]:
    """Return a traced search as the kernel reads it."""
    entries = list(zip(trace.branches, trace.choices, trace.marks, strict=True))
    steps = {entry: place for place, (entry, _) in enumerate(Counter(entries).most_common())}
    rank = len(independent(moves.effects, moves.world.budget)) if moves.effects else 0
    return {
        "kind": "irreducible",
        "effects": len(moves.effects),
        "functionals": [list(row) for row in trace.functionals],
        "symmetries": [list(p) for p in trace.symmetries],
        "box": [EVERYWHERE] * rank if trace.box is None else list(trace.box),
        "steps": [[d, c, int(m & MARKED > 0), int(m & EXCLUDED > 0)] for d, c, m in steps],
        "nodes": [steps[entry] for entry in entries],
    }


class _Pruned(Replay):
    """A replay that leaves out branches that only close or are excluded, and what is below them.

    The engine may have kept too few sums to see that they do; the kernel keeps all.
    """

    def of(self, trace: Trace, nodes: Sequence[int]) -> Trace:
        """Return what is left of a trace with these nodes."""
        self.kept: list[int] = []
        self.cut: int | None = None
        self.depths = trace.depths
        self.run(self._entered(nodes))
        branches, choices, marks, depths = (
            [column[k] for k in self.kept]
            for column in (trace.branches, trace.choices, trace.marks, trace.depths)
        )
        return replace(
            trace, branches=branches, choices=choices, marks=marks, depths=depths, short=False
        )

    def _entered(self, nodes: Sequence[int]) -> Iterator[int]:
        for place, step in enumerate(nodes):
            if self.cut is None or self.depths[place] <= self.cut:
                self.cut = None
                self.kept.append(place)
                yield step

    def refuse(self, reason: str) -> None:
        """Leave the entry out."""
        self.cut = self.depths[self.kept.pop()]
