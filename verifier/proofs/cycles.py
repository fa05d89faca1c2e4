"""Proofs of kind "cycles": irreducible multisets are simple cycles of a graph on the facts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from blowproof.verifier.kernel.document import Rejected
from blowproof.verifier.kernel.proofs import cycles
from blowproof.verifier.kernel.world import Effects

__all__ = ["simple_cycles"]


def simple_cycles(moves: Effects, claim: int) -> Iterator[dict[str, Any]]:
    """Yield the proof, if the kernel's bound is no more than the claim (a size)."""
    try:
        if cycles.bound(moves) <= claim:
            yield {"kind": "cycles"}
    except Rejected:
        return
