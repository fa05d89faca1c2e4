"""Moves that no fact notices: the simplest neighbour pairs there are, found in any large domain.

A record that goes from one value to another of the same class changes no count. Along an edge of G
that is a neighbour pair in readings 1 and 2. In reading 3 a record of a class that counts for no
fact comes or goes alone; in reading 4 such a change is a pair by itself, and two of them are one;
and so are four records of a class that counts for no fact, with four values.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from itertools import chain, combinations, islice, product, zip_longest

from blowproof.models import Box, Point, SecretGraph, Setting
from blowproof.models.base.clock import SHORT, now
from blowproof.models.policy.readings import Reading, is_labelled
from blowproof.verifier.asked.answer import Pair
from blowproof.verifier.databases.value_classes import ClassTable
from blowproof.verifier.limits.limit import whole_limit

__all__ = ["idle_pairs"]

BOXES = whole_limit(__name__, "BOXES")
MOST_CORNERS = whole_limit(__name__, "MOST_CORNERS")


def idle_pairs(
    setting: Setting, reading: Reading, table: ClassTable, end: float, rng: random.Random
) -> Iterator[Pair]:
    """Yield pairs (scope "any") of single moves that change no fact, far ones among them.

    Classes that the facts do not tell apart (the query's areas may) are looked at together.
    """
    alike: dict[bytes, list[int]] = {}
    for place, row in enumerate(table.rows):
        alike.setdefault(row.tobytes(), []).append(place)
    order = list(alike.values())
    rng.shuffle(order)
    order.sort(key=lambda places: bool(table.rows[places[0]].any()))  # the largest comes first
    for places in order:
        if now(SHORT) > end:
            return
        place, boxes = places[0], _boxes_of(table, places)
        corners = [list(_corners(box)) for box in boxes]
        if is_labelled(reading):
            for before, after in _joined(setting.graph, boxes, corners):
                yield Pair(before=(before,), after=(after,))
            continue
        points = list(dict.fromkeys(point for found in corners for point in found))
        if reading == "add-remove" and not table.effects[place].any():
            for point in points:
                yield Pair(before=(), after=(point,))
        if reading == "add-remove":
            for before, after in combinations(points[:BOXES], 2):
                yield Pair(before=(before,), after=(after,))
        if reading == "markov":
            yield from _four_cells(boxes, points, counted=bool(table.effects[place].any()))


def _boxes_of(table: ClassTable, places: Sequence[int]) -> list[Box]:
    """Return a few boxes of classes, the first one of each before the second of any."""
    some = [islice(table.classes[place].boxes(), BOXES) for place in places[:BOXES]]
    found = chain.from_iterable(zip_longest(*some))
    return [box for box in found if box is not None][:BOXES]


def _four_cells(boxes: Sequence[Box], points: Sequence[Point], *, counted: bool) -> Iterator[Pair]:
    """Yield pairs of reading 4 within a class, which facts count or do not."""
    if not counted:
        for four in (found for box in boxes for found in _in_the_middle(box)):
            yield Pair(before=(), after=four)
    for before, after in combinations(points, 2):
        yield Pair(before=(before,), after=(after,))
    for four in combinations(points[: 2 * BOXES], 4):
        yield Pair(before=four[:2], after=four[2:])
        if not counted:
            yield Pair(before=(), after=four)


def _in_the_middle(box: Box) -> Iterator[tuple[Point, ...]]:
    """Yield four values that differ on one axis only, and are in the middle of the others."""
    middle = tuple(side.nth(side.size // 2) for side in box.sides)
    for axis, side in enumerate(box.sides):
        if side.size >= 4:
            start = (side.size - 4) // 2
            spots = [side.nth(start + k) for k in range(4)]
            yield tuple((*middle[:axis], spot, *middle[axis + 1 :]) for spot in spots)


def _corners(box: Box) -> Iterator[Point]:
    """Yield the corners of a box, and what lies beside them (a few of many)."""
    ends = []
    for side in box.sides:
        low, high = side.runs[0][0], side.runs[-1][1] - 1
        near = [low, high, side.nth(1), side.nth(side.size - 2)] if side.size > 1 else [low]
        ends.append(list(dict.fromkeys(near)))
    yield from islice(product(*ends), MOST_CORNERS)


def _joined(
    graph: SecretGraph, boxes: Sequence[Box], corners: Sequence[Sequence[Point]]
) -> Iterator[tuple[Point, Point]]:
    """Yield edges of G within a class: between corners, and as far as an edge leads from them."""
    for found in corners:
        for x, y in combinations(found, 2):
            if graph.is_edge(x, y):
                yield x, y
    for box, found in zip(boxes, corners, strict=True):
        for x in found[:BOXES]:
            yield from ((x, y) for y in _reached(graph, box, x) if graph.is_edge(x, y))
    for one, two in combinations(boxes, 2):
        edge = graph.edge_between(one, two)
        if edge is not None:
            yield edge
    for box in boxes:
        edge = graph.edge_between(box, box)
        if edge is not None:
            yield edge


def _reached(graph: SecretGraph, box: Box, x: Point) -> Iterator[Point]:
    """Yield values of a box as far from one of its values as an edge leads along one axis."""
    for place, side in enumerate(box.sides):
        reach = graph.reach_alone(place)
        if reach is None:
            return
        for low, high in side.runs:
            for target in (x[place] + reach, x[place] - reach):
                at = min(max(target, low), high - 1)
                if abs(at - x[place]) <= reach and at != x[place]:
                    yield (*x[:place], at, *x[place + 1 :])
