"""The names of a query's outputs, as a release of it would have them."""

from __future__ import annotations

from functools import singledispatch

from blowproof.mechanisms.answers.rectangles import rectangle_names
from blowproof.mechanisms.answers.true_answers import difference_names, range_names
from blowproof.mechanisms.answers.vectors import Names, cells_of, single
from blowproof.models import BoundQuery, Domain, Policy
from blowproof.models.queries.kinds import (
    CountQuery,
    Cumulative,
    Difference,
    Ranges,
    Rectangles,
    SumQuery,
)

__all__ = ["names_of"]


def names_of(query: BoundQuery, policy: Policy) -> Names:
    """Return the names of a query's outputs, in their order."""
    domain = policy.domain
    axes = query.cell_axes(domain)
    if axes is not None:
        return cells_of(domain, axes)
    return _named(query, domain)


@singledispatch
def _named(query: BoundQuery, domain: Domain) -> Names:
    """Return the number of each row, where nothing better is known."""
    outputs = query.outputs(domain)
    many = query.height if outputs is None else outputs.count
    return single([str(place + 1) for place in range(many)], column="row")


@_named.register
def _cumulative(query: Cumulative, domain: Domain) -> Names:
    return cells_of(domain, (query.axis,))


@_named.register
def _ranges(query: Ranges, domain: Domain) -> Names:
    return range_names(domain, query.axis)


@_named.register
def _rectangles(query: Rectangles, domain: Domain) -> Names:
    return rectangle_names(query, domain)


@_named.register
def _difference(query: Difference, domain: Domain) -> Names:
    return difference_names(query, domain)


@_named.register
def _sum(query: SumQuery, domain: Domain) -> Names:
    return single([domain.names[axis] for axis in query.axes], column="sum")


@_named.register
def _count(query: CountQuery, domain: Domain) -> Names:
    return single([query.name], column="query")
