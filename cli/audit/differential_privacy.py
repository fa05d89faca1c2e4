"""What plain differential privacy would have assumed: any one record changes, nothing is known.

That is S(f, P) for full secrets without known facts (bounded differential privacy, n known): the
largest change when one record goes from one value of the domain to any other. For most queries it
is read off the domain; the others are listed, where the domain is small enough for that.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping

from blowproof.models import BoundQuery, Exact, Policy
from blowproof.models.base.numbers import plain, total
from blowproof.models.queries.kinds import (
    CountQuery,
    Cumulative,
    Histogram,
    MarginalQuery,
    PartitionHistogram,
    Ranges,
    SumQuery,
    WeightedSum,
)

__all__ = ["plain_sensitivity"]

LISTED_VALUES = 50_000
COMPARED_ROWS = 1_500


def plain_sensitivity(policy: Policy, query: BoundQuery) -> Exact | None:
    """Return the sensitivity that plain differential privacy assumes; None if it is not at hand.

    >>> from blowproof.models import Domain, Integers, parse_query
    >>> policy = Policy(domain=Domain(age=Integers(0, 115)))
    >>> [plain_sensitivity(policy, parse_query(text, policy)) for text in ("histogram", "sum(age)")]
    [2, 115]
    """
    if isinstance(query, Histogram):
        return _twice(policy.domain.size > 1)
    if isinstance(query, MarginalQuery):
        return _twice(any(policy.domain.attribute(axis).size > 1 for axis in query.axes))
    if isinstance(query, PartitionHistogram):
        return _twice(policy.graph.components().count > 1)
    if isinstance(query, CountQuery):
        return int(0 < query.area.size < policy.domain.size)
    return _along_axes(policy, query)


def _twice(several: bool) -> int:
    return 2 if several else 0


def _along_axes(policy: Policy, query: BoundQuery) -> Exact | None:
    if isinstance(query, Cumulative):
        return query.size - 1
    if isinstance(query, Ranges):
        # A record that moves m places changes the ranges that hold one of both ends.
        return max(m * (query.size + 1 - m) for m in _steps(query.size))
    if isinstance(query, SumQuery):
        return total(_span(policy, axis) for axis in query.axes)
    if isinstance(query, WeightedSum):
        heaviest = _largest(_size(weight) for weight in query.weights)
        return plain(heaviest * _span(policy, query.axis))
    return _compared(policy, query)


def _steps(size: int) -> set[int]:
    """The moves among which m(N - m) is largest, N = size + 1."""
    middle = (size + 1) // 2
    return {min(max(m, 0), size - 1) for m in (middle, middle + 1)}


def _span(policy: Policy, axis: int) -> Exact:
    attribute = policy.domain.attribute(axis)
    return plain(attribute.coordinate(attribute.size - 1) - attribute.coordinate(0))


def _size(value: Exact) -> Exact:
    return -value if value < 0 else value


def _largest(values: Iterable[Exact]) -> Exact:
    largest: Exact = 0
    for value in values:
        largest = max(largest, value)
    return largest


def _compared(policy: Policy, query: BoundQuery) -> Exact | None:
    """Compare every two contributions (matrices and clusters)."""
    if policy.domain.size > LISTED_VALUES:
        return None
    rows: dict[frozenset[tuple[Hashable, Exact]], Mapping[Hashable, Exact]] = {}
    for point in policy.domain.points():
        row = query.row(point)
        rows[frozenset(row.items())] = row
    if len(rows) > COMPARED_ROWS:
        return None
    distinct = list(rows.values())
    return _largest(_distance(x, y) for place, x in enumerate(distinct) for y in distinct[:place])


def _distance(x: Mapping[Hashable, Exact], y: Mapping[Hashable, Exact]) -> Exact:
    return total(_size(x.get(key, 0) - y.get(key, 0)) for key in {*x, *y})
