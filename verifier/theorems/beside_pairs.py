"""Pairs for cells and one more fact beside them: the cycles of `two_cycles`, where records are.

Under scope "any" the moves alone are D1. Under "given" the base's facts leave one number of records
in each of its classes, and a class cannot lose more than it holds: so the cycles are made of the
classes that hold most, of as many as hold enough. (Irreducible multisets over some of the classes
are ones over all.) Whether a database with all known numbers holds the records is one integer
program.

A query that adds up sizes (sums, cumulative counts, ranges) changes most where everyone leaves the
least value of a class and label and comes to the largest: those of the least and the largest row.
Moves of label 0 leave the sides of the further fact and gain more, so that cycles of fewer moves
that share a path of these (`most_one_sided`) may change more than the longest.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import accumulate, islice
from math import gcd

from blowproof.models import BlowproofError, BoundQuery, Exact, Point
from blowproof.models.domain.classes import firsts
from blowproof.models.norms import L1, L2_SQUARED, LINF, RANGE
from blowproof.models.stacks.stacked import is_histogram
from blowproof.verifier.asked.answer import Pair
from blowproof.verifier.asked.question import Question
from blowproof.verifier.databases.value_classes import ClassTable
from blowproof.verifier.limits.limit import whole_limit
from blowproof.verifier.reductions.few_values import corner_points
from blowproof.verifier.reductions.given_numbers import embed
from blowproof.verifier.theorems.beside import Beside, held_in, with_label_one
from blowproof.verifier.theorems.lengths.label_changes import Ends
from blowproof.verifier.theorems.two_cycles import (
    Arc,
    exchanged_two,
    gained_two,
    longest_two,
    most_one_sided,
    moves_of,
    one_value_two,
    relabelled_two,
    sharing_zeros,
    sided_two,
    squared_two,
    squares_of,
)
from blowproof.verifier.theorems.values.free_change import moved
from blowproof.verifier.theorems.values.seen_values import seen_values

__all__ = ["Holds", "pair_beside", "pair_that_gains", "placed", "two_of_each"]

MOST_AXES = whole_limit(__name__, "MOST_AXES")
MOST_CORNERS = whole_limit(__name__, "MOST_CORNERS")
MOST_RANKED = whole_limit(__name__, "MOST_RANKED")
MOST_RECORDS = whole_limit(__name__, "MOST_RECORDS")
MOST_PLACED = whole_limit(__name__, "MOST_PLACED")
MOST_EMBEDDED = whole_limit(__name__, "MOST_EMBEDDED")
MOST_GAINING = whole_limit(__name__, "MOST_GAINING")
MOST_LEAVING = (1, 2, 3, 5, 8, 13, 21, 34)
"""So many records at the most leave label 1, where few hold it."""

End = tuple[int, int]
Holds = dict[End, list[Point]]
"""Two values or more of each class of the base and label."""
_KINDS = {
    L2_SQUARED.name: (squared_two, exchanged_two, relabelled_two, sided_two),
    LINF.name: (one_value_two,),
    RANGE.name: (one_value_two,),
}
"""Pairs of cycles that are largest in other norms than l1."""


def pair_beside(
    question: Question,
    found: Beside,
    free: tuple[Point, Point, Exact] | None,
    spare: Holds | None = None,
) -> Pair | None:
    """Return a pair of two cycles, with the best change of the query where facts do not mind.

    `spare`: see `_of_extremes`.
    """
    values: Holds = {}
    few = two_of_each(question, found.table, seen=free is None)
    for place, label, points in zip(found.home, found.labels[:, 0].tolist(), few, strict=True):
        values.setdefault((place, label), []).extend(points)
    axes = question.query.axes_read(question.setting.domain) if free else frozenset()

    def ends(arc: Arc) -> tuple[Point, Point]:
        x, y = values[arc.source][0], values[arc.target][:2][-1]
        return (x, y) if free is None else (moved(x, free[0], axes), moved(y, free[1], axes))

    def made(arcs: Sequence[Arc]) -> Pair:
        before: list[Point] = []
        after: list[Point] = []
        for arc in arcs:
            x, y = ends(arc)
            before += [x] * arc.times
            after += [y] * arc.times
        return Pair(before=tuple(before), after=tuple(after))

    kinds = _KINDS.get(question.query.measure.name, ()) if found.widths == (1,) else ()
    ranked = bool(kinds) and free is None

    def worth(arcs: Sequence[Arc]) -> Exact:
        if not ranked or moves_of(arcs) > MOST_RECORDS:
            return 0
        change = Counter[Point]()
        for arc in arcs:
            x, y = ends(arc)
            change[x] -= arc.times
            change[y] += arc.times
        return question.query.norm({x: times for x, times in change.items() if times})

    def cycles(places: Sequence[int]) -> list[list[Arc]]:
        few = [_few(places, values, most) for most in MOST_LEAVING] if found.widths == (1,) else []
        whole = _with_both(places, values)
        first = [two(whole) for two in kinds] if whole and ranked else []
        if question.setting.scope != "given":
            made_of = [*filter(None, first), _arcs(places, values)]
            return sorted(made_of, key=worth, reverse=True)
        return [*first, _arcs(places, values), *few]

    if ranked:
        usual = placed(question, found, cycles, made, squares_of, worth)
    else:
        usual = placed(question, found, cycles, made)
    others = [usual, _of_extremes(question, found, spare) if free is None else None]
    return max(
        (pair for pair in others if pair is not None),
        key=lambda pair: question.query.difference(pair.moves(question.reading)),
        default=None,
    )


def two_of_each(question: Question, table: ClassTable, *, seen: bool) -> list[list[Point]]:
    """Return two values of each class, or one; `seen`: with other rows, where it has such."""
    few = [list(points) for points in firsts(table.classes, 2)]
    setting, query = question.setting, question.query
    if not seen or len(query.axes_read(setting.domain)) == len(setting.domain):
        return few
    try:
        found = seen_values(setting, query, table, end=question.by(1 / 8))
    except (BlowproofError, TimeoutError):
        return few
    if found is None:
        return few
    return [two[:2] if len(two) > 1 else any_ for two, any_ in zip(found, few, strict=True)]


def _of_extremes(question: Question, found: Beside, spare: Holds | None = None) -> Pair | None:
    """Return a pair of two cycles from the values of least rows to those of largest rows.

    `spare`: values of other labels, from which records go to others of the same label only. Under
    scope "given" they have to be told, if only that there are none: where facts are equalities
    alone, the same question is asked for any answers.
    """
    setting, query = question.setting, question.query
    axes = sorted(query.axes_read(setting.domain))
    exact = setting.graph.complete and found.widths == (1,)
    if not exact or query.measure is not L1 or is_histogram(query) or len(axes) > MOST_AXES:
        return None
    ends = _Extremes.of(query, axes, found, spare or {})
    if setting.scope == "given":
        many = spare is None or found.count > MOST_GAINING
        return None if many else placed(question, found, ends.cycles, ends.made, ends.worth)
    cycles = [arcs for arcs in ends.cycles(range(found.count)) if moves_of(arcs) <= MOST_RECORDS]
    best = max(cycles, key=ends.worth, default=[])
    return ends.made(best) if best and ends.worth(best) else None


class _Extremes:
    """The values of the least rows and the largest ones, of each class and label, and what cycles
    from the former to the latter are worth.
    """

    def __init__(self, query: BoundQuery, held: Holds) -> None:
        self.query = query
        self.size = {x: query.norm({x: 1}) for points in held.values() for x in points}
        self.low = {end: min(points, key=self.size.__getitem__) for end, points in held.items()}
        self.high = {end: max(points, key=self.size.__getitem__) for end, points in held.items()}
        self.labels = sorted({label for _, label in held})

    @classmethod
    def of(cls, query: BoundQuery, axes: Sequence[int], found: Beside, spare: Holds) -> _Extremes:
        """Look at the ends of classes along these axes."""
        held: Holds = {end: list(points) for end, points in spare.items()}
        for place, label, item in zip(
            found.home, found.labels[:, 0].tolist(), found.table.classes, strict=True
        ):
            points = islice(corner_points(item, axes), MOST_CORNERS)
            held.setdefault((place, label), []).extend(points)
        return cls(query, held)

    def cycles(self, places: Sequence[int]) -> list[list[Arc]]:
        """Return two cycles over these classes that have most moves, or are worth most."""
        whole = [place for place in places if {(place, 0), (place, 1)} <= self.low.keys()]
        usual = _arcs(places, {end: [x] for end, x in self.low.items() if end[1] < 2})
        if not whole:
            return [usual]
        both = sum(self._gain(whole, label, 1 - label) for label in (0, 1))
        zero = [self._gain(whole, label, label) for label in (0, 1)]
        shares = [(most_one_sided(len(whole), zero[k], both), k) for k in (0, 1)]
        few = (_few_shares(len(whole), most, zero[0], both) for most in MOST_LEAVING)
        shares += [(share, 0) for share in dict.fromkeys(few) if share is not None]
        return [usual, *(sharing_zeros(whole, *share, label=label) for share, label in shares)]

    def _gain(self, places: Sequence[int], leaves: int, enters: int) -> Exact:
        """Return what moves between these labels are worth, one out of each class."""
        ends = (self._ends((c, leaves), (c, enters)) for c in places)
        return sum((self.size[high] - self.size[low] for low, high in ends), start=0)

    def _ends(self, source: End, target: End) -> tuple[Point, Point]:
        """Return the value that is left and the one that is entered, for a move between labels.

        Where they are the same, those of any label that both classes have.
        """
        (a, one), (b, two) = source, target
        alike = [((a, k), (b, k)) for k in self.labels if one == two]
        usable = [(x, y) for x, y in alike if x in self.low and y in self.low]
        found = [(self.low[x], self.high[y]) for x, y in usable or [(source, target)]]
        return max(found, key=lambda ends: self.size[ends[1]] - self.size[ends[0]])

    def worth(self, arcs: Sequence[Arc]) -> Exact:
        """Return what the pair of these arcs changes the query by."""
        change = Counter[Point]()
        for arc in arcs:
            low, high = self._ends(arc.source, arc.target)
            change[low] -= arc.times
            change[high] += arc.times
        return self.query.norm({x: times for x, times in change.items() if times})

    def made(self, arcs: Sequence[Arc]) -> Pair:
        """Return the pair of these arcs."""
        ends = [(*self._ends(arc.source, arc.target), arc.times) for arc in arcs]
        return Pair(
            before=tuple(low for low, _, times in ends for _ in range(times)),
            after=tuple(high for _, high, times in ends for _ in range(times)),
        )


def pair_that_gains(
    question: Question, found: Beside, ends: Ends, gains: Mapping[int, Exact]
) -> Pair | None:
    """Return a pair in which some classes gain records of label 1, and the others lose them.

    `gains`: what a record of label 1 in a class, for one of label 0, adds to the query.
    """
    if question.setting.scope == "given" and len(gains) > MOST_GAINING:
        return None
    order = sorted(gains, key=lambda place: (-gains[place], place))

    def split(places: Sequence[int]) -> list[list[Arc]]:
        inside = set(places)
        held = [place for place in order if place in inside]
        worth = [gains[place] for place in held]
        sums = [0, *accumulate(worth)]
        count = len(held)
        cuts = [k for k in range(1, count) if worth[k - 1] > worth[k]]
        cut = max(cuts, key=lambda k: count * sums[k] - k * sums[-1], default=0)
        losing = [count - cut, *(k for k in MOST_LEAVING if k < count - cut)]
        return [gained_two(held[:cut], held[cut : cut + k]) for k in losing if cut]

    def made(arcs: Sequence[Arc]) -> Pair:
        before = [ends[arc.source[0]][arc.source[1]] for arc in arcs for _ in range(arc.times)]
        after = [ends[arc.target[0]][arc.target[1]] for arc in arcs for _ in range(arc.times)]
        return Pair(before=tuple(before), after=tuple(after))

    return placed(question, found, split, made, lambda arcs: _gain(arcs, gains))


def _gain(arcs: Sequence[Arc], gains: Mapping[int, Exact]) -> Exact:
    """Return what these arcs add to a query that gains so much in each class."""
    total: Exact = 0
    for (left, one), (entered, two), times in arcs:
        total += times * (gains[entered] * two - gains[left] * one)
    return total


def placed(
    question: Question,
    found: Beside,
    cycles: Callable[[Sequence[int]], list[list[Arc]]],
    made: Callable[[Sequence[Arc]], Pair],
    size: Callable[[Sequence[Arc]], Exact] = moves_of,
    worth: Callable[[Sequence[Arc]], Exact] | None = None,
) -> Pair | None:
    """Return the pair of the arcs that `cycles` gives over as many classes as have the records, the
    largest that there are by their `size`; of the first by what they are `worth`, if that is told.
    """
    setting = question.setting
    if not setting.graph.complete:
        return None
    if setting.scope == "any":
        arcs = next(iter(cycles(range(found.count))), [])
        return made(arcs) if arcs and moves_of(arcs) <= MOST_RECORDS else None
    held = held_in(found, setting)
    if held is None or setting.size is None:
        return None
    ones = with_label_one(found, setting, held)
    room = (setting.size, setting.size) if ones is None else (setting.size - ones, ones)
    order = sorted((c for c in range(found.count) if held[c]), key=lambda c: (-held[c], c))
    fitting = _that_fit(order, held, cycles, room, size)
    if worth is not None:
        fitting = sorted(fitting[:MOST_RANKED], key=worth, reverse=True)
    for arcs in fitting[:MOST_EMBEDDED]:
        left = 2.0 if question.left is None else min(2.0, question.left / 4)
        try:
            pair = embed(setting, made(arcs), time_limit=left)
        except BlowproofError:
            return None
        if pair is not None:
            return pair
    return None


def _that_fit(
    order: Sequence[int],
    held: Sequence[int],
    cycles: Callable[[Sequence[int]], list[list[Arc]]],
    room: tuple[int, int],
    size: Callable[[Sequence[Arc]], Exact],
) -> list[list[Arc]]:
    """Return arcs over the classes that hold most, of which none loses too many; largest first.

    `room`: so many records have label 0, and so many another label.
    """
    found: list[list[Arc]] = []
    for count in range(len(order), 0, -1):
        for arcs in cycles(order[:count]):
            leaving: Counter[int] = Counter()
            for arc in arcs:
                leaving[arc.source[0]] += arc.times
            none, some = _leaving(arcs)
            fits = none <= room[0] and some <= room[1] and none + some <= MOST_PLACED
            if arcs and fits and all(held[c] >= times for c, times in leaving.items()):
                found.append(arcs)
    return sorted(found, key=size, reverse=True)


def _leaving(arcs: Sequence[Arc]) -> tuple[int, int]:
    """Return how many records leave label 0, and how many leave other labels."""
    none = sum(arc.times for arc in arcs if not arc.source[1])
    return none, moves_of(arcs) - none


def _with_both(places: Sequence[int], values: Holds) -> list[int]:
    """Return the classes that hold both labels."""
    return [place for place in places if (place, 0) in values and (place, 1) in values]


def _few(places: Sequence[int], values: Holds, most: int) -> list[Arc]:
    """Return two cycles that share a path of label 0, of which so few records leave label 1."""
    usable = _with_both(places, values)
    share = _few_shares(len(usable), most)
    return [] if share is None else sharing_zeros(usable, *share)


def _few_shares(
    count: int, most: int, zero: Exact = 1, both: Exact = 2
) -> tuple[int, int, int] | None:
    """Return (x, y, m) as `most_one_sided` does, where so few records leave label 1."""
    best: tuple[Exact, int, int, int] = (0, 0, 0, 0)
    for x in range(1, most + 1):
        for y in range(1, most // x + 1):
            m = count + 1 - x - y
            if m >= 0 and gcd(x, y) == 1:
                best = max(best, (m * (x + y) * zero + both * x * y, x, y, m))
    return best[1:] if best[1] else None


def _arcs(places: Sequence[int], values: Holds) -> list[Arc]:
    """Return two cycles over some classes, with every label that they need; none where one is
    missing.
    """
    number = {place: k for k, place in enumerate(places)}
    widths = [0] * len(places)
    for place, label in values:
        if place in number:
            widths[number[place]] = max(widths[number[place]], label)
    for limits in _narrower(places, widths, values):
        arcs = [
            Arc((places[a], one), (places[b], two), times)
            for (a, one), (b, two), times in longest_two(limits)
        ]
        if arcs and all(end in values for arc in arcs for end in (arc.source, arc.target)):
            return arcs
    return []


def _narrower(places: Sequence[int], widths: list[int], values: Holds) -> Iterator[list[int]]:
    """Yield what labels of each class may go up to: all, and only so far as none is missing."""
    yield widths
    whole = []
    for place, most in zip(places, widths, strict=True):
        whole.append(next((k for k in range(most) if (place, k + 1) not in values), most))
    if whole != widths:
        yield whole
