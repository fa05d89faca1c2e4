"""blowfish-2014, sections 8 to 8.2: what is hard, each by a reduction that is run both ways."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import combinations, pairwise, permutations
from random import Random

from blowproof.models import Count, Database, Domain, Exact, Full, Labels, NamedCount, Policy
from blowproof.verifier.claims.blowfish.section_8.section_8 import (
    FORMULAS,
    printed_reduction,
    second_model,
)
from blowproof.verifier.claims.stating import families as some
from blowproof.verifier.claims.stating.claim import Asked, Claim, Instance, Part, Value
from blowproof.verifier.claims.stating.families import family
from blowproof.verifier.claims.stating.linear import rank
from blowproof.verifier.claims.stating.measures import Positive, Sensitivity, recheck
from blowproof.verifier.claims.stating.parts import counted
from blowproof.verifier.claims.stating.policy_graphs import policy_graph

__all__ = ["CLAIMS"]

Edges = tuple[tuple[int, int], ...]

# --- co-NP ---------------------------------------------------------------------------------------


class AtMost:
    """1 if S(f, P) is at most the instance's z, 0 if it is above."""

    inner = Sensitivity("published", "given")

    def __call__(self, instance: Instance, time_limit: float | None) -> Value:
        """Return the answer to S(f, P) <= z."""
        value, z = self.inner(instance, time_limit), instance.number("z")
        least = int(value.upper is not None and value.upper <= z)
        return Value(least, int(value.lower <= z))

    def recheck(self, instance: Instance) -> str:
        """Return how S was confirmed without the engines."""
        return recheck(self.inner, instance, self.inner(instance, None))


def _scaled(variables: int, most: int, drawn: int) -> Iterator[Instance]:
    """Yield the reduction with weights (z + 1) 2^i, so that one step changes f by more than z."""
    for item in printed_reduction(weighted=True, variables=variables, most=most, drawn=drawn):
        for z in (0, 1, 5):
            weights = tuple((z + 1) * Fraction(weight) for weight in item.query.rows[0])
            query = Asked(item.query.text, (weights,))
            yield replace(item, query=query, parameters={"z": z})


def _no_second(instance: Instance) -> Exact | None:
    found = second_model(instance)
    return None if found is None else 1 - int(found)


CONP = Claim(
    id="blowfish-2014/section-8-conp",
    source="Section 8, after Theorem 8.1",
    quote="is co-NP-hard for",
    statement="Deciding S(f, P) <= z is co-NP-hard in general.",
    read_as="The reduction with weights z + 1 times as large, run both ways.",
    parts=(
        Part(
            name="S(f, P) <= z iff a formula has no second model (z = 0, 1, 5)",
            family=family(FORMULAS, lambda: _scaled(2, 1, 3), lambda: _scaled(3, 2, 20)),
            claimed=_no_second,
            measure=AtMost(),
            reading="published",
            answers="given",
            small="nothing",
            large="nothing",
        ),
    ),
    proof="The reduction of Theorem 8.1 with the weights (z + 1) 2^i: two models differ by z + 1 "
    "or more, so S is above z iff there is a second model, and whether there is none is "
    "co-NP-hard to tell.",
)

# --- Vertex Cover, by equality counts alone ------------------------------------------------------


def cover_policy(edges: Edges, vertices: int, size: int) -> Policy:
    """Return a policy of equality counts, under which a joker covers everything or k vertices do.

    Each vertex v is there or its stand-in t; each edge has two of: its ends, the joker, its slack
    s, of which there is at most one (or its stand-in r is there); the joker is there or its
    stand-in; vertices, joker and `pad` are k in all; `blank` is counted by nothing.
    """
    v = [f"v{place}" for place in range(vertices)]
    t = [f"t{place}" for place in range(vertices)]
    s = [f"s{place}" for place in range(len(edges))]
    r = [f"r{place}" for place in range(len(edges))]
    known = [
        Count({"at": ["joker", "none"]}, answer=1),
        Count({"at": [*v, "joker", "pad"]}, answer=size),
        *(Count({"at": [here, away]}, answer=1) for here, away in zip(v, t, strict=True)),
        *(Count({"at": [slack, away]}, answer=1) for slack, away in zip(s, r, strict=True)),
        *(
            Count({"at": ["joker", v[one], v[two], s[place]]}, answer=2)
            for place, (one, two) in enumerate(edges)
        ),
    ]
    return Policy(
        domain=Domain(at=Labels(["joker", "none", "pad", "blank", *v, *t, *s, *r])),
        secrets=Full(),
        database=Database(size=1 + vertices + len(edges) + size),
        known=tuple(known),
        queries=(NamedCount("jokers", {"at": "joker"}),),
    )


def exact_cover_policy(triples: tuple[tuple[int, ...], ...], q: int) -> Policy:
    """Return a policy of equality counts, under which a joker covers all elements or triples do.

    Each of 3 q elements is in one record; the joker holds all of them, and `blank` none. n = q.
    """
    values = {f"t{place}": set(triple) for place, triple in enumerate(triples)}
    known = [
        Count({"at": ["joker", *(name for name in values if u in values[name])]}, answer=1)
        for u in range(3 * q)
    ]
    return Policy(
        domain=Domain(at=Labels(["joker", "blank", *values])),
        secrets=Full(),
        database=Database(size=q),
        known=tuple(known),
        queries=(NamedCount("jokers", {"at": "joker"}),),
    )


def _triples(instance: Instance) -> list[tuple[int, ...]]:
    return [tuple(map(int, word)) for word in instance.word("triples").split()]


def _has_exact_cover(instance: Instance) -> Exact:
    """Return 1 if some q of the triples hold each element once."""
    q = instance.whole("q")
    return int(
        any(
            len({u for t in chosen for u in t}) == 3 * q
            for chosen in combinations(_triples(instance), q)
        )
    )


def _families(count: int) -> Iterator[Instance]:
    for place in range(count):
        rng = Random(f"{some.SEED} triples {place}")
        q = 2 + place % 2
        every = list(combinations(range(3 * q), 3))
        chosen = tuple(sorted(rng.sample(every, rng.randint(q, 3 * q))))
        words = " ".join("".join(map(str, triple)) for triple in chosen)
        yield Instance(
            shape=f"{len(chosen)} triples of {3 * q} elements",
            policy=exact_cover_policy(chosen, q),
            query=Asked("count(jokers)"),
            parameters={"q": q, "triples": words},
            sampled=True,
        )


def _edges(instance: Instance) -> Edges:
    pairs = (edge.split("-") for edge in instance.word("edges").split())
    return tuple((int(one), int(two)) for one, two in pairs)


def _has_cover(instance: Instance) -> Exact:
    """Return 1 if some `size` vertices touch every edge."""
    vertices, size = instance.whole("vertices"), instance.whole("size")
    return int(
        any(
            all(one in chosen or two in chosen for one, two in _edges(instance))
            for chosen in combinations(range(vertices), min(size, vertices))
        )
    )


def _covers(vertices: int) -> Iterator[Instance]:
    for size in range(2, vertices + 1):
        for edges in some.graphs(size):
            for chosen in range(1, size if 0 < len(edges) <= 2 else 1):
                yield Instance(
                    shape=f"{size} vertices, {len(edges)} edges",
                    policy=cover_policy(edges, size, chosen),
                    query=Asked("count(jokers)"),
                    parameters={
                        "vertices": size,
                        "size": chosen,
                        "edges": " ".join(f"{one}-{two}" for one, two in edges),
                    },
                )


VERTEX_COVER = Claim(
    id="blowfish-2014/section-8-vertex-cover",
    source="Section 8.1, before 8.1.1",
    quote="using a reduction from the Vertex Cover",
    statement="Deciding S > 0 stays NP-hard for constraints on counts (from Vertex Cover; the "
    "paper prints no reduction).",
    read_as="The class as defined: equality counts with given answers, full secrets; run both "
    "ways.",
    parts=(
        Part(
            name="S(count of jokers) = 1 iff k vertices cover the graph; equality counts alone",
            family=family(
                "every graph with 2 or 3 vertices and up to 2 edges, every k",
                lambda: _covers(2),
                lambda: _covers(3),
            ),
            claimed=_has_cover,
            measure=Sensitivity("published", "given"),
            reading="published",
            answers="given",
            small="nothing",
            large="nothing",
        ),
        Part(
            name="S(count of jokers) = 1 iff q triples are an exact cover; equality counts alone",
            family=family(
                "60 drawn families of triples of 6 or 9 elements",
                lambda: _families(10),
                lambda: _families(60),
            ),
            claimed=_has_exact_cover,
            measure=Sensitivity("published", "given"),
            reading="published",
            answers="given",
            small="nothing",
            large="nothing",
        ),
    ),
    proof="With the joker there is always a database: all stand-ins of vertices, one slack for "
    "each edge, k - 1 pads. Without it each edge has two of its ends and one slack at most, so an "
    "end at least: its vertices, k at most, are a cover; and a cover gives a database, the rest "
    "being filled up with slacks, pads and blanks, of which any number is allowed. Under full "
    "secrets databases of one size are joined by a walk of neighbour steps, so the count of "
    "jokers changes along one iff there is a cover. (For any answers, with full secrets, the "
    "question is linear algebra: section-8-any-answers.)",
)

# --- the same for any answers --------------------------------------------------------------------


def _counted(most: int, counts: int) -> Iterator[Instance]:
    for size in range(1, most + 1):
        edges = tuple(combinations(range(size), 2))
        regions = [r for many in range(1, size + 1) for r in combinations(range(size), many)]
        for many in range(counts + 1):
            for chosen in combinations(regions, many):
                yield Instance(
                    shape=f"{size} values, {many} counts", policy=some.letters(size, edges, chosen)
                )


def _undetermined(instance: Instance) -> Exact | None:
    """Return 1 if the counts and n leave some count of a value open, by Gaussian elimination."""
    policy = instance.the_policy
    if not policy.graph.complete:
        return None
    values = list(policy.domain.points())
    rows = [[1] * len(values)]
    rows += [[int(fact.coefficient(x)) for x in values] for fact in policy.linear_facts]
    return int(rank(rows) < len(values))


ANY_ANSWERS = Claim(
    id="blowfish-2014/section-8-any-answers",
    status="theorem",
    source="Section 8.1, before 8.1.1, read for any answers",
    quote="calculating S(h, P) is still hard",
    statement="For counts without their answers, full secrets: S(h, P) > 0 iff the counts and n "
    "do not determine the histogram, which is linear algebra.",
    read_as="The same question without the answers, as the next sentence but one would have it.",
    parts=(
        Part(
            name="S(h, P) > 0 iff the rank is below the number of values",
            family=family(
                "1 to 4 values, every set of up to 3 counts",
                lambda: _counted(3, 2),
                lambda: _counted(4, 3),
            ),
            claimed=_undetermined,
            measure=Positive(Sensitivity("published")),
            reading="published",
            answers="any",
            small="nothing",
            large="nothing",
        ),
    ),
    proof="A whole vector that the counts and n map to 0 is the difference of two databases that "
    "are large enough, and these are joined by a walk of neighbour steps. So Theorem 8.1's "
    "hardness needs the answers: cnt_1, ..., cnt_p do affect how hard the question is.",
)

# --- alpha and xi --------------------------------------------------------------------------------


def _policy_of_graph(edges: Edges, vertices: int, *, outside: bool) -> Policy:
    """Return a count for each vertex, and `outside`: a value of no count, next to every vertex."""
    size = vertices + outside
    joined = [*edges, *((vertex, vertices) for vertex in range(vertices if outside else 0))]
    return some.letters(size, joined, [[vertex] for vertex in range(vertices)])


def _graph_policies(most: int, *, outside: bool) -> Iterator[Instance]:
    for vertices in range(3, most + 1):
        for edges in some.graphs(vertices):
            yield Instance(
                shape=f"{vertices} vertices, {len(edges)} edges",
                policy=_policy_of_graph(edges, vertices, outside=outside),
                parameters={
                    "vertices": vertices,
                    "edges": " ".join(f"{one}-{two}" for one, two in edges),
                },
            )


def _hamiltonian(instance: Instance, *, cycle: bool) -> Exact:
    """Return 1 if some order of the vertices is a path (a cycle) of the graph."""
    joined = {frozenset(edge) for edge in _edges(instance)}
    for order in permutations(range(instance.whole("vertices"))):
        walk = [*order, order[0]] if cycle else list(order)
        if all(frozenset(step) in joined for step in pairwise(walk)):
            return 1
    return 0


def _alpha_is_all(instance: Instance) -> Exact:
    """Return 1 if the policy graph's longest simple cycle has |V| edges."""
    graph = policy_graph(instance.the_policy)
    return int(graph is not None and graph.alpha == instance.whole("vertices"))


def _xi_is_all(instance: Instance) -> Exact:
    """Return 1 if the longest simple path from v+ to v- has |V| + 1 edges."""
    graph = policy_graph(instance.the_policy)
    return int(graph is not None and graph.xi == instance.whole("vertices") + 1)


HARDNESS = Claim(
    id="blowfish-2014/section-8.2-hardness",
    source="Section 8.2, first sentence",
    quote="is still a hard problem",
    read_as="Longest cycles and paths of policy graphs, by reductions from Hamiltonian ones.",
    statement="Computing alpha and xi of a policy graph is hard in general.",
    parts=(
        counted(
            "alpha = |V| iff the graph has a Hamiltonian cycle",
            family(
                "every graph with 3 to 5 vertices",
                lambda: _graph_policies(4, outside=False),
                lambda: _graph_policies(5, outside=False),
            ),
            lambda item: _hamiltonian(item, cycle=True),
            _alpha_is_all,
        ),
        counted(
            "xi = |V| + 1 iff the graph has a Hamiltonian path (one more value, of no count)",
            family(
                "every graph with 3 to 5 vertices",
                lambda: _graph_policies(4, outside=True),
                lambda: _graph_policies(5, outside=True),
            ),
            lambda item: _hamiltonian(item, cycle=False),
            _xi_is_all,
        ),
    ),
    proof="A count for each vertex, secret pairs for the edges: the policy graph is the graph, "
    "each edge in both directions, so alpha = |V| iff it has a Hamiltonian cycle (|V| >= 3). A "
    "value of no count next to every vertex adds the arcs from v+ and to v-: xi = |V| + 1 iff it "
    "has a Hamiltonian path. Both are NP-complete.",
)

CLAIMS = (CONP, VERTEX_COVER, ANY_ANSWERS, HARDNESS)
