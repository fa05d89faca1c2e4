"""What the labelled SAT engine knows about a setting: values by number, kinds of values, records.

Values are numbered; everything else is about numbers. The *kind* of a value, for one record, is
what the facts see of it: its coefficient in every linear fact, and the clauses that it makes true
for this record. Records that no clause names and that weigh the same are interchangeable: they form
one block, and each other record is a block of its own.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import NoReturn

from blowproof.models import BoundQuery, BudgetError, LinearFact, Point, Setting
from blowproof.models.base.clock import now
from blowproof.models.base.kept import cached_property
from blowproof.verifier.limits.limit import whole_limit

__all__ = ["VALUE_LIMIT", "Databases", "Deadline", "Kind", "Table", "TimeUpError", "tabulate"]

VALUE_LIMIT = whole_limit(__name__, "VALUE_LIMIT")
MODEL_LIMIT = whole_limit(__name__, "MODEL_LIMIT")
LEAST = whole_limit(__name__, "LEAST")

Values = frozenset[int]


@dataclass(frozen=True)
class Kind:
    """What the facts see of a value: coefficients, and the clauses that it makes true."""

    coefficients: tuple[int, ...]
    truths: frozenset[int]


@dataclass(frozen=True)
class Databases:
    """D1 and D2, by the numbers of their records' values."""

    first: tuple[int, ...]
    second: tuple[int, ...]


class TimeUpError(Exception):
    """The time limit came before the end of the search; never leaves the engine."""


class Deadline:
    """A deadline that every step of the engine looks at."""

    def __init__(self, time_limit: float | None) -> None:
        self.started = now()
        self._deadline = None if time_limit is None else self.started + time_limit

    @property
    def seconds(self) -> float:
        """How long it has been running."""
        return now() - self.started

    def left(self) -> float | None:
        """Return the seconds left (None: no limit); raise TimeUpError when there are none."""
        if self._deadline is None:
            return None
        left = self._deadline - now()
        if left <= 0:
            raise TimeUpError
        return left


@dataclass(frozen=True)
class Table:
    """A setting for n records over numbered values; `blocks` are the interchangeable records."""

    setting: Setting
    size: int
    values: tuple[Point, ...]
    facts: tuple[LinearFact, ...]
    coefficients: tuple[tuple[int, ...], ...]
    secret: tuple[Values, ...]
    blocks: tuple[tuple[int, ...], ...]
    _cache: dict[object, object] = field(default_factory=dict, repr=False, compare=False)

    @property
    def records(self) -> range:
        """The records, from 0."""
        return range(self.size)

    @cached_property
    def every(self) -> Values:
        """All values."""
        return frozenset(range(len(self.values)))

    @cached_property
    def block_of(self) -> dict[int, int]:
        """The block that holds a record."""
        return {record: block for block, records in enumerate(self.blocks) for record in records}

    def is_secret(self, value: int, other: int) -> bool:
        """Whether the move is a secret one."""
        return other in self.secret[value]

    def plain(self, value: int) -> Values:
        """Return the values that a plain move leads to."""
        return self.every - self.secret[value] - {value}

    @cached_property
    def complete(self) -> bool:
        """Whether every move between the listed values is secret."""
        return all(len(others) == len(self.values) - 1 for others in self.secret)

    def all_secret(self) -> Table:
        """Return the table as if every move were a secret one."""
        return replace(self, secret=tuple(self.every - {v} for v in range(len(self.values))))

    @cached_property
    def truths(self) -> dict[int, tuple[Values, ...]]:
        """For each record that clauses name: which values make clause c true, for every c."""
        sets: dict[int, list[set[int]]] = {}
        clauses = self.setting.clauses
        for place, clause in enumerate(clauses):
            for record, area, inside in clause.literals:
                row = sets.setdefault(record, [set() for _ in clauses])
                row[place] |= {v for v, x in enumerate(self.values) if (x in area) == inside}
        return {record: tuple(map(frozenset, row)) for record, row in sets.items()}

    def kinds(self, block: int) -> tuple[Kind, ...]:
        """Return the kind of every value for the records of a block."""
        return self._kinds[block]

    @cached_property
    def _kinds(self) -> tuple[tuple[Kind, ...], ...]:
        unnamed = tuple(Kind(row, frozenset()) for row in self.coefficients)
        return tuple(
            self._kinds_of(records[0]) if records[0] in self.truths else unnamed
            for records in self.blocks
        )

    def _kinds_of(self, record: int) -> tuple[Kind, ...]:
        sets = self.truths[record]
        return tuple(
            Kind(row, frozenset(c for c, true in enumerate(sets) if value in true))
            for value, row in enumerate(self.coefficients)
        )

    def by_kind(self, block: int) -> dict[Kind, Values]:
        """Return the values of each kind, for the records of a block."""
        return self._by_kind[block]

    @cached_property
    def _by_kind(self) -> tuple[dict[Kind, Values], ...]:
        result = []
        for kinds in self._kinds:
            sets: dict[Kind, set[int]] = defaultdict(set)
            for value, kind in enumerate(kinds):
                sets[kind].add(value)
            result.append({kind: frozenset(members) for kind, members in sets.items()})
        return tuple(result)

    def total(self, fact: int, database: Iterable[int]) -> int:
        """Return the left-hand side of a fact in a database."""
        return sum(self.coefficients[value][fact] for value in database)

    def points(self, database: Iterable[int]) -> tuple[Point, ...]:
        """Return a database as values."""
        return tuple(self.values[value] for value in database)


def tabulate(
    setting: Setting, size: int, query: BoundQuery | None, values: Sequence[Point] | None
) -> Table:
    """Return the table of a prepared setting for n = `size`; refuse what is too large for SAT."""
    points = _possible(setting) if values is None else tuple(dict.fromkeys(values))
    if len(points) > VALUE_LIMIT:
        _refuse(f"would list {len(points)} values for each record; it stops at {VALUE_LIMIT}")
    if size * len(points) * LEAST > MODEL_LIMIT:
        what = f"{len(points)} values for each of {size} records"
        _refuse(f"would list {what}: more than {MODEL_LIMIT} literals")
    secret = _secret(setting, points)
    literals = size * sum(LEAST + 4 * _borders(moves) for moves in secret)
    if literals > MODEL_LIMIT:
        _refuse(
            f"would list {len(points)} values for each of {size} records, in about {literals} "
            f"literals; it stops at {MODEL_LIMIT}"
        )
    facts = (*setting.equalities, *setting.bounds)
    return Table(
        setting=setting,
        size=size,
        values=points,
        facts=facts,
        coefficients=tuple(tuple(fact.coefficient(x) for fact in facts) for x in points),
        secret=secret,
        blocks=_blocks(setting, size, query),
    )


def _refuse(what: str) -> NoReturn:
    raise BudgetError(f"the SAT engine {what}\n  try: --engine auto or ilp")


def _possible(setting: Setting) -> tuple[Point, ...]:
    if setting.domain.size > 50 * VALUE_LIMIT:
        raise BudgetError(
            f"the domain has {setting.domain.size} values, and the SAT engine lists at most"
            f" {VALUE_LIMIT}\n  try: --engine auto or ilp"
        )
    return tuple(x for x in setting.domain.points() if x not in setting.impossible)


def _secret(setting: Setting, points: Sequence[Point]) -> tuple[Values, ...]:
    graph = setting.graph
    numbers = range(len(points))
    if graph.complete:
        return tuple(frozenset(numbers) - {v} for v in numbers)
    rows: list[set[int]] = [set() for _ in numbers]
    for v in numbers:
        for w in range(v):
            if graph.is_edge(points[v], points[w]):
                rows[v].add(w)
                rows[w].add(v)
    return tuple(map(frozenset, rows))


def _borders(values: Values) -> int:
    """How many runs the values form."""
    return sum(value - 1 not in values for value in values)


def _blocks(setting: Setting, size: int, query: BoundQuery | None) -> tuple[tuple[int, ...], ...]:
    named = {record for clause in setting.clauses for record in clause.records}
    weights = query.weights if query is not None and query.per_record else None  # type: ignore[attr-defined]
    blocks: dict[object, list[int]] = defaultdict(list)
    for record in range(size):
        alike = ("named", record) if record in named else ("weight", weights and weights[record])
        blocks[alike].append(record)
    return tuple(map(tuple, blocks.values()))
