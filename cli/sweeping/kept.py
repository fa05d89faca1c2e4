"""What a sweep has found, kept so that nothing is answered twice.

Every row is appended to a journal as it comes, a line of JSON each, with the worst pair where it is
short; a line cut off by a crash is passed over. The results are a Parquet file of the grid's own
rows, written anew, whole or not at all, every few seconds and at the end.
"""

from __future__ import annotations

import json
import os
import tempfile
import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import TextIO

from blowproof.cli.sweeping.work import Row
from blowproof.models.base.door import FileError, open_file

__all__ = ["COLUMNS", "Kept", "write_parquet"]

PERIOD = 10.0
"""Seconds between two writings of the results."""
SAFELY = 1.0
"""Seconds after which rows have to be on the disk: what a machine loses that dies. A process that
dies loses none, for the journal was handed to the system."""

JOURNAL_BYTES = 8_000_000_000

COLUMNS = {
    "policy": "VARCHAR", "settings": "VARCHAR", "query": "VARCHAR", "reading": "VARCHAR",
    "norm": "VARCHAR", "answers": "VARCHAR", "lower": "VARCHAR", "upper": "VARCHAR",
    "status": "VARCHAR", "engine": "VARCHAR", "counts": "BIGINT", "records": "BIGINT",
    "seconds": "DOUBLE", "time_limit": "DOUBLE", "version": "VARCHAR", "decided_by": "VARCHAR",
    "notes": "VARCHAR", "error": "VARCHAR", "key": "VARCHAR",
}  # fmt: skip
"""Numbers that are exact are texts: no column of fixed width carries them."""


class Kept:
    """The journal and the results of a sweep that writes to `output`.

    `wanted`: the key of each question of the grid, and what its row is called there. Two policies
    that mean the same are one question, and two rows.
    """

    def __init__(self, output: str, wanted: Sequence[tuple[str, Row]]) -> None:
        self.output = Path(output)
        self.journal = Path(f"{output}.journal")
        self.wanted = wanted
        self.rows: dict[str, Row] = _read(self.journal)
        self._written = self._safe = time.monotonic()
        self._file: TextIO | None = None

    def __enter__(self) -> Kept:
        self._file = self.journal.open("a", encoding="ascii")
        if self.journal.stat().st_size and not _ends_a_line(self.journal):
            self._file.write("\n")
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._file is not None:
            os.fsync(self._file.fileno())
            self._file.close()
        self.write()

    def enough(self, key: str, limit: float | None) -> bool:
        """Whether what is known of a question will do: it is exact, or had at least so much time.

        Rows with an error are asked again: whatever it was may be mended.
        """
        row = self.rows.get(key)
        if row is None or row["error"] is not None:
            return False
        had = row["time_limit"]
        return row["status"] != "bounds" or had is None or (limit is not None and limit <= had)

    def add(self, rows: Iterable[Row]) -> None:
        """Keep rows at once, and write the results from time to time."""
        assert self._file is not None
        for row in rows:
            self.rows[row["key"]] = row
            self._file.write(json.dumps(row) + "\n")
        self._file.flush()
        now = time.monotonic()
        if now - self._safe > SAFELY:
            os.fsync(self._file.fileno())
            self._safe = now
        if now - self._written > PERIOD:
            self.write()

    def found(self) -> list[Row]:
        """Return the rows of the grid's questions that are answered, in its order."""
        found = [(self.rows[key], called) for key, called in self.wanted if key in self.rows]
        return [{name: row[name] for name in COLUMNS} | called for row, called in found]

    def write(self) -> None:
        """Write the results."""
        write_parquet(self.found(), self.output)
        self._written = time.monotonic()


def _read(path: Path) -> dict[str, Row]:
    if not path.exists():
        return {}
    found = {}
    with open_file(path, most=JOURNAL_BYTES) as file:
        for line in file:
            try:
                row = json.loads(line)
            except ValueError:
                continue  # cut off by a crash
            if isinstance(row, dict) and set(COLUMNS) <= set(row):
                found[str(row["key"])] = row
            elif line.strip():
                raise FileError(path, "this is no journal of a sweep", "another --output")
    return found


def _ends_a_line(path: Path) -> bool:
    with open_file(path, most=JOURNAL_BYTES) as file:
        file.seek(-1, os.SEEK_END)
        return file.read(1) == b"\n"


def write_parquet(rows: Sequence[Mapping[str, object]], path: Path) -> None:
    """Write rows as a Parquet file, whole or not at all."""
    import duckdb

    folder = path.parent
    with tempfile.TemporaryDirectory(prefix=".blowproof-", dir=folder) as scratch:
        lines, made = Path(scratch) / "rows.json", Path(scratch) / "rows.parquet"
        lines.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="ascii")
        columns = ", ".join(f"'{name}': '{kind}'" for name, kind in COLUMNS.items())
        with duckdb.connect(":memory:") as connection:
            connection.execute(
                f"COPY (SELECT * FROM read_json(?, format='newline_delimited', "
                f"columns={{{columns}}}, maximum_object_size=100000000)) TO '{_quoted(made)}' "
                "(FORMAT parquet)",
                [str(lines)],
            )
        made.replace(path)


def _quoted(path: Path) -> str:
    return str(path).replace("'", "''")
