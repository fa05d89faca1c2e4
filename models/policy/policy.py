"""A policy: domain, secrets, known facts, and whose answers count. P = (T, G, I_Q)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal as OneOf

from blowproof.models.base.errors import PolicyError, nearest
from blowproof.models.base.kept import cached_property
from blowproof.models.base.numbers import whole
from blowproof.models.data.table_at import TableAt, refuse_address
from blowproof.models.domain.domain import Domain
from blowproof.models.domain.regions import Area, Box, Point
from blowproof.models.facts.facts import (
    Clause,
    Impossible,
    Known,
    Marginal,
    Where,
    where,
)
from blowproof.models.facts.on_positions import BoundClause, LinearFact
from blowproof.models.policy.readings import Reading, is_labelled
from blowproof.models.secrets import Full, SecretGraph, SecretsSpec

__all__ = [
    "Answers",
    "Database",
    "NamedCount",
    "Numbers",
    "Policy",
    "Terms",
]

Answers = OneOf["any", "given"]


Terms = tuple[tuple[int, Area], ...]
"""What a linear fact counts: integers times areas."""


@dataclass(frozen=True)
class Numbers:
    """What data, called by a name, say of a policy's facts; they were checked for what it rules
    out. `totals`: the left-hand side of each linear fact, by its terms.
    """

    name: str
    domain: Domain
    size: int
    totals: Mapping[Terms, int]
    impossible: Area
    clauses: tuple[BoundClause, ...]

    def about(self, policy: Policy) -> bool:
        """Whether they say all that a policy about the same data asks, and were checked for it."""
        return (
            policy.domain == self.domain
            and all(fact.terms in self.totals for fact in policy.linear_facts)
            and policy.impossible == self.impossible
            and policy.clauses == self.clauses
        )


@dataclass(frozen=True, kw_only=True)
class Database:
    """What is public about the database: n, whose answers count, and where the data lie.

    >>> Database(size=40)
    Database(size=40, answers=None, data=None)
    """

    size: int | None = None
    answers: Answers | None = None
    data: str | TableAt | None = None
    numbers: Numbers | None = field(default=None, repr=False, compare=False)
    """What was counted from the data already; not part of what the policy says."""

    def __post_init__(self) -> None:
        if isinstance(self.data, str):
            refuse_address(self.data)
        if self.size is not None:
            whole(self.size, key="size", least=0)
        if self.answers not in (None, "any", "given"):
            raise PolicyError(
                f"{self.answers!r} is not a scope", key="answers", hint='use "any" or "given"'
            )


@dataclass(frozen=True, init=False)
class NamedCount:
    """A `[[query]]` table: a count query with a name, asked for as count(NAME)."""

    name: str
    where: Where

    def __init__(self, name: str, where_: object, /) -> None:
        if not name:
            raise PolicyError(f"{name!r} is not a name", key="name", hint="write one word")
        object.__setattr__(self, "name", name)
        object.__setattr__(self, "where", where(where_, key="count"))


@dataclass(frozen=True, kw_only=True)
class Policy:
    """A checked policy. Building one binds every part to the domain, so a bad part is refused here.

    Examples:
        >>> from blowproof.models import Count, Domain, Labels
        >>> domain = Domain(sex=Labels(["F", "M"]))
        >>> policy = Policy(domain=domain, known=(Count({"sex": "F"}, answer=2),))
        >>> policy.scope
        'given'
        >>> [fact.name for fact in policy.linear_facts]
        ['known[0]']
    """

    domain: Domain
    name: str = "policy"
    secrets: SecretsSpec = field(default_factory=Full)
    known: tuple[Known, ...] = ()
    database: Database = field(default_factory=Database)
    queries: tuple[NamedCount, ...] = ()
    folder: Path | None = field(default=None, compare=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "known", tuple(self.known))
        object.__setattr__(self, "queries", tuple(self.queries))
        self._bind("secrets", lambda: self.graph)
        self._bind("", lambda: (self.linear_facts, self.impossible, self.clauses))
        for place, query in enumerate(self.queries):
            self._bind(f"query[{place}].count", lambda query=query: self.domain.area(query.where))
        names: set[str] = set()
        for place, query in enumerate(self.queries):
            if query.name in names:
                raise PolicyError(
                    f"the query {query.name!r} is defined twice",
                    key=f"query[{place}].name",
                    hint="rename one of them",
                )
            names.add(query.name)
        self._check_scope()

    def _bind(self, prefix: str, build: object) -> None:
        try:
            build()  # type: ignore[operator]
        except PolicyError as error:
            raise (error.inside(prefix) if prefix else error) from None

    def _check_scope(self) -> None:
        if self.database.answers == "any":
            self._refuse_given_only()
        for place, fact in enumerate(self.known):
            if isinstance(fact, Clause):
                self._check_clause(place, fact)

    def _refuse_given_only(self) -> None:
        for place, fact in enumerate(self.known):
            if isinstance(fact, Clause) or (not isinstance(fact, Impossible) and fact.bounded):
                kind = "a clause" if isinstance(fact, Clause) else "a bound"
                raise PolicyError(
                    f'{kind} needs the scope "given"',
                    key=f"known[{place}]",
                    hint='remove it, or write answers = "given" with the numbers',
                )

    def _check_clause(self, place: int, clause: Clause) -> None:
        size = self.database.size
        if size is None and self.database.data is None:
            raise PolicyError(
                "a clause names records, so the number of records must be known",
                key=f"known[{place}].clause",
                hint="write size = N under [database]",
            )
        for position, literal in enumerate(clause.literals):
            if size is not None and literal.record > size:
                raise PolicyError(
                    f"there is no record {literal.record}: size = {size}",
                    key=f"known[{place}].clause[{position}].record",
                    hint=f"use 1..{size}" if size else None,
                )

    @cached_property
    def graph(self) -> SecretGraph:
        """The secret graph G, bound to the domain."""
        return self.secrets.bind(self.domain)

    @cached_property
    def linear_facts(self) -> tuple[LinearFact, ...]:
        """Counts, marginal cells and sums on positions, in the order in which they are written."""
        result: list[LinearFact] = []
        for place, fact in enumerate(self.known):
            if not isinstance(fact, (Impossible, Clause)):
                try:
                    result.extend(fact.bind(self.domain, f"known[{place}]"))
                except PolicyError as error:
                    raise error.inside(f"known[{place}]") from None
        return tuple(result)

    @cached_property
    def impossible(self) -> Area:
        """The values that no record can hold."""
        boxes: list[Box] = []
        for place, fact in enumerate(self.known):
            if isinstance(fact, Impossible):
                try:
                    boxes.extend(self.domain.area(fact.where).boxes)
                except PolicyError as error:
                    raise error.inside("impossible").inside(f"known[{place}]") from None
        return Area(tuple(boxes))

    @cached_property
    def clauses(self) -> tuple[BoundClause, ...]:
        """The clauses on positions."""
        result = []
        for place, fact in enumerate(self.known):
            if isinstance(fact, Clause):
                try:
                    result.append(fact.bind(self.domain, f"known[{place}]"))
                except PolicyError as error:
                    raise error.inside(f"known[{place}]") from None
        return tuple(result)

    @property
    def scope(self) -> Answers:
        """Whose answers count: as written, else "given" iff some number is known."""
        if self.database.answers is not None:
            return self.database.answers
        numbers = self.database.size is not None or self.database.data is not None
        facts = any(
            isinstance(fact, Clause)
            or (not isinstance(fact, Impossible) and (fact.answered or fact.bounded))
            for fact in self.known
        )
        return "given" if numbers or facts else "any"

    @property
    def knows_size(self) -> bool:
        """Whether n is a fact in every reading: it is written, or a marginal adds up to it."""
        marginals = any(isinstance(fact, Marginal) for fact in self.known)
        return self.database.size is not None or marginals

    def with_answers(self, answers: Answers | None) -> Policy:
        """Return the policy with another scope (None: unchanged)."""
        if answers is None or answers == self.scope:
            return self
        return replace(self, database=replace(self.database, answers=answers))

    def without(self, places: Iterable[int]) -> Policy:
        """Return the policy without some of its known facts."""
        dropped = set(places)
        kept = tuple(fact for place, fact in enumerate(self.known) if place not in dropped)
        return replace(self, known=kept, database=replace(self.database, answers=self.scope))

    def query_area(self, name: str) -> Area:
        """Return the region of a named `[[query]]`."""
        names = [query.name for query in self.queries]
        for query in self.queries:
            if query.name == name:
                return self.domain.area(query.where)
        raise PolicyError(
            f"there is no query {name!r} in the policy",
            hint=nearest(name, names, what="query")
            if names
            else "a [[query]] table in the policy, with name and count",
        )

    def signature(self, point: Point) -> tuple[int, ...]:
        """Return phi(x): what one record at x adds to each linear fact."""
        return tuple(fact.coefficient(point) for fact in self.linear_facts)

    def possible(self, point: Point) -> bool:
        """Whether a record can hold the value."""
        return point not in self.impossible

    def size_known(self, reading: Reading) -> bool:
        """Whether n is public: always in readings 1 and 2, else if it is written."""
        return is_labelled(reading) or self.database.size is not None

    def totals(self, database: Sequence[Point]) -> tuple[int, ...]:
        """Return the left-hand sides of the linear facts in a database."""
        return tuple(
            sum(fact.coefficient(point) for point in database) for fact in self.linear_facts
        )

    def _repr_html_(self) -> str:
        """Return the policy as a table, for notebooks."""
        from blowproof.models.policy.notebook_html import policy_html

        return policy_html(self)
