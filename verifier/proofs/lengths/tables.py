"""Proofs of kind `tables`: tables that share an attribute, cell by cell (see the kernel)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from blowproof.models import Exact
from blowproof.verifier.kernel.proofs.cells import places_of
from blowproof.verifier.kernel.proofs.lengths.tables import within
from blowproof.verifier.kernel.world import World
from blowproof.verifier.limits.limit import whole_limit
from blowproof.verifier.proofs.lengths.refused import unless_refused
from blowproof.verifier.theorems.affine_frames import kernel
from blowproof.verifier.theorems.lengths.shared_attribute import SUMS, parts_of

__all__ = ["tables"]

MOST_SIGNATURES = whole_limit(__name__, "MOST_SIGNATURES")


@unless_refused
def tables(world: World, value: Exact) -> Iterator[dict[str, Any]]:
    """Yield a proof by tables, if all dependencies are theirs and the bound is within the value."""
    scale, places = places_of(world)
    effects = list(dict.fromkeys(effect for effect, _ in places))
    if not 1 < len(effects) <= MOST_SIGNATURES:
        return
    width = len(world.equalities)
    found = parts_of(kernel([tuple(dict(e).get(k, 0) for k in range(width)) for e in effects]))
    grids = [part.grid for part in found or () if part.grid is not None]
    if not grids or len(grids) < len(found or ()):
        return
    shapes = {(min(sides), max(sides)) for sides in ((len(grid), len(grid[0])) for grid in grids)}
    sums: list[dict[str, Any]] = [
        {
            "rows": sides[0],
            "columns": sides[1],
            "over": known.denominator,
            "terms": [[n, *(end for move in moves for end in move)] for n, moves in known.terms],
        }
        for sides, known in SUMS.items()
        if sides in shapes
    ]
    if within(world, places, grids, sums) <= world.measure.claim(value, scale):
        yield {"kind": "tables", "tables": grids, "sums": sums}
