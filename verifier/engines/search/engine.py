"""Engine "search": S(f, P) where neighbours are irreducible multisets of moves.

Scope "any", equality counts and impossible values only; reading 2, reading 3, or reading 1 with a
complete G. Moves with the same effect are interchangeable to the facts, so the search runs over
effects (`blowproof.verifier.engines.irreducibles`), and each irreducible multiset of effects is
turned into moves by the choice with the largest change of the query.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial

from blowproof.models.base.clock import now
from blowproof.models.norms import L1, L2_SQUARED
from blowproof.models.policy.readings import is_labelled
from blowproof.verifier.asked.answer import Answer, OnBest, Pair
from blowproof.verifier.engines.irreducibles import (
    Multiset,
    improve,
    longest,
    longest_bound,
)
from blowproof.verifier.engines.search.effects import (
    SEARCH_EFFECTS,
    EffectTable,
    Vector,
    table_bound,
)
from blowproof.verifier.engines.search.from_circuits import CIRCUIT_SECONDS, best_circuits
from blowproof.verifier.engines.search.graver_lists import taking_turns
from blowproof.verifier.engines.search.largest_output import Outputs
from blowproof.verifier.engines.search.straight import straight_kinds, symmetries_of
from blowproof.verifier.limits.limit import real_limit
from blowproof.verifier.moves.best_choice import best_choice, bound_of, longest_of, size_of
from blowproof.verifier.moves.kinds import Kind, Moves
from blowproof.verifier.moves.score import Score
from blowproof.verifier.neighbours.check import require_pair

__all__ = ["improved", "longest_moves", "multiset_sensitivity"]

CHECK_SECONDS = real_limit(__name__, "CHECK_SECONDS")


def longest_moves(moves: Moves, time_limit: float | None) -> tuple[int, bool]:
    """Return how many moves an irreducible multiset has at the most, and whether that is proved."""
    table = EffectTable.of(moves)
    if not table.effects:
        return 1, True
    if table.widest > SEARCH_EFFECTS:
        return longest_bound(table.effects), True
    found = longest(table.effects, time_limit=time_limit)
    if found.complete:
        return max(1, int(found.lower)), True
    if found.upper is not None:
        return int(found.upper), True
    return int(found.lower), False


def multiset_sensitivity(
    moves: Moves,
    *,
    time_limit: float | None = None,
    on_best: OnBest | None = None,
    notes: tuple[str, ...] = (),
    enough: bool = True,
    most: int | None = None,
    known: int = 0,
) -> Answer:
    """Return S(f, P) over the given values, with a checked witness.

    `known`: some pair changes the query by so much (scaled), so that only more is looked for; where
    there is no more, the answer has no pair. `most`: a theorem says that no more moves are
    irreducible; a circuit that meets it ends the search before it begins.
    `enough` False: the values show every effect, but others might make the query change more. The
    upper bound is then the largest sum of single changes over irreducible multisets.
    """
    start = time.perf_counter()
    deadline = None if time_limit is None else now() + time_limit
    table = EffectTable.of(moves)
    idle = max(table.idle, key=lambda kind: kind.size, default=None)
    best, counts = (idle.size, Counter({idle: 1})) if idle is not None else (0, Counter())
    if known > best:
        best, counts = known, Counter()
    upper: int | None = best
    if table.effects:
        cap = None
        if most is not None:
            cap = max(best, moves.score.most(most * max(kind.length for kind in moves.kinds)))
        first = CIRCUIT_SECONDS if time_limit is None else min(CIRCUIT_SECONDS, time_limit / 4)
        solve, every = _solver(moves, table, enough), table
        table = table.straight(moves)
        best, counts = best_circuits(moves, table, best, counts, first)
        if best and counts:
            _tell(moves, best, counts, cap, on_best)
        upper = cap
        if best != cap:
            outputs = Outputs.of(moves, table) if solve in (_additive, _general) else None
            if outputs is not None:
                solve = partial(_output_by_output, outputs)
            if enough and (solve is not _additive or not is_labelled(moves.reading)):
                squares = table is not every and moves.query.measure is L2_SQUARED
                begins = outputs is not None or squares  # it has all symmetries
                solve = taking_turns(solve, ends=solve is not _circuits, begins=begins)
            left = None if deadline is None else max(0.0, deadline - now())
            best, counts, found = solve(moves, table, best, counts, left, on_best)
            upper = min((bound for bound in (cap, found) if bound is not None), default=None)
    shown = best if counts else 0
    witness = moves.pair(counts, Counter()) if shown else None
    if witness is not None:
        end = None if time_limit is None else now() + CHECK_SECONDS
        verdict = require_pair(moves.setting, moves.reading, witness, deadline=end)
        if verdict.minimality == "budget":
            notes = (*notes, "the pair has too many parts for its minimality to be searched again")
    return Answer(
        policy=moves.setting.policy.name,
        query=moves.query.name,
        reading=moves.reading,
        answers="any",
        lower=moves.unscaled(shown),
        upper=None if upper is None else moves.unscaled(upper),
        status="exact" if upper == shown else "bounds",
        witness=witness,
        engine="search",
        seconds=time.perf_counter() - start,
        notes=(*notes, f"{len(table.effects)} effects"),
    )


Found = tuple[int, "Counter[Kind]", int | None]
Solver = Callable[
    [Moves, EffectTable, int, "Counter[Kind]", "float | None", "OnBest | None"], Found
]


def _solver(moves: Moves, table: EffectTable, enough: bool) -> Solver:
    """Return the search that suits the effects and the query."""
    if table.widest > SEARCH_EFFECTS:
        return _circuits
    if not enough:
        return _summed
    return _additive if _never_cancels(moves, table) else _general


def _never_cancels(moves: Moves, table: EffectTable) -> bool:
    """Whether the histogram's change is the sum of the single changes, for a choice of kinds.

    Reading 3: a value is added or removed, never both. Readings 1 and 2: if every effect is made by
    a move from a value that is only left to a value that is only entered. The first value of each
    class that the reduction keeps is only left, the others are only entered.
    """
    if not moves.query.separates:
        return False
    if not is_labelled(moves.reading):
        return True
    return all(_straight(moves, kinds) for kinds in table.kinds)


def _straight(moves: Moves, kinds: tuple[Kind, ...]) -> list[Kind]:
    firsts = {moves.effects[x]: x for x in reversed(moves.values)}
    left = set(firsts.values())
    return [kind for kind in kinds if kind.before in left and kind.after not in left]


def _additive(
    moves: Moves,
    table: EffectTable,
    best: int,
    counts: Counter[Kind],
    time_limit: float | None,
    on_best: OnBest | None,
) -> Found:
    """Every move contributes the same: the longest irreducible multiset is the worst."""
    if is_labelled(moves.reading):
        choice = [_straight(moves, kinds)[0] for kinds in table.kinds]
    else:
        choice = [kinds[0] for kinds in table.kinds]
    found = longest(table.effects, [kind.size for kind in choice], time_limit=time_limit)
    upper = best if found.complete else None
    counts_found = Counter({choice[place]: times for place, times in found.witness or ()})
    if not is_labelled(moves.reading) and counts_found.total() == 2:
        counts_found = _two_values(table)
    value = size_of(counts_found)
    if value > best:
        best, counts = value, counts_found
    if not found.complete and found.upper is not None:
        upper = int(found.upper)
    upper = None if upper is None else max(best, upper)
    return best, counts, upper


def _circuits(
    moves: Moves,
    table: EffectTable,
    best: int,
    counts: Counter[Kind],
    time_limit: float | None,
    on_best: OnBest | None,
) -> Found:
    """Too many effects to search: the best of many circuits, and the theorem's bound."""
    left = CIRCUIT_SECONDS if time_limit is None else min(CIRCUIT_SECONDS, time_limit)
    best, counts = best_circuits(moves, table, best, counts, left)
    upper = moves.score.most(table_bound(table))
    return best, counts, max(best, upper)


def _summed(
    moves: Moves,
    table: EffectTable,
    best: int,
    counts: Counter[Kind],
    time_limit: float | None,
    on_best: OnBest | None,
) -> Found:
    """The longest multiset bounds the change; the moves at hand may reach it, or not."""
    if moves.query.measure is L1:
        found = longest(table.effects, table.weights, time_limit=time_limit)
    else:  # lengths add up to too much: what outputs can do together is less
        found = improve(
            table.effects,
            table.weights,
            lambda multiset: longest_of(table.groups(multiset)),
            time_limit=time_limit,
        )
    groups = table.groups(found.witness)
    with suppress(TimeoutError):
        value, choice = best_choice(groups)
        if value > best:
            best, counts = value, choice
    upper = None if found.upper is None else max(best, moves.score.most(int(found.upper)))
    return best, counts, upper


def _two_values(table: EffectTable) -> Counter[Kind]:
    """Reading 3, two moves: a value is added and another of its class removed, if there is one."""
    for place, effect in enumerate(table.effects):
        opposite = table.effects.index(tuple(-number for number in effect))
        for kind in table.kinds[place]:
            for other in table.kinds[opposite]:
                if kind.change != {output: -n for output, n in other.change.items()}:
                    return Counter({kind: 1, other: 1})
    return Counter()


def _general(
    moves: Moves,
    table: EffectTable,
    best: int,
    counts: Counter[Kind],
    time_limit: float | None,
    on_best: OnBest | None,
) -> Found:
    """Each irreducible multiset that could beat the best is turned into moves, exactly."""
    deadline = None if time_limit is None else now() + time_limit
    symmetries: list[list[int]] = []
    joined = straight_kinds(moves)
    if joined is not None and table.widest == len(table.effects):  # else each part is alone
        symmetries = symmetries_of(joined, table.effects, end=_part_of(deadline))

    def worth(multiset: Multiset, known: int) -> tuple[int, Counter[Kind]]:
        groups = table.groups(multiset)
        if bound_of(groups) <= known:
            return known, counts
        return best_choice(groups, deadline=deadline)

    searched = _Searched(moves, worth, best, counts, on_best)
    return searched.run(table, table.weights, symmetries, deadline)


def _output_by_output(
    outputs: Outputs,
    moves: Moves,
    table: EffectTable,
    best: int,
    counts: Counter[Kind],
    time_limit: float | None,
    on_best: OnBest | None,
) -> Found:
    """In the norm linf: what is best for an output is best for each effect (`largest_output`)."""
    deadline = None if time_limit is None else now() + time_limit
    whole = table.widest == len(table.effects)  # else each part is alone
    symmetries = outputs.symmetries(end=_part_of(deadline)) if whole else []

    def worth(multiset: Multiset, known: int) -> tuple[int, Counter[Kind]]:
        value = outputs.worth(multiset)
        return value, outputs.choice(multiset) if value > known else counts

    searched = _Searched(moves, worth, best, counts, on_best)
    return searched.run(table, outputs.most, symmetries, deadline)


class _Searched:
    """A search for the multiset that is worth most.

    `worth` returns what a multiset is worth and the moves that make it, which count if it is more
    than is known.
    """

    def __init__(
        self,
        moves: Moves,
        worth: Callable[[Multiset, int], tuple[int, Counter[Kind]]],
        best: int,
        counts: Counter[Kind],
        on_best: OnBest | None,
    ) -> None:
        self.moves, self.worth, self.on_best = moves, worth, on_best
        self.best, self.counts = best, counts

    def run(
        self,
        table: EffectTable,
        weights: Sequence[int],
        symmetries: Sequence[Sequence[int]],
        deadline: float | None,
    ) -> Found:
        """Search until the deadline: what is found, its moves, and what no multiset exceeds."""
        left = None if deadline is None else max(0.0, deadline - now())
        upper = improved(
            table.effects, weights, self._evaluate, self.best, left, self.moves.score, symmetries
        )
        return self.best, self.counts, None if upper is None else max(self.best, upper)

    def _evaluate(self, multiset: Multiset) -> int:
        value, choice = self.worth(multiset, self.best)
        if value > self.best:
            self.best, self.counts = value, choice
            _tell(self.moves, value, choice, None, self.on_best)
        return value


def improved(
    effects: Sequence[Vector],
    weights: Sequence[int],
    evaluate: Callable[[Multiset], int],
    best: int,
    time_limit: float | None,
    score: Score,
    symmetries: Sequence[Sequence[int]] = (),
) -> int | None:
    """Search for irreducibles above `best`; return what bounds `evaluate` in the end.

    The search adds up lengths: a multiset beats a size only if its length is beyond what the size
    leaves room for (`Norm.within`). `symmetries` do not change what is evaluated (see `improve`).
    """

    def length(multiset: Multiset) -> int:
        return score.within(evaluate(multiset))

    try:
        found = improve(
            effects,
            weights,
            length,
            best=score.within(best),
            symmetries=symmetries,
            time_limit=time_limit,
        )
    except TimeoutError:  # in the middle of an evaluation: what is left is the theorem's bound
        found = longest(effects, weights, time_limit=0)
    return None if found.upper is None else score.most(int(found.upper))


def _part_of(deadline: float | None) -> float | None:
    """Return when a quarter of the time that is left is over."""
    return None if deadline is None else now() + (deadline - now()) / 4


def _tell(
    moves: Moves, best: int, counts: Counter[Kind], upper: int | None, on_best: OnBest | None
) -> None:
    """Report (scaled) bounds, with a checked witness, to whoever listens."""
    if on_best is not None:
        told = None if upper is None else moves.unscaled(upper)
        on_best(moves.unscaled(best), told, _witness(moves, counts) if best else None)


def _witness(moves: Moves, counts: Counter[Kind]) -> Pair:
    pair = moves.pair(counts, Counter())
    deadline = now() + CHECK_SECONDS
    require_pair(moves.setting, moves.reading, pair, deadline=deadline)
    return pair
