"""Proofs of kind `limits`: combinations of the known numbers that a count lies between."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from blowproof.models import BoundQuery, Exact, Setting
from blowproof.verifier.kernel.document import Rejected
from blowproof.verifier.kernel.proofs.limits import refute
from blowproof.verifier.kernel.world import World
from blowproof.verifier.proofs.implied import room

__all__ = ["limits"]


def limits(
    world: World, value: Exact, setting: Setting, query: BoundQuery, deadline: float | None
) -> Iterator[dict[str, Any]]:
    """Yield a proof that the numbers leave a count no more room than the value, if they do not."""
    found = room(setting, query, deadline)
    if found is None:
        return
    proof = {"kind": "limits", **found}
    try:
        refute(world, proof, value)
    except Rejected:
        return
    yield proof
