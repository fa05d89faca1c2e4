"""Exact linear algebra for the claims about averaging and consistency: fractions throughout."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

__all__ = ["Matrix", "Row", "kernel_projection", "rank", "solve"]

Row = list[Fraction]
Matrix = list[Row]


def _reduced(rows: Sequence[Sequence[Fraction | int]]) -> tuple[Matrix, list[int]]:
    """Return the reduced row echelon form, and the columns of its pivots."""
    left = [[Fraction(entry) for entry in row] for row in rows]
    pivots: list[int] = []
    for column in range(len(left[0]) if left else 0):
        place = len(pivots)
        found = next((i for i in range(place, len(left)) if left[i][column]), None)
        if found is None:
            continue
        left[place], left[found] = left[found], left[place]
        lead = left[place][column]
        left[place] = [entry / lead for entry in left[place]]
        for i, row in enumerate(left):
            if i != place and row[column]:
                times = row[column]
                left[i] = [a - times * b for a, b in zip(row, left[place], strict=True)]
        pivots.append(column)
    return left, pivots


def rank(rows: Sequence[Sequence[Fraction | int]]) -> int:
    """Return the rank.

    >>> rank([[1, 1, 0], [0, 1, 1], [1, 2, 1]])
    2
    """
    return len(_reduced(rows)[1])


def solve(rows: Sequence[Sequence[Fraction | int]], right: Sequence[Fraction | int]) -> Row | None:
    """Return a solution x of rows x = right, free unknowns 0; None if there is none."""
    width = len(rows[0])
    left, pivots = _reduced([[*row, end] for row, end in zip(rows, right, strict=True)])
    if width in pivots:
        return None
    found = [Fraction(0)] * width
    for place, column in enumerate(pivots):
        found[column] = left[place][width]
    return found


def kernel_projection(rows: Sequence[Sequence[int]], width: int) -> Matrix:
    """Return the matrix that takes a vector to the nearest one which all rows send to 0.

    Column j is e_j minus its part in the span of the rows, which the normal equations give.

    >>> [str(entry) for entry in kernel_projection([[1, 1]], 2)[0]]
    ['1/2', '-1/2']
    """
    gram = [[sum(a * b for a, b in zip(one, two, strict=True)) for two in rows] for one in rows]
    columns = []
    for place in range(width):
        unit = [Fraction(int(i == place)) for i in range(width)]
        if rows:
            times = solve(gram, [row[place] for row in rows])
            assert times is not None  # normal equations have a solution
            for factor, row in zip(times, rows, strict=True):
                unit = [entry - factor * one for entry, one in zip(unit, row, strict=True)]
        columns.append(unit)
    return [list(row) for row in zip(*columns, strict=True)]
