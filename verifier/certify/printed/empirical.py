"""Noise that was drawn, against the scale that is declared: a test for implementations.

The proof speaks about the declared scales. That the code draws noise of these scales is not proved
but tested: chi-square over cells of about equal probability, with the expected counts from the pmf
of discrete Laplace on its grid (or the distribution function of Laplace noise). Noise that is right
fails about once in a million tests; noise at another scale fails once there are enough draws.
Floating point is good enough here: nothing is calibrated by what this test says.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import exp, log, tanh
from typing import Any

import numpy as np
from numpy.typing import NDArray

from blowproof.verifier.limits.limit import whole_limit

__all__ = ["FALSE_ALARMS", "Fit", "fit_discrete_laplace", "fit_laplace", "fit_outputs", "pmf"]

FALSE_ALARMS = 1e-6
EXPECTED = whole_limit(__name__, "EXPECTED")
MOST_CELLS = whole_limit(__name__, "MOST_CELLS")


@dataclass(frozen=True)
class Fit:
    """How well draws fit their declared noise; `fits` False: they are of another distribution."""

    draws: int
    scale: Fraction
    statistic: float
    freedom: int
    p_value: float
    reason: str = ""

    @property
    def fits(self) -> bool:
        """Whether nothing speaks against the declaration."""
        return not self.reason and self.p_value >= FALSE_ALARMS


def pmf(step: int, scale: Fraction, grid: Fraction = Fraction(1)) -> float:
    """Return the probability of `step` times the grid: tanh(g / 2b) * exp(-|step| g / b).

    >>> round(sum(pmf(step, Fraction(3)) for step in range(-200, 201)), 12)
    1.0
    """
    rate = float(grid / scale)
    return tanh(rate / 2) * exp(-abs(step) * rate)


def fit_discrete_laplace(
    draws: Iterable[object], scale: Fraction, *, grid: Fraction = Fraction(1)
) -> Fit:
    """Test draws of discrete Laplace noise, which are exact numbers; scale 0 means no noise."""
    numbers = list(_exact(draws))
    off = [number for number in numbers if number * grid.denominator % grid.numerator]
    if off:
        return _refused(numbers, scale, f"{off[0]} is not a multiple of {grid}")
    if scale == 0:
        noisy = [number for number in numbers if number]
        return _refused(numbers, scale, f"{noisy[0]} is not 0" if noisy else "")
    steps = np.array([int(number * grid.denominator // grid.numerator) for number in numbers])
    rate = float(grid / scale)
    edges = _discrete_edges(rate, len(numbers))
    if not edges:
        return _hardly_any(steps, 1 - tanh(rate / 2), scale)
    return _chi_square(steps, edges, [_below(edge, rate) for edge in edges], scale)


def fit_laplace(draws: Iterable[float], scale: Fraction) -> Fit:
    """Test draws of continuous Laplace noise; scale 0 means no noise."""
    numbers = np.fromiter(draws, dtype=np.float64)
    if scale == 0:
        noisy = numbers[numbers != 0]
        return _refused(numbers, scale, f"{noisy[0]} is not 0" if len(noisy) else "")
    cells = _cells(len(numbers))
    width = float(scale)
    levels = [place / cells for place in range(1, cells)]
    edges = [width * (log(2 * u) if u < 0.5 else -log(2 * (1 - u))) for u in levels]
    return _chi_square(numbers, edges, levels, scale)


def fit_outputs(
    noise: NDArray[Any], scales: Sequence[Fraction], *, grid: Fraction | None = None
) -> list[Fit]:
    """Test the noise of a release: a row per repetition, a column per output (integers or floats).

    Outputs of one scale are tested together. `grid` None: Laplace noise, else discrete.
    """
    if noise.ndim != 2 or noise.shape[1] != len(scales):
        raise ValueError(f"noise of shape {noise.shape} for {len(scales)} outputs")
    found = []
    for scale in sorted(set(scales)):
        columns = [place for place, item in enumerate(scales) if item == scale]
        draws = noise[:, columns].ravel().tolist()
        if grid is None:
            found.append(fit_laplace(draws, scale))
        else:
            found.append(fit_discrete_laplace(draws, scale, grid=grid))
    return found


def _exact(draws: Iterable[object]) -> Iterable[int | Fraction]:
    for draw in draws:
        if isinstance(draw, bool) or not isinstance(draw, (int, Fraction, np.integer)):
            raise TypeError(f"discrete noise is exact, and {draw!r} is not")
        yield draw if isinstance(draw, Fraction) else int(draw)


def _refused(numbers: Sequence[object] | NDArray[Any], scale: Fraction, reason: str) -> Fit:
    """Return the verdict where no statistics are needed ("": nothing is wrong)."""
    return Fit(len(numbers), scale, 0.0, 0, 0.0 if reason else 1.0, reason)


def _cells(draws: int) -> int:
    if draws < 2 * EXPECTED:
        raise ValueError(f"{draws} draws say too little: at least {2 * EXPECTED} are needed")
    return min(MOST_CELLS, draws // EXPECTED)


def _below(edge: int, rate: float) -> float:
    """Return the probability of a step below the edge: with a = e^-rate, a^(1-edge) / (1 + a)."""
    a = exp(-rate)
    if edge <= 0:
        return exp(-rate * (1 - edge)) / (1 + a)
    return 1 - exp(-rate * edge) / (1 + a)


def _discrete_edges(rate: float, draws: int) -> list[int]:
    """Return where cells begin that expect enough draws each, about equally many."""
    edges: list[int] = []
    cells, least, last = _cells(draws), EXPECTED / draws, 0.0
    for place in range(1, cells):
        edge = _first_above(place / cells, rate)
        below = _below(edge, rate)
        if below - last >= least and 1 - below >= least:
            edges.append(edge)
            last = below
    return edges


def _first_above(level: float, rate: float) -> int:
    """Return the smallest edge with at least this probability below it."""
    a = exp(-rate)
    if level <= a / (1 + a):
        edge = int(1 + log(level * (1 + a)) / rate)
    else:
        edge = int(-log((1 - level) * (1 + a)) / rate)
    while _below(edge - 1, rate) >= level:
        edge -= 1
    while _below(edge, rate) < level:
        edge += 1
    return edge


def _chi_square(
    numbers: NDArray[Any], edges: Sequence[float], below: Sequence[float], scale: Fraction
) -> Fit:
    """Compare the counts between the edges with what is expected there."""
    from scipy.stats import chi2

    counts = np.bincount(np.searchsorted(edges, numbers, side="right"), minlength=len(edges) + 1)
    expected = np.diff([0.0, *below, 1.0]) * len(numbers)
    statistic = float(((counts - expected) ** 2 / expected).sum())
    freedom = len(expected) - 1
    return Fit(len(numbers), scale, statistic, freedom, float(chi2.sf(statistic, freedom)))


def _hardly_any(steps: NDArray[Any], share: float, scale: Fraction) -> Fit:
    """Hardly any noise is expected: draws other than 0 are counted, in both directions."""
    from scipy.stats import binom

    seen, draws = int((steps != 0).sum()), len(steps)
    few, many = binom.cdf(seen, draws, share), binom.sf(seen - 1, draws, share)
    return Fit(draws, scale, float(seen), 0, float(min(1.0, 2 * min(few, many))))
