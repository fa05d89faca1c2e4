"""Where a table lies that is no file: the address of its database, and the table's name.

    data = { url = "postgres://db.office.example/census", table = "people", key = "id" }

What opens the door stands in the environment only: `PGPASSWORD`, `~/.pgpass` and whatever else the
database's own library looks at, or the whole address in a variable that `url = "env:NAME"` names.
An address with a password in it is refused, so that no policy, and nothing that is made from one,
can hold it.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import parse_qsl, unquote, urlsplit

from blowproof.models.base.errors import DataError, PolicyError
from blowproof.models.base.masked import SECRET_KEYS, masked

__all__ = ["KINDS", "TableAt", "is_address", "refuse_address"]

KINDS = {
    "duckdb": "duckdb",
    "postgres": "postgres",
    "postgresql": "postgres",
    "sqlite": "sqlite",
    "spark": "spark",
    "pyspark": "spark",
}
"""How an address begins, and the kind of database behind it."""

_ENDINGS = {
    ".duckdb": "duckdb",
    ".ddb": "duckdb",
    ".sqlite": "sqlite",
    ".sqlite3": "sqlite",
    ".db": "sqlite",
}
_VARIABLE = re.compile(r"env:(?P<name>[A-Za-z_][A-Za-z0-9_]*)")


@dataclass(frozen=True)
class TableAt:
    """A table of a database: the policy's `data`, where it is no file.

    `key`: a column that tells rows apart, for errors, and that says which record is the first. By
    default the table's own primary key.

    >>> print(TableAt("postgres://db.example/census", "people"))
    postgres://db.example/census, table people
    >>> TableAt("postgres://ann:s3cret@db.example/census", "people")
    Traceback (most recent call last):
    ...
    blowproof.models.base.errors.PolicyError: url: there is a password in postgres://ann:***@db.exam\
ple/census
      try: take it out, and set PGPASSWORD; or write url = "env:NAME", and the address into NAME
    """

    url: str
    table: str
    key: str | None = None

    def __post_init__(self) -> None:
        if not self.table:
            raise PolicyError("this is no name of a table", key="table", hint="name the table")
        if _VARIABLE.fullmatch(self.url):
            return
        if _holds_secret(self.url):
            raise PolicyError(
                f"there is a password in {masked(self.url)}",
                key="url",
                hint='take it out, and set PGPASSWORD; or write url = "env:NAME", and the address'
                " into NAME",
            )
        kind_of(self.url)

    def __str__(self) -> str:
        return f"{masked(self.url)}, table {self.table}"

    def spec(self) -> dict[str, object]:
        """Return it as a policy file has it."""
        found: dict[str, object] = {"url": self.url, "table": self.table}
        return found if self.key is None else {**found, "key": self.key}

    def address(self) -> str:
        """Return the address itself, from the environment where that is what the policy says."""
        match = _VARIABLE.fullmatch(self.url)
        if match is None:
            return self.url
        found = os.environ.get(match["name"])
        if not found:
            raise DataError(
                f"{self}: the environment has no variable {match['name']}\n"
                f"  try: export {match['name']}=postgres://user:password@host/database"
            )
        try:
            kind_of(found)
        except PolicyError as error:
            raise DataError(f"{self}: {error.reason}\n  try: {error.hint}") from None
        return found

    def file(self, folder: Path | None) -> Path:
        """Return the file of an embedded database; without a leading / it lies in the folder."""
        address = self.address()
        rest = address.partition("://")[2] if "://" in address else address
        return (folder or Path()) / unquote(rest.partition("?")[0])


def kind_of(address: str) -> str:
    """Return which kind of database an address leads to.

    >>> kind_of("postgresql://db/people"), kind_of("people.duckdb")
    ('postgres', 'duckdb')
    """
    scheme, mark, _ = address.partition("://")
    if not mark:
        for ending, kind in _ENDINGS.items():
            if address.lower().endswith(ending):
                return kind
        raise PolicyError(
            f"{masked(address)!r} is not the address of a database",
            key="url",
            hint='write "postgres://host/database", "sqlite://people.db", "people.duckdb"; a CSV or'
            ' Parquet file is data = "people.csv"',
        )
    known = KINDS.get(scheme.lower())
    if known is None:
        raise PolicyError(
            f"{scheme!r} is no kind of database that is counted here",
            key="url",
            hint=f"one of {', '.join(KINDS)}; of any other, a Parquet file of the table",
        )
    return known


def is_address(text: str) -> bool:
    """Whether a text leads to a database, and not to a file of records.

    >>> [is_address(text) for text in ("people.csv", "people.db", "postgres://db/x", "env:DB")]
    [False, True, True, True]
    """
    if text.startswith("env:"):
        return True
    try:
        kind_of(text)
    except PolicyError:
        return "://" in text
    return True


def refuse_address(text: str) -> None:
    """Raise a PolicyError for an address where the name of a file belongs."""
    if "://" in text:
        raise PolicyError(
            f"{masked(text)!r} is an address, not a file",
            hint='data = { url = "...", table = "people" }, with no password in it',
        )


def _holds_secret(url: str) -> bool:
    try:
        parts = urlsplit(url)
        given = parts.password is not None
    except ValueError:
        return masked(url) != url
    names = (name.lower() for name, _ in parse_qsl(parts.query, keep_blank_values=True))
    words = any(word in name for name in names for word in SECRET_KEYS)
    return given or words or masked(url) != url
