"""A cycle or path of a policy graph made into moves: the witness of the policy graph's bound."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from blowproof.models import BudgetError, Point, Policy
from blowproof.verifier.asked.answer import Pair
from blowproof.verifier.databases.count_queries import CountQueries
from blowproof.verifier.engines.policy_graph.graph import SINK, SOURCE, PolicyGraphBound

__all__ = ["pair_along"]

Arc = tuple[int | None, int | None]


def pair_along(
    policy: Policy, bound: PolicyGraphBound, *, deadline: float | None = None
) -> Pair | None:
    """Return one secret move for each arc of the longest cycle or path found, or None.

    No value is both left and entered where that can be had, so the histogram changes by 2 for each
    move. (A single arc from v+ to v- stands for a move that nothing notices, see
    `secret_move_within_a_class`.) None past the deadline, too.
    """
    queries = CountQueries(policy, deadline=deadline)
    try:
        for arcs in sorted(_longest(queries, bound), key=len, reverse=True):
            for apart in (True, False):
                pair = _moves(queries, arcs, apart=apart)
                if pair is not None:
                    return pair
    except BudgetError:  # too many parts of boxes, or no time: the bound stands without it
        pass
    return None


def _longest(queries: CountQueries, bound: PolicyGraphBound) -> Iterator[list[Arc]]:
    """Yield the arcs of the longest cycle and of the longest path, in numbers of queries."""
    number: dict[object, int | None] = {name: place for place, name in enumerate(queries.names)}
    number |= {SOURCE: None, SINK: None}
    cycle = [number[node] for node in bound.alpha.nodes]
    path = [number[node] for node in bound.xi.nodes]
    if len(cycle) > 1:
        yield list(pairwise([*cycle, cycle[0]]))
    if len(path) > 2:
        yield list(pairwise(path))


def _moves(queries: CountQueries, arcs: list[Arc], *, apart: bool) -> Pair | None:
    """Return a secret pair for each arc; `apart`: none ends where another starts."""
    before: list[Point] = []
    after: list[Point] = []
    for lowered, lifted in arcs:
        taken = (after, before) if apart else ((), ())
        edge = queries.move_along(lowered, lifted, not_from=taken[0], not_to=taken[1])
        if edge is None:
            return None
        before.append(edge[0])
        after.append(edge[1])
    return Pair(before=tuple(before), after=tuple(after))
