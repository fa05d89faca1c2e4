"""One estimate of a cumulative histogram, and all that follows from it at no further cost."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from blowproof.mechanisms.answers.true_answers import range_names
from blowproof.mechanisms.answers.vectors import Estimate, Names, cells_of, single
from blowproof.models import BoundQuery, Policy, QueryError
from blowproof.models.queries.kinds import CountQuery, Cumulative, Histogram, MarginalQuery, Ranges
from blowproof.models.queries.parse import query_name

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
        domain = self.policy.domain
        if isinstance(query, Cumulative):
            return Estimate(self.below[1:], cells_of(domain, (self.axis,)))
        if isinstance(query, Ranges):
            low, high = np.triu_indices(query.size)
            return Estimate(self.below[high + 1] - self.below[low], range_names(domain, self.axis))
        if isinstance(query, CountQuery):
            return Estimate([self._area(query)], _one(query))
        return Estimate(self.histogram(), cells_of(domain, (self.axis,)))

    def _area(self, query: CountQuery) -> float:
        held = np.zeros(len(self.below) - 1, dtype=bool)
        for box in query.area.boxes:
            for low, high in box.sides[self.axis].runs:
                held[low:high] = True
        return float(self.histogram()[held].sum())


def _one(query: BoundQuery) -> Names:
    return single([query.name], column="query")


def axis_asked(query: BoundQuery, policy: Policy, mechanism: str) -> int:
    """Return the one ordered attribute along which a query counts, or refuse the query."""
    axis = _axis(query, policy)
    if axis is None or not policy.domain.attribute(axis).ordered:
        raise QueryError(
            f"the mechanism {mechanism!r} answers counts along one ordered attribute, and "
            f"{query.name} is none\n  try: cumulative(A), range(A,LOW,HIGH), ranges(A) or "
            "marginal(A), or --mechanism laplace"
        )
    return axis


def _axis(query: BoundQuery, policy: Policy) -> int | None:
    if isinstance(query, (Cumulative, Ranges)):
        return query.axis
    if isinstance(query, MarginalQuery) and len(query.axes) == 1:
        return query.axes[0]
    if isinstance(query, Histogram) and len(policy.domain) == 1:
        return 0
    if isinstance(query, CountQuery):
        whole = policy.domain.whole.sides
        cut = {
            axis
            for box in query.area.boxes
            for axis, (side, full) in enumerate(zip(box.sides, whole, strict=True))
            if side != full
        }
        return cut.pop() if len(cut) == 1 else None
    return None


def query_text(kind: str, name: str) -> str:
    """Return a query on one attribute as the contract writes it.

    >>> query_text("cumulative", "age"), query_text("cumulative", "a,b")
    ('cumulative(age)', 'cumulative("a,b")')
    """
    return query_name(kind, [name])
