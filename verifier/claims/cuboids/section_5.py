"""exact-cuboids-draft, section 5: graphs whose degrees are known."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import combinations, product

from blowproof.models import Count, Domain, Exact, Labels, Policy, Region
from blowproof.verifier.claims.cuboids.section_4 import add_remove
from blowproof.verifier.claims.stating.claim import Claim, Formula, Instance, Part, Relation
from blowproof.verifier.claims.stating.families import family
from blowproof.verifier.claims.stating.measures import Counted

__all__ = ["CLAIMS"]

NODES = "abcdefgh"


def _whole(name: str) -> Formula:
    return lambda instance: instance.whole(name)


# --- undirected ----------------------------------------------------------------------------------


def _undirected_policy(nodes: int, known: int) -> Policy:
    """Return the policy whose records are edges, with the degrees of the first nodes known."""
    names = ["-".join(pair) for pair in combinations(NODES[:nodes], 2)]
    facts = tuple(
        Count({"edge": [name for name in names if node in name]}) for node in NODES[:known]
    )
    return Policy(domain=Domain(edge=Labels(names)), known=facts)


def _undirected(most: int) -> Iterator[Instance]:
    for nodes in range(2, most + 1):
        for known in range(nodes + 1):
            yield Instance(
                shape=f"{nodes} nodes, {known} degrees",
                policy=_undirected_policy(nodes, known),
                parameters={"nodes": nodes, "degrees": known},
            )


def _numbers(instance: Instance) -> tuple[int, int] | None:
    """Return |V| and n, if the policy still is that of the parameters."""
    nodes, known = instance.whole("nodes"), instance.whole("degrees")
    fits = instance.policy is None or instance.policy == _undirected_policy(nodes, known)
    return (nodes, known) if fits else None


def _printed_undirected(instance: Instance) -> Exact | None:
    numbers = _numbers(instance)
    return None if numbers is None else min(numbers[1] + 1, numbers[0])


def _repaired_undirected(instance: Instance) -> Exact | None:
    numbers = _numbers(instance)
    if numbers is None:
        return None
    nodes, known = numbers
    if known == nodes:
        return 2 * nodes - 4 if nodes >= 4 else 0
    if known >= 2:
        return 2 * known - 1
    return 1 if known == 0 else 2 if nodes > 2 else 0


MULTIGRAPHS = family(
    "multigraphs without loops on 2 to 6 nodes, 0 to all degrees known",
    lambda: _undirected(5),
    lambda: _undirected(6),
)


def _simple(most: int) -> Iterator[Instance]:
    for nodes in range(2, most + 1):
        for known in range(nodes + 1):
            yield Instance(
                shape=f"{nodes} nodes, {known} degrees",
                parameters={"nodes": nodes, "degrees": known},
            )


def _largest_simple_change(instance: Instance) -> Exact:
    """Return the most edges in which two simple graphs that are induced neighbours differ.

    A change gives each pair of nodes +1, -1 or 0; every change is possible between some two simple
    graphs, and so is each part of it. So S is the size of the largest change that keeps the known
    degrees and has no proper part that does; these are found by size, smallest first.
    """
    return _largest(instance.whole("nodes"), instance.whole("degrees"))


@cache
def _largest(nodes: int, known: int) -> int:
    edges = list(combinations(range(nodes), 2))
    minimal: list[tuple[int, int]] = []
    for added, removed in _balanced(edges, known):
        if not any(a & added == a and r & removed == r for a, r in minimal):
            minimal.append((added, removed))
    return max(((a | r).bit_count() for a, r in minimal), default=0)


def _balanced(edges: list[tuple[int, int]], known: int) -> list[tuple[int, int]]:
    """Return every change, as sets of added and removed edges, that keeps the known degrees."""
    found: list[tuple[int, int]] = []
    last = {node: max(i for i, edge in enumerate(edges) if node in edge) for node in range(known)}

    def go(place: int, added: int, removed: int, degrees: tuple[int, ...]) -> None:
        if any(degrees[node] and last[node] < place for node in range(known)):
            return
        if place == len(edges):
            if added or removed:
                found.append((added, removed))
            return
        go(place + 1, added, removed, degrees)
        for sign in (1, -1):
            changed = tuple(
                degree + sign * (node in edges[place]) for node, degree in enumerate(degrees)
            )
            bit = 1 << place
            go(place + 1, added | bit * (sign > 0), removed | bit * (sign < 0), changed)

    go(0, 0, 0, (0,) * known)
    return sorted(found, key=lambda change: (change[0] | change[1]).bit_count())


def _few_simple() -> Iterator[Instance]:
    """Yield the small ones, and the smallest on which the printed number is too small."""
    yield from _simple(4)
    yield Instance(shape="5 nodes, 3 degrees", parameters={"nodes": 5, "degrees": 3})


SIMPLE = family(
    "simple graphs on 2 to 5 nodes, 0 to all degrees known", _few_simple, lambda: _simple(5)
)


def _simple_part(name: str, claimed: Formula, relation: Relation, *, amended: bool = False) -> Part:
    return Part(
        name=name,
        family=SIMPLE,
        claimed=claimed,
        measure=Counted(_largest_simple_change),
        relation=relation,
        reading="add-remove",
        amended=amended,
    )


UNDIRECTED = Claim(
    id="exact-cuboids-draft/lemma-5.1-undirected",
    source="Section 5, Lemma 5.1 (i)",
    quote="Consider an undirected graph",
    statement="An undirected graph on V, the degrees of n nodes known: S = min(n + 1, |V|).",
    read_as="Simple graphs; edges are added or removed; every set of n nodes.",
    parts=(
        add_remove("multigraphs: equality", MULTIGRAPHS, _printed_undirected),
        add_remove("multigraphs: bound", MULTIGRAPHS, _printed_undirected, "<="),
        _simple_part("simple graphs: equality", _printed_undirected, "="),
        _simple_part("simple graphs: bound", _printed_undirected, "<="),
        add_remove("multigraphs: repaired", MULTIGRAPHS, _repaired_undirected, amended=True),
        _simple_part("simple graphs: bounded by it", _repaired_undirected, "<=", amended=True),
    ),
    repaired="Multigraphs without loops: S = 2 n - 1 if 2 <= n < |V|; 2 |V| - 4 if n = |V| >= 4; "
    "0 if n = |V| <= 3; for n = 1: 2, or 0 if |V| = 2; for n = 0: 1. For simple graphs this is an "
    "upper bound.",
    explanation="The printed number is that of a simple path through the known nodes. It is wrong "
    "in both directions. Too small: an alternating walk may visit known nodes twice, from f to a "
    "path, around a triangle at its end and back; with three degrees known on four nodes five "
    "edges can change, not four, and with three known on five nodes five edges of simple graphs "
    "can. Noise for the printed number is then too little. Too large: if all degrees of two or "
    "three nodes are known, nothing can change at all.",
    proof="Give added and removed edges opposite signs; a known node meets as many of each. All "
    "other nodes are one node f, at which nothing is asked. An irreducible change is an "
    "alternating closed walk, or one from f to f; no known node is visited three times, as two of "
    "the three stretches would be odd and together a part; and of the nodes inside a smallest odd "
    "cycle of the walk two are visited once. That gives 2 (n - 2) + 2 visits, so 2 n - 1 steps, "
    "for a walk from f, and with two such cycles 2 (|V| - 4) + 4 for a closed one. Both are met, "
    "by a path, a triangle at its end and the path back, and by two triangles joined by a path.",
)

# --- directed ------------------------------------------------------------------------------------


def _directed_policy(nodes: int, out: int, into: int) -> Policy:
    """Return the policy of directed edges, loops included, with some out- and in-degrees known."""
    names = NODES[:nodes]
    domain = Domain(source=Labels(names), target=Labels(names))
    facts = [Count(Region({"source": node})) for node in names[:out]]
    facts += [Count(Region({"target": node})) for node in names[:into]]
    return Policy(domain=domain, known=tuple(facts))


def _directed(most: int) -> Iterator[Instance]:
    for nodes in range(1, most + 1):
        for out, into in product(range(nodes + 1), repeat=2):
            yield Instance(
                shape=f"{nodes} nodes",
                policy=_directed_policy(nodes, out, into),
                parameters={"nodes": nodes, "out_degrees": out, "in_degrees": into},
            )


def _directed_numbers(instance: Instance) -> tuple[int, int, int] | None:
    nodes = instance.whole("nodes")
    out, into = instance.whole("out_degrees"), instance.whole("in_degrees")
    fits = instance.policy == _directed_policy(nodes, out, into)
    return (nodes, out, into) if fits else None


def _printed_directed(instance: Instance) -> Exact | None:
    numbers = _directed_numbers(instance)
    return None if numbers is None else min(2 * min(numbers[1:]) + 1, 2 * numbers[0])


def _repaired_directed(instance: Instance) -> Exact | None:
    numbers = _directed_numbers(instance)
    if numbers is None:
        return None
    nodes, p, q = numbers
    u, w, least = nodes - p, nodes - q, min(p, q)
    found = [0, 2 * least if least >= 2 else 0]
    found += [2 * least + 1] if u and w else []
    one, two = 2 * min(p, q + 1), 2 * min(q, p + 1)
    found += [one] if w and p and (one >= 4 or w >= 2) else []
    found += [two] if u and q and (two >= 4 or u >= 2) else []
    return max(found)


DIRECTED = family(
    "directed multigraphs with loops on 1 to 4 nodes, every number of in- and of out-degrees known",
    lambda: _directed(3),
    lambda: _directed(4),
)
LEMMA_5_1_DIRECTED = Claim(
    id="exact-cuboids-draft/lemma-5.1-directed",
    source="Section 5, Lemma 5.1 (ii)",
    quote="Consider a directed graph",
    statement="A directed graph on V, n1 in-degrees and n2 out-degrees known: S = min(2 min(n1, "
    "n2) + 1, 2 |V|).",
    read_as="Simple directed graphs without loops; every choice of nodes.",
    parts=(
        add_remove("equality", DIRECTED, _printed_directed),
        add_remove("bound", DIRECTED, _printed_directed, "<="),
        add_remove("repaired", DIRECTED, _repaired_directed, amended=True),
    ),
    repaired="The repaired Lemma 4.3 with p = n2 and q = n1 known cells, u = |V| - n2 and w = |V| "
    "- n1 unknown ones, and M = 1. For n1, n2 < |V| that is 2 n + 1 if n1 = n2 = n, and otherwise "
    "2 min(n1, n2) + 2 (for min(n1, n2) = 0, if two nodes' degrees of the other kind are unknown).",
    explanation="If more out-degrees are known than in-degrees, a path may begin and end at nodes "
    "of known out-degree: with one out-degree known and no in-degree, on two nodes, an edge from "
    "that node moves from one target to the other, which is 2 and not 1. Noise for the printed "
    "number is then too little. With all degrees known on both sides it is 2 |V|, as printed.",
    proof="Edges are values (source, target), out-degrees cells of one one-way cuboid, in-degrees "
    "of the other: it is partial knowledge of two cuboids, Lemma 4.3.",
)


CLAIMS = (UNDIRECTED, LEMMA_5_1_DIRECTED)
