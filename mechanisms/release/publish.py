"""A release as a file: CSV, Parquet or JSON, a row for each number.

A row has the names, the answer, its standard error, an interval of 95 % and the mechanism. Answers
with a form of their own (`Released.form`) have the rows of that form. What the numbers rest on (the
promise, S, the noise, the policy's digest, the version) stands in the JSON, or beside the other
files under their name with `.meta.json`.
"""

from __future__ import annotations

import csv
import json
import math
import os
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from importlib.metadata import version
from itertools import chain, islice, repeat
from itertools import count as naturals
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from blowproof.mechanisms.answers.vectors import Estimate
from blowproof.mechanisms.release.form import in_few_digits
from blowproof.mechanisms.release.measured import kept
from blowproof.mechanisms.release.release import Released
from blowproof.models import BoundQuery, DataError, Exact, show
from blowproof.models.base.errors import nearest
from blowproof.models.base.temporary import FILE, prefix, sweep
from blowproof.models.data.encoding import escaped, literal, quoted
from blowproof.models.data.tabular import connect
from blowproof.models.files.writing import digest
from blowproof.models.stacks.stacked import Stacked

__all__ = [
    "BESIDE",
    "OutputFile",
    "about",
    "answer_column",
    "error_columns",
    "is_count",
    "write_columns",
    "write_rows",
]

BESIDE = ".meta.json"
BLOCK = 200_000
"""Rows that are made at a time."""
ERRORS = ("standard_error", "low95", "high95", "mechanism")


def answer_column(released: Released) -> str:
    """Return what the column of answers is called: `count`, as in published tables, or `value`.

    Never what another column is called, in small letters or large ones.
    """
    if released.form is not None:
        return released.form.answer
    counts = is_count(released.request.bound)
    taken = {name.casefold() for name in released.answers.names.columns}
    names = chain(["count"] if counts else [], ["value"], (f"value_{at}" for at in naturals(2)))
    return next(name for name in names if name not in taken)


def error_columns(released: Released) -> list[str]:
    """Return what the columns beside the answer are called, never as another one is."""
    taken = {name.casefold() for name in released.answers.names.columns}
    if released.errors is None:
        return []
    return [name if name not in taken else f"released_{name}" for name in ERRORS]


def is_count(query: BoundQuery) -> bool:
    """Whether all answers of a query are numbers of records."""
    if isinstance(query, Stacked):
        return all(is_count(part.query) for part in query.parts)
    return query.binary


class OutputFile:
    """A place for answers, opened before anything is drawn, so that no paid answer gets lost.

    What is written appears under its name all at once, when it is complete. `names` are those that
    columns may have: what a format cannot write is refused before it is paid for. A name in a CSV
    file that a spreadsheet would run as a formula has an apostrophe before it (`escaped`).
    """

    def __init__(
        self, path: str | Path, names: Sequence[str] = (), *, overwrite: bool = False
    ) -> None:
        self.path = Path(path)
        self._write = _writer(self.path)
        if not overwrite and os.path.lexists(self.path):
            raise DataError(
                f"{self.path}: this file exists: nothing was drawn and nothing spent\n"
                "  try: another --output, or --overwrite"
            )
        if self._write is _write_parquet:
            _must_be_distinct(self.path, names)
        sweep(str(self.path.parent), FILE)
        try:
            handle, name = tempfile.mkstemp(dir=self.path.parent, prefix=prefix(FILE))
        except OSError as error:
            raise DataError(
                f"{self.path}: cannot be written ({error.strerror}): nothing was drawn and nothing "
                "spent\n  try: another --output, where you may write"
            ) from None
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
        if self._write is not _write_json:
            beside = self.path.with_name(self.path.name + BESIDE)
            beside.write_text(json.dumps(about(released), indent=1) + "\n", encoding="utf-8")

    def discard(self) -> None:
        """Remove what was not saved."""
        self._waiting.unlink(missing_ok=True)


def _writer(path: Path) -> Callable[[Released, Path], None]:
    writers = {".csv": _write_csv, ".parquet": _write_parquet, ".json": _write_json}
    if path.is_dir():
        raise DataError(f"{path}: this is a folder, not a file")
    found = writers.get(path.suffix.lower())
    if found is None:
        close = nearest(path.suffix, writers, what="ending")
        raise DataError(f"{path}: the ending {path.suffix!r} is not known\n  try: {close}")
    return found


def _columns(released: Released) -> list[str]:
    """Return what the columns of a file are called."""
    if released.form is not None:
        return list(released.form.columns)
    return [*released.answers.names.columns, answer_column(released), *error_columns(released)]


def _rows(released: Released) -> Iterator[tuple[object, ...]]:
    if released.form is not None:
        yield from released.form.table()
        return
    beside: Iterable[tuple[float, float, float] | None] = repeat(None)
    if released.errors is not None and released.ends is not None:
        beside = zip(released.errors, *released.ends, strict=True)
    several = released.answers.mechanisms if isinstance(released.answers, Estimate) else None
    makers: Iterable[str] = repeat(released.mechanism) if several is None else several
    rows = zip(released.answers.names.rows(), released.answers, beside, makers, strict=False)
    for names, value, found, by in rows:
        shown = value if isinstance(value, (float, int)) else show(value)
        more: tuple[object, ...] = ()
        if found is not None:
            error, low, high = in_few_digits(*found)
            more = (error, *_holding(value, low, high), by)
        yield (*(_plain(name) for name in names), shown, *more)


def _holding(value: Exact | float, low: float, high: float) -> tuple[float, float]:
    """Return an interval with its number in it: whole numbers lie beside what they are made of."""
    try:
        return min(low, float(value)), max(high, float(value))
    except OverflowError:
        return low, high


def about(released: Released) -> dict[str, Any]:
    """Return what a reader of the answers has to know: what was promised, and what it rests on."""
    found = released.to_json()
    for key in (
        "columns",
        "values",
        *([] if released.form is None else [f"{released.form.thing}s"]),
    ):
        del found[key]
    policy = released.request.policy
    return {
        **found,
        "schema": "blowproof/answers/1",
        "version": version("blowproof"),
        "policy_digest": digest(policy),
        "size": released.size,
        "account": released.account,
        "ledger": released.ledger,
        "columns": _columns(released),
        "rows": len(released.answers) if released.form is None else len(released.form.rows),
        "measured": kept(released.description.releases, released.measured),
    }


def _write_json(released: Released, path: Path) -> None:
    rows = [[None if isinstance(it, float) and not math.isfinite(it) else it for it in row]
            for row in _rows(released)]  # fmt: skip
    path.write_text(json.dumps({**about(released), "rows": rows}) + "\n", encoding="utf-8")


def _plain(name: object) -> object:
    return name if isinstance(name, (str, int)) else show(name)  # type: ignore[arg-type] # Fraction


def _write_csv(released: Released, path: Path) -> None:
    write_rows(_columns(released), _rows(released), path)


def write_rows(names: Sequence[str], rows: Iterable[tuple[object, ...]], path: Path) -> None:
    """Write rows to a CSV file, the names first; what a spreadsheet would run is escaped."""
    file: IO[str]
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow([escaped(name) for name in names])
        for row in rows:
            writer.writerow([escaped(cell) if isinstance(cell, str) else cell for cell in row])


def _must_be_distinct(path: Path, names: Sequence[str]) -> None:
    """Refuse names that DuckDB, which compares them without case, would change in silence."""
    seen = {"", *(name.casefold() for name in names if "\0" in name)}
    for name in names:
        if name.casefold() in seen:
            raise DataError(
                f"{path}: a Parquet file cannot have a column {name!r} beside the others, or at all"
                "\n  try: write the answers to a .csv file"
            )
        seen.add(name.casefold())


def _write_parquet(released: Released, path: Path) -> None:
    write_columns(_columns(released), _rows(released), path)


def write_columns(
    names: Sequence[str], rows: Iterable[tuple[object, ...]], path: Path, block: int = BLOCK
) -> None:
    """Write rows to a Parquet file: columns of whole numbers, floats, or texts (`_held`).

    Only `block` rows at a time are held as Python's own objects, which take ten times the memory.
    """
    import duckdb

    columns: list[list[_Held]] = [[] for _ in names]
    waiting = iter(rows)
    while some := list(islice(waiting, block)):
        for column, values in zip(columns, zip(*some, strict=True), strict=True):
            column.append(_held(values))
    kinds = [_kind_of(column) for column in columns]
    lists = ", ".join(f"unnest(?::{kind}[])" for kind in kinds)
    typed = ", ".join(f"c{at} {kind}" for at, kind in enumerate(kinds))
    casts = ", ".join(f"c{at}::{kind}" for at, kind in enumerate(kinds))
    named = ", ".join(f"c{at} AS {quoted(name)}" for at, name in enumerate(names))
    # DuckDB would write under a second name first, which nobody removes after a crash.
    copy = (
        f"COPY (SELECT {named} FROM rows ORDER BY rowid) TO {literal(str(path.resolve()))} "
        "(FORMAT parquet, USE_TMP_FILE false)"
    )
    with tempfile.TemporaryDirectory(prefix=prefix()) as folder, connect(folder) as engine:
        engine.execute(f"CREATE TEMP TABLE rows ({typed})")
        for part in zip(*columns, strict=True):
            items = [_items(held, kind) for held, kind in zip(part, kinds, strict=True)]
            if all(isinstance(it, np.ndarray) for it in items):  # it takes a twentieth of the time
                engine.register("block", {f"c{at}": it for at, it in enumerate(items)})
                engine.execute(f"INSERT INTO rows SELECT {casts} FROM block")
                engine.unregister("block")
            else:
                found = [it.tolist() if isinstance(it, np.ndarray) else it for it in items]
                engine.execute(f"INSERT INTO rows SELECT {lists}", found)
        try:
            engine.execute(copy)
        except duckdb.Error as error:
            raise DataError(f"{path}: cannot be written ({str(error).splitlines()[0]})") from None


_Held = NDArray[np.int64] | NDArray[np.float64] | tuple[Any, ...]
"""Some values of a column: whole numbers of 64 bits, floats, or anything."""


def _held(values: tuple[Any, ...]) -> _Held:
    """Return some values in an array, where they are whole numbers of 64 bits or all floats.

    >>> _held((1, -2)), _held((0.5, 2.0)), _held((1, 2**63)), _held((1, None))
    (array([ 1, -2]), array([0.5, 2. ]), (1, 9223372036854775808), (1, None))
    """
    kinds = set(map(type, values))
    if kinds == {int} and min(values) >= -(2**63) and max(values) < 2**63:
        return np.array(values, dtype=np.int64)
    return np.array(values, dtype=np.float64) if kinds == {float} else values


def _kind_of(column: Sequence[_Held]) -> str:
    """Return a column's SQL type: texts where it is not all whole numbers, or all floats, or none.

    One number beyond 64 bits makes all of them texts: DuckDB's wider integers become doubles in a
    Parquet file, and lose digits.

    >>> _kind_of([_held((1, 2)), _held((3, None))]), _kind_of([_held((1,)), _held((2**63,))])
    ('BIGINT', 'VARCHAR')
    """
    kinds = set().union(*(_kinds(held) for held in column))
    return {frozenset({int}): "BIGINT", frozenset({float}): "DOUBLE"}.get(
        frozenset(kinds), "VARCHAR"
    )


def _kinds(held: _Held) -> set[type]:
    if isinstance(held, np.ndarray):
        return {int if held.dtype.kind == "i" else float}
    wide = any(type(value) is int and not -(2**63) <= value < 2**63 for value in held)
    return {type(value) for value in held if value is not None} | ({str} if wide else set())


def _items(held: _Held, kind: str) -> NDArray[Any] | list[Any]:
    """Return values as DuckDB takes them: an array, or a list where some are missing."""
    if isinstance(held, np.ndarray) and kind != "VARCHAR":
        return held
    items = held.tolist() if isinstance(held, np.ndarray) else list(held)
    if None in items:
        return [None if value is None else _as(kind, value) for value in items]
    return np.array([_as(kind, value) for value in items], dtype=object)


def _as(kind: str, value: Any) -> Any:
    return str(value) if kind == "VARCHAR" else value
