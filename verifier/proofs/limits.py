"""Proofs of kind `limits`: combinations of the known numbers that a count lies between."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from blowproof.models import BoundQuery, Exact, Setting
from blowproof.verifier.kernel.proofs.limits import refute
from blowproof.verifier.kernel.world import World
from blowproof.verifier.proofs.implied import room
from blowproof.verifier.proofs.lengths.refused import unless_refused

__all__ = ["limits"]


@unless_refused
def limits(
    world: World, value: Exact, setting: Setting, query: BoundQuery, deadline: float | None
) -> Iterator[dict[str, Any]]:
    """Yield a proof that the numbers leave a count no more room than the value, if they do not."""
    found = room(setting, query, deadline)
    if found is None:
        return
    proof = {"kind": "limits", **found}
    refute(world, proof, value)
    yield proof
