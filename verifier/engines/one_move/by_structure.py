"""The largest change of a query along one secret pair, from the structure of the graph.

This is S(f, P) of a policy without known counts: see `largest_change`. Where the structure does not
tell (listed edges, cluster sums, matrices, impossible values), the edges are listed, up to a limit.
"""

from __future__ import annotations

from collections.abc import Iterator

from blowproof.models import BoundQuery, BudgetError, Exact, Move, Point, Policy
from blowproof.models.base.numbers import magnitude, plain
from blowproof.models.norms import L1
from blowproof.verifier.limits.limit import whole_limit

__all__ = ["EDGE_LIMIT", "largest_change", "listed_change"]

EDGE_LIMIT = whole_limit(__name__, "EDGE_LIMIT")


def largest_change(policy: Policy, query: BoundQuery) -> Exact:
    """Return the largest change of the query along an edge of G between possible values; else 0.

    *Statement.* Let no counts be known (n may be). Then in readings 1 and 2, scope "any", S(f, P)
    is this number: max over edges (x, y) of ||row(y) - row(x)||_1, times the largest |w_i| for a
    sum that weighs its records.

    *Proof.* All databases of n records over the possible values are in I_Q. A pair that differs in
    one secret move is a neighbour pair: no proper non-empty part of one change exists (reading 2);
    T(D1, D2) has one element, so nothing non-empty lies strictly inside it (3(a)), and the changes
    of a D3 in 3(b) would be none (reading 1). A pair with a further change is none: drop it. In
    reading 1 keep one secret move as D3, which 3(a) or 3(b) finds. QED.

    Along an edge of an offset graph (full, attribute, partition by attributes, distance) each axis
    moves by at most its *span*, alone or together with others; in a listed partition any two values
    of a cell are joined. What follows from that, query by query:

    * histogram, marginal: 2 iff an edge changes the attributes concerned; a count: 1 iff an edge
      joins its area with the rest; the partition's own histogram: 0;
    * cumulative(A): the positions passed, so the span;
    * ranges(A): a range holds one of p < q but not the other iff it ends (starts) between them:
      (q - p)(p + 1) + (q - p)(|A| - q) = d(|A| + 1 - d) with d = q - p, whatever p is;
    * sum(...): the outputs' changes add up to an l1 distance; see `models/secrets/spread`.
    """
    if policy.impossible.size == 0:
        found = query.along(policy.graph)
        if found is not None:
            return plain(found)
    return listed_change(policy, query)


def listed_change(policy: Policy, query: BoundQuery) -> Exact:
    """Return the largest change, every edge looked at; a BudgetError if there are too many."""
    found: Exact = 0
    rows = _Rows(query)
    for x, y in _edges(policy):
        found = max(found, rows.change(x, y))
    return plain(found)


def _edges(policy: Policy) -> Iterator[tuple[Point, Point]]:
    if policy.graph.edge_count > EDGE_LIMIT:
        raise BudgetError(
            f"the secret graph has {policy.graph.edge_count} edges, and the change of this query "
            f"has to be worked out edge by edge; the limit is {EDGE_LIMIT}"
        )
    impossible = policy.impossible
    for x, y in policy.graph.edges(limit=EDGE_LIMIT):
        if x not in impossible and y not in impossible:
            yield x, y


class _Rows:
    """Changes of a query along edges; the rows of what is costly to place are kept."""

    def __init__(self, query: BoundQuery) -> None:
        self._query = query
        self._kept: dict[Point, dict[object, Exact]] = {}

    def change(self, x: Point, y: Point) -> Exact:
        if self._query.measure is not L1 or self._query.longest_row > 1:
            return self._query.difference([Move(x, y)])
        before, after = self._row(x), self._row(y)
        outputs = before.keys() | after.keys()
        apart = sum((magnitude(after.get(o, 0) - before.get(o, 0)) for o in outputs), start=0)
        return self._query.heaviest * apart

    def _row(self, point: Point) -> dict[object, Exact]:
        if point not in self._kept:
            self._kept[point] = dict(self._query.row(point))
        return self._kept[point]
