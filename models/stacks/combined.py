"""Sums of a query's outputs, with whole factors: what a shape of differences is measured by."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, field

from blowproof.models.base.errors import QueryError
from blowproof.models.base.numbers import Exact, plain
from blowproof.models.domain.domain import Domain
from blowproof.models.domain.regions import Point
from blowproof.models.queries.outputs import Outputs, numbered_outputs
from blowproof.models.queries.query import BoundQuery, Row

__all__ = ["Combined", "combined"]


@dataclass(frozen=True, repr=False)
class Combined(BoundQuery):
    """Output i is the sum of `factors[i][j]` times output j of another query.

    >>> from blowproof.models import Domain, Integers, Policy, parse_query
    >>> domain = Domain(age=Integers(0, 2))
    >>> ages = parse_query("histogram", Policy(domain=domain))
    >>> found = combined(ages, [(1, 1, 0), (0, -1, 2)], domain)
    >>> [dict(found.row((age,))) for age in range(3)]
    [{0: 1}, {0: 1, 1: -1}, {1: 2}]
    """

    query: BoundQuery
    factors: tuple[tuple[int, ...], ...]
    numbered: Outputs = field(compare=False)
    name: str = "facets"

    def row(self, point: Point) -> Row:
        """One record adds its row, combined."""
        own = {self.numbered.place(key): value for key, value in self.query.row(point).items()}
        found: dict[Hashable, Exact] = {}
        for place, factors in enumerate(self.factors):
            value = sum(factors[key] * number for key, number in own.items())
            if value:
                found[place] = plain(value)
        return found

    def outputs(self, domain: Domain) -> Outputs:
        """Return the outputs, numbered from 0."""
        return numbered_outputs(len(self.factors))

    def entries(self, domain: Domain, *, labelled: bool) -> Iterable[Exact] | None:
        """Return what the other query says: factors are whole."""
        return self.query.entries(domain, labelled=labelled)

    def axes_read(self, domain: Domain) -> frozenset[int]:
        """Return the axes that determine the other query's row."""
        return self.query.axes_read(domain)


def combined(query: BoundQuery, factors: Sequence[Sequence[int]], domain: Domain) -> Combined:
    """Return sums of a query's outputs, one row of factors each."""
    numbered = query.outputs(domain)
    if numbered is None:
        if not query.height:
            raise QueryError(f"the outputs of {query.name} are not known one by one")
        numbered = numbered_outputs(query.height)
    if query.per_record or any(len(row) != numbered.count for row in factors):
        raise QueryError(f"{query.name} has {numbered.count} outputs to combine")
    rows = tuple(tuple(map(int, row)) for row in factors)
    return Combined(query, rows, numbered, f"facets of {query.name}")
