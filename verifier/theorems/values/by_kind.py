"""The best differences of values, one in each class, by what a kind of query knows about itself.

Cumulative counts and ranges know it along their axis; for other kinds rows are compared
(`class_changes`).

*Many exchanges.* Let class c exchange a record n_c times, n_c <= k for each class, and no more than
M times in all. In l1 the query changes by no more than the sum of n_c m_c, m_c being the largest
difference of two rows of class c: k times the largest m_c, until the M exchanges are used up. (In
other norms: `in_norms`.)
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import singledispatch

from blowproof.models import BoundQuery, Exact, Point
from blowproof.models.base.clock import now
from blowproof.models.norms import L1
from blowproof.models.queries.cumulative import AlongAxis, Cumulative
from blowproof.models.queries.ranges import Ranges, middle
from blowproof.models.stacks.stacked import Stacked
from blowproof.verifier.asked.question import Question
from blowproof.verifier.databases.value_classes import ClassTable
from blowproof.verifier.theorems.values.class_changes import Chosen, best_changes, stepped
from blowproof.verifier.theorems.values.cuts import best_steps, by_directions, crossed, ranges_above
from blowproof.verifier.theorems.values.in_norms import (
    above_in_classes,
    best_by_orders,
    best_in_norm,
    filled,
    values_in,
)
from blowproof.verifier.theorems.values.lines_in_norms import on_a_line

__all__ = ["best_in", "best_of", "most_in_classes"]


def most_in_classes(
    question: Question,
    table: ClassTable,
    home: Sequence[int],
    each: int,
    most: int,
    *,
    end: float,
    cell: int | None = None,
) -> Exact | None:
    """Return what a pair changes a query by at the most, in every norm (see `above_in_classes`)."""
    query = question.query
    if query.measure is not L1:
        return above_in_classes(question, table, home, each, most, end=end, cell=cell)
    classes = values_in(question, table, home, end)
    widest: dict[tuple[Point, ...], Exact] = {}  # many classes have the same rows
    for values in classes or ():
        if tuple(values) not in widest:
            found = None if now() > end else best_in(query, values=[values], end=end)
            if found is None:
                return None
            widest[tuple(values)] = found.upper
    if classes is None:
        return None
    return filled([(widest[tuple(values)], each) for values in classes], most)


def best_in(query: BoundQuery, values: Sequence[Sequence[Point]], end: float) -> Chosen | None:
    """Return the best differences, one in each class, in the query's norm; None: too many rows."""
    if isinstance(query, Stacked) and query.measure is not L1:
        line = on_a_line(query, values, end) or best_by_orders(query, values)
        return line or best_in_norm(query, values, end=end)
    return best_of(query, values, end)


@singledispatch
def best_of(query: BoundQuery, values: Sequence[Sequence[Point]], end: float) -> Chosen:
    """Return the best differences, one in each class, by the rows of its values.

    They have to be all rows of the class, or for cumulative counts the ends.
    """
    return best_changes(query, values, end=end)


@best_of.register
def _cumulative(query: Cumulative, values: Sequence[Sequence[Point]], end: float) -> Chosen:
    """Every class moves up its axis, from one end to the other.

    They change by the distance, none against another.
    """
    spots = _spots(query, values)
    spans = [(min(found), max(found)) for found in spots]
    return stepped(query, spots, spans, sum(high - low for low, high in spans))


@best_of.register
def _ranges(query: Ranges, values: Sequence[Sequence[Point]], end: float) -> Chosen:
    """See `cuts`."""
    spots = _spots(query, values)
    spans = [(min(found), max(found)) for found in spots]
    apart = sum(_most_at_once(sorted(found), query.size) for found in spots)
    upper = min(apart, ranges_above(crossed(spans, query.size)))
    directed = by_directions(spans, query.size, squares=False, end=end)
    upper = upper if directed is None else min(upper, directed[0])
    steps = best_steps([list(found) for found in spots], query.size, end=end)
    return stepped(query, spots, steps, upper)


def _spots(query: AlongAxis, values: Sequence[Sequence[Point]]) -> list[dict[int, Point]]:
    """Return, for each class, a value at each position that it has on the query's axis."""
    return [{point[query.axis]: point for point in points} for points in values]


def _most_at_once(spots: Sequence[int], size: int) -> int:
    """Return how many ranges one of two of these positions lies in and the other does not."""
    best = middle(size)
    if spots[-1] - spots[0] <= best:
        distance = spots[-1] - spots[0]
        return distance * (size + 1 - distance)
    held = sum(1 << spot - spots[0] for spot in spots)
    for distance in sorted(range(1, size), key=lambda d: (-d * (size + 1 - d), abs(d - best))):
        if held & held >> distance:
            return distance * (size + 1 - distance)
    return 0
