"""All frames, by classes that are alone in their block: the longest circuit of few classes."""

from __future__ import annotations

import random
from itertools import product

import numpy as np
import pytest

from blowproof.verifier.theorems.affine_frames import Signatures, best_frame, kernel
from blowproof.verifier.theorems.lengths import listed_frames
from blowproof.verifier.theorems.lengths.listed_frames import longest_in_frames
from blowproof.verifier.theorems.listed_margins import CIRCUITS, LISTED


def rows_and_columns(*shape: int) -> list[tuple[int, ...]]:
    """The signatures of a table's cells for its one-way margins."""
    return [
        tuple(int(c[k] == x) for k, side in enumerate(shape) for x in range(side))
        for c in product(*map(range, shape))
    ]


@pytest.mark.parametrize("seed", range(6))
def test_frames_of_drawn_points_are_those_of_all_cuts(seed: int) -> None:
    rng = random.Random(seed)
    points: set[tuple[int, ...]] = set()
    count, rank = rng.choice([(5, 1), (6, 2), (7, 2), (7, 3)])
    while len(points) < count:
        points.add(tuple(rng.randint(0, 6) for _ in range(rank)))
    found = Signatures(tuple(sorted(points)), (True,) * count)
    best = best_frame(found)
    assert best is not None
    assert longest_in_frames(found.dependencies)[0] == best.worth // 2


@pytest.mark.parametrize("shape", [(2, 3), (2, 4), (3, 3), (2, 2, 2), (2, 2, 3)])
def test_tables_whose_longest_irreducible_is_a_circuit(shape: tuple[int, ...]) -> None:
    assert longest_in_frames(kernel(rows_and_columns(*shape)))[0] == LISTED[shape]


def test_symmetries_leave_cuts_out_and_no_circuit() -> None:
    """Rows exchanged, columns turned round, and both sides exchanged."""
    cells = list(product(range(3), repeat=2))
    swapped = {0: 1, 1: 0, 2: 2}
    images = (
        [(swapped[x], y) for x, y in cells],
        [(x, (y + 1) % 3) for x, y in cells],
        [(y, x) for x, y in cells],
    )
    basis = kernel(rows_and_columns(3, 3))
    everything = longest_in_frames(basis)
    fewer = longest_in_frames(basis, [[cells.index(c) for c in image] for image in images])
    assert everything[0] == fewer[0] == 15
    assert fewer[1] < everything[1] / 3


def test_large_determinants_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(listed_frames, "SAFE", 2)
    with pytest.raises(OverflowError, match="too large"):
        longest_in_frames(kernel([(0,), (1,), (5,), (11,), (13,)]))


def test_one_circuit_of_four_by_four() -> None:
    """The recorded length is met: by a vector that sums to 0 on each of nine blocks."""
    k = (0, 2, 7, -9, -7, 0, -5, 12, -1, 9, 0, -8, 8, -11, -2, 5)
    blocks = (6, 0, 1, 2, 1, 7, 3, 4, 4, 2, 8, 5, 5, 4, 0, 3)
    sums = np.zeros((9, 9), dtype=np.int64)
    basis = np.array(kernel(rows_and_columns(4, 4))).T
    np.add.at(sums, list(blocks), basis)
    assert np.linalg.matrix_rank(sums) == 8
    assert not (np.array(k) @ rows_and_columns(4, 4)).any()
    moves = 0
    for block in range(9):
        left = sorted((x for x, b in zip(k, blocks, strict=True) if b == block), reverse=True)
        assert not sum(left)
        moves += sum(sum(left[:n]) for n in range(len(left)))
    assert moves == CIRCUITS[4, 4]
