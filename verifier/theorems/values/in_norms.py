"""What classes that exchange records change a query by, in norms beside l1.

*Statement.* Let class c exchange a record (one goes, one of the same class comes) n_c times, n_c <=
k for each class, and no more than M times in all. f is a sum of rows, so that it changes by a sum
of differences of two rows, n_c of them of class c. Let s_cj be how far output j of two rows of c
can lie apart, m_c the largest l1 size (with weights) of a difference and e_c its largest size in
the norm; T_j the most of sum n_c s_cj, and L that of sum n_c m_c. Then

* linf: S <= max_j T_j. It is met for k = 1, M unbounded: for the best j, let every class choose the
  two rows that lie furthest apart there.
* range: S <= the most, over two outputs i and j, of the same sum for the output i - j (and T_j, if
  some output never changes). It is met in the same way.
* l2-squared: S <= sum_j w_j T_j^2, for |x_j| <= T_j. S <= (sum n_c sqrt(e_c))^2 by the triangle
  inequality. And S <= sum_j T_j y_j where y_j <= w_j T_j and sum y_j <= L: for w_j x_j^2 <= T_j
  (w_j |x_j|), and the w_j |x_j| are such y_j. The best y fills outputs with the largest T_j first.
  Where all weights are w, it is the sum of y_j^2 / w: the sizes filled in this order majorize all
  others, and a sum of squares is Schur-convex. Where all rows of a class have the same sum, what
  goes up and what goes down are L / 2 each, and both are bounded so. Where no output is about two
  classes, squares of classes add up, and S <= sum k^2 e_c.

*One output of each record.* If a row is 1 in one output, or in none, and all weights are w, then in
l2-squared S is, for k = 1 and M unbounded, w times the most of sum_j x_j^2 over all orders of the
outputs ("none" being one more, which counts nothing), x_j being how many classes have j as the
first of their outputs, less how many have it as the last. For let x be the worst change. Its
derivative 2 w x orders the outputs, from high to low (none as 0). Moved along it as far as can be,
every class goes from its last output to its first, and a convex function is no less there. In an
order, x_j depends on j and on the set P before it: first for the classes with j and none of P, last
for those with j and no others but of P. So the best order of P and j is one of P, and j: sets are
gone through, the smaller ones first. Of outputs in the same classes only the first and the last in
an order change, so that two of them are enough. Outputs that no chain of classes joins are apart.

*From below* a norm is convex, so that the worst choice is best in some direction: with g_j the
derivative of the norm at the change so far, every class takes the rows that are furthest apart
along g. That never makes the change smaller, and is repeated until it stays. Directions are
floats, for they only propose; what they propose is measured exactly.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import combinations
from math import floor

import numpy as np

from blowproof.models import Exact, Full, Point, Policy, Setting
from blowproof.models import setting as setting_of
from blowproof.models.base.clock import now, spend
from blowproof.models.base.numbers import magnitude, plain, total
from blowproof.models.domain.classes import firsts
from blowproof.models.norms import L2_SQUARED, LINF, RANGE, Norm
from blowproof.models.stacks.stacked import Stacked, is_histogram
from blowproof.verifier.asked.question import Question
from blowproof.verifier.databases.value_classes import ClassTable
from blowproof.verifier.exact.farthest import corners, farthest
from blowproof.verifier.limits.limit import real_limit, whole_limit
from blowproof.verifier.theorems.values.class_changes import Chosen, Row
from blowproof.verifier.theorems.values.seen_values import seen_values

__all__ = [
    "Kind",
    "above",
    "above_in_classes",
    "best_by_orders",
    "best_in_norm",
    "filled",
    "free_edge",
    "kinds_of",
    "largest_apart",
    "one_more_in_classes",
    "together",
    "values_in",
    "whole_size",
]

FEW_KINDS = whole_limit(__name__, "FEW_KINDS")
FEW_OUTPUTS = whole_limit(__name__, "FEW_OUTPUTS")
MANY_VALUES = whole_limit(__name__, "MANY_VALUES")
MOST_ADDED = whole_limit(__name__, "MOST_ADDED")
MOST_ENTRIES = whole_limit(__name__, "MOST_ENTRIES")
MOST_SUMMED = whole_limit(__name__, "MOST_SUMMED")
MOST_WRITTEN = whole_limit(__name__, "MOST_WRITTEN")
ROUNDS = whole_limit(__name__, "ROUNDS")
STARTS = whole_limit(__name__, "STARTS")
SAFE = whole_limit(__name__, "SAFE")
SPREAD = real_limit(__name__, "SPREAD")
ENTRY = real_limit(__name__, "ENTRY")
VALUE = real_limit(__name__, "VALUE")
WRITTEN = real_limit(__name__, "WRITTEN")
MOST_ORDERED = whole_limit(__name__, "MOST_ORDERED")

NOWHERE = ("nowhere",)
"""The output of records that are not counted."""

Key = frozenset[tuple[Hashable, Exact]]
Change = dict[Hashable, Exact]
Several = list[tuple[Exact, int]]
"""Numbers, and how often each is there."""


@dataclass
class Kind:
    """Classes with the same rows: the rows, and a value of each for every such class."""

    rows: dict[Key, Row]
    members: list[dict[Key, Point]] = field(default_factory=list)

    def spread(self) -> Change:
        """Return how far each output of two rows can lie apart."""
        least: Change = {}
        most: Change = {}
        held: dict[Hashable, int] = {}
        spend(sum(map(len, self.rows.values())) * SPREAD)
        for row in self.rows.values():
            for key, value in row.items():
                least[key] = min(least.get(key, value), value)
                most[key] = max(most.get(key, value), value)
                held[key] = held.get(key, 0) + 1
        for key, times in held.items():
            if times < len(self.rows):  # other rows have a 0 there
                least[key], most[key] = min(least[key], 0), max(most[key], 0)
        return {key: most[key] - least[key] for key in held if most[key] > least[key]}


def kinds_of(query: Stacked, classes: Sequence[Sequence[Point]]) -> list[Kind]:
    """Return the kinds of classes that can change the query; values show all rows of a class."""
    found: dict[frozenset[Key], Kind] = {}
    known: dict[Point, tuple[Key, Row]] = {}  # classes may share values: those that stand for many
    for values in classes:
        rows: dict[Key, tuple[Row, Point]] = {}
        for x in values:
            if x not in known:
                seen = {key: value for key, value in query.row(x).items() if value}
                known[x] = frozenset(seen.items()), seen
            key, row = known[x]
            rows.setdefault(key, (row, x))
        if len(rows) > 1:
            rows = _corners(rows)
            kind = found.setdefault(
                frozenset(rows), Kind({key: row for key, (row, _) in rows.items()})
            )
            kind.members.append({key: x for key, (_, x) in rows.items()})
    written = sum(len(row) for _, row in known.values())
    spread = sum(len(row) for kind in found.values() for row in kind.rows.values())
    spend(len(known) * VALUE + (written + spread) * WRITTEN)
    return list(found.values())


def _corners(rows: Mapping[Key, tuple[Row, Point]]) -> dict[Key, tuple[Row, Point]]:
    """Return rows of which all others are means, of those that have the same one or two outputs.

    Norms are convex: no others change a query by more.
    """
    alike: dict[frozenset[Hashable], dict[tuple[Exact, ...], Key]] = {}
    kept: set[Key] = set()
    for key, (row, _) in rows.items():
        if len(row) > 2:
            kept.add(key)
            continue
        point = tuple(row[each] for each in sorted(row, key=repr))
        alike.setdefault(frozenset(row), {})[point] = key
    kept.update(points[point] for points in alike.values() for point in corners(points))
    return {key: rows[key] for key in rows if key in kept}


# --- from above ----------------------------------------------------------------------------------


def above(
    query: Stacked,
    kinds: Sequence[Kind],
    each: int = 1,
    most: int | None = None,
    *,
    cell: int | None = None,
) -> Exact | None:
    """Return what no exchanges change the query by: `each` in a class, `most` in all.

    `cell`: what no output changes by, if that is known. None where there are too many rows to look
    at, or nothing is known of the norm.
    """
    measure = query.measure
    if sum(len(row) for kind in kinds for row in kind.rows.values()) > MOST_ENTRIES:
        return None
    if measure not in (L2_SQUARED, LINF, RANGE):
        return None
    spreads = [kind.spread() for kind in kinds]
    times = [len(kind.members) * each for kind in kinds]
    lying: dict[Hashable, Several] = {}
    for spread, count in zip(spreads, times, strict=True):
        for key, value in spread.items():
            lying.setdefault(key, []).append((value, count))
    reach = {key: filled(found, most) for key, found in lying.items()}
    if cell is not None:
        reach = {key: min(value, cell) for key, value in reach.items()}
    if measure is LINF:
        return plain(max(reach.values(), default=0))
    if measure is RANGE:
        return plain(_range_above(query, kinds, times, reach, most))
    sizes = [_largest(query, kind, spread) for kind, spread in zip(kinds, spreads, strict=True)]
    squares = total(query.weight(key) * value * value for key, value in reach.items())
    whole = filled([(l1, count) for (l1, _), count in zip(sizes, times, strict=True)], most)
    triangle = together(
        measure, [(size, count) for (_, size), count in zip(sizes, times, strict=True)], most
    )
    budget = _by_budget(query, reach, whole)
    alike = len({query.weight(key) for key in reach}) <= 1
    if alike and all(map(_evens_out, kinds)):  # as much goes up as comes down
        half = plain(Fraction(whole) / 2)
        budget = min(budget, 2 * _by_budget(query, reach, half))
    if len(reach) == sum(map(len, spreads)):  # no output is about two kinds: their squares add up
        apart = total(size * count**2 for (_, size), count in zip(sizes, times, strict=True))
        budget = min(budget, apart)
    return whole_size(query, kinds, min(squares, budget, triangle))


def whole_size(query: Stacked, kinds: Sequence[Kind], size: Exact) -> Exact:
    """Return the size, rounded down where all sizes are whole."""
    spend(sum(len(row) for kind in kinds for row in kind.rows.values()) * WRITTEN)
    numbers = (x for kind in kinds for row in kind.rows.values() for x in row.values())
    weights = (weight for part in query.parts for weight in part.weights)
    if all(Fraction(x).denominator == 1 for each in (numbers, weights) for x in each):
        return floor(size)
    return plain(size)


def filled(items: Several, most: int | None) -> Exact:
    """Return the largest sum of so many of the numbers."""
    if most is None:
        return total(value * count for value, count in items)
    found: list[Exact] = []
    for value, count in sorted(items, key=lambda item: -item[0]):
        taken = min(count, most)
        found.append(value * taken)
        most -= taken
    return total(found)


def _by_budget(query: Stacked, reach: Mapping[Hashable, Exact], whole: Exact) -> Exact:
    """Return the most of the squares, where the sizes add up to no more than this (`whole`)."""
    found: list[Exact] = []
    alike = len({query.weight(key) for key in reach}) <= 1
    for key, value in sorted(reach.items(), key=lambda item: -item[1]):
        if whole <= 0:
            break
        weight = query.weight(key)
        size = min(weight * value, whole)
        found.append(plain(Fraction(size * size) / weight) if alike else size * value)
        whole -= size
    return total(found)


def _evens_out(kind: Kind) -> bool:
    """Whether the numbers of every row of a kind have the same sum."""
    return len({total(row.values()) for row in kind.rows.values()}) == 1


def together(measure: Norm, items: Several, most: int | None) -> Exact:
    """Return what so many changes of these sizes do not exceed together."""
    listed: list[tuple[Exact, int]] = []
    for size, count in sorted(items, key=lambda item: -item[0]):
        taken = count if most is None else min(count, most - sum(n for _, n in listed))
        if size and taken > 0:
            listed.append((size, taken))
    number = sum(count for _, count in listed)
    if len(listed) == 1 or number > MOST_SUMMED:
        return measure.repeated(max((size for size, _ in listed), default=0), number)
    return measure.together(size for size, count in listed for _ in range(count))


def _range_above(
    query: Stacked,
    kinds: Sequence[Kind],
    times: Sequence[int],
    reach: Mapping[Hashable, Exact],
    most: int | None,
) -> Exact:
    """Return the most that two outputs, or one and one that stays, change apart."""
    order = sorted(reach, key=lambda key: -reach[key])
    best: Exact = 0
    if query.width is None or query.width > len(order):
        best = reach[order[0]] if order else 0
    if len(order) > FEW_OUTPUTS:
        return reach[order[0]] + reach[order[1]]
    for one, two in combinations(order, 2):
        if reach[one] + reach[two] > best:
            apart: Several = []
            for kind, count in zip(kinds, times, strict=True):
                gaps = [row.get(one, 0) - row.get(two, 0) for row in kind.rows.values()]
                apart.append((max(gaps) - min(gaps), count))
            best = max(best, min(reach[one] + reach[two], filled(apart, most)))
    return best


def _largest(query: Stacked, kind: Kind, spread: Change) -> tuple[Exact, Exact]:
    """Return the largest l1 size, and the largest size, of a difference of two rows (or more).

    Of many rows: no more than the spreads together; nor, if no row has a number below 0, than two
    rows, as nothing of one adds to the other.
    """
    rows = list(kind.rows.values())
    if len(rows) <= MANY_VALUES:
        found = _largest_alike(query, rows, spread)
        if found is not None:
            return found
        both = [_difference(one, two) for one, two in combinations(rows, 2)]
        return max(_l1(query, each) for each in both), max(_size(query, each) for each in both)
    l1, size = _l1(query, spread), _size(query, spread)
    l1 = min(l1, 2 * max(_l1(query, row) for row in rows))
    if all(value >= 0 for row in rows for value in row.values()):
        size = min(size, 2 * max(_size(query, row) for row in rows))
    return l1, size


def _largest_alike(
    query: Stacked, rows: Sequence[Row], spread: Change
) -> tuple[Exact, Exact] | None:
    """Return the same in squares, for whole numbers and one weight; None for others.

    Differences are no larger than the spread, whose squares fit in 64 bits all together.
    """
    weights = {query.weight(key) for key in spread}
    small = all(
        isinstance(value, int) and -SAFE < value < SAFE for row in rows for value in row.values()
    )
    if query.measure is not L2_SQUARED or len(weights) != 1 or not small:
        return None
    if total(value * value for value in spread.values()) >= SAFE:
        return None
    table = np.zeros((len(rows), len(spread)), dtype=np.int64)
    places = {key: place for place, key in enumerate(spread)}
    for number, row in enumerate(rows):
        for key, value in row.items():
            if key in places:  # else it is the same in all rows
                table[number, places[key]] = value
    l1 = squares = 0
    for number in range(len(rows) - 1):
        spend(table[number:].size * ENTRY)
        now()
        apart = np.abs(table[number + 1 :] - table[number])
        l1 = max(l1, int(apart.sum(axis=1).max()))
        squares = max(squares, int((apart * apart).sum(axis=1).max()))
    weight = weights.pop()
    return plain(l1 * weight), plain(squares * weight)


def _difference(one: Row, two: Row) -> Change:
    return {key: two.get(key, 0) - one.get(key, 0) for key in {**one, **two}}


def _l1(query: Stacked, change: Mapping[Hashable, Exact]) -> Exact:
    return total(magnitude(value) * query.weight(key) for key, value in change.items())


def _size(query: Stacked, change: Mapping[Hashable, Exact]) -> Exact:
    """Return the norm of a change of the outputs."""
    items = [(value, query.weight(key)) for key, value in change.items() if value]
    still = query.width is None or len(items) < query.width
    return query.measure.of([*items, (0, 1)] if still else items)


def above_in_classes(
    question: Question,
    table: ClassTable,
    home: Sequence[int],
    each: int,
    most: int,
    *,
    end: float,
    cell: int | None = None,
) -> Exact | None:
    """Return what a pair changes a query by at the most, in its norm, if its moves are a
    circulation on some classes: `each` is how often one of these is left, `most` the moves.

    A circulation leaves a class as often as it enters it, so that these are exchanges. `home` has
    the class of each class of a (finer) table, whose classes are left `cell` times at the most.
    """
    listed = _listed(question, table, home, end)
    if listed is None:
        return None
    query, classes = listed
    held = cell if is_histogram(query) else None  # else an output is about several of them
    return above(query, kinds_of(query, classes), each, most, cell=held)


def _listed(
    question: Question, table: ClassTable, home: Sequence[int], end: float
) -> tuple[Stacked, list[list[Point]]] | None:
    """Return a query in one of these norms, and values of each class; None for others, or many."""
    query = question.query
    if not isinstance(query, Stacked) or query.measure not in (L2_SQUARED, LINF, RANGE):
        return None
    classes = values_in(question, table, home, end)
    return None if classes is None or _too_long(query, classes) else (query, classes)


def one_more_in_classes(
    question: Question,
    table: ClassTable,
    home: Sequence[int],
    places: Collection[int],
    *,
    end: float,
) -> Exact | None:
    """Return the same where each class is left once, and one of these classes once more.

    Classes with equal rows are alike, so that one of them is tried.
    """
    listed = _listed(question, table, home, end)
    if listed is None:
        return None
    query, classes = listed
    kinds = kinds_of(query, classes)
    alike = {frozenset(kind.rows): number for number, kind in enumerate(kinds)}
    tried = [kinds_of(query, [classes[place]]) for place in places]
    numbers = {alike[frozenset(kind.rows)] for found in tried for kind in found}
    if len(numbers) > FEW_KINDS:
        return None
    found = [above(query, kinds)]  # the move more may change nothing
    for number in numbers:
        if found[-1] is None or now() > end:
            return None
        kind = kinds[number]
        more = replace(kind, members=[*kind.members, kind.members[0]])
        found.append(above(query, [*kinds[:number], more, *kinds[number + 1 :]]))
    sizes = [size for size in found if size is not None]
    return max(sizes) if len(sizes) == len(found) else None


def _too_long(query: Stacked, classes: Sequence[Sequence[Point]]) -> bool:
    """Whether there are too many numbers to write rows out, also if many rows are short."""
    return query.longest_row * sum(map(len, classes)) > MOST_WRITTEN


def largest_apart(
    question: Question, table: ClassTable, home: Sequence[int], end: float
) -> Exact | None:
    """Return what one exchange in a class changes at the most, where no output is about two
    classes; None where one is, or it is not seen.
    """
    query = question.query
    classes = values_in(question, table, home, end) if isinstance(query, Stacked) else None
    if classes is None or not isinstance(query, Stacked) or _too_long(query, classes):
        return None
    if not _with_outputs_of_their_own(query, classes):
        return None
    kinds = kinds_of(query, classes)
    if sum(len(row) for kind in kinds for row in kind.rows.values()) > MOST_ENTRIES:
        return None
    spreads = [kind.spread() for kind in kinds]
    outputs = {key for spread in spreads for key in spread}
    if len(outputs) < sum(map(len, spreads)) or any(len(kind.members) > 1 for kind in kinds):
        return None
    sizes = (_largest(query, *both)[1] for both in zip(kinds, spreads, strict=True))
    return max(sizes, default=0)


def _with_outputs_of_their_own(query: Stacked, classes: Sequence[Sequence[Point]]) -> bool:
    """Whether no output changes from the first value to the last of two classes."""
    met: set[Hashable] = set()
    for values in classes:
        change = _difference(query.row(values[0]), query.row(values[-1]))
        changed = {key for key, value in change.items() if value}
        if met & changed:
            return False
        met |= changed
    return True


def values_in(
    question: Question, table: ClassTable, home: Sequence[int], end: float
) -> list[list[Point]] | None:
    """Return values of each class, with all its rows; None where there are too many."""
    setting, query = question.setting, question.query
    if is_histogram(query):  # two values stand for all: one that is left, one that is entered
        seen = [list(points) for points in firsts(table.classes, 2)]
    else:
        found = seen_values(setting, query, table, end=end)
        if found is None:
            return None
        axes = sorted(query.axes_read(setting.domain))
        alike: dict[Point, Point] = {}  # what a query does not look at makes no other row
        seen = [[alike.setdefault(tuple(x[k] for k in axes), x) for x in each] for each in found]
    classes: list[list[Point]] = [[] for _ in range(max(home, default=-1) + 1)]
    for place, values in zip(home, seen, strict=True):
        classes[place].extend(values)
    return classes


# --- from below ----------------------------------------------------------------------------------


def best_in_norm(
    query: Stacked, classes: Sequence[Sequence[Point]], *, end: float | None = None
) -> Chosen | None:
    """Return the best choice that is found of an exchange in each class, and a bound of all.

    >>> from blowproof.models import Domain, Labels, Policy
    >>> from blowproof.models.stacks.written import parse_question
    >>> policy = Policy(domain=Domain(a=Labels(["x", "y"]), b=Labels(["1", "2", "3"])))
    >>> query = parse_question("marginal(b)", policy, "l2-squared")
    >>> values = [[(0, 0), (0, 1)], [(1, 1), (1, 2)], [(0, 2), (1, 0)]]
    >>> found = best_in_norm(query, values)
    >>> found.lower, found.upper
    (8, 8)
    """
    kinds = kinds_of(query, classes)
    upper = above(query, kinds)
    if upper is None:
        return None
    best: Exact = 0
    chosen: list[tuple[Key, Key]] = []
    for start in _directions(query, kinds):
        if best == upper or (end is not None and now() > end):
            break
        value, found = _ascended(query, kinds, start)
        if value > best:
            best, chosen = value, found
    if best < upper:
        added = _one_after_another(query, kinds, end)
        if added is not None:
            upper = min(upper, added.upper)
            if added.lower > best:
                return replace(added, upper=upper)
    pairs = [
        (member[low], member[high])
        for kind, (low, high) in zip(kinds, chosen, strict=False)
        if low != high
        for member in kind.members
    ]
    return Chosen(plain(best), upper, tuple(pairs))


def _one_after_another(query: Stacked, kinds: Sequence[Kind], end: float | None) -> Chosen | None:
    """Return the best choice in squares, class by class (`exact.farthest`); None where rows are no
    whole numbers, weights differ, or classes are too many.
    """
    rows = [list(kind.rows.items()) for kind in kinds]
    outputs = list(dict.fromkeys(key for each in rows for _, row in each for key in row))
    weights = {query.weight(key) for key in outputs}
    whole = all(isinstance(x, int) for each in rows for _, row in each for x in row.values())
    members = [(place, values) for place, kind in enumerate(kinds) for values in kind.members]
    if query.measure is not L2_SQUARED or not whole or len(weights) != 1:
        return None
    if len(members) > MOST_ADDED or len(outputs) * sum(map(len, rows)) > MOST_ENTRIES:
        return None
    listed = [[tuple(int(row.get(key, 0)) for key in outputs) for _, row in each] for each in rows]
    half = now() + 1 if end is None else (now() + end) / 2  # a pair is to be made, too
    far = farthest([listed[place] for place, _ in members], half)
    if far is None:
        return None
    pairs = [
        (values[rows[place][low][0]], values[rows[place][high][0]])
        for (place, values), (low, high) in zip(members, far.choice, strict=True)
        if low != high
    ]
    weight = weights.pop()
    return Chosen(plain(far.lower * weight), plain(far.upper * weight), tuple(pairs))


# --- one output of each record -------------------------------------------------------------------


def best_by_orders(query: Stacked, classes: Sequence[Sequence[Point]]) -> Chosen | None:
    """Return the best choice in squares where a record is counted once, or nowhere; None where
    other rows or weights are met, or too many outputs hang together.

    >>> from blowproof.models import Domain, Labels, Policy
    >>> from blowproof.models.stacks.written import parse_question
    >>> policy = Policy(domain=Domain(a=Labels(["x", "y"]), b=Labels(["1", "2", "3"])))
    >>> query = parse_question("marginal(b)", policy, "l2-squared")
    >>> found = best_by_orders(query, [[(0, 0), (0, 1)], [(1, 1), (1, 2)], [(0, 2), (1, 0)]])
    >>> found.lower, found.upper
    (8, 8)
    """
    if query.measure is not L2_SQUARED:
        return None
    held: list[dict[Hashable, Point]] = []
    for values in classes:
        spots: dict[Hashable, Point] = {}
        for x in values:
            row = {key: value for key, value in query.row(x).items() if value}
            if len(row) > 1 or any(value != 1 for value in row.values()):
                return None
            spots.setdefault(next(iter(row), NOWHERE), x)
        if len(spots) > 1:
            held.append(spots)
    outputs = {key for spots in held for key in spots} - {NOWHERE}
    weights = {query.weight(key) for key in outputs}
    if len(weights) > 1 or sum(map(len, held)) > MOST_ENTRIES:
        return None
    most = 0
    pairs: list[tuple[Point, Point]] = []
    for part in _joined(held):
        order = _best_order(part)
        if order is None:
            return None
        most += order[0]
        place = {key: k for k, key in enumerate(order[1])}
        for each in part:
            ranked = sorted(place[key] for key in each if key in place)
            if len(ranked) > 1:
                pairs.append((each[order[1][ranked[-1]]], each[order[1][ranked[0]]]))
    size = plain(most * next(iter(weights), Fraction(1)))
    return Chosen(size, size, tuple(pairs))


def _joined(held: Sequence[Mapping[Hashable, Point]]) -> list[list[Mapping[Hashable, Point]]]:
    """Return the classes in parts that have no output in common but the one that counts nothing.

    Where a class has that one, it is in the part of its others.
    """
    root: dict[Hashable, Hashable] = {}

    def top(key: Hashable) -> Hashable:
        while root.setdefault(key, key) != key:
            root[key] = root[root[key]]
            key = root[key]
        return key

    for spots in held:
        first, *others = (key for key in spots if key != NOWHERE)
        for key in others:
            root[top(key)] = top(first)
    parts: dict[Hashable, list[Mapping[Hashable, Point]]] = {}
    for spots in held:
        parts.setdefault(top(next(key for key in spots if key != NOWHERE)), []).append(spots)
    return list(parts.values())


def _best_order(part: Sequence[Mapping[Hashable, Point]]) -> tuple[int, list[Hashable]] | None:
    """Return the most of the squares, and an order of (enough of) the outputs; None: too many."""
    inside: dict[Hashable, list[int]] = {}
    for number, spots in enumerate(part):
        for key in spots:
            inside.setdefault(key, []).append(number)
    alike: dict[tuple[object, ...], list[Hashable]] = {}
    for key, numbers in inside.items():
        alike.setdefault((key == NOWHERE, *numbers), []).append(key)
    outputs = [key for keys in alike.values() for key in keys[:2]]
    if len(outputs) > MOST_ORDERED:
        return None
    bits = {key: 1 << k for k, key in enumerate(outputs)}
    sets = 1 << len(outputs)
    within = np.zeros(sets, dtype=np.int64)  # how many classes have outputs of a set only
    for spots in part:
        within[sum(bits.get(key, 0) for key in spots)] += 1
    places = np.arange(sets)
    for bit in bits.values():
        above = places[places & bit != 0]
        within[above] += within[above ^ bit]
    apart = within[sets - 1 - places]  # and how many have none of it
    best = np.full(sets, -1, dtype=np.int64)
    last = np.zeros(sets, dtype=np.int64)
    best[0] = 0
    sizes = np.array([int(k).bit_count() for k in range(sets)])
    for size in range(len(outputs)):
        for k, key in enumerate(outputs):
            now()
            low = places[(sizes == size) & (places & bits[key] == 0)]
            high = low | bits[key]
            change = (apart[low] - apart[high]) - (within[high] - within[low])
            reached = best[low] + (0 if key == NOWHERE else change * change)
            better = reached > best[high]
            best[high[better]], last[high[better]] = reached[better], k
    order: list[Hashable] = []
    left = sets - 1
    while left:
        order.append(outputs[int(last[left])])
        left ^= bits[order[-1]]
    return int(best[-1]), order[::-1]


Direction = Mapping[Hashable, float]


def _directions(query: Stacked, kinds: Sequence[Kind]) -> Iterator[Direction]:
    """Yield directions to start from: the worst exchanges of one class, outputs by themselves."""
    reach: Change = {}
    for kind in kinds:
        for key, value in kind.spread().items():
            reach[key] = reach.get(key, 0) + value * len(kind.members)
    order = sorted(reach, key=lambda key: -reach[key])[:STARTS]
    if query.measure is L2_SQUARED:
        yield _gradient(query, _one_by_one(query, kinds))
    yield {key: float(query.weight(key)) for key in reach}
    for kind in sorted(kinds, key=lambda kind: -len(kind.members))[:STARTS]:
        rows = list(kind.rows.values())[:MANY_VALUES]
        one, two = max(combinations(rows, 2), key=lambda both: _size(query, _difference(*both)))
        yield _gradient(query, _difference(one, two))
    for key in order:
        yield {key: 1.0}
    for one_key, two_key in combinations(order, 2):
        yield {one_key: 1.0, two_key: -1.0}


def _one_by_one(query: Stacked, kinds: Sequence[Kind]) -> Change:
    """Return the change in squares when each kind adds what makes it largest, the longest first.

    Along no direction need a kind's rows lie apart that has outputs of its own.
    """
    steps: list[tuple[Exact, list[Change]]] = []
    for kind in kinds:
        rows = list(kind.rows.values())[:MANY_VALUES]
        both = [_difference(one, two) for one, two in combinations(rows, 2)]
        steps.append((max(_size(query, each) for each in both), both))
    change: Change = {}
    order = sorted(range(len(kinds)), key=lambda place: -steps[place][0])
    for place in order:
        times = len(kinds[place].members)
        best: Exact = 0
        more: Change = {}
        for each in steps[place][1]:
            along = total(query.weight(key) * change.get(key, 0) * x for key, x in each.items())
            gain = 2 * times * magnitude(along) + times * times * _size(query, each)
            if gain > best:
                best, more = gain, {key: -x if along < 0 else x for key, x in each.items()}
        for key, x in more.items():
            change[key] = change.get(key, 0) + times * x
    return change


def _ascended(
    query: Stacked, kinds: Sequence[Kind], direction: Direction
) -> tuple[Exact, list[tuple[Key, Key]]]:
    """Return what is reached from a direction, and which rows go and come in each kind."""
    value: Exact = -1
    chosen: list[tuple[Key, Key]] = []
    for _ in range(ROUNDS):
        change: Change = {}
        steps: list[tuple[Key, Key]] = []
        for kind in kinds:
            along = {
                key: sum(float(x) * direction.get(output, 0.0) for output, x in row.items())
                for key, row in kind.rows.items()
            }
            low, high = min(along, key=along.__getitem__), max(along, key=along.__getitem__)
            steps.append((low, high) if along[low] < along[high] else (low, low))
            for key, x in _difference(kind.rows[low], kind.rows[steps[-1][1]]).items():
                change[key] = change.get(key, 0) + x * len(kind.members)
        found = _size(query, change)
        if found <= value:
            break
        value, chosen = found, steps
        direction = _gradient(query, change)
    return value, chosen


def _gradient(query: Stacked, change: Mapping[Hashable, Exact]) -> Direction:
    """Return the direction in which the norm grows most."""
    if not change:
        return {}
    if query.measure is LINF:
        key = max(change, key=lambda key: magnitude(change[key]))
        return {key: 1.0 if change[key] > 0 else -1.0}
    if query.measure is RANGE:
        high = max(change, key=lambda key: change[key])
        low = min(change, key=lambda key: change[key])
        return {high: 1.0, low: -1.0} if high != low else {high: 1.0}
    return {key: float(query.weight(key) * value) for key, value in change.items()}


# --- one record ----------------------------------------------------------------------------------


def free_edge(
    setting: Setting, query: Stacked, *, along: bool
) -> tuple[Exact, tuple[Point, Point] | None] | None:
    """Return what one move changes the query by at the most if all values are possible, and a move.

    `along` the edges of G, or between any two values. None where it is not known.
    """
    from blowproof.verifier.engines.one_move.worst_edge import worst_edge

    secrets = setting.policy.secrets if along else Full()
    bare = setting_of(Policy(domain=setting.domain, secrets=secrets))
    found = worst_edge(bare, query.parts, query.measure)
    return None if found is None else (plain(found.loss), found.edge)
