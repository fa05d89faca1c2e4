"""How many records a class of values can hold, and how many it need not exceed.

Facts are rows low <= sum of a_c h_c <= high over the counts h_c >= 0 of the classes. Some rows
bound counts at once (only non-negative coefficients, and a number above). Of the other classes:

* a sum of counts is unbounded above iff the rows have a ray along which it grows: d >= 0 with
  a d <= 0 where there is a number above, a d >= 0 where there is one below (and if there is a
  database at all, since all numbers are rational). That is a linear program, solved exactly;
* if there is a database, there is one within D (b + k + C): D bounds the subdeterminants of the
  rows, b the sum of the numbers' absolute values, k the records that clauses name, C the number of
  classes. For a vertex of the linear relaxation lies within D (b + k) by Cramer's rule, and a whole
  solution within C * D of it (Cook, Gerards, Schrijver and Tardos 1986, theorem 1). The same holds
  for one that is best for a bounded goal.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from blowproof.models import BudgetError
from blowproof.models.base.kept import cached_property
from blowproof.models.programs.linear_lp import Inequality, maximum, subdeterminants
from blowproof.verifier.limits.limit import whole_limit

__all__ = ["Room", "Row"]

USUAL = whole_limit(__name__, "USUAL")
MARGIN = whole_limit(__name__, "MARGIN")
LARGEST = whole_limit(__name__, "LARGEST")
SMALL_TIMES = whole_limit(__name__, "SMALL_TIMES")
SMALL_NUMBERS = whole_limit(__name__, "SMALL_NUMBERS")


class Row(NamedTuple):
    """A fact over classes: coefficients by class, the ends (None: no such end), and its name."""

    terms: Mapping[int, int]
    low: int | None
    high: int | None
    name: str


@dataclass(frozen=True)
class Room:
    """The rows of all facts over `classes` classes; clauses name `named` records."""

    rows: tuple[Row, ...]
    classes: int
    named: int

    @cached_property
    def proved(self) -> int:
        """A limit to each count that leaves a database, if there is one; with room for moves.

        The counts that single rows bound are taken as given, and the argument is about the others.
        """
        widest = max(self._caps.values(), default=0)
        return max(USUAL, widest, self._free_limit(0) + MARGIN)

    def records_for(self, moves: int) -> int:
        """Return a size that D1 need not exceed to have a D2 that differs in so many records.

        Let D2 be D1 with given moves (at most `moves` records come or go). Then D1 is a solution of
        the rows of the facts twice, for D1 and for D2, whose numbers differ by what the moves
        count; and it holds the records that go, which shifts numbers by as much again. Rows that
        come twice and rows of a single count leave the subdeterminants as they are.
        """
        free = self.classes - len(self._caps)
        return sum(self._caps.values()) + free * (self._free_limit(moves) + moves)

    def _free_limit(self, moves: int) -> int:
        """A limit to the counts that no single row bounds, where all others keep to theirs."""
        rest = self.classes - len(self._caps)
        if not rest:
            return 0
        matrix, numbers = [], 0
        for row in self.rows:
            free = {place: times for place, times in row.terms.items() if place not in self._caps}
            if free:
                matrix.append(free)
                caps = (abs(x) * self._caps[p] for p, x in row.terms.items() if p not in free)
                most = max(map(abs, row.terms.values()))
                numbers += _number(row) + sum(caps) + 2 * moves * most
        twice = 2 if moves else 1
        return subdeterminants(matrix) * (twice * numbers + self.named + rest)

    @cached_property
    def likely(self) -> int:
        """A limit that solvers like, where numbers are small, and then in all likelihood one."""
        return USUAL if self._small else self.proved

    @cached_property
    def whatever(self) -> int:
        """A limit that leaves a database if there is one, whatever facts are left out.

        Where facts are many and their numbers small, it is one in all likelihood.
        """
        matrix = (row.terms for row in self.rows)
        grown = subdeterminants(matrix) * (self._numbers + self.named + self.classes)
        return USUAL if self._small and grown > LARGEST else max(USUAL, grown)

    @cached_property
    def _small(self) -> bool:
        times = max((abs(x) for row in self.rows for x in row.terms.values()), default=0)
        return times <= SMALL_TIMES and self._numbers <= SMALL_NUMBERS

    @cached_property
    def _numbers(self) -> int:
        return sum(map(_number, self.rows))

    @cached_property
    def _caps(self) -> dict[int, int]:
        """The counts that a single row bounds."""
        found: dict[int, int] = {}
        for row in self.rows:
            for sign, end in ((1, row.high), (-1, None if row.low is None else -row.low)):
                if end is None or any(sign * times < 0 for times in row.terms.values()):
                    continue
                for place, times in row.terms.items():
                    cap = max(0, end) // (sign * times)
                    found[place] = min(cap, found.get(place, cap))
        return found

    def bounds(self, terms: Mapping[int, int]) -> bool:
        """Whether the facts bound a sum of counts from above (if there is a database)."""
        free = {place: times for place, times in terms.items() if place not in self._caps}
        if all(times <= 0 for times in free.values()):
            return True
        rows = list(self._rays())
        if not rows:
            return False
        columns = {
            place: number
            for number, place in enumerate(p for p in range(self.classes) if p not in self._caps)
        }
        program = [
            Inequality({columns[place]: x for place, x in row.items()}, "<=", 0) for row in rows
        ]
        program.append(Inequality(dict.fromkeys(columns.values(), 1), "<=", 1))
        goal = {columns[place]: times for place, times in free.items()}
        try:
            return maximum(program, goal, len(columns)).value <= 0
        except OverflowError as error:
            raise BudgetError(f"whether the facts bound a count: {error}") from error

    def _rays(self) -> Iterator[dict[int, int]]:
        """Yield rows a, over the classes that no single row bounds, with a d <= 0 for every ray."""
        for row in self.rows:
            free = {place: times for place, times in row.terms.items() if place not in self._caps}
            for sign, end in ((1, row.high), (-1, row.low)):
                if end is not None and any(sign * times > 0 for times in free.values()):
                    yield {place: sign * times for place, times in free.items()}


def _number(row: Row) -> int:
    return max(abs(row.low or 0), abs(row.high or 0))
