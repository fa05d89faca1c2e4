"""How long circuits are, and how many make up an irreducible multiset: against brute force."""

from __future__ import annotations

import random
from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations, product
from math import gcd

import numpy as np
import pytest

from blowproof.models import Domain, Integers, Labels, Marginal, Policy, parse_query, setting
from blowproof.models.base.clock import Budget
from blowproof.verifier.asked.question import Question
from blowproof.verifier.engines.irreducibles import longest
from blowproof.verifier.exact.span import independent
from blowproof.verifier.theorems.lengths.lattice_free import factors_above
from blowproof.verifier.theorems.lengths.longest_circuit import determinant, longest_circuit
from blowproof.verifier.theorems.longest_irreducible import longest_of_effects, longest_of_points
from blowproof.verifier.theorems.most_moves import ceiling
from effort import at_most

Vector = tuple[int, ...]


def random_points(rng: random.Random, count: int, rank: int, reach: int) -> np.ndarray:
    """Points in coordinates that their differences span."""
    while True:
        rows = {tuple(rng.randint(-reach, reach) for _ in range(rank)) for _ in range(count)}
        points = np.array(sorted(rows))
        moved = points - points[0]
        if len(independent(np.ascontiguousarray(moved.T))) == rank:
            return points


def minors(vectors: list[Vector]) -> list[int]:
    """The factors of the dependency of r + 1 vectors, up to a common one."""
    found = []
    for place in range(len(vectors)):
        others = [list(v) for k, v in enumerate(vectors) if k != place]
        found.append((-1) ** place * round(float(np.linalg.det(np.array(others)))))
    return found


def circuit_lengths(points: np.ndarray) -> Iterator[int]:
    """How long circuits of r + 1 differences are (with shorter ones completed by factors 0)."""
    pairs = {tuple(int(x) for x in a - b) for a, b in product(points, repeat=2) if (a != b).any()}
    apart = sorted(max(d, tuple(-x for x in d)) for d in pairs)
    for chosen in combinations(sorted(set(apart)), points.shape[1] + 1):
        factors = minors(list(chosen))
        common = gcd(*factors)
        if common:
            yield sum(abs(x) for x in factors) // common


@pytest.mark.parametrize("seed", range(40))
def test_no_circuit_is_longer_than_the_ellipsoid_allows(seed: int) -> None:
    rng = random.Random(seed)
    rank = rng.randint(1, 3)
    points = random_points(rng, rng.randint(rank + 1, rank + 3), rank, rng.choice([1, 2, 5]))
    most = longest_circuit(points)
    assert most is not None
    assert max(circuit_lengths(points), default=0) <= most


@pytest.mark.parametrize("large", [1 << 31, 1 << 53, 1 << 63])
def test_coordinates_that_do_not_fit_are_not_bounded(large: int) -> None:
    points = np.array([[0, 0], [min(large, (1 << 63) - 1), 1], [1, 0]])
    most = longest_circuit(points)
    assert most is None or most >= 2


def test_a_matrix_that_is_not_positive_definite_has_no_determinant() -> None:
    assert determinant([[4, 1, 0], [1, 3, 1], [0, 1, 2]]) == 18
    assert determinant([[0, 1], [1, 0]]) is None
    assert determinant([[1, 1], [1, 1]]) is None


def lattice_points(vectors: list[Vector], parts: list[int], grain: int) -> Iterator[Vector]:
    """The lattice points of a sum of segments v k / grain in the plane: within all its widths."""
    limits = []
    for v in vectors:
        for across in ((-v[1], v[0]), (v[1], -v[0])):
            sides = (across[0] * w[0] + across[1] * w[1] for w in vectors)
            most = sum(max(0, side) * k for side, k in zip(sides, parts, strict=True))
            limits.append((across, most))
    reach = [sum(abs(v[axis]) * k for v, k in zip(vectors, parts, strict=True)) // grain
             for axis in (0, 1)]  # fmt: skip
    for x, y in product(*(range(-r, r + 1) for r in reach)):
        if all((across[0] * x + across[1] * y) * grain <= most for across, most in limits):
            yield x, y


def test_sums_of_segments_without_lattice_points_have_small_factors() -> None:
    """In the plane, where F(2) is below 2.94; some that were found have more than 1."""
    rng, largest, met = random.Random(5), Fraction(0), 0
    above = factors_above(2)
    assert above is not None
    for _ in range(4000):
        vectors: list[Vector] = []
        while len(vectors) < rng.randint(2, 4):
            v = (rng.randint(-3, 3), rng.randint(-3, 3))
            if 3 * v[0] + v[1] > 0 and all(v[0] * w[1] != v[1] * w[0] for w in vectors):
                vectors.append(v)
        grain = rng.choice([2, 3, 4, 5, 7])
        parts = [rng.randint(1, grain) for _ in vectors]
        end = [sum(v[axis] * k for v, k in zip(vectors, parts, strict=True)) for axis in (0, 1)]
        whole = {(0, 0), (end[0] // grain, end[1] // grain)}
        ends = whole if not any(x % grain for x in end) else {(0, 0)}
        if set(lattice_points(vectors, parts, grain)) <= ends:
            met += 1
            largest = max(largest, Fraction(sum(parts), grain))
    assert met > 100
    assert 1 < largest <= Fraction(*above)


def test_more_dimensions_allow_more() -> None:
    found = [factors_above(d) for d in range(40)]
    values = [Fraction(*pair) for pair in found if pair is not None]
    assert values == sorted(values) and len(values) == 40
    assert all(d <= value <= 2 * d * d for d, value in enumerate(values) if d)
    assert factors_above(10**6) is None


@pytest.mark.parametrize("seed", range(12))
def test_irreducibles_are_no_longer_than_circuits_times_factors(seed: int) -> None:
    rng = random.Random(100 + seed)
    rank = rng.randint(1, 2)
    points = random_points(rng, rng.randint(rank + 2, rank + 3), rank, rng.choice([1, 1, 2]))
    effects = {tuple(int(x) for x in a - b) for a in points for b in points if (a != b).any()}
    circuit, factors = longest_circuit(points), factors_above(len(points) - 1 - rank)
    assert circuit is not None and factors is not None
    found = longest(sorted(effects), time_limit=1)
    assert found.lower <= max(len(points), factors[0] * circuit // factors[1])


CUBE = Policy(
    domain=Domain(a=Integers(0, 2), b=Integers(0, 2), c=Integers(0, 2)),
    known=(Marginal(["a", "b"]), Marginal(["b", "c"]), Marginal(["a", "c"])),
)
SHARED = Policy(
    domain=Domain(sex=Labels(["F", "M"]), age=Integers(0, 3), region=Labels(list("abcde"))),
    known=(Marginal(["sex", "age"]), Marginal(["sex", "region"])),
)


@pytest.mark.parametrize(("policy", "most"), [(CUBE, 3_000_000), (SHARED, 3_500_000)])
def test_two_tables_that_share_an_attribute_and_cubes(policy: Policy, most: int) -> None:
    """Before: 35,333,964 and 20,468,178."""
    question = Question(setting(policy), parse_query("histogram", policy), "published")
    found = ceiling(question)
    assert found is not None
    assert found.value <= most


def test_the_bound_of_points_is_the_least_of_all() -> None:
    points = np.array([[x, y] for x in range(3) for y in range(3)])
    assert 4 <= longest_of_points(points, differences=True) <= 40


def test_an_ellipsoid_is_taken_as_it_is_when_the_time_is_over() -> None:
    """A coarser bound, and no hundred rounds over all pairs of two hundred points."""
    points = np.vstack([np.zeros(8, dtype=np.int64), np.eye(8, dtype=np.int64)])
    points = np.vstack([points + shift * np.eye(8, dtype=np.int64)[0] for shift in range(22)])
    with Budget() as budget:
        now_or_never = longest_circuit(points, end=budget.look())
        short, before = budget.used, budget.used
        in_full = longest_circuit(points)
        assert budget.used - before > 20 * short
    assert now_or_never is not None and in_full is not None
    assert now_or_never >= in_full


@pytest.mark.parametrize("seed", range(20))
def test_effects_in_separate_facts_are_looked_at_apart(seed: int) -> None:
    """The longest of any of the parts, in whatever order facts and effects come."""
    rng = np.random.default_rng(seed)
    parts = [rng.integers(-2, 3, size=(rng.integers(1, 4), rng.integers(1, 3))) for _ in range(4)]
    parts = [part for part in parts if part.any()]
    linked = [np.hstack([part, np.ones((len(part), 1), dtype=np.int64)]) for part in parts]
    owner = rng.permutation(np.repeat(range(len(linked)), [part.shape[1] for part in linked]))
    rows = []
    for number, part in enumerate(linked):
        wide = np.zeros((len(part), len(owner)), dtype=np.int64)
        wide[:, owner == number] = part
        rows.append(wide)
    mixed = rng.permutation(np.vstack(rows))
    assert longest_of_effects(mixed) == max(map(longest_of_effects, linked))


def test_thousands_of_facts_apart_are_no_more_work_than_they_are_many() -> None:
    """Each two facts of three thousand used to be compared; alike parts are looked at once."""
    with at_most(400_000):
        assert longest_of_effects(np.eye(3000, dtype=np.int64)) == 2
