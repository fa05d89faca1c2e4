"""Reading 2, one group of linked facts after the other (`reductions.linked_facts`).

Each group of facts that no secret move ties to others is a question of its own: it has fewer facts
and so fewer classes of values. Two easy groups can be far out of a search's reach together.

The worst of the groups' upper bounds is one here. A pair of a group whose moves all change its
facts changes no others, so that for any answers it is a pair here.

Facts that no secret move changes are left out for any answers, be it for one group alone: with
each area's total published and moves that stay within an area, its values need not be told apart.
Attributes that nobody looks at then hold one value (`reductions.one_value`). Where secrets are a
partition and each group is about one cell of it, it is asked about that cell alone, with full
secrets, and once for all cells that look alike (`reductions.one_cell`); with the numbers, if they
tell how many records the cell holds. Its pairs then need the records of all other cells.
"""

from __future__ import annotations

from dataclasses import replace

from blowproof.models import BlowproofError, Setting
from blowproof.verifier.asked.answer import Answer, Pair
from blowproof.verifier.asked.question import Question
from blowproof.verifier.limits.limit import whole_limit
from blowproof.verifier.portfolio.strategy import Reduction, Together
from blowproof.verifier.reductions.given_numbers import embed
from blowproof.verifier.reductions.linked_facts import linked_facts, with_facts
from blowproof.verifier.reductions.one_cell import within_cells
from blowproof.verifier.reductions.one_value import with_one_value

__all__ = ["group_by_group", "no_groups"]

MOST_GROUPS = whole_limit(__name__, "MOST_GROUPS")


def no_groups(question: Question) -> str:
    """Return why the facts are not looked at in groups, or ""."""
    setting = question.setting
    if question.reading != "secret-moves" or question.query.per_record:
        return "it speaks about reading 2, and sums of rows"
    if setting.clauses:
        return "clauses tie records together"
    return "G is complete" if setting.graph.complete else ""


def group_by_group(question: Question) -> Together | None:
    """Return a question for each group of facts; None where there are too many, or one with all."""
    setting = question.setting
    try:
        groups = linked_facts(setting, deadline=question.by(1 / 8))
    except BlowproofError:
        return None
    if not 0 < len(groups) <= MOST_GROUPS:
        return None
    among = {place for group in groups for place in group}
    given = setting.scope == "given"
    every = {*range(len(setting.equalities) + len(setting.bounds))}
    alone = [with_facts(setting, group, among=every) for group in groups]
    cells = within_cells(setting, alone, question.query, question.by(1 / 8))
    if cells is not None:
        some = cells
    elif given:
        some = [with_facts(setting, group, among=among) for group in groups]
    else:
        some = alone
    if not given:
        some = [with_one_value(each, question.query) for each in some]
    if len(some) == 1 and (cells is None if given else _same(some[0], setting)):
        return None

    def back(asked: Question, found: Answer) -> Pair | None:
        if found.witness is None or cells is None or not given:
            return found.witness
        moves = replace(found.witness, unchanged=())
        return embed(asked.setting, moves, time_limit=asked.left)

    def about(group: Setting) -> Reduction:
        return Reduction(lambda asked: replace(asked, setting=group), back, lambda _, upper: upper)

    return Together(tuple(map(about, some)))


def _same(one: Setting, two: Setting) -> bool:
    """Whether two settings know the same facts."""
    return one.equalities == two.equalities and one.policy.known == two.policy.known
