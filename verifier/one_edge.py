"""Nothing is known but n and impossible values: S(f, P) is the largest change along one edge of G.

Then every single secret move makes a neighbour, and no neighbour makes more of them (blowfish-2014,
after Definition 4.1), so S(f, P) is a maximum over the edges of G between possible values, found
from the structure of G and f where the domain is large (`certify.edges`).
"""

from __future__ import annotations

import time
from fractions import Fraction

from blowproof.models import BudgetError, Point
from blowproof.models.numbers import plain
from blowproof.models.stacked import Part
from blowproof.verifier.answers import Answer, Pair
from blowproof.verifier.question import Question

__all__ = ["one_edge"]

LARGE = 1_000_000
SHORT = 5.0


def one_edge(question: Question) -> Answer | None:
    """Return S(f, P) where neighbours differ in one record; None where they do not, or if too hard.

    The structure of a large domain may take seconds that nothing interrupts, so that with less
    time than that it is not begun.
    """
    from blowproof.verifier.certify.edges import one_secret_move, worst_edge

    setting, query = question.setting, question.query
    if query.per_record or not one_secret_move(setting, question.reading):
        return None
    hurried = question.left is not None and question.left < SHORT
    if hurried and setting.domain.size > LARGE:
        return None
    started = time.monotonic()
    try:
        found = worst_edge(setting, (Part(query, (Fraction(1),)),))
    except BudgetError:
        return None
    if found is None:
        return None
    value = plain(found.loss)
    pair = None
    if value and found.edge is not None:
        before, after = found.edge
        pair = Pair(before=(before,), after=(after,), unchanged=_others(question, before))
    return Answer(
        policy=setting.policy.name,
        query=query.name,
        reading=question.reading,
        answers=setting.scope,
        lower=value,
        upper=value,
        status="exact",
        witness=pair,
        engine="edges",
        seconds=time.monotonic() - started,
        notes=("no fact ties records together, so one record changes alone", found.how),
    )


def _others(question: Question, value: Point) -> tuple[tuple[Point, int], ...]:
    """The records that stay, where n is given: any possible value does."""
    setting = question.setting
    if setting.scope == "any" or setting.size is None or setting.size < 2:
        return ()
    return ((value, setting.size - 1),)
