"""All frames, by classes that are alone in their block: the longest circuit of few classes."""

from __future__ import annotations

import random
from itertools import accumulate, permutations, product

import numpy as np
import pytest

from blowproof.verifier.exact.available import AVAILABLE
from blowproof.verifier.theorems.affine_frames import (
    Signatures,
    best_frame,
    framed,
    kernel,
    partitions,
)
from blowproof.verifier.theorems.lengths import listed_frames
from blowproof.verifier.theorems.lengths.listed_frames import (
    cuts_to_list,
    longest_in_frames,
    longest_listed,
    most_left,
)
from blowproof.verifier.theorems.listed_margins import CIRCUITS, LEFT, LISTED


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


@pytest.mark.parametrize("shape", [(2, 3), (2, 4), (3, 3), (2, 2, 2)])
def test_how_often_classes_of_tables_are_left(shape: tuple[int, ...]) -> None:
    """Irreducibles, of which all were listed, leave none more often than circuits do."""
    basis, cells = kernel(rows_and_columns(*shape)), list(product(*map(range, shape)))
    assert most_left(basis, [[c] for c in range(len(cells))]) == LEFT[shape].cell
    for axis, side in enumerate(shape):
        sets = [[c for c, cell in enumerate(cells) if cell[axis] == x] for x in range(side)]
        assert most_left(basis, sets) == LEFT[shape].classes[side]


FOREVER = float("inf")


@pytest.mark.skipif(not AVAILABLE, reason="numba is an extra")
@pytest.mark.parametrize("shape", [(2, 3), (2, 4), (3, 3), (2, 2, 2)])
def test_compiled_loops_list_the_same(shape: tuple[int, ...]) -> None:
    basis = kernel(rows_and_columns(*shape))
    assert longest_listed(basis, end=FOREVER) == longest_in_frames(basis)[0]


@pytest.mark.skipif(not AVAILABLE, reason="numba is an extra")
@pytest.mark.parametrize("seed", range(6))
def test_compiled_loops_list_frames_of_drawn_points(seed: int) -> None:
    rng = random.Random(seed)
    count, rank = rng.choice([(5, 1), (6, 2), (7, 2), (7, 3)])
    points: set[tuple[int, ...]] = set()
    while len(points) < count:
        points.add(tuple(rng.randint(0, 6) for _ in range(rank)))
    best = best_frame(Signatures(tuple(sorted(points)), (True,) * count))
    assert best is not None
    assert longest_listed(kernel(sorted(points)), end=FOREVER) == best.worth // 2


def test_frames_are_not_listed_where_that_is_of_no_use(monkeypatch: pytest.MonkeyPatch) -> None:
    basis = kernel(rows_and_columns(2, 4))
    longest = LISTED[2, 4]
    assert not AVAILABLE or longest_listed(basis, useful=longest.__ge__, end=FOREVER) == longest
    assert longest_listed(basis, useful=longest.__gt__, end=FOREVER) is None
    assert longest_listed(basis, end=-FOREVER) is None
    monkeypatch.setattr(listed_frames, "MOST_CUTS", cuts_to_list(8, 3) - 1)
    assert longest_listed(basis, end=FOREVER) is None
    monkeypatch.setattr(listed_frames, "MOST_CUTS", cuts_to_list(8, 3))
    assert not AVAILABLE or longest_listed(basis, end=FOREVER) == longest
    monkeypatch.setattr(listed_frames, "AVAILABLE", False)
    assert longest_listed(basis, end=FOREVER) is None


def most_by_orders(k: list[int], block: tuple[int, ...], inside: set[int]) -> int:
    """How often classes are left, going through those of a block in any order."""
    most = 0
    for order in permutations(block):
        after = list(accumulate(k[c] for c in order))
        if min(after) >= 0:
            most = max(most, sum(n for n, c in zip(after, order, strict=True) if c in inside))
    return most


@pytest.mark.parametrize("seed", range(6))
def test_no_order_of_classes_leaves_some_more_often(seed: int) -> None:
    rng = random.Random(seed)
    points: set[tuple[int, ...]] = set()
    count, rank = rng.choice([(5, 1), (5, 2), (6, 2), (6, 3)])
    while len(points) < count:
        points.add(tuple(rng.randint(0, 6) for _ in range(rank)))
    basis = kernel(sorted(points))
    inside = set(rng.sample(range(count), rng.randint(1, count)))
    most = 0
    for blocks in partitions(count, len(basis)):
        k = framed(basis, blocks)
        for sign in (1, -1) if k else ():
            signed = [sign * x for x in k or ()]
            most = max(most, sum(most_by_orders(signed, block, inside) for block in blocks))
    assert most_left(basis, [inside]) == most


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
    assert moves == CIRCUITS[4, 4].longest


@pytest.mark.parametrize(
    ("k", "blocks", "inside", "times"),
    [
        (
            (0, 0, -6, 6, 0, -5, -1, 6, 4, 4, 0, -8, -4, 1, 7, -4),
            (5, 6, 0, 1, 7, 1, 2, 0, 3, 4, 8, 1, 4, 2, 1, 3),
            (3, 7, 11, 15),
            CIRCUITS[4, 4].classes[4],
        ),
        (
            (0, 0, -6, 6, 13, -8, -6, 1, -9, -1, 4, 6, -4, 9, 8, -13),
            (7, 8, 0, 1, 2, 3, 1, 4, 5, 4, 6, 0, 6, 5, 3, 2),
            (4,),
            CIRCUITS[4, 4].cell,
        ),
    ],
)
def test_how_often_classes_of_four_by_four_are_left(
    k: tuple[int, ...], blocks: tuple[int, ...], inside: tuple[int, ...], times: int
) -> None:
    """What is recorded is met by a frame: it is no less than the truth."""
    assert not (np.array(k) @ rows_and_columns(4, 4)).any()
    sums = np.zeros((9, 9), dtype=np.int64)
    np.add.at(sums, list(blocks), np.array(kernel(rows_and_columns(4, 4))).T)
    assert np.linalg.matrix_rank(sums) == 8
    parts = [tuple(c for c in range(16) if blocks[c] == block) for block in range(9)]
    assert all(sum(k[c] for c in part) == 0 for part in parts)
    assert sum(most_by_orders(list(k), part, set(inside)) for part in parts) == times
