"""Counts of rectangles from a table of two attributes, by sums over corners."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from blowproof.mechanisms.answers.vectors import Names, largest, roomy
from blowproof.models import Domain
from blowproof.models.queries.kinds import Rectangles

__all__ = ["corner_sums", "ends_of", "rectangle_names", "rectangle_sums"]

Ints = NDArray[np.int64]


def corner_sums(table: NDArray[Any]) -> NDArray[Any]:
    """Return the sums over the first i rows and j columns, i and j from 0, exactly.

    >>> corner_sums(np.array([[1, 2], [3, 4]])).tolist()
    [[0, 0, 0], [0, 1, 3], [0, 4, 10]]
    """
    if table.dtype.kind != "f":
        (table,) = roomy(table.size * largest(table), table)
    sums = np.zeros((table.shape[0] + 1, table.shape[1] + 1), dtype=table.dtype)
    sums[1:, 1:] = table.cumsum(axis=0).cumsum(axis=1)
    return sums


def ends_of(query: Rectangles) -> tuple[Ints, Ints, Ints, Ints]:
    """Return where the rectangles begin and end: rows from and to (not included), then columns."""
    found = np.array([(*one, *two) for one, two in query.spans()], dtype=np.int64).reshape(-1, 4)
    return found[:, 0], found[:, 1] + 1, found[:, 2], found[:, 3] + 1


def rectangle_sums(query: Rectangles, table: NDArray[Any]) -> NDArray[Any]:
    """Return the counts of all rectangles, in their order, from the counts of the cells."""
    sums = corner_sums(table)
    if query.sample is None:
        low, high = np.triu_indices(query.sizes[0])
        rows = sums[high + 1] - sums[low]
        low, high = np.triu_indices(query.sizes[1])
        found: NDArray[Any] = (rows[:, high + 1] - rows[:, low]).ravel()
        return found
    top, bottom, left, right = ends_of(query)
    found = sums[bottom, right] - sums[top, right] - sums[bottom, left] + sums[top, left]
    return found


def rectangle_names(query: Rectangles, domain: Domain) -> Names:
    """Return what each rectangle is: the first and the last value on both attributes."""
    (one, first), (two, second) = (domain.attributes[axis] for axis in query.axes)
    return Names(
        (f"{one}_min", f"{one}_max", f"{two}_min", f"{two}_max"),
        query.outputs(domain).count,
        lambda: (
            (first.value(a), first.value(b), second.value(c), second.value(d))
            for (a, b), (c, d) in query.spans()
        ),
    )
