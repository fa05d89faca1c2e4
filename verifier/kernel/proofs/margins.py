"""Kind `margins`: one-way margins of a table, and a search over what one record moves there.

Readings 1, 2 and 5, equality facts and impossible values. `factors` lists the equalities by place,
in groups; every equality is in one, and each group has affinely independent signatures, r_1, ...,
r_k of them. Moves that keep a group are a circulation on its signatures, so that they keep a group
iff they keep the margin of its signatures. A value has one signature of each group: it lies in a
cell of an r_1 x ... x r_k table, and an irreducible multiset of moves is irreducible for the
one-way margins of this table. `table` is a proof of kind `irreducible` that none of those has more
than `longest` elements, over the moves between any two cells: those between cells that hold values
are some of them. So f changes by at most `longest` (or n) times the largest change of one move.

*Few leave one class.* `left` is [factor, times]. A move leaves its signature of the factor even if
it stays in it; where its effect does not tell which that is, it counts for each. No irreducible
over the moves of the table leaves a signature of this factor, or of another of as many, more than
`times` times. The search meets an image of each under its symmetries, and a multiset of sum 0
enters a signature as often as it leaves it: so it is enough that each symmetry takes the effects
that leave one, and those that enter it, to those that leave, or that enter, one of these
signatures, and that what is met leaves none too often. What leaves a signature and what enters it
make as many differences of two values of it, so that f changes by at most the sum of the largest of
these, `times` (or 1, for a move within a cell) for each signature, and no more of them than moves.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from itertools import product
from math import prod
from typing import Any

from ..document import Exact, Rejected, want
from ..independent import Sparse, Vector, independent
from ..measure import Change, Measure
from ..world import Effects, World
from .cells import Place, largest, places_of, restricted
from .irreducible import PROOF, Replay, replayed

MOST_CELLS = 400


def refute(world: World, proof: dict[str, Any], value: Exact) -> None:
    """Refuse unless so many moves, each with the largest change, are within the value."""
    shape = {"kind": str, "factors": [[int]], "longest": int, "left?": [int], "table": PROOF}
    told = want(proof, shape, "the proof")
    scale, places = places_of(world)
    longest, left = told["longest"], told.get("left")
    sides = sides_of(world, places, told["factors"])
    table = Table(world, sides)
    kind: type[Replay] = Replay
    if left is None:
        most, times = bound(world, places, longest), longest
    else:
        if len(left) != 2 or not 0 <= left[0] < len(sides) or not 0 <= left[1] <= longest:
            raise Rejected("there is no such factor, or more moves leave it than there are")
        (place, times), kind = left, Counted
        most = bound_by_classes(world, places, longest, told["factors"][place], times)
        table.most, table.counted = longest, table.ends(sides[place])
    if most > world.measure.claim(value, scale):
        raise Rejected("so many moves may change the query by more than the value")
    replayed(table, told["table"], times, kind)


def bound(world: World, places: Sequence[Place], longest: int) -> int:
    """Return what no pair of so many moves exceeds, as a size; it has one move at the least."""
    size = largest(world, {row for _, row in places}).size
    return world.measure.repeated(size, _moves(world, longest))


def bound_by_classes(
    world: World, places: Sequence[Place], longest: int, factor: Sequence[int], times: int
) -> int:
    """Return what no pair of so many moves exceeds that leaves each signature so often, or once."""
    inside: dict[Sparse, set[Change]] = defaultdict(set)
    for effect, row in places:
        inside[restricted(effect, set(factor), world)].add(row)
    most = _moves(world, longest)
    each, found = min(max(1, times), most), list[int]()
    for rows in inside.values():
        world.budget.spend(each, each)
        found += [largest(world, rows).size] * each
        found = sorted(found, reverse=True)[:most]
    return world.measure.together(found)


def _moves(world: World, longest: int) -> int:
    """Return how many moves a pair has at the most."""
    return max(1, longest if world.size is None else min(longest, world.size))


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
    """The moves between the cells of a table, by what they do to its one-way margins.

    `counted`: the ends that `Counted` counts, `most`: of irreducibles of so many moves.
    """

    def __init__(self, world: World, sides: Sequence[int]) -> None:
        if prod(sides) > MOST_CELLS:
            raise Rejected("the table is too large", limit=True)
        starts = [sum(sides[:k]) for k in range(len(sides))]
        self.sides, self.most, self.counted = sides, 0, list[tuple[set[int], set[int]]]()
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

    def ends(self, side: int) -> list[tuple[set[int], set[int]]]:
        """Return the effects that leave, and those that enter, each signature of the factors that
        have so many; those without effect on a factor do both, as they stay somewhere.
        """
        found, start = [], 0
        for own in self.sides:
            stay = {e for e, d in enumerate(self.effects) if not any(d[start : start + own])}
            for j in range(start, start + own):
                ways = [{e for e, d in enumerate(self.effects) if d[j] == way} for way in (-1, 1)]
                if own == side:
                    found.append((ways[0] | stay, ways[1] | stay))
            start += own
        self.world.budget.spend(4 * len(self.effects) * start)
        return found


class Counted(Replay):
    """A search in which no irreducible may leave a signature more often than the claim.

    A number holds for each of them how often it is left, in a field whose top bit tells of more.
    """

    def __init__(self, moves: Table, proof: dict[str, Any], claim: int) -> None:
        super().__init__(moves, proof, claim)
        self.most, wide = moves.most, moves.most.bit_length() + 1
        fields = [1 << wide * k for k in range(len(moves.counted))]
        ends = [end for both in moves.counted for end in both]
        self.budget.spend(len(moves.effects) * len(ends) * (1 + len(proof["symmetries"])))
        for p in proof["symmetries"]:
            if any({p[e] for e in end} not in ends for end in ends):
                raise Rejected("a symmetry takes what leaves a signature to something else")
        self.guard = sum(fields) << wide - 1
        self.start = self.guard - (1 + claim) * sum(fields)
        self.leaves = [
            sum(field for field, (left, _) in zip(fields, moves.counted, strict=True) if e in left)
            for e in range(len(moves.effects))
        ]

    def _judge(self, members: Vector, weight: int) -> None:
        """Refuse an irreducible that leaves a signature too often, or is too long."""
        if weight > self.most:
            raise Rejected("an irreducible multiset is longer than the proof says")
        if self.start + sum([self.leaves[e] for e in members]) & self.guard:
            raise Rejected("an irreducible multiset leaves a signature more often than the claim")
