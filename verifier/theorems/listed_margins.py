"""One-way margins of small tables, whose irreducible multisets were listed in full.

*Statement.* Readings 1, 2 and 5, equality facts and impossible values. Let the facts fall into
groups each of which has affinely independent signatures (a published margin, a tree of totals: the
*factors*, of r_1, ..., r_k classes). Then a pair makes at most L moves, L being the longest
irreducible multiset for the one-way margins of an r_1 x ... x r_k table, of which those that were
listed in full are kept in `LISTED`.

*Proof.* The signatures of one factor are independent, so that moves have no effect on its facts iff
they are a circulation on its classes (`simple_cycles`), that is, iff they have none on the margin
of these classes. A value lies in one class of each factor, so in a cell of the table. So the pairs'
multisets (see `complete_graph`) are irreducible for the one-way margins, over the cells that some
value lies in: an irreducible multiset over some cells is one over all. Moves within a cell have no
effect, and are alone. That L is as it stands is a proof by cases that a computer has gone through.
A certificate of kind `margins` holds all of its cases, which the kernel goes through again; so do
`benchmarks/irreducible.py`, and `tests` for those that take less than a second.

Of some larger tables more is known than what follows from these: `FITTING`, by cycles that fit
together (`lengths.fitting_cycles`), where the side of most classes is the base and the labels are
those of the others. The benchmark goes through these as well, in minutes. Of others the longest
circuit is known: `CIRCUITS`, by all frames (`lengths.listed_frames`; the benchmark, in seconds), of
which irreducibles are made (`lengths.lattice_free`), d being the product of all r_i - 1 for two
margins, and in general the number of cells less 1 and less all r_i - 1. How often a cell is left,
or a class of a factor, adds up over the circuits as the moves do.

A table with a smaller side is part of one with a larger side. A side with one class more than was
listed: put two of its classes together, and an irreducible falls into parts that are irreducible
for the smaller table, so of at most L moves. The fact that counts one of the two, whose coefficient
is 0 or 1, is one more. A part enters the class of the two at most v times (`LEFT`), and changes the
fact by no more, since only what enters the class can add to it, and only what leaves it, which is
as much, can take away. By stages (see `beside`) there are at most max(2, 2 v - 1) parts: if one has
the label 0, or two have a and -a, there is no other; else a part of positive label is taken where
the sum so far is 0 or less, and one of negative label where it is more, and the sums differ and lie
in an interval of so many. So there are at most L max(2, 2 v - 1) moves, and a class is left that
many times what a part leaves it at the most: a class of the table, or the one that it went into.

*Fewer than all moves:* it counts how often one cell of the table is left (or entered), and how
often one class of a factor of so many classes is: the same cases tell how often at the most
(`LEFT`). These are S in `linf` of the histogram, and of a factor's marginal, where one more
attribute tells what leaves a class from what enters it, and of the histogram in l2-squared
(`engines/search/straight`), which no histogram of these margins exceeds. Moves are a circulation on
the classes of each factor, so that `by_kind` (in l1) and `in_norms` bound what they change the
query by. In l2-squared the cases tell, too, what the squares of how often each class of a factor is
left add up to at the most, E. If each output is about values of one class of the factor, and two
rows of a class differ by no more than e in squares, S is at most e E: n_c differences of class c
change its outputs by e n_c^2 at the most, and no others.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from math import prod
from typing import NamedTuple

from blowproof.models import BlowproofError, Exact
from blowproof.models.base.clock import now
from blowproof.models.norms import L1, L2_SQUARED
from blowproof.models.stacks.stacked import is_histogram
from blowproof.verifier.asked.answer import Answer
from blowproof.verifier.asked.question import Question
from blowproof.verifier.databases.value_classes import ClassTable, class_table
from blowproof.verifier.exact.independence import affinely_independent
from blowproof.verifier.limits.limit import real_limit, whole_limit
from blowproof.verifier.theorems.beside import classes_in, free_change, groups_of
from blowproof.verifier.theorems.lengths.lattice_free import made_of_circuits
from blowproof.verifier.theorems.most_moves import largest_move
from blowproof.verifier.theorems.values.by_kind import most_in_classes
from blowproof.verifier.theorems.values.in_norms import largest_apart

__all__ = [
    "CIRCUITS",
    "LEFT",
    "LISTED",
    "Circuits",
    "Left",
    "factors",
    "listed_margins",
    "longest_listed",
    "longest_with_one_more",
    "often",
]

SECONDS = real_limit(__name__, "SECONDS")
MOST_ENTRIES = whole_limit(__name__, "MOST_ENTRIES")
MOST_GROUPS = whole_limit(__name__, "MOST_GROUPS")

LISTED = {
    (2, 3): 8,
    (2, 4): 12,
    (2, 5): 18,
    (3, 3): 15,
    (2, 2, 2): 10,
    (2, 2, 3): 24,
    (3, 4): 27,
    (2, 2, 2, 2): 30,
}
"""How long the longest is, for the tables that were listed in full (nodes: 44 to 2,153,988)."""


@dataclass(frozen=True)
class Left:
    """How often a cell is left at the most, and a class of a factor by its number of classes;
    `squares`: of how often each cell is left, and each is entered, added up; `sides`: of how often
    each class of a factor is left.
    """

    cell: int
    classes: Mapping[int, int]
    squares: int
    sides: Mapping[int, int]


LEFT: dict[tuple[int, ...], Left] = {
    (2, 3): Left(3, {2: 5, 3: 4}, 36, {2: 32, 3: 22}),
    (2, 4): Left(4, {2: 8, 4: 5}, 72, {2: 72, 4: 42}),
    (2, 5): Left(5, {2: 11, 5: 6}, 648, {2: 162, 5: 72}),  # of cells no more than all moves
    (3, 3): Left(5, {3: 8}, 110, {3: 83}),
    (2, 2, 2): Left(4, {2: 7}, 60, {2: 58}),
    (2, 2, 3): Left(8, {2: 16, 3: 12}, 260, {2: 306, 3: 206}),
    (3, 4): Left(27, {3: 13, 4: 11}, 304, {3: 269, 4: 211}),  # of a cell no more than all moves
}
"""The same for single cells and classes, where it was listed (nodes: to 10,806,787)."""

FITTING = {(3, 5): 72, (2, 2, 4): 60}
"""A length that no irreducible exceeds, by cycles that fit together."""


@dataclass(frozen=True)
class Circuits:
    """How long the longest circuit is; how often one leaves a cell, and a class of a factor."""

    longest: int
    cell: int
    classes: Mapping[int, int]


CIRCUITS: dict[tuple[int, ...], Circuits] = {(4, 4): Circuits(54, 13, {4: 24})}
"""By all frames."""


def longest_listed(sides: tuple[int, ...]) -> int | None:
    """Return how many moves a pair makes at the most, for the one-way margins of such a table.

    >>> longest_listed((4, 3)), longest_listed((2, 2)), longest_listed((5, 5))
    (27, 8, None)
    """
    return min((LISTED[shape] for shape in _that_fit(sides, LISTED)), default=None)


def _that_fit(sides: tuple[int, ...], shapes: Iterable[tuple[int, ...]]) -> list[tuple[int, ...]]:
    """Return those of the tables of which this one is part."""
    wanted = sorted(sides)
    return [
        shape
        for shape in shapes
        if len(shape) == len(wanted) and all(a >= b for a, b in zip(shape, wanted, strict=True))
    ]


def longest_with_one_more(sides: tuple[int, ...]) -> int | None:
    """Return the same for tables of which one side may have a class more than any that was listed.

    >>> longest_with_one_more((4, 4)), longest_with_one_more((4, 3)), longest_with_one_more((5, 5))
    (485, 27, None)
    >>> longest_with_one_more((2, 3, 3)), longest_with_one_more((3, 5))
    (744, 72)
    """
    known = longest_listed(sides)
    if known is not None:
        return known
    staged = [stage.longest * stage.parts for stage in _stages(sides)]
    fitting = [FITTING[shape] for shape in _that_fit(sides, FITTING)]
    circuits = [_of_circuits(shape) for shape in _that_fit(sides, CIRCUITS)]
    return min(staged + fitting + circuits, default=None)


def _of_circuits(shape: tuple[int, ...]) -> int:
    """Return how many moves irreducibles have at the most that are made of circuits."""
    return max(prod(shape), made_of_circuits(_dependencies(shape), CIRCUITS[shape].longest))


def _dependencies(shape: tuple[int, ...]) -> int:
    return prod(shape) - 1 - sum(side - 1 for side in shape)


def _why(sides: tuple[int, ...], most: int) -> str:
    """Return who says so."""
    if longest_listed(sides) is not None:
        return "listed in full"
    if most in map(_of_circuits, _that_fit(sides, CIRCUITS)):
        return "circuits that were listed in full"
    fitting = most in (FITTING[shape] for shape in _that_fit(sides, FITTING))
    return "lists of cycles that fit together" if fitting else "by a table that was listed"


class _Stage(NamedTuple):
    """A table with a class less, how long its irreducibles are, and how many make one of ours."""

    sides: tuple[int, ...]
    longest: int
    parts: int


def _stages(sides: tuple[int, ...]) -> Iterator[_Stage]:
    for place, side in enumerate(sides):
        smaller = (*sides[:place], side - 1, *sides[place + 1 :])
        each = longest_listed(smaller)
        if side > 1 and each is not None:
            yield _Stage(smaller, each, max(2, 2 * _often_listed(smaller, place, each) - 1))


def often(sides: tuple[int, ...], factor: int, most: int) -> int:
    """Return how often a pair of at most so many moves leaves one class of a factor, at the most.

    >>> often((3, 4), 1, 27), often((4, 4), 1, 675)
    (11, 215)
    """
    if longest_listed(sides) is not None:
        return _often_listed(sides, factor, most)
    staged = [
        stage.parts * _often_listed(stage.sides, factor, stage.longest) for stage in _stages(sides)
    ]
    circuits = [
        max(
            prod(sides) // sides[factor],
            made_of_circuits(
                _dependencies(shape), _of_class(CIRCUITS[shape].classes, sides[factor])
            ),
        )
        for shape in _that_fit(sides, CIRCUITS)
    ]
    return min([most, *staged, *circuits])


def _of_class(classes: Mapping[int, int], side: int) -> int:
    """Return how often a class of a factor of so many is left, by factors of as many or more."""
    return max(times for number, times in classes.items() if number >= side)


def _cell(sides: tuple[int, ...], most: int) -> int:
    """Return how often a pair of at most so many moves leaves one cell, at the most."""
    shapes = [shape for shape in _that_fit(sides, LISTED) if shape in LEFT]
    listed = [LEFT[shape].cell for shape in shapes]
    circuits = [
        made_of_circuits(_dependencies(shape), CIRCUITS[shape].cell)
        for shape in _that_fit(sides, CIRCUITS)
    ]
    return min([most, *listed, *circuits])


def _often_listed(sides: tuple[int, ...], factor: int, most: int) -> int:
    shapes = [shape for shape in _that_fit(sides, LISTED) if shape in LEFT]
    if not shapes:
        return most
    left, side = LEFT[min(shapes, key=lambda shape: LISTED[shape])], sides[factor]
    return min(most, _of_class(left.classes, side))


def factors(table: ClassTable, groups: list[list[int]]) -> list[list[int]] | None:
    """Return, for each factor, the class of each class of the table; None: there are no factors.

    A group joins the first factor with which it has independent signatures. A factor of one class
    tells nothing, and is left out.
    """
    effects = table.effects
    if not len(effects) or effects.size > MOST_ENTRIES or len(groups) > MOST_GROUPS:
        return None
    found: list[list[int]] = []
    for group in sorted(groups, key=lambda places: (-len(places), places)):
        for place, factor in enumerate(found):
            rows, _, _ = classes_in(effects[:, [*factor, *group]])
            if affinely_independent(rows) is not None:
                found[place] = [*factor, *group]
                break
        else:
            rows, _, _ = classes_in(effects[:, group])
            if affinely_independent(rows) is None:
                return None
            found.append(list(group))
    homes = (classes_in(effects[:, factor])[2] for factor in found)
    return [home for home in homes if max(home) > 0]


def listed_margins(question: Question) -> Answer | None:
    """Return an upper bound on S(f, P) where the facts are margins of a table that was listed."""
    setting, started = question.setting, time.perf_counter()
    end = now() + (SECONDS if question.left is None else min(SECONDS, question.left / 3))
    largest: Exact | None
    try:
        table = class_table(setting, deadline=end)
        homes = factors(table, groups_of(setting))
        largest = largest_move(setting, question.query, question.reading)
    except (BlowproofError, OverflowError):
        return None
    sides = tuple(max(home) + 1 for home in homes or ())
    most = longest_with_one_more(sides) if homes else None
    if most is None or homes is None or largest is None:
        return None
    free = free_change(question)
    change = largest if free is None else min(largest, free[2])
    why = (
        f"margins of {' x '.join(map(str, sides))}: at most {most} moves "
        f"({_why(sides, most)}), each of which changes the query by at most {change}"
    )
    measure = question.query.measure
    upper = measure.repeated(change, most)
    if measure is not L1 or free is None:
        try:
            fewer = _by_factors(question, table, homes, most, end)
        except (BlowproofError, TimeoutError, OverflowError):
            fewer = None
        if fewer is not None and fewer < upper:
            upper = fewer
            why = why.partition(", each of which")[0] + ", of which few leave one class"
    return question.answer(0, upper, why, engine="listed", since=started)


def _by_factors(
    question: Question, table: ClassTable, homes: list[list[int]], most: int, end: float
) -> Exact | None:
    """Return the least of what the factors say: moves are a circulation on the classes of each."""
    sides = tuple(max(home) + 1 for home in homes)
    shapes = [shape for shape in _that_fit(sides, LISTED) if shape in LEFT]
    shape = min(shapes, key=lambda shape: LISTED[shape], default=None)
    left = None if shape is None else LEFT[shape]
    found: list[Exact] = []
    if left is not None and question.query.measure is L2_SQUARED and is_histogram(question.query):
        found.append(left.squares)
    for factor, home in enumerate(homes):
        each = often(sides, factor, most)
        if left is not None and question.query.measure is L2_SQUARED:
            one = largest_apart(question, table, home, end)
            if one is not None:
                bounds = (x for count, x in left.sides.items() if count >= sides[factor])
                found.append(one * max(bounds))
        bound = most_in_classes(question, table, home, each, most, cell=_cell(sides, most), end=end)
        if bound is not None:
            found.append(bound)
    return min(found, default=None)
