"""Representatives for a graph that is not complete, found on boxes: ends of edges between classes.

In reading 2 only the signatures of the moves decide what is minimal. So it is enough to know, for
each two classes, whether an edge of G joins them, and to have the ends of some. For a query that is
constant on each class these ends give S(f, P) itself. For the histogram they give every multiset of
effects, and so the largest number of moves; whether its change is twice that number depends on
finding values that do not cancel, for which a few disjoint edges are kept.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import product

from blowproof.models import Box, BudgetError, Point, SecretGraph
from blowproof.models.base.clock import now
from blowproof.models.domain.classes import ValueClass
from blowproof.verifier.limits.limit import whole_limit
from blowproof.verifier.moves.edges_at_once import near

__all__ = ["disjoint_edges", "edge_ends", "near_pairs"]

CLASS_LIMIT = whole_limit(__name__, "CLASS_LIMIT")
BOX_LIMIT = whole_limit(__name__, "BOX_LIMIT")
BOX_PAIR_LIMIT = whole_limit(__name__, "BOX_PAIR_LIMIT")

Boxes = list[tuple[Box, Box]]


def edge_ends(
    graph: SecretGraph,
    classes: Sequence[ValueClass],
    *,
    each: int,
    deadline: float | None = None,
) -> tuple[Point, ...]:
    """Return the ends of up to `each` disjoint edges between (or within) each two classes.

    BudgetError where there are too many classes or boxes, or where the deadline passes.
    """
    found: dict[Point, None] = {}
    boxes = [item.boxes() for item in classes]
    for pairs in near_pairs(graph, boxes, deadline).values():
        if deadline is not None and now() > deadline:
            raise BudgetError("no time was left to look for edges between each two classes")
        for x, y in disjoint_edges(graph, pairs, each):
            found[x] = found[y] = None
    return tuple(found)


def near_pairs(
    graph: SecretGraph, classes: Sequence[Iterable[Box]], deadline: float | None
) -> dict[tuple[int, int], Boxes]:
    """Return for each two classes (boxes of each) the pairs of boxes that an edge may join.

    The class that comes first is named first. BudgetError as for `edge_ends`.
    """
    boxes: list[Box] = []
    owner: list[int] = []
    for place, item in enumerate(classes):
        for box in item:
            boxes.append(box)
            owner.append(place)
        _refuse(len(classes) > CLASS_LIMIT or len(boxes) > BOX_LIMIT, len(classes), len(boxes))
    found: dict[tuple[int, int], Boxes] = defaultdict(list)
    total = 0
    for i, others in near(graph, boxes, boxes):
        kept = others[others >= i].tolist()
        total += len(kept)
        late = deadline is not None and now() > deadline
        _refuse(late or total > BOX_PAIR_LIMIT, len(classes), len(boxes))
        for j in kept:
            found[owner[i], owner[j]].append((boxes[i], boxes[j]))
    return found


def _refuse(too_much: bool, classes: int, boxes: int) -> None:
    if too_much:
        raise BudgetError(
            f"the facts and the query cut the domain into {classes} classes of "
            f"{boxes} boxes or more, too many to look for edges between each two\n"
            "  try: fewer facts, or a coarser query"
        )


def disjoint_edges(graph: SecretGraph, pairs: Boxes, each: int) -> Iterator[tuple[Point, Point]]:
    """Yield up to `each` edges between such boxes, no two with a common end."""
    used: list[Point] = []
    for _ in range(each):
        left = (pair for a, b in pairs for pair in product(_split(a, used), _split(b, used)))
        found = (graph.edge_between(a, b) for a, b in left)
        edge = next((edge for edge in found if edge is not None), None)
        if edge is None:
            return
        yield edge
        used += edge


def _split(box: Box, points: Sequence[Point]) -> list[Box]:
    """Return a box with points cut out."""
    kept = [box]
    for point in points:
        if point in box:
            kept = [
                part
                for piece in kept
                for part in (piece.minus(Box.at(point)) if point in piece else (piece,))
            ]
    return kept
