"""Cells and bounds beside them: a price for each move, and one for what rows of bounds change by.

*Statement.* As in `beside_bounds`, a pair being one irreducible part, whichever of some sets of
rows of bounds is kept with slack: R_1, ..., R_s, and L_i what `beside` says of R_i. Take numbers
alpha_j, one for each bound, and let W be the most that two values of a class of the base differ by
in g = f - sum alpha_j (row of bound j), f being one output. Let lambda_1, ..., lambda_s >= 0 add up
to W at least, and those with j in R_i to |alpha_j|, for each j (not where the facts of the base
determine row j). Then f changes by at most the sum of the lambda_i L_i.

*Proof.* Let M be how many moves the pair has, and r_j what row j changes by. With |r_j| slack moves
for each j in R_i they are an irreducible, so that M + (sum of |r_j| over R_i) <= L_i. The moves are
a circulation on the classes, M exchanges within them, which change g by M W at the most. So f
changes by at most M W + sum |alpha_j| |r_j|, and that is no more than the sum of lambda_i (M + sum
of |r_j| over R_i). What the base determines does not change at all. (Of k conformal parts none
makes a row rise that another makes fall: the same with k L_i.) QED

Known counts may be taken away from f like rows, for nothing, since they do not change. Which
numbers are best is a linear program, whose solution only proposes, as in `less_known`.

*Cumulative counts* change by the most, over signs, of what a sum of signed prefixes changes by: a
function h of the position on the axis that goes up or down by 1 with each step. Let some rows of
bounds and known counts be such that they see nothing but whether a position is above a cut. They
divide the axis into intervals of n_0, n_1, ... positions. Let n be the most of these. Then
lambda is enough for W = n - 1 if it is for |alpha_j| = n_k, where row j makes the cut that interval
k has on the side of a largest interval I (per unit that the row differs by at the cut).

*Proof.* h stays on I within some H of width n - 1. Go from I to either side. By taking a multiple
of the row that makes the cut away, all that is beyond it may be shifted. The next interval's values
begin 1 beside one in H, and span n_k - 1 <= n - 1 at the most; so they are no further out of H than
n_k, and a shift by so much at the most puts them into H. Hence W <= n - 1. QED
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from math import floor

import numpy as np

from blowproof.models import BlowproofError, Exact
from blowproof.models.base.numbers import magnitude, plain, total
from blowproof.models.norms import L1
from blowproof.models.stacks.stacked import is_histogram
from blowproof.verifier.asked.question import Question
from blowproof.verifier.databases.value_classes import ClassTable
from blowproof.verifier.limits.limit import whole_limit
from blowproof.verifier.theorems.values.seen_values import seen_values

__all__ = ["Kept", "by_prices"]

MOST_OUTPUTS = whole_limit(__name__, "MOST_OUTPUTS")
MOST_CUTS = whole_limit(__name__, "MOST_CUTS")
MOST_ROWS = whole_limit(__name__, "MOST_ROWS")
LARGEST = whole_limit(__name__, "LARGEST")
FINENESS = whole_limit(__name__, "FINENESS")

Kept = tuple[tuple[int, ...], int]
"""Rows of bounds (by place) that are kept with slack, and how many moves there are at the most."""
Ends = list[tuple[Exact, Exact]]
"""The least and the most that an output is on each class of the table."""


def by_prices(
    question: Question, table: ClassTable, home: Sequence[int], kept: Sequence[Kept], end: float
) -> Exact | None:
    """Return what no pair changes the query by; None where the theorem does not speak about it.

    `home`: of each class of the table its class of the base.
    """
    query = question.query
    axis = query.prefix_axis
    long = is_histogram(query) or (axis is None and query.longest_row > MOST_OUTPUTS)
    most_moves = max(most for _, most in kept)
    if query.measure is not L1 or long or table.rows.size > MOST_ROWS or most_moves > LARGEST:
        return None
    prices = _Prices(table, tuple(home), tuple(kept))
    try:
        if axis is not None:
            return _of_prefixes(prices, axis, question.setting.domain.attribute(axis).size)
        values = seen_values(question.setting, query, table, end=end)
    except (BlowproofError, TimeoutError, OverflowError):
        return None
    if values is None:
        return None
    rows = [[query.row(x) for x in points] for points in values]
    keys: set[Hashable] = {key for each in rows for row in each for key in row}
    if len(keys) > MOST_OUTPUTS:
        return None
    each_output: list[Exact] = []
    for key in keys:
        held = [[row.get(key, 0) for row in each] for each in rows]
        most = _one_output(prices, [(min(each), max(each)) for each in held])
        if most is None:
            return None
        each_output.append(most)
    return plain(total(each_output))


@dataclass(frozen=True)
class _Prices:
    """What a change is bounded by, once W and the alpha_j are chosen."""

    table: ClassTable
    home: tuple[int, ...]
    kept: tuple[Kept, ...]

    @property
    def bounds(self) -> int:
        return int(self.table.rows.shape[1]) - self.table.equalities

    def free(self, place: int) -> bool:
        """Whether the base determines the row of a bound."""
        row = self.table.rows[:, self.table.equalities + place].tolist()
        return len(set(zip(self.home, row, strict=True))) == 1 + max(self.home)

    def worth(
        self, width: Exact, alphas: dict[int, Exact], shares: Sequence[Exact]
    ) -> Exact | None:
        """Return the least sum of lambda_i L_i that is enough, lambda in these proportions."""
        needs: list[tuple[Exact, Exact]] = [(width, total(shares))]
        for place, alpha in alphas.items():
            held = (
                share for share, (rows, _) in zip(shares, self.kept, strict=True) if place in rows
            )
            if alpha and not self.free(place):
                needs.append((magnitude(alpha), total(held)))
        if any(need and not has for need, has in needs):
            return None
        times = max((Fraction(need) / has for need, has in needs if need), default=Fraction(0))
        each = (share * most for share, (_, most) in zip(shares, self.kept, strict=True))
        return plain(times * total(each))

    def least(self, width: Exact, alphas: dict[int, Exact]) -> Exact | None:
        """Return the least sum that is enough, by the shares that a linear program proposes."""
        from scipy.optimize import linprog

        held = [(place, magnitude(a)) for place, a in alphas.items() if a and not self.free(place)]
        rows = [[1.0] * len(self.kept)]
        rows += [[float(place in rows_of) for rows_of, _ in self.kept] for place, _ in held]
        needs = [float(width), *(float(a) for _, a in held)]
        costs = [float(most) for _, most in self.kept]
        solved = linprog(costs, A_ub=-np.array(rows), b_ub=-np.array(needs), method="highs")
        if solved.x is None:
            return None
        return self.worth(width, alphas, [_fraction(x) for x in solved.x.tolist()])


def _fraction(x: float) -> Fraction:
    return max(Fraction(0), Fraction(x).limit_denominator(FINENESS))


def _one_output(prices: _Prices, ends: Ends) -> Exact | None:
    """Return the bound for one output, by the numbers that a linear program proposes."""
    from scipy.optimize import linprog

    table, kept = prices.table, prices.kept
    facts, bounds, sets = table.equalities, prices.bounds, len(kept)
    scale = max((abs(float(x)) for both in ends for x in both), default=0.0)
    if not 0 < scale < 1e15:
        return None if scale else 0
    columns = table.rows.astype(np.float64)
    count = len(columns)
    lows, highs = (np.array([float(each[k]) for each in ends]) / scale for k in (0, 1))
    ones, none = np.ones((count, 1)), np.zeros((count, 1))
    # Variables: multiples of facts and rows, the least and the most of g, and the lambda.
    limits = [
        np.hstack([-columns, none, -ones, np.zeros((count, sets))]),
        np.hstack([columns, ones, none, np.zeros((count, sets))]),
        np.array([[*[0.0] * (facts + bounds), -1.0, 1.0, *[-1.0] * sets]]),
    ]
    above = [-highs, lows, np.zeros(1)]
    for place in range(bounds):
        if not prices.free(place):
            for sign in (1.0, -1.0):
                row = np.zeros(facts + bounds + 2 + sets)
                row[facts + place] = sign
                row[facts + bounds + 2 :] = [-float(place in rows) for rows, _ in kept]
                limits.append(row[None])
                above.append(np.zeros(1))
    solved = linprog(
        [*[0.0] * (facts + bounds + 2), *(float(most) for _, most in kept)],
        A_ub=np.vstack(limits),
        b_ub=np.concatenate(above),
        bounds=[(None, None)] * (facts + bounds + 2) + [(0, None)] * sets,
        method="highs",
    )
    if solved.x is None:
        return None
    found = solved.x.tolist()
    times = [Fraction(x * scale).limit_denominator(FINENESS) for x in found[: facts + bounds]]
    used = [place for place, number in enumerate(times) if number]
    taken = [sum(times[k] * row[k] for k in used) for row in table.rows.tolist()]
    low = min(one - less for (one, _), less in zip(ends, taken, strict=True))
    high = max(two - less for (_, two), less in zip(ends, taken, strict=True))
    alphas = {place: plain(times[facts + place]) for place in range(bounds)}
    worth = prices.worth(plain(Fraction(high - low)), alphas, [_fraction(x) for x in found[-sets:]])
    whole = all(isinstance(x, int) for both in ends for x in both)
    return floor(worth) if whole and worth is not None else worth


@dataclass(frozen=True)
class _Cut:
    """Positions above `after` count in a row, which differs by so many `units` there.

    `place`: of a bound; None for a known count.
    """

    after: int
    place: int | None
    units: int


def _of_prefixes(prices: _Prices, axis: int, size: int) -> Exact | None:
    """Return the bound for all prefixes of so many positions."""
    best: Exact | None = None
    cuts = list(_cuts(prices, axis))
    free = [cut for cut in cuts if cut.place is None or prices.free(cut.place)]
    priced = [cut for cut in cuts if cut not in free]
    for number in range(min(len(priced), MOST_CUTS) + 1):
        for some in combinations(priced, number):
            made = {cut.after: cut for cut in (*some, *free)}
            inner = sorted(made)
            sizes = [b - a for a, b in zip([-1, *inner], [*inner, size - 1], strict=True)]
            middle = sizes.index(max(sizes))
            alphas: dict[int, Exact] = {}
            for k, after in enumerate(inner):
                cut = made[after]
                beyond = sizes[k] if k < middle else sizes[k + 1]
                if cut.place is not None:
                    alphas[cut.place] = plain(Fraction(beyond, cut.units))
            worth = prices.least(sizes[middle] - 1, alphas)
            if worth is not None and (best is None or worth < best):
                best = worth
    return None if best is None else floor(best)


def _cuts(prices: _Prices, axis: int) -> Iterator[_Cut]:
    """Yield the rows that see nothing but whether a position is above a cut, one for each bound."""
    table = prices.table
    spans = []
    for item in table.classes:
        runs = [box.sides[axis].runs for box in item.boxes()]
        spans.append((min(each[0][0] for each in runs), max(each[-1][1] - 1 for each in runs)))
    for column in range(table.rows.shape[1]):
        row = table.rows[:, column].tolist()
        values = sorted(set(row))
        if len(values) != 2:
            continue
        first, second = (
            [span for span, value in zip(spans, row, strict=True) if value == one] for one in values
        )
        for below, above in ((first, second), (second, first)):
            after = max(high for _, high in below)
            if after < min(low for low, _ in above):
                place = column - table.equalities
                yield _Cut(after, None if place < 0 else place, values[1] - values[0])
