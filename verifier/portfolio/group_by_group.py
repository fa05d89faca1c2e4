"""Reading 2, one group of linked facts after the other, by theorems (`reductions.linked_facts`)."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace

from blowproof.models import BlowproofError, Exact
from blowproof.models.base.clock import now
from blowproof.models.policy.in_words import counted
from blowproof.verifier.asked.answer import Answer, Pair
from blowproof.verifier.asked.question import Question
from blowproof.verifier.limits.limit import real_limit, whole_limit
from blowproof.verifier.neighbours.check import check_pair
from blowproof.verifier.portfolio.bounds import Bounds, Reason
from blowproof.verifier.portfolio.strategy import Reduction
from blowproof.verifier.reductions.linked_facts import linked_facts, with_facts

__all__ = ["group_by_group", "no_groups"]

SECONDS = real_limit(__name__, "SECONDS")
MOST_GROUPS = whole_limit(__name__, "MOST_GROUPS")


def no_groups(question: Question) -> str:
    """Return why the facts are not looked at in groups, or ""."""
    setting = question.setting
    if question.reading != "secret-moves" or question.query.per_record:
        return "it speaks about reading 2, and sums of rows"
    if setting.clauses:
        return "clauses tie records together"
    return "G is complete" if setting.graph.complete else ""


def group_by_group(question: Question) -> Answer | None:
    """Return the worst of what theorems say about each group; None where there is only one."""
    setting, started = question.setting, time.perf_counter()
    end = now() + (SECONDS if question.left is None else min(SECONDS, question.left / 3))
    try:
        groups = linked_facts(setting, deadline=end)
    except BlowproofError:
        return None
    if not 1 < len(groups) <= MOST_GROUPS:
        return None
    among = {place for group in groups for place in group}
    highest: Exact | None = 0
    found: list[tuple[Exact, Pair]] = []
    for number, group in enumerate(groups):
        left = (end - now()) / (len(groups) - number)
        inner = replace(
            question, setting=with_facts(setting, group, among=among), deadline=now() + left
        )
        known, pairs = _by_theorems(inner)
        if highest is not None:
            highest = None if known.upper is None else max(highest, known.upper)
        found += [(question.query.difference(each.moves(question.reading)), each) for each in pairs]
    lowest, pair = _best_that_holds(question, found)
    if highest is None and pair is None:
        return None
    why = f"{counted(len(groups), 'group')} of facts that no secret move ties together"
    return question.answer(lowest, highest, why, witness=pair, engine="groups", since=started)


def _best_that_holds(
    question: Question, found: Sequence[tuple[Exact, Pair]]
) -> tuple[Exact, Pair | None]:
    """Return the best pair of a group that is one of all facts.

    A record that changes no fact of its group may change one of another.
    """
    none = question.query.difference(())
    for value, pair in sorted(found, key=lambda item: -item[0]):
        if value > none and check_pair(question.setting, question.reading, pair).holds:
            return value, pair
    return none, None


def _by_theorems(question: Question) -> tuple[Bounds, list[Pair]]:
    """Return the bounds that theorems find, and their pairs, which nobody has checked."""
    from blowproof.verifier.portfolio.registry import THEOREMS

    known, pairs = Bounds(), list[Pair]()

    def ends() -> tuple[Exact, Exact | None]:
        return known.lower, known.upper

    inner = replace(question, listener=None, known=ends)
    for theorem in THEOREMS:
        assert not isinstance(theorem.run, Reduction)
        try:
            found = (
                None
                if theorem.run is group_by_group or theorem.why_not(inner)
                else theorem.run(inner)
            )
        except BlowproofError:
            continue
        if found is None:
            continue
        if found.witness is not None:
            pairs.append(found.witness)
        above = Reason(theorem.name, found.engine)
        known = known.meet(Bounds(lower=found.lower, upper=found.upper, above=above))
        if known.closed:
            break
    return known, pairs
