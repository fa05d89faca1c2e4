"""Proofs of kind `exchanges` (see the kernel's `proofs/exchanges`)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from blowproof.models import Exact
from blowproof.verifier.kernel.document import Rejected
from blowproof.verifier.kernel.proofs.exchanges import bound
from blowproof.verifier.kernel.world import World

__all__ = ["exchanges"]


def exchanges(world: World, value: Exact) -> Iterator[dict[str, Any]]:
    """Yield a proof that records are exchanged in a class, if that is within the value."""
    try:
        scale, most = bound(world)
    except Rejected:
        return
    if most <= world.measure.claim(value, scale):
        yield {"kind": "exchanges"}
