"""Pairs from heavy frames, walked over: circuits of all classes at once, for the query asked.

A circuit over effects of moves is an irreducible multiset (`engines/irreducibles/circuits`). There
is one effect for each two classes, so that a walk over bases of effects sees few of them; frames
have the classes themselves to choose from, and for each frame its longest circuit is known.

Under scope "any" its moves alone are a pair; under "given" they are put into a database with the
known numbers, which must hold so many records of each class, so that fewer may be more: circuits
that are made to fit (`fitted`) come first there. In reading 1 with another G exactly one record
moves along an edge: then no part of its moves is a D3 (`reductions/complete_graph`). There, under
"any", a pair of two or three moves comes first (`four_cells`), and circuits of moves along no edge,
with one more along an edge, last (`one_more_move`).
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import islice, permutations, product, zip_longest

import numpy as np
from numpy.typing import NDArray

from blowproof.models import BlowproofError, Box, Point, Setting
from blowproof.models.base.clock import SHORT, now, spend
from blowproof.models.base.kept import Kept, cached_property
from blowproof.models.domain.classes import ValueClass, firsts
from blowproof.models.norms import L2_SQUARED
from blowproof.models.policy.readings import is_labelled, is_mixed
from blowproof.verifier.asked.answer import Answer, Pair
from blowproof.verifier.asked.question import Question
from blowproof.verifier.databases.value_classes import ClassTable, class_table
from blowproof.verifier.exact.lattice import integer_kernel
from blowproof.verifier.limits.limit import real_limit, whole_limit
from blowproof.verifier.reductions.complete_graph import moves_apart, some_edge
from blowproof.verifier.reductions.fewer_facts import freed
from blowproof.verifier.theorems.affine_frames import kernel
from blowproof.verifier.theorems.beside import beside, groups_of, held_in
from blowproof.verifier.theorems.values.seen_values import seen_values
from blowproof.verifier.witnesses.few_classes import classes_together, in_a_box, seeds_along
from blowproof.verifier.witnesses.four_cells import with_one_secret
from blowproof.verifier.witnesses.frames.fitted import Branch, Fitting, Group, fitting
from blowproof.verifier.witnesses.frames.one_more_move import Circuit
from blowproof.verifier.witnesses.frames.stops import Joined
from blowproof.verifier.witnesses.frames.walk import Frame, frames_walked, irreducible
from blowproof.verifier.witnesses.frames.worth import (
    Arc,
    Room,
    Rows,
    Valued,
    arcs_of,
    best_values,
    shortcuts,
)
from blowproof.verifier.witnesses.random_values import RandomValues

__all__ = ["dependencies", "long_circuits", "no_long_circuits"]

MOST_CLASSES = whole_limit(__name__, "MOST_CLASSES")
MOST_ENTRIES = whole_limit(__name__, "MOST_ENTRIES")
SECONDS = real_limit(__name__, "SECONDS")
EDGE = real_limit(__name__, "EDGE")
STEPS = whole_limit(__name__, "STEPS")
MOST_RECORDS = whole_limit(__name__, "MOST_RECORDS")
MOST_PLACED = whole_limit(__name__, "MOST_PLACED")
MOST_TRIED = whole_limit(__name__, "MOST_TRIED")
AGREED = whole_limit(__name__, "AGREED")
IN_L1 = real_limit(__name__, "IN_L1")
NEARLY = real_limit(__name__, "NEARLY")
MOST_EDGES = whole_limit(__name__, "MOST_EDGES")
MOST_JOINED = whole_limit(__name__, "MOST_JOINED")
BOXES = whole_limit(__name__, "BOXES")
SPREAD = whole_limit(__name__, "SPREAD")


def no_long_circuits(question: Question) -> str:
    """Return why circuits of moves are no pairs here, or ""."""
    setting = question.setting
    if not is_labelled(question.reading) or setting.clauses:
        return "it speaks about readings 1, 2 and 5, and no clauses"
    if question.reading == "secret-moves" and not setting.graph.complete:
        return "its moves need not be along edges of G"
    if question.query.per_record:
        return f"{question.query.name} weighs single records"
    return ""


def long_circuits(question: Question) -> Answer | None:
    """Tell of pairs that are heavier than what is known; return None, for they say all."""
    with suppress(BlowproofError, TimeoutError, OverflowError):
        several = _Classes.of(question)
        for number, found in enumerate(several):
            for pair in _pairs(question, found, 1 / (len(several) - number)):
                value = question.query.difference(pair.moves(question.reading))
                question.teller("circuits of frames")(value, None, pair)
    return None


@dataclass(frozen=True)
class _Classes:
    """The signatures that are walked over, the classes of values with each, and their rows."""

    setting: Setting
    effects: NDArray[np.int64]
    members: tuple[tuple[ValueClass, ...], ...]
    rows: Rows
    axes: tuple[int, ...]
    """What the query looks at."""
    alike: Kept = field(default_factory=Kept, init=False, repr=False, compare=False)

    @staticmethod
    def of(question: Question) -> list[_Classes]:
        """Return all of them, or some; none where there are too few, or rows are too long."""
        end = question.by(1 / 4)
        setting = question.setting
        free = freed(setting) if setting.scope == "given" else setting
        tables = _some(free, class_table(free, deadline=end), question.seed)
        found = (_Classes.among(question, table, end) for table in tables)
        return [each for each in found if each is not None]

    @staticmethod
    def among(
        question: Question, table: ClassTable, end: float | None, most: int = MOST_CLASSES
    ) -> _Classes | None:
        """Return those of a table, which may be any of the classes of values; None: too many."""
        setting = question.setting
        free = freed(setting) if setting.scope == "given" else setting
        found: dict[tuple[int, ...], list[int]] = {}
        for place, row in enumerate(table.effects.tolist()):
            found.setdefault(tuple(row), []).append(place)
        if not 3 <= len(found) <= most:
            return None
        signatures = sorted(found)
        values = _values(question, free, table, end)
        rows = None
        if values is not None:
            per = [[x for place in found[each] for x in values[place]] for each in signatures]
            rows = Rows.of(question.query, per)
            if rows is None:  # too many for all of them: some of each, from end to end
                rows = Rows.of(question.query, [_spread(each) for each in per])
            if rows is None:
                rows = Rows.of(question.query, [each[:1] for each in per])
        if rows is None:
            return None
        members = tuple(tuple(table.classes[place] for place in found[each]) for each in signatures)
        axes = tuple(sorted(question.query.axes_read(setting.domain)))
        return _Classes(free, np.array(signatures, dtype=np.int64), members, rows, axes)

    @cached_property
    def boxes(self) -> list[list[Box]]:
        """The first boxes of each signature's classes."""
        return [
            list(islice((box for item in each for box in item.boxes()), BOXES))
            for each in self.members
        ]

    def edge(self, one: int, two: int) -> tuple[Point, ...]:
        """Return an edge from values of one signature to those of another, or ()."""
        return some_edge(self.setting.graph, self.boxes[one], self.boxes[two])

    @cached_property
    def near(self) -> NDArray[np.bool_] | None:
        """Between which signatures there are edges; None where G is complete."""
        if self.setting.graph.complete:
            return None
        count = len(self.members)
        joined = np.zeros((count, count), dtype=np.bool_)
        for one in range(count):
            now()
            for two in range(one):
                joined[one, two] = joined[two, one] = bool(self.edge(one, two))
        return joined

    @cached_property
    def only(self) -> NDArray[np.bool_] | None:
        """Between which signatures every move is along an edge, as far as is seen."""
        if self.near is None:
            return None
        found = self.near.copy()
        for one, two in np.argwhere(self.near).tolist():
            now(SHORT)
            found[one, two] = self._plain(self.boxes[one], self.boxes[two]) is None
        return found

    def like(self, place: int, x: Point) -> list[Box]:
        """Return boxes of values of a signature that are no other to the query than x."""
        seen = tuple(x[axis] for axis in self.axes)
        return self.alike.get((place, seen), lambda: self._like(place, x))

    def _like(self, place: int, x: Point) -> list[Box]:
        read, one = set(self.axes), Box.at(x).sides
        whole = self.setting.domain.whole.sides
        pinned = Box.of(one[k] if k in read else side for k, side in enumerate(whole))
        every = (box & pinned for item in self.members[place] for box in item.boxes())
        return list(islice(filter(None, every), BOXES))

    def plain(self, one: int, two: int, x: Point, y: Point) -> tuple[Point, Point] | None:
        """Return a move of two signatures along no edge, the same to the query as that of x to y;
        None where none is seen.
        """
        return self._plain(self.like(one, x), self.like(two, y))

    def _plain(self, left: Sequence[Box], right: Sequence[Box]) -> tuple[Point, Point] | None:
        graph = self.setting.graph
        each = (graph.plain_between(a, b) for a, b in product(left, right))
        return next((ends for ends in each if ends is not None), None)

    def best_edge(
        self, arcs: Sequence[Arc], moves: Sequence[tuple[Point, Point]], secret: int
    ) -> tuple[Point, ...]:
        """Return an edge for the arc at `secret`: that with which the query changes most, of some;
        () where there is none.
        """
        one, two, _ = arcs[secret]
        rest: NDArray[np.float64] = np.zeros(self.rows.rows[one].shape[1])
        for place, ((a, b, times), (x, y)) in enumerate(zip(arcs, moves, strict=True)):
            if place != secret:
                rest += times * (self._row(b, y) - self._row(a, x))
        going, coming = self.rows.rows[one], self.rows.rows[two]
        spend(len(going) * coming.size * EDGE)
        sizes = np.array([self.rows.sizes(rest - row + coming) for row in going])
        for spot in np.argsort(-sizes, axis=None, kind="stable")[:MOST_TRIED].tolist():
            x, y = divmod(spot, len(coming))
            left = self.like(one, self.rows.values[one][x])
            edge = some_edge(self.setting.graph, left, self.like(two, self.rows.values[two][y]))
            if edge:
                return edge
        return self.edge(one, two)

    def _row(self, place: int, x: Point) -> NDArray[np.float64]:
        seen = tuple(x[axis] for axis in self.axes)
        return self._rows[place][seen]

    @cached_property
    def _rows(self) -> list[dict[tuple[int, ...], NDArray[np.float64]]]:
        """The row of each value that is used, by what the query sees of it."""
        return [
            {tuple(x[axis] for axis in self.axes): row for x, row in zip(*each, strict=True)}
            for each in zip(self.rows.values, self.rows.rows, strict=True)
        ]


def _some(setting: Setting, table: ClassTable, seed: int) -> list[ClassTable]:
    """Return the table, or where it is too large so many of its classes: that share facts, and that
    share values of attributes.

    An irreducible multiset over some of the classes is one over all.
    """
    if len(table.classes) <= MOST_CLASSES or table.effects.size > MOST_ENTRIES:
        return [table]
    rng = random.Random(seed)
    points = [each[0] for each in firsts(table.classes, 1)]
    found = [
        classes_together(table, MOST_CLASSES, seeds_along(setting, table, rng), rng),
        in_a_box(points, MOST_CLASSES, rng),
    ]
    classes = [tuple(table.classes[place] for place in places) for places in found]
    return [
        replace(table, classes=each, rows=table.rows[places])
        for each, places in zip(classes, found, strict=True)
    ]


def _values(
    question: Question, free: Setting, table: ClassTable, end: float | None
) -> list[list[Point]] | None:
    """Return values of each class with all rows that matter."""
    if question.query.separates:
        return [list(item.take(2)) for item in table.classes]
    return seen_values(free, question.query, table, end=end)


def _spread(values: Sequence[Point]) -> list[Point]:
    """Return a few values: the first and the last in order, and some between."""
    order = sorted(set(values))
    last = len(order) - 1
    return [order[place] for place in sorted({k * last // (SPREAD - 1) for k in range(SPREAD)})]


def _pairs(question: Question, found: _Classes, share: float) -> Iterator[Pair]:
    """Yield pairs that change the query by more than what is known."""
    any_answers = question.setting.scope == "any"
    if any_answers and is_mixed(question.reading) and not found.setting.graph.complete:
        yield from _short(question, found)
    basis = dependencies(found.effects)
    if len(basis) < 2:
        return
    near, size = found.near, question.setting.size
    if near is not None and not near.any():
        return
    given = question.setting.scope == "given"
    most = min(MOST_PLACED, size or MOST_PLACED) if given else MOST_RECORDS
    only = found.only if is_mixed(question.reading) else None
    room = Room.of(found.effects, [fact.answer for fact in question.setting.equalities])
    begun = now()
    end = begun + share * (SECONDS if question.left is None else min(SECONDS, question.left / 2))
    placing = RandomValues(question, end)
    if given:
        with suppress(BlowproofError, TimeoutError, OverflowError):
            yield from _heavier(question, _fitted(question, end), placing)
    more = near is not None and is_mixed(question.reading)
    middle = (begun + end) / 2 if more else end
    squared = (False, True) if question.query.measure is L2_SQUARED else (False,)
    for number, each in enumerate(squared):
        valued = Valued(found.rows, near, most, only, room if given else None, squared=each)
        wide = [bool(half) for half in valued.half]
        share = 1 if number or len(squared) == 1 else IN_L1
        for frame in _heavy(question, basis, valued, begun + (middle - begun) * share):
            yield from _heavier(question, _made(question, found, frame, wide), placing)
    if more:
        free = Valued(found.rows, None, most, None, room if given else None, squared=squared[-1])
        wide = [bool(half) for half in free.half]
        for frame in _heavy(question, basis, free, end):
            yield from _heavier(question, _with_one_more(question, found, frame, wide), placing)


def dependencies(effects: NDArray[np.int64]) -> Sequence[Sequence[int]]:
    """Return a basis of the dependencies, of their lattice where its numbers are small."""
    basis = kernel([tuple(row) for row in effects.tolist()])
    if all(max(map(abs, vector)) == 1 for vector in basis):
        return basis
    rows = [[1] * len(effects), *effects.T.tolist()]
    try:
        return [[int(x) for x in each] for each in integer_kernel(rows, len(effects)).basis.T]
    except OverflowError:
        return basis


def _fitted(question: Question, end: float) -> Iterator[Pair]:
    """Yield moves of nearly all records, where numbers are given (see `fitted`)."""
    setting = question.setting
    table = class_table(setting, deadline=end)
    cells = beside(table, groups_of(setting))
    held = None if cells is None else held_in(cells, setting)
    answers = [fact.answer for fact in setting.equalities if fact.answer is not None]
    if cells is None or held is None or len(answers) < len(setting.equalities):
        return
    fits = fitting(cells, held, answers)
    if fits is None:
        return
    mixed = is_mixed(question.reading) and not setting.graph.complete
    edges = _edges_of(table, fits, setting) if mixed else iter([None])
    joined = _plainly(table, setting) if mixed else None
    for edge in islice(edges, MOST_EDGES):
        circuits = list(fits.circuits(edge, question.seed, end, joined))
        circuits.sort(key=lambda arcs: -sum(times for _, _, times in arcs))
        for arcs in circuits[:MOST_EDGES]:
            pair = _fitted_pair(question, table, arcs, end, mixed=mixed)
            if pair is not None:
                yield pair


def _edges_of(table: ClassTable, fits: Fitting, setting: Setting) -> Iterator[Branch]:
    """Yield labels of one class that an edge of G joins, of each group of classes first."""
    found = [_joined_labels(table, fits, group, setting) for group in fits.groups]
    for each in zip_longest(*found):
        yield from filter(None, each)


def _joined_labels(
    table: ClassTable, fits: Fitting, group: Group, setting: Setting
) -> Iterator[Branch]:
    home = group.homes[0]
    boxes = {
        kind: list(islice(table.classes[fits.at[home, kind]].boxes(), BOXES))
        for kind in group.kinds
    }
    for s, t in permutations(group.kinds, 2):
        if some_edge(setting.graph, boxes[s], boxes[t]):
            yield s, t


def _plainly(table: ClassTable, setting: Setting) -> Joined:
    """Return whether some move of two classes is along no edge of G, as far as is seen."""
    boxes: Kept = Kept()
    seen: Kept = Kept()

    def some(place: int) -> list[Box]:
        return list(islice(table.classes[place].boxes(), BOXES))

    def plain(one: int, two: int) -> bool:
        left, right = (boxes.get(place, partial(some, place)) for place in (one, two))
        return any(setting.graph.plain_between(a, b) for a, b in product(left, right))

    return lambda one, two: seen.get((one, two), partial(plain, one, two))


def _fitted_pair(
    question: Question, table: ClassTable, arcs: Sequence[Arc], end: float, *, mixed: bool
) -> Pair | None:
    """Return the moves of these arcs; `mixed`: the first is along an edge of G, and no other."""
    places = sorted({place for one, two, _ in arcs for place in (one, two)})
    classes = tuple(table.classes[place] for place in places)
    few = replace(table, classes=classes, rows=table.rows[places])
    found = _Classes.among(question, few, end, len(places))
    if found is None:
        return None
    spots = {tuple(row): spot for spot, row in enumerate(found.effects.tolist())}
    at = {place: spots[tuple(table.effects[place].tolist())] for place in places}
    arcs = [(at[one], at[two], times) for one, two, times in arcs]
    effects = np.array([found.effects[two] - found.effects[one] for one, two, _ in arcs])
    if not irreducible(effects, [times for _, _, times in arcs]):
        return None
    if not mixed:
        return _pair(arcs, best_values(found.rows, arcs))
    return _along_one_edge(question, found, arcs, 0) if found.edge(*arcs[0][:2]) else None


def _heavy(
    question: Question, basis: Sequence[Sequence[int]], valued: Valued, end: float
) -> Iterator[Frame]:
    """Yield frames, most of them heavier than those before."""
    best, tried, again = 0.0, 0, 0
    for frame in frames_walked(basis, valued, seed=question.seed, steps=STEPS, end=end):
        again = again + 1 if frame.worth == best else again * (frame.worth < best)
        if again > AGREED:
            return
        if frame.worth > best * (NEARLY if tried < MOST_TRIED else 1.0):
            best, tried = max(best, frame.worth), tried + 1
            yield frame


def _heavier(question: Question, pairs: Iterator[Pair], placing: RandomValues) -> Iterator[Pair]:
    """Yield those that change the query by more than what is known, put where they are wanted."""
    for pair in pairs:
        value = question.query.difference(pair.moves(question.reading))
        placed = placing(pair) if value > question.known()[0] else None
        if placed is not None:
            yield placed


def _short(question: Question, found: _Classes) -> Iterator[Pair]:
    """Yield one pair of two or three moves: a basis may take all the time that there is."""
    end = now() + (SECONDS if question.left is None else min(SECONDS, question.left / 8))
    placing, rng = RandomValues(question, end), random.Random(question.seed)
    table = class_table(found.setting, deadline=end)
    for pair in with_one_secret(found.setting, table, rng, end):
        if question.query.difference(pair.moves(question.reading)) > question.known()[0]:
            placed = placing(pair)
            if placed is not None:
                yield placed
                return


def _made(
    question: Question, found: _Classes, frame: Frame, wide: Sequence[bool]
) -> Iterator[Pair]:
    """Yield the moves of a frame, by the values that the query minds most."""
    arcs = arcs_of(frame.blocks, frame.vector, wide)
    effects = np.array([found.effects[two] - found.effects[one] for one, two, _ in arcs])
    if not arcs or not irreducible(effects, [times for _, _, times in arcs]):
        return
    if found.near is None or not is_mixed(question.reading):
        yield _pair(arcs, best_values(found.rows, arcs))
        return
    for place, longer in islice(shortcuts(arcs, found.near), MOST_EDGES):
        pair = _along_one_edge(question, found, longer, place)
        if pair is not None:
            yield pair


def _with_one_more(
    question: Question, found: _Classes, frame: Frame, wide: Sequence[bool]
) -> Iterator[Pair]:
    """Yield the moves of a frame along no edge, one of them round by an edge, or as many as leave a
    place for one along an edge.
    """
    arcs = arcs_of(frame.blocks, frame.vector, wide)
    effects = np.array([found.effects[two] - found.effects[one] for one, two, _ in arcs])
    if found.near is None or not arcs or not irreducible(effects, [times for _, _, times in arcs]):
        return
    circuit = Circuit(effects, [times for _, _, times in arcs])
    for round_about in islice(_round_about(found, circuit, arcs), MOST_EDGES):
        pair = _along_one_edge(question, found, round_about, 0)
        if pair is not None:
            yield pair
            return
    longer: dict[tuple[int, ...], list[Arc]] = {}
    for one, two in islice(np.argwhere(found.near).tolist(), MOST_JOINED):
        effect = tuple((found.effects[two] - found.effects[one]).tolist())
        if effect not in longer:
            times = circuit.with_one(effect) or []
            along = [(a, b, k) for (a, b, _), k in zip(arcs, times, strict=False) if k]
            longer[effect] = [(one, two, 1), *along] if along else []
    ordered = sorted(longer.values(), key=lambda each: -sum(times for _, _, times in each))
    for each in filter(None, ordered[:MOST_EDGES]):
        pair = _along_one_edge(question, found, each, 0)
        if pair is not None:
            yield pair


def _round_about(found: _Classes, circuit: Circuit, arcs: Sequence[Arc]) -> Iterator[list[Arc]]:
    """Yield the arcs with one record's move made in two, the first of which is along an edge."""
    assert found.near is not None
    joined = np.argwhere(found.near[[one for one, _, _ in arcs]])
    for place, stop in islice(joined.tolist(), MOST_JOINED):
        one, two, times = arcs[place]
        if stop in (one, two):
            continue
        if circuit.goes_round((found.effects[stop] - found.effects[one]).tolist(), place):
            rest = [
                arc for arc in (*arcs[:place], (one, two, times - 1), *arcs[place + 1 :]) if arc[2]
            ]
            yield [(one, stop, 1), (stop, two, 1), *rest]


def _pair(arcs: Sequence[Arc], moves: Sequence[tuple[Point, Point]]) -> Pair:
    """Return the pair in which the records of each arc make its move."""
    every = [move for (_, _, times), move in zip(arcs, moves, strict=True) for _ in range(times)]
    return Pair(before=tuple(x for x, _ in every), after=tuple(y for _, y in every))


def _along_one_edge(
    question: Question, found: _Classes, arcs: Sequence[Arc], secret: int
) -> Pair | None:
    """Return moves of which that at `secret` is along an edge of G; None where others must be.

    Where the query minds every value, its moves leave values that no other one enters, if they can.
    """
    graph = found.setting.graph
    moves = best_values(found.rows, arcs)
    if question.query.separates:
        classes = [
            item
            for place in sorted({k for arc in arcs for k in arc[:2]})
            for item in found.members[place]
        ]
        apart = moves_apart(found.setting, _pair(arcs, moves), classes=classes)
        if apart is not None:
            return apart
    for place, ((one, two, _), ends) in enumerate(zip(arcs, moves, strict=True)):
        if place != secret and graph.is_edge(*ends):
            others = product(found.rows.values[one], found.rows.values[two])
            plain = found.plain(one, two, *ends) or next(
                (each for each in others if not graph.is_edge(*each)), None
            )
            if plain is None:
                return None
            moves[place] = plain
    if not graph.is_edge(*moves[secret]):
        x, y = found.best_edge(arcs, moves, secret)
        moves[secret] = x, y
    return _pair(arcs, moves)
