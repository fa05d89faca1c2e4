"""Kind `four-cells`, for reading 4: databases that differ in at most four cells, each by 1.

*By signatures.* Let some combination of the equalities count every record once. Then as many
records come as go: one for one of its signature, or two, of signatures s and t, for two of u and v
with s + t = u + v. Let D_st be the largest change by a record that goes from a value of s to one of
t. With either way to pair them, f changes by D_su and D_tv together at the most, and by D_sv and
D_tu. Bounds and clauses only take pairs away.

*By cells.* Else two halves of at most two cells each are put together where effects cancel.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from copy import copy
from itertools import combinations_with_replacement, product
from typing import Any

from ..document import Exact, Rejected, want
from ..independent import Span, Sparse, Vector
from ..measure import Change
from ..world import SOME, World, plus


def refute(world: World, proof: dict[str, Any], value: Exact) -> None:
    """Refuse unless no at most four cells, each changed by 1, change the query by more."""
    want(proof, {"kind": str}, "the proof")
    if world.reading != "markov":
        raise Rejected("this kind of proof is for reading 4")
    if _two_for_two(copy(world), value):
        return
    if world.bounds:
        raise Rejected("this kind of proof is for equality counts, or where n is known")
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


def _two_for_two(world: World, value: Exact) -> bool:
    """Whether the bound by signatures is within the value; not, where n is not known."""
    query, measure = world.query, world.by_position(single=True)
    near = world.apart or query.kind == "sum"  # ends of pieces stand for what is between them
    listed, ends = ([], query.places) if near else (query.listed, [])
    cells = world.cells(world.equalities, query.cuts, listed, ends)
    scale, rows = world.rows(cells)
    points = [cell.point for cell in cells]
    known = world.by_fact(points)[: len(world.equalities)]
    if Span(known, world.budget).shares(dict.fromkeys(range(len(cells)), 1)) is None:
        return False
    held: dict[Sparse, set[Change]] = defaultdict(set)
    for point, row in zip(points, rows, strict=True):
        held[tuple(item for item in world.sparse(point) if item[0] < len(known))].add(row)
    names, claim = list(held), measure.claim(value, scale)
    far: dict[tuple[int, int], int] = {}

    def apart(s: int, t: int) -> int:
        if (s, t) not in far:
            one, two = held[names[s]], held[names[t]]
            world.budget.spend(8 * (len(one) * sum(map(len, two)) + len(two) * sum(map(len, one))))
            far[s, t] = max(measure.size(_exchanged(a, b)) for a in one for b in two)
        return far[s, t]

    sums: dict[Change, list[tuple[int, int]]] = defaultdict(list)
    for s, t in combinations_with_replacement(range(len(names)), 2):
        total = plus(names[s], frozenset(names[t]))
        world.budget.spend(8 + len(total), 4 + 2 * len(total))
        sums[total].append((s, t))
        if s == t and apart(s, s) > claim:
            return False
    for alike in sums.values():
        world.budget.spend(16 * len(alike) ** 2)
        for (s, t), (u, v) in combinations_with_replacement(alike, 2):
            straight = measure.together([apart(s, u), apart(t, v)])
            if straight > claim and measure.together([apart(s, v), apart(t, u)]) > claim:
                return False
    return True


def _exchanged(one: Change, two: Change) -> Change:
    """Return what a record changes that goes from a row to another: "some" values differ."""
    if SOME in (one, two) and one == two:
        return frozenset([("leaves", -1), ("enters", 1)])
    return plus(frozenset((output, -value) for output, value in one), two)
