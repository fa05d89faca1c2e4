"""Areas inside of one another, or apart, and facts beside them, where no table of classes is made.

*Statement.* Readings 1, 2 and 5, equality facts. Let some of the facts, the base, count boxes that
lie inside of one another, or apart; N classes of it hold a value (`many_areas`), and k further
facts, of widths w_1, ..., w_k, tell values of a class apart. Then a pair has at most so many moves
as `beside` says for N independent signatures and k facts beside them: w_1 (N + 1)^2 / 2 for k = 1,
the bound by stages, by cycles in the plane for k = 2 (`lengths.two_beside`), and N times the whole
points in k K, where K is the vectors with coordinates of at most N w_j in size. And S is at least
what a cycle through the classes changes, each of which loses a record and gains one that the
further facts count alike (any answers; G complete, or in reading 1 exactly one of the moves along
an edge of G: see `one_secret_arc`). Where k = 1 and w_1 = 1, so is what the two cycles of `beside`
change, round as many of the areas apart as one likes: an irreducible for the facts of some areas,
whose moves go from these areas to these, has no effect on the others.

*Proof.* The signatures for the base are affinely independent (`many_areas`), which is all that
`beside` asks of a base. A fact's width is at most the sum of the sizes of its coefficients. If a
group of further facts counts the cells of a partition, one of them follows from the others and n,
which no circulation changes, so that it may be left out. The cycle has no effect on the base, and
none on the further facts, as each class exchanges records that they count alike; no part of it that
is not all of it has none on the base. QED

This is for counties and sexes, or thousands of cells and a handful of totals: the table of
signatures would have millions of entries, of which nearly all are 0.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from itertools import permutations, product
from math import ceil, inf, isqrt, log10

import numpy as np

from blowproof.models import BlowproofError, Exact, LinearFact, Point, Setting
from blowproof.models.base.clock import SHORT, now
from blowproof.models.norms import L2_SQUARED, NORMS
from blowproof.models.policy.in_words import counted
from blowproof.models.policy.readings import is_labelled, is_mixed
from blowproof.models.stacks.stacked import is_histogram
from blowproof.verifier.asked.answer import Answer, Pair
from blowproof.verifier.asked.names import BEYOND
from blowproof.verifier.asked.question import Question
from blowproof.verifier.databases.sparse_facts import SparseFacts
from blowproof.verifier.databases.value_classes import class_table
from blowproof.verifier.limits.limit import real_limit, whole_limit
from blowproof.verifier.theorems.beside import beside, by_stages, free_change, groups_of
from blowproof.verifier.theorems.beside_pairs import MOST_RECORDS, pair_beside
from blowproof.verifier.theorems.families.areas import (
    Node,
    cycle,
    nested,
    points_of,
    with_one_secret_arc,
)
from blowproof.verifier.theorems.lengths.two_beside import longest_with_two
from blowproof.verifier.theorems.longest_irreducible import whole_points
from blowproof.verifier.theorems.most_moves import largest_move
from blowproof.verifier.theorems.values.by_kind import best_in
from blowproof.verifier.theorems.values.free_change import axes_of_facts, moved
from blowproof.verifier.theorems.values.squares_beside import squares_beside

__all__ = ["areas_beside", "no_areas_beside"]

FEW = whole_limit(__name__, "FEW")
MOST_GROUPS = whole_limit(__name__, "MOST_GROUPS")
MOST_BITS = whole_limit(__name__, "MOST_BITS")
MOST_STAGES = whole_limit(__name__, "MOST_STAGES")
SECONDS = real_limit(__name__, "SECONDS")


def no_areas_beside(question: Question) -> str:
    """Return why the theorem does not speak about a question, or ""."""
    setting = question.setting
    if setting.bounds or setting.clauses or setting.impossible.boxes:
        return "it speaks about equality counts"
    if question.query.measure not in NORMS.values() or question.query.per_record:
        return "it speaks about sums of rows, in norms that are known"
    if not is_labelled(question.reading):
        return "it speaks about readings 1, 2 and 5"
    if len(setting.equalities) <= FEW:
        return f"it is for more than {FEW:,} facts"
    return "" if len(groups_of(setting)) > 1 else "there are no facts beside the areas"


def areas_beside(question: Question) -> Answer | None:
    """Return bounds on S(f, P); None where no facts count areas inside of one another, or apart."""
    setting, started = question.setting, time.perf_counter()
    end = now() + (SECONDS if question.left is None else min(SECONDS, question.left / 3))
    try:
        largest = largest_move(setting, question.query, question.reading)
        found = _base(setting)
    except (BlowproofError, OverflowError):
        return None
    if found is None or largest is None:
        return None
    classes, further = found
    if not further:
        return None  # `simple_cycles` says more
    most = _longest(len(classes), _widths(setting, further))
    free = free_change(question)
    change = largest if free is None else min(largest, free[2])
    why = (
        f"{counted(len(classes), 'area')} inside of one another, or apart, and "
        f"{counted(len(further), 'fact')} beside them: so many moves at the most, each of which "
        f"changes the query by {change}"
    )
    measure = question.query.measure
    upper: Exact | None = _above(question, measure.repeated(change, most), classes, further)
    if most.bit_length() > MOST_BITS:
        beyond, upper = ceil(log10(most) + log10(max(change, 1))), None
        why = f"{BEYOND}{beyond:,} ({why}): publish fewer of these tables together"
    question.teller(why)(0, upper, None)  # before a pair is looked for, which takes its time
    pair = None
    if setting.scope == "any":
        pairs = _pairs(question, classes, further, end)
        if setting.graph.complete:
            pair = cycle(setting, pairs, classes) if pairs else None
            two = _two_cycles(question, classes, further, end)
            if two is not None and (pair is None or _worth(question, pair) < _worth(question, two)):
                pair = two
        elif is_mixed(question.reading):
            base = [fact for fact in setting.equalities if fact not in set(further)]
            many = measure.repeated(largest, len(classes))
            pair = with_one_secret_arc(question, pairs, classes, base, many, end)
    lower = 0 if pair is None else question.query.difference(pair.moves(question.reading))
    return question.answer(lower, upper, why, witness=pair, engine="areas beside", since=started)


def _base(setting: Setting) -> tuple[list[Node], list[LinearFact]] | None:
    """Return the classes of the areas, and the facts that are not counts of them."""
    groups = sorted(groups_of(setting), key=lambda places: (-len(places), places))
    base: list[LinearFact] = []
    further: list[LinearFact] = []
    nodes: list[Node] | None = None
    for number, group in enumerate(groups):
        facts = [setting.equalities[place] for place in group]
        tried = nested(setting, [*base, *facts], inf) if number < MOST_GROUPS else None
        if tried is None:
            further += facts
        else:
            base += facts
            nodes = tried
    if nodes is None:
        return None
    return [node for node in nodes if node.size], further


def _widths(setting: Setting, further: Sequence[LinearFact]) -> list[int]:
    """Return how much each further fact varies at the most, one of each partition left out."""
    groups: dict[str, list[LinearFact]] = defaultdict(list)
    for fact in further:
        groups[fact.name.partition("]")[0]].append(fact)
    found = []
    for facts in groups.values():
        widths = [sum(abs(times) for times, _ in fact.terms) for fact in facts]
        nodes = nested(setting, facts, inf) if len(facts) > 1 else None
        if nodes is not None and not nodes[0].size and not any(n.inner for n in nodes[1:]):
            widths.remove(max(widths))
        found += [width for width in widths if width]
    return found


def _longest(count: int, widths: Sequence[int]) -> int:
    """Return how many moves a pair has at the most (see `beside`)."""
    if not widths:
        return count
    found = [count * _most_cycles(count, widths)]
    if len(widths) == 2:
        found.append(_two(count, widths)[0])
    if len(widths) <= MOST_STAGES:
        found += [by_stages(count, order) for order in permutations(widths)]
    return min(found)


def _most_cycles(count: int, widths: Sequence[int]) -> int:
    """Return how many simple cycles a pair is cut into at the most, "all at once"."""
    several = len(widths)
    together = several * count * sum(widths)
    points = whole_points([several * count * width for width in widths], together)
    return min(points, _two(count, widths)[1]) if several == 2 else points


def _two(count: int, widths: Sequence[int]) -> tuple[int, int]:
    """Return what `lengths.two_beside` says, of moves and of cycles, if all labels occur."""
    return longest_with_two([(list(product((0, widths[0]), (0, widths[1]))), count)])


def _above(
    question: Question, upper: Exact, classes: Sequence[Node], further: Sequence[LinearFact]
) -> Exact:
    """Return the bound, or for squares of a histogram what they do not exceed (`squares_beside`).

    With more facts: a class loses a record, and gains one, at most once in each of the cycles; the
    sum of squares of so many moves is largest where few classes do so most often.
    """
    count, widths = len(classes), _widths(question.setting, further)
    if question.query.measure is not L2_SQUARED or not is_histogram(question.query):
        return upper
    if len(widths) == 1:
        return min(upper, squares_beside(count, widths[0]))
    most = _longest(count, widths)
    each = min(most, _most_cycles(count, widths)) if widths else 1
    full, rest = divmod(most, each)
    return min(upper, 2 * (full * each**2 + rest**2))


def _worth(question: Question, pair: Pair) -> Exact:
    return question.query.difference(pair.moves(question.reading))


def _two_cycles(
    question: Question, classes: Sequence[Node], further: Sequence[LinearFact], end: float
) -> Pair | None:
    """Return the pair of `beside_pairs` round some of the areas that have no areas inside."""
    setting = question.setting
    if _widths(setting, further) != [1]:
        return None
    apart = {node.box for node in classes if not node.inner}
    base = [fact for fact in setting.equalities if set(fact.terms[0][1].boxes) <= apart]
    base = [fact for fact in base if fact not in set(further)][: isqrt(2 * MOST_RECORDS) - 1]
    some = replace(setting, equalities=(*base, *further))
    try:
        table = class_table(some, deadline=end)
        kept = np.flatnonzero(table.effects[:, : len(base)].any(axis=1)).tolist()
        few = tuple(table.classes[place] for place in kept)
        groups = [list(range(len(base))), list(range(len(base), len(some.equalities)))]
        found = beside(replace(table, classes=few, rows=table.rows[kept]), groups)
        asked = replace(question, setting=some)
        return None if found is None else pair_beside(asked, found, free_change(asked))
    except (BlowproofError, OverflowError, TimeoutError):
        return None


def _pairs(
    question: Question, classes: Sequence[Node], further: Sequence[LinearFact], end: float
) -> Sequence[tuple[Point, Point]]:
    """Return, for classes, two values that further facts count alike, and that change f most."""
    setting, query = question.setting, question.query
    free = free_change(question)
    if free is not None:
        axes = query.axes_read(setting.domain)
        some = [next(points_of(node, ()), None) for node in classes]
        return [(moved(x, free[0], axes), moved(x, free[1], axes)) for x in some if x is not None]
    every = sorted(query.axes_read(setting.domain) | axes_of_facts(setting))
    told = SparseFacts(setting.domain, further)
    few = []
    for node in classes:
        if now(SHORT) > end:
            break
        alike: dict[object, list[Point]] = defaultdict(list)
        for x in points_of(node, every):
            alike[told.of(x)].append(x)
        few.append(max(alike.values(), key=len, default=[]))
    if is_histogram(query):
        two = [(xs[0], xs[1]) for xs in few if len(xs) > 1]
        return [(x, y) if k % 2 else (y, x) for k, (x, y) in enumerate(two)]
    found = best_in(query, [xs for xs in few if xs], end)
    return () if found is None else found.pairs
