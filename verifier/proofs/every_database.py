"""Proofs of kind "every-database": the kernel lists all databases, and applies the definition."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from blowproof.verifier.kernel.world import World

__all__ = ["every_database"]


def every_database(world: World) -> Iterator[dict[str, Any]]:
    """Yield the proof where n is a number; whether databases are few, the kernel sees itself."""
    if world.policy.scope == "given" or world.query.weights is not None:
        yield {"kind": "every-database"}
