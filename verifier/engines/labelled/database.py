"""One labelled database as boolean variables: which value does each record hold?"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence

from blowproof.models.programs.boolean import BooleanModel, Lit
from blowproof.verifier.engines.labelled.table import Table, Values

__all__ = ["Side", "Tick", "add_facts", "add_relative_facts", "limits", "runs"]

Terms = list[tuple[int, Lit]]
Tick = Callable[[], None]
"""Called between the steps of building a model: looks at the clock, feeds the solver."""


class Side:
    """A database in a model: `at[i][v]` says that record i holds value v."""

    def __init__(self, model: BooleanModel, table: Table, name: str, tick: Tick) -> None:
        self.model, self.table, self.name = model, table, name
        self.at = [
            [model.var(f"{name}[{i},{v}]") for v in range(len(table.values))] for i in table.records
        ]
        for row in self.at:
            model.exactly(row, 1)
            tick()
        self._members: dict[tuple[int, Values], Lit] = {}
        self._runs: dict[tuple[int, int, int], Lit] = {}
        self._reaches: dict[int, list[Lit]] = {}
        self._outside: dict[tuple[int, frozenset[int]], Lit] = {}

    def member(self, record: int, values: Values) -> Lit:
        """Return a literal that is equivalent to "the record holds one of these values"."""
        inside, outside = runs(values), runs(self.table.every - values)
        if len(outside) < len(inside) or (len(inside) == len(outside) > 1 and 0 in values):
            return ~self.member(record, self.table.every - values)
        if len(inside) == 1:
            return self.run(record, *inside[0])
        found = self._members.get((record, values))
        if found is None:
            found = self.model.var(f"{self.name}[{record}]:{len(self._members)}")
            self._members[record, values] = found
            parts = [self.run(record, low, high) for low, high in inside]
            for literal in parts:
                self.model.add_clause([~literal, found])
            self.model.add_clause([~found, *parts])
        return found

    def run(self, record: int, low: int, high: int) -> Lit:
        """Return a literal equivalent to "the record holds a value from low to high - 1"."""
        if high - low == 1:
            return self.at[record][low]
        if high == len(self.table.values):
            return self.reaches(record)[low]
        if low == 0:
            return ~self.reaches(record)[high]
        found = self._runs.get((record, low, high))
        if found is None:
            found = self.model.var(f"{self.name}[{record}]={low}..{high - 1}")
            self._runs[record, low, high] = found
            start, end = self.reaches(record)[low], self.reaches(record)[high]
            self.model.add_clause([~start, end, found])
            self.model.add_clause([~found, start])
            self.model.add_clause([~found, ~end])
        return found

    def reaches(self, record: int) -> list[Lit]:
        """Return, for every value, a literal for "the record holds this one or a later one"."""
        found = self._reaches.get(record)
        if found is None:
            row = self.at[record]
            found = [row[-1]]
            for value in range(len(row) - 2, -1, -1):
                literal = self.model.var(f"{self.name}[{record}]>={value}")
                self.model.add_clause([~row[value], literal])
                self.model.add_clause([~found[-1], literal])
                self.model.add_clause([~literal, row[value], found[-1]])
                found.append(literal)
            found.reverse()
            self._reaches[record] = found
        return found

    def total(self, fact: int) -> tuple[Terms, int]:
        """Return a fact's left-hand side as weighted literals and a constant."""
        sets: dict[int, set[int]] = defaultdict(set)
        for value, row in enumerate(self.table.coefficients):
            sets[row[fact]].add(value)
        if not sets:
            return [], 0
        base = max(sets, key=lambda c: len(sets[c]))
        terms = [
            (coefficient - base, self.member(record, frozenset(values)))
            for coefficient, values in sorted(sets.items())
            if coefficient != base
            for record in self.table.records
        ]
        return terms, base * self.table.size

    def outside(self, clause: int, moved: frozenset[int]) -> Lit:
        """Return a literal that holds if a record that is not moved makes the clause true."""
        others = self.table.setting.clauses[clause].records - moved
        found = self._outside.get((clause, others))
        if found is None:
            found = self.model.var(f"{self.name}[clause{clause}]:{len(self._outside)}")
            self._outside[clause, others] = found
            for record in sorted(others):
                true = self.table.truths[record][clause]
                self.model.add_clause([~self.member(record, true), found])
        return found

    def read(self, assignment: Mapping[str, bool]) -> tuple[int, ...]:
        """Return the database of a solution."""
        return tuple(
            next(v for v, literal in enumerate(row) if assignment[literal.name]) for row in self.at
        )


def runs(values: Values) -> list[tuple[int, int]]:
    """Return the values as runs low..high-1."""
    result: list[tuple[int, int]] = []
    for value in sorted(values):
        if result and result[-1][1] == value:
            result[-1] = (result[-1][0], value + 1)
        else:
            result.append((value, value + 1))
    return result


def limits(table: Table, fact: int) -> tuple[int | None, int | None]:
    """Return the least and the greatest left-hand side that a fact allows (None: no limit)."""
    found = table.facts[fact]
    if found.answer is not None:
        return found.answer, found.answer
    return found.at_least, found.at_most


def add_facts(side: Side, tick: Tick) -> None:
    """Demand what the facts with numbers and the clauses say about one database."""
    for fact in range(len(side.table.facts)):
        low, high = limits(side.table, fact)
        if low is not None or high is not None:
            terms, constant = side.total(fact)
            _bounded(side.model, terms, low, high, constant)
            tick()
    _add_used(side)
    tick()
    for place, clause in enumerate(side.table.setting.clauses):
        side.model.add_clause(
            side.member(record, side.table.truths[record][place])
            for record in sorted(clause.records)
        )


def _add_used(side: Side) -> None:
    """Which values are held at all: no more than n, and one at least of each that a count needs.

    The counts imply this, but a solver would have to find out by pigeonhole arguments.
    """
    table = side.table
    needs = [
        [v for v, row in enumerate(table.coefficients) if row[fact] > 0]
        for fact in range(len(table.facts))
        if (limits(table, fact)[0] or 0) > 0
    ]
    if not needs or table.size >= len(table.values):
        return
    used = [side.model.var(f"{side.name}:used{v}") for v in range(len(table.values))]
    for row in side.at:
        for literal, held in zip(row, used, strict=True):
            side.model.add_clause([~literal, held])
    for value, held in enumerate(used):
        side.model.add_clause([~held, *(row[value] for row in side.at)])
    side.model.at_most(used, table.size)
    for values in needs:
        side.model.add_clause(used[v] for v in values)


def add_relative_facts(side: Side, other: Side, tick: Tick) -> None:
    """Demand that the equalities without a number give the same number in both databases."""
    for place, fact in enumerate(side.table.facts):
        if fact.answer is None and not fact.bounded:
            terms, _ = side.total(place)
            minus = [(-weight, literal) for weight, literal in other.total(place)[0]]
            _bounded(side.model, [*terms, *minus], 0, 0, 0)
            tick()


def _bounded(
    model: BooleanModel,
    terms: Sequence[tuple[int, Lit]],
    low: int | None,
    high: int | None,
    constant: int,
) -> None:
    if terms:
        model.weighted(
            terms,
            lower=None if low is None else low - constant,
            upper=None if high is None else high - constant,
        )
    elif (low is not None and constant < low) or (high is not None and constant > high):
        never = model.var(f"contradiction{len(model.variables)}")
        model.add_clause([never])
        model.add_clause([~never])
