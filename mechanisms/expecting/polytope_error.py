"""The error of noise in the shape of a polytope (`noise.polytope`), by draws of the same law.

The draws have a seed and come from floats, which no release may use. They are made as a release
makes its one draw: a radius, a uniform point of the box around the polytope, kept or not.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from blowproof.mechanisms.noise.polytope import Rows, body_of

__all__ = ["Shaped", "polytope_error"]

Floats = NDArray[np.float64]
DRAWS, BATCH, MOST_BATCHES, SEED = 20_000, 100_000, 60, 11
SMOOTH, WIDE = 60, 15
"""Scales above which radii are continuous; radii go up to so many widths beyond the mean."""


@dataclass(frozen=True, eq=False)
class Shaped:
    """What a draw is like: each output's RMSE, what it and the largest stay within 95 times in 100.

    `covariance` is that of the outputs, `draws` are some draws.
    """

    errors: Floats
    halves: Floats
    max95: float
    covariance: Floats
    draws: Floats

    @property
    def rmse(self) -> float:
        """The root of the mean square over all outputs."""
        return float(np.sqrt((self.errors**2).mean()))

    @property
    def between(self) -> tuple[float, float]:
        """The ends of an interval of 95 % for that root, which so many draws leave."""
        squares = (self.draws**2).mean(axis=1)
        wide = 1.96 * float(squares.std(ddof=1)) / np.sqrt(len(squares))
        mean = float(squares.mean())
        return float(np.sqrt(max(0.0, mean - wide))), float(np.sqrt(mean + wide))


@lru_cache(maxsize=32)
def polytope_error(facets: Rows, fixed: Rows, scale: Fraction) -> Shaped:
    """Return what noise on a polytope is like, in steps of its grid.

    >>> line = polytope_error(((1,),), (), Fraction(50))  # discrete Laplace noise
    >>> abs(line.rmse / (2**0.5 * 50) - 1) < 0.03, bool(abs(line.halves[0] / 50 - 3) < 0.2)
    (True, True)
    >>> low, high = line.between
    >>> low < line.rmse < high < 1.05 * low
    True
    """
    body = body_of(facets, fixed)
    sides = np.array([float(side) for side in body.sides])
    rows = np.array(body.facets, dtype=np.float64).T
    basis = np.array(body.basis, dtype=np.float64)
    draw = np.random.default_rng(SEED)
    kept: list[Floats] = []
    for _ in range(MOST_BATCHES):
        radii = _radii(sides, float(scale), draw)
        ends = np.floor(radii[:, None] * sides)
        points = np.floor(draw.random(ends.shape) * (2 * ends + 1)) - ends
        kept.append(points[abs(points @ rows).max(axis=1) <= radii] @ basis)
        if sum(map(len, kept)) >= DRAWS:
            break
    found = np.concatenate(kept)[:DRAWS]
    return Shaped(
        errors=np.sqrt((found**2).mean(axis=0)),
        halves=np.quantile(abs(found), 0.95, axis=0, method="higher"),
        max95=float(np.quantile(abs(found).max(axis=1), 0.95, method="higher")),
        covariance=found.T @ found / len(found),
        draws=found,
    )


def _radii(sides: Floats, b: float, draw: np.random.Generator) -> Floats:
    """Return radii with probabilities in proportion to the points of the box times exp(-r / b)."""
    k = len(sides)
    if b >= SMOOTH and b * sides.min() >= SMOOTH:
        return draw.gamma(k + 1, b, size=BATCH)
    top = int(((k + 1) + WIDE * (k + 1) ** 0.5) * b) + WIDE
    radii = np.arange(top + 1, dtype=np.float64)
    step = max(1, top // 200_000)
    radii = radii[::step]
    logs = np.log(2 * np.floor(radii[:, None] * sides) + 1).sum(axis=1) - radii / b
    chances = np.exp(logs - logs.max())
    return draw.choice(radii, size=BATCH, p=chances / chances.sum())
