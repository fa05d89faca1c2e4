"""What the claims of the cuboid draft and of the matching are checked with, by other routes."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import combinations

import pytest

from blowproof.models import Count, Full, Policy
from blowproof.verifier.claims.cuboids.section_4 import LEMMA_4_2
from blowproof.verifier.claims.cuboids.section_4_cells import LEMMA_4_3
from blowproof.verifier.claims.cuboids.section_5 import UNDIRECTED
from blowproof.verifier.claims.data_dependent import partitions
from blowproof.verifier.claims.run import Failure, put
from blowproof.verifier.claims.stating import families as some
from blowproof.verifier.claims.stating.claim import Formula, Instance
from blowproof.verifier.claims.stating.linear import kernel_projection, rank, solve


def test_projection_is_onto_the_kernel() -> None:
    rows = [[1, 1, 0, 0], [0, 0, 1, 1], [1, 0, 1, 0], [0, 1, 0, 1]]
    matrix = kernel_projection(rows, 4)
    for row in rows:
        for place in range(4):
            assert sum(a * matrix[i][place] for i, a in enumerate(row)) == 0
    trace = sum(matrix[i][i] for i in range(4))
    assert trace == 4 - rank(rows) == 1
    assert all(matrix[i][j] == matrix[j][i] for i in range(4) for j in range(4))


def test_solve_tells_contradictions() -> None:
    assert solve([[1, 1], [2, 2]], [1, 3]) is None
    assert solve([[1, 1], [1, -1]], [3, 1]) == [Fraction(2), Fraction(1)]


def _listed_change(nodes: int, known: int) -> int:
    """Return the largest change between simple graphs, by listing all pairs of graphs."""
    edges = list(combinations(range(nodes), 2))
    graphs = range(1 << len(edges))
    masks = [sum(1 << i for i, edge in enumerate(edges) if node in edge) for node in range(known)]
    degrees = [tuple((graph & mask).bit_count() for mask in masks) for graph in graphs]
    best = 0
    for one in graphs:
        for two in graphs:
            moves = one ^ two
            if degrees[one] != degrees[two] or moves.bit_count() <= best:
                continue
            part = (moves - 1) & moves
            while part and degrees[one ^ part] != degrees[one]:
                part = (part - 1) & moves
            if part == 0:
                best = moves.bit_count()
    return best


@pytest.mark.parametrize("known", range(5))
def test_simple_graphs_agree_with_listing_them(known: int) -> None:
    part = next(item for item in UNDIRECTED.parts if item.name.startswith("simple"))
    numbers = {"nodes": 4, "degrees": known}
    value = part.measure(Instance(shape="", parameters=numbers), None)
    assert value.lower == _listed_change(4, known)


def test_known_cells_in_full_are_known_cuboids() -> None:
    """The repaired Lemma 4.3 gives the repaired Lemma 4.2 where every cell is known."""
    whole = next(part for part in LEMMA_4_2.parts if part.amended)
    partly = next(part for part in LEMMA_4_3.parts if part.amended)
    for sizes in ((1, 1), (1, 3), (2, 2), (2, 3), (3, 4)):
        domain = some.table(*sizes)
        marginals = some.with_marginals(domain, Full(), (["a"], ["b"]))
        known = [Count({"a": x + 1}) for x in range(sizes[0])]
        known += [Count({"b": y + 1}) for y in range(sizes[1])]
        counts = Policy(domain=domain, known=tuple(known))
        claimed = whole.claimed(Instance(shape="", policy=marginals))
        assert claimed == partly.claimed(Instance(shape="", policy=counts))


def _always(number: int) -> Formula:
    return lambda instance: number


def test_the_check_of_the_repair_can_fail() -> None:
    whole = next(part for part in LEMMA_4_2.parts if part.amended)
    policy = some.with_marginals(some.table(2, 3), Full(), (["a"], ["b"]))
    item = Instance(shape="", policy=policy)
    assert put(whole, item, None) is True
    for wrong, cost in ((3, "privacy"), (5, "accuracy")):
        failed = put(replace(whole, claimed=_always(wrong)), item, None)
        assert isinstance(failed, Failure)
        assert failed.cost == cost


def test_partitions_are_those_of_buckets_of_two() -> None:
    assert [len(partitions.partitions_of(size)) for size in range(6)] == [1, 1, 2, 4, 10, 26]
    for found in partitions.partitions_of(4):
        assert sorted(value for bucket in found for value in bucket) == [0, 1, 2, 3]
