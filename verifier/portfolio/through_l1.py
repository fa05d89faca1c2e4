"""What theorems and engines say of the same question in l1, told in another norm.

*Statement.* Which databases are neighbours does not depend on the norm, so that a worst pair in l1
is a pair here, worth what the query's own code says. From above, let U bound S in l1, with the same
weights. Then, for the change x of any pair,

* linf and range are no larger than U: no |x_j| is, nor the difference of two, |x_i| + |x_j|;
* in squares with weights w_j, sum w_j x_j^2 <= max |x_j| sum w_j |x_j| <= U^2 / (least w_j), where
  outputs of weight 0 count nothing, and are left out;
* where the outputs are the cells of a table, records stay as many and all weights are w, as much
  goes up as comes down: no |x_j| is above U / (2 w), so that linf is at most U / 2 (there weights
  are in the rows), and the squares are at most U^2 / (2 w).

The values of a pair's records suit l1; `revalued` looks for those of the same classes that suit the
norm.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from blowproof.models import BoundQuery, Exact
from blowproof.models.base.numbers import plain
from blowproof.models.norms import L1, L2_SQUARED, LINF, RANGE
from blowproof.models.policy.readings import is_labelled
from blowproof.models.stacks.stacked import ONE, Stacked
from blowproof.verifier.asked.answer import Answer, Pair
from blowproof.verifier.asked.question import Question
from blowproof.verifier.portfolio.strategy import Reduction
from blowproof.verifier.witnesses.revalued import revalued

__all__ = ["IN_L1", "no_other_norm"]


def no_other_norm(question: Question) -> str:
    """Return why a question is not asked in l1, or ""."""
    query = question.query
    if query.measure not in (L2_SQUARED, LINF, RANGE) or not isinstance(query, Stacked):
        return "it is the question itself"
    return f"{query.name} weighs single records" if query.per_record else ""


def _asked(question: Question) -> Question:
    query = question.query
    assert isinstance(query, Stacked)
    return replace(question, query=_in_l1(query))


def _suited(question: Question, found: Answer) -> Pair | None:
    """Return the pair as it is, or by values that suit the norm, whichever changes more."""
    setting, query, reading, pair = (
        question.setting,
        question.query,
        question.reading,
        found.witness,
    )
    assert pair is not None
    if setting.clauses:
        return pair  # its records have numbers
    known, _ = question.known()
    other = revalued(setting, query, reading, pair, above=known, end=question.by(1 / 2))
    if other is None:
        return pair
    return max(pair, other, key=lambda each: query.difference(each.moves(reading)))


def _upper(question: Question, upper: Exact) -> Exact | None:
    query = question.query
    assert isinstance(query, Stacked)
    return _from_above(question, query, upper)


IN_L1 = Reduction(_asked, _suited, _upper)
"""Another norm: the same question in l1, by everybody who answers that."""


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
    least = min((w for each in query.parts for w in each.weights if w), default=Fraction(1))
    return plain(Fraction(upper) ** 2 / least / (2 if even else 1))
