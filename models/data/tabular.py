"""A CSV or Parquet file as a table of positions, built inside DuckDB; nothing is guessed.

CSV columns are all read as text, with the separator that the file's ending or its first line names,
so that a column of "01" and "02", or of "true" and "NA", stays what it is. Each file is read once,
into a temporary table `encoded` with a column p0, p1, ... of small integers per attribute, in the
file's order.
"""

from __future__ import annotations

import csv
import gzip
import re
import tempfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from weakref import ref

from blowproof.models.base.closing import Closing
from blowproof.models.base.door import FileError, open_file
from blowproof.models.base.errors import BudgetError, DataError, InternalError, PolicyError, nearest
from blowproof.models.base.temporary import prefix, sweep
from blowproof.models.data.encoding import (
    NO_LABEL,
    STAGES,
    Column,
    escaped,
    literal,
    place,
    quoted,
)
from blowproof.models.domain.attributes import Attribute, Labels
from blowproof.models.domain.regions import Point

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

__all__ = ["Table", "allow_memory", "connect", "engine_settings", "forget_all", "rank"]

_SEPARATORS = {".csv": ",", ".csv.gz": ",", ".tsv": "\t"}
_PARQUET = (".parquet", ".pq")
_ODD_LIMIT = 2_000_000
_LONGEST_HEADER = 1_000_000
_LISTED, _LONGEST_TEXT = 12, 60
"""How many labels an error lists, and how much of each."""
_NOT_UTF_8 = "this is not UTF-8 text\n  try: save it as UTF-8, or iconv -f latin1 -t utf-8"
_AS_STRING = ", binary_as_string = true"
_STORED = "SELECT name, num_children, precision FROM parquet_schema({})"
_WIDE, _DIGITS = "decimals of {} digits", 38
"""What DuckDB makes doubles of: decimals of more digits than these."""
_MEMORY, _DISK = 2 * 10**9, 64 * 10**9
"""What the database engine may take for one file, in bytes."""


class Table(Closing):
    """An open data file. Use it in a `with` block, or call `close`."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self.ending = _ending(self.path)
        _must_be_file(self.path)
        sweep()
        self._folder = tempfile.TemporaryDirectory(prefix=prefix(), ignore_cleanup_errors=True)
        _tables[:] = [known for known in _tables if known() is not None] + [ref(self)]
        try:
            self._link = _without_wildcards(self.path, Path(self._folder.name), self.ending)
            self._engine = connect(self._folder.name)
            self._columns, self._scan = self._open()
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Forget the table and remove the temporary folder."""
        if hasattr(self, "_engine"):
            self._engine.interrupt()  # a thread that was halted may still wait for a query
            self._engine.close()
        self._folder.cleanup()

    def abandon(self) -> None:
        """Tell the engine to stop, and remove the temporary folder without waiting for it."""
        if hasattr(self, "_engine"):
            self._engine.interrupt()
        self._folder.cleanup()

    @property
    def names(self) -> tuple[str, ...]:
        """The file's columns, in its order."""
        return tuple(name for name, _, _ in self._columns)

    def rows(self, sql: str, values: Sequence[object] = ()) -> list[tuple[Any, ...]]:
        """Return the rows of a query over the table `encoded`."""
        with self._in_words():
            return self._engine.execute(sql, list(values)).fetchall()

    def cells(self, sql: Callable[[str, list[str]], str]) -> list[tuple[Any, ...]]:
        """Return the rows of a query over the file itself; `sql` writes it.

        It is given the source, and each column as a text in SQL. Bytes that are no UTF-8 have a
        text too, for a column that no policy names may hold them.
        """
        scan = self._scan.replace(_AS_STRING, "")
        kinds = [kind for _, kind, *_ in self.rows(f"DESCRIBE SELECT * FROM {scan}")]
        sources = zip((source for _, source, _ in self._columns), kinds, strict=True)
        texts = [_text(source, kind) for source, kind in sources]
        return self._scanned(lambda source: sql(source, texts), scan)

    def column(self, name: str, attribute: Attribute) -> Column:
        """Return the column with exactly this name, or refuse with the nearest one."""
        found = [column for column in self._columns if column[0] == name]
        found = found or [column for column in self._columns if column[0] == escaped(name)]
        if len(found) > 1:
            raise DataError(f"{self.path}: {len(found)} columns are named {name!r}")
        if not found:
            raise DataError(_tried(f"{self.path}: there is no column {name!r}", self._near(name)))
        column = Column(name, attribute, *found[0][1:])
        if column.type.startswith(_WIDE.partition("{")[0]):
            raise DataError(
                f"{self.path}: the column {name!r} holds {column.type}; up to {_DIGITS} digits are "
                "read without rounding\n  try: store it as text"
            )
        if column.narrow is None:
            raise BudgetError(f"{name} has {attribute.size} values; files are read up to 2^126")
        if not isinstance(attribute, Labels):
            return column
        return Column(name, attribute, *found[0][1:], enum=self._enumerated(attribute))

    def encode(self, columns: Sequence[Column]) -> None:
        """Build the table `encoded`; a value outside its attribute is an error, with its row."""
        self._read(columns)
        for axis, column in enumerate(columns):
            if not isinstance(column.attribute, Labels):
                self._read_odd(axis, column)
        missing = " OR ".join(f"p{axis} IS NULL" for axis in range(len(columns)))
        where = f"FROM encoded WHERE odd IS NOT NULL AND ({missing})"
        first = self.rows(f"SELECT rowid, * {where} ORDER BY rowid LIMIT 1")
        if first:
            raise DataError(self._outside(columns, first[0]))
        self.rows("ALTER TABLE encoded DROP COLUMN odd")

    def _read(self, columns: Sequence[Column]) -> None:
        """Read the file."""
        create = "CREATE TEMP TABLE encoded AS "
        self._scanned(lambda scan: create + _encoding(columns, scan), self._scan)

    def _scanned(self, sql: Callable[[str], str], scan: str) -> list[tuple[Any, ...]]:
        """Ask about the file, by one thread if DuckDB's threads lose track of quoted line ends."""
        try:
            return self.rows(sql(scan))
        except DataError as error:
            if "single threaded" not in str(error.__cause__):
                raise
            return self.rows(sql(scan.removesuffix(")") + ", parallel = false)"))

    def _read_odd(self, axis: int, column: Column) -> None:
        """Give the odd spellings that are on the grid their positions; each is read once."""
        item = f"odd[{axis + 1}]"
        where = f"odd IS NOT NULL AND p{axis} IS NULL AND {item} IS NOT NULL"
        some = f"SELECT DISTINCT {item} FROM encoded WHERE {where} LIMIT {_ODD_LIMIT + 1}"
        found = [text for (text,) in self.rows(some)]
        if len(found) > _ODD_LIMIT:
            raise BudgetError(
                f"{self.path}: the column {column.name!r} holds more than {_ODD_LIMIT} values, such"
                f" as {found[0]!r}, that are not plainly spelled {column.attribute.describe()}"
            )
        known = [(text, str(at)) for text in found if (at := _try(column, text)) >= 0]
        if known:
            self.rows(
                "CREATE OR REPLACE TEMP TABLE spelled AS SELECT unnest(?::VARCHAR[]) AS spelling, "
                f"CAST(unnest(?::VARCHAR[]) AS {column.narrow}) AS position",
                [[text for text, _ in known], [at for _, at in known]],
            )
            self.rows(
                f"UPDATE encoded SET p{axis} = spelled.position FROM spelled"
                f" WHERE {where} AND {item} = spelled.spelling"
            )

    def _outside(self, columns: Sequence[Column], row: tuple[Any, ...]) -> str:
        """Say which row cannot be used, and why: the first, and not how many (`agreement`)."""
        number, *places, texts = row
        axis = places.index(None)
        where = f"{self.path}: row {number + 1}: {columns[axis].name}"
        if texts[axis] is None:
            labelled = isinstance(columns[axis].attribute, Labels)
            fill = 'the label "" stands for empty cells' if labelled else "fill it, or leave it out"
            return _tried(f"{where} is empty", fill)
        try:
            place(columns[axis], texts[axis])
        except PolicyError as error:
            hint = self._lacking(axis) if error.reason == NO_LABEL else error.hint
            return _tried(f"{where} = {texts[axis]!r}: {error.reason}", hint)
        raise InternalError(f"{where} = {texts[axis]!r} is in the domain, but got no position")

    def _lacking(self, axis: int) -> str:
        """What to do about labels that the policy lacks: list them, as the data spell them."""
        item = f"odd[{axis + 1}]"
        where = f"odd IS NOT NULL AND p{axis} IS NULL AND {item} IS NOT NULL"
        asked = f"SELECT DISTINCT {item} AS t FROM encoded WHERE {where} ORDER BY t"
        texts = self.rows(f"{asked} LIMIT {_LISTED + 1}")
        found = [repr(_shortened(text)) for (text,) in texts]
        more = ", ..." if len(found) > _LISTED else ""
        listed = ", ".join(found[:_LISTED])
        return f"add to the policy's labels, or mend in the data, what they hold: {listed}{more}"

    def _near(self, name: str) -> str | None:
        if len(self.names) == 1 and re.search("[;\t|,]", self.names[0]):
            return f"separate columns by {_SEPARATORS.get(self.ending)!r}; found {self.names[0]!r}"
        return nearest(name, self.names, what="column")

    def _enumerated(self, attribute: Labels) -> str:
        """Create an SQL type of the labels, in order, and return its name."""
        (count,) = self.rows("SELECT count(*) FROM duckdb_types() WHERE logical_type = 'ENUM'")[0]
        self.rows(
            "CREATE OR REPLACE TEMP TABLE labels AS SELECT unnest(?::VARCHAR[]) AS label",
            [[str(label) for label in attribute.labels]],
        )
        self.rows(f"CREATE TYPE labels{count} AS ENUM (SELECT label FROM labels ORDER BY rowid)")
        return f"labels{count}"

    def _open(self) -> tuple[list[tuple[str, str, str]], str]:
        """Return (name, its SQL, its type) of each column, and the FROM clause for the file."""
        file = literal(self._link)
        if self.ending in _PARQUET:
            scan = f"read_parquet({file}, hive_partitioning = false{_AS_STRING})"
            found = self.rows(f"DESCRIBE SELECT * FROM {scan}")
            stored = _outermost(self.rows(_STORED.format(file)))
            return [
                (name, quoted(given), _WIDE.format(digits) if digits > _DIGITS else kind)
                for (name, digits), (given, kind, *_) in zip(stored, found, strict=True)
            ], scan
        separator, names = _separated(self.path, self.ending)
        columns = [(name, f"c{at}", "VARCHAR") for at, name in enumerate(names)]
        types = ", ".join(f"{source}: 'VARCHAR'" for _, source, _ in columns)
        options = [
            *("auto_detect = false", "header = true", "hive_partitioning = false"),
            *("quote = '\"'", "escape = '\"'", f"delim = '{separator}'"),
            f"compression = '{'gzip' if self.ending.endswith('.gz') else 'none'}'",
            f"columns = {{{types}}}",
        ]
        return columns, f"read_csv({file}, {', '.join(options)})"

    @contextmanager
    def _in_words(self) -> Iterator[None]:
        """Turn the engine's error into one sentence."""
        import duckdb

        try:
            yield
        except duckdb.Error as error:
            raise DataError(f"{self.path}: {_sentence(str(error))}") from error


@dataclass
class _Allowed:
    memory: int = _MEMORY


_allowed = _Allowed()
_tables: list[ref[Table]] = []
"""Those that may be open; without callbacks, which a halt of their thread could run into."""


def allow_memory(most: int) -> None:
    """Give engines that are opened from now on so many bytes, and never more than 2 GB."""
    _allowed.memory = min(_MEMORY, most)


def forget_all() -> None:
    """Remove the temporary folders of tables still open: the process ends without closing them.

    An engine may be busy in a thread that nobody can stop; it is told to, and not waited for.
    """
    for known in _tables:
        table = known()
        if table is not None:
            table.abandon()


def rank(cell: Point, sizes: Sequence[int]) -> int:
    """Return the place of a cell in row-major order.

    >>> rank((1, 2), [3, 5])
    7
    """
    result = 0
    for at, size in zip(cell, sizes, strict=True):
        result = result * size + at
    return result


def _encoding(columns: Sequence[Column], scan: str) -> str:
    """The SELECT from columns to positions; a row with an odd value keeps its texts too."""
    axes = range(len(columns))
    raw = [f"r{axis}" for axis in axes]
    made = [f"{column.kept} AS {name}" for column, name in zip(columns, raw, strict=True)]
    sql, before = f"SELECT {', '.join(made)} FROM {scan}", raw
    for level, stage in zip("xyzp", STAGES, strict=True):
        made = [f"{stage(columns[at], raw[at], before[at])} AS {level}{at}" for at in axes]
        sql = f"SELECT {', '.join([*raw, *made])} FROM ({sql})"
        before = [f"{level}{at}" for at in axes]
    texts = ", ".join(f"CAST({name} AS VARCHAR)" for name in raw)
    missing = " OR ".join(f"{name} IS NULL" for name in before)
    return f"SELECT {', '.join(before)}, CASE WHEN {missing} THEN [{texts}] END AS odd FROM ({sql})"


def _outermost(schema: Sequence[tuple[str, int | None, int | None]]) -> list[tuple[str, int]]:
    """Return the columns of a Parquet file by their own names, and the digits of decimals.

    `schema`: its tree, each part before its own parts, the root first. DuckDB gives other names to
    columns that differ in capitals alone, or in nothing.

    >>> _outermost([("schema", 2, None), ("a", 1, None), ("item", None, None), ("A", None, 9)])
    [('a', 0), ('A', 9)]
    """
    found = []
    inner = 0  # parts of a column that are still to come
    for name, parts, digits in schema[1:]:
        if inner:
            inner -= 1
        else:
            found.append((name, digits or 0))
        inner += parts or 0
    return found


def _text(source: str, kind: str) -> str:
    text = f"CAST({source} AS VARCHAR)"
    return f"coalesce(TRY(decode({source})), {text})" if kind == "BLOB" else text


def _try(column: Column, text: str) -> int:
    try:
        return place(column, text)
    except PolicyError:
        return -1


def _tried(text: str, hint: str | None) -> str:
    return f"{text}\n  try: {hint}" if hint else text


def _shortened(text: str) -> str:
    return text if len(text) <= _LONGEST_TEXT else f"{text[:_LONGEST_TEXT]}..."


def _ending(path: Path) -> str:
    name = path.name.lower()
    allowed = (*_SEPARATORS, *_PARQUET)
    for ending in allowed:
        if name.endswith(ending):
            return ending
    if re.match("[a-z]+:/", str(path).lower()):
        raise DataError(
            f"{path}: this is an address, and a file is read here\n"
            "  try: write it into the policy, as data = { url = ..., table = ... }"
        )
    policy = path.suffix.lower() == ".toml"
    raise DataError(
        f"{path}: the name ends in {path.suffix!r}; allowed are {', '.join(allowed)}\n"
        f"  try: {'the data stand after the policy' if policy else 'save it as .csv'}"
    )


def _must_be_file(path: Path) -> None:
    try:
        open_file(path).close()
    except FileError as error:
        hint = error.hint
        if isinstance(error.__context__, FileNotFoundError):
            folder = path.parent
            kinds = (*_SEPARATORS, *_PARQUET)
            names = (item.name for item in folder.iterdir()) if folder.is_dir() else ()
            near = [name for name in names if name.lower().endswith(kinds)]
            close = nearest(path.name, near, what="file") or ""
            hint = close if "did you" in close else hint
        raise DataError(_tried(f"{path}: {error.reason}", hint)) from None


def _without_wildcards(path: Path, folder: Path, ending: str) -> str:
    """Return a path that DuckDB takes literally: "a[1].csv" would be a pattern for "a1.csv"."""
    if not re.search(r"[*?\[\]]", str(path.resolve())):
        return str(path.resolve())
    link = folder / f"data{ending}"
    link.symlink_to(path.resolve())
    return str(link)


def connect(folder: str) -> DuckDBPyConnection:
    """Open an engine that stays off the network and within its memory, and spills into the folder.

    What it holds in memory is part of what the command may take as a whole: see `allow_memory`.
    """
    import duckdb

    return duckdb.connect(":memory:", config=engine_settings(folder))


def engine_settings(folder: str) -> dict[str, str | bool | int | float | list[str]]:
    """Return the settings of such an engine."""
    return {
        "autoinstall_known_extensions": "false",
        "autoload_known_extensions": "false",
        "max_temp_directory_size": f"{_DISK}B",
        "memory_limit": f"{_allowed.memory}B",
        "preserve_insertion_order": "true",
        "temp_directory": folder,
    }


def _separated(path: Path, ending: str) -> tuple[str, list[str]]:
    """Return what separates columns, and their names.

    The ending says it, unless the line of names has no comma outside quotes but semicolons or tabs:
    so spreadsheets write .csv where a comma stands in numbers.
    """
    separator = _SEPARATORS[ending]
    names = _header(path, separator)
    others = (";", "\t") if separator == "," and len(names) == 1 else ()
    for other in others:
        found = _header(path, other)
        if len(found) > 1:
            return other, found
    return separator, names


def _header(path: Path, separator: str) -> list[str]:
    """Return the names in the first line. DuckDB loses every row after a header of two lines."""
    packed = path.name.lower().endswith(".gz")
    try:
        with open_file(path) as raw:
            file: Any = gzip.GzipFile(fileobj=raw) if packed else raw
            line = re.split(b"[\r\n]", file.readline(_LONGEST_HEADER))[0].decode("utf-8-sig")
    except UnicodeDecodeError:
        raise DataError(f"{path}: line 1: {_NOT_UTF_8}") from None
    except (OSError, EOFError, zlib.error) as error:
        raise DataError(f"{path}: cannot be read ({error})") from None
    try:
        names = next(csv.reader([line], delimiter=separator, strict=True), [])
    except csv.Error as error:
        raise DataError(f"{path}: the line of column names is broken ({error})") from None
    if not names:
        raise DataError(f"{path}: the first line is empty; it must hold the names of the columns")
    return names


def _sentence(text: str) -> str:
    """Return what an engine's error says, without its list of options."""
    line = re.search(r"CSV Error on Line: (\d+)", text)
    where = f"line {line[1]}: " if line else ""
    found = re.search(r"Expected Number of Columns: (\d+) Found: (\d+)", text)
    if found:
        return f"{where}{found[2]} fields, but the header names {found[1]} columns"
    if "unterminated quote" in text:
        return f"{where}a quote is not closed, or text follows it"
    if "nicode" in text or "utf-8" in text:
        return f"{where}{_NOT_UTF_8}"
    if "magic bytes" in text or "to be a Parquet file" in text:
        return "this is not a Parquet file"
    if "state machine" in text:
        return f"{where}line ends are mixed, or quotes do not match"
    return where + text.split("\n", maxsplit=1)[0].removeprefix("Invalid Input Error: ")
