"""Replays a proof by cases that no neighbour pair changes the query by `goal` or more.

A proof is a tree. An inner node distinguishes cases of which one holds for every neighbour pair: a
whole number is at most k or at least k + 1, an output rises or falls, one of the conditions of a
cut fails. A leaf is a sum of multiples of rows that no point between the variables' limits
satisfies, in whole numbers (after Farkas; limits absorb what does not cancel, after Neumaier and
Shcherbina). A case whose assumptions leave a row or a variable nothing needs no leaf.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

from .counts import Condition, Limits, Problem, Row, Terms, conditions, form
from .document import Budget, Rejected, Unreadable, items, only, take, whole, wholes

__all__ = ["Branch", "Replay", "check"]

MEMORY = 20_000_000
"""How many limits the open cases may hold together."""


def check(problem: Problem, proof: object, budget: Budget) -> None:
    """Raise Rejected unless `proof` shows that no neighbour pair reaches the problem's goal.

    `budget` limits the work: roughly, coefficients looked at.
    """
    only(proof, ("cuts", "groups", "nodes"), "the proof")
    groups, cuts, nodes = (take(proof, key, list) for key in ("groups", "cuts", "nodes"))
    Replay(problem, groups, cuts, budget).run(nodes)


class Branch(NamedTuple):
    """One case: the limits that its assumptions leave to variables and rows, and the goal's form.

    `goal` is at least the change of the query: an output whose sign is assumed counts with it, the
    others with the absolute values of their moves. `turned`: number + 1 of the former.
    """

    low: list[int]
    high: list[int | None]
    limits: dict[int, Limits]
    goal: dict[int, int]
    turned: frozenset[int] = frozenset()


Case = tuple[list[Row], int]
"""Assumptions, and the output whose sign they settle: number + 1, negative for a fall; or 0."""


class Replay:
    """The state of a replay. Rows are numbered as they are met, the problem's first."""

    def __init__(
        self, problem: Problem, groups: list[Any], cuts: list[Any], budget: Budget
    ) -> None:
        self.problem, self.budget = problem, budget
        self.rows: list[Terms] = []
        self.number: dict[Terms, int] = {}
        self.outputs: dict[int, list[tuple[int, int]]] = {}
        goal: dict[int, int] = {}
        for variable, move in enumerate(problem.moves, len(problem.cells)):
            goal[variable] = move.loose + sum(abs(number) for _, number in move.change)
            for output, number in move.change:
                self.outputs.setdefault(output, []).append((variable, number))
        count = len(problem.cells) + len(problem.moves)
        self.root = Branch([0] * count, [problem.most] * count, {}, goal)
        self.open = all(self.assume(self.root, row) for row in problem.rows())
        self.groups = [
            [within(m, problem.moves) for m in wholes(group, "a group")] for group in groups
        ]
        self.cuts = [self.cut(each) for each in cuts]

    def cut(self, item: object) -> list[Condition]:
        """Return the conditions of a cut: [base, [[group, times], ...], [[plain, times], ...]]."""
        base, part, plain = row(item, 3)
        moves = [(self.groups[within(g, self.groups)], k) for g, k in pairs(part)]
        others = [(self.problem.plain[within(p, self.problem.plain)], k) for p, k in pairs(plain)]
        self.budget.spend(len(self.root.low) * (1 + self.problem.facts + len(others)))
        return conditions(self.problem, whole(base, "base"), moves, others)

    def run(self, nodes: list[Any]) -> None:
        """Replay a tree whose nodes come in pre-order; raise Rejected if it is no proof."""
        supply = iter(nodes)
        stack: list[tuple[Branch, Case]] = [(self.root, ([], 0))] if self.open else []
        while stack:
            case = self.case(*stack.pop())
            if case is None:
                continue  # the assumptions contradict each other openly
            node = next(supply, None)
            if node is None:
                raise Rejected("the proof ends before every case is closed")
            kind, *rest = items(node, "a node")
            if kind == "leaf":
                goal, multiples = row(rest, 2)
                self.leaf(case, whole(goal, "a leaf"), pairs(multiples))
            else:
                stack += [(case, child) for child in reversed(self.cases(kind, rest))]
            if len(stack) * len(self.root.low) > MEMORY:
                raise Rejected("too many cases are open at once")
        if next(supply, None) is not None:
            raise Rejected("the proof goes on after every case is closed")

    def cases(self, kind: object, rest: list[Any]) -> list[Case]:
        """Return cases of which one holds for every neighbour pair.

        ["cut", number]: one of its conditions fails and those before it hold. ["sign", output]: the
        output's change is 0 or more, or 0 or less. ["split", terms, k]: the form is at most k, or
        at least k + 1.
        """
        if kind == "cut":
            found = self.cuts[within(row(rest, 1)[0], self.cuts)]
            held: list[Row] = [(terms, least, None) for terms, least in found]
            return [
                ([*held[:place], (terms, None, least - 1)], 0)
                for place, (terms, least) in enumerate(found)
            ]
        if kind == "sign":
            output = whole(row(rest, 1)[0], "an output")
            change = form(self.outputs.get(output, ()))
            return [([(change, 0, None)], output + 1), ([(change, None, 0)], -output - 1)]
        if kind == "split":
            terms, most = row(rest, 2)
            most = whole(most, "a split")
            named = form((within(v, self.root.low), k) for v, k in pairs(terms))
            return [([(named, None, most)], 0), ([(named, most + 1, None)], 0)]
        raise Rejected(f"no kind of node is called {kind!r}"[:80])

    def case(self, parent: Branch, child: Case) -> Branch | None:
        """Return a case of a case; None if its assumptions leave nothing."""
        assumptions, turned = child
        self.budget.spend(len(parent.low) + len(parent.limits))
        low, high, limits, goal, before = parent
        found = Branch(list(low), list(high), dict(limits), goal, before)
        if turned:
            if abs(turned) in before:  # the goal's form counts a sign once
                raise Rejected("the sign of an output is assumed twice")
            goal = dict(goal)
            for variable, number in self.outputs.get(abs(turned) - 1, ()):
                goal[variable] += (number if turned > 0 else -number) - abs(number)
            found = found._replace(goal=goal, turned=before | {abs(turned)})
        return found if all(self.assume(found, each) for each in assumptions) else None

    def assume(self, case: Branch, row: Row) -> bool:
        """Narrow the limits of a row or a variable; False if nothing is left between them."""
        terms, low, high = row
        self.budget.spend(len(terms) + 1)
        if terms and terms[0][1] < 0:  # a form and its negative are one row
            terms = tuple((variable, -times) for variable, times in terms)
            low, high = (None if end is None else -end for end in (high, low))
        if len(terms) == 1:
            variable, times = terms[0]
            low = None if low is None else -(-low // times)
            high = None if high is None else high // times
            least, most = narrowed((case.low[variable], case.high[variable]), (low, high))
            case.low[variable], case.high[variable] = least or 0, most
            return not empty((least, most))
        if terms not in self.number:
            self.number[terms] = len(self.rows)
            self.rows.append(terms)
        place = self.number[terms]
        case.limits[place] = narrowed(case.limits.get(place, (None, None)), (low, high))
        return not empty(narrowed(case.limits[place], reach(case, terms)))

    def leaf(self, case: Branch, goal: int, multiples: Sequence[tuple[int, int]]) -> None:
        """Check that the rows times these multiples, and `goal` times the goal, are impossible.

        A positive multiple uses a row's lower limit, a negative one its upper limit.
        """
        if goal < 0:
            raise Rejected("a leaf takes the goal a negative number of times")
        total = Counter({variable: goal * times for variable, times in case.goal.items()})
        needed = goal * self.problem.goal
        for place, times in multiples:
            limit = case.limits.get(place, (None, None))[times < 0]
            if limit is None:
                raise Rejected(f"a leaf uses a limit that row {place} does not have")
            needed += times * limit
            for variable, number in self.rows[place]:
                total[variable] += times * number
            self.budget.spend(len(self.rows[place]))
        self.budget.spend(len(total))
        most = reach(case, tuple(total.items()))[1]
        if most is None or most >= needed:
            raise Rejected("the rows of a leaf do not contradict each other")


def narrowed(one: Limits, two: Limits) -> Limits:
    """Return what two pairs of limits have in common."""
    lows = [low for low in (one[0], two[0]) if low is not None]
    highs = [high for high in (one[1], two[1]) if high is not None]
    return max(lows, default=None), min(highs, default=None)


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


def within(item: object, things: Sequence[Any]) -> int:
    """Return a place in a list."""
    place = whole(item, "a place")
    if not 0 <= place < len(things):
        raise Rejected("the proof names something that does not exist")
    return place


def row(item: object, length: int) -> list[Any]:
    """Return a list of a given length."""
    found = items(item, "a part of the proof")
    if len(found) != length:
        raise Unreadable("a part of the proof has the wrong length")
    return found


def pairs(item: object) -> list[tuple[int, int]]:
    """Return a list of pairs of whole numbers."""
    found = (wholes(each, "a pair") for each in items(item, "pairs"))
    return [(one, two) for one, two in (row(each, 2) for each in found)]
