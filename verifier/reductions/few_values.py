"""Fewer values, same answer: representatives of the domain that are enough for S(f, P).

The representatives are values of the domain itself, so an answer about them is an answer in
concrete databases and needs no translation back. What makes them enough:

Where every two values are joined in G, or G plays no part, a pair of databases is minimal or not by
the *signatures* of its moves alone. So two values that no fact tells apart may stand for one
another as far as neighbours go, and only the query decides which of them to keep:

* the histogram: let every record that leaves a class come from the class's first value, and every
  record that enters it go to its second. Nothing cancels any more, so the change is twice the
  number of moves, which no other choice exceeds. Two values of a class are enough.
* a count, a marginal: values of a class that lie in the same cell add the same row. One is enough.
* sums: ||change||_1 is convex in each record's row, so an optimum uses vertices of the convex hull
  of a class's rows: corners of its boxes.
* in reading 4 a cell changes by at most 1 and at most four cells change: four values of each kind.

A partition's graph knows no more than which cell a value lies in: with the cells cut out too, the
same holds for it. In reading 2 with another graph, ends of edges between the classes are kept
instead (see `edge_ends`). Otherwise every possible value is kept, up to a limit.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product

from blowproof.models import (
    Area,
    BoundQuery,
    Box,
    BudgetError,
    Point,
    Setting,
)
from blowproof.models.base.clock import now
from blowproof.models.domain.classes import ValueClass
from blowproof.models.policy.readings import Reading, is_labelled
from blowproof.verifier.databases.value_classes import possible_classes as cut_out
from blowproof.verifier.limits.limit import whole_limit
from blowproof.verifier.moves.edge_ends import edge_ends

__all__ = ["Core", "corner_points", "possible_classes", "reduce_values"]

VALUE_LIMIT = whole_limit(__name__, "VALUE_LIMIT")
CELL_LIMIT = whole_limit(__name__, "CELL_LIMIT")
SMALL_DOMAIN = whole_limit(__name__, "SMALL_DOMAIN")
DISJOINT_EDGES = whole_limit(__name__, "DISJOINT_EDGES")


@dataclass(frozen=True)
class Core:
    """Representatives, and why these.

    `enough`: S(f, P) over them is S(f, P). Otherwise their neighbours are neighbours, and they have
    every multiset of effects, but the query might change more over others.
    """

    values: tuple[Point, ...]
    reason: str
    enough: bool = True


def reduce_values(
    setting: Setting, query: BoundQuery, reading: Reading, *, deadline: float | None = None
) -> Core:
    """Return values of the domain on which S(f, P) is what it is on the whole domain.

    BudgetError where these are too many, or where the deadline passes.
    """
    return setting.kept.get(
        ("core", query, reading),
        lambda: _reduced(setting, query, reading, deadline),
        deadline=deadline,
    )


def _reduced(setting: Setting, query: BoundQuery, reading: Reading, deadline: float | None) -> Core:
    cells = None if setting.graph.complete else setting.graph.cell_areas(CELL_LIMIT)
    free = not is_labelled(reading) or setting.graph.complete or cells is not None
    corners = query.slopes
    if reading == "markov" and corners:  # equal records may not move alike: corners are too few
        return _everything(setting)
    areas = query.areas(setting.domain)
    few = setting.domain.size <= SMALL_DOMAIN
    if not free and reading == "secret-moves" and areas is not None and not corners and not few:
        return _edge_ends(setting, query, areas, deadline)
    if areas is None or not free:
        return _everything(setting)
    classes = possible_classes(setting, [*areas, *(cells or [])], deadline=deadline)
    each = 4 if reading == "markov" else query.few
    if len(classes) > VALUE_LIMIT:
        raise BudgetError(
            f"the facts and the query cut the domain into {len(classes)} classes of values; "
            f"the limit is {VALUE_LIMIT}\n  try: fewer facts, or a coarser query"
        )
    if corners:
        values = _unique(
            point
            for item in _timely(classes, deadline)
            for point in corner_points(item, corners, each)
        )
        reason = "corners of the classes that the facts cut out"
    else:
        values = tuple(point for item in _timely(classes, deadline) for point in item.take(each))
        reason = f"{each} of each class that the facts and the query cut out"
    return Core(values, f"{len(values)} values stand for {setting.domain.size}: {reason}")


def _edge_ends(
    setting: Setting, query: BoundQuery, areas: Sequence[Area], deadline: float | None
) -> Core:
    classes = possible_classes(setting, areas, deadline=deadline)
    several = query.few > 1  # moves of a pair must not meet
    each = DISJOINT_EDGES if several else 1
    ends = edge_ends(setting.graph, classes, each=each, deadline=deadline)
    values = _unique([*ends, *(item.take(1)[0] for item in _timely(classes, deadline))])
    reason = f"{len(values)} values stand for {setting.domain.size}: ends of edges between classes"
    return Core(values, reason, enough=not several)


def _timely(classes: Iterable[ValueClass], deadline: float | None) -> Iterator[ValueClass]:
    """Yield the classes until the deadline."""
    for item in classes:
        if deadline is not None and now() > deadline:
            raise BudgetError("no time was left to choose values of each class")
        yield item


def _everything(setting: Setting) -> Core:
    size = setting.domain.size
    if size > VALUE_LIMIT:
        raise BudgetError(
            f"this graph and this query need the domain's {size} values one by one; "
            f"the limit is {VALUE_LIMIT}\n  try: coarser attributes, or another query"
        )
    values = tuple(x for x in setting.domain.points() if x not in setting.impossible)
    return Core(values, f"all {len(values)} possible values")


def possible_classes(
    setting: Setting, areas: Sequence[Area], *, deadline: float | None = None
) -> Sequence[ValueClass]:
    """Return the classes that facts, clauses and the given areas cut out of the possible values."""
    every = [area for fact in (*setting.equalities, *setting.bounds) for _, area in fact.terms]
    every += [area for clause in setting.clauses for _, area, _ in clause.literals]
    return cut_out(setting, [*every, *areas], deadline=deadline)


def corner_points(item: ValueClass, axes: Sequence[int], each: int = 1) -> Iterable[Point]:
    """Yield values at the ends of a class's boxes along the axes (`each` of them per corner)."""
    for box in item.boxes():
        ends = [_ends(box, axis) for axis in axes]
        for corner in product(*ends):
            sides = list(box.sides)
            for axis, place in zip(axes, corner, strict=True):
                sides[axis] = type(sides[axis]).span(place, place + 1)
            for number, point in enumerate(Box(tuple(sides)).points()):
                if number == each:
                    break
                yield point


def _ends(box: Box, axis: int) -> tuple[int, ...]:
    runs = box.sides[axis].runs
    low, high = runs[0][0], runs[-1][1] - 1
    return (low,) if low == high else (low, high)


def _unique(points: Iterable[Point]) -> tuple[Point, ...]:
    return tuple(dict.fromkeys(points))
