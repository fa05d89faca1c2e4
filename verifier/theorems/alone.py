"""No edge of G changes any known number: neighbours differ in one record, along an edge of G.

*Statement.* Readings 1 and 2, equality facts, bounds, impossible values, no clauses. If every edge
of G joins possible values with the same signature (for the bounds too), the neighbour pairs are the
single secret moves: S(f, P) is the largest change of f along an edge of G between possible values,
of which under scope "given" one end is held in a database with the known numbers.

*Proof.* A secret move changes no known number, so that making it alone leads from any D1 in I_Q
into I_Q again; it is a pair, since its one change has no proper part. Let (D1, D2) be a pair, m one
of its secret moves, D3 = D1 after m alone, in I_Q. In reading 2, m is a part of the changes that is
in I_Q, so it is all of them. In reading 1, T(D1, D3) = {m} is a non-empty part of T(D1, D2), so
they are equal by 3(a), and by 3(b) no record is changed besides that of m. QED.

*Nor need it, in reading 2, if f does not see it.* Let every edge of G either keep all known numbers
or leave f as it is, as where G changes one attribute at a time and no fact speaks of those that f
looks at. Then S(f, P) is the largest change of f along an edge of the former kind. For a pair with
such a move is that move alone, and one without changes f by nothing.

What office writes "on which ward somebody lies is no secret" prints patients by ward; each person's
age is then all that a pair can differ in.
"""

from __future__ import annotations

import time
from dataclasses import replace
from fractions import Fraction
from itertools import chain, islice

from blowproof.models import (
    BlowproofError,
    BoundQuery,
    BudgetError,
    Exact,
    Impossible,
    Known,
    Move,
    Point,
    Setting,
)
from blowproof.models.base.clock import now
from blowproof.models.base.numbers import plain
from blowproof.models.stacks.stacked import Part, Stacked
from blowproof.verifier.asked.answer import Answer, Pair
from blowproof.verifier.asked.question import Question
from blowproof.verifier.databases.value_classes import class_table
from blowproof.verifier.limits.limit import real_limit, whole_limit
from blowproof.verifier.moves.joined_classes import Joined, different
from blowproof.verifier.reductions.given_numbers import embed
from blowproof.verifier.theorems.most_moves import largest_move
from blowproof.verifier.theorems.values.free_change import axes_of_facts, moved

__all__ = ["alone", "edges_keep_numbers", "not_alone"]

READINGS = ("published", "secret-moves")
SECONDS = real_limit(__name__, "SECONDS")
MOST_CLASSES = whole_limit(__name__, "MOST_CLASSES")
MOST_PAIRS = whole_limit(__name__, "MOST_PAIRS")


def not_alone(question: Question) -> str:
    """Return why the theorem does not speak about a question, or ""."""
    setting = question.setting
    if question.reading not in READINGS or question.query.per_record:
        return "it speaks about readings 1 and 2, and sums of rows"
    if setting.clauses:
        return "clauses tie records together"
    if setting.graph.complete:
        return "G is complete"
    return ""


def edges_keep_numbers(setting: Setting, *, deadline: float | None = None) -> bool:
    """Whether it is seen that no edge of G between possible values changes any known number."""
    return setting.kept.get("edges keep numbers", lambda: _keep(setting, deadline))


def _keep(setting: Setting, deadline: float | None) -> bool:
    try:
        table = class_table(setting, limit=MOST_CLASSES, deadline=deadline)
    except BlowproofError:
        return False
    joined = Joined(setting, table, deadline)
    pairs = different(setting, table, table.rows, deadline)
    return not any(joined(a, b) for a, b in pairs)


def _apart(question: Question) -> bool:
    """Whether, in reading 2, a secret move changes either an attribute that facts speak of or one
    that the query looks at.
    """
    setting = question.setting
    one = setting.policy.secrets.one_at_a_time
    read = question.query.axes_read(setting.domain)
    return one and question.reading == "secret-moves" and read.isdisjoint(axes_of_facts(setting))


def alone(question: Question) -> Answer | None:
    """Return S(f, P), or bounds, where edges keep all known numbers; None where they do not."""
    from blowproof.verifier.engines.one_move.worst_edge import worst_edge

    setting, query, started = question.setting, question.query, time.perf_counter()
    end = now() + (SECONDS if question.left is None else min(SECONDS, question.left / 3))
    hurried = question.left is not None and question.left < SECONDS
    try:
        if _apart(question):
            why = "secret moves change a known number or what is asked: one record changes alone"
        elif edges_keep_numbers(setting, deadline=end):
            why = "no secret move changes a known number, so that one record changes alone"
        else:
            return None
    except BlowproofError:
        return None
    # The structure of G and f, as if all values were possible: an upper bound that is mostly met.
    bare = replace(setting, policy=replace(setting.policy, known=_possible(setting)))
    parts = query.parts if isinstance(query, Stacked) else (Part(query, (Fraction(1),)),)
    worst, edge = None, None
    try:
        worst = worst_edge(bare, parts, query.measure, hurried=hurried)
        if worst is not None and worst.edge is not None:
            edge = _among_possible(setting, worst.edge, plain(worst.loss), query)
            if edge is None:
                worst = worst_edge(setting, parts, query.measure) or worst
                edge = worst.edge
    except BudgetError:
        pass
    if worst is None:
        upper = largest_move(setting, query, question.reading)
        return None if upper is None else question.answer(0, upper, why, engine="alone")
    value = plain(worst.loss)
    pair = None
    if edge is not None and any(x in setting.impossible for x in edge):
        edge = None
    if value and edge is not None:
        pair = Pair(before=(edge[0],), after=(edge[1],))
        if setting.scope == "given":
            left = 2.0 if question.left is None else question.left / 4
            pair = embed(setting, pair, time_limit=left)
    lower = 0 if pair is None else value
    return question.answer(
        lower, value, why, worst.how, witness=pair, engine="alone", since=started
    )


def _possible(setting: Setting) -> tuple[Known, ...]:
    """Return what the policy knows, but for impossible values."""
    return tuple(fact for fact in setting.policy.known if not isinstance(fact, Impossible))


def _among_possible(
    setting: Setting, edge: tuple[Point, Point], value: Exact, query: BoundQuery
) -> tuple[Point, Point] | None:
    """Return an edge with this change between possible values: where the ends of the given one
    agree, they may have what another value has there.
    """
    one, two = edge
    agree = [axis for axis, (a, b) in enumerate(zip(one, two, strict=True)) if a == b]
    others = (box.nth(0) for item in class_table(setting).classes for box in item.boxes())
    for other in islice(chain([one], others), MOST_PAIRS):
        x, y = moved(one, other, agree), moved(two, other, agree)
        if x in setting.impossible or y in setting.impossible or not setting.graph.is_edge(x, y):
            continue
        if query.difference([Move(x, y)]) == value:
            return x, y
    return None
