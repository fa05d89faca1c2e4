"""The delta of a pair from below, and bounded noise exactly, against sums over all answers."""

import math
from fractions import Fraction
from itertools import product

import mpmath  # type: ignore[import-untyped]
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from blowproof.models import BudgetError
from blowproof.verifier.certify.channels.exponential_sums import Number
from blowproof.verifier.certify.measures.bounded import bounded_delta, less, worst_delta
from blowproof.verifier.certify.measures.told_apart import Shift, delta_of_pair


def chances(shift, reach):
    if shift.noise == "gaussian":
        weights = [
            mpmath.exp(-mpmath.mpf(k * k) * shift.width.denominator / (2 * shift.width.numerator))
            for k in range(-reach, reach + 1)
        ]
    else:
        weights = [
            mpmath.exp(-mpmath.mpf(abs(k)) * shift.width.denominator / shift.width.numerator)
            for k in range(-reach, reach + 1)
        ]
    whole = mpmath.fsum(weights)
    return {k: w / whole for k, w in zip(range(-reach, reach + 1), weights, strict=True)}


def direct(shifts, epsilon, reach):
    """The sum of max(0, P - e^epsilon Q) over all answers."""
    with mpmath.workdps(30):
        laws = [chances(shift, reach) for shift in shifts]
        factor = mpmath.exp(mpmath.mpf(epsilon.numerator) / epsilon.denominator)
        total = mpmath.mpf(0)
        for answer in product(*laws):
            p = mpmath.fprod(law[k] for law, k in zip(laws, answer, strict=True))
            q = mpmath.fprod(
                law.get(k - int(shift.steps), 0)
                for law, shift, k in zip(laws, shifts, answer, strict=True)
            )
            total += max(mpmath.mpf(0), p - factor * q)
        return total


def gaussian(variance, steps):
    return Shift("gaussian", Fraction(variance), Fraction(steps))


def laplace(scale, steps):
    return Shift("laplace", Fraction(scale), Fraction(steps))


@pytest.mark.parametrize(
    "shifts, reach",
    [
        ([gaussian(1, 1)], 40),
        ([gaussian(Fraction(1, 3), 1)], 40),
        ([gaussian(Fraction(1, 3), 2)], 40),
        ([gaussian(400, 7)], 400),
        ([laplace(1, 1)], 90),
        ([laplace(5, 7)], 400),
        ([gaussian(2, 1), gaussian(2, 1)], 30),
        ([gaussian(2, 1), gaussian(3, 2)], 30),
        ([gaussian(4, 3), laplace(2, 1)], 60),
        ([laplace(2, 1), laplace(2, 1)], 70),
    ],
)
@pytest.mark.parametrize("epsilon", [Fraction(1, 10), Fraction(1), Fraction(3)])
def test_a_pair_s_delta_is_never_too_large_and_hardly_too_small(shifts, reach, epsilon):
    found = delta_of_pair(shifts, epsilon)
    true = direct(shifts, epsilon, reach)
    slack = mpmath.mpf(10) ** -20  # what lies beyond the reach
    assert mpmath.mpf(found.numerator) / found.denominator <= true + slack
    assert found >= Fraction(float(true)) * Fraction(95, 100) - Fraction(1, 10**9)


def test_continuous_laplace_noise_has_its_closed_form():
    """One output: 1 - e^((epsilon - u) / 2)."""
    for u, epsilon in ((Fraction(2), Fraction(1)), (Fraction(1, 2), Fraction(1, 4))):
        found = delta_of_pair([Shift("continuous", 1 / u, Fraction(1))], epsilon)
        true = 1 - math.exp((epsilon - u) / 2)
        assert true * 0.999 < found < true


def test_many_equal_outputs_are_the_normal_law():
    """400 outputs of variance 100: as one output that changes by 2 sigma."""
    found = delta_of_pair([gaussian(100, 1)] * 400, Fraction(1))
    normal = mpmath.ncdf(0.5) - mpmath.e * mpmath.ncdf(-1.5)
    assert abs(float(found) - float(normal)) < 1e-3


def test_wide_noise_is_cut_into_blocks():
    found = delta_of_pair([gaussian(10**12, 10**6)], Fraction(1))
    normal = mpmath.ncdf(-0.5) - mpmath.e * mpmath.ncdf(-1.5)
    assert 0.98 * float(normal) < found <= float(normal) + 1e-9
    found = delta_of_pair([laplace(10**9, 2 * 10**9)], Fraction(1))
    assert 0.99 * (1 - math.exp(-1 / 2)) < found <= 1 - math.exp(-1 / 2) + 1e-9


def test_what_does_not_change_is_not_told_apart():
    assert delta_of_pair([], Fraction(1)) == 0
    assert delta_of_pair([laplace(2, 1)], Fraction(1)) == 0


# --- bounded noise -------------------------------------------------------------------------------

LAWS = [
    (Fraction(1, 3),) * 3,
    (Fraction(1, 16), Fraction(1, 4), Fraction(3, 8), Fraction(1, 4), Fraction(1, 16)),
    (Fraction(1, 2), Fraction(1, 4), Fraction(1, 4)),
    (Fraction(1),),
    (Fraction(0), Fraction(1, 2), Fraction(1, 2)),
]


def enumerated(law, shifts, epsilon):
    """The sum over all answers, each with its sign decided exactly."""
    reach = len(law) // 2
    total = Number({})
    places = range(-reach, reach + 1)
    for answer in product(places, repeat=len(shifts)):
        p = math.prod((law[k + reach] for k in answer), start=Fraction(1))
        q = math.prod(
            (
                law[k - d + reach] if -reach <= k - d <= reach else Fraction(0)
                for k, d in zip(answer, shifts, strict=True)
            ),
            start=Fraction(1),
        )
        one = Number({Fraction(0): p} if p else {}) - Number({epsilon: q} if q else {})
        if one.sign() > 0:
            total = total - (Number({}) - one)
    return total


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("shifts", [(1,), (-1,), (2,), (1, 1), (1, -1), (2, 1), (1, 1, 1), (9,)])
@pytest.mark.parametrize("epsilon", [Fraction(0), Fraction(1, 2), Fraction(1)])
def test_bounded_noise_has_the_delta_of_all_answers(law, shifts, epsilon):
    found = bounded_delta(law, shifts, epsilon)
    assert (found - enumerated(law, shifts, epsilon)).sign() == 0


@given(st.integers(0, 5), st.sampled_from(LAWS), st.booleans())
@settings(max_examples=30)
def test_no_way_to_change_is_worse(steps, law, capped):
    epsilon, most = Fraction(1, 2), 1 if capped else steps
    worst, _ = worst_delta(law, steps, epsilon, most)
    for size in range(1, steps + 1):
        for shifts in product([-3, -2, -1, 1, 2, 3], repeat=size):
            if sum(map(abs, shifts)) <= steps and max(map(abs, shifts)) <= most:
                assert not less(worst, bounded_delta(law, tuple(sorted(shifts)), epsilon))


def test_too_many_ways_are_not_listed():
    with pytest.raises(BudgetError):
        worst_delta(LAWS[1], 300, Fraction(1), 300)
