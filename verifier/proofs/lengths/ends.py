"""Proofs of kind `ends`: a search tree over the kernel's moves between classes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from blowproof.models import Exact
from blowproof.verifier.kernel.document import Rejected
from blowproof.verifier.kernel.proofs.lengths.ends import Ends
from blowproof.verifier.kernel.world import Effects, World

__all__ = ["ends"]

Trees = Callable[[Effects], Iterator[dict[str, Any]]]


def ends(world: World, value: Exact, trees: Trees) -> Iterator[dict[str, Any]]:
    """Yield proofs to try that widths and middles of classes stay within a value.

    `trees` yields search trees over moves (`irreducible.trees`).
    """
    try:
        moves = Ends(world)
        moves.claimed(value)
    except Rejected:
        return
    yield from ({"kind": "ends", "rest": proof} for proof in trees(moves))
