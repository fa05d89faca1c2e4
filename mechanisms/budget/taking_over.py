"""Ledgers of version 1, kept beside one data file: their accounts move into a store, once.

The charges, the budget and the guarantee are written into the store first, with the digest of the
old file; then the old file is renamed. A crash between the two leaves the old file in its place,
where no release passes it by, and taking it over again only renames it.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import replace
from fractions import Fraction
from hashlib import sha256
from pathlib import Path

from blowproof.mechanisms.base.errors import LedgerError
from blowproof.mechanisms.budget.accounts import Account, Book, Charge, read_epsilon
from blowproof.mechanisms.budget.ledger import Ledger
from blowproof.mechanisms.budget.places import ledger_place
from blowproof.mechanisms.parts.records import Records
from blowproof.models import BlowproofError
from blowproof.models.base.door import NUMBERS_BYTES, read_bytes
from blowproof.models.data.content import content_of, order_of

__all__ = ["take_over"]

_IDENTITY = ("policy", "digest", "reading", "answers")


def take_over(data: str | Path, old: str | Path, ledger: Ledger) -> Account:
    """Move the account of an old ledger into a store; return the account that holds it now.

    What it says is believed: those ledgers had no chain. They are about the data as they are now.
    """
    place, content, order = ledger_place(old), content_of(data), order_of(data)
    if not place.exists():
        raise LedgerError(f"{place}: there is no ledger")
    identity, budget, charges = _read(place)
    mark = sha256(read_bytes(place, most=NUMBERS_BYTES)).hexdigest()
    with ledger.writing() as log:
        book = Book(log.entries)
        known = [item for item in book.accounts if item.holds(content)]
        account = known[0] if known else book.open_account()
        if mark not in account.taken_over:
            book.see(account, content)
            promised = next((item for item in account.guarantees if item.is_for(identity)), None)
            if promised is None:
                promised = book.promise(account, identity, budget)
            for charge in charges:
                ordered = None if charge.records is None else order
                book.charge(account, promised, replace(charge, order=ordered))
            book.add("taken-over", account=account.number, sha256=mark, file=str(place))
        for entry in book.added:
            log.append(entry)
    place.rename(place.with_name(f"{place.name}.taken-over"))
    return account


def _read(place: Path) -> tuple[dict[str, str], Fraction, list[Charge]]:
    """Return the guarantee, the budget and the charges of a ledger of version 1."""
    try:
        with closing(sqlite3.connect(place)) as connection:
            kept = dict(connection.execute("SELECT key, value FROM ledger").fetchall())
            rows = connection.execute(
                "SELECT epsilon, mechanism, query, records FROM charge ORDER BY id"
            ).fetchall()
        if kept.get("version") != "1":
            raise LedgerError(f"{place}: this is no ledger of version 1")
        charges = [
            Charge(
                epsilon=read_epsilon(epsilon),
                mechanism=str(mechanism),
                query=str(query),
                records=None if records is None else Records.read(records),
            )
            for epsilon, mechanism, query, records in rows
        ]
        return {key: str(kept[key]) for key in _IDENTITY}, read_epsilon(kept["budget"]), charges
    except LedgerError:
        raise
    except (sqlite3.Error, BlowproofError, KeyError, TypeError, ValueError) as error:
        raise LedgerError(f"{place}: the ledger is damaged ({error}); nothing was moved") from None
