"""The largest ratio of one secret pair and output, where no corner decides it: `narrowed`.

The ratio is sum A_F m_F / sum B_F m_F (see `families`), over weights f > 0. Three ways, in turn:

* *Corners*: families with large ratios that are corners give lower bounds, in the limit.
* *One variable*: where all exponents lie on one line, and A_F, B_F are fractions, `algebraic` has
  the largest value exactly.
* *Boxes*: else branch and bound. One weight of each record (`iid`: of all) is the largest, so 1,
  and the others lie in [0, 1]: a chart. Over a box each m_F lies between the products of the ends,
  and sum A_F m_F <= r sum B_F m_F for all of the box follows from the same sum with m_F at its
  upper end where A_F > r B_F, else at its lower end. Where several weights go to 0 at once, at
  speeds of their own, monomials compare in no order: such a corner of a box is blown up, z_i = s
  z_j and z_j = s z_i, with s in a box again, and common factors cancel. Floating point chooses the
  boxes; what they prove is summed again in fractions (`_holds`), and what fails counts for nothing.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import count, product
from math import gcd, prod

import numpy as np
from numpy.typing import NDArray

from blowproof.models import InternalError
from blowproof.models.base.kept import cached_property
from blowproof.verifier.limits.limit import real_limit, whole_limit
from blowproof.verifier.odds.base.algebraic import peaks
from blowproof.verifier.odds.base.answer import Factor
from blowproof.verifier.odds.families.families import PairAndOutput, Variable

__all__ = ["Boxes", "Found", "by_corners", "by_line"]

CORNERS = whole_limit(__name__, "CORNERS")
CHARTS = whole_limit(__name__, "CHARTS")

CLOSE = real_limit(__name__, "CLOSE")

SLACK = Fraction(1_000_001, 1_000_000)
"""By so much a bound of floating point is raised before it is summed in fractions."""
SMALL = Fraction(1, 8)

Weights = dict[Variable, Fraction]


@dataclass(frozen=True)
class Found:
    """What is known of one secret pair and output.

    `corner`: weights by which a limit reaches the lower bound; `belief`: weights that come near.
    """

    lower: Factor | None
    upper: Factor | None
    corner: dict[Variable, int] | None = None
    belief: Weights | None = None


def by_corners(question: PairAndOutput) -> Found:
    """Return the largest ratio of a corner; it is exact if no family has a larger one."""
    order = [n for n in question.order if question.tops[n][1]]
    families = question.families
    for place, n in enumerate(order[:CORNERS]):
        corner = families.corner(n)
        if corner is None:
            continue
        value = question.value(n)
        sure = place == 0 or question.ratios[n] == question.ratios[order[0]]
        high = question.most
        upper = value if sure else Factor.infinite() if high is None else Factor.number(high)
        return Found(value, upper, corner=corner)
    high = question.most
    return Found(None, Factor.infinite() if high is None else Factor.number(high))


# --- one variable --------------------------------------------------------------------------------


def by_line(question: PairAndOutput) -> Found | None:
    """Return the largest ratio where exponents lie on one line; None where they do not."""
    powers = question.families.powers
    if not question.exact or len(powers) < 2 or question.most is None:
        return None
    first = powers[0]
    way = next(tuple(a - b for a, b in zip(row, first, strict=True)) for row in powers[1:])
    common = gcd(*way)
    way = tuple(step // common for step in way)
    place = next(k for k, step in enumerate(way) if step)
    steps = []
    for row in powers:
        step, rest = divmod(row[place] - first[place], way[place])
        if rest or any(a - b != step * w for a, b, w in zip(row, first, way, strict=True)):
            return None
        steps.append(step)
    least = min(steps)
    tops = [Fraction(0)] * (max(steps) - least + 1)
    bottoms = list(tops)
    for n, step in enumerate(steps):
        tops[step - least] += question.tops[n][0]
        bottoms[step - least] += question.bottoms[n][0]
    return _highest(question, tops, bottoms, place, way[place])


def _highest(
    question: PairAndOutput,
    tops: Sequence[Fraction],
    bottoms: Sequence[Fraction],
    place: int,
    power: int,
) -> Found | None:
    """Return the largest of the limits and the peaks of a ratio in one variable."""
    ends = [(tops[k] / bottoms[k], k) for k in (0, -1) if bottoms[k]]
    found = peaks(tops, bottoms)
    best = max(found, key=lambda peak: peak.low, default=None)
    limit, at = max(ends, default=(Fraction(0), 0))
    if best is None or best.high <= limit:
        sign = 1 if at == 0 else -1
        variable = question.families.variables[place]
        corner = {variable: sign if power > 0 else -sign}
        return Found(Factor.number(limit), Factor.number(limit), corner=corner)
    if best.low < limit or any(p is not best and p.high > best.low for p in found):
        return None
    weight = best.place
    if abs(power) != 1:
        weight = Fraction(float(best.place) ** (1 / abs(power))).limit_denominator(10**9)
    weight = weight if power > 0 else 1 / weight
    belief = {question.families.variables[place]: weight}
    if best.exact is None:
        return Found(Factor.number(best.low), Factor.number(best.high), belief=belief)
    value = (
        Factor.number(best.exact) if isinstance(best.exact, Fraction) else Factor(root=best.exact)
    )
    return Found(value, value, belief=belief)


# --- boxes ---------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Box:
    """Part of a chart: powers of its variables by family, ends, and what its variables stand for.

    `back[i][k]`: the power of variable k in the chart's own variable i.
    """

    powers: NDArray[np.int64]
    low: tuple[Fraction, ...]
    high: tuple[Fraction, ...]
    back: NDArray[np.int64]

    @cached_property
    def ends(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The least and the largest value of each monomial, as floats."""
        one, two = (
            np.prod(np.array([float(x) for x in side]) ** self.powers, axis=1)
            if side
            else np.ones(len(self.powers))
            for side in (self.low, self.high)
        )
        return one, np.maximum(two, np.finfo(float).tiny)

    def middle(self) -> tuple[Fraction, ...]:
        """Return a point inside."""
        return tuple((a + b) / 2 for a, b in zip(self.low, self.high, strict=True))

    def parts(self) -> Iterator[Box]:
        """Yield boxes that make it up: halves along one variable, or the charts of a blow-up."""
        zeros = [k for k, end in enumerate(self.low) if not end]
        wide = [k for k in zeros if self.high[k] > SMALL]
        if wide:
            k = max(wide, key=lambda k: self.high[k])
            yield from self._cut(k, self.high[k] / 4)
            return
        pair = self._crossed(zeros)
        if pair is not None:
            i, j = pair
            yield self._blown(i, j)
            yield self._blown(j, i)
            return
        spread = np.ptp(self.powers, axis=0)

        def width(k: int) -> float:
            if not self.low[k]:
                return float(self.high[k]) * 8 * float(spread[k])
            return float((self.high[k] - self.low[k]) / self.high[k]) * float(spread[k])

        k = max(range(len(self.low)), key=width)
        at = (self.low[k] + self.high[k]) / 2 if self.low[k] else self.high[k] / 4
        yield from self._cut(k, at)

    def _cut(self, k: int, at: Fraction) -> Iterator[Box]:
        for low, high in ((self.low[k], at), (at, self.high[k])):
            yield replace(
                self,
                low=(*self.low[:k], low, *self.low[k + 1 :]),
                high=(*self.high[:k], high, *self.high[k + 1 :]),
            )

    def _crossed(self, zeros: Sequence[int]) -> tuple[int, int] | None:
        """Return two variables near 0 in which two of the largest monomials go opposite ways."""
        if len(zeros) < 2 or not self.powers[:, zeros].any(axis=1).all():
            return None  # some family weighs the same for all of them: it is the largest
        inside = np.unique(self.powers[:, zeros], axis=0)
        least = [
            row for row in inside
            if not ((inside <= row).all(axis=1) & (inside < row).any(axis=1)).any()
        ]  # fmt: skip
        if len(least) < 2:
            return None
        away = least[0] - least[1]
        return zeros[int(np.argmax(away))], zeros[int(np.argmin(away))]

    def _blown(self, i: int, j: int) -> Box:
        """Return the chart z_i = s z_j, where z_i / high_i <= z_j / high_j."""
        powers, back = self.powers.copy(), self.back.copy()
        powers[:, j] += powers[:, i]
        powers -= powers.min(axis=0)
        back[:, j] += back[:, i]
        high = list(self.high)
        high[i] = self.high[i] / self.high[j]
        return replace(self, powers=powers, back=back, high=tuple(high))


def _charts(question: PairAndOutput) -> Iterator[tuple[Box, list[Variable]]]:
    """Yield the charts, each with the variables that are not 1."""
    variables = question.families.variables
    powers = np.array(question.families.powers, dtype=np.int64)
    records = sorted({record for record, _ in variables})
    groups = [[k for k, (record, _) in enumerate(variables) if record == r] for r in records]
    if prod(map(len, groups)) > CHARTS:
        return
    for largest in product(*groups):
        kept = [k for k in range(len(variables)) if k not in largest]
        own = powers[:, kept]
        own = own - own.min(axis=0)
        size = len(kept)
        ends = (Fraction(0),) * size, (Fraction(1),) * size
        yield Box(own, *ends, np.eye(size, dtype=np.int64)), [variables[k] for k in kept]


class _Weighed:
    """One question's families in floating point, the largest ratio first."""

    def __init__(self, question: PairAndOutput) -> None:
        self.question = question
        self.order = [n for n in question.order if question.tops[n][1] or question.bottoms[n][1]]
        scale = max(high for _, high in (*question.tops, *question.bottoms)) or 1
        tops = [float(Fraction(question.tops[n][1], scale)) for n in self.order]
        bottoms = [float(Fraction(question.bottoms[n][0], scale)) for n in self.order]
        self.tops, self.bottoms = np.array(tops), np.array(bottoms)

    def bound(self, box: Box) -> float:
        """Return what the ratio is at most on a box, about: monomials from some one on are low."""
        low, high = (side[self.order] for side in box.ends)
        tops, bottoms = (
            np.cumsum(weights * high) + np.append(np.cumsum((weights * low)[::-1])[::-1][1:], 0.0)
            for weights in (self.tops, self.bottoms)
        )
        with np.errstate(divide="ignore", invalid="ignore"):
            ratios = np.where(tops > 0, tops / bottoms, 0.0)
        return float(np.max(ratios, initial=0.0))

    def at(self, box: Box, point: Sequence[Fraction]) -> float:
        """Return the ratio at a point of a box, about."""
        weights = np.prod(np.array([float(x) for x in point]) ** box.powers, axis=1)[self.order]
        top, bottom = float(np.sum(self.tops * weights)), float(np.sum(self.bottoms * weights))
        return top / bottom if bottom > 0 else 0.0


class Boxes:
    """Branch and bound over the boxes of all charts of some questions, the largest bound first."""

    def __init__(self, questions: Sequence[PairAndOutput], above: float) -> None:
        """Put the charts in the row; values up to `above` are of no interest."""
        self.above, self.best, self.number = above, above, count()
        self.at: tuple[PairAndOutput, Box, list[Variable], tuple[Fraction, ...]] | None = None
        self.uncharted: list[Fraction | None] = []
        """Bounds of questions that have too many charts, or a ratio without end."""
        self.open: list[tuple[float, int, _Weighed, Box, list[Variable]]] = []
        for question in questions:
            charts = list(_charts(question)) if question.most is not None else []
            if not charts:
                self.uncharted.append(question.most)
            weighed = _Weighed(question)
            for box, variables in charts:
                self._add(weighed, box, variables)

    def _add(self, weighed: _Weighed, box: Box, variables: list[Variable]) -> None:
        """Put a box in the row, and try its middle."""
        middle = box.middle()
        value = weighed.at(box, middle)
        if value > self.best:
            self.best, self.at = value, (weighed.question, box, variables, middle)
        entry = (-weighed.bound(box), next(self.number), weighed, box, variables)
        heapq.heappush(self.open, entry)

    def look(self, most: int) -> None:
        """Look into so many boxes, or until the largest bound is close to the best value."""
        for _ in range(most):
            if not self.open or -self.open[0][0] <= self.best * (1 + CLOSE):
                return
            _, _, weighed, box, variables = heapq.heappop(self.open)
            weighed.question.families.world.asked.in_time()
            for part in box.parts():
                self._add(weighed, part, variables)

    def belief(self) -> tuple[PairAndOutput, Weights] | None:
        """Return the best point as a belief of its question, if it is above what was known."""
        if self.at is None:
            return None
        question, box, variables, point = self.at
        weights = dict.fromkeys(question.families.variables, Fraction(1))
        for variable, row in zip(variables, box.back, strict=True):
            powers = (x ** int(n) for x, n in zip(point, row, strict=True))
            weights[variable] = prod(powers, start=Fraction(1))
        return question, weights

    def upper(self) -> Fraction | None:
        """Return what no belief exceeds, summed again in whole numbers (None: nothing is proved).

        It is at least `above`.
        """
        if None in self.uncharted:
            return None
        known = [Fraction(self.above), *(bound for bound in self.uncharted if bound is not None)]
        largest = -self.open[0][0] if self.open else 0.0
        if not np.isfinite(largest):
            return None
        bound = max(Fraction(largest) * SLACK, *known)
        holds = all(_holds(item[2].question, item[3], bound) for item in self.open)
        return bound if holds else None


def _holds(question: PairAndOutput, box: Box, most: Fraction) -> bool:
    """Whether no belief in a box has a larger ratio, in whole numbers alone.

    Ends of boxes are whole numbers over powers of two: 1, a fourth of an end at 0, means of two.
    """
    question.families.world.asked.in_time()
    largest = [int(k) for k in box.powers.max(axis=0)] if box.powers.size else []
    tables = [
        [_powers(end, k) for end, k in zip(ends, largest, strict=True)]
        for ends in (box.low, box.high)
    ]
    whole = sum(table[-1][1] for table in tables[1]) + sum(table[-1][1] for table in tables[0])
    total = 0
    for n, row in enumerate(box.powers):
        away = question.tops[n][1] * most.denominator - most.numerator * question.bottoms[n][0]
        number, halvings = away, 0
        for table, k in zip(tables[away > 0], row, strict=True):
            number *= table[k][0]
            halvings += table[k][1]
        total += number << (whole - halvings)
    return total <= 0


def _powers(end: Fraction, most: int) -> list[tuple[int, int]]:
    """Return the powers of n / 2^k, each as a whole number and how often it is halved."""
    halvings = end.denominator.bit_length() - 1
    if end.denominator != 1 << halvings:
        raise InternalError("a box ends at no fraction of a power of two")
    return [(end.numerator**k, halvings * k) for k in range(most + 1)]
