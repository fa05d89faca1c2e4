"""The integer kernel of a matrix, with a basis that is triangular on some coordinates.

A lattice of rank d in Z^n is given by the columns of an n x d matrix B. `Lattice.pivots` are d
coordinates on which B is lower triangular: coordinate pivots[k] sees the columns 0..k alone, and
column k by the positive step `steps[k]`. A table's marginals allow steps of 1 throughout (the cells
that no marginal's corner determines can be chosen freely); then the pivots are free coordinates,
and the others follow from them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import gcd

import numpy as np
from numpy.typing import NDArray

from blowproof.verifier.limits.limit import whole_limit

__all__ = ["Lattice", "integer_kernel"]

LARGEST = whole_limit(__name__, "LARGEST")

Columns = list[list[int]]


@dataclass(frozen=True)
class Lattice:
    """All B t with t in Z^d, and d coordinates on which B is triangular."""

    basis: NDArray[np.int64]
    pivots: tuple[int, ...]
    steps: tuple[int, ...]

    @property
    def size(self) -> int:
        """The number n of coordinates."""
        return int(self.basis.shape[0])

    @property
    def rank(self) -> int:
        """The rank d."""
        return int(self.basis.shape[1])


def integer_kernel(rows: Sequence[Sequence[int]], size: int) -> Lattice:
    """Return {z in Z^size : rows z = 0}; OverflowError where its basis has huge entries.

    >>> lattice = integer_kernel([(1, 1, 1)], 3)
    >>> lattice.rank, lattice.steps, (lattice.basis.sum(axis=0) == 0).all()
    (2, (1, 1), np.True_)
    """
    columns = _kernel_columns(rows, size)
    pivots, steps = _make_triangular(columns, size)
    if any(abs(x) > LARGEST for column in columns for x in column):
        raise OverflowError("the kernel's basis has entries beyond 2**20")
    basis = np.array(columns, dtype=np.int64).reshape(len(columns), size).T
    return Lattice(np.ascontiguousarray(basis), tuple(pivots), tuple(steps))


def _kernel_columns(rows: Sequence[Sequence[int]], size: int) -> Columns:
    """Column operations on the matrix stacked on the identity: what ends at zero is the kernel."""
    height = len(rows)
    columns = [
        [*(row[j] for row in rows), *(int(i == j) for i in range(size))] for j in range(size)
    ]
    done = 0
    for place in range(height):
        done += _reduce_row(columns, place, done)
    return [column[height:] for column in columns[done:]]


def _reduce_row(columns: Columns, place: int, start: int) -> int:
    """Make a row zero in the columns after `start`; return whether column `start` keeps a pivot."""
    while True:
        nonzero = [j for j in range(start, len(columns)) if columns[j][place]]
        if not nonzero:
            return 0
        best = min(nonzero, key=lambda j: (abs(columns[j][place]), sum(map(abs, columns[j]))))
        columns[start], columns[best] = columns[best], columns[start]
        for j in range(start + 1, len(columns)):
            _subtract(columns, j, start, columns[j][place] // columns[start][place])
        if not any(columns[j][place] for j in range(start + 1, len(columns))):
            return 1


def _subtract(columns: Columns, j: int, k: int, times: int) -> None:
    if times:
        columns[j] = [a - times * b for a, b in zip(columns[j], columns[k], strict=True)]


def _make_triangular(columns: Columns, size: int) -> tuple[list[int], list[int]]:
    """Operate on the columns, in place, until pivots are found for all; return pivots and steps.

    Coordinates with the smallest possible step come first.
    """
    pivots: list[int] = []
    steps: list[int] = []
    for k in range(len(columns)):
        free = range(k, len(columns))
        steps_of = {i: gcd(*(columns[j][i] for j in free)) for i in range(size) if i not in pivots}
        pivot = min((step, i) for i, step in steps_of.items() if step)[1]
        _reduce_row(columns, pivot, k)
        if columns[k][pivot] < 0:
            columns[k] = [-x for x in columns[k]]
        step = columns[k][pivot]
        for j in range(k):
            _subtract(columns, j, k, columns[j][pivot] // step)
        pivots.append(pivot)
        steps.append(step)
    return pivots, steps
