"""All cuts of some classes into so many blocks of two or more, compiled: the longest circuit.

A class has a row of whole numbers, one for each of d dependencies. For a cut into d blocks, let m
be a vector with which the sums of rows over each block have the product 0, if it is unique up to
multiples, and let k be its products with the rows, without a common divisor: the frame's vector
(`theorems/affine_frames`), where the dependencies are independent. What is looked for is the
largest sum of prefix sums of the k_c of a block, the largest first, over all blocks.

Cuts are gone through in the order of the places that classes have (each class in a block that
another one before it is in, or in the next one), from wherever the arrays of `Cuts` stand.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

import numpy as np
from numpy.typing import NDArray

from blowproof.verifier.exact.compiled import compiled
from blowproof.verifier.limits.limit import whole_limit

__all__ = ["Cuts"]

SAFE = whole_limit(__name__, "SAFE")

Numbers = NDArray[np.int64]


@dataclass(frozen=True)
class Cuts:
    """The cuts of these rows, of which some have been gone through.

    `place`: the class to be moved on next (-1: all cuts have been seen), the largest sum so far,
    and how many cuts were seen.
    """

    rows: Numbers
    blocks: Numbers
    used: Numbers
    sizes: Numbers
    sums: Numbers
    place: Numbers

    @staticmethod
    def of(basis: Sequence[Sequence[int]]) -> Cuts | None:
        """Return them for these dependencies, none gone through; None where they are too large.

        Every minor of sums over blocks is at most the product of all columns' sums of sizes.

        >>> cuts = Cuts.of([(1, -2, 1, 0), (0, 1, -2, 1)])
        >>> cuts.go_on(2), cuts.go_on(2), cuts.longest, cuts.seen
        (False, True, 4, 3)
        """
        count, several = len(basis[0]), len(basis)
        sizes = [sum(map(abs, vector)) for vector in basis]
        minor = prod(sizes)
        if max(2 * minor * minor, minor * sum(sizes) * count * count) >= SAFE:
            return None
        rows = np.ascontiguousarray(np.array(basis, dtype=np.int64).T)
        return Cuts(
            rows,
            np.full(count, -1, dtype=np.int64),
            np.zeros(count + 1, dtype=np.int64),
            np.zeros(several, dtype=np.int64),
            np.zeros((several, several), dtype=np.int64),
            np.zeros(3, dtype=np.int64),
        )

    @property
    def longest(self) -> int:
        """The largest sum of prefix sums so far."""
        return int(self.place[1])

    @property
    def seen(self) -> int:
        """How many cuts were gone through."""
        return int(self.place[2])

    def go_on(self, most: int) -> bool:
        """Go through so many cuts, or all that are left; return whether none is left."""
        _go_on(self.rows, self.blocks, self.used, self.sizes, self.sums, self.place, most)
        return bool(self.place[0] < 0)


@compiled
def _go_on(
    rows: Numbers,
    blocks: Numbers,
    used: Numbers,
    sizes: Numbers,
    sums: Numbers,
    state: Numbers,
    most: int,
) -> None:
    """Go through the next cuts: see `Cuts`.

    `blocks`: of each class, -1 if none; `used[c]`: how many blocks have a class before c.
    """
    count, several = rows.shape
    values = np.zeros(count, dtype=np.int64)
    minors = np.zeros((several, several), dtype=np.int64)
    free = np.zeros(several, dtype=np.int64)
    place, end = state[0], state[2] + most
    while place >= 0 and state[2] < end:
        block = blocks[place]
        if block >= 0:
            sizes[block] -= 1
            for j in range(several):
                sums[block, j] -= rows[place, j]
        block += 1
        if block > min(used[place], several - 1):
            blocks[place] = -1
            place -= 1
            continue
        blocks[place] = block
        sizes[block] += 1
        for j in range(several):
            sums[block, j] += rows[place, j]
        wanted = 0
        for b in range(several):
            wanted += max(0, 2 - sizes[b])
        if wanted > count - 1 - place:
            continue
        if place < count - 1:
            used[place + 1] = max(used[place], block + 1)
            place += 1
            continue
        state[2] += 1
        for i in range(several - 1):
            for j in range(several):
                minors[i, j] = sums[i + 1, j]
        if _solved(minors, free):
            state[1] = max(state[1], _moves(rows, blocks, free, values, state[1]))
    state[0] = place


@compiled
def _solved(left: Numbers, found: Numbers) -> bool:
    """Put into `found` what all rows of `left` but the last have the product 0 with, if it is
    unique; by fraction-free elimination, where all numbers are minors.
    """
    several = len(found)
    before = 1
    found[:] = -1  # the row of a column's pivot
    for row in range(several - 1):
        column = _pivot(left, found, row)
        if column < 0:
            return False
        own = left[row, column]
        for i in range(several - 1):
            if i != row:
                factor = left[i, column]
                for j in range(several):
                    left[i, j] = (own * left[i, j] - factor * left[row, j]) // before
        before = own
        found[column] = row
    last = found.argmin()
    for j in range(several):
        if j != last:
            found[j] = -left[found[j], last]
    found[last] = before
    return True


@compiled
def _pivot(left: Numbers, found: Numbers, row: int) -> int:
    """The first column without a pivot in which a row from this one on is not 0, brought here; -1
    if there is none.
    """
    for j in range(len(found)):
        if found[j] < 0:
            for i in range(row, len(found) - 1):
                if left[i, j] != 0:
                    for k in range(len(found) if i > row else 0):
                        left[row, k], left[i, k] = left[i, k], left[row, k]
                    return j
    return -1


@compiled
def _divisor(a: int, b: int) -> int:
    """The greatest common divisor."""
    a, b = abs(a), abs(b)
    while b:
        a, b = b, a % b
    return a


@compiled
def _moves(rows: Numbers, blocks: Numbers, found: Numbers, values: Numbers, least: int) -> int:
    """The sum of all prefix sums, block by block, of the products with this vector, divided by
    their common divisor; 0 if it is not above `least`.

    Where n values add up to 0, the largest first, both the prefix sums and half of all differences
    of two of them add up to (n - 1) v_1 + (n - 2) v_2 + ... + v_(n - 1).
    """
    count, several = rows.shape
    total = 0
    for c in range(count):
        value = 0
        for j in range(several):
            value += rows[c, j] * found[j]
        values[c] = value
    for one in range(count):
        for two in range(one):
            if blocks[one] == blocks[two]:
                total += abs(values[one] - values[two])
    total //= 2
    if total <= least:
        return 0
    common = 0
    for c in range(count):
        common = _divisor(common, values[c])
    return total // common
