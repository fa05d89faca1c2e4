"""Kind `cells`: facts whose signatures are independent, and at most one more fact beside them.

`base` names equalities by place, from 0, n being the last where it is a number. What the cells'
values add to these are the signatures; let the N different ones be affinely independent. Moves that
keep the base are a circulation on them, which falls into simple cycles.

*No other fact tells values of one signature apart.* An irreducible is one simple cycle, or one move
within a signature: each signature loses one record and gains one, or neither. So f changes by at
most the sum, over the signatures (over the n for which it is largest), of the largest change that
two values of one signature make.

*The others tell them apart by multiples of one vector*, the multiples being whole and without a
common divisor, w the largest difference of two of them within a signature. An irreducible then has
at most w (N + 1)^2 / 2 moves, rounded down (the proof is at the head of `theorems/beside.py` of the
verifier, and in FORMAT.md), and each changes f by no more than the largest move.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import combinations
from math import gcd
from typing import Any

from ..document import Exact, Rejected, want
from ..independent import independent
from ..world import SOME, Change, Vector, World, norm, plus

Place = tuple[Vector, Change]
"""What a record in a cell adds to each fact, and to the query."""


def refute(world: World, proof: dict[str, Any], value: Exact) -> None:
    """Refuse unless the bound that the base gives is within the value."""
    table = want(proof, {"kind": str, "base": [int]}, "the proof")
    scale, places = places_of(world)
    if bound(world, places, table["base"]) > value * scale:
        raise Rejected("the bound that the proof gives is above the value")


def places_of(world: World) -> tuple[int, list[Place]]:
    """Return a scale, and the cells' effects and scaled rows of the query."""
    if (
        not world.labelled
        or world.bounds
        or world.policy.clauses
        or world.query.weights is not None
    ):
        raise Rejected("this kind of proof is for equalities, in readings 1 and 2")
    cells, _, _ = world.classes()
    scale, rows = world.rows(cells)
    return scale, [(world.effect(cell.point), row) for cell, row in zip(cells, rows, strict=True)]


def bound(world: World, places: Sequence[Place], base: Sequence[int]) -> int:
    """Return what no neighbour pair exceeds, scaled."""
    inside: dict[Vector, list[Place]] = defaultdict(list)
    width = len(world.equalities)
    if any(not 0 <= k < width for k in base):
        raise Rejected("there is no such fact")
    for effect, row in places:
        world.budget.spend(width, width)
        inside[tuple([effect[k] for k in base])].append((effect, row))
    if not independent(list(inside), world.budget):
        raise Rejected("the signatures are not independent")
    if not inside:
        return 0
    apart = _width(world, inside.values())
    size = world.size
    if not apart:
        known: dict[frozenset[Change], int] = {}
        found = []
        for members in inside.values():
            rows = frozenset(row for _, row in members)
            if rows not in known:
                known[rows] = _largest(world, rows)
            found.append(known[rows])
        found.sort(reverse=True)
        return sum(found[:size])
    most = apart * (len(inside) + 1) ** 2 // 2
    if size is not None:
        most = min(most, size)
    return most * _largest(world, {row for _, row in places})


def _width(world: World, signatures: Iterable[Sequence[Place]]) -> int:
    """Return how far values of one signature lie apart, in steps along one vector (0: nowhere)."""
    spots: list[list[Vector]] = []
    for members in signatures:
        first = members[0][0]
        spots.append([tuple(map(int.__sub__, effect, first)) for effect, _ in members])
        world.budget.spend(len(first) * len(members), len(first) * len(members))
    along = next((d for each in spots for d in each if any(d)), None)
    if along is None:
        return 0
    k = next(k for k, value in enumerate(along) if value)
    world.budget.spend(4 * len(along) * sum(map(len, spots)))
    if any(d[j] * along[k] != along[j] * d[k] for each in spots for d in each
           for j in range(len(along))):  # fmt: skip
        raise Rejected("more than one fact beside the base")
    step = gcd(*(d[k] for each in spots for d in each))
    return max((max(d[k] for d in each) - min(d[k] for d in each)) // step for each in spots)


def _largest(world: World, rows: Iterable[Change]) -> int:
    """Return the largest change by a record that goes from one row to another (or, in a cell of two
    values or more, to another value).
    """
    every = list(rows)
    length = sum(map(len, every))
    most = 2 * norm(SOME) if SOME in every else 0
    if len(every) * length > world.budget.left // 8:  # twice the largest row is enough
        return 2 * max(map(norm, every))
    world.budget.spend(8 * len(every) * length)
    for one, two in combinations(every, 2):
        if SOME in (one, two):
            continue
        less = frozenset((output, -value) for output, value in one)
        most = max(most, norm(plus(less, two)))
    return most
