"""Proofs of kind `merged`: a search over single moves, and one for each sum that R can have."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from blowproof.verifier.engines.irreducibles.trace import traced
from blowproof.verifier.kernel.document import Exact
from blowproof.verifier.kernel.proofs.merged import Joint, Merged
from blowproof.verifier.kernel.world import World
from blowproof.verifier.proofs.irreducible import proof_of, trees

__all__ = ["merged_proofs"]


def merged_proofs(world: World, value: Exact, end: float) -> Iterator[dict[str, Any]]:
    """Yield proofs to try: with symmetries (only sums of weights count then), and without.

    Raises Rejected where the kernel would list too much. `end`: a time of `time.monotonic`.
    """
    moves = Merged(world, exact=False)
    claim = moves.measure.claim(value, moves.scale)
    if moves.idle > claim:
        return
    for rest in trees(moves, max(0.0, end - time.monotonic())):
        if not rest["symmetries"]:
            moves = Merged(world, exact=True)
        joint = []
        for total in moves.needed(rest["symmetries"]):
            if any(total):
                single = Joint(moves, total)
                joint.append(_search(single, max(0.0, end - time.monotonic())))
                if joint[-1] is None:
                    return
        yield {"kind": "merged", "rest": rest, "joint": joint}


def _search(moves: Joint, time_limit: float) -> dict[str, Any] | None:
    """Return a search for what is irreducible with the sum of R; None if it takes too long."""
    effects, weights, start = [*moves.effects], [*moves.weights], moves.start
    if moves.once:  # the engine's effects come in opposite pairs
        effects.append(tuple(-v for v in effects[start]))
        weights.append(weights[start])
    secret = [d in moves.secret for d in effects]

    def keeps(p: Sequence[int]) -> bool:
        return p[start] == start and all(secret[i] == secret[image] for i, image in enumerate(p))

    found = traced(
        effects,
        weights,
        symmetry=not moves.exact,
        keeps=keeps,
        time_limit=time_limit,
        start=(start, (start, len(effects) - 1) if moves.once else ()),
        cores=1,
    )
    if found is None or found.short:
        return None
    own = tuple(p[: len(moves.effects)] for p in found.symmetries)
    return proof_of(moves, replace(found, symmetries=own))
