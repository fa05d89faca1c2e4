"""Easier questions: which one, what its bounds say, and how a pair comes back.

* scope "given" from scope "any": the worst pair is put into a database with the known numbers;
* clauses left out: the worst pair's records are numbered so that the clauses hold;
* readings 1 and 5 with some G from the complete graph: one secret move, the others plain.

What they leave open is for other strategies, in their own turns.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from blowproof.models import Exact
from blowproof.models.policy.readings import is_labelled
from blowproof.verifier.asked.answer import Answer, Pair
from blowproof.verifier.asked.question import Question
from blowproof.verifier.engines.search.with_a_secret import best_with_a_secret
from blowproof.verifier.moves.kinds import Kind
from blowproof.verifier.neighbours.check import check_pair
from blowproof.verifier.portfolio.refusals import mixed
from blowproof.verifier.portfolio.strategy import Reduction
from blowproof.verifier.reductions.by_ends import by_ends
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
from blowproof.verifier.reductions.without_clauses import labelled_pair, without_clauses
from blowproof.verifier.theorems.beside_bounds import known_parts
from blowproof.verifier.theorems.conformal_parts import Parts, parts_of
from blowproof.verifier.witnesses.revalued import revalued

__all__ = [
    "ANY_ANSWERS",
    "COMPLETE_GRAPH",
    "READING_1",
    "WITHOUT_CLAUSES",
    "by_class_ends",
    "nothing_secret",
    "with_a_secret",
    "with_secret_effects",
]


def _free(question: Question) -> Question:
    return replace(question, setting=freed(question.setting))


def _with_numbers(question: Question, found: Answer) -> Pair | None:
    """Put the worst pair for any answers into a database with the known numbers."""
    assert found.witness is not None
    return embed(question.setting, found.witness, time_limit=question.left)


def _above_any(question: Question, upper: Exact) -> Exact | None:
    """Fewer databases have fewer pairs. With bounds others may be worse (`given_numbers`), unless a
    theorem says that a pair is so many multisets of the equalities alone.
    """
    setting = question.setting
    if not setting.bounds:
        return upper
    if question.reading == "pufferfish":
        return None
    told = [parts_of(setting, question.reading)]
    if not setting.clauses and told != [Parts((), 1)]:
        told += known_parts(question)
    return upper if Parts((), 1) in told else None


ANY_ANSWERS = Reduction(_free, _with_numbers, _above_any)
"""Scope "given", no clauses: the same equalities for any answers, and no bounds."""


def _bare(question: Question) -> Question:
    return replace(question, setting=without_clauses(question.setting))


def _numbered(question: Question, found: Answer) -> Pair | None:
    """Return the moves of a pair in databases that satisfy the clauses (in D1, at least)."""
    setting, pair = question.setting, found.witness
    assert pair is not None
    if is_labelled(question.reading):
        return labelled_pair(setting, pair, time_limit=question.left, seed=question.seed)
    return embed(setting, pair, time_limit=question.left)


def _above_bare(question: Question, upper: Exact) -> Exact | None:
    """So many parts, each no worse than the worst pair without the clauses."""
    parts = parts_of(question.setting, question.reading)
    if question.reading == "pufferfish":
        return None
    if parts is None:  # reading 4: without minimality, fewer databases have fewer pairs
        return upper
    if mixed(question) or question.setting.bounds:
        return None
    return question.query.measure.repeated(upper, parts.most)


WITHOUT_CLAUSES = Reduction(_bare, _numbered, _above_bare)
"""The same facts without the clauses."""


def _complete(question: Question) -> Question | None:
    return replace(question, setting=complete_setting(question.setting))


def _reading_1(question: Question) -> Question | None:
    return replace(question, reading="published")


READING_1 = Reduction(
    _reading_1, lambda question, found: found.witness, lambda question, upper: None
)
"""Reading 5: a pair of reading 1 is one, whatever the facts (see `problem.travelled`)."""


def _one_secret(question: Question, found: Answer) -> Pair | None:
    """Make one of the worst pair's moves along an edge of G, and the others plain."""
    return one_secret_move(question.setting, question.query, found, question.deadline)


COMPLETE_GRAPH = Reduction(_complete, _one_secret, lambda question, upper: upper)
"""Readings 1 and 5, scope "any", other G: full secrets (`reductions.complete_graph`)."""


def nothing_secret(question: Question) -> Answer | None:
    """Return 0 where no two possible values are joined in G, else None."""
    if has_secret_move(question.setting):
        return None
    return question.answer(0, 0, "no two possible values are joined in G")


def with_secret_effects(question: Question) -> Answer | None:
    """Readings 1 and 5, scope "any", other G: only multisets with a secret move's effect count."""
    setting, query = question.setting, question.query
    within = secret_move_within_a_class(setting, query)
    if within is not None:
        question.teller("a secret move that no fact notices")(0, None, within)
    free = complete_setting(setting)
    core = reduce_values(free, query, "published", deadline=question.by(1 / 2))
    moves = core.moves(free, query, "published", seed=question.seed, deadline=question.by(1 / 2))
    lower, _ = question.known()
    half = None if question.left is None else question.left / 2
    bound, witness = with_a_secret_effect(
        setting, moves, best=int(lower * moves.scale), time_limit=half
    )
    upper = None if bound is None or not core.enough else moves.unscaled(bound)
    wanted = question.answer(0, upper, witness=witness)
    pair = one_secret_move(setting, query, wanted, question.deadline)
    return question.answer(0, upper, witness=pair)


def with_a_secret(question: Question) -> Answer | None:
    """Reading 5: search the irreducible multisets over all moves that have a secret one."""
    setting, query, reading = question.setting, question.query, question.reading
    core = reduce_values(setting, query, reading, deadline=question.by(1 / 2))
    moves = core.moves(setting, query, reading, seed=question.seed, deadline=question.by(1 / 2))
    lower, _ = question.known()
    tell = question.teller("a secret move and all that it ties to itself")

    def better(value: int, counts: Counter[Kind]) -> None:
        tell(moves.unscaled(value), None, moves.pair(counts, Counter()))

    best, counts, ended = best_with_a_secret(
        moves, best=int(lower * moves.scale), time_limit=question.left, on_best=better
    )
    upper = moves.unscaled(best) if ended and core.enough else None
    pair = None if counts is None else moves.pair(counts, Counter())
    return question.answer(0, upper, witness=pair)


def by_class_ends(question: Question) -> Answer | None:
    """Bound cumulative counts by the ends of classes, and give the moves their best values."""
    found = by_ends(question)
    if found is None or found.witness is None:
        return found
    setting, query, reading = question.setting, question.query, question.reading
    pair = revalued(setting, query, reading, found.witness, end=question.by(1 / 2))
    if pair is None or not check_pair(setting, reading, pair, deadline=question.by(1 / 2)):
        return replace(found, witness=None)
    return replace(found, lower=query.difference(pair.moves(reading)), witness=pair)
