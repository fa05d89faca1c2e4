"""Two affine dependencies: boundaries of listed irreducibles, and the sensitivities that follow."""

from __future__ import annotations

import random
from dataclasses import replace
from itertools import permutations
from operator import mul

import pytest

from blowproof.models.queries.kinds import Histogram
from blowproof.verifier.ask import sensitivity
from blowproof.verifier.claims.stating.affine_families import with_signatures
from blowproof.verifier.closed_forms import FORMS, Case
from blowproof.verifier.engines.irreducibles import irreducibles
from blowproof.verifier.theorems.affine_frames import (
    Signatures,
    change_above,
    framed,
    heaviest_frame,
    kernel,
    partitions,
)
from blowproof.verifier.theorems.lengths.two_dependencies import of_boundaries

FOREVER = float("inf")
Vector = tuple[int, ...]
SINGLE = next(form for form in FORMS if form.id == "blowproof/two-affine-dependencies")


def apart(one: Vector, two: Vector) -> Vector:
    return tuple(b - a for a, b in zip(one, two, strict=True))


def drawn(seed: int, rank: int, reach: int) -> list[Vector]:
    """Points with two dependencies, no two of whose differences are the same."""
    rng = random.Random(seed)
    while True:
        count = rank + 3
        points = sorted({tuple(rng.randint(0, reach) for _ in range(rank)) for _ in range(count)})
        changes = {apart(*pair) for pair in permutations(points, 2)}
        every = len(points) == count and len(changes) == count * (count - 1)
        if every and len(kernel(points)) == 2:
            return points


def boundaries(points: list[Vector]) -> set[Vector]:
    """What each point loses in an irreducible multiset of moves: the difference tells the move."""
    moves = {apart(points[i], points[j]): (i, j) for i, j in permutations(range(len(points)), 2)}
    effects = sorted(moves)
    listed = irreducibles(effects, time_limit=60)
    found = set()
    for multiset in listed:
        lost = [0] * len(points)
        for place, times in multiset:
            one, two = moves[effects[place]]
            lost[one] += times
            lost[two] -= times
        found.add(tuple(lost))
    assert listed.complete
    return found


@pytest.mark.parametrize(("seed", "reach"), [(0, 8), (1, 9), (2, 10)])
def test_no_norm_of_a_boundary_is_more_than_that_of_a_frame(seed: int, reach: int) -> None:
    points, rng = drawn(seed, 1, reach), random.Random(seed)
    basis = kernel(points)
    frames = {k for cut in partitions(len(points), 2) if (k := framed(basis, cut))}
    found = boundaries(points)
    assert frames & found
    assert any(k not in frames and apart(k, (0,) * 4) not in frames for k in found if any(k))
    case = Case(with_signatures(points, (1,) * 4), Histogram())
    assert max(sum(map(abs, k)) for k in found) == SINGLE.value(case)
    for _ in range(40):
        rows = [[rng.randint(-3, 3) for _ in points] for _ in range(rng.choice((1, 1, 2, 4)))]

        def norm(k: Vector, rows: list[list[int]] = rows) -> int:
            return sum(abs(sum(map(mul, row, k))) for row in rows)

        assert max(map(norm, found)) <= max(map(norm, frames))


@pytest.mark.parametrize(
    "points",
    [
        [(0,), (4,), (5,), (7,)],
        [(0, 1), (0, 2), (1, 0), (1, 1), (2, 1)],
        [(0, 0), (0, 2), (2, 0), (2, 1), (2, 2)],
        [(0, 0, 0), (0, 0, 1), (0, 1, 0), (0, 1, 1), (1, 0, 0), (1, 1, 1)],
    ],
)
def test_single_values_are_worth_a_frame(points: list[Vector]) -> None:
    """The search meets W; with two values a class the bound is larger than that."""
    policy = with_signatures(points, (1,) * len(points))
    searched = sensitivity(policy, "histogram", engine="search")
    found = Signatures(tuple(points), (False,) * len(points))
    case = Case(policy, Histogram())
    assert SINGLE.why_not(case) is None
    assert searched.lower == searched.upper == SINGLE.value(case) == heaviest_frame(found)
    assert change_above(found, end=FOREVER) == searched.upper
    double = replace(found, large=(True,) * len(points))
    assert change_above(double, end=FOREVER) == 2 * heaviest_frame(double) - 2


def test_where_a_signature_has_two_values_nothing_is_said() -> None:
    case = Case(with_signatures([(0,), (1,), (4,), (6,)], (1, 1, 2, 1)), Histogram())
    assert SINGLE.why_not(case) == "1 signatures have two values or more"


def test_more_dependencies_take_more_frames() -> None:
    assert [of_boundaries(d, 8) for d in range(1, 5)] == [8, 8, 23, 31]
