"""blowfish-2014, section 8.2.1: one marginal under full secrets."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from math import prod

from blowproof.models import Exact, Marginal, Policy
from blowproof.verifier.asked.answer import Pair
from blowproof.verifier.claims.blowfish.section_8.section_8_1 import EXAMPLE
from blowproof.verifier.claims.stating import sparse_families as sparse
from blowproof.verifier.claims.stating.claim import Claim, Instance, Part, in_readings
from blowproof.verifier.claims.stating.families import family
from blowproof.verifier.claims.stating.measures import Counted, Sensitivity, sensitivities
from blowproof.verifier.claims.stating.parts import with_kernel
from blowproof.verifier.claims.stating.policy_graphs import SINK, SOURCE, policy_graph

__all__ = ["CLAIMS", "sizes_of"]


def sizes_of(policy: Policy) -> list[tuple[int, int]]:
    """Return, for each known marginal, size(C) and how often the other attributes multiply it."""
    found = []
    for fact in policy.known:
        assert isinstance(fact, Marginal)
        inside = prod(policy.domain.attribute(a).size for a in policy.domain.axes(fact.attributes))
        found.append((inside, policy.domain.size // inside))
    return found


def _only(policy: Policy) -> tuple[int, int] | None:
    """Return size(C) and what multiplies it, if C is the only fact and a proper marginal."""
    if len(policy.known) != 1:
        return None
    (fact,) = policy.known
    assert isinstance(fact, Marginal)
    return None if len(fact.attributes) == len(policy.domain) else sizes_of(policy)[0]


def _theorem_8_4(instance: Instance) -> Exact | None:
    found = _only(instance.the_policy)
    return None if found is None else 2 * found[0]


def _two_left(instance: Instance) -> Exact | None:
    found = _only(instance.the_policy)
    return 2 * found[0] if found is not None and found[1] > 1 else None


def _one_marginal(most: int, attributes: tuple[int, ...]) -> Iterator[Instance]:
    """Yield the tables; where the marginal is all of h, which is slow, only up to 5 cells."""
    for instance in sparse.marginal_tables(most, attributes):
        cells, outside = sizes_of(instance.the_policy)[0]
        if outside > 1 or cells <= 5:
            yield instance


ONE_MARGINAL = family(
    "tables of 2 or 3 attributes with up to 12 values, every marginal without all attributes",
    lambda: _one_marginal(5, (2,)),
    lambda: chain(_one_marginal(12, (2,)), _one_marginal(8, (3,))),
)


THEOREM_8_4 = Claim(
    id="blowfish-2014/theorem-8.4",
    source="Section 8.2.1, Theorem 8.4",
    quote="full-domain sensitive information",
    statement="Full secrets, one known marginal C without all attributes: S(h, P) = 2 size(C).",
    read_as="An equality for any answers, [C] without some attribute.",
    parts=(
        *in_readings(
            Part(
                name="equality",
                family=ONE_MARGINAL,
                claimed=_theorem_8_4,
                measure=Sensitivity("published"),
                answers="any",
            ),
            sensitivities(),
        ),
        Part(
            name="bound",
            family=ONE_MARGINAL,
            claimed=_theorem_8_4,
            measure=Sensitivity("published"),
            relation="<=",
            reading="published",
            answers="any",
        ),
        Part(
            name="equality where two values share a cell",
            family=ONE_MARGINAL,
            claimed=_two_left,
            measure=Sensitivity("published"),
            reading="published",
            answers="any",
            amended=True,
        ),
    ),
    repaired="S(h, P) = 2 size(C) if the attributes outside C have two values or more together; "
    "else S(h, P) = 0.",
    amendment="condition",
    explanation="Where every attribute outside C has a single value, the marginal is the complete "
    "histogram, all of h is known, and S(h, P) is 0. The theorem asks that C does not have all "
    "attributes, and means that it does not tell all values apart. The bound is right, so that "
    "only accuracy is lost.",
    proof="The signatures are unit vectors, one for each cell, so what changes at once is a "
    "simple cycle through some cells, at most size(C) records; with two values to a cell every "
    "record can leave one value and enter another one, so that nothing cancels.",
)


def _complete_graph(policy: Policy) -> int:
    """Return whether the arcs are those of the complete graph on the queries, and v+ to v-."""
    graph = policy_graph(policy)
    wanted = {(x, y) for x in range(len(policy.linear_facts)) for y in range(x)}
    arcs = wanted | {(y, x) for x, y in wanted} | {(SOURCE, SINK)}
    return int(graph is not None and graph.arcs == arcs)


GRAPH_8_4 = Claim(
    id="blowfish-2014/section-8.2.1-policy-graph",
    source="Section 8.2.1, proof of Theorem 8.4",
    quote="complete graph with vertex set",
    statement="Full secrets, one known marginal: the policy graph is complete on the queries of C.",
    read_as="Arcs between all queries of the marginal, in both directions.",
    parts=(
        Part(
            name="arcs",
            family=ONE_MARGINAL,
            claimed=lambda instance: 1,
            measure=Counted(lambda item: _complete_graph(item.the_policy)),
            small="nothing",
            large="nothing",
        ),
    ),
    proof="Any two cells hold a value each, and the two values are a secret pair.",
)


def _printed_pair() -> Pair:
    before = ((0, 0, 0), (0, 1, 0), (1, 0, 0), (1, 1, 0))
    after = ((0, 1, 1), (1, 0, 1), (1, 1, 1), (0, 0, 1))
    return Pair(before=before, after=after)


def _pair_change(instance: Instance) -> Exact:
    """Return the change of h over the printed pair if it is a neighbour pair, else 0."""
    from blowproof.models import setting
    from blowproof.verifier.neighbours.check import check_pair

    pair = _printed_pair()
    if not check_pair(setting(instance.the_policy), "published", pair):
        return 0
    return instance.query.on(instance.the_policy).difference(pair.moves("published"))


THE_EXAMPLE = family("the example itself", lambda: [Instance(shape="the example", policy=EXAMPLE)])


EXAMPLE_8_3 = Claim(
    id="blowfish-2014/example-8.3",
    source="Section 8.2.1, Example 8.3",
    quote="The worst case",
    statement="In Example 8.1, S(h, P) = 8, reached by the printed pair of databases of four rows.",
    read_as="S of the example, and the printed pair checked as neighbours.",
    parts=(
        Part(
            name="S(h, P)",
            family=THE_EXAMPLE,
            claimed=lambda instance: 8,
            measure=Sensitivity("published"),
            reading="published",
            answers="any",
        ),
        Part(
            name="the printed databases are neighbours and differ by 8",
            family=THE_EXAMPLE,
            claimed=lambda instance: 8,
            measure=Counted(_pair_change),
            reading="published",
            answers="any",
        ),
    ),
    proof="Theorem 8.4 with three values to a cell; the pair was checked against Definition 4.1.",
)


CLAIMS = (with_kernel(THEOREM_8_4), GRAPH_8_4, EXAMPLE_8_3)
