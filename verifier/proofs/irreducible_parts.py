"""Search trees, one for each part of the effects that has nothing to do with the others."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

from blowproof.verifier.kernel.document import Rejected
from blowproof.verifier.kernel.independent import parts
from blowproof.verifier.kernel.proofs.irreducible import replayed
from blowproof.verifier.kernel.world import Effects
from blowproof.verifier.proofs.irreducible import trees

__all__ = ["parted"]


def parted(moves: Effects, claim: int, time_limit: float) -> Iterator[dict[str, Any]]:
    """Yield proofs to try that no irreducible multiset changes the query by more than a claim."""
    deadline = time.monotonic() + time_limit
    found = parts(moves)
    if len(found) < 2:
        yield from trees(moves, time_limit)
        return
    proofs = []
    for part, _ in found:
        proof = _alone(part, claim, deadline)
        if proof is None:
            return
        proofs.append(proof)
    yield {"kind": "irreducible", "parts": proofs}


def _alone(part: Effects, claim: int, deadline: float) -> dict[str, Any] | None:
    """Return a proof for one part, None where there is no time for it."""
    for proof in trees(part, max(0.0, deadline - time.monotonic())):
        if not proof["symmetries"]:  # none that judges more exactly will come
            return proof
        try:
            replayed(part, proof, claim)
        except Rejected:
            continue
        return proof
    return None
