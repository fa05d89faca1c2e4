"""Attributes that a query looks at, and those that facts speak of: where they have nothing in
common, every class of values offers the same changes of the query.

Whether a value is possible, and which facts count it, then does not depend on the query's
attributes. So a record of any class may hold any values there, and one move between any two classes
may make the largest change that there is.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import prod
from typing import NamedTuple

from blowproof.models import Area, BoundQuery, Domain, Exact, Marginal, Point, Setting
from blowproof.models.domain.classes import collapse, firsts
from blowproof.models.queries.kinds import (
    CountQuery,
    Cumulative,
    MarginalQuery,
    PartitionHistogram,
    Ranges,
    SumQuery,
)
from blowproof.verifier.reductions.few_values import query_areas
from blowproof.verifier.theorems.values.class_changes import best_changes

__all__ = [
    "Change",
    "axes_of_facts",
    "axes_of_query",
    "cells_of",
    "largest_free",
    "middle",
    "moved",
]

MOST_CELLS = 2_000


class Change(NamedTuple):
    """The largest change: from the values of one point to those of another, on the query's axes.

    `upper`: no two values differ by more (mostly `norm` itself).
    """

    before: Point
    after: Point
    norm: Exact
    upper: Exact


def axes_of_facts(setting: Setting) -> frozenset[int]:
    """Return the axes on which some fact, or an impossible region, does not hold everything."""
    facts = (*setting.equalities, *setting.bounds)
    areas = [area for fact in facts for _, area in fact.terms]
    areas += [area for clause in setting.clauses for _, area, _ in clause.literals]
    return _axes(setting.domain, [*areas, setting.impossible])


def _axes(domain: Domain, areas: Iterable[Area]) -> frozenset[int]:
    whole = domain.whole.sides
    every = range(len(whole))
    found: set[int] = set()
    for area in areas:
        for box in area.boxes:
            found.update(axis for axis in every if box.sides[axis] != whole[axis])
        if len(found) == len(whole):
            break
    return frozenset(found)


def axes_of_query(query: BoundQuery, domain: Domain) -> frozenset[int]:
    """Return axes that determine the query's row (all of them where that is not known)."""
    if isinstance(query, (MarginalQuery, SumQuery)):
        return frozenset(query.axes)
    if isinstance(query, CountQuery):
        return _axes(domain, [query.area])
    if isinstance(query, PartitionHistogram):
        areas = query_areas(query, domain)
        return frozenset(range(len(domain))) if areas is None else _axes(domain, areas)
    axis = getattr(query, "axis", None)
    return frozenset(range(len(domain))) if axis is None else frozenset([axis])


def cells_of(query: BoundQuery, domain: Domain) -> list[Area] | None:
    """Return areas that cut out values on which the query's row is the same; None: too many."""
    axes = sorted(axes_of_query(query, domain))
    if not isinstance(query, (CountQuery, PartitionHistogram)):
        if prod(domain.attribute(axis).size for axis in axes) > MOST_CELLS:
            return None
        names = [domain.names[axis] for axis in axes]
        return [Area((box,)) for _, box in Marginal(names).cells(domain)] if names else []
    return query_areas(query, domain)


def middle(size: int) -> int:
    """Return the distance of two positions at which most ranges hold one of them and not the other.

    Of the ranges of an axis of m positions, d (p + 1) hold p and not p + d, and d (m - p - d) hold
    p + d and not p: d (m + 1 - d) in all, whatever p is.

    >>> [max(range(1, m), key=lambda d: d * (m + 1 - d)) == middle(m) for m in (2, 5, 8, 116)]
    [True, True, True, True]
    """
    return min(size - 1, (size + 1) // 2)


def largest_free(query: BoundQuery, domain: Domain) -> Change | None:
    """Return the largest change that one move makes where all values are possible.

    None where it is not known.

    >>> from blowproof.models import Integers, Policy, parse_query
    >>> domain = Domain(age=Integers(0, 9))
    >>> largest_free(parse_query("ranges(age)", Policy(domain=domain)), domain).norm
    30
    """
    low = domain.whole.nth(0)
    high = domain.whole.nth(domain.whole.size - 1)
    if isinstance(query, (MarginalQuery, SumQuery, Cumulative)):
        pass
    elif isinstance(query, Ranges):
        high = tuple(middle(query.size) if k == query.axis else x for k, x in enumerate(low))
    else:
        return _among_cells(query, domain)
    norm = query.norm({low: -1, high: 1}) if low != high else 0
    return Change(low, high, norm, norm)


def _among_cells(query: BoundQuery, domain: Domain) -> Change | None:
    areas = cells_of(query, domain)
    if areas is None:
        return None
    values = [x for (x,) in firsts(collapse(domain, areas), 1)]
    found = best_changes(query, [values])
    x, y = found.pairs[0] if found.pairs else (values[0], values[0])
    return Change(x, y, found.lower, found.upper)


def moved(point: Point, to: Point, axes: Iterable[int]) -> Point:
    """Return a point with another's positions on some axes."""
    found = list(point)
    for axis in axes:
        found[axis] = to[axis]
    return tuple(found)
