"""Reading 3 with independent signatures: a record is exchanged for another of its class.

*Statement.* Reading add-remove, equality facts (n among them where it is known) and impossible
values. Let the distinct signatures of the possible values that are not 0 be linearly independent
(cells, trees of nested totals, laminar ranges, and what these imply). Then S(f, P) is at most the
larger of: what f changes by when one record of a class goes and another of the same class comes
(classes with a signature other than 0), and what it changes by when one record of signature 0 goes
or comes. Under scope "any" it is equal to that; under "given" too, where a database with the known
numbers holds a record of the class.

*Proof.* A pair is an irreducible multiset of records that go and come. Let net_c be those of
signature c that come, less those that go; sum net_c s_c = 0, so that net_c = 0 for all s_c that
are not 0. If there is a record of signature 0, it has no effect, and is all of the multiset. Else
some class has one that goes and one that comes: these two have no effect together, and are all.
Conversely, one such record (one such exchange) is a part without effect, that has no proper part
without effect: a record of another signature has one that is not 0. QED.

f is a sum of rows, so that an exchange changes it by the difference of two rows of the class. The
statement is about pairs, so it holds in every norm; of a class with too many rows for every two to
be looked at, `class_changes` and `in_norms` say what no difference exceeds.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from itertools import combinations

import numpy as np

from blowproof.models import BlowproofError, BoundQuery, Exact, Point, Setting
from blowproof.models.base.clock import now
from blowproof.models.domain.classes import firsts
from blowproof.models.norms import L1
from blowproof.models.stacks.stacked import Stacked, is_histogram
from blowproof.verifier.asked.answer import Answer, Pair
from blowproof.verifier.asked.question import Question
from blowproof.verifier.databases.value_classes import ClassTable, class_table
from blowproof.verifier.exact.independence import affinely_independent, solved
from blowproof.verifier.limits.limit import real_limit, whole_limit
from blowproof.verifier.theorems.values.class_changes import best_changes
from blowproof.verifier.theorems.values.in_norms import best_in_norm
from blowproof.verifier.theorems.values.seen_values import seen_values

__all__ = ["exchanges", "no_exchanges"]

SECONDS = real_limit(__name__, "SECONDS")
FEW_VALUES = whole_limit(__name__, "FEW_VALUES")
MOST_ENTRIES = whole_limit(__name__, "MOST_ENTRIES")

Found = tuple[Exact, Exact, tuple[Point, ...], tuple[Point, ...]]
"""What changes at least and at most, what goes and what comes."""


def no_exchanges(question: Question) -> str:
    """Return why the theorem does not speak about a question, or ""."""
    setting = question.setting
    if question.reading != "add-remove":
        return "it speaks about reading 3"
    if setting.bounds or setting.clauses:
        return "it speaks about equality counts"
    if question.query.per_record:
        return f"{question.query.name} weighs single records"
    return ""


def exchanges(question: Question) -> Answer | None:
    """Return S(f, P), or bounds, where the signatures are linearly independent; None where not."""
    setting, started = question.setting, time.perf_counter()
    end = now() + (SECONDS if question.left is None else min(SECONDS, question.left / 2))
    try:
        table = class_table(setting, deadline=end)
        groups = _groups(table)
        if groups is None:
            return None
        best = _best(question, table, groups, end)
    except (BlowproofError, TimeoutError, OverflowError):
        return None
    if best is None:
        return None
    lower, upper, before, after = best
    why = f"{len(groups.by_signature)} independent signatures: records are exchanged in a class"
    pair = _pair(setting, groups, before, after) if lower else None
    lower = 0 if pair is None else lower
    return question.answer(lower, upper, why, witness=pair, engine="exchanges", since=started)


class _Groups:
    """Classes of a table by signature; `held`: how many records are there, where that is known."""

    def __init__(self, table: ClassTable) -> None:
        self.by_signature: dict[bytes, list[int]] = {}
        for number, row in enumerate(np.ascontiguousarray(table.effects)):
            if row.any():
                self.by_signature.setdefault(row.tobytes(), []).append(number)
        counted = {place for places in self.by_signature.values() for place in places}
        self.free = [place for place in range(len(table.classes)) if place not in counted]
        self.held: dict[bytes, int] | None = None
        self.values = firsts(table.classes, 1)


def _groups(table: ClassTable) -> _Groups | None:
    if not table.classes or table.effects.size > MOST_ENTRIES:
        return None
    return _Groups(table)


def _best(question: Question, table: ClassTable, groups: _Groups, end: float) -> Found | None:
    """Return the best exchange and the best single record; None where the theorem says nothing."""
    setting = question.setting
    first = [places[0] for places in groups.by_signature.values()]
    if first:
        peeled = affinely_independent(table.effects[first], affine=False)
        if peeled is None:
            return None
        answers = [fact.answer for fact in setting.equalities]
        if setting.scope == "given" and None not in answers:
            totals = [answer for answer in answers if answer is not None]
            found = solved(peeled, totals)
            if found is not None and min(found) >= 0:
                groups.held = dict(zip(groups.by_signature, found, strict=True))
    best: Found = (0, 0, (), ())
    for each in _changes(question, table, groups, end):
        lower, _, before, after = max(best, each, key=lambda item: item[0])
        best = lower, max(best[1], each[1]), before, after
    return best


def _changes(question: Question, table: ClassTable, groups: _Groups, end: float) -> Iterator[Found]:
    """Yield the best exchange of each class, and the best single record without a signature."""
    setting, query = question.setting, question.query
    if is_histogram(query):
        two = firsts(table.classes, 2)
        values = [list(points) for points in two]
    else:
        seen = seen_values(setting, query, table, end=end)
        if seen is None:
            raise TimeoutError
        values = seen
    axes = sorted(query.axes_read(setting.domain))
    alike: set[frozenset[Point]] = set()
    for key, places in groups.by_signature.items():
        if groups.held is not None and not groups.held[key]:
            continue
        rows = {tuple(x[axis] for axis in axes): x for place in places for x in values[place]}
        if frozenset(rows) not in alike:  # else another class has the same rows
            alike.add(frozenset(rows))
            yield _exchange(query, list(rows.values()), end)
    for place in groups.free:
        for x in values[place]:
            norm = query.norm({x: 1})
            yield norm, norm, (), (x,)


def _exchange(query: BoundQuery, values: list[Point], end: float) -> Found:
    """Return the best exchange of two values, by looking at every two where these are few."""
    if len(values) > FEW_VALUES:
        if isinstance(query, Stacked) and query.measure is not L1:
            found = best_in_norm(query, [values], end=end)
            if found is None:
                raise TimeoutError
        else:
            found = best_changes(query, [values], end=end)
        before, after = ((found.pairs[0][0],), (found.pairs[0][1],)) if found.pairs else ((), ())
        return found.lower, found.upper, before, after
    best: Found = (0, 0, (), ())
    for x, y in combinations(values, 2):
        if now() > end:
            raise TimeoutError
        change = query.norm({x: -1, y: 1})
        if change > best[0]:
            best = change, change, (x,), (y,)
    return best


def _pair(
    setting: Setting, groups: _Groups, before: tuple[Point, ...], after: tuple[Point, ...]
) -> Pair | None:
    """Return the exchange, in a database with the known numbers under scope "given"."""
    pair = Pair(before=before, after=after)
    if setting.scope == "any":
        return pair
    if groups.held is None and groups.by_signature:
        return None
    staying: dict[Point, int] = {}
    going = [setting.effect(x) for x in before]
    for key, places in groups.by_signature.items():
        x = groups.values[places[0]][0]
        times = groups.held[key] if groups.held is not None else 0
        times -= going.count(setting.effect(x))
        if times:
            staying[x] = times
    return Pair(before=before, after=after, unchanged=tuple(sorted(staying.items())))
