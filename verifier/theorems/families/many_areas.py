"""Thousands of areas inside of one another, or apart: S without a table of what each fact counts.

*Statement.* Equality counts, each of the records in one box; of two boxes one lies in the other, or
they have nothing in common (areas of a census, districts). A class is what one box holds and no box
inside of it does, or what no box holds. The signatures of the classes that hold a value are
affinely independent, so that `simple_cycles` speaks about readings 1 and 2, and `exchanges` about
reading 3. (G not complete: `one_secret_arc` shows a pair, `secret_arc_above` says what it costs.)
Under scope "given" a class has as many records as its box less the boxes right inside.

*Proof.* The signature of a class has a 1 for its box and each box around it. Take the rows (1, s)
away from the inside out: when all boxes inside of a box are gone, its column is 1 in its own row
and 0 in all that are left. Last is the row of what no box holds, (1, 0). So they are independent.

The classes are found by sorting, and a class is its box with the boxes right inside of it: what is
kept grows with the number of facts, and not with its square as a table does. Values for a query are
taken from what it reads: all positions of short axes, of long ones the ends and the middle, which
is enough for sums and cumulative counts, for ranges where no class reaches further than half-way,
and for marginals, since any two of their rows differ by the same. In other norms than l1 it is for
sums (norms are convex, and the rows between two ends lie between theirs), and for cumulative counts
in l2-squared and linf: from end to end, a class goes across each cut that it can. For other queries
that read long axes, a class changes f by no more than any move does; and so it is for a class whose
values are not all taken, such as what no box holds where the query reads an axis of the boxes. In
l1 the changes of such classes are added to those of all others, by the triangle inequality.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from functools import singledispatch
from itertools import combinations, islice
from math import prod
from operator import itemgetter

from blowproof.models import BoundQuery, Exact, Point
from blowproof.models.base.clock import now
from blowproof.models.norms import L1, L2_SQUARED, LINF, NORMS, Norm
from blowproof.models.policy.readings import is_labelled, is_mixed
from blowproof.models.queries.kinds import Cumulative, MarginalQuery, Ranges, SumQuery
from blowproof.models.stacks.stacked import Stacked, is_histogram
from blowproof.verifier.asked.answer import Answer, Pair
from blowproof.verifier.asked.question import Question
from blowproof.verifier.limits.limit import real_limit, whole_limit
from blowproof.verifier.theorems.families.areas import (
    Node,
    cycle,
    nested,
    points_of,
    positions_of,
    staying,
    with_one_secret_arc,
)
from blowproof.verifier.theorems.most_moves import largest_move
from blowproof.verifier.theorems.values.by_kind import best_in
from blowproof.verifier.theorems.values.class_changes import Chosen
from blowproof.verifier.theorems.values.free_change import axes_of_facts, free_change_of, moved
from blowproof.verifier.theorems.values.secret_arc_above import free_of_facts

__all__ = ["many_areas", "no_many_areas"]

MANY = whole_limit(__name__, "MANY")
SHORT_AXIS = whole_limit(__name__, "SHORT_AXIS")
MOST_VALUES = whole_limit(__name__, "MOST_VALUES")
TRIED = whole_limit(__name__, "TRIED")
MOST_PAIRED = whole_limit(__name__, "MOST_PAIRED")
SECONDS = real_limit(__name__, "SECONDS")


def no_many_areas(question: Question) -> str:
    """Return why the theorem is not asked about a question, or ""."""
    setting = question.setting
    if len(setting.equalities) <= MANY:
        return f"it is for more than {MANY:,} facts"
    if setting.bounds or setting.clauses or setting.impossible.boxes:
        return "it speaks about equality counts"
    if question.query.measure not in NORMS.values() or question.query.per_record:
        return "it speaks about sums of rows, in norms that are known"
    if not is_labelled(question.reading) and question.reading != "add-remove":
        return "it speaks about readings 1 to 3"
    return ""


def many_areas(question: Question) -> Answer | None:
    """Return S(f, P), or bounds, where thousands of areas are nested or apart; None where not."""
    setting, started = question.setting, time.perf_counter()
    end = now() + (SECONDS if question.left is None else min(SECONDS, question.left / 2))
    nodes = nested(setting, setting.equalities, end)
    if nodes is None:
        return None
    classes = [node for node in nodes if node.size and (setting.scope == "any" or node.held != 0)]
    labelled = is_labelled(question.reading)
    if not labelled:
        return _exchange(question, classes, started)
    found = _best(question, classes, end)
    if found is None:
        return None
    why = f"{len(classes):,} areas inside of one another, or apart: neighbours are simple cycles"
    pair, upper = None, found.upper
    if not setting.graph.complete:
        capped = free_of_facts(setting, question.query, len(classes))
        upper = found.upper if capped is None else min(upper, capped)
    if found.pairs and setting.graph.complete:
        pair = cycle(setting, found.pairs, classes)
    elif is_mixed(question.reading):
        facts = setting.equalities
        pair = with_one_secret_arc(question, found.pairs, classes, facts, upper, end)
    lower = 0 if pair is None else question.query.difference(pair.moves(question.reading))
    return question.answer(lower, upper, why, witness=pair, engine="areas", since=started)


# --- values of a class ---------------------------------------------------------------------------


def _values(question: Question, classes: Sequence[Node]) -> tuple[list[list[Point]], list[bool]]:
    """Return values of each class, and whether no others of it change the query by more."""
    query, setting = question.query, question.setting
    axes = sorted(query.axes_read(setting.domain))
    one_axis = len(axes_of_facts(setting)) == 1
    found, whole, total = [], [], 0
    for node in classes:
        few = list(points_of(node, axes))
        found.append(few)
        whole.append(bool(few) and _all_rows(query, node, axes, one_axis))
        total += len(few)
        if total > MOST_VALUES:
            return [], []
    return found, whole


def _all_rows(query: BoundQuery, node: Node, axes: Sequence[int], one_axis: bool) -> bool:
    """Whether the values that are taken change the query as much as any of the class do."""
    lengths = {axis: positions_of(node, axis) for axis in axes}
    if prod(min(length, SHORT_AXIS) for length in lengths.values()) > TRIED:
        return False
    free = not node.inner or not _cut(node).intersection(axes)
    if all(length <= SHORT_AXIS for length in lengths.values()):
        return free or one_axis
    if isinstance(query, Stacked) and query.measure is not L1:
        return (free or one_axis) and all(
            _ends_in(part.query, query.measure) for part in query.parts
        )
    return _ends_are_enough(query, lengths, free, one_axis)


@singledispatch
def _ends_in(query: BoundQuery, measure: Norm) -> bool:
    """Whether values near the ends of long axes are enough in another norm than l1."""
    return False


@_ends_in.register
def _sums(query: SumQuery, measure: Norm) -> bool:
    return True


@_ends_in.register
def _counts(query: Cumulative, measure: Norm) -> bool:
    return measure in (L2_SQUARED, LINF)


@singledispatch
def _ends_are_enough(
    query: BoundQuery, lengths: Mapping[int, int], free: bool, one_axis: bool
) -> bool:
    """Whether values near the ends of long axes change a query as much as all others do."""
    return False


@_ends_are_enough.register
def _ranges(query: Ranges, lengths: Mapping[int, int], free: bool, one_axis: bool) -> bool:
    # Of two positions further apart than half-way, nearer ones count.
    return free and lengths[query.axis] <= (query.size + 1) // 2


@_ends_are_enough.register(Cumulative)
@_ends_are_enough.register(SumQuery)
@_ends_are_enough.register(MarginalQuery)
def _monotone(query: BoundQuery, lengths: Mapping[int, int], free: bool, one_axis: bool) -> bool:
    return free or one_axis


def _cut(node: Node) -> set[int]:
    """Return the axes on which some box inside does not reach as far as the box."""
    sides = enumerate(node.box.sides)
    return {axis for axis, side in sides if any(o.box.sides[axis] != side for o in node.inner)}


# --- what changes --------------------------------------------------------------------------------


def _best(question: Question, classes: Sequence[Node], end: float) -> Chosen | None:
    """Return the best choice of one change in each class (see `simple_cycles`)."""
    setting, query = question.setting, question.query
    axes = query.axes_read(setting.domain)
    measure = query.measure
    if is_histogram(query):
        every = range(len(setting.domain))
        large = [node for node in classes if node.size > 1]
        pairs = [tuple(islice(points_of(node, every), 2)) for node in large]
        whole = [(pair[k % 2], pair[1 - k % 2]) for k, pair in enumerate(pairs) if len(pair) == 2]
        lower, upper = (measure.of([(1, 1), (-1, 1)] * len(some)) for some in (whole, large))
        return Chosen(lower, upper, tuple(whole))
    if not axes & axes_of_facts(setting):
        change = free_change_of(query, setting)
        if change is None:
            return None
        values = [next(points_of(node, ()), None) for node in classes]
        free = tuple(
            (moved(x, change.before, axes), moved(x, change.after, axes))
            for x in values
            if x is not None and change.norm
        )
        lower = measure.repeated(change.norm, len(free))
        return Chosen(lower, measure.repeated(change.upper, len(classes)), free)
    few, taken = _values(question, classes)
    found = best_in(query, [points for points in few if points], end) if few else None
    known = [points for points, whole in zip(few, taken, strict=True) if whole]
    if found is not None and len(known) == len(classes):
        return found
    most = largest_move(setting, query, question.reading)
    if most is None:
        return None
    upper = measure.repeated(most, len(classes))
    part = best_in(query, known, end) if measure is L1 and known else None
    if part is not None:
        upper = min(upper, part.upper + measure.repeated(most, len(classes) - len(known)))
    lower, pairs_found = (found.lower, found.pairs) if found else (0, ())
    return Chosen(lower, upper, pairs_found)


def _exchange(question: Question, classes: Sequence[Node], started: float) -> Answer | None:
    """Return the best exchange in a class, or the best record that no fact counts (`exchanges`)."""
    setting, query = question.setting, question.query
    whole = setting.domain.whole
    counted = any(area.boxes == (whole,) for fact in setting.equalities for _, area in fact.terms)
    outside = [node for node in classes if node.box == whole and not counted]
    few, taken = _values(question, classes)
    enough = all(taken)
    if is_histogram(query):
        every = range(len(setting.domain))
        few = [list(islice(points_of(node, every), 2)) for node in classes]
        enough = all(len(points) == min(2, node.size)
                     for points, node in zip(few, classes, strict=True))  # fmt: skip
    enough = enough and all(len(points) <= MOST_PAIRED for points in few)
    best: tuple[Exact, Point | None, Point | None] = (0, None, None)
    for node, points in zip(classes, few, strict=False):
        if node in outside:
            best = max([best, *((query.norm({z: 1}), None, z) for z in points)], key=itemgetter(0))
        for one, two in combinations(points[:MOST_PAIRED], 2):
            if (size := query.norm({one: -1, two: 1})) > best[0]:
                best = (size, one, two)
    value, x, y = best
    most: Exact | None = value if enough and few else largest_move(setting, query, "add-remove")
    if most is None:
        return None
    upper = max(value, most if enough and few else query.measure.repeated(most, 2))
    pair = None
    if y is not None:
        before: tuple[Point, ...] = () if x is None else (x,)
        unchanged = staying(setting, classes, before)
        pair = None if unchanged is None else Pair(before=before, after=(y,), unchanged=unchanged)
    why = f"{len(classes):,} areas inside of one another, or apart: an exchange inside of one"
    lower = 0 if pair is None else value
    return question.answer(lower, upper, why, witness=pair, engine="areas", since=started)
