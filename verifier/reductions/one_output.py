"""A query of one output, in any norm, is the same query in l1.

*Statement.* Let f have one output of weight w, and let S be its sensitivity in l1 without weights.
Then in linf S(f, P) is w S, in l2-squared w S ** 2, and in range 0.

*Proof.* Every norm of one number x depends on |x| alone and does not fall as |x| grows, so the
largest value is that of the largest |x|; in range the largest change is the smallest. QED.

So every engine, theorem and reduction that answers the query in l1 answers it in each norm.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TypeGuard

from blowproof.models import BoundQuery, Exact
from blowproof.models.norms import L1, RANGE
from blowproof.models.stacks.stacked import Stacked
from blowproof.verifier.asked.answer import Answer
from blowproof.verifier.asked.question import Progress, Question

__all__ = ["asked_in_l1", "is_one_output", "size_of"]

Ask = Callable[[Question], Answer]


def is_one_output(query: BoundQuery) -> TypeGuard[Stacked]:
    """Whether a query is one output in another norm than l1."""
    return isinstance(query, Stacked) and query.measure is not L1 and query.width == 1


def asked_in_l1(question: Question, ask: Ask) -> Answer | None:
    """Return the answer to a question about one output, by way of l1; None for any other."""
    query = question.query
    if not is_one_output(query):
        return None
    if query.measure is RANGE:
        why = "one output has no other to be compared with: its range is 0"
        return question.answer(0, 0, why, engine="one output")
    found = ask(_in_l1(question, query))
    upper = None if found.upper is None else size_of(query, found.upper)
    note = f"one output: {query.measure} of its change, which is largest where l1 is"
    return replace(
        found,
        query=query.name,
        lower=size_of(query, found.lower),
        upper=upper,
        notes=(note, *found.notes),
    )


def _in_l1(question: Question, query: Stacked) -> Question:
    (part,) = query.parts
    inner: BoundQuery = part.query
    listener = question.listener

    def told(progress: Progress) -> None:
        assert listener is not None
        upper = None if progress.upper is None else size_of(query, progress.upper)
        listener(replace(progress, lower=size_of(query, progress.lower), upper=upper))

    return replace(question, query=inner, listener=None if listener is None else told)


def size_of(query: Stacked, change: Exact) -> Exact:
    """Return what a change of the one output counts."""
    (part,) = query.parts
    return query.measure.of([query.measure.weighted((change, 1), part.weights[0])])
