"""From an easier question to a harder one: bounds that often meet.

* scope "given" from scope "any": the worst pair is put into a database with the known numbers
  (`embedded`);
* readings 1 and 5 with some G from the complete graph: one secret move, the others plain
  (`relaxed`);
* sparse policies: the policy graph bounds how many records move (`sparse_bound`).

What the bounds leave open is for other engines, in their own turns.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from blowproof.models import BudgetError, Exact
from blowproof.models.base.clock import now
from blowproof.models.policy.policy import LABELLED, MIXED
from blowproof.verifier.asked.answer import Answer, Pair
from blowproof.verifier.asked.question import Question
from blowproof.verifier.engines.histograms.master import Master
from blowproof.verifier.engines.search.engine import CHECK_SECONDS, SEARCH_EFFECTS, EffectTable
from blowproof.verifier.engines.search.with_a_secret import best_with_a_secret
from blowproof.verifier.moves.kinds import Moves
from blowproof.verifier.neighbours.check import check_pair, require_pair
from blowproof.verifier.reductions.complete_graph import (
    complete_setting,
    has_secret_move,
    one_secret_move,
    secret_move_within_a_class,
    with_a_secret_effect,
)
from blowproof.verifier.reductions.few_values import reduce_values
from blowproof.verifier.reductions.fewer_facts import freed
from blowproof.verifier.reductions.given_numbers import embed
from blowproof.verifier.witnesses.into_databases import given_sensitivity
from blowproof.verifier.witnesses.one_secret_move import OneSecret, best_with_one_secret

if TYPE_CHECKING:
    from blowproof.verifier.engines.policy_graph.graph import PolicyGraphBound

__all__ = ["bounded_by_graph", "embedded", "relaxable", "relaxed", "sparse_bound"]

PLACING_SECONDS = 30.0
"""How long multisets are put into databases, where no time limit is set."""

SPARSE_SECONDS = 10.0
"""How long the longest cycle and path of a policy graph may take before other engines go on."""

Ask = Callable[[Question], Answer]


def embedded(question: Question, search: Ask) -> Answer:
    """Scope given: bounded by scope any, and met where the worst pair fits into a database."""
    start = time.perf_counter()
    half = None if question.deadline is None else now() + (question.left or 0) / 2
    free = freed(question.setting)
    easier = search(question.about(free, half, above=True))
    pair = easier.witness
    if pair is not None:
        pair = embed(question.setting, pair, time_limit=question.left)
    if pair is not None:
        verdict = check_pair(question.setting, question.reading, pair)
        # Records that stay may compensate plainly where several make secret moves.
        unsearched = verdict.minimality == "budget" and question.irreducible
        pair = pair if verdict or unsearched else None
    found = replace(
        easier,
        answers="given",
        lower=easier.lower if pair is not None else 0,
        witness=pair,
        status="bounds",
        notes=(*easier.notes, "bounds: S for any answers; the worst pair is put into a database"),
    )
    question.teller("trying every multiset")(found.lower, found.upper, found.witness)
    if found.lower != found.upper:
        found = _every_multiset(question, found) if question.irreducible else found
    mixed = question.reading in MIXED and not question.irreducible
    if found.lower != found.upper and mixed:
        found = _placed(question, found)
    exact = found.lower == found.upper
    return replace(
        found, status="exact" if exact else "bounds", seconds=time.perf_counter() - start
    )


def _placed(question: Question, found: Answer) -> Answer:
    """Reading 1, other G: put irreducible multisets into databases, one of their moves secret."""
    setting, query = question.setting, question.query
    free = complete_setting(setting)
    try:
        core = reduce_values(free, query, "published")
        moves = Moves.over(
            free, query, "published", core.values, seed=question.seed, deadline=question.by(1 / 2)
        )
        table = EffectTable.of(moves)
    except BudgetError:
        return found
    if table.widest > SEARCH_EFFECTS or question.left == 0:
        return found
    seconds = PLACING_SECONDS if question.left is None else question.left / 2
    better: list[tuple[int, Pair]] = []
    best_with_one_secret(
        OneSecret(setting, query, moves, table),
        above=int(found.lower * moves.scale),
        seconds=seconds,
        on_best=lambda value, pair: better.append((value, pair)),
    )
    if not better:
        return found
    return replace(found, lower=moves.unscaled(better[-1][0]), witness=better[-1][1])


def _every_multiset(question: Question, found: Answer) -> Answer:
    """Try each irreducible multiset on the databases with the known numbers."""
    setting, query, reading = question.setting, question.query, question.reading
    core = reduce_values(setting, query, reading, deadline=question.by(1 / 2))
    moves = Moves.over(
        setting, query, reading, core.values, seed=question.seed, deadline=question.by(1 / 2)
    )
    scaled = int(found.lower * moves.scale)
    if question.reading in LABELLED and question.setting.size is not None and core.enough:
        most = Master(moves, most=question.setting.size).bound()  # n moves, each the largest
        found = _capped(found, moves.unscaled(most))
    if found.lower == found.upper:
        return found
    size = question.setting.size if question.reading in LABELLED else None
    best, pair, bound = given_sensitivity(moves, size=size, lower=scaled, time_limit=question.left)
    if pair is not None:
        require_pair(question.setting, question.reading, pair)
        found = replace(found, lower=moves.unscaled(best), witness=pair)
    if bound is not None and core.enough:
        found = _capped(found, moves.unscaled(bound))
    return found


def relaxable(question: Question) -> bool:
    """Whether the complete graph bounds the answer: readings 1 and 5, scope any, another G."""
    setting = question.setting
    return (
        question.reading in MIXED
        and setting.scope == "any"
        and not setting.graph.complete
        and not question.query.per_record
    )


def relaxed(question: Question, search: Ask) -> Answer:
    """Bound by the complete graph, and try to meet the bound."""
    setting, query = question.setting, question.query
    start = time.perf_counter()
    if not has_secret_move(setting):
        return question.answer(0, 0, "no two possible values are joined in G", since=start)
    half = None if question.deadline is None else now() + (question.left or 0) / 2
    easier = search(question.about(complete_setting(setting), half, above=True))
    pair = one_secret_move(setting, query, easier, question.deadline)
    if pair is None or not query.difference(pair.moves("published")):
        pair = secret_move_within_a_class(setting, query)
    lower = query.difference(pair.moves("published")) if pair is not None else 0
    notes = (*easier.notes, "upper bound: S for the complete graph")
    found = replace(
        easier, lower=lower, witness=pair if lower else None, notes=notes, status="bounds"
    )
    question.teller("checking every D3")(found.lower, found.upper, found.witness)
    if found.lower != found.upper and question.left != 0:
        found = _with_secret_effect(question, found)
    if found.lower != found.upper and question.left != 0 and question.reading == "pufferfish":
        found = _every_move(question, found)
    exact = found.lower == found.upper
    return replace(
        found, status="exact" if exact else "bounds", seconds=time.perf_counter() - start
    )


def _with_secret_effect(question: Question, found: Answer) -> Answer:
    """Tighten bounds: only multisets count that contain the effect of some secret move."""
    setting, query = question.setting, question.query
    free = complete_setting(setting)
    core = reduce_values(free, query, "published")
    moves = Moves.over(free, query, "published", core.values, deadline=question.by(1 / 2))
    half = None if question.left is None else question.left / 2
    bound, witness = with_a_secret_effect(
        setting, moves, best=int(found.lower * moves.scale), time_limit=half
    )
    if bound is not None:
        found = _capped(found, moves.unscaled(bound))
    wanted = replace(found, witness=witness)
    pair = one_secret_move(setting, query, wanted, question.deadline)
    if pair is not None and query.difference(pair.moves("published")) > found.lower:
        found = replace(found, lower=query.difference(pair.moves("published")), witness=pair)
    return found


def _every_move(question: Question, found: Answer) -> Answer:
    """Reading 5: search the irreducible multisets over all moves that have a secret one."""
    setting, query, reading = question.setting, question.query, question.reading
    try:
        core = reduce_values(setting, query, reading, deadline=question.by(1 / 2))
        moves = Moves.over(
            setting, query, reading, core.values, seed=question.seed, deadline=question.by(1 / 2)
        )
        best, counts, ended = best_with_a_secret(
            moves, best=int(found.lower * moves.scale), time_limit=question.left
        )
    except BudgetError as refusal:
        return replace(found, notes=(*found.notes, str(refusal).partition("\n")[0]))
    if counts is not None:
        pair = moves.pair(counts, Counter())
        require_pair(setting, reading, pair)
        found = replace(found, lower=moves.unscaled(best), witness=pair)
    return _capped(found, moves.unscaled(best)) if ended and core.enough else found


def _capped(found: Answer, upper: Exact) -> Answer:
    """Return an answer with one more upper bound."""
    return replace(found, upper=upper if found.upper is None else min(upper, found.upper))


def sparse_bound(question: Question) -> PolicyGraphBound | None:
    """Return how many records can change at once by the policy graph, where that is a theorem.

    For a sparse policy with equality counts, irreducible multisets of secret moves are simple
    cycles and paths of the policy graph (`policy_graph_bound`): reading 2, or 1 with a complete G.
    """
    from blowproof.verifier.databases.sparsity import sparse
    from blowproof.verifier.engines.policy_graph.graph import policy_graph_bound

    if question.reading not in LABELLED:
        return None
    policy = question.setting.policy
    listed = {fact.name for fact in policy.linear_facts if not fact.bounded} | {"size"}
    if not listed.issuperset(fact.name for fact in question.setting.equalities):
        return None  # a bound that is an equality in truth is none to the policy graph
    try:
        if not sparse(policy).sparse:
            return None
        left = question.left
        limit = SPARSE_SECONDS if left is None else min(SPARSE_SECONDS, left / 4)
        return policy_graph_bound(policy, time_limit=limit)
    except BudgetError:
        return None


def bounded_by_graph(question: Question, most: PolicyGraphBound) -> Answer:
    """Sparse: S(h, P) is at most twice the length of the policy graph's longest cycle or path.

    This is made into moves, one secret pair for each arc.
    """
    from blowproof.verifier.witnesses.policy_graph_walk import pair_along

    start = time.perf_counter()
    pair = pair_along(question.setting.policy, most)
    if pair is not None:
        end = now() + CHECK_SECONDS
        verdict = check_pair(question.setting, question.reading, pair, deadline=end)
        # A simple cycle is minimal, whether or not the checker has the time to try all its parts.
        pair = pair if verdict or verdict.minimality == "budget" else None
    if pair is None:
        pair = secret_move_within_a_class(question.setting, question.query)
    lower = 0 if pair is None else question.query.difference(pair.moves(question.reading))
    found = question.answer(0, 0, f"sparse: at most {most.upper} records move", since=start)
    return replace(
        found,
        lower=lower,
        upper=2 * most.upper,
        status="exact" if lower == 2 * most.upper else "bounds",
        witness=pair if lower else None,
    )
