"""The linear program over all noise: below every noise that is known, and close to the best."""

import math
import random
from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise, permutations, product
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.optimize import linprog

from blowproof.mechanisms.expecting.polytope_error import polytope_error
from blowproof.mechanisms.planning.lower_bounds import (
    EXCHANGES,
    _least_of,
    least_variance,
    lower_bound,
    of_exchanges,
    of_pairs,
)
from blowproof.mechanisms.planning.noise_program import least_noise
from blowproof.mechanisms.structures.hulls import hull_around
from blowproof.mechanisms.structures.ordered_hierarchical import variance
from blowproof.models import Distance, Domain, Integers, Labels, Marginal, Policy, parse_query
from blowproof.verifier.ask import sensitivity

ONE, ZERO = Fraction(1), Fraction(0)


@pytest.mark.parametrize("epsilon", [Fraction(1, 2), Fraction(1), Fraction(3)])
def test_of_one_output_it_is_the_geometric_noise(epsilon: Fraction) -> None:
    for step in (1, 2):
        found = least_noise([(Fraction(step),)], float(epsilon))
        assert found is not None
        assert found <= step**2 * variance(1 / epsilon) + 1e-9
        assert found >= 0.9 * step**2 * variance(1 / epsilon)


def test_of_two_outputs_that_change_together_it_is_above_that_of_one() -> None:
    """A cube of differences: Laplace noise of scale 2 in each, cube noise in between."""
    cube = [(ONE, ONE), (ONE, -ONE), (ONE, ZERO), (ZERO, ONE)]
    found = least_noise(cube, 1.0)
    one = least_noise([(ONE,)], 1.0)
    assert found is not None
    assert one is not None
    assert 2 * one < found <= 2 * variance(Fraction(2))


def test_more_differences_ask_for_more_noise() -> None:
    few = least_noise([(ONE, -ONE)], 1.0)
    more = least_noise([(ONE, -ONE), (ONE, ZERO)], 1.0)
    assert few is not None
    assert more is not None
    assert more >= few - 1e-9


def test_what_is_no_small_case_is_left_alone() -> None:
    assert least_noise([], 1.0) is None
    assert least_noise([(ONE,) * 25], 1.0) is None
    assert least_noise([], 1.0) is None and least_noise([(ZERO, ZERO)], 1.0) is None
    draw = random.Random(1)
    unlike = [tuple(Fraction(draw.randint(-3, 3)) for _ in range(8)) for _ in range(9)]
    assert least_noise(unlike, 1.0) is None  # more programs than are solved
    assert least_noise([(Fraction(1, 2),)], 1.0) is None
    assert least_noise([(Fraction(10**30), ONE)], 1.0) is None


def test_what_is_alike_has_one_probability_and_the_same_least_square() -> None:
    """The program over all points of a small window, whatever goes over into what."""
    for steps in ([(ONE, ZERO), (ONE, ONE)], [(ONE, -ONE)], [(2 * ONE, ONE), (ZERO, ONE)]):
        found = least_noise(steps, 2.0)
        assert found is not None
        whole = {tuple(sign * int(x) for x in item) for item in steps for sign in (1, -1)}
        radius = min(math.ceil(8 * max(max(map(abs, item)) for item in whole) / 2), 20)
        points = list(product(range(-radius, radius + 1), repeat=2))
        place = {point: at for at, point in enumerate(points)}
        rows = []
        for point in points:
            for step in whole:
                moved = point[0] + step[0], point[1] + step[1]
                if moved in place:
                    row = np.zeros(len(points) + 1)
                    row[place[point]], row[place[moved]] = 1, -math.exp(2)
                    rows.append(row)
        squares = [x * x + y * y for x, y in points] + [(radius + 1) ** 2]
        least = linprog(squares, A_ub=np.array(rows), b_ub=np.zeros(len(rows)),
                        A_eq=np.ones((1, len(squares))), b_eq=[1.0]).fun  # fmt: skip
        assert found == pytest.approx(least, rel=1e-6)


def test_outputs_that_do_not_change_are_left_out() -> None:
    one = least_noise([(ONE, ONE), (ZERO, ONE)], 1.0)
    more = least_noise([(ONE, ZERO, ONE, ZERO, ZERO), (ZERO, ZERO, ONE, ZERO, ZERO)], 1.0)
    assert one is not None and one == more


@pytest.mark.parametrize("many", [4, 7, 12])
def test_many_outputs_are_bounded_three_at_a_time(many: int) -> None:
    """Prefixes of one more value: any three of them change as those of four values do."""
    few, all_of_them = (
        [
            tuple(Fraction(int(low <= at < high)) for at in range(size))
            for low in range(size) for high in range(low + 1, size + 1)
        ]
        for size in (3, many)
    )  # fmt: skip
    three, found = least_noise(few, 1.0), least_noise(all_of_them, 1.0)
    assert three is not None and found is not None
    assert found / many == pytest.approx(three / 3)
    assert found < sum(2 * variance(Fraction(many)) for _ in range(many))


@pytest.mark.parametrize("epsilon", [Fraction(1), Fraction(2)])
@pytest.mark.parametrize("values", [3, 4, 6])
def test_noise_in_the_shape_of_prefixes_is_above_the_program_and_near_it(
    values: int, epsilon: Fraction
) -> None:
    """The exact law of the gauge: no less than the program says, and within 3 % for four values."""
    policy = Policy(domain=Domain(x=Integers(0, values - 1)))
    query = parse_query("cumulative(x)", policy)
    bound = lower_bound(query, policy, epsilon, reading="published", answers=None, size=None,
                        found=sensitivity(policy, query))  # fmt: skip
    assert bound is not None and bound.by == "a linear program over all noise"
    rows = tuple(
        tuple(int(low <= at < high) for at in range(values - 1))
        for low in range(values - 1) for high in range(low + 1, values)
    )  # fmt: skip
    hull = hull_around(rows, ())
    square = polytope_error(hull.facets, (), hull.unit / epsilon).rmse ** 2
    rmse = math.sqrt(square * (values - 1) / values)  # the last prefix is n
    assert bound.rmse < 1.02 * rmse  # of 20,000 draws
    assert values > 4 or rmse < 1.06 * bound.rmse


def test_a_pair_that_is_repeated_bounds_more_than_once() -> None:
    domain = Domain(sex=Labels(["F", "M"]), ward=Labels(["a", "b", "c"]))
    policy = Policy(domain=domain, known=(Marginal(("ward",)),))
    query = parse_query("marginal(sex)", policy)
    answer = sensitivity(policy, query)
    found = lower_bound(query, policy, ONE, reading="published", answers=None, size=None,
                        found=answer)  # fmt: skip
    assert found is not None
    assert found.assumes is not None
    noise = math.sqrt(variance(Fraction(answer.upper or 0)))
    assert 0.3 * noise < found.rmse <= noise


@pytest.mark.parametrize(("epsilon", "steps"), [(0.5, 4), (1.0, 3), (0.1, 5)])
def test_a_short_chain_is_bounded_by_what_all_mechanisms_on_it_can_do(
    epsilon: float, steps: int
) -> None:
    """All mechanisms that guess eighths, by a linear program: none errs less than the bound."""
    places, q = steps + 1, np.exp(-epsilon)
    guesses = np.linspace(0, steps, 8 * steps + 1)
    cost = ((np.arange(places)[:, None] - guesses) ** 2).ravel() / places
    rows = []
    for at in range(len(guesses)):
        for one, two in [*pairwise(range(places)), *pairwise(reversed(range(places)))]:
            row = np.zeros((places, len(guesses)))
            row[one, at], row[two, at] = q, -1
            rows.append(row.ravel())
    sums = np.kron(np.eye(places), np.ones(len(guesses)))
    found = linprog(cost, A_ub=rows, b_ub=np.zeros(len(rows)), A_eq=sums, b_eq=np.ones(places))
    bound = least_variance(epsilon, steps)
    best = float(found.fun or 0)
    assert bound <= best
    assert bound > 0.6 * best


def _lattice(epsilon: float, centres: Sequence[tuple[int, int, int]]) -> tuple[Any, Any]:
    """Points of sum 0 in three cells, and chances that a move changes by e^epsilon at the most."""
    far = math.ceil(14 / epsilon)
    one, two = np.meshgrid(np.arange(-far, far + 1), np.arange(-far, far + 1))
    points = np.stack([one, two, -one - two], axis=-1).reshape(-1, 3)
    chances = np.zeros(len(points))
    for centre in centres:
        chances += np.exp(-epsilon * abs(points - np.array(centre)).sum(axis=1) / 2)
    return points, chances / chances.sum()


def _sides(z: NDArray[Any]) -> tuple[Any, Any, Any, Any]:
    """N, s and the two parts of s, row by row."""
    small = np.minimum(abs(z), 1)
    return (np.maximum(z, 0).sum(axis=1), small.sum(axis=1),
            (small * (z > 0)).sum(axis=1), (small * (z < 0)).sum(axis=1))  # fmt: skip


def _fewer(z: NDArray[Any]) -> Any:
    """D by its definition: over all moves, what g_v loses by the move."""

    def g(at: NDArray[Any], i: int, j: int) -> Any:
        whole = np.maximum(at, 0).sum(axis=1)
        shares = np.maximum(at[:, i], 0) * np.maximum(-at[:, j], 0)
        return np.divide(shares, whole, out=np.zeros(len(at)), where=whole > 0)

    total = np.zeros(len(z))
    for i, j in permutations(range(z.shape[1]), 2):
        moved = z.copy()
        moved[:, i] -= 1
        moved[:, j] += 1
        total += g(z, i, j) - g(moved, i, j)
    return total


@pytest.mark.parametrize("cells", [2, 3, 5])
def test_each_step_of_the_bound_by_exchanges_holds_point_by_point(cells: int) -> None:
    """The formula of D, and H >= A s - 4 m / c, at points near 0 and far from it."""
    rng = np.random.default_rng(cells)
    for width in (0.3, 1.0, 3.0, 30.0):
        z = rng.normal(0, width, (400, cells))
        z[::3] = np.rint(z[::3])
        z -= z.mean(axis=1, keepdims=True) if cells == 2 else 0
        z[:, -1] -= z.sum(axis=1)
        many, s, a, b = _sides(z)
        found = _fewer(z)
        formula = s - 1 - np.divide((a - 1) * (b - 1), many - 1, where=many > 1, out=0 * s)
        assert np.allclose(found, np.where(many > 1, formula, many))
        for epsilon in (0.1, 1.0, 3.0):
            c = 1 - math.exp(-epsilon)
            for m in (0.5, 2.0, 2 / c, 4 / c):
                h = (z**2).sum(axis=1) + 4 * m / c * (found - c * many)
                assert (h >= _least_of(m, c) * s - 4 * m / c - 1e-6 * (1 + abs(h))).all()


def test_the_least_of_that_function_is_the_least_on_a_fine_grid() -> None:
    t = np.concatenate([np.linspace(0.5, 4, 20_000), np.geomspace(4, 500, 20_000)])
    squares = np.where(t >= 1, 4 * t**2, 8 * t - 4)
    for c in (0.02, 0.3, 0.9):
        for m in (0.7, 2.0, 2 / c, 3.3 / c):
            values = squares - 4 * m * t + 4 * m / c * (1 - 1 / (4 * t))
            assert _least_of(m, c) == pytest.approx(values.min(), rel=1e-5, abs=1e-5)
            assert _least_of(m, c) <= values.min() + 1e-6 * abs(values.min())


def test_what_exchanges_say_holds_of_noise_on_three_cells() -> None:
    """Chances that keep the promise, around any guess: on the whole lattice, as near as it goes."""
    rng = np.random.default_rng(8)
    epsilon = 0.25
    q, c = math.exp(-epsilon), 1 - math.exp(-epsilon)
    for many in (1, 2, 4):
        centres = [(0, 0, 0), *((int(x), int(y), int(-x - y)) for x, y in
                                rng.integers(-6, 7, (many - 1, 2)))]  # fmt: skip
        points, chances = _lattice(epsilon, centres)
        for guess in (chances @ points, np.array([0.4, 0.2, -0.6])):
            z = points - guess
            total, s, _, _ = _sides(z)
            assert c * (chances @ total) >= chances @ _fewer(z) - 1e-3
            assert chances @ s >= 3 * 2 * q / (1 + q) - 1e-3
            assert math.sqrt(chances @ (z**2).sum(axis=1) / 3) >= of_exchanges(3, epsilon) > 0


def test_exchanges_say_more_than_chains_and_never_more_than_laplace_noise_has() -> None:
    for epsilon in (0.01, 0.1, 0.5, 1.0, 2.0, 5.0):
        half = math.exp(-epsilon / 2)  # one record changes two cells
        noise = math.sqrt(2 * half) / (1 - half)
        found = [of_exchanges(cells, epsilon) for cells in (2, 5, 40, 10_000)]
        assert found == sorted(found) and found[-1] <= noise
    assert of_exchanges(100, 0.1) > 1.35 * math.sqrt(least_variance(0.1, None))
    policy = Policy(domain=Domain(x=Integers(0, 99)))
    query = parse_query("histogram", policy)
    asked: dict[str, Any] = {"rho": None, "answers": None, "size": None, "found": None}
    bound = lower_bound(query, policy, Fraction(1, 10), reading="published", **asked)
    assert bound is not None and bound.by == EXCHANGES and bound.assumes is not None
    few = lower_bound(query, policy, Fraction(1, 10), reading="published", **asked | {"size": 900})
    assert few is not None and few.by != EXCHANGES
    near = Policy(domain=policy.domain, secrets=Distance(threshold=3))
    other = lower_bound(query, near, Fraction(1, 10), reading="published", **asked)
    assert other is not None and other.by != EXCHANGES


@pytest.mark.parametrize("epsilon", [0.25, 0.5, 1.0])
@pytest.mark.parametrize("groups", [1, 2])
def test_groups_of_two_cells_have_no_better_noise_than_the_program(
    groups: int, epsilon: float
) -> None:
    corners = [tuple(map(Fraction, u)) for u in product((1, -1), repeat=groups)]
    least = least_noise(corners, epsilon)
    assert least is not None
    assert groups * of_pairs(groups, epsilon) ** 2 <= least


def test_what_leads_outwards_comes_back_seldom_enough() -> None:
    """The proof of `of_pairs`, step by step: the sum over directions, and each bound on d_i."""
    rng = random.Random(1)
    for _ in range(300):
        wide = rng.uniform(0.3, 20)
        z = [rng.choice((1, 3)) * rng.uniform(-wide, wide) for _ in range(3)]

        def w(t: float, wide: float = wide) -> float:
            x = min(1.0, abs(t) / wide)
            return math.copysign((3 * x - x**3) / 2, t)

        back = sum(
            math.prod((1 + u * w(at - u)) / 2 for u, at in zip(direction, z, strict=True))
            for direction in product((1, -1), repeat=3)
        )
        d = [(w(at + 1) - w(at - 1)) / 2 for at in z]
        assert back == pytest.approx(math.prod(1 - each for each in d))
        slope = 1.5 / wide
        for at, each in zip(z, d, strict=True):
            assert -1e-12 <= each <= slope + 1e-12
            assert each >= slope * (1 - (at**2 + 1 / 3) / wide**2) - 1e-12
        s = 3 * slope
        assert 1 - back >= sum(d) * -math.expm1(-s) / s - 1e-12


def test_many_groups_of_two_cells_are_bounded_closely() -> None:
    """The cube has hardly more for small epsilon; by the volume it may be three times too much."""
    for groups, epsilon, ratio in ((16, 0.1, 1.13), (100, 0.01, 1.02), (16, 1.0, 1.48)):
        cube = math.sqrt((groups + 1) * (groups + 2) / 3) / epsilon
        assert of_pairs(groups, epsilon) < cube < ratio * of_pairs(groups, epsilon)


def test_the_bound_of_two_cells_beside_a_margin_is_taken() -> None:
    domain = Domain(a=Labels([str(k) for k in range(16)]), b=Labels(["x", "y"]))
    policy = Policy(domain=domain, known=(Marginal(("a",)),))
    found = lower_bound(parse_query("histogram", policy), policy, Fraction(1), reading="published",
                        answers=None, size=None, found=None)  # fmt: skip
    assert found is not None
    assert found.rmse == of_pairs(16, 1.0)
