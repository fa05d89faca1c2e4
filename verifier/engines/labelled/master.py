"""The master model: it proposes pairs (D1, D2) in I_Q that nothing has excluded yet."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from blowproof.models.policy.readings import Reading
from blowproof.models.programs.boolean import BooleanModel, Lit
from blowproof.models.programs.to_pysat import SatSession
from blowproof.verifier.engines.labelled.database import Side, add_facts, add_relative_facts, runs
from blowproof.verifier.engines.labelled.table import Databases, Deadline, Table, TimeUpError

__all__ = ["Master"]


class Master:
    """D1 and D2 with their changes: `changed[i]`, and `secret[i]` where the move is an edge of G.

    Interchangeable records are sorted by (D1 value, D2 value): every pair of databases has a
    relabelling that is, and no cut tells a pair from its relabellings.
    """

    def __init__(self, table: Table, reading: Reading, clock: Deadline) -> None:
        self.table = table
        self.model = BooleanModel(name="pairs of databases")
        self._session = SatSession(self.model)
        self._clock = clock
        self.first = Side(self.model, table, "first", self.tick)
        self.second = Side(self.model, table, "second", self.tick)
        self.changed = [self.model.var(f"changed[{i}]") for i in table.records]
        for record in table.records:
            self._define_changed(record)
            self.tick()
        self.secret = self.changed
        if not table.complete:
            self.secret = [self.model.var(f"secret[{i}]") for i in table.records]
            for record in table.records:
                self._define_secret(record)
                self.tick()
        for side in (self.first, self.second):
            add_facts(side, self.tick)
        add_relative_facts(self.second, self.first, self.tick)
        self.model.add_clause(self.secret)
        if reading == "secret-moves" and not table.complete:
            for record in table.records:
                self.model.add_clause([~self.changed[record], self.secret[record]])
        if reading == "pufferfish":  # one move has to be secret; for minimality all of them count
            self.table, self.secret = table.all_secret(), self.changed
        self._sort()

    def tick(self) -> None:
        """Give the solver what was added to the model; raise TimeUpError at the deadline."""
        self._clock.left()
        self._session._follow()

    def propose(self, clock: Deadline) -> Databases | None:
        """Return a pair that nothing excludes yet, or None when there is none any more."""
        answer = self._session.solve(time_limit=clock.left())
        if answer.status == "unknown":
            raise TimeUpError
        if answer.assignment is None:
            return None
        return Databases(
            first=self.first.read(answer.assignment), second=self.second.read(answer.assignment)
        )

    def exclude(self, pair: Databases) -> None:
        """Never propose this very pair again."""
        literals = [
            ~side.at[record][value]
            for side, database in ((self.first, pair.first), (self.second, pair.second))
            for record, value in enumerate(database)
        ]
        self.model.add_clause(literals)

    def close(self) -> None:
        """Free the solver's memory."""
        self._session.close()

    def _define_changed(self, record: int) -> None:
        changed = self.changed[record]
        for x, y in zip(self.first.at[record], self.second.at[record], strict=True):
            self.model.add_clause([~x, ~y, ~changed])
            self.model.add_clause([~x, y, changed])

    def _define_secret(self, record: int) -> None:
        """For each value of D1: the outcomes of a secret move, or the others if easier to say."""
        table = self.table
        for value, x in enumerate(self.first.at[record]):
            secret, others = runs(table.secret[value]), runs(table.every - table.secret[value])
            told = secret if len(secret) <= len(others) else others
            outcome = self.secret[record] if told is secret else ~self.secret[record]
            listed = [self.second.run(record, low, high) for low, high in told]
            for literal in listed:
                self.model.add_clause([~x, ~literal, outcome])
            self.model.add_clause([~x, ~outcome, *listed])

    def _sort(self) -> None:
        for records in self.table.blocks:
            for i, j in pairwise(records):
                self._in_order(
                    i,
                    j,
                    (self.first.reaches(i), self.first.reaches(j)),
                    (self.second.reaches(i), self.second.reaches(j)),
                )
                self.tick()

    def _in_order(
        self,
        i: int,
        j: int,
        first: tuple[Sequence[Lit], Sequence[Lit]],
        second: tuple[Sequence[Lit], Sequence[Lit]],
    ) -> None:
        tie = self.model.var(f"tie[{i},{j}]")
        for x, y in zip(self.first.at[i], self.first.at[j], strict=True):
            self.model.add_clause([~x, ~y, tie])
        for x, y in zip(*first, strict=True):
            self.model.add_clause([~x, y])
        for x, y in zip(*second, strict=True):
            self.model.add_clause([~tie, ~x, y])
