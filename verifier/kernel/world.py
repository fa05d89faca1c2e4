"""I_Q and the moves in it: facts with their numbers, cells that records can hold, effects.

A *cell* stands for values that are alike: to the facts, to G where G matters, and to the query. The
axes are cut where the boxes of these begin and end, so that the cost follows the number of boxes
and not |T|. What a cell may get wrong is on the safe side.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from copy import copy
from itertools import pairwise, product
from operator import sub
from typing import NamedTuple

from .boxes import Box, Finder, Point, Side, cuts
from .document import Budget, Exact, Rejected, common
from .independent import Span, Sparse, Vector
from .joined_boxes import near, united
from .measure import Along, Apart, Change, Measure
from .policy import Fact, Policy
from .query import Query, Row
from .stack import Stack, width_of

MIXED = ("published", "pufferfish")  # records may move plainly beside those that move secretly
LABELLED = (*MIXED, "secret-moves")
READINGS = (*LABELLED, "add-remove", "markov")
MOST_POINTS = 400
MANY = 4
SOME: Change = frozenset([("some", 1)])
"""The row, in a histogram, of cells of two values or more."""


class Cell(NamedTuple):
    """Values that are alike: one of them, how many (at most MANY), (where G matters) all of them,
    and in which of the boxes that the axes are cut by they are, as a bit set.
    """

    point: Point
    size: int
    box: Box
    boxes: int


class Move(NamedTuple):
    """A move between cells (None: the record is added, or removed), and what it changes."""

    source: int | None
    target: int | None
    effect: Vector
    change: Change
    secret: bool


class Counting:
    """What a record adds to some facts, `of` which it is: a finder knows the boxes that hold it."""

    def __init__(self, equalities: list[Fact], bounds: list[Fact]) -> None:
        self.of = equalities, bounds
        terms = [(place, times, area) for place, fact in enumerate((*equalities, *bounds))
                 for times, area in fact.terms]  # fmt: skip
        self.terms = [(place, times) for place, times, _ in terms]
        self.owners = [number for number, (_, _, area) in enumerate(terms) for _ in area]
        self.finder = Finder([box for _, _, area in terms for box in area])

    def adds(self, x: Point) -> Iterator[tuple[int, int]]:
        """Yield (place, how much) for each term that counts a value."""
        for term in dict.fromkeys(self.owners[box] for box in self.finder.holding(x)):
            yield self.terms[term]


class World:
    """A policy under a reading: its equalities, its bounds, and n where it is a number."""

    def __init__(self, policy: Policy, reading: str, query: Query, budget: Budget) -> None:
        self.policy, self.reading, self.query, self.budget = policy, reading, query, budget
        self.labelled = reading in LABELLED
        self.free = not self.labelled or policy.graph.complete  # G plays no part
        self.named = bool(policy.clauses) or query.weights is not None
        weight, one = (query.weight, query.one) if isinstance(query, Stack) else (None, 1)
        self.measure = Measure(query.measure, width_of(query), weight, one)
        self.positions = self.apart = False
        self.counting: Counting | None = None
        self.empty: list[Callable[[Point], bool]] = []  # tests of values that no record holds
        self.look = 1 + sum(len(area) for fact in policy.facts for _, area in fact.terms)
        if query.weights is not None and not self.labelled:
            raise Rejected("weights name records, and this reading does not", limit=True)
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
        known = [place for place, fact in enumerate(self.equalities) if fact.answer is not None]
        answers = [fact.answer or 0 for fact in self.equalities]
        points = [cell.point for cell in self.cells(self.equalities)]
        rows = self.by_fact(points)
        span = Span([rows[place] for place in known], self.budget)
        for fact, row in zip(self.equalities, rows, strict=False):
            if fact.answer is None and span.shares(row) is None:
                raise Rejected("nothing determines a count that has no number", limit=True)
        self.equalities = [self.equalities[place] for place in known]
        mixed = span.shares(dict.fromkeys(range(len(points)), 1))
        if mixed is not None:
            total = sum(k * answers[place] for k, place in zip(mixed, known, strict=True))
            if total < 0 or total != int(total):
                raise Rejected("the facts leave no database")
            self.size = int(total)
        elif self.labelled:
            raise Rejected("n is not known, and the reading needs it", limit=True)
        named = 1 + max(self.policy.named, default=-1)
        if named and self.size is None:  # D is in I_Q only if the records that are named exist
            self.bounds = [*self.bounds, Fact(((1, (self.policy.box({}),)),), low=named)]
        elif self.size is not None and named > self.size:
            raise Rejected("a clause names a record that does not exist")

    def by_fact(self, points: Sequence[Point]) -> list[dict[int, int]]:
        """Return what each fact counts, by the places of the points that it counts."""
        rows: list[dict[int, int]] = [{} for _ in (*self.equalities, *self.bounds)]
        for number, x in enumerate(points):
            for place, value in self.sparse(x):
                rows[place][number] = value
                self.budget.spend(2, 2)
        return rows

    def sparse(self, x: Point) -> Sparse:
        """Return what a record adds to the equalities and, after these, the bounds."""
        row: dict[int, int] = defaultdict(int)
        for place, times in self.adds(x):
            row[place] += times
        found = tuple(sorted([item for item in row.items() if item[1]]))
        self.budget.spend(self.counting.finder.cost + 4 * len(found) if self.counting else 1)
        return found

    def effect(self, x: Point) -> Vector:
        """Return the same with an entry for each fact."""
        return self.filled(self.sparse(x))

    def effects(self, points: Sequence[Point]) -> list[Vector]:
        """Return the effects of values, all at once: what that keeps is counted."""
        self.budget.spend(0, len(points) * (len(self.equalities) + len(self.bounds)))
        return [self.effect(x) for x in points]

    def filled(self, sparse: Sparse) -> Vector:
        """Return a vector with an entry for each fact."""
        row = [0] * (len(self.equalities) + len(self.bounds))
        for place, value in sparse:
            row[place] = value
        self.budget.spend(1 + len(row) // 8)
        return tuple(row)

    def adds(self, x: Point) -> Iterator[tuple[int, int]]:
        """Yield (place, how much) for what a record adds to facts, the equalities before bounds.

        Of thousands of facts few count it; which ones, a finder knows for the facts that are there.
        """
        found = self.counting
        if found is None or found.of[0] is not self.equalities or found.of[1] is not self.bounds:
            found = self.counting = Counting(self.equalities, self.bounds)
        return found.adds(x)

    def cells(
        self, facts: Sequence[Fact], cuts: Sequence[Box] = (), listed: Sequence[int] = (),
        ends: Sequence[int] = (), *, exact: bool = False, runs: bool = False,
    ) -> list[Cell]:  # fmt: skip
        """Return the possible cells that the facts, and boxes `cuts`, tell apart.

        On the axes `listed` every position is told apart (`runs`: of each run between two cuts the
        first and the last), on the axes `ends` the least and the greatest of each piece stand for
        it; `exact`: a cell's box holds its values and no others.
        """
        areas = [area for fact in facts for _, area in fact.terms]
        zeros = self.policy.zeros
        boxes = list(dict.fromkeys([*zeros, *(box for area in areas for box in area), *cuts]))
        states: dict[tuple[int, Point], tuple[Point, int]]  # boxes and pieces: a point, how many
        states = {((1 << len(boxes)) - 1, ()): ((), 1)}
        shown: list[list[Side]] = []  # the pieces of the axes that cells are told apart on
        wide = 1 + len(boxes) // 512
        for k, axis in enumerate(self.policy.axes):
            apart = k in listed or k in ends
            choices = [
                (mask, spot, ((spot, spot + 1),) if apart else side, _many(side))
                for mask, side in self._pieces(
                    [box[k] for box in boxes], axis.size, k in listed, runs
                )
                for spot in sorted({side[0][0], side[-1][1] - 1} if k in ends else {side[0][0]})
            ]
            shown += [[side for _, _, side, _ in choices]] if exact or apart else []
            grown: dict[tuple[int, Point], tuple[Point, int]] = {}
            for (alive, path), (point, size) in states.items():
                known = len(grown)
                for n, (mask, spot, _, width) in enumerate(choices):
                    key = (alive & mask, (*path, n) if exact or apart else path)
                    before, count = grown.get(key) or ((*point, spot), 0)
                    grown[key] = (before, min(MANY, count + size * width))
                new = (len(grown) - known) * (k + 1 + len(boxes) // 1024)
                self.budget.spend(len(choices) * (wide + k // 16), new)
            states = grown
        self.budget.spend(*2 * [len(states) * (1 + len(boxes) // 64)])
        impossible = (1 << len(set(zeros))) - 1
        return [
            Cell(point, size, tuple(sides[n] for sides, n in zip(shown, path, strict=True)), alive)
            for (alive, path), (point, size) in states.items()
            if not alive & impossible and not any(test(point) for test in self.empty)
        ]

    def _pieces(
        self, sides: Sequence[Side], size: int, listed: bool, ends: bool
    ) -> list[tuple[int, Side]]:
        """Cut an axis at the ends of runs; pieces in the same sides are one: (bit set, runs)."""
        runs = sum(map(len, sides))
        self.budget.spend(runs * (1 + len(sides) // 64), runs * len(sides) // 512)
        count = size if listed else runs
        self.budget.spend(count, 8 * count)
        found: dict[Hashable, tuple[int, list[tuple[int, int]]]] = {}
        whole = ((0, size),)  # with it, every position is between two cuts
        for (low, mask), (high, _) in pairwise(cuts([*sides, whole])):
            spots = sorted({low, high - 1}) if ends else range(low, high)
            for a, b in [(p, p + 1) for p in spots] if listed else [(low, high)]:
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
        Cumulative counts in l1, every two cells joined: so will the ends of runs that no fact cuts.
        For let e records enter values of a run, and l leave some, and k be the change of the count
        before it: the counts in the run change by k - l to k + e, all of them by k + e if those
        enter at its first and these leave from its last, by k - l if it is the other way round.
        """
        query = self.query
        facts = [*self.equalities, *self.bounds]
        if not self.free and self.policy.size <= MOST_POINTS:
            every = range(len(self.policy.axes))
            return self.cells(facts, listed=every), True
        if self.free or query.kind == "sum":
            fixed = query.kind == "sum" and self.reading == "markov"
            near = (query.kind == "sum" and not fixed) or self.apart
            listed = query.places if fixed else () if near else query.listed
            ends = query.places if near else ()
            some = self.positions and query.kind == "cumulative"
            return self.cells(facts, query.cuts, listed, ends, runs=some), False
        cuts = [*query.cuts, *self.policy.graph.cuts]
        return self.cells(facts, cuts, query.listed, exact=True), True

    def classes(self) -> tuple[list[Cell], bool, list[list[Box]]]:
        """Return `kinds`, those cells put together that are alike to the facts and to the query;
        where G tells them apart, also the boxes that the values of each fill.
        """
        cells, joins = self.kinds()
        told: dict[tuple[int, Change], tuple[Sparse, Change]] = {}
        found: dict[tuple[Sparse, Change], Cell] = {}
        boxes = []
        for cell, row in zip(cells, self.rows(cells)[1], strict=True):
            kind = cell.boxes, row
            if kind not in told:
                told[kind] = self.sparse(cell.point), row
            alike = found.get(told[kind])
            size = min(MANY, cell.size + (alike.size if alike else 0))
            found[told[kind]] = cell._replace(size=size)
            boxes.append((kind, cell.box))
        self.budget.spend(len(cells) * (8 + self.look // 8))
        if self.free or self.reading in MIXED:  # every two are joined, or may move plainly
            told = {kind: (d, SOME if (d, SOME) in found else row)
                    for kind, (d, row) in told.items()}  # fmt: skip
            found = {kind: found[kind] for kind in told.values()}
        if joins and self.policy.size > MOST_POINTS:  # boxes are cut where pairs and cells of G are
            boxes = united(boxes, self.budget)
        areas: dict[tuple[Sparse, Change], list[Box]] = {kind: [] for kind in found}
        for kind, box in boxes:
            areas[told[kind]].append(box)
        return list(found.values()), joins, list(areas.values())

    def by_position(self, *, single: bool = False) -> Measure:
        """From here on, where the query is all prefixes or ranges of one attribute, and the norm
        l1, let rows name the position there; return the measure that finds sizes from positions. A
        row by outputs has as many entries as there are outputs that count the record.

        `single`: only changes by one move are asked for, and by no more than a move as long: then
        the ends of pieces stand for what is between them. That is done in other norms too, where
        rows by outputs are too long.
        """
        if self.query.along and (self.measure.name == "l1" or (single and self.query.long)):
            self.positions, self.apart = True, single
            reach, name = self.query.reach, self.measure.name
            self.measure = Apart(reach, name) if single else Along(self.query.spread)
        return self.measure

    def _row_at(self, x: Point) -> Row:
        return {x[self.query.places[0]]: 1} if self.positions else self.query.row(x)

    def rows(self, cells: Sequence[Cell]) -> tuple[int, list[Change]]:
        """Return a scale, and what a record in each cell adds to the query, in whole numbers."""
        rows: list[Row] = []
        for cell in cells:
            some = self.query.kind == "histogram" and cell.size > 1
            rows.append({} if some else self._row_at(cell.point))
            self.budget.spend(self.query.cost + len(rows[-1]), 2 * len(rows[-1]))
        scale = common((v.denominator for row in rows for v in row.values()), self.budget)
        self.budget.widen(scale * v.numerator for row in rows for v in row.values())
        self.budget.spend(*2 * [sum(map(len, rows))])
        return scale, [
            SOME if self.query.kind == "histogram" and cell.size > 1
            else frozenset([(k, int(v * scale)) for k, v in row.items() if v])
            for cell, row in zip(cells, rows, strict=True)
        ]  # fmt: skip

    def moves(
        self, cells: Sequence[Cell], joins: bool, areas: Sequence[Sequence[Box]] = ()
    ) -> Iterator[Move]:
        """Yield all moves that a pair may make; `joins`: G decides which are secret, by the boxes
        (`areas`) that the values of each cell fill, where they are not the cell's own box.
        """
        rows = self.rows(cells)[1]
        effects = self.effects([cell.point for cell in cells])
        both = list(zip(rows, effects, strict=True))
        enter, leave = ([self._row(*place, sign) for place in both] for sign in (1, -1))
        width = len(self.equalities) + len(self.bounds)
        if not self.labelled:
            self.budget.spend(len(cells) * (4 + width))
            for i in range(len(cells)):
                away = tuple(-v for v in effects[i])
                yield Move(None, i, effects[i], enter[i], True)
                yield Move(i, None, away, leave[i], True)
            return
        secret: set[tuple[int, int]] = set()
        if joins:
            boxes = [(i, box) for i, cell in enumerate(cells)
                     for box in (areas[i] if areas else [cell.box])]  # fmt: skip
            for a, b in near(self.policy.graph, [box for _, box in boxes], self.budget):
                known = len(secret)
                secret.add((boxes[a][0], boxes[b][0]))
                self.budget.spend(len(secret) - known, 4 * (len(secret) - known))
        every = product(range(len(cells)), repeat=2)
        most = max(map(len, rows), default=0)
        for i, j in sorted(secret) if joins and self.reading == "secret-moves" else every:
            self.budget.spend(4 + width + most)
            if i != j or cells[i].size > 1:
                effect = tuple(map(sub, effects[j], effects[i]))
                change = plus(leave[i], enter[j])
                yield Move(i, j, effect, change, not joins or (i, j) in secret)

    def _row(self, row: Change, effect: Vector, sign: int) -> Change:
        """A record that enters (1) or leaves (-1). Histogram: in a cell of two values or more
        records leave from one and enter another, so that nothing cancels: no choice changes more.
        In l1 it does not matter which cells these are; else those of one effect have one value.
        """
        some = ("some", sign) if self.measure.name == "l1" else ("some", sign, effect)
        return frozenset([(some if output == "some" else output, sign * value)
                          for output, value in row])  # fmt: skip


def _many(side: Side) -> int:
    """Return how many positions a side has, at most MANY."""
    return min(MANY, sum(b - a for a, b in side))


class Effects:
    """Kinds of moves by effect: `changes[d]` are those that a move of effect d can make, or more.

    `idle`: the largest change by one secret move without effect. `weights`: the largest length of
    the changes of each effect. `secret`: the effects of secret
    moves, one of which a pair must contain. `longest`: the most records that can move. Each bound
    has *slack*, moves that change nothing but its total; one bound with one end may be left out.

    With `marks` (facts in which a record's values are told apart) clauses are allowed: `marked` are
    the moves (effect, change) by what they add to the marks.
    """

    def __init__(self, world: World, marks: Sequence[Fact] = ()) -> None:
        alike, clauses = world.free or world.reading == "secret-moves", len(world.policy.clauses)
        alike = alike and world.reading != "pufferfish"  # there pairs need not be minimal
        if world.reading == "pufferfish" and (clauses or marks):
            raise Rejected("this kind of proof knows no clauses in reading 5")
        if world.query.weights is not None or world.reading == "markov":
            raise Rejected("this kind of proof is for counts, and not for reading 4")
        if not marks and (clauses > 1 or clauses > alike):
            raise Rejected("this kind of proof is for one clause, and moves that are all alike")
        self.world, self.changes, self.idle = world, dict[Vector, set[Change]](), 0
        self.measure = world.measure if marks else world.by_position()
        self.secret: set[Vector] = set()
        self.marked: dict[Vector, set[tuple[Vector, Change]]] = defaultdict(set)
        known, width = len(world.equalities), len(world.equalities) + len(world.bounds)
        kept = list(range(width))
        ends = [k for k, fact in enumerate(world.bounds, known) if None in (fact.low, fact.high)]
        if ends and alike and (marks or not clauses):
            kept.remove(ends[0])
        self.alike = alike and len(kept) == width  # a part that keeps the clauses is a D3
        self.longest = world.size if world.labelled and len(kept) == known else None
        seen = copy(world)
        seen.bounds = [*world.bounds, *marks]
        cells, joins, areas = seen.classes()
        self.scale = seen.rows(cells)[0]
        for _, _, every, change, secret in seen.moves(cells, joins, areas):
            effect = every if len(kept) == len(every) else tuple([every[k] for k in kept])
            if marks:
                self.marked[every[width:]].add((effect, change))
                world.budget.spend(0, len(every) + 4 * len(change) + 4)
            if not any(effect):
                self.idle = max(self.idle, self.measure.size(change) if secret else 0)
                continue
            if secret:
                self.secret.add(effect)
            some = self.changes.setdefault(effect, set())
            if change not in some:
                some.add(change)
                world.budget.spend(0, len(effect) + 4 * len(change) + 4)
        for row in range(known, len(kept)):
            for step in (1, -1):
                slack = tuple(step * (k == row) for k in range(len(kept)))
                self.changes.setdefault(slack, set()).add(frozenset())
        self.effects = sorted(self.changes)
        self.weights = [max(map(self.length, self.changes[d])) for d in self.effects]

    def length(self, change: Change) -> int:
        """Return a change's length: those of several, added up, bound what all change."""
        return self.measure.length(self.measure.size(change))

    def claimed(self, value: Exact) -> int:
        """Return the claimed value as a size; refuse one that a single move exceeds."""
        claim = self.measure.claim(value, self.scale)
        if self.idle > claim:
            raise Rejected("a single move changes the query by more than the claim")
        return claim


def less(one: Sparse, other: Sparse) -> Sparse:
    """Return one vector less another."""
    found = dict(one)
    for place, value in other:
        found[place] = found.get(place, 0) - value
    return tuple(sorted([item for item in found.items() if item[1]]))


def norm(change: Change) -> int:
    """Return the L1 norm of a scaled change."""
    return sum(abs(value) for _, value in change)


def plus(a: Iterable[tuple[Hashable, int]], b: Change) -> Change:
    """Return the sum of two changes."""
    total = dict(a)
    for output, value in b:
        total[output] = total.get(output, 0) + value
    return frozenset(item for item in total.items() if item[1])
