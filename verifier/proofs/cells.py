"""Proofs of kind `cells`: which facts to take as the base (see the kernel's `proofs/cells`)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from blowproof.models import Exact
from blowproof.verifier.kernel.document import Rejected
from blowproof.verifier.kernel.independent import independent
from blowproof.verifier.kernel.proofs.cells import Place, bound, places_of, restricted
from blowproof.verifier.kernel.world import World
from blowproof.verifier.limits.limit import whole_limit
from blowproof.verifier.proofs.lengths.refused import unless_refused

__all__ = ["based", "bases"]

MOST_FACTS = whole_limit(__name__, "MOST_FACTS")


@unless_refused
def based(world: World, value: Exact) -> Iterator[dict[str, Any]]:
    """Yield a proof of kind `cells` if some base gives a bound within the value."""
    scale, places = places_of(world)
    for base in bases(world, places):
        try:
            if bound(world, places, base) <= world.measure.claim(value, scale):
                yield {"kind": "cells", "base": base}
                return
        except Rejected:
            continue


def bases(world: World, places: Sequence[Place]) -> Iterator[list[int]]:
    """Yield all facts; then, from either end, each with which the signatures stay independent."""
    every = list(range(len(world.equalities)))
    yield every
    if len(every) > MOST_FACTS:
        return
    for order in (every, every[::-1]):
        base: list[int] = []
        for k in order:
            kept = {*base, k}
            signatures = {restricted(effect, kept, world) for effect, _ in places}
            if independent(list(signatures), world.budget):
                base.append(k)
        yield sorted(base)
