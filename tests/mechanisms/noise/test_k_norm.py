"""Noise in the shape of the neighbours: every probability against its definition."""

import itertools
import math
from collections import Counter
from fractions import Fraction
from random import Random

import pytest

from blowproof.mechanisms.noise.k_norm import (
    _series,
    dimension,
    points_within,
    raw_k_norm,
)
from blowproof.models import BudgetError, PolicyError


def gauge(point: tuple[int, ...], width: int) -> int | None:
    """The largest group's gauge, by definition; None where a group does not add up to 0."""
    groups = [point[at : at + width] for at in range(0, len(point), width)]
    if width == 1:
        return max(abs(group[0]) for group in groups)
    if any(sum(group) for group in groups):
        return None
    return max(sum(abs(value) for value in group) // 2 for group in groups)


@pytest.mark.parametrize(("width", "count"), [(1, 2), (1, 3), (2, 2), (3, 1), (4, 1), (3, 2)])
def test_points_are_counted_as_listed(width: int, count: int) -> None:
    for radius in range(3):
        span = range(-radius, radius + 1)
        listed = itertools.product(span, repeat=width * count)
        found = [gauge(point, width) for point in listed]
        many = sum(value is not None and value <= radius for value in found)
        assert points_within(width, count, radius) == many


@pytest.mark.parametrize(("width", "count"), [(1, 4), (2, 5), (3, 3), (6, 2), (12, 1)])
def test_the_series_gives_the_number_of_points(width: int, count: int) -> None:
    """N(r) = sum over k of h_k C(r + d - k, d), with h_k >= 0: so the radius is drawn rightly."""
    series, d = _series(width, count), dimension(width, count)
    assert min(series) >= 0
    for radius in (0, 1, 2, d, 3 * d + 1):
        total = sum(
            h * math.comb(radius + d - k, d) for k, h in enumerate(series) if k <= radius + d
        )
        assert total == points_within(width, count, radius)


@pytest.mark.parametrize("width", [2, 3, 4, 5, 7])
def test_both_counts_of_a_sum_agree(width: int) -> None:
    """What the sum is drawn by, and what the number of positive entries is drawn by."""
    for total in range(1, 9):
        by_k = sum(
            math.comb(width - 1, k) ** 2 * math.comb(total - k + width - 2, width - 2)
            for k in range(min(width - 1, total) + 1)
        )
        by_i = sum(
            math.comb(width, i)
            * math.comb(total - 1, i - 1)
            * math.comb(total + width - i - 1, width - i - 1)
            for i in range(1, width)
        )
        assert by_k == by_i


@pytest.mark.parametrize(
    ("width", "count", "scale"),
    [(1, 2, Fraction(2, 3)), (2, 2, Fraction(1)), (3, 1, Fraction(1)), (4, 1, Fraction(1, 2))],
)
def test_the_probabilities_are_those_of_the_norm(width: int, count: int, scale: Fraction) -> None:
    """Every point of small norm, and the rest together: chi square, from a source with a seed."""
    draws = 12_000
    source = Random(width * 100 + count).randbytes
    found = Counter(
        tuple(raw_k_norm(scale, width, count, source=source).tolist()) for _ in range(draws)
    )
    q = math.exp(-1 / float(scale))
    d = dimension(width, count)
    whole = sum(h * q**k for k, h in enumerate(_series(width, count))) / (1 - q) ** d
    span = range(-3, 4)
    expected = {}
    for point in itertools.product(span, repeat=width * count):
        norm = gauge(point, width)
        if norm is not None and q**norm / whole * draws >= 8:
            expected[point] = q**norm / whole * draws
    assert len(expected) > 4
    other = draws - sum(expected.values())
    seen = draws - sum(found[point] for point in expected)
    square = sum((found[point] - value) ** 2 / value for point, value in expected.items())
    square += (seen - other) ** 2 / max(other, 1.0)
    free = len(expected)
    assert square < free + 4.5 * math.sqrt(2 * free)
    assert all(gauge(point, width) is not None for point in found)


def test_numbers_beyond_64_bits_stay_whole() -> None:
    noise = raw_k_norm(Fraction(10**30), 3, 2)
    assert noise.dtype == object
    assert sum(noise[:3].tolist()) == 0
    assert max(abs(value) for value in noise.tolist()) > 2**64


def test_what_is_no_noise_is_refused() -> None:
    for scale, width, count in ((-1, 1, 1), (1, 0, 1), (1, 2, 0)):
        with pytest.raises(PolicyError):
            raw_k_norm(scale, width, count)
    with pytest.raises(BudgetError, match="dimensions"):
        raw_k_norm(1, 2, 10**6)
