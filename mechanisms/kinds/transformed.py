"""The transformed mechanism: noise on the flows along a spanning forest of G.

Data-dependent-blowfish, sections 3 and 4, after Haney et al.: with x = P y, a workload W x is the
workload (W P) y on the flows y. A record that moves along an edge of G changes at most `stretch`
flows, by 1 each, so Laplace noise of scale stretch / epsilon on every flow is private; for a tree
the stretch is 1 and the two problems are equivalent. On a line the flows are the prefix sums.

The number of records of a component of G is a flow out of its root. No secret moves it, so it is
released as it is where the verifier finds that it never changes; else it gets noise like the rest.
All answers follow from the noisy counts that the noisy flows give, whatever the query.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import singledispatch
from math import prod
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from blowproof.mechanisms.answers.noisy_table import NoisyTable
from blowproof.mechanisms.answers.true_answers import count_cells, require_answerable, true_answers
from blowproof.mechanisms.answers.vectors import (
    Estimate,
    Names,
    Vector,
    sums_by,
)
from blowproof.mechanisms.base.errors import RefusedError
from blowproof.mechanisms.release.release import (
    STILL_NOTE,
    Draw,
    Plan,
    Request,
    calibrated_scale,
    status_notes,
)
from blowproof.mechanisms.structures.forests import (
    Forest,
    Rated,
    best_forest,
    forests,
    hubs,
    path,
    rated,
)
from blowproof.models import (
    BoundQuery,
    BudgetError,
    Domain,
    Exact,
    Point,
    Policy,
    QueryError,
)
from blowproof.models.data.dataset import Dataset
from blowproof.models.mechanisms.mechanism import Prefixes, Release
from blowproof.models.mechanisms.trees_and_prefixes import bind_query
from blowproof.models.norms import L1, L2_SQUARED
from blowproof.models.policy.readings import is_labelled
from blowproof.models.queries.kinds import Cumulative, Ranges
from blowproof.models.queries.query import Row
from blowproof.models.secrets.offsets import OffsetGraph
from blowproof.models.stacks.stacked import Part, Stacked, in_norm
from blowproof.verifier.portfolio.problem import Problem

__all__ = [
    "Flows",
    "NoisyTable",
    "Transformed",
    "free",
    "graph_edges",
    "plan_flows",
    "require_few_values",
    "require_one_record",
]

Ints = NDArray[np.int64]

MOST_VALUES = 2_000_000
MOST_EDGES = 5_000_000
STAR, PATH, HUBS, SEARCH = "star", "path", "hubs", "search"
TREES = (STAR, PATH, HUBS, SEARCH)


@dataclass(frozen=True, repr=False, eq=False)
class Flows(BoundQuery):
    """The flows of a forest, or the totals of its roots, or both; `vertex` maps values (row-major).

    Several values may share a vertex: they are a bucket.
    """

    domain: Domain
    vertex: Ints
    forest: Forest
    edges: bool = True
    roots: bool = False
    name: str = "flows"
    unit = 1
    binary = True

    def __post_init__(self) -> None:
        """Keep the array as it is: what was proved of the flows stays true of them."""
        self.vertex.setflags(write=False)

    def __eq__(self, other: object) -> bool:
        """Whether the rows are the same: then what was proved of one is so of the other."""
        return isinstance(other, Flows) and (
            self is other
            or (
                (self.edges, self.roots, self.domain) == (other.edges, other.roots, other.domain)
                and np.array_equal(self.vertex, other.vertex)
                and np.array_equal(self.forest.parent, other.forest.parent)
            )
        )

    def __hash__(self) -> int:
        """Return a hash that flows with the same rows share."""
        return hash((self.edges, self.roots, len(self.vertex)))

    @property
    def released(self) -> Ints:
        """The vertices whose flows are released."""
        wanted = np.zeros(len(self.forest.parent), dtype=bool)
        wanted[self.forest.heads] = self.edges
        wanted[self.forest.roots] = self.roots
        return np.flatnonzero(wanted)

    def row(self, point: Point) -> Row:
        """One record adds 1 to every flow between its vertex and the root."""
        parent = self.forest.parent
        row: dict[Hashable, Exact] = {}
        at = int(self.vertex[self.domain.rank(point)])
        if not self.edges:  # a path may be long
            return {int(self.forest.root[at]): 1} if self.roots else {}
        while at >= 0:
            above = int(parent[at])
            if self.edges if above >= 0 else self.roots:
                row[at] = 1
            at = above
        return row

    def as_table(self) -> dict[str, Any]:
        """Return what stands for the flows in a file."""
        flows = {
            "vertex": self.vertex.tolist(),
            "parent": self.forest.parent.tolist(),
            "edges": self.edges,
            "roots": self.roots,
        }
        return {"flows": flows}

    def evaluate(self, data: Dataset) -> Vector:
        """Return the true flows."""
        counts = count_cells(data, tuple(range(len(self.domain))))
        chosen = self.released
        if not self.edges:  # what flows out of a root is all that its tree holds
            sums = sums_by(self.forest.root[self.vertex], counts, len(self.forest.parent))
            return Vector(sums[chosen], Fraction(1), self._names(chosen))
        held = sums_by(self.vertex, counts, len(self.forest.parent))
        return Vector(self.forest.flows(held)[chosen], Fraction(1), self._names(chosen))

    def _names(self, chosen: Ints) -> Names:
        return Names(("flow",), len(chosen), lambda: ((str(at),) for at in chosen.tolist()))


def free(policy: Policy) -> bool:
    """Whether nothing but n and impossible values is known: neighbours differ in one record."""
    return not policy.linear_facts and not policy.clauses


def require_one_record(request: Request, name: str) -> None:
    """Refuse policies and readings in which neighbours may differ in more than one record."""
    if not free(request.policy) or not is_labelled(request.reading):
        raise RefusedError(
            f"{name} needs neighbours that differ in one record: a policy without known "
            "counts, reading published or secret-moves\n  try: --mechanism laplace"
        )


def graph_edges(policy: Policy) -> tuple[Ints, Ints]:
    """Return the edges of G as two arrays of values (row-major numbers)."""
    graph = policy.graph
    if isinstance(graph, OffsetGraph):
        return _by_offsets(graph)
    rank = policy.domain.rank
    ends = [(rank(x), rank(y)) for x, y in graph.edges(limit=MOST_EDGES)]
    both = np.array(ends, dtype=np.int64).reshape(len(ends), 2)
    return both[:, 0], both[:, 1]


def _by_offsets(graph: OffsetGraph) -> tuple[Ints, Ints]:
    """Return the edges of a graph that looks at offsets alone: for each of them all at once."""
    sizes = [axis.size for axis in graph.axes]
    steps, found = [], 0
    for step in _half(graph):
        found += prod(size - abs(k) for size, k in zip(sizes, step, strict=True))
        _refuse_above(MOST_EDGES, found, "edges")
        steps.append(step)
    value = np.arange(prod(sizes) if steps else 0, dtype=np.int64).reshape(sizes if steps else 0)
    low, high = [np.zeros(0, dtype=np.int64)], [np.zeros(0, dtype=np.int64)]
    for step in steps:
        ends = zip(sizes, step, strict=True)
        here = tuple(slice(max(0, -k), size - max(0, k)) for size, k in ends)
        there = tuple(slice(s.start + k, s.stop + k) for s, k in zip(here, step, strict=True))
        low.append(value[here].ravel())
        high.append(value[there].ravel())
    return np.concatenate(low), np.concatenate(high)


def _half(graph: OffsetGraph) -> Iterator[tuple[int, ...]]:
    """Yield how far an edge may lead on each axis, one of each two opposite ways."""

    def ways(place: int, left: int, *, forward: bool) -> Iterator[tuple[int, ...]]:
        if place == len(graph.axes):
            if forward:
                yield ()
            return
        axis = graph.axes[place]
        far = axis.reach(left)
        if far and not axis.line:  # any change costs the same, however far it leads
            far = axis.size - 1
        for k in range(-far if forward else 0, far + 1):
            cost = axis.cost(axis.offset(0, k))
            spent = left - cost if graph.together == "sum" else left
            for others in ways(place + 1, spent, forward=forward or k > 0):
                yield (k, *others)

    return ways(0, graph.bound, forward=False)


def is_path(policy: Policy) -> bool:
    """Whether G joins each value of one attribute to the next, and no others."""
    graph = policy.graph
    if len(policy.domain) != 1 or not isinstance(graph, OffsetGraph):
        return False
    return graph.axes[0].line and graph.axes[0].reach(graph.bound) == 1


def require_few_values(policy: Policy) -> None:
    """Refuse a domain with more values than are listed one by one."""
    _refuse_above(MOST_VALUES, policy.domain.size, "values")


def _refuse_above(limit: int, found: int, what: str) -> None:
    if found > limit:
        raise BudgetError(
            f"the secret graph has {found} {what}; {limit} at most are listed one by one"
            "\n  try: --mechanism laplace, or ordered"
        )


def plan_flows(request: Request, vertex: Ints, edges: tuple[Ints, Ints] | None) -> Rated:
    """Return the forest for G with values merged into vertices, and its stretch: the one with the
    least error for the query that is asked. `edges` are those of G, where they are listed already.
    """
    return best_forest(_rated(request.policy, vertex, None, edges), _least_for(request))


def _rated(
    policy: Policy, vertex: Ints, tree: str | None, edges: tuple[Ints, Ints] | None
) -> list[Rated]:
    """Return the forests to choose from, and how far each stretches an edge of G.

    `tree` names a kind (None: any).
    """
    size = int(vertex.max()) + 1
    if tree is not None and tree not in TREES:
        raise QueryError(f"there is no tree {tree!r}\n  try: one of {', '.join(TREES)}")
    if tree in (None, PATH) and size == policy.domain.size > 1 and is_path(policy):
        return [(path(size), 1)]
    if policy.graph.complete and tree in (None, STAR):
        parent = np.zeros(size, dtype=np.int64)
        parent[0] = -1
        return [(Forest(parent), min(size - 1, 2))]
    u, v = graph_edges(policy) if edges is None else edges
    u, v = vertex[u], vertex[v]
    # one number for each edge: both ends are places in an array, so it is below 2**63
    u, v = np.divmod(np.unique((np.minimum(u, v) * size + np.maximum(u, v))[u != v]), size)
    return rated(_candidates(policy, size, u, v, tree), u, v)


def _least_for(request: Request) -> Callable[[Forest], float]:
    return lambda forest: _error(request.bound, forest)


_RATED: WeakKeyDictionary[Problem, dict[str | None, list[Rated]]] = WeakKeyDictionary()
"""Forests for single values, by kind: they depend on no query. They are kept as long as what the
verifier found, which is of one policy and shared by all requests of a run."""


def _candidates(policy: Policy, size: int, u: Ints, v: Ints, tree: str | None) -> list[Forest]:
    """A line offers its path and its hubs, if its vertices are in order and all connected."""
    line = len(policy.domain) == 1 and isinstance(policy.graph, OffsetGraph)
    line = line and len(u) >= size - 1 and bool((np.isin(np.arange(size - 1), u[v - u == 1])).all())
    found = []
    if line and tree in (None, PATH):
        found.append(path(size))
        if len(u) == size - 1 and tree is None:
            return found  # G is that path, and has no other spanning tree
    if line and tree in (None, HUBS):
        found.append(hubs(size, max(1, int((v - u).max(initial=1)))))
    if tree in (None, SEARCH) or (tree == STAR and size == 1):
        found += forests(size, u, v)
    if not found:
        raise QueryError(f"this secret graph has no {tree}\n  try: search")
    return [_spanning(forest, u, v) for forest in found]


def _spanning(forest: Forest, u: Ints, v: Ints) -> Forest:
    """Drop the edges of a tree that G does not have (hubs further apart than G reaches)."""
    child, size = forest.heads, len(forest.parent)
    above = forest.parent[child]
    pairs = np.minimum(child, above) * size + np.maximum(child, above)
    return forest if np.isin(pairs, u * size + v).all() else path(size)


@singledispatch
def _error(query: BoundQuery, forest: Forest) -> float:
    """The squared error of a workload when every flow has noise of variance 1.

    The flow of an edge from c up to p enters the answers with row(c) - row(p): a histogram's here,
    along one axis below.
    """
    return 2.0 * len(forest.heads)


@_error.register
def _cumulative_error(query: Cumulative, forest: Forest) -> float:
    return float(_passed(forest).sum())


@_error.register
def _ranges_error(query: Ranges, forest: Forest) -> float:
    apart = _passed(forest)
    return float((apart * (len(forest.parent) + 1.0 - apart)).sum())


def _passed(forest: Forest) -> Ints:
    """The positions that lie between the ends of each edge."""
    return np.asarray(abs(forest.heads - forest.parent[forest.heads]))


class Transformed(Plan):
    """Noise on the flows of a spanning forest of G; counts, and so all answers, from those."""

    name = "transformed"
    postprocessing = ("counts from flows",)
    settings = ("tree",)

    def __init__(self, request: Request) -> None:
        super().__init__(request)
        if not is_path(request.policy):  # a path takes no more than its prefixes do
            require_few_values(request.policy)
        if request.bound.per_record:
            raise QueryError(
                f"{request.bound.name} puts weights on single records, which noisy counts do not "
                "have\n  try: --mechanism laplace"
            )
        require_answerable(request.bound, request.policy)
        vertex = np.arange(request.policy.domain.size, dtype=np.int64)
        kept: dict[str | None, list[Rated]] = {}
        if request.problem is not None:
            kept = _RATED.setdefault(request.problem, kept)
        tree = request.options.get("tree")
        if tree not in kept:
            kept[tree] = _rated(request.policy, vertex, tree, None)
        self.forest, self.stretch = best_forest(kept[tree], _least_for(request))
        self.releases = flow_releases(self, request, vertex, self.forest, self.stretch)
        self.description = self.described(*self.releases)

    def draws_as(self, other: Plan) -> bool:
        """Whether the other plan's flows are these; then they are taken over."""
        if not isinstance(other, Transformed):
            return False
        scales = [[item.widths for item in plan.releases] for plan in (self, other)]
        same = np.array_equal(self.forest.parent, other.forest.parent) and scales[0] == scales[1]
        if same:
            self.releases, self.description = other.releases, other.description
        return same

    def run(self, draw: Draw) -> Vector | Estimate:
        """Return the answers on the noisy counts."""
        flows = drawn_flows(draw, self.releases, self.forest)
        policy = self.request.policy
        table = NoisyTable(self.forest.counts(flows), policy.domain)
        return true_answers(self.request.bound, policy, table)


def flow_releases(
    plan: Plan, request: Request, vertex: Ints, forest: Forest, stretch: int
) -> tuple[Release, ...]:
    """Return the releases of the flows of a forest, calibrated; keep S and notes in the plan.

    Where nothing is known but n, neighbours differ in one record that moves along an edge of G, so
    S is the stretch, in squares too. Else the verifier says what S is. For a rho, noise is
    Gaussian.
    """
    domain, rho = request.policy.domain, request.rho
    budget = request.epsilon if rho is None else 2 * rho
    norm = L1 if rho is None else L2_SQUARED
    roots: Flows | Prefixes = Flows(domain, vertex, forest, edges=False, roots=True, name="totals")
    query: Flows | Prefixes = Flows(domain, vertex, forest)
    line = len(domain) == 1 and domain.attribute(0).ordered
    if line and np.array_equal(forest.parent, path(len(vertex)).parent):
        query = Prefixes(attribute=domain.names[0])
        roots = Prefixes(attribute=domain.names[0], every=len(vertex), whole=True)
    if free(request.policy) and is_labelled(request.reading):
        plan.notes = (f"S = {stretch}: the most flows that one secret changes", STILL_NOTE)
        edges, totals = Fraction(stretch) / budget, Fraction(0)
    else:
        total = bind_query(roots, request.policy)
        still = request.sensitivity(total).upper == 0
        bound = bind_query(query, request.policy)
        parts = tuple(Part(item, (Fraction(1),)) for item in (bound, total))
        asked = bound if still else Stacked(parts, name="flows")
        plan.sensitivity = request.sensitivity(in_norm(asked, norm, domain))
        edges = calibrated_scale(plan.sensitivity, budget)
        totals = Fraction(0) if still else edges
        plan.notes = (*status_notes(plan.sensitivity), *((STILL_NOTE,) if still else ()))
    found = []
    if len(forest.heads):
        found.append(_noisy(query, edges, gaussian=rho is not None))
    return (*found, _noisy(roots, totals, gaussian=rho is not None))


def _noisy(query: Flows | Prefixes, width: Fraction, *, gaussian: bool) -> Release:
    """Return a release with noise of a scale, or of a variance; without any where that is 0."""
    if gaussian and width:
        return Release(query=query, noise="discrete-gaussian", variance=width)
    return Release(query=query, noise="discrete-laplace", scale=width)


def drawn_flows(draw: Draw, releases: Sequence[Release], forest: Forest) -> NDArray[Any]:
    """Draw the releases of `flow_releases`, and put the flows in the order of the vertices."""
    places = [forest.heads, forest.roots] if len(forest.heads) else [forest.roots]
    drawn = [draw(item).units for item in releases]
    flows = np.zeros(len(forest.parent), dtype=np.result_type(*drawn))
    for units, where in zip(drawn, places, strict=True):
        flows[where] = units
    return flows
