"""Kind `exchanges`: reading 3, and the signatures that are not 0 are independent.

Equality facts and impossible values. A neighbour pair is an irreducible multiset of records that go
and come (the lemma). For each signature let net be the records that come less those that go: the
sum of net times signature is 0, so net is 0 for each signature that is not. So the pair is a single
record of signature 0, or a record that goes and another one of its signature that comes, for these
two have no effect together. f changes by no more than the largest of these.

Under scope "given" the numbers may say that no record has a signature: it exchanges none.
"""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from ..document import Exact, Rejected, want
from ..independent import independent, records
from ..measure import Change
from ..world import Vector, World
from .cells import largest


def refute(world: World, proof: dict[str, Any], value: Exact) -> None:
    """Refuse unless no exchange, and no single record, changes f by more than the value."""
    want(proof, {"kind": str}, "the proof")
    scale, most = bound(world)
    if most > world.measure.claim(value, scale):
        raise Rejected("an exchange changes the query by more than the value")


def bound(world: World) -> tuple[int, int]:
    """Return a scale, and what no neighbour pair exceeds, as a size."""
    if world.reading != "add-remove" or world.bounds or world.policy.clauses:
        raise Rejected("this kind of proof is for equalities, in reading 3")
    world.by_position()
    cells, _, _ = world.classes()
    scale, rows = world.rows(cells)
    inside: dict[Vector, set[Change]] = defaultdict(set)
    for cell, row in zip(cells, rows, strict=True):
        inside[world.effect(cell.point)].add(row)
    nothing = (0,) * len(world.equalities)
    free = inside.pop(nothing, set())
    # With 0 among them, affinely independent is linearly independent.
    if not independent([nothing, *inside], world.budget):
        raise Rejected("the signatures are not independent")
    told = None
    answers = [fact.answer for fact in world.equalities]
    if None not in answers:
        totals = [answer for answer in answers if answer is not None]
        told = records([*inside, nothing], [0, *totals], world.budget)
    held = [1] * len(inside) if told is None else told
    sizes = [world.measure.size(row) for row in free]
    sizes += [
        largest(world, some).size for some, h in zip(inside.values(), held, strict=False) if h
    ]
    return scale, max(sizes, default=0)
