"""A release as a file: CSV or Parquet, a column for each name and one for the answers."""

from __future__ import annotations

import csv
import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

from blowproof.mechanisms.release import Released
from blowproof.models import DataError, show
from blowproof.models.errors import nearest
from blowproof.models.queries import ClusterSums, MatrixQuery, SumQuery, WeightedSum

__all__ = ["OutputFile", "answer_column"]

_NOT_COUNTS = (SumQuery, WeightedSum, MatrixQuery, ClusterSums)


def answer_column(released: Released) -> str:
    """Return what the column of answers is called: `count`, as in published tables, or `value`."""
    query = released.request.bound
    counts = not isinstance(query, _NOT_COUNTS) or type(query).__name__ == "ClusterSizes"
    return "count" if counts and "count" not in released.answers.names.columns else "value"


class OutputFile:
    """A place for answers, opened before anything is drawn, so that no paid answer gets lost.

    What is written appears under its name all at once, when it is complete.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self._write = _writer(self.path)
        try:
            handle, name = tempfile.mkstemp(dir=self.path.parent, prefix=".blowproof-")
        except OSError as error:
            raise DataError(f"{self.path}: cannot be written ({error.strerror})") from None
        os.close(handle)
        self._waiting = Path(name)

    def save(self, released: Released) -> None:
        """Write the answers."""
        self._write(released, self._waiting)
        with suppress(OSError):
            mask = os.umask(0)
            os.umask(mask)
            self._waiting.chmod(0o666 & ~mask)
        self._waiting.replace(self.path)

    def discard(self) -> None:
        """Remove what was not saved."""
        self._waiting.unlink(missing_ok=True)


def _writer(path: Path) -> Callable[[Released, Path], None]:
    writers = {".csv": _write_csv, ".parquet": _write_parquet}
    if path.is_dir():
        raise DataError(f"{path}: this is a folder, not a file")
    found = writers.get(path.suffix.lower())
    if found is None:
        close = nearest(path.suffix, writers, what="ending")
        raise DataError(f"{path}: the ending {path.suffix!r} is not known\n  try: {close}")
    return found


def _rows(released: Released) -> Iterator[tuple[object, ...]]:
    for names, value in zip(released.answers.names.rows(), released.answers, strict=True):
        shown = value if isinstance(value, (float, int)) else show(value)
        yield (*(_plain(name) for name in names), shown)


def _plain(name: object) -> object:
    return name if isinstance(name, (str, int)) else show(name)  # type: ignore[arg-type] # Fraction


def _write_csv(released: Released, path: Path) -> None:
    file: IO[str]
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow([*released.answers.names.columns, answer_column(released)])
        writer.writerows(_rows(released))


def _write_parquet(released: Released, path: Path) -> None:
    import pyarrow
    import pyarrow.parquet

    names = [*released.answers.names.columns, answer_column(released)]
    columns: list[list[Any]] = [list(column) for column in zip(*_rows(released), strict=True)]
    columns = columns or [[] for _ in names]
    arrays = [_array(pyarrow, column) for column in columns]
    pyarrow.parquet.write_table(pyarrow.table(dict(zip(names, arrays, strict=True))), path)


def _array(pyarrow: Any, column: list[Any]) -> Any:
    """Return a column: whole numbers, floats, or texts where some of it is neither."""
    kinds = {type(value) for value in column}
    small = kinds == {int} and all(-(2**63) <= value < 2**63 for value in column)
    if small or kinds == {float}:
        return pyarrow.array(column)
    return pyarrow.array([str(value) for value in column])
