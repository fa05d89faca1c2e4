"""The sampler of discrete Gaussian noise, against its exact distribution."""

from fractions import Fraction
from itertools import islice

import mpmath  # type: ignore[import-untyped]
import numpy as np
import opendp.prelude as dp
import pytest
import scipy
from hypothesis import given
from hypothesis import strategies as st

from blowproof.mechanisms.noise.discrete_gaussian import (
    _BUCKETS,
    _FEW_BUCKETS,
    _Keeping,
    raw_discrete_gaussian,
)
from blowproof.mechanisms.noise.exponential import gaussian_powers
from blowproof.models import BlowproofError

SMALLEST_P = 1e-9
"""A right sampler fails a chi-square test as rarely as this."""
VARIANCES = [
    Fraction(1, 8),
    Fraction(1, 3),
    Fraction(1),
    Fraction(7, 3),
    Fraction(399),
    Fraction(10**6 + 1, 7),
]


def weight(variance, k):
    """exp(-k^2 / 2s) to many digits, from the formula."""
    return mpmath.exp(-(mpmath.mpf(k) ** 2) * variance.denominator / (2 * variance.numerator))


def chi_square(drawn, variance):
    """The p-value of a sample against the exact probabilities, cell by cell, thin ones pooled."""
    with mpmath.workdps(40):
        widest = 2 + int(12 * float(variance) ** 0.5)
        weights = [weight(variance, k) for k in range(-widest, widest + 1)]
        whole = mpmath.fsum(weights)
        chances = [float(item / whole) for item in weights]
    assert abs(drawn).max() <= widest
    cells = np.bincount(drawn.astype(np.int64) + widest, minlength=2 * widest + 1)
    least = max(10, len(drawn) / 400)
    pooled: list[list[float]] = [[0.0, 0.0]]
    for chance, cell in zip(chances, cells.tolist(), strict=True):
        if pooled[-1][0] >= least:
            pooled.append([0.0, 0.0])
        pooled[-1][0] += chance * len(drawn)
        pooled[-1][1] += cell
    last = pooled.pop()
    pooled[-1] = [pooled[-1][0] + last[0], pooled[-1][1] + last[1]]
    expected = np.array([item[0] for item in pooled])
    found = np.array([item[1] for item in pooled])
    return scipy.stats.chisquare(found, expected * found.sum() / expected.sum()).pvalue


@given(
    st.fractions(min_value=0, max_value=30),
    st.fractions(min_value=Fraction(1, 100), max_value=30),
    st.fractions(min_value=Fraction(1, 100), max_value=1000),
    st.integers(8, 200),
)
def test_gaussian_powers_are_enclosed(first, step, variance, precision):
    for j, (low, high) in enumerate(islice(gaussian_powers(first, step, variance, precision), 40)):
        with mpmath.workdps(120):
            x = first + j * step
            rate = x * x / (2 * variance)
            true = mpmath.exp(-mpmath.mpf(rate.numerator) / rate.denominator) * 2**precision
            assert low <= true <= high
        assert high - low <= 4 * (j + 1) ** 2


@pytest.mark.parametrize("variance", VARIANCES)
def test_draws_follow_the_exact_distribution(variance):
    drawn = raw_discrete_gaussian(variance, 300_000)
    assert chi_square(drawn, variance) > SMALLEST_P


@pytest.mark.parametrize("variance", VARIANCES)
def test_a_few_numbers_follow_it_too(variance):
    """Few numbers at a time are decided by wider buckets, so more often one by one."""
    drawn = np.concatenate([raw_discrete_gaussian(variance, 2000) for _ in range(50)])
    assert chi_square(drawn, variance) > SMALLEST_P


@pytest.mark.parametrize("variance", VARIANCES[1:])
def test_a_variance_that_is_off_by_five_percent_is_noticed(variance):
    drawn = raw_discrete_gaussian(variance * Fraction(105, 100), 300_000)
    assert chi_square(drawn, variance) < SMALLEST_P


@pytest.mark.parametrize("power", [53, 62, 63, 64, 82, 130, 400])
def test_huge_variances_wrap_nowhere(power):
    """sigma is 2^26 to 2^200: parts of k / sigma follow the normal law, and the sign is even."""
    drawn = raw_discrete_gaussian(2**power, 40_000)
    assert all(isinstance(item, int) for item in drawn.tolist())
    scaled = np.array([float(Fraction(item**2, 2**power)) for item in drawn.tolist()])
    assert scipy.stats.kstest(scaled, scipy.stats.chi2(1).cdf).pvalue > SMALLEST_P
    positive = int((drawn > 0).sum())
    assert scipy.stats.binomtest(positive, int((drawn != 0).sum())).pvalue > SMALLEST_P


def test_opendp_s_draws_pass_the_same_test():
    """An independent sampler, so that the test itself is no mistake of ours."""
    dp.enable_features("contrib")
    space = dp.vector_domain(dp.atom_domain(T=int)), dp.l2_distance(T=float)
    drawn = np.array(dp.m.make_gaussian(*space, scale=5.0)([0] * 40_000))
    assert chi_square(drawn, Fraction(25)) > SMALLEST_P
    assert chi_square(drawn, Fraction(25) * Fraction(112, 100)) < SMALLEST_P


@pytest.mark.parametrize("buckets", [_FEW_BUCKETS, _BUCKETS])
@pytest.mark.parametrize("variance", [*VARIANCES, Fraction(10**12, 7)])
def test_what_is_kept_in_bulk_is_what_the_probability_says(variance, buckets):
    """The words next to every bound, beside the probability to 60 digits."""
    law = _Keeping(variance, buckets)
    with mpmath.workdps(60):
        for place in range(0, len(law._surely), max(1, len(law._surely) // 40)):
            ends = (place << law.shift, ((place + 1) << law.shift) - 1)
            inside = ends[0] <= law.centre <= ends[1]
            near = int(law.centre), int(law.centre) + 1
            for k in (*ends, *(near if inside else ())):
                if not ends[0] <= k <= ends[1]:
                    continue
                rate = (k - law.centre) ** 2 / (2 * variance)
                true = mpmath.exp(-mpmath.mpf(rate.numerator) / rate.denominator) * 2**64
                assert int(law._surely[place]) <= true
                assert int(law._never[place]) + 1 >= min(true, 2**64 - 1)


@pytest.mark.parametrize("side", [-1, 1])
def test_an_undecided_word_is_decided_by_more_bits(side):
    """U agrees with the probability in the first 192 bits, and then lies on one side of it."""
    law = _Keeping(Fraction(399), _BUCKETS)
    for k in (0, 5, 33, 150):
        with mpmath.workdps(200):
            rate = (k - law.centre) ** 2 / (2 * law.variance)
            near = int(mpmath.exp(-mpmath.mpf(rate.numerator) / rate.denominator) * 2**256) + side
        words = [(near >> shift) % 2**64 for shift in (192, 128, 64, 0)]
        stream = iter([word.to_bytes(8, "little") for word in words[1:]])
        assert law.resolve(k, words[0], from_list(stream)) == (side < 0)


def from_list(items):
    return lambda size: next(items)


def test_numbers_of_one_draw_are_independent():
    drawn = raw_discrete_gaussian(Fraction(25), 400_000).astype(float)
    correlations = [np.corrcoef(drawn[:-lag], drawn[lag:])[0, 1] for lag in (1, 2, 1 << 17)]
    assert np.abs(correlations).max() < 0.02


def test_variance_zero_draws_nothing():
    assert raw_discrete_gaussian(0, 4).tolist() == [0, 0, 0, 0]
    assert raw_discrete_gaussian(5, 0).tolist() == []


@pytest.mark.parametrize("variance", [0.5, True, "one", Fraction(-1)])
def test_only_exact_variances_are_taken(variance):
    with pytest.raises(BlowproofError):
        raw_discrete_gaussian(variance, 1)


def test_a_tiny_variance_is_no_burden():
    assert raw_discrete_gaussian(Fraction(1, 10**300), 100).tolist() == [0] * 100
