"""Ties between partitions of the same noisy cost: one fixed order decides, as the proofs need.

The argument for privacy moves the noise of the two buckets that hold the ends of a record's move,
and says that the same partition is chosen then. Here it is carried out, on noise so small that ties
abound. A matching library that breaks ties as its search runs fails it.
"""

from __future__ import annotations

import random
from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np
import pytest

from blowproof.mechanisms.structures import matchings
from blowproof.mechanisms.structures.matchings import heaviest_matching, tickets
from blowproof.mechanisms.structures.partitions import cheapest_intervals, cheapest_pairs
from blowproof.models.base.errors import InternalError


def all_matchings(vertices):
    if not vertices:
        yield frozenset()
        return
    first, *rest = vertices
    yield from all_matchings(rest)
    for other in rest:
        for found in all_matchings([v for v in rest if v != other]):
            yield found | {(first, other)}


def best_by_definition(size, weight, ticket):
    """The first of all matchings in the order that the module states."""
    pairs = list(combinations(range(size), 2))
    place = {pair: k for k, pair in enumerate(pairs)}

    def rank(found):
        partner = {a: b for pair in found for a, b in (pair, pair[::-1])}
        return (
            -sum(weight[place[pair]] for pair in found),
            sum(ticket[place[pair]] + 1 for pair in found),
            [partner.get(v, size) for v in range(size)],
        )

    return set(min(all_matchings(list(range(size))), key=rank))


def solved(size, weight):
    left, right = np.triu_indices(size, 1)
    return heaviest_matching(size, left, right, np.array(weight))


@pytest.mark.parametrize("level", ["tickets", "all tickets the same", "few tickets"])
def test_the_matching_is_the_first_in_a_fixed_order(level, monkeypatch):
    """Weights from -1 to 2, so that most instances have ties; with equal tickets too."""
    if level == "all tickets the same":
        monkeypatch.setattr(matchings, "tickets", lambda pairs: np.zeros(pairs, dtype=np.int64))
    if level == "few tickets":
        monkeypatch.setattr(matchings, "tickets", lambda pairs: np.arange(pairs) % 3)
    rng = random.Random(level)
    for _ in range(150):
        size = rng.randint(1, 7)
        pairs = size * (size - 1) // 2
        weight = [rng.choice([-1, 0, 1, 1, 2]) for _ in range(pairs)]
        expected = best_by_definition(size, weight, matchings.tickets(pairs).tolist())
        assert solved(size, weight) == expected


def test_the_order_does_not_depend_on_the_library(monkeypatch):
    """The vertices and the edges are handed over in any order: the matching is the same."""
    rng = random.Random(3)
    plain = matchings._solved

    def shuffled(size, edges):
        names = rng.sample(range(size), size)
        back = {name: v for v, name in enumerate(names)}
        turned = [(names[a], names[b], w) for a, b, w in edges]
        found = plain(size, rng.sample(turned, len(turned)))
        return {tuple(sorted((back[a], back[b]))) for a, b in found}

    for flat in (False, True):
        if flat:
            monkeypatch.setattr(matchings, "tickets", lambda pairs: np.zeros(pairs, dtype=np.int64))
        for size in (8, 14):
            weight = [rng.choice([0, 1, 2]) for _ in range(size * (size - 1) // 2)]
            with monkeypatch.context() as patch:
                first = solved(size, weight)
                patch.setattr(matchings, "_solved", shuffled)
                assert all(solved(size, weight) == first for _ in range(5))


def test_tickets_are_fixed_and_differ():
    found = tickets(2048 * 2047 // 2)
    assert found.min() >= 0 and int(found.max()) < 2**39
    assert len(np.unique(found)) > len(found) - 20
    published = (0xE220A8397B1DCDAF, 0x6E789E6AA1B965F4, 0x06C45D188009454F)  # splitmix64 from 0
    assert tickets(3).tolist() == [word >> 25 for word in published]


def test_weights_beyond_the_library_s_numbers_are_no_matching():
    with pytest.raises(InternalError, match="too many"):
        solved(2, [2**57])
    assert solved(4, [2**56, 1, 2**56 - 1, 2**56 - 1, 1, 2**56]) == {(0, 1), (2, 3)}


def moved(counts, rng):
    """A record that moves from one value to another: its ends, and the counts afterwards."""
    u = rng.choice([k for k, count in enumerate(counts) if count])
    v = rng.choice([k for k in range(len(counts)) if k != u])
    after = list(counts)
    after[u] -= 1
    after[v] += 1
    return u, v, after


def shift_fails_for_pairs(rng, choose):
    """Whether lowering the noise of both buckets by 2 (of one, by 4) leads to another partition."""
    size = rng.randint(2, 9)
    counts = [rng.randint(0, 3) for _ in range(size)]
    counts[0] += 1
    pairs = list(combinations(range(size), 2))
    alone = [rng.choice([-1, 0, 0, 1]) for _ in range(size)]
    paired = [rng.choice([-1, 0, 0, 1]) for _ in pairs]
    found = choose(counts, alone, paired)
    u, v, after = moved(counts, rng)
    for bucket in (found[u], found[v]):
        first, *second = [k for k in range(size) if found[k] == bucket]
        if second:
            paired[pairs.index((first, second[0]))] -= 2
        else:
            alone[first] -= 2
    return choose(after, alone, paired) != found


def test_the_shift_keeps_the_matching():
    rng = random.Random(8)

    def choose(counts, alone, paired):
        noise = np.array(alone), np.array(paired, dtype=np.int64)
        return cheapest_pairs(np.array(counts), *noise, 1).tolist()

    assert not any(shift_fails_for_pairs(rng, choose) for _ in range(1500))


def test_the_shift_fails_where_the_library_breaks_ties():
    """What this replaced: the same measure finds partitions that are not chosen again."""
    import rustworkx

    rng = random.Random(8)

    def choose(counts, alone, paired):
        size = len(counts)
        graph: Any = rustworkx.PyGraph(multigraph=False)
        graph.add_nodes_from(range(size))
        for (a, b), noise in zip(combinations(range(size), 2), paired, strict=True):
            save = 1 + alone[a] + alone[b] - noise - abs(counts[a] - counts[b])
            if save > 0:
                graph.add_edge(a, b, save)
        buckets = list(range(size))
        for a, b in rustworkx.max_weight_matching(graph, weight_fn=int):
            buckets[max(a, b)] = min(a, b)
        return [sorted(set(buckets)).index(bucket) for bucket in buckets]

    assert any(shift_fails_for_pairs(rng, choose) for _ in range(1500))


def test_the_shift_keeps_the_intervals():
    """A deviation changes by at most 2, so each of the two buckets is lowered by 4."""
    rng = random.Random(5)
    for _ in range(600):
        size = rng.randint(2, 9)
        lengths = [1 << k for k in range(size.bit_length())]
        grid = lengths[-1]
        counts = [rng.randint(0, 3) for _ in range(size)]
        counts[0] += 1
        noises = [
            np.array([grid * rng.choice([-1, 0, 0, 1]) for _ in range(size - length + 1)])
            for length in lengths
        ]
        found = cheapest_intervals(np.array(counts), noises, Fraction(1)).tolist()
        u, v, after = moved(counts, rng)
        starts = [0, *found[:-1]]
        for low, high in zip(starts, found, strict=True):
            ends = (low <= u < high) + (low <= v < high)
            noises[(high - low).bit_length() - 1][low] -= 4 * grid * ends
        assert cheapest_intervals(np.array(after), noises, Fraction(1)).tolist() == found


@pytest.mark.parametrize("loud", [1, 2**59, 2**61, 2**70])
@pytest.mark.parametrize("far", [0, 2**31, 2**53, 2**59, 2**63, 2**70])
def test_intervals_of_wide_counts_are_the_cheapest(far, loud):
    """Every partition into lengths 1, 2, 4, ... by definition, in Python's own numbers."""
    rng = random.Random(far)
    for _ in range(20):
        size = rng.randint(1, 7)
        lengths = [1 << k for k in range(size.bit_length())]
        counts = [far + rng.randint(0, 4) * max(1, far // 3) for _ in range(size)]
        noises = [
            np.array([loud * rng.randint(-9, 9) for _ in range(size - length + 1)], dtype=object)
            for length in lengths
        ]

        def ends(place, size=size, lengths=lengths):
            if place == size:
                yield []
            for length in lengths:
                if place + length <= size:
                    yield from ([place + length, *rest] for rest in ends(place + length))

        def cost(found, counts=counts, noises=noises, grid=lengths[-1]):
            whole = Fraction(0)
            for low, high in zip([0, *found[:-1]], found, strict=True):
                mean = Fraction(sum(counts[low:high]), high - low)
                whole += grid * sum(abs(count - mean) for count in counts[low:high])
                whole += 3 * grid + int(noises[(high - low).bit_length() - 1][low])
            return whole

        least = min(map(cost, ends(0)))
        first = min(
            (found for found in ends(0) if cost(found) == least),
            key=lambda found: np.diff([0, *found])[::-1].tolist(),
        )
        made = np.array(counts, dtype=object)
        assert cheapest_intervals(made, noises, Fraction(3)).tolist() == first
