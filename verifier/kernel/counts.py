"""Pairs of databases as counts: rows that hold for every pair, and cuts that every neighbour obeys.

h[c] records of D1 lie in cell c (values that no fact tells apart), and u[m] records make a move of
kind m: from one cell into another, secret or plain. Two databases in I_Q satisfy the linear rows of
`Problem.rows`. They are neighbours if no D3 refutes that, and a cut is one family of D3s. Records
have labels, but counts are enough here: whichever records make p moves of a kind, D3 can be built
from them; without clauses a fact does not see labels, and it sees the cells of values alone.

In readings 2 and 3 every move counts as secret and nothing is plain: D3 is a proper non-empty part
of the changes. In reading 1, D3 keeps such a part and may move other records plainly.

A cut says: the pair has a *part*, so many moves or more of each of some groups (a group has moves
of equal effect and secrecy; two groups of a part share no move). D3 is then

* base 1: D1 with the part, and with plain moves of records that do not move in it. The part has a
  secret move, and D2 makes at least one secret move more: condition 3(a).
* base 2: D2 without the part, and with plain moves of records that do not move otherwise. If the
  part has secret moves, D2 makes at least one more: condition 3(a). If not, there are no plain
  moves besides: D3 makes the secret moves of D2, and fewer others: condition 3(b).

The equalities hold in D3 because all effects cancel. Its bounds hold under conditions on the totals
of D1 (base 1) or D2 (base 2), and the records that it moves plainly exist under conditions on h. A
pair that fulfils every condition is refuted, so a neighbour pair fails at least one of them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from .document import Rejected

Terms = tuple[tuple[int, int], ...]
"""A linear form: (variable, coefficient), sorted by variable, no coefficient zero."""
Limits = tuple[int | None, int | None]
Row = tuple[Terms, int | None, int | None]
"""A form that lies between two numbers (None: no limit)."""
Condition = tuple[Terms, int]
"""A form that is at least a number."""


class Move(NamedTuple):
    """A kind of move between cells (None: the record is added, or removed).

    Its change of the query: a number for each output, to be summed before absolute values are
    taken, and `loose`, an amount that nothing cancels (an upper bound where values of a cell
    differ).
    """

    source: int | None
    target: int | None
    secret: bool
    change: tuple[tuple[int, int], ...] = ()
    loose: int = 0


class Problem(NamedTuple):
    """What the policy says about all pairs; nothing in it comes from the proof.

    `cells`: what a record in the cell adds to each equality, then to each bound. `moves`: every
    move that a pair may make. `plain`: (source, target) such that *every* record of the source can
    move into the target plainly. `answers` of the equalities (None: scope any), `limits` of the
    bounds, `size` of D1 (None: unknown). `most`: no variable is larger (None: nothing known).
    `tight`: only records that move are in D1 (the worst case under scope any). `minimal`: False in
    reading 4, which has no cuts. `extra`: more rows. The claim is that no neighbour pair changes
    the query by `goal` or more.
    """

    cells: tuple[tuple[int, ...], ...]
    moves: tuple[Move, ...]
    plain: tuple[tuple[int, int], ...]
    answers: tuple[int, ...] | None
    limits: tuple[Limits, ...]
    size: int | None
    most: int | None
    goal: int
    tight: bool = False
    minimal: bool = True
    extra: tuple[Row, ...] = ()

    @property
    def facts(self) -> int:
        """How many equalities and bounds there are."""
        return len(self.cells[0]) if self.cells else len(self.limits)

    @property
    def equalities(self) -> int:
        """How many equalities there are; the bounds come after them."""
        return self.facts - len(self.limits)

    def effect(self, source: int | None, target: int | None) -> tuple[int, ...]:
        """Return what a move adds to each fact."""
        nothing = (0,) * self.facts
        away = nothing if source is None else self.cells[source]
        into = nothing if target is None else self.cells[target]
        return tuple(b - a for a, b in zip(away, into, strict=True))

    def out(self, cell: int, times: int = 1) -> list[tuple[int, int]]:
        """Return the number of records that leave a cell, as terms."""
        first = len(self.cells)
        return [(first + m, times) for m, move in enumerate(self.moves) if move.source == cell]

    def secret(self) -> Terms:
        """Return the number of secret moves."""
        return form((len(self.cells) + m, 1) for m, move in enumerate(self.moves) if move.secret)

    def total(self, fact: int, *, first: bool = True, second: bool = True) -> Terms:
        """Return a fact's left-hand side in D1 (`first`), in D2 (both), or how it changes."""
        held = [(c, cell[fact]) for c, cell in enumerate(self.cells) if first]
        moved = [
            (m, self.effect(move.source, move.target)[fact])
            for m, move in enumerate(self.moves, len(self.cells))
            if second
        ]
        return form(held + moved)

    def rows(self) -> list[Row]:
        """Return what holds for every pair of different databases in I_Q, in a fixed order."""
        cells = range(len(self.cells))
        found: list[Row] = [(form((c, 1) for c in cells), self.size, self.size)]
        for fact in range(self.equalities):
            found.append((self.total(fact, first=False), 0, 0))
            if self.answers is not None:
                answer = self.answers[fact]
                found.append((self.total(fact, second=False), answer, answer))
        for fact, (low, high) in enumerate(self.limits, self.equalities):
            found += [(self.total(fact, second=second), low, high) for second in (False, True)]
        most = 0 if self.tight else None
        found += [(form([(c, 1), *self.out(c, -1)]), 0, most) for c in cells]
        found.append((self.secret(), 1, None))
        return found + list(self.extra)


def form(terms: Iterable[tuple[int, int]]) -> Terms:
    """Return a linear form: equal variables added up, zeros left out, sorted."""
    total: Counter[int] = Counter()
    for variable, times in terms:
        total[variable] += times
    return tuple(sorted((variable, times) for variable, times in total.items() if times))


def conditions(
    problem: Problem,
    base: int,
    part: Sequence[tuple[Sequence[int], int]],
    plain: Sequence[tuple[tuple[int, int], int]],
) -> list[Condition]:
    """Return conditions under which a D3 refutes every pair that fulfils them all.

    `part`: (group of moves, how many of them); `plain`: ((source, target), how many records).
    Raises Rejected if the D3 is none.
    """
    named = [m for group, _ in part for m in group]
    if not problem.minimal or base not in (1, 2) or not part or len(set(named)) < len(named):
        raise Rejected("a cut has no part, or names a move twice, or the reading has no cuts")
    if any(times < 1 for _, times in (*part, *plain)):
        raise Rejected("a cut has less than one record of a kind")
    shift, secret = _shift(problem, base, part, plain)
    if any(shift[: problem.equalities]):
        raise Rejected("the D3 of a cut breaks an equality")
    if not secret and (base == 1 or plain):
        raise Rejected("the D3 of a cut keeps no secret move, or moves records for 3(b)")
    first = len(problem.cells)
    found = [(form((first + m, 1) for m in group), times) for group, times in part]
    if secret:
        found.append((problem.secret(), secret + 1))
    found += _there(problem, base, part, plain)
    for fact, (low, high) in enumerate(problem.limits, problem.equalities):
        terms = problem.total(fact, second=base == 2)
        if shift[fact] < 0 and low is not None:
            found.append((terms, low - shift[fact]))
        if shift[fact] > 0 and high is not None:
            found.append((tuple((v, -times) for v, times in terms), shift[fact] - high))
    return found


def _shift(
    problem: Problem,
    base: int,
    part: Sequence[tuple[Sequence[int], int]],
    plain: Sequence[tuple[tuple[int, int], int]],
) -> tuple[list[int], int]:
    """Return what D3 adds to each fact of its base, and how many secret moves are in the part."""
    shift, secret = [0] * problem.facts, 0
    for group, times in part:
        moves = [problem.moves[m] for m in group]
        alike = {(problem.effect(move.source, move.target), move.secret) for move in moves}
        if len(alike) != 1:
            raise Rejected("the moves of a group differ in effect or secrecy")
        effect, is_secret = alike.pop()
        sign = times if base == 1 else -times
        shift = [a + sign * b for a, b in zip(shift, effect, strict=True)]
        secret += times * is_secret
    for move, times in plain:
        shift = [a + times * b for a, b in zip(shift, problem.effect(*move), strict=True)]
    return shift, secret


def _there(
    problem: Problem,
    base: int,
    part: Sequence[tuple[Sequence[int], int]],
    plain: Sequence[tuple[tuple[int, int], int]],
) -> list[Condition]:
    """Return conditions under which the records are there that D3 moves plainly."""
    found: list[Condition] = []
    sources = [({problem.moves[m].source for m in group}, times) for group, times in part]
    for cell in sorted({source for (source, _), _ in plain}):
        moving = sum(times for (source, _), times in plain if source == cell)
        if base == 1:  # at most so many of the part's records come from this cell
            kept = sum(times for cells, times in sources if cell in cells)
            found.append((((cell, 1),), moving + kept))
        else:  # at least so many of the records that leave the cell in D2 do not in D3
            freed = sum(times for cells, times in sources if cells == {cell})
            found.append((form([(cell, 1), *problem.out(cell, -1)]), moving - freed))
    return found
