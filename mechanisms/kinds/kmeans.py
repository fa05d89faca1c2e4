"""Private k-means: Lloyd's iterations from noisy cluster sizes and sums (blowfish-2014, section 6).

How many iterations is a choice, from epsilon and n alone (`usual_iterations`): each further one
takes noise from all, and the first few bring nearly all that Lloyd's iterations bring. On one
percent of the skin pixels, full secrets, one takes the objective to 2.7 of Lloyd's at epsilon 1/10
and to 1.41 at 1, two to 4.2 and 1.40, three to 6.0 and 1.52, ten to 1.79 even at 2, where three
take it to 1.28. Of 190,000 tweets at 1/10: 1.00 by three.

Every iteration gets an equal share of epsilon, and spends it on the sizes and the sums of the
clusters around the current centroids, which are public by then. Lemma 6.1 calibrates the sums by
the length theta of a secret move, which is not private: a record that crosses a border takes its
whole coordinates from one sum to another. Here the sums are relative to the centroids, and the
assignment may change gradually over a margin, so that what a move of length theta changes really
shrinks with theta (`memberships`, where the bound is proved). The margin is chosen, from public
numbers alone, to need the least noise; margin 0 is the hard assignment.

A small share of epsilon goes to the sizes of the clusters that are published: how many records are
nearest to each of the last centroids. Sizes that an iteration measures are those of the clusters
before, and gradual ones.

For a rho the noise is Gaussian, calibrated by squares (`memberships` has the proof), and what adds
up over the iterations are rhos: each of T is as wide as the root of T, and not as T. On the same
pixels rho 1/200 takes the objective to 1.41 with two, 1/8 to 1.06 with five.
"""

from __future__ import annotations

from fractions import Fraction
from math import isqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from blowproof.mechanisms.answers.vectors import (
    Names,
    Vector,
    attribute_grid,
    largest,
    roomy,
    whole,
)
from blowproof.mechanisms.base.errors import RefusedError
from blowproof.mechanisms.base.spread import halton
from blowproof.mechanisms.kinds.transformed import free
from blowproof.mechanisms.release.release import Draw, Plan, Request
from blowproof.mechanisms.structures.memberships import (
    Around,
    Clusters,
    Cover,
    Memberships,
    MoveBounds,
)
from blowproof.models import Policy, QueryError, exact, setting, show
from blowproof.models.mechanisms.mechanism import Release
from blowproof.models.policy.readings import is_labelled
from blowproof.models.secrets import CellGraph
from blowproof.models.secrets.offsets import OffsetGraph

__all__ = [
    "KMeans",
    "first_centroids",
    "heard_from",
    "longest_move",
    "usual_iterations",
    "width_of",
]

Ints = NDArray[Any]
REFINED = 4
"""Centroids lie on a grid this many times finer than the values."""
SIZES_SHARE, SIZES_OF_RHO = Fraction(1, 4), Fraction(1, 6)
"""The share of an iteration that its sizes get. With variances a / s^2 and b / (1 - s)^2 of epsilon
the best is 1/4 where a is b / 27; with a / s and b / (1 - s) of a rho it is about 1/6 there."""
MARGINS = (Fraction(0), Fraction(1, 2), Fraction(1))
"""Margins to choose from, as multiples of the squared distance between the closest centroids: with
1, a record at one centroid still has no weight at any other."""
WIDEST_MARGIN, THOUSAND = 1000, 1000
FEW = 3
LOUD, LOUD_FOR_RHO = (250, 1_000, 100_000), (10, 100, 250)
"""From which epsilon n / k on there are 2, 3 and 5 iterations."""
COUNTED = Fraction(1, 20)
"""The share of epsilon that goes to the sizes of the last clusters, where nobody says."""


def longest_move(policy: Policy, grid: Fraction) -> int:
    """Return, in units of the grid, a length that no secret move exceeds in L1.

    The extent of the domain bounds every graph; distances, changed attributes and frozen attributes
    bound it further.
    """
    kinds = [kind for _, kind in policy.domain.attributes]
    spans = [int(kind.step / grid) * (kind.size - 1) for kind in kinds]
    graph = policy.graph
    if isinstance(graph, CellGraph):
        return max((_extent(policy, cell, grid) for cell in range(len(graph.areas))), default=0)
    if not isinstance(graph, OffsetGraph):
        return sum(spans)
    steps = [int(kind.step / grid) for kind in kinds]
    alone = [
        min(span, step * axis.reach(graph.bound)) if axis.line else span * axis.reach(graph.bound)
        for span, step, axis in zip(spans, steps, graph.axes, strict=True)
    ]
    return min(sum(alone), _shared(graph, alone, steps)) if graph.together == "sum" else sum(alone)


def _shared(graph: OffsetGraph, alone: list[int], steps: list[int]) -> int:
    """Charges that add up: how far all axes together get with one bound.

    On lines the farthest goes where a step costs least, or, for squares, by Cauchy and Schwarz; on
    other axes any change costs the same, so the longest that the bound pays for.
    """
    moving = [
        (step, axis) for step, axis, most in zip(steps, graph.axes, alone, strict=True) if most
    ]
    if moving and all(axis.line and axis.power == 1 for _, axis in moving):
        return int(max(Fraction(step, axis.weight) for step, axis in moving) * graph.bound)
    if moving and all(axis.line and axis.power == 2 for _, axis in moving):
        return isqrt(
            int(sum(Fraction(step**2, axis.weight) for step, axis in moving) * graph.bound)
        )
    if moving and not any(axis.line for _, axis in moving):
        many = graph.bound // min(axis.weight for _, axis in moving)
        return sum(sorted(alone, reverse=True)[:many])
    return sum(alone)


def _extent(policy: Policy, cell: int, grid: Fraction) -> int:
    """The L1 extent of the smallest box around a cell."""
    graph = policy.graph
    assert isinstance(graph, CellGraph)
    area = graph.areas[cell]
    total = 0
    for axis, (_, kind) in enumerate(policy.domain.attributes):
        runs = [run for box in area.boxes if box for run in box.sides[axis].runs]
        if runs:
            ends = max(high for _, high in runs) - 1 - min(low for low, _ in runs)
            total += ends * int(kind.step / grid)
    return total


def first_centroids(clusters: int, low: Ints, high: Ints) -> Ints:
    """Return centroids to begin with, from public numbers alone: spread out over the domain.

    Point j of a low-discrepancy sequence (Halton's, in bases 2, 3, 5, ...).
    """
    points = halton(clusters + 1, len(low))[1:]
    ends = list(zip(low.tolist(), high.tolist(), strict=True))
    return whole(
        [
            [
                first + round(Fraction(share) * (last - first))
                for share, (first, last) in zip(point, ends, strict=True)
            ]
            for point in points.tolist()
        ]
    )


def usual_iterations(
    epsilon: Fraction, size: int | None, clusters: int, loud: tuple[int, int, int] = LOUD
) -> int:
    """Return how many iterations are made where nobody says: 1, 2, 3 or 5, by epsilon n / k.

    3 where n is not known.

    >>> [usual_iterations(Fraction(1, 10), n, 4) for n in (None, 2451, 190_000, 10**9)]
    [3, 1, 3, 5]
    """
    if size is None:
        return FEW
    heard = epsilon * size / clusters
    return (1, 2, FEW, FEW + 2)[sum(heard >= least for least in loud)]


def width_of(release: Release) -> Fraction:
    """Return how wide the noise of a release is: its scale, or sigma to a thousandth.

    >>> width_of(Release(query="histogram", noise="discrete-gaussian", variance=Fraction(2)))
    Fraction(707, 500)
    """
    (width,) = release.widths
    if release.width == "scale":
        return width
    return Fraction(isqrt(int(width * THOUSAND**2)), THOUSAND)


def heard_from(clusters: Clusters, noise: Fraction) -> Fraction:
    """Return the noisy size above which a cluster moves, for noise of such a width on the sizes."""
    return max(noise, Fraction(max(1, clusters.margin), 2))


class KMeans(Plan):
    """Centroids of k clusters, and how many records are nearest to each.

    Options: `clusters` (k), `iterations`, `margin` (a multiple), `sizes` (a share of epsilon, or of
    the rho). The
    answers are the coordinates of the centroids, cluster by cluster; sizes and errors are read off
    what was measured (`expecting.clusters`).
    """

    name = "k-means"
    postprocessing = ("new centroid = old + sum / size", "clipping to the domain")
    settings = ("clusters", "iterations", "margin", "sizes")

    def __init__(self, request: Request) -> None:
        super().__init__(request)
        policy = request.policy
        if not is_labelled(request.reading) or not free(policy):
            raise RefusedError(
                "k-means is calibrated for neighbours that differ in one record: under a policy "
                "without known facts, reading published or secret-moves\n"
                "  try: --mechanism laplace with --query cluster-sums(FILE)"
            )
        if not request.bound.separates:
            raise QueryError(
                f"k-means makes clusters, and does not answer {request.bound.name}"
                "\n  try: leave --query out"
            )
        for name, kind in policy.domain.attributes:
            if not kind.ordered:
                raise QueryError(f"the attribute {name!r} is not ordered: it has no means")
        self.clusters = _whole_option(request, "clusters", 4)
        self.margins = _margins(request)
        self.counted = _share_of_sizes(request)
        axes = range(len(policy.domain))
        self.grid = attribute_grid(policy.domain, axes) / REFINED
        self.theta = longest_move(policy, self.grid)
        self._asked = "iterations" in request.options
        usual = self._usual(setting(policy, request.answers).size)
        self.iterations = _whole_option(request, "iterations", usual)
        sizes = whole([[0] * len(policy.domain), [k.size - 1 for _, k in policy.domain.attributes]])
        origin = self._with(np.zeros((1, len(policy.domain)), dtype=np.int64))
        self.cover = Cover.of(origin)
        corners = origin.coordinates(sizes)
        self.low, self.high = corners[0], corners[1]
        self.start = first_centroids(self.clusters, self.low, self.high)
        self._first = self.calibrated(self.start)
        self.opening = self._first[:2]

    def _with(self, centroids: Ints, margin: int = 0) -> Clusters:
        return Clusters(self.request.policy.domain, self.grid, centroids, margin)

    def _usual(self, size: int | None) -> int:
        if not self.theta:  # nothing moves: there is no noise
            return FEW + 2
        loud = LOUD if self.request.rho is None else LOUD_FOR_RHO
        return usual_iterations(self.request.epsilon, size, self.clusters, loud)

    def calibrated(
        self, centroids: Ints, iterations: int | None = None
    ) -> tuple[Release, Release, Clusters]:
        """Return the releases of one of some iterations, at the margin that needs least noise."""
        each = (1 - self.counted) / (iterations or self.iterations)
        clusters, found = self._best(centroids)
        share = SIZES_SHARE if self.request.rho is None else SIZES_OF_RHO
        sizes = Memberships(clusters, sums=False, name="sizes")
        sums = Memberships(clusters, sums=True, name="sums")
        return (
            self._noisy(sizes, found.sizes, share * each),
            self._noisy(sums, found.sums, (1 - share) * each),
            clusters,
        )

    def _bounds(self, around: Around, margin: int) -> MoveBounds:
        return around.bounds(margin) if self.request.rho is None else around.squares(margin)

    def _noisy(self, query: Memberships, most: int, share: Fraction) -> Release:
        """Return a query that one move changes by so much (in squares, for a rho), and its noise.

        `share`: of the epsilon, or of the rho. What does not change has no noise.
        """
        rho = self.request.rho
        if rho is None or not most:
            scale = Fraction(most) / (share * self.request.epsilon)
            return Release(query=query, noise="discrete-laplace", scale=scale)
        variance = Fraction(most) / (2 * share * rho)
        return Release(query=query, noise="discrete-gaussian", variance=variance)

    def _best(self, centroids: Ints) -> tuple[Clusters, MoveBounds]:
        around = Around(self._with(centroids), self.theta, self.cover)
        (centroids,) = roomy(4 * centroids.shape[1] * largest(centroids) ** 2, centroids)
        apart = ((centroids[:, None] - centroids[None]) ** 2).sum(axis=2)
        closest = int(apart[apart > 0].min(initial=max(1, int(apart.max()))))
        options = []
        for share in self.margins:
            clusters = self._with(centroids, int(share * closest))
            found = self._bounds(around, clusters.margin)
            unit = max(1, clusters.margin) ** (1 if self.request.rho is None else 2)
            options.append((Fraction(found.sums, unit), clusters, found))
        _, clusters, found = min(options, key=lambda option: option[0])
        return clusters, found

    def run(self, draw: Draw) -> Vector:
        """Return the centroids after the last iteration.

        n is public here, also where the policy does not have it: who has the data knows it.
        """
        centroids, iterations = self.start, self.iterations
        size = draw.public_size(self.request)
        if not self._asked and size is not None:
            iterations = self._usual(size)
        for step in range(iterations):
            planned = step == 0 and iterations == self.iterations
            found = self._first if planned else self.calibrated(centroids, iterations)
            sizes, sums, clusters = found
            centroids = self.moved(clusters, draw(sizes), draw(sums), width_of(sizes))
        if self.counted:
            draw(self.last_sizes(centroids))
        names = Names(
            ("cluster", "attribute"),
            centroids.size,
            lambda: (
                (k + 1, axis)
                for k in range(self.clusters)
                for axis in self.request.policy.domain.names
            ),
        )
        return Vector(whole(centroids.ravel().tolist()), self.grid, names)

    def last_sizes(self, centroids: Ints) -> Release:
        """Return how many records are nearest to each centroid that is published, with noise."""
        clusters = self._with(centroids)
        found = self._bounds(Around(clusters, self.theta, self.cover), 0)
        query = Memberships(clusters, sums=False, name="sizes")
        return self._noisy(query, found.sizes, self.counted)

    def moved(self, clusters: Clusters, sizes: Vector, sums: Vector, noise: Fraction) -> Ints:
        """Return the next centroids; a cluster whose size drowns in noise stays where it is."""
        least = heard_from(clusters, noise)
        shifts = sums.units.reshape(clusters.centroids.shape).tolist()
        moved = []
        for size, *places in zip(
            sizes.units.tolist(), clusters.centroids.tolist(), shifts, strict=True
        ):
            heard = zip(*places, strict=True)
            moved.append(
                [at + (round(Fraction(way, size)) if size > least else 0) for at, way in heard]
            )
        bound = largest(self.low) + largest(self.high)
        return np.clip(*roomy(bound + largest(whole(moved)), whole(moved), self.low, self.high))


def _margins(request: Request) -> tuple[Fraction, ...]:
    """Return the margins to choose from, or the one that was asked for."""
    if "margin" not in request.options:
        return MARGINS
    wanted = Fraction(exact(request.options["margin"], key="margin"))
    if not 0 <= wanted <= WIDEST_MARGIN:
        raise QueryError(f"margin = {show(wanted)} is not a number from 0 to {WIDEST_MARGIN}")
    return (wanted,)


def _share_of_sizes(request: Request) -> Fraction:
    """Return the share of epsilon for the sizes of the last clusters; 0: they are not counted."""
    share = Fraction(exact(request.options.get("sizes", COUNTED), key="sizes"))
    if not 0 <= share < 1:
        raise QueryError(f"sizes = {show(share)} is not a share from 0 to below 1")
    return share


def _whole_option(request: Request, name: str, default: int) -> int:
    text = str(request.options.get(name, default))
    if len(text) > 4 or not text.isdecimal() or not 1 <= int(text) <= 1000:
        raise QueryError(f"{name} = {text[:20]} is not a number of {name} from 1 to 1000")
    return int(text)
