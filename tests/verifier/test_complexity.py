"""The reductions of verifier/COMPLEXITY.md, in both directions, on small instances."""

from __future__ import annotations

import random
from collections.abc import Sequence
from itertools import combinations, permutations

import networkx as nx
import pytest

from blowproof.models import (
    Count,
    Database,
    Domain,
    Edges,
    Labels,
    NamedCount,
    Policy,
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
