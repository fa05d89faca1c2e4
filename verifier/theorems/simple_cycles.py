"""Independent signatures: neighbours are simple cycles, and S(f, P) is a sum over the classes.

*Statement.* Readings 1 and 2, equality facts and impossible values; let the possible values have N
distinct signatures, affinely independent (cells of a partition however they are written, trees of
nested totals, laminar families of ranges, and whatever is implied by these). For a class c of
values with one signature, let D_c be the differences of the rows of two values of c (0 among them).
Then, scope "any" and G complete, for every query that is a sum of rows,

    S(f, P) = max |sum_c d_c| over choices of d_c in D_c for each class,

and a pair has at most N moves. Under scope "given" the facts leave one number h_c of records in
each class, and the same holds with the classes that have h_c >= 1. If G is not complete, it is an
upper bound, met in reading 1 where the classes can be put in a cycle with one secret move (see
`one_secret_arc`). For the histogram it is twice the number of classes with two values or more;
where no fact and no impossible region speaks of the attributes that f looks at, it is the number of
classes times the largest change of one move.

*Proof.* A pair is an irreducible multiset of moves (any G: see `complete_graph`). Let net_c be the
records that class c gains. sum net_c = 0 and sum net_c s_c = 0, so all net_c are 0 by independence:
the moves are a circulation on the classes. It contains a simple cycle (or a move within a class),
a part without effect, which is all of it. In a simple cycle each class that it visits loses one
record and gains one, so that f changes by the sum of one element of D_c for each; classes that it
does not visit add 0, which is in D_c. (At most one move leaves each class: at most N moves.)

Conversely, let d_c be chosen, and x_c, y_c the values with this difference, where it is not 0. If
it is 0 in all classes but one, the move from x_c to y_c is a pair with this change. Else let the
records with x_c move to y of the next such class, round a cycle. The moves change values, their
effects sum to 0, and those of a proper part do not, since a part of a simple cycle that is not all
of it leaves some class that it does not enter (or enters one that it does not leave), and net = 0
is needed. Their order plays no part: f changes by the sum of the d_c. The same D1 serves for any
answers; under "given", h is the only solution of sum h_c (1, s_c) = (n, q), and D1 has the record
x_c, and h_c - 1 others in each such class, h_c in the others. QED.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import islice

from blowproof.models import BlowproofError, BoundQuery, Box, Exact, Point, Setting
from blowproof.models.base.clock import now
from blowproof.models.domain.classes import firsts
from blowproof.models.norms import L1, NORMS
from blowproof.models.policy.readings import is_labelled, is_mixed
from blowproof.models.queries.query import Move, net_change
from blowproof.models.stacks.stacked import is_histogram
from blowproof.verifier.asked.answer import Answer, Pair
from blowproof.verifier.asked.question import Question
from blowproof.verifier.databases.sparse_facts import SparseFacts
from blowproof.verifier.databases.value_classes import ClassTable, class_table
from blowproof.verifier.exact.independence import Peeled, affinely_independent, solved
from blowproof.verifier.limits.limit import real_limit, whole_limit
from blowproof.verifier.theorems.most_moves import largest_move
from blowproof.verifier.theorems.values.by_kind import best_in
from blowproof.verifier.theorems.values.class_changes import Chosen
from blowproof.verifier.theorems.values.free_change import (
    axes_of_facts,
    free_change_of,
    moved,
)
from blowproof.verifier.theorems.values.one_secret_arc import Exchange, one_secret_arc
from blowproof.verifier.theorems.values.secret_arc_above import free_of_facts, with_a_secret_arc
from blowproof.verifier.theorems.values.secret_cycles import (
    SecretCycles,
    histogram_cycles,
    secret_cycles,
)
from blowproof.verifier.theorems.values.seen_values import seen_values
from blowproof.verifier.theorems.values.sums_along_edges import sums_along_edges

__all__ = [
    "Classes",
    "classes_of_facts",
    "cycle",
    "no_cycles",
    "no_single_cycles",
    "single_cycles",
]

SECONDS = real_limit(__name__, "SECONDS")
MOST_ENTRIES = whole_limit(__name__, "MOST_ENTRIES")
BOXES = whole_limit(__name__, "BOXES")

Key = bytes


@dataclass(frozen=True)
class Classes:
    """The distinct signatures, with two values of each (one where there is no other).

    `held`: how many records every database has there, where the numbers are known.
    """

    table: ClassTable
    places: dict[Key, int]
    values: tuple[tuple[Point, ...], ...]
    peeled: Peeled
    held: tuple[int, ...] | None

    def occupied(self, place: int) -> bool:
        """Whether a record of this class may move."""
        return self.held is None or self.held[place] > 0


def no_cycles(question: Question) -> str:
    """Return why the theorem does not speak about a question, or ""."""
    setting = question.setting
    if setting.bounds or setting.clauses:
        return "it speaks about equality counts"
    if not is_labelled(question.reading):
        return "it speaks about readings 1 and 2"
    if question.query.per_record:
        return f"{question.query.name} weighs single records"
    return ""


def no_single_cycles(question: Question) -> str:
    """Return why the theorem does not speak about a question, in any norm, or "".

    A simple cycle changes each cell of a histogram by 1 at the most, and all classes with two
    values or more can change two of theirs at once: that is the most in every norm. Other queries
    add up what single classes change (`in_norms`).
    """
    measure = question.query.measure
    if measure not in NORMS.values():
        return f"what classes change together is not known in {measure.name}"
    return no_cycles(question)


def classes_of_facts(setting: Setting, end: float | None = None) -> Classes | None:
    """Return the classes where their signatures are independent; None where that is not seen."""
    try:
        table = class_table(setting, deadline=end)
    except BlowproofError:  # not kept: there may be more time later
        return None
    return setting.kept.get("independent classes", lambda: _classes_of_facts(setting, table))


def _classes_of_facts(setting: Setting, table: ClassTable) -> Classes | None:
    if not table.classes or table.effects.size > MOST_ENTRIES:
        return None
    places: dict[Key, int] = {}
    rows = []
    values: list[list[Point]] = []
    for number, few in enumerate(firsts(table.classes, 2)):
        key = table.effects[number].tobytes()
        if key not in places:
            places[key] = len(places)
            rows.append(number)
            values.append([])
        values[places[key]].extend(few)
    peeled = affinely_independent(table.effects[rows])
    if peeled is None:
        return None
    held = None
    if setting.scope == "given":
        answers = [fact.answer for fact in setting.equalities]
        totals = [answer for answer in (setting.size, *answers) if answer is not None]
        found = solved(peeled, totals) if len(totals) == len(answers) + 1 else None
        if found is not None and min(found) >= 0:
            held = tuple(found)
    two = tuple(tuple(every[:2]) for every in values)
    return Classes(table, places, two, peeled, held)


def single_cycles(question: Question) -> Answer | None:
    """Return S(f, P), or bounds on it, where the signatures are affinely independent."""
    setting, started = question.setting, time.perf_counter()
    end = now() + (SECONDS if question.left is None else min(SECONDS, question.left / 2))
    classes = classes_of_facts(setting, end)
    if classes is None:
        return None
    if not setting.graph.complete and not is_mixed(question.reading):
        along = _along_edges(question, classes, started, end)
        if along is not None:
            return along
    try:
        found = _best(question, classes, end)
    except (BlowproofError, TimeoutError, OverflowError):
        found = None
    count = sum(map(classes.occupied, range(len(classes.values))))
    why = f"{count} independent signatures: neighbours are simple cycles"
    if found is None:
        largest = largest_move(setting, question.query, question.reading)
        if largest is None:
            return None
        why += f", and each move changes the query by at most {largest}"
        most = question.query.measure.repeated(largest, count)
        return question.answer(0, most, why, engine="cycles", since=started)
    if not setting.graph.complete:
        found, why = _capped(question, found, classes, why, end)
    pair = None
    if setting.scope == "any" or classes.held is not None:
        pair = _pair(question, found, classes, end)
    lower = 0 if pair is None else question.query.difference(pair.moves(question.reading))
    return question.answer(lower, found.upper, why, witness=pair, engine="cycles", since=started)


def _along_edges(question: Question, classes: Classes, started: float, end: float) -> Answer | None:
    """Return bounds in reading 2, where G is not complete and its edges can be listed."""
    setting = question.setting
    sparse = SparseFacts(setting.domain, setting.equalities)
    homes = {
        sparse.of(few[0]): place
        for place, few in enumerate(classes.values)
        if classes.occupied(place)
    }

    def place_of(x: Point) -> int | None:
        return None if x in setting.impossible else homes.get(sparse.of(x))

    boxes = _boxes_of(classes)
    found = _sums(question, boxes, end)
    if found is None or found.lower < found.upper:
        listed = (
            histogram_cycles(setting, question.query, boxes, (now() + end) / 2)
            if is_histogram(question.query)
            else secret_cycles(setting, question.query, place_of, (now() + end) / 2)
        )
        every = [each for each in (found, listed) if each is not None]
        if not every:
            return None
        best = max(every, key=lambda each: each.lower)
        found = replace(best, upper=min(each.upper for each in every))
    pair = None
    if found.exchanges and (setting.scope == "any" or classes.held is not None):
        pair = cycle(setting, found.exchanges, classes)
    lower = 0 if pair is None else question.query.difference(pair.moves(question.reading))
    why = "independent signatures: neighbours are simple cycles along edges of G"
    return question.answer(lower, found.upper, why, witness=pair, engine="cycles", since=started)


def _boxes_of(classes: Classes) -> list[list[Box]]:
    """Return the boxes of each class in which a record may move."""
    boxes: list[list[Box]] = [[] for _ in classes.values]
    for number, item in enumerate(classes.table.classes):
        place = classes.places[classes.table.effects[number].tobytes()]
        if classes.occupied(place):
            boxes[place].extend(item.boxes())
    return boxes


def _sums(question: Question, boxes: Sequence[Sequence[Box]], end: float) -> SecretCycles | None:
    """Return the bounds of a sum; `exchanges` are those of the cycle that meets the lower one."""
    graph = question.setting.graph
    found = sums_along_edges(graph, question.query, boxes, (now() + end) / 2)
    if found is None:
        return None
    last = [found.arcs[place - 1][1] for place in range(len(found.arcs))]
    exchanges = tuple((x, y) for (x, _), y in zip(found.arcs, last, strict=True))
    return SecretCycles(found.lower, found.upper, exchanges)


def _capped(
    question: Question, found: Chosen, classes: Classes, why: str, end: float
) -> tuple[Chosen, str]:
    """Return the choice with what a secret arc costs taken off its bound, and why."""

    def home(key: Key) -> int | None:
        place = classes.places.get(key)
        return place if place is not None and classes.occupied(place) else None

    upper = with_a_secret_arc(question.setting, question.query, home, end=(now() + end) / 2)
    if upper is None:
        count = sum(map(classes.occupied, range(len(classes.values))))
        upper = free_of_facts(question.setting, question.query, count)
    if upper is None or upper >= found.upper:
        return found, why
    return replace(found, upper=upper), f"{why}, one move at least along an edge of G"


def _pair(question: Question, found: Chosen, classes: Classes, end: float) -> Pair | None:
    """Return a pair that makes the chosen changes, or most of them where G is not complete."""
    setting = question.setting
    if setting.graph.complete:
        return cycle(setting, found.pairs, classes) if found.pairs else None
    if not is_mixed(question.reading):
        return None
    exchanges, areas = _exchanges(setting, found, classes)
    axes = None if is_histogram(question.query) else question.query.axes_read(setting.domain)
    best, worth = None, Fraction(0)

    def change(chosen: Sequence[Exchange]) -> Exact:
        return question.query.norm(net_change([Move(x, y) for x, y in chosen]))

    for order in one_secret_arc(setting.graph, exchanges, areas, end=end, axes=axes, worth=change):
        pair = cycle(setting, order, classes)
        value = Fraction(question.query.difference(pair.moves("published")))
        if value > worth:
            best, worth = pair, value
        if worth == found.upper:
            break
    return best


def _exchanges(
    setting: Setting, found: Chosen, classes: Classes
) -> tuple[list[Exchange], list[list[Box]]]:
    """Return what each occupied class exchanges (one value for itself, where that is best)."""
    sparse = SparseFacts(setting.domain, setting.equalities)
    chosen = {sparse.of(x): (x, y) for x, y in found.pairs}
    boxes: dict[Key, list[Box]] = {}
    for number, item in enumerate(classes.table.classes):
        key = classes.table.effects[number].tobytes()
        boxes.setdefault(key, []).extend(islice(item.boxes(), BOXES))
    exchanges, areas = [], []
    for key, place in classes.places.items():
        if classes.occupied(place):
            few = classes.values[place]
            exchanges.append(chosen.get(sparse.of(few[0]), (few[0], few[0])))
            areas.append(boxes[key])
    return exchanges, areas


def cycle(setting: Setting, pairs: Sequence[tuple[Point, Point]], classes: Classes) -> Pair:
    """Return the moves round a cycle in which, of each class, x goes and y comes.

    Under scope "given" in a database with the known numbers.
    """
    held = classes.held
    before = tuple(x for x, _ in pairs)
    after = tuple(y for _, y in (*pairs[1:], pairs[0]))
    staying: Counter[Point] = Counter()
    if held is not None:
        sparse = SparseFacts(setting.domain, setting.equalities)
        moving = Counter(sparse.of(x) for x in before)
        for few, records in zip(classes.values, held, strict=True):
            staying[few[0]] += records - moving[sparse.of(few[0])]
    unchanged = tuple(sorted((x, times) for x, times in staying.items() if times))
    return Pair(before=before, after=after, unchanged=unchanged)


def _best(question: Question, classes: Classes, end: float) -> Chosen | None:
    """Return the best choice of one difference in each class that a record may move in."""
    setting, query = question.setting, question.query
    places = [place for place in range(len(classes.values)) if classes.occupied(place)]
    if is_histogram(query):
        large = [classes.values[place] for place in places if len(classes.values[place]) > 1]
        # By turns, so that most moves change nothing but what the facts speak of.
        pairs = tuple((few[k % 2], few[1 - k % 2]) for k, few in enumerate(large))
        whole = query.norm(
            {x: sign for pair in pairs for x, sign in zip(pair, (-1, 1), strict=True)}
        )
        return Chosen(whole, whole, pairs)
    axes = query.axes_read(setting.domain)
    free_axes = not axes & axes_of_facts(setting)
    change = free_change_of(query, setting) if free_axes else None
    if change is None and free_axes and query.measure is L1:
        return None
    if change is not None:
        values = [classes.values[place][0] for place in places]
        free = [(moved(x, change.before, axes), moved(x, change.after, axes)) for x in values]
        some = tuple(free) if change.norm else ()
        # The same change in every class: it is that many times as large, and none is larger.
        lower, upper = (query.measure.repeated(x, len(places)) for x in change[2:])
        return Chosen(lower, upper, some)
    rows = _values(setting, query, classes, end)
    if rows is None:
        return None
    return best_in(query, [rows[place] for place in places], end)


def _values(
    setting: Setting, query: BoundQuery, classes: Classes, end: float
) -> list[list[Point]] | None:
    """Return values of each class with all the rows of the query that there are."""
    seen = seen_values(setting, query, classes.table, end=end)
    if seen is None:
        return None
    found: list[list[Point]] = [[] for _ in classes.values]
    for row, points in zip(classes.table.effects, seen, strict=True):
        found[classes.places[row.tobytes()]].extend(points)
    return found
