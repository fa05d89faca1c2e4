"""How long circuits are, and how many make up an irreducible multiset: against brute force."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import combinations, product
from math import gcd
from operator import mul

import numpy as np
import pytest

from blowproof.models import Domain, Integers, Labels, Marginal, Policy, parse_query, setting
from blowproof.models.base.clock import Budget
from blowproof.verifier.asked.question import Question
from blowproof.verifier.engines.irreducibles import longest
from blowproof.verifier.exact.span import independent
from blowproof.verifier.theorems.lengths.lattice_free import made_of_circuits
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


def across(vectors: Sequence[Vector]) -> list[Vector]:
    """The directions, one of each two opposite ones, in which their segments' sum has facets."""
    if len(vectors[0]) == 2:
        return [(-v[1], v[0]) for v in vectors]
    found = []
    for v, w in combinations(vectors, 2):
        normal = tuple(v[i - 2] * w[i - 1] - v[i - 1] * w[i - 2] for i in range(3))
        found += [normal] if any(normal) else []
    return found


def dot(v: Vector, w: Vector) -> int:
    return sum(map(mul, v, w))


def lattice_points(
    vectors: Sequence[Vector], parts: list[int], grain: int, moved: Vector | None = None
) -> list[Vector]:
    """The lattice points of a sum of segments v k / grain, which is moved by so many grains."""
    size = len(vectors[0])
    moved = moved or (0,) * size
    limits, box = [], []
    for side in across(vectors) + [tuple(int(i == j) for i in range(size)) for j in range(size)]:
        ends = [dot(side, v) * k for v, k in zip(vectors, parts, strict=True)]
        least = sum(min(0, end) for end in ends) + dot(side, moved)
        most = sum(max(0, end) for end in ends) + dot(side, moved)
        limits.append((side, least, most))
        box.append(range(-(-least // grain), most // grain + 1))
    inside = product(*box[-size:])
    return [x for x in inside if all(low <= grain * dot(f, x) <= top for f, low, top in limits)]


def drawn_segments(rng: random.Random, size: int) -> tuple[list[Vector], list[int], int]:
    """Vectors that span the space and are positive in one direction, and parts of grains."""
    direction = (3, 1) if size == 2 else (4, 2, 1)
    while True:
        reach = range(rng.randint(size, 4))
        drawn = [tuple(rng.randint(-3, 3) for _ in range(size)) for _ in reach]
        vectors = [v for v in drawn if dot(direction, v) > 0]
        if len(vectors) >= size and np.linalg.matrix_rank(np.array(vectors)) == size:
            grain = rng.choice([2, 3, 4, 5, 7])
            return vectors, [rng.randint(1, grain) for _ in vectors], grain


@pytest.mark.parametrize(("size", "tries", "least"), [(2, 1500, 150), (3, 1000, 60)])
def test_sums_of_segments_without_lattice_points_have_small_factors(
    size: int, tries: int, least: int
) -> None:
    """In d dimensions they add up to less than d; some that were found have more than d / 2."""
    rng, largest, met = random.Random(5), Fraction(0), 0
    for _ in range(tries):
        vectors, parts, grain = drawn_segments(rng, size)
        end = [sum(map(mul, axis, parts)) for axis in zip(*vectors, strict=True)]
        ends = {(0,) * size}
        if not any(x % grain for x in end):
            ends.add(tuple(x // grain for x in end))
        if set(lattice_points(vectors, parts, grain)) <= ends:
            met += 1
            largest = max(largest, Fraction(sum(parts), grain))
    assert met > least
    assert Fraction(size, 2) < largest < size


@pytest.mark.parametrize("grain", range(2, 12))
def test_factors_come_within_one_of_the_dimension(grain: int) -> None:
    vectors = [(1 - grain, 1 - grain, grain), (1, 0, 0), (0, 1, 0)]
    parts = [1, grain - 1, grain - 1]
    assert set(lattice_points(vectors, parts, grain)) == {(0, 0, 0), (0, 0, 1)}
    assert made_of_circuits(3, grain) > sum(parts) >= 2 * grain - 1


@pytest.mark.parametrize("seed", range(30))
def test_segments_in_which_bases_are_packed_cover_with_their_translates(seed: int) -> None:
    """Each point is at a lattice point's distance from one of the sum, whatever the bases are."""
    rng = random.Random(seed)
    size = rng.choice([2, 2, 3])
    vectors, _, _ = drawn_segments(rng, size)
    some = [chosen for chosen in combinations(range(len(vectors)), size)
            if np.linalg.matrix_rank(np.array([vectors[i] for i in chosen])) == size]  # fmt: skip
    shares = [rng.randint(0, 3) for _ in some]
    shares[0] += not any(shares)
    parts = [sum(share for share, chosen in zip(shares, some, strict=True) if i in chosen)
             for i in range(len(vectors))]  # fmt: skip
    for _ in range(25):
        moved = tuple(rng.randrange(sum(shares)) for _ in range(size))
        assert lattice_points(vectors, parts, sum(shares), moved)


def test_segments_that_hold_too_little_leave_gaps() -> None:
    """With less than one basis in all there may be gaps: two halves of a square's sides."""
    assert not lattice_points([(1, 0), (0, 1)], [1, 1], 3, (1, 1))


@pytest.mark.parametrize("seed", range(12))
def test_irreducibles_are_no_longer_than_circuits_times_factors(seed: int) -> None:
    rng = random.Random(100 + seed)
    rank = rng.randint(1, 2)
    points = random_points(rng, rng.randint(rank + 2, rank + 3), rank, rng.choice([1, 1, 2]))
    effects = {tuple(int(x) for x in a - b) for a in points for b in points if (a != b).any()}
    circuit = longest_circuit(points)
    assert circuit is not None
    found = longest(sorted(effects), time_limit=1)
    most = made_of_circuits(len(points) - 1 - rank, circuit)
    assert found.lower <= max(len(points), most)


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
