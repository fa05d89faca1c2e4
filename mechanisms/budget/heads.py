"""The last that this machine saw of each ledger: how many entries, and the hash of the last one.

A chain of hashes shows an altered row, and a missing one in the middle, but not that its end was
cut off. Here stands where each ledger's end was, so that a ledger which is shorter than it was, is
gone, or gave place to another is found out: see `ledger` for what that does and does not show.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from blowproof.mechanisms.base.errors import LedgerError
from blowproof.mechanisms.budget.places import heads_place, made_ready

__all__ = ["Head", "decoded", "keep_head", "known_heads"]

_SECONDS = 20.0
_TABLE = (
    "CREATE TABLE IF NOT EXISTS head"
    " (id TEXT PRIMARY KEY, path TEXT NOT NULL, count INTEGER NOT NULL, hash TEXT NOT NULL)"
)
# Whoever comes late with less does not turn back the time.
_KEEP = (
    "INSERT INTO head VALUES (?, ?, ?, ?) ON CONFLICT (id) DO UPDATE SET path = excluded.path,"
    " count = excluded.count, hash = excluded.hash WHERE excluded.count >= head.count"
)


@dataclass(frozen=True)
class Head:
    """The end of a ledger: the ledger's own name, its place, its length and its last hash."""

    id: str
    path: str
    count: int
    hash: str


def known_heads() -> tuple[Head, ...]:
    """Return the heads of all ledgers that were written on this machine."""
    place = heads_place()
    if not place.exists():
        return ()
    try:
        with closing(sqlite3.connect(place, timeout=_SECONDS)) as connection:
            connection.execute(_TABLE)
            connection.text_factory = decoded
            rows = connection.execute("SELECT id, path, count, hash FROM head").fetchall()
    except sqlite3.Error as error:
        raise _unusable(place, error) from None
    if any(tuple(map(type, row)) != (str, str, int, str) or row[2] < 1 for row in rows):
        raise _unusable(place, "its rows make no sense")
    return tuple(
        Head(str(name), str(path), int(count), str(end)) for name, path, count, end in rows
    )


def keep_head(head: Head) -> None:
    """Remember a head, unless a longer one of the same ledger is known already."""
    place = heads_place()
    made_ready(place)
    try:
        with closing(sqlite3.connect(place, timeout=_SECONDS)) as connection, connection:
            connection.execute(_TABLE)
            connection.execute(_KEEP, (head.id, head.path, head.count, head.hash))
    except sqlite3.Error as error:
        raise _unusable(place, error) from None


def decoded(text: bytes) -> str:
    """Return a text of a database; what is no UTF-8 any more is a text too, and another one."""
    return text.decode("utf-8", "replace")


def _unusable(place: Path, error: object) -> LedgerError:
    return LedgerError(
        f"{place}: what is known of the ledgers here cannot be read or written ({error}): nothing "
        "was released\n  try: a backup of this file"
    )
