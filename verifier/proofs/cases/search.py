"""Searching for a proof by cases that no neighbour pair changes the query by more than claimed.

Branch and bound whose tree is the proof. At each node, cuts that leave a single case open are
applied; then the rows either contradict each other (a leaf) or allow a point, and a distinction is
made that excludes it: in this order a known cut with few cases, a new one, whether one more of the
few moves is made that can undo those that are sure to be made, the sign of an output, a fraction.
"""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass
from typing import Any

from blowproof.verifier.kernel.document import Budget, Rejected
from blowproof.verifier.kernel.proofs.branching import Problem, check
from blowproof.verifier.limits.limit import whole_limit
from blowproof.verifier.proofs.cases.choice import Chooser
from blowproof.verifier.proofs.cases.points import Points
from blowproof.verifier.proofs.cases.state import ENOUGH, Branch, State
from blowproof.verifier.proofs.cases.tree import Node, written
from blowproof.verifier.proofs.cases.why import Why, enter, reasons

__all__ = ["Attempt", "prove"]

DEEPEST = whole_limit(__name__, "DEEPEST")


@dataclass(frozen=True)
class Attempt:
    """A proof, or why there is none, and how many cases were looked at.

    `pair`: numbers of records (cells, then moves) that no D3 refutes and that reach the goal, if
    such were met. Where cells are exact that is a neighbour pair, and the claim is false.
    """

    proof: dict[str, Any] | None
    reason: str = ""
    cases: int = 0
    pair: tuple[int, ...] | None = None


class GaveUpError(Exception):
    """No proof was found; the message says why."""


def prove(problem: Problem, *, deadline: float | None = None) -> Attempt:
    """Return a proof that no neighbour pair reaches the problem's goal, checked by the kernel.

    `deadline` is on the clock of `time.monotonic`.
    """
    search = _CaseSearch(problem, deadline)
    depth = sys.getrecursionlimit()
    sys.setrecursionlimit(depth + 4 * DEEPEST)
    try:
        proof = search.proof()
        check(problem, proof, Budget(ENOUGH))
    except (GaveUpError, Rejected) as error:
        return Attempt(None, str(error), search.cases, search.pair)
    finally:
        sys.setrecursionlimit(depth)
    return Attempt(proof, "", search.cases)


@dataclass(frozen=True)
class _Step:
    """A cut that left one case open: which one, under what number, and what closed the others."""

    cut: int
    open: int
    ident: int
    needs: set[int]
    cases: int


class _CaseSearch:
    def __init__(self, problem: Problem, deadline: float | None) -> None:
        self.problem, self.deadline = problem, deadline
        self.state = State(problem)
        self.points = Points(self.state)
        self.chooser = Chooser(self.state, self.points)
        self.cuts = self.chooser.cuts
        self.cases = self.idents = 0
        self.pair: tuple[int, ...] | None = None

    def proof(self) -> dict[str, Any]:
        """Return the proof as JSON."""
        if not self.state.open:
            return written(self.problem, self.cuts, None)
        tree, _ = self._solve(self.state.root, Why.nothing(len(self.state.root.low)), 0)
        return written(self.problem, self.cuts, tree)

    def _solve(self, case: Branch, why: Why, depth: int) -> tuple[Node, set[int]]:
        """Return a tree that closes the case, and the assumptions that it rests on."""
        self.cases += 1
        if self.deadline is not None and time.monotonic() > self.deadline:
            raise GaveUpError("the time is up")
        if depth > DEEPEST:
            raise GaveUpError("the tree grows too deep")
        steps, still, closed = self._propagate(case, why)
        tree, needs = closed if still is None else self._branch(*still, depth)
        for step in reversed(steps):
            if step.ident in needs:
                children = [tree if place == step.open else None for place in range(step.cases)]
                tree = Node("cut", step.cut, children)
                needs = (needs - {step.ident}) | step.needs
        return tree, needs

    def _propagate(
        self, case: Branch, why: Why
    ) -> tuple[list[_Step], tuple[Branch, Why] | None, tuple[Node, set[int]]]:
        """Apply cuts that leave one case open; return the last case, or else what closes it."""
        steps: list[_Step] = []
        while True:
            self.cuts.closing(case)
            counts = self.cuts.open(case)
            if not len(counts) or counts.min() > 1:
                return steps, (case, why), (Node("", None), set())
            number = int(counts.argmin())
            found = self._apply(case, why, number)
            if isinstance(found, set):
                return steps, None, (Node("cut", number, [None] * self._count(number)), found)
            step, case, why = found
            steps.append(step)

    def _count(self, number: int) -> int:
        return len(self.cuts.conditions[number])

    def _apply(self, case: Branch, why: Why, number: int) -> set[int] | tuple[_Step, Branch, Why]:
        """Apply a cut with one open case or none: return that case, or what closes all of them."""
        needs: set[int] = set()
        still: tuple[int, int, Branch, Why] | None = None
        for place, child in enumerate(self.chooser.cut(number)[2]):
            self.idents += 1
            below, against = enter(self.state, case, why, child, self.idents)
            if below is None:
                needs |= against - {self.idents}
            else:
                still = (place, self.idents, *below)
        if still is None:
            return needs
        place, ident, case, why = still
        return _Step(number, place, ident, needs, self._count(number)), case, why

    def _branch(self, case: Branch, why: Why, depth: int) -> tuple[Node, set[int]]:
        """Return a tree for a case in which every cut leaves two cases open, or more."""
        found = self.points.solve(case, self.chooser.costs)
        if found is None:
            raise GaveUpError("a contradiction could not be put in whole numbers")
        if isinstance(found, tuple):
            goal, multiples = found
            leaf = Node("leaf", (goal, [(self.state.rows[p], m) for p, m in multiples]))
            return leaf, reasons(self.state, case, why, goal, multiples)
        choice = self.chooser.distinguish(case, found)
        if choice is None:
            self.pair = tuple(round(value) for value in found)
            raise GaveUpError("a pair reaches the goal that no D3 refutes")
        kind, data, children = choice
        node, needs = Node(kind, data), set[int]()
        for child in children:
            self.idents += 1
            ident = self.idents
            below, against = enter(self.state, case, why, child, ident)
            tree = None
            if below is not None:
                tree, against = self._solve(*below, depth + 1)
                if ident not in against:
                    return tree, against  # the distinction was not needed
            node.children.append(tree)
            needs |= against - {ident}
        return node, needs
