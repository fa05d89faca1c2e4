"""Attributes that a query looks at, and those that facts speak of: where they have nothing in
common, every class of values offers the same changes of the query.

Whether a value is possible, and which facts count it, then does not depend on the query's
attributes. So a record of any class may hold any values there, and one move between any two classes
may make the largest change that there is.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from blowproof.models import BoundQuery, Domain, Exact, Point, Setting
from blowproof.models.domain.classes import collapse, firsts
from blowproof.models.norms import L1
from blowproof.models.stacks.stacked import Stacked
from blowproof.verifier.theorems.values.class_changes import best_changes
from blowproof.verifier.theorems.values.in_norms import free_edge

__all__ = [
    "Change",
    "axes_of_facts",
    "free_change_of",
    "largest_free",
    "moved",
]


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
    return setting.domain.restricted([*areas, setting.impossible])


def free_change_of(query: BoundQuery, setting: Setting) -> Change | None:
    """Return the largest change of one move where all values are possible, in the query's norm."""
    if query.measure is L1:
        return largest_free(query, setting.domain)
    found = free_edge(setting, query, along=False) if isinstance(query, Stacked) else None
    if found is None or (found[0] and found[1] is None):
        return None
    none = (0,) * len(setting.domain)
    before, after = found[1] or (none, none)
    return Change(before, after, found[0], found[0])


def largest_free(query: BoundQuery, domain: Domain) -> Change | None:
    """Return the largest change, in l1, that one move makes where all values are possible.

    None where it is not known.

    >>> from blowproof.models import Integers, Policy, parse_query
    >>> domain = Domain(age=Integers(0, 9))
    >>> largest_free(parse_query("ranges(age)", Policy(domain=domain)), domain).norm
    30
    """
    pair = query.farthest(domain)
    if pair is None:
        return _among_cells(query, domain)
    low, high = pair
    norm = query.norm({low: -1, high: 1}) if low != high else 0
    return Change(low, high, norm, norm)


def _among_cells(query: BoundQuery, domain: Domain) -> Change | None:
    areas = query.cells(domain)
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
