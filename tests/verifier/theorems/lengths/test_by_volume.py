"""The volume of all that has no effect bounds irreducibles: against lists of them."""

from __future__ import annotations

import random
from fractions import Fraction
from itertools import product
from math import gcd, isqrt

import numpy as np
import pytest

from blowproof.verifier.engines.irreducibles import irreducibles
from blowproof.verifier.theorems.lengths.lattice_free import longest_by_volume
from blowproof.verifier.theorems.longest_irreducible import longest_of_effects

Vector = tuple[int, ...]


def drawn(rng: random.Random, count: int, rank: int, reach: int) -> np.ndarray:
    """Effects that span the space, no two of them the same or opposite."""
    while True:
        rows = {tuple(rng.randint(-reach, reach) for _ in range(rank)) for _ in range(count)}
        rows = {max(row, tuple(-x for x in row)) for row in rows if any(row)}
        found = np.array(sorted(rows), dtype=np.int64)
        if len(found) == count and np.linalg.matrix_rank(found) == rank:
            return found


def times(effects: np.ndarray) -> list[list[int]]:
    """How often irreducible multisets hold each effect, those of its negative being negative."""
    rows = [tuple(row) for row in effects.tolist()]
    signed = [*rows, *(tuple(-x for x in row) for row in rows)]
    found = []
    listed = irreducibles(signed, time_limit=60)
    for multiset in listed:
        held = [0] * len(rows)
        for place, often in multiset:
            held[place % len(rows)] += often if place < len(rows) else -often
        if any(held):  # else d, -d
            found.append(held)
    assert listed.complete
    return found


def volume(effects: np.ndarray) -> int:
    """Added up over all determinants of so many effects as there are coordinates."""
    rank = effects.shape[1]
    return round(float(np.linalg.det((effects.T @ effects).astype(np.float64)))) if rank else 1


@pytest.mark.parametrize("seed", [x for x in range(24) if x not in {9, 11}])
def test_no_irreducible_is_beyond_the_volume(seed: int) -> None:
    """Seeds 9 and 11 have long lists."""
    rng = random.Random(seed)
    rank, more = rng.choice([(1, 1), (1, 2), (1, 3), (2, 1), (2, 2), (2, 3), (3, 1), (3, 2)])
    effects = drawn(rng, rank + more, rank, rng.choice([2, 3]) + 3 * (rank == 1))
    most = longest_by_volume(effects)
    found = times(effects)
    assert most == max(2, isqrt(len(effects) * volume(effects)))
    assert max(sum(x * x for x in held) for held in found) <= volume(effects)
    assert max(sum(map(abs, held)) for held in found) <= most
    assert longest_of_effects(effects) <= most


@pytest.mark.parametrize("seed", range(6))
def test_a_circuit_meets_it(seed: int) -> None:
    rng = random.Random(seed)
    while True:
        effects = drawn(rng, 4, 3, 3)
        minors = [round(float(np.linalg.det(np.delete(effects, k, axis=0)))) for k in range(4)]
        if gcd(*minors) == 1:
            break
    (circuit,) = {tuple(map(abs, held)) for held in times(effects)}
    assert sorted(circuit) == sorted(map(abs, minors))
    assert sum(x * x for x in circuit) == volume(effects)


def near(z: Vector, u: list[int]) -> bool:
    """Whether all |z_j - t u_j| are below 1 for some t."""
    if any(x and not y for x, y in zip(z, u, strict=True)):
        return False
    ends = [[Fraction(x + side, y) for side in (-1, 1)] for x, y in zip(z, u, strict=True) if y]
    return max(map(min, ends)) < min(map(max, ends))


def multiple(z: Vector, u: list[int]) -> bool:
    return np.linalg.matrix_rank(np.array([z, u])) < 2


@pytest.mark.parametrize("seed", range(4))
def test_nothing_else_lies_near_the_line_through_an_irreducible(seed: int) -> None:
    """(1) of the proof; through a sum of two there are others."""
    rng = random.Random(seed)
    effects = drawn(rng, 4, 2, 2)
    places = [z for z in product(range(-3, 4), repeat=4) if any(z)]
    without = [z for z in places if not (np.array(z) @ effects).any()]
    found = times(effects)
    assert all(near(z, u) == multiple(z, u) for u in found for z in without)
    sums = [[x + y for x, y in zip(found[0], other, strict=True)] for other in found[1:]]
    assert any(near(z, u) and not multiple(z, u) for u in sums for z in without)


def test_what_is_too_large_is_not_bounded() -> None:
    assert longest_by_volume(np.array([[1 << 31, 1], [1, 0]])) is None
    assert longest_by_volume(np.ones((2, 81), dtype=np.int64)) is None
    assert longest_by_volume(np.array([[1, 1], [2, 2]])) is None
