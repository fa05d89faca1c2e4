"""Cells and bounds beside them: how many moves a pair makes at the most, and pairs at two ends.

*Statement.* Scope "given", readings 1 and 2, equality facts, bounds, no clauses. Let the theorem of
`conformal_parts` say that a pair's moves are at most k parts, each of them irreducible for the
equalities and some rows of bounds, with slack. Then each part has at most L moves, L being the
bound of `beside` with these rows among the further facts.

*Proof.* A slack move changes no class, so that it is a loop on the classes of the base, with label
1 or -1 in its row, where no label is larger than w >= 1: an arc like others in the proof of
`beside`, which counts loops among arcs, and whose stages speak of parts of any kind. (Labels of
rows are not divided by what they have in common, since slack is not.) Parts that are conformal are
circulations whose labels are of one sign with that of slack; irreducible with slack is what the
proof uses, and slack only makes a part longer. QED.

Each part is a circulation on the base's classes, of no more cycles than `beside` says for one
irreducible, so that k parts leave a class no more than k times as often; what that many exchanges
change, `by_kind` and `in_norms` bound.

*Pairs at two ends.* Let one bound be at most p, another one at least q, and D1 meet both exactly.
Take moves that push both rows alike, irreducible for the equalities and the first of these rows. A
part of them that keeps the equalities pushes both rows by the same number, not 0: upwards it breaks
the first bound, downwards the second one. So no part leads into I_Q, and they are a pair.

Where there is one bound of one end and G is not complete, `lengths.one_end` says more.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from blowproof.models import BlowproofError, LinearFact, Setting
from blowproof.models.base.clock import now
from blowproof.models.norms import L1
from blowproof.models.policy.in_words import counted
from blowproof.verifier.asked.answer import Answer, Pair
from blowproof.verifier.asked.question import Question
from blowproof.verifier.databases.value_classes import ClassTable, class_table
from blowproof.verifier.limits.limit import real_limit, whole_limit
from blowproof.verifier.reductions.fewer_facts import loosened
from blowproof.verifier.theorems.beside import (
    Beside,
    beside,
    exchanged,
    free_change,
    groups_of,
    longest_beside,
    most_cycles,
)
from blowproof.verifier.theorems.beside_pairs import pair_beside
from blowproof.verifier.theorems.conformal_parts import Parts, all_parts_of
from blowproof.verifier.theorems.lengths.one_end import Cells, Crossed, one_end, past_one_end
from blowproof.verifier.theorems.lengths.priced_rows import by_prices
from blowproof.verifier.theorems.most_moves import largest_move

__all__ = ["beyond_one_end", "bounds_beside", "no_bounds_beside"]

SECONDS = real_limit(__name__, "SECONDS")
MOST_LEFT_OUT = whole_limit(__name__, "MOST_LEFT_OUT")


def no_bounds_beside(question: Question) -> str:
    """Return why the theorem does not speak about a question, or ""."""
    setting = question.setting
    if question.reading not in ("published", "secret-moves") or question.query.per_record:
        return "it speaks about readings 1 and 2, and sums of rows"
    if setting.clauses or not setting.bounds:
        return "it speaks about bounds, and no clauses"
    return ""


def bounds_beside(question: Question) -> Answer | None:
    """Return bounds on S(f, P) by the number of moves, where cells are known and bounds beside."""
    started = time.perf_counter()
    end = now() + (SECONDS if question.left is None else min(SECONDS, question.left / 3))
    try:
        setting = loosened(question.setting, deadline=end)
        question = replace(question, setting=setting)  # whose areas are those of the table
        parts = all_parts_of(setting, question.reading)
        table = class_table(setting, deadline=end)
        largest = largest_move(setting, question.query, question.reading)
    except (BlowproofError, OverflowError):
        return None
    lengths = _lengths(setting, table, parts[:MOST_LEFT_OUT])
    if not lengths or largest is None:
        return None
    most, part, found = min(lengths, key=lambda each: each[0])
    measure = question.query.measure
    free = free_change(question)
    change = largest if free is None else min(largest, free[2])
    why = (
        f"{counted(found.count, 'cell')}, {counted(len(found.widths), 'fact')} and bounds beside "
        f"them: at most {most} moves, each of which changes the query by at most {change}"
    )
    upper = measure.repeated(change, most)
    if measure is not L1 or free is None:
        left = min(part.most * most_cycles(found), most)
        fewer = exchanged(question, found, left, most, end)
        if fewer is not None and fewer < upper:
            upper = fewer
            why = why.partition(", each of which")[0] + f", and {left} out of one cell"
    kept = [(other.rows, longest) for longest, other, _ in lengths]
    priced = by_prices(question, table, found.home, kept, end)
    if priced is not None and priced < upper:
        upper = priced
        why = why.partition(", each of which")[0] + ", at a price for each and for what bounds see"
    pair, lower = None, question.query.difference(())
    for each in _pairs(question, setting):
        value = question.query.difference(each.moves(question.reading))
        if value > lower:
            pair, lower = each, value
    crossed = beyond_one_end(question, end)
    if crossed is not None and crossed.upper < upper:
        upper, why = crossed.upper, crossed.why
    if crossed is not None and crossed.pair is not None:
        value = question.query.difference(crossed.pair.moves(question.reading))
        if value > lower:
            pair, lower = crossed.pair, value
    return question.answer(lower, upper, why, witness=pair, engine="bounds", since=started)


def _lengths(
    setting: Setting, table: ClassTable, parts: Sequence[Parts]
) -> list[tuple[int, Parts, Beside]]:
    """Return how many moves there are at the most, by what is known of a pair's parts."""
    found = []
    for part in parts:
        cells = beside(table, groups_of(setting), part.rows)
        if cells is not None:
            found.append((part.most * longest_beside(cells), part, cells))
    return found


def beyond_one_end(question: Question, end: float) -> Crossed | None:
    """Return what `lengths.one_end` says, where there is time."""
    setting = question.setting
    if not one_end(question):
        return None
    try:
        table = class_table(setting, deadline=end)
        found = beside(table, groups_of(setting))
        if found is None:
            return None
        longest, cycles = longest_beside(found), most_cycles(found)
        cells = Cells(table, found.home, found.count, longest, cycles, not found.widths)
        along = largest_move(setting, question.query, "secret-moves")
        return past_one_end(question, cells, along, end)
    except (BlowproofError, TimeoutError, OverflowError):
        return None


def _pairs(question: Question, setting: Setting) -> Iterator[Pair]:
    """Yield pairs in databases that meet an upper end of one bound, and a lower end of another."""
    for above in setting.bounds:
        for below in setting.bounds:
            if above is not below and above.at_most is not None and below.at_least is not None:
                ends = (
                    LinearFact(name=above.name, terms=above.terms, answer=above.at_most),
                    LinearFact(name=below.name, terms=below.terms, answer=below.at_least),
                )
                others = tuple(fact for fact in setting.bounds if fact not in (above, below))
                try:
                    pair = _at_both(question, setting, ends, others)
                except (BlowproofError, OverflowError):
                    continue
                if pair is not None:
                    yield pair


def _at_both(
    question: Question,
    setting: Setting,
    ends: tuple[LinearFact, LinearFact],
    others: tuple[LinearFact, ...],
) -> Pair | None:
    """Return a pair whose moves push both rows alike."""
    count = len(setting.equalities)
    tight = replace(setting, equalities=(*setting.equalities, *ends), bounds=others)
    table = class_table(tight)
    alike = table.rows[:, count] == table.rows[:, count + 1]
    kept = replace(
        table,
        classes=tuple(c for c, same in zip(table.classes, alike.tolist(), strict=True) if same),
        rows=np.ascontiguousarray(table.rows[alike]),
    )
    known = [group for group in groups_of(tight) if max(group) < count]
    found: Beside | None = beside(replace(kept, equalities=count + 1), [*known, [count]])
    if found is None or len(found.widths) != 1 or count in found.base:
        return None
    return pair_beside(replace(question, setting=tight), found, None)
