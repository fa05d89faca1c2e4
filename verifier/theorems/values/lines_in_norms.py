"""Cumulative counts and all ranges of an axis, in norms beside l1, when classes exchange records.

*Statement.* Let each of some classes exchange a record once, and k_j of them lie on both sides of
cut j. Cumulative counts change by u_j with |u_j| <= k_j; all records going from the first position
of their class to the last, every u_j = k_j, which is worst in l2-squared and linf. Two outputs i, j
differ by as many classes as lie on both sides of cut i or of cut j. All ranges change by
differences u_j - u_i (see `cuts`): by the same in linf, by twice that in range, and in squares by

    sum over i < j of (u_j - u_i)^2 = m sum u_j^2 - (sum u_j)^2 <= m sum k_j^2 for m cuts

(the outermost ones included), nor by more than the worst exchanges of each class, together, nor by
more than the best directions of all classes allow (see `cuts`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import singledispatch

from blowproof.models import BoundQuery, Exact, Point
from blowproof.models.base.numbers import plain
from blowproof.models.norms import L2_SQUARED, LINF, RANGE
from blowproof.models.queries.cumulative import Cumulative
from blowproof.models.queries.ranges import Ranges
from blowproof.models.stacks.stacked import Stacked
from blowproof.verifier.limits.limit import whole_limit
from blowproof.verifier.theorems.values.class_changes import Chosen, stepped
from blowproof.verifier.theorems.values.cuts import best_steps, by_directions, crossed
from blowproof.verifier.theorems.values.in_norms import together, whole_size

__all__ = ["on_a_line"]

MOST_CROSSINGS = whole_limit(__name__, "MOST_CROSSINGS")

Spots = Sequence[Mapping[int, Point]]
"""For each class, a value at each position that it has on the axis."""
Steps = Sequence[tuple[int, int]]
"""For each class, the positions from which and to which its record goes."""


def on_a_line(query: Stacked, values: Sequence[Sequence[Point]], end: float) -> Chosen | None:
    """Return the best choice for cumulative counts, or all ranges, of one axis; else None.

    `values` shows both ends of each class on the axis.
    """
    part, *others = query.parts
    if others or not part.uniform or query.measure not in (L2_SQUARED, LINF, RANGE):
        return None
    return _of(part.query, query, values, end)


@singledispatch
def _of(
    inner: BoundQuery, query: Stacked, values: Sequence[Sequence[Point]], end: float
) -> Chosen | None:
    return None


@_of.register
def _cumulative(
    inner: Cumulative, query: Stacked, values: Sequence[Sequence[Point]], end: float
) -> Chosen:
    spots = [{point[inner.axis]: point for point in points} for points in values]
    spans = _spans(spots)
    runs, weight = crossed(spans, inner.size), query.parts[0].weights[0]
    if query.measure is L2_SQUARED:
        upper = weight * sum(most * most * length for most, length in runs)
    elif query.measure is LINF:
        upper = weight * max(most for most, _ in runs)
    else:
        upper = weight * _most_on_two_cuts(spans)
    return _best(query, spots, plain(upper), [spans, _by_turns(spans)])


@_of.register
def _ranges(inner: Ranges, query: Stacked, values: Sequence[Sequence[Point]], end: float) -> Chosen:
    spots = [{point[inner.axis]: point for point in points} for points in values]
    spans, weight = _spans(spots), query.parts[0].weights[0]
    widest = list(_widest(inner, spots))
    squares, ways = query.measure is L2_SQUARED, None
    if squares:
        crossing = sum(most * most * length for most, length in crossed(spans, inner.size))
        alone = [
            query.norm({found[low]: -1, found[high]: 1})
            for found, (low, high) in zip(spots, widest, strict=True)
            if low != high
        ]
        apart = together(L2_SQUARED, [(size, 1) for size in alone], None)
        upper = whole_size(query, (), min(weight * (inner.size + 1) * crossing, apart))
        directed = by_directions(spans, inner.size, squares=True, end=end)
        if directed is not None:
            upper, ways = min(upper, plain(weight * directed[0])), directed[1]
    else:
        times = 2 if query.measure is RANGE else 1
        upper = plain(weight * times * _most_on_two_cuts(spans))
    tried = _best(query, spots, upper, [spans, widest, _by_turns(spans)])
    if tried.lower == upper:
        return tried
    places = [list(found) for found in spots]
    steps = best_steps(places, inner.size, squares=squares, start=ways, end=end)
    return max(tried, _best(query, spots, upper, [steps]), key=lambda each: each.lower)


def _spans(spots: Spots) -> list[tuple[int, int]]:
    return [(min(found), max(found)) for found in spots]


def _best(query: Stacked, spots: Spots, upper: Exact, every: Sequence[Steps]) -> Chosen:
    """Return the best of some choices, as the query itself measures them."""
    best = Chosen(0, upper, ())
    for steps in every:
        found = stepped(query, spots, steps, upper)
        if found.lower > best.lower:
            best = found
        if found.lower == upper:
            break
    return best


def _most_on_two_cuts(spans: Sequence[tuple[int, int]]) -> int:
    """Return how many classes lie on both sides of one of two cuts, for the best two (or more).

    Most lie on both sides of a cut right after the first position of some class.
    """
    wide = [(low, high) for low, high in spans if low < high]
    cuts = sorted({low for low, _ in wide})
    if len(cuts) ** 2 * len(wide) > MOST_CROSSINGS:
        return len(wide)
    crossing = [{k for k, (low, high) in enumerate(wide) if low <= cut < high} for cut in cuts]
    return max((len(one | two) for one in crossing for two in crossing), default=0)


def _widest(inner: Ranges, spots: Spots) -> Iterator[tuple[int, int]]:
    """Yield, for each class, two positions whose exchange changes most ranges.

    All changes of one exchange are 1 or -1, so that their squares are as many as they are.
    """
    for found in spots:
        places = sorted(found)
        middle = (inner.size + 1) / 2
        yield min(
            ((low, high) for low in places for high in places if low < high),
            key=lambda both: abs(both[1] - both[0] - middle),
            default=(places[0], places[0]),
        )


def _by_turns(spans: Sequence[tuple[int, int]]) -> Steps:
    """Return one span up, the next one down."""
    turn = {span: k % 2 for k, span in enumerate(sorted(set(spans)))}
    return [(high, low) if turn[low, high] else (low, high) for low, high in spans]
