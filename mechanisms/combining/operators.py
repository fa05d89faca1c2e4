"""Queries as linear maps on the table of all cells, there and back, without a matrix.

Nearly every query of a mechanism counts intervals: each cell lies in a bin, and an output adds up
the bins low, ..., high - 1. Cells of a marginal are single bins; prefixes, ranges and nodes of a
tree are intervals of an attribute's values; flows along a forest are intervals of its vertices in
an order in which subtrees stay together. So a query is two passes over the cells. Any other query
has a sparse matrix.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import singledispatch
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from blowproof.mechanisms.answers.trees import prefix_ends, tree_levels
from blowproof.mechanisms.kinds.transformed import Flows
from blowproof.mechanisms.noise.steps import steps_at
from blowproof.mechanisms.structures.memberships import Memberships
from blowproof.models import BoundQuery, BudgetError, Domain, QueryError
from blowproof.models.mechanisms.mechanism import Prefixes
from blowproof.models.mechanisms.trees_and_prefixes import PrefixQuery, TreeQuery
from blowproof.models.queries.kinds import Cumulative, Ranges

if TYPE_CHECKING:
    from scipy.sparse import csr_array

__all__ = ["Intervals", "Linear", "Mixed", "Rows", "Stepped", "cell_bins", "operator_of", "stepped"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
MOST_ENTRIES = 20_000_000
MOST_ROWS = 200_000
"""Cells whose rows are asked for one by one."""


@dataclass(frozen=True, eq=False)
class Intervals:
    """Output j adds up the bins low[j]..high[j]-1; `bins` says where each cell lies."""

    bins: Ints
    low: Ints
    high: Ints
    many: int

    @property
    def height(self) -> int:
        """How many outputs there are."""
        return len(self.low)

    def forward(self, table: Floats) -> Floats:
        """Return the answers on a table of cells."""
        sums = np.zeros(self.many + 1)
        np.cumsum(np.bincount(self.bins, weights=table, minlength=self.many), out=sums[1:])
        return np.asarray(sums[self.high] - sums[self.low])

    def back(self, answers: Floats) -> Floats:
        """Return for each cell the sum of the answers in which it counts."""
        ends = np.bincount(self.high, weights=answers, minlength=self.many + 1)
        starts = np.bincount(self.low, weights=answers, minlength=self.many + 1)
        held = np.cumsum(starts - ends)
        return np.asarray(held[self.bins])


@dataclass(frozen=True, eq=False)
class Rows:
    """A query by its matrix, an output a row, on the bins in which the cells lie."""

    bins: Ints
    matrix: csr_array[Any]

    @property
    def height(self) -> int:
        """How many outputs there are."""
        return int(self.matrix.shape[0])

    def forward(self, table: Floats) -> Floats:
        """Return the answers on a table of cells."""
        held = np.bincount(self.bins, weights=table, minlength=self.matrix.shape[1])
        return np.asarray(self.matrix @ held)

    def back(self, answers: Floats) -> Floats:
        """Return for each cell its column's product with the answers."""
        return np.asarray((self.matrix.T @ answers)[self.bins])


@dataclass(frozen=True, eq=False)
class Stepped:
    """What noise on the steps of a grid leaves of a histogram, with a noise of its own each.

    Let P take the numbers on all steps to the counts, so that the noise on the counts is P times
    independent numbers. Then the least-squares numbers on the steps that lead to the counts,
    P' (P P')^+ times the counts, have the noise of the numbers themselves, up to cycles, which say
    nothing: the best estimate from the counts is that from these. P P' is a sum over the attributes
    of what the cosine transform makes diagonal.
    """

    shape: tuple[int, ...]
    ends: Sequence[tuple[tuple[Any, ...], tuple[Any, ...]]]
    inverse: Floats

    @property
    def height(self) -> int:
        """How many steps there are."""
        empty = np.empty(self.shape, dtype=bool)
        return sum(empty[first].size for first, _ in self.ends)

    def _settled(self, table: Floats) -> Floats:
        from scipy.fft import dctn, idctn

        found = dctn(table, norm="ortho") * self.inverse
        return np.asarray(idctn(found, norm="ortho"))

    def forward(self, table: Floats) -> Floats:
        """Return the numbers on the steps that lead to a table of cells."""
        level = self._settled(table.reshape(self.shape))
        return np.concatenate([(level[first] - level[second]).ravel()
                               for first, second in self.ends])  # fmt: skip

    def back(self, answers: Floats) -> Floats:
        """Return for each cell the sum of the answers in which it counts."""
        table = np.zeros(self.shape)
        start = 0
        for first, second in self.ends:
            part = table[first]
            drawn = answers[start : start + part.size].reshape(part.shape)
            start += part.size
            table[first] += drawn
            table[second] -= drawn
        return self._settled(table).ravel()


def stepped(axes: Sequence[int], domain: Domain) -> Stepped:
    """Return the steps along some attributes of a domain as such a map."""
    shape = tuple(kind.size for _, kind in domain.attributes)
    total = np.zeros(shape)
    for axis in axes:
        kind = domain.attribute(axis)
        waves = np.arange(kind.size)
        values = 2 - 2 * np.cos(np.pi * waves / kind.size)
        if not kind.ordered:  # steps between any two positions
            values = np.where(waves > 0, float(kind.size), 0.0)
        wide = [1] * len(shape)
        wide[axis] = kind.size
        total = total + values.reshape(wide)
    inverse = np.divide(1.0, total, out=np.zeros(shape), where=total > 1e-12)
    return Stepped(shape, steps_at(axes, domain), inverse)


@dataclass(frozen=True, eq=False)
class Mixed:
    """Sums of another map's outputs, a row of factors each."""

    query: Linear
    factors: Floats

    @property
    def height(self) -> int:
        """How many sums there are."""
        return len(self.factors)

    def forward(self, table: Floats) -> Floats:
        """Return the sums on a table of cells."""
        return np.asarray(self.factors @ self.query.forward(table))

    def back(self, answers: Floats) -> Floats:
        """Return for each cell the sum of the answers in which it counts."""
        return self.query.back(np.asarray(self.factors.T @ answers))


Linear = Intervals | Rows | Stepped | Mixed


def cell_bins(axes: tuple[int, ...], domain: Domain) -> tuple[Ints, int]:
    """Return for each cell of the domain (row-major) its cell of a marginal, and how many."""
    sizes = [kind.size for _, kind in domain.attributes]
    bins = np.zeros(sizes, dtype=np.int64)
    many = 1
    for axis in reversed(axes):
        shape = [1] * len(sizes)
        shape[axis] = sizes[axis]
        bins = bins + many * np.arange(sizes[axis], dtype=np.int64).reshape(shape)
        many *= sizes[axis]
    return bins.ravel(), many


def operator_of(query: BoundQuery, domain: Domain) -> Linear:
    """Return a query as a map on the table of cells; refuse one that has none.

    >>> from blowproof.models import Integers, Policy, parse_query
    >>> domain = Domain(age=Integers(0, 3))
    >>> found = operator_of(parse_query("cumulative(age)", Policy(domain=domain)), domain)
    >>> found.forward(np.array([1.0, 0.0, 2.0, 0.0])).tolist()
    [1.0, 1.0, 3.0, 3.0]
    >>> found.back(np.array([1.0, 10.0, 100.0, 1000.0])).tolist()
    [1111.0, 1110.0, 1100.0, 1000.0]
    """
    if query.per_record:
        raise QueryError(f"{query.name} weighs single records, which a table does not have")
    axes = query.cell_axes(domain)
    if axes is not None:
        bins, many = cell_bins(axes, domain)
        places = np.arange(many, dtype=np.int64)
        return Intervals(bins, places, places + 1, many)
    return _operator(query, domain)


def _along(axis: int, low: Ints, high: Ints, domain: Domain) -> Intervals:
    bins, many = cell_bins((axis,), domain)
    return Intervals(bins, low, high, many)


@singledispatch
def _operator(query: BoundQuery, domain: Domain) -> Linear:
    """Return the matrix of a query, where it is no map to intervals."""
    return _by_rows(query, domain)


@_operator.register
def _cumulative(query: Cumulative, domain: Domain) -> Linear:
    high = np.arange(1, domain.attribute(query.axis).size + 1, dtype=np.int64)
    return _along(query.axis, np.zeros_like(high), high, domain)


@_operator.register
def _ranges(query: Ranges, domain: Domain) -> Linear:
    low, last = np.triu_indices(domain.attribute(query.axis).size)
    return _along(query.axis, low.astype(np.int64), last.astype(np.int64) + 1, domain)


@_operator.register
def _prefixes(query: PrefixQuery, domain: Domain) -> Linear:
    every = Prefixes(attribute=domain.names[query.axis], every=query.every, whole=query.whole)
    high = prefix_ends(every, domain.attribute(query.axis).size)
    return _along(query.axis, np.zeros_like(high), high, domain)


@_operator.register
def _tree(query: TreeQuery, domain: Domain) -> Linear:
    levels = tree_levels(query.tree, domain.attribute(query.axis).size)
    none = np.zeros(0, dtype=np.int64)
    low = np.concatenate([none, *(level.low for level in levels)])
    high = np.concatenate([none, *(level.high for level in levels)])
    return _along(query.axis, low, high, domain)


@_operator.register
def _flows(query: Flows, domain: Domain) -> Linear:
    forest = query.forest
    place = np.empty_like(forest.order)
    place[forest.order] = np.arange(len(forest.order))
    low = place[query.released]
    return Intervals(place[query.vertex], low, low + forest.sizes[query.released], len(place))


@_operator.register
def _memberships(query: Memberships, domain: Domain) -> Linear:
    """Return what each value adds to the sizes of clusters, or to their sums, as a matrix."""
    from scipy.sparse import csr_array

    _require_few(query, domain.size)
    sizes = [kind.size for _, kind in domain.attributes]
    places = np.indices(sizes).reshape(len(sizes), -1).T
    return Rows(np.arange(domain.size), csr_array(query.rows(places).T.astype(np.float64)))


def _require_few(query: BoundQuery, values: int) -> None:
    if values > MOST_ROWS:
        raise BudgetError(
            f"{query.name} has {values:,} values to look at; {MOST_ROWS:,} at the most"
        )


def _by_rows(query: BoundQuery, domain: Domain) -> Rows:
    from scipy.sparse import csr_array

    outputs = query.outputs(domain)
    axes = tuple(sorted(query.axes_read(domain)))
    shape = [domain.attribute(axis).size for axis in axes]
    _require_few(query, prod(shape))
    height = query.height if outputs is None else outputs.count
    where: tuple[list[int], list[int], list[float]] = ([], [], [])
    point = [0] * len(domain)
    for at, cell in enumerate(np.ndindex(*shape)):
        for axis, place in zip(axes, cell, strict=True):
            point[axis] = place
        for key, value in query.row(tuple(point)).items():
            where[0].append(key if outputs is None else outputs.place(key))  # type: ignore[arg-type]
            where[1].append(at)
            where[2].append(float(value))
        if len(where[0]) > MOST_ENTRIES:
            raise BudgetError(f"{query.name} has too many entries to be estimated from")
    matrix = csr_array((where[2], (where[0], where[1])), shape=(max(1, height), prod(shape)))
    return Rows(cell_bins(axes, domain)[0], matrix)
