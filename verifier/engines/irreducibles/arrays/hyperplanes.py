"""Hyperplanes spanned by vectors, compiled: int64 arithmetic that gives up before it overflows."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from blowproof.verifier.exact.compiled import compiled
from blowproof.verifier.limits.limit import whole_limit

__all__ = ["all_normals", "some_normals"]

LARGEST = whole_limit(__name__, "LARGEST")


def all_normals(
    vectors: NDArray[np.int64], most: int, most_steps: int
) -> tuple[NDArray[np.int64], bool]:
    """A primitive normal of each hyperplane that the vectors span, and whether these are all."""
    dots, space = _levels(vectors)
    normals = np.zeros((most, vectors.shape[1]), dtype=np.int64)
    following = np.zeros(vectors.shape[1] + 1, dtype=np.int64)
    found = _all_normals(dots, space, normals, following, most_steps)
    return normals[: abs(found)], found >= 0


def some_normals(vectors: NDArray[np.int64], orders: NDArray[np.int64]) -> NDArray[np.int64]:
    """A normal of the hyperplane that vectors span in each order, but for those that overflow."""
    dots, space = _levels(vectors)
    normals = np.zeros((len(orders), vectors.shape[1]), dtype=np.int64)
    return normals[: _some_normals(dots, space, normals, orders)]


def _levels(vectors: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Room for a flat of each rank, the empty one filled in: `dots` and `space` of `_all_normals`.

    (Arrays are made here because allocating them in compiled code doubles the time to compile.)
    """
    count, rank = vectors.shape
    dots = np.zeros((rank + 1, rank, count), dtype=np.int64)
    space = np.zeros((rank + 1, rank, rank), dtype=np.int64)
    dots[0] = vectors.T
    space[0] = np.eye(rank, dtype=np.int64)
    return dots, space


@compiled
def _all_normals(
    dots: NDArray[np.int64],
    space: NDArray[np.int64],
    normals: NDArray[np.int64],
    following: NDArray[np.int64],
    most_steps: int,
) -> int:
    """The number of normals, negative (at least by one) if they are not all.

    Depth-first over the flats of the vectors. A flat is held as vectors that span what is
    orthogonal to it (`space`) and their products with all vectors (`dots`); a vector lies in the
    flat iff its column of dots is zero. Each flat is reached once, by its lexicographically first
    basis: an extension by e is skipped if it pulls in an earlier vector.
    """
    rank, count = dots.shape[1], dots.shape[2]
    found, steps, depth = 0, 0, 0
    while depth >= 0:
        if depth == rank - 1:
            if found == len(normals):
                return -found
            _copy(space[depth, 0], normals[found])
            found += 1
            depth -= 1
            continue
        e = following[depth]
        if e == count:
            depth -= 1
            continue
        following[depth] += 1
        steps += 1
        step = _extend(dots, space, depth, e) if steps <= most_steps else -1
        if step < 0:
            return -max(found, 1)
        if step > 0 and _first_basis(dots, depth, e):
            depth += 1
            following[depth] = e + 1
    return found


@compiled
def _extend(dots: NDArray[np.int64], space: NDArray[np.int64], depth: int, e: int) -> int:
    """Fill level depth + 1 with the flat and e: 1 if done, 0 if e lies in it, -1 on overflow."""
    left = dots.shape[1] - depth
    pivot = -1
    for i in range(left):
        if dots[depth, i, e] != 0:
            pivot = i
            break
    if pivot < 0:
        return 0
    row = 0
    for i in range(left):
        if i == pivot:
            continue
        a, b = dots[depth, pivot, e], dots[depth, i, e]
        divisor = 0
        for x in range(space.shape[2]):
            value = a * space[depth, i, x] - b * space[depth, pivot, x]
            space[depth + 1, row, x] = value
            divisor = _gcd(divisor, abs(value))
        largest = 0
        for x in range(space.shape[2]):
            space[depth + 1, row, x] //= divisor
            largest = max(largest, abs(space[depth + 1, row, x]))
        for x in range(dots.shape[2]):
            value = (a * dots[depth, i, x] - b * dots[depth, pivot, x]) // divisor
            dots[depth + 1, row, x] = value
            largest = max(largest, abs(value))
        if largest > LARGEST:
            return -1
        row += 1
    return 1


@compiled
def _first_basis(dots: NDArray[np.int64], depth: int, e: int) -> bool:
    """Whether no vector before e lies in the extended flat without lying in the flat."""
    left = dots.shape[1] - depth
    for x in range(e):
        if _is_zero(dots[depth + 1], left - 1, x) and not _is_zero(dots[depth], left, x):
            return False
    return True


@compiled
def _is_zero(dots: NDArray[np.int64], rows: int, x: int) -> bool:
    for i in range(rows):  # noqa: SIM110 (numba compiles no generators)
        if dots[i, x] != 0:
            return False
    return True


@compiled
def _gcd(a: int, b: int) -> int:
    while b:
        a, b = b, a % b
    return a


@compiled
def _some_normals(
    dots: NDArray[np.int64],
    space: NDArray[np.int64],
    normals: NDArray[np.int64],
    orders: NDArray[np.int64],
) -> int:
    """The number of normals."""
    rank, found = dots.shape[1], 0
    for sample in range(len(orders)):
        depth, i = 0, 0
        while 0 <= depth < rank - 1 and i < orders.shape[1]:
            step = _extend(dots, space, depth, orders[sample, i])
            depth = depth + step if step >= 0 else -1
            i += 1
        if depth == rank - 1:
            _copy(space[depth, 0], normals[found])
            found += 1
    return found


@compiled
def _copy(source: NDArray[np.int64], target: NDArray[np.int64]) -> None:
    for i in range(len(source)):
        target[i] = source[i]
