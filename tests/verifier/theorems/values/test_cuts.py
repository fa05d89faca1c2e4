"""All ranges of an axis, from what crosses its cuts."""

from __future__ import annotations

import random
from itertools import product

from blowproof.models import Domain, Integers, Policy, parse_query
from blowproof.verifier.theorems.values.cuts import best_steps, crossed, ranges_above


def change_of(steps: tuple[tuple[int, int], ...]) -> dict[tuple[int, ...], int]:
    change: dict[tuple[int, ...], int] = {}
    for low, high in steps:
        change[low,] = change.get((low,), 0) - 1
        change[high,] = change.get((high,), 0) + 1
    return change


def test_every_choice_lies_between() -> None:
    rng = random.Random(5)
    met = 0
    for _ in range(60):
        size = rng.randint(2, 6)
        query = parse_query("ranges(a)", Policy(domain=Domain(a=Integers(0, size - 1))))
        classes = [
            sorted(rng.sample(range(size), rng.randint(1, min(4, size))))
            for _ in range(rng.randint(1, 3))
        ]
        truth = max(
            query.norm(change_of(choice))
            for choice in product(*([(x, y) for x in c for y in c] for c in classes))
        )
        spans = [(c[0], c[-1]) for c in classes]
        above = ranges_above(crossed(spans, size))
        below = query.norm(change_of(tuple(best_steps(classes, size))))
        assert below <= truth <= above
        met += below == truth
    assert met >= 50


def test_the_bound_holds_for_all_cuts_between() -> None:
    rng = random.Random(6)
    for _ in range(200):
        bounds = [rng.randint(0, 3) for _ in range(rng.randint(1, 6))]
        above = ranges_above([(k, 1) for k in bounds])
        for _ in range(20):
            u = [rng.randint(-k, k) for k in bounds]
            total = sum(abs(a - b) for i, a in enumerate(u) for b in u[:i])
            assert total <= above


def test_runs_are_as_good_as_cuts_one_by_one() -> None:
    assert ranges_above([(2, 3), (1, 2)]) == ranges_above([(2, 1), (1, 1), (2, 1), (1, 1), (2, 1)])
    assert crossed([], 4) == [(0, 1), (0, 4)]


def test_a_long_axis_is_not_walked() -> None:
    long = 10**12
    assert crossed([(0, long - 1)], long) == [(0, 1), (1, long - 1), (0, 1)]
    assert best_steps([range(0, 1)], long) == [(0, 0)]
