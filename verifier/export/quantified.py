"""QDIMACS: the definition itself. There are D1 and D2 such that, for all D3, D3 refutes them not.

D1 and D2 are the model of `formulas`. D3 is universal: the number of each record's value in binary,
where the numbers beyond the last value mean the last one, so that each choice is a database. What
follows from D3 is existential again and innermost: a solver shows there why D3 refutes nothing.

- D3 breaks a fact or a clause; or
- reading 1: neither condition of the definition holds. (a) says that T(D1, D3) is not empty and
  strictly inside T(D1, D2); (b) that T(D1, D3) = T(D1, D2), and that D3's changed records, with
  their new values, are strictly inside D2's. Where the changes are inside, so are the secret ones,
  so that for (b) no secret change of D2 may be missing in D3;
- reading 2: D3's changes are no proper part of D2's, or there are none.

Each literal that stands for a reason implies it, and the last clauses ask for reasons, so the
formula is true iff some neighbour pair changes the query by at least N. No cut and no engine has a
part in it. Scope "given": elsewhere a pair may have any size.
"""

from __future__ import annotations

from typing import Any

from blowproof.models import QueryError
from blowproof.models.programs.boolean import Lit
from blowproof.verifier.engines.labelled.database import Side, limits
from blowproof.verifier.engines.labelled.master import Master
from blowproof.verifier.engines.labelled.table import Deadline, Table
from blowproof.verifier.export.asked import Asked, Encoded
from blowproof.verifier.export.formulas import demanded, labelled_table, written

__all__ = ["quantified"]


def quantified(asked: Asked) -> Encoded:
    """Return "a neighbour pair changes the query by `at_least`" as a quantified formula."""
    if asked.reading not in ("published", "secret-moves"):
        raise QueryError(
            f"the quantified model has minimality of labelled pairs in it, and the reading "
            f"{asked.reading!r} has none\n  try: --format lp or dimacs, with --minimal"
        )
    if asked.setting.scope != "given":
        raise QueryError(
            "the quantified model is about one n and one set of answers\n"
            "  try: --answers given, or --format lp with --minimal"
        )
    if asked.minimal:
        raise QueryError(
            "every solution of a quantified model is minimal\n  try: leave --minimal out"
        )
    table, reason = labelled_table(asked)
    master = Master(table, asked.reading, Deadline(None))
    try:
        demanded(asked, master)
        bits = _bits(master, table)
        _Third(master, table, bits).refutes_nothing(published=asked.reading == "published")
        head = asked.head(
            f"n = {table.size}; {reason}",
            "universal: D3, each record's value in binary; numbers beyond the last mean the last",
            "records that no clause and no weight tells apart are sorted in D1 and D2",
            pairs="true iff there are such neighbours: whatever D3 is, it refutes them not",
        )
        universal = [bit for row in bits for bit in row]
        more = {
            bit.name: _meaning(record, place)
            for record, row in enumerate(bits)
            for place, bit in enumerate(row)
        }
        return written(asked, table, master, head, universal=universal, more=more)
    finally:
        master.close()


def _bits(master: Master, table: Table) -> list[list[Lit]]:
    """Return D3's records as binary numbers, lowest bit first."""
    width = (len(table.values) - 1).bit_length()
    return [
        [master.model.var(f"third[{record}]bit{place}") for place in range(width)]
        for record in table.records
    ]


def _meaning(record: int, place: int) -> dict[str, Any]:
    means = f"D3, record {record + 1}: bit {place} of its value's number"
    return {"means": means, "record": record + 1, "when": "third", "bit": place}


class _Third:
    """D3 beside D1 and D2, and reasons why it does not refute them."""

    def __init__(self, master: Master, table: Table, bits: list[list[Lit]]) -> None:
        self.master, self.table, self.model = master, table, master.model
        self.third = Side(self.model, table, "third", lambda: None)
        for record, row in enumerate(bits):
            for number in range(1 << len(row)):
                held = self.third.at[record][min(number, len(table.values) - 1)]
                other = [~bit if number >> place & 1 else bit for place, bit in enumerate(row)]
                self.model.add_clause([*other, held])
        self.as_second = [self._same(i, master.second, "as_second") for i in table.records]
        self.moved = [~self._same(i, master.first, "as_first") for i in table.records]

    def refutes_nothing(self, *, published: bool) -> None:
        """Demand a reason: D3 is no database of I_Q, or its changes are not such as refute."""
        outside = self._outside()
        if published:
            secret = self.moved if self.table.complete else self._secret()
            self.model.add_clause([*outside, *self._not_fewer_secrets(secret)])
            self.model.add_clause([*outside, *self._not_fewer_changes(with_secrets=True)])
        else:
            self.model.add_clause([*outside, *self._not_fewer_changes(with_secrets=False)])

    def _outside(self) -> list[Lit]:
        """Literals for "D3 breaks this"."""
        reasons = []
        for fact in range(len(self.table.facts)):
            low, high = limits(self.table, fact)
            terms, constant = self.third.total(fact)
            if high is not None:
                reasons.append(self.model.var(f"above{fact}"))
                least = high + 1 - constant
                self.model.weighted(terms, lower=least, enforced_by=reasons[-1])
            if low is not None:
                reasons.append(self.model.var(f"below{fact}"))
                most = low - 1 - constant
                self.model.weighted(terms, upper=most, enforced_by=reasons[-1])
        for place, clause in enumerate(self.table.setting.clauses):
            broken = self.model.var(f"broken{place}")
            reasons.append(broken)
            for record in sorted(clause.records):
                true = self.third.member(record, self.table.truths[record][place])
                self.model.add_clause([~broken, ~true])
        return reasons

    def _not_fewer_secrets(self, secret: list[Lit]) -> list[Lit]:
        """Literals for "T(D1, D3) is empty, or not strictly inside T(D1, D2)"."""
        strays = [self._both(f"stray{i}", secret[i], ~self._both_of(i)) for i in self.table.records]
        none = self._all("no_secret", [[~x] for x in secret])
        every = self._all(
            "every_secret", [[~self.master.secret[i], secret[i]] for i in self.table.records]
        )
        return [*strays, none, every]

    def _both_of(self, record: int) -> Lit:
        """Return a literal that holds if D2 makes a secret move here, and D3 the same one."""
        secret, same = self.master.secret[record], self.as_second[record]
        found = self.model.var(f"kept{record}")
        self.model.add_clause([~secret, ~same, found])
        return found

    def _not_fewer_changes(self, *, with_secrets: bool) -> list[Lit]:
        """Literals for "D3's changes are not strictly inside D2's", or lack one that they need."""
        strays = [
            self._both(f"other{i}", self.moved[i], ~self.as_second[i]) for i in self.table.records
        ]
        every = self._all(
            "every_change", [[~self.master.changed[i], self.moved[i]] for i in self.table.records]
        )
        if not with_secrets:
            return [*strays, every, self._all("no_change", [[~x] for x in self.moved])]
        missing = [
            self._both(f"missing{i}", self.master.secret[i], ~self.moved[i])
            for i in self.table.records
        ]
        return [*strays, every, *missing]

    # small definitions ---------------------------------------------------------------------------

    def _same(self, record: int, other: Side, name: str) -> Lit:
        """Return a literal equivalent to "this record is as in another database"."""
        same = self.model.var(f"{name}[{record}]")
        for x, y in zip(other.at[record], self.third.at[record], strict=True):
            self.model.add_clause([~x, ~y, same])
            self.model.add_clause([~x, y, ~same])
        return same

    def _secret(self) -> list[Lit]:
        """Return literals equivalent to "D3 makes a secret move here"."""
        found = []
        for record in self.table.records:
            secret = self.model.var(f"third_secret[{record}]")
            found.append(secret)
            for value, x in enumerate(self.master.first.at[record]):
                for other, y in enumerate(self.third.at[record]):
                    joined = other in self.table.secret[value]
                    self.model.add_clause([~x, ~y, secret if joined else ~secret])
        return found

    def _both(self, name: str, one: Lit, two: Lit) -> Lit:
        """Return a literal that implies both."""
        found = self.model.var(name)
        self.model.add_clause([~found, one])
        self.model.add_clause([~found, two])
        return found

    def _all(self, name: str, clauses: list[list[Lit]]) -> Lit:
        """Return a literal that implies all the clauses."""
        found = self.model.var(name)
        for clause in clauses:
            self.model.add_clause([~found, *clause])
        return found
