"""Two cycles round cells, on which a quantity goes up and down: long pairs beside one known total.

For policies in which independent facts cut the values into cells (`beside`: people by county and
age), and one more fact adds up a quantity (how many doses were given), with secrets of any kind.

*Statement.* Readings 1, 2 and 5, equality facts and impossible values. A label of a value is what
the further fact counts in it, less the least of its cell. Let A be a simple cycle of moves round
some cells, along which labels grow by a > 0 in all, and B one round others, along which they fall
by b > 0. If a and b have no common divisor, b times A and a times B are irreducible. Let further L
be a move within one cell that lifts the label by s > 0, where b and s have no common divisor, and a
= b + s. Then L once, b - 1 times A and b + s - 1 times B are irreducible.

*Proof.* A multiset of moves has no effect iff it is a circulation on the cells whose labels sum to
0 (`beside`). A and B have no cell in common, and L begins and ends in one: so the circulations
below such a multiset are i A + j B + l L, and such a one has no effect iff i a + l s = j b. For l =
0 that asks for a multiple of b in i, hence all of the first multiset, and nothing of the second,
which has fewer. For l = 1, a = b + s: b divides s (i + 1), so i + 1, so i >= b - 1. QED

In readings 1 and 5 with another G, L along an edge and all other moves along none, or one of A's
moves along an edge, make a pair: exactly one move is secret (`reductions/complete_graph`).

Which records move is for the query to say: from each cell a record goes at one label, and another
comes at a label above or below. Those *turns* are taken that change the query most for what they
lift, such that the labels of each cycle come to what they should. Under scope "given" a cell loses
no more records than it has, and the rest must add up to what is known (one integer program).
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product
from math import gcd
from typing import NamedTuple

import numpy as np

from blowproof.models import BlowproofError, Exact, Point
from blowproof.models.base.clock import now, spend
from blowproof.models.policy.readings import is_mixed
from blowproof.verifier.asked.answer import Answer, Pair
from blowproof.verifier.asked.question import Question
from blowproof.verifier.databases.value_classes import class_table
from blowproof.verifier.limits.limit import real_limit, whole_limit
from blowproof.verifier.reductions.complete_graph import moves_apart
from blowproof.verifier.reductions.given_numbers import embed
from blowproof.verifier.theorems.beside import Beside, beside, groups_of, held_in
from blowproof.verifier.theorems.beside_pairs import two_of_each
from blowproof.verifier.theorems.simple_cycles import no_cycles

__all__ = ["no_turning_cycles", "turning_cycles"]

FEWEST = whole_limit(__name__, "FEWEST")
MOST_CELLS = whole_limit(__name__, "MOST_CELLS")
MOST_RECORDS = whole_limit(__name__, "MOST_RECORDS")
MOST_TRIED = whole_limit(__name__, "MOST_TRIED")
MOST_TURNS = whole_limit(__name__, "MOST_TURNS")
MOST_LABELS = whole_limit(__name__, "MOST_LABELS")
MOST_LOOPS = whole_limit(__name__, "MOST_LOOPS")
STEPS = whole_limit(__name__, "STEPS")
NEAR = real_limit(__name__, "NEAR")
SHORTEST = real_limit(__name__, "SHORTEST")
SECONDS = real_limit(__name__, "SECONDS")
PLACING = real_limit(__name__, "PLACING")
TURN = real_limit(__name__, "TURN")
ENTRY = real_limit(__name__, "ENTRY")


class Turn(NamedTuple):
    """A cell loses a record of one label, and gets one of another."""

    leaves: int
    enters: int

    @property
    def lifts(self) -> int:
        """By how much labels grow."""
        return self.enters - self.leaves


def no_turning_cycles(question: Question) -> str:
    """Return why no such pairs are looked for, or ""."""
    if why := no_cycles(question):
        return why
    if not is_mixed(question.reading) and not question.setting.graph.complete:
        return "in reading 2 every move is along an edge"
    return ""


def turning_cycles(question: Question) -> Answer | None:
    """Return the change of two such cycles, or None."""
    started = time.perf_counter()
    setting = question.setting
    if question.left is not None and question.left < SHORTEST:
        return None
    end = now() + (SECONDS if question.left is None else min(SECONDS, question.left / 3))
    try:
        found = beside(class_table(setting, deadline=end), groups_of(setting))
    except (BlowproofError, OverflowError):
        return None
    if found is None or len(found.further) != 1 or len(found.widths) != 1:
        return None
    if not FEWEST <= found.count <= MOST_CELLS:
        return None
    cells = _Cells(question, found, end)
    best: tuple[Exact, Pair | None] = (question.known()[0], None)
    for pair in cells.pairs():
        value = question.query.difference(pair.moves(question.reading))
        if value > best[0]:
            best = value, pair
    if best[1] is None:
        return None
    why = "two cycles round the cells, on which labels of one more fact rise and fall"
    return question.answer(best[0], None, why, witness=best[1], engine="turns", since=started)


@dataclass
class _Loop:
    """A move within a cell along an edge of G."""

    before: Point
    after: Point
    lifts: int


class _Cells:
    """The cells of the base, values of each label in them, and how many records they hold."""

    def __init__(self, question: Question, found: Beside, end: float) -> None:
        self.question, self.found, self.end = question, found, end
        self.values: list[dict[int, list[Point]]] = [{} for _ in range(found.count)]
        few = two_of_each(question, found.table, seen=True)
        for place, label, points in zip(found.home, found.labels[:, 0].tolist(), few, strict=True):
            self.values[place].setdefault(label, []).extend(points)
        self.width = found.widths[0]
        self.held = held_in(found, question.setting)
        self.graph = question.setting.graph
        self.known = self._in_all()
        self.label = {
            x: label for each in self.values for label, points in each.items() for x in points
        }
        outputs = {output for x in self._every() for output in question.query.row(x)}
        self.outputs = sorted(outputs, key=repr)
        self.order = {x: sum(map(float, question.query.row(x).values())) for x in self._every()}

    def _every(self) -> Iterator[Point]:
        return iter(self.label)

    def low(self, points: Sequence[Point]) -> Sequence[Point]:
        """Return values of a cell and label, first the one that a record should leave."""
        return sorted(points, key=self.order.__getitem__)

    def high(self, points: Sequence[Point]) -> Sequence[Point]:
        """Return values of a cell and label, first the one that a record should come to."""
        return sorted(points, key=self.order.__getitem__)[::-1]

    def pairs(self) -> Iterator[Pair]:
        """Yield pairs, one for each choice of turns, those worth most first."""
        loop = None if self.graph.complete else self._loop()
        sizes = self._sizes()
        for turns in self._choices():
            for times, cells in sizes:
                if now() > self.end:
                    return
                pair = self._pair(turns, times, cells, loop)
                if pair is not None:
                    yield pair
                    break

    def _sizes(self) -> list[tuple[int, list[int]]]:
        """Return how often a cell may be left, and the cells that hold so many."""
        turning = [cell for cell, values in enumerate(self.values) if len(values) > 1]
        size, held = self.question.setting.size, self.held
        if self.question.setting.scope != "given":
            most = min(self.width * len(turning) // 2, MOST_RECORDS // max(1, len(turning)))
            return [(times, turning) for part in (8, 7, 6, 4, 2) if (times := most * part // 8) > 1]
        if held is None or size is None:
            return []
        order = sorted(turning, key=lambda cell: (-held[cell], cell))
        sizes = []
        for times in sorted({held[cell] - 1 for cell in order if held[cell] > 2}):
            cells = [cell for cell in order if held[cell] > times]  # the loop takes one more
            most = min(len(cells), min(size, MOST_RECORDS) // times)
            sizes += [(times, cells[: most * part // 8]) for part in (8, 7, 6, 4)]
        sizes.sort(key=lambda each: -each[0] * len(each[1]))
        return [
            *sizes[: MOST_TRIED // 2],
            *sizes[MOST_TRIED // 2 :: max(1, len(sizes) // MOST_TRIED)],
        ]

    def _pair(
        self,
        turns: Callable[[int], tuple[Turn, Turn]],
        times: int,
        cells: Sequence[int],
        loop: _Loop | None,
    ) -> Pair | None:
        """Return two cycles round these cells, each of which is left so often at the most."""
        rings = _labels_of(times, 0 if loop is None else loop.lifts)
        before: list[Point] = [] if loop is None else [loop.before]
        after: list[Point] = [] if loop is None else [loop.after]
        for start, (label, often) in enumerate(rings):
            turned = self._turned(turns, cells[start::2], label)
            moves = None if turned is None else self._joined(turned, plain=loop is not None)
            if moves is None:
                return None
            for x, y in moves:
                before += [x] * often
                after += [y] * often
        found = Pair(before=tuple(before), after=tuple(after))
        setting, pair = self.question.setting, found
        if loop is None and not self.graph.complete:
            apart = moves_apart(setting, found, classes=self.found.table.classes)
            if apart is None:
                return None
            pair = apart
        if setting.scope == "any":
            return pair
        if not self._room(pair):
            return None
        try:
            return embed(setting, pair, time_limit=max(0.0, min(PLACING, self.end - now())))
        except BlowproofError:
            return None

    def _room(self, pair: Pair) -> bool:
        """Whether labels of the other records, from none to the most, can make up what is known."""
        size = self.question.setting.size
        if self.known is None or size is None:
            return False
        moved = sum(n * self.label.get(x, 0) for x, n in Counter(pair.before).items())
        return 0 <= self.known - moved <= (size - len(pair.before)) * self.width

    def _turned(
        self, turns: Callable[[int], tuple[Turn, Turn]], cells: Sequence[int], label: int
    ) -> list[tuple[int, Turn]] | None:
        """Return a turn for each of these cells, all together lifting labels by `label`."""
        chosen: list[tuple[int, Turn]] = []
        total = 0
        for number, cell in enumerate(cells, 1):
            up, down = (self._near(cell, turn) for turn in turns(cell))
            turn = up if total * len(cells) < label * number else down
            chosen.append((cell, turn))
            total += turn.lifts
        for number, (cell, turn) in enumerate(chosen):
            short = label - total
            if not short:
                return chosen
            steps = (
                (other.lifts - turn.lifts, other)
                for other in (Turn(x, y) for x, y in product(self.values[cell], repeat=2))
                if other.lifts
            )
            fits = [(abs(step), other) for step, other in steps if 0 < step * short <= short**2]
            if fits:
                other = max(fits)[1]
                chosen[number] = cell, other
                total += other.lifts - turn.lifts
        return chosen if total == label else None

    def _near(self, cell: int, turn: Turn) -> Turn:
        """Return the turn with the labels that the cell has."""
        labels = self.values[cell]
        if turn.leaves in labels and turn.enters in labels:
            return turn
        first, last = min(labels), max(labels)
        return Turn(first, last) if turn.lifts > 0 else Turn(last, first)

    def _joined(
        self, turned: Sequence[tuple[int, Turn]], *, plain: bool
    ) -> list[tuple[Point, Point]] | None:
        """Return the moves of a cycle round these cells; `plain`: along no edge."""
        if len(turned) < 2:
            return None
        left = list(turned)
        here = left.pop(0)
        first, moves = here, []
        while True:
            for number, there in enumerate(left or [first]):
                found = self._move(here, there, plain=plain)
                if found is not None:
                    moves.append(found)
                    if not left:
                        return moves
                    here = left.pop(number)
                    break
            else:
                return None

    def _move(
        self, here: tuple[int, Turn], there: tuple[int, Turn], *, plain: bool
    ) -> tuple[Point, Point] | None:
        (source, one), (target, two) = here, there
        ones = self.low(self.values[source][one.leaves])
        others = self.high(self.values[target][two.enters])
        moves = (
            (x, y) for x, y in product(ones, others) if not (plain and self.graph.is_edge(x, y))
        )
        return next(moves, None)

    def _loop(self) -> _Loop | None:
        """Return a move within a cell along an edge, which lifts its label as little as can be."""
        found: list[_Loop] = []
        for values in self.values[:MOST_LOOPS]:
            for (low, ones), (high, others) in product(sorted(values.items()), repeat=2):
                edges = ((x, y) for x in ones for y in others if self.graph.is_edge(x, y))
                edge = next(edges, None) if low < high else None
                if edge is not None:
                    found.append(_Loop(*edge, high - low))
            if any(loop.lifts == 1 for loop in found):
                break
        return min(found, key=lambda loop: loop.lifts, default=None)

    def _labels(self) -> list[int]:
        """Return a few labels that many cells have."""
        if self.width < MOST_LABELS:
            return list(range(self.width + 1))
        step = self.width // (MOST_LABELS - 1)
        middle = self._mean()
        near = range(max(0, middle - 1), min(self.width, middle + 1) + 1)
        return sorted({*range(0, self.width + 1, step), 1, self.width - 1, self.width, *near})

    def _in_all(self) -> int | None:
        """Return what labels of all records add up to, where it is known."""
        place, least, common = self.found.further[0]
        answer = self.question.setting.equalities[place].answer
        if self.held is None or answer is None:
            return None
        return (answer - sum(k * n for k, n in zip(least, self.held, strict=True))) // common

    def _mean(self) -> int:
        """Return the label that records have on average, or that in the middle."""
        size = self.question.setting.size
        return self.known // size if self.known is not None and size else self.width // 2

    def _choices(self) -> Iterator[Callable[[int], tuple[Turn, Turn]]]:
        """Yield how each cell may turn upwards, and downwards: what is worth most first."""
        labels = self._labels()
        ups = [Turn(low, high) for low, high in product(labels, repeat=2) if low < high]
        if len(self.outputs) == 1:
            yield self._priced([*ups, *(Turn(high, low) for low, high in ups)])
        wide = max(len(values) for values in self.values)
        full = [values for values in self.values if len(values) == wide]
        mean = self._mean()
        ranked: list[tuple[float, Turn, Turn]] = []
        for up, (low, high) in product(ups, repeat=2):
            spend(TURN)
            down = Turn(high, low)
            if {*up, *down} <= full[0].keys() and {*up, *down} <= full[-1].keys():
                rise, fall = up.lifts, -down.lifts
                off = abs((fall * up.leaves + rise * down.leaves) / (rise + fall) - mean)
                worth = self._worth(full[0], up, full[-1], down)
                ranked.append((worth - NEAR * off, up, down))
        ranked.sort(reverse=True)
        for _, up, down in ranked[:MOST_TURNS]:
            yield partial(_same, (up, down))

    def _worth(
        self, one: dict[int, list[Point]], up: Turn, two: dict[int, list[Point]], down: Turn
    ) -> float:
        """Return what two turns, which lift nothing together, change the query by for a move."""
        times = -down.lifts, up.lifts
        change: Counter[Point] = Counter()
        for values, turn, often in ((one, up, times[0]), (two, down, times[1])):
            change[self.low(values[turn.leaves])[0]] -= often
            change[self.high(values[turn.enters])[0]] += often
        norm = self.question.query.norm({x: count for x, count in change.items() if count})
        return float(norm) / sum(times)

    def _priced(self, turns: Sequence[Turn]) -> Callable[[int], tuple[Turn, Turn]]:
        """Return what changes the one output most, at a price for labels."""
        gains = np.full((len(self.values), len(turns)), -np.inf)
        lifts = np.array([turn.lifts for turn in turns])
        for cell, values in enumerate(self.values):
            rows = {label: self._ends(points) for label, points in values.items()}
            for number, (leaves, enters) in enumerate(turns):
                if leaves in rows and enters in rows:
                    gains[cell, number] = rows[enters][1] - rows[leaves][0]
        gains -= NEAR * np.array([abs(turn.leaves - self._mean()) for turn in turns])
        usable = np.isfinite(gains).any(axis=1)
        top = float(np.ptp(gains[np.isfinite(gains)])) if usable.any() else 0.0
        low, high = -top - 1, top + 1
        for _ in range(STEPS):
            price = (low + high) / 2
            spend(gains.size * ENTRY)
            best = np.argmax(gains[usable] - price * lifts, axis=1)
            low, high = (price, high) if lifts[best].sum() > 0 else (low, price)
        up, down = (np.argmax(gains - price * lifts, axis=1) for price in (low, high))
        return lambda cell: (turns[up[cell]], turns[down[cell]])

    def _ends(self, points: Sequence[Point]) -> tuple[float, float]:
        """Return the least and the largest row of the one output."""
        query, output = self.question.query, self.outputs[0]
        rows = [float(query.row(x).get(output, 0)) for x in points]
        return min(rows), max(rows)


def _same(turns: tuple[Turn, Turn], _cell: int) -> tuple[Turn, Turn]:
    return turns


def _labels_of(times: int, lifts: int) -> list[tuple[int, int]]:
    """Return the label of each of the two cycles, and how often it is taken (see the statement).

    No cell is left more often than so many times; `lifts`: what the move within a cell does, 0:
    there is none.

    >>> _labels_of(10, 0), _labels_of(10, 1), _labels_of(10, 2)
    ([(9, 10), (-10, 9)], [(11, 9), (-10, 10)], [(11, 8), (-9, 10)])
    """
    if not lifts:
        a = max(1, times - 1)
        return [(a, times), (-times, a)]
    b = max(1, times - lifts + 1)
    while gcd(b, lifts) > 1:
        b -= 1
    return [(b + lifts, b - 1), (-b, b + lifts - 1)]
