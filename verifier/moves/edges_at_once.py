"""Who is joined to whom in G, for many values or boxes at once, in array operations.

Offset graphs look at how far two values lie apart on each axis, so thousands of pairs are decided
together. What is said of boxes only sorts out: boxes that are too far apart for an edge.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import singledispatch
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from blowproof.models import Box, Point, SecretGraph
from blowproof.models.base.clock import SHORT, now
from blowproof.models.domain.classes import ValueClass
from blowproof.models.domain.regions import Positions
from blowproof.models.secrets import OffsetGraph
from blowproof.verifier.limits.limit import whole_limit

__all__ = ["around", "joined", "near", "near_classes", "reaches"]

LARGEST = whole_limit(__name__, "LARGEST")
BLOCK = whole_limit(__name__, "BLOCK")
MOST_BOXES = whole_limit(__name__, "MOST_BOXES")

Flags = NDArray[np.bool_]
Whole = NDArray[np.int64]


def joined(graph: SecretGraph, points: Sequence[Point]) -> Flags:
    """Return for each two of the points whether they are joined in G.

    >>> from blowproof.models import Distance, Domain, Integers
    >>> graph = Distance(threshold=2).bind(Domain(x=Integers(0, 9)))
    >>> joined(graph, [(0,), (2,), (4,)]).astype(int).tolist()
    [[0, 1, 0], [1, 0, 1], [0, 1, 0]]
    """
    count = len(points)
    if graph.complete:
        return ~np.eye(count, dtype=np.bool_)
    found = np.zeros((count, count), dtype=np.bool_)
    offsets = _offsets(graph)
    if offsets is not None:
        places = np.array(points, dtype=np.int64).reshape(count, len(offsets.axes))
        for start in range(0, count, BLOCK):
            part = places[start : start + BLOCK]
            gaps = [np.abs(part[:, k][:, None] - places[:, k]) for k in range(len(offsets.axes))]
            found[start : start + BLOCK] = _charges(offsets, gaps) <= offsets.bound
        np.fill_diagonal(found, val=False)
        return found
    for i, x in enumerate(points):
        for j in range(i):
            found[i, j] = found[j, i] = graph.is_edge(x, points[j])
    return found


def near(
    graph: SecretGraph, left: Sequence[Box], right: Sequence[Box]
) -> Iterator[tuple[int, Whole]]:
    """Yield for each box of `left` those of `right` (by number) that an edge may lead to.

    The boxes are looked at as if they had no holes, so some of these have no edge after all.
    """
    offsets = _offsets(graph)
    if offsets is None:
        everything = np.arange(len(right))
        yield from ((i, everything) for i in range(len(left)))
        return
    lows, highs = _hulls(right)
    for i, box in enumerate(left):
        low, high = _hulls([box])
        gaps = [
            np.maximum(0, np.maximum(lows[k] - high[k], low[k] - highs[k]))
            for k in range(len(offsets.axes))
        ]
        yield i, np.flatnonzero(_charges(offsets, gaps) <= offsets.bound)


def reaches(graph: SecretGraph) -> tuple[int, ...] | None:
    """Return how far an edge leads on each axis at the most (1 where to any other position).

    None where nobody knows.

    >>> from blowproof.models import Distance, Domain, Integers
    >>> domain = Domain(x=Integers(0, 9), y=Integers(0, 9))
    >>> reaches(Distance(threshold=2, attributes=["y"]).bind(domain))
    (0, 2)
    """
    offsets = _offsets(graph)
    return None if offsets is None else tuple(a.reach(offsets.bound) for a in offsets.axes)


def around(graph: SecretGraph, box: Box) -> Box | None:
    """Return a box round all values that an edge from a box leads to; None where nobody knows.

    >>> from blowproof.models import Distance, Domain, Integers
    >>> graph = Distance(threshold=2).bind(Domain(x=Integers(0, 9)))
    >>> around(graph, Box((Positions.span(1, 4),))).sides[0].runs
    ((0, 6),)
    """
    offsets = _offsets(graph)
    if offsets is None:
        return None
    sides = list(box.sides)
    for place, axis in enumerate(offsets.axes):
        reach = axis.reach(offsets.bound)
        if axis.line:
            low, high = sides[place].runs[0][0] - reach, sides[place].runs[-1][1] + reach
            sides[place] = Positions.span(max(0, low), min(axis.size, high))
        elif reach:
            sides[place] = Positions.span(0, axis.size)
    return Box(tuple(sides))


def near_classes(
    graph: SecretGraph, classes: Sequence[ValueClass], *, deadline: float | None
) -> Flags | None:
    """Return for each two classes whether an edge of G may lead from one to the other.

    False is certain, True is not. None where that takes too long.
    """
    if _offsets(graph) is None:
        return None
    boxes: list[Box] = []
    owner: list[int] = []
    for place, item in enumerate(classes):
        if deadline is not None and now(SHORT) > deadline:
            return None
        held = list(islice(item.boxes(), MOST_BOXES + 1))
        boxes += held if len(held) <= MOST_BOXES else [_around(item)]
        owner += [place] * (len(boxes) - len(owner))
    owners = np.array(owner, dtype=np.int64)
    found = np.zeros((len(classes), len(classes)), dtype=np.bool_)
    for i, others in near(graph, boxes, boxes):
        if deadline is not None and i % BLOCK == 0 and now() > deadline:
            return None
        found[owner[i], owners[others]] = True
    return found


def _around(item: ValueClass) -> Box:
    """Return a box that holds a class."""
    sides: tuple[Positions, ...] | None = None
    for box in item.boxes():
        if sides is None:
            sides = box.sides
        else:
            sides = tuple(_hull(a, b) for a, b in zip(sides, box.sides, strict=True))
    assert sides is not None
    return Box(sides)


def _hull(one: Positions, two: Positions) -> Positions:
    low = min(one.runs[0][0], two.runs[0][0])
    return Positions.span(low, max(one.runs[-1][1], two.runs[-1][1]))


@singledispatch
def _offsets(graph: SecretGraph) -> OffsetGraph | None:
    """Return the graph, if what it charges for offsets says all, in numbers of 64 bits; or None."""
    return None


@_offsets.register
def _that_fit(graph: OffsetGraph) -> OffsetGraph | None:
    widest = max((attribute.size for _, attribute in graph.domain.attributes), default=0)
    most = max(widest, sum(axis.cost(axis.longest) for axis in graph.axes))
    return graph if most < LARGEST else None


def _charges(graph: OffsetGraph, gaps: Sequence[Whole]) -> Whole:
    """What G charges for these gaps between positions, axis by axis."""
    total: Whole | None = None
    for axis, gap in zip(graph.axes, gaps, strict=True):
        steps = gap if axis.line else (gap > 0).astype(np.int64)
        cost = axis.weight * (steps * steps if axis.power == 2 else steps)
        if total is None:
            total = cost
        else:
            total = total + cost if graph.together == "sum" else np.maximum(total, cost)
    assert total is not None
    return total


def _hulls(boxes: Sequence[Box]) -> tuple[Whole, Whole]:
    """The first and the last position of each box, an axis a row."""
    lows = [[side.runs[0][0] for side in box.sides] for box in boxes]
    highs = [[side.runs[-1][1] - 1 for side in box.sides] for box in boxes]
    return np.array(lows, dtype=np.int64).T, np.array(highs, dtype=np.int64).T
