"""Straight stretches of noisy prefixes, against the cheapest description found by hand."""

from itertools import pairwise

import numpy as np
import pytest
from numpy.typing import NDArray

from blowproof.mechanisms.estimates import straight
from blowproof.mechanisms.estimates.isotonic import rising
from blowproof.mechanisms.estimates.straight import EACH, SHORTEST, rising_straight

RNG = np.random.default_rng(7)


def described(values: NDArray[np.float64], variance: float) -> NDArray[np.float64]:
    """Return the cheapest description, stretch by stretch, with numpy's own fit of a line."""
    steps = rising(values, most=None)
    levels = np.diff(steps, prepend=-np.inf) > 0

    def cheapest(low: int, high: int) -> tuple[float, NDArray[np.float64]]:
        part, at = values[low:high], np.arange(high - low)
        plain = ((part - steps[low:high]) ** 2).sum() / variance + EACH * levels[low:high].sum()
        found = plain, steps[low:high]
        if high - low > SHORTEST:
            middle = (low + high) // 2
            left, right = cheapest(low, middle), cheapest(middle, high)
            if left[0] + right[0] < found[0]:
                found = left[0] + right[0], np.concatenate([left[1], right[1]])
        line = np.asarray(np.polyval(np.polyfit(at, part, 1), at), dtype=np.float64)
        cost = ((part - line) ** 2).sum() / variance + 2 * EACH
        return (cost, line) if cost < found[0] else found

    return rising(cheapest(0, len(values))[1], most=None)


@pytest.mark.parametrize("blocks", [1, 2, 4, 8])
def test_it_is_the_cheapest_description(blocks):
    """For powers of two; a line for the whole down to stretches of the shortest length."""
    for _ in range(20):
        rates = np.repeat(RNG.choice([0, 1, 5, 40], blocks * SHORTEST // 8), 8)
        counts = RNG.poisson(rates) if RNG.random() < 0.5 else rates
        values = np.cumsum(counts) + np.rint(RNG.laplace(0, 10, len(counts)))
        assert rising_straight(values, 200.0, most=None) == pytest.approx(described(values, 200.0))


def test_counts_that_are_alike_get_one_number():
    truth = np.cumsum(np.full(1024, 7.0))
    values = truth + np.rint(RNG.laplace(0, 10, 1024))
    found = np.diff(rising_straight(values, 200.0, most=None))
    assert np.sqrt(((found - 7) ** 2).mean()) < 0.1
    assert np.sqrt(((np.diff(rising(values, most=None)) - 7) ** 2).mean()) > 4


def test_counts_that_differ_stay_apart():
    """Scattered counts far above the noise: what isotonic regression says, bit for bit."""
    truth = np.cumsum(RNG.integers(0, 2, 512) * 1e4)
    values = truth + np.rint(RNG.laplace(0, 1, 512))
    assert rising_straight(values, 2.0, most=None).tolist() == rising(values, most=None).tolist()


@pytest.mark.parametrize("many", [0, 1, 15, 16, 17, 31, 47, 100])
def test_any_number_of_prefixes_rises_within_its_ends(many):
    for variance in (0.0, 200.0, 1e12):
        values = np.cumsum(RNG.integers(0, 3, many)) + RNG.normal(0, 20, many)
        found = rising_straight(values, variance, most=many)
        assert len(found) == many
        assert all(low <= high for low, high in pairwise([0.0, *found, float(many)]))


def test_large_numbers_do_not_cancel():
    """Prefixes of 10^13 with noise of 10: squares of the values would swallow it."""
    counts = np.full(4096, 10**13 // 4096)
    counts[::64] += 3_000
    values = np.cumsum(counts) + np.rint(RNG.laplace(0, 10, 4096))
    lines = rising_straight(values, 200.0, most=None)
    assert abs(lines - np.cumsum(counts)).max() < 200
    assert straight.SHORTEST == 16
