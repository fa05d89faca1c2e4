"""The effects of one question, checked, and in as few integer coordinates as they need."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import gcd, isqrt, lcm, prod

import numpy as np
from numpy.typing import NDArray

__all__ = ["Instance", "Number", "Vector", "length_bound"]

Vector = tuple[int, ...]
Number = int | Fraction

LARGEST = 1 << 20  # coordinates; keeps all 64-bit products of the compiled code exact


@dataclass(frozen=True)
class Instance:
    """Effects in independent coordinates, with whole-number weights.

    `vectors[i]` is `effects[i]` restricted to `rank` coordinates that determine the others (the
    restriction is injective on the span, so the same multisets sum to zero); a weight is
    `weights[i] / scale`.
    """

    effects: tuple[Vector, ...]
    vectors: NDArray[np.int64]
    opposite: tuple[int, ...]
    weights: tuple[int, ...]
    scale: int

    @property
    def rank(self) -> int:
        """The dimension of the span of the effects."""
        return int(self.vectors.shape[1])

    @property
    def halves(self) -> NDArray[np.int64]:
        """The indices of one effect of each pair d, -d."""
        return np.array([i for i, j in enumerate(self.opposite) if i < j], dtype=np.int64)

    @classmethod
    def of(
        cls, effects: Sequence[Sequence[int]], weights: Sequence[Number] | None = None
    ) -> Instance:
        """The instance; ValueError or TypeError says what is wrong with effects or weights."""
        rows = tuple(tuple(_whole(x) for x in effect) for effect in effects)
        numbers = [_exact(w) for w in weights] if weights is not None else [Fraction(1)] * len(rows)
        if len(numbers) != len(rows):
            raise ValueError(f"{len(rows)} effects but {len(numbers)} weights")
        if any(w < 0 for w in numbers):
            raise ValueError("weights must not be negative")
        scale = lcm(*(w.denominator for w in numbers)) if numbers else 1
        columns = _independent(rows)
        vectors = np.array([[row[j] for j in columns] for row in rows], dtype=np.int64)
        return cls(
            effects=rows,
            vectors=vectors.reshape(len(rows), len(columns)),
            opposite=_opposites(rows),
            weights=tuple(int(w * scale) for w in numbers),
            scale=scale,
        )

    def value(self, weight: int) -> Number:
        """A summed weight in the caller's unit; an int when it is whole."""
        exact = Fraction(weight, self.scale)
        return exact.numerator if exact.denominator == 1 else exact


def length_bound(instance: Instance) -> int:
    """A number of occurrences that no irreducible exceeds: the smaller of two theorems.

    *Steinitz.* In rank r, vectors of a symmetric convex body K that sum to zero can be ordered so
    that every partial sum lies in r K (Grinberg and Sevastyanov). Partial sums of an irreducible
    are distinct, so its size is at most the number of integer points in r K; K is the box of the
    largest coefficients c_j, which gives the product of 2 r c_j + 1.

    *Circuits* (the argument of Diaconis, Graham and Sturmfels). An irreducible uses at most one of
    d and -d, so it lies in a cone {u >= 0 : A u = 0} with h = |D|/2 columns of rank r, whose
    extreme rays are circuits. By Caratheodory it is a sum of at most h - r circuits with real
    factors >= 0; each factor is below 1, or the circuit could be split off (and if it equals 1, the
    circuit is all). A circuit has at most r + 1 elements, each with a multiplicity at most the
    largest r x r minor, which Hadamard's inequality bounds by the product of the r longest norms. A
    pair d, -d has size 2.
    """
    rank, count = instance.rank, len(instance.effects)
    if count == 0:
        return 0
    steinitz = prod(2 * rank * int(c) + 1 for c in np.abs(instance.vectors).max(axis=0))
    squares = sorted((sum(int(x) ** 2 for x in row) for row in instance.vectors), reverse=True)
    minor = isqrt(prod(squares[0 : 2 * rank : 2]))  # every norm occurs twice, for d and -d
    circuits = max(count // 2 - rank, 1) * (rank + 1) * minor
    return max(min(steinitz, circuits), 2)


def _whole(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)):
        raise TypeError(f"effects are vectors of whole numbers, not {value!r}")
    number = int(value)
    if abs(number) > LARGEST:
        raise ValueError(f"effects with coordinates beyond {LARGEST} are not supported")
    return number


def _exact(value: object) -> Fraction:
    if isinstance(value, bool) or not isinstance(value, (int, Fraction, np.integer)):
        raise TypeError(f"weights are ints or Fractions, not {value!r}")
    return Fraction(int(value)) if isinstance(value, np.integer) else Fraction(value)


def _opposites(rows: Sequence[Vector]) -> tuple[int, ...]:
    index = {row: i for i, row in enumerate(rows)}
    if len(index) != len(rows):
        raise ValueError("effects must be distinct")
    if len({len(row) for row in rows}) > 1:
        raise ValueError("effects must have the same length")
    if any(not any(row) for row in rows):
        raise ValueError("effects must not be zero")
    try:
        return tuple(index[tuple(-x for x in row)] for row in rows)
    except KeyError as missing:
        raise ValueError(f"effects must come with their negatives; missing {missing}") from None


def _independent(rows: Sequence[Vector]) -> list[int]:
    """The first coordinates that are linearly independent on the rows and span the others."""
    chosen: list[int] = []
    echelon: list[tuple[int, list[int]]] = []
    for j in range(len(rows[0]) if rows else 0):
        column = [row[j] for row in rows]
        for pivot, base in echelon:
            if column[pivot]:
                a, b = base[pivot], column[pivot]
                column = _primitive([a * x - b * y for x, y in zip(column, base, strict=True)])
        pivot = next((i for i, x in enumerate(column) if x), -1)
        if pivot >= 0:
            echelon.append((pivot, column))
            chosen.append(j)
    return chosen


def _primitive(vector: list[int]) -> list[int]:
    divisor = gcd(*vector)
    return [x // divisor for x in vector] if divisor > 1 else vector
