"""Databases of others, by Ibis: one connection, one table of it, and rows of expressions over it.

Expressions run where the data lie; what comes back are rows of counts, as Python has them (`int`,
`Decimal`, `float`, `str`), never as arrays of fixed width. Everything is read in one transaction
where the database has one, so that all numbers are of one moment, and nothing is ever written.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import parse_qsl, unquote, urlsplit

from blowproof.models.base.door import open_file
from blowproof.models.base.errors import DataError, nearest
from blowproof.models.base.masked import masked, without_secret
from blowproof.models.data.encoding import quoted
from blowproof.models.data.table_at import TableAt, kind_of
from blowproof.models.data.tabular import engine_settings

__all__ = ["Backend", "opened"]

PATIENCE = 10
"""Seconds that a server may take to answer at all."""

Row = tuple[Any, ...]


class Backend(Protocol):
    """What is asked of a database: the table, rows of an expression, and what tells rows apart."""

    def table(self, name: str) -> Any:
        """Return the table as an Ibis expression, or raise a DataError with the nearest name."""

    def rows(self, expression: Any) -> list[Row]:
        """Return the rows of an expression."""

    def primary_key(self, name: str) -> tuple[str, ...]:
        """Return the columns of the table's primary key, () where it has none."""

    def text(self, column: Any) -> Any:
        """Return a column of texts so that different ones are never equal: as texts or bytes."""

    def close(self) -> None:
        """End the connection."""


class _Sql:
    """A database that Ibis writes SQL for, and that is asked by its own cursor."""

    key_sql = ""
    """SQL for the columns of the primary key, with {schema} and {table} as texts."""

    def __init__(self, at: TableAt, connection: Any) -> None:
        self.at, self.connection = at, connection

    def table(self, name: str) -> Any:
        """Return the table as an Ibis expression, and begin to read."""
        schema, _, plain = name.rpartition(".")
        with in_words(self.at):
            there = self.names(schema)
        if plain not in there:
            text = f"{self.at}: there is no table {name!r}"
            hint = nearest(plain, there, what="table") or "there are no tables at all"
            raise DataError(f"{text}\n  try: {hint}")
        with in_words(self.at):
            found = self.expression(plain, schema)
            self.begin()
        return found

    def names(self, schema: str) -> list[str]:
        """Return the names of all tables and views in a schema ("": the usual one)."""
        return list(self.connection.list_tables(**({"database": schema} if schema else {})))

    def expression(self, name: str, schema: str) -> Any:
        """Return a table that is there as an expression."""
        return self.connection.table(name, **({"database": schema} if schema else {}))

    def rows(self, expression: Any) -> list[Row]:
        """Return the rows of an expression."""
        with in_words(self.at):
            return self.execute(self.compile(expression))

    def compile(self, expression: Any) -> str:
        """Return the SQL of an expression."""
        return str(self.connection.compile(expression))

    def primary_key(self, name: str) -> tuple[str, ...]:
        """Return the columns of the table's primary key."""
        if not self.key_sql:
            return ()
        schema, _, plain = name.rpartition(".")
        words = [word.replace("'", "''") for word in (schema, plain)]
        with in_words(self.at):
            found = self.execute(self.key_sql.format(schema=words[0], table=words[1]))
        return tuple(name for (name,) in found)

    def text(self, column: Any) -> Any:
        """Return a column of texts; what is joined to nothing has no collation of its own."""
        return column.cast("string") + ""

    def begin(self) -> None:
        """Begin the transaction that everything is read in."""

    def execute(self, sql: str) -> list[Row]:
        """Return the rows of a query."""
        return list(self.connection.con.execute(sql).fetchall())

    def close(self) -> None:
        """End the connection."""
        with suppress(Exception):  # it may be gone already
            self.connection.disconnect()


class _DuckDB(_Sql):
    """DuckDB, whose connection is its own: Ibis writes the SQL alone, so no arrays are needed."""

    key_sql = (
        "SELECT unnest(constraint_column_names) FROM duckdb_constraints() WHERE constraint_type ="
        " 'PRIMARY KEY' AND table_name = '{table}' AND schema_name = coalesce(nullif('{schema}',"
        " ''), 'main')"
    )

    def names(self, schema: str) -> list[str]:
        asked = "SELECT table_name FROM information_schema.tables WHERE table_schema = ?"
        return [name for (name,) in self.connection.execute(asked, [schema or "main"]).fetchall()]

    def expression(self, name: str, schema: str) -> Any:
        ibis: Any = import_module("ibis")
        types: Any = import_module("ibis.backends.sql.datatypes").DuckDBType
        source = ".".join(quoted(word) for word in (schema, name) if word)
        described = self.execute(f"DESCRIBE SELECT * FROM {source}")
        columns = {column: types.from_string(kind) for column, kind, *_ in described}
        return ibis.table(columns, name=name, database=schema or None)

    def text(self, column: Any) -> Any:
        return column.cast("string").cast("binary")  # a collation stays with what is joined

    def begin(self) -> None:
        self.connection.begin()

    def compile(self, expression: Any) -> str:
        return str(import_module("ibis").to_sql(expression, dialect="duckdb"))

    def execute(self, sql: str) -> list[Row]:
        return list(self.connection.execute(sql).fetchall())

    def close(self) -> None:
        self.connection.interrupt()
        self.connection.close()


class _SQLite(_Sql):
    key_sql = "SELECT name FROM pragma_table_info('{table}') WHERE pk > 0 ORDER BY pk"

    def begin(self) -> None:
        self.connection.con.execute("BEGIN")


class _Postgres(_Sql):
    key_sql = (
        "SELECT a.attname FROM pg_index i JOIN pg_class c ON c.oid = i.indrelid JOIN pg_namespace s"
        " ON s.oid = c.relnamespace JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum ="
        " ANY(i.indkey) WHERE i.indisprimary AND c.relname = '{table}' AND CASE WHEN '{schema}' ="
        " '' THEN pg_table_is_visible(c.oid) ELSE s.nspname = '{schema}' END"
    )
    loose = (
        "SELECT a.attname FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid JOIN"
        " pg_collation k ON k.oid = a.attcollation WHERE NOT k.collisdeterministic AND c.relname ="
        " '{table}'"
    )

    def begin(self) -> None:
        self.connection.con.rollback()
        plain = self.at.table.rpartition(".")[2].replace("'", "''")
        odd = self.execute(self.loose.format(table=plain))
        if odd:
            raise DataError(
                f"{self.at}: the column {odd[0][0]!r} has a collation that takes different texts"
                ' for equal\n  try: a view with the column COLLATE "C"'
            )


class _Spark(_Sql):
    def table(self, name: str) -> Any:
        if name.startswith("parquet."):
            with in_words(self.at):
                return self.connection.read_parquet(name.partition(".")[2].strip("`"))
        return super().table(name)

    def execute(self, sql: str) -> list[Row]:
        return [tuple(row) for row in self.connection._session.sql(sql).collect()]


def opened(at: TableAt, folder: Path | None, scratch: str) -> Backend:
    """Return the database behind an address; relative files of it lie in the folder.

    `scratch`: where an embedded engine may write what does not fit into its memory.
    """
    address = at.address()
    ways: dict[str, Callable[[], Backend]] = {
        "duckdb": lambda: _DuckDB(at, _duckdb(at, folder, scratch)),
        "sqlite": lambda: _SQLite(at, _sqlite(at, folder)),
        "postgres": lambda: _Postgres(at, _postgres(at, address)),
        "spark": lambda: _Spark(at, _spark(at, address)),
    }
    return ways[kind_of(address)]()


def _file(at: TableAt, folder: Path | None) -> Path:
    path = at.file(folder)
    open_file(path).close()
    return path


def _duckdb(at: TableAt, folder: Path | None, scratch: str) -> Any:
    import duckdb

    path = _file(at, folder)
    _module(at, "ibis")
    with in_words(at):
        return duckdb.connect(path, read_only=True, config=engine_settings(scratch))


def _sqlite(at: TableAt, folder: Path | None) -> Any:
    path = _file(at, folder)
    sqlite = _backend(at, "sqlite")
    with in_words(at):
        return sqlite.connect(path)


def _postgres(at: TableAt, address: str) -> Any:
    backend = _backend(at, "postgres")
    psycopg = _module(at, "psycopg")
    with in_words(at):
        connection = psycopg.connect(address, connect_timeout=PATIENCE, autocommit=True)
        found = backend.from_connection(connection)
        connection.autocommit = False
        connection.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
        connection.read_only = True
        return found


def _spark(at: TableAt, address: str) -> Any:
    """Return a session: spark://local is one in this machine; settings follow the question mark."""
    _module(at, "pyspark")
    backend = _backend(at, "pyspark")
    parts = urlsplit(address)
    master = "local[*]" if parts.netloc in ("", "local") else f"spark://{unquote(parts.netloc)}"
    with in_words(at):
        builder = import_module("pyspark.sql").SparkSession.builder.master(master)
        for name, value in [("spark.ui.enabled", "false"), *parse_qsl(parts.query)]:
            builder = builder.config(name, value)
        return backend.connect(builder.getOrCreate())


def _backend(at: TableAt, name: str) -> Any:
    return getattr(_module(at, "ibis"), name)


def _module(at: TableAt, name: str) -> Any:
    extra = "spark" if name == "pyspark" else "data"
    try:
        return import_module(name)
    except ImportError:
        raise DataError(
            f"{at}: tables of databases need {name.capitalize()}, which is not installed\n"
            f"  try: pip install 'blowproof[{extra}]'"
        ) from None


@contextmanager
def in_words(at: TableAt) -> Iterator[None]:
    """Turn whatever a database says into one sentence, without a password in it."""
    try:
        yield
    except (DataError, MemoryError):
        raise
    except Exception as error:  # every library has errors of its own
        lines = [line.strip() for line in str(error).splitlines() if line.strip()]
        said = lines[0] if lines else type(error).__name__
        with suppress(DataError):  # an address whose variable is gone
            said = without_secret(at.address(), said)
        reason = masked(said)
        raise DataError(f"{at}: the database says: {reason}{_hint(reason)}") from None


_HINTS: Sequence[tuple[str, str]] = (
    ("password", "set PGPASSWORD, or PGPASSFILE; no policy holds a password"),
    ("authentication", "set PGUSER and PGPASSWORD; no policy holds a password"),
    ("server closed", "once more, when the server is back: nothing was counted in part"),
    ("connection", "check host, port and database, and that the server runs"),
    ("server", "check host, port and database, and that the server runs"),
    ("lock", "once more, when nobody writes to it"),
)


def _hint(reason: str) -> str:
    lowered = reason.lower()
    return next((f"\n  try: {hint}" for word, hint in _HINTS if word in lowered), "")
