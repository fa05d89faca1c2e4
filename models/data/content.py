"""What a data file holds, as a digest: the same people in another file have the same digest.

Budgets belong to people, not to files. So the digest is over the rows and cells of a file, not over
its bytes, and it forgets all that saving a file anew can change:

- the format: CSV, TSV, gzip and Parquet, quotes, line ends, a newline more at the end;
- the order of the rows and of the columns, and the names of the columns;
- the spelling of numbers ("36.50", "36.5", "+36.5") and of texts (blanks around them, capitals),
  and whether nothing is written as NULL or as an empty text.

A row is hashed as the sorted list of its cells (SHA-256). The rows' hashes are added up in four
parts of 60 bits, as exact integers, so that no row's place counts and each of two equal rows does,
and the sums with the number of rows are hashed once more. DuckDB does this in one pass and in
little memory: seconds for 10^7 rows. (Sorting the rows instead would cost far more.)

Whatever the digest forgets makes two files share a budget, never the reverse: too coarse is safe.
It is over *all* columns, whatever a policy's domain names, since two policies about one file are
about the same people. What it does not see is a change: one cell, one row, one column more or less
is other content, and the ledger asks whose it is. A digest of few and simple records can be guessed
by trying: it is kept in the ledger and never printed.
"""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from blowproof.models.base.errors import DataError
from blowproof.models.data.tabular import Table

__all__ = ["Content", "content_of", "order_of"]

_PARTS = 4
_HEX = 15  # digits of a part: 60 bits, so that a sum of a billion of them is an exact HUGEINT


@dataclass(frozen=True)
class Content:
    """What a file held when it was read: its digest, and how to tell the file again.

    `stamp` changes when somebody writes to the file; `device` and `inode` stay, whatever the name.
    """

    path: Path
    digest: str
    rows: int
    columns: tuple[str, ...]
    stamp: tuple[int, ...]

    @property
    def device(self) -> int:
        """The device that the file lies on."""
        return self.stamp[0]

    @property
    def inode(self) -> int:
        """The file's number there: the same for every hard link to it."""
        return self.stamp[1]

    def require_unchanged(self) -> None:
        """Raise a DataError if the file was written to since."""
        if _stamp(self.path) != self.stamp:
            raise DataError(
                f"{self.path}: the file changed while it was read: nothing was released and "
                "nothing spent\n  try: once more, when nobody writes to it"
            )


def content_of(path: str | Path) -> Content:
    """Return what a data file holds."""
    place = Path(path).resolve()
    with Table(path) as table:
        stamp = _stamp(place)
        asked = f"SELECT count(*), {_sums('h')} FROM "
        (rows, *sums) = table.cells(lambda source, cells: f"{asked}({_hashed(source, cells)})")[0]
        columns = table.names
    result = Content(place, _together("content", rows, sums), rows, columns, stamp)
    result.require_unchanged()
    return result


def order_of(path: str | Path) -> str:
    """Return a digest over the rows in their order: the same iff record i is the same for every i.

    Two equal rows cannot be told apart, and may change places.
    """
    with Table(path) as table:
        create = "CREATE TEMP TABLE hashed AS "
        table.cells(lambda source, cells: create + _hashed(source, cells))
        placed = "SELECT sha256(concat(rowid, ' ', h)) AS h FROM hashed"
        (rows, *sums) = table.rows(f"SELECT count(*), {_sums('h')} FROM ({placed})")[0]
    return _together("order", rows, sums)


def _stamp(path: Path) -> tuple[int, ...]:
    try:
        found = path.stat()
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror})") from None
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns


def _hashed(source: str, cells: list[str]) -> str:
    """A hash for each row, in SQL: of its cells in a normal spelling, sorted."""
    spelled = (
        f"coalesce(CAST(TRY_CAST({text} AS DOUBLE) AS VARCHAR), lower(trim({text})), '')"
        for text in cells
    )
    row = f"array_to_string(list_sort([{', '.join(spelled)}]), chr(31))"
    return f"SELECT sha256({row}) AS h FROM {source}"


def _sums(name: str) -> str:
    pieces = (f"('0x' || substr({name}, {1 + _HEX * at}, {_HEX}))" for at in range(_PARTS))
    return ", ".join(f"sum(CAST({piece} AS BIGINT))" for piece in pieces)


def _together(what: str, rows: int, sums: list[int | None]) -> str:
    parts = [f"blowproof {what} 1", str(rows), *(str(item or 0) for item in sums)]
    return sha256("\n".join(parts).encode("ascii")).hexdigest()
