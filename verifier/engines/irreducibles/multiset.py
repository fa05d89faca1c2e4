"""Multisets of effects, and the check that one is irreducible.

A multiset is a tuple of (effect index, multiplicity) pairs with rising indices and positive
multiplicities. The check shares no code with the searches: every witness passes through it before
anybody sees it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from fractions import Fraction
from math import lcm
from operator import add
from typing import TypeAlias

from blowproof.models import BudgetError
from blowproof.models.base.clock import spend
from blowproof.verifier.limits.limit import real_limit, whole_limit

__all__ = [
    "MOST_SUMS",
    "Multiset",
    "TooManySumsError",
    "canonical",
    "expand",
    "is_irreducible",
    "is_reducible",
    "size",
]

Vector: TypeAlias = tuple[int, ...]
Multiset: TypeAlias = tuple[tuple[int, int], ...]


def canonical(indices: Iterable[int]) -> Multiset:
    """The multiset that holds each index as often as it occurs.

    >>> canonical([4, 1, 4])
    ((1, 1), (4, 2))
    """
    return tuple(sorted(Counter(indices).items()))


def expand(multiset: Multiset) -> list[int]:
    """Every occurrence by itself, the inverse of `canonical`."""
    return [index for index, times in multiset for _ in range(times)]


def size(multiset: Multiset) -> int:
    """The number of occurrences."""
    return sum(times for _, times in multiset)


MOST_SUMS = whole_limit(__name__, "MOST_SUMS")
SUM = real_limit(__name__, "SUM")


class TooManySumsError(BudgetError):
    """Whether a multiset is irreducible was not decided."""


def is_reducible(effects: Sequence[Sequence[int]], multiset: Multiset) -> bool:
    """Whether the multiset is seen not to be irreducible, without many sums."""
    try:
        return not is_irreducible(effects, multiset, most=MOST_SUMS)
    except TooManySumsError:
        return False


def is_irreducible(
    effects: Sequence[Sequence[int]], multiset: Multiset, *, most: int | None = None
) -> bool:
    """Whether the multiset is non-empty, sums to zero, and no proper non-empty part of it does.

    If a proper non-empty part sums to zero, so does its complement, and one of the two misses a
    chosen occurrence. So one occurrence is taken away, and no non-empty part of the rest may sum to
    zero. Effects of the multiset that are linearly independent and span the others need not be
    tried: what they have to contribute is determined by the sum of the others, whose possible
    values are listed; more than `most` of them are a TooManySumsError.

    >>> is_irreducible([(1,), (-1,), (2,), (-2,)], ((1, 2), (2, 1)))
    True
    >>> is_irreducible([(1,), (-1,), (2,), (-2,)], ((0, 2), (1, 2)))
    False
    """
    times = {tuple(effects[index]): count for index, count in multiset}
    columns = sorted(times, key=lambda effect: -times[effect])
    if not columns or any(
        sum(x * times[c] for x, c in zip(row, columns, strict=True))
        for row in zip(*columns, strict=True)
    ):
        return False
    basis, others, scale = _coordinates(columns)
    if not others:  # the zero vector, which is independent of nothing
        return False
    times[next(iter(others))] -= 1
    limits = [times[effect] * scale for effect in basis]
    return not any(_fits(total, limits, scale) for total in _sums_of_parts(others, times, most))


def _coordinates(columns: list[Vector]) -> tuple[list[Vector], dict[Vector, Vector], int]:
    """(B, coordinates, scale): the first independent columns, and for each other column c whole
    numbers with scale * c = their combination of B.
    """
    rows = [[Fraction(x) for x in row] for row in zip(*columns, strict=True)]
    pivots: list[int] = []
    for j in range(len(columns)):
        height = len(pivots)
        lead = next((i for i in range(height, len(rows)) if rows[i][j]), None)
        if lead is None:
            continue
        rows[height], rows[lead] = rows[lead], [*rows[height]]
        rows[height] = [x / rows[height][j] for x in rows[height]]
        for i, row in enumerate(rows):
            if i != height and row[j]:
                rows[i] = [x - row[j] * y for x, y in zip(row, rows[height], strict=True)]
        pivots.append(j)
    scale = lcm(*(x.denominator for row in rows for x in row))
    others = {
        column: tuple(int(rows[i][j] * scale) for i in range(len(pivots)))
        for j, column in enumerate(columns)
        if j not in pivots
    }
    return [columns[j] for j in pivots], others, scale


def _sums_of_parts(
    others: dict[Vector, Vector], times: dict[Vector, int], most: int | None
) -> set[Vector]:
    """The sums of the non-empty parts of the multiset {effect: times}, in the given coordinates."""
    sums: set[Vector] = set()
    for effect, vector in others.items():
        if most is not None and len(sums) * times[effect] > most:
            raise TooManySumsError(f"the parts of a multiset have more than {most} sums")
        spend(len(sums) * times[effect] * SUM)
        multiples = [tuple(k * x for x in vector) for k in range(1, times[effect] + 1)]
        longer = {tuple(map(add, part, more)) for part in sums for more in multiples}
        sums |= longer
        sums.update(multiples)
    return sums


def _fits(total: Vector, limits: list[int], scale: int) -> bool:
    """Whether a part of the basis multiset sums to -total."""
    return all(-limit <= x <= 0 and x % scale == 0 for x, limit in zip(total, limits, strict=True))
