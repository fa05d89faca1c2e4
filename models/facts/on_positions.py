"""Facts bound to a domain: linear facts and clauses on positions, which engines see.

A linear fact is a sum of integer multiples of counts. An equality fixes it (to an answer under
scope "given", to whatever the database has under scope "any"); a bound limits it. A clause is an OR
over single records.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from blowproof.models.base.kept import cached_property
from blowproof.models.domain.regions import Area, Point

__all__ = ["BoundClause", "LinearFact"]


@dataclass(frozen=True, kw_only=True)
class LinearFact:
    """A linear fact on positions; an equality unless a bound is set."""

    name: str
    terms: tuple[tuple[int, Area], ...]
    answer: int | None = None
    at_least: int | None = None
    at_most: int | None = None

    @property
    def bounded(self) -> bool:
        """Whether the fact is a bound rather than an equality."""
        return self.at_least is not None or self.at_most is not None

    def coefficient(self, point: Point) -> int:
        """Return what one record at this point adds to the fact's left-hand side."""
        return sum(times for times, area in self.terms if point in area)

    def total(self, histogram: Mapping[Point, int]) -> int:
        """Return the fact's left-hand side for so many records at each point."""
        return sum(times * self.coefficient(point) for point, times in histogram.items())

    def holds(self, value: int) -> bool:
        """Whether the left-hand side `value` fits the fact (an unanswered equality: always)."""
        if self.answer is not None and value != self.answer:
            return False
        if self.at_least is not None and value < self.at_least:
            return False
        return self.at_most is None or value <= self.at_most

    def answering(self, answer: int) -> LinearFact:
        """Return the same equality with an answer."""
        return replace(self, answer=answer)


@dataclass(frozen=True)
class BoundClause:
    """A clause on positions: literals (record index from 0, area, inside)."""

    name: str
    literals: tuple[tuple[int, Area, bool], ...]

    @cached_property
    def records(self) -> frozenset[int]:
        """The records that the clause speaks about, from 0."""
        return frozenset(record for record, _, _ in self.literals)

    def served_by(self, record: int, point: Point) -> bool:
        """Whether the record makes the clause true where it holds this value."""
        return any(
            who == record and (point in area) == inside for who, area, inside in self.literals
        )

    def holds(self, database: Sequence[Point]) -> bool:
        """Whether one of the literals is true in a database."""
        return any((database[record] in area) == inside for record, area, inside in self.literals)
