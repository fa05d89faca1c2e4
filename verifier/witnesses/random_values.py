"""Values drawn at random, for domains that facts cut into too many classes to list them.

Neighbour pairs are looked for among values that lie near one another: they differ on a few axes, so
few facts tell them apart. Under scope "given" the other records of D1 are looked for among many
values drawn from the whole domain, outside of what is known to be empty, and the records of the
data. What is found this way is checked; what is not found may exist all the same.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import islice, product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from blowproof.models import Area, BlowproofError, Box, BudgetError, LinearFact, Point, Setting
from blowproof.models.base.clock import now
from blowproof.models.domain.class_diagram import members
from blowproof.models.domain.lookup import Lookup
from blowproof.verifier.asked.answer import Pair
from blowproof.verifier.asked.question import Question
from blowproof.verifier.databases.fact_model import FactModel
from blowproof.verifier.limits.limit import real_limit, whole_limit
from blowproof.verifier.neighbours.check import check_pair
from blowproof.verifier.reductions.fewer_facts import known_empty
from blowproof.verifier.reductions.given_numbers import embed

__all__ = ["Drawing", "RandomValues"]

GRACE = real_limit(__name__, "GRACE")
AROUND = real_limit(__name__, "AROUND")
DRAWN = whole_limit(__name__, "DRAWN")
LARGEST = whole_limit(__name__, "LARGEST")
TRIES = whole_limit(__name__, "TRIES")
QUIET = whole_limit(__name__, "QUIET")
AXES = (3, 2, 4, 5, 6)
PLACES = whole_limit(__name__, "PLACES")
MOST_NEAR = whole_limit(__name__, "MOST_NEAR")
MOST_RECORDS = whole_limit(__name__, "MOST_RECORDS")
MOST_BOXES = whole_limit(__name__, "MOST_BOXES")
MOST_DISTINCT = whole_limit(__name__, "MOST_DISTINCT")


class Drawing:
    """Draws possible values of a setting, at the borders of its facts' regions.

    `areas`: what a query counts; every other set of near values has one in such an area.
    """

    def __init__(self, setting: Setting, seed: int = 0, areas: Sequence[Area] = ()) -> None:
        self.setting, self.rng = setting, random.Random(seed)
        self._seen = [box for area in areas[:MOST_BOXES] for box in area.boxes[:MOST_BOXES]]
        facts = (*setting.equalities, *setting.bounds)
        areas = [area for fact in facts for _, area in fact.terms]
        self._lookup = Lookup(setting.domain, [*areas, setting.impossible, *known_empty(setting)])
        self._counted = len(areas)
        self._round = 0
        self._places: list[list[int]] = []
        boxes = [box for area in (*areas, setting.impossible) for box in area.boxes] + self._seen
        for axis, side in enumerate(setting.domain.whole.sides):
            low, high = side.runs[0][0], side.runs[-1][1]
            starts = {low, min(low + 1, high - 1)}
            for run in {run for box in boxes for run in box.sides[axis].runs}:
                starts.update(place for end in run for place in (end, end + 1))
            self._places.append(sorted(place for place in starts if low <= place < high))

    def value(self, box: Box | None = None) -> Point | None:
        """Return a value that a record may hold, in this box; None where none is met."""
        places = self._places
        if box is not None:
            sides = zip(places, box.sides, strict=True)
            places = [[p for p in some if p in side] or [side.runs[0][0]] for some, side in sides]
        for _ in range(TRIES):
            point = tuple(map(self.rng.choice, places))
            if self._possible(point):
                return point
        return None

    def many(self, count: int) -> list[Point]:
        """Return different values, as many as are met, and those of the data among them."""
        found = dict.fromkeys(self._data())
        for _ in range(count):
            point = self.value()
            if point is None:
                break
            found[point] = None
        return list(found)

    def near(self) -> list[Point]:
        """Return values that differ on a few axes, in few of the facts' regions."""
        box = self.rng.choice(self._seen) if self._round % 2 and self._seen else None
        drawn = [point for _ in range(QUIET) if (point := self.value(box)) is not None]
        if not drawn:
            return []
        base = min(drawn, key=lambda point: self._lookup.areas(point).bit_count())
        size = min(AXES[self._round % len(AXES)], len(base))
        self._round += 1
        axes = self.rng.sample(range(len(base)), size)
        choices = []
        for axis, place in enumerate(base):
            others = self._places[axis] if axis in axes else []
            others = self.rng.sample(others, min(len(others), PLACES))
            choices.append(list(dict.fromkeys([place, *others])))
        return list(islice(filter(self._possible, product(*choices)), MOST_NEAR))

    def around(self, pair: Pair, points: Sequence[Point], seconds: float) -> Pair | None:
        """Return the pair in databases with the known numbers, of these values besides, or None.

        An integer program in floating point proposes the records that stay; that the numbers are
        right is seen in whole numbers (and by whoever checks the pair).
        """
        from scipy.optimize import Bounds, LinearConstraint, milp

        setting = self.setting
        ends = [end for fact in self._facts() for end in (fact.answer, fact.at_least, fact.at_most)]
        if any(end is not None and abs(end) > LARGEST for end in ends):
            return None
        columns = list(dict.fromkeys([*pair.before, *filter(self._possible, points)]))
        rows = self._rows(columns)
        change = self._rows(pair.after).sum(axis=1) - self._rows(pair.before).sum(axis=1)
        limits = []
        for fact, push in zip(self._facts(), change.tolist(), strict=True):
            low, high = _ends(fact)
            limits.append((max(low, low - push), min(high, high - push)))
        if setting.size is not None:
            rows = np.vstack([rows, np.ones((1, len(columns)), dtype=np.int64)])
            limits.append((setting.size, setting.size))
        held = Counter(pair.before)
        solved: Any = milp(
            np.zeros(len(columns)),
            constraints=LinearConstraint(rows, *zip(*limits, strict=True)) if limits else None,
            integrality=np.ones(len(columns), dtype=np.int64),
            bounds=Bounds([held[x] for x in columns], np.inf),
            options={"time_limit": seconds},
        )
        if solved.x is None:
            return None
        counts = [round(x) for x in solved.x]
        rest = {x: n - held[x] for x, n in zip(columns, counts, strict=True) if n > held[x]}
        return replace(pair, unchanged=tuple(sorted(rest.items())))

    def _facts(self) -> tuple[LinearFact, ...]:
        return (*self.setting.equalities, *self.setting.bounds)

    def _rows(self, points: Sequence[Point]) -> NDArray[np.int64]:
        """Return what a record at each point adds to each fact."""
        facts = self._facts()
        rows = np.zeros((len(facts), len(points)), dtype=np.int64)
        owners = [(row, times) for row, fact in enumerate(facts) for times, _ in fact.terms]
        for column, point in enumerate(points):
            for bit in members(self._lookup.areas(point) & ((1 << len(owners)) - 1)):
                row, times = owners[bit]
                rows[row, column] += times
        return rows

    def _possible(self, point: Point) -> bool:
        return not self._lookup.areas(point) >> self._counted

    def _data(self) -> Iterator[Point]:
        """Yield the values that records of the policy's data hold, where these are not many."""
        from blowproof.models.data.opening import open_data

        policy = self.setting.policy
        if policy.database.data is None or self.setting.scope == "any":
            return
        named = policy.database.data
        with (
            suppress(BlowproofError, OSError),
            open_data(named, policy.domain, policy.folder) as data,
        ):
            if data.size <= MOST_RECORDS:
                yield from islice(dict.fromkeys(data.records()), MOST_DISTINCT)


class RandomValues:
    """Checks pairs; under scope "given", in databases with the known numbers."""

    def __init__(self, question: Question, end: float) -> None:
        self.question, self.end = question, end
        self.setting = question.setting
        self.model: FactModel | None = None
        self.drawing: Drawing | None = None
        self.drawn: list[Point] = []
        if self.setting.scope == "given":
            try:
                self.model = FactModel.of(self.setting, deadline=end + GRACE)
            except BudgetError:
                self.drawing = Drawing(self.setting, question.seed)
                self.drawn = self.drawing.many(DRAWN)

    def __call__(self, pair: Pair) -> Pair | None:
        """Return the pair, with the records that stay, if it is one."""
        left = max(0.1, self.end - now())
        placed: Pair | None = pair
        if self.drawing is not None:
            placed = self.drawing.around(pair, self.drawn, min(left, AROUND))
        elif self.model is not None:
            placed = embed(self.setting, pair, time_limit=left, model=self.model)
        if placed is None:
            return None
        pair = placed
        reading = self.question.reading
        verdict = check_pair(self.setting, reading, pair, deadline=self.end + GRACE)
        # A circuit is minimal by a theorem, whether or not the checker has the time to see it.
        unsearched = verdict.minimality == "budget" and self.question.irreducible
        return pair if verdict or unsearched else None


def _ends(fact: LinearFact) -> tuple[float, float]:
    """Return the least and the greatest value of a fact's left-hand side."""
    low = fact.at_least if fact.answer is None else fact.answer
    high = fact.at_most if fact.answer is None else fact.answer
    return -np.inf if low is None else low, np.inf if high is None else high
