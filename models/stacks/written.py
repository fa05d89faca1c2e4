"""The textual form of stacks: `histogram + 1/4 * sum(age)`, and `[1, 1/4] * sum(age,temp)`.

A term is a query, maybe with a weight before it: a number for all of its outputs, or a list with
one for each. Several terms are one question. A weight says how much an output counts: with noise of
different size in each output, 1 / b for l1, 1 / sigma ** 2 for l2-squared.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from fractions import Fraction

from blowproof.models.base.errors import PolicyError, QueryError
from blowproof.models.base.numbers import exact, show
from blowproof.models.norms import L1, Norm, norm_named
from blowproof.models.policy.policy import Policy
from blowproof.models.queries.kinds import parse_query
from blowproof.models.queries.query import BoundQuery
from blowproof.models.stacks.stacked import ONE, Part, in_norm, stack

__all__ = ["parse_question"]

_TERM = re.compile(r"\s*(?:(\[[^\]]*\]|[^*\[\]()\"]*?)\s*\*)?\s*(.*?)\s*", re.DOTALL)


def parse_question(text: str | Sequence[str], policy: Policy, norm: Norm | str = L1) -> BoundQuery:
    """Return what a text asks for, in a norm; several texts are one stacked question.

    >>> from blowproof.models import Domain, Integers
    >>> policy = Policy(domain=Domain(age=Integers(0, 9)))
    >>> both = parse_question("histogram + 1/4 * sum(age)", policy, "l2-squared")
    >>> both, both.measure
    (histogram+1/4*sum(age), l2-squared)
    >>> from blowproof.models import Move
    >>> both.difference([Move((0,), (2,))])  # two cells by 1, and a quarter of 2 * 2
    3
    """
    norm = norm_named(norm)
    texts = [text] if isinstance(text, str) else list(text)
    terms = [term for item in texts for term in _terms(item)]
    if len(terms) == 1 and not _weighted(terms[0]):
        return in_norm(parse_query(terms[0], policy), norm, policy.domain)
    parts = [_part(term, policy) for term in terms]
    name = "+".join(_name(part) for part in parts)
    return stack(parts, norm, policy.domain, name=name)


def _terms(text: str) -> list[str]:
    """Split at signs outside brackets and quotes."""
    found, depth, start = [], 0, 0
    quoted = False
    for place, sign in enumerate(text):
        if sign == '"' and text[place - 1 : place] != "\\":
            quoted = not quoted
        elif not quoted and sign in "([":
            depth += 1
        elif not quoted and sign in ")]":
            depth -= 1
        elif not quoted and sign == "+" and depth == 0:
            found.append(text[start:place])
            start = place + 1
    return [*found, text[start:]]


def _weighted(term: str) -> bool:
    match = _TERM.fullmatch(term)
    return match is not None and match[1] is not None


def _part(term: str, policy: Policy) -> Part:
    """Return a query with its weights."""
    match = _TERM.fullmatch(term)
    assert match is not None  # the last group takes anything
    before, rest = match.groups()
    query = parse_query(rest, policy)
    outputs = query.outputs(policy.domain)
    if before is None:
        return Part(query, ONE, outputs)
    listed = before.startswith("[")
    items = before[1:-1].split(",") if listed else [before]
    weights = tuple(_weight(item, term) for item in items)
    if listed and outputs is not None and len(weights) != outputs.count:
        raise QueryError(
            f"{len(weights)} weights, but {query.name} has {outputs.count} outputs\n"
            "  try: one weight for all, or one for each output"
        )
    if listed and outputs is None:
        raise QueryError(
            f"the outputs of {query.name} have no order, so they take one weight\n"
            f"  try: 1/2 * {query.name}"
        )
    return Part(query, weights, outputs)


def _weight(text: str, term: str) -> Fraction:
    try:
        weight = Fraction(exact(text))
    except PolicyError as error:
        hint = error.hint or "1/4 * histogram"
        raise QueryError(f"in {term.strip()}: the weight {error.reason}\n  try: {hint}") from None
    if weight <= 0:
        raise QueryError(
            f"in {term.strip()}: the weight {text} is not above 0\n  try: leave the query out"
        )
    return weight


def _name(part: Part) -> str:
    """Return a term as it is written."""
    if part.weights == ONE:
        return part.query.name
    shown = [show(weight) for weight in part.weights]
    before = shown[0] if part.uniform else f"[{','.join(shown)}]"
    return f"{before}*{part.query.name}"
