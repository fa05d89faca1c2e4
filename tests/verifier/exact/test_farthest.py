"""Sums of differences: the largest square, against all choices."""

from __future__ import annotations

import random
from collections.abc import Sequence
from itertools import product

import pytest

from blowproof.models.base.clock import now
from blowproof.verifier.exact import farthest as room
from blowproof.verifier.exact.farthest import farthest

Lists = Sequence[Sequence[tuple[int, ...]]]


def drawn(rng: random.Random) -> Lists:
    width, most = rng.randint(1, 4), rng.choice([1, 6, 40])
    return [
        [
            tuple(rng.choice((0, rng.randint(-most, most))) for _ in range(width))
            for _ in range(rng.randint(1, 5))
        ]
        for _ in range(rng.randint(1, 3))
    ]


def square(lists: Lists, choice: Sequence[Sequence[int]]) -> int:
    rows = [
        [b - a for a, b in zip(each[low], each[high], strict=True)]
        for each, (low, high) in zip(lists, choice, strict=True)
    ]
    return sum(sum(column) ** 2 for column in zip(*rows, strict=True))


def listed(lists: Lists) -> int:
    ends = [list(product(range(len(each)), repeat=2)) for each in lists]
    return max(square(lists, choice) for choice in product(*ends))


@pytest.mark.parametrize("seed", range(4))
def test_it_is_the_best_of_all_choices(seed: int) -> None:
    rng = random.Random(seed)
    for _ in range(25):
        lists = drawn(rng)
        found = farthest(lists, now() + 10)
        assert found is not None
        assert found.lower == found.upper == listed(lists) == square(lists, found.choice)


def test_where_it_stops_early_both_bounds_hold(monkeypatch: pytest.MonkeyPatch) -> None:
    rng, wide = random.Random(7), 0
    for _ in range(60):
        lists = drawn(rng)
        monkeypatch.setattr(room, "MOST_SUMMED", rng.choice([0, 20, 200]))
        found = farthest(lists, now() + 10)
        assert found is not None
        assert found.lower == square(lists, found.choice)
        assert found.lower <= listed(lists) <= found.upper
        wide += found.lower < found.upper
    assert wide > 5
    late = farthest([[(0, 0), (1, 2)], [(0, 0), (2, -1)]], now() - 1)
    assert late is not None and late.upper >= 10


def test_numbers_that_do_not_fit_are_left_alone() -> None:
    assert farthest([[(0,), (2**29,)]], now() + 1) is None
    found = farthest([[(0,), (2**28,)]], now() + 1)
    assert found is not None and found.lower == 2**56
