"""Whole numbers from a table with fractions: of the query that is asked for, or of all cells.

A table of many cells that hold less than one record each cannot be rounded cell by cell: sums over
many of them would be far off. So a query's answers are rounded on the coarsest cells that it reads,
and all cells of the domain (for records) are rounded while what was measured is kept in view.

Known sums hold exactly in both, as far as they are about these cells.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from blowproof.mechanisms.estimates.consistency import MOST_ROUNDED, rounded
from blowproof.models import BudgetError, ContradictionError

__all__ = ["known_of_bins", "rounded_near", "whole_answers", "whole_table"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
MOST_GREEDY = 2_000
"""Records that are placed one by one, each where it helps most; those before go by their shares."""
WORK = 200_000_000
"""Cells that are looked at for all of them together."""
MOST_TOGETHER, SECONDS = 5_000, 5.0
"""Answers that are rounded together where known sums overlap, and how long that may take."""
CLOSE = 0.01
"""How near an estimate's sum is to a known one that it was made to have."""
OWN = 1e-3
"""What a cell's own distance counts, beside what was measured of it."""


def known_of_bins(facts: Any, known: Floats, bins: Ints, many: int) -> tuple[Any, Floats]:
    """Return the known sums that are sums over bins of cells: those with equal numbers in each.

    By Cauchy and Schwarz the square of a bin's sum is at most its cells times its squares, with
    equality for equal numbers alone.
    """
    from scipy.sparse import csr_array

    cells = len(bins)
    into = csr_array((np.ones(cells), (np.arange(cells), bins)), shape=(cells, many))
    sizes = np.maximum(np.bincount(bins, minlength=many), 1)
    sums, squares = csr_array(facts @ into), csr_array(facts.power(2) @ into)
    apart = csr_array(squares.multiply(sizes[None, :])) - sums.power(2)
    kept = np.flatnonzero(np.asarray(abs(apart).max(axis=1).todense()).ravel() < 0.5)
    return csr_array(sums[kept].multiply(1 / sizes[None, :])), known[kept]


def rounded_near(table: Floats, facts: Any, known: Floats) -> Floats:
    """Return whole numbers near a table without numbers below 0, with exactly the known sums."""
    if len(table) <= MOST_ROUNDED:
        whole = rounded(table, facts.astype(np.int64), known.astype(np.int64))
        return whole.astype(np.float64)
    if facts.shape[0] > 1 or (facts.shape[0] == 1 and facts.nnz != len(table)):
        raise BudgetError(
            f"{len(table):,} cells; at most {MOST_ROUNDED:,} are made whole while known counts are "
            "kept\n  try: --numbers positive"
        )
    low = np.floor(table)
    missing = round(float(known[0] if len(known) else table.sum()) - float(low.sum()))
    order = np.argsort(low - table, kind="stable")
    low[order[: max(0, missing)]] += 1
    return np.asarray(low)


def whole_answers(values: Floats, facts: Any, known: Floats) -> Ints | None:
    """Return whole numbers near the values, with all those known sums that the values have.

    None where sums overlap and the values are too many to round them together.

    >>> from scipy.sparse import csr_array
    >>> facts, known = csr_array(np.array([[1, 1, 1, 0]])), np.array([4.0])
    >>> whole_answers(np.array([1.6, 1.3, 1.1, 0.6]), facts, known).tolist()
    [2, 1, 1, 1]
    """
    near = abs(facts @ values - known) <= CLOSE
    facts, known = facts[near], known[near].astype(np.int64)
    if not len(known):
        return np.rint(values).astype(np.int64)
    if len(values) <= MOST_TOGETHER:
        lowest = 0 if (values >= 0).all() else None
        try:
            return rounded(values, facts.astype(np.int64), known, lowest=lowest, time_limit=SECONDS)
        except ContradictionError:
            return None
    inside = np.asarray((facts != 0).sum(axis=0)).ravel()
    if inside.max() > 1 or (facts.data != 1).any():
        return None
    low = np.floor(values).astype(np.int64)
    low[inside == 0] = np.rint(values[inside == 0]).astype(np.int64)
    for start, end, total in zip(facts.indptr[:-1], facts.indptr[1:], known, strict=True):
        places = facts.indices[start:end]
        missing = int(total - low[places].sum())
        up = places[np.argsort(low[places] - values[places], kind="stable")[:missing]]
        low[up] += 1
    return low


def whole_table(
    table: Floats, facts: Any, known: Floats, slope: Callable[[Floats], Floats], steepest: float
) -> Floats:
    """Return a whole number for each cell, so that what was measured is kept as well as may be.

    `slope` takes a difference of tables to the gradient of half its weighted square, as it was
    measured; `steepest` is its largest curvature. Records are placed one by one, each in the cell
    where the distance grows least. Then what little is missing of the known sums is made up for.
    """
    low = np.floor(table)
    left = round(float(table.sum() - low.sum()))
    low = _by_shares(low, table, left - min(MOST_GREEDY, WORK // len(table)))
    own = OWN * steepest
    at = slope(low - table) + own * (low - table)
    for _ in range(round(float(table.sum() - low.sum()))):
        best = int(np.argmin(np.where((table > 0) & (table > low - 1), at, np.inf)))
        unit = np.zeros(len(table))
        unit[best] = 1.0
        low[best] += 1
        at += slope(unit)
        at[best] += own
    return rounded_near(low, facts, known) if facts.shape[0] else low


def _by_shares(low: Floats, table: Floats, many: int) -> Floats:
    """Return a table with so many records more, spread evenly over what cells lack."""
    if many <= 0:
        return low
    lacking = np.cumsum(table - low)
    ends = np.floor(lacking / lacking[-1] * many + 1e-9)
    return np.asarray(low + np.diff(ends, prepend=0.0))
