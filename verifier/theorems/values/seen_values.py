"""Values of each class that show every row of a query that there is in the class.

A query looks at some attributes only (`axes_read`): values that agree there have the same row,
so that one for each combination of positions is enough. Of sums, and of cumulative counts where
only the ends of a class matter, corners of boxes are enough: a norm is convex in each row, and
rows are linear in the positions.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from math import prod

from blowproof.models import Area, BoundQuery, Point, Setting
from blowproof.models.base.clock import now
from blowproof.models.domain.classes import ValueClass, firsts
from blowproof.models.domain.regions import Positions
from blowproof.verifier.databases.value_classes import ClassTable, class_table
from blowproof.verifier.limits.limit import whole_limit

__all__ = ["seen_values"]

MOST_SEEN = whole_limit(__name__, "MOST_SEEN")


def seen_values(
    setting: Setting, query: BoundQuery, table: ClassTable, *, end: float | None = None
) -> list[list[Point]] | None:
    """Return, for each class of a table, values with all its rows; None where they are too many.

    TimeoutError where the time is over.

    >>> from blowproof.models import Count, Domain, Integers, Labels, Policy, parse_query, setting
    >>> policy = Policy(domain=Domain(sex=Labels(["F", "M"]), age=Integers(0, 9)),
    ...                 known=(Count({"sex": "F"}),))
    >>> found = setting(policy)
    >>> seen_values(found, parse_query("marginal(sex)", policy), class_table(found))
    [[(1, 0)], [(0, 0)]]
    """
    axes = sorted(query.axes_read(setting.domain))
    areas = query.counted_areas(setting.domain)
    if areas is not None and len(areas) < prod(setting.domain.attribute(k).size for k in axes):
        by_areas = _by_areas(setting, areas, table, end)
        if by_areas is not None:
            return by_areas
    found, left = [], MOST_SEEN
    for item in table.classes:
        values = _of_class(query, item, axes, left, end)
        if values is None:
            return None
        left -= len(values)
        found.append(values)
    return found


def _by_areas(
    setting: Setting, areas: Sequence[Area], table: ClassTable, end: float | None
) -> list[list[Point]] | None:
    finer = class_table(setting, tuple(areas), deadline=end)
    if finer.extra != table.extra:  # a table of other facts, bounds too, numbers areas otherwise
        return None
    places = {item.inside: place for place, item in enumerate(table.classes)}
    found: list[list[Point]] = [[] for _ in table.classes]
    for item, (point,) in zip(finer.classes, firsts(finer.classes, 1), strict=True):
        inside = frozenset(area for area in item.inside if area < table.extra)
        if inside in places:  # a table of some of the classes has no place for the others
            found[places[inside]].append(point)
    return found


def _of_class(
    query: BoundQuery, item: ValueClass, axes: Sequence[int], most: int, end: float | None
) -> list[Point] | None:
    ends = query.widest_at_ends
    found: dict[tuple[int, ...], Point] = {}
    for number, box in enumerate(item.boxes()):
        if end is not None and number % 64 == 0 and now() > end:
            raise TimeoutError
        sides = [box.sides[axis] for axis in axes]
        if not ends and prod(side.size for side in sides) > most:
            return None  # no two of them are the same
        start = [side.nth(0) for side in box.sides]
        for spots in product(*(_ends(side) if ends else side for side in sides)):
            if spots not in found:
                for axis, spot in zip(axes, spots, strict=True):
                    start[axis] = spot
                found[spots] = tuple(start)
                if len(found) > most:
                    return None
    return list(found.values())


def _ends(side: Positions) -> tuple[int, ...]:
    low, high = side.runs[0][0], side.runs[-1][1] - 1
    return (low,) if low == high else (low, high)
