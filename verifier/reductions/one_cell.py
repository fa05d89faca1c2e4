"""Facts about one cell of a partition of secrets: a question about that cell, with full secrets.

*Statement.* Reading 2, scope "any", equality facts and impossible values; secrets are a partition
by attributes. Let the facts fall into groups K that no secret move ties together, let each group
count records of one cell c(K) alone, and let every cell with a possible value be the cell of a
group. Then S(f, P) is the largest S(f, P_K), where P_K knows the facts of K, holds values of c(K)
alone, and has full secrets. Where f is the counts of all combinations of some attributes, or looks
at none that the partition is by, groups that differ in their cell alone have the same S.

*Proof.* By `linked_facts` a pair of P with a move that changes facts has all its moves change facts
of one group K, so each is an edge of G within c(K). They are a pair of P_K, whose databases hold
the records of c(K) that move and nothing else. A move that changes no fact is all of its pair, and
one of P_K for a K of its cell. Conversely moves of a pair of P_K are edges of G, change facts of K
alone, and a part of them that has no effect in P has none in P_K. Renaming the values of what the
partition is by carries one such group into the other: rows of f are renamed, or stay. QED

*With the numbers.* Scope "given", no bounds and clauses, and let the facts of each K determine how
many records their cell holds, n(K). Then S(f, P) is the largest S(f, P_K), where P_K knows that n
is n(K), too. A pair of P whose moves change facts of K, or none and lie in c(K), is one of P_K once
the records of other cells are left out: there are n(K) others, with the numbers of K, and a part of
the moves that keeps these keeps all facts of P. Conversely let (D1, D2) be a pair of P_K, and put
the records into some database of P, for those that it has in c(K). No other group is about c(K): if
k of K and k' of K' both differ there, k at x and y, k' at z and w, k' is the same at x and y, say
other than at z; and one of the edges from x and y to z changes both. A fact of no group has one
coefficient for all of a cell. So all numbers of P are right, before and after, and a part of the
moves that keeps them keeps those of K. QED

Offences by district and by month, where what kind of offence it was is no secret: a question for
one kind of offence, with two margins and full secrets.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from math import prod

from blowproof.models import BlowproofError, BoundQuery, Box, Full, Positions, Setting
from blowproof.verifier.databases.consistency import prepare
from blowproof.verifier.limits.limit import whole_limit
from blowproof.verifier.reductions.fewer_facts import held_at, left_over

__all__ = ["within_cells"]

MOST_CELLS = whole_limit(__name__, "MOST_CELLS")

Cell = tuple[int, ...]
"""The positions of a cell on the axes that the partition is by."""


def within_cells(
    whole: Setting, groups: Sequence[Setting], query: BoundQuery, deadline: float | None = None
) -> list[Setting] | None:
    """Return the question of each group in its cell, once for those alike; None: not of this kind.

    `whole`: a setting that knows the facts of all groups. With its numbers, no two are alike, and
    the cell with most records comes first.
    """
    axes = whole.graph.fixed
    given = whole.scope == "given"
    if axes is None or (given and (whole.bounds or whole.clauses)):
        return None
    cells = [_cell(group, axes) for group in groups]
    if None in cells or not _all_cells(whole, axes, {cell for cell in cells if cell is not None}):
        return None
    counted = query.counts_by(whole.domain)
    alike = counted is not None or query.axes_read(whole.domain).isdisjoint(axes)
    alike = alike and not given
    found: dict[object, Setting] = {}
    for place, (group, cell) in enumerate(zip(groups, cells, strict=True)):
        assert cell is not None
        narrow = _narrowed(group, axes, cell)
        if narrow is not None and given:
            narrow = _counted(narrow, deadline)
        if narrow is None:
            return None
        found.setdefault(_look(group, axes, cell) if alike else place, narrow)
    return sorted(found.values(), key=lambda each: -(each.size or 0))


def _cell(group: Setting, axes: Sequence[int]) -> Cell | None:
    """Return the one cell that all facts of a group count records of; None: there is none."""
    cells = {
        tuple(box.sides[axis].nth(0) if box.sides[axis].size == 1 else -1 for axis in axes)
        for fact in group.equalities
        for _, area in fact.terms
        for box in area.boxes
    }
    return next(iter(cells)) if len(cells) == 1 and -1 not in min(cells) else None


def _all_cells(whole: Setting, axes: Sequence[int], cells: set[Cell]) -> bool:
    """Whether no cell but these has a possible value."""
    sides = whole.domain.whole.sides
    if prod(sides[axis].size for axis in axes) > MOST_CELLS:
        return False
    boxes: list[Box] = [whole.domain.whole]
    for axis in axes:
        boxes = [_put(box, {axis: at}) for box in boxes for at in sides[axis]]
    others = [box for box in boxes if tuple(box.sides[axis].nth(0) for axis in axes) not in cells]
    return not left_over(others, whole.impossible.boxes)


def _put(box: Box, cell: dict[int, int]) -> Box:
    sides = list(box.sides)
    for axis, place in cell.items():
        sides[axis] = Positions.of([place])
    return Box(tuple(sides))


def _narrowed(group: Setting, axes: Sequence[int], cell: Cell) -> Setting | None:
    """Return the group's question with values of one cell alone, and full secrets."""
    narrow = held_at(group, dict(zip(axes, cell, strict=True)))
    if narrow is group and not _all_cells(group, axes, {cell}):
        return None
    return replace(narrow, policy=replace(narrow.policy, secrets=Full()))


def _counted(narrow: Setting, deadline: float | None) -> Setting | None:
    """Return the cell's question with the number of its records; None where facts leave it open."""
    database = replace(narrow.policy.database, size=None, answers="given")
    policy = replace(narrow.policy, database=database)
    try:
        return prepare(replace(narrow, policy=policy, size=None), "secret-moves", deadline=deadline)
    except BlowproofError:
        return None


def _look(group: Setting, axes: Sequence[int], cell: Cell) -> object:
    """Return what a group's facts and impossible values are, wherever its cell is."""

    def elsewhere(boxes: Sequence[Box]) -> frozenset[Box]:
        return frozenset(_put(box, dict.fromkeys(axes, 0)) for box in boxes)

    here = _put(group.domain.whole, dict(zip(axes, cell, strict=True)))
    held = [part for box in group.impossible.boxes if (part := box & here)]
    facts = set()
    for fact in group.equalities:
        total: Counter[frozenset[Box]] = Counter()
        for times, area in fact.terms:  # an area may be there more than once
            total[elsewhere(area.boxes)] += times
        facts.add(frozenset(total.items()))
    return frozenset(facts), elsewhere(held)
