"""The tree of a proof by cases, and its form in a certificate."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from blowproof.verifier.kernel.goal import row
from blowproof.verifier.kernel.proofs.branching import Problem
from blowproof.verifier.proofs.cases.cuts import Cuts
from blowproof.verifier.proofs.cases.program import Group
from blowproof.verifier.proofs.cases.state import Branch, Case, State
from blowproof.verifier.proofs.cases.why import Why, suppose

__all__ = ["Node", "written"]

Multiples = list[tuple[int, int]]


@dataclass
class Node:
    """One node; `None` stands for a child whose limits leave nothing.

    `data`: of a cut its number, of a split (terms, number), of a leaf how often the goal is taken
    and [(terms, times), ...]; else what the kernel's entry holds (`Goal.of`).
    """

    kind: str
    data: Any
    children: list[Node | None] = field(default_factory=list)


def written(problem: Problem, cuts: Cuts, tree: Node | None) -> dict[str, Any]:
    """Return the proof: pre-order, rows by the kernel's numbers, only the cuts that are used."""
    used = _cuts_of(tree)
    groups: dict[Group, int] = {}
    entries = []
    for number in used:
        base, part, plain = cuts.items[number]
        named = [[groups.setdefault(group, len(groups)), times] for group, times in part]
        entries.append([base, named, [list(each) for each in plain]])
    writer = _Writer(problem, cuts, {number: place for place, number in enumerate(used)})
    writer.write(tree)
    return {"groups": [list(group) for group in groups], "cuts": entries, "nodes": writer.nodes}


def _cuts_of(tree: Node | None) -> list[int]:
    found: dict[int, None] = {}
    stack = [tree]
    while stack:
        node = stack.pop()
        if node is not None:
            if node.kind == "cut":
                found[node.data] = None
            stack += reversed(node.children)
    return list(found)


class _Writer:
    """Walks the tree with the limits and, for each, the row of the kernel's path that gave it."""

    def __init__(self, problem: Problem, cuts: Cuts, places: dict[int, int]) -> None:
        self.problem, self.cuts, self.places = problem, cuts, places
        self.state, self.nodes = State(problem), list[Any]()
        width = len(self.state.root.low)
        limits = [0] * width, [problem.size] * width
        self.start = self.state.root._replace(low=limits[0], high=limits[1], limits={})
        self.numbers = {each: place for place, each in enumerate(problem.rows())}

    def write(self, tree: Node | None) -> None:
        """Write the nodes of a tree."""
        nothing = Why.nothing(len(self.start.low))
        stack: list[tuple[int, Branch, Why, Case, Node | None]]
        stack = [(0, self.start, nothing, (self.problem.rows(), None), tree)]
        while stack:
            depth, case, why, (assumptions, told), node = stack.pop()
            below = self.state.case(case, ([], told))
            assert below is not None
            why = why.copy(why.signs)
            closed = None
            for place, assumption in enumerate(assumptions, depth + 1):
                closed = suppose(self.state, below, why, assumption, place)
                if closed is not None:
                    self._leaf(below, why, 0, closed)
                    break
            if closed is not None:
                continue
            assert node is not None, "a case without a node is open"
            if node.kind == "leaf":
                goal, named = node.data
                multiples = [(self.state.place(terms)[0], times) for terms, times in named]
                self._leaf(below, why, goal, multiples)
                continue
            data, cases = self._cases(node, below)
            self.nodes.append([node.kind, *data])
            after = depth + len(assumptions)
            children = zip(cases, node.children, strict=True)
            stack += reversed([(after, below, why, each, child) for each, child in children])

    def _cases(self, node: Node, case: Branch) -> tuple[list[Any], list[Case]]:
        if node.kind == "cut":
            found = self.cuts.conditions[node.data]
            cases: list[Case] = [
                ([*found[:k], row(terms, least - 1, -1)], None)
                for k, (terms, least) in enumerate(found)
            ]
            return [self.places[node.data]], cases
        if node.kind != "split":
            return list(node.data), [*self.state.goal.of(case.told, node.kind, *node.data)]
        terms, most = node.data
        rows = row(terms, most, -1), row(terms, most + 1)
        return [[list(term) for term in terms], most], [([each], None) for each in rows]

    def _leaf(self, case: Branch, why: Why, goal: int, multiples: Multiples) -> None:
        """Write a leaf: what the search leaves to the variables' limits is put in rows, too."""
        rows: Counter[int] = Counter()
        total = Counter({variable: goal * times for variable, times in case.goal.items()})
        if goal:
            rows[-1] = goal
        for place, times in multiples:
            if place < 0:  # a variable that is as large as one of its limits says
                low = why.low[-1 - place]
                if low:
                    rows[low - 1] += 1
                    total[-1 - place] += 1
                else:
                    rows[why.high[-1 - place] - 1] += 1
                continue
            rows[(why.least if times > 0 else why.most)[place] - 1] += abs(times)
            for variable, number in self.state.rows[place]:
                total[variable] += times * number
        for variable, times in total.items():
            if times > 0:
                for place in self._at_most(variable, why):
                    rows[place] += times
            elif times < 0 and case.low[variable] > 0:
                rows[why.low[variable] - 1] -= times
        self.nodes.append(["leaf", [[place, times] for place, times in sorted(rows.items())]])

    def _at_most(self, variable: int, why: Why) -> list[int]:
        """Return rows that give a variable's upper limit; n, if there is no better."""
        if why.high[variable]:
            return [why.high[variable] - 1]
        problem, count = self.problem, len(self.problem.cells)
        assert problem.size is not None
        everybody = row([(c, 1) for c in range(count)], problem.size, -1)
        if variable < count:
            return [self.numbers[everybody]]
        source = problem.moves[variable - count].source
        assert source is not None
        return [self.numbers[everybody], self.numbers[row(problem.stay(source), 0)]]
