"""The sampler of discrete Laplace noise, against its exact distribution."""

from fractions import Fraction

import mpmath  # type: ignore[import-untyped]
import numpy as np
import opendp.prelude as dp
import pytest
import scipy
from hypothesis import given
from hypothesis import strategies as st

from blowproof.mechanisms.answers.vectors import Vector, single, whole
from blowproof.mechanisms.noise.discrete_laplace import Geometric, _digits, raw_discrete_laplace
from blowproof.mechanisms.noise.exponential import exp_minus, powers_of_exp_minus
from blowproof.mechanisms.release.gate import raw_noisy
from blowproof.models import BlowproofError
from blowproof.models.mechanisms.mechanism import Release

RATES = [Fraction(1, 3), Fraction(7, 2), Fraction(1, 4096), Fraction(1, 10**12), Fraction(40)]
SMALLEST_P = 1e-9
"""A right sampler fails a chi-square test as rarely as this."""


def precise(function):
    with mpmath.workdps(400):
        return function()


def cdf(rate, below, k):
    """F(k) to 400 digits, from the formula."""
    power = mpmath.exp(-mpmath.mpf(rate.numerator) * (k + 1) / rate.denominator)
    if below is None:
        return 1 - power
    return (1 - power) / (1 - mpmath.exp(-mpmath.mpf(rate.numerator) * below / rate.denominator))


@given(st.fractions(min_value=0, max_value=300), st.integers(1, 300))
def test_exponential_is_enclosed(x, precision):
    low, high = exp_minus(x, precision)
    true = precise(lambda: mpmath.exp(-mpmath.mpf(x.numerator) / x.denominator) * 2**precision)
    assert low <= true <= high
    assert high - low <= 2


@pytest.mark.parametrize("rate", RATES)
def test_powers_are_enclosed(rate):
    for k, (low, high) in zip(range(1, 60), powers_of_exp_minus(rate, 128), strict=False):
        true = precise(lambda k=k: (1 - cdf(rate, None, k - 1)) * 2**128)
        assert low <= true <= high
        assert high - low <= 3 * k


@pytest.mark.parametrize("below", [None, 2, 4096])
@pytest.mark.parametrize("rate", RATES)
def test_thresholds_are_exact_to_the_last_bit(rate, below):
    if below is None and rate < Fraction(1, 100):
        return  # such a rate is only ever used below a bound
    thresholds = Geometric(rate, below).thresholds
    for k in sorted({0, 1, 2, len(thresholds) // 2, len(thresholds) - 1}):
        if 0 <= k < len(thresholds):
            assert thresholds[k] == precise(lambda k=k: int(cdf(rate, below, k) * 2**64))
    if below is None:
        assert thresholds[-1] == 2**64 - 1 and thresholds == sorted(thresholds)


@pytest.mark.parametrize("below", [None, 50])
@pytest.mark.parametrize("rate", [Fraction(1, 3), Fraction(5)])
@pytest.mark.parametrize("side", [-1, 1])
@pytest.mark.parametrize("extra", [64, 192])
def test_an_undecided_word_is_decided_by_more_bits(rate, below, side, extra):
    """U agrees with F(k) in the first 64 or 192 bits, and then lies on one side of it."""
    law = Geometric(rate, below)
    for k in range(3):
        bits = 64 + extra
        near = precise(lambda k=k, bits=bits: int(cdf(rate, below, k) * 2**bits)) + side
        words = [(near >> shift) % 2**64 for shift in range(extra - 64, -1, -64)]
        stream = b"".join(word.to_bytes(8, "little") for word in words)
        assert near >> extra == law.thresholds[k]
        asked = iter(stream[at : at + 8] for at in range(0, len(stream), 8))
        value = law.resolve(law.thresholds[k], from_list(asked))
        assert value == (k if side < 0 else k + 1)


def test_a_draw_resolves_what_is_undecided():
    """The first word is one of the tail's, and the four bytes after it are drawn for it alone."""
    law = Geometric(Fraction(1, 3))
    words = [2**64 - 1, 0, law.thresholds[0] - 1, law.thresholds[0] + 1, 2**63]
    stream = iter([b"".join(word.to_bytes(8, "little") for word in words[:4]), bytes(7) + b"\x80"])
    digits, late = law.draw(4, lambda size: next(stream))
    u = precise(lambda: (2**64 - mpmath.mpf(1) / 2) / 2**64)
    expected = precise(lambda: next(k for k in range(999) if u < cdf(law.rate, None, k)))
    assert digits.tolist() == [expected, 0, 0, 1] and not late
    assert expected > law.thresholds.index(2**64 - 1)


def test_a_number_beyond_every_table():
    """2^-640 of the tail is left: 444 scales, decided by bounds of matching precision."""
    law = Geometric(Fraction(1))
    words = iter([2**64 - 1] * 9 + [0])
    value = law.resolve(2**64 - 1, lambda size: next(words).to_bytes(8, "little"))
    assert value == precise(lambda: int(mpmath.log(2) * 640))


def from_list(items):
    return lambda size: next(items)


def pmf(scale, k):
    ratio = np.exp(-1 / float(scale))
    return (1 - ratio) / (1 + ratio) * ratio ** np.abs(k)


def chi_square(drawn, scale):
    """The p-value of a sample against the exact distribution, tails pooled."""
    widest = 1 + int(float(scale) * np.log(len(drawn) / 2000))
    width = max(1, widest // 60)
    edges = np.arange(-widest, widest + 1, width)
    ratio = np.exp(-1 / float(scale))
    below = np.where(edges <= 0, ratio ** (1.0 - edges), 1 + ratio - ratio ** np.maximum(edges, 0))
    below = below / (1 + ratio)  # P(K < edge)
    chances = np.diff(np.concatenate([[0], below, [1]]))
    cells = np.bincount(np.searchsorted(edges, drawn, side="right"), minlength=len(chances))
    expected = chances * len(drawn)
    assert expected.min() > 5
    return scipy.stats.chisquare(cells, expected * cells.sum() / expected.sum()).pvalue


def test_the_pooled_distribution_is_that_of_the_formula():
    scale = Fraction(3, 2)
    assert sum(pmf(scale, k) for k in range(-200, 201)) == pytest.approx(1)


@pytest.mark.parametrize(
    "scale",
    [Fraction(1, 3), Fraction(1), Fraction(7, 3), Fraction(63), Fraction(65), 5000, 10**6, 2**45],
)
def test_draws_follow_the_exact_distribution(scale):
    drawn = raw_discrete_laplace(scale, 300_000)
    assert chi_square(drawn.astype(float), scale) > SMALLEST_P


@pytest.mark.parametrize(
    "scale", [Fraction(1, 3), Fraction(7, 2), Fraction(9, 2), 300, 10**6, 2**45]
)
def test_a_few_numbers_follow_it_too(scale):
    """Few numbers at a time have digits of a smaller base."""
    drawn = np.concatenate([raw_discrete_laplace(scale, 2000) for _ in range(150)])
    assert chi_square(drawn.astype(float), scale) > SMALLEST_P


@pytest.mark.parametrize("size, base, top", [(1, 64, 4), (2048, 64, 4), (2049, 4096, 64)])
def test_digits_put_together_are_the_number(size, base, top):
    """Random words that mean chosen digits, the lowest first; then words of zeros: minus 0."""
    laws = _digits(Fraction(10**6), base, top)
    digits = [3, 1, 2, 5][: len(laws)]
    assert len(laws) > 1
    words = [law.thresholds[d - 1] + 1 for law, d in zip(laws, digits, strict=True)]
    stream = iter(word.to_bytes(8, "little") * size for word in (*words, *[0] * len(laws)))
    drawn = raw_discrete_laplace(10**6, size, source=lambda _: next(stream))
    expected = sum(d * base**place for place, d in enumerate(digits))
    assert drawn.tolist() == [expected] * size


@pytest.mark.parametrize("scale", [Fraction(1), Fraction(65), 5000])
def test_a_scale_that_is_off_by_three_percent_is_noticed(scale):
    drawn = raw_discrete_laplace(scale * Fraction(103, 100), 300_000)
    assert chi_square(drawn.astype(float), scale) < SMALLEST_P


def test_opendp_s_draws_pass_the_same_test():
    """An independent sampler, so that the test itself is no mistake of ours."""
    dp.enable_features("contrib")
    space = dp.vector_domain(dp.atom_domain(T=int)), dp.l1_distance(T=int)
    drawn = dp.m.make_laplace(*space, scale=5.0)([0] * 20_000)
    assert chi_square(np.array(drawn, dtype=float), 5) > SMALLEST_P
    assert chi_square(np.array(drawn, dtype=float), Fraction(56, 10)) < SMALLEST_P


def test_numbers_of_one_draw_are_independent():
    drawn = raw_discrete_laplace(Fraction(5), 400_000).astype(float)
    correlations = [np.corrcoef(drawn[:-lag], drawn[lag:])[0, 1] for lag in (1, 2, 1 << 17)]
    assert np.abs(correlations).max() < 0.02


def test_scale_zero_draws_nothing():
    assert raw_discrete_laplace(0, 4).tolist() == [0, 0, 0, 0]
    assert raw_discrete_laplace(5, 0).tolist() == []


@pytest.mark.parametrize("scale", [0.5, True, "one", Fraction(-1)])
def test_only_exact_scales_are_taken(scale):
    with pytest.raises(BlowproofError):
        raw_discrete_laplace(scale, 1)


def test_numpy_seeds_have_no_say():
    draws = []
    for _ in range(2):
        np.random.seed(1)
        draws.append(raw_discrete_laplace(1000, 50).tolist())
    assert draws[0] != draws[1]


def vector(values, grid=1, runs=None):
    names = single([str(k) for k in range(len(values))], column="k")
    return Vector(whole(values), Fraction(grid), names, runs)


def test_noise_lies_on_the_grid_at_the_declared_scale():
    release = Release(
        query="sum(temp)", noise="discrete-laplace", scale=Fraction(5), grid=Fraction(1, 2)
    )
    found = raw_noisy(release, vector([7] * 200_000, Fraction(1, 2)))
    assert found.grid == Fraction(1, 2)
    assert chi_square(found.units.astype(float) - 7, 10) > SMALLEST_P
    with pytest.raises(BlowproofError, match="grid"):
        raw_noisy(release, vector([7], 1))


def test_each_run_of_outputs_has_its_own_scale():
    release = Release(
        query="histogram", noise="discrete-laplace", scale=(Fraction(2), Fraction(0), Fraction(90))
    )
    n = 200_000
    found = raw_noisy(release, vector([0] * (n + 10 + n), runs=(n, 10, n))).units
    assert chi_square(found[:n].astype(float), 2) > SMALLEST_P
    assert not found[n : n + 10].any()
    assert chi_square(found[n + 10 :].astype(float), 90) > SMALLEST_P
    with pytest.raises(BlowproofError, match="3 scales"):
        raw_noisy(release, vector([0] * 4))


def test_huge_answers_stay_exact():
    release = Release(query="histogram", noise="discrete-laplace", scale=Fraction(0))
    assert list(raw_noisy(release, vector([2**80, 1]))) == [2**80, 1]
