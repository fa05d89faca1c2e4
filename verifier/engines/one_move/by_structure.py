"""The largest change of a query along one secret pair, from the structure of the graph.

This is S(f, P) of a policy without known counts: see `largest_change`. Where the structure does not
tell (listed edges, cluster sums, matrices, impossible values), the edges are listed, up to a limit.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import product

from blowproof.models import Area, BoundQuery, Box, BudgetError, Exact, Move, Point, Policy
from blowproof.models.base.numbers import magnitude, plain
from blowproof.models.queries.kinds import (
    ClusterSizes,
    CountQuery,
    Cumulative,
    Histogram,
    MarginalQuery,
    MatrixQuery,
    PartitionHistogram,
    Ranges,
    SumQuery,
    WeightedSum,
)
from blowproof.models.secrets import ByGraph, CellGraph, OffsetGraph
from blowproof.verifier.engines.one_move.spread import best_sum, diameter, spans, widest_range

__all__ = ["EDGE_LIMIT", "cells", "largest_change", "listed_change", "widest_cell"]

EDGE_LIMIT = 300_000


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
    * sum(...): the outputs' changes add up to an l1 distance; see `best_sum` and `diameter`.
    """
    if policy.impossible.size == 0:
        found = _offsets(policy, query) if isinstance(policy.graph, OffsetGraph) else None
        found = _cells(policy, query) if isinstance(policy.graph, CellGraph) else found
        if found is not None:
            return plain(found)
    return listed_change(policy, query)


def cells(graph: CellGraph) -> Iterator[tuple[Box, ...]]:
    """Yield each cell as disjoint boxes."""
    return (tuple(box for box in area.boxes if box) for area in graph.areas)


def widest_cell(policy: Policy) -> Exact:
    """Return the largest l1 diameter of a cell of the secret partition."""
    graph, domain = policy.graph, policy.domain
    axes = range(len(domain))
    if isinstance(graph, CellGraph):
        return max(diameter(domain, boxes, axes) for boxes in cells(graph))
    assert isinstance(graph, ByGraph)
    return diameter(domain, [domain.whole], [axis for axis in axes if axis not in graph.by])


def _weight(query: WeightedSum) -> Exact:
    return max((magnitude(weight) for weight in query.weights), default=0)


def _offsets(policy: Policy, query: BoundQuery) -> Exact | None:
    """Return the largest change from the spans of the axes; None if they do not tell."""
    graph = policy.graph
    assert isinstance(graph, OffsetGraph)
    span = spans(graph)
    found: Exact | None = None
    match query:
        case Histogram():
            found = 2 if any(span) else 0
        case MarginalQuery(axes=axes):
            found = 2 if any(span[axis] for axis in axes) else 0
        case PartitionHistogram():
            found = 0
        case Cumulative(axis=axis):
            found = span[axis]
        case Ranges(axis=axis, size=size):
            found = widest_range([(0, span[axis])], size)
        case CountQuery(area=area):
            found = _crossing(policy, area)
        case SumQuery(axes=axes):
            found = best_sum(graph, axes)
        case WeightedSum(axis=axis):
            found = _weight(query) * span[axis] * policy.domain.attribute(axis).step
    return found


def _cells(policy: Policy, query: BoundQuery) -> Exact | None:
    graph = policy.graph
    assert isinstance(graph, CellGraph)
    match query:
        case PartitionHistogram():
            return 0
        case CountQuery(area=area):
            return _crossing(policy, area)
    one_cell = partial(_cell, policy, query)
    found = [one_cell(boxes) for boxes in cells(graph)]
    known = [value for value in found if value is not None]
    return max(known) if len(known) == len(found) else None


def _cell(policy: Policy, query: BoundQuery, boxes: Sequence[Box]) -> Exact | None:
    """Return the largest change between two values of one cell."""
    everything = range(len(policy.domain))
    match query:
        case Histogram():
            return 2 if diameter(policy.domain, boxes, everything, positions=True) else 0
        case MarginalQuery(axes=axes):
            return 2 if diameter(policy.domain, boxes, axes, positions=True) else 0
        case Cumulative(axis=axis):
            return diameter(policy.domain, boxes, [axis], positions=True)
        case Ranges(axis=axis, size=size):
            runs = [run for box in boxes for run in box.sides[axis].runs]
            gaps = [(max(0, c - b + 1), d - 1 - a) for (a, b), (c, d) in product(runs, repeat=2)]
            return widest_range([(low, high) for low, high in gaps if high >= low], size)
        case SumQuery(axes=axes):
            return diameter(policy.domain, boxes, axes)
        case WeightedSum(axis=axis):
            return _weight(query) * diameter(policy.domain, boxes, [axis])
    return None


def _crossing(policy: Policy, area: Area) -> int:
    """Return 1 if an edge joins the area with the rest of the domain, else 0."""
    rest: tuple[Box, ...] = (policy.domain.whole,)
    for box in area.boxes:
        rest = tuple(part for piece in rest for part in piece.minus(box))
    graph = policy.graph
    return int(any(graph.edge_between(a, b) for a in area.boxes for b in rest))


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
        self._keep = isinstance(query, (ClusterSizes, MatrixQuery))
        self._weight = _weight(query) if isinstance(query, WeightedSum) else 1

    def change(self, x: Point, y: Point) -> Exact:
        if isinstance(self._query, WeightedSum):
            step = self._query.row(y)[0] - self._query.row(x)[0]
            return self._weight * magnitude(step)
        if not self._keep:
            return self._query.difference([Move(x, y)])
        before, after = self._row(x), self._row(y)
        outputs = before.keys() | after.keys()
        return sum((magnitude(after.get(o, 0) - before.get(o, 0)) for o in outputs), start=0)

    def _row(self, point: Point) -> dict[object, Exact]:
        if point not in self._kept:
            self._kept[point] = dict(self._query.row(point))
        return self._kept[point]
