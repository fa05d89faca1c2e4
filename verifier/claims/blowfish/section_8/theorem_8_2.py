"""blowfish-2014, Theorem 8.2 and its proof: sparse constraints."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import chain, permutations

from blowproof.models import Exact, Full
from blowproof.models.policy.readings import Reading
from blowproof.verifier.claims.stating import families as some
from blowproof.verifier.claims.stating import sparse_families as sparse
from blowproof.verifier.claims.stating.claim import Claim, Instance, Part, in_readings
from blowproof.verifier.claims.stating.families import family
from blowproof.verifier.claims.stating.listings import longest_secret_change, reached_by_longest
from blowproof.verifier.claims.stating.measures import Counted, Sensitivity, sensitivities
from blowproof.verifier.claims.stating.parts import counted, with_kernel
from blowproof.verifier.claims.stating.policy_graphs import SINK, SOURCE, effects, policy_graph

__all__ = ["CLAIMS", "SPARSE"]


SHAPES = (
    "every graph on up to 4 values with up to 2 counts up to renaming (3 counts on 3 values), "
    "lines of up to 5 values with up to 2 disjoint ranges, marginals of tables with up to 6 "
    "values, drawn graphs on 5 values with up to 3 counts; those that are sparse"
)


WITNESSED = some.letters(5, [(0, 4), (1, 3), (0, 1)], [(2, 3), (1, 3)])
"""The smallest policy found on which plain moves break the bound: letters v to z."""


def _quick() -> Iterator[Instance]:
    yield from sparse.graph_policies(1, 1)
    yield from sparse.graph_policies(2, 1)
    yield from sparse.graph_policies(3, 2)
    yield from some.lines(4, (1, 2), 2)
    yield from sparse.marginal_tables(4, (1, 2))
    yield Instance(shape="5 values, listed secrets, 2 counts", policy=WITNESSED)


def _full() -> Iterator[Instance]:
    for size in (1, 2, 3):
        yield from sparse.graph_policies(size, 3)
    yield from sparse.graph_policies(4, 2)
    yield from some.lines(5, (1, 2), 2)
    yield from sparse.marginal_tables(6, (1, 2), proper=False)
    yield Instance(shape="5 values, listed secrets, 2 counts", policy=WITNESSED)
    yield from sparse.drawn_policies("sparse", 300, size=5, counts=3)


SPARSE = family(SHAPES, _quick, _full)


COMPLETE = family(
    "the same values and counts with full secrets",
    lambda: (_with_full(item) for item in chain(_quick())),
    lambda: (_with_full(item) for item in chain(_full())),
)


def _with_full(instance: Instance) -> Instance:
    return replace(instance, policy=replace(instance.the_policy, secrets=Full()))


def _bound(instance: Instance) -> Exact | None:
    graph = policy_graph(instance.the_policy)
    return None if graph is None else 2 * graph.longest


RECORDS = 4
"""How many records the listings of neighbours go up to."""


LISTED = family(
    "every graph on up to 3 values with up to 2 counts up to renaming, and lines of up to 3 values "
    "with up to 2 ranges, where alpha and xi are at most 3; neighbours of up to 4 records listed",
    lambda: chain(*(sparse.graph_policies(size, 1) for size in (1, 2, 3))),
    lambda: chain(
        *(sparse.graph_policies(size, 2) for size in (1, 2, 3)), some.lines(3, (1, 2), 2)
    ),
)


def _equality(reading: Reading) -> Part:
    def claimed(instance: Instance) -> Exact | None:
        policy = instance.the_policy
        graph = policy_graph(policy)
        if graph is None or graph.longest > RECORDS - 1:
            return None
        if longest_secret_change(policy, reading, RECORDS) == 0:
            return None  # there are no neighbours at all
        return 2 * graph.longest if reached_by_longest(policy, reading, RECORDS) else None

    return Part(
        name="equality where neighbours with most changes change by twice their number",
        family=LISTED,
        claimed=claimed,
        measure=Sensitivity(reading),
        reading=reading,
        answers="any",
    )


THEOREM_8_2 = Claim(
    id="blowfish-2014/theorem-8.2",
    source="Section 8.1.1, Theorem 8.2",
    quote="is sparse w.r.t.",
    statement="If the counts Q are sparse w.r.t. G, S(h, P) <= 2 max(alpha, xi) of the policy "
    "graph; with equality if some neighbours with the most discriminative pairs differ by twice "
    "their number.",
    read_as="Both readings of neighbours; the bound for every sparse Q, the equality on its "
    "condition.",
    parts=(
        *in_readings(
            Part(
                name="bound",
                family=SPARSE,
                claimed=_bound,
                measure=Sensitivity("published"),
                relation="<=",
                answers="any",
            ),
            sensitivities(),
        ),
        _equality("published"),
        _equality("secret-moves"),
        Part(
            name="bound with full secrets",
            family=COMPLETE,
            claimed=_bound,
            measure=Sensitivity("published"),
            relation="<=",
            reading="published",
            answers="any",
            amended=True,
        ),
    ),
    repaired="Let every changed record make a secret move (reading secret-moves), or let G be "
    "complete: then the bound and the equality stand as printed.",
    explanation="Definition 4.1 bounds the discriminative pairs in which neighbours differ, but "
    "other records may change besides, along pairs that are no secrets; they are needed to "
    "restore the known counts, and condition 3(b) keeps just enough of them. The policy graph has "
    "an arc for every secret pair and none for these plain moves, and the appendix passes from "
    "the norm of h(D1) - h(D2) to 2 |T(D1, D2)|, which forgets them. So where G is not complete, "
    "one secret move and two plain ones can change the histogram by 6 while max(alpha, xi) is 2. "
    "If G is complete, or neighbours are only allowed secret moves, no move is plain and the "
    "proof is sound.",
    proof="A secret move that lowers q and lifts q' is an arc q -> q' (v+ or v- for none). The "
    "arcs of a neighbour pair balance at every query, hence contain a simple cycle or a simple "
    "path from v+ to v-; minimality leaves exactly that. One move changes h by at most 2.",
)


def _longest(reading: Reading) -> Part:
    def longest(instance: Instance) -> Exact:
        return longest_secret_change(instance.the_policy, reading, RECORDS)

    def claimed(instance: Instance) -> Exact | None:
        graph = policy_graph(instance.the_policy)
        return None if graph is None or graph.longest > RECORDS - 1 else graph.longest

    return Part(
        name="the most discriminative pairs between neighbours",
        family=LISTED,
        claimed=claimed,
        measure=Counted(longest),
        relation=">=",
        reading=reading,
        answers="any",
    )


def _longest_with_secrets() -> Part:
    part = _longest("secret-moves")

    def claimed(instance: Instance) -> Exact | None:
        graph = policy_graph(instance.the_policy)
        return part.claimed(instance) if graph is not None and graph.secret else None

    return replace(
        part, name="the same, where there is a secret pair", claimed=claimed, amended=True
    )


EQUATION_17 = Claim(
    id="blowfish-2014/equation-17",
    source="Appendix A, Equation 17",
    quote="prove a weaker inequality",
    statement="Sparse counts: some neighbours differ in max(alpha, xi) discriminative pairs.",
    read_as="The most discriminative pairs between neighbours, by listing.",
    parts=(_longest("published"), _longest("secret-moves"), _longest_with_secrets()),
    repaired="If there is a secret pair at all, and every changed record makes a secret move.",
    amendment="condition",
    explanation="The edge from v+ to v- is always in the policy graph, so xi is 1 even where no "
    "two values are a secret pair and there are no neighbours at all. And as Definition 4.1 is "
    "printed, a database that makes fewer secret moves and repairs the counts by plain ones rules "
    "out the neighbours that the proof constructs, so that the largest |T| can fall below the "
    "longest cycle or path. Both only make the bound of Theorem 8.2 larger than need be.",
    proof="Secret moves along the arcs of a simple cycle (or path) restore every count, those of "
    "a proper part do not.",
)


def _query_arcs(instance: Instance) -> Exact | None:
    graph = policy_graph(instance.the_policy)
    if graph is None:
        return None
    return sum(1 for tail, head in graph.arcs if tail != SOURCE and head != SINK)


def _arcs_with(instance: Instance, *, printed: bool) -> Exact:
    """Return how many arcs (q, q') have a secret pair (x, y) as the proof describes it."""
    policy = instance.the_policy
    facts, found = policy.linear_facts, set()
    wanted = ((0, 0), (1, 0)) if printed else ((1, 0), (0, 1))
    for x, y, _, _ in effects(policy):
        held = [(fact.coefficient(x), fact.coefficient(y)) for fact in facts]
        for one, two in permutations(range(len(facts)), 2):
            if (held[one], held[two]) == wanted:
                found.add((one, two))
    graph = policy_graph(policy)
    return 0 if graph is None else len(found & graph.arcs)


DIRECTION_2 = Claim(
    id="blowfish-2014/appendix-a-edges",
    source="Appendix A, Direction II",
    quote="from the definition of policy graphs",
    statement="For an edge (q, q') of the policy graph there is a secret pair (x, y) with q(x), "
    "q(y) and q'(y) false and q'(x) true.",
    read_as="The formula as printed, for each edge of the policy graph.",
    parts=(
        counted(
            "edges between queries that have such a pair",
            SPARSE,
            _query_arcs,
            lambda item: _arcs_with(item, printed=True),
        ),
        replace(
            counted(
                "edges with a pair that lowers q and lifts q'",
                SPARSE,
                _query_arcs,
                lambda item: _arcs_with(item, printed=False),
            ),
            amended=True,
        ),
    ),
    repaired="With q(x) and q'(y) true, q(y) and q'(x) false.",
    amendment="misprint",
    explanation="By Definition 8.3 an edge (q, q') stands for a secret pair that lowers q and "
    "lifts q'; the pair that the proof asks for leaves q alone and lowers q'. What follows uses "
    "the right one.",
    proof="That is Definition 8.3.",
)

CLAIMS = (with_kernel(THEOREM_8_2), EQUATION_17, DIRECTION_2)
