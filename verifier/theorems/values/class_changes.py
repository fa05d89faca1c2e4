"""What records of single classes change a query by, when each class exchanges one record.

Let D_c be what a query changes by when one record of class c goes and one comes: the differences of
the rows of two values of c (0 among them). Here is the largest norm of a sum of one element of each
D_c, or bounds on it. It is at most the sum of the largest norms (*apart*), and equal to it where
best elements can be chosen that nowhere have opposite signs. Besides,

    max |sum_c d_c| = max over signs t of sum_c (max over c of t.row - min over c of t.row),

which is tried for every t where there are few outputs, and else improved step by step: choose the
best elements for t, let t be the signs of their sum, and so on.
"""

from __future__ import annotations

import random
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from math import lcm
from typing import Any

import numpy as np
from numpy.typing import NDArray

from blowproof.models import BoundQuery, Exact, Point
from blowproof.models.base.clock import now
from blowproof.models.base.numbers import magnitude, plain
from blowproof.verifier.limits.limit import whole_limit

__all__ = ["Chosen", "Row", "best_changes", "distinct_rows", "stepped"]

Row = Mapping[Hashable, Exact]

FEW_OUTPUTS = whole_limit(__name__, "FEW_OUTPUTS")
MANY_VALUES = whole_limit(__name__, "MANY_VALUES")
MOST_ENTRIES = whole_limit(__name__, "MOST_ENTRIES")
STARTS = whole_limit(__name__, "STARTS")
SAFE = whole_limit(__name__, "SAFE")


@dataclass(frozen=True)
class Chosen:
    """One record goes and one comes in each of some classes: together they change `lower`.

    `upper`: no choice changes more. `pairs` has (goes, comes) for the classes where they differ.
    """

    lower: Exact
    upper: Exact
    pairs: tuple[tuple[Point, Point], ...]


def stepped(
    query: BoundQuery,
    spots: Sequence[Mapping[int, Point]],
    steps: Sequence[tuple[int, int]],
    upper: Exact,
) -> Chosen:
    """Return what the query changes by when every class makes its step along an axis.

    `spots`: for each class a value at each position that it has there.
    """
    pairs = tuple(
        (found[low], found[high])
        for found, (low, high) in zip(spots, steps, strict=True)
        if low != high
    )
    change: dict[Point, int] = {}
    for x, y in pairs:
        change[x] = change.get(x, 0) - 1
        change[y] = change.get(y, 0) + 1
    return Chosen(query.norm(change), upper, pairs)


def best_changes(
    query: BoundQuery, classes: Sequence[Sequence[Point]], *, end: float | None = None
) -> Chosen:
    """Return the best choice that is found; `classes` has values of each with all its rows.

    >>> from blowproof.models import Domain, Labels, Policy, parse_query
    >>> policy = Policy(domain=Domain(a=Labels(["x", "y"]), b=Labels(["1", "2", "3"])))
    >>> values = [[(0, 0), (0, 1)], [(1, 1), (1, 2)], [(0, 2), (1, 0)]]
    >>> found = best_changes(parse_query("marginal(b)", policy), values)
    >>> found.lower, found.upper  # each class alone could change 2
    (4, 4)
    """
    every = [distinct_rows(query, values) for values in classes]
    kinds = [rows for rows in every if len(rows) > 1]
    scale = lcm(*{it.denominator for rows in kinds for row, _ in rows for it in row.values()})
    looked = _looked(kinds, scale)
    upper = plain(sum((_widest(*item, scale) for item in zip(kinds, looked, strict=True)), start=0))
    lower, chosen = _greedy(looked, scale)
    if lower < upper and _small(kinds):
        signs = _Signs(kinds)
        if signs.fits:
            best, exact = signs.best(end)
            value = query.norm(_net(best))
            if value > lower:
                lower, chosen = value, best
            if exact:
                upper = lower
    return Chosen(plain(lower), upper, tuple(chosen))


def distinct_rows(query: BoundQuery, values: Sequence[Point]) -> list[tuple[Row, Point]]:
    """Return the different rows of some values, each with one of these."""
    found: dict[frozenset[tuple[Hashable, Exact]], tuple[Row, Point]] = {}
    for point in values:
        row = {key: value for key, value in query.row(point).items() if value}
        found.setdefault(frozenset(row.items()), (row, point))
    return list(found.values())


@dataclass(frozen=True)
class _Looked:
    """Rows of some values of a class, over the outputs that any of them is in, as whole numbers."""

    points: Sequence[Point]
    outputs: NDArray[np.int64]
    table: NDArray[Any]

    def widest(self) -> int:
        """Return the largest norm of a difference of two of the rows."""
        return max(int(abs(self.table - row).sum(axis=1).max()) for row in self.table)

    def best_beside(self, total: NDArray[Any]) -> tuple[int, int] | None:
        """Return (goes, comes) by which the norm of a total grows most, the wider of two alike.

        None where none makes it grow.
        """
        best, found = (0, 0), None
        before = abs(total).sum()
        for x, row in enumerate(self.table):
            steps = self.table - row
            gains = abs(total + steps).sum(axis=1) - before
            most = int(gains.max())
            if most < best[0]:
                continue
            norms = abs(steps).sum(axis=1) * (gains == most)
            y = int(norms.argmax())
            if (most, int(norms[y])) > best and most > 0:
                best, found = (most, int(norms[y])), (x, y)
        return found


def _looked(kinds: Sequence[Sequence[tuple[Row, Point]]], scale: int) -> list[_Looked]:
    """Return the rows of the values of each class, or of some of them, times `scale`.

    No sum of changes is larger than two rows of each class, the largest there is. Where that is too
    much for 64 bits, numbers have as many digits as they need.
    """
    some = [rows[:MANY_VALUES] for rows in kinds]
    most = max((sum(map(magnitude, row.values())) for rows in some for row, _ in rows), default=0)
    kind = np.int64 if 4 * int(most * scale) * (len(kinds) + 1) < SAFE else object
    numbers: dict[Hashable, int] = {}
    found = []
    for rows in some:
        places: dict[Hashable, int] = {}
        for row, _ in rows:
            for key in row:
                places.setdefault(key, len(places))
        table = np.zeros((len(rows), len(places)), dtype=kind)
        for number, (row, _) in enumerate(rows):
            for key, value in row.items():
                table[number, places[key]] = int(value * scale)
        own = [numbers.setdefault(key, len(numbers)) for key in places]
        points = [point for _, point in rows]
        found.append(_Looked(points, np.array(own, dtype=np.int64), table))
    return found


def _norm(one: Row, two: Row) -> Exact:
    keys = {**one, **two}
    return sum((magnitude(two.get(key, 0) - one.get(key, 0)) for key in keys), start=0)


def _widest(rows: Sequence[tuple[Row, Point]], looked: _Looked, scale: int) -> Exact:
    """Return a norm that no difference of two rows exceeds: the largest, where all are looked at.

    Else each output goes from its least to its most, or two rows are both of the largest norm.
    """
    if len(rows) <= MANY_VALUES:
        return Fraction(looked.widest(), scale)
    least: dict[Hashable, Exact] = {}
    most: dict[Hashable, Exact] = {}
    for row, _ in rows:
        for key, value in row.items():
            least[key] = min(least.get(key, 0), value)
            most[key] = max(most.get(key, 0), value)
    spans = sum((most[key] - least[key] for key in most), start=0)
    return min(spans, 2 * max(_norm({}, row) for row, _ in rows))


def _greedy(looked: Sequence[_Looked], scale: int) -> tuple[Exact, list[tuple[Point, Point]]]:
    """Choose in one class after the other what the sum so far is not against."""
    outputs = 1 + max((int(item.outputs.max(initial=-1)) for item in looked), default=-1)
    total = np.zeros(outputs, dtype=looked[0].table.dtype if looked else np.int64)
    chosen: list[tuple[Point, Point]] = []
    for item in looked:
        best = item.best_beside(total[item.outputs])
        if best is not None:
            x, y = best
            chosen.append((item.points[x], item.points[y]))
            total[item.outputs] += item.table[y] - item.table[x]
    return plain(Fraction(int(abs(total).sum()), scale)), chosen


def _net(chosen: Sequence[tuple[Point, Point]]) -> dict[Point, int]:
    change: dict[Point, int] = {}
    for x, y in chosen:
        change[x] = change.get(x, 0) - 1
        change[y] = change.get(y, 0) + 1
    return change


def _small(kinds: Sequence[Sequence[tuple[Row, Point]]]) -> bool:
    outputs = {key for rows in kinds for row, _ in rows for key in row}
    return len(outputs) * sum(map(len, kinds)) <= MOST_ENTRIES


class _Signs:
    """Choices by the signs of the outputs, in whole numbers that 64 bits hold."""

    def __init__(self, kinds: Sequence[Sequence[tuple[Row, Point]]]) -> None:
        outputs: dict[Hashable, int] = {}
        for rows in kinds:
            for row, _ in rows:
                for key in row:
                    outputs.setdefault(key, len(outputs))
        self.points = [[point for _, point in rows] for rows in kinds]
        every = [row for rows in kinds for row, _ in rows]
        scale = lcm(*{value.denominator for row in every for value in row.values()})
        most = max((magnitude(value) for row in every for value in row.values()), default=0)
        self.fits = int(most * scale) * (len(outputs) + 1) * (len(kinds) + 1) < SAFE
        self.starts = np.cumsum([0, *(len(rows) for rows in kinds)])
        self.rows: NDArray[np.int64] = np.zeros((len(every), len(outputs)), dtype=np.int64)
        if self.fits:
            for number, row in enumerate(every):
                for key, value in row.items():
                    self.rows[number, outputs[key]] = int(value * scale)

    def best(self, end: float | None) -> tuple[list[tuple[Point, Point]], bool]:
        """Return the best choice found, and whether there is none better."""
        outputs = self.rows.shape[1]
        exact = outputs <= FEW_OUTPUTS
        starts: Iterator[tuple[int, ...]]
        if exact:
            starts = product((1,), *[(1, -1)] * (outputs - 1)) if outputs else iter(())
        else:
            rng = random.Random(0)
            starts = (tuple(rng.choices((1, -1), k=outputs)) for _ in range(STARTS))
        best, value = [], -1
        for signs in starts:
            if end is not None and now() > end:
                exact = False
                break
            found, places = self._improved(np.array(signs, dtype=np.int64), once=exact)
            if found > value:
                value, best = found, places
        return [
            (self.points[c][x], self.points[c][y]) for c, (x, y) in enumerate(best) if x != y
        ], exact

    def _improved(
        self, signs: NDArray[np.int64], *, once: bool
    ) -> tuple[int, list[tuple[int, int]]]:
        value = -1
        places: list[tuple[int, int]] = []
        while True:
            chosen = []
            total = np.zeros(self.rows.shape[1], dtype=np.int64)
            worth = self.rows @ signs
            for low, high in zip(self.starts, self.starts[1:], strict=False):
                x, y = int(worth[low:high].argmin()), int(worth[low:high].argmax())
                chosen.append((x, y))
                total += self.rows[low + y] - self.rows[low + x]
            found = int(np.abs(total).sum())
            if found <= value:
                return value, places
            value, places = found, chosen
            if once:
                return value, places
            signs = np.where(total >= 0, 1, -1)
