"""Proofs of kind "single": a pair is one secret move, so the kernel works the bound out itself."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from blowproof.models import Exact
from blowproof.verifier.kernel.document import Rejected
from blowproof.verifier.kernel.proofs import single_move
from blowproof.verifier.kernel.world import World

__all__ = ["single_moves"]


def single_moves(world: World, value: Exact) -> Iterator[dict[str, Any]]:
    """Yield the proof, if the kernel's bound is no more than the value."""
    try:
        if single_move.bound(world) <= value:
            yield {"kind": "single"}
    except Rejected:
        return
