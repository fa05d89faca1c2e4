"""The table without numbers below 0 that fits noisy marginals best: a convex program.

The true table has no number below 0 and the known sums, so it lies in a convex set, and the point
of that set next to the least-squares estimates is never farther from the truth than they are, in
the distance in which the fit is measured. What is gained depends on the data: all of it where many
cells are empty, nothing where none is small beside the noise.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from blowproof.mechanisms.estimates.consistency import not_negative
from blowproof.mechanisms.structures.marginals import Axes, parts_of

if TYPE_CHECKING:
    from scipy.sparse import csr_array

__all__ = ["OntoKnown", "Seen", "nearest_above_zero", "positive_table"]

Floats = NDArray[np.float64]
STEPS = 400
CLOSE = 1e-3
Seen = tuple[Axes, int | None, Floats, float]
"""Axes of the table, the one that is compared, the noisy numbers, and 1 / variance of each."""


def nearest_above_zero(table: Floats, group: NDArray[np.int64], sums: Floats | None) -> Floats:
    """Return the nearest table without numbers below 0 whose groups of cells have these sums.

    `group` numbers each cell's group; no sums at all: what is below 0 becomes 0.

    >>> nearest_above_zero(np.array([3.0, -1.0, 5.0]), np.array([0, 0, 1]), np.array([1.0, 4.0]))
    array([1., 0., 4.])
    """
    if sums is None:
        return np.maximum(table, 0.0)
    order = np.lexsort((-table, group))
    values, owner = table[order], group[order]
    first = np.searchsorted(owner, np.arange(len(sums)))
    rank = np.arange(len(table)) - first[owner] + 1
    running = np.cumsum(values)
    ahead = np.concatenate([[0.0], running])[first]
    inside = running - ahead[owner]  # the sum of a group's largest cells, so far
    level = (inside - sums[owner]) / rank
    kept = np.bincount(owner, weights=values > level, minlength=len(sums)).astype(np.int64)
    shift = level[first + np.maximum(kept, 1) - 1]
    return np.asarray(np.maximum(table - shift[group], 0.0))


class OntoKnown:
    """The nearest tables without numbers below 0 that have some known sums.

    Sums over cells that do not overlap are met group by group (`nearest_above_zero`), whatever the
    table; a total beside groups that make it up adds nothing. Other sums take a program each time.
    """

    def __init__(self, facts: csr_array[Any], known: Floats) -> None:
        self.facts, self.known = facts, known
        self._groups = _disjoint(facts, known)

    def __call__(self, table: Floats) -> Floats:
        """Return the nearest such table."""
        if self._groups is None:
            return not_negative(table, self.facts, self.known)
        group, sums = self._groups
        inside = group >= 0
        if inside.all():
            return nearest_above_zero(table, group, sums)
        result = np.maximum(table, 0.0)
        result[inside] = nearest_above_zero(table[inside], group[inside], sums)
        return result


def _disjoint(facts: csr_array[Any], known: Floats) -> tuple[NDArray[np.int64], Floats] | None:
    """Return the group of each cell (-1: none) and the groups' sums; None where some overlap."""
    if facts.nnz and not (facts.data == 1).all():
        return None
    group = np.full(facts.shape[1], -1, dtype=np.int64)
    order = np.argsort(np.diff(facts.indptr), kind="stable")
    sums: list[float] = []
    for row in order.tolist():
        cells = facts.indices[facts.indptr[row] : facts.indptr[row + 1]]
        if (group[cells] < 0).all() and len(cells):
            group[cells] = len(sums)
            sums.append(float(known[row]))
            continue
        inside = set(group[cells].tolist())
        many = np.isin(group, list(inside)).sum() if -1 not in inside else -1
        if many != len(cells) or sum(sums[at] for at in inside) != known[row]:
            return None
    return group, np.array(sums)


def positive_table(
    start: Floats, seen: Sequence[Seen], group: NDArray[np.int64], sums: Floats | None
) -> Floats:
    """Return the best fit to what was seen, by projected gradients with momentum.

    `start` has an axis for each attribute, and is where the search begins.
    """
    shape = start.shape
    steepest = _steepest(shape, seen, sums is not None)

    def project(table: Floats) -> Floats:
        return nearest_above_zero(table.ravel(), group, sums).reshape(shape)

    table = ahead = project(start)
    pace = 1.0
    for _ in range(STEPS if steepest > 0 else 0):
        new = project(ahead - _slope(ahead, seen) / steepest)
        change = new - table
        if float(((ahead - new) * change).sum()) > 0:  # it went too far: speed up anew
            pace = 1.0
        faster = (1 + np.sqrt(1 + 4 * pace**2)) / 2
        ahead = new + (pace - 1) / faster * change
        table, pace = new, float(faster)
        if abs(change).max(initial=0) < CLOSE:
            break
    return table


def _others(axes: Axes, many: int) -> tuple[int, ...]:
    return tuple(axis for axis in range(many) if axis not in axes)


def _slope(table: Floats, seen: Sequence[Seen]) -> Floats:
    """Return the gradient of half the weighted sum of squares."""
    total = np.zeros_like(table)
    for axes, compared, values, precision in seen:
        found = table.sum(axis=_others(axes, table.ndim), keepdims=True)
        wide = [found.shape[axis] if axis != compared else 1 for axis in range(table.ndim)]
        if compared is None:
            total += precision * (found - values.reshape(wide))
            continue
        first, second = (found.take([k], axis=compared) for k in (0, 1))
        off = precision * (first - second - values.reshape(wide))
        total += np.concatenate([off, -off], axis=compared)
    return total


def _steepest(shape: tuple[int, ...], seen: Sequence[Seen], known: bool) -> float:
    """Return the largest curvature: along the part in which most is seen, and best.

    What is seen of a part adds up the cells that go into one number; `known`: the sum of all is.
    """
    whole = prod(shape)
    best = 0.0
    for part in parts_of(tuple(range(len(shape)))):
        if known and not part:
            continue
        inside = set(part)
        best = max(best, sum(
            precision * whole / prod(shape[axis] for axis in axes) * (1 if compared is None else 2)
            for axes, compared, _, precision in seen
            if inside <= set(axes) and (compared is None or compared in inside)
        ))  # fmt: skip
    return best
