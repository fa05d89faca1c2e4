"""Which distinction to make at a point that the rows allow."""

from __future__ import annotations

from collections.abc import Iterable
from math import ceil, floor, isqrt
from typing import Any

import numpy as np

from blowproof.verifier.kernel.goal import Terms, form, row
from blowproof.verifier.limits.limit import whole_limit
from blowproof.verifier.proofs.cases.cuts import FEW_CASES, Cuts
from blowproof.verifier.proofs.cases.points import Array, Points
from blowproof.verifier.proofs.cases.program import NEAR
from blowproof.verifier.proofs.cases.state import Branch, Case, State

__all__ = ["Chooser"]

SOME_CASES = whole_limit(__name__, "SOME_CASES")
MOST_DENSE = whole_limit(__name__, "MOST_DENSE")
AGAIN = whole_limit(__name__, "AGAIN")
LARGEST = whole_limit(__name__, "LARGEST")

Choice = tuple[str, Any, list[Case]]


class Chooser:
    """Chooses distinctions; every case of one excludes the point, so the search makes progress."""

    def __init__(self, state: State, points: Points) -> None:
        self.state, self.points = state, points
        self.cuts = Cuts(state, points)
        problem = state.problem
        first, width = len(problem.cells), len(state.root.low)
        self.costs = np.where(np.arange(width) < first, 0.0, 1.0)
        self.forms = [form((first + m, 1) for m in group) for group in self.cuts.alike.values()]
        self.dense = np.vstack([np.zeros((0, width)), *map(points.dense, self.forms)])
        facts = problem.equalities
        effects = [effect[:facts] for effect, _ in self.cuts.alike]
        most = max((abs(x) for effect in effects for x in effect), default=0)
        self.effects = np.asarray(effects, dtype=np.int64 if most <= LARGEST else object)
        self.effects = self.effects.reshape(len(effects), facts)
        units = np.eye(facts, dtype=np.int64)
        both = [s * a + t * b for a in units for b in units for s in (1, -1) for t in (1, -1)]
        ways = [way for way in (*units, *-units, *both) if way.any()]
        self.functionals = np.asarray(ways, dtype=np.int64).reshape(len(ways), facts).T
        self.known = self._known()
        goal = state.goal  # squares: how far an output goes that does not reach the goal alone
        ends = [isqrt((goal.least - 1) // weight) for weight in goal.weights]
        self.far = [0 if output in self.known else far for output, far in enumerate(ends)]

    def distinguish(self, case: Branch, point: Array) -> Choice | None:
        """Return a distinction that excludes the point; None: it is a pair that nothing refutes."""
        secret = form(self.state.problem.secret())
        fewest = int(np.ceil(self.points.dense(secret) @ point - NEAR))
        if self.cuts.limits(case, secret)[0] < fewest:
            return _split(secret, fewest - 1)
        told = self._begun(case) or self._of_output(case, point, self.known)
        if told is not None:
            return told
        cut = self.cuts.known(case, point)
        if cut is None or cut[1] > FEW_CASES:
            cut = self.cuts.excluding(case, point)
        if cut is not None and cut[1] <= FEW_CASES:
            return self.cut(cut[0])
        aimed = self._aimed(case, point)
        if aimed is not None:
            return _split(*aimed)
        if cut is not None and cut[1] <= SOME_CASES:
            return self.cut(cut[0])
        told = self._of_output(case, point, self.state.outputs)
        fraction = self._fraction(point)
        few = self.state.problem.widths is not None  # at most four moves: then they are told first
        if told is not None and not (few and fraction):
            return told
        if fraction is not None:
            return _split(*fraction)
        return None if cut is None else self.cut(cut[0])

    def cut(self, number: int) -> Choice:
        """Return a cut's cases."""
        found = self.cuts.conditions[number]
        cases: list[Case] = [
            ([*found[:k], row(terms, least - 1, -1)], None)
            for k, (terms, least) in enumerate(found)
        ]
        return "cut", number, cases

    def _aimed(self, case: Branch, point: Array) -> tuple[Terms, int] | None:
        """Return whether one more move is made, of few that can undo what is surely done.

        If y.s > 0 for the sum s of what is surely done, some other move has y.d < 0. The y with the
        fewest such moves is taken, and of these the move that the point makes most.
        """
        ends = [self.cuts.limits(case, terms) for terms in self.forms]
        sure = np.asarray([low for low, _ in ends], dtype=np.int64)
        able = np.asarray([high > low for low, high in ends])
        total = sure @ self.effects
        if not total.any():
            return None
        down = ((self.effects @ self.functionals) < 0) & able[:, None]
        sizes = down.sum(axis=0) + AGAIN * (down & (sure > 0)[:, None]).sum(axis=0)
        sizes = np.where(total @ self.functionals > 0, sizes, np.iinfo(np.int64).max)
        extra = np.where(down[:, int(sizes.argmin())], self.dense @ point - sure, -1.0)
        place = int(extra.argmax())
        return (self.forms[place], int(sure[place])) if extra[place] > NEAR else None

    def _known(self) -> list[int]:
        """Return the outputs that the facts tell: they do not change, so one sign is impossible."""
        problem, first = self.state.problem, len(self.state.problem.cells)
        facts = [problem.total(fact, first=False) for fact in range(problem.equalities)]
        outputs = list(self.state.outputs.values())
        if not facts or not outputs or (len(facts) + len(outputs)) * len(self.costs) > MOST_DENSE:
            return []
        told = np.vstack([self.points.dense(terms) for terms in facts])[:, first:].T
        asked = np.vstack([self.points.dense(terms) for terms in outputs])[:, first:].T
        mixed = np.linalg.lstsq(told, asked, rcond=None)[0]
        off = np.abs(told @ mixed - asked).max(axis=0, initial=0.0)
        return [output for output, far in zip(self.state.outputs, off, strict=True) if far < NEAR]

    def _begun(self, case: Branch) -> Choice | None:
        """Return what the goal needs to be told in rows: the ways to reach it, or two ends of each
        output, beyond which it would reach the goal alone.
        """
        goal = self.state.goal
        if goal.measure.name in ("linf", "range"):
            return None if case.told else self._told(case, "reach")
        if not goal.measure.squared or case.least is not None:
            return None
        ends = _ends(case)
        for output, far in enumerate(self.far):
            low, high = ends.get(output, (None, None))
            if high is None:  # beyond, all others may be what they are
                return None if low is not None else self._told(case, "between", output, far)
            if low is None:
                return None if high < -far else self._told(case, "between", output, -far - 1)
        return None

    def _told(self, case: Branch, kind: str, *data: int) -> Choice:
        """Return what the kernel makes of an entry about outputs."""
        return kind, data, [*self.state.goal.of(case.told, kind, *data)]

    def _of_output(self, case: Branch, point: Array, outputs: Iterable[int]) -> Choice | None:
        """Return a distinction about the output whose change the goal's form exceeds the most."""
        if self.state.goal.measure.name == "l1":
            output = self._sign(case, point, outputs)
            return None if output is None else self._told(case, "sign", output)
        if not self.state.goal.measure.squared or case.least is None:
            return None
        found = self._off(case, point, outputs)
        return None if found is None else self._told(case, "between", *found)

    def _sign(self, case: Branch, point: Array, outputs: Iterable[int]) -> int | None:
        """Return which output's change the goal's form exceeds the most, if any does."""
        best, gap = None, NEAR
        for output in outputs:
            if output + 1 not in case.told and -output - 1 not in case.told:
                up, down = self._up_and_down(point, output)
                if min(up, down) > gap:
                    best, gap = output, min(up, down)
        return best

    def _off(self, case: Branch, point: Array, outputs: Iterable[int]) -> tuple[int, int] | None:
        """Return the output whose square the goal's row exceeds the most, and where to cut it."""
        best, gap = None, NEAR
        ends = _ends(case)
        for output in outputs:
            low, high = ends[output]
            if low == high:
                continue
            up, down = self._up_and_down(point, output)
            x = up - down
            row = (low + high) * x - low * high if low >= 0 or high <= 0 else high * up - low * down
            off = self.state.goal.weights[output] * (row - x * x)
            if off > gap:
                most = floor(x + NEAR) if x > -NEAR else ceil(x - NEAR) - 1
                best, gap = (output, min(max(most, low), high - 1)), off
        return best

    def _up_and_down(self, point: Array, output: int) -> tuple[float, float]:
        """Return how much an output rises and falls at a point."""
        terms = self.state.outputs[output]
        up = sum(number * point[v] for v, number in terms if number > 0)
        return float(up), float(-sum(number * point[v] for v, number in terms if number < 0))

    def _fraction(self, point: Array) -> tuple[Terms, int] | None:
        """Return the sum of like moves, or else the variable, that is furthest from whole."""
        singles = [((place, 1),) for place in range(len(point))]
        for forms, values in ((self.forms, self.dense @ point), (singles, point)):
            off = np.abs(values - np.round(values))
            if len(off) and off.max() > NEAR:
                place = int(off.argmax())
                return forms[place], int(np.floor(values[place]))
        return None


def _ends(case: Branch) -> dict[int, tuple[Any, Any]]:
    """Return between what each output is assumed to lie."""
    return {output: (low, high) for output, low, high in case.told}


def _split(terms: Terms, most: int) -> Choice:
    return "split", (terms, most), [([row(terms, most, -1)], None), ([row(terms, most + 1)], None)]
