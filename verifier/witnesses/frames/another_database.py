"""Scope "given": two databases with the known numbers, and a part of what tells them apart.

A printed table that pins nearly everything down leaves no room for circuits that were found without
its numbers. But integer programs find two databases with the numbers that are far apart in what a
query sees, and halve what tells them apart until nothing can be left out.

*Statement.* Let equalities be the only facts besides impossible values, and G be complete (or
reading 3). Let h be the difference of two databases' histograms, over classes of values, which
conforms to no other: no whole h' with the signs of h, |h'| <= |h|, other than 0 and h, changes no
known number (nor n, in readings 1, 2 and 5). Then records that go from classes with h < 0 to
classes with h > 0, as many as h says, are a neighbour pair.

*Proof.* Moves that some of them make, and that change no known number, change the histogram by such
an h'. No record comes where another one goes, so that it is neither 0 nor h. QED

Whether there is such an h' is asked of the same solver, which is trusted for nothing: the pair is
checked as all are. Of h' and h - h' the one goes on that changes the query more: small parts go
first, so that what is left is large.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from blowproof.models import BlowproofError, Point
from blowproof.models.base.clock import now, spend
from blowproof.models.policy.readings import is_labelled
from blowproof.verifier.asked.answer import Answer, Pair
from blowproof.verifier.asked.question import Question
from blowproof.verifier.databases.value_classes import ClassTable, class_table
from blowproof.verifier.limits.limit import real_limit, whole_limit
from blowproof.verifier.theorems.known_counts import KnownCounts
from blowproof.verifier.theorems.values.seen_values import seen_values
from blowproof.verifier.witnesses.frames.worth import Arc, Rows, best_values

__all__ = ["another_database", "no_other_database"]

SECONDS = real_limit(__name__, "SECONDS")
ROUNDS = whole_limit(__name__, "ROUNDS")
MOST_CLASSES = whole_limit(__name__, "MOST_CLASSES")
MOST_ENTRIES = whole_limit(__name__, "MOST_ENTRIES")
LARGEST = whole_limit(__name__, "LARGEST")
NODES = whole_limit(__name__, "NODES")
PARTS = whole_limit(__name__, "PARTS")
SHORTEST = real_limit(__name__, "SHORTEST")
ENTRY = real_limit(__name__, "ENTRY")

Numbers = NDArray[np.int64]
Reals = NDArray[np.float64]


def no_other_database(question: Question) -> str:
    """Return why two databases are not looked for here, or ""."""
    setting = question.setting
    if setting.scope != "given" or question.reading == "markov":
        return "it is about the known numbers, and not for reading 4"
    if setting.clauses or setting.bounds or question.query.per_record:
        return "it speaks about equality counts"
    if is_labelled(question.reading) and not setting.graph.complete:
        return "some moves are no secret ones"
    return ""


def another_database(question: Question) -> Answer | None:
    """Tell of pairs that are heavier than what is known; return None, for they say all."""
    if question.known()[0] > 0:
        return None  # others have room for theirs
    try:
        found = _Known.of(question)
        if found is None:
            return None
        for number in range(ROUNDS):
            if number and now() > found.end:
                break
            pair = found.pair(random.Random(f"{question.seed} {number}"))
            value = 0 if pair is None else question.query.difference(pair.moves(question.reading))
            if value > question.known()[0]:
                question.teller("two databases")(value, None, pair)
    except (BlowproofError, TimeoutError, OverflowError):
        pass
    return None


@dataclass(frozen=True)
class _Known:
    """What the classes of values add to the known numbers, what these are, and what is asked."""

    labelled: bool
    facts: Numbers
    answers: Numbers
    rows: Rows
    end: float

    @staticmethod
    def of(question: Question) -> _Known | None:
        """Return it; None where there are too many classes, or a number is not known."""
        setting = question.setting
        end = now() + (SECONDS if question.left is None else min(SECONDS, question.left / 4))
        table: ClassTable = class_table(setting, deadline=end)
        known = KnownCounts(setting, table, size=setting.size, deadline=end)
        if not 1 < len(table.classes) <= MOST_CLASSES or known.rows.size > MOST_ENTRIES:
            return None
        if not known.usable or max(map(abs, known.answers)) >= LARGEST:
            return None
        if question.query.separates:
            values: list[list[Point]] | None = [list(item.take(2)) for item in table.classes]
        else:
            values = seen_values(setting, question.query, table, end=end)
        rows = None if values is None else Rows.of(question.query, values)
        if rows is None:
            return None
        labelled = is_labelled(question.reading)
        answers = np.array(known.answers, dtype=np.int64)
        return _Known(labelled, known.rows, answers, rows, end)

    def pair(self, rng: random.Random) -> Pair | None:
        """Return a pair that is far apart in some direction; None where none is met."""
        outputs = self.rows.rows[0].shape[1]
        signs = np.array([rng.choice((-1.0, 1.0)) for _ in range(outputs)])
        worth = np.array([float((rows @ signs).mean()) for rows in self.rows.rows])
        one, two = (self._solved(side * worth) for side in (1.0, -1.0))
        if one is None or two is None or (one == two).all():
            return None
        base, change = one, two - one
        for _ in range(PARTS):
            part = self._part(change, rng)
            if part is None:
                return self._made(base, change)
            if self._size(change - part) >= self._size(part):
                base, change = base + part, change - part
            else:
                change = part
        return None

    def _size(self, change: Numbers) -> float:
        """Return about how much the query changes."""
        middle = np.array([rows.mean(axis=0) for rows in self.rows.rows])
        return float(self.rows.sizes(change @ middle))

    def _part(self, change: Numbers, rng: random.Random) -> Numbers | None:
        """Return a small part that changes no known number; None where none is seen."""
        moving = np.flatnonzero(change)
        signed = self.facts[:, moving] * np.sign(change[moving])
        if self.labelled:
            signed = np.vstack([signed, np.sign(change[moving])])
        total = int(np.abs(change).sum())
        found = self._program(
            np.array([1 + rng.random() / 4 for _ in moving]),
            np.vstack([signed, np.ones((1, len(moving)), dtype=np.int64)]),
            np.array([*[0] * len(signed), 1]),
            np.array([*[0] * len(signed), total - 1]),
            np.abs(change[moving]),
        )
        if found is None:
            return None
        part = np.zeros_like(change)
        part[moving] = found * np.sign(change[moving])
        fits = not (self.facts @ part).any() and (np.abs(part) <= np.abs(change)).all()
        return part if fits and 0 < np.abs(part).sum() < total else None

    def _solved(self, worth: Reals) -> Numbers | None:
        """Return the histogram of a database with the known numbers that is worth least."""
        least = self.answers.astype(np.float64)
        found = self._program(worth, self.facts, least, least, None)
        if found is None or (self.facts @ found != self.answers).any() or (found < 0).any():
            return None
        return found

    def _program(
        self,
        worth: Reals,
        rows: Numbers,
        low: NDArray[Any],
        high: NDArray[Any],
        most: Numbers | None,
    ) -> Numbers | None:
        """Return whole numbers of least worth; None where the solver finds none in time."""
        from scipy.optimize import Bounds, LinearConstraint, milp

        left = self.end - now()
        spend(rows.size * ENTRY)
        solved: Any = milp(
            worth,
            constraints=LinearConstraint(rows, low, high),
            integrality=np.ones(len(worth), dtype=np.int64),
            bounds=Bounds(0, np.inf if most is None else most),
            options={"time_limit": max(left, SHORTEST), "node_limit": NODES},
        )
        if solved.x is None:
            return None
        found: Numbers = np.rint(solved.x).astype(np.int64)
        return found

    def _made(self, base: Numbers, change: Numbers) -> Pair | None:
        """Return the pair, its records at the values that the query minds most."""
        if not self.labelled:
            return self._unlabelled(base, change)
        leaving = [[c, -n] for c, n in enumerate(change.tolist()) if n < 0]
        coming = [[c, n] for c, n in enumerate(change.tolist()) if n > 0]
        arcs: list[Arc] = []
        while leaving and coming:
            (one, going), (two, room) = leaving[-1], coming[-1]
            times = min(going, room)
            arcs.append((one, two, times))
            leaving[-1][1] -= times
            coming[-1][1] -= times
            leaving, coming = ([item for item in side if item[1]] for side in (leaving, coming))
        moves = best_values(self.rows, arcs)
        every = [move for (_, _, n), move in zip(arcs, moves, strict=True) for _ in range(n)]
        stay = base + np.minimum(change, 0)
        return Pair(
            before=tuple(x for x, _ in every),
            after=tuple(y for _, y in every),
            unchanged=self._staying(stay),
        )

    def _unlabelled(self, base: Numbers, change: Numbers) -> Pair:
        first = [values[0] for values in self.rows.values]
        removed = [first[c] for c, n in enumerate(change.tolist()) for _ in range(max(-n, 0))]
        added = [first[c] for c, n in enumerate(change.tolist()) for _ in range(max(n, 0))]
        stay = self._staying(base + np.minimum(change, 0))
        return Pair(before=tuple(removed), after=tuple(added), unchanged=stay)

    def _staying(self, counts: Sequence[int] | Numbers) -> tuple[tuple[Point, int], ...]:
        held: Counter[Point] = Counter()
        for values, n in zip(self.rows.values, counts, strict=True):
            held.update({point: int(n) for point in islice(values, 1) if n})
        return tuple(sorted(held.items()))
