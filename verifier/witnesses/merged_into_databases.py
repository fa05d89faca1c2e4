"""Scope "given", clauses: multisets with merged records (`merged_records`) put into databases.

For a sum of R and moves irreducible with it, one integer program asks for D1, for the records of R
and their moves, and for kinds of the other moves: D1 holds what leaves, D2 keeps the bounds.
Where G is complete, or in reading 2, parts of the moves have to break something. A part that has,
for each clause, r' or not r keeps all clauses. If there are no bounds, there must not be such a
part; if there is one end of one bound, each of these parts must break it. A part that takes k of m
moves with equal effects, whichever it takes, breaks the end; so it does with k / m of what these
m moves push on average, which is a linear row.

What has no solution is no neighbour pair. What has one is put to the checker of pairs.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from math import prod
from operator import add

from blowproof.models import Point, Setting
from blowproof.models.base.clock import now
from blowproof.verifier.asked.answer import Pair
from blowproof.verifier.engines.irreducibles import Multiset
from blowproof.verifier.engines.search.effects import EffectTable
from blowproof.verifier.limits.limit import real_limit, whole_limit
from blowproof.verifier.moves.kinds import Kind, Moves
from blowproof.verifier.neighbours.check import check_pair
from blowproof.verifier.reductions.given_numbers import Embedder
from blowproof.verifier.reductions.merged_records import Heaviest, JointSums, Needs, movers
from blowproof.verifier.witnesses.merged_multisets import Source
from blowproof.verifier.witnesses.merged_program import (
    MergedModel,
    Part,
    Placed,
    Secret,
    Split,
    Task,
)
from blowproof.verifier.witnesses.one_secret_move import OneSecret

__all__ = ["MergedPlacing", "Placed", "checked"]

Vector = tuple[int, ...]
Finish = Callable[["Placed"], "Pair | None"]

MOST_PARTS = whole_limit(__name__, "MOST_PARTS")
MOST_TRIED = whole_limit(__name__, "MOST_TRIED")
MOST_SPLITS = whole_limit(__name__, "MOST_SPLITS")
CHECK_SECONDS = real_limit(__name__, "CHECK_SECONDS")


@dataclass
class MergedPlacing:
    """Puts R and what is irreducible with its sum into databases, heaviest first.

    `finish` makes a pair of a solution, or None. `secret`: in reading 1 with another G, what knows
    which moves can be secret or plain; without it (G complete, or reading 2), all moves are alike.
    """

    moves: Moves
    table: EffectTable
    sums: JointSums
    finish: Finish
    secret: OneSecret | None = None

    def __post_init__(self) -> None:
        self.embedder = Embedder(self.moves)
        self.movers: dict[int, dict[int, list[Kind]]] = {}
        self.undecided = 0
        self.joined: set[int] | None = None
        self.leading: dict[int, bool] = {}

    def best(
        self, known: Heaviest, *, lower: int, time_limit: float
    ) -> tuple[int, Pair | None, int | None]:
        """Return the best (scaled) change above `lower` where R is not empty, its pair, a bound.

        `known` bounds some sums. No bound if the time was not enough for one.
        """
        end, score = now() + time_limit, self.moves.score
        best, pair, self.undecided = lower, None, 0
        light: list[tuple[int, Vector, Multiset]] = []
        source = Source(self.table, self.sums, known, score.within(lower), end)
        while (item := source.next(score.within(best))) is not None and now() < end:
            most = score.most(item[0])
            found = self._attempt(item, max(best, most - 1), end)
            if found is not None:
                best, pair = found
                source.told(score.within(best))
            elif most - 1 > best:
                light.append(item)
        for item in light:  # what cancels in part, or has less of R, may still be better
            while score.most(item[0]) > best:
                if (found := self._attempt(item, best, end)) is None:
                    break
                best, pair = found
        if not source.complete or now() >= end:
            return best, pair, None
        return best, pair, max(best, self.undecided, score.most(source.floor))

    def _attempt(
        self, item: tuple[int, Vector, Multiset], above: int, end: float
    ) -> tuple[int, Pair] | None:
        """Return a change above `above` and its pair; what is undecided is noted."""
        weight, total, multiset = item
        for needs in self.sums.needs[total]:
            if id(needs) not in self.movers:
                self.movers[id(needs)] = movers(self.moves, needs)
            if not self._may_be_secret(needs, multiset):
                continue
            program = _Program(self, needs, total, multiset)
            found = program.best(above, end)
            if isinstance(found, tuple):
                return found
            if found is None:
                self.undecided = max(self.undecided, self.moves.score.most(weight))
        return None

    def _may_be_secret(self, needs: Needs, multiset: Multiset) -> bool:
        """Whether some of the moves can be secret, where that matters."""
        lone = self.secret
        if lone is None:
            return True
        if self.joined is None:
            kinds = enumerate(self.table.kinds)
            self.joined = {p for p, each in kinds if any(map(lone.can_be_secret, each))}
        if id(needs) not in self.leading:
            own = (kind for kinds in self.movers[id(needs)].values() for kind in kinds)
            self.leading[id(needs)] = any(map(lone.can_be_secret, own))
        return self.leading[id(needs)] or any(place in self.joined for place, _ in multiset)


class _Program:
    """D1, the moves of R, and the kinds of the others, for one multiset."""

    def __init__(
        self, placing: MergedPlacing, needs: Needs, total: Vector, multiset: Multiset
    ) -> None:
        self.placing, self.needs, self.total = placing, needs, total
        self.moves, self.setting = placing.moves, placing.moves.setting
        self.movers = placing.movers[id(needs)]
        self.width = len(self.setting.equalities)
        every = placing.table.groups(multiset)
        self.groups = [(kinds, times) for kinds, times in every if _moving(kinds)]
        self.task = Task(self.moves, placing.embedder, placing.secret, needs, self.groups)
        self.effects = [kinds[0].effect for kinds, _ in self.groups]
        self.times = [times for _, times in self.groups]

    def best(self, above: int, end: float) -> tuple[int, Pair] | bool | None:
        """Return (change, pair) above `above`; False if there is none; None: undecided."""
        undecided = False
        for split in self._splits():
            if split is None or now() > end:
                return None
            parts = self._parts(split)
            if parts is None:
                undecided = True
                continue
            if self.placing.secret is not None:
                undecided = True
                for secret in self._secrets(split, parts):
                    outcome = self._solve(split, (), above, end, secret)
                    if isinstance(outcome, tuple):
                        return outcome
                continue
            if parts and not self.setting.bounds:
                continue
            outcome = self._solve(split, parts, above, end)
            if isinstance(outcome, tuple):
                return outcome
            undecided |= outcome is None
        return None if undecided else False

    def _secrets(self, split: Split, parts: Sequence[Part]) -> Iterator[Secret]:
        """Yield which move can be the only secret one: no part that keeps the clauses has it."""
        lone = self.placing.secret
        assert lone is not None
        plain = [any(map(lone.can_be_plain, kinds)) for kinds, _ in self.groups]
        bare = sum(n for n, able in zip(self.times, plain, strict=True) if not able)
        if bare > 1:
            return
        if not bare:
            for record, (_, made) in split.items():
                inside = any(record in chosen for chosen, _ in parts)
                if not inside and any(map(lone.can_be_secret, made)):
                    yield record, None
        for number, (kinds, _) in enumerate(self.groups):
            alone = not any(counts[number] for _, counts in parts)
            if alone and not (bare and plain[number]) and any(map(lone.can_be_secret, kinds)):
                yield None, number

    def _splits(self) -> Iterator[Split | None]:
        """Yield the effects that the records of R may have, with the kinds that have them.

        None where they are too many to look at all of them.
        """
        by_record = []
        for record, kinds in self.movers.items():
            found: dict[Vector, list[Kind]] = defaultdict(list)
            for kind in kinds:
                found[kind.effect].append(kind)
            by_record.append([(record, effect, each) for effect, each in found.items()])
        wanted = self.total[: self.width]
        for number, combination in enumerate(product(*by_record)):
            if number == MOST_SPLITS:
                yield None
                return
            if _sum((effect for _, effect, _ in combination), self.width) == wanted:
                yield {record: (effect, kinds) for record, effect, kinds in combination}

    def _parts(self, split: Split) -> list[Part] | None:
        """Return the parts without effect that keep every clause: records of R, and how many of
        each other effect. None: too many.
        """
        ends: dict[int, dict[bool, int]] = defaultdict(dict)
        for record, tasks in self.needs.items():
            for place, begins in tasks:
                ends[place][begins] = record
        half = len(self.times) // 2
        if max(prod(n + 1 for n in side) for side in (self.times[:half], self.times[half:])) > (
            MOST_TRIED
        ):
            return None
        found: list[Part] = []
        records = sorted(split)
        for size in range(1, len(records)):
            for chosen in combinations(records, size):
                if all(r[True] in chosen or r[False] not in chosen for r in ends.values()):
                    start = _sum((split[record][0] for record in chosen), self.width)
                    for counts in _parts_with_sum(self.effects, self.times, start):
                        found.append((chosen, counts))
                        if len(found) > MOST_PARTS:
                            return None
        return found

    def _solve(
        self,
        split: Split,
        parts: Sequence[Part],
        above: int,
        end: float,
        secret: Secret | None = None,
    ) -> tuple[int, Pair] | bool | None:
        """Try what makes a pair; where that is too narrow, ask whether there is any solution."""
        model = MergedModel(self.task, split, narrow=True)
        if secret is not None:
            model.one_secret(secret)
        status, placed = model.solve(parts, above, end)
        if placed is not None:
            pair = self.placing.finish(placed)
            if pair is None:
                return None
            value = self.moves.query.difference(pair.moves(self.moves.reading)) * self.moves.scale
            return (int(value), pair) if value > above else None
        if status == "infeasible" and model.narrow and secret is None:
            status, _ = MergedModel(self.task, split, narrow=False).solve(parts, above, end)
        return False if status == "infeasible" else None


def checked(moves: Moves, placed: Placed, *, setting: Setting | None = None) -> Pair | None:
    """Return a solution as numbered databases, if the checker finds no D3.

    `setting`: the facts and G, where these are not those of `moves`.
    """
    setting = moves.setting if setting is None else setting
    labels = {record: _ends(kind) for record, kind in placed.named.items()}
    labels |= {record: (point, point) for record, point in placed.staying.items()}
    others = [_ends(kind) for kind in placed.others.elements()]
    others += [(point, point) for point in placed.rest.elements()]
    pair = Pair.numbered(labels, others)
    end = now() + CHECK_SECONDS
    return pair if check_pair(setting, moves.reading, pair, deadline=end) else None


def _ends(kind: Kind) -> tuple[Point, Point]:
    assert kind.before is not None
    assert kind.after is not None
    return kind.before, kind.after


def _moving(kinds: Sequence[Kind]) -> bool:
    return all(kind.before is not None or kind.after is not None for kind in kinds)


def _sum(vectors: Iterator[Vector], width: int) -> Vector:
    total = (0,) * width
    for vector in vectors:
        total = tuple(map(add, total, vector))
    return total


def _parts_with_sum(
    effects: Sequence[Vector], times: Sequence[int], start: Vector
) -> Iterator[tuple[int, ...]]:
    """Yield how often each effect is taken, for the parts that sum to the negative of `start`."""
    half = len(effects) // 2
    wanted: dict[Vector, list[tuple[int, ...]]] = defaultdict(list)
    for counts in product(*(range(n + 1) for n in times[:half])):
        wanted[_combined(effects[:half], counts, start)].append(counts)
    for counts in product(*(range(n + 1) for n in times[half:])):
        total = _combined(effects[half:], counts, (0,) * len(start))
        for first in wanted.get(tuple(-x for x in total), ()):
            yield (*first, *counts)


def _combined(effects: Sequence[Vector], counts: Sequence[int], start: Vector) -> Vector:
    total = start
    for effect, times in zip(effects, counts, strict=True):
        if times:
            total = tuple(x + times * y for x, y in zip(total, effect, strict=True))
    return total
