"""Proofs of kind `circuits`: facts that are coordinates, and a small ellipsoid (see the kernel)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from blowproof.models import Exact
from blowproof.verifier.exact.span import independent
from blowproof.verifier.kernel.proofs.cells import places_of
from blowproof.verifier.kernel.proofs.lengths.circuits import longest
from blowproof.verifier.kernel.proofs.margins import bound
from blowproof.verifier.kernel.world import World
from blowproof.verifier.limits.limit import whole_limit
from blowproof.verifier.proofs.lengths.refused import unless_refused
from blowproof.verifier.theorems.lengths.longest_circuit import ellipsoid

__all__ = ["circuits"]

MOST_ENTRIES = whole_limit(__name__, "MOST_ENTRIES")
LARGEST = whole_limit(__name__, "LARGEST")


@unless_refused
def circuits(world: World, value: Exact) -> Iterator[dict[str, Any]]:
    """Yield a proof by the longest circuit, if its bound is within the value."""
    scale, places = places_of(world)
    effects = list(dict.fromkeys(effect for effect, _ in places))
    if not effects or len(effects) * len(world.equalities) > MOST_ENTRIES:
        return
    if any(abs(times) > LARGEST for effect in effects for _, times in effect):
        return
    points = np.zeros((len(effects), len(world.equalities)), dtype=np.int64)
    for row, effect in enumerate(effects):
        for place, times in effect:
            points[row, place] = times
    points = np.unique(points, axis=0)
    points -= points[0]
    facts = independent(np.ascontiguousarray(points.T))
    shape = ellipsoid(np.ascontiguousarray(points[:, facts])) if facts else None
    if shape is None:
        return
    rows = [[int(x) for x in row] for row in shape]
    most = longest(world, places, facts, rows)
    if bound(world, places, most) <= world.measure.claim(value, scale):
        yield {"kind": "circuits", "facts": facts, "shape": rows}
