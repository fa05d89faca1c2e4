"""True answers: every query of the contract on a data file, exactly, counted by DuckDB.

`true_answers` is the only place where a release looks at the records. A query that is not known
here is added up row by row, or brings its own `evaluate(data)`.
"""

from __future__ import annotations

from fractions import Fraction
from functools import singledispatch
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from blowproof.mechanisms.answers.rectangles import rectangle_names, rectangle_sums
from blowproof.mechanisms.answers.trees import answer_prefixes, answer_tree
from blowproof.mechanisms.answers.vectors import (
    Names,
    Vector,
    cells_of,
    kind_of,
    largest,
    prefix_sums,
    roomy,
    single,
    whole,
)
from blowproof.models import (
    BoundQuery,
    BudgetError,
    DataError,
    Domain,
    Policy,
    QueryError,
    parse_query,
)
from blowproof.models.data.dataset import Dataset
from blowproof.models.domain.domain import LISTING_LIMIT
from blowproof.models.mechanisms.mechanism import Prefixes, Release, Tree
from blowproof.models.queries.cluster_sizes import Clusters
from blowproof.models.queries.kinds import (
    CountQuery,
    Cumulative,
    Difference,
    Histogram,
    MarginalQuery,
    MatrixQuery,
    PartitionHistogram,
    Ranges,
    Rectangles,
    SumQuery,
    WeightedSum,
)
from blowproof.models.queries.outputs import Outputs, numbered_outputs

__all__ = [
    "Evaluated",
    "count_cells",
    "difference_names",
    "held_cells",
    "query_grid",
    "range_names",
    "require_answerable",
    "true_answers",
]

OUTPUT_LIMIT = 20_000_000
CELL_LIMIT = 20_000_000


@runtime_checkable
class Evaluated(Protocol):
    """A query that knows how to count itself."""

    def evaluate(self, data: Dataset) -> Vector:
        """Return the true answers."""
        ...


@runtime_checkable
class Dense(Protocol):
    """Data that hold the counts of a marginal as one row-major array already."""

    def dense_marginal(self, axes: tuple[int, ...]) -> NDArray[Any]:
        """Return the counts."""
        ...


def true_answers(query: Release | BoundQuery | str, policy: Policy, data: Dataset) -> Vector:
    """Return the exact answers of a query, or of what a release asks, on the data."""
    asked = query.query if isinstance(query, Release) else query
    if isinstance(asked, str):
        asked = parse_query(asked, policy)
    if isinstance(asked, (Tree, Prefixes)):
        axis = policy.domain.axis(asked.attribute)
        counts = count_cells(data, (axis,))
        return (
            answer_tree(asked, counts)
            if isinstance(asked, Tree)
            else answer_prefixes(asked, counts)
        )
    if isinstance(asked, Evaluated):
        return asked.evaluate(data)
    require_answerable(asked, policy)
    return _answer(asked, data)


def query_grid(query: BoundQuery, domain: Domain) -> Fraction:
    """Return a grid 1/d that holds everything a record, or a change of one, can add to a query.

    >>> from blowproof.models import Policy, Steps
    >>> policy = Policy(domain=Domain(temp=Steps(35, 42, "1/2")))
    >>> query_grid(parse_query("sum(temp)", policy), policy.domain)
    Fraction(1, 2)
    """
    found = query.grid(domain)
    if found is None:
        raise QueryError(f"nothing says on which grid {query.name} lives")
    return found


def require_answerable(query: Release | BoundQuery | str, policy: Policy) -> None:
    """Refuse what `true_answers` refuses on any data: too many outputs, or an unknown query.

    A plan asks this of all that it will release, so that nothing of it is found out after the
    budget is charged.
    """
    asked = query.query if isinstance(query, Release) else query
    if isinstance(asked, str):
        asked = parse_query(asked, policy)
    if isinstance(asked, (Tree, Prefixes)):
        size = policy.domain.attribute(policy.domain.axis(asked.attribute)).size
        _refuse_above(OUTPUT_LIMIT, size, "values")
        return
    outputs = asked.outputs(policy.domain)
    if outputs is not None:
        _refuse_above(OUTPUT_LIMIT, outputs.count, "outputs")
    if asked.records is not None:
        _refuse_above(LISTING_LIMIT, asked.records, "weights")
    by_rows = _answer.registry[object], _matrix
    if not isinstance(asked, Evaluated) and _answer.dispatch(type(asked)) in by_rows:
        _refuse_above(CELL_LIMIT, policy.domain.size, "values")
        if asked.per_record or (outputs is None and not isinstance(asked, MatrixQuery)):
            raise QueryError(f"{asked.name} cannot be counted in a data file")


def count_cells(data: Dataset, axes: tuple[int, ...]) -> NDArray[Any]:
    """Return the counts of a marginal as one row-major array."""
    sizes = [data.domain.attribute(axis).size for axis in axes]
    size = cells_of(data.domain, axes).size
    _refuse_above(OUTPUT_LIMIT, size, "cells")
    if isinstance(data, Dense):
        return data.dense_marginal(axes)
    places, numbers = held_cells(data, axes)
    counts = np.zeros(size, dtype=numbers.dtype)
    if len(numbers):
        counts[np.ravel_multi_index(tuple(places.T.astype(np.int64)), sizes)] = numbers
    return counts


def held_cells(
    data: Dataset, axes: tuple[int, ...], *, limit: int = CELL_LIMIT
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the cells that hold records, a row of positions each, and how many."""
    found = data.sparse_marginal(axes, limit=limit)
    last = max((data.domain.attribute(axis).size for axis in axes), default=0)
    places = np.array(list(found), dtype=kind_of(last)).reshape(len(found), len(axes))
    return places, whole(list(found.values()))


def _refuse_above(limit: int, size: int, what: str) -> None:
    if size > limit:
        raise BudgetError(f"the query has {size} {what}; a release has {limit} at the most")


def _counts(data: Dataset, axes: tuple[int, ...]) -> Vector:
    return Vector(count_cells(data, axes), Fraction(1), cells_of(data.domain, axes))


@singledispatch
def _answer(query: BoundQuery, data: Dataset) -> Vector:
    """Return the answers of a kind that has no shorter way below: row by row."""
    outputs = query.outputs(data.domain)
    assert outputs is not None
    names = [f"output {place + 1}" for place in range(outputs.count)]
    return _by_rows(query, data, outputs, single(names, column="output"))


@_answer.register
def _matrix(query: MatrixQuery, data: Dataset) -> Vector:
    names = single([str(k + 1) for k in range(query.height)], column="row")
    return _by_rows(query, data, numbered_outputs(query.height), names)


def _by_rows(query: BoundQuery, data: Dataset, outputs: Outputs, names: Names) -> Vector:
    """Add up the rows of the values that occur."""
    grid = query_grid(query, data.domain)
    totals = [Fraction(0)] * outputs.count
    for point, count in data.histogram(limit=CELL_LIMIT).items():
        for key, value in query.row(point).items():
            totals[outputs.place(key)] += count * value
    return Vector(whole([int(total / grid) for total in totals]), grid, names)


@_answer.register
def _histogram(query: Histogram, data: Dataset) -> Vector:
    return _counts(data, tuple(range(len(data.domain))))


@_answer.register
def _marginal(query: MarginalQuery, data: Dataset) -> Vector:
    return _counts(data, query.axes)


@_answer.register
def _difference(query: Difference, data: Dataset) -> Vector:
    halves = count_cells(data, (query.axis, *query.others)).reshape(2, -1)
    (halves,) = roomy(2 * largest(halves), halves)
    return Vector(halves[0] - halves[1], Fraction(1), difference_names(query, data.domain))


def difference_names(query: Difference, domain: Domain) -> Names:
    """Return the cells in which two values are compared."""
    if not query.others:
        return single([query.name], column="query")
    return cells_of(domain, query.others)


@_answer.register
def _count(query: CountQuery, data: Dataset) -> Vector:
    return Vector(
        whole([data.count(query.area)]), Fraction(1), single([query.name], column="query")
    )


@_answer.register
def _cumulative(query: Cumulative, data: Dataset) -> Vector:
    counts = count_cells(data, (query.axis,))
    return Vector(prefix_sums(counts)[1:], Fraction(1), cells_of(data.domain, (query.axis,)))


@_answer.register
def _ranges(query: Ranges, data: Dataset) -> Vector:
    size = query.size
    sums = prefix_sums(count_cells(data, (query.axis,)))
    low, high = np.triu_indices(size)
    return Vector(sums[high + 1] - sums[low], Fraction(1), range_names(data.domain, query.axis))


@_answer.register
def _rectangles(query: Rectangles, data: Dataset) -> Vector:
    counts = count_cells(data, query.axes).reshape(query.sizes)
    names = rectangle_names(query, data.domain)
    return Vector(rectangle_sums(query, counts), Fraction(1), names)


def range_names(domain: Domain, axis: int) -> Names:
    """Return the outputs of all ranges: from, to."""
    name, kind = domain.attributes[axis]
    size = kind.size
    return Names(
        (f"{name}_min", f"{name}_max"),
        size * (size + 1) // 2,
        lambda: ((kind.value(i), kind.value(j)) for i in range(size) for j in range(i, size)),
    )


@_answer.register
def _sum(query: SumQuery, data: Dataset) -> Vector:
    grid = query_grid(query, data.domain)
    units = []
    for axis in query.axes:
        kind = query.domain.attribute(axis)
        held = data.sparse_marginal((axis,), limit=CELL_LIMIT)
        total = sum(count * kind.coordinate(at) for (at,), count in held.items())
        units.append(int(total / grid))
    names = [query.domain.names[axis] for axis in query.axes]
    return Vector(whole(units), grid, single(names, column="sum"))


@_answer.register
def _partition(query: PartitionHistogram, data: Dataset) -> Vector:
    graph = query.graph
    if graph.fixed is not None:
        return _counts(data, graph.fixed)
    names = [graph.cell_label(cell) for cell in graph.cells]
    areas = [graph.cell_area(cell) for cell in graph.cells]
    return Vector(whole(data.counts(areas)), Fraction(1), single(names, column="cell"))


@_answer.register
def _clusters(query: Clusters, data: Dataset) -> Vector:
    from blowproof.mechanisms.answers.clusters import answer_clusters

    return answer_clusters(query, *held_cells(data, tuple(range(len(data.domain)))))


@_answer.register
def _weighted(query: WeightedSum, data: Dataset) -> Vector:
    if data.size != len(query.weights):
        raise DataError(
            f"{data.path}: {query.name} has {len(query.weights)} weights, and not so many records"
        )
    kind = query.domain.attribute(query.axis)
    records = data.records()
    total = sum(
        weight * kind.coordinate(point[query.axis])
        for weight, point in zip(query.weights, records, strict=True)
    )
    grid = query_grid(query, data.domain)
    return Vector(whole([int(total / grid)]), grid, single([query.name], column="query"))
