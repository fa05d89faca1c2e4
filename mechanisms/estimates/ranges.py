"""One estimate of a cumulative histogram, and all that follows from it at no further cost."""

from __future__ import annotations

from dataclasses import dataclass
from functools import singledispatch

import numpy as np
from numpy.typing import NDArray

from blowproof.mechanisms.answers.true_answers import range_names
from blowproof.mechanisms.answers.vectors import Estimate, cells_of, single
from blowproof.models import BoundQuery, Policy, QueryError
from blowproof.models.queries.arguments import query_name
from blowproof.models.queries.kinds import CountQuery, Cumulative, Ranges

__all__ = ["OrderedCounts", "axis_asked", "query_text"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class OrderedCounts:
    """Estimates of how many records lie below each position of one ordered attribute.

    `below[i]` counts the first i positions, for i = 0..|A|: a range is a difference of two of them.
    """

    policy: Policy
    axis: int
    below: Floats

    def range(self, first: int, last: int) -> float:
        """Return the number of records at the positions first..last, in constant time."""
        return float(self.below[last + 1] - self.below[first])

    def histogram(self) -> Floats:
        """Return the number of records at each position."""
        return np.diff(self.below)

    def cdf(self) -> Floats:
        """Return the share of records up to each position (0 where there are none)."""
        total = self.below[-1]
        return self.below[1:] / total if total > 0 else np.zeros(len(self.below) - 1)

    def quantile(self, share: float) -> int:
        """Return the first position up to which at least this share of the records lies."""
        place = int(np.searchsorted(self.below[1:], share * self.below[-1] - 1e-9))
        return min(place, len(self.below) - 2)

    def answer(self, query: BoundQuery) -> Estimate:
        """Return the estimate of any query that counts along this attribute alone."""
        return _estimate(query, self)


@singledispatch
def _estimate(query: BoundQuery, counts: OrderedCounts) -> Estimate:
    """Return the count at each position: what a histogram of the one attribute is."""
    return Estimate(counts.histogram(), cells_of(counts.policy.domain, (counts.axis,)))


@_estimate.register
def _cumulative(query: Cumulative, counts: OrderedCounts) -> Estimate:
    return Estimate(counts.below[1:], cells_of(counts.policy.domain, (counts.axis,)))


@_estimate.register
def _ranges(query: Ranges, counts: OrderedCounts) -> Estimate:
    low, high = np.triu_indices(query.size)
    names = range_names(counts.policy.domain, counts.axis)
    return Estimate(counts.below[high + 1] - counts.below[low], names)


@_estimate.register
def _count(query: CountQuery, counts: OrderedCounts) -> Estimate:
    held = np.zeros(len(counts.below) - 1, dtype=bool)
    for box in query.area.boxes:
        for low, high in box.sides[counts.axis].runs:
            held[low:high] = True
    total = float(counts.histogram()[held].sum())
    return Estimate([total], single([query.name], column="query"))


def axis_asked(query: BoundQuery, policy: Policy, mechanism: str) -> int:
    """Return the one ordered attribute along which a query counts, or refuse the query."""
    axis = query.counted_along(policy.domain)
    if axis is None or not policy.domain.attribute(axis).ordered:
        raise QueryError(
            f"the mechanism {mechanism!r} answers counts along one ordered attribute, and "
            f"{query.name} is none\n  try: cumulative(A), range(A,LOW,HIGH), ranges(A) or "
            "marginal(A), or --mechanism laplace"
        )
    return axis


def query_text(kind: str, name: str) -> str:
    """Return a query on one attribute as the contract writes it.

    >>> query_text("cumulative", "age"), query_text("cumulative", "a,b")
    ('cumulative(age)', 'cumulative("a,b")')
    """
    return query_name(kind, [name])
