"""The outputs of a query in order: what a list of noise scales is matched with, and their names."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from math import prod

from blowproof.models.domain.domain import Domain
from blowproof.models.queries.kinds import (
    ClusterSizes,
    ClusterSums,
    CountQuery,
    Cumulative,
    Histogram,
    MarginalQuery,
    PartitionHistogram,
    Ranges,
    SumQuery,
    WeightedSum,
)
from blowproof.models.queries.query import BoundQuery

__all__ = ["Outputs", "outputs_of"]


@dataclass(frozen=True)
class Outputs:
    """How many outputs there are, and the place of each in order, from 0, by its key."""

    count: int
    place: Callable[[Hashable], int]


def outputs_of(query: BoundQuery, domain: Domain) -> Outputs | None:
    """Return a query's outputs, in order; None for matrices and queries made elsewhere.

    Cells come in row-major order, prefixes by length, ranges [i, j] by i and then by j, sums in the
    order in which the attributes are named, coordinates within clusters.

    >>> from blowproof.models import Domain, Integers
    >>> outputs_of(Histogram(), Domain(age=Integers(0, 4))).place((3,))
    3
    """
    if isinstance(query, Histogram):
        return Outputs(domain.size, lambda key: _cell(key, [a.size for _, a in domain.attributes]))
    if isinstance(query, MarginalQuery):
        sizes = [domain.attribute(axis).size for axis in query.axes]
        return Outputs(prod(sizes), lambda key: _cell(key, sizes))
    if isinstance(query, Ranges):
        size = query.size
        return Outputs(size * (size + 1) // 2, lambda key: _range(key, size))
    if isinstance(query, SumQuery):
        axes = query.axes
        return Outputs(len(axes), lambda key: axes.index(_number(key)))
    if isinstance(query, (CountQuery, WeightedSum)):
        return Outputs(1, lambda key: 0)
    if isinstance(query, Cumulative):
        return Outputs(query.size, _number)
    return _listed(query, domain)


def _listed(query: BoundQuery, domain: Domain) -> Outputs | None:
    if isinstance(query, PartitionHistogram):
        count = getattr(query.graph, "cell_count", None)
        return None if count is None else Outputs(count, _number)
    if isinstance(query, ClusterSums):
        sizes = [len(query.centroids), len(domain)]
        return Outputs(prod(sizes), lambda key: _cell(key, sizes))
    if isinstance(query, ClusterSizes):
        return Outputs(len(query.centroids), _number)
    count = getattr(query, "count", None)
    return Outputs(count, _number) if isinstance(count, int) else None


def _number(key: Hashable) -> int:
    assert isinstance(key, int)
    return key


def _cell(key: Hashable, sizes: list[int]) -> int:
    assert isinstance(key, tuple)
    place = 0
    for at, size in zip(key, sizes, strict=True):
        place = place * size + at
    return place


def _range(key: Hashable, size: int) -> int:
    assert isinstance(key, tuple)
    low, high = _number(key[0]), _number(key[1])
    return low * size - low * (low - 1) // 2 + (high - low)
