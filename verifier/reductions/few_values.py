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
* cumulative counts, in any norm that grows with the size of each output's change (all but range):
  cut the axis where the boxes of a class begin or end. Of each class, the first and the last value
  of each piece that it meets are enough. For of a piece from a to b let e records enter a value,
  and l leave one, of whatever classes, and let k be the change of the count up to before a. The
  count up to j, a <= j < b, changes by k + g, -l <= g <= e, so by no more than the larger of |k +
  e| and |k - l|. It does for all these j at once if all that enter go to a and all that leave go
  from b, or the other way round; and the counts up to b and more change by k + e - l as before.
  Between positions that are kept all counts change alike, so that one stands for all of them.
* in reading 4 a cell changes by at most 1 and at most four cells change: four values of each kind.

A partition's graph knows no more than which cell a value lies in: with the cells cut out too, the
same holds for it. In reading 2 with another graph, ends of edges between the classes are kept
instead (see `edge_ends`); for cumulative counts, values with an edge to another class. Otherwise
every possible value is kept, up to a limit.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise, product

from blowproof.models import (
    Area,
    BoundQuery,
    Box,
    BudgetError,
    Point,
    Positions,
    SecretGraph,
    Setting,
)
from blowproof.models.base.clock import SHORT, now
from blowproof.models.domain.classes import ValueClass
from blowproof.models.norms import LINF, RANGE
from blowproof.models.policy.readings import Reading, is_labelled
from blowproof.models.queries.outputs import Outputs
from blowproof.models.queries.query import Row
from blowproof.models.stacks.stacked import Part, Stacked
from blowproof.verifier.databases.value_classes import possible_classes as cut_out
from blowproof.verifier.limits.limit import whole_limit
from blowproof.verifier.moves.edge_ends import edge_ends
from blowproof.verifier.moves.edges_at_once import around, near, reaches
from blowproof.verifier.moves.kinds import Moves

__all__ = ["Core", "corner_points", "possible_classes", "reduce_values"]

VALUE_LIMIT = whole_limit(__name__, "VALUE_LIMIT")
CELL_LIMIT = whole_limit(__name__, "CELL_LIMIT")
SMALL_DOMAIN = whole_limit(__name__, "SMALL_DOMAIN")
DISJOINT_EDGES = whole_limit(__name__, "DISJOINT_EDGES")
MOST_NEAR = whole_limit(__name__, "MOST_NEAR")


@dataclass(frozen=True)
class Core:
    """Representatives, and why these.

    `enough`: S(f, P) over them is S(f, P). Otherwise their neighbours are neighbours, and they have
    every multiset of effects, but the query might change more over others.
    """

    values: tuple[Point, ...]
    reason: str
    enough: bool = True
    query: BoundQuery | None = None
    """What changes by the same numbers over these values, with shorter rows; None: none known."""

    def moves(
        self,
        setting: Setting,
        query: BoundQuery,
        reading: Reading,
        *,
        seed: int = 0,
        deadline: float | None = None,
    ) -> Moves:
        """Return the moves between the values, for the query that they stand for."""
        asked = self.query or query
        return Moves.over(setting, asked, reading, self.values, seed=seed, deadline=deadline)


@dataclass(frozen=True, repr=False)
class _Steps(BoundQuery):
    """Cumulative counts up to a few positions."""

    axis: int
    places: tuple[int, ...]
    name: str = "steps"

    @property
    def longest_row(self) -> int:
        """The number of positions."""
        return len(self.places)

    def row(self, point: Point) -> Row:
        """One record is counted from its position on."""
        return {place: 1 for place in self.places if place >= point[self.axis]}


def _over_few(query: BoundQuery, values: Sequence[Point]) -> BoundQuery | None:
    """Return cumulative counts over the positions that some values have; None for other queries.

    Between two of these all counts change alike, so that each counts as often as there are counts
    up to the next one; the largest change is that of one of them.
    """
    measure, name, weight = query.measure, query.name, Fraction(1)
    if isinstance(query, Stacked):
        (part,) = query.parts
        if not part.uniform:
            return None
        query, weight = part.query, part.weights[0]
    axis, size = query.prefix_axis, query.axis_length
    if axis is None:
        return None
    places = tuple(sorted({point[axis] for point in values}))
    weights = tuple(weight * (end - p) for p, end in pairwise((*places, size)))
    numbers: dict[Hashable, int] = {place: number for number, place in enumerate(places)}
    outputs = Outputs(len(places), numbers.__getitem__)
    some = _Steps(axis, places)
    part = Part(some, (weight,)) if measure is LINF else Part(some, weights, outputs)
    return Stacked((part,), name, measure, size)


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
    along = _prefixes(query) if free and reading != "markov" else None
    if along is not None:
        areas, corners = _pieces(setting, along, cells or [], deadline), (along,)
    few = setting.domain.size <= SMALL_DOMAIN
    axis = _prefixes(query) if reading == "secret-moves" and not few else None
    if not free and axis is not None:
        return _near_borders(setting, query, axis, deadline)
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
    if along is not None:
        values = _ends_of_pieces(classes, along, deadline)
        reason = "ends of the classes on the axis"
    elif corners:
        values = _unique(
            point
            for item in _timely(classes, deadline)
            for point in corner_points(item, corners, each)
        )
        reason = "corners of the classes that the facts cut out"
    else:
        values = tuple(point for item in _timely(classes, deadline) for point in item.take(each))
        reason = f"{each} of each class that the facts and the query cut out"
    asked = None if along is None else _over_few(query, values)
    return Core(
        values, f"{len(values)} values stand for {setting.domain.size}: {reason}", query=asked
    )


def _prefixes(query: BoundQuery) -> int | None:
    """Return the axis of cumulative counts, in a norm in which ends of pieces are enough."""
    if not isinstance(query, Stacked):
        return query.prefix_axis
    several = len(query.parts) > 1 or query.measure is RANGE
    return None if several else query.parts[0].query.prefix_axis


def _pieces(
    setting: Setting, axis: int, cells: Sequence[Area], deadline: float | None
) -> list[Area]:
    """Return the pieces of an axis between the ends of boxes of the classes."""
    cuts = {
        end
        for item in _timely(possible_classes(setting, cells, deadline=deadline), deadline)
        for box in item.boxes()
        for run in box.sides[axis].runs
        for end in run
    }
    sides = setting.domain.whole.sides
    return [
        Area((Box.of((*sides[:axis], Positions.span(*piece), *sides[axis + 1 :])),))
        for piece in pairwise(sorted(cuts))
    ]


def _ends_of_pieces(
    classes: Iterable[ValueClass], axis: int, deadline: float | None
) -> tuple[Point, ...]:
    """Return the first and the last value of each class on an axis."""
    found: list[Point] = []
    for item in _timely(classes, deadline):
        places = {point[axis]: point for point in corner_points(item, (axis,))}
        found += [places[end] for end in sorted({min(places), max(places)})]
    return tuple(found)


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


def _near_borders(setting: Setting, query: BoundQuery, axis: int, deadline: float | None) -> Core:
    """Reading 2, cumulative counts: values with an edge to another box, and a longest move in each.

    In a pair of two moves or more each has an effect, so it leads from one class to another. A move
    without effect is a pair alone: in a box it changes the counts by how far it goes on the axis.

    Where edges lead along the axis alone, R positions far, few of these values are enough, but for
    the largest of all counts. On the other axes one value stands for all that two boxes have in
    common. With the order of all positions of a pair, each piece between two of them has counts
    that change alike, and what they add up to (or their squares do) is linear in the positions;
    these are bounded by ends of boxes, by one another, and by differences of R. So it is largest
    where each is an end of a box, and so many times R more or less.
    """
    graph, found = setting.graph, dict[Point, None]()
    reach = reaches(graph)
    if reach is None:
        return _everything(setting)
    classes = possible_classes(setting, [], deadline=deadline)
    boxes = [box for item in _timely(classes, deadline) for box in item.boxes()]
    straight = query.measure is not LINF and not any(
        far for place, far in enumerate(reach) if place != axis
    )
    step = max(1, reach[axis])
    runs = [run for box in boxes for run in box.sides[axis].runs]
    ends = {end % step for low, high in runs for end in (low, high - 1)}
    seen, reached = 0, [around(graph, box) or box for box in boxes]
    for place, others in near(graph, boxes, boxes):
        if deadline is not None and now() > deadline:
            raise BudgetError("no time was left to look for values near other classes")
        box = boxes[place]
        for other in others.tolist():
            part = box & reached[other]
            if other == place or not part:
                continue
            if straight and part.sides[axis].size * len(ends) > MOST_NEAR * step:
                return _everything(setting)
            if straight:
                kept = _at_ends(part.sides[axis], ends, step)
                part = Box(
                    tuple(kept if k == axis else _first(s) for k, s in enumerate(part.sides))
                )
            seen += part.size
            if seen > MOST_NEAR:
                return _everything(setting)
            found.update(dict.fromkeys(part.points()))
        for move in _longest(box, axis, graph):
            found.update(dict.fromkeys(move))
    if len(found) > VALUE_LIMIT:
        return _everything(setting)
    values = tuple(sorted(found))
    reason = f"{len(values)} values stand for {setting.domain.size}: those with an edge to another"
    return Core(values, f"{reason} class, and longest moves", query=_over_few(query, values))


def _at_ends(side: Positions, ends: Iterable[int], step: int) -> Positions:
    """Return the positions of a side that are so many steps from one of the ends.

    >>> _at_ends(Positions.span(10, 10**12), [3], 10**11 * 4).runs
    ((400000000003, 400000000004), (800000000003, 800000000004))
    """
    return Positions.of(
        position
        for low, high in side.runs
        for end in ends
        for position in range(low + (end - low) % step, high, step)
    )


def _longest(box: Box, axis: int, graph: SecretGraph) -> Iterator[tuple[Point, Point]]:
    """Yield moves in a box along an axis among which a longest one is: from where a run begins."""
    first = [_first(side) for side in box.sides]
    for start, _ in box.sides[axis].runs:
        at = Box((*first[:axis], Positions.span(start, start + 1), *first[axis + 1 :]))
        reached = box & (around(graph, at) or at)
        runs = reached.sides[axis].runs
        for end in (runs[0][0], runs[-1][1] - 1):
            to = Box((*first[:axis], Positions.span(end, end + 1), *first[axis + 1 :]))
            yield at.nth(0), to.nth(0)


def _first(side: Positions) -> Positions:
    """Return the first position alone."""
    return Positions.span(side.runs[0][0], side.runs[0][0] + 1)


def _timely(classes: Iterable[ValueClass], deadline: float | None) -> Iterator[ValueClass]:
    """Yield the classes until the deadline."""
    for item in classes:
        if deadline is not None and now(SHORT) > deadline:
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
