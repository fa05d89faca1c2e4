"""Is a vector a rational combination of others? Guessed modulo a prime, then checked exactly.

Elimination over the fractions is slow where there are hundreds of facts and thousands of classes.
Modulo a prime it is a few array operations, but what it says need not hold. So a combination that
exists modulo a prime is turned into fractions with small numerators and denominators, which hold or
do not hold in whole numbers: only a combination that was checked is ever reported. What is missed
(a combination with large fractions, an unlucky prime) is never reported as one.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import inf, isqrt, lcm

import numpy as np
from numpy.typing import NDArray

from blowproof.models.base.clock import now
from blowproof.verifier.limits.limit import real_limit, whole_limit

__all__ = ["Span", "full_rank", "independent"]

PRIME = (1 << 31) - 1
SMALL = isqrt(PRIME // 2)
"""A fraction with numerator and denominator up to this is known by its remainder alone."""

SAFE = whole_limit(__name__, "SAFE")
SPARE = whole_limit(__name__, "SPARE")
ENTRY = real_limit(__name__, "ENTRY")

Matrix = NDArray[np.int64]


def independent(rows: Matrix, *, end: float = inf) -> list[int]:
    """Return rows (by number) of which every other one is a rational combination, checked.

    As few as can be unless a check fails: a row whose combination could not be checked is returned
    too, so that the number of rows returned is at least the rank. All rows, where it is not done by
    `end` (a time of the clock).

    >>> independent(np.array([[1, 0, 1], [2, 0, 2], [0, 1, 1], [1, 1, 2]]))
    [0, 2]
    """
    try:
        span = Span(rows, end=end)
    except TimeoutError:
        return list(range(len(rows)))
    chosen = span.chosen
    others = set(range(len(rows))).difference(chosen)
    extra = [i for i in others if span.combination(rows[i]) is None]
    return sorted([*chosen, *extra])


def full_rank(rows: Matrix) -> bool:
    """Whether rows are independent modulo the prime, and so over the fractions (not conversely).

    >>> full_rank(np.array([[1, 1, 0], [0, 1, 1]])), full_rank(np.array([[1, 2], [2, 4]]))
    (True, False)
    """
    return len(rows) <= rows.shape[1] and len(_eliminated(rows)[0]) == len(rows)


class Span:
    """The rational combinations of the rows of a matrix of whole numbers.

    TimeoutError where they are not found by `end`.
    """

    def __init__(self, rows: Matrix, *, end: float = inf) -> None:
        draw = np.random.default_rng(0)
        columns = _sample(rows, draw)
        while True:  # a sample of the columns may show too few independent rows
            self.chosen, places = _eliminated(rows[:, columns], end)
            self.columns = columns[places].tolist()
            self.basis = rows[self.chosen]
            self.inverse = _inverse(self.basis[:, self.columns], end)
            if len(columns) == rows.shape[1]:
                break  # no column was left out
            missed = self._missed(rows, draw)
            if not len(missed):
                break
            columns = np.concatenate([columns, missed])
        self.most = int(np.abs(self.basis).max(initial=0))

    def combination(self, target: NDArray[np.int64]) -> tuple[Fraction, ...] | None:
        """Return coefficients of the basis `chosen` that give the target; None: none was found.

        >>> span = Span(np.array([[1, 1, 0], [0, 1, 1]]))
        >>> span.combination(np.array([1, 0, -1]))
        (Fraction(1, 1), Fraction(-1, 1))
        >>> span.combination(np.array([1, 0, 0])) is None
        True
        """
        if not target.any():
            return (Fraction(0),) * len(self.chosen)
        wanted = target[self.columns] % PRIME
        residues = _times(wanted[None, :], self.inverse)[0]
        found = [_fraction(int(x)) for x in residues]
        if any(x is None for x in found):
            return None
        exact = [x for x in found if x is not None]
        return tuple(exact) if self._holds(exact, target) else None

    def _missed(self, rows: Matrix, draw: np.random.Generator) -> NDArray[np.int64]:
        """Return columns on which some row is more than a combination of the basis; none: none is.

        All the other rows are looked at together, as one sum with random weights: where a row is
        independent of the basis, the sum is so too, but for a chance of one in the prime.
        """
        others = np.setdiff1d(np.arange(len(rows)), self.chosen)
        weights = draw.integers(1, PRIME, len(others))
        total = _times(weights[None, :], rows[others] % PRIME)
        explained = _times(_times(total[:, self.columns], self.inverse), self.basis % PRIME)
        left = np.flatnonzero(total[0] != explained[0])
        return draw.permutation(left)[:SPARE]

    def _holds(self, coefficients: Sequence[Fraction], target: NDArray[np.int64]) -> bool:
        """Whether these coefficients of the basis give the target, in whole numbers."""
        scale = lcm(*(x.denominator for x in coefficients))
        whole = [int(x * scale) for x in coefficients]
        reach = sum(map(abs, whole)) * self.most + scale * int(np.abs(target).max(initial=0))
        kind = np.int64 if reach < SAFE else object
        total = np.array(whole, dtype=kind) @ self.basis.astype(kind)
        return bool((total == scale * target.astype(kind)).all())


def _sample(rows: Matrix, draw: np.random.Generator) -> NDArray[np.int64]:
    """Return so many columns, drawn at random, that they nearly always show every row's worth."""
    most = 2 * len(rows) + SPARE
    if rows.shape[1] <= 2 * most:
        return np.arange(rows.shape[1])
    return draw.choice(rows.shape[1], most, replace=False)


def _eliminated(rows: Matrix, end: float = inf) -> tuple[list[int], list[int]]:
    left = rows % PRIME
    chosen: list[int] = []
    columns: list[int] = []
    for number in range(len(left)):
        pivots = np.flatnonzero(left[number])
        if not len(pivots):
            continue
        column = int(pivots[0])
        chosen.append(number)
        columns.append(column)
        factor = pow(int(left[number, column]), -1, PRIME)
        row = left[number] * factor % PRIME
        below = left[number + 1 :]
        touched = np.flatnonzero(below[:, column])
        _in_time(len(touched) * left.shape[1], end)
        if len(touched):
            block = below[touched]
            below[touched] = (block - block[:, column][:, None] * row % PRIME) % PRIME
    return chosen, columns


def _in_time(entries: int, end: float) -> None:
    """Count so many entries of an elimination; TimeoutError after the end."""
    if now(entries * ENTRY) > end:
        raise TimeoutError


def _inverse(square: Matrix, end: float = inf) -> Matrix:
    """Return the inverse of an invertible matrix modulo the prime (Gauss and Jordan)."""
    size = len(square)
    work = np.concatenate([square % PRIME, np.eye(size, dtype=np.int64)], axis=1)
    for k in range(size):
        swap = k + int(np.flatnonzero(work[k:, k])[0])
        if swap != k:
            work[[k, swap]] = work[[swap, k]]
        work[k] = work[k] * pow(int(work[k, k]), -1, PRIME) % PRIME
        others = np.flatnonzero(work[:, k])
        others = others[others != k]
        _in_time(2 * len(others) * size, end)
        work[others] = (work[others] - work[others, k][:, None] * work[k] % PRIME) % PRIME
    return work[:, size:]


def _times(left: Matrix, right: Matrix) -> Matrix:
    """Return a product modulo the prime; sums of two products already fill 63 bits."""
    total = np.zeros((left.shape[0], right.shape[1]), dtype=np.int64)
    for k in range(left.shape[1]):
        total = (total + left[:, k][:, None] * right[k] % PRIME) % PRIME
    return total


def _fraction(residue: int) -> Fraction | None:
    """Return the small fraction with this remainder modulo the prime; None if there is none."""
    larger, smaller = PRIME, residue
    one, two = 0, 1
    while smaller > SMALL:
        quotient = larger // smaller
        larger, smaller = smaller, larger - quotient * smaller
        one, two = two, one - quotient * two
    return Fraction(smaller, two) if two and abs(two) <= SMALL else None
