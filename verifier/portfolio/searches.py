"""How each engine is asked: what it needs is derived from the question, once for all of them."""

from __future__ import annotations

import random
import time
from collections.abc import Sequence
from dataclasses import replace
from math import floor
from typing import TYPE_CHECKING

from blowproof.models import BudgetError, Exact, QueryError
from blowproof.models.base.clock import now
from blowproof.models.norms import L1
from blowproof.models.policy.readings import is_labelled
from blowproof.verifier.asked.answer import Answer
from blowproof.verifier.asked.question import Question
from blowproof.verifier.databases.consistency import FactModel, size_range
from blowproof.verifier.databases.value_classes import class_table
from blowproof.verifier.engines.all_frames import bound_by_all_frames
from blowproof.verifier.engines.brute import brute_sensitivity, multisets_within
from blowproof.verifier.engines.histograms.loop import Known
from blowproof.verifier.engines.histograms.master import Master, histogram_sensitivity
from blowproof.verifier.engines.histograms.numbered import numbered_sensitivity
from blowproof.verifier.engines.irreducibles import longest, longest_bound
from blowproof.verifier.engines.search.effects import SEARCH_EFFECTS
from blowproof.verifier.engines.search.engine import (
    CHECK_SECONDS,
    longest_moves,
    multiset_sensitivity,
)
from blowproof.verifier.limits.limit import real_limit, whole_limit
from blowproof.verifier.moves.kinds import Moves
from blowproof.verifier.neighbours.check import check_pair
from blowproof.verifier.reductions.complete_graph import secret_move_within_a_class
from blowproof.verifier.reductions.few_values import Core, reduce_values
from blowproof.verifier.theorems.conformal_parts import conformal_table, parts_of
from blowproof.verifier.theorems.most_moves import ceiling
from blowproof.verifier.witnesses.frames.long_circuits import long_circuits

if TYPE_CHECKING:
    from blowproof.verifier.engines.policy_graph.graph import PolicyGraphBound

__all__ = [
    "by_brute_force",
    "by_ceiling",
    "by_circuits",
    "by_hilbert",
    "by_ilp",
    "by_policy_graph",
    "by_sat",
    "by_search",
]

SPARSE_SECONDS = real_limit(__name__, "SPARSE_SECONDS")
LARGE = whole_limit(__name__, "LARGE")
LENGTH_SECONDS = real_limit(__name__, "LENGTH_SECONDS")


def _core(question: Question) -> Core:
    setting, query, reading = question.setting, question.query, question.reading
    return reduce_values(setting, query, reading, deadline=question.by(1 / 2))


def _moves(question: Question, core: Core) -> Moves:
    setting, query, reading = question.setting, question.query, question.reading
    return core.moves(setting, query, reading, seed=question.seed, deadline=question.by(1 / 2))


def by_brute_force(question: Question) -> Answer:
    """Return what every database says, by the definition."""
    setting, reading = question.setting, question.reading
    low, high = size_range(setting, reading)
    records = question.query.records
    if records is not None and setting.scope == "any":
        low = high = records
    complete = high is not None
    if high is None:
        high = question.max_size
    if high is None:
        high = max(low, multisets_within(setting))
    while True:
        try:
            return brute_sensitivity(
                setting,
                question.query,
                reading,
                sizes=range(low, high + 1),
                complete=complete,
                deadline=question.deadline,
            )
        except BudgetError:
            if complete or high <= low:
                raise
            high -= 1  # a lower bound from smaller databases is better than none


def by_circuits(question: Question) -> None:
    """Tell of pairs that are long circuits, and then, where classes are few, of how long the
    longest are.
    """
    long_circuits(question)
    bound_by_all_frames(question)


def by_ilp(question: Question) -> Answer:
    """Return what histograms and moves say: propose, refute, cut."""
    clauses = bool(question.setting.clauses)
    core = _core(question)
    moves = _moves(question, core)
    most, proved, note = _most(question, moves)
    solve = numbered_sensitivity if clauses else histogram_sensitivity
    found = solve(
        moves,
        Known(question.known, (core.reason, note)),
        most=most,
        deadline=question.deadline,
        on_best=question.teller("proposing and refuting pairs"),
    )
    if proved and core.enough:
        return found
    upper = moves.unscaled(Master(moves, most=most).bound()) if proved else None
    return replace(found, upper=upper, status="exact" if upper == found.lower else "bounds")


def _most(question: Question, moves: Moves) -> tuple[int, bool, str]:
    """Return how many records D1 holds or move at the most, whether that is proved, and why.

    In readings 3 and 4 n need not be bounded. D2 is D1 with at most so many moves (in reading 3 by
    `parts_of`), and if any D1 allows these moves, then one of no more records than
    `Room.records_for` does. The moves alone decide the change. In reading 4 nothing is minimal. In
    reading 3, each part of the moves that keeps the equalities breaks some end of a bound: that is
    one more number for its row, no further from the fact's own than what the moves count; of all
    numbers for one row only the tightest matter, so there are no more rows than the facts have.
    """
    if question.reading == "markov" and question.setting.scope == "any":
        return 4, True, "reading 4 has at most four moves"
    if question.setting.scope == "given":
        _, high = size_range(question.setting, question.reading)
        if high is None:
            most = 4 if question.reading == "markov" else _most_moves(question, moves)
            enough = FactModel.of(question.setting).room.records_for(most)
            note = f"a D1 of {enough} records has room for any {most} moves"
            # That a D3 has no numbering bounds sums of counts that no fact speaks of.
            known = question.reading == "markov" or not question.setting.clauses
            if known and enough <= LARGE:
                return enough, True, note
            return min(enough, LARGE), False, f"D1 up to {min(enough, LARGE)}"
        return high, True, f"n is at most {high}"
    longest, proved = longest_moves(moves, question.left)
    return longest, proved, f"at most {longest} records move at once"


def _most_moves(question: Question, moves: Moves) -> int:
    """Return how many moves a pair of reading 3 makes at the most, where clauses are not known."""
    parts = parts_of(question.setting, question.reading)
    assert parts is not None
    table = conformal_table(moves, parts.rows)
    if not table.effects:
        return parts.most
    if table.widest > SEARCH_EFFECTS:
        return parts.most * longest_bound(table.effects)
    found = longest(table.effects, time_limit=LENGTH_SECONDS)
    length = longest_bound(table.effects) if found.upper is None else int(found.upper)
    return parts.most * max(1, length)


def by_sat(question: Question) -> Answer:
    """Return what labelled records say: propose, refute, cut."""
    from blowproof.verifier.engines.labelled.engine import labelled_sensitivity

    try:
        core = _core(question)
        values = core.values if core.enough else None
    except BudgetError:
        values = None
    sizes, complete, note = _sizes(question)
    if values is not None and question.seed:
        values = tuple(random.Random(question.seed).sample(values, len(values)))
    found = labelled_sensitivity(
        question.setting,
        question.query,
        question.reading,
        time_limit=question.left,
        listener=question.listener,
        values=values,
        known=question.known,
        sizes=sizes,
        complete=complete,
    )
    return replace(found, notes=(*found.notes, *note))


def _sizes(question: Question) -> tuple[Sequence[int] | None, bool, tuple[str, ...]]:
    """Return the n that labelled records are looked at for (None: the known one), and whether no
    other n matters.

    Under scope "any" a weighted sum has as many records as weights. Else a pair makes at most L
    moves, and its worst D1 holds nothing but the records that move. Where D3 makes moves of D2 only
    (readings 2 and 5, or a complete G), records that stay refute nothing, so that n = L shows all
    pairs; else every n up to L is looked at.
    """
    if question.setting.scope == "given":
        return None, False, ()
    if question.query.records is not None:
        return [question.query.records], True, ()
    quarter = None if question.left is None else question.left / 4
    longest, proved = longest_moves(_moves(question, _core(question)), quarter)
    note = (f"at most {longest} records move at once",) if proved else ()
    alone = question.reading != "published" or question.setting.graph.complete
    return (longest,) if alone else range(1, longest + 1), proved, note


def by_ceiling(question: Question) -> Answer | None:
    """Return the least of the bounds that theorems give for the number of moves."""
    top = ceiling(question)
    return None if top is None else question.answer(0, top.value, top.why, engine="ceiling")


def by_search(question: Question) -> Answer | None:
    """Return the worst irreducible multiset of moves.

    In reading 1, other G, another strategy asks it for the complete graph; for given numbers, one
    asks it for any.
    """
    most = _sparse_bound(question)
    core = _core(question)
    moves = _moves(question, core)
    lower, _ = question.known()
    return multiset_sensitivity(
        moves,
        time_limit=question.left,
        on_best=question.teller("searching irreducible multisets"),
        notes=(core.reason, *((f"sparse: at most {most.upper} records move",) if most else ())),
        enough=core.enough,
        most=None if most is None else most.upper,
        known=floor(lower * moves.scale),
    )


def by_hilbert(question: Question) -> Answer:
    """Return the worst element of a Hilbert basis."""
    from blowproof.verifier.engines.hilbert import hilbert_sensitivity

    core = _core(question)
    if not core.enough:
        raise QueryError("engine hilbert needs a small domain here\n  try: --engine search")
    moves = _moves(question, core)
    return hilbert_sensitivity(moves, time_limit=question.left, notes=(core.reason,))


def by_policy_graph(question: Question) -> Answer | None:
    """Sparse: S(h, P) is at most twice the length of the policy graph's longest cycle or path.

    This is made into moves, one secret pair for each arc. None where the facts are not sparse.
    In other norms: no two moves of a simple cycle or path lower the same count, and one at the most
    lowers none; so a value in k counts is left by no more than k + 1 moves, and entered by as many.
    """
    from blowproof.verifier.witnesses.policy_graph_walk import pair_along

    start = time.perf_counter()
    most = _sparse_bound(question)
    if most is None:
        return None
    pair = pair_along(question.setting.policy, most, deadline=question.by(1 / 2))
    if pair is not None:
        end = now() + CHECK_SECONDS
        verdict = check_pair(question.setting, question.reading, pair, deadline=end)
        # A simple cycle is minimal, whether or not the checker has the time to try all its parts.
        pair = pair if verdict or verdict.minimality == "budget" else None
    if pair is None:
        pair = secret_move_within_a_class(question.setting, question.query)
    lower = 0 if pair is None else question.query.difference(pair.moves(question.reading))
    why = f"sparse: at most {most.upper} records move"
    measure = question.query.measure
    upper: Exact = 2 * most.upper
    if measure is not L1:
        counted = class_table(question.setting).effects != 0
        each = max(1, min(most.upper, 1 + int(counted.sum(axis=1).max(initial=0))))
        cells = [each] * (most.upper // each) + [most.upper % each]
        upper = measure.of([(sign * times, 1) for sign in (1, -1) for times in cells] + [(0, 1)])
    return question.answer(lower, upper, why, witness=pair if lower else None, since=start)


def _sparse_bound(question: Question) -> PolicyGraphBound | None:
    """Return how many records can change at once by the policy graph, where that is a theorem.

    For a sparse policy with equality counts, irreducible multisets of secret moves are simple
    cycles and paths of the policy graph (`policy_graph_bound`): reading 2, or 1 with a complete G.
    """
    if not is_labelled(question.reading):
        return None
    return question.setting.kept.get("sparse bound", lambda: _sparse_bound_of(question))


def _sparse_bound_of(question: Question) -> PolicyGraphBound | None:
    from blowproof.verifier.databases.sparsity import sparse
    from blowproof.verifier.engines.policy_graph.graph import policy_graph_bound

    policy = question.setting.policy
    if not question.setting.as_listed:
        return None  # it knows a bound that is an equality in truth, or a fact of another group
    try:
        left = question.left
        limit = SPARSE_SECONDS if left is None else min(SPARSE_SECONDS, left / 4)
        begun = now()
        found = sparse(policy, deadline=begun + limit)
        if not found.sparse:
            return None
        limit = max(0.0, limit - (now() - begun))
        return policy_graph_bound(policy, found=found, time_limit=limit)
    except BudgetError:
        return None
