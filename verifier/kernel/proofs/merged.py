"""Kind `merged`, for clauses in readings 1 and 2: the records that they need, merged into one move.

For each clause that no record makes true in both D1 and D2, let R contain one that does in D1 and
one that does in D2; both move. A part of the moves that holds all of R or none of it keeps every
clause. So, with R as one move, the lemma for bounds holds: a neighbour pair is irreducible. It is a
multiset of moves, R being empty (`rest`), or holds the sum of R once and single moves besides
(`joint`: a search for each sum, from the heaviest to the lightest; where `rest` has symmetries,
none for a sum that they make of one before). Where all moves are alike (G complete, or reading 2)
and no bound is left out, one such clause is no reason to merge: of two parts that keep the bounds,
one lacks the first of its two records, keeps every clause, and is a D3.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from itertools import permutations, product
from operator import add
from typing import Any

from ..document import Exact, Rejected, want
from ..independent import Vector
from ..measure import Change
from ..policy import Fact
from ..world import Effects, World, plus
from .irreducible import PROOF, Replay, replayed

Moved = frozenset[tuple[Vector, Change]]
"""What some moves do: effects and changes."""


def refute(world: World, proof: dict[str, Any], value: Exact) -> None:
    """Refuse the proof unless it shows that no neighbour pair changes the query by more."""
    table = want(proof, {"kind": str, "rest": PROOF, "joint": [PROOF]}, "the proof")
    symmetries, searches = table["rest"]["symmetries"], iter(table["joint"])
    moves = Merged(world, exact=not symmetries)
    claim = moves.claimed(value)
    replayed(moves, table["rest"], claim)
    for total in moves.needed(symmetries):
        if not any(total):
            if moves.weight[total] > moves.measure.within(claim):
                raise Rejected("the records of clauses change the query by more than the claim")
            continue
        search, room = next(searches, None), world.budget.room
        if search is None:
            raise Rejected("the proof ends before every sum is searched")
        replayed(Joint(moves, total), search, claim, Search)
        world.budget.room = room
    if next(searches, None) is not None:
        raise Rejected("the proof goes on after every sum is searched")


class Merged(Effects):
    """The effects of single moves, and `sums`: those that R can have, each with its changes, or if
    not `exact` with a length that none exceeds. `members`: effects that add up to it; `weight`: the
    largest length of its changes.
    """

    def __init__(self, world: World, *, exact: bool) -> None:
        clauses, budget, self.exact = world.policy.clauses, world.budget, exact
        if not world.labelled or not clauses:
            raise Rejected("this kind of proof is for clauses that name records")
        records = [sorted({k for k, _, _ in clause}) for clause in clauses]
        budget.spend(0, sum(len(some) ** 2 for some in records))
        places: dict[tuple[int, int], int] = {}
        for i, some in enumerate(records):
            places.update({(i, k): len(places) + spot for spot, k in enumerate(some)})
        super().__init__(world, [
            Fact(tuple((1 if told else -1, area) for r, area, told in clauses[i] if r == k))
            for i, k in places
        ])  # fmt: skip
        self.sums: dict[Vector, set[Change]] = {}
        self.members: dict[Vector, tuple[Vector, ...]] = {}
        known: dict[tuple[tuple[int, int], ...], Moved] = {}
        numbers: dict[Moved, int] = {}
        seen = set()
        for choice in product(*([(), *permutations(some, 2)] for some in records)):
            tasks: dict[int, tuple[tuple[int, int], ...]] = {}
            for i, pair in enumerate(choice):  # the first makes the clause true in D1 only
                for k, sign in zip(pair, (-1, 1), strict=False):
                    tasks[k] = (*tasks.get(k, ()), (places[i, k], sign))
            budget.spend(100 * len(clauses))
            if sum(map(bool, choice)) <= self.alike:
                continue
            for each in tasks.values():
                if each not in known:
                    known[each] = self._able(each)
                numbers.setdefault(known[each], len(numbers))
            needs = tuple(sorted((known[each] for each in tasks.values()), key=numbers.__getitem__))
            if (key := tuple(map(numbers.__getitem__, needs))) not in seen:
                seen.add(key)
                budget.spend(0, 10 + len(key))
                self._add(needs)
        self.weight = {total: max(map(self._long, changes)) for total, changes in self.sums.items()}

    def _long(self, change: Change) -> int:
        """Return the length of what R changes."""
        return self.length(change) if self.exact else sum(length for _, length in change)

    def _able(self, tasks: Sequence[tuple[int, int]]) -> Moved:
        """Return the moves of a record that does what is needed for some clauses."""
        able: dict[Vector, set[Change]] = defaultdict(set)
        for marks, some in self.marked.items():
            self.world.budget.spend(8 + 4 * len(tasks) + 4 * len(some), 2 * len(some))
            if all(marks[place] * sign > 0 for place, sign in tasks):
                for effect, change in some:
                    able[effect].add(change)
        if not self.exact:
            able = {d: {frozenset([("any", max(map(self.length, able[d])))])} for d in able}
        return frozenset((effect, change) for effect, some in able.items() for change in some)

    def _add(self, needs: Sequence[Moved]) -> None:
        """Add the sums of moves, one of each of some sets."""
        width, budget = len(next(iter(self.changes), ())), self.world.budget
        found: dict[tuple[Vector, Change], tuple[Vector, ...]]
        found = {((0,) * width, frozenset()): ()}
        for able in needs:
            wide = 20 + width + 4 * max((len(change) for _, change in able), default=0)
            budget.spend(len(found) * len(able) * wide)
            grown: dict[tuple[Vector, Change], tuple[Vector, ...]] = {}
            for (total, change), members in found.items():
                known = len(grown)
                for effect, more in able:
                    key = tuple(map(add, total, effect)), plus(change, more)
                    grown[key] = (*members, effect)
                budget.spend(0, (len(grown) - known) * wide)
            found = grown
        for (total, change), members in found.items():
            self.sums.setdefault(total, set()).add(change)
            self.members[total] = tuple(effect for effect in members if any(effect))

    def needed(self, symmetries: Sequence[Sequence[int]]) -> list[Vector]:
        """Return the sums to search, from the heaviest to the lightest: no two are images."""
        place = {d: k for k, d in enumerate(self.effects)}
        done: set[Vector] = set()
        found = []
        for total in sorted(self.sums, key=lambda each: (-self.weight[each], each)):
            if total in done:
                continue
            found.append(total)
            done.add(total)
            frontier = [tuple(place[effect] for effect in self.members[total])]
            while frontier:
                last = frontier.pop()
                for p in symmetries:
                    image = tuple(p[k] for k in last)
                    own = tuple(map(sum, zip(*(self.effects[k] for k in image), strict=True)))
                    self.world.budget.spend(len(own) * (1 + len(image)), len(own))
                    if own not in done:
                        done.add(own)
                        frontier.append(image)
        return found


class Joint(Effects):
    """The effects of single moves, and the sum of R: one effect more, which occurs once (`once`),
    or in the place of an equal one, than which it weighs so much `more`.
    """

    def __init__(self, moves: Merged, total: Vector) -> None:
        self.world, self.longest, self.secret = moves.world, None, moves.secret | {total}
        self.measure = moves.measure
        self.once = total not in moves.changes
        self.effects, self.weights = [*moves.effects], [*moves.weights]
        self.changes, self.exact = moves.changes, moves.exact and self.once
        if self.once:
            self.effects.append(total)
            self.weights.append(moves.weight[total])
            self.changes = {**moves.changes, total: moves.sums[total]}
        self.start = self.effects.index(total)
        self.more = moves.weight[total] - self.weights[self.start]


class Search(Replay):
    """A search that begins with the sum of R."""

    moves: Joint

    def __init__(self, moves: Joint, proof: dict[str, Any], claim: int) -> None:
        super().__init__(moves, proof, claim)
        self.within -= moves.more
        if any(p[moves.start] != moves.start for p in proof["symmetries"]):
            raise Rejected("a symmetry moves the sum of the records of clauses")
        self.path[0].todo = self.sums.bits[moves.start]
        if moves.once:
            self.path[0].available &= ~self.path[0].todo

    def _judge(self, members: Vector, weight: int) -> None:
        if not self.moves.once or members.count(self.moves.start) == 1:
            super()._judge(members, weight)

    def _exceeds(self, options: list[set[Change]]) -> bool:
        return not self.moves.exact or super()._exceeds(options)
