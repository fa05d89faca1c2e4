"""The policy graph (blowfish-2014, Definition 8.3), and how many records can change at once.

Its nodes are the count queries, v+ and v-. An arc from q to q' says that some secret pair lowers q
and lifts q'; from v+ to q, that one lifts q and lowers nothing; from q to v-, that one lowers q and
lifts nothing; and v+ -> v- is always there. G is undirected, so the arcs come in opposite pairs:
with v+ and v- made one node, the policy graph is an undirected graph, which `longest` makes use of.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from blowproof.models import BudgetError, Policy, PolicyError
from blowproof.models.base.clock import Pace, now
from blowproof.verifier.databases.count_queries import CountQueries
from blowproof.verifier.databases.sparsity import Sparsity, sparse
from blowproof.verifier.engines.policy_graph.longest import (
    Longest,
    OnLongest,
    longest_cycle,
    longest_path,
)
from blowproof.verifier.limits.limit import real_limit, whole_limit

if TYPE_CHECKING:
    import networkx as nx

__all__ = [
    "SINK",
    "SOURCE",
    "PolicyGraphBound",
    "alpha",
    "policy_graph",
    "policy_graph_bound",
    "xi",
]

ARC = real_limit(__name__, "ARC")
MOST_ARCS = whole_limit(__name__, "MOST_ARCS")

SOURCE, SINK = "v+", "v-"


@dataclass(frozen=True, kw_only=True)
class PolicyGraphBound:
    """How many records can change at once: `lower` <= L <= `upper`, of a sparse policy.

    S(h, P) <= 2 * upper, and S(f, P) <= upper * (the largest change of f along one secret pair).
    `alpha` and `xi` are those of the paper; L = max(alpha, xi) but for policies in which no query
    can be lifted: there L is 1 if there is a secret pair at all, and else 0, whereas xi is 1.
    """

    graph: nx.DiGraph
    alpha: Longest
    xi: Longest
    lower: int
    upper: int

    @staticmethod
    def of(policy: Policy, graph: nx.DiGraph, cycle: Longest, path: Longest) -> PolicyGraphBound:
        """Return the bound that alpha and xi of a sparse policy's graph give."""
        lower, upper = max(cycle.lower, path.lower), max(cycle.upper, path.upper)
        if upper <= 1 and CountQueries(policy).any_edge() is None:
            lower = upper = 0
        return PolicyGraphBound(graph=graph, alpha=cycle, xi=path, lower=lower, upper=upper)

    @property
    def exact(self) -> bool:
        """Whether L is known."""
        return self.lower == self.upper


def policy_graph(
    policy: Policy, *, found: Sparsity | None = None, deadline: float | None = None
) -> nx.DiGraph:
    """Return the policy graph of a sparse policy: nodes are "v+", "v-" and the facts' names.

    `found` is what `sparse(policy)` said, where that is at hand. A policy that is not sparse, or
    that sparsity does not speak about, is a PolicyError; one with more than MOST_ARCS arcs, or past
    the deadline, a BudgetError.

    >>> from blowproof.models import Distance, Domain, Integers, Count, Between
    >>> def known(low, high): return Count({"age": Between(low, high)})
    >>> policy = Policy(domain=Domain(age=Integers(0, 99)), secrets=Distance(threshold=5),
    ...                 known=(known(10, 19), known(20, 29)))
    >>> sorted(policy_graph(policy).edges)  # doctest: +NORMALIZE_WHITESPACE
    [('known[0]', 'known[1]'), ('known[0]', 'v-'), ('known[1]', 'known[0]'), ('known[1]', 'v-'),
     ('v+', 'known[0]'), ('v+', 'known[1]'), ('v+', 'v-')]
    """
    import networkx

    _require_sparse(found or sparse(policy, deadline=deadline))
    queries = CountQueries(policy, deadline=deadline)
    graph, pace = networkx.DiGraph(), Pace(deadline)
    graph.add_nodes_from([SOURCE, *queries.names, SINK])
    for count, arc in enumerate(_arcs(queries), start=1):
        if count > MOST_ARCS or pace.over(ARC):
            raise BudgetError(
                f"the policy graph of {len(queries.names)} counts has more than {count - 1:,} arcs"
                "\n  try: more time, or fewer facts"
            )
        graph.add_edge(*arc)
    return graph


def _require_sparse(found: Sparsity) -> None:
    if found.sparse is None:
        reason = f"the policy graph does not apply: {found.reasons[0]}"
        raise PolicyError(reason, hint="ask for the sensitivity itself")
    if found.offending is not None:
        named = " and ".join(found.offending.lifts)
        raise PolicyError(
            f"the facts are not sparse, so there is no policy graph: one secret pair lifts {named}",
            hint="ask for the sensitivity itself",
        )


def _arcs(queries: CountQueries) -> Iterator[tuple[str, str]]:
    names = queries.names
    yield SOURCE, SINK
    for lowered, lifted in queries.arcs():
        yield _end(names, lowered, SOURCE), _end(names, lifted, SINK)
        yield _end(names, lifted, SOURCE), _end(names, lowered, SINK)


def _end(names: Sequence[str], query: int | None, special: str) -> str:
    return special if query is None else names[query]


def alpha(
    graph: nx.DiGraph, *, time_limit: float | None = None, on_bound: OnLongest | None = None
) -> Longest:
    """Return the length of a longest simple cycle of a policy graph; 0 if there is none.

    >>> from blowproof.models import Domain, Labels, Marginal
    >>> known = (Marginal(["ward"]),)
    >>> policy = Policy(domain=Domain(ward=Labels(["a", "b", "c"])), known=known)
    >>> alpha(policy_graph(policy)).lower, xi(policy_graph(policy)).nodes
    (3, ('v+', 'v-'))
    """
    return longest_cycle(graph, time_limit=time_limit, on_bound=on_bound)


def xi(
    graph: nx.DiGraph, *, time_limit: float | None = None, on_bound: OnLongest | None = None
) -> Longest:
    """Return the length of a longest simple path from v+ to v-, which is at least 1."""
    return longest_path(graph, SOURCE, SINK, time_limit=time_limit, on_bound=on_bound)


def policy_graph_bound(
    policy: Policy, *, found: Sparsity | None = None, time_limit: float | None = None
) -> PolicyGraphBound:
    """Return the largest number of records in which neighbours of a sparse policy differ.

    Reading "secret-moves" (and "published" where G is complete, which is the same). Scope "any":
    L is reached, and by every irreducible multiset found. Scope "given": an upper bound, since the
    moves are the same but D1 need not hold the records. The facts are equality counts, perhaps with
    impossible values; a policy that is not sparse on its possible values is a PolicyError. `found`:
    what `sparse(policy)` said, where that is at hand.

    *Statement.* Give a secret move (an ordered secret pair of possible values) that lowers q and
    lifts q' the arc q -> q', writing v0 for "none" on either side. The irreducible zero-effect
    multisets of secret moves are (1) single moves that lower and lift nothing, and (2) the
    multisets with one move per arc of a simple cycle of the graph H on the queries and v0. A cycle
    of H that avoids v0 is a simple cycle of the policy graph. One through v0 is a simple path from
    v+ to v- with at least two edges, and the same number of edges. So L is max(alpha, xi), but for
    an xi of 1, which is the edge v+ -> v- and stands for (1).

    *Proof.* Sparse: a move lowers at most one query and lifts at most one, never the same one. So
    its arc is well defined, no loop unless it is v0 -> v0, and its effect is the unit vector of the
    head minus that of the tail, where v0 has the vector 0. A move of effect 0 is
    irreducible alone, and in no larger irreducible multiset; that is (1). Now let M be irreducible
    without such moves. Its total effect is 0: at every query as many arcs of M end as begin, hence
    at v0 too, the total over all nodes being equal. A finite non-empty multiset of arcs like that
    contains a simple cycle (walk on until a node comes back). Its arcs sum to 0, so M, which has no
    smaller part that does, is that cycle. Conversely the arcs of a simple cycle sum to 0, and those
    of a proper non-empty part do not: the part is a union of disjoint paths, each of which has two
    different ends, at least one of them a query, whose coordinate is not 0. Under scope "any" the
    records of D1 hold the sources of M and those of D2 the targets: neighbours that differ in |M|
    records. Impossible values only take moves away. QED.

    *What cannot go wrong here.* Effects are vectors indexed by the facts as written, so equal facts
    stay apart as nodes; if a secret pair lifts one of them it lifts both, and the policy is not
    sparse. A query that covers every possible value, or none, is an isolated node. Bounds break the
    proof (a part may be feasible, or not, whatever its effect), hence they are refused.

    >>> from blowproof.models import AttributeChange, Domain, Labels, Marginal
    >>> domain = Domain(a=Labels(["x", "y"]), b=Labels(["x", "y", "z"]))
    >>> known = (Marginal(["a"]), Marginal(["b"]))
    >>> bound = policy_graph_bound(Policy(domain=domain, secrets=AttributeChange(), known=known))
    >>> bound.lower, bound.upper, bound.alpha.nodes
    (3, 3, ('known[1] (b = x)', 'known[1] (b = y)', 'known[1] (b = z)'))
    """
    started = now()

    def left() -> float | None:
        return None if time_limit is None else max(0.0, time_limit - (now() - started))

    deadline = None if time_limit is None else started + time_limit
    graph = policy_graph(policy, found=found, deadline=deadline)
    half = left()
    path = xi(graph, time_limit=half and half / 2)
    return PolicyGraphBound.of(policy, graph, alpha(graph, time_limit=left()), path)
