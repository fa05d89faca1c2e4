"""Reading 4 where n is known: two records at the most go, and as many come.

*Statement.* Reading 4; let the equality facts of one entry of the policy count every record equally
often (a marginal, a partition, n itself). For classes s and t of values with one signature each,
let D_st be the most by which the rows of a value of s and one of t differ. Then S(f, P) is at most
the largest D_ss, and the largest

    min(D_su + D_tv, D_sv + D_tu)    over classes with s + t = u + v

as signatures (s = t, or s = u and t = v, among them).

*Proof.* The two databases hold equally many records, so as many come as go, in at most four cells,
each by 1: one and one, or two and two. What comes has in all the signatures of what goes. If one
comes and one goes they have one signature, and f changes by D_ss at the most. Else let values x, y
come, of s and t, and x', y' go, of u and v: f changes by (x - x') + (y - y'), and by (x - y') + (y
- x'), rows standing for values: by no more than both sums of sizes. Bounds and clauses only take
pairs away. QED

The four values that make the largest sum are tried as a pair.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import combinations_with_replacement, product

import numpy as np
from numpy.typing import NDArray

from blowproof.models import BlowproofError, Exact, Point, Setting
from blowproof.models.base.clock import now
from blowproof.models.norms import L1
from blowproof.models.stacks.stacked import is_histogram
from blowproof.verifier.asked.answer import Answer, Pair
from blowproof.verifier.asked.question import Question
from blowproof.verifier.databases.value_classes import ClassTable, class_table
from blowproof.verifier.limits.limit import real_limit, whole_limit
from blowproof.verifier.reductions.given_numbers import embed
from blowproof.verifier.theorems.beside import groups_of
from blowproof.verifier.theorems.values.seen_values import seen_values

__all__ = ["four_cells", "no_four_cells"]

SECONDS = real_limit(__name__, "SECONDS")
MOST_CLASSES = whole_limit(__name__, "MOST_CLASSES")
MOST_ROWS = whole_limit(__name__, "MOST_ROWS")
MOST_FOURS = whole_limit(__name__, "MOST_FOURS")
MOST_TRIED = whole_limit(__name__, "MOST_TRIED")

Signatures = NDArray[np.int64]
Four = tuple[tuple[int, int], tuple[int, int]]
"""Classes of what comes, and of what goes."""


def no_four_cells(question: Question) -> str:
    """Return why the theorem does not speak about a question, or ""."""
    if question.reading != "markov":
        return "it speaks about reading 4"
    if question.query.per_record or is_histogram(question.query):
        return "four cells change a histogram by four"
    return "" if question.query.measure is L1 else "it speaks about l1"


def four_cells(question: Question) -> Answer | None:
    """Return bounds on S(f, P); None where n is not seen to be known, or there is too much."""
    setting, query, started = question.setting, question.query, time.perf_counter()
    end = now() + (SECONDS if question.left is None else min(SECONDS, question.left / 4))
    try:
        table = class_table(setting, deadline=end)
        if not table.classes or not _counts_all(setting, table):
            return None
        seen = seen_values(setting, query, table, end=end)
        apart = None if seen is None else _Apart.of(question, table, seen, end)
        if apart is None:
            return None
        fours = list(_fours(apart.signatures))
    except (BlowproofError, TimeoutError, OverflowError):
        return None
    if len(fours) > MOST_FOURS:
        return None
    bounds = [(apart.together(four), four) for four in fours]
    alone = max(apart.most(s, s) for s in range(len(apart.signatures)))
    upper = max((bound for bound, _ in bounds), default=alone)
    upper = max(upper, alone)
    lower, pair = question.query.difference(()), None
    bounds.sort(key=lambda item: (-item[0], item[1]))
    for bound, four in bounds[:MOST_TRIED]:
        if bound <= lower or now() > end:
            break
        for comes, goes in apart.values(four):
            change = query.norm(_change(comes, goes))
            if change > lower:
                found = _placed(question, Pair(before=goes, after=comes))
                if found is not None:
                    lower, pair = change, found
    why = "n is known: two records at the most go, and as many come with the same facts"
    return question.answer(lower, upper, why, witness=pair, engine="four cells", since=started)


def _counts_all(setting: Setting, table: ClassTable) -> bool:
    """Whether the facts of one entry count every record equally often, so that n is known."""
    sums = (table.effects[:, group].sum(axis=1) for group in groups_of(setting))
    return any(total[0] != 0 and (total == total[0]).all() for total in sums)


def _fours(signatures: Signatures) -> Iterator[Four]:
    """Yield what two records can come for which two, as classes of one signature."""
    sums: defaultdict[bytes, list[tuple[int, int]]] = defaultdict(list)
    for s, t in combinations_with_replacement(range(len(signatures)), 2):
        sums[(signatures[s] + signatures[t]).tobytes()].append((s, t))
    for alike in sums.values():
        yield from combinations_with_replacement(alike, 2)


def _change(comes: Sequence[Point], goes: Sequence[Point]) -> dict[Point, int]:
    change: dict[Point, int] = defaultdict(int)
    for point in comes:
        change[point] += 1
    for point in goes:
        change[point] -= 1
    return {point: times for point, times in change.items() if times}


def _placed(question: Question, pair: Pair) -> Pair | None:
    """Return the pair in a database with the known numbers, if there is one."""
    if question.setting.clauses:
        return None
    if question.setting.scope == "any":
        return pair
    left = 2.0 if question.left is None else min(2.0, question.left / 4)
    try:
        return embed(question.setting, pair, time_limit=left)
    except BlowproofError:
        return None


class _Apart:
    """How far rows of two classes differ at the most, and values that do.

    Rows are numbered by what values hold where the query looks; `rows` has those of each class.
    """

    def __init__(
        self,
        signatures: Signatures,
        rows: list[dict[int, Point]],
        sizes: dict[tuple[int, int], Exact],
    ) -> None:
        self.signatures, self._rows, self._sizes = signatures, rows, sizes
        self._kinds = [frozenset(held) for held in rows]
        self._best: dict[tuple[frozenset[int], frozenset[int]], tuple[Exact, int, int]] = {}

    @staticmethod
    def of(
        question: Question, table: ClassTable, seen: Sequence[Sequence[Point]], end: float
    ) -> _Apart | None:
        """Return it for the classes of a table by signature; None where they, or rows, are many."""
        query = question.query
        axes = sorted(query.axes_read(question.setting.domain))
        places: dict[bytes, int] = {}
        rows: list[dict[int, Point]] = []
        numbers: dict[tuple[int, ...], int] = {}
        first: list[int] = []
        for number, values in enumerate(seen):
            key = table.effects[number].tobytes()
            if key not in places:
                places[key] = len(places)
                rows.append({})
                first.append(number)
            for point in values:
                place = numbers.setdefault(tuple(point[axis] for axis in axes), len(numbers))
                rows[places[key]].setdefault(place, point)
            if len(places) > MOST_CLASSES or len(numbers) > MOST_ROWS:
                return None
        points = {place: point for held in rows for place, point in held.items()}
        sizes: dict[tuple[int, int], Exact] = {}
        for i, x in points.items():
            if now() > end:
                return None
            for j, y in points.items():
                if i <= j:
                    sizes[i, j] = sizes[j, i] = query.norm({x: -1, y: 1}) if i < j else 0
        return _Apart(table.effects[first], rows, sizes)

    def _farthest(self, s: int, t: int) -> tuple[Exact, int, int]:
        key = self._kinds[s], self._kinds[t]
        if key not in self._best:
            ends = product(self._rows[s], self._rows[t])
            self._best[key] = max(((self._sizes[e], *e) for e in ends), key=lambda item: item[0])
        return self._best[key]

    def most(self, s: int, t: int) -> Exact:
        """Return D_st."""
        return self._farthest(s, t)[0]

    def together(self, four: Four) -> Exact:
        """Return what two records that come for two that go change by at the most."""
        (s, t), (u, v) = four
        return min(self.most(s, u) + self.most(t, v), self.most(s, v) + self.most(t, u))

    def values(self, four: Four) -> Iterator[tuple[tuple[Point, ...], tuple[Point, ...]]]:
        """Yield values that come and that go, each for the other that is farthest from it."""
        (s, t), (u, v) = four
        for a, b in ((u, v), (v, u)):
            ends, others = list(self._ends(s, a)), list(self._ends(t, b))
            for (come, go), (comes, goes) in product(ends, others):
                if len({come, comes, go, goes}) == 4:
                    yield (come, comes), (go, goes)

    def _ends(self, s: int, t: int) -> Iterator[tuple[Point, Point]]:
        """Yield values of two classes that are farthest apart; both ways within one class."""
        _, x, y = self._farthest(s, t)
        yield self._rows[s][x], self._rows[t][y]
        if x in self._rows[t] and y in self._rows[s]:
            yield self._rows[s][y], self._rows[t][x]
