"""Proofs of kind `determined` (see the kernel's `proofs/determined`)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from blowproof.models import Exact
from blowproof.verifier.kernel.document import Rejected
from blowproof.verifier.kernel.proofs.determined import refute
from blowproof.verifier.kernel.world import World

__all__ = ["determined"]


def determined(world: World, value: Exact) -> Iterator[dict[str, Any]]:
    """Yield a proof that the facts fix the query, if the value is 0 and they do."""
    proof = {"kind": "determined"}
    if value == 0:
        try:
            refute(world, proof, value)
        except Rejected:
            return
        yield proof
