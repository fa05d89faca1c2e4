"""All cuts into blocks, compiled: against frames that are listed one by one."""

from __future__ import annotations

import random

import pytest

from blowproof.verifier.exact import cuts
from blowproof.verifier.exact.available import AVAILABLE
from blowproof.verifier.exact.cuts import Cuts
from blowproof.verifier.theorems.affine_frames import (
    Signatures,
    framed,
    kernel,
    partitions,
    worth,
)

pytestmark = pytest.mark.skipif(not AVAILABLE, reason="numba is an extra")


def drawn(seed: int) -> tuple[tuple[int, ...], ...]:
    """The dependencies of some points, scaled and mixed: any basis of their span will do."""
    rng = random.Random(seed)
    count, rank = rng.choice([(5, 1), (6, 2), (7, 2), (7, 3), (8, 4)])
    points: set[tuple[int, ...]] = set()
    while len(points) < count:
        points.add(tuple(rng.randint(0, 4) for _ in range(rank)))
    first, *others = kernel(sorted(points))
    mixed = tuple(2 * x + y for x, y in zip(first, others[0], strict=True)) if others else first
    return (mixed, *others)


def in_twos(basis: tuple[tuple[int, ...], ...]) -> tuple[int, int]:
    """The longest circuit of frames without classes that are alone, and how many cuts there are."""
    found, seen = 0, 0
    for blocks in partitions(len(basis[0]), len(basis)):
        if min(map(len, blocks)) >= 2:
            seen += 1
            k = framed(basis, blocks)
            if k is not None:
                each = (worth([k[c] for c in block], [True] * len(block)) for block in blocks)
                found = max(found, sum(each) // 2)
    return found, seen


@pytest.mark.parametrize("seed", range(12))
def test_the_longest_circuit_of_drawn_points(seed: int) -> None:
    basis = drawn(seed)
    found = Cuts.of(basis)
    assert found is not None and found.go_on(10**6)
    assert (found.longest, found.seen) == in_twos(basis)


@pytest.mark.parametrize("most", [1, 2, 7, 50])
def test_what_is_gone_through_in_slices_is_gone_through_once(most: int) -> None:
    basis = drawn(2)
    found = Cuts.of(basis)
    assert found is not None
    slices = 1
    while not found.go_on(most):
        assert found.seen == most * slices
        slices += 1
    assert (found.longest, found.seen) == in_twos(basis)
    assert found.go_on(most) and found.seen == in_twos(basis)[1]


def test_numbers_that_might_not_fit_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    far = Signatures(((0, 0), (1, 0), (0, 1), (10**6, 1), (1, 10**6)), (True,) * 5)
    assert Cuts.of(far.dependencies) is None
    monkeypatch.setattr(cuts, "SAFE", 100)
    assert Cuts.of(((1, -1, -1, 1),)) is None
    monkeypatch.setattr(cuts, "SAFE", 300)
    assert Cuts.of(((1, -1, -1, 1),)) is not None
