"""Graphs with known degrees, as policies (exact-cuboids-draft, section 5), and back."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb

from blowproof.models import Count, Database, Domain, Known, Labels, Policy, PolicyError
from blowproof.verifier.closed_forms.stating import conditions as need
from blowproof.verifier.closed_forms.stating.form import Case

__all__ = ["Degrees", "degree_policy", "read_directed", "read_undirected"]

Link = tuple[str, str]


def degree_policy(
    nodes: Sequence[str],
    known: Iterable[str] | None = None,
    *,
    edges: Iterable[Link] | None = None,
    directed: bool = False,
    simple: bool = False,
) -> Policy:
    """Return the policy in which a record is an edge, and the degrees of `known` nodes are facts.

    `known`: the nodes whose degrees (in and out, if directed) are public; default: all. With
    `edges`, the degrees are counted and the scope is "given"; else it is "any": multigraphs with
    any degrees. `simple`: no edge twice, which is a bound on each cell, so the edges are needed. An
    undirected graph is one attribute, the pairs of nodes; a directed one has two (loops are
    possible), as in the draft.

    >>> degree_policy(["a", "b", "c"], ["a"]).known
    (Count({edge = ['a-b', 'a-c']}),)
    >>> triangle = [("a", "b"), ("b", "c"), ("c", "a")]
    >>> policy = degree_policy(["a", "b", "c"], ["a"], edges=triangle, simple=True)
    >>> policy.scope, policy.known[0]
    ('given', Count({edge = ['a-b', 'a-c']}, answer=2))
    """
    names = list(nodes)
    public = names if known is None else list(known)
    strangers = [name for name in public if name not in names]
    if len(set(names)) < len(names) or len(names) < 1 + (not directed) or strangers:
        raise PolicyError("the nodes must be distinct, two or more, and have all the known ones")
    if simple and edges is None:
        raise PolicyError("a simple graph bounds its cells, so its degrees must be given as edges")
    links = None if edges is None else list(edges)
    build = _directed if directed else _undirected
    domain, facts = build(names, public, links, simple)
    scope = Database(answers="any" if links is None else "given")
    return Policy(domain=domain, name="degrees", known=facts, database=scope)


def _undirected(
    names: Sequence[str], public: Sequence[str], links: Sequence[Link] | None, simple: bool
) -> tuple[Domain, tuple[Known, ...]]:
    pairs = {frozenset(pair): "-".join(pair) for pair in combinations(names, 2)}
    stars = {n: [label for pair, label in pairs.items() if n in pair] for n in public}
    held = None if links is None else [pairs[frozenset(link)] for link in links]
    facts: list[Known] = [
        Count({"edge": star}, answer=None if held is None else sum(e in star for e in held))
        for star in stars.values()
    ]
    if simple:
        facts += [Count({"edge": label}, at_most=1) for label in pairs.values()]
    return Domain(edge=Labels(pairs.values())), tuple(facts)


def _directed(
    names: Sequence[str], public: Sequence[str], links: Sequence[Link] | None, simple: bool
) -> tuple[Domain, tuple[Known, ...]]:
    facts: list[Known] = [
        Count({end: n}, answer=None if links is None else sum(e[side] == n for e in links))
        for side, end in enumerate(("source", "target"))
        for n in public
    ]
    if simple:
        facts += [Count({"source": u, "target": v}, at_most=1) for u in names for v in names]
    return Domain(source=Labels(names), target=Labels(names)), tuple(facts)


@dataclass(frozen=True)
class Degrees:
    """How many nodes there are, and of how many the degree (in, out) is known."""

    nodes: int
    known: int
    known_in: int = 0


def read_undirected(case: Case) -> Degrees | str:
    """Return the numbers of an undirected degree policy, or why it is none.

    One attribute with v (v - 1) / 2 values; each count is over v - 1 values, every two counts share
    one, and no value is in three. That fixes everything but the names: n stars that meet pairwise.
    """
    size = case.domain.size
    nodes = next(v for v in range(2, size + 3) if comb(v, 2) >= size)
    if len(case.domain) != 1 or comb(nodes, 2) != size:
        return "the domain is not one attribute that lists the pairs of some nodes"
    stars = set()
    for fact in case.policy.linear_facts:
        box = need.single_box(fact)
        if fact.bounded or box is None or box.size != nodes - 1:
            return f"{fact.name} is not the degree of a node"
        stars.add(frozenset(point[0] for point in box.points()))
    if any(len(a & b) != 1 for a, b in combinations(stars, 2)) or len(stars) > nodes:
        return "the known counts are not the degrees of different nodes"
    if any(sum(place in star for star in stars) > 2 for place in range(size)):
        return "an edge has two ends, and some value is counted three times"
    return Degrees(nodes, len(stars))


def read_directed(case: Case) -> Degrees | str:
    """Return the numbers of a directed degree policy, or why it is none."""
    sizes = [attribute.size for _, attribute in case.domain.attributes]
    if len(sizes) != 2 or sizes[0] != sizes[1] or sizes[0] < 2:
        return "the domain is not two attributes that list the same two nodes or more"
    known: tuple[set[int], set[int]] = (set(), set())
    for fact in case.policy.linear_facts:
        box = need.single_box(fact)
        widths = [] if box is None else [side.size for side in box.sides]
        if box is None or fact.bounded or sorted(widths) != [1, sizes[0]]:
            return f"{fact.name} is not an in-degree or out-degree of a node"
        axis = widths.index(1)
        known[axis].add(box.sides[axis].nth(0))
    return Degrees(sizes[0], len(known[0]), len(known[1]))
