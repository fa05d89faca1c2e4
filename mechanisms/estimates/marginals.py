"""One marginal estimated from several noisy ones, by least squares, part by part.

`structures.marginals` says what the parts are, and that they never share an error: so each part is
the mean of what the measured marginals say of it, weighted by 1 / variance, or what is known of it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from blowproof.mechanisms.structures.marginals import Axes, Marginals, parts_of

__all__ = ["estimated"]

Floats = NDArray[np.float64]


def estimated(
    marginals: Marginals,
    axes: Axes,
    noisy: Sequence[NDArray[Any]],
    precisions: Sequence[float],
    known: Mapping[Axes, NDArray[Any]],
) -> Floats:
    """Return the least-squares estimate of a marginal, shaped as its attributes are.

    `noisy` are the measured marginals in their order (of differences, without the attribute that is
    compared), `precisions` 1 / variance of their cells;
    `known` has the exact ones. A part that nothing says anything about is 0: spread evenly.

    >>> two = Marginals((2, 2), ((0, 1), (0,)))
    >>> table, sums = np.array([[3.0, 1.0], [0.0, 0.0]]), np.array([6.0, 0.0])
    >>> estimated(two, (0, 1), [table, sums], [1.0, 1e9], {}).round(3).tolist()
    [[4.0, 2.0], [0.0, 0.0]]
    """
    shape = [marginals.sizes[axis] for axis in axes]
    result = np.zeros(shape)
    for part in parts_of(axes):
        found = _part(marginals, part, noisy, precisions, known)
        if found is None:
            continue
        wide = [marginals.sizes[axis] if axis in part else 1 for axis in axes]
        result += found.reshape(wide) * (marginals.cells(part) / marginals.cells(axes))
    return result


def _part(
    marginals: Marginals,
    part: Axes,
    noisy: Sequence[NDArray[Any]],
    precisions: Sequence[float],
    known: Mapping[Axes, NDArray[Any]],
) -> Floats | None:
    for axes, table in known.items():
        if set(part) <= set(axes):
            return _centred(_summed(table, axes, part))
    total = marginals.precision(part, precisions)
    if total <= 0:
        return None
    result: Floats = np.zeros([marginals.sizes[axis] for axis in part])
    for (axes, compared), table, precision in zip(marginals.items, noisy, precisions, strict=True):
        if not set(part) <= set(axes) or precision <= 0:
            continue
        share = precision * marginals.cells(part) / marginals.cells(axes) / total
        if compared is None:
            result = result + share * _summed(table, axes, part)
        elif compared in part:  # half the difference above the mean, and half of it below
            rest = tuple(axis for axis in axes if axis != compared)
            kept = tuple(axis for axis in part if axis != compared)
            half = np.expand_dims(_summed(table, rest, kept) / 2, part.index(compared))
            result = result + 2 * share * np.concatenate([half, -half], axis=part.index(compared))
    return _centred(result)


def _summed(table: NDArray[Any], axes: Axes, part: Axes) -> Floats:
    """Return the sums of a marginal's cells over the attributes that a part does not have."""
    others = tuple(place for place, axis in enumerate(axes) if axis not in part)
    return np.asarray(table.sum(axis=others), dtype=np.float64)


def _centred(table: Floats) -> Floats:
    """Return what a table says beyond its own marginals."""
    for axis in range(table.ndim):
        table = table - table.mean(axis=axis, keepdims=True)
    return table
