"""Every sampler at any width: its law, up to 2^400, without a hang and without a fixed width.

What is drawn at a huge width is compared with the law that the discrete one tends to (they are
apart by less than 1 / width), and its lowest bits with fair ones: a number that a float or a word
had held would have lost them. A source with a seed: the same draws each time.
"""

import itertools
from collections import Counter
from fractions import Fraction
from importlib import import_module
from math import exp
from pathlib import Path
from pkgutil import iter_modules
from random import Random

import numpy as np
import pytest
import scipy

from blowproof.mechanisms import noise
from blowproof.mechanisms.noise.block_choice import raw_block_choice
from blowproof.mechanisms.noise.discrete_gaussian import raw_discrete_gaussian
from blowproof.mechanisms.noise.discrete_laplace import raw_discrete_laplace, raw_geometric
from blowproof.mechanisms.noise.interval_choice import raw_interval_choice
from blowproof.mechanisms.noise.k_norm import dimension, raw_k_norm
from blowproof.mechanisms.noise.polytope import raw_polytope
from blowproof.mechanisms.noise.steps import raw_gaussian_steps, raw_steps
from blowproof.models import Domain, Integers, Labels

SMALLEST_P = 1e-5
WIDTHS = [Fraction(2**31), Fraction(2**53 + 1, 3), Fraction(2**63 - 1), Fraction(2**63),
          Fraction(2**64 + 1, 7), Fraction(10**30), Fraction(2**400 + 1, 3)]  # fmt: skip
LINE, SQUARE = Domain(x=Integers(0, 1)), Domain(x=Integers(0, 1), y=Integers(0, 1))


THROUGH = {"raw_log_concave"}
"""Drawn from by others: the radius of K-norm noise in many dimensions, and of polytopes."""


def test_no_sampler_is_left_out():
    """Whatever draws numbers in `mechanisms.noise` is drawn from here."""
    code = Path(__file__).read_text("utf-8")
    names = {name for module in iter_modules(noise.__path__)
             for name in import_module(f"{noise.__name__}.{module.name}").__all__
             if name.startswith("raw_")}  # fmt: skip
    assert len(names) > 7
    assert {name for name in names - THROUGH if f"{name}(" not in code.replace(",", "(")} == set()


def source(seed):
    return Random(seed).randbytes


def whole(drawn):
    """Python's numbers, whatever they came in."""
    found = [int(value) for value in drawn]
    assert all(value == other for value, other in zip(found, drawn, strict=True))
    return found


def low_bits_are_fair(numbers, bits=4):
    seen = Counter(value & ((1 << bits) - 1) for value in numbers)
    cells = [seen[k] for k in range(1 << bits)]
    assert scipy.stats.chisquare(cells).pvalue > SMALLEST_P


def follows(numbers, width, cdf):
    """Sizes in widths, exactly divided, against the law of absolute values."""
    sizes = [float(abs(value) / width) for value in numbers]
    assert scipy.stats.kstest(sizes, cdf).pvalue > SMALLEST_P


@pytest.mark.parametrize("width", WIDTHS, ids=str)
def test_laplace(width):
    drawn = whole(raw_discrete_laplace(width, 3_000, source=source(1)))
    follows(drawn, width, scipy.stats.expon.cdf)
    low_bits_are_fair(drawn)
    assert scipy.stats.binomtest(sum(value > 0 for value in drawn), 3_000).pvalue > SMALLEST_P


@pytest.mark.parametrize("width", WIDTHS, ids=str)
def test_geometric(width):
    drawn = whole(raw_geometric(width, 3_000, source=source(2)))
    assert min(drawn) >= 0
    follows(drawn, width, scipy.stats.expon.cdf)
    low_bits_are_fair(drawn)


@pytest.mark.parametrize("width", WIDTHS, ids=str)
def test_gaussian(width):
    drawn = whole(raw_discrete_gaussian(width**2, 3_000, source=source(3)))
    follows(drawn, width, scipy.stats.halfnorm.cdf)
    low_bits_are_fair(drawn)


@pytest.mark.parametrize("width", WIDTHS, ids=str)
@pytest.mark.parametrize(("group", "count"), [(1, 3), (2, 2), (4, 2)])
def test_k_norm(width, group, count):
    """The gauge in widths has the gamma law of as many dimensions."""
    raw, many = source(4), 600
    drawn = [whole(raw_k_norm(width, group, count, source=raw)) for _ in range(many)]
    parts = [[point[k : k + group] for k in range(0, len(point), group)] for point in drawn]
    if group > 1:
        assert all(sum(part) == 0 for point in parts for part in point)
    gauges = [max(max(sum(x for x in part if x > 0), -sum(x for x in part if x < 0))
                  for part in point) for point in parts]  # fmt: skip
    follows(gauges, width, scipy.stats.gamma(dimension(group, count)).cdf)
    low_bits_are_fair([point[0] for point in drawn], 3)
    shares = [float(Fraction(point[0], gauge)) for point, gauge in zip(drawn, gauges, strict=True)]
    assert abs(np.mean(shares)) < 4.5 * np.std(shares) / many**0.5


@pytest.mark.parametrize("width", [Fraction(2**53), Fraction(2**63), Fraction(10**30)], ids=str)
def test_k_norm_in_many_dimensions(width):
    """The radius by rejection, where the series takes too long."""
    raw, count = source(5), 601
    gauges = [max(map(abs, whole(raw_k_norm(width, 1, count, source=raw)))) for _ in range(12)]
    follows(gauges, width, scipy.stats.gamma(count).cdf)


HEXAGON, SUM = ((1, -1, 0), (1, 0, -1), (0, 1, -1)), ((1, 1, 1),)


@pytest.mark.parametrize("width", WIDTHS, ids=str)
@pytest.mark.parametrize(("facets", "fixed", "free"), [(HEXAGON, SUM, 2), (((3, 1), (1, 2)), (), 2),
                                                       (((7,),), (), 1)])  # fmt: skip
def test_polytopes(width, facets, fixed, free):
    raw = source(6)
    drawn = [whole(raw_polytope(width, facets, fixed, source=raw)) for _ in range(400)]
    assert all(sum(a * x for a, x in zip(row, point, strict=True)) == 0
               for row in fixed for point in drawn)  # fmt: skip
    gauges = [max(abs(sum(a * x for a, x in zip(row, point, strict=True))) for row in facets)
              for point in drawn]  # fmt: skip
    follows(gauges, width, scipy.stats.gamma(free).cdf)
    low_bits_are_fair([point[-1] for point in drawn], 2)


@pytest.mark.parametrize("width", WIDTHS, ids=str)
def test_steps(width):
    """On two values there is one step; on a square what all add up to is 0."""
    for numbers, wide, law in ((raw_steps, width, scipy.stats.expon), (
        raw_gaussian_steps, width**2, scipy.stats.halfnorm)):  # fmt: skip
        raw = source(7)
        drawn = [whole(numbers(wide, (0,), LINE, source=raw)) for _ in range(500)]
        assert all(a + b == 0 for a, b in drawn)
        follows([a for a, _ in drawn], width, law.cdf)
        low_bits_are_fair([a for a, _ in drawn], 3)
        square = whole(numbers(wide, (0, 1), SQUARE, source=raw))
        assert sum(square) == 0
        assert any(square)


PARTITIONS = [(4,), (2, 4), (1, 2, 4), (1, 3, 4), (2, 3, 4), (1, 2, 3, 4)]
COSTS = [[0, 3, -2, 5, 1], [0, 0, 4, 7, -3], [0, 0, 0, 0, 4]]


@pytest.mark.parametrize("huge", [1, 2**31, 2**53, 2**63, 10**30, 2**400])
def test_partitions_at_huge_costs_are_those_at_small_ones(huge):
    """Costs so many times as large, at a rate as much smaller: the same chances."""
    costs = [[value * huge for value in row] for row in COSTS]
    raw, rate = source(8), Fraction(3, 10 * huge)
    found = Counter(tuple(raw_interval_choice(costs, rate, source=raw)) for _ in range(1_000))
    weights = {}
    for ends in PARTITIONS:
        pieces = zip((0, *ends), ends, strict=False)
        total = sum(COSTS[(end - start).bit_length() - 1][end] for start, end in pieces)
        weights[ends] = exp(-0.3 * total)
    assert set(found) <= set(weights)
    expected = [1_000 * value / sum(weights.values()) for value in weights.values()]
    large = [at for at, value in enumerate(expected) if value >= 5]
    seen = [found[ends] for ends in weights]
    square = sum((seen[at] - expected[at]) ** 2 / expected[at] for at in large)
    assert square < scipy.stats.chi2(len(large)).isf(SMALLEST_P)


@pytest.mark.parametrize("huge", [1, 2**31, 2**53, 2**63, 10**30, 2**400])
def test_blocks_at_huge_costs_are_those_at_small_ones(huge):
    """Two pairs of values, each whole or cut, or all four together."""
    small = [[1, 2, 0, 3], [4, 1], [6]]
    costs = [[value * huge for value in row] for row in small]
    parents = [[0, 0, 1, 1], [0, 0]]
    raw, rate = source(9), Fraction(2, 5 * huge)
    found: Counter[tuple[tuple[int, int], ...]] = Counter()
    for _ in range(1_000):
        chosen = raw_block_choice(costs, parents, rate, source=raw)
        found[tuple((level, at) for level, row in enumerate(chosen) for at in row)] += 1
    halves = [[((1, k),), ((0, 2 * k), (0, 2 * k + 1))] for k in (0, 1)]
    ways = [((2, 0),), *(tuple(sorted(a + b)) for a, b in itertools.product(*halves))]
    weights = {way: exp(-0.4 * sum(small[level][at] for level, at in way)) for way in ways}
    assert set(found) <= set(weights)
    expected = {way: 1_000 * value / sum(weights.values()) for way, value in weights.items()}
    square = sum((found[way] - value) ** 2 / value for way, value in expected.items())
    assert min(expected.values()) > 5
    assert square < scipy.stats.chi2(len(ways) - 1).isf(SMALLEST_P)


@pytest.mark.parametrize(("numbers", "one", "width"), [
    (raw_steps, lambda k: exp(-abs(k) / 0.8), Fraction(4, 5)),
    (raw_gaussian_steps, lambda k: exp(-(k**2) / 3.0), Fraction(3, 2)),
])  # fmt: skip
def test_noise_on_the_steps_of_a_triangle_has_the_law_of_its_sums(numbers, one, width):
    """Three values without order: the chance of what is added, summed over all that goes round."""
    domain = Domain(sort=Labels(["a", "b", "c"]))
    raw, draws = source(10), 4_000
    found = Counter(tuple(whole(numbers(width, (0,), domain, source=raw))) for _ in range(draws))
    span = range(-30, 31)
    weights = {  # steps ab, ac, bc carry k, x - k, y + k
        (x, y, -x - y): sum(one(k) * one(x - k) * one(y + k) for k in span)
        for x, y in itertools.product(range(-14, 15), repeat=2)
    }
    whole_of = sum(weights.values())
    expected = {at: draws * weight / whole_of for at, weight in weights.items()}
    large = [at for at in expected if expected[at] >= 8]
    assert len(large) > 12
    square = sum((found[at] - expected[at]) ** 2 / expected[at] for at in large)
    rest = draws - sum(expected[at] for at in large)
    square += (draws - sum(found[at] for at in large) - rest) ** 2 / rest
    assert square < scipy.stats.chi2(len(large)).isf(SMALLEST_P)
