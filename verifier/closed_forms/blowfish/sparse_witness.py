"""Can the longest cycle or path of a policy graph change the histogram by 2 for every move?"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import pairwise

from blowproof.models import Point, Policy
from blowproof.verifier.databases.count_queries import CountQueries
from blowproof.verifier.engines.policy_graph.graph import SINK, SOURCE, PolicyGraphBound
from blowproof.verifier.limits.limit import whole_limit

__all__ = ["realisable"]

EDGE_LIMIT = whole_limit(__name__, "EDGE_LIMIT")
TRIALS = whole_limit(__name__, "TRIALS")

Arc = tuple[str | None, str | None]
Edge = tuple[Point, Point]


def realisable(policy: Policy, bound: PolicyGraphBound) -> bool:
    """Whether secret pairs were found, one for each arc, none of which ends where another starts.

    True is certain. False may also mean that there are too many pairs to list, that the search was
    cut, or that only another longest cycle or path would do. A single move always does.
    """
    if bound.upper <= 1:
        return True
    if policy.graph.edge_count > EDGE_LIMIT:
        return False
    choices = _by_arc(policy)
    return any(_search([choices[arc] for arc in arcs]) for arcs in _longest(bound))


def _longest(bound: PolicyGraphBound) -> Iterator[list[Arc]]:
    cycle = [str(node) for node in bound.alpha.nodes]
    if len(cycle) == bound.upper:
        yield [(a, b) for a, b in pairwise([*cycle, cycle[0]])]
    path = [None if node in (SOURCE, SINK) else str(node) for node in bound.xi.nodes]
    if len(path) == bound.upper + 1:
        yield list(pairwise(path))


def _by_arc(policy: Policy) -> dict[Arc, list[Edge]]:
    queries = CountQueries(policy)
    found: dict[Arc, list[Edge]] = defaultdict(list)
    for one, other in policy.graph.edges(limit=EDGE_LIMIT):
        if queries.is_secret(one, other):
            lifts, lowers = (
                [queries.names[q] for q in side] for side in queries.effect(one, other)
            )
            lifted, lowered = next(iter(lifts), None), next(iter(lowers), None)
            found[lowered, lifted].append((one, other))
            found[lifted, lowered].append((other, one))
    return found


def _search(choices: Sequence[Sequence[Edge]]) -> bool:
    """Choose one edge for each arc, arcs with few edges first; sources and targets stay apart."""
    order = sorted(choices, key=len)
    trials = 0

    def extend(place: int, sources: frozenset[Point], targets: frozenset[Point]) -> bool:
        nonlocal trials
        if place == len(order):
            return True
        for x, y in order[place]:
            trials += 1
            if trials > TRIALS:
                return False
            free = x not in targets and y not in sources
            if free and extend(place + 1, sources | {x}, targets | {y}):
                return True
        return False

    return extend(0, frozenset(), frozenset())
