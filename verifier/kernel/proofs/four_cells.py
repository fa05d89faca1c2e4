"""Kind `four-cells`, for reading 4: databases that differ in at most four cells, each by 1.

Two halves of at most two cells each are put together where their effects cancel.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from itertools import combinations_with_replacement, product
from typing import Any

from ..document import Exact, Rejected, want
from ..independent import Vector
from ..world import World


def refute(world: World, proof: dict[str, Any], value: Exact) -> None:
    """Refuse unless no at most four cells, each changed by 1, change the query by more."""
    want(proof, {"kind": str}, "the proof")
    if world.reading != "markov" or world.bounds:
        raise Rejected("this kind of proof is for equality counts in reading 4")
    cells, joins = world.kinds()
    measure = world.measure
    claim = measure.claim(value, world.rows(cells)[0])
    moves = list(world.moves(cells, joins))
    places = [move.target if move.source is None else move.source for move in moves]
    largest = max((measure.size(move.change) for move in moves), default=0)
    if measure.repeated(largest, 4) <= claim:
        return
    width, most = len(world.equalities), max(len(move.change) for move in moves)
    halves: dict[Vector, list[tuple[int, ...]]] = defaultdict(list)
    for count in (0, 1, 2):
        for part in combinations_with_replacement(range(len(moves)), count):
            world.budget.spend(width + 1, width + 4)
            halves[tuple(sum(moves[k].effect[j] for k in part) for j in range(width))].append(part)
    for total, ones in halves.items():
        twos = halves.get(tuple(-x for x in total), [])
        world.budget.spend((4 + 4 * most) * len(ones) * len(twos))
        for one, two in product(ones, twos):
            change: Counter[object] = Counter()
            for k in (*one, *two):
                change.update(dict(moves[k].change))
            used = Counter(places[k] for k in (*one, *two))
            fits = all(times <= cells[place or 0].size for place, times in used.items())
            if fits and measure.size(change.items()) > claim:
                raise Rejected("four cells change the query by more than the claim")
