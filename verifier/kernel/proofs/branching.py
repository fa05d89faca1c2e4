"""Kind `branching`: cases over numbers of records. Rows that hold for every pair, and cuts.

Variables, all whole and 0 or more: h[c] records of D1 lie in cell c, then u[m] records make a move
of kind m. Two databases in I_Q satisfy `Problem.rows`; a row (terms, least) says that its terms sum
to `least` or more. They are neighbours if no D3 refutes that, and a cut is one family of D3s.
Records have labels, but counts are enough here: whichever records make p moves of a kind, D3 can be
built from them; a fact does not see labels, and it sees the cells of values alone.

In readings 2 and 3 every move counts as secret and nothing is plain: D3 is a proper non-empty part
of the changes. So it does in reading 5, for equality facts, where a pair is irreducible over all.
In reading 1, D3 keeps such a part and may move other records plainly. A cut says: the pair has a
*part*, so many moves or more of each of some groups (a group has moves of equal
effect and secrecy; two groups of a part share no move). D3 is then

* base 1: D1 with the part, and with plain moves of records that do not move in it. The part has a
  secret move, and D2 makes at least one secret move more: condition 3(a).
* base 2: D2 without the part, and with plain moves of records that do not move otherwise. If the
  part has secret moves, D2 makes at least one more: condition 3(a). If not, there are no plain
  moves besides: D3 makes the secret moves of D2, and fewer others: condition 3(b).
* base 3: D1 with the part and nothing else. The part has a secret move, and D2 makes at least one
  move more, of either sort: if another secret one, condition 3(a), else condition 3(b).

The equalities hold in D3 because all effects cancel. Its bounds hold under conditions on the totals
of D1 (bases 1 and 3) or D2 (base 2), and the records that it moves plainly exist under conditions
on h. A pair that fulfils every condition is refuted, so a neighbour pair fails one or more. In
reading 4 there are no cuts, as a pair need not be minimal: at most four records are added or
removed, and of a cell at most as many as it has values.

A proof is a tree in pre-order. An inner node names cases of which one holds for every pair; a leaf
is a sum of rows, of the problem and of the cases on its path, that no point with variables of 0 or
more satisfies: no positive coefficient on the left, and a positive number on the right.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Sequence
from operator import mul
from typing import Any, NamedTuple

from ..document import Budget, Exact, Rejected, want, words
from ..goal import Goal, Row, Terms, Told, form, row
from ..independent import Vector
from ..measure import Measure
from ..world import Move, World

MOST_MOVES = 160_000
MOST_CHANGED = 4
EVEN = ("histogram", "marginal", "partition", "cluster-sizes")
"""Queries that count every record once: with n known, what one output gains others lose, so that
the sum of sizes, or of squares, is even.
"""
PAIRS = [[int]]
PROOF = {"kind?": str, "groups": [[int]], "cuts": [list], "nodes": [list]}
Plain = tuple[int, int]


class Problem(NamedTuple):
    """What the policy says about all pairs; nothing in it comes from the proof.

    `cells`: what a record in the cell adds to each equality, then to each bound. `moves`: every
    move that a pair may make. `plain`: (source, target) such that *every* record of the source can
    move into the target plainly. `answers` of the equalities (None: scope any, in which only
    records that move are in D1, the worst case), `limits` of the bounds, `size` of D1 (None:
    unknown). The claim is that no neighbour pair changes the query by `goal` or more, as a size of
    the `measure`. `widths`: in reading 4, how many values each cell has.
    """

    cells: tuple[Vector, ...]
    moves: tuple[Move, ...]
    plain: tuple[Plain, ...]
    answers: tuple[int, ...] | None
    limits: tuple[tuple[int | None, int | None], ...]
    size: int | None
    goal: int
    widths: tuple[int, ...] | None = None
    measure: Measure = Measure("l1")

    @property
    def equalities(self) -> int:
        """How many equalities there are; the bounds come after them."""
        return (len(self.cells[0]) if self.cells else len(self.limits)) - len(self.limits)

    def effect(self, move: Plain) -> Vector:
        """Return what a move from cell to cell adds to each fact."""
        return tuple(b - a for a, b in zip(*(self.cells[cell] for cell in move), strict=True))

    def number(self, moves: Iterable[int]) -> list[tuple[int, int]]:
        """Return the number of moves of some kinds, as terms."""
        return [(len(self.cells) + m, 1) for m in moves]

    def stay(self, cell: int) -> list[tuple[int, int]]:
        """Return the number of records that stay in a cell."""
        leave = self.number(m for m, move in enumerate(self.moves) if move.source == cell)
        return [(cell, 1), *((variable, -1) for variable, _ in leave)]

    def secret(self) -> list[tuple[int, int]]:
        """Return the number of secret moves."""
        return self.number(m for m, move in enumerate(self.moves) if move.secret)

    def total(self, fact: int, *, first: bool = True, second: bool = True) -> Terms:
        """Return a fact's left-hand side in D1 (`first`), in D2 (both), or how it changes."""
        held = [(c, cell[fact]) for c, cell in enumerate(self.cells) if first]
        moves = enumerate(self.moves, len(self.cells))
        return form(held + [(m, move.effect[fact]) for m, move in moves if second])

    def rows(self) -> list[Row]:
        """Return what holds for every pair of different databases in I_Q, in a fixed order."""
        cells = range(len(self.cells))
        found: list[tuple[Iterable[tuple[int, int]], int | None, int | None]] = []
        found.append(([(c, 1) for c in cells], self.size, self.size))
        for fact in range(self.equalities):
            found.append((self.total(fact, first=False), 0, 0))
            if self.answers is not None:
                answer = self.answers[fact]
                found.append((self.total(fact, second=False), answer, answer))
        for fact, (low, high) in enumerate(self.limits, self.equalities):
            found += [(self.total(fact, second=second), low, high) for second in (False, True)]
        leave = defaultdict[int | None, list[int]](list)
        enter = defaultdict[int | None, list[int]](list)
        for variable, move in enumerate(self.moves, len(cells)):
            leave[move.source].append(variable)
            enter[move.target].append(variable)
        end = 0 if self.answers is None else None
        found += [([(c, 1), *((v, -1) for v in leave[c])], 0, end) for c in cells]
        found.append((self.secret(), 1, None if self.widths is None else MOST_CHANGED))
        found += [([(v, 1) for v in leave[c] + enter[c]], None, width)
                  for c, width in enumerate(self.widths or ()) if width < MOST_CHANGED]  # fmt: skip
        ends = [(terms, end, sign) for terms, *both in found
                for end, sign in zip(both, (1, -1), strict=True)]  # fmt: skip
        return [row(terms, end, sign) for terms, end, sign in ends if end is not None]


def problem_of(world: World, value: Exact) -> Problem:
    """Return the problem of a neighbour pair that changes the query by more than a value."""
    if world.named and world.reading != "markov":  # there clauses do no more than leave pairs out
        raise Rejected("this kind of proof is for counts, not for single records", limit=True)
    attackers = world.reading == "pufferfish"
    if attackers and world.bounds:
        raise Rejected("this kind of proof knows no bounds in reading 5", limit=True)
    cells, joins = world.kinds()
    if len(cells) ** (1 + world.labelled) > MOST_MOVES or joins == world.free:
        raise Rejected("too many kinds of moves for this kind of proof", limit=True)
    moves = []
    for move in world.moves(cells, joins):
        world.budget.spend(0, 4 + 4 * len(move.change))
        moves += [move._replace(secret=True)] if move.secret or attackers else []
        if joins and world.reading == "published" and move.source is not None:
            sizes = {cells[end].size for end in (move.source, move.target or 0)}
            moves += [move._replace(secret=False)] if not move.secret or sizes != {1} else []
    ends = range(len(cells)) if joins and world.reading == "published" else ()
    runs = sum(len(side) for cell in cells for side in cell.box)
    world.budget.spend(len(ends) * (runs + len(ends) * world.policy.graph.finder.cost))
    touch, scale = world.policy.graph.touches, world.rows(cells)[0]
    even = (
        world.labelled and world.query.kind in EVEN and world.measure.name in ("l1", "l2-squared")
    )
    step = 2 if even else 1
    known = world.policy.scope == "given"
    return Problem(
        cells=tuple(world.effects([cell.point for cell in cells])),
        moves=tuple(moves),
        plain=tuple((i, j) for i in ends for j in ends
                    if i != j and not touch(cells[i].box, cells[j].box)),
        answers=tuple(fact.answer or 0 for fact in world.equalities) if known else None,
        limits=tuple((fact.low, fact.high) for fact in world.bounds),
        size=world.size if world.labelled else None,
        goal=(world.measure.claim(value, scale) // step + 1) * step,
        widths=tuple(cell.size for cell in cells) if world.reading == "markov" else None,
        measure=world.measure,
    )  # fmt: skip


def conditions(
    problem: Problem, base: int, part: Sequence[tuple[Sequence[int], int]],
    plain: Sequence[tuple[Plain, int]],
) -> list[Row]:  # fmt: skip
    """Return conditions under which a D3 refutes every pair that fulfils them all.

    `part`: (group of moves, how many of them); `plain`: ((source, target), how many records).
    Raises Rejected if the D3 is none.
    """
    named = [m for group, _ in part for m in group]
    bases = (1, 2, 3) if problem.widths is None else ()  # in reading 4 no D3 refutes anything
    if base not in bases or not part or len(set(named)) < len(named):
        raise Rejected("a cut has no part, or names a move twice")
    if not all(0 <= m < len(problem.moves) for m in named):  # Python would count back from the end
        raise Rejected("the proof names something that does not exist")
    if any(times < 1 for _, times in (*part, *plain)):
        raise Rejected("a cut has less than one record of a kind")
    shift, secret = _shift(problem, base, part, plain)
    if any(shift[: problem.equalities]):
        raise Rejected("the D3 of a cut breaks an equality")
    if (not secret and base != 2) or (plain and (base == 3 or not secret)):
        raise Rejected("the D3 of a cut keeps no secret move, or moves records for 3(b)")
    found = [row(problem.number(group), times) for group, times in part]
    every = problem.number(range(len(problem.moves))), sum(times for _, times in part)
    counted, amount = every if base == 3 else (problem.secret(), secret)
    if amount:
        found.append(row(counted, amount + 1))
    sources = [({problem.moves[m].source for m in group}, times) for group, times in part]
    for cell in sorted({source for (source, _), _ in plain}):  # the records that D3 moves plainly
        moving = sum(times for (source, _), times in plain if source == cell)
        if base == 1:  # at most so many of the part's records come from this cell
            kept = sum(times for cells, times in sources if cell in cells)
            found.append(row([(cell, 1)], moving + kept))
        else:  # at least so many of the records that leave the cell in D2 do not in D3
            freed = sum(times for cells, times in sources if cells == {cell})
            found.append(row(problem.stay(cell), moving - freed))
    for fact, (low, high) in enumerate(problem.limits, problem.equalities):
        terms = problem.total(fact, second=base == 2)
        if shift[fact] < 0 and low is not None:
            found.append(row(terms, low - shift[fact]))
        if shift[fact] > 0 and high is not None:
            found.append(row(terms, high - shift[fact], -1))
    return found


def _shift(
    problem: Problem, base: int, part: Sequence[tuple[Sequence[int], int]],
    plain: Sequence[tuple[Plain, int]],
) -> tuple[list[int], int]:  # fmt: skip
    """Return what D3 adds to each fact of its base, and how many secret moves are in the part."""
    effects, secret = [(problem.effect(move), times) for move, times in plain], 0
    for group, times in part:
        alike = {(problem.moves[m].effect, problem.moves[m].secret) for m in group}
        if len(alike) != 1:
            raise Rejected("the moves of a group differ in effect or secrecy")
        effect, hidden = alike.pop()
        effects.append((effect, -times if base == 2 else times))
        secret += times * hidden
    multiples = [times for _, times in effects]
    columns = zip(*(effect for effect, _ in effects), strict=True)
    return [sum(map(mul, multiples, column)) for column in columns], secret


def refute(world: World, proof: dict[str, Any], value: Exact) -> None:
    """Refuse the proof unless it shows that no neighbour pair changes the query by more."""
    check(problem_of(world, value), proof, world.budget)


def check(problem: Problem, proof: Any, budget: Budget) -> None:
    """Refuse the proof unless it shows that no neighbour pair reaches the problem's goal."""
    wide = len(problem.cells) + 2 * len(problem.moves)
    budget.spend(wide * (2 + problem.equalities + 2 * len(problem.limits)))
    table, rows = want(proof, PROOF, "the proof"), problem.rows()
    budget.spend(0, sum(len(terms) for terms, _ in rows))
    cases, supply = Cases(problem, table, budget), iter(table["nodes"])
    stack: list[tuple[int, list[Row], Told]] = [(len(rows), [], ())]
    while stack:
        depth, assumed, told = stack.pop()
        rows[depth:] = assumed
        node = next(supply, None)
        if node is None:
            raise Rejected("the proof ends before every case is closed")
        budget.spend(1 + len(assumed))
        if node[0] == "leaf":
            cases.leaf(rows, told, *node[1:])
        else:
            below = [(len(rows), *case) for case in cases.of(told, *node)]
            stack += reversed(below)
            budget.spend(len(below), len(below))
    if next(supply, None) is not None:
        raise Rejected("the proof goes on after every case is closed")


class Cases:
    """The cases and the leaves of a tree."""

    def __init__(self, problem: Problem, proof: dict[str, Any], budget: Budget) -> None:
        self.problem, self.budget = problem, budget
        changes: dict[Hashable, list[tuple[int, int]]] = {}
        for variable, move in enumerate(problem.moves, len(problem.cells)):
            for output, value in sorted(move.change, key=str):
                changes.setdefault(output, []).append((variable, value))
        self.goal = Goal(problem.measure, changes, problem.goal, budget)
        self.cuts = []
        for base, part, plain in proof["cuts"]:
            moves = [(proof["groups"][_at(g)], k) for g, k in want(part, PAIRS)]
            others = [(problem.plain[_at(p)], k) for p, k in want(plain, PAIRS)]
            budget.spend(sum(len(group) for group, _ in moves))  # before they are put together
            budget.spend(len(problem.moves) * (2 + len(problem.limits) + len(others)))
            self.cuts.append(conditions(problem, base, moves, others))

    def of(self, told: Told, kind: str, *rest: Any) -> list[tuple[list[Row], Told]]:
        """Return cases of which one holds for every neighbour pair that reaches the goal.

        ["cut", number]: one of its conditions fails and those before it hold. ["split", terms, k]:
        the form is at most k, or at least k + 1. The others are about outputs (`Goal.of`).
        """
        if kind == "cut":
            found = self.cuts[_at(*rest)]
            self.budget.spend(len(found) ** 2, len(found) ** 2 // 8)
            return [([*found[:k], row(terms, least - 1, -1)], told)
                    for k, (terms, least) in enumerate(found)]  # fmt: skip
        if kind in ("sign", "between", "reach"):
            return self.goal.of(told, kind, *rest)
        if kind != "split":
            raise Rejected("a node of no known kind")
        terms, most = want(rest[0], PAIRS), want(rest[1], int)
        width = len(self.problem.cells) + len(self.problem.moves)
        if any(not 0 <= variable < width for variable, _ in terms):
            raise Rejected("the proof names something that does not exist")
        return [([row(terms, most, -1)], told), ([row(terms, most + 1)], told)]

    def leaf(self, rows: list[Row], told: Told, multiples: Any) -> None:
        """Check that the rows, and the goal (number -1), add up to something impossible."""
        total: Counter[int] = Counter()
        needed = 0
        for place, times in want(multiples, PAIRS, "a leaf"):
            terms, least = self.goal.row(told) if place == -1 else rows[_at(place)]
            needed += times * least
            self.budget.spend((1 + len(terms)) * words(times))
            for variable, number in terms:
                total[variable] += times * number
            if times < 0:
                raise Rejected("a leaf takes a row a negative number of times")
        if needed <= 0 or max(total.values(), default=0) > 0:
            raise Rejected("the rows of a leaf do not contradict each other")


def _at(place: Any) -> int:
    """Return a place in a list, which counts from 0."""
    if want(place, int) < 0:
        raise Rejected("the proof names something that does not exist")
    return int(place)
