"""How much a frame can be worth: its blocks are vectors that sum to 0, so their volume is bounded.

*Statement.* Let B have independent columns of whole numbers, d >= 2 of them, each of sum 0, and a
row for each of N classes. Let K be the whole vectors in the span of the columns, and P the
orthogonal projection onto the span. A frame is a cut of the classes into d blocks such that the
vectors of K that sum to 0 on each block are the multiples of one primitive k (`affine_frames`). Let
f(n) be at least |P 1_T|^2 for every set T of n classes. Let s(n) be the most that (sum of |k_c|)^2
/ |k|^2 can be for n numbers of sum 0, or that (sum of prefix sums)^2 / |k|^2 can be. Then the sum
of |k_c|, or the sum of all moves where everything moves from each class to the next one, block by
block, in descending order of k, has a square of at most

    det(B'B) (d / (d - 1))^(d - 1) f(n_1) ... f(n_d) / (f(n_1) + ... + f(n_d))
        times (s(n_1) + ... + s(n_d))

for some positive n_1, ..., n_d of sum N: the blocks' sizes. It is s(n) = n for even n, and n - 1 /
n for odd n, or s(n) = n (n^2 - 1) / 12.

*Proof.* Let q_T be (B'B)^(-1/2) B' 1_T: the products of these are those of the P 1_T, and over the
blocks of a frame they add up to 0, as B' 1 = 0. Let m be the vector of the minors of the d - 1 rows
1_T' B, T being all blocks but one: m v = det(rows, v'). It is whole, not 0, and orthogonal to the
rows. So B m is a vector of K that sums to 0 on each block, a whole multiple of k, and |k| <= |B m|.
With v = (B'B)^(1/2) w, m v is the root of det(B'B) times det(q_T, w), so that |B m|^2 = det(B'B)
G, where G is the determinant of the products of the d - 1 vectors q_T.

Let a_j be the |q_T|^2 of all d blocks, none of which is 0 if G > 0. In coordinates of their span,
the determinant of the sum of all q_j q_j' / a_j is, by Cauchy and Binet, the sum over the ways to
leave out one of the d of G times the product of the others' 1 / a_j (whichever is left out, the
determinant of products is G, for the vectors sum to 0): G (sum of a_j) / (product of a_j). Its
trace is d, it is not negative, and there are d - 1 dimensions: it is at most (d / (d - 1))^(d - 1).
So G is at most that times product over sum, which grows with each a_j, hence with a_j = f(n_j).

The sum of |k_c| over a block is e'k for some e of 1 and -1, and so with the mean of e taken from
it: at most |k_T| times the root of n - (sum e)^2 / n, and for odd n the sum of e is not 0. The
prefix sums of k in descending order add up to the sum of ((n + 1) / 2 - i) k_i, i = 1, ..., n, at
most |k_T| times the root of the sum of the squares of these factors, n (n^2 - 1) / 12. Add up over
the blocks, by Cauchy: |k|^2 is the sum of all |k_T|^2. QED.

*Sets of classes.* f(1), f(2) and f(3) are found by looking at all sets. For n >= 4, the |P 1_S|^2
of the n sets S of n - 1 members of T count each product of two different members n - 2 times, and
each square of one n - 1 times. So |P 1_T|^2 is the sum of these, less the squares of the members,
over n - 2: at most n f(n - 1), less the n least squares, over n - 2. It is besides at most n (N -
n) / N, the square of what is left of 1_T without its mean; and it is that of the set of all others.

*Queries that classes determine.* A row F of whole numbers changes by F k, of size |F B m| at the
most. With q = (B'B)^(-1/2) B'F, of size |P F|, that is the root of det(B'B) times det(q_T, q), so
that its square is det(B'B) |P F|^2 times the determinant of the products of what is left of the d -
1 vectors q_T without their parts along q. These products are those of the R 1_T, R being P less P F
(P F)' / |P F|^2: the projection onto the vectors of the span on which F is 0. What is left of all d
blocks adds up to 0, so that all said above of P holds for R, too. Classes with R 1_c = 0 make no
difference, and are left out: where F counts one class, that class; each k on which F is 0 sums to 0
on the others. A block of such classes alone has R 1_T = 0, and F k is 0 then. |P F|^2 is F Q F' /
det(B'B), Q being B times the adjugate of B'B times B'.

For the three two-way margins of 3 x 3 x 3 cells it says 9,934 moves, where an ellipsoid round the
moves says 50,543 and 7,649 are known; or, where each cell is one value, a change of 10,000 (7,290).
Where d is about the rank of the signatures or more, the ellipsoid is the better one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice
from math import floor, isqrt, prod

import numpy as np
from numpy.typing import NDArray

from blowproof.models.base.clock import now
from blowproof.verifier.exact.coordinates import inverse
from blowproof.verifier.limits.limit import whole_limit

__all__ = ["change_in_frames", "moves_in_frames", "outputs_in_frames", "squares_of_sets"]

MOST_CLASSES = whole_limit(__name__, "MOST_CLASSES")
MOST_SIZES = whole_limit(__name__, "MOST_SIZES")

Basis = Sequence[Sequence[int]]
"""Vectors of K, a number for each class."""


def moves_in_frames(basis: Basis, *, end: float) -> int | None:
    """Return how many moves a frame has at the most; None where that takes too long.

    >>> moves_in_frames([(1, -2, 1, 0), (0, 1, -2, 1)], end=float("inf"))
    5
    """
    return _most(basis, lambda size: Fraction(size * (size * size - 1), 12), end)


def change_in_frames(basis: Basis, *, end: float) -> int | None:
    """Return what the |k_c| of a frame add up to at the most; None as above.

    >>> change_in_frames([(1, -2, 1, 0), (0, 1, -2, 1)], end=float("inf"))
    8
    """
    return _most(basis, lambda size: size - Fraction(size % 2, size), end)


def outputs_in_frames(
    basis: Basis, rows: Sequence[Sequence[int]], *, end: float
) -> list[int] | None:
    """Return what each row changes by at the most, over a frame's vector; None as above.

    >>> outputs_in_frames([(1, -2, 1, 0), (0, 1, -2, 1)], [(1, 0, 0, 0)], end=float("inf"))
    [2]
    """
    if len(basis[0]) > MOST_CLASSES or len(basis) < 2:
        return None
    products, det = _products(basis)
    found = []
    for row in rows:
        along = products @ np.array(row, dtype=object)
        own = sum(int(x) * y for x, y in zip(along, row, strict=True))
        square: Fraction | None = Fraction(0)
        if own:
            left = own * products - np.outer(along, along)
            kept = np.flatnonzero(left.diagonal())
            shape = _Sets(left[np.ix_(kept, kept)], det * own)
            square = shape.largest(len(basis), lambda sizes: Fraction(1), end)
        if square is None:
            return None
        found.append(isqrt(floor(own * square)))  # own is |P F|^2 times det(B'B)
    return found


def squares_of_sets(basis: Basis) -> tuple[list[int], int]:
    """Return f(n) for n = 0, ..., N, multiplied by det(B'B) and rounded down; and det(B'B).

    >>> squares_of_sets([(1, -1, 0), (0, 1, -1)])
    ([0, 2, 2, 0], 3)
    """
    found = _Sets(*_products(basis))
    return found.squares, found.unit


@dataclass(frozen=True)
class _Sets:
    """A projection (times `unit`) of vectors that add up to 0, and how long sums of some are."""

    products: NDArray[np.object_]
    unit: int

    @property
    def squares(self) -> list[int]:
        """f(n) for n = 0, ..., N, multiplied by the unit and rounded down."""
        products, count = self.products, len(self.products)
        own = products.diagonal()
        least = sorted(own.tolist())
        found = [0, least[-1], *[0] * (count - 1)]
        for one in range(count):
            for two in range(one):
                both = own[one] + own[two] + 2 * products[one, two]
                found[2] = max(found[2], both)
                third = own + 2 * (products[one] + products[two])
                if two:
                    found[3] = max(found[3], both + max(third[:two]))
        for size in range(4, count + 1):
            smaller = (size * found[size - 1] - sum(least[:size])) // (size - 2)
            found[size] = min(smaller, self.unit * size * (count - size) // count)
        return [min(pair) for pair in zip(found, reversed(found), strict=True)]

    def largest(
        self, blocks: int, shape: Callable[[Sequence[int]], Fraction], end: float
    ) -> Fraction | None:
        """Return the largest bound over all sizes of so many blocks, without det(B'B).

        `shape` of the sizes stands in place of the sum of the s. None where that takes too long.
        """
        count = len(self.products)
        every = list(islice(_sizes(count, blocks, count), MOST_SIZES + 1))
        if len(every) > MOST_SIZES or now() > end:
            return None
        squares, most = self.squares, Fraction(0)
        for sizes in every:
            parts = [squares[size] for size in sizes]
            if all(parts):
                volume = Fraction(prod(parts), self.unit ** (blocks - 1) * sum(parts))
                most = max(most, volume * shape(sizes))
        return Fraction(blocks, blocks - 1) ** (blocks - 1) * most


def _products(basis: Basis) -> tuple[NDArray[np.object_], int]:
    """Return the products of the P 1_c, multiplied by det(B'B); and det(B'B)."""
    columns = np.array(basis, dtype=object).T
    adjugate, det = inverse(columns.T @ columns)
    found: NDArray[np.object_] = columns @ adjugate @ columns.T
    return found, det


def _most(basis: Basis, shape: Callable[[int], Fraction], end: float) -> int | None:
    """Return the root of the largest bound, rounded down: over all sizes of the blocks."""
    blocks = len(basis)
    if len(basis[0]) > MOST_CLASSES or blocks < 2:
        return None
    sets = _Sets(*_products(basis))
    square = sets.largest(blocks, lambda sizes: sum(map(shape, sizes), Fraction(0)), end)
    return None if square is None else isqrt(floor(sets.unit * square))


def _sizes(total: int, parts: int, largest: int) -> Iterator[tuple[int, ...]]:
    """Yield positive numbers, so many, that add up to the total; the largest first."""
    if not parts:
        yield ()
        return
    for first in range(min(largest, total - parts + 1), -(-total // parts) - 1, -1):
        for others in _sizes(total - first, parts - 1, first):
            yield (first, *others)
