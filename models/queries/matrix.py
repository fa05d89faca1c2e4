"""An explicit matrix, from a file."""

from __future__ import annotations

from dataclasses import dataclass, field

from blowproof.models.domain.domain import Domain
from blowproof.models.domain.regions import Point
from blowproof.models.queries.query import BoundQuery, Row

__all__ = ["MatrixQuery"]


@dataclass(frozen=True, repr=False)
class MatrixQuery(BoundQuery):
    """An explicit matrix: rows are outputs, columns are values in row-major order."""

    domain: Domain
    columns: tuple[Row, ...] = field(hash=False)  # of mappings
    name: str = "matrix"

    def row(self, point: Point) -> Row:
        """One record adds its column."""
        return self.columns[self.domain.rank(point)]
