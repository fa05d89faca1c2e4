"""An explicit matrix, from a file."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from blowproof.models.base.numbers import Exact, magnitude, plain, total
from blowproof.models.domain.domain import Domain
from blowproof.models.domain.regions import Point
from blowproof.models.queries.arguments import query_file, query_name
from blowproof.models.queries.query import BoundQuery, Row

if TYPE_CHECKING:
    from blowproof.models.policy.policy import Policy

__all__ = ["MatrixQuery"]


@dataclass(frozen=True, repr=False)
class MatrixQuery(BoundQuery):
    """An explicit matrix: rows are outputs, columns are values in row-major order."""

    domain: Domain
    columns: tuple[Row, ...] = field(hash=False)  # of mappings
    name: str = "matrix"

    @classmethod
    def parse(cls, kind: str, arguments: Sequence[str], policy: Policy) -> MatrixQuery:
        """Return the matrix in a file."""
        from blowproof.models.files.tables import read_matrix

        size = policy.domain.size
        rows = read_matrix(query_file(arguments[0], policy.folder), size)
        columns: tuple[Row, ...] = tuple(
            {output: row[place] for output, row in enumerate(rows) if row[place]}
            for place in range(size)
        )
        return cls(policy.domain, columns, query_name(kind, arguments))

    def row(self, point: Point) -> Row:
        """One record adds its column."""
        return self.columns[self.domain.rank(point)]

    @property
    def height(self) -> int:
        """The number of outputs, up to the last row that is not zero."""
        return 1 + max((int(str(key)) for column in self.columns for key in column), default=-1)

    def arguments(self, domain: Domain) -> list[str | Exact]:
        """Return nothing: the matrix is in a file."""
        return []

    def data(self) -> list[list[Exact]]:
        """Return the rows (one of zeros, where all are)."""
        height = max(1, self.height)
        return [[column.get(k, 0) for column in self.columns] for k in range(height)]

    def entries(self, domain: Domain, *, labelled: bool) -> Iterable[Exact]:
        """Return all the numbers."""
        return (number for column in self.columns for number in column.values())

    def largest_answer(self, domain: Domain, size: int) -> Exact:
        """Return so many times the largest number."""
        return size * max(map(magnitude, self.entries(domain, labelled=False)), default=0)

    def one_record(self, domain: Domain) -> Exact:
        """Return the largest norm of a column."""
        norms = (total(map(magnitude, column.values())) for column in self.columns)
        return plain(max(norms, default=0))

    def one_move(self, domain: Domain) -> Exact:
        """Return what each output by itself changes by, from one end to the other, at the most."""
        apart: Exact = 0
        for output in {output for column in self.columns for output in column}:
            values = [column.get(output, 0) for column in self.columns]
            apart += max(values) - min(values)
        return plain(min(apart, 2 * self.one_record(domain)))
