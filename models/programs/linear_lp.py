"""Linear programs in whole numbers of any size: the simplex method without rounding.

The tableau holds integers over one common denominator, and every pivot divides exactly (the
fraction-free elimination of Edmonds and Bareiss), so that a vertex, an optimum, "infeasible" and
"unbounded" are exact. It is meant for few rows and large numbers, where solvers in floating point
or 64 bits have nothing to say.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import isqrt, prod
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from blowproof.models.base.clock import now

__all__ = ["Inequality", "Vertex", "maximum", "subdeterminants"]

MOST_ENTRIES = 400_000
"""Larger tableaus are refused: each entry is a Python integer."""

PATIENCE = 60
"""Pivots by the largest coefficient; then by Bland's rule, which cannot cycle."""

Tableau = NDArray[np.object_]


class Inequality(NamedTuple):
    """The sum of coefficient times variable (by number) is <=, >= or = `bound`."""

    terms: Mapping[int, int]
    sense: Literal["<=", ">=", "="]
    bound: int


@dataclass(frozen=True, slots=True)
class Vertex:
    """The end of a linear program: a vertex and its value, or that there is none."""

    status: Literal["optimal", "infeasible", "unbounded"]
    point: tuple[Fraction, ...] = ()
    value: Fraction = Fraction(0)


def maximum(
    rows: Sequence[Inequality],
    goal: Mapping[int, int],
    count: int,
    *,
    deadline: float | None = None,
) -> Vertex:
    """Return an optimal vertex of max goal * x over the rows and x >= 0 (`count` variables).

    OverflowError for a tableau that is too large for this, TimeoutError past the deadline.

    >>> rows = [Inequality({0: 2, 1: 3}, "<=", 10**30), Inequality({0: 1, 1: -1}, "=", 1)]
    >>> found = maximum(rows, {1: 1}, 2)
    >>> found.status, found.value == Fraction(10**30 - 2, 5)
    ('optimal', True)
    """
    if (len(rows) + 1) * (count + 2 * len(rows) + 1) > MOST_ENTRIES:
        raise OverflowError(f"{len(rows)} rows and {count} variables are too many for exact sums")
    program = _Program(rows, count, deadline)
    if not program.feasible():
        return Vertex("infeasible")
    if not program.improve(goal):
        return Vertex("unbounded")
    point = program.vertex()[:count]
    value = sum((times * point[place] for place, times in goal.items()), start=Fraction(0))
    return Vertex("optimal", point, value)


class _Program:
    """A simplex tableau: row 0 is the goal, the last column the right-hand side."""

    def __init__(self, rows: Sequence[Inequality], count: int, deadline: float | None) -> None:
        self.deadline = deadline
        slacks = [place for place, row in enumerate(rows) if row.sense != "="]
        self.real = count + len(slacks)
        self.tableau: Tableau = np.zeros((len(rows) + 1, self.real + len(rows) + 1), dtype=object)
        self.denominator = 1
        self.basis: list[int] = []
        for place, row in enumerate(rows):
            self._add(place, row, count + slacks.index(place) if row.sense != "=" else None)

    def _add(self, place: int, row: Inequality, slack: int | None) -> None:
        line = self.tableau[place + 1]
        for column, times in row.terms.items():
            line[column] += times
        line[-1] = row.bound
        if slack is not None:
            line[slack] = 1 if row.sense == "<=" else -1
        if line[-1] < 0:
            line[:] = -line
        if slack is not None and line[slack] == 1:
            self.basis.append(slack)
        else:
            line[self.real + place] = 1
            self.basis.append(self.real + place)

    def feasible(self) -> bool:
        """Find a first vertex: the sum of what the rows lack is brought down to 0."""
        head = self.tableau[0]
        head[:] = 0
        head[self.real : -1] = 1
        for place, column in enumerate(self.basis):
            if column >= self.real:
                head[:] -= self.tableau[place + 1]
        self._optimise()
        if self.tableau[0, -1] != 0:
            return False
        self._without_artificial()
        return True

    def _without_artificial(self) -> None:
        """Take the artificial variables, all of them 0, out of the basis and the tableau."""
        kept = [0]
        for place in range(len(self.basis)):
            if self.basis[place] >= self.real:
                line = self.tableau[place + 1]
                columns = [column for column in range(self.real) if line[column]]
                if not columns:  # the row follows from others
                    continue
                if line[columns[0]] < 0:
                    line[:] = -line
                self._pivot(place + 1, columns[0])
            kept.append(place + 1)
        self.basis = [self.basis[place - 1] for place in kept[1:]]
        columns = [*range(self.real), self.tableau.shape[1] - 1]
        self.tableau = self.tableau[np.ix_(kept, columns)]

    def improve(self, goal: Mapping[int, int]) -> bool:
        """Go to the best vertex; False if there is no best one."""
        head = self.tableau[0]
        head[:] = 0
        for column, times in goal.items():
            head[column] = -times * self.denominator
        for place, column in enumerate(self.basis):
            times = goal.get(column, 0)
            if times:
                head[:] += times * self.tableau[place + 1]
        return self._optimise()

    def _optimise(self) -> bool:
        steps = 0
        while True:
            if self.deadline is not None and now() > self.deadline:
                raise TimeoutError
            head = self.tableau[0, : self.real]
            below = [column for column in range(self.real) if head[column] < 0]
            if not below:
                return True
            column = below[0] if steps > PATIENCE else min(below, key=lambda place: head[place])
            row = self._leaving(column)
            if row is None:
                return False
            self._pivot(row, column)
            steps += 1

    def _leaving(self, column: int) -> int | None:
        """Return the row whose variable reaches 0 first (Bland: the first variable of those)."""
        best: int | None = None
        for row in range(1, len(self.tableau)):
            entry = self.tableau[row, column]
            if entry <= 0:
                continue
            if best is None:
                best = row
                continue
            one = self.tableau[row, -1] * self.tableau[best, column]
            two = self.tableau[best, -1] * entry
            if one < two or (one == two and self.basis[row - 1] < self.basis[best - 1]):
                best = row
        return best

    def _pivot(self, row: int, column: int) -> None:
        line, factors = self.tableau[row].copy(), self.tableau[:, column].copy()
        pivot = line[column]
        self.tableau = (self.tableau * pivot - np.outer(factors, line)) // self.denominator
        self.tableau[row] = line
        self.basis[row - 1] = column
        self.denominator = pivot

    def vertex(self) -> tuple[Fraction, ...]:
        """Return the values of the variables."""
        values = [Fraction(0)] * self.real
        for row, column in enumerate(self.basis, 1):
            values[column] = Fraction(self.tableau[row, -1], self.denominator)
        return tuple(values)


def subdeterminants(rows: Iterable[Mapping[Any, int]]) -> int:
    """Return a bound on the absolute values of all subdeterminants of a matrix (at least 1).

    By Hadamard's inequality for its rows and for its columns, and by the sharper one for entries 0
    and 1 (after a row's sign is changed, where that helps).

    >>> subdeterminants([{0: 1, 1: 1}, {2: -1, 3: -1}])
    1
    >>> subdeterminants([{0: 1, 1: 1}, {1: 1, 2: 1}, {0: 1, 2: 1}])
    2
    """
    found = [dict(row) for row in rows if row]
    columns: dict[Any, int] = {}
    for row in found:
        for place, times in row.items():
            columns[place] = columns.get(place, 0) + times * times
    order = min(len(found), len(columns))
    by_row = sorted((max(1, sum(t * t for t in row.values())) for row in found), reverse=True)
    by_column = sorted((max(1, norm) for norm in columns.values()), reverse=True)
    bounds = [isqrt(prod(by_row[:order])), isqrt(prod(by_column[:order]))]
    if all(set(row.values()) in ({1}, {-1}) for row in found):
        bounds.append(isqrt((order + 1) ** (order + 1)) // 2**order + 1)
    return max(1, min(bounds))
