"""What a ledger's entries say: accounts of people, their data, their budgets, and the charges.

An account is about people, and knows them by the content of their data (`models.content`): any
number of digests, once told that they are the same people. Each guarantee (policy, reading, scope)
that these people were promised has a budget of its own in the account, for epsilons of different
guarantees do not add up. A budget is kept in one measure, epsilon or rho, and everything charged to
it costs so much in that measure: an epsilon is converted to rho = epsilon^2 / 2, a rho never back.
Accounts and budgets are numbered 1, 2, ... as they are opened.

Entries are JSON objects of a `kind` and an `account`:
account (opened), data (a content, and where it was seen), budget, charge, taken-over.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from fractions import Fraction
from typing import Any, Literal

from blowproof.mechanisms.base.errors import AlteredError
from blowproof.mechanisms.budget.ledger import Entry
from blowproof.mechanisms.parts.records import Records
from blowproof.models import BlowproofError, exact, show
from blowproof.models.data.content import Content

__all__ = [
    "Account",
    "Book",
    "Charge",
    "Guarantee",
    "Sighting",
    "read_epsilon",
    "total_epsilon",
]


@dataclass(frozen=True, kw_only=True)
class Charge:
    """One release's price; `records` are those it was about (None: all), as numbered in `order`.

    `epsilon` is None where the release promised a rho; `rho` is what it costs in an account of rho.
    """

    epsilon: Fraction | None
    mechanism: str
    query: str
    records: Records | None = None
    order: str | None = None
    at: str = ""
    rho: Fraction | None = None

    @property
    def cost(self) -> Fraction:
        """What is added up: rho, or else epsilon."""
        found = self.epsilon if self.rho is None else self.rho
        assert found is not None
        return found


@dataclass(frozen=True)
class Sighting:
    """A content, and one file that held it."""

    digest: str
    path: str
    device: int
    inode: int
    rows: int
    columns: tuple[str, ...]

    @staticmethod
    def of(content: Content) -> Sighting:
        """Return where a content is seen now."""
        where = (str(content.path), content.device, content.inode)
        return Sighting(content.digest, *where, content.rows, content.columns)


@dataclass
class Guarantee:
    """A budget under one policy, reading and scope, in one measure, and what was spent of it."""

    number: int
    identity: dict[str, str]
    budget: Fraction
    charges: list[Charge] = field(default_factory=list)
    measure: Literal["epsilon", "rho"] = "epsilon"

    @property
    def spent(self) -> Fraction:
        """What the charges cost together."""
        return total_epsilon(self.charges)

    def is_for(self, identity: dict[str, str]) -> bool:
        """Whether it is this guarantee; a policy's name is none of it."""
        return all(
            identity.get(key) == self.identity[key] for key in self.identity if key != "policy"
        )


@dataclass
class Account:
    """Some people: what is known of their data, and what they were promised."""

    number: int
    opened: str
    sightings: list[Sighting] = field(default_factory=list)
    guarantees: list[Guarantee] = field(default_factory=list)
    taken_over: list[str] = field(default_factory=list)

    def holds(self, content: Content) -> bool:
        """Whether this content is these people's."""
        return any(item.digest == content.digest for item in self.sightings)


class Book:
    """The accounts of a ledger. `add` changes them as an entry does, and keeps it in `added`."""

    def __init__(self, entries: Iterable[Entry]) -> None:
        self.accounts: list[Account] = []
        self.added: list[Entry] = []
        for place, entry in enumerate(entries):
            try:
                self._take(entry)
            except (BlowproofError, KeyError, IndexError, TypeError, ValueError):
                # The first row of the ledger is its name, and people count from 1.
                raise AlteredError(
                    f"the ledger was altered: entry {place + 2} makes no sense"
                ) from None

    def add(self, kind: str, **values: Any) -> None:
        """Do what an entry says, and keep it for writing; it is dated now."""
        entry = {"kind": kind, "at": datetime.now(UTC).isoformat(timespec="seconds"), **values}
        self._take(entry)
        self.added.append(entry)

    def open_account(self) -> Account:
        """Return a new account."""
        self.add("account", account=len(self.accounts) + 1)
        return self.accounts[-1]

    def see(self, account: Account, content: Content) -> None:
        """Note a content, or a new place of it."""
        seen = Sighting.of(content)
        if seen not in account.sightings:
            values = {**vars(seen), "columns": list(seen.columns)}
            self.add("data", account=account.number, **values)

    def promise(
        self,
        account: Account,
        identity: dict[str, str],
        budget: Fraction,
        measure: Literal["epsilon", "rho"] = "epsilon",
    ) -> Guarantee:
        """Return a new budget of an account."""
        number = len(account.guarantees) + 1
        values = {"account": account.number, "guarantee": number, "identity": identity}
        in_rho = {} if measure == "epsilon" else {"measure": measure}
        self.add("budget", **values, budget=show(budget), **in_rho)
        return account.guarantees[-1]

    def charge(self, account: Account, guarantee: Guarantee, charge: Charge) -> None:
        """Write a charge down."""
        self.add(
            "charge",
            account=account.number,
            guarantee=guarantee.number,
            epsilon=None if charge.epsilon is None else show(charge.epsilon),
            **({} if charge.rho is None else {"rho": show(charge.rho)}),
            mechanism=charge.mechanism,
            query=charge.query,
            records=None if charge.records is None else charge.records.text,
            order=charge.order,
        )

    def _take(self, entry: Entry) -> None:
        number = _number(entry["account"])
        if entry["kind"] == "account":
            _require(number == len(self.accounts) + 1)
            self.accounts.append(Account(number, str(entry["at"])))
            return
        account = self.accounts[number - 1]
        match entry["kind"]:
            case "data":
                account.sightings.append(_sighting(entry))
            case "budget":
                _require(entry["guarantee"] == len(account.guarantees) + 1)
                identity = {str(key): str(value) for key, value in entry["identity"].items()}
                promised = Guarantee(entry["guarantee"], identity, read_epsilon(entry["budget"]))
                promised.measure = _measure(entry)
                account.guarantees.append(promised)
            case "charge":
                place = _number(entry["guarantee"]) - 1
                charge = _charge(entry)
                _require((charge.rho is not None) == (account.guarantees[place].measure == "rho"))
                account.guarantees[place].charges.append(charge)
            case "taken-over":
                account.taken_over.append(str(entry["sha256"]))
            case _:
                raise ValueError


def total_epsilon(charges: Sequence[Charge]) -> Fraction:
    """Return what charges cost together: the most that the releases about one record add up to.

    Records are numbered by a file, and the same person may have another number in another file, or
    in the same file in another order. So parts count as disjoint within one order only; of
    different orders the costs are added.

    >>> def charge(epsilon, records=None):
    ...     return Charge(epsilon=Fraction(epsilon), mechanism="", query="", records=records)
    >>> total_epsilon([charge(1), charge(2)])
    Fraction(3, 1)
    >>> first, second = Records.read("1-5"), Records.read("6-9")
    >>> total_epsilon([charge(1), charge(2, first), charge(3, second)])
    Fraction(4, 1)
    """
    everywhere = sum((item.cost for item in charges if item.records is None), Fraction(0))
    orders = dict.fromkeys(item.order for item in charges)
    return everywhere + sum(
        (_most([item for item in charges if item.order == order]) for order in orders), Fraction(0)
    )


def _most(charges: Sequence[Charge]) -> Fraction:
    """Return the largest sum of those on some records that any one record is part of."""
    steps: dict[int, Fraction] = {}
    for item in charges:
        for low, high in item.records.ranges if item.records is not None else ():
            steps[low] = steps.get(low, Fraction(0)) + item.cost
            steps[high + 1] = steps.get(high + 1, Fraction(0)) - item.cost
    most = running = Fraction(0)
    for place in sorted(steps):
        running += steps[place]
        most = max(most, running)
    return most


def _measure(entry: Entry) -> Literal["epsilon", "rho"]:
    measure = entry.get("measure", "epsilon")
    _require(measure in ("epsilon", "rho"))
    return "rho" if measure == "rho" else "epsilon"


def _sighting(entry: Entry) -> Sighting:
    columns = tuple(str(name) for name in entry["columns"])
    where = (str(entry["path"]), int(entry["device"]), int(entry["inode"]))
    return Sighting(str(entry["digest"]), *where, int(entry["rows"]), columns)


def _charge(entry: Entry) -> Charge:
    records, order = entry["records"], entry["order"]
    epsilon, rho = (
        None if entry.get(key) is None else read_epsilon(entry[key]) for key in ("epsilon", "rho")
    )
    _require(epsilon is not None or rho is not None)
    return Charge(
        epsilon=epsilon,
        rho=rho,
        mechanism=str(entry["mechanism"]),
        query=str(entry["query"]),
        records=None if records is None else Records.read(records),
        order=None if order is None else str(order),
        at=str(entry["at"]),
    )


def read_epsilon(text: object) -> Fraction:
    """Return what a ledger says is an epsilon; a ValueError if it is none."""
    value = Fraction(exact(text))
    _require(value > 0)
    return value


def _number(value: object) -> int:
    _require(isinstance(value, int) and value >= 1)
    return int(str(value))


def _require(held: bool) -> None:
    if not held:
        raise ValueError
