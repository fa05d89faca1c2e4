"""What has been spent, in an SQLite file next to the data: written first, drawn afterwards.

`spend` reads, decides and writes within one transaction that locks the file against other writers
(BEGIN IMMEDIATE), and returns when the entry is on the disk. Only then is noise drawn: a crash can
lose a release that was paid for, and never the payment. Two processes at once are put in order by
the lock.

Table `ledger` (key, value): version, policy, digest, reading, answers, budget. Table `charge`: an
entry for each release. Fractions are texts "p/q"; no float takes part.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path

from blowproof.mechanisms.errors import LedgerError
from blowproof.mechanisms.records import Records
from blowproof.models import PolicyError, exact, show

__all__ = ["Charge", "Ledger"]

VERSION = "1"
LOCK_SECONDS = 20.0
Decide = Callable[[tuple["Charge", ...], Fraction], None]
"""Raises if the charges, the new one last, exceed the budget."""


@dataclass(frozen=True, kw_only=True)
class Charge:
    """One release's price; `records` are those it was about (None: all)."""

    epsilon: Fraction
    mechanism: str
    query: str
    records: Records | None = None


class Ledger:
    """An account of epsilon in a file, for one policy, reading and scope.

    `identity` says which; `budget` opens a new ledger, and must agree with one that exists (None:
    there must be one already).
    """

    def __init__(
        self, path: str | Path, identity: Mapping[str, str], budget: Fraction | None = None
    ) -> None:
        self.path = Path(path)
        self.identity = dict(identity)
        self._asked = budget
        if budget is None and not self.path.exists():
            raise LedgerError(f"{self.path}: there is no ledger\n  try: --budget B opens one")
        with self._transaction() as connection:
            self.budget = self._opened(connection)

    def spend(self, charge: Charge, decide: Decide) -> tuple[Charge, ...]:
        """Write a charge for good if `decide` does not object; return all charges with it."""
        with self._transaction() as connection:
            self._opened(connection)
            charges = (*_charges(connection, self.path), charge)
            decide(charges, self.budget)
            records = None if charge.records is None else charge.records.text
            connection.execute(
                "INSERT INTO charge (at, epsilon, mechanism, query, records) VALUES (?,?,?,?,?)",
                (
                    datetime.now(UTC).isoformat(timespec="seconds"),
                    show(charge.epsilon),
                    charge.mechanism,
                    charge.query,
                    records,
                ),
            )
        return charges

    def charges(self) -> tuple[Charge, ...]:
        """Return what was spent so far."""
        with self._transaction() as connection:
            return _charges(connection, self.path)

    def _opened(self, connection: sqlite3.Connection) -> Fraction:
        """Return the budget of this ledger, creating it where the file is new."""
        tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master")}
        if not tables:
            return self._created(connection)
        if not {"ledger", "charge"} <= tables:
            raise LedgerError(f"{self.path}: this SQLite file is no ledger of blowproof")
        kept = dict(connection.execute("SELECT key, value FROM ledger").fetchall())
        if kept.get("version") != VERSION:
            raise LedgerError(f"{self.path}: the version {kept.get('version')!r} is not known")
        for key, value in self.identity.items():
            if kept.get(key) != value and key != "policy":
                raise LedgerError(self._other(key, kept))
        budget = _fraction(kept.get("budget"), self.path)
        if self._asked is not None and self._asked != budget:
            raise LedgerError(
                f"{self.path}: its budget is {show(budget)}, not {show(self._asked)}: it was "
                f"promised when the ledger was opened\n  try: --budget {show(budget)}, or none"
            )
        return budget

    def _other(self, key: str, kept: Mapping[str, str]) -> str:
        what = "another policy, or an earlier version of this one"
        if key != "digest":
            what = f"{key} {kept.get(key)!r}, not {self.identity.get(key)!r}"
        return (
            f"{self.path}: this ledger adds up releases under {what}; epsilons of different "
            "guarantees do not add up\n  try: the policy, --reading and --answers it was opened "
            "with, or --ledger FILE for an account of its own"
        )

    def _created(self, connection: sqlite3.Connection) -> Fraction:
        if self._asked is None:
            raise LedgerError(f"{self.path}: the ledger is empty\n  try: --budget B opens one")
        connection.execute("CREATE TABLE ledger (key TEXT PRIMARY KEY, value TEXT NOT NULL)")
        connection.execute(
            "CREATE TABLE charge (id INTEGER PRIMARY KEY AUTOINCREMENT, at TEXT NOT NULL,"
            " epsilon TEXT NOT NULL, mechanism TEXT NOT NULL, query TEXT NOT NULL, records TEXT)"
        )
        items = {"version": VERSION, "budget": show(self._asked), **self.identity}
        connection.executemany("INSERT INTO ledger VALUES (?, ?)", items.items())
        return self._asked

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        """Lock the file, hand out a connection, and commit; roll back on any exception."""
        try:
            connection = sqlite3.connect(self.path, timeout=LOCK_SECONDS, isolation_level=None)
        except (sqlite3.Error, OSError) as error:
            raise LedgerError(self._said(error)) from None
        try:
            connection.execute("PRAGMA synchronous = EXTRA")
            connection.execute("BEGIN IMMEDIATE")
            yield connection
            connection.execute("COMMIT")
        except sqlite3.Error as error:
            raise LedgerError(self._said(error)) from None
        finally:
            with suppress(sqlite3.Error):
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
            connection.close()

    def _said(self, error: Exception) -> str:
        text = str(error)
        hint = "nothing was released and nothing spent"
        if "locked" in text:
            return f"{self.path}: another process holds the ledger for {LOCK_SECONDS:.0f} s; {hint}"
        if "not a database" in text or "malformed" in text:
            return f"{self.path}: the ledger is damaged ({text}); {hint}"
        return f"{self.path}: the ledger cannot be used ({text}); {hint}"


def _charges(connection: sqlite3.Connection, path: Path) -> tuple[Charge, ...]:
    rows = connection.execute("SELECT epsilon, mechanism, query, records FROM charge ORDER BY id")
    return tuple(
        Charge(
            epsilon=_fraction(epsilon, path),
            mechanism=mechanism,
            query=query,
            records=None if records is None else Records.read(records),
        )
        for epsilon, mechanism, query, records in rows
    )


def _fraction(text: object, path: Path) -> Fraction:
    try:
        value = Fraction(exact(text))
    except PolicyError:
        value = Fraction(0)
    if value <= 0:
        raise LedgerError(f"{path}: the ledger is damaged: {text!r} is no epsilon")
    return value
