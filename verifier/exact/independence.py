"""Are signatures affinely independent, and which histogram over them do known numbers leave?

Signatures s_1, ..., s_N are affinely independent iff the rows (1, s_c) are independent: no integers
k_c but 0 have sum k_c = 0 and sum k_c s_c = 0. That is shown here in two steps, and only ever said
where it is so.

*Peeling.* Where a column is 0 on all rows but one, a dependency gives that row the factor 0, so
that it can be taken away, and so on with the rows that are left. The rows that were taken away form
a triangle; where no row is left they are independent. Cells of a partition, trees of nested totals
and laminar ranges peel to the end, in time that follows the entries which are not 0.

*A prime.* Of the rows that are left, a square part has a determinant that is not 0 modulo a prime.
Then it is not 0, and they are independent. (That it is 0 modulo a prime says nothing, and nothing
is concluded from it.)

If rows are independent, sum_c h_c (1, s_c) = (n, q) has one solution at the most. Peeling in order
finds it: the column by which a row was taken away has entries in rows taken away before, only.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from blowproof.verifier.exact.span import full_rank
from blowproof.verifier.limits.limit import whole_limit

__all__ = ["Peeled", "affinely_independent", "peel", "solved"]

MOST_LEFT = whole_limit(__name__, "MOST_LEFT")
MOST_SOLVED = whole_limit(__name__, "MOST_SOLVED")

Matrix = NDArray[np.int64]


@dataclass(frozen=True)
class Peeled:
    """Rows with the column by which each was taken away, in order; and the rows that are left."""

    rows: Matrix
    order: tuple[tuple[int, int], ...]
    left: tuple[int, ...]


def peel(signatures: Matrix, *, affine: bool = True) -> Peeled:
    """Peel the rows (1, s_c), a column of ones coming first; not `affine`: the rows s_c alone.

    >>> peel(np.array([[0, 0], [1, 0], [1, 1]])).order
    ((2, 2), (1, 1), (0, 0))
    """
    ones = np.ones((len(signatures), int(affine)), dtype=np.int64)
    rows = np.hstack([ones, signatures])
    places, columns = (part.tolist() for part in np.nonzero(rows))
    entries: list[list[int]] = [[] for _ in range(len(rows))]
    counts, sums = [0] * rows.shape[1], [0] * rows.shape[1]
    for place, column in zip(places, columns, strict=True):
        entries[place].append(column)
        counts[column] += 1
        sums[column] += place
    ready = [column for column, count in enumerate(counts) if count == 1]
    order: list[tuple[int, int]] = []
    while ready:
        column = ready.pop()
        if counts[column] != 1:
            continue
        place = sums[column]
        order.append((place, column))
        for other in entries[place]:
            counts[other] -= 1
            sums[other] -= place
            if counts[other] == 1:
                ready.append(other)
    left = set(range(len(rows))).difference(place for place, _ in order)
    return Peeled(rows, tuple(order), tuple(sorted(left)))


def affinely_independent(signatures: Matrix, *, affine: bool = True) -> Peeled | None:
    """Return how the rows peel if they are seen to be independent, else None.

    >>> affinely_independent(np.array([[0, 0], [0, 1], [1, 0], [1, 1]])) is None
    True
    >>> affinely_independent(np.array([[1, 1, 0], [1, 0, 1], [0, 1, 1]])).left
    (0, 1, 2)
    """
    found = peel(signatures, affine=affine)
    if not found.left:
        return found
    if len(found.left) > MOST_LEFT or len(found.left) > found.rows.shape[1]:
        return None
    return found if full_rank(found.rows[list(found.left)]) else None


def solved(found: Peeled, totals: Sequence[int]) -> list[int] | None:
    """Return the whole numbers h with sum_c h_c row_c = totals; None: none, or not worked out.

    >>> rows = affinely_independent(np.array([[0, 0], [1, 0], [1, 1]]))
    >>> solved(rows, [9, 5, 2]), solved(rows, [9, 5, 6])
    ([4, 3, 2], [4, -1, 6])
    """
    if len(found.left) > MOST_SOLVED:
        return None
    held: dict[int, int] = {}
    for place, column in found.order:
        rest = totals[column]
        entries = found.rows[:, column]
        for other in np.flatnonzero(entries).tolist():
            if other != place and other in held:
                rest -= int(entries[other]) * held[other]
        number, remainder = divmod(rest, int(entries[place]))
        if remainder:
            return None
        held[place] = number
    if found.left:
        missing = _solved_left(found, totals, held)
        if missing is None:
            return None
        held.update(missing)
    return [held[place] for place in range(len(found.rows))] if _fits(found, totals, held) else None


def _fits(found: Peeled, totals: Sequence[int], held: dict[int, int]) -> bool:
    """Whether the numbers give every total, in whole numbers of any size."""
    sums = [0] * found.rows.shape[1]
    for place, column in zip(*(part.tolist() for part in np.nonzero(found.rows)), strict=True):
        sums[column] += int(found.rows[place, column]) * held[place]
    return sums == list(totals)


def _solved_left(
    found: Peeled, totals: Sequence[int], held: dict[int, int]
) -> dict[int, int] | None:
    """Solve for the rows that did not peel, by elimination over the fractions."""
    left = list(found.left)
    done = list(held)
    work = []
    for column in range(found.rows.shape[1]):
        entries = found.rows[:, column]
        rest = totals[column] - sum(int(entries[p]) * held[p] for p in done if entries[p])
        row = [Fraction(int(entries[place])) for place in left]
        if any(row):
            work.append([*row, Fraction(rest)])
    for k in range(len(left)):
        pivot = next((i for i in range(k, len(work)) if work[i][k]), None)
        if pivot is None:
            return None
        work[k], work[pivot] = work[pivot], work[k]
        work[k] = [x / work[k][k] for x in work[k]]
        for i, row in enumerate(work):
            if i != k and row[k]:
                work[i] = [a - row[k] * b for a, b in zip(row, work[k], strict=True)]
    numbers = [work[k][-1] for k in range(len(left))]
    if any(x.denominator != 1 for x in numbers):
        return None
    return {place: int(x) for place, x in zip(left, numbers, strict=True)}
