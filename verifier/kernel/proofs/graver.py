"""Kind `graver`: a Graver basis for some of the facts, found here; a search over it for the others.

FORMAT.md says why this is a proof. With a coordinate for each pair of opposite effects, d and -d, a
multiset is an integer vector z; its *parts* are the vectors of the same signs, nowhere larger.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable
from typing import Any

from ..document import Exact, Rejected, want
from ..graver_basis import basis, splits
from ..independent import Vector
from ..measure import Change
from ..world import Effects, World, norm, plus
from .irreducible import MOST_CHOICES, PROOF, Replay, exceeds, replayed


def refute(world: World, proof: dict[str, Any], value: Exact) -> None:
    """Refuse the proof unless it shows that no neighbour pair changes the query by more."""
    table = want(proof, {"kind": str, "first": [int], "rest": PROOF}, "the proof")
    moves = Effects(world)
    claim = moves.claimed(value)
    if not moves.effects:
        return
    pieces = Pieces(moves, table["first"], claim)
    pairs = [[moves.changes[d] for d in pair] for pair in pieces.sides.values()]
    if any(exceeds(pair, claim, world.budget, moves.measure) for pair in pairs):
        raise Rejected("two opposite moves change the query by more than the claim")
    if any(pieces.breaks(z) for z in pieces.alone):
        raise Rejected("an irreducible multiset changes the query by more than the claim")
    replayed(pieces, table["rest"], claim, Search)


class Pieces(Effects):
    """Pieces of which a multiset that keeps every fact consists, and their effects on the others.

    A piece is a sparse vector, kept in the place of a `Change`. `alone`: those without effect.
    """

    def __init__(self, moves: Effects, first: list[int], claim: int) -> None:
        self.world, self.secret, self.longest = moves.world, set[Vector](), None
        self.moves, self.claim, budget = moves, claim, moves.world.budget
        self.measure = moves.measure
        self.heavy = dict(zip(moves.effects, moves.weights, strict=True))
        away = {d: tuple([-v for v in d]) for d in moves.effects}
        ups = [d for d in moves.effects if d > away[d]]
        if any(opposite not in self.heavy for opposite in away.values()):
            raise Rejected("a move that cannot be undone")
        self.sides: dict[Hashable, tuple[Vector, Vector]] = {}
        self.sides.update(enumerate((d, away[d]) for d in ups))
        width = len(ups[0])
        if not set(first) <= set(range(width)):
            raise Rejected("a fact that is not there")
        budget.spend(2 * width * len(ups), width * len(ups))
        kept, rest = sorted(set(first)), sorted(set(range(width)) - set(first))
        self.others = {k: [d[i] for i in rest] for k, (d, _) in self.sides.items()}
        self.changes = defaultdict(set)
        for z in basis([tuple([d[i] for i in kept]) for d in ups], budget):
            for sign in (1, -1):
                piece = frozenset([(k, sign * v) for k, v in enumerate(z) if v])
                self.changes[self.effect(piece)].add(piece)
                budget.spend(len(piece), 3 * len(piece) + width)
        self.every = [(z, effect) for effect, some in self.changes.items() for z in some]
        self.alone = self.changes.pop((0,) * len(rest), set())
        self.effects = sorted(self.changes)
        self.weights = [max(map(self.weight, self.changes[d])) for d in self.effects]
        self.secret.update(self.effects)

    def effect(self, z: Change) -> Vector:
        """Return what a vector adds to the other facts."""
        self.world.budget.spend(len(z) * (1 + len(self.others[0]) // 4))
        rows = [[v * x for x in self.others[k]] for k, v in z]
        return tuple(map(sum, zip(*rows, strict=True)))

    def weight(self, z: Change) -> int:
        """Return what a vector changes at most, move by move."""
        return sum(abs(v) * self.heavy[self.sides[k][v < 0]] for k, v in z)

    def breaks(self, z: Change) -> bool:
        """Whether a vector changes more than the claim, and has no proper part that is a pair."""
        if self.weight(z) <= self.measure.within(self.claim):
            return False
        budget = self.world.budget
        room, fixed, options = budget.room, Counter[Hashable](), list[set[Change]]()
        for k, v in z:
            changes = self.moves.changes[self.sides[k][v < 0]]
            if len(changes) > 1:
                budget.spend(0, abs(v))
                options += [changes] * abs(v)
            else:
                fixed.update({output: abs(v) * value for output, value in next(iter(changes))})
        options.append({frozenset((output, value) for output, value in fixed.items() if value)})
        found = exceeds(options, self.claim, budget, self.measure) and not splits(
            dict(z), self.every, budget
        )
        budget.room = room
        return found


class Search(Replay):
    """The search over effects of pieces; a multiset of them is judged by what it can stand for."""

    moves: Pieces

    def _exceeds(self, options: list[set[Change]]) -> bool:
        """Whether pieces of these effects, none against another, make a vector that breaks."""
        choices = [[(z, norm(z), self.moves.weight(z)) for z in some] for some in options]
        choices.sort(key=len)
        needed = self.within - sum(max(weight for *_, weight in some) for some in choices)
        sums: dict[Change, tuple[int, int]] = {frozenset(): (0, 0)}
        room = self.budget.room
        for some in choices:
            needed += max(weight for *_, weight in some)
            found: dict[Change, tuple[int, int]] = {}
            for part, (size, heavy) in sums.items():
                count = len(found)
                for z, more, weight in some:
                    if heavy + weight > needed and norm(total := plus(part, z)) == size + more:
                        found[total] = size + more, heavy + weight
                kept = 3 * (len(found) - count) * (1 + len(part))
                self.budget.spend(len(some) * (2 + len(part)), kept)
                if len(found) > MOST_CHOICES:
                    raise Rejected("pieces can be put together in too many ways", limit=True)
            sums = found
        self.budget.room = room
        return any(map(self.moves.breaks, sums))
