"""All ranges of an axis, from what crosses its cuts."""

from __future__ import annotations

import random
from itertools import product

from blowproof.models import Domain, Integers, Policy, parse_query
from blowproof.models.stacks.written import parse_question
from blowproof.verifier.theorems.values import cuts as cuts_module
from blowproof.verifier.theorems.values.cuts import (
    best_steps,
    by_directions,
    crossed,
    ranges_above,
)


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


def test_directions_bound_every_choice_and_are_often_met() -> None:
    rng = random.Random(7)
    met = {False: 0, True: 0}
    for squares in (False, True):
        for _ in range(60):
            size = rng.randint(2, 6)
            policy = Policy(domain=Domain(a=Integers(0, size - 1)))
            query = parse_question("ranges(a)", policy, "l2-squared" if squares else "l1")
            classes = [
                sorted(rng.sample(range(size), rng.randint(1, min(4, size))))
                for _ in range(rng.randint(1, 3))
            ]
            truth = max(
                query.norm(change_of(choice))
                for choice in product(*([(x, y) for x in c for y in c] for c in classes))
            )
            found = by_directions([(c[0], c[-1]) for c in classes], size, squares=squares)
            assert found is not None
            steps = best_steps(classes, size, squares=squares, start=found[1])
            assert query.norm(change_of(tuple(steps))) <= truth <= found[0]
            met[squares] += found[0] == truth == query.norm(change_of(tuple(steps)))
    assert min(met.values()) >= 30, met


def test_any_cuts_that_go_their_way_are_bounded() -> None:
    rng = random.Random(8)
    for _ in range(100):
        runs = [(rng.randint(0, 3), rng.randint(0, 2), 1) for _ in range(rng.randint(1, 6))]
        cuts = len(runs) + 2
        sizes, squares = cuts_module._layered(runs, cuts), cuts_module._squared(runs, cuts)[0]
        for _ in range(30):
            u = [0, *(rng.randint(-n, p) for p, n, _ in runs), 0]
            apart = [abs(a - b) for i, a in enumerate(u) for b in u[:i]]
            assert sum(apart) <= sizes
            assert sum(x * x for x in apart) <= squares


def test_what_one_office_prints_of_ages() -> None:
    # 48 cuts go up and 46 down: the widths 4, 12, 6, 19, 19, 34 do not fall into halves
    bands = [(0, 4), (5, 17), (18, 24), (25, 44), (45, 64), (65, 99)]
    for squares, truth in ((False, 7 * 94 + 2 * 48 * 46), (True, 101 * 94 - 2**2)):
        found = by_directions(bands, 100, squares=squares)
        assert found is not None
        assert found[0] == truth


def test_too_many_ways_are_not_tried() -> None:
    assert by_directions([(k, k + 1) for k in range(12)], 20, squares=True) is None
    assert by_directions([(0, 1)] * 200, 20, squares=True) is not None
