"""Weights with a common factor: the question without it, and the answer times it.

*Statement.* Let c > 0 divide all weights of a stack. Then S is c times what it is with weights
divided by c, in every norm, and the same pairs are worst.

*Proof.* In l1, linf and range weights multiply changes, and these norms of c x are c times those of
x; in l2-squared they say how often squares count, and a sum of c times as many squares is c times
as large. Which databases are neighbours does not depend on the query. QED

So one query with one weight is the query itself, which theorems are about; and engines work on
whole numbers.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from blowproof.models import BoundQuery, Exact
from blowproof.models.base.numbers import plain, show
from blowproof.models.norms import L1
from blowproof.models.stacks.stacked import Stacked
from blowproof.verifier.asked.answer import Answer
from blowproof.verifier.asked.names import CONJECTURE
from blowproof.verifier.asked.question import Progress, Question

__all__ = ["asked_without_factor", "factor_of"]


def factor_of(query: BoundQuery) -> Exact:
    """Return by how much the question is asked with smaller weights; 1: it is asked as it is."""
    if not isinstance(query, Stacked) or (query.width == 1 and query.measure is not L1):
        return 1  # of one output `one_output` asks
    return query.factor or 1


def asked_without_factor(question: Question, ask: Callable[[Question], Answer]) -> Answer | None:
    """Return the answer by way of weights without a common factor; None where they have none."""
    query, factor, listener = question.query, factor_of(question.query), question.listener
    if not isinstance(query, Stacked) or factor == 1:
        return None

    def times(size: Exact | None) -> Exact | None:
        return None if size is None else plain(size * factor)

    def told(progress: Progress) -> None:
        assert listener is not None
        lower = plain(progress.lower * factor)
        listener(replace(progress, lower=lower, upper=times(progress.upper)))

    inner = replace(question, query=query.without_factor())
    found = ask(inner if listener is None else replace(inner, listener=told))
    note = f"all weights are multiples of {show(factor)}: it is S without this factor, times it"
    rest = [each for each in found.notes if not each.startswith(CONJECTURE)]
    guess = times(found.conjectured)
    if guess is not None:
        rest.append(f"{CONJECTURE}: S = {show(guess)} (the heaviest frame)")
    return replace(
        found,
        query=query.name,
        lower=plain(found.lower * factor),
        upper=times(found.upper),
        conjectured=guess,
        notes=(note, *rest),
    )
