"""The answers of one query: whole numbers on an exact grid, and what each of them is about."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from math import lcm, prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from blowproof.models.attributes import Value
from blowproof.models.domain import Domain
from blowproof.models.numbers import Exact, plain

__all__ = [
    "Estimate",
    "Names",
    "Vector",
    "attribute_grid",
    "cells_of",
    "common_grid",
    "single",
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

    def __init__(self, values: object, names: Names) -> None:
        self.values = np.asarray(values, dtype=np.float64)
        self.names = names

    def __iter__(self) -> Iterator[float]:
        """Yield the numbers."""
        return iter(self.values.tolist())

    def __len__(self) -> int:
        return len(self.values)


def whole(values: Sequence[int] | NDArray[Any]) -> NDArray[Any]:
    """Return whole numbers as an array: int64 where they are small, else Python's own.

    >>> whole([1, 2]).dtype, whole([2**70]).dtype
    (dtype('int64'), dtype('O'))
    """
    if isinstance(values, np.ndarray) and values.dtype.kind == "i":
        return values.astype(np.int64)
    numbers = [int(value) for value in values]
    small = all(-_SAFE < number < _SAFE for number in numbers)
    return np.array(numbers, dtype=np.int64 if small else object)


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
