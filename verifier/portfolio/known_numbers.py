"""Scope "given": what theorems say about the parts of a pair, and databases tried one by one.

Upper bounds come from the theorems of `conformal_parts` and `merged_records`, and from n. Lower
bounds come from irreducible multisets put into databases with the known numbers, and from secret
moves that plain ones must compensate for (`compensated_move`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from blowproof.models.policy.readings import is_labelled, is_mixed
from blowproof.verifier.asked.answer import Answer, Pair
from blowproof.verifier.asked.question import Question
from blowproof.verifier.databases.consistency import size_range
from blowproof.verifier.engines.irreducibles import circuits_lower_bound, longest
from blowproof.verifier.engines.search.effects import SEARCH_EFFECTS, EffectTable, table_bound
from blowproof.verifier.limits.limit import real_limit
from blowproof.verifier.moves.kinds import Moves
from blowproof.verifier.portfolio.refusals import mixed
from blowproof.verifier.reductions.complete_graph import complete_setting
from blowproof.verifier.reductions.few_values import reduce_values
from blowproof.verifier.reductions.merged_records import merged_rows
from blowproof.verifier.theorems.conformal_parts import (
    Parts,
    conformal_table,
    other_parts_of,
    parts_of,
)
from blowproof.verifier.witnesses.compensated_move import best_compensated
from blowproof.verifier.witnesses.into_databases import given_sensitivity
from blowproof.verifier.witnesses.merged_pairs import merged_bounds, merged_pair
from blowproof.verifier.witnesses.one_secret_move import OneSecret, best_with_one_secret

__all__ = [
    "by_compensating",
    "by_merged_pairs",
    "by_merging",
    "by_one_secret_move",
    "by_parts",
    "by_placing",
]

PATIENCE = real_limit(__name__, "PATIENCE")
MERGING = real_limit(__name__, "MERGING")


class _Free(NamedTuple):
    """Moves over representatives: in readings 1 and 5 all moves, whatever G is.

    `enough`: they show every change of the query that there is.
    """

    moves: Moves
    enough: bool


def _free(question: Question) -> _Free:
    setting, query, reading = question.setting, question.query, question.reading
    free = setting
    if is_mixed(reading):
        free, reading = complete_setting(setting), "published"
    core = reduce_values(free, query, reading, deadline=question.by(1 / 2))
    moves = core.moves(free, query, reading, seed=question.seed, deadline=question.by(1 / 2))
    return _Free(moves, core.enough)


def _table(moves: Moves, rows: Sequence[int]) -> EffectTable:
    """Return the effects on the equalities and on these rows of bounds, with slack."""
    if not rows:
        return EffectTable.of(moves)
    return moves.kept.get(("conformal", *rows), lambda: conformal_table(moves, rows))


def _seconds(question: Question, patience: float = PATIENCE) -> float:
    """Return what is left of the time, or the patience where no limit is set."""
    return patience if question.left is None else question.left


def _above(question: Question, moves: Moves) -> int:
    """Return the (scaled) change that only better pairs count beyond."""
    return int(question.known()[0] * moves.scale)


def _teller(question: Question, moves: Moves, what: str) -> Callable[[int, Pair], None]:
    """Return what is called with better (scaled) changes and their pairs."""
    tell = question.teller(what)
    return lambda value, pair: tell(moves.unscaled(value), None, pair)


def by_parts(question: Question) -> Answer | None:
    """Bound S by so many parts, each no heavier than the heaviest irreducible multiset."""
    setting, reading = question.setting, question.reading
    moves, _ = _free(question)
    cap = _by_size(question, moves)
    found, notes = cap, []
    most = moves.score.most  # lengths add up; sizes need not
    for parts in (other_parts_of(setting, reading), parts_of(setting, reading)):
        if parts is None:
            continue
        table = _table(moves, parts.rows)
        upper = parts.most * _heaviest(question, table, parts, cap)
        found = upper if found is None else min(found, upper)
        what = "irreducible" if not parts.rows else f"conformal in {len(parts.rows)} bounds"
        notes.append(f"at most {parts.most} parts, {what}; {len(table.effects)} effects")
        question.teller("parts of a pair")(0, moves.unscaled(most(found)), None)
    return None if found is None else question.answer(0, moves.unscaled(most(found)), *notes)


def _by_size(question: Question, moves: Moves) -> int | None:
    """The length of n moves, each the largest (reading 3: n records removed and n added)."""
    _, high = size_range(question.setting, question.reading)
    if high is None:
        return None
    times = high if is_labelled(question.reading) else 2 * high
    return times * max((kind.length for kind in moves.kinds), default=0)


def _heaviest(question: Question, table: EffectTable, parts: Parts, cap: int | None) -> int:
    """Return a bound on the length of an irreducible multiset of the table's effects."""
    idle = max((kind.length for kind in table.idle), default=0)
    if not table.effects:
        return idle
    weight, _ = circuits_lower_bound(table.effects, table.weights, seed=question.seed)
    if cap is not None and parts.most * weight >= cap:
        return max(idle, int(weight))  # no search could say more than n does
    if table.widest > SEARCH_EFFECTS:
        return max(idle, table_bound(table))
    found = longest(table.effects, table.weights, time_limit=_seconds(question))
    return max(idle, table_bound(table) if found.upper is None else int(found.upper))


def by_placing(question: Question) -> Answer | None:
    """Put each irreducible multiset that could be worse into databases with the numbers.

    Where moves may be secret or plain, that is for `by_one_secret_move`.
    """
    setting, reading = question.setting, question.reading
    parts = parts_of(setting, reading)
    assert parts is not None
    moves, enough = _free(question)
    size = setting.size if is_labelled(reading) else None
    best, pair, bound = given_sensitivity(
        moves,
        size=size,
        lower=_above(question, moves),
        time_limit=_seconds(question) if setting.bounds else question.left,
        table=_table(moves, parts.rows),
    )
    upper = moves.unscaled(bound) if bound is not None and enough else None
    return question.answer(0 if pair is None else moves.unscaled(best), upper, witness=pair)


def by_one_secret_move(question: Question) -> Answer | None:
    """Reading 1, other G: try irreducible multisets as one secret move and plain ones.

    First those for the equalities alone, no part of which keeps these; then the others.
    """
    setting, query = question.setting, question.query
    moves, _ = _free(question)
    for rows in dict.fromkeys(((), tuple(range(len(setting.bounds))))):
        table = _table(moves, rows)
        if table.widest <= SEARCH_EFFECTS:
            best_with_one_secret(
                OneSecret(setting, query, moves, table),
                above=_above(question, moves),
                seconds=_seconds(question),
                on_best=_teller(question, moves, "one secret move, the others plain"),
            )
    return None


def by_merging(question: Question) -> Answer | None:
    """Clauses: their records merged into one move, then put into databases."""
    moves, enough = _free(question)
    rows = merged_rows(question.setting, question.reading)
    assert rows is not None
    _, upper = question.known()
    found = merged_bounds(
        question.setting,
        moves,
        rows,
        lower=_above(question, moves),
        ceiling=None if upper is None else int(upper * moves.scale),
        enough=enough,
        seconds=_seconds(question, MERGING),
    )
    most = None if found.upper is None else moves.unscaled(found.upper)
    return question.answer(0, most, found.note, witness=found.pair)


def by_merged_pairs(question: Question) -> Answer | None:
    """Reading 1, other G, clauses: the same with one secret move."""
    moves, _ = _free(question)
    rows = merged_rows(question.setting, question.reading)
    assert rows is not None
    _, pair = merged_pair(
        question.setting,
        moves,
        rows,
        lower=_above(question, moves),
        seconds=_seconds(question),
    )
    return None if pair is None else question.answer(0, None, witness=pair)


def by_compensating(question: Question) -> Answer | None:
    """Reading 1, other G: one secret move for which plain ones must compensate."""
    moves, _ = _free(question)
    assert mixed(question)
    best_compensated(
        OneSecret(question.setting, question.query, moves, EffectTable.of(moves)),
        above=_above(question, moves),
        seconds=_seconds(question),
        on_best=_teller(question, moves, "secret moves that plain ones compensate for"),
    )
    return None
