"""Where the search for a proof by cases stands: what assumptions leave to variables and rows.

The kernel adds up rows and nothing else; the search narrows limits of variables, and sees at once
where nothing is left. `tree` turns both into the kernel's sums of rows.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from blowproof.verifier.kernel.document import Budget, Rejected
from blowproof.verifier.kernel.goal import Row, Terms, Told
from blowproof.verifier.kernel.proofs.branching import Cases, Problem

__all__ = ["ENOUGH", "Branch", "Case", "Limits", "State", "negated"]

ENOUGH = 10**15
Limits = tuple[int | None, int | None]
Case = tuple[list[Row], Told | None]
"""Assumptions, and all that the path assumes of outputs then; None where that stays as it is."""


class Branch(NamedTuple):
    """One case: the limits that its assumptions leave to variables and rows, and the goal's row.

    `goal` sums to `least` or more where a pair reaches the goal, by what is assumed of outputs
    (`told`); `least` is None where that is no row yet.
    """

    low: list[int]
    high: list[int | None]
    limits: dict[int, Limits]
    goal: dict[int, int]
    least: int | None
    told: Told = ()


class State:
    """The state of a search. Rows are numbered as they are met, up to their sign."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.rows: list[Terms] = []
        self.number: dict[Terms, int] = {}
        cases = Cases(problem, {"groups": [], "cuts": []}, Budget(ENOUGH))
        self.goal = cases.goal
        self.outputs = dict(enumerate(cases.goal.outputs))
        count = len(problem.cells) + len(problem.moves)
        self.root = Branch([0] * count, [problem.size] * count, {}, *self.reached(()))
        self.open = all(self.assume(self.root, each) for each in problem.rows())

    def reached(self, told: Told) -> tuple[dict[int, int], int | None]:
        """Return the goal's row where a path assumes this of outputs, if it is one."""
        try:
            terms, least = self.goal.row(told)
        except Rejected:
            return {}, None
        return dict(terms), least

    def case(self, parent: Branch, child: Case) -> Branch | None:
        """Return a case of a case; None if its assumptions leave nothing."""
        assumptions, told = child
        low, high, limits = list(parent.low), list(parent.high), dict(parent.limits)
        found = parent._replace(low=low, high=high, limits=limits)
        if told is not None:
            form, least = self.reached(told)
            found = found._replace(goal=form, least=least, told=told)
        return found if all(self.assume(found, each) for each in assumptions) else None

    def place(self, terms: Terms) -> tuple[int, bool]:
        """Return the number of a row of several terms, and whether it is the negative of it."""
        turned = bool(terms) and terms[0][1] < 0
        terms = negated(terms) if turned else terms
        if terms not in self.number:
            self.number[terms] = len(self.rows)
            self.rows.append(terms)
        return self.number[terms], turned

    def assume(self, case: Branch, assumed: Row) -> bool:
        """Narrow the limits of a row or a variable; False if nothing is left between them."""
        terms, least = assumed
        if len(terms) == 1:
            variable, times = terms[0]
            if times > 0:
                case.low[variable] = max(case.low[variable], least)
            else:
                high = case.high[variable]
                case.high[variable] = -least if high is None else min(high, -least)
            return not empty((case.low[variable], case.high[variable]))
        place, turned = self.place(terms)
        low, high = case.limits.get(place, (None, None))
        if turned:
            high = -least if high is None else min(high, -least)
        else:
            low = least if low is None else max(low, least)
        case.limits[place] = low, high
        least_of, most_of = reach(case, self.rows[place])
        return not (empty((low, high)) or empty((low, most_of)) or empty((least_of, high)))

    def leaf(self, case: Branch, goal: int, multiples: Sequence[tuple[int, int]]) -> None:
        """Check that the rows times these multiples, and `goal` times the goal, are impossible.

        A positive multiple uses a row's lower limit, a negative one its upper limit.
        """
        total = Counter({variable: goal * times for variable, times in case.goal.items()})
        if goal and case.least is None:
            raise Rejected("a leaf uses a goal that is no row yet")
        needed = goal * (case.least or 0)
        for place, times in multiples:
            limit = case.limits.get(place, (None, None))[times < 0]
            if limit is None:
                raise Rejected("a leaf uses a limit that a row does not have")
            needed += times * limit
            for variable, number in self.rows[place]:
                total[variable] += times * number
        most = reach(case, tuple(total.items()))[1]
        if most is None or most >= needed:
            raise Rejected("the rows of a leaf do not contradict each other")


def negated(terms: Terms) -> Terms:
    """Return the negative of a form."""
    return tuple((variable, -times) for variable, times in terms)


def empty(limits: Limits) -> bool:
    """Whether no number lies between the limits."""
    low, high = limits
    return low is not None and high is not None and low > high


def reach(case: Branch, terms: Terms) -> Limits:
    """Return the least and the greatest value of a form between the variables' limits."""
    low: int | None = 0
    high: int | None = 0
    for variable, times in terms:
        ends = case.low[variable], case.high[variable]
        one, two = ends if times > 0 else ends[::-1]
        low = None if low is None or (one is None and times) else low + times * (one or 0)
        high = None if high is None or (two is None and times) else high + times * (two or 0)
    return low, high
