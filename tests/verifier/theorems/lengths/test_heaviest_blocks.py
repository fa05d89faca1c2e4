"""Blocks one after the other: what the |k_c| of frames add up to, by all cuts."""

from __future__ import annotations

import random
from itertools import combinations, product

import numpy as np
import pytest

from blowproof.verifier.theorems.affine_frames import (
    Signatures,
    best_frame,
    change_above,
    framed,
    kernel,
    partitions,
)
from blowproof.verifier.theorems.lengths import heaviest_blocks
from blowproof.verifier.theorems.lengths.frames_above import change_in_frames, outputs_in_frames
from blowproof.verifier.theorems.lengths.heaviest_blocks import (
    HEAVIEST,
    Blocks,
    OneClass,
    heaviest,
)

FOREVER = float("inf")


def margins(*shape: int, of: int) -> list[tuple[int, ...]]:
    """The signatures of a table's cells for all margins of so many sides."""
    return [
        tuple(
            int(all(c[k] == x for k, x in zip(sides, at, strict=True)))
            for sides in combinations(range(len(shape)), of)
            for at in product(*(range(shape[k]) for k in sides))
        )
        for c in product(*map(range, shape))
    ]


def small(vectors: list[tuple[int, ...]]) -> Signatures:
    """As if each class had one value."""
    return Signatures(tuple(vectors), (False,) * len(vectors))


@pytest.mark.parametrize(
    ("shape", "of"), [((2, 3), 1), ((2, 4), 1), ((2, 2, 2), 1), ((2, 2, 3), 2)]
)
def test_tables_are_searched_to_their_heaviest_frame(shape: tuple[int, ...], of: int) -> None:
    found = small(margins(*shape, of=of))
    best = best_frame(found)
    assert best is not None
    blocks = Blocks(found.dependencies)
    assert blocks.none_beyond(best.worth)
    assert not blocks.none_beyond(best.worth - 1)


@pytest.mark.parametrize("signs", [True, False])
@pytest.mark.parametrize("seed", range(6))
def test_drawn_points_are_searched_to_their_heaviest_frame(
    seed: int, signs: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not signs:
        monkeypatch.setattr(heaviest_blocks, "MOST_SIGNS", 0)
        monkeypatch.setattr(heaviest_blocks, "MOST_SETS", 12)
    rng = random.Random(seed)
    count, rank, most = rng.choice([(5, 1, 6), (6, 2, 2), (7, 2, 2), (8, 4, 1)])
    points: set[tuple[int, ...]] = set()
    while len(points) < count:
        points.add(tuple(rng.randint(0, most) for _ in range(rank)))
    found = small(sorted(points))
    best = best_frame(found)
    assert best is not None
    blocks = Blocks(found.dependencies)
    assert blocks.none_beyond(best.worth)
    assert not blocks.none_beyond(best.worth - 1)
    above = change_in_frames(found.dependencies, end=FOREVER)
    assert above is not None and Blocks(found.dependencies).none_beyond(above)


def test_symmetries_leave_blocks_out_and_no_frame() -> None:
    cells = list(product(range(3), repeat=2))
    turned = [cells.index((y, x)) for x, y in cells]
    swapped = [cells.index(((0, 2, 1)[x], y)) for x, y in cells]
    basis = kernel(margins(3, 3, of=1))
    everything, fewer = Blocks(basis), Blocks(basis, [turned, swapped])
    for blocks in (everything, fewer):
        assert blocks.none_beyond(22)
    assert fewer.nodes < everything.nodes / 2
    assert not fewer.none_beyond(21)


def test_the_largest_sets_and_signs_are_those_of_all() -> None:
    vectors = margins(3, 3, of=1)
    columns = np.array(kernel(vectors)).T
    whole = columns @ np.linalg.inv(columns.T @ columns) @ columns.T
    blocks = Blocks(kernel(vectors))
    for size, most in enumerate(blocks.largest):
        sets = (list(each) for each in combinations(range(9), size))
        assert most == round(blocks.unit * max(whole[np.ix_(t, t)].sum() for t in sets))
    every = (np.array(e) for e in product((1, -1), repeat=9))
    assert blocks.signs == round(blocks.unit * max(e @ whole @ e for e in every))


def test_a_cube_is_known_in_any_order_and_nothing_else_is() -> None:
    cells = margins(3, 3, 3, of=2)
    mixed = random.Random(1).sample(cells, len(cells))
    assert heaviest(kernel(mixed)) == HEAVIEST[3, 3, 3]
    found = small(mixed)
    assert change_above(found, end=FOREVER) == 8 * 9_000 - 2
    assert heaviest(kernel(margins(3, 3, of=1))) is None
    line = [(x, x * x, x**3) for x in range(27)]
    assert heaviest(kernel(line)[:8]) is None


def test_a_heavy_frame_of_the_cube_is_met() -> None:
    """7,338 is no more than is said; and one number of 678."""
    cuts = [0, 1, 5, 5, 0, 2, 3, 2, 6, 7, 0, 6, 4, 7, 0, 6, 3, 1, 5, 7, 1, 7, 2, 4, 4, 1, 3]
    blocks = Blocks(kernel(margins(3, 3, 3, of=2)))
    chosen = [np.flatnonzero(np.array(cuts) == block) for block in range(8)]
    assert blocks._change(chosen) == 7_338 <= HEAVIEST[3, 3, 3].change
    cuts = [6, 7, 5, 7, 0, 0, 5, 6, 1, 3, 6, 2, 4, 1, 5, 6, 4, 3, 7, 1, 1, 2, 4, 2, 3, 0]
    one = OneClass(kernel(margins(3, 3, 3, of=2)), 0)
    chosen = [np.flatnonzero(np.array(cuts) == block) for block in range(8)]
    assert one._change(chosen) == 678 <= HEAVIEST[3, 3, 3].one


def most_at(basis: tuple[tuple[int, ...], ...], place: int) -> int:
    """The largest |k_c| of all frames."""
    cuts = partitions(len(basis[0]), len(basis))
    return max(abs(k[place]) for k in (framed(basis, blocks) for blocks in cuts) if k)


@pytest.mark.parametrize(
    ("shape", "of"), [((2, 3), 1), ((2, 4), 1), ((2, 2, 2), 1), ((2, 2, 3), 2)]
)
def test_one_cell_of_a_table_is_searched_to_its_largest_number(
    shape: tuple[int, ...], of: int
) -> None:
    basis = kernel(margins(*shape, of=of))
    most = most_at(basis, 1)
    assert OneClass(basis, 1).none_beyond(most)
    assert not OneClass(basis, 1).none_beyond(most - 1)


@pytest.mark.parametrize("seed", range(8))
def test_one_of_drawn_points_has_no_larger_number(seed: int) -> None:
    """What is searched are multiples of the numbers."""
    rng = random.Random(seed)
    count, rank, most = rng.choice([(5, 1, 6), (6, 2, 2), (7, 3, 2), (8, 4, 1)])
    points: set[tuple[int, ...]] = set()
    while len(points) < count:
        points.add(tuple(rng.randint(0, most) for _ in range(rank)))
    basis = kernel(sorted(points))
    for place in range(count):
        largest = most_at(basis, place)
        row = [int(c == place) for c in range(count)]
        each = outputs_in_frames(basis, [row], end=FOREVER)
        assert each is not None
        (above,) = each
        assert largest <= above
        if largest:
            assert not OneClass(basis, place).none_beyond(largest - 1)
            assert OneClass(basis, place).none_beyond(10 * above)


def test_symmetries_leave_blocks_out_beside_one_class() -> None:
    cells = list(product(range(3), repeat=2))
    turned = [cells.index((y, x)) for x, y in cells]
    swapped = [cells.index((x, (0, 2, 1)[y])) for x, y in cells]
    basis = kernel(margins(3, 3, of=1))
    most = most_at(basis, 8)
    everything, fewer = OneClass(basis, 8), OneClass(basis, 8, [turned, swapped])
    for blocks in (everything, fewer):
        assert blocks.none_beyond(most)
    assert fewer.nodes < everything.nodes
    assert not fewer.none_beyond(most - 1)


def test_large_determinants_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(heaviest_blocks, "SAFE", 10)
    with pytest.raises(OverflowError, match="too large"):
        Blocks(kernel(margins(3, 3, of=1))).none_beyond(1)
