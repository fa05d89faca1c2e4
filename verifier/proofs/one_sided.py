"""Proofs of kind `one-sided`: which facts to take as the base (see the kernel's)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from blowproof.models import Exact
from blowproof.verifier.kernel.document import Rejected
from blowproof.verifier.kernel.proofs.cells import places_of
from blowproof.verifier.kernel.proofs.one_sided import bound
from blowproof.verifier.kernel.world import World
from blowproof.verifier.proofs.cells import bases
from blowproof.verifier.proofs.lengths.refused import unless_refused

__all__ = ["one_sided"]


@unless_refused
def one_sided(world: World, value: Exact) -> Iterator[dict[str, Any]]:
    """Yield a proof for a count of values of one label, if some base gives a bound within it."""
    if not world.query.single or world.measure.name != "l1":
        return
    _, places = places_of(world)
    for base in bases(world, places):
        try:
            scale, most = bound(world, base)
        except Rejected:
            continue
        if most <= value * scale:
            yield {"kind": "one-sided", "base": base}
            return
