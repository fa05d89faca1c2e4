"""Kind `limits`: the known numbers leave a query of one output so much room.

Scope "given", any reading, any facts. `most` and `least` are combinations of the equalities in
whole numbers, `times` above 0: where times * f(x) is nowhere above `most`, f is at most what the
answers in `most` add up to, by times, over the records of any database of I_Q; and likewise at
least. D1 and D2 are two of these, so that f changes by no more than the difference. Bounds and
clauses only leave fewer. (Sums: f is linear in a cell, in which no fact tells values apart, and the
cell's ends stand for it.)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..document import Exact, Rejected, want
from ..implied import mixture
from ..independent import Sparse
from ..world import World

SHAPE = {"kind": str, "times": int, "most": [[int]], "least": [[int]]}


def refute(world: World, proof: dict[str, Any], value: Exact) -> None:
    """Refuse unless f lies between two numbers that are no further apart than the value."""
    table = want(proof, SHAPE, "the proof")
    times, query = table["times"], world.query
    if world.policy.scope != "given" or query.weights is not None or times < 1:
        raise Rejected("this kind of proof is for known numbers")
    if not query.single:
        raise Rejected("this kind of proof is for queries of one output")
    scale, places = places_of(world)
    most, least = (mixture(world, table[end]) for end in ("most", "least"))
    for effect, row in places:
        world.budget.spend(2 + 2 * len(effect))
        if not least.of(effect) <= times * row <= most.of(effect):
            raise Rejected("the query is not between the two combinations")
    if most.total - least.total > value * scale * times:
        raise Rejected("the numbers leave more room than the value")


def places_of(world: World) -> tuple[int, Sequence[tuple[Sparse, int]]]:
    """Return a scale, and what the values of each cell add to the facts and to the query."""
    cells, _, _ = world.classes()
    scale, rows = world.rows(cells)
    return scale, [
        (world.sparse(cell.point), sum(value for _, value in row))
        for cell, row in zip(cells, rows, strict=True)
    ]
