"""Proofs of kind `ends`: a search tree over the kernel's moves between classes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from blowproof.models import Exact
from blowproof.verifier.kernel.proofs.lengths.ends import Ends
from blowproof.verifier.kernel.world import Effects, World
from blowproof.verifier.proofs.lengths.refused import unless_refused

__all__ = ["ends"]

Trees = Callable[[Effects], Iterator[dict[str, Any]]]


@unless_refused
def ends(world: World, value: Exact, trees: Trees) -> Iterator[dict[str, Any]]:
    """Yield proofs to try that widths and middles of classes stay within a value.

    `trees` yields search trees over moves (`irreducible.trees`).
    """
    moves = Ends(world)
    moves.claimed(value)
    yield from ({"kind": "ends", "rest": proof} for proof in trees(moves))
