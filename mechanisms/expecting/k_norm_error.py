"""The error of K-norm noise (`noise.k_norm`), from its distribution: the RMSE needs no draw.

The radius R has P(R = r) in proportion to N(r) exp(-r / b), and given R the noise is uniform: its
second moment is summed up over the sum s of a group's positive entries, and over how many entries
are positive. Sums over many radii are taken at a thousand of them, between which all is smooth.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache

import numpy as np
import scipy  # its parts are loaded when they are first used
from numpy.typing import NDArray

from blowproof.mechanisms.noise.k_norm import dimension

__all__ = ["k_norm_error", "k_norm_half", "seeded_k_norm"]

Floats = NDArray[np.float64]
NODES, LOOKED_AT, SUMS = 1_000, 40, 60
DRAWS, MOST_DRAWN, FEWEST, SEED = 800, 4_000, 60, 7
NUMBERS = 2_000_000
"""That draws for the largest entry hold in all."""


@lru_cache(maxsize=128)
def k_norm_error(width: int, count: int, scale: Fraction) -> tuple[float, float]:
    """Return the RMSE of one output, and what the largest stays within in 95 of 100 draws.

    >>> rmse, _ = k_norm_error(1, 1, Fraction(50))  # in one dimension it is discrete Laplace noise
    >>> abs(rmse / (2**0.5 * 50) - 1) < 0.01  # the radii are summed in steps
    True
    """
    b = float(scale)
    d = dimension(width, count)
    middle, wide = (d + 1) * b, (d + 1) ** 0.5 * b
    low, high = max(0.0, middle - 12 * wide - 10), middle + 15 * wide + 10
    radii = np.unique(np.rint(np.linspace(low, high, NODES)))
    steps = np.gradient(radii) if len(radii) > 1 else np.ones(1)
    logs = count * _log_points(width, radii) - radii / b + np.log(steps)
    chances = np.exp(logs - scipy.special.logsumexp(logs))
    heavy = chances > 1e-9
    inside = radii[heavy]
    places = inside[np.unique(np.linspace(0, len(inside) - 1, LOOKED_AT).astype(np.int64))]
    moments = np.interp(inside, places, [_moment(width, float(r)) for r in places])
    rmse = float(np.sqrt((chances[heavy] * moments).sum()))
    draw = np.random.default_rng(SEED)
    many = max(FEWEST, min(DRAWS, NUMBERS // (width * count)))
    drawn = draw.choice(radii, size=many, p=chances)
    return rmse, float(np.ceil(np.quantile(_largest(width, count, drawn, draw), 0.95)))


def _log_ways(total: Floats, chosen: Floats | float) -> Floats:
    """Return log C(total, chosen), -inf where there are none."""
    fits = total >= chosen
    safe = np.where(fits, total, chosen)
    log = scipy.special.gammaln
    found: Floats = log(safe + 1) - log(chosen + 1) - log(safe - chosen + 1)
    return np.where(fits, found, -np.inf)


def _log_points(width: int, radii: Floats) -> Floats:
    """Return log of the points of one group within each radius."""
    if width == 1:
        return np.log(2 * radii + 1)
    top = width - 1
    k = np.arange(width, dtype=np.float64)[:, None]
    each = 2 * _log_ways(np.array(float(top)), k) + _log_ways(radii - k + top, float(top))
    found: Floats = scipy.special.logsumexp(each, axis=0)
    return found


def _moment(width: int, radius: float) -> float:
    """Return the second moment of one output that is uniform within a radius."""
    if width == 1 or radius == 0:
        return radius * (radius + 1) / 3
    down = radius - np.rint(np.geomspace(1, radius + 1, SUMS) - 1)
    sums = np.unique(np.concatenate([np.rint(np.linspace(0, radius, SUMS)), down]))
    within = np.exp(_log_points(width, sums) - _log_points(width, np.array([radius])))
    shares = np.diff(within, prepend=0.0)
    first = np.concatenate([[0.0], sums[:-1] + 1])
    values = (_of_sum(width, first) + _of_sum(width, sums)) / 2
    return float((shares * values).sum())


def _of_sum(width: int, sums: Floats) -> Floats:
    """Return the second moment of an entry where the positive ones add up to each sum.

    A uniform cut of n into j parts from 0 has E y^2 = 2 n (n - 1) / (j (j + 1)) + n / j.
    """
    total = np.maximum(sums, 1.0)
    i = np.arange(1, width, dtype=np.float64)[:, None]
    j = width - i
    table = (
        _log_ways(np.array(float(width)), i)
        + _log_ways(total - 1, i - 1)
        + _log_ways(total + j - 1, j - 1)
    )
    n = np.maximum(total - i, 0)
    above = 1 + 2 * n / i + 2 * n * (n - 1) / (i * (i + 1)) + n / i
    below = 2 * total * (total - 1) / (j * (j + 1)) + total / j
    weights = np.exp(table - scipy.special.logsumexp(table, axis=0))
    squares = (i * above + j * below) / width
    return np.where(sums >= 1, (weights * squares).sum(axis=0), 0.0)


def _largest(width: int, count: int, radii: Floats, draw: np.random.Generator) -> Floats:
    """Return the largest entry of some draws with these radii (for m >= 2, nearly)."""
    if width == 1:
        return np.floor(((2 * radii + 1) * draw.random(len(radii)) ** (1 / count)) / 2)
    return np.asarray(abs(_inside(width, count, radii, draw)).max(axis=(1, 2)))


@lru_cache(maxsize=128)
def k_norm_half(width: int, count: int, scale: Fraction) -> float:
    """Return what one output stays within 95 times in 100, by seeded draws.

    >>> k_norm_half(1, 1, Fraction(50)) / 50 - 3 < 0.2  # -ln 0.05 is 2.996
    True
    """
    draw = np.random.default_rng(SEED)
    rounds = max(FEWEST, min(MOST_DRAWN, NUMBERS // (4 * width * count)))
    drawn = [seeded_k_norm(draw, scale, width, count) for _ in range(rounds)]
    return float(np.quantile(abs(np.concatenate(drawn)), 0.95, method="higher"))


def seeded_k_norm(draw: np.random.Generator, scale: Fraction, width: int, count: int) -> Floats:
    """Return K-norm noise for rehearsals, and for nothing else: continuous, then rounded."""
    radius = draw.gamma(dimension(width, count) + 1, float(scale), size=1)
    return np.rint(_inside(width, count, radius, draw)).ravel()


def _inside(width: int, count: int, radii: Floats, draw: np.random.Generator) -> Floats:
    """Return a uniform point within each radius: draws, groups, outputs of a group."""
    shape = (len(radii), count)
    if width == 1:
        return np.asarray(radii[:, None, None] * draw.uniform(-1, 1, (*shape, 1)))
    sums = radii[:, None] * draw.random(shape) ** (1 / (width - 1))
    logs = np.array([
        float(_log_ways(np.array(float(width)), i) + _log_ways(np.array(width - 2.0), i - 1))
        for i in range(1, width)
    ])  # fmt: skip
    positive = (
        draw.choice(width - 1, size=shape, p=np.exp(logs - scipy.special.logsumexp(logs))) + 1
    )
    parts = draw.standard_exponential((*shape, width))
    first = np.arange(width) < positive[..., None]
    found = np.zeros(parts.shape)
    for sign, chosen in ((1.0, first), (-1.0, ~first)):
        held = np.where(chosen, parts, 0.0)
        found += sign * held / held.sum(axis=2, keepdims=True)
    return np.asarray(sums[..., None] * draw.permuted(found, axis=2))
