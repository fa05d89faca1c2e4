"""Quantiles of one ordered attribute, from its estimated counts: they cost nothing more.

The q-quantile is the first value up to which at least a share q of the records lies. Its interval
follows from that of the prefixes: where the count up to a value may be q n, as far as their errors
say. It is an interval for values, and as long as the attribute's steps are wide.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import singledispatch

import numpy as np
from numpy.typing import NDArray

from blowproof.models import BoundQuery, Domain, QueryError, Value
from blowproof.models.queries.kinds import Cumulative, Histogram, MarginalQuery

__all__ = ["Quantile", "along_one_attribute", "axis_of", "quantiles", "shares_of"]

LONGEST = 40
"""Signs of a number that is read."""

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Quantile:
    """A quantile, and the ends of an interval of about 95 % (None: the errors are not known)."""

    share: Fraction
    value: Value
    low: Value | None
    high: Value | None


def shares_of(texts: Sequence[str]) -> tuple[Fraction, ...]:
    """Return the shares that are asked for; refuse what does not lie between 0 and 1.

    >>> [str(share) for share in shares_of(["1/4", "0.5"])]
    ['1/4', '1/2']
    """
    found = []
    for text in texts:
        try:
            share = Fraction(text) if len(text) <= LONGEST else Fraction(-1)
        except (ValueError, ZeroDivisionError):
            share = Fraction(-1)
        if not 0 < share < 1:
            raise QueryError(f"a quantile's share lies between 0 and 1: {text}\n  try: 1/2")
        found.append(share)
    return tuple(found)


def axis_of(query: BoundQuery, domain: Domain) -> int:
    """Return the one ordered attribute that a query counts, or refuse the query."""
    axis = query.counted_along(domain)
    kinds = Cumulative, Histogram, MarginalQuery
    if axis is None or not isinstance(query, kinds) or not domain.attribute(axis).ordered:
        raise QueryError(
            f"quantiles follow from the counts of one ordered attribute, and {query.name} has none"
            "\n  try: --query 'cumulative(A)' or 'marginal(A)'"
        )
    return axis


@singledispatch
def along_one_attribute(
    query: BoundQuery, answers: Floats, errors: Floats | None
) -> tuple[Floats, Floats | None]:
    """Return the count of each value of an attribute, and the errors of the counts up to each."""
    raise QueryError(f"{query.name} does not count one attribute (`axis_of`)")


@along_one_attribute.register
def _cumulative(
    query: Cumulative, answers: Floats, errors: Floats | None
) -> tuple[Floats, Floats | None]:
    return np.diff(answers, prepend=0.0), errors


@along_one_attribute.register(Histogram)
@along_one_attribute.register(MarginalQuery)
def _cells(
    query: BoundQuery, answers: Floats, errors: Floats | None
) -> tuple[Floats, Floats | None]:
    return answers, None if errors is None else np.sqrt(np.cumsum(errors**2))


def quantiles(
    domain: Domain,
    axis: int,
    counts: Floats,
    shares: Sequence[Fraction],
    errors: Floats | None,
) -> list[Quantile]:
    """Return quantiles of an attribute from the counts of its values, and the prefixes' errors."""
    kind = domain.attribute(axis)
    if not kind.ordered:
        raise QueryError(
            f"{domain.names[axis]} has no order, and so no quantiles"
            "\n  try: ordered = true, or numbers"
        )
    below = np.maximum.accumulate(np.cumsum(counts))
    total = float(below[-1])
    found = []
    for share in shares:
        goal = float(share) * total
        ends: list[Value | None] = [None, None]
        if errors is not None:
            far = 1.96 * errors
            ends = [_at(kind, below + far, goal), _at(kind, below - far, goal)]
        value = _at(kind, below, goal)
        found.append(Quantile(share, value, *ends))
    return found


def _at(kind: object, below: Floats, goal: float) -> Value:
    """Return the first value whose prefix reaches a number; the last one where none does."""
    reached = np.flatnonzero(np.maximum.accumulate(below) >= goal - 1e-9)
    place = int(reached[0]) if len(reached) else len(below) - 1
    found: Value = kind.value(place)  # type: ignore[attr-defined]
    return found
