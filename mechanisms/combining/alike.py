"""Several tables as whole numbers with the same sums: what they have in common is rounded once.

Estimates that were made from one table of cells agree: two margins have the same sums over the
attributes that they share. Rounded one by one they may not. So the shared sums are rounded first,
those of the fewest attributes before the others, each with the sums that it has in common with
those before; then every table, with the rounded sums as known ones. Each of these is the nearest in
L1 with such sums (`consistency.rounded`), so a number may be farther than one half from its
estimate where the sums ask for that.

Tables of two attributes always have such numbers: whole numbers of one total can be spread over
rows and columns. Three tables of three attributes each, all of whose pairs are shared, may have
none; then nothing is returned.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from blowproof.mechanisms.combining.whole import CLOSE, MOST_TOGETHER, SECONDS
from blowproof.mechanisms.estimates.consistency import rounded
from blowproof.models import BudgetError, ContradictionError

__all__ = ["agreeing", "rounded_alike"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Axes = tuple[int, ...]
Table = tuple[Axes, Floats]
"""Attributes, and a number for each of their cells, row-major in this order."""
Facts = tuple[Any, Floats] | None
"""Known sums of a table's cells, a row each, and their numbers."""


def agreeing(tables: Sequence[Table], sizes: Sequence[int]) -> list[int]:
    """Return places of tables that have the same sums over all that two of them share.

    >>> pair = [((0,), np.array([1.5, 2.5])), ((1,), np.array([2.0, 2.0]))]
    >>> agreeing([*pair, ((0,), np.array([1.0, 2.0]))], [2, 2])
    [0, 1]
    """
    found: list[int] = []
    for place, (axes, values) in enumerate(tables):
        for other in found:
            onto = tuple(sorted({*axes} & {*tables[other][0]}))
            apart = _sums(axes, values, onto, sizes) - _sums(*tables[other], onto, sizes)
            if abs(apart).max(initial=0) > CLOSE:
                break
        else:
            found.append(place)
    return found


def rounded_alike(
    tables: Sequence[Table], sizes: Sequence[int], known: Callable[[Axes], Facts]
) -> list[Ints] | None:
    """Return whole numbers near tables that agree, whose shared sums agree; None: not found.

    `sizes` of all attributes; `known` has the known sums of a table by its attributes.

    >>> tables = [((0, 1), np.array([0.5, 0.5, 1.5, 0.5])), ((0,), np.array([1.0, 2.0]))]
    >>> one, two = rounded_alike(tables, [2, 2], lambda axes: None)
    >>> one.reshape(2, 2).sum(axis=1).tolist() == two.tolist()
    True
    """
    if any(len(values) > MOST_TOGETHER for _, values in tables):
        return None
    whole: dict[Axes, Ints] = {}
    shared = _shared([axes for axes, _ in tables])
    try:
        for onto in sorted(shared, key=len):
            sums = _sums(*next(table for table in tables if {*onto} <= {*table[0]}), onto, sizes)
            whole[onto] = _rounded((onto, sums), sizes, known(onto), whole)
        return [_rounded(table, sizes, known(table[0]), whole) for table in tables]
    except (BudgetError, ContradictionError):
        return None


def _shared(every: Sequence[Axes]) -> set[Axes]:
    """Return what any of the sets of attributes have in common, two or more of them.

    >>> sorted(_shared([(0, 1), (1, 2), (0, 2)]))
    [(), (0,), (1,), (2,)]
    """
    found = {tuple(sorted({*one} & {*two})) for one, two in combinations(every, 2)}
    while True:
        more = {tuple(sorted({*one} & {*two})) for one, two in combinations(found, 2)}
        if more <= found:
            return found
        found |= more


def _sums(axes: Axes, values: Floats, onto: Axes, sizes: Sequence[int]) -> Floats:
    """Return the sums over some attributes of a table, row-major."""
    found = np.bincount(_bins(axes, onto, sizes), weights=values, minlength=_cells(onto, sizes))
    return found.astype(np.float64)


def _cells(axes: Axes, sizes: Sequence[int]) -> int:
    return prod(sizes[axis] for axis in axes)


def _bins(axes: Axes, onto: Axes, sizes: Sequence[int]) -> Ints:
    """Return for each cell of a table the cell of some of its attributes that it is in."""
    shape = [sizes[axis] for axis in axes]
    places = np.unravel_index(np.arange(_cells(axes, sizes)), shape) if axes else ()
    found = np.zeros(_cells(axes, sizes), dtype=np.int64)
    for axis in onto:
        found = found * sizes[axis] + places[axes.index(axis)]
    return found


def _rounded(table: Table, sizes: Sequence[int], known: Facts, whole: dict[Axes, Ints]) -> Ints:
    """Return the nearest whole numbers with the known sums that the values have, and all of `whole`
    over attributes of theirs.
    """
    from scipy.sparse import csr_array, vstack

    axes, values = table
    cells = np.arange(len(values))
    rows: list[Any] = []
    numbers: list[Ints] = []
    if known is not None:
        near = abs(known[0] @ values - known[1]) <= CLOSE
        rows.append(csr_array(known[0][near]))
        numbers.append(np.rint(known[1][near]).astype(np.int64))
    for onto, sums in whole.items():
        if {*onto} <= {*axes}:
            ones = np.ones(len(values)), (_bins(axes, onto, sizes), cells)
            rows.append(csr_array(ones, shape=(len(sums), len(values))))
            numbers.append(sums)
    if not rows:
        return np.rint(values).astype(np.int64)
    facts, answers = csr_array(vstack(rows)).astype(np.int64), np.concatenate(numbers)
    lowest = 0 if (values >= 0).all() else None
    return rounded(values, facts, answers, lowest=lowest, time_limit=SECONDS)
