"""An upper bound on S(f, P) by theorems alone, for every question where one is known.

S(f, P) is at most M times the largest change of f that one move makes (M ** 2 times for squares,
see `Norm.repeated`), where M bounds how many moves a neighbour pair makes:

* reading 4: four (where values are few, all sets of four cells are looked at instead); where n is
  known, two that change their value, for what comes and what goes are equally many;
* n is known: n (reading 3: n removed and n added), and what the known counts leave of that
  (`known_counts`);
* equality counts and impossible values only, either scope: the moves are an irreducible multiset
  of effects (all moves in reading 1, see `complete_graph`), whose length `longest_irreducible`
  bounds, and `affine_frames` (where classes determine counts, their outputs as well).

Under scope "given" each output of f is bounded besides by what it can be in I_Q.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import combinations, product
from math import comb, prod
from operator import mul

import numpy as np

from blowproof.models import (
    BlowproofError,
    BoundQuery,
    BudgetError,
    Exact,
    Full,
    Move,
    Setting,
)
from blowproof.models.base.clock import now
from blowproof.models.base.numbers import plain, total
from blowproof.models.norms import L1, L2_SQUARED, LINF, RANGE
from blowproof.models.policy.readings import Reading, is_labelled, is_mixed
from blowproof.models.stacks.stacked import Stacked
from blowproof.verifier.asked.question import Question
from blowproof.verifier.databases.value_classes import ClassTable, class_table
from blowproof.verifier.limits.limit import real_limit, whole_limit
from blowproof.verifier.moves.edges_at_once import near_classes
from blowproof.verifier.theorems.affine_frames import change_above, signatures_of
from blowproof.verifier.theorems.known_counts import (
    KnownCounts,
    most_added_and_removed,
    most_moving,
)
from blowproof.verifier.theorems.lengths.frames_above import outputs_in_frames
from blowproof.verifier.theorems.lengths.heaviest_blocks import heaviest
from blowproof.verifier.theorems.lengths.shared_attribute import outputs_of_tables
from blowproof.verifier.theorems.lengths.two_dependencies import of_boundaries
from blowproof.verifier.theorems.longest_irreducible import longest_of_effects, longest_of_points
from blowproof.verifier.theorems.values.less_known import change_less_facts

__all__ = ["Ceiling", "ceiling", "largest_move"]

SECONDS = real_limit(__name__, "SECONDS")
FRAME_SECONDS = real_limit(__name__, "FRAME_SECONDS")
MOST_AREAS = whole_limit(__name__, "MOST_AREAS")
MOST_FACTS = whole_limit(__name__, "MOST_FACTS")
MOST_EFFECTS = whole_limit(__name__, "MOST_EFFECTS")
MOST_CELLS = whole_limit(__name__, "MOST_CELLS")
MOST_LISTED = whole_limit(__name__, "MOST_LISTED")


@dataclass(frozen=True)
class Ceiling:
    """What S(f, P) does not exceed, and by which theorem."""

    value: Exact
    why: str


def ceiling(question: Question) -> Ceiling | None:
    """Return the least of the bounds that apply; None where no theorem is known to bound S."""
    left = question.left
    end = now() + (SECONDS if left is None else min(SECONDS, left / 3))
    found = list(_ceilings(question, end))
    return min(found, key=lambda item: item.value, default=None)


def _ceilings(question: Question, end: float) -> Iterator[Ceiling]:
    setting, query, reading = question.setting, question.query, question.reading
    try:
        largest = largest_move(setting, query, reading)
    except (BlowproofError, OverflowError):
        largest = None
    if largest == 0:
        yield Ceiling(0, "no move that a record may make changes the query")
        return
    alone = query.all_records(setting.domain)
    if alone is not None:
        yield Ceiling(alone, "every record of the sum changes by the most it can")
    try:
        table = class_table(setting, deadline=end)
    except BlowproofError:
        table = None
    if reading == "markov":
        yield from _of_four_cells(question)
        yield from _of_two_records(question)
    if largest is not None and not query.per_record:
        for most, why in _lengths(question, table, end):
            value = query.measure.repeated(largest, most)
            yield Ceiling(value, f"{why}; each changes the query by {largest}")
    if table is not None and query.separates:
        change = _by_frames(question, table, end, moves=False)
        if change is not None:
            yield Ceiling(change, f"the affine dependencies of the signatures allow {change}")
    if table is not None and not query.separates and not query.per_record:
        change = _by_classes(question, table, end)
        if change is not None:
            yield Ceiling(change, f"the classes' affine dependencies allow {change}")
    if setting.scope == "given" and not query.per_record:
        yield from _by_outputs(question, end)


def _of_four_cells(question: Question) -> Iterator[Ceiling]:
    """Reading 4, few values: the most that four cells change, of all that keep the equalities."""
    setting, query = question.setting, question.query
    if 2**4 * comb(setting.domain.size, 4) > MOST_CELLS:
        return
    points = [x for x in setting.domain.points() if x not in setting.impossible]
    effects = {x: tuple(fact.coefficient(x) for fact in setting.equalities) for x in points}
    most: Exact = 0
    for size in range(1, 5):
        for cells in combinations(points, size):
            columns = list(zip(*(effects[x] for x in cells), strict=True))
            for signs in product((1, -1), repeat=size):
                if any(sum(map(mul, signs, column)) for column in columns):
                    continue
                moves = [
                    Move(None, x) if sign > 0 else Move(x, None)
                    for x, sign in zip(cells, signs, strict=True)
                ]
                most = max(most, query.difference(moves))
    yield Ceiling(most, "four cells that keep the known counts change it by no more")


def _of_two_records(question: Question) -> Iterator[Ceiling]:
    """Reading 4, n known: of four cells that change by 1 at the most, as many gain as lose."""
    setting, query = question.setting, question.query
    if query.per_record or not setting.policy.knows_size:
        return
    try:
        largest = largest_move(setting, query, "published")
    except (BlowproofError, OverflowError):
        return
    if largest is None:
        return
    why = "n is known, so two records come for two at the most; each changes the query by"
    yield Ceiling(query.measure.repeated(largest, 2), f"{why} {largest}")


def _lengths(question: Question, table: ClassTable | None, end: float) -> Iterator[tuple[int, str]]:
    """Yield how many moves a pair makes at the most, and why."""
    setting, reading = question.setting, question.reading
    if reading == "markov":
        yield 4, "reading 4 has at most four moves"
        return
    labelled, given = is_labelled(reading), setting.scope == "given"
    if given and labelled and setting.size is not None:
        yield setting.size, f"at most n = {setting.size} records move"
    elif given and setting.size is not None:
        yield 2 * setting.size, f"n = {setting.size} records at the most go, and as many come"
    if given and table is not None:
        yield from _by_counts(question, table, end)
    if setting.bounds or setting.clauses:
        return
    if table is not None and reading == "secret-moves" and not setting.graph.complete:
        near = _along_secrets(setting, table, end)
        if near is not None:
            yield near, f"a pair makes at most {_shown(near)} moves, along secrets alone"
    if table is not None:
        effects = table.effects
        most = (
            longest_of_points(effects, differences=True, end=end)
            if labelled
            else longest_of_effects(effects)
        )
        yield most, f"a pair makes at most {_shown(most)} moves (lengths of irreducible multisets)"
        frames = _by_frames(question, table, end, moves=True)
        if frames is not None:
            yield frames, f"a pair makes at most {_shown(frames)} moves (affine dependencies)"
    elif len(setting.equalities) <= MOST_FACTS:
        most = _without_classes(setting, differences=labelled)
        yield most, f"a pair makes at most {_shown(most)} moves (Steinitz's lemma)"


def _by_frames(question: Question, table: ClassTable, end: float, *, moves: bool) -> int | None:
    """Return what an irreducible multiset changes the histogram by, or how many `moves` it has.

    Readings 1 and 2 with equalities only: with any G, a pair is an irreducible multiset over all
    moves (see `complete_graph`; in reading 2 its parts make secret moves only), so one of the
    complete graph's.
    """
    setting = question.setting
    if not is_labelled(question.reading) or setting.bounds or setting.clauses:
        return None
    found = signatures_of(table)
    if found is None:
        return None
    signatures = found[0]
    if moves:  # as if no class had one value only: each move counts once in and once out
        signatures = replace(signatures, large=(True,) * len(signatures.large))
    most = change_above(signatures, end=min(end, now() + FRAME_SECONDS))
    if most is None:
        return None
    return max(1, most // 2) if moves else most


def _by_classes(question: Question, facts: ClassTable, end: float) -> int | None:
    """Return what counts change by if each class of values lies in their areas as a whole, or not.

    Then moves change what their boundary k(z) does. An irreducible is a simple cycle, without a
    boundary, or a sum of circuits with factors of less than d (`lengths.lattice_free`), each of
    which has a frame's vector for its boundary (see `affine_frames.change_above`); for d = 2 frames
    themselves are enough (`lengths.two_dependencies`).
    """
    setting, query = question.setting, question.query
    if not is_labelled(question.reading) or setting.bounds or setting.clauses:
        return None
    known = signatures_of(facts)
    if known is None or len(known[0].dependencies) < 2 or query.measure is not L1:
        return None
    areas = query.counted_areas(setting.domain)
    if not areas or len(areas) > MOST_AREAS:
        return None
    try:
        table = class_table(setting, tuple(areas), deadline=end)
    except BlowproofError:
        return None
    found = signatures_of(table)
    if found is None:
        return None
    rows = []
    for place in range(table.extra, table.extra + len(areas)):
        inside = [{place in item.inside for item in each} for each in found[1]]
        if any(len(each) > 1 for each in inside):
            return None
        rows.append([int(True in each) for each in inside])
    basis = found[0].dependencies
    of_blocks = outputs_in_frames(basis, rows, end=end)
    of_tables = outputs_of_tables(basis, rows)
    if of_blocks is None and of_tables is None:
        return None
    told = (of_blocks or of_tables or [], of_tables or of_blocks or [])
    each = [min(most) for most in zip(*told, strict=True)]
    listed = heaviest(basis)
    if listed is not None:
        each = [
            min(most, listed.one) if sum(row) == 1 else most
            for most, row in zip(each, rows, strict=True)
        ]
    return max(0, of_boundaries(len(basis), sum(each)))


def _shown(number: int) -> str:
    """Return a number, or its size where nobody reads its digits."""
    digits = len(str(number)) if number.bit_length() < 10_000 else number.bit_length() * 3 // 10
    return f"{number:,}" if digits <= 12 else f"about 10^{digits - 1}"


def _by_counts(question: Question, table: ClassTable, end: float) -> Iterator[tuple[int, str]]:
    setting, labelled = question.setting, is_labelled(question.reading)
    if setting.clauses:
        return
    known = KnownCounts(setting, table, size=setting.size if labelled else None, deadline=end)
    if labelled and setting.size is not None:
        most = most_moving(known, table, setting.size)
        yield most, f"the known counts leave at most {most} records that move"
    elif not labelled:
        moves = most_added_and_removed(known, table)
        if moves is not None:
            yield moves, f"the known counts leave at most {moves} records to add and remove"


def _along_secrets(setting: Setting, table: ClassTable, end: float) -> int | None:
    """Reading 2: only effects count that some edge of G may have; those far apart never meet."""
    joined = near_classes(setting.graph, table.classes, deadline=end)
    if joined is None:
        return None
    one, two = np.nonzero(np.triu(joined, 1))
    if len(one) > MOST_EFFECTS:
        return None
    return longest_of_effects(table.effects[two] - table.effects[one])


def _without_classes(setting: Setting, *, differences: bool) -> int:
    """Steinitz's lemma in the box of the facts' coefficients, where classes are too many.

    The facts themselves are coordinates, not necessarily independent, which makes the bound larger
    than need be, but no less sound.
    """
    sides = []
    for fact in setting.equalities:
        ups = sum(max(times, 0) for times, _ in fact.terms)
        downs = sum(max(-times, 0) for times, _ in fact.terms)
        sides.append(ups + downs if differences else max(ups, downs))
    return max(2, prod(2 * len(sides) * side + 1 for side in sides))


def _by_outputs(question: Question, end: float) -> Iterator[Ceiling]:
    """Each output lies between its minimum and its maximum over the databases with the numbers."""
    setting, query = question.setting, question.query
    areas = query.counted_areas(setting.domain)
    if not areas or len(areas) > MOST_AREAS:
        return
    try:
        table = class_table(setting, tuple(areas), deadline=end)
    except BlowproofError:
        return
    size = setting.size if is_labelled(question.reading) else None
    known = KnownCounts(setting, table, size=size, deadline=end)
    total = 0
    for place in range(len(areas)):
        inside = [table.extra + place in item.inside for item in table.classes]
        goal = np.array(inside, dtype=np.int64)
        most, least = known.most(goal), known.least(goal)
        if most is None or least is None:
            return
        total += most - max(0, least)
    yield Ceiling(max(0, total), "the known counts leave each output of the query so much room")


# --- one move ------------------------------------------------------------------------------------


def largest_move(setting: Setting, query: BoundQuery, reading: Reading) -> Exact | None:
    """Return what one move changes the query by at the most (an upper bound); None if unknown.

    Reading 2: one secret move; readings 1 and 5: any move; 3 and 4: one record more or less. What
    the facts say of the query counts for nothing where records are moved (`less_known`), so that it
    is what a move adds to the change of a neighbour pair, not what it changes by itself.
    """
    found = _largest_move(setting, query, reading)
    if not is_labelled(reading) or (found is not None and found <= 2):
        return found
    less = change_less_facts(setting, query)
    return min((size for size in (found, less) if size is not None), default=None)


def _largest_move(setting: Setting, query: BoundQuery, reading: Reading) -> Exact | None:
    """Return what one move changes it by, whatever the facts are."""
    labelled = is_labelled(reading)
    if isinstance(query, Stacked):
        found = [_of_a_stack(setting, query, reading)]
        size = setting.domain.size
        listed = query.measure is L1 or size * size <= MOST_LISTED
        if labelled and listed and not _as_in_l1(query):
            key = ("along an edge", query, is_mixed(reading))
            with suppress(BudgetError):
                found.append(setting.kept.get(key, lambda: _along_an_edge(setting, query, reading)))
        return min((item for item in found if item is not None), default=None)
    if not labelled:
        return query.one_record(setting.domain)
    if not is_mixed(reading) and _unseen(setting, query):
        return 0
    long = query.slopes or query.longest_row > 1  # elsewhere it is 1 or 2, however near
    along = query.along(setting.graph) if not is_mixed(reading) and long else None
    return query.one_move(setting.domain) if along is None else plain(along)


def _unseen(setting: Setting, query: BoundQuery) -> bool:
    """Whether no edge of G changes an attribute that the query looks at."""
    reach = setting.graph.reach
    return all(reach(axis) == 0 for axis in query.axes_read(setting.domain))


def _of_a_stack(setting: Setting, stack: Stacked, reading: Reading) -> Exact | None:
    """Return what one move changes a stack by at the most, in its norm.

    Let c be the most that it changes a part by in l1, and w the part's largest weight. In l1 the
    parts add up. The rest follows from what a single output does:

    * rows of 0 and 1 change by 0, 1 or -1: the square of each change is its size, so in l2-squared
      it is c as well, and no output changes by more than 1;
    * else no output changes by more than c, and the squares add up to c ** 2 at the most, since the
      square of a sum of sizes holds the squares of the sizes;
    * linf and range are those of the part that has most. A range is at most the sum of two sizes,
      so no more than twice linf, and no more than l1; where records only come or only go and rows
      of 0 and 1 change, it is linf, for no output goes the other way.
    """
    norm, labelled = stack.measure, is_labelled(reading)
    if norm not in (L1, L2_SQUARED, LINF, RANGE):  # of which nothing is known here
        return stack.one_move(setting.domain) if labelled else stack.one_record(setting.domain)
    sizes: list[Exact] = []
    for part in stack.parts:
        alone = largest_move(setting, part.query, reading)
        if alone is None:
            return None
        heavy = max(part.weights)
        if norm is L1:
            sizes.append(alone * heavy)
        elif norm is L2_SQUARED:
            sizes.append((alone if part.query.binary else alone * alone) * heavy)
        else:
            sizes.append((min(alone, 1) if part.query.binary else alone) * heavy)
    if norm is L1 or norm is L2_SQUARED:
        return total(sizes)
    largest = max(sizes, default=0)
    if norm is LINF:
        return plain(largest)
    one_way = not labelled and all(part.query.binary for part in stack.parts)
    return plain(largest if one_way else 2 * largest)


def _as_in_l1(stack: Stacked) -> bool:
    """Whether one move's change in l1, with a weight, says what its change in the norm is.

    In rows of 0 and 1 squares are sizes, and what changes changes by 1; in range, too, where a move
    leaves one output and enters another. So edges have nothing more to tell.
    """
    part, *others = stack.parts
    if others or not part.uniform:
        return False
    if stack.measure is RANGE and part.query.longest_row > 1:
        return False
    return stack.measure is L1 or part.query.binary


def _along_an_edge(setting: Setting, stack: Stacked, reading: Reading) -> Exact:
    """Return what the edges of G tell, or all pairs of values where plain moves count too."""
    from blowproof.verifier.engines.one_move.by_structure import largest_change

    policy = replace(setting.policy, known=()).with_answers("any")
    if is_mixed(reading):
        policy = replace(policy, secrets=Full())
    return largest_change(policy, stack)
