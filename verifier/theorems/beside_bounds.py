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

*Pairs at two ends.* Let D1 meet an end of one bound exactly, and an end of another one, and write
x and y for how far a multiset of moves takes it past each (negative: away from it). Take moves with
x + y = 0 each, irreducible for the equalities and the first of these rows. A part of them that
keeps the equalities has x + y = 0, too, and x is not 0: it goes past one end or past the other. So
no part leads into I_Q, and they are a pair. (Values fall into kinds that such moves stay in; those
of a kind in which x is the same go to others of this kind without any effect.)

Where there is one bound of one end and G is not complete, `lengths.one_end` says more.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import combinations, islice

import numpy as np

from blowproof.models import BlowproofError, Exact, LinearFact, Point, Setting
from blowproof.models.base.clock import now
from blowproof.models.norms import L1
from blowproof.models.policy.in_words import counted
from blowproof.verifier.asked.answer import Answer, Pair
from blowproof.verifier.asked.question import Question
from blowproof.verifier.databases.value_classes import ClassTable, class_table
from blowproof.verifier.limits.limit import real_limit, whole_limit
from blowproof.verifier.reductions.few_values import corner_points
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
from blowproof.verifier.theorems.lengths.label_sides import by_sides, most_of_a_side
from blowproof.verifier.theorems.lengths.one_end import Cells, Crossed, one_end, past_one_end
from blowproof.verifier.theorems.lengths.priced_rows import by_prices
from blowproof.verifier.theorems.most_moves import largest_move

__all__ = ["beyond_one_end", "bounds_beside", "known_parts", "no_bounds_beside"]

SECONDS = real_limit(__name__, "SECONDS")
MOST_CORNERS = whole_limit(__name__, "MOST_CORNERS")
MOST_ENDS = whole_limit(__name__, "MOST_ENDS")
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
        table = class_table(setting, deadline=end)
        largest = largest_move(setting, question.query, question.reading)
    except (BlowproofError, OverflowError):
        return None
    lengths = _lengths(question, table)
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
    for bound, reason in _in_sight(question, table, lengths, end):
        if bound < upper:
            upper, why = bound, why.partition(", each of which")[0] + reason
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


def _in_sight(
    question: Question,
    table: ClassTable,
    lengths: Sequence[tuple[int, Parts, Beside]],
    end: float,
) -> Iterator[tuple[Exact, str]]:
    """Yield bounds by what the rows of bounds see of a query, and why."""
    kept = [(part.rows, longest) for longest, part, _ in lengths]
    priced = by_prices(question, table, lengths[0][2].home, kept, end)
    if priced is not None:
        yield priced, ", at a price for each and for what bounds see"
    for longest, part, cells in lengths:
        if cells.widths == (1,) and not cells.further and part.most == 1:
            labels = cells.labels[:, 0].tolist()
            with suppress(BlowproofError, TimeoutError, OverflowError):
                sided = by_sides(question, table, labels, cells.count, longest, end, slack=True)
                if sided is not None:
                    yield sided, f", and {most_of_a_side(cells.count)} on one side of a bound"


def known_parts(question: Question) -> list[Parts]:
    """Return what is known of a pair's parts, bounds counted whose ends are far apart."""
    try:
        table = class_table(question.setting, deadline=question.by(1 / 4))
        lengths = _lengths(question, table)
    except (BlowproofError, OverflowError):
        return []
    return [part for _, part, _ in lengths]


def _lengths(question: Question, table: ClassTable) -> list[tuple[int, Parts, Beside]]:
    """Return how many moves there are at the most, by what is known of a pair's parts.

    Once it is known how many they are, more bounds may have ends that are far apart.
    """
    setting = question.setting
    found: dict[Parts, tuple[int, Parts, Beside]] = {}
    while True:
        known = {part: most for part, (most, _, _) in found.items()}
        parts = all_parts_of(setting, question.reading, known)[:MOST_LEFT_OUT]
        new = [part for part in parts if part not in found]
        for part in new:
            cells = beside(table, groups_of(setting), part.rows)
            if cells is not None:
                found[part] = part.most * longest_beside(cells), part, cells
        if not found or not new:
            return list(found.values())


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
    """Yield pairs in databases that meet an end of one bound, and an end of another."""
    ends = [
        (fact, answer, sign)
        for fact in setting.bounds
        for answer, sign in ((fact.at_most, 1), (fact.at_least, -1))
        if answer is not None
    ]
    for (one, first, up), (two, second, down) in islice(combinations(ends, 2), MOST_ENDS):
        if one is not two:
            tight = (
                LinearFact(name=one.name, terms=one.terms, answer=first),
                LinearFact(name=two.name, terms=two.terms, answer=second),
            )
            others = tuple(fact for fact in setting.bounds if fact not in (one, two))
            try:
                pair = _at_both(question, setting, tight, others, up * down)
            except (BlowproofError, OverflowError):
                continue
            if pair is not None:
                yield pair


def _at_both(
    question: Question,
    setting: Setting,
    ends: tuple[LinearFact, LinearFact],
    others: tuple[LinearFact, ...],
    sign: int,
) -> Pair | None:
    """Return a pair whose moves push both rows against one another: away from one end, and past the
    other. `sign`: 1 where both ends are upper ones, or lower ones.
    """
    count = len(setting.equalities)
    tight = replace(setting, equalities=(*setting.equalities, *ends), bounds=others)
    table = class_table(tight)
    kinds = (table.rows[:, count] + sign * table.rows[:, count + 1]).tolist()
    known = [group for group in groups_of(tight) if max(group) < count]
    asked = replace(question, setting=tight)
    free = free_change(question)
    best: Pair | None = None
    for kind in sorted(set(kinds)):
        alike = np.array([each == kind for each in kinds])
        if len(set(table.rows[alike, count].tolist())) < 2:
            continue
        kept = replace(
            table,
            classes=tuple(c for c, same in zip(table.classes, alike, strict=True) if same),
            rows=np.ascontiguousarray(table.rows[alike]),
        )
        found: Beside | None = beside(replace(kept, equalities=count + 1), [*known, [count]])
        if found is None or len(found.widths) != 1 or count in found.base:
            continue
        pair = pair_beside(asked, found, free, _spare(asked, found, table, alike.tolist()))
        if pair is not None and (best is None or _worth(question, pair) > _worth(question, best)):
            best = pair
    return best


def _worth(question: Question, pair: Pair) -> Exact:
    return question.query.difference(pair.moves(question.reading))


def _spare(
    question: Question, found: Beside, table: ClassTable, alike: Sequence[bool]
) -> dict[tuple[int, int], list[Point]]:
    """Return values that push the rows in other ways, by class of the base: their labels are 2, 3,
    ..., one for each way.
    """
    axes = sorted(question.query.axes_read(question.setting.domain))
    base = list(found.base)
    homes = {tuple(row[base]): home for row, home in zip(found.table.rows, found.home, strict=True)}
    labels: dict[tuple[int, ...], int] = {}
    spare: dict[tuple[int, int], list[Point]] = {}
    count = found.table.equalities - 1
    for item, row, same in zip(table.classes, table.rows, alike, strict=True):
        home = homes.get(tuple(row[base]))
        if not same and home is not None:
            label = labels.setdefault(tuple(row[count : count + 2]), 2 + len(labels))
            points = islice(corner_points(item, axes), MOST_CORNERS)
            spare.setdefault((home, label), []).extend(points)
    return spare
