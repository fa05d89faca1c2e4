"""How long a circuit of moves can be: an ellipsoid round all effects bounds their determinants.

*Statement.* Let d_0, ..., d_m be vectors of whole numbers in r dimensions, m <= r, with positive
factors u_0, ..., u_m that have no common divisor, sum u_i d_i = 0, and all other dependencies be
multiples of this one. Let H be a positive definite matrix, and d' H d <= q for every d that may
occur. Then (sum u_i)^2 <= (r + 1) (q (r + 1) / r)^r / det H, if r of the vectors that may occur
are independent.

*Proof* (after Diaconis, Graham and Sturmfels, who take H = 1). If m < r, complete the vectors by
others that may occur, with factors 0, to r + 1 of rank r, the columns of C. The factors u_i are the
r x r minors of C, up to a common factor, which is a whole number, as the u_i have no common divisor
and minors are whole. By Cauchy's inequality and Cauchy and Binet's formula, the square of the sum
of the minors is at most (r + 1) det C C'. det H det C C' is the product of the eigenvalues of R C
C' R', R being a root of H; they are not negative, and their mean is at most the sum of the d_i' H
d_i over r, at most q (r + 1) / r. QED

The smaller the ellipsoid d' H d <= q, the better the bound. The smallest one round all differences
of points is a D-optimal design (Kiefer and Wolfowitz): give each difference a weight, take the
inverse of the weighted sum of d d' for H, multiply each weight by d' H d / r, and so on. Where that
stops plays no part for what is right: H is rounded to whole numbers, and q, det H and whether H is
positive definite are found in whole numbers.

For margins of 4 x 4 and 3 x 5 cells the bound is 67 and 58 (circuits of 54 and 43 are known), for
two tables of 2 x 4 and 2 x 5 that share an attribute 10,590 (3,378); with H diagonal, at best, 268,
237 and 209,900.
"""

from __future__ import annotations

from fractions import Fraction
from math import floor, isqrt

import numpy as np
from numpy.typing import NDArray

from blowproof.models.base.clock import Pace, glance
from blowproof.verifier.limits.limit import real_limit, whole_limit

__all__ = ["ellipsoid", "longest_circuit"]

MOST_PRODUCTS = whole_limit(__name__, "MOST_PRODUCTS")
MOST_DIMENSIONS = whole_limit(__name__, "MOST_DIMENSIONS")
ROUNDS = whole_limit(__name__, "ROUNDS")
PAIR = real_limit(__name__, "PAIR")
FINEST = whole_limit(__name__, "FINEST")
SAFE = whole_limit(__name__, "SAFE")

Matrix = NDArray[np.int64]
Floats = NDArray[np.float64]


def longest_circuit(points: Matrix, *, end: float | None = None) -> int | None:
    """Return a bound on circuits over the differences of points; None where there are too many.

    It is coarser where the ellipsoid is taken as it is at `end` (a time of `now`).

    The differences must span the space of the coordinates.

    >>> longest_circuit(np.array([[0, 0], [1, 0], [0, 1], [1, 1]]))
    5
    """
    rank = points.shape[1]
    shape = ellipsoid(points, end=end)
    farthest = None if shape is None else _farthest(points, shape)
    det = None if shape is None else determinant(shape.tolist())
    if not farthest or det is None:
        return None
    inside = (rank + 1) * Fraction(farthest * (rank + 1), rank) ** rank / det
    return max(2, isqrt(floor(inside)))


def ellipsoid(points: Matrix, *, end: float | None = None) -> Matrix | None:
    """Return H for a small ellipsoid round the differences of points, in whole numbers.

    None where they are too many, or too large for it. At `end` (a time of `now`) it is taken as it
    is.
    """
    count, rank = points.shape
    if not 0 < rank <= MOST_DIMENSIONS or count * count * rank > MOST_PRODUCTS:
        return None
    if count < 2 or int(np.abs(points).max()) ** 2 * rank >= SAFE // FINEST:
        return None  # beyond what floats see, or sums of products may not fit
    return _whole(_smallest(points.astype(np.float64), Pace(end)))


def _smallest(points: Floats, pace: Pace) -> Floats:
    """Return H for a small ellipsoid round the differences of points."""
    count, rank = points.shape
    weights = np.ones((count, count)) - np.eye(count)
    weights /= weights.sum()
    shape: Floats = np.eye(rank)
    for rounds in range(ROUNDS):
        late = pace.over(count * count * PAIR) or glance()
        if rounds and late:
            break  # any ellipsoid will do
        # the weighted sum of (p - q)(p - q)' over both orders of each pair
        sums = np.diag(weights.sum(axis=1)) - weights
        inverse = np.linalg.pinv(2 * points.T @ sums @ points, hermitian=True)
        shape = inverse.astype(np.float64)
        lengths = _squares(points, shape)
        weights *= lengths / rank
        weights /= weights.sum()
    return shape


def _squares(points: Floats, shape: Floats) -> Floats:
    """Return d' H d for the difference d of every two points."""
    products = points @ shape @ points.T
    own = np.diag(products)
    squares: Floats = np.maximum(own[:, None] + own - 2 * products, 0.0)
    return squares


def _whole(shape: Floats) -> Matrix | None:
    """Return a symmetric matrix of whole numbers that is nearly a multiple of H."""
    largest = float(np.abs(shape).max(initial=0.0))
    if not 0 < largest < np.inf:
        return None
    rounded = np.rint((shape + shape.T) * (FINEST / 2 / largest))
    whole: Matrix = rounded.astype(np.int64)
    return whole


def _farthest(points: Matrix, shape: Matrix) -> int | None:
    """Return the largest d' H d of a difference of two points; None if it might not fit."""
    reach = int(np.abs(points).max()) * points.shape[1]
    if 4 * reach * reach * int(np.abs(shape).max()) >= SAFE:
        return None
    products = points @ shape @ points.T
    own = np.diag(products)
    return int((own[:, None] + own - 2 * products).max())


def determinant(rows: list[list[int]]) -> int | None:
    """Return the determinant of a symmetric matrix; None unless it is positive definite.

    By fraction-free elimination, whose pivots are the leading minors: all are positive iff the
    matrix is positive definite (Sylvester).

    >>> determinant([[2, 1], [1, 2]]), determinant([[1, 2], [2, 1]])
    (3, None)
    """
    left, before = [list(row) for row in rows], 1
    for place, row in enumerate(left):
        pivot = row[place]
        if pivot <= 0:
            return None
        for other in left[place + 1 :]:
            factor = other[place]
            other[place:] = [
                (pivot * x - factor * y) // before
                for x, y in zip(other[place:], row[place:], strict=True)
            ]
        before = pivot
    return before
