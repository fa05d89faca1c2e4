"""How heavy frames can be, by the sizes of their blocks: against all sets and all frames."""

from __future__ import annotations

import random
from dataclasses import replace
from fractions import Fraction
from itertools import combinations, product
from operator import mul

import numpy as np
import pytest

from blowproof.models import (
    Between,
    Domain,
    Integers,
    Marginal,
    NamedCount,
    Policy,
    parse_query,
    setting,
)
from blowproof.verifier.ask import sensitivity
from blowproof.verifier.asked.question import Question
from blowproof.verifier.theorems.affine_frames import (
    Signatures,
    best_frame,
    framed,
    kernel,
    partitions,
)
from blowproof.verifier.theorems.lengths import frames_above
from blowproof.verifier.theorems.lengths.frames_above import (
    change_in_frames,
    moves_in_frames,
    outputs_in_frames,
    squares_of_sets,
)
from blowproof.verifier.theorems.most_moves import ceiling

FOREVER = float("inf")


def drawn(seed: int) -> list[tuple[int, ...]]:
    """Return distinct points with two to four dependencies."""
    rng = random.Random(seed)
    rank = rng.randint(1, 3)
    dependencies = rng.randint(2, 5 - rank)
    while True:
        reach = 9 // rank
        count = rank + 1 + dependencies
        points = {tuple(rng.randint(0, reach) for _ in range(rank)) for _ in range(count)}
        if len(points) == count and len(kernel(sorted(points))) == dependencies:
            return sorted(points)


@pytest.mark.parametrize("seed", range(25))
def test_no_frame_is_heavier(seed: int) -> None:
    points = drawn(seed)
    basis = kernel(points)
    for large, most in ((True, moves_in_frames), (False, change_in_frames)):
        best = best_frame(Signatures(tuple(points), (large,) * len(points)))
        above = most(basis, end=FOREVER)
        assert best is not None and above is not None
        assert best.worth <= (2 * above if large else above)


@pytest.mark.parametrize("seed", range(25))
def test_no_frame_changes_outputs_more(seed: int) -> None:
    points = drawn(seed)
    basis, rng = kernel(points), random.Random(seed)
    rows = [[rng.randint(0, 1) for _ in points] for _ in range(rng.randint(1, 3))]
    above = outputs_in_frames(basis, rows, end=FOREVER)
    assert above is not None
    for blocks in partitions(len(points), len(basis)):
        k = framed(basis, blocks) or (0,) * len(points)
        for row, most in zip(rows, above, strict=True):
            assert abs(sum(map(mul, row, k))) <= most


@pytest.mark.parametrize(
    ("sizes", "known", "most"), [((3, 3), 15, 18), ((3, 4), 27, 34), ((4, 4), 54, 74)]
)
def test_one_way_margins(sizes: tuple[int, int], known: int, most: int) -> None:
    """Beside the longest circuits that are known."""
    cells = list(product(*map(range, sizes)))
    rows = [tuple(int(x[axis] == k) for axis in (0, 1) for k in range(sizes[axis])) for x in cells]
    assert moves_in_frames(kernel(rows), end=FOREVER) == most >= known


@pytest.mark.parametrize("seed", range(12))
def test_no_set_of_classes_has_a_longer_projection(seed: int) -> None:
    basis = kernel(drawn(seed))
    squares, det = squares_of_sets(basis)
    columns = np.array(basis, dtype=float).T
    projection = columns @ np.linalg.inv(columns.T @ columns) @ columns.T
    count = len(columns)
    assert round(float(np.linalg.det(columns.T @ columns))) == det
    for size in range(count + 1):
        sets = (list(chosen) for chosen in combinations(range(count), size))
        longest = max(det * float(projection[np.ix_(each, each)].sum()) for each in sets)
        assert longest <= squares[size] + 1e-6
        assert size > 3 or count - 3 <= size or longest >= squares[size] - 1e-6


@pytest.mark.parametrize("size", range(1, 8))
def test_the_shapes_of_blocks_are_met(size: int) -> None:
    """By the numbers 1 and -1, and by an arithmetic progression."""
    signs = [1] * (size // 2) + [-1] * (size // 2) + [0] * (size % 2)
    if size % 2:
        signs = [size - 1] * (size // 2 + 1) + [-size - 1] * (size // 2)
    squares = sum(k * k for k in signs)
    change = size - Fraction(size % 2, size)
    assert sum(signs) == 0
    assert size == 1 or Fraction(sum(map(abs, signs)) ** 2, squares) == change
    steps = [size - 1 - 2 * place for place in range(size)]
    sums = [sum(steps[:end]) for end in range(1, size)]
    squares = sum(k * k for k in steps)
    assert Fraction(sum(sums) ** 2, squares or 1) == Fraction(size * (size * size - 1), 12)


def cube(large: bool) -> Policy:
    known = (Marginal(["a", "b"]), Marginal(["b", "c"]), Marginal(["a", "c"]))
    free = {"z": Integers(0, 1)} if large else {}
    three = Integers(0, 2)
    return Policy(domain=Domain(a=three, b=three, c=three, **free), known=known)


@pytest.mark.parametrize(("large", "most"), [(True, 158_942), (False, 71_998)])
def test_three_two_way_margins(large: bool, most: int) -> None:
    """Before: 808,686 for both, and 79,998 by the sizes of blocks alone."""
    policy = cube(large)
    question = Question(setting(policy), parse_query("histogram", policy), "published")
    found = ceiling(question)
    assert found is not None and found.value == most


@pytest.mark.parametrize("seed", range(10))
def test_counts_of_whole_classes_are_bounded(seed: int) -> None:
    """Against the exact search; a table with one value to each cell."""
    rng = random.Random(seed)
    domain = Domain(a=Integers(0, 1), b=Integers(0, rng.randint(2, 3)))
    policy = Policy(domain=domain, known=(Marginal(["a"]), Marginal(["b"])))
    text = rng.choice(["marginal(a,b)", "range(b,0,1)", "many"])
    area = {"a": rng.randint(0, 1), "b": Between(0, rng.randint(0, 1))}
    policy = replace(policy, queries=(NamedCount("many", area),))
    query = parse_query("count(many)" if text == "many" else text, policy)
    exact = sensitivity(policy, query, engine="search")
    found = ceiling(Question(setting(policy), query, "published"))
    assert exact.status == "exact" and found is not None
    assert exact.lower <= found.value


def test_one_cell_of_a_cube() -> None:
    """Before: 404,343, and 8,647 by the size of the whole vector; volumes alone say 7,559."""
    corner = NamedCount("corner", {"a": 0, "b": 0, "c": 0})
    policy = replace(cube(large=False), queries=(corner,))
    question = Question(setting(policy), parse_query("count(corner)", policy), "published")
    found = ceiling(question)
    assert found is not None and found.value == 6_399


def test_many_sizes_and_many_classes_are_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    basis = kernel(list(product(range(2), repeat=3)))
    assert moves_in_frames(basis, end=FOREVER) is not None
    monkeypatch.setattr(frames_above, "MOST_SIZES", 1)
    assert moves_in_frames(basis, end=FOREVER) is None
    monkeypatch.undo()
    monkeypatch.setattr(frames_above, "MOST_CLASSES", 7)
    assert moves_in_frames(basis, end=FOREVER) is None
