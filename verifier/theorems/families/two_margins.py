"""Reading 3 with two margins: records come and go round a cycle of their classes.

*Statement.* Reading add-remove, equality facts (n among them where it is known) and impossible
values. Let the facts fall into two *factors*, each of which cuts the values into classes with
independent signatures (two published tables, each a table or a tree of totals; they may share
attributes); linearly independent for one of the two, affinely for the other. Draw a graph: a vertex
for each class of either factor, and an edge between two of them if some value lies in both. Let k
be the largest number such that some block of the graph has a cycle of k classes of each factor; 1
if there is none, but two values that no fact tells apart; else 0. Then S(f, P) is at most k times
what f changes by when one record of any value goes and one of any other comes. Where no fact speaks
of the attributes that f looks at, S(f, P) is so much under scope "any"; S(histogram) is 2 k.

*Proof.* A pair is an irreducible multiset of records that come and go. Let net_c be those of a
class c of the first factor that come, less those that go. The facts of the factor say that sum
net_c s_c = 0, so that all net_c are 0, by linear independence. So sum net is 0 for the other factor
too, and its net_c are 0 by affine independence: as many come to each vertex of the graph as go
from it. Let an edge lead from the first factor's class to the second's for each record that comes,
and back for each that goes. Then as many edges lead to each vertex as away from it, so that they
hold a simple cycle. It has no effect, so it is all of the multiset: j records that come and j that
go in turns, of j classes of each factor (j = 1: two records of one class). Put each that comes with
one that goes: f changes by j times such an exchange at the most.

Conversely the records round a simple cycle, coming and going in turns, have no effect, and
any part of them leaves some vertex with one more that comes or goes; under "any" D1 is those
that go. If all of them may have the values that f changes most by, f changes by j times that; and
cells of a cycle are distinct, for j > 1, so that a histogram changes by 2 j. QED.

The longest cycle is hard to find (see COMPLEXITY.md, 10). Cycles lie in a connected part of what is
left without ends that lead nowhere, and k is at most the smaller number of its classes of
one factor. If all edges are there (no value is impossible), that is met.
"""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import prod
from typing import NamedTuple

import numpy as np

from blowproof.models import BlowproofError, Point, Positions, Setting
from blowproof.models.base.clock import now
from blowproof.models.domain.classes import firsts
from blowproof.verifier.asked.answer import Answer, Pair
from blowproof.verifier.asked.question import Question
from blowproof.verifier.databases.value_classes import ClassTable, class_table
from blowproof.verifier.exact.independence import affinely_independent
from blowproof.verifier.limits.limit import real_limit
from blowproof.verifier.theorems.beside import free_change, groups_of
from blowproof.verifier.theorems.listed_margins import factors
from blowproof.verifier.theorems.most_moves import largest_move
from blowproof.verifier.theorems.values.free_change import moved

__all__ = ["longest_cycle", "two_margins", "two_tables"]

SECONDS = real_limit(__name__, "SECONDS")

Edge = tuple[int, int]
"""A class of the first factor, and one of the second."""


@dataclass(frozen=True)
class Cycle:
    """How many classes of each factor a cycle has at the most, and one that has so many.

    `edges`: the cells of the cycle, one that comes and one that goes in turns; empty where no cycle
    is known to be as long.
    """

    half: int
    edges: tuple[Edge, ...] = ()


def longest_cycle(edges: Iterable[Edge]) -> Cycle:
    """Return a bound on the cycles of a bipartite graph.

    >>> longest_cycle([(0, 0), (0, 1), (1, 0), (1, 1), (2, 1)])
    Cycle(half=2, edges=((0, 0), (0, 1), (1, 1), (1, 0)))
    >>> longest_cycle([(0, 0), (0, 1), (1, 1)])
    Cycle(half=0, edges=())
    """
    best = Cycle(0)
    for part in _parts(_without_ends(set(edges))):
        rows, columns = sorted({r for r, _ in part}), sorted({c for _, c in part})
        half = min(len(rows), len(columns))
        if half < max(2, best.half):
            continue
        found = Cycle(half)
        if len(part) == len(rows) * len(columns):
            steps = ((k, (k + 1) % half) for k in range(half))
            found = Cycle(half, tuple((rows[k], columns[j]) for k, n in steps for j in (k, n)))
        best = max(best, found, key=lambda cycle: (cycle.half, len(cycle.edges)))
    return best


def _without_ends(edges: set[Edge]) -> set[Edge]:
    """Return the edges that are left when vertices of one edge are taken away, over and over."""
    while True:
        rows, columns = Counter(r for r, _ in edges), Counter(c for _, c in edges)
        kept = {(r, c) for r, c in edges if rows[r] > 1 and columns[c] > 1}
        if kept == edges:
            return kept
        edges = kept


def _parts(edges: set[Edge]) -> list[list[Edge]]:
    """Return the edges by connected parts."""
    root: dict[tuple[str, int], tuple[str, int]] = {}

    def top(vertex: tuple[str, int]) -> tuple[str, int]:
        while root.setdefault(vertex, vertex) != vertex:
            root[vertex] = root[root[vertex]]
            vertex = root[vertex]
        return vertex

    for r, c in edges:
        root[top(("row", r))] = top(("column", c))
    found: defaultdict[tuple[str, int], list[Edge]] = defaultdict(list)
    for edge in edges:
        found[top(("row", edge[0]))].append(edge)
    return list(found.values())


class _Two(NamedTuple):
    """How many classes each factor has, k, and the values of a cycle of k of each."""

    cells: tuple[int, int]
    half: int
    points: list[Point]


def two_margins(question: Question) -> Answer | None:
    """Return an upper bound on S(f, P), and a pair that meets it where that is known."""
    setting, query, started = question.setting, question.query, time.perf_counter()
    end = now() + (SECONDS if question.left is None else min(SECONDS, question.left / 3))
    try:
        found = two_tables(setting) or _by_classes(setting, end)
        if found is None:
            return None
        change = largest_move(setting, query, "published")  # any record for any other
        free = free_change(question)
    except (BlowproofError, OverflowError):
        return None
    change = change if free is None else free[2]
    if change is None:
        return None
    half = found.half
    upper = query.measure.repeated(change, half) if half else 0
    pair = None
    if setting.scope == "any" and found.points:
        pair = _pair(question, found.points)
    lower = 0 if pair is None else query.difference(pair.moves(question.reading))
    why = (
        f"margins of {found.cells[0]} and {found.cells[1]} cells: at most {half} records go "
        f"and as many come, and one for another changes the query by at most {change}"
    )
    return question.answer(
        lower, upper, why, witness=pair if lower else None, engine="two margins", since=started
    )


def _by_classes(setting: Setting, end: float) -> _Two | None:
    """Return what a table of all classes of values says."""
    table = class_table(setting, deadline=end)
    homes = factors(table, groups_of(setting))
    if homes is None or len(homes) != 2 or not any(_linear(table, home) for home in homes):
        return None
    cells = dict(zip(zip(*homes, strict=True), table.classes, strict=True))
    cycle = longest_cycle(cells)
    half = max(cycle.half, int(any(len(item.take(2)) > 1 for item in table.classes)))
    values = firsts([cells[edge] for edge in cycle.edges], 1)
    return _Two((max(homes[0]) + 1, max(homes[1]) + 1), half, [x for (x,) in values])


def two_tables(setting: Setting) -> _Two | None:
    """Return what two whole tables say, however many cells they have; None for other facts.

    Every value is possible, and each fact counts a cell of one of two marginals, or all records.
    For each cell of what the tables share, their cells in it have one relation: those of the one
    add up to as much as those of the other. So one of them may be left out, and no more. A block of
    the graph belongs to each shared cell, and there every class of one factor meets every one of
    the other.

    >>> from blowproof.models import Domain, Labels, Marginal, Policy, setting
    >>> three = Domain({name: Labels(["x", "y", "z"]) for name in "abc"})
    >>> known = (Marginal(["a", "b"]), Marginal(["b", "c"]))
    >>> found = two_tables(setting(Policy(domain=three, known=known)))
    >>> found.cells, found.half, found.points[:3]
    ((9, 9), 3, [(0, 0, 0), (0, 0, 1), (1, 0, 1)])
    """
    if setting.impossible.boxes:
        return None
    cells: dict[frozenset[int], set[tuple[int, ...]]] = {}
    full = setting.domain.whole.sides
    for fact in setting.equalities:
        if len(fact.terms) != 1 or fact.terms[0][0] != 1 or len(fact.terms[0][1].boxes) != 1:
            return None
        sides = fact.terms[0][1].boxes[0].sides
        axes = frozenset(axis for axis, side in enumerate(sides) if side != full[axis])
        if any(sides[axis].size != 1 for axis in axes):
            return None
        if axes:
            spots = tuple(side.nth(0) if k in axes else -1 for k, side in enumerate(sides))
            cells.setdefault(axes, set()).add(spots)
    if len(cells) != 2:
        return None
    one, two = sorted(cells, key=sorted)
    size = {axis: side.size for axis, side in enumerate(full)}
    rows, columns, shared = (
        prod(size[axis] for axis in k) for k in (one - two, two - one, one & two)
    )
    held = Counter(tuple(spots[k] for k in one & two) for some in cells.values() for spots in some)
    if len(held) < shared or min(held.values()) < rows + columns - 1:
        return None
    half = min(rows, columns)
    if half < 2:
        half = int(setting.domain.whole.size > shared * rows * columns)
        return _Two((shared * rows, shared * columns), half, [])
    points = [
        tuple(
            x + y for x, y in zip(_nth(full, one - two, k), _nth(full, two - one, j), strict=True)
        )
        for k in range(half)
        for j in (k, (k + 1) % half)
    ]
    return _Two((shared * rows, shared * columns), half, points)


def _nth(full: Sequence[Positions], axes: frozenset[int], number: int) -> Point:
    """Return a value's positions, the first but for these axes: the one of this number there."""
    spots = [0] * len(full)
    for axis in sorted(axes):
        number, spots[axis] = divmod(number, full[axis].size)
    return tuple(spots)


def _linear(table: ClassTable, home: list[int]) -> bool:
    """Whether what is the same in each class of a factor is linearly independent."""
    first = [home.index(place) for place in range(max(home) + 1)]
    rows = table.effects[first]
    told = (table.effects == rows[home]).all(axis=0)
    signatures = np.ascontiguousarray(rows[:, told])
    return affinely_independent(signatures, affine=False) is not None


def _pair(question: Question, points: list[Point]) -> Pair:
    """Let the values of a cycle come and go in turns, with the farthest free values."""
    free = free_change(question)
    coming, going = points[::2], points[1::2]
    if free is not None:
        axes = question.query.axes_read(question.setting.domain)
        coming = [moved(x, free[1], axes) for x in coming]
        going = [moved(x, free[0], axes) for x in going]
    return Pair(before=tuple(going), after=tuple(coming))
