"""blowfish-2014, section 8: histograms under sparse facts and disjoint ranges."""

from __future__ import annotations

from blowproof.models import BudgetError, Exact
from blowproof.models.policy.readings import BLOWFISH
from blowproof.models.queries.kinds import Histogram
from blowproof.verifier.closed_forms.blowfish.sparse_witness import realisable
from blowproof.verifier.closed_forms.stating import conditions as need
from blowproof.verifier.closed_forms.stating import counterexamples as wrong
from blowproof.verifier.closed_forms.stating.form import Case, form
from blowproof.verifier.databases.count_queries import CountQueries

__all__ = ["FORMS"]

SPARSE = (need.query_is(Histogram), need.equality_facts, need.sparse_facts)


def _queries(case: Case) -> int:
    return len(case.policy.linear_facts)


@form(
    "blowfish-2014/theorem-8.2",
    "Sparse facts: S(h) <= 2 max(alpha, xi) of the policy graph.",
    source="blowfish-2014, Theorem 8.2",
    relation="<=",
    readings=BLOWFISH,
    checks=SPARSE,
    wrong=wrong.THEOREM_8_2,
)
def theorem_8_2(case: Case) -> Exact:
    """Holds for secret moves; as published, plain moves compensate, which no arc accounts for."""
    alpha, xi = case.bound.alpha, case.bound.xi
    if not (alpha.exact and xi.exact):
        raise BudgetError("alpha and xi are not known in time")
    return 2 * max(alpha.lower, xi.lower)


@form(
    "blowfish-2014/theorem-8.2-repaired",
    "Sparse facts, secret moves: S(h) <= 2 max(alpha, xi), where an xi of 1 counts only if there "
    "is a secret pair.",
    source="blowfish-2014, Theorem 8.2, repaired",
    relation="<=",
    readings=("secret-moves",),
    checks=SPARSE,
    repaired=True,
)
def theorem_8_2_repaired(case: Case) -> Exact:
    """Irreducible multisets of secret moves are simple cycles of the policy graph, simple paths
    from v+ to v- of two arcs or more, or single moves without effect (proof: `policy_graph_bound`).
    One move changes the histogram by 2 at the most. The arc v+ -> v- itself stands for a single
    move without effect, so it counts only where a secret pair exists.
    """
    return 2 * case.bound.upper


def _realised(case: Case) -> str | None:
    if not case.bound.exact:
        return "alpha and xi are not known in time"
    if realisable(case.policy, case.bound):
        return None
    return (
        "the longest cycle or path found has no choice of secret pairs, among those looked at, in "
        "which no record enters a value that another one leaves"
    )


@form(
    "blowfish-2014/theorem-8.2-equality",
    "Sparse facts, and a longest cycle or path made of secret pairs none of which ends where "
    "another one starts: S(h) = 2 max(alpha, xi).",
    source="blowfish-2014, Theorem 8.2, second part",
    readings=("secret-moves",),
    checks=(*SPARSE, _realised),
    repaired=True,
)
def theorem_8_2_equality(case: Case) -> Exact:
    """The paper asks for neighbours in which most records change, and whose change is twice their
    number. A longest cycle or path whose moves start at values where none of them ends is such a
    pair, and conversely: the change is twice the number of moves iff nothing cancels.
    """
    return 2 * case.bound.upper


@form(
    "blowfish-2014/corollary-8.3",
    "Sparse facts: S(h) <= 2 max(|Q|, 1).",
    source="blowfish-2014, Corollary 8.3",
    relation="<=",
    readings=BLOWFISH,
    checks=SPARSE,
    wrong=wrong.COROLLARY_8_3,
)
def corollary_8_3(case: Case) -> Exact:
    """A path from v+ to v- through all queries has |Q| + 1 arcs, not |Q|."""
    return 2 * max(_queries(case), 1)


@form(
    "blowfish-2014/corollary-8.3-repaired",
    "Sparse facts, secret moves: S(h) <= 2 (|Q| + 1).",
    source="blowfish-2014, Corollary 8.3, repaired",
    relation="<=",
    readings=("secret-moves",),
    checks=SPARSE,
    repaired=True,
)
def corollary_8_3_repaired(case: Case) -> Exact:
    """Make v+ and v- one node: what changes at once is a simple cycle on |Q| + 1 nodes (see
    `policy_graph_bound`), so at most |Q| + 1 moves, each of which changes at most 2.
    """
    return 2 * (_queries(case) + 1)


# --- disjoint ranges, distance secrets -----------------------------------------------------------


def _cube(case: Case) -> str | None:
    sizes = {attribute.size for _, attribute in case.domain.attributes}
    return None if len(sizes) == 1 else "the attributes have different sizes: T is not [m]^k"


def _ranges(case: Case) -> str | None:
    facts = case.policy.linear_facts
    boxes = [need.single_box(fact) for fact in facts]
    for fact, box in zip(facts, boxes, strict=True):
        if box is None or any(len(side.runs) != 1 for side in box.sides):
            return f"{fact.name} does not count one rectangle"
    known = [box for box in boxes if box is not None]
    if any(a & b for place, a in enumerate(known) for b in known[:place]):
        return "two of the rectangles overlap"
    return None


def _no_points(case: Case) -> str | None:
    boxes = [need.single_box(fact) for fact in case.policy.linear_facts]
    points = any(box is not None and box.size == 1 for box in boxes)
    return "a known count is a point query" if points else None


def _components(case: Case) -> list[set[int]]:
    import networkx as nx

    queries = CountQueries(case.policy)
    graph = nx.Graph()
    graph.add_nodes_from(range(_queries(case)))
    for first in graph:
        for second in range(first):
            if queries.moving(first, second) is not None:
                graph.add_edge(first, second)
    return [set(part) for part in nx.connected_components(graph)]


_8_6 = (
    need.query_is(Histogram),
    need.distance_on_all("l1", "l2", "linf"),
    need.linear_attributes,
    need.equality_facts,
    need.no_impossible,
    _cube,
    _ranges,
)


def _printed_8_6(case: Case) -> int:
    return 2 * (max((len(part) for part in _components(case)), default=0) + 1)


@form(
    "blowfish-2014/theorem-8.6",
    "Distance secrets on [m]^k, disjoint rectangles: S(h) <= 2 (maxcomp + 1).",
    source="blowfish-2014, Theorem 8.6, first part",
    relation="<=",
    readings=BLOWFISH,
    checks=_8_6,
    wrong=wrong.THEOREM_8_6,
)
def theorem_8_6(case: Case) -> Exact:
    """Holds for secret moves; as published, plain moves reach other components."""
    return _printed_8_6(case)


@form(
    "blowfish-2014/theorem-8.6-equality",
    "Distance secrets on [m]^k, disjoint rectangles, no points: S(h) = 2 (maxcomp + 1).",
    source="blowfish-2014, Theorem 8.6, second part",
    readings=BLOWFISH,
    checks=(*_8_6, _no_points),
    wrong=wrong.THEOREM_8_6_EQUALITY,
)
def theorem_8_6_equality(case: Case) -> Exact:
    """A component need not have a path through all its rectangles, nor a way in and out."""
    return _printed_8_6(case)


@form(
    "blowfish-2014/theorem-8.6-repaired",
    "Distance secrets, disjoint rectangles, secret moves: S(h) <= 2 max over components of their "
    "size, one more if a secret pair enters one from outside all rectangles.",
    source="blowfish-2014, Theorem 8.6, repaired; on every graph G",
    relation="<=",
    readings=("secret-moves",),
    checks=(need.query_is(Histogram), need.equality_facts, _ranges),
    repaired=True,
)
def theorem_8_6_repaired(case: Case) -> Exact:
    """Disjoint rectangles are sparse under every G: a value lies in one of them at most. What
    changes at once is a simple cycle of the rectangles and the outside, as one node, or one move
    without effect (`policy_graph_bound`). The cycle without its outside node, if it has that, lies
    in one component of the rectangles that secret pairs join; through the outside it needs a secret
    pair that enters the component from there. One rectangle alone has no cycle of its own. So with
    |K| rectangles in a component there are at most |K| + 1 moves, |K| if nothing enters it, and
    none if |K| = 1 as well. Equality: `blowfish-2014/theorem-8.2-equality`.
    """
    queries = CountQueries(case.policy)
    best = 1 if queries.any_edge() is not None else 0
    for part in _components(case):
        entered = any(queries.entering(query) is not None for query in part)
        if entered or len(part) > 1:
            best = max(best, len(part) + entered)
    return 2 * best


FORMS = (
    theorem_8_2,
    theorem_8_2_equality,
    theorem_8_2_repaired,
    corollary_8_3,
    corollary_8_3_repaired,
    theorem_8_6,
    theorem_8_6_equality,
    theorem_8_6_repaired,
)
