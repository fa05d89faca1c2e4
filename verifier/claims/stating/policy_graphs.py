"""Definitions 8.1 to 8.3 of blowfish-2014 by listing every secret pair, for small policies.

What claims about alpha and xi are computed with: it shares nothing with the engines, nor with
`engines.policy_graph.graph`, and finds longest cycles and paths by listing all of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from blowproof.models import Point, Policy

__all__ = ["SINK", "SOURCE", "PolicyGraph", "effects", "policy_graph"]

SOURCE, SINK = "v+", "v-"
Node = int | str


@dataclass(frozen=True)
class PolicyGraph:
    """The arcs of the policy graph (queries are numbered), alpha and xi; `secret`: any pair."""

    queries: int
    arcs: frozenset[tuple[Node, Node]]
    secret: bool

    @property
    def alpha(self) -> int:
        """The length of a longest simple cycle; 0 if there is none."""
        return max(
            (length for start in self._nodes for length in self._walks(start, start)), default=0
        )

    @property
    def xi(self) -> int:
        """The length of a longest simple path from v+ to v-."""
        return max(self._walks(SOURCE, SINK))

    @property
    def longest(self) -> int:
        """max(alpha, xi)."""
        return max(self.alpha, self.xi)

    @property
    def _nodes(self) -> list[Node]:
        return [*range(self.queries), SOURCE, SINK]

    def _walks(self, start: Node, end: Node) -> Iterator[int]:
        """Yield the length of every simple path (a cycle, where the ends agree)."""

        def further(node: Node, seen: frozenset[Node], length: int) -> Iterator[int]:
            for tail, head in self.arcs:
                if tail == node and head == end:
                    yield length + 1
                elif tail == node and head not in seen:
                    yield from further(head, seen | {head}, length + 1)

        return further(start, frozenset([start]), 0)


def effects(policy: Policy) -> Iterator[tuple[Point, Point, list[int], list[int]]]:
    """Yield every ordered secret pair with the queries that it lowers and lifts (Definition 8.1).

    Pairs with an impossible value are left out: no record makes such a move.
    """
    facts = policy.linear_facts
    for one, two in policy.graph.edges():
        if policy.possible(one) and policy.possible(two):
            for x, y in ((one, two), (two, one)):
                change = [fact.coefficient(y) - fact.coefficient(x) for fact in facts]
                lowered = [place for place, times in enumerate(change) if times < 0]
                lifted = [place for place, times in enumerate(change) if times > 0]
                yield x, y, lowered, lifted


@lru_cache(maxsize=4096)
def policy_graph(policy: Policy) -> PolicyGraph | None:
    """Return the policy graph (Definition 8.3); None if the counts are not sparse (8.2)."""
    arcs: set[tuple[Node, Node]] = {(SOURCE, SINK)}
    secret = False
    for _, _, lowered, lifted in effects(policy):
        if len(lowered) > 1 or len(lifted) > 1:
            return None
        secret = True
        if lowered or lifted:
            arcs.add((lowered[0] if lowered else SOURCE, lifted[0] if lifted else SINK))
    return PolicyGraph(len(policy.linear_facts), frozenset(arcs), secret)
