"""The least error of any noise that is the same for all data, by a linear program: small cases.

Let noise z be added, whole numbers of the grid, with probabilities p(z) that do not depend on the
data. It is private only if p(z) <= e^epsilon p(z + d) for every difference d of two neighbours'
answers. Within a window of z these are linear conditions on p; beyond it all noise together gets
one probability, and the least square that it can have. So the least mean square under them is no
more than that of any such noise, whatever it is, and whichever differences are left out.

*Some of the outputs.* Outputs that no difference changes are left out. And the noise of any three
outputs, whatever that of the others is, is noise for these three: adding the conditions up over all
values of the others leaves the same conditions for p of the three. So of many outputs, three at a
time are bounded, each output as often as any other, and the mean of it all bounds the whole.

*What is alike.* Exchange outputs, and turn signs, so that the differences as a whole stay the same;
p averaged over all such changes meets the conditions too, and has the same mean square. So points
that go over into each other get one probability together, and a window may be as much larger.

It says more than a pair or a chain does where two outputs change together.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from fractions import Fraction
from functools import lru_cache
from itertools import permutations, product
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

__all__ = ["MOST_OUTPUTS", "least_noise"]

MOST_OUTPUTS = 24
TOGETHER, MOST_PROGRAMS = 3, 3
"""Outputs of one program, and how many different ones are solved."""
MOST_POINTS, MOST_ORBITS = 60_000, 2_000
LARGEST = 1_600
MOST_DIFFERENCES = 40
Steps = tuple[tuple[int, ...], ...]
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
    steps = steps[:, steps.any(axis=0)]
    size = steps.shape[1]
    if size <= TOGETHER:
        return _least(_distinct(steps), epsilon)
    step = size // TOGETHER
    parts = Counter(
        _distinct(steps[:, [(at + step * turn) % size for turn in range(TOGETHER)]])
        for at in range(size)
    )
    if len(parts) > MOST_PROGRAMS:
        return None
    found = [(count, _least(part, epsilon)) for part, count in parts.items()]
    total = sum(count * (square or 0.0) for count, square in found)
    return total / TOGETHER if total else None  # each output is in so many of the parts


def _distinct(steps: NDArray[np.int64]) -> Steps:
    """Return the differences, in order, each once and none that is 0; outputs put in order, too."""
    turned = ({tuple(row) for row in steps[:, list(order)].tolist() if any(row)}
              for order in permutations(range(steps.shape[1])))  # fmt: skip
    return min(tuple(sorted(rows)) for rows in turned)


@lru_cache(maxsize=64)
def _least(found: Steps, epsilon: float) -> float | None:
    """Return the least mean square of a few outputs together, by one program."""
    if len(found) > MOST_DIFFERENCES:
        return None
    steps = np.array(found, dtype=np.int64)
    size, longest = steps.shape[1], int(abs(steps).max())
    images = _images(found)
    radius = _radius(size, epsilon, longest, len(images))
    if radius < 2 * longest:
        return None
    side = np.arange(-radius, radius + 1)
    points = np.array(list(product(side, repeat=size)))
    powers = len(side) ** np.arange(size)[::-1]
    first = np.min(
        [(points[:, order] * signs + radius) @ powers for order, signs in images], axis=0
    )
    own, orbit, many = np.unique(first, return_inverse=True, return_counts=True)
    rows, columns, values, height = _conditions(
        points[own], steps, radius, math.exp(epsilon), orbit, many
    )
    squares = np.append((points[own] ** 2).sum(axis=1), float((radius + 1) ** 2))
    return _solved(squares, rows, columns, values, height)


def _images(steps: Steps) -> list[tuple[list[int], NDArray[np.int64]]]:
    """Return the orders and signs of the outputs under which the differences stay the same."""
    size, whole = len(steps[0]), set(steps)
    return [
        (list(order), np.array(signs))
        for order in permutations(range(size))
        for signs in product((1, -1), repeat=size)
        if {tuple(s * row[at] for s, at in zip(signs, order, strict=True)) for row in steps}
        == whole
    ]


def _signed(differences: Iterable[tuple[Fraction, ...]]) -> NDArray[np.int64] | None:
    """Return the differences with both signs; None where they are no few whole numbers."""
    found = set()
    for item in differences:
        if len(item) > MOST_OUTPUTS or any(not _small(value) for value in item):
            return None
        found.add(tuple(map(int, item)))
        found.add(tuple(-int(value) for value in item))
    found -= {item for item in found if not any(item)}
    if not found or len({len(item) for item in found}) > 1:
        return None
    return np.array(sorted(found), dtype=np.int64)


def _small(value: Fraction) -> bool:
    return value.denominator == 1 and abs(value) <= LARGEST


def _radius(size: int, epsilon: float, longest: int, alike: int) -> int:
    """Return how far the window reaches: some widths of the noise, as far as there is room."""
    wanted = math.ceil(REACH * longest / epsilon)
    side = int(math.pow(min(MOST_POINTS, MOST_ORBITS * alike), 1 / size))
    return min(wanted, (side - 1) // 2)


def _conditions(  # the points, what they are alike to, and what holds for them
    points: NDArray[np.int64], steps: NDArray[np.int64], radius: int, factor: float,
    orbit: NDArray[np.int64], many: NDArray[np.int64],
) -> tuple[Any, Any, Any, int]:  # fmt: skip
    """Return the rows p(z) - e^epsilon p(z + d) <= 0, where both lie in the window: a z of each
    orbit will do. A column is the probability of an orbit, which has `many` points.
    """
    powers = (2 * radius + 1) ** np.arange(points.shape[1])[::-1]
    pairs: set[tuple[int, int]] = set()
    for step in steps:
        moved = points + step
        inside = np.flatnonzero((abs(moved) <= radius).all(axis=1))
        ends = orbit[(moved[inside] + radius) @ powers]
        pairs.update(zip(inside.tolist(), ends.tolist(), strict=True))
    one, two = np.array(sorted(pairs), dtype=np.int64).T
    row = np.arange(len(one))
    rows, columns = np.concatenate([row, row]), np.concatenate([one, two])
    values = np.concatenate([1 / many[one], -factor / many[two]])
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
