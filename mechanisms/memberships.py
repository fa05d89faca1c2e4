"""Cluster sizes and sums whose sensitivity shrinks with what is secret.

A record at x belongs to the cluster of centroid j with weight s_j(x), a whole number from 0 to m:

    s_j(x) = max(0, m - gap_j(x)),   gap_j(x) = E_j(x) - min_i E_i(x),   E_j(x) = |x - c_j|_2^2.

The nearest centroid has weight m, one that is nearly as near almost as much: assignments change
gradually over a margin. With m = 0 the weight is 1 for the nearest centroid (the first of several)
and 0 for all others: hard clusters. Released are N_j, the sum of s_j(x), and V_j, the sum of
s_j(x) (x - c_j): relative to the centroid, which is public, for what matters is how far it has to
move, V_j / N_j. Everything is a whole number in units of an exact grid.

*How much a secret changes* (`bounds`). Let x and y be the ends of an edge of G, at most theta apart
in L1. E_i - E_j is linear with slopes 2 (c_j - c_i), so it changes by at most lambda_ij theta,
lambda_ij = 2 max|c_i - c_j|, and gap_j, a maximum of these, by at most lambda_j theta with lambda_j
the largest of the lambda_ij. So |s_j(x) - s_j(y)| is at most min(m, lambda_j theta); it is 0 where
gap_j is too large at x to be below m at y, and where j is so much the nearest that it stays so. And

    s_j(y) (y - c_j) - s_j(x) (x - c_j) = s_j(x) (y - x) + (s_j(y) - s_j(x)) (y - c_j),

of L1 norm at most s_j(x) theta + |s_j(y) - s_j(x)| (|x - c_j| + theta). Adding up over j, and
taking the maximum over the x of the domain, bounds the sensitivity for neighbours that differ in
one record; so does twice the most that one record contributes. The domain is covered by boxes, and
all of it is said of a box by its middle and its radius, so the cost does not grow with the domain.
Hard clusters: two clusters at the most take part in a change, by |x - c_a| + |y - c_b|.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, prod

import numpy as np
from numpy.typing import NDArray

from blowproof.mechanisms.vectors import Vector, single, whole
from blowproof.models import BoundQuery, Domain, Exact, Point
from blowproof.models.data import Dataset
from blowproof.models.queries import Row

__all__ = ["Bounds", "Clusters", "Memberships", "bounds"]

Ints = NDArray[np.int64]
MOST_BOXES = 20_000


@dataclass(frozen=True, eq=False)
class Clusters:
    """Centroids and coordinates in whole units of `grid`; `margin` is m."""

    domain: Domain
    grid: Fraction
    centroids: Ints
    margin: int

    def coordinates(self, places: Ints) -> Ints:
        """Return the coordinates of positions (a row for each value)."""
        kinds = [kind for _, kind in self.domain.attributes]
        start = np.array([int(kind.coordinate(0) / self.grid) for kind in kinds], dtype=np.int64)
        step = np.array([int(kind.step / self.grid) for kind in kinds], dtype=np.int64)
        return start + step * places

    def squares(self, points: Ints) -> Ints:
        """Return E_j(x): a row for each point, a column for each centroid."""
        found: Ints = ((points[:, None, :] - self.centroids[None]) ** 2).sum(axis=2)
        return found

    def weights(self, points: Ints) -> Ints:
        """Return s_j(x)."""
        squares = self.squares(points)
        if self.margin == 0:
            nearest = squares.argmin(axis=1)
            return np.asarray(nearest[:, None] == np.arange(len(self.centroids)), dtype=np.int64)
        gap = squares - squares.min(axis=1, keepdims=True)
        return np.asarray(np.maximum(self.margin - gap, 0), dtype=np.int64)


@dataclass(frozen=True, repr=False, eq=False)
class Memberships(BoundQuery):
    """N_j for each cluster, or (`sums`) V_j for each cluster and attribute."""

    clusters: Clusters
    sums: bool
    name: str = "memberships"
    unit = 1

    def _outputs(self, points: Ints) -> Ints:
        """One row of outputs for each point."""
        weights = self.clusters.weights(points)
        if not self.sums:
            return weights
        apart = points[:, None, :] - self.clusters.centroids[None]
        return (weights[:, :, None] * apart).reshape(len(points), -1)

    def row(self, point: Point) -> Row:
        """What one record adds."""
        points = self.clusters.coordinates(np.array([point], dtype=np.int64))
        row: dict[Hashable, Exact] = {}
        for place, value in enumerate(self._outputs(points)[0].tolist()):
            if value:
                row[place] = value
        return row

    def evaluate(self, data: Dataset) -> Vector:
        """Return the true sizes or sums."""
        from blowproof.mechanisms.exact import held_cells

        places, counts = held_cells(data, tuple(range(len(data.domain))))
        totals = self.answers(self.clusters.coordinates(places.astype(np.int64)), counts)
        names = single([str(k + 1) for k in range(len(totals))], column="output")
        return Vector(totals, Fraction(1), names)

    def answers(self, points: Ints, counts: Ints) -> Ints:
        """Return the true answers on points that occur so many times."""
        found = counts.astype(object) @ self._outputs(points).astype(object)
        return whole(list(found))


@dataclass(frozen=True)
class Bounds:
    """What one record that moves changes at most, in whole units: the sizes, and the sums."""

    sizes: int
    sums: int


def bounds(clusters: Clusters, theta: int) -> Bounds:
    """Return bounds on the change of sizes and sums when a record moves by `theta` units in L1."""
    middles, radius = _boxes(clusters)
    far = abs(middles[:, None, :] - clusters.centroids[None]).sum(axis=2) + radius
    slopes = 2 * abs(clusters.centroids[:, None, :] - clusters.centroids[None]).max(axis=2)
    squares = clusters.squares(middles)
    # sure[b, j]: centroid j is nearest for every x of box b and every y within theta of it
    lead = squares[:, :, None] - squares[:, None, :] - slopes * (radius + theta)
    for j in range(len(clusters.centroids)):
        lead[:, j, j] = 1
    sure = (lead > 0).all(axis=1)
    if clusters.margin == 0:
        return _hard(far, squares, slopes, sure, radius, theta)
    reach = slopes.max(axis=1)
    gap = squares - squares.min(axis=1, keepdims=True)
    margin = clusters.margin
    step = np.broadcast_to(np.minimum(margin, reach * theta), gap.shape)
    never = gap - reach * (radius + theta) >= margin
    change = np.where(sure | never, 0, step)
    weight = np.clip(margin - gap + reach * radius, 0, margin)
    total = theta * weight.sum(axis=1) + (change * (far + theta)).sum(axis=1)
    whole_sums = 2 * int((weight * far).sum(axis=1).max())  # all that x and y contribute
    return Bounds(int(change.sum(axis=1).max()), min(int(total.max()), whole_sums))


def _hard(far: Ints, squares: Ints, slopes: Ints, sure: Ints, radius: int, theta: int) -> Bounds:
    """Hard clusters: x in one that it may be in, y in another, |x - c_a| + |y - c_b|."""
    reach = slopes.max(axis=1)
    gap = squares - squares.min(axis=1, keepdims=True)
    within = gap - reach * (radius + theta) <= 0  # centroids that may be nearest to x or to y
    longest = np.sort(np.where(within, far, 0), axis=1)[:, -2:].sum(axis=1) + theta
    alone = sure.any(axis=1) | (within.sum(axis=1) < 2)
    if alone.all():
        return Bounds(0, theta)
    return Bounds(2, int(max(theta, longest[~alone].max())))


def _boxes(clusters: Clusters) -> tuple[Ints, int]:
    """Cover the domain by equal boxes: their middles, and the L1 radius of each, rounded up."""
    sizes = [kind.size for _, kind in clusters.domain.attributes]
    side = 1
    while prod(ceil(size / side) for size in sizes) > MOST_BOXES:
        side *= 2
    starts = np.meshgrid(*(np.arange(0, size, side) for size in sizes), indexing="ij")
    low = np.stack([start.ravel() for start in starts], axis=1).astype(np.int64)
    high = np.minimum(low + side, np.array(sizes)) - 1
    first, last = clusters.coordinates(low), clusters.coordinates(high)
    middles = (first + last) // 2
    radius = int(np.maximum(last - middles, middles - first).sum(axis=1).max())
    return middles, radius
