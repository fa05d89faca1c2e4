"""Whether boxes share a point, without a look at every pair of them.

On one axis, boxes that share a position form groups; two boxes share a point iff they are in one
group on every axis. So boxes are split into groups axis by axis, always by an axis that keeps the
groups small. Boxes side by side, as cells of a partition mostly are, take time that grows with
their number; where every axis is entangled, a group is looked at pair by pair.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

from blowproof.models.domain.regions import Box

__all__ = ["sharing"]

FEW = 8
"""So many boxes are looked at pair by pair."""

MOST_COPIES = 4
"""In so many groups of one axis a box may be on average; else pairs are no worse."""


def sharing(boxes: Sequence[Box]) -> tuple[int, int] | None:
    """Return the places i < j of two boxes that share a point, or None if there are none.

    Exact: a pair that shares a point is together in some group at every split, so that it is found;
    and a pair is only returned where the two share a position on every axis.
    """
    places = [place for place, box in enumerate(boxes) if box]
    axes = range(len(boxes[0].sides)) if boxes else range(0)
    waiting: list[tuple[list[int], tuple[int, ...]]] = [(places, tuple(axes))]
    while waiting:
        group, open_axes = waiting.pop()
        if len(group) <= FEW:
            pair = _pairwise(boxes, group)
            if pair is not None:
                return pair
            continue
        open_axes, axis, parts = _best_split(boxes, group, open_axes)
        if not open_axes:  # on each axis, some position is in all of them
            return min(group), sorted(group)[1]
        if axis is None:
            pair = _pairwise(boxes, group)
            if pair is not None:
                return pair
            continue
        rest = tuple(other for other in open_axes if other != axis)
        waiting.extend((part, rest) for part in reversed(parts))
    return None


def _best_split(
    boxes: Sequence[Box], group: list[int], axes: tuple[int, ...]
) -> tuple[tuple[int, ...], int | None, list[list[int]]]:
    """Return the axes on which not all boxes share a position, the best of them, and its groups."""
    kept, best, found = [], None, [group] * (MOST_COPIES + 1)
    for place, axis in enumerate(axes):
        parts = _groups(boxes, group, axis)
        if parts is not None and len(parts) == 1 and len(parts[0]) == len(group):
            continue
        kept.append(axis)
        if parts is not None and sum(map(len, parts)) < sum(map(len, found)):
            best, found = axis, parts
            if sum(map(len, parts)) <= len(group):
                return (*kept, *axes[place + 1 :]), best, found
    return tuple(kept), best, found


def _groups(boxes: Sequence[Box], group: list[int], axis: int) -> list[list[int]] | None:
    """Return the largest sets of two boxes or more with a common position; None: far too many.

    Swept from left to right: a set is largest where a box ends after one has begun.
    """
    events = []
    for place in group:
        for low, high in boxes[place].sides[axis].runs:
            events += [(low, 1, place), (high, 0, place)]
    events.sort()
    active: dict[int, None] = {}
    parts: list[list[int]] = []
    grown, copies = False, 0
    for _, begins, place in events:
        if begins:
            active[place] = None
            grown = True
            continue
        if grown and len(active) > 1:
            if len(active) == len(group):
                return [group]
            copies += len(active)
            if copies > MOST_COPIES * len(group):
                return None if not _common(boxes, group, axis) else [group]
            parts.append(list(active))
        grown = False
        del active[place]
    return parts


def _common(boxes: Sequence[Box], group: list[int], axis: int) -> bool:
    """Whether some position on the axis is in all of the boxes."""
    rest = boxes[group[0]].sides[axis]
    for place in group:
        rest = rest & boxes[place].sides[axis]
    return bool(rest)


def _pairwise(boxes: Sequence[Box], group: list[int]) -> tuple[int, int] | None:
    for first, second in combinations(sorted(group), 2):
        pairs = zip(boxes[first].sides, boxes[second].sides, strict=True)
        if all(a & b for a, b in pairs):
            return first, second
    return None
