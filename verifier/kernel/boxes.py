"""Points, sides and boxes: sets of values on a grid, and which of many boxes holds a point."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import accumulate
from operator import xor

Point = tuple[int, ...]
Side = tuple[tuple[int, int], ...]
Box = tuple[Side, ...]
Area = tuple[Box, ...]

MOST_BITS = 1 << 29


def inside(point: Point, area: Sequence[Box]) -> bool:
    """Whether a point lies in an area."""
    for box in area:
        for p, side in zip(point, box, strict=True):
            for a, b in side:
                if a <= p < b:
                    break
            else:
                break
        else:
            return True
    return False


def first(box: Box) -> Point:
    """Return the first point of a box."""
    return tuple(side[0][0] for side in box)


def single(point: Point) -> Box:
    """Return the box of a point."""
    return tuple(((p, p + 1),) for p in point)


def cuts(sides: Sequence[Side]) -> Iterator[tuple[int, int]]:
    """Yield where sides begin or end, in order, and the sides from there on as a bit set."""
    toggles: dict[int, int] = {}
    for bit, side in enumerate(sides):
        for end in (end for run in side for end in run):
            toggles[end] = toggles.get(end, 0) ^ 1 << bit
    places = sorted(toggles)
    return zip(places, accumulate((toggles[place] for place in places), xor), strict=True)


class Finder:
    """Finds those of many boxes that hold a point. An axis on which boxes differ is cut where
    their sides begin and end, and keeps for each piece the boxes that are there, as a bit set.

    `cost`: how many steps one look takes. Beyond MOST_BITS, axes are left out and boxes tried.
    """

    def __init__(self, boxes: Sequence[Box]) -> None:
        self.boxes, self.every, self.cost = boxes, (1 << len(boxes)) - 1, 1
        self.axes: list[tuple[int, list[int], list[int]]] = []
        room = MOST_BITS
        for k, sides in enumerate(zip(*boxes, strict=True)):
            if len(set(sides)) > 1:
                room -= sum(map(len, sides)) * len(boxes)
                self.cost += len(boxes) // 512 + 2 if room > 0 else 4 * len(boxes)
                if room > 0:
                    starts, there = zip(*cuts(sides), strict=True)
                    self.axes.append((k, [*starts], [*there]))

    def first(self, point: Point) -> int | None:
        """Return the place of the first box that holds a point, None if none does."""
        return next(self.holding(point), None)

    def holding(self, point: Point) -> Iterator[int]:
        """Yield the places of the boxes that hold a point, in order."""
        left = self.every
        for k, starts, there in self.axes:
            place = bisect_right(starts, point[k])
            left &= there[place - 1] if place else 0
        while left:
            low = left & -left
            if inside(point, self.boxes[low.bit_length() - 1 : low.bit_length()]):
                yield low.bit_length() - 1
            left ^= low
