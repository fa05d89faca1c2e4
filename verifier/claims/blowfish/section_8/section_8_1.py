"""blowfish-2014, section 8.1: count constraints and the policy graph."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import chain

from blowproof.models import Count, Domain, Exact, Labels, Marginal, Policy
from blowproof.verifier.claims.stating import families as some
from blowproof.verifier.claims.stating import sparse_families as sparse
from blowproof.verifier.claims.stating.claim import Claim, Instance, Part, Relation
from blowproof.verifier.claims.stating.families import family
from blowproof.verifier.claims.stating.measures import Counted, Sensitivity
from blowproof.verifier.claims.stating.policy_graphs import SINK, SOURCE, effects, policy_graph

__all__ = ["CLAIMS"]


def _answered(size: int) -> Iterator[Instance]:
    """Yield lines with every database's answers given, beside the same policy for any answers."""
    from itertools import combinations_with_replacement

    for records in range(1, size + 1):
        for instance in some.lines(3, (1,), 2):
            policy = instance.the_policy
            values = list(policy.domain.points())
            for database in combinations_with_replacement(values, records):
                totals = policy.totals(database)
                known = tuple(
                    Count(fact.where, answer=total)
                    for fact, total in zip(policy.known, totals, strict=True)
                    if isinstance(fact, Count)
                )
                given = replace(
                    policy, known=known, database=replace(policy.database, size=records)
                )
                yield Instance(shape=f"line of {policy.domain.size}, n = {records}", policy=given)


def _for_any(instance: Instance) -> Exact | None:
    policy = instance.the_policy
    freed = replace(policy, database=replace(policy.database, size=None, answers="any"))
    value = Sensitivity("secret-moves")(replace(instance, policy=freed), None)
    return value.upper


RELATIONS: tuple[tuple[str, Relation], ...] = (
    ("S for the answers is S for any", "="),
    ("it is at most that", "<="),
)


ANSWERS = Claim(
    id="blowfish-2014/section-8.1-answers",
    source="Section 8.1, after Equation 16",
    quote="do not affect our analysis",
    statement="The answers cnt_i do not affect the analysis: S depends on which counts are known, "
    "not on their numbers.",
    read_as="S for given answers against S for any answers.",
    parts=tuple(
        Part(
            name=name,
            family=family(
                "lines of up to 3 values with up to 2 disjoint ranges, the answers of every "
                "database of 1 to 3 records",
                lambda: _answered(2),
                lambda: _answered(3),
            ),
            claimed=_for_any,
            measure=Sensitivity("secret-moves", "given"),
            relation=relation,
            reading="secret-moves",
            answers="given",
        )
        for name, relation in RELATIONS
    ),
    repaired="S for given answers is at most S for any, which is what the closed forms give.",
    amendment="condition",
    explanation="D1 has to hold the records that move: with few records, or a count of zero, the "
    "longest cycle of moves does not fit into any database, and S(h, P) for those answers is "
    "smaller. Noise calibrated for any answers is enough, and is more than needed.",
)


def _unchanged_or_one(instance: Instance) -> Exact:
    """Return the most of the three cases (up, down, same) that hold of a pair and a query."""
    policy, most = instance.the_policy, 0
    for x, y, lowered, lifted in effects(policy):
        for query, fact in enumerate(policy.linear_facts):
            same = fact.coefficient(x) == fact.coefficient(y)
            cases = (query in lifted) + (query in lowered) + same
            most = max(most, cases, 2 - cases)
    return most


CASES = Claim(
    id="blowfish-2014/definition-8.1",
    source="Section 8.1.1, Definition 8.1 and the cases before it",
    quote="three mutually exclusive cases",
    statement="When a record changes along a secret pair, each count query is lifted, lowered or "
    "unchanged, exactly one of the three.",
    read_as="Of each secret pair and count exactly one case holds.",
    parts=(
        Part(
            name="exactly one case holds",
            family=family(
                "every graph on up to 3 values with up to 2 counts up to renaming",
                lambda: sparse.graph_policies(3, 1),
                lambda: chain(*(sparse.graph_policies(size, 2) for size in (2, 3))),
            ),
            claimed=lambda item: 1 if item.the_policy.known and _has_edge(item) else None,
            measure=Counted(_unchanged_or_one),
            small="nothing",
            large="nothing",
        ),
    ),
    proof="A query counts a record 0 or 1 times: 0 to 1, 1 to 0, or no change.",
)


def _has_edge(instance: Instance) -> bool:
    return instance.the_policy.graph.edge_count > 0


EXAMPLE = Policy(
    name="example-8.1",
    domain=Domain(A1=Labels(["a1", "a2"]), A2=Labels(["b1", "b2"]), A3=Labels(["c1", "c2", "c3"])),
    known=(Marginal(["A1", "A2"]),),
)


EXAMPLE_POINTS = {"first": ((0, 0, 0), (1, 1, 1)), "second": ((0, 1, 0), (0, 1, 1))}


def _fact(name: str, claimed: int, count: object) -> Part:
    def counted(instance: Instance) -> Exact:
        assert callable(count)
        number = count(instance.the_policy)
        assert isinstance(number, int)
        return number

    return Part(
        name=name,
        family=family(
            "the example itself", lambda: [Instance(shape="the example", policy=EXAMPLE)]
        ),
        claimed=lambda instance: claimed,
        measure=Counted(counted),
        small="nothing",
        large="nothing",
    )


def _pair_effect(policy: Policy, which: str) -> tuple[list[int], list[int]]:
    wanted = EXAMPLE_POINTS[which]
    return next((low, up) for x, y, low, up in effects(policy) if (x, y) == wanted)


def _dichotomy(policy: Policy) -> int:
    """Return how many pairs lift one and lower another query, or neither; minus all pairs."""
    found = [(len(low), len(up)) for _, _, low, up in effects(policy)]
    return sum(1 for item in found if item not in ((0, 0), (1, 1)))


EXAMPLE_8_1 = Claim(
    id="blowfish-2014/example-8.1",
    source="Section 8.1.1, Example 8.1",
    quote="We can verify every pair",
    statement="2 x 2 x 3 values, the counts of A1 x A2, full secrets: (a1,b1,c1) to (a2,b2,c2) "
    "lowers q1 and lifts q4; (a1,b2,c1) to (a1,b2,c2) changes none; every pair lowers and lifts "
    "exactly one or none; so Q is sparse.",
    read_as="The example as printed, every pair listed.",
    parts=(
        _fact("the first pair lowers q1 alone and lifts q4 alone", 1,
              lambda p: int(_pair_effect(p, "first") == ([0], [3]))),
        _fact("the second pair changes no query", 1,
              lambda p: int(_pair_effect(p, "second") == ([], []))),
        _fact("pairs that do neither one-and-one nor nothing", 0, _dichotomy),
        _fact("sparse", 1, lambda p: int(policy_graph(p) is not None)),
    ),
    proof="A finite check of all 132 ordered pairs.",
)  # fmt: skip


def _graph_of(policy: Policy) -> frozenset[tuple[object, object]]:
    graph = policy_graph(policy)
    assert graph is not None
    return frozenset(graph.arcs)


def _special_arcs(policy: Policy) -> int:
    arcs = _graph_of(policy) - {(SOURCE, SINK)}
    return sum(1 for tail, head in arcs if tail == SOURCE or head == SINK)


def _number(policy: Policy, name: str) -> int:
    graph = policy_graph(policy)
    assert graph is not None
    value = getattr(graph, name)
    assert isinstance(value, int)
    return value


EXAMPLE_8_2 = Claim(
    id="blowfish-2014/example-8.2",
    source="Section 8.1.1, Example 8.2",
    quote="we have its policy graph",
    statement="The policy graph of Example 8.1 has the edge (q1, q4), no edge from v+ or to v- "
    "but (v+, v-), alpha = 4 and xi = 1.",
    read_as="The example as printed; alpha and xi by listing cycles and paths.",
    parts=(
        _fact("the edge from q1 to q4", 1, lambda p: int((0, 3) in _graph_of(p))),
        _fact("other edges at v+ and v-", 0, _special_arcs),
        _fact("alpha", 4, lambda p: _number(p, "alpha")),
        _fact("xi", 1, lambda p: _number(p, "xi")),
    ),
    proof="A finite check.",
)


SPARSE_ATTRIBUTE = Claim(
    id="blowfish-2014/definition-8.2",
    source="Section 8.1.1, Definition 8.2, with the proofs of Theorems 8.4 and 8.5",
    quote="lifts at most one count query",
    statement="One marginal is sparse w.r.t. full secrets; disjoint marginals are sparse w.r.t. "
    "one-attribute secrets.",
    read_as="The definition itself, checked on the cases that the paper calls sparse.",
    parts=(
        Part(
            name="one marginal, full secrets",
            family=family(
                "tables of 1 to 3 attributes with up to 12 values, every proper marginal",
                lambda: sparse.marginal_tables(6, (2,)),
                lambda: sparse.marginal_tables(12, (1, 2, 3)),
            ),
            claimed=lambda instance: 1,
            measure=Counted(lambda item: int(policy_graph(item.the_policy) is not None)),
        ),
        Part(
            name="disjoint marginals, one-attribute secrets",
            family=family(
                "tables of 2 or 3 attributes with up to 12 values, disjoint proper marginals",
                lambda: sparse.disjoint_marginals(6, (2,)),
                lambda: sparse.disjoint_marginals(12, (2, 3)),
            ),
            claimed=lambda instance: 1,
            measure=Counted(lambda item: int(policy_graph(item.the_policy) is not None)),
        ),
    ),
    proof="A value lies in one cell of a marginal, so a pair lifts at most one of its cells; a "
    "change of one attribute touches at most one of several disjoint marginals.",
)


CLAIMS = (ANSWERS, CASES, SPARSE_ATTRIBUTE, EXAMPLE_8_1, EXAMPLE_8_2)
