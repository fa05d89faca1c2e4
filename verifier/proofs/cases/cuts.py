"""The cuts that a search has found so far, and what each of them says in a case."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
from numpy.typing import NDArray

from blowproof.verifier.kernel.goal import Row, Terms
from blowproof.verifier.kernel.proofs.branching import Problem, conditions
from blowproof.verifier.limits.limit import whole_limit
from blowproof.verifier.proofs.cases.points import Array, Points
from blowproof.verifier.proofs.cases.program import NEAR, Group, Part, Plain, Sought, find_part
from blowproof.verifier.proofs.cases.state import Branch, State, negated

__all__ = ["FEW_CASES", "Cuts"]

BEYOND = 10**12
"""Stands for no limit."""
MANY = 10**6
"""Stands for the open cases of a cut that says nothing more."""
MOST_SUMS = whole_limit(__name__, "MOST_SUMS")
FEW_CASES = whole_limit(__name__, "FEW_CASES")

Vector = tuple[int, ...]


class Cuts:
    """The cuts of one search. `alike`: moves by effect and secrecy, which are interchangeable."""

    def __init__(self, state: State, points: Points) -> None:
        self.state, self.points = state, points
        self.problem: Problem = state.problem
        self.first = len(self.problem.cells)
        self.items: list[tuple[int, Part, Plain]] = []
        self.conditions: list[list[Row]] = []
        self._known: set[tuple[int, tuple[tuple[Group, int], ...], tuple[tuple[int, int], ...]]]
        self._known = set()
        self._forms: dict[Terms, int] = {}
        self._dense: list[Array] = []
        self._uses: list[int] = []
        self._least: list[int] = []
        self._starts: list[int] = []
        moves = self.problem.moves
        self.effects = [move.effect for move in moves]
        alike: dict[tuple[Vector, bool], list[int]] = defaultdict(list)
        for m, move in enumerate(moves):
            alike[self.effects[m], move.secret].append(m)
        self.alike = {key: tuple(group) for key, group in alike.items()}
        facts = range(self.problem.equalities + len(self.problem.limits))
        self.totals = [
            [points.dense(self.problem.total(fact, second=second)) for fact in facts]
            for second in (False, True)
        ]
        plain: dict[tuple[int, Vector], int] = {}
        for place, (source, target) in enumerate(self.problem.plain):
            effect = self.problem.effect((source, target))
            if any(effect):
                plain.setdefault((source, effect), place)
        self.plain = list(plain.values())

    # what the limits of a case say ---------------------------------------------------------------

    def limits(self, case: Branch, terms: Terms) -> tuple[int, int]:
        """Return between what a form lies in a case (BEYOND for no limit)."""
        low = high = 0
        for variable, times in terms:
            least, most = case.low[variable], case.high[variable]
            most = BEYOND if most is None else most
            low += times * (least if times > 0 else most)
            high += times * (most if times > 0 else least)
        negative = bool(terms) and terms[0][1] < 0
        row = negated(terms) if negative else terms
        one, two = case.limits.get(self.state.number.get(row, -1), (None, None))
        if negative:
            one, two = (None if end is None else -end for end in (two, one))
        return max(low, low if one is None else one), min(high, high if two is None else two)

    def open(self, case: Branch) -> NDArray[np.int64]:
        """Return how many cases of each cut are open; MANY where one of its conditions fails."""
        if not self.items:
            return np.zeros(0, dtype=np.int64)
        ends = [self.limits(case, terms) for terms in self._forms]
        low, high = (np.asarray(side)[self._uses] for side in zip(*ends, strict=True))
        least = np.asarray(self._least)
        still = np.add.reduceat((low < least).astype(np.int64), self._starts)
        failed = np.logical_or.reduceat(high < least, self._starts)
        return np.where(failed & (still > 0), MANY, still)

    def known(self, case: Branch, point: Array) -> tuple[int, int] | None:
        """Return the cut that excludes a point with the fewest open cases, and their number."""
        if not self.items:
            return None
        totals = (np.vstack(self._dense) @ point)[self._uses]
        beyond = totals > np.asarray(self._least) - 1 + NEAR
        excluded = np.logical_and.reduceat(beyond, self._starts)
        if not excluded.any():
            return None
        counts = np.where(excluded, self.open(case), MANY + 1)
        place = int(counts.argmin())
        return place, int(counts[place])

    # finding cuts --------------------------------------------------------------------------------

    def excluding(self, case: Branch, point: Array) -> tuple[int, int] | None:
        """Return the best cut that excludes the point, a new one if an integer program finds it."""
        if self.problem.widths is not None:
            return None
        whole = not self.problem.limits and all(move.secret for move in self.problem.moves)
        bases = (3, *((1,) if self.plain else ()), *(() if whole else (2,)))
        for base in bases:  # where `whole`, D2 without a part is D1 with the rest of it
            found = find_part(self.problem, self._sought(case, point, base))
            if found is not None:
                self._add(base, *found, point)
            best = self.known(case, point)
            if best is not None and best[1] <= FEW_CASES:
                return best
        return self.known(case, point)

    def _sought(self, case: Branch, point: Array, base: int) -> Sought:
        """Return where to look: the moves made at the point, by cell where others move plainly."""
        moves, first = self.problem.moves, self.first
        by_cell = base == 1 and bool(self.plain)
        made = point[first:]
        groups: dict[Group, None] = {}
        for m in np.flatnonzero(made > NEAR):
            group = self.alike[self.effects[m], moves[m].secret]
            if by_cell:
                group = tuple(k for k in group if moves[k].source == moves[m].source)
            groups[group] = None
        held = [float(value) for value in point[:first]]
        return Sought(
            base=base,
            groups=[
                (group, float(sum(made[m] for m in group)), self._sure(case, group))
                for group in groups
            ],
            plain=[p for p in self.plain if by_cell and held[self.problem.plain[p][0]] > NEAR],
            held=held,
            totals=[float(row @ point) for row in self.totals[base == 2]],
            secret=float(self.points.dense(self.problem.secret()) @ point),
            made=float(sum(made)),
        )

    def _sure(self, case: Branch, group: Group) -> int:
        return self.limits(case, tuple((self.first + m, 1) for m in group))[0]

    def _add(self, base: int, part: Part, plain: Plain, point: Array | None) -> None:
        """Add a cut, its groups as wide as they may be while all its cases exclude the point."""
        for candidate in (self._widened(part, plain), part):
            key = (base, tuple(candidate), tuple(plain))
            if key in self._known:
                return
            others = [(self.problem.plain[p], times) for p, times in plain]
            found = conditions(self.problem, base, candidate, others)
            if point is None or all(
                self.points.dense(terms) @ point > least - 1 + NEAR for terms, least in found
            ):
                self._known.add(key)
                self._starts.append(len(self._uses))
                for terms, least in found:
                    if terms not in self._forms:
                        self._forms[terms] = len(self._dense)
                        self._dense.append(self.points.dense(terms))
                    self._uses.append(self._forms[terms])
                    self._least.append(least)
                self.items.append((base, candidate, plain))
                self.conditions.append(found)
                return

    def _widened(self, part: Part, plain: Plain) -> Part:
        """Put into each group all moves of its effect, but none from cells that move plainly."""
        moves = self.problem.moves
        moving = {self.problem.plain[p][0] for p, _ in plain}
        total: dict[Group, int] = defaultdict(int)
        for group, times in part:
            wide = group
            if moves[group[0]].source not in moving:
                every = self.alike[self.effects[group[0]], moves[group[0]].secret]
                wide = tuple(m for m in every if moves[m].source not in moving)
            total[wide] += times
        return sorted(total.items())

    def closing(self, case: Branch) -> None:
        """Add the cuts that a single further move would complete.

        Where some records surely move, and another move together with a part of them has no effect,
        that part and the move are a cut.
        """
        if self.problem.widths is not None:
            return
        sure = [
            (effect, group, self._sure(case, group))
            for (effect, _), group in self.alike.items()
            if any(effect)
        ]
        sums = _sums([(effect, times) for effect, _, times in sure])
        for place, (effect, _, times) in enumerate(sure):
            part = sums.get(tuple(-x for x in effect))
            if part is None or not any(part) or part[place] < times:
                continue
            numbers = [k + (number == place) for number, k in enumerate(part)]
            entries = [(g, k) for (_, g, _), k in zip(sure, numbers, strict=True) if k]
            if any(self.problem.moves[g[0]].secret for g, _ in entries):
                self._add(3, entries, [], None)


def _sums(sure: list[tuple[Vector, int]]) -> dict[Vector, Vector]:
    """Return the sums of parts of the sure moves, each with a part; none if they are too many."""
    width = len(sure[0][0]) if sure else 0
    sums: dict[Vector, Vector] = {(0,) * width: (0,) * len(sure)}
    for place, (effect, times) in enumerate(sure):
        for _ in range(times):
            for total, part in list(sums.items()):
                more = tuple(a + b for a, b in zip(total, effect, strict=True))
                if more not in sums:
                    sums[more] = (*part[:place], part[place] + 1, *part[place + 1 :])
            if len(sums) > MOST_SUMS:
                return {}
    return sums
