"""Sparsity (blowfish-2014, Definition 8.2), decided on boxes: no value of the domain is listed.

A secret pair (x, y) *lifts* a count query that holds for y only, and *lowers* one that holds for x
only. The facts are sparse if every secret pair lifts at most one of them and lowers at most one.

Two facts about G keep this cheap. It is undirected, so what (x, y) lifts is what (y, x) lowers, and
only lifting has to be looked at. And a pair that lifts two queries has x outside of both and y in
both: a question about two boxes, asked for every two queries that overlap. Queries that are
disjoint (the cells of a marginal, ranges apart) cost nothing. Signature classes are not needed,
which matters because there can be exponentially many of them (ten known marginals).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from blowproof.models import InternalError, Point, Policy
from blowproof.verifier.databases.count_queries import CountQueries, counted_area

__all__ = ["Offending", "Sparsity", "sparse"]


@dataclass(frozen=True)
class Offending:
    """A secret pair that lifts or lowers several count queries (named as in the policy file)."""

    source: Point
    target: Point
    lifts: tuple[str, ...]
    lowers: tuple[str, ...]


@dataclass(frozen=True)
class Sparsity:
    """Whether the facts are sparse; None where Definition 8.2 does not speak about them, and why.

    `offending` is a secret pair that shows that they are not.
    """

    sparse: bool | None
    offending: Offending | None = None
    reasons: tuple[str, ...] = ()


def sparse(policy: Policy, *, deadline: float | None = None) -> Sparsity:
    """Return whether every secret pair lifts at most one count query and lowers at most one.

    Only pairs of *possible* values count. The definition ranges over all edges of G; but no record
    ever makes a move that starts or ends at an impossible value, neighbours are made of moves
    alone, and so a policy that is sparse on its possible values has all that the theory of policy
    graphs uses (see `policy_graph_bound`). Counting the other edges too would only turn usable
    policies away; without impossible values there is no difference.

    Bounds, clauses and sums that do not count each record 0 or 1 times are outside the definition:
    `sparse` is then None. A BudgetError says that the regions are too entangled to decide, or that
    the deadline came first.

    >>> from blowproof.models import Count, Distance, Domain, Integers, Marginal, Labels
    >>> domain = Domain(sex=Labels(["F", "M"]), age=Integers(0, 10**12))
    >>> sparse(Policy(domain=domain, known=(Marginal(["sex"]),))).sparse
    True
    >>> both = Policy(domain=domain, known=(Marginal(["sex"]), Count({"age": 7})))
    >>> sparse(both).offending
    Offending(source=(1, 6), target=(0, 7), lifts=('known[0] (sex = F)', 'known[1]'), \
lowers=('known[0] (sex = M)',))
    """
    reasons = tuple(_uncovered(policy))
    if reasons:
        return Sparsity(None, reasons=reasons)
    queries = CountQueries(policy, deadline=deadline)
    pair = queries.lifting_several()
    return Sparsity(True) if pair is None else Sparsity(False, _offending(queries, *pair))


def _offending(queries: CountQueries, x: Point, y: Point) -> Offending:
    """Name what the pair does, after checking in the graph itself that it is as was found."""
    lifts, lowers = queries.effect(x, y)
    if len(lifts) < 2 or not queries.is_secret(x, y):
        raise InternalError(f"the pair {x}, {y} was found to lift two queries, and does not")
    names = queries.names
    return Offending(x, y, tuple(names[q] for q in lifts), tuple(names[q] for q in lowers))


def _uncovered(policy: Policy) -> Iterator[str]:
    """Say which facts are no count queries with a fixed answer."""
    for clause in policy.clauses:
        yield f"{clause.name} is a clause over single records, not a count"
    for fact in policy.linear_facts:
        if fact.bounded:
            yield f"{fact.name} is a bound: its count is not fixed, so moves need not cancel"
        elif counted_area(policy, fact) is None:
            yield f"{fact.name} is a sum that counts some records otherwise than 0 or 1 times"
