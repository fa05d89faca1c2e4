"""Kind `margins`: one-way margins of a table, and a search over what one record moves there.

Readings 1, 2 and 5, equality facts and impossible values. `factors` lists the equalities by place,
in groups; every equality is in one, and each group has affinely independent signatures, r_1, ...,
r_k of them. Moves that keep a group are a circulation on its signatures, so that they keep a group
iff they keep the margin of its signatures. A value has one signature of each group: it lies in a
cell of an r_1 x ... x r_k table, and an irreducible multiset of moves is irreducible for the
one-way margins of this table. `table` is a proof of kind `irreducible` that none of those has more
than `longest` elements, over the moves between any two cells: those between cells that hold values
are some of them. So f changes by at most `longest` (or n) times the largest change of one move.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from math import prod
from typing import Any

from ..document import Exact, Rejected, want
from ..independent import independent
from ..measure import Measure
from ..world import Effects, World
from .cells import Place, largest, places_of, restricted
from .irreducible import PROOF, replayed

MOST_CELLS = 400


def refute(world: World, proof: dict[str, Any], value: Exact) -> None:
    """Refuse unless so many moves, each with the largest change, are within the value."""
    shape = {"kind": str, "factors": [[int]], "longest": int, "table": PROOF}
    told = want(proof, shape, "the proof")
    scale, places = places_of(world)
    if bound(world, places, told["longest"]) > world.measure.claim(value, scale):
        raise Rejected("so many moves may change the query by more than the value")
    sides = sides_of(world, places, told["factors"])
    replayed(Table(world, sides), told["table"], told["longest"])


def bound(world: World, places: Sequence[Place], longest: int) -> int:
    """Return what no pair of so many moves exceeds, as a size; it has one move at the least."""
    most = max(1, longest if world.size is None else min(longest, world.size))
    return world.measure.repeated(largest(world, {row for _, row in places}).size, most)


def sides_of(world: World, places: Sequence[Place], factors: Sequence[Sequence[int]]) -> list[int]:
    """Return how many signatures each factor has; refuse what are no factors."""
    if {k for factor in factors for k in factor} != set(range(len(world.equalities))):
        raise Rejected("the factors are not all the facts")
    sides = []
    for factor in map(set, factors):
        signatures = dict.fromkeys(restricted(effect, factor, world) for effect, _ in places)
        if not independent(list(signatures), world.budget):
            raise Rejected("the signatures of a factor are not independent")
        sides.append(len(signatures))
    return sides


class Table(Effects):
    """The moves between the cells of a table, by what they do to its one-way margins."""

    def __init__(self, world: World, sides: Sequence[int]) -> None:
        if prod(sides) > MOST_CELLS:
            raise Rejected("the table is too large", limit=True)
        starts = [sum(sides[:k]) for k in range(len(sides))]
        cells = list(product(*map(range, sides)))
        found = set()
        for one, two in product(cells, repeat=2):
            effect = [0] * sum(sides)
            for start, a, b in zip(starts, one, two, strict=True):
                effect[start + a] -= 1
                effect[start + b] += 1
            found.add(tuple(effect))
        found.discard((0,) * sum(sides))
        world.budget.spend(len(cells) ** 2 * sum(sides), len(found) * sum(sides))
        self.world, self.longest, self.idle, self.scale = world, None, 0, 1
        self.measure = Measure("l1")
        self.effects = sorted(found)
        self.changes = {effect: {frozenset([("moves", 1)])} for effect in self.effects}
        self.weights, self.secret = [1] * len(self.effects), found
