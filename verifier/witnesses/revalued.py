"""The same moves between the same classes, by the values that suit another query best.

Facts know only which class a value lies in. So a pair stays a pair when its records hold other
values of their classes (and its moves stay secret or plain, where G is not complete); and the worst
pair for the histogram, whose moves are as many as can be, is often a bad one for every query, once
all its records make the change that counts most there.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import islice

from blowproof.models import BlowproofError, BoundQuery, Exact, Point, Setting
from blowproof.models.base.clock import now, spend
from blowproof.models.domain.classes import ValueClass, locator
from blowproof.models.policy.readings import Reading
from blowproof.verifier.asked.answer import Pair
from blowproof.verifier.limits.limit import real_limit, whole_limit
from blowproof.verifier.moves.best_choice import best_choice, bound_of, by_swapping, trying
from blowproof.verifier.moves.kinds import Kind, Moves
from blowproof.verifier.reductions.few_values import corner_points, possible_classes

__all__ = ["revalued"]

SECONDS = real_limit(__name__, "SECONDS")
MOST_VALUES = whole_limit(__name__, "MOST_VALUES")
MOST_MOVES = whole_limit(__name__, "MOST_MOVES")
MOST_AREAS = whole_limit(__name__, "MOST_AREAS")
MOST_CORNERS = whole_limit(__name__, "MOST_CORNERS")
PLACE = real_limit(__name__, "PLACE")
MOVE = real_limit(__name__, "MOVE")
ENDS = real_limit(__name__, "ENDS")

Locate = Callable[[Point], int | None]
Ends = tuple[int | None, int | None, bool]
"""The classes that a move leads from and to (None: no record), and whether it is secret."""


def revalued(
    setting: Setting,
    query: BoundQuery,
    reading: Reading,
    pair: Pair,
    *,
    above: Exact = 0,
    end: float | None = None,
) -> Pair | None:
    """Return a pair with the moves of another, by the values that change the query most.

    None where there are too many values to try, where that would not be done by the end, and where
    no choice changes it by more than `above`. The pair is for the independent check to judge.
    """
    try:
        classes = possible_classes(setting, [])
        place_of = locator(classes)
        wanted = _ends(setting, pair, reading, place_of)
        places = {place for ends in wanted for place in ends[:2] if place is not None}
        values = tuple(dict.fromkeys(_values(setting, query, classes, sorted(places))))
        if len(values) > MOST_VALUES:
            return None
        moves = Moves.over(setting, query, reading, values)
        spend(len(values) * PLACE + len(moves.kinds) * ENDS)
        at: dict[Point | None, int | None] = {None: None, **{x: place_of(x) for x in values}}
        found: dict[Ends, list[Kind]] = {}
        for kind in moves.kinds:
            found.setdefault((at[kind.before], at[kind.after], kind.secret), []).append(kind)
        groups = [(found.get(ends, []), times) for ends, times in wanted.items()]
        if not all(kinds for kinds, _ in groups):
            return None
        if moves.unscaled(bound_of(groups)) <= above:
            return None
        if end is not None and now() + trying(groups) > end:
            return None
        choice = _choice(groups, end)
    except BlowproofError:
        return None
    return moves.pair(choice, Counter(dict(pair.unchanged)))


def _choice(groups: Sequence[tuple[Sequence[Kind], int]], end: float | None) -> Counter[Kind]:
    """Return the best choice, or a good one where that takes too long to find."""
    if sum(times for _, times in groups) > MOST_MOVES:
        return by_swapping(groups)[1]
    later = now() + SECONDS
    try:
        return best_choice(groups, deadline=later if end is None else min(end, later))[1]
    except TimeoutError:
        return by_swapping(groups)[1]


def _ends(setting: Setting, pair: Pair, reading: Reading, place_of: Locate) -> Counter[Ends]:
    """Return which classes the moves of a pair lead from and to."""
    result: Counter[Ends] = Counter()
    at: dict[Point | None, int | None] = {None: None}
    for move in pair.moves(reading):
        for point in (move.before, move.after):
            if point is not None and point not in at:
                spend(PLACE)
                at[point] = place_of(point)
        spend(MOVE)
        secret = (
            move.before is None
            or move.after is None
            or setting.graph.is_edge(move.before, move.after)
        )
        result[at[move.before], at[move.after], secret] += 1
    return result


def _values(
    setting: Setting,
    query: BoundQuery,
    classes: Sequence[ValueClass],
    places: Sequence[int],
) -> Iterator[Point]:
    """Yield values of these classes: at the ends of the query's axes, in and out of its areas."""
    axes = sorted(query.axes_read(setting.domain))
    for place in places:
        yield from classes[place].take(2)
        yield from islice(corner_points(classes[place], axes), MOST_CORNERS)
    areas = query.areas(setting.domain)
    if areas and len(areas) <= MOST_AREAS:
        parents = set(places)
        place_of = locator(classes)
        for item in possible_classes(setting, areas):
            point = item.take(1)[0]
            if place_of(point) in parents:
                yield point
