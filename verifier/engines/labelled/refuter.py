"""The second solver: given (D1, D2), is there a D3 that refutes minimality?

Its model is one database D3 in I_Q. What D3 may do follows from D1 and D2, which come as
assumptions, so the solver stays incremental. `kept[i]`: the record goes where D2 takes it
(`target`); `dropped[i]`: it does not. One record at least is kept and one is dropped:

- condition 3(a), and a proper part in reading 2: kept and dropped range over the secret moves of
  D2; every record may also stay, or (reading 1) make a plain move.
- condition 3(b): every secret move is kept, dropped ranges over the plain changes of D2, and a
  record does nothing but stay or do as in D2.

A D3 that moves fewer records refutes more pairs, so what is found is shrunk until no record can be
taken out of it. In a part, what D3 does not use may hold another one: the pair is taken apart.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

from blowproof.models.policy.readings import Reading
from blowproof.models.programs.boolean import BooleanModel
from blowproof.models.programs.boolean_lowering import Encoding
from blowproof.models.programs.to_pysat import Engine, SatSession
from blowproof.verifier.engines.labelled.database import Side, add_facts, add_relative_facts
from blowproof.verifier.engines.labelled.table import (
    Databases,
    Deadline,
    Table,
    TimeUpError,
    Values,
)
from blowproof.verifier.limits.limit import whole_limit

__all__ = ["Refutation", "Refuter", "refuting_part"]


OFTEN = whole_limit(__name__, "OFTEN")


@dataclass(frozen=True)
class Refutation:
    """A D3 as in condition 3(a) (`fewer_secrets`) or 3(b), by the numbers of its values."""

    third: tuple[int, ...]
    fewer_secrets: bool


@dataclass(frozen=True)
class _Sought:
    """What each record may hold in D3, and which records may count as kept and as dropped."""

    allowed: tuple[Values, ...]
    keep: frozenset[int]
    drop: frozenset[int]


class Refuter:
    """Looks for D3; asks for D1 itself only where facts are relative to it."""

    def __init__(
        self,
        table: Table,
        reading: Reading,
        clock: Deadline,
        *,
        engine: Engine = "glucose4",
        encoding: Encoding = "auto",
    ) -> None:
        self.table, self.reading = table, reading
        self.model = BooleanModel(name="databases that refute a pair")
        self._session = SatSession(self.model, engine=engine, encoding=encoding)
        self._clock = clock
        self.third = Side(self.model, table, "third", self._tick)
        self.target = [
            [self.model.var(f"target[{i},{v}]") for v in range(len(table.values))]
            for i in table.records
        ]
        self.kept = [self.model.var(f"kept[{i}]") for i in table.records]
        self.dropped = [self.model.var(f"dropped[{i}]") for i in table.records]
        for i in table.records:
            for wanted, held in zip(self.target[i], self.third.at[i], strict=True):
                self.model.add_clause([~self.kept[i], ~wanted, held])
                self.model.add_clause([~self.dropped[i], ~wanted, ~held])
            self._tick()
        self.model.add_clause(self.kept)
        self.model.add_clause(self.dropped)
        add_facts(self.third, self._tick)
        self.first: Side | None = None
        if any(fact.answer is None and not fact.bounded for fact in table.facts):
            self.first = Side(self.model, table, "first", self._tick)
            add_relative_facts(self.third, self.first, self._tick)

    def refutations(self, pair: Databases, clock: Deadline) -> Iterator[Refutation]:
        """Yield shrunk refutations of a pair; none iff it is a neighbour pair."""
        secret = frozenset(i for i in self.table.records if self._is_secret(pair, i))
        question = _Sought(
            allowed=tuple(self._allowed(pair, i, i in secret) for i in self.table.records),
            keep=secret,
            drop=secret,
        )
        found = self._ask(pair, question, clock)
        while found is not None:
            third = self._shrunk(pair, question, found, clock)
            yield Refutation(third, True)
            question = self._without(pair, question, third)
            found = self._ask(pair, question, clock)
        yield from self._plain_parts(pair, secret, clock)

    def close(self) -> None:
        """Free the solver's memory."""
        self._session.close()

    def _tick(self) -> None:
        self._clock.left()
        self._session._follow()

    def _is_secret(self, pair: Databases, record: int) -> bool:
        return self.table.is_secret(pair.first[record], pair.second[record])

    def _allowed(self, pair: Databases, record: int, secret: bool) -> Values:
        x, y = pair.first[record], pair.second[record]
        stay = frozenset({x, y} if secret else {x})
        return stay | self.table.plain(x) if self.reading == "published" else stay

    def _without(self, pair: Databases, question: _Sought, third: tuple[int, ...]) -> _Sought:
        """The rest of the pair, once the secret moves that D3 keeps are taken away."""
        used = {i for i in question.keep if third[i] == pair.second[i]}
        allowed = tuple(
            frozenset({pair.first[i]}) if i in used else values
            for i, values in enumerate(question.allowed)
        )
        return _Sought(allowed, question.keep - used, question.drop)

    def _plain_parts(
        self, pair: Databases, secret: frozenset[int], clock: Deadline
    ) -> Iterator[Refutation]:
        changed = {i for i in self.table.records if pair.first[i] != pair.second[i]}
        plain = frozenset(changed - secret)
        if not plain:
            return
        allowed = tuple(
            frozenset({pair.second[i]} if i in secret else {pair.first[i], pair.second[i]})
            for i in self.table.records
        )
        question = _Sought(allowed, secret, plain)
        found = self._ask(pair, question, clock)
        if found is not None:
            yield Refutation(self._shrunk(pair, question, found, clock, home=pair.second), False)

    def _shrunk(
        self,
        pair: Databases,
        question: _Sought,
        third: tuple[int, ...],
        clock: Deadline,
        home: tuple[int, ...] | None = None,
    ) -> tuple[int, ...]:
        """Return a D3 that differs from home (D1; D2 for 3(b)) in as few records as can be."""
        home = pair.first if home is None else home
        tried: set[int] = set()
        while True:
            away = {i for i in self.table.records if third[i] != home[i]}
            open_records = away - tried
            if not open_records or len(away) == 1:
                return third
            record = max(open_records)
            tried.add(record)
            allowed = tuple(
                values if i in away and i != record else frozenset({home[i]})
                for i, values in enumerate(question.allowed)
            )
            smaller = self._ask(pair, _Sought(allowed, question.keep, question.drop), clock)
            third = third if smaller is None else smaller

    def _ask(self, pair: Databases, question: _Sought, clock: Deadline) -> tuple[int, ...] | None:
        if not question.keep or not question.drop:
            return None
        assumptions = []
        for i in self.table.records:
            row, allowed = self.third.at[i], question.allowed[i]
            if len(allowed) == 1:
                assumptions.append(row[next(iter(allowed))])
            else:
                assumptions += [~literal for v, literal in enumerate(row) if v not in allowed]
            if i not in question.keep:
                assumptions.append(~self.kept[i])
            if i not in question.drop:
                assumptions.append(~self.dropped[i])
            if i in question.keep or i in question.drop:
                assumptions.append(self.target[i][pair.second[i]])
            if self.first is not None:
                assumptions.append(self.first.at[i][pair.first[i]])
        answer = self._session.solve(assumptions=assumptions, time_limit=clock.left())
        if answer.status == "unknown":
            raise TimeUpError
        return None if answer.assignment is None else self.third.read(answer.assignment)


def moved(home: Sequence[int], away: Sequence[int]) -> list[int]:
    """Return the records that hold different values."""
    return [i for i, (x, y) in enumerate(zip(home, away, strict=True)) if x != y]


def refuting_part(
    table: Table, pair: Databases, clock: Deadline
) -> tuple[tuple[int, ...], tuple[int, ...]] | None:
    """Return the databases that a smallest part of the changes leads to, from D1 and back from D2.

    Both are in I_Q, so that no belief is certain of D1 and of D2 (reading 5): the part, or the rest
    of the changes, leaves out the record that the attacker is told. None where no part does that.
    Scope "given".
    """
    changed = moved(pair.first, pair.second)
    for size in range(1, len(changed)):
        for number, part in enumerate(combinations(changed, size)):
            if number % OFTEN == 0:
                clock.left()
            third, fourth = list(pair.first), list(pair.second)
            for i in part:
                third[i], fourth[i] = fourth[i], third[i]
            if all(table.setting.satisfied_by(table.points(found)) for found in (third, fourth)):
                return tuple(third), tuple(fourth)
    return None
