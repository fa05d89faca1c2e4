"""Sizes and coordinate sums of the clusters around fixed centroids, exactly and vectorised."""

from __future__ import annotations

from fractions import Fraction
from math import lcm
from typing import Any

import numpy as np
from numpy.typing import NDArray

from blowproof.mechanisms.answers.vectors import (
    Names,
    Vector,
    attribute_grid,
    largest,
    roomy,
    single,
    sums_by,
    whole,
)
from blowproof.models import Domain, Exact
from blowproof.models.queries.cluster_sizes import Clusters

__all__ = ["answer_clusters"]


def answer_clusters(query: Clusters, places: NDArray[Any], counts: NDArray[Any]) -> Vector:
    """Return the sizes, or the coordinate sums, of the clusters of some values.

    `places` has a row of positions for each value, `counts` says how many records hold it.
    """
    domain, clusters = query.domain, len(query.centroids)
    axes = tuple(range(len(domain)))
    grid = attribute_grid(domain, axes)
    coordinates = [_coordinates(domain, axis, places[:, axis], grid) for axis in axes]
    nearest = _nearest(coordinates, query.centroids, grid)
    names = [f"{k + 1}" for k in range(clusters)]
    if query.binary:
        sizes = sums_by(nearest, counts, clusters)
        return Vector(sizes, Fraction(1), single(names, column="cluster"))
    units = [
        int((column[nearest == k] * counts[nearest == k].astype(object)).sum())
        for k in range(clusters)
        for column in (c.astype(object) for c in coordinates)
    ]
    parts = Names(
        ("cluster", "attribute"),
        clusters * len(axes),
        lambda: ((name, axis) for name in names for axis in domain.names),
    )
    return Vector(whole(units), grid, parts)


def _coordinates(domain: Domain, axis: int, places: NDArray[Any], grid: Fraction) -> NDArray[Any]:
    """Return coordinates in units of the grid."""
    kind = domain.attribute(axis)
    start, step = int(kind.coordinate(0) / grid), int(kind.step / grid)
    (held,) = roomy(abs(start) + step * kind.size, places)
    found: NDArray[Any] = start + step * held
    return found


def _nearest(
    coordinates: list[NDArray[Any]], centroids: tuple[tuple[Exact, ...], ...], grid: Fraction
) -> NDArray[np.int64]:
    """Return the place of the nearest centroid in L2, ties to the first, by exact squares.

    With everything multiplied by the centroids' common denominator, squares are whole numbers.
    """
    below = lcm(*((value / grid).denominator for centroid in centroids for value in centroid))
    widest = max(map(largest, coordinates), default=0)
    ends = [abs(int(value / grid * below)) for centroid in centroids for value in centroid]
    bound = (widest * below + max(ends)) ** 2 * len(coordinates)
    columns = [column * below for column in roomy(bound, *coordinates)]
    best = np.zeros(len(columns[0]), dtype=np.int64)
    least: NDArray[Any] | None = None
    for place, centroid in enumerate(centroids):
        ends = [int(value / grid * below) for value in centroid]
        parts = [(column - end) ** 2 for column, end in zip(columns, ends, strict=True)]
        distance = sum(parts[1:], start=parts[0])
        if least is None:
            least = distance
        best[distance < least] = place
        least = np.minimum(least, distance)
    return best
