"""blowfish-2014, section 8.2.2: marginals under attribute secrets."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain

from blowproof.models import AttributeChange, Exact, Marginal, Policy
from blowproof.verifier.claims.blowfish.section_8.theorem_8_4 import sizes_of
from blowproof.verifier.claims.stating import families as some
from blowproof.verifier.claims.stating import sparse_families as sparse
from blowproof.verifier.claims.stating.claim import Claim, Instance, Part
from blowproof.verifier.claims.stating.families import family
from blowproof.verifier.claims.stating.measures import Counted, Sensitivity
from blowproof.verifier.claims.stating.parts import with_kernel
from blowproof.verifier.claims.stating.policy_graphs import SINK, SOURCE, policy_graph

__all__ = ["CLAIMS"]


def _theorem_8_5(instance: Instance) -> Exact | None:
    return 2 * max((cells for cells, _ in sizes_of(instance.the_policy)), default=0) or None


def _two_outside(instance: Instance) -> Exact | None:
    sizes = sizes_of(instance.the_policy)
    return _theorem_8_5(instance) if all(outside > 1 for _, outside in sizes) else None


def _repaired_8_5(instance: Instance) -> Exact:
    policy = instance.the_policy
    known = {
        name for fact in policy.known if isinstance(fact, Marginal) for name in fact.attributes
    }
    free = any(item.size > 1 for name, item in policy.domain.attributes if name not in known)
    best = 2 if free else 0
    for cells, outside in sizes_of(policy):
        if cells > 1 and outside > 1:
            best = max(best, 4 * (cells // 2) if outside == 2 else 2 * cells)
    return best


def _not_slow(instances: Iterable[Instance]) -> Iterator[Instance]:
    """Leave out marginals of many cells with one value each: S is 0, and slow to be sure of."""
    for instance in instances:
        if all(outside > 1 or cells <= 5 for cells, outside in sizes_of(instance.the_policy)):
            yield instance


TWO_MARGINS = [
    Instance(
        shape="3x2, 2 marginals",
        policy=some.with_marginals(some.table(3, 2), AttributeChange(), ["a", "b"]),
    )
]
"""Where plain moves make S larger than any one marginal allows."""


PUBLISHED_8_5 = family(
    "tables of 2 or 3 attributes with up to 6 values, every set of disjoint marginals without all "
    "attributes (at most 5 cells where a cell has one value)",
    lambda: chain(sparse.disjoint_marginals(2, (2,)), TWO_MARGINS),
    lambda: _not_slow(sparse.disjoint_marginals(6, (2, 3))),
)


SECRET_8_5 = family(
    "tables of 2 or 3 attributes with up to 9 values, every set of disjoint marginals without all "
    "attributes (at most 5 cells where a cell has one value)",
    lambda: sparse.disjoint_marginals(6, (2,)),
    lambda: _not_slow(
        chain(sparse.disjoint_marginals(9, (2,)), sparse.disjoint_marginals(8, (3,)))
    ),
)


THEOREM_8_5 = Claim(
    id="blowfish-2014/theorem-8.5",
    source="Section 8.2.2, Theorem 8.5",
    quote="for any two",
    statement="One-attribute secrets, disjoint known marginals C_1, ..., C_p without all "
    "attributes: S(h, P) = 2 max size(C_i).",
    read_as="An equality for any answers; no marginal has all attributes, none share one.",
    parts=(
        Part(
            name="equality",
            family=PUBLISHED_8_5,
            claimed=_theorem_8_5,
            measure=Sensitivity("published"),
            reading="published",
            answers="any",
        ),
        Part(
            name="equality",
            family=SECRET_8_5,
            claimed=_theorem_8_5,
            measure=Sensitivity("secret-moves"),
            reading="secret-moves",
            answers="any",
        ),
        Part(
            name="equality, two values or more outside every marginal",
            family=SECRET_8_5,
            claimed=_two_outside,
            measure=Sensitivity("secret-moves"),
            reading="secret-moves",
            answers="any",
        ),
        Part(
            name="bound",
            family=SECRET_8_5,
            claimed=_theorem_8_5,
            measure=Sensitivity("secret-moves"),
            relation="<=",
            reading="secret-moves",
            answers="any",
        ),
        Part(
            name="the repaired value",
            family=SECRET_8_5,
            claimed=_repaired_8_5,
            measure=Sensitivity("secret-moves"),
            reading="secret-moves",
            answers="any",
            amended=True,
        ),
    ),
    repaired="If every changed record makes a secret move, S(h, P) is the largest of: 2 size(C_i) "
    "where three or more values lie outside C_i; 4 floor(size(C_i) / 2) where two do; 2 if an "
    "attribute in no marginal has two values; 0.",
    explanation="Three things are overlooked. (1) As published, a record may also make a plain "
    "move, here a change of two attributes at once; it shifts two marginals together, so that "
    "cycles in different marginals are tied to each other and more records have to change than "
    "any one marginal has cells: on 2 x 3 values with both margins known S(h, P) is 8, not 6. "
    "This costs privacy. (2) A cycle through an odd number of cells over two values outside C "
    "must somewhere enter the value that the next record leaves: the two cancel, and 3 x 2 values "
    "with one margin known give 4, not 6. (3) With one value outside C everything cancels. The "
    "last two cost accuracy only: with secret moves alone, the right-hand side is an upper bound.",
    proof="A secret move changes one attribute, hence at most one marginal: what changes at once "
    "is one free move, or a simple cycle through cells of one C_i, which are a product of "
    "complete graphs and have a Hamiltonian cycle. Move j keeps its values l_j outside C_i, and "
    "leaves a value that another one enters iff l_j = l_(j-1); a cyclic sequence over two values "
    "changes an even number of times, over three or more it can change at every step.",
)


def _cliques(policy: Policy) -> int:
    """Return whether the arcs between cells of each marginal are all of them, and no others."""
    graph = policy_graph(policy)
    wanted: set[tuple[int | str, int | str]] = {(SOURCE, SINK)}
    first = 0
    for cells, _ in sizes_of(policy):
        block = range(first, first + cells)
        wanted |= {(x, y) for x in block for y in block if x != y}
        first += cells
    return int(graph is not None and graph.arcs == wanted)


def _single(instance: Instance) -> Exact | None:
    facts = instance.the_policy.known
    alone = all(isinstance(fact, Marginal) and len(fact.attributes) == 1 for fact in facts)
    return 1 if alone else None


GRAPHS_8_5 = family(
    "tables of 2 or 3 attributes with up to 12 values, disjoint marginals without all attributes",
    lambda: chain(sparse.disjoint_marginals(6, (2,)), sparse.disjoint_marginals(4, (3,))),
    lambda: sparse.disjoint_marginals(12, (2, 3)),
)


GRAPH_8_5 = Claim(
    id="blowfish-2014/section-8.2.2-policy-graph",
    source="Section 8.2.2, proof of Theorem 8.5",
    quote="is the union of",
    statement="One-attribute secrets, disjoint marginals: the policy graph is a union of cliques, "
    "one on the cells of each marginal.",
    read_as="The arcs within each marginal's cells, all of them.",
    parts=(
        Part(
            name="arcs",
            family=GRAPHS_8_5,
            claimed=lambda instance: 1,
            measure=Counted(lambda item: _cliques(item.the_policy)),
            small="nothing",
            large="nothing",
        ),
        Part(
            name="arcs, where every marginal has one attribute",
            family=GRAPHS_8_5,
            claimed=_single,
            measure=Counted(lambda item: _cliques(item.the_policy)),
            small="nothing",
            large="nothing",
            amended=True,
        ),
    ),
    repaired="It is a union of cliques where every marginal has one attribute; otherwise each "
    "block is a product of complete graphs, which still has a Hamiltonian cycle.",
    amendment="condition",
    explanation="Two cells of a marginal on two attributes that differ in both are joined by no "
    "secret pair, since a secret pair changes one attribute. The proof only uses a cycle through "
    "all cells, and the product of complete graphs has one, so nothing is lost.",
)


CLAIMS = (with_kernel(THEOREM_8_5), GRAPH_8_5)
