"""Nothing is known but n and impossible values: S(f, P) is the largest change along one edge of G.

Then every single secret move makes a neighbour, and no neighbour makes more of them (blowfish-2014,
after Definition 4.1), so S(f, P) is a maximum over the edges of G between possible values, found
from the structure of G and f where the domain is large (`worst_edge`).
"""

from __future__ import annotations

from dataclasses import replace

from blowproof.models import BoundQuery, BudgetError, Setting
from blowproof.models.base.clock import now
from blowproof.models.base.numbers import plain
from blowproof.models.policy.readings import Reading
from blowproof.models.stacks.stacked import ONE, Part, Stacked
from blowproof.verifier.asked.answer import Answer, Pair
from blowproof.verifier.asked.question import Question
from blowproof.verifier.limits.limit import real_limit, whole_limit
from blowproof.verifier.neighbours.check import require_pair

__all__ = ["along_one_edge", "one_edge"]

LARGE = whole_limit(__name__, "LARGE")
SHORT = real_limit(__name__, "SHORT")


def one_edge(question: Question) -> Answer | None:
    """Return S(f, P) where neighbours differ in one record; None where they do not, or if too hard.

    The structure of a large domain may take seconds that nothing interrupts, so that with less
    time than that it is not begun.
    """
    hurried = question.left is not None and question.left < SHORT
    if hurried and question.setting.domain.size > LARGE:
        return None
    try:
        found = along_one_edge(question.setting, question.query, question.reading, hurried=hurried)
    except BudgetError:
        return None
    if found is None:
        return None
    reason = "no fact ties records together, so one record changes alone"
    return replace(found, notes=(reason, *found.notes))


def along_one_edge(
    setting: Setting, query: BoundQuery, reading: Reading, *, hurried: bool = False
) -> Answer | None:
    """Return S(f, P) as the change along the worst edge of G; None where it is not, or unknown.

    The setting is prepared. Where n is given, the records that stay hold what the edge begins with.
    `hurried`: not where very many edges had to be listed.
    """
    from blowproof.verifier.engines.one_move.worst_edge import one_secret_move, worst_edge

    started = now()
    if query.per_record or not one_secret_move(setting, reading):
        return None
    parts = query.parts if isinstance(query, Stacked) else (Part(query, ONE),)
    worst = worst_edge(setting, parts, query.measure, hurried=hurried)
    if worst is None:
        return None
    value, pair = plain(worst.loss), None
    if value and worst.edge is not None:
        before, after = worst.edge
        size = setting.size if setting.scope == "given" else None
        rest = ((before, size - 1),) if size is not None and size > 1 else ()
        pair = Pair(before=(before,), after=(after,), unchanged=rest)
        require_pair(setting, reading, pair)
    return Answer(
        policy=setting.policy.name,
        query=query.name,
        reading=reading,
        answers=setting.scope,
        lower=value,
        upper=value,
        status="exact",
        witness=pair,
        engine="edges",
        seconds=now() - started,
        notes=(worst.how,),
        norm=query.measure.name,
    )
