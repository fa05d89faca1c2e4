"""What theorems say of the same question in l1, told in another norm.

*Statement.* Which databases are neighbours does not depend on the norm, so that a worst pair in l1
is a pair here, worth what the query's own code says. From above, let U bound S in l1, with the same
weights. Then, for the change x of any pair,

* linf and range are no larger than U: no |x_j| is, nor the difference of two, |x_i| + |x_j|;
* in squares with weights w_j, sum w_j x_j^2 <= max |x_j| sum w_j |x_j| <= U^2 / (least w_j);
* where the outputs are the cells of a table, records stay as many and all weights are w, as much
  goes up as comes down: no |x_j| is above U / (2 w), so that linf is at most U / 2 (there weights
  are in the rows), and the squares are at most U^2 / (2 w).
"""

from __future__ import annotations

import time
from dataclasses import replace
from fractions import Fraction

from blowproof.models import BlowproofError, BoundQuery, Exact
from blowproof.models.base.numbers import plain
from blowproof.models.norms import L1, L2_SQUARED, LINF, RANGE
from blowproof.models.policy.readings import is_labelled
from blowproof.models.stacks.stacked import ONE, Stacked
from blowproof.verifier.asked.answer import Answer, Pair
from blowproof.verifier.asked.question import Question
from blowproof.verifier.portfolio.bounds import Bounds, Reason
from blowproof.verifier.portfolio.strategy import Reduction

__all__ = ["no_other_norm", "through_l1"]


def no_other_norm(question: Question) -> str:
    """Return why a question is not asked in l1, or ""."""
    query = question.query
    if query.measure not in (L2_SQUARED, LINF, RANGE) or not isinstance(query, Stacked):
        return "it is the question itself"
    return f"{query.name} weighs single records" if query.per_record else ""


def through_l1(question: Question) -> Answer | None:
    """Return bounds from the theorems about the same question in l1."""
    from blowproof.verifier.portfolio.registry import THEOREMS

    query, started = question.query, time.perf_counter()
    assert isinstance(query, Stacked)
    known, pairs = Bounds(), list[Pair]()

    def ends() -> tuple[Exact, Exact | None]:
        return known.lower, known.upper

    inner = replace(question, query=_in_l1(query), listener=None, known=ends)
    for theorem in THEOREMS:
        assert not isinstance(theorem.run, Reduction)
        try:
            found = None if theorem.why_not(inner) else theorem.run(inner)
        except BlowproofError:
            continue
        if found is None:
            continue
        if found.witness is not None:
            pairs.append(found.witness)
        known = known.meet(
            Bounds(lower=found.lower, upper=found.upper, above=Reason(theorem.name, found.engine))
        )
        if known.closed:
            break
    pair, lower = None, query.difference(())
    for each in pairs:
        value = query.difference(each.moves(question.reading))
        if value > lower:
            pair, lower = each, value
    if pair is None and known.upper is None:
        return None
    upper = None if known.upper is None else _from_above(question, query, known.upper)
    above = "" if known.above is None else f", by {known.above.name}"
    why = f"in l1, theorems say {known.lower} to {known.upper}{above}"
    return question.answer(lower, upper, why, witness=pair, engine="l1", since=started)


def _in_l1(query: Stacked) -> BoundQuery:
    """Return the question in l1: one query with weight 1 is itself."""
    if len(query.parts) == 1 and query.parts[0].weights == ONE:
        return query.parts[0].query
    return replace(query, measure=L1)


def _from_above(question: Question, query: Stacked, upper: Exact) -> Exact:
    """Return what an upper bound in l1 says in the query's norm (see the statement)."""
    part, *others = query.parts
    cells = part.query.cell_axes(question.setting.domain) is not None
    even = cells and part.uniform and not others and is_labelled(question.reading)
    if query.measure is LINF:
        return plain(Fraction(upper) / 2) if even else upper
    if query.measure is RANGE:
        return upper
    least = min(weight for each in query.parts for weight in each.weights)
    return plain(Fraction(upper) ** 2 / least / (2 if even else 1))
