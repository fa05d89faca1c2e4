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

*Squares*, for Gaussian noise. The L2 norm of a vector is at most its L1 norm. So what V_j changes
is in L2 at most s_j(x) theta + |s_j(y) - s_j(x)| (|x - c_j|_2 + theta), and squares add up over j.
Two vectors are also no farther apart than their lengths together: no more than (2 R)^2, with R^2
the most that the squares of one record's V add up to; and weights are not negative, so that for N
it is no more than twice the most that the squares of one record's add up to. Hard clusters: where x
and y are in the same, V changes by y - x, at most theta and 2 R long; where they are in two, by
|x - c_a|^2 + |y - c_b|^2, which is at most 2 R^2 too, and N by 1 + 1.

Squares times lengths outgrow 64 bits on domains of some thousand values. So each computation first
bounds all its numbers in Python's own (`_extent`, `Around`), and `roomy` chooses the arrays.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import product
from math import isqrt, prod
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from blowproof.mechanisms.answers.vectors import Vector, largest, roomy, single, whole
from blowproof.models import BoundQuery, Domain, Point
from blowproof.models.base.kept import cached_property
from blowproof.models.data.dataset import Dataset
from blowproof.models.queries.query import Row

__all__ = ["Around", "Clusters", "Cover", "Memberships", "MoveBounds", "bounds", "squares"]

Ints = NDArray[Any]
"""Whole numbers in an array with room for them (`roomy`)."""
MOST_BOXES = 20_000
BITS = 25
"""Of lengths that are squared in 64 bits: for 1,000 clusters there is room."""


@dataclass(frozen=True, eq=False)
class Clusters:
    """Centroids and coordinates in whole units of `grid`; `margin` is m."""

    domain: Domain
    grid: Fraction
    centroids: Ints
    margin: int

    def __post_init__(self) -> None:
        """Keep the array as it is: what was proved of the clusters stays true of them."""
        self.centroids.setflags(write=False)

    @cached_property
    def axes(self) -> list[tuple[int, int]]:
        """The coordinate of each attribute's first value, and the step to the next."""
        kinds = [kind for _, kind in self.domain.attributes]
        return [(int(kind.coordinate(0) / self.grid), int(kind.step / self.grid)) for kind in kinds]

    @cached_property
    def listed(self) -> list[list[int]]:
        """The centroids in Python's own numbers."""
        return [[int(at) for at in centroid] for centroid in self.centroids.tolist()]

    def coordinates(self, places: Ints) -> Ints:
        """Return the coordinates of positions (a row for each value)."""
        start, step = (whole(numbers) for numbers in zip(*self.axes, strict=True))
        bound = largest(start) + largest(step) * max(1, largest(places))
        start, step, places = roomy(bound, start, step, places)
        found: Ints = start + step * places
        return found

    def weights(self, points: Ints) -> Ints:
        """Return s_j(x). Gaps are differences, so that |x|^2, common to all E_j(x), is left out."""
        # |c|^2, 2 x.c and the difference of two of their sums
        bound = self.margin + 6 * points.shape[1] * _extent(points, self.centroids) ** 2
        points, centroids = roomy(bound, points, self.centroids)
        squares = (centroids**2).sum(axis=1) - 2 * (points @ centroids.T)
        if self.margin == 0:
            nearest = squares.argmin(axis=1)
            return np.asarray(nearest[:, None] == np.arange(len(centroids)), dtype=np.int64)
        gap = squares - squares.min(axis=1, keepdims=True)
        return np.asarray(np.maximum(self.margin - gap, 0))


@dataclass(frozen=True, repr=False, eq=False)
class Memberships(BoundQuery):
    """N_j for each cluster, or (`sums`) V_j for each cluster and attribute."""

    clusters: Clusters
    sums: bool
    name: str = "memberships"
    unit = 1

    def largest_answer(self, domain: Domain, size: int) -> int | None:
        """Return what so many records add up to at the most; not said of sums."""
        return None if self.sums else size * max(1, self.clusters.margin)

    def rows(self, places: Ints) -> Ints:
        """Return the rows of many values (a row of positions for each), all outputs in order."""
        points = self.clusters.coordinates(places)
        weights, centroids = self.clusters.weights(points), self.clusters.centroids
        if not self.sums:
            return weights
        bound = 2 * _extent(points, centroids) * max(1, largest(weights))
        weights, points, centroids = roomy(bound, weights, points, centroids)
        apart = points[:, None, :] - centroids[None]
        rows: Ints = weights[:, :, None] * apart
        return rows.reshape(len(points), -1)

    def row(self, point: Point) -> Row:
        """What one record adds: by the definition, in Python's own numbers."""
        centroids, margin, axes = self.clusters.listed, self.clusters.margin, self.clusters.axes
        x = [start + step * at for (start, step), at in zip(axes, point, strict=True)]
        apart = [[a - b for a, b in zip(x, c, strict=True)] for c in centroids]
        squares = [sum(way * way for way in ways) for ways in apart]
        least = min(squares)
        if margin == 0:
            nearest = squares.index(least)
            weights = [int(j == nearest) for j in range(len(squares))]
        else:
            weights = [max(0, margin - square + least) for square in squares]
        values = [s * way for s, ways in zip(weights, apart, strict=True) for way in ways]
        return {k: value for k, value in enumerate(values if self.sums else weights) if value}

    def evaluate(self, data: Dataset) -> Vector:
        """Return the true sizes or sums."""
        places, counts = _held(data)
        totals = self.answers(self.clusters.coordinates(places), counts)
        names = single([str(k + 1) for k in range(len(totals))], column="output")
        return Vector(totals, Fraction(1), names)

    def answers(self, points: Ints, counts: Ints) -> Ints:
        """Return the true answers on points that occur so many times: V_j = sum s_j x - N_j c_j."""
        held, centroids = self.clusters.weights(points), self.clusters.centroids
        records = sum(abs(count) for count in counts.tolist())
        bound = 2 * _extent(points, centroids) * max(1, largest(held)) * max(1, records)
        held, points, counts, centroids = roomy(bound, held, points, counts, centroids)
        held = held * counts[:, None]
        sizes = held.sum(axis=0)
        totals = held.T @ points - sizes[:, None] * centroids if self.sums else sizes
        return whole(totals.ravel())


def _extent(points: Ints, centroids: Ints) -> int:
    """Return a number from 1 on that no coordinate exceeds."""
    return max(1, largest(points), largest(centroids))


_HELD: WeakKeyDictionary[Dataset, tuple[Ints, Ints]] = WeakKeyDictionary()


def _held(data: Dataset) -> tuple[Ints, Ints]:
    """Return the values that occur and how often, counted once for all iterations."""
    if data not in _HELD:
        from blowproof.mechanisms.answers.true_answers import held_cells

        # every iteration but the first is asked for when the budget is charged: no limit
        places, counts = held_cells(data, tuple(range(len(data.domain))), limit=data.size)
        _HELD[data] = whole(places), counts
    return _HELD[data]


@dataclass(frozen=True)
class MoveBounds:
    """What one record that moves changes at most, in whole units: the sizes, and the sums."""

    sizes: int
    sums: int


@lru_cache(maxsize=4)
def bounds(clusters: Clusters, theta: int) -> MoveBounds:
    """Return bounds on the change of sizes and sums when a record moves by `theta` units in L1."""
    return Around(clusters, theta, _cover(clusters.domain, clusters.grid)).bounds(clusters.margin)


@lru_cache(maxsize=4)
def squares(clusters: Clusters, theta: int) -> MoveBounds:
    """Return bounds on the squares of these changes, added up over the outputs."""
    return Around(clusters, theta, _cover(clusters.domain, clusters.grid)).squares(clusters.margin)


@lru_cache(maxsize=2)
def _cover(domain: Domain, grid: Fraction) -> Cover:
    return Cover.of(Clusters(domain, grid, whole([0] * len(domain))[None], 0))


@dataclass(frozen=True)
class Cover:
    """Equal boxes that cover a domain: their middles, and the L1 radius of each, rounded up."""

    middles: Ints
    radius: int

    @staticmethod
    def of(clusters: Clusters) -> Cover:
        """Return as many boxes as are allowed; the centroids do not matter."""
        sizes = [kind.size for _, kind in clusters.domain.attributes]
        side = 1
        while prod(-(-size // side) for size in sizes) > MOST_BOXES:
            side *= 2
        low = whole(list(product(*[range(0, size, side) for size in sizes])))
        low, ends = roomy(2 * side + max(sizes), low, whole(sizes))
        high = np.minimum(low + side, ends) - 1
        first, last = clusters.coordinates(low), clusters.coordinates(high)
        first, last = roomy(2 * len(sizes) * _extent(first, last), first, last)
        middles = (first + last) // 2
        radius = int(np.maximum(last - middles, middles - first).sum(axis=1).max())
        return Cover(middles, radius)


class Around:
    """What the boxes of a cover say about some centroids and moves of `theta`, for any margin.

    A row for each centroid, a column for each box: `far` is an upper bound on the L1 distance,
    `gap` is that of the middle, `sure` says where a centroid is nearest for every x of the box and
    every y within theta of it, `reach` is how fast a gap changes.
    """

    def __init__(self, clusters: Clusters, theta: int, cover: Cover) -> None:
        self.theta, self.radius = theta, cover.radius
        # With L this length, distances are at most L, slopes 4 L, squares and what lies between a
        # gap and its margin 9 L^2.
        axes = len(clusters.domain)
        self.longest = theta + cover.radius + 2 * axes * _extent(cover.middles, clusters.centroids)
        bound = 9 * self.longest**2
        middles, centroids = roomy(bound, cover.middles, clusters.centroids)
        slopes = 2 * np.abs(centroids[:, None, :] - centroids[None]).max(axis=2)
        self.reach = slopes.max(axis=1)[:, None]
        ways = [
            np.abs(axis[None] - own[:, None])
            for axis, own in zip(middles.T, centroids.T, strict=True)
        ]
        self.far = sum(ways[1:], start=ways[0]) + self.radius
        squares = sum((way**2 for way in ways[1:]), start=ways[0] ** 2)
        self.gap = squares - squares.min(axis=0)
        self._apart = squares
        self.sure = _leads(squares, slopes * (self.radius + theta))

    def bounds(self, margin: int) -> MoveBounds:
        """Return the bounds that are proved at the head of this file."""
        if margin == 0:
            return self._hard()
        theta = self.theta
        change, weight, far = self._gradual(margin, self.far)
        total = theta * weight.sum(axis=0) + (change * (far + theta)).sum(axis=0)
        whole_sums = 2 * int((weight * far).sum(axis=0).max())  # all that x and y contribute
        return MoveBounds(int(change.sum(axis=0).max()), min(int(total.max()), whole_sums))

    def _gradual(self, margin: int, far: Ints) -> tuple[Ints, Ints, Ints]:
        """Return how much each weight changes at most, how large it is at most, and `far`."""
        # weights are at most the margin; each of the clusters adds at most 3 L of them
        most = margin + 9 * self.longest**2 + 3 * len(self.gap) * margin * self.longest
        gap, far, reach = roomy(most, self.gap, far, self.reach)
        step = np.minimum(margin, reach * self.theta)
        never = gap >= margin + reach * (self.radius + self.theta)
        change = np.where(self.sure | never, 0, step)
        weight = np.clip(margin + reach * self.radius - gap, 0, margin)
        return change, weight, far

    @cached_property
    def _straight(self) -> Ints:
        """An upper bound on the L2 distance of each centroid from every x of each box."""
        ways = [[isqrt(way - 1) + 1 if way else 0 for way in row] for row in self._apart.tolist()]
        found: Ints = np.minimum(self.far, whole(ways) + self.radius)
        return found

    def squares(self, margin: int) -> MoveBounds:
        """Return the bounds on squares that are proved at the head of this file."""
        if margin == 0:
            return self._hard_squares()
        change, weight, far = self._gradual(margin, self._straight)
        lengths = self.theta * weight + change * (far + self.theta)
        return MoveBounds(
            min(_most_squares(change), 2 * _most_squares(weight)),
            min(_most_squares(lengths), 4 * _most_squares(weight * far)),
        )

    def _hard_squares(self) -> MoveBounds:
        """Hard clusters: as in `_hard`, with the squares of straight distances."""
        theta = self.theta
        if theta == 0:
            return MoveBounds(0, 0)
        nearest = self.gap <= self.reach * self.radius  # where a record may be
        longest = largest(np.where(nearest, self._straight, 0))
        same = min(theta, 2 * longest) ** 2
        within = self.gap <= self.reach * (self.radius + theta)
        alone = self.sure.any(axis=0) | (within.sum(axis=0) < 2)
        if alone.all():
            return MoveBounds(0, same)
        two = np.sort(np.where(within, self._straight, 0)[:, ~alone], axis=0)[-2:]
        apart = max(int(low) ** 2 + (int(high) + theta) ** 2 for low, high in two.T.tolist())
        return MoveBounds(2, max(same, min(apart, 2 * longest**2)))

    def _hard(self) -> MoveBounds:
        """Hard clusters: x in one that it may be in, y in another, |x - c_a| + |y - c_b|."""
        theta = self.theta
        if theta == 0:
            return MoveBounds(0, 0)  # nothing moves
        # centroids that may be nearest to x or to y
        within = self.gap <= self.reach * (self.radius + theta)
        alone = self.sure.any(axis=0) | (within.sum(axis=0) < 2)
        if alone.all():
            return MoveBounds(0, theta)
        longest = np.sort(np.where(within, self.far, 0)[:, ~alone], axis=0)[-2:].sum(axis=0) + theta
        return MoveBounds(2, int(max(theta, longest.max())))


def _most_squares(lengths: Ints) -> int:
    """Return a number that the squares of no column exceed together: long ones are rounded up.

    >>> _most_squares(whole([[3, 1], [4, 1]])), _most_squares(whole([[2**40]])) >= 2**80
    (25, True)
    """
    shift = max(0, largest(lengths).bit_length() - BITS)
    short = ((lengths >> shift) + int(shift > 0)).astype(np.int64)
    return int((short**2).sum(axis=0).max()) << 2 * shift


def _leads(squares: Ints, apart: Ints) -> NDArray[np.bool_]:
    """Whether a centroid is nearer than each other to a box's middle by more than `apart` of both.

    As `apart` is never below 0, none but the nearest can be; so only that one is compared.

    >>> _leads(whole([[1, 5], [4, 6]]), whole([[0, 2], [2, 0]])).tolist()
    [[True, False], [False, False]]
    """
    boxes = np.arange(squares.shape[1])
    nearest = squares.argmin(axis=0)
    lead = squares - squares[nearest, boxes] > apart[:, nearest]
    lead[nearest, boxes] = True
    sure = np.zeros(squares.shape, dtype=np.bool_)
    sure[nearest, boxes] = lead.all(axis=0)
    return sure
