"""Representatives for a graph that is not complete, found on boxes: ends of edges between classes.

In reading 2 only the signatures of the moves decide what is minimal. So it is enough to know, for
each two classes, whether an edge of G joins them, and to have the ends of some. For a query that is
constant on each class these ends give S(f, P) itself. For the histogram they give every multiset of
effects, and so the largest number of moves; whether its change is twice that number depends on
finding values that do not cancel, for which a few disjoint edges are kept.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from blowproof.models import Box, BudgetError, Point, SecretGraph
from blowproof.models.classes import ValueClass

__all__ = ["edge_ends"]

CLASS_LIMIT = 400
BOX_PAIR_LIMIT = 400_000


def edge_ends(graph: SecretGraph, classes: Sequence[ValueClass], *, each: int) -> tuple[Point, ...]:
    """Return the ends of up to `each` disjoint edges between (or within) each two classes."""
    boxes = [list(item.boxes()) for item in classes]
    pairs = sum(len(a) for a in boxes) ** 2 // 2
    if len(classes) > CLASS_LIMIT or pairs > BOX_PAIR_LIMIT:
        raise BudgetError(
            f"the facts and the query cut the domain into {len(classes)} classes of "
            f"{sum(map(len, boxes))} boxes, too many to look for edges between each two\n"
            "  try: fewer facts, or a coarser query"
        )
    found: dict[Point, None] = {}
    for first, left in enumerate(boxes):
        for right in boxes[first:]:
            for x, y in _disjoint_edges(graph, left, right, each):
                found[x] = found[y] = None
    return tuple(found)


def _disjoint_edges(
    graph: SecretGraph, left: Sequence[Box], right: Sequence[Box], each: int
) -> Iterator[tuple[Point, Point]]:
    """Yield up to `each` edges between two unions of boxes, no two with a common end."""
    for _ in range(each):
        edge = _some_edge(graph, left, right)
        if edge is None:
            return
        yield edge
        left, right = _without(left, edge), _without(right, edge)


def _some_edge(
    graph: SecretGraph, left: Sequence[Box], right: Sequence[Box]
) -> tuple[Point, Point] | None:
    for a in left:
        for b in right:
            edge = graph.edge_between(a, b)
            if edge is not None:
                return edge
    return None


def _without(boxes: Sequence[Box], points: Sequence[Point]) -> list[Box]:
    kept = list(boxes)
    for point in points:
        kept = [part for box in kept for part in _split(box, point)]
    return kept


def _split(box: Box, point: Point) -> tuple[Box, ...]:
    return box.minus(Box.at(point)) if point in box else (box,)
