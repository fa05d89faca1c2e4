"""The reductions of verifier/COMPLEXITY.md, in both directions, on small instances."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations, permutations, product

import networkx as nx
import pytest

from blowproof.models import (
    AttributeChange,
    Clause,
    Count,
    Database,
    Domain,
    Edges,
    Full,
    Impossible,
    Known,
    Labels,
    Literal,
    Marginal,
    NamedCount,
    PartitionBy,
    Policy,
    Reading,
    parse_query,
    setting,
)
from blowproof.models.facts.facts import Sum
from blowproof.verifier.ask import sensitivity
from blowproof.verifier.asked.answer import Pair
from blowproof.verifier.databases.consistency import prepare
from blowproof.verifier.neighbours.check import check_pair

# Exact cover by triples: S > 0 with equalities alone

Triples = Sequence[tuple[int, ...]]


def cover_policy(triples: Triples, q: int) -> Policy:
    jokers = {f"j{i}": (3 * i, 3 * i + 1, 3 * i + 2) for i in range(q)}
    values = {f"t{k}": triple for k, triple in enumerate(triples)} | jokers
    elements = [
        Count({"at": [name for name, triple in values.items() if u in triple]}, answer=1)
        for u in range(3 * q)
    ]
    together = [
        Sum([(1, {"at": f"j{i}"}), (-1, {"at": f"j{i + 1}"})], equals=0) for i in range(q - 1)
    ]
    return Policy(
        domain=Domain(at=Labels(list(values))),
        known=(*elements, *together),
        database=Database(size=q),
        queries=(NamedCount("jokers", {"at": list(jokers)}),),
    )


def has_cover(triples: Triples, q: int) -> bool:
    return any(len({u for t in chosen for u in t}) == 3 * q for chosen in combinations(triples, q))


def test_an_exact_cover_is_a_sensitivity() -> None:
    met = {True: 0, False: 0}
    for seed in range(12):
        rng = random.Random(seed)
        q = 2 + seed % 2
        every = list(combinations(range(3 * q), 3))
        triples: list[tuple[int, ...]] = [*rng.sample(every, 3 + seed % 4)]
        if seed % 3 == 0:  # a hidden cover
            order = rng.sample(range(3 * q), 3 * q)
            triples += [tuple(sorted(order[3 * i : 3 * i + 3])) for i in range(q)]
        covered = has_cover(triples, q)
        found = sensitivity(cover_policy(triples, q), "count(jokers)")
        assert (found.lower, found.upper) == ((q, q) if covered else (0, 0)), (triples, q)
        met[covered] += 1
    assert min(met.values()) > 2


# Hamiltonian cycles: S > z under "any"


def cycle_policy(graph: nx.Graph) -> Policy:
    pairs = [
        ({"v": f"v{u}", "side": a}, {"v": f"v{w}", "side": b})
        for u, w in graph.edges
        for a in "01"
        for b in "01"
    ]
    return Policy(
        domain=Domain(v=Labels([f"v{u}" for u in graph]), side=Labels(["0", "1"])),
        secrets=Edges(pairs),
        known=tuple(Count({"v": f"v{u}"}) for u in graph),
    )


def is_hamiltonian(graph: nx.Graph) -> bool:
    first, *others = graph.nodes
    return any(
        all(graph.has_edge(u, w) for u, w in zip((first, *order), (*order, first), strict=True))
        for order in permutations(others)
    )


def test_a_hamiltonian_cycle_is_a_sensitivity() -> None:
    met = {True: 0, False: 0}
    for seed in range(10):
        size = 3 + seed % 4
        graph = nx.gnm_random_graph(size, size + seed % 3, seed=seed)
        found = sensitivity(cycle_policy(graph), reading="secret-moves")
        cyclic = is_hamiltonian(graph)
        assert found.status != "bounds"
        assert found.upper is not None and found.upper <= 2 * size
        assert (found.upper == 2 * size) == cyclic
        met[cyclic] += 1
    assert min(met.values()) > 2


# Subset sums: is this pair minimal?


@pytest.mark.parametrize("seed", range(12))
def test_a_subset_sum_refutes_a_pair(seed: int) -> None:
    rng = random.Random(seed)
    parts = [rng.randint(1, 9) for _ in range(rng.randint(2, 5))]
    target = rng.randint(1, sum(parts) - 1)
    weights = [*parts, -target, target - sum(parts)]
    names = [f"{when}{i}" for i in range(len(weights)) for when in ("before", "after")]
    fact = Sum([(w, {"at": f"after{i}"}) for i, w in enumerate(weights)], equals=0)
    policy = Policy(
        domain=Domain(at=Labels(names)), known=(fact,), database=Database(size=len(weights))
    )
    encode = policy.domain.encode
    pair = Pair(
        before=tuple(encode((f"before{i}",)) for i in range(len(weights))),
        after=tuple(encode((f"after{i}",)) for i in range(len(weights))),
    )
    sums = {sum(chosen) for k in range(len(parts) + 1) for chosen in combinations(parts, k)}
    prepared = prepare(setting(policy), "published")
    assert bool(check_pair(prepared, "published", pair)) == (target not in sums)


# Two levels: x such that no y fulfils clauses of three literals

Literals = tuple[int, int, int]
"""1, ..., m are the x, those after them the y; negative ones are negated."""


def options(clauses: Sequence[Literals], m: int, k: int) -> list[list[int]]:
    """The numbers of each record: of the x, then minus those, of the y, for clauses, A, and B."""

    def number(literal: int) -> int:
        at = sum(clause.count(literal) * 10**place for place, clause in enumerate(clauses))
        return at + (10 ** (len(clauses) + abs(literal) - m - 1) if abs(literal) > m else 0)

    chosen = [[number(x), number(-x)] for x in range(1, m + 1)]
    others = [[number(sign * y)] for y in range(m + 1, m + k + 1) for sign in (1, -1)]
    others += [[10**place] for place in range(len(clauses)) for _ in range(2)]
    goal = sum(3 * 10**place for place in range(len(clauses)))
    goal += sum(10 ** (len(clauses) + y) for y in range(k))
    rest = sum(each[0] for each in others)
    return [*chosen, *([-one, -two] for one, two in chosen), *others, [-goal], [goal - rest]]


def levels_policy(numbers: Sequence[Sequence[int]], m: int, *, cells: bool) -> Policy:
    """Records in cells of their own, or clauses that keep them at their numbers."""
    places = [f"p{k}" for k in range(len(numbers))]
    away = {
        (place, f"{option}"): number
        for place, each in zip(places, numbers, strict=True)
        for option, number in enumerate(each)
    }
    weighed = [(n, {"record": place, "at": at}) for (place, at), n in away.items() if n]
    known: list[Known] = [Sum(weighed, equals=0)]
    for x in range(2 * m):
        first = [{"record": places[x], "at": ["0", "1"]}]
        end = {"record": places[-2 + x // m], "at": "0"}
        known.append(Sum([(1, first), (-1, end)], equals=0))
    if cells:
        known += [Count({"record": place}, answer=1) for place in places]
    else:
        known += [Clause([Literal(k + 1, {"record": place})]) for k, place in enumerate(places)]
    return Policy(
        domain=Domain(record=Labels(places), at=Labels(["start", "0", "1"])),
        known=(
            *known,
            *(Impossible({"record": place, "at": "1"}) for place in places[2 * m :]),
        ),
        secrets=PartitionBy(["record"]) if cells else Full(),
        database=Database(size=len(places)),
        queries=(NamedCount("away", {"at": ["0", "1"]}),),
    )


def fulfilled(clauses: Sequence[Literals], true: set[int]) -> bool:
    return all(true & {*clause} for clause in clauses)


def signs(some: range) -> list[set[int]]:
    return [
        {s * x for s, x in zip(each, some, strict=True)}
        for each in product((1, -1), repeat=len(some))
    ]


@pytest.mark.parametrize("cells", [True, False])
def test_two_levels_are_a_sensitivity(cells: bool) -> None:
    """Of all pairs in which all are away from start, on one side: some are neighbours iff ..."""
    reading: Reading = "secret-moves" if cells else "published"
    met = {True: 0, False: 0}
    for seed in range(10):
        rng = random.Random(seed)
        m, k = 1 + seed % 2, 1 + seed // 2 % 2
        xs, ys = signs(range(1, m + 1)), signs(range(m + 1, m + k + 1))
        clauses = []
        for _ in range(2 + seed % 3):
            one, two = rng.randint(1, m), rng.randint(m + 1, m + k)
            one, two = (rng.choice((1, -1)) * literal for literal in (one, two))
            clauses.append((one, two, two))
        exists = any(not any(fulfilled(clauses, x | y) for y in ys) for x in xs)
        numbers = options(clauses, m, k)
        policy = levels_policy(numbers, m, cells=cells)
        prepared = prepare(setting(policy), reading)
        start = [policy.domain.encode((f"p{i}", "start")) for i in range(len(numbers))]
        pairs = []
        for chosen in product("01", repeat=2 * m):
            ats = [*chosen, *("0" * (len(numbers) - 2 * m))]
            away = [policy.domain.encode((f"p{i}", at)) for i, at in enumerate(ats)]
            for one_way in ((start, away), (away, start)):
                pairs.append(Pair.labelled(*one_way, keep=True))
        found = [bool(check_pair(prepared, reading, pair)) for pair in pairs]
        assert found[::2] == found[1::2]
        assert any(found) == exists, clauses
        met[exists] += 1
    assert min(met.values()) > 2


# Cuts: one published table, impossible values, one marginal


def ends_policy(graph: nx.Graph) -> Policy:
    """Each edge is a class of two values, its ends; how many records each edge has is published."""
    edges = [f"{u}-{w}" for u, w in graph.edges]
    apart = [
        Impossible({"edge": f"{u}-{w}", "end": [f"v{v}" for v in graph if v not in (u, w)]})
        for u, w in graph.edges
    ]
    return Policy(
        domain=Domain(edge=Labels(edges), end=Labels([f"v{v}" for v in graph])),
        known=(Marginal(["edge"]), *apart),
    )


def largest_cut(graph: nx.Graph) -> int:
    sets = (set(part) for k in range(len(graph)) for part in combinations(graph, k))
    return max(sum((u in part) != (w in part) for u, w in graph.edges) for part in sets)


def test_the_largest_cut_is_a_sensitivity() -> None:
    met: set[bool] = set()
    for seed in range(8):
        size = 4 + seed % 3
        graph = nx.gnm_random_graph(size, size - 1 + seed % 4, seed=seed)
        cut = largest_cut(graph)
        for reading in ("published", "secret-moves"):
            found = sensitivity(ends_policy(graph), "marginal(end)", reading=reading)
            assert (found.lower, found.upper) == (2 * cut, 2 * cut), graph.edges
        met.add(cut == graph.number_of_edges())
    assert met == {True, False}


# Longest cycles: two margins, or secrets by attribute and one margin, and impossible values


def longest_cycle(graph: nx.Graph) -> int:
    return max((len(cycle) for cycle in nx.simple_cycles(graph)), default=0)


def test_the_longest_cycle_of_two_margins_is_a_sensitivity() -> None:
    met: set[bool] = set()
    for seed in range(8):
        size = 4 + seed % 3
        graph = nx.gnm_random_graph(size, size - 1 + seed % 4, seed=seed)
        policy = ends_policy(graph)
        margins = replace(policy, known=(Marginal(["end"]), *policy.known))
        longest = longest_cycle(graph)
        found = sensitivity(margins, reading="add-remove")
        assert (found.lower, found.upper) == (2 * longest, 2 * longest), graph.edges
        met.add(longest == size)
    assert met == {True, False}


def test_the_longest_cycle_of_three_margins_is_a_sensitivity() -> None:
    """Two layers change the opposite way."""
    for seed in range(3):
        graph = nx.gnm_random_graph(4 + seed % 2, 4 + seed % 3, seed=seed)
        policy = ends_policy(graph)
        pairs = ("edge", "end"), ("edge", "layer"), ("end", "layer")
        layered = replace(
            policy,
            domain=Domain(dict(policy.domain.attributes), layer=Labels(["1", "2"])),
            known=(*(Marginal(list(pair)) for pair in pairs), *policy.known[1:]),
        )
        longest = longest_cycle(graph)
        found = sensitivity(layered, reading="add-remove")
        assert (found.lower, found.upper) == (4 * longest, 4 * longest), graph.edges


def test_the_longest_cycle_of_single_answers_is_a_sensitivity() -> None:
    met: set[bool] = set()
    for seed in range(8):
        size = 4 + seed % 3
        graph = nx.gnm_random_graph(size, size + seed % 4, seed=seed)
        policy = ends_policy(graph)
        published = (Marginal(["end"]), *policy.known[1:])
        by_answer = replace(policy, known=published, secrets=AttributeChange())
        longest = max(1, longest_cycle(graph))  # two edges at a vertex: one record changes alone
        found = sensitivity(by_answer, reading="secret-moves")
        assert (found.lower, found.upper) == (2 * longest, 2 * longest), graph.edges
        met.add(longest == size)
    assert met == {True, False}


# Exact cover again: two margins with their numbers, impossible values, full secrets

Weights = dict[tuple[str, str], int]
"""The edges of a graph, and how heavy they are."""
Arcs = dict[tuple[str, str], str]
"""For each edge the end that it points to."""


def weighted(triples: Triples, q: int) -> Weights:
    """The graph that is balanced by an exact cover; each element is in two triples or more."""
    often = [sum(u in triple for triple in triples) for u in range(3 * q)]
    weights = {(f"t{k}", f"u{u}"): 1 for k, triple in enumerate(triples) for u in triple}
    weights |= {("hub", f"t{k}"): 3 for k in range(len(triples))}
    weights |= {("rest", f"u{u}"): times - 2 for u, times in enumerate(often) if times > 2}
    if sum(often) > 6 * q:
        weights["hub", "rest"] = sum(often) - 6 * q
    return weights


def balanced(weights: Weights) -> Arcs | None:
    """Try all ways to point edges, until as much points to each vertex as away from it."""
    edges = sorted(weights, key=lambda edge: (-weights[edge], edge))
    left = {v: sum(w for edge, w in weights.items() if v in edge) for edge in edges for v in edge}
    lean = dict.fromkeys(left, 0)

    def point(place: int) -> Arcs | None:
        if place == len(edges):
            return {}
        edge = u, w = edges[place]
        for to, fro in ((w, u), (u, w)):
            for v, sign in ((to, 1), (fro, -1)):
                lean[v] += sign * weights[edge]
                left[v] -= weights[edge]
            if all(abs(lean[v]) <= left[v] for v in edge):
                rest = point(place + 1)
                if rest is not None:
                    return rest | {edge: to}
            for v, sign in ((to, 1), (fro, -1)):
                lean[v] -= sign * weights[edge]
                left[v] += weights[edge]
        return None

    return point(0)


def margins_policy(weights: Weights) -> Policy:
    vertices = sorted({v for edge in weights for v in edge})
    heavy = [sum(w for edge, w in weights.items() if v in edge) // 2 for v in vertices]
    apart = [
        Impossible({"edge": f"{u}-{w}", "end": [v for v in vertices if v not in (u, w)]})
        for u, w in weights
    ]
    return Policy(
        domain=Domain(edge=Labels([f"{u}-{w}" for u, w in weights]), end=Labels(vertices)),
        known=(
            Marginal(["edge"], answers=list(weights.values())),
            Marginal(["end"], answers=heavy),
            *apart,
        ),
        database=Database(size=sum(weights.values())),
    )


def round_the_edges(policy: Policy, weights: Weights, arcs: Arcs) -> Pair:
    """One record of each edge goes on to the next edge, the others to the edge's other end."""
    edges = list(weights)
    before, after = [], []
    for place, edge in enumerate(edges):
        for record in range(weights[edge]):
            to = edge if record else edges[(place + 1) % len(edges)]
            tail = to[0] if arcs[to] == to[1] else to[1]
            before.append(policy.domain.encode((f"{edge[0]}-{edge[1]}", arcs[edge])))
            after.append(policy.domain.encode((f"{to[0]}-{to[1]}", tail)))
    return Pair(before=tuple(before), after=tuple(after))


def test_an_exact_cover_turns_two_margins_over() -> None:
    met = {True: 0, False: 0}
    halves = [
        (triple, tuple(sorted({*range(6)} - {*triple}))) for triple in combinations(range(6), 3)
    ]
    for seed in range(18):
        rng = random.Random(seed)
        chosen = rng.sample(halves[:10], 5 + seed % 3)  # no two of them are a cover
        triples = [pair[rng.random() < 1 / 2] for pair in chosen]
        triples += [chosen[0][0], chosen[0][1]] if seed % 2 else []
        if any(sum(u in triple for triple in triples) < 2 for u in range(6)):
            continue
        weights = weighted(triples, 2)
        arcs, covered = balanced(weights), has_cover(triples, 2)
        assert (arcs is not None) == covered, triples
        met[covered] += 1
        if arcs is not None:
            policy = margins_policy(weights)
            pair = round_the_edges(policy, weights, arcs)
            prepared = prepare(setting(policy), "published")
            assert check_pair(prepared, "published", pair), triples
            assert not {*pair.before} & {*pair.after}  # so S(histogram) = 2 n
    assert min(met.values()) > 2


def test_two_margins_are_turned_over_only_by_balance() -> None:
    """On graphs small enough for every database: S(histogram) = 2 n iff they can be balanced."""
    met: set[bool] = set()
    for w in (1, 2, 3):
        weights = {("a", "b"): 1, ("b", "c"): w, ("a", "c"): 1}
        if (1 + w) % 2:
            continue
        policy = margins_policy(weights)
        found = sensitivity(policy)
        assert found.status != "bounds"
        turned = found.upper == 2 * sum(weights.values())
        assert turned == (balanced(weights) is not None)
        met.add(turned)
    assert met == {True, False}


# Three-dimensional matchings: the tables with given two-way margins of three layers

Matched = tuple[str, str, str]


def ringed(triples: Sequence[Matched], q: int) -> list[Matched]:
    """With elements and triples that have one matching more than these."""
    more = list(triples)
    for i in range(q):
        more += [(f"x{i}", f"u{i}", f"v{i}"), (f"w{i}", f"u{(i + 1) % q}", f"v{i}")]
        more.append((f"w{i}", f"y{i}", f"z{i}"))
    return more


def matchings(triples: Sequence[Matched], q: int) -> list[set[Matched]]:
    every = map(set, combinations(triples, q))
    return [each for each in every if len({e for triple in each for e in triple}) == 3 * q]


def layers_policy(triples: Sequence[Matched]) -> Policy:
    elements = sorted({e for triple in triples for e in triple})
    beside = [int(e in triple) for triple in triples for e in elements]
    layers = []
    for e in elements:
        place = next(triple.index(e) for triple in triples if e in triple)
        numbers = [1, sum(e in triple for triple in triples) - 1, 0]
        layers += [numbers[(layer - place) % 3] for layer in range(3)]
    names = [".".join(triple) for triple in triples]
    ring = {"triple": "x0.u0.v0", "element": "x0", "layer": "1"}
    return Policy(
        domain=Domain(
            triple=Labels(names), element=Labels(elements), layer=Labels(["1", "2", "3"])
        ),
        known=(
            Marginal(["triple", "element"], answers=beside),
            Marginal(["triple", "layer"], answers=[1] * 3 * len(triples)),
            Marginal(["element", "layer"], answers=layers),
        ),
        queries=(NamedCount("ring", ring),),
    )


def placed(triples: Sequence[Matched], chosen: set[Matched]) -> list[tuple[str, str, str]]:
    """The records of a matching."""
    return [
        (".".join(triple), e, str(1 + (place + (triple not in chosen)) % 3))
        for triple in triples
        for place, e in enumerate(triple)
    ]


@pytest.mark.parametrize("seed", range(6))
def test_a_matching_is_another_table(seed: int) -> None:
    """Three of the six draws have one."""
    rng, q = random.Random(seed), 2
    every = [(f"x{a}", f"y{b}", f"z{c}") for a in range(q) for b in range(q) for c in range(q)]
    known = rng.sample(every, 2 + seed % 3)
    triples = ringed(known, q)
    policy = layers_policy(triples)
    found = matchings(triples, 2 * q)
    assert len(found) == 1 + len(matchings(known, q))
    if len(found) == 1:
        for text in ("histogram", "count(ring)"):
            answer = sensitivity(policy, text)
            assert (answer.lower, answer.upper) == (0, 0)
        return
    found.sort(key=lambda chosen: ("x0", "u0", "v0") not in chosen)
    one, two = ([policy.domain.encode(x) for x in placed(triples, each)] for each in found[:2])
    prepared = prepare(setting(policy), "published")
    pair = Pair.labelled(one, two)
    assert len(found) > 2 or check_pair(prepared, "published", pair)
    query = parse_query("count(ring)", policy)
    assert query.difference(pair.moves("published")) == 1
