"""I_Q and the moves in it: facts with their numbers, places that records can hold, changes.

A *place* stands for values that are alike: to the facts, to G where G matters, and to the query.
Two ways to find them: point by point, or for any |T| by cutting each axis where the boxes of facts,
of impossible values and of the query begin and end. What a place may get wrong is on the safe side.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise, product
from math import lcm
from operator import sub
from typing import NamedTuple

from .document import Budget, Rejected
from .linear import combination
from .policy import Box, Fact, Point, Policy, inside
from .query import Query

Vector = tuple[int, ...]
Change = dict[Hashable, int]

LABELLED = ("published", "secret-moves")
READINGS = (*LABELLED, "add-remove", "markov")
MOST_POINTS = 400


class Place(NamedTuple):
    """Values that are alike; `point` is one of them, `box` holds all (where G matters)."""

    point: Point
    size: int
    box: Box
    effect: Vector
    push: Vector


@dataclass
class World:
    """A policy under a reading: its equalities, bounds, clauses, and n where it is a number."""

    policy: Policy
    reading: str
    query: Query
    budget: Budget

    def __post_init__(self) -> None:
        self.labelled = self.reading in LABELLED
        facts = list(self.policy.facts)
        if self.policy.records is not None:
            whole = tuple(axis.whole for axis in self.policy.axes)
            facts.append(Fact(((1, (whole,)),), self.policy.records))
        self.bounds = [fact for fact in facts if fact.bounded]
        self.equalities = [fact for fact in facts if not fact.bounded]
        self.size: int | None = None
        if self.policy.scope == "any":
            if self.bounds or self.policy.clauses:
                raise Rejected("scope any knows no bounds and no clauses")
            self.equalities = [replace(fact, answer=None) for fact in self.equalities]
        else:
            self._given()

    def _given(self) -> None:
        """Numbers that are not written must follow from those that are, as a linear combination."""
        known = [fact for fact in self.equalities if fact.answer is not None]
        points = [place.point for place in self.places(known + self.equalities, [])]
        rows = [[fact.at(x) for x in points] for fact in known]
        for fact in self.equalities:
            if fact.answer is None and combination(rows, [fact.at(x) for x in points]) is None:
                raise Rejected("nothing determines a count that has no number", limit=True)
        self.equalities = known
        if self.labelled:
            self.size = implied_size(self)
            if self.size is None:
                raise Rejected("n is not known, and the reading needs it", limit=True)

    @property
    def free(self) -> bool:
        """Whether signatures alone decide what is minimal: G is complete, or plays no part."""
        return not self.labelled or self.policy.graph.complete

    def effect(self, x: Point, sign: int = 1) -> Vector:
        """Return what a record adds to each equality."""
        return tuple(sign * fact.at(x) for fact in self.equalities)

    def push(self, x: Point, sign: int = 1) -> Vector:
        """Return what a record adds to each bound."""
        return tuple(sign * fact.at(x) for fact in self.bounds)

    def points(self) -> list[Point]:
        """Return every possible value of a small domain."""
        if self.policy.size > MOST_POINTS:
            raise Rejected(
                f"a domain of more than {MOST_POINTS} values needs another kind of proof"
            )
        self.budget.spend(self.policy.size * (1 + len(self.policy.zeros)))
        every = product(*(range(axis.size) for axis in self.policy.axes))
        return [x for x in every if not inside(x, tuple(self.policy.zeros))]

    def places(
        self, facts: Sequence[Fact], cuts: Sequence[Box], listed: Sequence[int] = (),
        ends: Sequence[int] = (), *, keep: bool = False,
    ) -> list[Place]:  # fmt: skip
        """Return places that the facts and the boxes `cuts` tell apart.

        On the axes `listed` every position is told apart, on the axes `ends` the least and the
        greatest of each piece stand for it; with `keep`, pieces of an axis are never merged, so
        that a place's box holds exactly its values.
        """
        zeros = self.policy.zeros
        literals = [area for clause in self.policy.clauses for _, area, _ in clause]
        areas = [area for fact in facts for _, area in fact.terms] + literals
        boxes = list(dict.fromkeys([*(b for area in areas for b in area), *zeros, *cuts]))
        states: dict[tuple[int, Box], tuple[Point, int]] = {((1 << len(boxes)) - 1, ()): ((), 1)}
        for number, axis in enumerate(self.policy.axes):
            pieces = _pieces(
                [box[number] for box in boxes], axis.size, number in listed, self.budget
            )
            grown: dict[tuple[int, Box], tuple[Point, int]] = {}
            for (alive, kept), (point, size) in states.items():
                self.budget.spend(len(pieces))
                for mask, runs in pieces:
                    width = sum(b - a for a, b in runs)
                    spots = {runs[0][0], runs[-1][1] - 1} if number in ends else {runs[0][0]}
                    for spot in spots:
                        told = number in listed or number in ends
                        side = ((spot, spot + 1),) if told else runs if keep else ()
                        key = (alive & mask, (*kept, side))
                        old = grown.get(key)
                        more = size * width + (old[1] if old else 0)
                        grown[key] = (old[0] if old else (*point, spot), more)
            states = grown
            self.budget.keep(len(states) * (number + 1))
        found = []
        self.budget.keep(len(states) * (1 + len(self.equalities) + len(self.bounds)))
        self.budget.spend(len(states) * (1 + len(boxes)))
        for (_, box), (point, size) in states.items():
            if not inside(point, tuple(zeros)):
                found.append(Place(point, size, box, self.effect(point), self.push(point)))
        return found


def _pieces(
    sides: Sequence[tuple[tuple[int, int], ...]], size: int, listed: bool, budget: Budget
) -> list[tuple[int, tuple[tuple[int, int], ...]]]:
    """Cut an axis at the ends of runs; pieces in the same sides are one: (bit set, runs)."""
    toggles: dict[int, int] = {0: 0, size: 0}
    for bit, side in enumerate(sides):
        for low, high in side:
            toggles[low] = toggles.get(low, 0) ^ 1 << bit
            toggles[high] = toggles.get(high, 0) ^ 1 << bit
    borders = sorted(toggles)
    budget.spend(size if listed else len(borders))
    budget.keep(8 * (size if listed else len(borders)))
    found: dict[Hashable, tuple[int, list[tuple[int, int]]]] = {}
    mask = 0
    for low, high in pairwise(borders):
        mask ^= toggles[low]
        for a, b in [(p, p + 1) for p in range(low, high)] if listed else [(low, high)]:
            runs = found.setdefault(a if listed else mask, (mask, []))[1]
            if runs and runs[-1][1] == a:
                runs[-1] = (runs[-1][0], b)
            else:
                runs.append((a, b))
    return [(bits, tuple(runs)) for bits, runs in found.values()]


class Moves:
    """Kinds of moves by effect, with the changes of the query that each effect can make.

    `changes[d]`: the changes (scaled to whole numbers) that a move of effect d can make, or more
    than these. `idle`: an upper bound for one move without effect. `secret`: effects of secret
    moves, one of which a pair must contain (None: every move will do).
    """

    def __init__(self, world: World) -> None:
        self.world, self.query = world, world.query
        none = (0,) * len(world.equalities)
        mixed = world.labelled and world.reading == "published" and not world.free
        joined = world.labelled and not world.free
        self.secret: set[Vector] | None = None
        self.signed: list[tuple[Vector, Change, int, int]] = []  # reading 4: effect, change, place
        places = self._places(joined=joined and not mixed)
        ends = self._ends() if mixed else None
        rows = [self.query.row(place.point) for place in (*places, *(ends or ()))]
        self.scale = lcm(*(Fraction(v).denominator for row in rows for v in row.values()), 1)
        found = self._collect(places, joined=joined and not mixed)
        idle = found.pop(none, [])
        if (
            ends is not None
        ):  # some effect must be a secret move's, and one move alone must be secret
            secret = self._collect(ends, joined=True)
            self.secret, idle = set(secret), secret.get(none, [])
        self.changes = {effect: changes for effect, changes in found.items() if any(effect)}
        self.idle = max((norm(change) for change in idle), default=0)
        self.effects = sorted(self.changes)
        self.weights = [max(norm(change) for change in self.changes[d]) for d in self.effects]
        self.longest = world.size  # the most records that can move, where n limits them

    def _ends(self) -> list[Place] | None:
        """Return the places between which moves may be secret; None where it is not looked at."""
        try:
            return self._places(joined=True)
        except Rejected as reason:
            if not reason.limit:
                raise
            return None

    def _places(self, *, joined: bool) -> list[Place]:
        world, query = self.world, self.query
        graph, listed = world.policy.graph, query.listed
        if world.reading == "markov" and query.kind == "sum":
            listed = query.places  # two of the four cells may need different values
        if joined and graph.kind == "edges":
            ends = sorted({x for pair in graph.pairs for x in pair})
            return [_at(world, x) for x in ends if not inside(x, tuple(world.policy.zeros))]
        if joined and world.policy.size <= MOST_POINTS:
            return [_at(world, x) for x in world.points()]
        ends_of = query.places if query.kind == "sum" and not listed else []
        if joined and ends_of:
            raise Rejected("sums under this graph need a small domain", limit=True)
        cuts = [*query.cuts, *(box for area in graph.cells for box in area if joined)]
        found = world.places(world.equalities, cuts, listed, ends_of, keep=joined)
        merged: dict[Hashable, Place] = {}
        for place in found:
            plain = query.kind == "histogram"
            row = frozenset(() if plain else query.row(place.point).items())
            key = (place.effect, row, place.box if joined else ())
            old = merged.get(key)
            merged[key] = place if old is None else old._replace(size=old.size + place.size)
        return list(merged.values())

    def _collect(self, places: list[Place], *, joined: bool) -> dict[Vector, list[Change]]:
        """Return the different changes that moves between the places make, by effect."""
        rows = [self.query.row(place.point) for place in places]
        self._rows = [{k: int(v * self.scale) for k, v in row.items()} for row in rows]
        found: dict[Vector, dict[Hashable, Change]] = {}
        for i, x in enumerate(places):
            self.world.budget.spend(len(places) * (4 + len(x.effect)))
            if not self.world.labelled:
                for sign in (1, -1):
                    effect, change = tuple(sign * v for v in x.effect), self._row(places, i, sign)
                    found.setdefault(effect, {})[frozenset(change.items())] = change
                    self.signed.append((effect, change, i, x.size))
                continue
            out = self._row(places, i, -1)
            for j, y in enumerate(places):
                if i == j and x.size == 1:
                    continue
                effect = tuple(map(sub, y.effect, x.effect))
                change = _sum(out, self._row(places, j, 1))
                known, key = found.get(effect, {}), frozenset(change.items())
                if key not in known and (not joined or self._edge(x, y)):
                    found.setdefault(effect, {})[key] = change
                    self.world.budget.keep(len(effect) + 4 * len(change) + 4)
        return {effect: list(changes.values()) for effect, changes in found.items()}

    def _row(self, places: Sequence[Place], i: int, sign: int) -> Change:
        """A record that enters (1) or leaves (-1). Histogram: where a place has two values or more,
        records leave from one and enter another, so that nothing cancels: no choice changes more.
        All such places share one output for what enters and one for what leaves.
        """
        if self.query.kind == "histogram" and places[i].size > 1:
            return {("some", sign): sign}  # no value has such a name
        return {output: sign * value for output, value in self._rows[i].items()}

    def _edge(self, x: Place, y: Place) -> bool:
        graph = self.world.policy.graph
        if x.size == y.size == 1:
            return graph.joined(x.point, y.point)
        return graph.touches(x.box, y.box)


def implied_size(world: World) -> int | None:
    """Return n where it is a linear combination of the answers, under scope given."""
    points = [place.point for place in world.places(world.equalities, [])]
    rows = [[fact.at(x) for x in points] for fact in world.equalities]
    mixed = combination(rows, [1] * len(points))
    if mixed is None:
        return None
    facts = zip(mixed, world.equalities, strict=True)
    total = sum((k * (fact.answer or 0) for k, fact in facts), Fraction(0))
    if total.denominator != 1 or total < 0:
        raise Rejected("the facts leave no database")
    return int(total)


def _at(world: World, x: Point) -> Place:
    box = tuple(((p, p + 1),) for p in x)
    return Place(x, 1, box, world.effect(x), world.push(x))


def norm(change: Change) -> int:
    """Return the L1 norm of a scaled change."""
    return sum(map(abs, change.values()))


def _sum(a: Change, b: Change) -> Change:
    total = dict(a)
    for output, value in b.items():
        total[output] = total.get(output, 0) + value
    return {output: value for output, value in total.items() if value}
