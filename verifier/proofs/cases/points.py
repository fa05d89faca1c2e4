"""Points that the rows of a case allow, or the rows that contradict each other (HiGHS).

The solver's numbers only guide the search: a contradiction is rounded to whole multiples of rows,
which is checked exactly; a point is where the next case distinction is looked for.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from math import lcm

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog

from blowproof.verifier.kernel.document import Rejected
from blowproof.verifier.proofs.cases.state import Branch, State

__all__ = ["Array", "Contradiction", "Points"]

Array = NDArray[np.float64]
Contradiction = tuple[int, list[tuple[int, int]]]
"""How often the goal, and how often each row (a negative multiple: its upper limit)."""

DENOMINATORS = (1, 2, 3, 4, 6, 12, 60, 720)
FINE = (1_000, 100_000, 10_000_000)


class Points:
    """Solves the rows of cases of one search."""

    def __init__(self, state: State) -> None:
        self.state = state
        self.width = len(state.root.low)
        self._dense: list[Array] = []

    def row(self, place: int) -> Array:
        """Return a row's coefficients."""
        while len(self._dense) <= place:
            self._dense.append(self.dense(self.state.rows[len(self._dense)]))
        return self._dense[place]

    def dense(self, terms: Iterable[tuple[int, int]]) -> Array:
        """Return a form's coefficients."""
        found = np.zeros(self.width)
        for variable, times in terms:
            found[variable] = times
        return found

    def solve(self, case: Branch, costs: Array) -> Array | Contradiction | None:
        """Return a cheapest point of the case's rows, or how they contradict each other.

        None where the solver sees a contradiction that no rounding of its numbers proves.
        """
        signs, places, matrix, least = self._rows(case)
        box = list(zip(case.low, case.high, strict=True))
        found = linprog(costs, A_ub=-matrix, b_ub=-least, bounds=box, method="highs")
        if found.status == 0:
            return np.asarray(found.x)
        elastic = np.hstack([-matrix, -np.eye(len(least))])
        ones = np.concatenate([np.zeros(self.width), np.ones(len(least))])
        found = linprog(
            ones,
            A_ub=elastic,
            b_ub=-least,
            bounds=[*box, *[(0, None)] * len(least)],
            method="highs",
        )
        if found.status != 0:
            return None
        weights = -np.asarray(found.ineqlin.marginals)
        return self._rounded(case, signs, places, weights)

    def _rows(self, case: Branch) -> tuple[list[int], list[int], Array, Array]:
        """Return the rows as `matrix @ x >= least`; the goal comes first, where it is one."""
        signs, places = list[int](), list[int]()
        rows, least = list[Array](), list[float]()
        if case.least is not None:
            signs, places = [1], [-1]
            rows, least = [self.dense(case.goal.items())], [float(case.least)]
        for place, (low, high) in case.limits.items():
            for sign, limit in ((1, low), (-1, high)):
                if limit is not None:
                    signs.append(sign)
                    places.append(place)
                    rows.append(sign * self.row(place))
                    least.append(float(sign * limit))
        return signs, places, np.vstack(rows), np.asarray(least)

    def _rounded(
        self, case: Branch, signs: Sequence[int], places: Sequence[int], weights: Array
    ) -> Contradiction | None:
        """Return whole multiples near the solver's that are a leaf."""
        used = [k for k in range(len(weights)) if weights[k] > 1e-7]
        for multiples in _whole([float(weights[k]) for k in used]):
            goal = sum(m for m, k in zip(multiples, used, strict=True) if places[k] < 0)
            rows = [
                (places[k], signs[k] * m)
                for m, k in zip(multiples, used, strict=True)
                if m and places[k] >= 0
            ]
            try:
                self.state.leaf(case, goal, rows)
            except Rejected:
                continue
            return goal, rows
        return None


def _whole(weights: Sequence[float]) -> list[list[int]]:
    """Return whole numbers in nearly the same ratios, simplest first."""
    if not weights:
        return []
    tries = []
    for bottom in DENOMINATORS:
        scaled = [weight * bottom for weight in weights]
        if all(abs(x - round(x)) < 1e-6 * bottom for x in scaled):
            tries.append([round(x) for x in scaled])
    largest = max(weights)
    for limit in FINE:
        exact = [Fraction(weight / largest).limit_denominator(limit) for weight in weights]
        bottom = lcm(*(x.denominator for x in exact))
        if bottom < 10**60:
            tries.append([int(x * bottom) for x in exact])
        tries.append([round(weight / largest * limit) for weight in weights])
    return tries
