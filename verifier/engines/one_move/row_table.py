"""The weighted rows of releases, one for each value of a domain, as a table of integers.

For queries that no structure takes apart (clusters, matrices, queries made by a mechanism) on
domains of up to some hundred thousand values.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import singledispatch
from math import lcm
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from blowproof.models import BoundQuery, Domain, Exact, InternalError
from blowproof.models.queries.cluster_sizes import Clusters
from blowproof.models.queries.kinds import ClusterSizes, ClusterSums
from blowproof.models.stacks.stacked import Part, Stacked
from blowproof.verifier.limits.limit import whole_limit

__all__ = ["RowTable", "row_table"]

MOST_ENTRIES = whole_limit(__name__, "MOST_ENTRIES")
MOST_VALUES = whole_limit(__name__, "MOST_VALUES")
ROW_BY_ROW = whole_limit(__name__, "ROW_BY_ROW")
COMPARED = whole_limit(__name__, "COMPARED")
SAFE = 2**52
"""Sums below this are exact in 64-bit integers, and in floating point too."""


@dataclass(frozen=True)
class RowTable:
    """A row for each value, row-major; integers, which are `denominator` times the weighted rows.

    `largest` is the largest L1 norm of a row.
    """

    rows: NDArray[np.int64]
    denominator: int
    largest: int


def row_table(parts: Sequence[Part], domain: Domain) -> RowTable | None:
    """Return the table; None where it would be too large, or its numbers too long."""
    if domain.size > MOST_VALUES or any(part.query.per_record for part in parts):
        return None
    tables = []
    for part in parts:
        kind = _columns.registry.get(type(part.query))  # a subclass may do otherwise
        found = None if kind is None else kind(part.query, part, domain)
        found = _at_once(part, domain) if found is None else found
        found = _row_by_row(part, domain) if found is None else found
        if found is None:
            return None
        tables.append(found)
    denominator = lcm(*(table.denominator for table in tables), 1)
    times = [denominator // table.denominator for table in tables]
    if sum(factor * table.largest for factor, table in zip(times, tables, strict=True)) > SAFE:
        return None
    if sum(table.rows.shape[1] for table in tables) * domain.size > MOST_ENTRIES:
        return None
    rows = np.hstack([table.rows * factor for factor, table in zip(times, tables, strict=True)])
    return RowTable(rows, denominator, int(abs(rows).sum(axis=1).max(initial=0)))


def _at_once(part: Part, domain: Domain) -> RowTable | None:
    """Ask a query that gives the rows of many values at once; some are compared with single ones.

    Its outputs are numbered from 0, as the columns are. None where it does not, or numbers are
    long.
    """
    if not part.uniform:
        return None
    sizes = [attribute.size for _, attribute in domain.attributes]
    rows = part.query.rows(np.indices(sizes).reshape(len(sizes), -1).T)
    if rows is None:
        return None
    if int(abs(rows).max(initial=0)) * rows.shape[1] > SAFE:
        return None
    for place in range(0, domain.size, max(1, domain.size // COMPARED)):
        single = part.query.row(domain.whole.nth(place))
        if {at: value for at, value in enumerate(rows[place].tolist()) if value} != single:
            raise InternalError(f"{part.query.name} has two different rows for one value")
    return _weighted(part, rows.astype(np.int64), 1)


def _row_by_row(part: Part, domain: Domain) -> RowTable | None:
    """Ask the query for each row."""
    if domain.size > ROW_BY_ROW:
        return None
    stacked = Stacked((part,))
    columns: dict[Hashable, int] = {}
    entries: list[tuple[int, int, Exact]] = []
    for place, point in enumerate(domain.points()):
        for key, value in stacked.row(point).items():
            entries.append((place, columns.setdefault(key, len(columns)), value))
        if len(columns) * domain.size > MOST_ENTRIES or len(entries) > MOST_ENTRIES // 4:
            return None
    denominator = lcm(*{value.denominator for _, _, value in entries}, 1)
    sums: dict[int, int] = {}
    for place, _, value in entries:
        sums[place] = sums.get(place, 0) + abs(int(value * denominator))
    largest = max(sums.values(), default=0)
    if largest > SAFE:
        return None
    rows = np.zeros((domain.size, len(columns)), dtype=np.int64)
    for place, column, value in entries:
        rows[place, column] = int(value * denominator)
    return RowTable(rows, denominator, largest)


@singledispatch
def _columns(query: BoundQuery, part: Part, domain: Domain) -> RowTable | None:
    """Return the rows of all values at once; None for kinds that are not below."""
    return None


@_columns.register
def _sizes(query: ClusterSizes, part: Part, domain: Domain) -> RowTable | None:
    placed = _placed(query, domain)
    if placed is None:
        return None
    nearest = placed.nearest[:, None] == np.arange(len(query.centroids))
    return _weighted(part, nearest.astype(np.int64), 1)


@_columns.register
def _sums(query: ClusterSums, part: Part, domain: Domain) -> RowTable | None:
    placed = _placed(query, domain)
    if placed is None:
        return None
    rows = _spread(placed.points, placed.nearest, len(query.centroids))
    return _weighted(part, rows, placed.unit)


class _Placed(NamedTuple):
    """All values in whole units, and the cluster of each."""

    points: NDArray[Any]
    nearest: NDArray[Any]
    unit: int


def _placed(query: Clusters, domain: Domain) -> _Placed | None:
    """Place all values at once; ties go to the first centroid. None: the numbers are too long."""
    axes = [attribute for _, attribute in domain.attributes]
    numbers: list[Exact] = [*(axis.step for axis in axes), *(axis.coordinate(0) for axis in axes)]
    numbers += [number for centroid in query.centroids for number in centroid]
    unit = lcm(*(number.denominator for number in numbers))
    ends = [
        abs(int(axis.coordinate(place) * unit)) for axis in axes for place in (0, axis.size - 1)
    ]
    ends += [abs(int(number * unit)) for centroid in query.centroids for number in centroid]
    if 4 * len(axes) * max(ends) ** 2 > SAFE:
        return None
    grids = np.meshgrid(
        *(
            int(axis.coordinate(0) * unit) + int(axis.step * unit) * np.arange(axis.size)
            for axis in axes
        ),
        indexing="ij",
    )
    points = np.stack([grid.ravel() for grid in grids], axis=1)
    centroids = np.array([[int(n * unit) for n in centroid] for centroid in query.centroids])
    nearest = np.stack(
        [((points - centroid) ** 2).sum(axis=1) for centroid in centroids], axis=1
    ).argmin(axis=1)
    return _Placed(points, nearest, unit)


def _spread(points: NDArray[Any], nearest: NDArray[Any], clusters: int) -> NDArray[np.int64]:
    """Return a column for each cluster and axis; a value has its coordinates in its own cluster."""
    count, axes = points.shape
    rows = np.zeros((count, clusters, axes), dtype=np.int64)
    rows[np.arange(count), nearest] = points
    return rows.reshape(count, clusters * axes)


def _weighted(part: Part, rows: NDArray[np.int64], unit: int) -> RowTable | None:
    """Multiply the columns by their weights."""
    count = rows.shape[1]
    if part.uniform:
        weights: list[Fraction] = [part.weights[0]] * count
    elif len(part.weights) == count:
        weights = list(part.weights)
    else:
        return None
    below = lcm(*(weight.denominator for weight in weights))
    factors = [int(weight * below) for weight in weights]
    if int(abs(rows).sum(axis=1).max(initial=0)) * max(factors, default=0) > SAFE:
        return None
    scaled = rows * np.array(factors, dtype=np.int64)
    return RowTable(scaled, below * unit, int(abs(scaled).sum(axis=1).max(initial=0)))
