"""Digests of data that may leave this machine: under a key that never does.

Whoever guesses all records could confirm the guess by a plain digest of them, and plans and reports
are handed round. So what is written into them is an HMAC of the plain digest (SHA-256), under 32
random bytes: without the key it says nothing of the data, and two of them are equal iff the data
are. The key is made when it is needed first, and kept beside what this machine remembers of its
ledgers (`heads`), for its user alone; `BLOWPROOF_STATE` moves both. A name of the key, which is a
hash of it, stands in each fingerprint, so that another key is not taken for other data.

>>> shown(b"k" * 32, "0" * 64)
'hmac-sha256:c03804dc2789:8736e084a0d6...
"""

from __future__ import annotations

import hmac
import os
import sqlite3
from contextlib import closing
from hashlib import sha256
from pathlib import Path

from blowproof.mechanisms.base.errors import LedgerError
from blowproof.mechanisms.budget.places import heads_place, made_ready
from blowproof.models.data.content import Content, content_of

__all__ = ["another_key", "fingerprint", "fingerprint_of", "shown"]

KIND = "hmac-sha256"
LENGTH = 32
NAMED = 12
"""Hexadecimal digits of a key's name."""
_SECONDS = 20.0
_TABLE = "CREATE TABLE IF NOT EXISTS fingerprint_key (one INTEGER PRIMARY KEY, key BLOB NOT NULL)"
_FIRST = "INSERT OR IGNORE INTO fingerprint_key VALUES (1, ?)"  # of two at once, one comes first
_READ = "SELECT key FROM fingerprint_key WHERE one = 1"


def fingerprint(data: str | Path) -> str:
    """Return the fingerprint of what a data file holds; see `fingerprint_of`."""
    return fingerprint_of(content_of(data))


def fingerprint_of(content: Content) -> str:
    """Return the fingerprint of a content; make the key where there is none yet.

    Where the key can be neither read nor kept, that is a LedgerError.
    """
    return shown(_key(), content.digest)


def shown(key: bytes, digest: str) -> str:
    """Return the fingerprint of a digest under a key."""
    told = hmac.new(key, digest.encode("ascii"), sha256).hexdigest()
    return f"{KIND}:{_name(key)}:{told}"


def another_key(told: str, now: str) -> bool:
    """Whether two fingerprints were made under two keys, so that nothing follows from them."""
    return told.split(":")[:2] != now.split(":")[:2]


def _name(key: bytes) -> str:
    return sha256(b"name of the key " + key).hexdigest()[:NAMED]


def _key() -> bytes:
    place = heads_place()
    try:
        found = _kept(place) or _made(place)
    except sqlite3.Error as error:
        raise _unusable(place, str(error)) from None
    if not isinstance(found, bytes) or len(found) != LENGTH:
        raise _unusable(place, "it is not as it was written")
    return found


def _kept(place: Path) -> object:
    """Return the key, None where there is none yet; a folder that is read only will do."""
    if not place.exists():
        return None
    with closing(sqlite3.connect(f"{place.as_uri()}?mode=ro", timeout=_SECONDS, uri=True)) as read:
        if not read.execute("PRAGMA table_info(fingerprint_key)").fetchall():
            return None
        row = read.execute(_READ).fetchone()
    return None if row is None else row[0]


def _made(place: Path) -> object:
    try:
        made_ready(place)
    except LedgerError as error:
        why = error.__context__  # what the system said
        raise _unusable(place, getattr(why, "strerror", None) or str(error)) from None
    with closing(sqlite3.connect(place, timeout=_SECONDS)) as connection:
        with connection:
            connection.execute(_TABLE)
            connection.execute(_FIRST, (os.urandom(LENGTH),))
        return connection.execute(_READ).fetchone()[0]


def _unusable(place: Path, reason: str) -> LedgerError:
    return LedgerError(
        f"{place}: the key for fingerprints of data cannot be read or kept ({reason})\n"
        "  try: BLOWPROOF_STATE=FOLDER, where you may write; or a plan without DATA, which names "
        "none"
    )
