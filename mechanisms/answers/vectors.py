"""The answers of one query: whole numbers on an exact grid, and what each of them is about.

An array of int64 wraps round in silence. So every array that holds numbers on which privacy rests,
and all arithmetic on it, goes through `roomy`: int64 where a bound on all that comes out of it is
proved to fit, else Python's own numbers (dtype object), which have no end.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from math import lcm, prod
from operator import index
from typing import Any

import numpy as np
from numpy.typing import NDArray

from blowproof.models.base.errors import InternalError
from blowproof.models.base.numbers import Exact, plain
from blowproof.models.domain.attributes import Value
from blowproof.models.domain.domain import Domain

__all__ = [
    "Estimate",
    "Names",
    "Vector",
    "attribute_grid",
    "cells_of",
    "common_grid",
    "kind_of",
    "largest",
    "prefix_sums",
    "roomy",
    "single",
    "sums_by",
    "whole",
]

_SAFE = 2**62


@dataclass(frozen=True)
class Names:
    """How outputs are named: a column of names each, and a row of values for every output."""

    columns: tuple[str, ...]
    size: int
    rows: Callable[[], Iterable[tuple[Value, ...]]]


@dataclass(frozen=True, eq=False)
class Vector:
    """One number per output: `units` times `grid`, exactly.

    `runs` are the sizes of consecutive groups of outputs that share a scale (None: one group, or a
    group for each output, as many as the release has scales).
    """

    units: NDArray[Any]
    grid: Fraction
    names: Names
    runs: tuple[int, ...] | None = None

    def __post_init__(self) -> None:
        """Give the units room: int64 only below 2^62, so that noise can be added to them."""
        object.__setattr__(self, "units", whole(self.units))

    def __iter__(self) -> Iterator[Exact]:
        """Yield the numbers."""
        if self.grid == 1:
            yield from (int(unit) for unit in self.units.tolist())
        else:
            yield from (plain(int(unit) * self.grid) for unit in self.units.tolist())

    def __len__(self) -> int:
        return len(self.units)


class Estimate:
    """Floats computed from noisy answers alone: no longer exact, and exactly as private."""

    mechanisms: Sequence[str] | None = None
    """Which mechanism each answer is by, where they are by several."""

    def __init__(self, values: object, names: Names) -> None:
        self.values = np.asarray(values, dtype=np.float64)
        self.names = names

    def __iter__(self) -> Iterator[float]:
        """Yield the numbers."""
        return iter(self.values.tolist())

    def __len__(self) -> int:
        return len(self.values)


def largest(values: NDArray[Any]) -> int:
    """Return the largest absolute value in an array, as Python's own number (0 if it is empty).

    >>> largest(np.array([5, -(2**63)])) == 2**63  # which abs() in int64 cannot say
    True
    """
    return max(int(values.max()), -int(values.min())) if values.size else 0


def kind_of(bound: int) -> Any:
    """Return what an array is made of whose numbers do not exceed a bound: the guard of all."""
    return np.int64 if bound < _SAFE else object


def roomy(bound: int, *arrays: NDArray[Any]) -> tuple[NDArray[Any], ...]:
    """Return arrays of whole numbers on which arithmetic is exact while nothing exceeds `bound`.

    `bound` is a Python number that no entry, and no step of the computation, exceeds in absolute
    value: int64 where it is below 2^62, else Python's own numbers.

    >>> [item.dtype for item in roomy(10**6, np.array([3]))]
    [dtype('int64')]
    >>> (wide,) = roomy(10**40, np.array([10**18]))
    >>> (wide * wide).tolist() == [10**36]
    True
    """
    for array in arrays:
        if array.dtype.kind not in "biuO":
            raise InternalError(f"whole numbers are not kept as {array.dtype}")
    return tuple(array.astype(kind_of(bound), copy=False) for array in arrays)


def prefix_sums(counts: NDArray[Any]) -> NDArray[Any]:
    """Return the sums of the first 0, 1, 2, ... counts, exactly.

    >>> prefix_sums(np.array([2**62, 2**62, 2**62]))[-1] == 3 * 2**62
    True
    """
    (held,) = roomy(len(counts) * largest(counts), counts)
    sums: NDArray[Any] = np.concatenate([np.zeros(1, dtype=held.dtype), np.cumsum(held)])
    return sums


def sums_by(groups: NDArray[np.int64], counts: NDArray[Any], size: int) -> NDArray[Any]:
    """Return the sum of the counts of each group 0..size-1, exactly.

    >>> sums_by(np.array([1, 0, 1]), np.array([2**62, 5, 2**62]), 2).tolist() == [5, 2**63]
    True
    """
    (held,) = roomy(len(counts) * largest(counts), counts)
    sums = np.zeros(size, dtype=held.dtype)
    np.add.at(sums, groups, held)
    return sums


def whole(values: Sequence[int] | Sequence[Sequence[int]] | NDArray[Any]) -> NDArray[Any]:
    """Return whole numbers (or rows of them) in an array: int64 where small, else Python's own.

    >>> whole([1, 2]).dtype, whole([2**70]).dtype, whole(np.array([2**62])).dtype
    (dtype('int64'), dtype('O'), dtype('O'))
    """
    held = values if isinstance(values, np.ndarray) else np.array(values, dtype=object)
    if held.dtype.kind == "O":  # no number of a fixed width, no float and no fraction among them
        held = np.array(np.frompyfunc(index, 1, 1)(held), dtype=object)
    return roomy(largest(held), held)[0]


def common_grid(values: Iterable[Exact]) -> Fraction:
    """Return 1/d for the least d that makes all values whole.

    >>> common_grid([1, Fraction(1, 2), Fraction(2, 3)])
    Fraction(1, 6)
    """
    return Fraction(1, lcm(*{value.denominator for value in values}))


def attribute_grid(domain: Domain, axes: Iterable[int]) -> Fraction:
    """Return the grid of all coordinates on some axes: its values are min + k step."""
    ends: list[Exact] = [1]
    for axis in axes:
        attribute = domain.attribute(axis)
        ends += [attribute.coordinate(0), attribute.step]
    return common_grid(ends)


def cells_of(domain: Domain, axes: tuple[int, ...]) -> Names:
    """Return the cells of a marginal, row-major, named by their attributes' values."""
    kinds = [domain.attribute(axis) for axis in axes]

    def rows() -> Iterator[tuple[Value, ...]]:
        return product(*([kind.value(at) for at in range(kind.size)] for kind in kinds))

    return Names(
        tuple(domain.names[axis] for axis in axes), prod(kind.size for kind in kinds), rows
    )


def single(names: Sequence[str], *, column: str) -> Names:
    """Return outputs that have one name each."""
    return Names((column,), len(names), lambda: ((name,) for name in names))
