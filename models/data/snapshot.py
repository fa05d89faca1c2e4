"""A table of a database as a file of the moment: what a release counts is what it was charged for.

Between the charge and the last count nobody may change the records, and the ledger tells people by
all that their rows hold. So the rows are read once, in one transaction, and kept in a CSV file for
as long as the caller wants it: every cell as its text, by the same rules as counts where the table
lies (`elsewhere`), and nothing for NULL.
"""

from __future__ import annotations

import csv
import tempfile
from pathlib import Path
from typing import Any

from blowproof.models.base.errors import BudgetError
from blowproof.models.base.temporary import prefix
from blowproof.models.data.backends import opened
from blowproof.models.data.table_at import TableAt

__all__ = ["snapshot"]

MOST_ROWS = 5_000_000


def snapshot(at: TableAt, folder: Path) -> Path:
    """Return a CSV file with all rows and columns of a table, written into a folder."""
    with tempfile.TemporaryDirectory(prefix=prefix(), ignore_cleanup_errors=True) as scratch:
        backend = opened(at, None, scratch)
        try:
            table = backend.table(at.table)
            rows = backend.rows(table.limit(MOST_ROWS + 1))
            names = list(table.columns)
        finally:
            backend.close()
    if len(rows) > MOST_ROWS:
        raise BudgetError(
            f"{at}: more than {MOST_ROWS:,} rows; so many are not read out of a database"
            "\n  try: write the table to a Parquet file, and name that"
        )
    place = folder / f"{at.table.rpartition('.')[2].replace('/', '_')}.csv"
    with place.open("x", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(names)
        writer.writerows([_text(cell) for cell in row] for row in rows)
    return place


def _text(cell: Any) -> str:
    """Return a cell as files have it."""
    if cell is None:
        return ""
    if isinstance(cell, bytes):
        return cell.decode()
    return str(cell).lower() if isinstance(cell, bool) else str(cell)
