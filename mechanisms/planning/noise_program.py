"""The least error of any noise that is the same for all data, by a linear program: small cases.

Let noise z be added, whole numbers of the grid, with probabilities p(z) that do not depend on the
data. It is private only if p(z) <= e^epsilon p(z + d) for every difference d of two neighbours'
answers. Within a window of z these are linear conditions on p; beyond it all noise together gets
one probability, and the least square that it can have. So the least mean square under them is no
more than that of any such noise, whatever it is, and whichever differences are left out.

It says more than a pair or a chain does where two outputs change together; with many outputs the
windows are too small, and it is not asked.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction
from itertools import product
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

__all__ = ["MOST_OUTPUTS", "least_noise"]

MOST_OUTPUTS = 3
MOST_POINTS = 1_600
MOST_DIFFERENCES = 40
REACH = 8.0
SECONDS = 5.0


def least_noise(
    differences: Iterable[tuple[Fraction, ...]], epsilon: float
) -> float | None:  # fmt: skip
    """Return the least mean square of all outputs together; None where it is no small case.

    Differences and squares are in units of the grid.

    >>> one = least_noise([(Fraction(1),)], 1.0)
    >>> one is not None and abs(one - 2 * math.exp(-1) / (1 - math.exp(-1)) ** 2) < 0.05
    True
    """
    steps = _signed(differences)
    if steps is None:
        return None
    size = steps.shape[1]
    radius = _radius(size, epsilon, int(abs(steps).max()))
    if radius < 2 * int(abs(steps).max()):
        return None
    side = np.arange(-radius, radius + 1)
    points = np.array(list(product(side, repeat=size)))
    rows, columns, values, height = _conditions(points, steps, radius, math.exp(epsilon))
    squares = np.append((points**2).sum(axis=1), float((radius + 1) ** 2))
    return _solved(squares, rows, columns, values, height)


def _signed(differences: Iterable[tuple[Fraction, ...]]) -> NDArray[np.int64] | None:
    """Return the differences with both signs; None where they are no few whole numbers."""
    found = set()
    for item in differences:
        if len(item) > MOST_OUTPUTS or any(not _small(value) for value in item):
            return None
        found.add(tuple(map(int, item)))
        found.add(tuple(-int(value) for value in item))
    found -= {item for item in found if not any(item)}
    if not found or len(found) > MOST_DIFFERENCES or len({len(item) for item in found}) > 1:
        return None
    return np.array(sorted(found), dtype=np.int64)


def _small(value: Fraction) -> bool:
    return value.denominator == 1 and abs(value) <= MOST_POINTS


def _radius(size: int, epsilon: float, longest: int) -> int:
    """Return how far the window reaches: some widths of the noise, as far as there is room."""
    wanted = math.ceil(REACH * longest / epsilon)
    side = int(math.pow(MOST_POINTS, 1 / size))
    room = (side - 1) // 2
    return min(wanted, room)


def _conditions(
    points: NDArray[np.int64], steps: NDArray[np.int64], radius: int, factor: float
) -> tuple[Any, Any, Any, int]:
    """Return the rows p(z) - e^epsilon p(z + d) <= 0, where both lie in the window."""
    side = 2 * radius + 1
    powers = side ** np.arange(points.shape[1])[::-1]
    places = (points + radius) @ powers
    low: list[NDArray[np.int64]] = []
    high: list[NDArray[np.int64]] = []
    for step in steps:
        moved = points + step
        inside = (abs(moved) <= radius).all(axis=1)
        low.append(places[inside])
        high.append((moved[inside] + radius) @ powers)
    one, two = np.concatenate(low), np.concatenate(high)
    row = np.arange(len(one))
    rows, columns = np.concatenate([row, row]), np.concatenate([one, two])
    values = np.concatenate([np.ones(len(one)), np.full(len(two), -factor)])
    return rows, columns, values, len(one)


def _solved(
    squares: NDArray[Any], rows: Any, columns: Any, values: Any, height: int
) -> float | None:
    """Return the bound that the program's dual shows, which holds for any multipliers.

    For y >= 0 the mean square is at least the least of squares + A'y, over probabilities p: the
    solver's rounding cannot lift it above the truth.
    """
    from scipy.optimize import linprog
    from scipy.sparse import csr_array

    matrix = csr_array((values, (rows, columns)), shape=(height, len(squares)))
    found: Any = cast("Any", linprog)(
        squares, A_ub=matrix, b_ub=np.zeros(height), A_eq=np.ones((1, len(squares))), b_eq=[1.0],
        method="highs", options={"time_limit": SECONDS},
    )  # fmt: skip
    if found.ineqlin is None or found.ineqlin.marginals is None:
        return None
    multipliers = np.maximum(0.0, -np.asarray(found.ineqlin.marginals))
    return float((squares + matrix.T @ multipliers).min())
