"""What has been spent, as a chained log in an SQLite file: written first, drawn afterwards.

`writing` reads, lets its caller decide and write within one transaction that locks the file against
other writers (BEGIN IMMEDIATE), and returns when the entries are on the disk. Only then is noise
drawn: a crash can lose a release that was paid for, and never the payment. Processes are put in
order by the lock.

Table `log` (number, entry, hash): the entry is a JSON text, the hash is SHA-256 over the hash of
the row before and the entry. The first entry gives the ledger a random name. Nothing is ever
changed or removed. The end of the chain is kept in a second place too (`heads`), by that name.

What that shows, each time the ledger is opened, and refuses with an AlteredError:

- a row that was altered, removed, inserted or put elsewhere: the chain does not hold;
- rows cut off at the end, or an older copy put back: this machine has seen more rows, or others;
- a second copy that lives on beside the first: whichever is behind is refused;
- a ledger that is gone from its place, or gave place to another, or is a database no more.

What it does not show. The hashes have no key: whoever may write both the file and the heads can
compute all of them anew, and rows added at the end with their hashes are taken for ours. Whoever
removes the file *and* the heads begins afresh, and so does who moves the data to another machine,
or names another ledger by `--ledger`. If a process is killed between its commit and the heads, its
rows may be cut off unseen until the next one writes. A ledger guards against accidents and against
forgetting; against its own owner nothing on the owner's machine does. Nothing is repaired: what was
spent is known to nobody then. Who begins anew all the same does so openly: in another file, by
`--ledger`.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any
from uuid import uuid4

from blowproof.mechanisms.base.errors import AlteredError, LedgerError
from blowproof.mechanisms.budget.heads import Head, decoded, keep_head, known_heads
from blowproof.mechanisms.budget.places import ledger_place, made_ready

__all__ = ["Entry", "Ledger", "Log"]

VERSION = 2
LOCK_SECONDS = 20.0
NOTHING = "nothing was released and nothing spent"
_TABLE = "CREATE TABLE log (number INTEGER PRIMARY KEY, entry TEXT NOT NULL, hash TEXT NOT NULL)"
Entry = Mapping[str, Any]


@dataclass(frozen=True)
class Row:
    """A row of the table: its number, its entry and the text of it, and the chain's hash so far."""

    number: int
    text: str
    hash: str
    entry: Entry


class Log:
    """The rows of a ledger that is held by this process, for reading and adding to."""

    def __init__(self, connection: sqlite3.Connection, rows: Sequence[Row]) -> None:
        self._connection = connection
        self.rows = list(rows)

    @property
    def entries(self) -> tuple[Entry, ...]:
        """What is written, the ledger's own name left out."""
        return tuple(row.entry for row in self.rows[1:])

    @property
    def name(self) -> str:
        """The ledger's own name, drawn at random when it began."""
        return str(self.rows[0].entry["id"])

    def append(self, entry: Entry) -> None:
        """Write an entry; it counts once the transaction ends without an error."""
        text = json.dumps(entry, sort_keys=True, separators=(",", ":"))
        before = self.rows[-1].hash if self.rows else ""
        row = Row(len(self.rows) + 1, text, _hash(before, text), dict(entry))
        self._connection.execute("INSERT INTO log VALUES (?, ?, ?)", (row.number, text, row.hash))
        self.rows.append(row)


class Ledger:
    """A ledger in a file (None: the user's own store, see `places`)."""

    def __init__(self, path: str | Path | None = None) -> None:
        self._named = path
        self.path = ledger_place(path)

    def entries(self) -> tuple[Entry, ...]:
        """Return what is written, in order; nothing where there is no ledger yet."""
        if not self.exists():
            return ()
        with self._transaction("BEGIN") as connection:
            return tuple(row.entry for row in self._read(connection)[1:])

    @contextmanager
    def writing(self) -> Iterator[Log]:
        """Hold the ledger; what is appended is on the disk afterwards, or none of it on error."""
        if not self.exists():
            if self._named is not None and not self.path.parent.is_dir():
                raise LedgerError(
                    f"{self.path}: there is no folder for this ledger; {NOTHING}"
                    "\n  try: --ledger FILE in a folder that exists"
                )
            made_ready(self.path)
        with self._transaction("BEGIN IMMEDIATE") as connection:
            log = Log(connection, self._read(connection))
            if not log.rows:
                connection.execute(_TABLE)
                log.append({"kind": "ledger", "version": VERSION, "id": uuid4().hex})
            yield log
        first, last = log.rows[0], log.rows[-1]
        keep_head(Head(str(first.entry["id"]), str(self.path), last.number, last.hash))

    def exists(self) -> bool:
        """Return whether the file is there; a ledger that was and is gone is an AlteredError."""
        if ledger_place(self.path).exists():
            return True
        for head in known_heads():
            if head.path == str(self.path):
                raise AlteredError(self._gone(head))
        return False

    def _gone(self, head: Head) -> str:
        return (
            f"{self.path}: there was a ledger of {head.count} entries here, and it is gone; "
            f"{NOTHING}\n  try: put it back; a copy older than its last release is not taken"
        )

    @contextmanager
    def _transaction(self, begin: str) -> Iterator[sqlite3.Connection]:
        """Open the file, hand out a connection, and commit; roll back on any exception."""
        try:
            connection = sqlite3.connect(self.path, timeout=LOCK_SECONDS, isolation_level=None)
        except (sqlite3.Error, OSError) as error:
            raise self._said(error) from None
        try:
            connection.text_factory = decoded
            connection.execute("PRAGMA synchronous = EXTRA")
            connection.execute(begin)
            yield connection
            connection.execute("COMMIT")
        except sqlite3.Error as error:
            raise self._said(error) from None
        finally:
            with suppress(sqlite3.Error):
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
            connection.close()

    def _read(self, connection: sqlite3.Connection) -> list[Row]:
        """Return the rows once they are verified; none in a file that is new."""
        # The heads come first: they follow a ledger, so that what is read later is never behind.
        heads = known_heads()
        tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master")}
        if tables and "log" not in tables:
            raise self._foreign(tables)
        asked = "SELECT number, entry, hash FROM log ORDER BY number"
        rows: list[Row] = []
        for number, text, mark in connection.execute(asked) if tables else ():
            if (number, mark) != (len(rows) + 1, _hash(rows[-1].hash if rows else "", text)):
                raise self._altered(f"entry {len(rows) + 1} is missing or not what was written")
            rows.append(Row(number, text, mark, self._entry(text)))
        if rows and rows[0].entry.get("version") != VERSION:
            raise LedgerError(f"{self.path}: this version of a ledger is not known")
        self._compare(rows, heads)
        return rows

    def _entry(self, text: str) -> Entry:
        try:
            entry = json.loads(text)
        except ValueError:
            entry = None
        if not isinstance(entry, dict):
            raise self._altered("an entry makes no sense")
        return entry

    def _compare(self, rows: Sequence[Row], heads: Sequence[Head]) -> None:
        """Refuse rows that are fewer than, or other than, those that this machine has seen."""
        name = rows[0].entry.get("id") if rows else None
        for head in heads:
            if head.id != name and head.path == str(self.path):
                raise self._altered("another ledger lies where it lay" if rows else "it is empty")
            if head.id == name and len(rows) < head.count:
                raise self._altered(f"it has {len(rows)} entries, and had {head.count}")
            if head.id == name and rows[head.count - 1].hash != head.hash:
                raise self._altered(f"entry {head.count} is another than it was")

    def _altered(self, what: str) -> AlteredError:
        return AlteredError(
            f"{self.path}: the ledger was altered: {what}; {NOTHING}\n"
            "  try: a copy of it as it was after the last release; it is not repaired"
        )

    def _foreign(self, tables: set[str]) -> LedgerError:
        if {"ledger", "charge"} <= tables:
            return LedgerError(
                f"{self.path}: this is a ledger of version 1, kept for one data file\n"
                f"  try: blowproof ledger DATA --take-over {self.path}"
            )
        return self._said(sqlite3.DatabaseError("this SQLite file is no ledger of blowproof"))

    def _said(self, error: Exception) -> LedgerError:
        text = str(error)
        if "locked" in text:
            held = f"another process holds the ledger for {LOCK_SECONDS:.0f} s"
            return LedgerError(f"{self.path}: {held}; {NOTHING}\n  try: once more, later")
        signs = ("not a database", "malformed", "no ledger", "no such")
        broken = any(sign in text for sign in signs)
        if broken and any(head.path == str(self.path) for head in known_heads()):
            return self._altered(f"it is damaged ({text})")
        if broken:
            what, hint = "is damaged", "a copy of it, or --ledger FILE with a file of its own"
        else:
            what, hint = "cannot be used", "--ledger FILE, where you may read and write"
        return LedgerError(f"{self.path}: the ledger {what} ({text}); {NOTHING}\n  try: {hint}")


def _hash(before: str, text: object) -> str:
    return sha256(f"{before}\n{text}".encode()).hexdigest()
