"""The linear program over all noise: below every noise that is known, and close to the best."""

import math
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from scipy.optimize import linprog

from blowproof.mechanisms.planning.lower_bounds import least_variance, lower_bound
from blowproof.mechanisms.planning.noise_program import least_noise
from blowproof.mechanisms.structures.ordered_hierarchical import variance
from blowproof.models import Domain, Labels, Marginal, Policy, parse_query
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
    assert least_noise([(ONE,) * 9], 1.0) is None
    assert least_noise([(Fraction(1, 2),)], 1.0) is None
    assert least_noise([(Fraction(10**30), ONE)], 1.0) is None


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
