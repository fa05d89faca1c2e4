"""How far apart the two ends of an edge can be: along one axis, and in a sum over several."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import product
from math import isqrt, prod
from typing import TYPE_CHECKING

from blowproof.models.base.errors import BudgetError
from blowproof.models.base.numbers import Exact
from blowproof.models.domain.domain import Domain
from blowproof.models.domain.regions import Box

if TYPE_CHECKING:
    from blowproof.models.secrets.offsets import OffsetGraph

__all__ = ["best_sum", "diameter", "widest_range"]

TRIALS = 300_000


def widest_range(gaps: Iterable[tuple[int, int]], size: int) -> int:
    """Return the largest d(size + 1 - d) over the differences d that lie in one of the gaps.

    >>> widest_range([(1, 2)], 10), widest_range([(0, 9)], 10), widest_range([(8, 9)], 10)
    (18, 30, 24)
    """
    middle = (size + 1) // 2
    choices = [min(max(low, middle), high) for low, high in gaps]
    return max((d * (size + 1 - d) for d in choices), default=0)


def diameter(
    domain: Domain, boxes: Sequence[Box], axes: Iterable[int], *, positions: bool = False
) -> Exact:
    """Return the largest l1 distance, on some axes, between two points of a union of boxes.

    sum_i |x_i - y_i| is the largest of sum_i s_i (x_i - y_i) over signs s; for each choice of signs
    x and y are chosen apart, at corners of boxes.
    """
    used = [axis for axis in axes if domain.attribute(axis).size > 1]
    if len(used) > 16:
        raise BudgetError(f"the l1 diameter of a cell over {len(used)} attributes is too much work")
    best: Exact = 0
    for rest in product((1, -1), repeat=max(0, len(used) - 1)):
        signs = (1, *rest)
        best = max(best, _width(domain, boxes, list(zip(used, signs, strict=False)), positions))
    return best


def _width(
    domain: Domain, boxes: Sequence[Box], signed: list[tuple[int, int]], positions: bool
) -> Exact:
    highs: list[Exact] = []
    lows: list[Exact] = []
    for box in boxes:
        high: Exact = 0
        low: Exact = 0
        for axis, sign in signed:
            runs = box.sides[axis].runs
            step = 1 if positions else domain.attribute(axis).step
            ends = sorted(sign * step * end for end in (runs[0][0], runs[-1][1] - 1))
            low, high = low + ends[0], high + ends[1]
        highs.append(high)
        lows.append(low)
    return max(highs) - min(lows)


def best_sum(graph: OffsetGraph, axes: Sequence[int]) -> Exact:
    """Return the largest sum of |coordinate changes| on some axes along one edge.

    If the charges of an edge are combined by their maximum, every axis takes its span. Otherwise it
    is a knapsack: an offset d on axis i is worth step_i * d and costs weight_i * d**power, within
    the bound. Off the line (attribute secrets) all axes cost the same, so the widest are taken. On
    the line with equal steps, only the total offset counts (`_most_steps`). With different steps,
    all offsets but the last are tried, up to a limit.
    """
    span = [graph.reach(axis) for axis in range(len(graph.axes))]
    step = [graph.domain.attribute(axis).step for axis in range(len(graph.axes))]
    used = [axis for axis in axes if span[axis]]
    if graph.together == "max":
        return sum((step[axis] * span[axis] for axis in used), start=0)
    if not any(graph.axes[axis].line for axis in used):
        widths = sorted((step[axis] * span[axis] for axis in used), reverse=True)
        return sum(widths[: graph.bound], start=0)
    weights = {graph.axes[axis].weight for axis in used}
    if len(weights) == 1:
        budget = graph.bound // weights.pop()
        power = graph.axes[used[0]].power
        return step[used[0]] * _most_steps([span[axis] for axis in used], budget, power)
    return _tried(graph, sorted(used, key=lambda axis: span[axis]), step)


def _most_steps(caps: Sequence[int], budget: int, power: int) -> int:
    """Return the largest sum of d_i <= caps_i with the sum of d_i**power within the budget.

    Squares: for a given total it is cheapest to level the offsets, as far as the caps allow.
    """
    if power == 1:
        return min(budget, sum(caps))
    total, spent = 0, 0
    for left, cap in zip(range(len(caps), 0, -1), sorted(caps), strict=True):
        level = isqrt((budget - spent) // left)
        if level < cap:  # the axes that are left share what is left: level each, or one more
            extra = (budget - spent - left * level * level) // (2 * level + 1)
            return total + left * level + min(left, extra)
        total, spent = total + cap, spent + cap * cap
    return total


def _tried(graph: OffsetGraph, used: Sequence[int], step: Sequence[Exact]) -> Exact:
    *others, last = used
    ranges = [range(graph.axes[axis].reach(graph.bound) + 1) for axis in others]
    if prod(len(choices) for choices in ranges) > TRIALS:
        raise BudgetError("the steps of the attributes differ, and there are too many to combine")
    best: Exact = Fraction(0)
    for offsets in product(*ranges):
        pairs = list(zip(others, offsets, strict=True))
        left = graph.bound - sum(graph.axes[axis].cost(d) for axis, d in pairs)
        if left >= 0:
            worth = sum((step[axis] * d for axis, d in pairs), start=Fraction(0))
            best = max(best, worth + step[last] * graph.axes[last].reach(left))
    return best
