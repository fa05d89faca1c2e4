"""Clusters as a statistician uses them: a row each, with centre, size, standard errors, intervals.

All of it is read off what k-means measured, which is published noisy numbers: it costs nothing.

A centre is what the last step made of two noisy numbers of a cluster of the step before: old centre
plus V / N. Its standard error is that of this ratio, and its interval (Fieller's) holds all r for
which V - r N is no farther from 0 than noise alone takes it 95 times in 100. Both speak of the mean
of the records that the last step gave to the cluster (gradually, where the margin is not 0), and
not of how far more steps without noise would go. A size is the number of records nearest to the
centre that is published.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from blowproof.mechanisms.answers.vectors import Vector
from blowproof.mechanisms.estimates.positive import nearest_above_zero
from blowproof.mechanisms.expecting.expected import largest_of
from blowproof.mechanisms.expecting.made_up import spread
from blowproof.mechanisms.kinds.kmeans import KMeans, heard_from, width_of
from blowproof.mechanisms.release.form import Form, Measured
from blowproof.mechanisms.release.release import Released
from blowproof.mechanisms.structures.memberships import Clusters, Memberships
from blowproof.mechanisms.structures.ordered_hierarchical import variance
from blowproof.models.mechanisms.mechanism import Release

__all__ = ["Noise", "formed", "ratio_interval"]

HALVINGS = 60
NORMAL = 1.96
MEANT = (
    "sizes: how many records are nearest to each centre",
    "errors of centres: what noise did in the last step, not how far further steps would go; their "
    "intervals have half a step of the centres' grid on either side",
)


Beyond = Callable[[float, float], float]
"""P(|noise of V - r noise of N| > far), for (far, r)."""


@dataclass(frozen=True)
class Noise:
    """The noise of a step: scales of Laplace noise on sums and sizes, or sigmas (`normal`)."""

    of_sums: Fraction
    of_sizes: Fraction
    normal: bool

    @classmethod
    def of(cls, sums: Release, sizes: Release) -> Noise:
        """Return the noise of two releases, of one kind (or none) both."""
        normal = "variance" in (sums.width, sizes.width)
        return cls(width_of(sums), width_of(sizes), normal)

    def error(self, ratio: float) -> float:
        """Return the standard error of V - r N."""
        each = 1 if self.normal else 2
        return math.sqrt(each) * math.hypot(float(self.of_sums), ratio * float(self.of_sizes))

    def beyond(self, far: float, ratio: float) -> float:
        """Return how often V - r N is farther from its mean."""
        if not self.normal:
            return _beyond(far, float(self.of_sums), abs(ratio) * float(self.of_sizes))
        sigma = self.error(ratio)
        return math.erfc(far / (math.sqrt(2) * sigma)) if sigma else float(far <= 0)


def formed(released: Released) -> Released:
    """Return a release with its answers in a form of their own, where they have one.

    Coordinates that no float holds stay as they are, a row each: they are paid for.
    """
    if released.mechanism != KMeans.name:
        return released
    try:
        return _formed(released)
    except OverflowError:
        return released


def _formed(released: Released) -> Released:
    """Return a release of k-means with a row for each cluster."""
    drawn = list(zip(released.description.releases, released.measured, strict=True))
    domain = released.request.policy.domain
    counted = len(drawn) % 2 == 1
    sizes = _sizes(drawn[-1], released.size) if counted else None
    (of_sizes, many), (of_sums, shifts) = drawn[-3:-1] if counted else drawn[-2:]
    query = of_sums.query
    assert isinstance(query, Memberships)
    noise = Noise.of(of_sums, of_sizes)
    centres = np.array([float(value) for value in released.answers]).reshape(-1, len(domain))
    ways = shifts.units.reshape(centres.shape).tolist()
    rows: list[tuple[Measured, ...]] = []
    for at, centre in enumerate(centres.tolist()):
        heard = int(many.units[at])
        cells = [
            (value, *_of_centre(query.clusters, (at, axis), (int(way), heard), noise))
            for axis, (value, way) in enumerate(zip(centre, ways[at], strict=True))
        ]
        rows.append((*cells, *([] if sizes is None else [sizes[at]])))
    names = (*domain.names, *([] if sizes is None else [_size_name(domain.names)]))
    form = Form("cluster", names, tuple(rows), "coordinate", KMeans.name)
    notes = (*released.notes, *(MEANT if counted else MEANT[1:]))
    return replace(released, form=form, notes=notes)


def _size_name(names: Sequence[str]) -> str:
    """Return what the sizes are called: not as an attribute is.

    >>> _size_name(["age", "Size"])
    'size_'
    """
    taken = {name.casefold() for name in names}
    name = "size"
    while name in taken:
        name += "_"
    return name


def _sizes(drawn: tuple[Release, Vector], size: int | None) -> list[Measured]:
    """Return whole sizes, not below 0, that add up to n where it is public, and their errors."""
    release, noisy = drawn
    (width,) = release.widths
    values = np.array([float(value) for value in noisy])
    many = len(values)
    if size is None:
        whole = np.rint(np.maximum(values, 0)).astype(np.int64)
        share = 1.0
    else:
        even = nearest_above_zero(values, np.zeros(many, dtype=np.int64), np.array([float(size)]))
        whole = spread(even, size) if size else np.zeros(many, dtype=np.int64)
        share = 1 - 1 / many  # what is left once the mean of the noise is known
    if release.width == "scale":
        error = math.sqrt(share * variance(width))
        half = math.sqrt(share) * largest_of(width, 1)  # sums of them have lighter tails
    else:
        error = math.sqrt(share * float(width))
        half = float(math.ceil(NORMAL * error))
    most = math.inf if size is None else float(size)
    return [(at, error, max(0.0, at - half), min(most, at + half)) for at in whole.tolist()]


def _of_centre(
    clusters: Clusters, place: tuple[int, int], ratio: tuple[int, int],
    noise: Noise,
) -> tuple[float | None, float, float]:  # fmt: skip
    """Return the standard error and the interval of one coordinate of a centre."""
    at, axis = place
    way, size = ratio
    start, step = clusters.axes[axis]
    last = start + step * (clusters.domain.attribute(axis).size - 1)
    grid, old = float(clusters.grid), int(clusters.centroids[at, axis])
    if size <= heard_from(clusters, noise.of_sizes):  # it stayed where it was
        return None, start * grid, last * grid
    middle = way / size
    error = noise.error(middle) / size
    low, high = ratio_interval((way, size), noise.beyond, (start - old, last - old))
    ends = max(start, old + low - 0.5), min(last, old + high + 0.5)  # a centre lies on a grid
    return grid * error, grid * ends[0], grid * ends[1]


def ratio_interval(
    ratio: tuple[float, float], beyond: Beyond, within: tuple[float, float]
) -> tuple[float, float]:
    """Return an interval of 95 % of V / N, from both with noise of a known law.

    V - r N has, at the true r, the noise of V less r times that of N and nothing else: `beyond` is
    the probability that it is farther from 0 than so, at an r.

    >>> noise = Noise(Fraction(1), Fraction(0), normal=False)
    >>> low, high = ratio_interval((100.0, 50.0), noise.beyond, (-10.0, 10.0))
    >>> round(50 * (high - 2), 3) == round(-math.log(0.05), 3)
    True
    """
    top, below = ratio
    middle = min(max(top / below, within[0]), within[1])

    def holds(value: float) -> bool:
        far = abs(top - value * below)
        return beyond(far, value) >= 0.05

    return _last(holds, middle, within[0]), _last(holds, middle, within[1])


def _last(holds: Callable[[float], bool], inside: float, end: float) -> float:
    """Return where something ends to hold, on the way from a number to an end."""
    if holds(end):
        return end
    for _ in range(HALVINGS):
        middle = (inside + end) / 2
        inside, end = (middle, end) if holds(middle) else (inside, middle)
    return end


def _beyond(far: float, one: float, other: float) -> float:
    """Return P(|A + B| > far) for independent Laplace numbers A, B of two scales."""
    low, high = sorted((one, other))
    if high <= 0:
        return float(far <= 0)
    tail = math.exp(-far / high)
    if low < 1e-9 * high:
        return tail
    if high - low < 1e-4 * high:  # the limit where both are the same
        return tail * (1 + far / (2 * high))
    return (high**2 * tail - low**2 * math.exp(-far / low)) / (high**2 - low**2)
