"""Databases in CSV and Parquet files, counted by DuckDB.

Records are never loaded into Python: `Table.encode` leaves a table of positions inside the engine,
and every number here is one query over it.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from pathlib import Path

from blowproof.models.base.errors import BudgetError
from blowproof.models.base.kept import cached_property
from blowproof.models.data.counted import Counted, bounded, within
from blowproof.models.data.tabular import Table
from blowproof.models.domain.domain import LISTING_LIMIT, Domain
from blowproof.models.domain.regions import Area, Point

__all__ = ["Dataset"]

_FEW_CELLS = 100_000


class Dataset(Counted):
    """The records of a data file, each a value of the domain; read at the first question.

    A value outside the domain, or a missing one, is a DataError that names the row and the value.
    """

    def __init__(self, path: str | Path, domain: Domain) -> None:
        self.path = Path(path)
        self.domain = domain
        self.name = self.path.name
        self._file = Table(path)

    def close(self) -> None:
        """Forget the records and remove the temporary folder."""
        self._file.close()

    @cached_property
    def _table(self) -> Table:
        columns = [self._file.column(name, kind) for name, kind in self.domain.attributes]
        self._file.encode(columns)
        return self._file

    @cached_property
    def size(self) -> int:
        """How many records there are."""
        return int(self._table.rows("SELECT count(*) FROM encoded")[0][0])

    def counts(self, areas: Sequence[Area]) -> list[int]:
        """Return how many records lie in each area, in one pass over the records."""
        if not areas:
            return []
        whole = self.domain.whole
        asked = [f"sum(n) FILTER (WHERE {within(area, whole)})" for area in areas]
        sql = f"SELECT {', '.join(asked)} FROM ({self._grouped(areas)})"
        return [int(count or 0) for count in self._table.rows(sql)[0]]

    def _grouped(self, areas: Sequence[Area]) -> str:
        """The records, or where that is surely less, the cells that the areas tell apart."""
        full = self.domain.whole.sides
        used = sorted({at for area in areas for at in bounded(area, full)})
        if not used or prod(full[axis].size for axis in used) > _FEW_CELLS:
            return "SELECT *, 1 AS n FROM encoded"
        names = ", ".join(f"p{axis}" for axis in used)
        return f"SELECT {names}, count(*) AS n FROM encoded GROUP BY {names}"

    def sparse_marginal(
        self, axes: tuple[int, ...], *, limit: int = LISTING_LIMIT
    ) -> dict[Point, int]:
        """Return the counts that are not 0, by the positions on these axes."""
        if not axes:
            return {(): self.size} if self.size else {}
        names = ", ".join(f"p{axis}" for axis in axes)
        sql = f"SELECT {names}, count(*) FROM encoded GROUP BY {names} LIMIT {limit + 1}"
        found = self._table.rows(sql)
        if len(found) > limit:
            raise BudgetError(f"{self.path}: more than {limit} different cells hold records")
        return {cell: count for *place, count in found for cell in [tuple(place)]}

    def records(self, limit: int = LISTING_LIMIT) -> list[Point]:
        """Return every record in the file's order: record 1 is its first row."""
        if self.size > limit:
            raise BudgetError(f"{self.path}: more than {limit} records; listing stops there")
        names = ", ".join(f"p{axis}" for axis in range(len(self.domain)))
        return self._table.rows(f"SELECT {names} FROM encoded ORDER BY rowid")

    def __repr__(self) -> str:
        return f"Dataset({str(self.path)!r})"
