"""The outputs of a query in words, for people who read which of them tell two databases apart."""

from __future__ import annotations

from collections.abc import Hashable

from blowproof.models import Domain, show
from blowproof.models.domain.attributes import Value
from blowproof.models.mechanisms.trees_and_prefixes import PrefixQuery, TreeQuery
from blowproof.models.queries.kinds import (
    ClusterSums,
    Cumulative,
    Histogram,
    MarginalQuery,
    Ranges,
    SumQuery,
)
from blowproof.models.queries.query import BoundQuery

__all__ = ["output_name"]


def output_name(query: BoundQuery, key: Hashable, domain: Domain) -> str:
    """Return what an output counts or adds up.

    >>> from blowproof.models import Integers
    >>> output_name(Cumulative(0, 10, "cumulative(age)"), 3, Domain(age=Integers(18, 27)))
    'cumulative(age): up to 21'
    """
    name = _place(query, key, domain)
    return f"{query.name}: {name}" if name else query.name


def _place(query: BoundQuery, key: Hashable, domain: Domain) -> str:
    if isinstance(query, Histogram) and isinstance(key, tuple):
        return _cell(domain, range(len(domain)), key)
    if isinstance(query, MarginalQuery) and isinstance(key, tuple):
        return _cell(domain, query.axes, key)
    if isinstance(query, TreeQuery) and isinstance(key, tuple):
        level, low = key
        high = next(end for at, start, end in query.above(low) if (at, start) == (level, low))
        return f"level {level}, {_span(domain, query.axis, low, high - 1)}"
    if isinstance(query, Ranges) and isinstance(key, tuple):
        return _span(domain, query.axis, key[0], key[1])
    if isinstance(query, SumQuery) and isinstance(key, int):
        return domain.names[key] if len(query.axes) > 1 else ""
    if isinstance(query, (Cumulative, PrefixQuery)) and isinstance(key, int):
        last = query.end(key) - 1 if isinstance(query, PrefixQuery) else key
        return f"up to {_value(domain, query.axis, last)}"
    if isinstance(query, ClusterSums) and isinstance(key, tuple):
        return f"cluster {key[0] + 1}, {domain.names[key[1]]}"
    return f"output {key + 1}" if isinstance(key, int) else str(key)


def _cell(domain: Domain, axes: range | tuple[int, ...], key: tuple[object, ...]) -> str:
    pairs = zip(axes, key, strict=True)
    return ", ".join(_value(domain, axis, at) for axis, at in pairs if isinstance(at, int))


def _span(domain: Domain, axis: int, low: int, high: int) -> str:
    first = _value(domain, axis, low)
    return first if low == high else f"{first}..{_value(domain, axis, high)}"


def _value(domain: Domain, axis: int, place: int) -> str:
    value: Value = domain.attribute(axis).value(place)
    return value if isinstance(value, str) else show(value)
