"""The effects of one question, checked, and in as few integer coordinates as they need."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import floor, gcd, isqrt, lcm, prod
from operator import neg

import numpy as np
from numpy.typing import NDArray

from blowproof.models import BudgetError
from blowproof.verifier.exact.small_coordinates import reduced
from blowproof.verifier.limits.limit import whole_limit

__all__ = [
    "Instance",
    "Number",
    "Vector",
    "circuit_bound",
    "inverse",
    "length_bound",
    "parts",
]

Vector = tuple[int, ...]
Number = int | Fraction

MOST_WORK = whole_limit(__name__, "MOST_WORK")
MOST_SPLIT = whole_limit(__name__, "MOST_SPLIT")
LARGEST = whole_limit(__name__, "LARGEST")
KEPT = whole_limit(__name__, "KEPT")


@dataclass(frozen=True)
class Instance:
    """Effects in independent coordinates, with whole-number weights.

    `vectors[i]` is `effects[i]` restricted to `rank` coordinates that determine the others (the
    restriction is injective on the span, so the same multisets sum to zero), and where these are
    large, in others (`small_coordinates`); a weight is `weights[i] / scale`, without a common
    factor.
    """

    effects: tuple[Vector, ...]
    vectors: NDArray[np.int64]
    opposite: tuple[int, ...]
    weights: tuple[int, ...]
    scale: Fraction

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
        """The instance; ValueError or TypeError says what is wrong with effects or weights.

        Where no small coordinates are found, those beyond `LARGEST` are a BudgetError.
        """
        rows = tuple(_whole_row(effect) for effect in effects)
        numbers = [_exact(w) for w in weights] if weights is not None else [Fraction(1)] * len(rows)
        if len(numbers) != len(rows):
            raise ValueError(f"{len(rows)} effects but {len(numbers)} weights")
        if any(w < 0 for w in numbers):
            raise ValueError("weights must not be negative")
        whole = lcm(*(w.denominator for w in numbers)) if numbers else 1
        scaled = [int(w * whole) for w in numbers]
        common = gcd(*scaled) or 1
        vectors, opposite = _placed(rows)
        return cls(
            effects=rows,
            vectors=vectors,
            opposite=opposite,
            weights=tuple(w // common for w in scaled),
            scale=Fraction(whole, common),
        )

    def value(self, weight: Number) -> Number:
        """A summed weight in the caller's unit; an int when it is whole."""
        exact = Fraction(weight, self.scale)
        return exact.numerator if exact.denominator == 1 else exact


def parts(effects: Sequence[Sequence[int]]) -> list[list[int]]:
    """The effects (by index) in parts that have nothing to do with one another, small ones first.

    Effects of different parts share no coordinate, or span spaces whose sum is direct: what a
    multiset takes from one part then sums to zero if the whole does. So every irreducible lies in
    one part.

    >>> parts([(1, 0, 0), (-1, 0, 0), (0, 1, -1), (0, -1, 1)])
    [[0, 1], [2, 3]]
    """
    found: list[list[int]] = []
    for block in _blocks([[j for j, x in enumerate(effect) if x] for effect in effects]):
        found += _separated(effects, block)
    return sorted(found, key=lambda part: (len(part), part))


def _blocks(supports: Sequence[Sequence[int]]) -> list[list[int]]:
    """The indices of supports, those together that are linked by shared elements."""
    leader: dict[int, int] = {}

    def first(j: int) -> int:
        while leader.setdefault(j, j) != j:
            leader[j] = leader[leader[j]]
            j = leader[j]
        return j

    for support in supports:
        for j in support[1:]:
            leader[first(j)] = first(support[0])
    groups: dict[int, list[int]] = {}
    for i, support in enumerate(supports):
        groups.setdefault(first(support[0]) if support else -1, []).append(i)
    return list(groups.values())


def _separated(effects: Sequence[Sequence[int]], block: list[int]) -> list[list[int]]:
    """Finer parts of a block: effects linked by the elements of a basis that they need."""
    rows = [tuple(effects[i]) for i in block]
    if len(rows) * len(rows[0]) ** 2 > MOST_SPLIT:
        return [block]
    columns = _independent(rows)
    vectors = [[row[j] for j in columns] for row in rows]
    basis = _independent(list(zip(*vectors, strict=True)))
    base = np.array([vectors[i] for i in basis], dtype=object)
    numerator, _ = inverse(base)
    coefficients = np.array(vectors, dtype=object) @ numerator
    found = _blocks([[k for k, x in enumerate(row) if x] for row in coefficients.tolist()])
    return [[block[i] for i in group] for group in found]


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
    circuit is all). A circuit's size is bounded by `circuit_bound`.
    """
    rank, count = instance.rank, len(instance.effects)
    if count == 0:
        return 0
    steinitz = prod(2 * rank * int(c) + 1 for c in np.abs(instance.vectors).max(axis=0))
    circuits = max(count // 2 - rank, 1) * circuit_bound(instance)
    return max(min(steinitz, circuits), 2)


def circuit_bound(instance: Instance) -> int:
    """A number of occurrences that no circuit of the effects exceeds.

    A circuit other than a pair d, -d lies in r + 1 columns C of rank r, of different pairs, and its
    multiplicities divide their r x r minors. By Cauchy's inequality the minors add up to at most
    the root of (r + 1) times the sum of their squares, which is det C C^T (Cauchy and Binet).
    Write q_d for d^T Q^-1 d, with any positive definite Q: det C C^T = det Q det(Q^-1/2 C C^T
    Q^-1/2), and the last determinant is at most the r-th power of a r-th of the trace, which is the
    sum of q_d over C. Q is the identity, or the sum of d d^T over the effects, which suits effects
    that are spread evenly.
    """
    rank = instance.rank
    half = instance.vectors[instance.halves].astype(object)
    squares = [(half * half).sum(axis=1).tolist()]
    scales = [(1, 1)]
    if len(half) * rank * rank <= MOST_WORK:
        numerator, determinant = inverse(half.T @ half)
        squares.append((half @ numerator * half).sum(axis=1).tolist())
        scales.append((determinant, determinant))
    sizes = []
    for values, (determinant, scale) in zip(squares, scales, strict=True):
        trace = Fraction(sum(sorted(values, reverse=True)[: rank + 1]), scale)
        sizes.append(isqrt(floor((rank + 1) * determinant * (trace / rank) ** rank)))
    return max(2, min(sizes))


def _whole(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)):
        raise TypeError(f"effects are vectors of whole numbers, not {value!r}")
    return int(value)


def _whole_row(effect: Sequence[int]) -> Vector:
    """The effect as ints; they are tested all at once where they are ints to begin with."""
    row = tuple(effect)
    return row if set(map(type, row)) <= {int} else tuple(_whole(x) for x in row)


@lru_cache(maxsize=KEPT)
def _placed(rows: tuple[Vector, ...]) -> tuple[NDArray[np.int64], tuple[int, ...]]:
    """The vectors of an instance, and the opposite of each; one question asks for them often."""
    opposite = _opposites(rows)
    columns = _independent(rows)
    whole = np.array(_in_range([[row[j] for j in columns] for row in rows]), dtype=np.int64)
    vectors = whole.reshape(len(rows), len(columns))
    return vectors, opposite


def _in_range(vectors: list[list[int]]) -> list[list[int]]:
    """The vectors, where one is large in other coordinates, none beyond `LARGEST`."""

    def largest() -> int:
        return max((max(map(abs, vector), default=0) for vector in vectors), default=0)

    if largest() > LARGEST:
        vectors = reduced(vectors)
    if largest() > LARGEST:
        raise BudgetError(
            f"one move changes a known fact by {largest()}; the search goes up to {LARGEST}\n"
            "  try: smaller coefficients of sums"
        )
    return vectors


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
        return tuple(index[tuple(map(neg, row))] for row in rows)
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


def inverse(matrix: NDArray[np.object_]) -> tuple[NDArray[np.object_], int]:
    """(N, q), whole numbers with q > 0 and matrix @ N = q * identity (fraction-free)."""
    size = len(matrix)
    rows = [
        [int(x) for x in row] + [int(i == j) for j in range(size)] for i, row in enumerate(matrix)
    ]
    previous = 1
    for k in range(size):
        swap = next(i for i in range(k, size) if rows[i][k])
        rows[k], rows[swap] = rows[swap], rows[k]
        pivot = rows[k][k]
        for i in range(size):
            if i != k:
                factor = rows[i][k]
                rows[i] = [
                    (pivot * a - factor * b) // previous
                    for a, b in zip(rows[i], rows[k], strict=True)
                ]
        previous = pivot
    sign = 1 if previous > 0 else -1
    numerator = np.array([[sign * x for x in row[size:]] for row in rows], dtype=object)
    return numerator, sign * previous
