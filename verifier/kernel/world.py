"""I_Q and the moves in it: facts with their numbers, cells that records can hold, effects.

A *cell* stands for values that are alike: to the facts, to G where G matters, and to the query. The
axes are cut where the boxes of these begin and end, so that the cost follows the number of boxes
and not |T|. What a cell may get wrong is on the safe side.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Iterator, Sequence
from fractions import Fraction
from itertools import pairwise
from math import gcd, lcm
from operator import sub
from typing import NamedTuple

from .document import Budget, Exact, Rejected
from .policy import Box, Fact, Point, Policy, Side, inside, single
from .query import Query

Vector = tuple[int, ...]
Change = frozenset[tuple[Hashable, int]]

LABELLED = ("published", "secret-moves")
READINGS = (*LABELLED, "add-remove", "markov")
MOST_POINTS = 400


class Cell(NamedTuple):
    """Values that are alike: one of them, how many, and (where G matters) all of them."""

    point: Point
    size: int
    box: Box


class Move(NamedTuple):
    """A move between cells (None: the record is added, or removed), and what it changes."""

    source: int | None
    target: int | None
    effect: Vector
    change: Change
    secret: bool


class World:
    """A policy under a reading: its equalities, its bounds, and n where it is a number."""

    def __init__(self, policy: Policy, reading: str, query: Query, budget: Budget) -> None:
        self.policy, self.reading, self.query, self.budget = policy, reading, query, budget
        self.labelled = reading in LABELLED
        self.free = not self.labelled or policy.graph.complete  # G plays no part
        self.named = bool(policy.clauses) or query.weights is not None
        self.look = 1 + sum(len(area) for fact in policy.facts for _, area in fact.terms)
        if self.named and not self.labelled:
            raise Rejected(
                "clauses and weights name records, and this reading does not", limit=True
            )
        facts = list(policy.facts)
        if policy.records is not None:
            facts.append(Fact(((1, (policy.box({}),)),), policy.records))
        self.bounds = [fact for fact in facts if fact.bounded]
        self.equalities = [fact for fact in facts if not fact.bounded]
        self.size: int | None = None
        if policy.scope == "given":
            self._given()
        elif self.bounds or policy.clauses:
            raise Rejected("scope any knows no bounds and no clauses")
        else:
            self.equalities = [fact._replace(answer=None) for fact in self.equalities]

    def _given(self) -> None:
        """Numbers that are not written must follow from those that are, as a linear combination."""
        known = [fact for fact in self.equalities if fact.answer is not None]
        points = [cell.point for cell in self.cells(self.equalities)]
        self.budget.spend(self.look * len(points))
        rows = [[fact.at(x) for x in points] for fact in known]
        for fact in self.equalities:
            if fact.answer is None and self._mixed(rows, [fact.at(x) for x in points]) is None:
                raise Rejected("nothing determines a count that has no number", limit=True)
        self.equalities = known
        mixed = self._mixed(rows, [1] * len(points))
        if mixed is not None:
            total = sum(k * (fact.answer or 0) for k, fact in zip(mixed, known, strict=True))
            if total < 0 or total != int(total):
                raise Rejected("the facts leave no database")
            self.size = int(total)
        elif self.labelled:
            raise Rejected("n is not known, and the reading needs it", limit=True)

    def _mixed(self, rows: Sequence[Vector | list[int]], target: list[int]) -> list[Exact] | None:
        """Return numbers k with sum k_i rows_i = target, or None if there are none."""
        basis, found = relations([*rows, target], self.budget)
        if len(rows) in basis:
            return None
        own, coordinates = found[-1]
        told = dict(zip(basis, coordinates, strict=True))
        return [Fraction(-told.get(place, 0), own) for place in range(len(rows))]

    def effect(self, x: Point) -> Vector:
        """Return what a record adds to each equality, then to each bound."""
        self.budget.spend(self.look)
        return tuple(fact.at(x) for fact in (*self.equalities, *self.bounds))

    def cells(
        self, facts: Sequence[Fact], cuts: Sequence[Box] = (), listed: Sequence[int] = (),
        ends: Sequence[int] = (), *, exact: bool = False,
    ) -> list[Cell]:  # fmt: skip
        """Return the possible cells that the facts, and boxes `cuts`, tell apart.

        On the axes `listed` every position is told apart, on the axes `ends` the least and the
        greatest of each piece stand for it; `exact`: a cell's box holds its values and no others.
        """
        areas = [area for fact in facts for _, area in fact.terms]
        zeros = self.policy.zeros
        boxes = list(dict.fromkeys([*(box for area in areas for box in area), *zeros, *cuts]))
        states: dict[tuple[int, Box], tuple[Point, int]] = {((1 << len(boxes)) - 1, ()): ((), 1)}
        for k, axis in enumerate(self.policy.axes):
            pieces = self._pieces([box[k] for box in boxes], axis.size, k in listed)
            grown: dict[tuple[int, Box], tuple[Point, int]] = {}
            for (alive, box), (point, size) in states.items():
                known = len(grown)
                for mask, side in pieces:
                    width = sum(b - a for a, b in side)
                    for spot in {side[0][0], side[-1][1] - 1} if k in ends else {side[0][0]}:
                        told = ((spot, spot + 1),) if k in ends or k in listed else side
                        key = (alive & mask, (*box, told) if exact or told is not side else box)
                        before, count = grown.get(key, ((*point, spot), 0))
                        grown[key] = (before, count + size * width)
                new = (len(grown) - known) * (k + 1 + len(boxes) // 1024)
                self.budget.spend(len(pieces) * (1 + len(boxes) // 512), new)
            states = grown
            self.budget.spend(len(states) * (1 + len(boxes)))
        self.budget.spend(len(states) * (1 + len(zeros)), len(states) * (1 + len(facts)))
        found = [Cell(point, size, box) for (_, box), (point, size) in states.items()]
        return [cell for cell in found if not inside(cell.point, zeros)]

    def _pieces(self, sides: Sequence[Side], size: int, listed: bool) -> list[tuple[int, Side]]:
        """Cut an axis at the ends of runs; pieces in the same sides are one: (bit set, runs)."""
        runs = sum(map(len, sides))
        self.budget.spend(runs * (1 + len(sides) // 64), runs * len(sides) // 512)
        toggles: dict[int, int] = {0: 0, size: 0}
        for bit, side in enumerate(sides):
            for end in (end for run in side for end in run):
                toggles[end] = toggles.get(end, 0) ^ 1 << bit
        count = size if listed else len(toggles)
        self.budget.spend(count, 8 * count)
        found: dict[Hashable, tuple[int, list[tuple[int, int]]]] = {}
        mask = 0
        for low, high in pairwise(sorted(toggles)):
            mask ^= toggles[low]
            for a, b in [(p, p + 1) for p in range(low, high)] if listed else [(low, high)]:
                found.setdefault(a if listed else mask, (mask, []))[1].append((a, b))
        return [(bits, tuple(runs)) for bits, runs in found.values()]

    def points(self) -> list[Point]:
        """Return every possible value of a small domain."""
        if self.policy.size > MOST_POINTS:
            raise Rejected(f"this needs a domain of at most {MOST_POINTS} values", limit=True)
        return [cell.point for cell in self.cells([], listed=range(len(self.policy.axes)))]

    def kinds(self) -> tuple[list[Cell], bool]:
        """Return cells for moves and whether G tells them apart (else every two are joined).

        Sums: the norm of a total change is convex in each record's row, so ends of pieces will do.
        """
        query, graph = self.query, self.policy.graph
        facts = [*self.equalities, *self.bounds]
        if not self.free and self.policy.size <= MOST_POINTS:
            every = range(len(self.policy.axes))
            return self.cells(facts, listed=every), True
        if self.free or query.kind == "sum":
            fixed = query.kind == "sum" and self.reading == "markov"
            listed = query.places if fixed else query.listed
            ends = query.places if query.kind == "sum" and not fixed else ()
            return self.cells(facts, query.cuts, listed, ends), False
        cuts = [box for area in graph.cells for box in area]
        cuts += [single(x) for pair in sorted(graph.pairs) for x in pair]
        return self.cells(facts, [*query.cuts, *cuts], query.listed, exact=True), True

    def rows(self, cells: Sequence[Cell]) -> tuple[int, list[Change]]:
        """Return a scale, and what a record in each cell adds to the query, in whole numbers."""
        rows = []
        for cell in cells:
            self.budget.spend(self.query.cost)
            rows.append(self.query.row(cell.point))
            self.budget.spend(len(rows[-1]), 2 * len(rows[-1]))
        scale = lcm(*(Fraction(v).denominator for row in rows for v in row.values()), 1)
        return scale, [frozenset((k, int(v * scale)) for k, v in row.items() if v) for row in rows]

    def moves(
        self, cells: Sequence[Cell], joins: bool, settled: Collection[Vector] = ()
    ) -> Iterator[Move]:
        """Yield all moves that a pair may make; `joins`: G decides which are secret.

        `settled`: effects that some secret move has. In reading 1 more moves with such an effect
        count as secret without a look at G.
        """
        rows = self.rows(cells)[1]
        enter, leave = ([self._row(*pair, sign) for pair in zip(cells, rows, strict=True)]
                        for sign in (1, -1))  # fmt: skip
        effects = [self.effect(cell.point) for cell in cells]
        width = len(self.equalities) + len(self.bounds)
        pairs = len(cells) ** 2 if self.labelled else len(cells)
        self.budget.spend(pairs * (4 + width) + len(cells) * self.policy.graph.boxes)
        self.budget.spend(len(cells) * sum(map(len, rows)) // 2 if self.labelled else 0)
        for i, x in enumerate(cells):
            if not self.labelled:
                away = tuple(-v for v in effects[i])
                yield Move(None, i, effects[i], enter[i], True)
                yield Move(i, None, away, leave[i], True)
                continue
            for j, y in enumerate(cells):
                effect = tuple(map(sub, effects[j], effects[i]))
                mixed = self.reading == "published"
                secret = not joins or (mixed and effect in settled)
                secret = secret or self.policy.graph.touches(x.box, y.box)
                if (secret or mixed) and (i != j or x.size > 1):
                    yield Move(i, j, effect, plus(leave[i], enter[j]), secret)

    def _row(self, cell: Cell, row: Change, sign: int) -> Change:
        """A record that enters (1) or leaves (-1). Histogram: in a cell of two values or more
        records leave from one and enter another, so that nothing cancels: no choice changes more.
        """
        if self.query.kind == "histogram" and cell.size > 1:
            return frozenset([(("some", sign), sign)])
        return frozenset((output, sign * value) for output, value in row)


class Effects:
    """Kinds of moves by effect: `changes[d]` are those that a move of effect d can make, or more.

    `idle`: the largest change by one secret move without effect. `secret`: the effects of secret
    moves, one of which a pair must contain. `longest`: the most records that can move.
    """

    def __init__(self, world: World) -> None:
        if world.bounds or world.named or world.reading == "markov":
            raise Rejected("this kind of proof is for equality counts, and not for reading 4")
        self.world, self.changes, self.idle = world, dict[Vector, set[Change]](), 0
        self.secret: set[Vector] = set()
        self.longest = world.size if world.labelled else None
        cells, joins = world.kinds()
        self.scale = world.rows(cells)[0]
        for _, _, effect, change, secret in world.moves(cells, joins, self.secret):
            if not any(effect):
                self.idle = max(self.idle, norm(change) if secret else 0)
                continue
            if secret:
                self.secret.add(effect)
            known = self.changes.setdefault(effect, set())
            if change not in known:
                known.add(change)
                world.budget.spend(0, len(effect) + 4 * len(change) + 4)
        self.effects = sorted(self.changes)
        self.weights = [max(map(norm, self.changes[d])) for d in self.effects]


def norm(change: Change) -> int:
    """Return the L1 norm of a scaled change."""
    return sum(abs(value) for _, value in change)


def plus(a: Iterable[tuple[Hashable, int]], b: Change) -> Change:
    """Return the sum of two changes."""
    total = dict(a)
    for output, value in b:
        total[output] = total.get(output, 0) + value
    return frozenset(item for item in total.items() if item[1])


def relations(
    vectors: Sequence[Sequence[int]], budget: Budget
) -> tuple[list[int], list[tuple[int, list[int]]]]:
    """Return the places of the first independent vectors, and each vector's relation to them:
    own != 0 and coordinates with own * vector + sum of coordinates * independent vectors = 0.
    """
    width = len(vectors[0]) if vectors else 0
    rows: list[tuple[int, list[int]]] = []  # (pivot, a vector reduced and how it came about)
    basis: list[int] = []
    found = []
    for place, vector in enumerate(vectors):
        row = [*vector, *[0] * (width + 1)]
        row[width + len(basis)] = 1
        budget.spend(width * (1 + len(rows)))
        for pivot, base in rows:
            if row[pivot]:
                a, b = base[pivot], row[pivot]
                digits = max(map(abs, (*row, *base))).bit_length() // 64
                budget.spend(width * digits * (1 + digits // 2))  # large numbers take longer
                row = [a * x - b * y for x, y in zip(row, base, strict=True)]
                shared = gcd(*row)
                row = [x // shared for x in row]
        pivot = next((j for j in range(width) if row[j]), -1)
        last = width + len(basis)
        if pivot < 0:
            found.append((row[last], row[width:last]))
            continue
        rows.append((pivot, row))
        found.append((1, [*[0] * len(basis), -1]))
        basis.append(place)
    return basis, found
