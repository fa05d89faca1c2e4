"""The test of drawn noise against its declared scale: it accepts what is right, and little else."""

from fractions import Fraction

import numpy as np
import pytest

from blowproof.verifier.certify.printed.empirical import (
    fit_discrete_laplace,
    fit_laplace,
    fit_outputs,
    pmf,
)

SCALES = [
    Fraction(1, 20),
    Fraction(1, 3),
    Fraction(1),
    Fraction(7, 2),
    Fraction(50),
    Fraction(10**5),
]


def discrete(scale, count, seed, grid=1):
    """Discrete Laplace noise as the difference of two geometric numbers."""
    rng = np.random.default_rng(seed)
    chance = -np.expm1(-float(grid / scale))
    steps = rng.geometric(chance, count) - rng.geometric(chance, count)
    return [int(step) * grid for step in steps]


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("seed", range(5))
def test_the_declared_noise_fits(scale, seed):
    assert fit_discrete_laplace(discrete(scale, 4000, seed), scale).fits


@pytest.mark.parametrize("scale", SCALES[2:])
@pytest.mark.parametrize("factor", [Fraction(4, 5), Fraction(5, 4)])
def test_another_scale_does_not_fit(scale, factor):
    assert not fit_discrete_laplace(discrete(scale * factor, 10_000, 1), scale).fits


def test_p_values_are_spread_evenly():
    """Were the expected counts wrong, p-values would crowd at one end."""
    for scale in SCALES[1:]:
        values = [
            fit_discrete_laplace(discrete(scale, 3000, seed), scale).p_value for seed in range(60)
        ]
        assert 0.3 < np.mean(values) < 0.7
        assert min(values) > 1e-4


def test_probabilities_are_those_of_discrete_laplace():
    for scale in SCALES[1:4]:
        a = np.exp(-1 / float(scale))
        for step in range(-5, 6):
            assert pmf(step, scale) == pytest.approx((1 - a) / (1 + a) * a ** abs(step), rel=1e-12)


def test_grids():
    half = Fraction(1, 2)
    draws = discrete(Fraction(2), 4000, 1, grid=half)
    assert fit_discrete_laplace(draws, Fraction(2), grid=half).fits
    found = fit_discrete_laplace(draws, Fraction(2))
    assert not found.fits and "not a multiple of 1" in found.reason


def test_no_noise_is_no_noise():
    assert fit_discrete_laplace([0] * 10, Fraction(0)).fits
    assert fit_discrete_laplace([0, 1], Fraction(0)).reason == "1 is not 0"
    assert fit_laplace([0.0] * 10, Fraction(0)).fits
    assert not fit_discrete_laplace([0] * 1000, Fraction(3)).fits


def test_one_sided_or_rounded_noise_does_not_fit():
    rng = np.random.default_rng(3)
    one_sided = [abs(draw) for draw in discrete(Fraction(3), 4000, 2)]
    assert not fit_discrete_laplace(one_sided, Fraction(3)).fits
    rounded = [round(draw) for draw in rng.laplace(scale=1, size=50_000)]
    assert not fit_discrete_laplace(rounded, Fraction(1)).fits
    normal = [round(draw) for draw in rng.normal(scale=3 * 2**0.5, size=4000)]
    assert not fit_discrete_laplace(normal, Fraction(3)).fits


def test_continuous_noise():
    rng = np.random.default_rng(4)
    assert fit_laplace(rng.laplace(scale=3, size=5000), Fraction(3)).fits
    assert not fit_laplace(rng.laplace(scale=3.6, size=5000), Fraction(3)).fits


def test_outputs_of_one_scale_are_tested_together():
    columns = [discrete(Fraction(scale), 800, seed) for seed, scale in enumerate((2, 5, 2))]
    noise = np.array(columns).T
    scales = [Fraction(2), Fraction(5), Fraction(2)]
    found = fit_outputs(noise, scales, grid=Fraction(1))
    assert [item.draws for item in found] == [1600, 800]
    assert all(item.fits for item in found)
    wrong = fit_outputs(noise, [Fraction(2), Fraction(5), Fraction(5)], grid=Fraction(1))
    assert not all(item.fits for item in wrong)


def test_what_cannot_be_tested_is_said():
    with pytest.raises(TypeError, match="exact"):
        fit_discrete_laplace([0.5], Fraction(1))
    with pytest.raises(ValueError, match="at least 100"):
        fit_discrete_laplace([0] * 10, Fraction(1))
    with pytest.raises(ValueError, match="shape"):
        fit_outputs(np.zeros((3, 2)), [Fraction(1)])
