"""Proofs of kind `graver`: which facts come first, and the search over pieces for the others.

All facts first: the kernel lists the whole Graver basis, and there is nothing to search. Else the
facts that restrict one attribute, or those that do not: then the basis falls into one for each of
its values, or for each cell of the others, and is small where tables have many cells.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from math import inf
from typing import Any

import numpy as np

from blowproof.verifier.kernel.proofs.graver import Pieces
from blowproof.verifier.kernel.world import Effects, World
from blowproof.verifier.limits.limit import whole_limit
from blowproof.verifier.proofs.irreducible import trees

__all__ = ["gravers", "proofs_with"]

LIKE_AN_EFFECT = whole_limit(__name__, "LIKE_AN_EFFECT")
MOST_PIECES = whole_limit(__name__, "MOST_PIECES")
MOST_VECTORS = whole_limit(__name__, "MOST_VECTORS")
MOST_COLUMNS = whole_limit(__name__, "MOST_COLUMNS")
NOTHING: dict[str, Any] = {
    **{"kind": "irreducible", "effects": 0, "functionals": [], "symmetries": []},
    **{"box": [], "steps": [], "nodes": []},
}


def gravers(moves: Effects, claim: int, deadline: float) -> Iterator[dict[str, Any]]:
    """Yield proofs to try, those that seem quickest to check first.

    `claim`: the largest change, scaled as the weights are. Each way gets a part of the time.
    """
    if not moves.effects:
        return
    every = list(range(len(moves.effects[0])))
    whole = {"kind": "graver", "first": every, "rest": NOTHING}
    ways = []
    for first in (every, *_parts_of(moves.world)):
        pieces, effects = _size(moves, first, _share(deadline, 50))
        if pieces <= (MOST_VECTORS if first == every else MOST_PIECES):
            ways.append((effects or pieces // LIKE_AN_EFFECT, first))
    for _, first in sorted(ways):
        if first == every:
            yield whole
        else:
            yield from proofs_with(moves, first, claim, _share(deadline, 4))
    listed = any(first == every for _, first in ways)
    if not listed and _size(moves, every, _share(deadline, 4))[0] <= MOST_VECTORS:
        yield whole


def proofs_with(
    moves: Effects, first: list[int], claim: int, time_limit: float | None
) -> Iterator[dict[str, Any]]:
    """Yield proofs in which these facts come first: with symmetries, and without."""
    for rest in trees(Pieces(moves, first, claim), time_limit):
        yield {"kind": "graver", "first": first, "rest": rest}


def _parts_of(world: World) -> list[list[int]]:
    """Return sets of facts: those that restrict an attribute, and those that do not."""
    full = world.policy.box({})
    found = []
    for k, side in enumerate(full):
        restricts = [
            any(box[k] != side for _, area in fact.terms for box in area)
            for fact in world.equalities
        ]
        for wanted in (True, False):
            places = [i for i, restricted in enumerate(restricts) if restricted == wanted]
            if 0 < len(places) < len(restricts) and places not in found:
                found.append(places)
    return found


def _size(moves: Effects, first: list[int], limit: float) -> tuple[float, int]:
    """Return how many pieces there are, and effects, up to sign, that they have on other facts.

    No number, infinity, where listing them takes too long.
    """
    from blowproof.verifier.engines.graver.lifting import graver_basis  # loads a compiler

    ups = [d for d in moves.effects if d > tuple(-v for v in d)]
    if len(ups) > MOST_COLUMNS:
        return inf, 0
    columns = np.array(ups, dtype=object)
    end = time.monotonic() + limit
    try:
        found = graver_basis(columns[:, first].T.tolist(), len(ups), deadline=end)
    except OverflowError:
        return inf, 0
    if not found.complete or len(found.vectors) > MOST_VECTORS:
        return inf, 0
    others = [i for i in range(columns.shape[1]) if i not in first]
    effects = found.vectors.astype(object) @ columns[:, others]
    return len(found.vectors), len(
        {max(tuple(e), tuple(-e)) for e in effects} - {(0,) * len(others)}
    )


def _share(deadline: float, part: int) -> float:
    """Return the seconds that are a part of the time left."""
    return max(0.0, deadline - time.monotonic()) / part
