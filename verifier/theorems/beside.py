"""Cells, and a few facts beside them: how many moves a pair makes at the most, and such pairs.

*Statement.* Readings 1 and 2, equality facts and impossible values. Let the signatures for some of
the facts, the *base*, be affinely independent, N classes of them (`simple_cycles`), and let w be
the most by which one more fact's coefficient varies within a class, divided by the greatest common
divisor of all these differences. If the other facts follow from these, a pair makes at most floor(w
(N + 1)^2 / 2) moves. For G complete, w = 1 and classes with both labels, some pair makes so many
(`two_cycles`), and where no fact speaks of the attributes that f looks at, S(f, P) is that times
the largest change of one move.

*What a pair is.* Take a label of each value: the further fact's coefficient less the least one in
its class, over that divisor, so 0, ..., w. The differences that were taken away depend on the class
alone and cancel in every circulation. A multiset of moves has no effect iff it is a circulation on
the classes (`simple_cycles`) and its labels, those that records come to less those that they leave,
sum to 0. Let M be irreducible: a circulation of sum 0, no proper part of which that is a
circulation has sum 0. Divide labels by w: each move has one in [-1, 1]. If some simple cycle in M
has label 0, it is M, of at most N moves. Else cut M into simple cycles, as many as possible, and
among these cuts take one with the least sum of squared labels. Let A have label a > 0 and B label
-b < 0, T = a + b.

(i) *A and B meet their s common classes in the same cyclic order.* Else there are three, u, v, w,
in this order on A and u, w, v on B. Follow A from v to u and B from u to v: a closed walk that
meets w twice; with the other two halves it makes at least three cycles of two. So common classes
cut A and B into s segments A_i, B_i with the same ends and labels alpha_i, beta_i. Exchanging those
in any set I leaves two simple cycles, with labels a - h(I) and -b + h(I), h_i = alpha_i - beta_i,
sum h_i = T. Sums of squares are least: 2 h(I)^2 >= 2 T h(I), so that h(I) <= 0 or h(I) >= T for
every I.

(ii) *b |A| + a |B| <= (N + 1)^2 / 2.* If s <= 1: |A| + |B| <= N + 1, a <= |A|, b <= |B|, and 2 |A|
|B| is at most that. Let s >= 2; |A| + |B| <= N + s. One h_i at least is positive, so >= T. One
only, say h_1: let x = |A_1|, y = |B_1|, R and Q be the lengths of the rests, K the larger of these
and m the smaller, m >= s - 1, so that x + y + K <= N + 1. The rests have labels r of A and r' of B,
r <= r', |r| <= R, |r'| <= Q, and a <= x + t, b <= y - t for every t between r and r'; one of them
has |t| <= m (r if R <= Q, else r'). So b |A| + a |B| <= (y - t)(x + R) + (x + t)(y + Q), which is
linear in t. At t = -m, if R = m: 2 x y + x (m + K) + m (m - K) <= 2 x (y + K); if Q = m: (y + m)(2
x + K - m). Both are 2 u v with u + v <= x + y + K. At t = m the same with A and B exchanged. And 2
u v <= (N + 1)^2 / 2.
Two or more, say p of them: the others sum to at most -(p - 1) T. Where |h_i| <= |A_i| + |B_i| = l_i
there are l_i - 1 classes, counting one of its ends, and l_i - 1 >= l_i / 2. So N >= p (T - 1) + (p
- 1) T / 2, which for T >= 1 is at least 5 T / 2 - 2, and b |A| + a |B| <= T N <= 2 N (N + 2) / 5;
for T < 1 it is below N. Both are less.

(iii) Now with whole labels: a_1, ..., a_k and -b_1, ..., -b_l, W = sum a_i = sum b_j. Then k l <=
W: the k l differences of a sum of the first of the a (0 to k - 1 of them) and one of the first of
the b are distinct modulo W. Else a block of the a would be equal to a block of the b, or complete
it to W and be equal to what the b have besides it: a proper part of sum 0. So

    |M| = sum |A_i| + sum |B_j| = (1/W) sum over i, j of (b_j |A_i| + a_i |B_j|),

at most (k l / W) w (N + 1)^2 / 2. QED.

*More facts, by stages.* Let L bound the length of irreducibles for the base and some facts, and let
a further one have width w. An irreducible for all of them falls into parts that are irreducible for
the former, with labels of at most W = w L in size. (iii) holds for any parts; if some a = b, those
two are all of it, and else a + b <= 2 W - 1. So its length is at most L max(2, 2 W - 1).

*More facts, all at once.* Cut an irreducible for the base and d facts into simple cycles. A cycle
enters and leaves a class once at the most, so that its label on fact j is no larger than W_j, the
sum over classes of how much labels differ there, and all its labels add up to no more than W, the
sum of how much they differ in all facts together. Cycles can be ordered so that sums of the first
ones lie in d K, K being the vectors within these limits (Steinitz's lemma: see
`longest_irreducible`), and these sums differ, else a block between two of them has label 0. So
there are no more cycles than whole points in d K, of at most N moves each.

*Where few have labels.* Under scope "given", let labels on a further fact sum to h over all records
of any database, or lack h of the most that their classes have. A move of label -x leaves a record
whose label is at least x (or of label x, counted from the most down), and each record moves once:
labels of moves below 0 sum to -h at the least. *An irreducible for some facts and for such ones, of
h_1, ..., h_e, falls into no more than 1 + h_1 + ... + h_e parts irreducible for the former* (simple
cycles, if there are none): let it fall into parts irreducible for all but the last. W is no more
than the sum of labels below 0, so k l <= W <= h_e, and k + l <= 1 + h_e (one part, if it has label
0). Each of these falls into no more than 1 + what it holds of h_1, ..., h_(e - 1), by induction,
and all together hold no more than there is. So L (1 + h_1 + ... + h_e) bounds the moves, where L is
the bound for the former, and N if there are none.

Under scope "given" there are no more pairs; in reading 1 with another G neither. In reading 2
cycles stay in a component of G, which makes them shorter (`lengths.along_edges`).

*How often one class is left.* M is cut into no more than C cycles, each of which leaves a class of
the base once at the most, and enters it once. With one fact beside cells C = w (N + 1): let a and b
be the largest labels. If s <= 1, a + b <= |A| + |B| <= N + 1; else, by (i), some h_1 >= T, and T <=
h_1 <= x + y, where the insides of A_1 and B_1 and a rest hold x - 1, y - 1 and 2 classes at least:
x + y <= N. With whole labels, take a cycle of positive label where the sum so far is 0 or less, and
a negative one where it is more: the k + l sums are distinct (else a block between two of them has
sum 0) and lie above -b and not above a, so that k + l <= w (a + b). With more facts C is as in "all
at once". M is a circulation on the classes, so each of them exchanges at most C
records for others of its own, and S is no more than what so many exchanges change the query by
(`by_kind`, `in_norms`): a histogram's cell changes by C at the most, never by all moves.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import permutations

import numpy as np
from numpy.typing import NDArray

from blowproof.models import BlowproofError, Exact, Point, Setting
from blowproof.models.base.clock import now
from blowproof.models.base.numbers import plain
from blowproof.models.norms import L1, L2_SQUARED
from blowproof.models.policy.in_words import counted
from blowproof.models.stacks.stacked import is_histogram
from blowproof.verifier.asked.answer import Answer, Pair
from blowproof.verifier.asked.question import Question
from blowproof.verifier.databases.value_classes import ClassTable, class_table
from blowproof.verifier.exact.independence import affinely_independent, solved
from blowproof.verifier.exact.span import independent
from blowproof.verifier.limits.limit import real_limit, whole_limit
from blowproof.verifier.theorems.lengths.along_edges import components, longest_along_edges
from blowproof.verifier.theorems.lengths.label_changes import Ends, by_labels, ends_of_labels
from blowproof.verifier.theorems.lengths.label_sets import by_sets
from blowproof.verifier.theorems.lengths.label_sides import by_sides, most_of_a_side
from blowproof.verifier.theorems.lengths.two_beside import longest_with_two
from blowproof.verifier.theorems.longest_irreducible import whole_points
from blowproof.verifier.theorems.most_moves import largest_move
from blowproof.verifier.theorems.values.by_kind import most_in_classes
from blowproof.verifier.theorems.values.free_change import axes_of_facts, free_change_of
from blowproof.verifier.theorems.values.in_norms import largest_apart
from blowproof.verifier.theorems.values.less_known import change_less_facts
from blowproof.verifier.theorems.values.squares_beside import (
    exchanged_squares,
    squares_beside,
    squares_of_sides,
    value_beside,
)

__all__ = [
    "Beside",
    "all_at_once",
    "beside",
    "by_stages",
    "classes_in",
    "exchanged",
    "facts_beside",
    "few_labels",
    "free_change",
    "groups_of",
    "held_in",
    "longest_beside",
    "most_cycles",
    "with_label_one",
]

SECONDS = real_limit(__name__, "SECONDS")
MOST_ENTRIES = whole_limit(__name__, "MOST_ENTRIES")
MOST_GROUPS = whole_limit(__name__, "MOST_GROUPS")
MOST_FACTS_BESIDE = whole_limit(__name__, "MOST_FACTS_BESIDE")
MOST_LABELS = whole_limit(__name__, "MOST_LABELS")
MOST_ORDERS = whole_limit(__name__, "MOST_ORDERS")
MOST_STARTS = whole_limit(__name__, "MOST_STARTS")

Matrix = NDArray[np.int64]


@dataclass(frozen=True)
class Beside:
    """Classes of the base, and what further facts add in each class of values: at least 0 there.

    `base` are the facts of the base (by place), `home[k]` is the base's class of the table's class
    k, `labels[k]` has a column for each further fact, `widths` the most of each. `further` are
    those that are equalities (by place), each with what it counts at least in each class of the
    base, and what its labels were divided by.
    """

    table: ClassTable
    base: tuple[int, ...]
    count: int
    home: tuple[int, ...]
    labels: Matrix
    further: tuple[tuple[int, tuple[int, ...], int], ...] = ()

    @property
    def widths(self) -> tuple[int, ...]:
        """How much each further fact varies within a class of the base."""
        return tuple(int(x) for x in self.labels.max(axis=0, initial=0))


def beside(table: ClassTable, groups: list[list[int]], bounds: Sequence[int] = ()) -> Beside | None:
    """Choose facts whose signatures are independent, group by group, and label by the others.

    Of few groups each has its turn to be the first; the most classes leave the fewest labels.
    `bounds`: rows of bounds (by place) that are labels too, as they are: slack closes them.
    """
    effects = table.effects
    if not len(effects) or effects.size > MOST_ENTRIES or len(groups) > MOST_GROUPS:
        return None
    order = sorted(groups, key=lambda places: (-len(places), places))
    starts = order if len(order) <= MOST_STARTS else order[:1]
    found = [_base(effects, [first, *(g for g in order if g is not first)]) for first in starts]
    base, home, count = max(found, key=lambda each: each[2], default=([], [0] * len(effects), 1))
    least = np.full((count, effects.shape[1]), np.iinfo(np.int64).max, dtype=np.int64)
    np.minimum.at(least, home, effects)
    above = effects - least[home]
    used = [k for k in range(above.shape[1]) if above[:, k].any()]
    # The rank is that of differences within classes, whatever is taken away from a class.
    firsts_of = {place: k for k, place in reversed(list(enumerate(home)))}
    start = [firsts_of[place] for place in home]
    within = effects[:, used] - effects[start][:, used]
    chosen = [used[k] for k in independent(np.ascontiguousarray(within.T))] if used else []
    labels = above[:, chosen]
    further = []
    for column, place in enumerate(chosen):
        common = int(np.gcd.reduce(labels[:, column]))
        labels[:, column] //= common
        further.append((place, tuple(least[:, place].tolist()), common))
    for place in bounds:
        row = table.rows[:, table.equalities + place]
        low = np.full(count, np.iinfo(np.int64).max, dtype=np.int64)
        np.minimum.at(low, home, row)
        if (row != low[home]).any():
            labels = np.column_stack([labels, row - low[home]])
    return Beside(table, tuple(base), count, tuple(home), labels, tuple(further))


def _base(effects: Matrix, groups: list[list[int]]) -> tuple[list[int], list[int], int]:
    """Return facts whose signatures are independent, group by group; each row's class, how many."""
    base: list[int] = []
    home, count = [0] * len(effects), 1
    for group in groups:
        rows, first, number = classes_in(effects[:, [*base, *group]])
        if affinely_independent(rows) is not None:
            base += group
            home, count = number, len(first)
    return base, home, count


def classes_in(columns: Matrix) -> tuple[Matrix, list[int], list[int]]:
    """Return distinct rows, a place of each, and the number of each row's own."""
    numbers: dict[bytes, int] = {}
    first: list[int] = []
    home = []
    for place, row in enumerate(np.ascontiguousarray(columns)):
        key = row.tobytes()
        if key not in numbers:
            numbers[key] = len(numbers)
            first.append(place)
        home.append(numbers[key])
    return columns[first], first, home


def groups_of(setting: Setting) -> list[list[int]]:
    """Return the equalities' places, those that one entry of the policy wrote together."""
    found: dict[str, list[int]] = {}
    for place, fact in enumerate(setting.equalities):
        found.setdefault(fact.name.partition("]")[0], []).append(place)
    return list(found.values())


def longest_beside(found: Beside, few: Sequence[int | None] = ()) -> int:
    """Return how many moves a pair makes at the most (see the statement, and for more facts).

    `few`: what `few_labels` says of each further fact.
    """
    widths = found.widths
    if not widths:
        return found.count
    facts = sorted(
        zip(widths, few or [None] * len(widths), strict=True),
        key=lambda fact: (fact[1] is not None, -(fact[1] or 0)),
    )
    orders = permutations(facts) if len(widths) <= MOST_ORDERS else iter([facts])
    staged = min(by_stages(found.count, *zip(*order, strict=True)) for order in orders)
    if len(widths) == 1:
        return staged
    least, two = min(staged, all_at_once(found)), _two(found)
    return least if two is None else min(least, two[0])


def all_at_once(found: Beside, parts: Sequence[Sequence[int]] = ()) -> int:
    """Return N times the whole points that sums of cycles' labels may be.

    `parts`: classes of the base of which a cycle visits one part only.
    """
    several = len(found.widths)
    most = np.zeros((found.count, several), dtype=np.int64)
    np.maximum.at(most, list(found.home), found.labels)
    together = np.zeros(found.count, dtype=np.int64)
    for place in range(found.count):
        held = np.unique(found.labels[np.array(found.home) == place], axis=0)
        apart = np.abs(held[:, None] - held[None]).sum(axis=2) if len(held) <= MOST_LABELS else None
        together[place] = most[place].sum() if apart is None else apart.max()
    visited = [list(part) for part in parts or [range(found.count)]]
    sides = np.max([most[part].sum(axis=0) for part in visited], axis=0)
    summed = max(int(together[part].sum()) for part in visited)
    points = whole_points([several * int(side) for side in sides], several * summed)
    return max(map(len, visited)) * points


def _two(found: Beside) -> tuple[int, int] | None:
    """Return what `lengths.two_beside` says, of moves and of cycles, where two facts are beside."""
    if len(found.widths) != 2:
        return None
    held: list[set[tuple[int, int]]] = [set() for _ in range(found.count)]
    for home, (first, second) in zip(found.home, found.labels.tolist(), strict=True):
        held[home].add((first, second))
    x, y = min(held[0])
    slack = [(x + 1, y), (x, y + 1)]
    held[0].update(slack[len(found.further) :])  # of rows of bounds, which come last
    return longest_with_two(Counter(map(frozenset, held)).items())


def held_in(found: Beside, setting: Setting) -> list[int] | None:
    """Return how many records each class of the base has in every database; None: not known."""
    numbers = [setting.equalities[place].answer for place in found.base]
    totals = [number for number in (setting.size, *numbers) if number is not None]
    if setting.scope != "given" or len(totals) <= len(numbers):
        return None
    first = [found.home.index(place) for place in range(found.count)]
    peeled = affinely_independent(np.ascontiguousarray(found.table.effects[first][:, found.base]))
    held = None if peeled is None else solved(peeled, totals)
    return None if held is None or min(held) < 0 else held


def with_label_one(found: Beside, setting: Setting, held: Sequence[int]) -> int | None:
    """Return how many records have label 1 where one further fact of width 1 is known."""
    if found.widths != (1,) or len(found.further) != 1:
        return None
    ((place, least, common),) = found.further
    answer = setting.equalities[place].answer
    if answer is None:
        return None
    return (answer - sum(k * n for k, n in zip(least, held, strict=True))) // common


def few_labels(found: Beside, setting: Setting) -> list[int | None]:
    """Return, for each further fact, what labels of all records sum to, or lack of the most, if
    that is less; None where it is not known.
    """
    held = held_in(found, setting)
    answers = [setting.equalities[place].answer for place, _, _ in found.further]
    if held is None or None in answers or len(answers) < len(found.widths):
        return [None] * len(found.widths)
    most = np.zeros((found.count, len(answers)), dtype=np.int64)
    np.maximum.at(most, list(found.home), found.labels)
    told = []
    for (_, least, common), answer, tops in zip(found.further, answers, most.T, strict=True):
        full = sum(k * n for k, n in zip(tops.tolist(), held, strict=True))
        sums = ((answer or 0) - sum(k * n for k, n in zip(least, held, strict=True))) // common
        told.append(min(sums, full - sums) if 0 <= sums <= full else None)
    return told


def by_stages(count: int, widths: Sequence[int], few: Sequence[int | None] = ()) -> int:
    """Return the bound for N classes and facts of these widths, one after the other.

    `few`: of the last ones it may be known that few have labels.

    >>> by_stages(2, (1,)), by_stages(7, (1,)), by_stages(4, (1, 1))
    (4, 32, 276)
    >>> by_stages(20, (1, 1), (150, 10)), by_stages(20, (1, 1), (90, 10))
    (2420, 2020)
    """
    lengths = [count]
    for width in widths:
        if len(lengths) == 1:
            lengths.append(width * (count + 1) ** 2 // 2)
        else:
            lengths.append(lengths[-1] * max(2, 2 * width * lengths[-1] - 1))
    best, parts = lengths.pop(), 1
    for length, labels in zip(reversed(lengths), reversed(few), strict=False):
        if labels is None:
            break
        parts += labels
        best = min(best, length * parts)
    return best


def facts_beside(question: Question) -> Answer | None:
    """Return bounds on S(f, P) by the number of moves; with one fact beside cells, also a pair."""
    setting, started = question.setting, time.perf_counter()
    end = now() + (SECONDS if question.left is None else min(SECONDS, question.left / 3))
    try:
        found = beside(class_table(setting, deadline=end), groups_of(setting))
        largest = largest_move(setting, question.query, question.reading)
    except (BlowproofError, OverflowError):
        return None
    if found is None or largest is None or len(found.widths) > MOST_FACTS_BESIDE:
        return None
    areas = question.query.counted_areas(setting.domain) or ()
    if len(found.widths) > 1 == len(areas):  # two facts may say half of what a count of both does
        less = change_less_facts(setting, question.query)
        largest = largest if less is None else min(largest, less)
    few = few_labels(found, setting)
    most = _longest(question, found, few, end)
    each = min(most_cycles(found, few), most)
    if question.query.measure is not L1:
        return _in_norm(question, found, each, most, started, end)
    free = free_change(question)
    change = largest if free is None else min(largest, free[2])
    why = (
        f"{counted(found.count, 'cell')} and {counted(len(found.widths), 'fact')} beside them: "
        f"at most {most} moves, each of which changes the query by at most {change}"
    )
    pair = None
    if len(found.widths) == 1:
        from blowproof.verifier.theorems.beside_pairs import pair_beside

        pair = pair_beside(question, found, free)
    lower = 0 if pair is None else question.query.difference(pair.moves(question.reading))
    upper = plain(most * change)
    if lower < upper and free is None:
        moves = why.partition(", each of which")[0]
        for bound, reason in _exchanging(question, found, each, most, end):
            upper, why = (bound, moves + reason) if bound < upper else (upper, why)
    if lower < upper and found.widths == (1,):
        seen, other = _seen(question, found, end)
        value = 0 if other is None else question.query.difference(other.moves(question.reading))
        pair, lower = (pair, lower) if value <= lower else (other, value)
        if seen is not None and seen < upper:
            upper = seen
            why = f"{counted(found.count, 'cell')} and 1 fact beside them, which the query tells"
    return question.answer(lower, upper, why, witness=pair, engine="beside", since=started)


def _longest(question: Question, found: Beside, few: Sequence[int | None], end: float) -> int:
    """Return how many moves a pair makes at the most; in reading 2 along edges of G."""
    most, setting = longest_beside(found, few), question.setting
    if question.reading != "secret-moves" or setting.graph.complete:
        return most
    parts = components(setting, found.table, found.home, end)
    most = min(most, longest_along_edges(parts, found.widths, orders=MOST_ORDERS))
    return min(most, all_at_once(found, parts)) if len(found.widths) > 1 else most


def _exchanging(
    question: Question, found: Beside, each: int, most: int, end: float
) -> Iterator[tuple[Exact, str]]:
    """Yield bounds by what so many moves exchange, `each` class no more records, and why."""
    fewer = exchanged(question, found, each, most, end)
    if fewer is not None:
        yield fewer, f", and {each} out of one cell"
    if found.widths == (1,):
        side = most_of_a_side(found.count)
        with suppress(BlowproofError, TimeoutError, OverflowError):
            labels = found.labels[:, 0].tolist()
            sided = by_sides(question, found.table, labels, found.count, most, end)
            if sided is not None:
                yield sided, f", and {side} of records with the same label of the fact"


def _ends_seen(question: Question, found: Beside, end: float) -> Ends | None:
    """Return values of both labels, where the query sees classes and labels alone."""
    try:
        labels = found.labels[:, 0].tolist()
        return ends_of_labels(question, found.table, found.home, labels, end)
    except (BlowproofError, TimeoutError, OverflowError):
        return None


def _seen(question: Question, found: Beside, end: float) -> tuple[Exact | None, Pair | None]:
    """Return a bound and a pair where the query sees classes and labels alone.

    See `lengths.label_changes`, `lengths.label_sets`.
    """
    from blowproof.verifier.theorems.beside_pairs import pair_that_gains

    ends = _ends_seen(question, found, end)
    if ends is None:
        return None, None
    bounds = [by_labels(question.query, ends, found.count)]
    sets = by_sets(question.query, ends, found.count, end)
    pair = None
    if sets is not None:
        bounds.append(sets[0])
        pair = pair_that_gains(question, found, ends, sets[1])
    return min((bound for bound in bounds if bound is not None), default=None), pair


def exchanged(
    question: Question,
    found: Beside,
    each: int,
    most: int,
    end: float,
    cell: int | None = None,
) -> Exact | None:
    """Return what exchanges within classes of the base change the query by, if that is seen."""
    try:
        return most_in_classes(question, found.table, found.home, each, most, end=end, cell=cell)
    except (BlowproofError, TimeoutError, OverflowError):
        return None


def most_cycles(found: Beside, few: Sequence[int | None] = ()) -> int:
    """Return how many simple cycles a pair is cut into at the most; `few`: as `longest_beside`."""
    cycles = [found.widths[0] * (found.count + 1) if found.widths else 1]
    if len(found.widths) > 1:
        two = _two(found)
        cycles = [all_at_once(found) // found.count, *([] if two is None else two[1:])]
    labels = [each for each in few if each is not None]
    return min([*cycles, 1 + sum(labels)] if len(labels) == len(found.widths) else cycles)


def _in_norm(
    question: Question, found: Beside, each: int, moves: int, started: float, end: float
) -> Answer | None:
    """Return bounds in other norms: a class is left by no more moves than there are cycles."""
    query = question.query
    why = (
        f"{counted(found.count, 'cell')} and {counted(len(found.widths), 'fact')} beside them: "
        f"at most {moves} moves, and {each} out of one cell"
    )
    free = free_change(question)
    pair = None
    if len(found.widths) == 1:
        from blowproof.verifier.theorems.beside_pairs import pair_beside

        pair = pair_beside(question, found, free)
    lower = 0 if pair is None else query.difference(pair.moves(question.reading))
    upper = None if free is None else query.measure.repeated(free[2], moves)
    if upper is None or lower < upper:
        cell = value_beside(found.count, found.widths[0]) if len(found.widths) == 1 else None
        tighter = [upper, exchanged(question, found, each, moves, end, cell)]
        if query.measure is L2_SQUARED and is_histogram(query) and len(found.widths) == 1:
            tighter.append(squares_beside(found.count, found.widths[0]))
        if query.measure is L2_SQUARED and found.widths == (1,):
            ends = _ends_seen(question, found, end)
            seen = None if ends is None else by_labels(query, ends, found.count)
            tighter += [_apart(question, found, end), seen]
            tighter.append(_by_sides(question, found, moves, end))
        upper = min((bound for bound in tighter if bound is not None), default=None)
    if upper is None:
        return None
    return question.answer(lower, upper, why, witness=pair, engine="beside", since=started)


def _apart(question: Question, found: Beside, end: float) -> Exact | None:
    """Return a bound on squares where each output is about one class (`squares_beside`)."""
    try:
        one = largest_apart(question, found.table, found.home, end)
    except (BlowproofError, TimeoutError, OverflowError):
        return None
    return None if one is None else one * exchanged_squares(found.count)


def _by_sides(question: Question, found: Beside, moves: int, end: float) -> Exact | None:
    """Return a bound on squares where each output is about one label (`one_sided`)."""
    try:
        one = largest_apart(question, found.table, found.labels[:, 0].tolist(), end)
    except (BlowproofError, TimeoutError, OverflowError):
        return None
    return None if one is None else one * squares_of_sides(found.count, moves)


def free_change(question: Question) -> tuple[Point, Point, Exact] | None:
    """Return the largest change where facts leave the query's attributes alone."""
    setting, query = question.setting, question.query
    axes = query.axes_read(setting.domain)
    if is_histogram(query) or axes & axes_of_facts(setting):
        return None
    try:
        change = free_change_of(query, setting)
    except BlowproofError:
        return None
    return None if change is None else (change.before, change.after, change.upper)
