"""What one secret move changes at most, for queries of ours whose rows are too many to list.

Each holds where neighbours differ in one record that makes one secret move, and is used by the
certifier only there. What they rest on stands beside the queries: `memberships`, `forests`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from blowproof.mechanisms.kinds.kmeans import longest_move
from blowproof.mechanisms.kinds.transformed import Flows, graph_edges
from blowproof.mechanisms.structures.memberships import Memberships, bounds, squares
from blowproof.models import BoundQuery, BudgetError, Policy
from blowproof.verifier.certify.base.lemmas import Lemma

__all__ = ["LEMMAS", "SQUARES", "flows_change", "memberships_change", "memberships_squares"]

Ints = NDArray[np.int64]


def memberships_change(query: BoundQuery, policy: Policy) -> int | None:
    """Return the bound of `memberships` for the longest secret move."""
    if type(query) is not Memberships:
        return None
    found = bounds(query.clusters, longest_move(policy, query.clusters.grid))
    return int(found.sums if query.sums else found.sizes)


def memberships_squares(query: BoundQuery, policy: Policy) -> int | None:
    """Return the bound of `memberships` on the squares, for the longest secret move."""
    if type(query) is not Memberships:
        return None
    found = squares(query.clusters, longest_move(policy, query.clusters.grid))
    return int(found.sums if query.sums else found.sizes)


def flows_change(query: BoundQuery, policy: Policy) -> int | None:
    """Return the most released flows that lie between the ends of an edge of G.

    A record adds 1 to the flows from its vertex up to the root, so a move changes those that lie
    above one end and not above the other: climb from the deeper end until both meet.
    """
    if type(query) is not Flows:
        return None
    counted = np.zeros(len(query.forest.parent), dtype=np.int64)
    counted[query.released] = 1
    if not counted.any():
        return 0
    if policy.graph.complete:
        return _two_paths(query, counted)
    try:
        u, v = graph_edges(policy)
    except BudgetError:
        return None
    one, two = query.vertex[u], query.vertex[v]
    apart = one != two
    pairs = np.unique(np.stack([one[apart], two[apart]]), axis=1)
    return _between(query.forest.parent, query.forest.depth, counted, pairs[0], pairs[1])


def _two_paths(query: Flows, counted: Ints) -> int | None:
    """Any two vertices may be joined: at most twice what lies above one, for low forests."""
    parent, depth = query.forest.parent, query.forest.depth
    if int(depth.max(initial=0)) > 1:
        return None
    above = counted + np.where(parent >= 0, counted[parent], 0)
    roots = np.flatnonzero(parent < 0)
    if len(roots) == 1:  # both pass the root, which does not change
        above = counted * (parent >= 0)
    return int(np.sort(above)[-2:].sum())


def _between(parent: Ints, depth: Ints, counted: Ints, one: Ints, two: Ints) -> int:
    """Return the largest number of counted vertices on the way between the ends of a pair."""
    found = np.zeros(len(one), dtype=np.int64)
    at = np.arange(len(one))
    while len(at):
        deeper = depth[one] >= depth[two]
        low, high = np.where(deeper, one, two), np.where(deeper, two, one)
        found[at] += counted[low]
        above = parent[low]
        # Two roots of different trees: both are passed, and nothing is above them.
        ended = above < 0
        found[at[ended]] += counted[high[ended]]
        going = ~ended & (above != high)
        at, one, two = at[going], above[going], high[going]
    return int(found.max(initial=0))


LEMMAS: tuple[Lemma, ...] = (memberships_change, flows_change)
"""The arguments that the gate stands for, about L1."""

SQUARES: tuple[Lemma, ...] = (memberships_squares,)
"""Those about the sum of the squares."""
