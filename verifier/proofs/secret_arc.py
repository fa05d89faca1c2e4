"""Proofs of kind `secret-arc` (see the kernel's `proofs/secret_arc`)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from blowproof.models import Exact
from blowproof.verifier.kernel.document import Rejected
from blowproof.verifier.kernel.proofs.secret_arc import bound
from blowproof.verifier.kernel.world import World

__all__ = ["secret_arc"]


def secret_arc(world: World, value: Exact) -> Iterator[dict[str, Any]]:
    """Yield a proof by the arc of a cycle along an edge of G, if its bound is within the value."""
    if world.measure.name != "l1":
        return
    try:
        scale, most = bound(world)
    except Rejected:
        return
    if most <= value * scale:
        yield {"kind": "secret-arc"}
