"""The names of a query's outputs, as a release of it would have them."""

from __future__ import annotations

from blowproof.mechanisms.answers.true_answers import range_names
from blowproof.mechanisms.answers.vectors import Names, cells_of, single
from blowproof.models import BoundQuery, Policy
from blowproof.models.queries.kinds import CountQuery, Cumulative, Ranges, SumQuery

__all__ = ["names_of"]


def names_of(query: BoundQuery, policy: Policy) -> Names:
    """Return the names of a query's outputs, in their order."""
    domain = policy.domain
    axes = query.cell_axes(domain)
    if axes is not None:
        return cells_of(domain, axes)
    if isinstance(query, Cumulative):
        return cells_of(domain, (query.axis,))
    if isinstance(query, Ranges):
        return range_names(domain, query.axis)
    if isinstance(query, SumQuery):
        return single([domain.names[axis] for axis in query.axes], column="sum")
    if isinstance(query, CountQuery):
        return single([query.name], column="query")
    outputs = query.outputs(domain)
    many = query.height if outputs is None else outputs.count
    return single([str(place + 1) for place in range(many)], column="row")
