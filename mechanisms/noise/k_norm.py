"""Noise in the shape of the neighbours, on the integers, drawn exactly: no float takes part.

The K-norm mechanism (Hardt and Talwar 2010): z has probability in proportion to exp(-|z| / b),
where |z| is the gauge of a body K that holds the differences of all neighbours. Here K is a product
of equal bodies, one for each group of outputs, and |z| the largest gauge of a group:

* groups of one output: K is the cube [-1, 1]^d, and |z| = max |z_j|;
* groups of m >= 2: K is the hull of the differences e_i - e_j of unit vectors in each group, so
  that the outputs of a group add up to 0, and |z| is half the L1 norm of a group, at its largest.

*The radius.* Points of the grid with |z| <= r: N(r), a polynomial of degree d in r whose series is
(h_0 + h_1 x + ... + h_d x^d) / (1 - x)^(d + 1) with whole h_k >= 0. Take R with P(R = r) in
proportion to N(r) q^r, q = exp(-1 / b), and z uniform among the N(R) points: then P(z) is in
proportion to the sum of q^r over r >= |z|, which is q^|z| / (1 - q). And R is the sum of a number k
with P(k) in proportion to h_k q^k and of d + 1 geometric numbers: by the series at x = q. In many
dimensions, where the h_k take too long, R is drawn by rejection (`log_concave`).

*Uniform points.* A group of one: a number from -r to r. A group of m >= 2: its positive entries add
up to some s <= r, and so do its negative ones. With sum s there are
sum over i of C(m, i) C(s - 1, i - 1) C(s + m - i - 1, m - i - 1) points (i positive entries), which
is sum over k of C(m - 1, k)^2 C(s - k + m - 2, m - 2) (the same polynomial in s, of degree m - 2).
The second form says how to choose s at once: first k, by its total up to r, which is
C(m - 1, k)^2 C(r - k + m - 1, m - 1), then s - k, as the largest of a random subset. The first form
says how to choose i; then which entries, and how s is cut into parts.
"""

from __future__ import annotations

import os
from fractions import Fraction
from functools import lru_cache
from itertools import accumulate, islice, pairwise
from math import comb, isqrt

import numpy as np

from blowproof.mechanisms.noise.discrete_laplace import Noise, Source, raw_geometric
from blowproof.mechanisms.noise.exponential import exp_minus, powers_of_exp_minus
from blowproof.mechanisms.noise.log_concave import (
    Enclosed,
    Envelope,
    below,
    enveloped,
    raw_log_concave,
    weighted,
)
from blowproof.models.base.errors import BudgetError, PolicyError
from blowproof.models.base.numbers import Exact, exact

__all__ = ["MOST_DIMENSIONS", "dimension", "points_within", "raw_k_norm"]

MOST_DIMENSIONS = 20_000
"""Bodies of more dimensions are not described: the number of their points takes too long."""
MOST_LISTED = 600
"""Of more dimensions the radius is drawn by rejection, not from all h_k."""
WORD = 64


def dimension(width: int, count: int) -> int:
    """Return the dimension of `count` groups of `width` outputs."""
    return count * max(1, width - 1)


def points_within(width: int, count: int, radius: int) -> int:
    """Return how many points of the grid lie within a radius: N(r).

    >>> points_within(1, 2, 1), points_within(2, 1, 1), points_within(3, 1, 1)
    (9, 3, 7)
    """
    if width == 1:
        return int((2 * radius + 1) ** count)
    return int(_in_group(width, radius) ** count)


def _in_group(width: int, radius: int) -> int:
    """Return the points of one group whose positive entries add up to at most the radius."""
    return sum(_chosen(width, radius))


def _chosen(width: int, radius: int) -> list[int]:
    """Return C(m - 1, k)^2 C(r - k + m - 1, m - 1) for k = 0, 1, ..., at most r."""
    top = width - 1
    ways = comb(radius + top, top)
    found = []
    for k in range(min(top, radius) + 1):
        found.append(comb(top, k) ** 2 * ways)
        ways = ways * (radius - k) // (radius - k + top)
    return found


@lru_cache(maxsize=32)
def _series(width: int, count: int) -> tuple[int, ...]:
    """Return h_0, ..., h_d: the values N(0), ..., N(d), differenced d + 1 times."""
    d = dimension(width, count)
    values = [points_within(width, count, radius) for radius in range(d + 1)]
    for _ in range(d + 1):
        values = [values[0], *(b - a for a, b in pairwise(values))]
    return tuple(values)


def _offset(width: int, count: int, rate: Fraction, source: Source) -> int:
    """Return k with probability in proportion to h_k q^k: the inverse of its distribution.

    As many bits of a uniform number are drawn as decide it; q^k is enclosed ever more closely.
    """
    series = _series(width, count)
    bits = 4 * WORD
    drawn, value = 0, 0
    while True:
        value = value << (bits - drawn) | int.from_bytes(source((bits - drawn) // 8), "little")
        drawn = bits
        guard = bits + 2 * WORD
        one = 1 << guard
        powers = [(one, one), *islice(powers_of_exp_minus(rate, guard), len(series) - 1)]
        low = list(accumulate(h * a for h, (a, _) in zip(series, powers, strict=True)))
        high = list(accumulate(h * b for h, (_, b) in zip(series, powers, strict=True)))
        # k is decided where low[k] / high[-1] > U >= high[k - 1] / low[-1], for all of U's rest
        for k in range(len(series)):
            if low[k] << bits >= (value + 1) * high[-1]:
                if k == 0 or high[k - 1] << bits <= value * low[-1]:
                    return k
                break
        bits *= 2


def _far_radius(width: int, count: int, b: Fraction, source: Source) -> int:
    """Return R with P(R = r) in proportion to N(r) exp(-r / b), by rejection.

    N(r) is log-concave: the series of one group has a numerator with real roots, none above 0 (its
    coefficients are 1 + x for m = 1, C(m - 1, k)^2 for others), so its counts are a Polya sequence,
    which is log-concave, and so is every power of it.
    """

    def ratio(r: int, s: int, bits: int) -> tuple[Fraction, Fraction]:
        more, less = points_within(width, count, r), points_within(width, count, s)
        apart = abs(r - s) / b
        room = bits + 2 * int(apart) + 2 * WORD
        low, high = exp_minus(apart, room)
        whole = (more << room) // less
        if r >= s:
            return Fraction(whole * low, 1 << 2 * room), Fraction((whole + 1) * high, 1 << 2 * room)
        return Fraction(whole, high), Fraction(whole + 1, low)

    d = dimension(width, count)
    wide = max(1, int(isqrt(d) * b))
    envelope = _envelope(width, count, b, wide, ratio)
    return raw_log_concave(ratio, envelope, 0, source)


_ENVELOPES: dict[tuple[int, int, Fraction], Envelope] = {}


def _envelope(width: int, count: int, b: Fraction, wide: int, ratio: Enclosed) -> Envelope:
    key = width, count, b
    if key not in _ENVELOPES:
        _ENVELOPES.clear()
        _ENVELOPES[key] = enveloped(ratio, 0, int(dimension(width, count) * b), wide)
    return _ENVELOPES[key]


def _subset(total: int, size: int, source: Source) -> list[int]:
    """Return a uniform subset of 0..total - 1, sorted (Floyd's way)."""
    found: set[int] = set()
    for top in range(total - size, total):
        value = below(top + 1, source)
        found.add(top if value in found else value)
    return sorted(found)


def _parts(whole: int, count: int, least: int, source: Source) -> list[int]:
    """Return `count` parts of a number, all ways to cut it alike, none below `least` (0 or 1)."""
    room = whole + (count if least == 0 else 0)
    cuts = [-1, *_subset(room - 1, count - 1, source), room - 1]
    return [b - a - (1 if least == 0 else 0) for a, b in pairwise(cuts)]


def _group(width: int, radius: int, source: Source) -> list[int]:
    """Return a uniform point of one group within a radius."""
    if width == 1:
        return [below(2 * radius + 1, source) - radius]
    k = weighted(_chosen(width, radius), source)
    largest = max(_subset(radius - k + width - 1, width - 1, source))
    total = k + largest - (width - 2)
    point = [0] * width
    if total == 0:
        return point
    ways = [
        comb(width, i) * comb(total - 1, i - 1) * comb(total + width - i - 1, width - i - 1)
        for i in range(1, width)
    ]
    many = 1 + weighted(ways, source)
    positive = _subset(width, many, source)
    for place, part in zip(positive, _parts(total, many, 1, source), strict=True):
        point[place] = part
    rest = [place for place in range(width) if place not in set(positive)]
    for place, part in zip(rest, _parts(total, width - many, 0, source), strict=True):
        point[place] = -part
    return point


def raw_k_norm(scale: Exact, width: int, count: int, *, source: Source = os.urandom) -> Noise:
    """Return one draw: `count` groups of `width` numbers, P(z) ~ exp(-|z| / scale), exactly.

    Scale 0 returns zeros. Raw: it takes any scale, proved or not, so of our modules only the gate
    may call it. `source` is there for tests of the sampler.

    >>> raw_k_norm(0, 2, 1).tolist(), int(raw_k_norm(5, 3, 4).sum())
    ([0, 0], 0)
    """
    b = Fraction(exact(scale, key="scale"))
    if b < 0 or width < 1 or count < 1:
        raise PolicyError(f"no noise has the scale {b} for {count} groups of {width}", key="scale")
    if b == 0:
        return np.zeros(width * count, dtype=np.int64)
    d = dimension(width, count)
    if d > MOST_DIMENSIONS:
        raise BudgetError(
            f"the body of the neighbours has {d} dimensions; {MOST_DIMENSIONS} at most are "
            "described\n  try: --mechanism laplace, or consistent"
        )
    if d > MOST_LISTED:
        radius = _far_radius(width, count, b, source)
    else:
        geometric = sum(int(value) for value in raw_geometric(b, d + 1, source=source).tolist())
        radius = _offset(width, count, 1 / b, source) + geometric
    found = [value for _ in range(count) for value in _group(width, radius, source)]
    return np.array(found, dtype=np.int64 if radius < 2**62 else object)
