"""Rows of whole numbers, and what a pair does that reaches the goal, in each norm.

A row (terms, least) says that its terms sum to `least` or more. All variables are whole, and 0 or
more; an output's change x is a form in them, u - d, where u has its positive terms, d the others.
A *path* of a proof by cases notes what it assumes of the outputs (`Told`); the goal is then a row.

* `l1`: sum of |x|. An output whose sign is assumed counts with it, the others with u + d >= |x|.
* `l2-squared`: sum of w x^2, where every output is assumed to lie between two ends, low and high.
  If both have one sign (or one is 0), x^2 <= (low + high) x - low high: a square lies below its
  chord. Else x^2 <= high u - low d, for x >= 0 has x^2 <= high x <= high u, and x < 0 has
  x^2 <= -low |x| <= -low d.
* `linf` and `range` are told by cases (`reach`): some output rises or falls by the goal, or some
  two differ by it, one of which may be an output that stays.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping
from itertools import permutations
from math import gcd
from typing import Any

from .document import Budget, Rejected, want
from .measure import Measure

Terms = tuple[tuple[int, int], ...]
"""A linear form: (variable, coefficient), sorted by variable, no coefficient zero."""
Row = tuple[Terms, int]
Told = tuple[Any, ...]
"""What a path assumes of outputs. `l1`: number + 1 for a rise, -number - 1 for a fall. Squares:
(number, low, high), None for no end; the last one of an output counts. Else 0 for `reach`.
"""
OPEN = (None, None)


def form(terms: Iterable[tuple[int, int]], times: int = 1) -> Terms:
    """Return a linear form: equal variables added up, zeros left out, sorted."""
    total: Counter[int] = Counter()
    for variable, number in terms:
        total[variable] += times * number
    return tuple(sorted((variable, number) for variable, number in total.items() if number))


def row(terms: Iterable[tuple[int, int]], least: int, times: int = 1) -> Row:
    """Return `times` (1 or -1) a row, with coprime coefficients: its number is rounded up."""
    found = form(terms, times)
    shared = gcd(*(number for _, number in found)) or 1
    return tuple((v, number // shared) for v, number in found), -(-least * times // shared)


class Goal:
    """That a pair's change has this size (`least`) or more. `outputs`: the form of each output that
    some move changes, by the output.
    """

    def __init__(
        self, measure: Measure, outputs: Mapping[Hashable, list[tuple[int, int]]], least: int,
        budget: Budget,
    ) -> None:  # fmt: skip
        self.measure, self.least, self.budget = measure, least, budget
        self.outputs = list(outputs.values())
        weight = measure.weight or (lambda _: 1)
        self.weights = [weight(output) for output in outputs] if measure.squared else []

    def row(self, told: Told) -> Row:
        """Return a row of every pair that reaches the goal, along a path that assumes this."""
        self.budget.spend(sum(map(len, self.outputs)) + len(told))
        if self.measure.name == "l1":
            return form(
                (v, k if place + 1 in told else -k if -place - 1 in told else abs(k))
                for place, output in enumerate(self.outputs) for v, k in output
            ), self.least  # fmt: skip
        if not self.measure.squared:
            raise Rejected("the goal of this norm is told by cases")
        terms, least, ends = [], self.least, {place: rest for place, *rest in told}
        for place, (output, weight) in enumerate(zip(self.outputs, self.weights, strict=True)):
            low, high = ends.get(place, OPEN)
            if low is None or high is None:
                raise Rejected("the goal needs both ends of every output")
            one = low >= 0 or high <= 0
            up, down = (low + high, -low - high) if one else (high, -low)
            terms += [(v, weight * (up * k if k > 0 else -down * k)) for v, k in output]
            least += weight * low * high if one else 0
        return form(terms), least

    def of(self, told: Told, kind: str, *rest: Any) -> list[tuple[list[Row], Told]]:
        """Return cases of which one holds for every pair (`reach`: that reaches the goal).

        ["sign", output]: its change is 0 or more, or less. ["between", output, k]: it is at most k,
        or at least k + 1. ["reach"]: as above.
        """
        if kind == "reach":
            return self._reach(told)
        place = want(rest[0], int)
        terms = self.outputs[place] if place >= 0 else []
        if place < 0 or kind != {"l1": "sign", "l2-squared": "between"}.get(self.measure.name):
            raise Rejected("the proof names something that does not exist in this norm")
        if kind == "sign":
            if place + 1 in told or -place - 1 in told:  # the goal's form counts a sign once
                raise Rejected("the sign of an output is assumed twice")
            return [([row(terms, 0)], (*told, place + 1)),
                    ([row(terms, -1, -1)], (*told, -place - 1))]  # fmt: skip
        most = want(rest[1], int)
        low, high = next((ends for number, *ends in reversed(told) if number == place), OPEN)
        lower = most + 1 if low is None else max(low, most + 1)
        upper = most if high is None else min(high, most)
        self.budget.spend(len(told), len(told))
        return [([row(terms, most, -1)], (*told, (place, low, upper))),
                ([row(terms, most + 1)], (*told, (place, lower, high)))]  # fmt: skip

    def _reach(self, told: Told) -> list[tuple[list[Row], Told]]:
        """Return the ways to reach the goal where the norm is a largest change, or difference."""
        if self.measure.name not in ("linf", "range"):
            raise Rejected("the goal of this norm is not told by cases")
        count, width = len(self.outputs), self.measure.width
        self.budget.spend(*2 * [2 * (count + 1) * sum(map(len, self.outputs))])
        alone = [form(output, sign) for output in self.outputs for sign in (1, -1)]
        if self.measure.name == "linf":
            return [([row(terms, self.least)], (*told, 0)) for terms in alone]
        found = [form([*one, *form(two, -1)]) for one, two in permutations(self.outputs, 2)]
        if width is None or width > count:  # some output stays
            found += alone
        return [([row(terms, self.least)], (*told, 0)) for terms in found]
