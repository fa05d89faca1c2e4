"""The moves that lead from D1 to D2, by kind: what the histogram and the search engines work on.

Records with equal values are alike, so a pair of databases is, up to relabelling, a histogram of D1
and a number of records for each kind of move. In readings 1 and 2 a kind is (from, to); in readings
3 and 4 it adds a value (None, to) or removes one (from, None).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from math import lcm
from operator import neg, sub

from blowproof.models import BoundQuery, BudgetError, Exact, Move, Point, Setting
from blowproof.models.base.clock import now, spend
from blowproof.models.base.kept import Kept, cached_property
from blowproof.models.base.numbers import plain
from blowproof.models.policy.readings import Reading, is_labelled, is_mixed
from blowproof.verifier.asked.answer import Pair
from blowproof.verifier.limits.limit import real_limit, whole_limit
from blowproof.verifier.moves.edges_at_once import joined
from blowproof.verifier.moves.score import Score

__all__ = ["Kind", "Moves"]

Vector = tuple[int, ...]
MOST_VALUES = whole_limit(__name__, "MOST_VALUES")
MOST_JOINED = whole_limit(__name__, "MOST_JOINED")
MOST_ENTRIES = whole_limit(__name__, "MOST_ENTRIES")
MOST_CHANGES = whole_limit(__name__, "MOST_CHANGES")
ROW = real_limit(__name__, "ROW")
KIND = real_limit(__name__, "KIND")
NUMBER = real_limit(__name__, "NUMBER")


@dataclass(frozen=True, slots=True, eq=False)
class Kind:
    """One kind of move: what it does to the equalities, the bounds and the query (scaled).

    `size` is the size of the query's change under this move alone, in its norm, and `length` what
    adds up to a bound on several (see `Score`; in l1, linf and range they are the same).
    """

    before: Point | None
    after: Point | None
    secret: bool
    effect: Vector
    push: Vector
    change: Mapping[object, int]
    score: Score
    size: int
    length: int


@dataclass(frozen=True)
class Moves:
    """All kinds of moves over some values, under a reading; `seed` is for solvers.

    Listing the kinds past the deadline (a time of `now`) is a BudgetError.
    """

    setting: Setting
    query: BoundQuery
    reading: Reading
    values: tuple[Point, ...]
    seed: int = 0
    deadline: float | None = None
    kept: Kept = field(default_factory=Kept, init=False, repr=False, compare=False)

    @staticmethod
    def over(
        setting: Setting,
        query: BoundQuery,
        reading: Reading,
        values: tuple[Point, ...],
        *,
        seed: int = 0,
        deadline: float | None = None,
    ) -> Moves:
        """Return the moves over some values, those that the setting keeps where it has them."""
        return setting.kept.get(
            ("moves", query, reading, values, seed),
            lambda: Moves(setting, query, reading, values, seed, deadline),
        )

    @cached_property
    def row_scale(self) -> int:
        """The common denominator of the query's rows: engines work on scaled integers."""
        self._refuse_long_rows()
        rows = [self.query.row(point) for point in self.values]
        return lcm(*(number.denominator for row in rows for number in row.values()), 1)

    @cached_property
    def rows(self) -> dict[Point, dict[object, int]]:
        """The query's rows, scaled to integers."""
        scale = self.row_scale  # refuses long rows before one is made
        spend(len(self.values) * self.query.longest_row * ROW)
        return {
            point: {
                output: int(number * scale)
                for output, number in self.query.row(point).items()
                if number
            }
            for point in self.values
        }

    @cached_property
    def score(self) -> Score:
        """What scaled changes count."""
        outputs = dict.fromkeys(output for row in self.rows.values() for output in row)
        return Score.of(self.query, outputs, self.row_scale)

    @property
    def scale(self) -> int:
        """What sizes of scaled changes are to be divided by for the query's own."""
        return self.score.scale

    @cached_property
    def effects(self) -> dict[Point, Vector]:
        """What one record adds to each equality."""
        return {point: self.setting.effect(point) for point in self.values}

    @cached_property
    def pushes(self) -> dict[Point, Vector]:
        """What one record adds to each bound."""
        return {
            point: tuple(fact.coefficient(point) for fact in self.setting.bounds)
            for point in self.values
        }

    @cached_property
    def kinds(self) -> tuple[Kind, ...]:
        """Every kind of move that the reading allows (reading 2: secret ones only)."""
        most = MOST_JOINED if self.reading == "secret-moves" else MOST_VALUES
        if len(self.values) > most:
            raise BudgetError(
                f"the facts and the query tell {len(self.values)} values apart; moves between more "
                f"than {most} are too many\n  try: fewer facts, or a coarser query"
            )
        if not is_labelled(self.reading):
            spend(len(self.values) * KIND + sum(map(len, self.rows.values())) * NUMBER)
            ends = [(x, None) for x in self.values] + [(None, x) for x in self.values]
            return tuple(self._kind(before, after, True) for before, after in ends)
        edges = joined(self.setting.graph, self.values)
        moves = len(self.values) ** 2 if is_mixed(self.reading) else int(edges.sum())
        if self.query.longest_row * moves > MOST_CHANGES:
            self._refuse_length()
        result = []
        for place, x in enumerate(self.values):
            self._in_time()
            secret = edges[place].tolist()
            for other, y in enumerate(self.values[:place]):
                if secret[other] or is_mixed(self.reading):
                    result += [self._kind(x, y, secret[other]), self._kind(y, x, secret[other])]
                    spend(KIND + len(result[-1].change) * NUMBER)
        return tuple(result)

    def _refuse_long_rows(self) -> None:
        if self.query.longest_row * len(self.values) > MOST_ENTRIES:
            self._refuse_length()

    def _refuse_length(self) -> None:
        raise BudgetError(
            f"{self.query.name} has too many outputs to list them for {len(self.values)} values"
            "\n  try: a coarser attribute"
        )

    def _in_time(self) -> None:
        if self.deadline is not None and now() > self.deadline:
            raise BudgetError("no time was left to list the moves between the values")

    def _kind(self, before: Point | None, after: Point | None, secret: bool) -> Kind:
        change: dict[object, int] = {}
        if before is not None:
            change.update((output, -number) for output, number in self.rows[before].items())
        if after is not None:
            for output, number in self.rows[after].items():
                total = change.pop(output, 0) + number
                if total:
                    change[output] = total
        effect = _difference(self.effects, before, after, len(self.setting.equalities))
        push = _difference(self.pushes, before, after, len(self.setting.bounds))
        size = self.score.size(change)
        length = self.score.length(size)
        return Kind(before, after, secret, effect, push, change, self.score, size, length)

    def unscaled(self, value: int) -> Exact:
        """Return a scaled size as the exact number that it stands for."""
        return plain(Fraction(value, self.scale))

    def pair(self, counts: Mapping[Kind, int] | Counter[Kind], rest: Counter[Point]) -> Pair:
        """Return the databases: the moves with multiplicities, and the other records of D1."""
        moves = [(kind.before, kind.after) for kind, times in counts.items() for _ in range(times)]
        moves.sort(key=lambda move: (move[0] or (), move[1] or ()))
        return Pair(
            before=tuple(before for before, _ in moves if before is not None),
            after=tuple(after for _, after in moves if after is not None),
            unchanged=tuple(sorted((point, times) for point, times in rest.items() if times)),
        )

    def value(self, pair: Pair) -> Exact:
        """Return the query's change over a pair, by the query's own code."""
        return self.query.difference(
            [Move(before, after) for before, after, _ in pair.moves(self.reading)]
        )


def _difference(
    adds: Mapping[Point, Vector], before: Point | None, after: Point | None, count: int
) -> Vector:
    """Return what a move adds: a record that leaves takes away what one that comes brings."""
    if before is not None and after is not None:
        return tuple(map(sub, adds[after], adds[before]))
    if before is not None:
        return tuple(map(neg, adds[before]))
    return adds[after] if after is not None else (0,) * count
