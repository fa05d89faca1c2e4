"""The tree of a proof by cases, and its form in a certificate."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from blowproof.verifier.certificates.branching_cuts import Cuts
from blowproof.verifier.certificates.branching_program import Group
from blowproof.verifier.kernel.branching import Branch, Case, Replay
from blowproof.verifier.kernel.counts import Problem
from blowproof.verifier.kernel.document import Budget

__all__ = ["ENOUGH", "Node", "written"]

ENOUGH = 10**15


@dataclass
class Node:
    """One node; `None` stands for a child that the kernel closes by itself.

    `data`: of a cut its number, of a sign the output, of a split (terms, number), of a leaf how
    often the goal is taken and [(terms, times), ...].
    """

    kind: str
    data: Any
    children: list[Node | None] = field(default_factory=list)


def written(problem: Problem, cuts: Cuts, tree: Node) -> dict[str, Any]:
    """Return the proof: pre-order, rows by the kernel's numbers, only the cuts that are used."""
    used = _cuts_of(tree)
    groups: dict[Group, int] = {}
    entries = []
    for number in used:
        base, part, plain = cuts.items[number]
        named = [[groups.setdefault(group, len(groups)), times] for group, times in part]
        entries.append([base, named, [list(each) for each in plain]])
    lists = [list(group) for group in groups]
    replay = Replay(problem, lists, entries, Budget(ENOUGH))
    places = {number: place for place, number in enumerate(used)}
    nodes: list[Any] = []
    stack: list[tuple[Branch, Case, Node | None]] = [(replay.root, ([], 0), tree)]
    while stack:
        parent, child, node = stack.pop()
        case = replay.case(parent, child)
        if case is None or node is None:
            continue  # the kernel refuses the proof if a case without a node is open
        kind, rest = _encoded(node, replay, places)
        nodes.append([kind, *rest])
        if kind != "leaf":
            children = zip(replay.cases(kind, rest), node.children, strict=True)
            stack += reversed([(case, each, below) for each, below in children])
    return {"groups": lists, "cuts": entries, "nodes": nodes}


def _cuts_of(tree: Node) -> list[int]:
    found: dict[int, None] = {}
    stack = [tree]
    while stack:
        node = stack.pop()
        if node.kind == "cut":
            found[node.data] = None
        stack += [child for child in reversed(node.children) if child is not None]
    return list(found)


def _encoded(node: Node, replay: Replay, places: dict[int, int]) -> tuple[str, list[Any]]:
    if node.kind == "cut":
        return "cut", [places[node.data]]
    if node.kind == "sign":
        return "sign", [node.data]
    if node.kind == "split":
        terms, most = node.data
        return "split", [[list(term) for term in terms], most]
    goal, multiples = node.data
    return "leaf", [goal, [[replay.number[terms], times] for terms, times in multiples]]
