"""Intervals of 95 % hold the truth about as often as they say (all: `benchmarks/intervals.py`)."""

from fractions import Fraction

import numpy as np
import pytest

from blowproof.mechanisms.answers.vectors import Vector, single, whole
from blowproof.mechanisms.combining.estimator import Estimator
from blowproof.mechanisms.combining.measurements import measured_in
from blowproof.mechanisms.expecting.rehearsal import Stage
from blowproof.mechanisms.expecting.uncertainty import gaussian_half, intervals, uncertainty
from blowproof.mechanisms.kinds.transformed import NoisyTable
from blowproof.mechanisms.noise.discrete_gaussian import raw_discrete_gaussian
from blowproof.mechanisms.release.registry import plan
from blowproof.mechanisms.release.release import Request
from blowproof.models import Distance, Domain, Integers, Marginal, Policy

LINE = Policy(domain=Domain(age=Integers(0, 31)), secrets=Distance(threshold=4))
COUNTS = np.array([0, 0, 1, 0, 0, 2, 9, 30, 80, 120, 80, 30, 9, 2, 0, 1] * 2, dtype=np.int64)
MARGIN = Policy(
    domain=Domain(part=Integers(0, 3), age=Integers(0, 7)),
    known=(Marginal(["part"], answers=COUNTS.reshape(4, 8).sum(axis=1).tolist()),),
)


def share_held(policy, mechanism, rounds, rho=None, **options):
    """Return how often intervals of a mechanism hold the truth, by seeded rehearsals."""
    epsilon = Fraction(0) if rho else Fraction(1)
    request = Request(policy=policy, epsilon=epsilon, rho=rho, options=options)
    made = plan(mechanism, request)
    shape = [kind.size for _, kind in policy.domain.attributes]
    stage = Stage(policy, NoisyTable(COUNTS.reshape(shape), policy.domain), 5)
    said = uncertainty(made, len(COUNTS), int(COUNTS.sum()))
    assert said is not None
    held = []
    for _ in range(rounds):
        low, high = intervals(made.run(stage), said.halves)  # type: ignore[arg-type] # a Stage
        held.append((np.array(low) <= COUNTS) & (np.array(high) >= COUNTS))
    return float(np.mean(held)), said


@pytest.mark.parametrize("rho", [Fraction(1, 8), Fraction(1, 2), Fraction(2)])
def test_gaussian_noise_on_whole_numbers(rho):
    """1.96 standard errors hold 92.9 % at rho = 1/2: between whole numbers there is nothing."""
    held, said = share_held(Policy(domain=LINE.domain), "gaussian", 60, rho=rho)
    assert 0.94 <= held <= 0.999
    assert all(half == int(half) for half in said.halves)


@pytest.mark.parametrize("variance", [Fraction(1, 9), Fraction(2), Fraction(50)])
def test_half_of_a_gaussian_interval_is_the_least(variance):
    half = gaussian_half(float(variance))
    drawn = abs(raw_discrete_gaussian(variance, 4_000))
    assert np.mean(drawn <= half) > 0.93 and np.mean(drawn <= half - 1) < 0.965


@pytest.mark.parametrize(
    ("mechanism", "options"),
    [("k-norm", {}), ("k-norm", {"shape": "cube"}), ("consistent", {}), ("strategy", {})],
)
def test_beside_a_published_margin(mechanism, options):
    assert 0.93 <= share_held(MARGIN, mechanism, 40, **options)[0] <= 0.999


def test_a_partition_from_the_data_says_what_its_intervals_do_not_know():
    held, said = share_held(LINE, "dawa", 15)
    assert said.note is not None and "more often than 5 times in 100" in said.note
    assert held > 0.6
    assert share_held(LINE, "ordered", 15)[1].note is None


@pytest.mark.parametrize("kind", ["real", "positive", "whole"])
def test_estimates_where_most_cells_are_empty(kind):
    """Errors of made-up noise on the estimate itself were too small beside 0: 91 % held."""
    made = plan("laplace", Request(policy=LINE, epsilon=Fraction(1, 2)))
    stage = Stage(LINE, NoisyTable(COUNTS, LINE.domain), 8)
    held = []
    for _ in range(12):
        noisy = made.run(stage)  # type: ignore[arg-type] # a Stage
        assert isinstance(noisy, Vector) and made.description is not None
        seen = measured_in(made.description.releases[0], noisy, LINE)
        estimator = Estimator(LINE, [seen], reading="published", size=int(COUNTS.sum()))
        found = estimator.answers(made.request.bound, kind)
        low, high = found.ends
        held.append((low - 1e-6 <= COUNTS) & (high + 1e-6 >= COUNTS))
        if kind != "real":
            assert low.min() >= 0 and found.bias is not None and found.errors.min() >= 0
    assert 0.93 <= np.mean(held) <= 0.999


def test_numbers_beyond_floats_have_no_ends():
    huge = Vector(whole([10**400, -(10**400)]), Fraction(1), single(["a", "b"], column="row"))
    low, high = intervals(huge, [1.0, 1.0])
    assert (low, high) == ([np.inf, -np.inf], [np.inf, -np.inf])
