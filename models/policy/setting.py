"""A policy under one scope, its numbers filled in: what every engine starts from.

Scope "any": equalities carry no answers, and n is a known fact only where `size` is written.
Scope "given": answers come from the file, then from the data; what is still missing may follow from
the other facts, which the verifier decides (`blowproof.verifier.databases.consistency`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from blowproof.models.base.errors import PolicyError
from blowproof.models.base.kept import Kept, cached_property
from blowproof.models.domain.domain import Domain
from blowproof.models.domain.regions import Area, Point
from blowproof.models.facts.facts import Marginal
from blowproof.models.facts.on_positions import BoundClause, LinearFact
from blowproof.models.policy.policy import Answers, Numbers, Policy, Terms
from blowproof.models.secrets import SecretGraph

if TYPE_CHECKING:
    from blowproof.models.data.counted import Counted

__all__ = ["Setting", "counted_once", "setting"]


@dataclass(frozen=True, kw_only=True)
class Setting:
    """A policy under one scope.

    `size` is n where a number is at hand (written, or counted from the data). A written size is
    also one of the `equalities`, named "size": that is what readings 3 and 4 ask for, and in
    readings 1 and 2 it is true of every move. `unchecked` says why it was not decided whether any
    database has these numbers (None: it was, or nobody has asked yet). `kept` has what was derived
    from it.
    """

    policy: Policy
    scope: Answers
    size: int | None
    equalities: tuple[LinearFact, ...]
    bounds: tuple[LinearFact, ...]
    unchecked: str | None = None
    kept: Kept = field(default_factory=Kept, init=False, repr=False, compare=False)

    @property
    def domain(self) -> Domain:
        """The policy's domain."""
        return self.policy.domain

    @property
    def graph(self) -> SecretGraph:
        """The policy's secret graph."""
        return self.policy.graph

    @property
    def impossible(self) -> Area:
        """The values that no record can hold."""
        return self.policy.impossible

    @property
    def clauses(self) -> tuple[BoundClause, ...]:
        """The clauses over single records (scope "given" only)."""
        return self.policy.clauses

    @cached_property
    def as_listed(self) -> bool:
        """Whether the policy lists the equalities and no others, n aside.

        Who reads the policy alone for what is known asks this before: a bound that leaves one
        number is an equality besides.
        """
        listed = {fact.terms for fact in self.policy.linear_facts if not fact.bounded}
        known = {fact.terms for fact in self.equalities}
        everything = ((1, Area((self.domain.whole,))),)
        return listed ^ known <= {everything}

    def effect(self, point: Point) -> tuple[int, ...]:
        """Return what one record at a point adds to each equality."""
        return tuple(fact.coefficient(point) for fact in self.equalities)

    def satisfied_by(self, database: Sequence[Point]) -> bool:
        """Whether a database (records in order) satisfies every fact that has a number."""
        return self.counts_fit(database) and all(clause.holds(database) for clause in self.clauses)

    def counts_fit(self, database: Sequence[Point]) -> bool:
        """Whether a database satisfies all facts but the clauses."""
        if any(point in self.impossible for point in database):
            return False
        for fact in (*self.equalities, *self.bounds):
            if not fact.holds(sum(fact.coefficient(point) for point in database)):
                return False
        return True


def setting(policy: Policy, answers: Answers | None = None) -> Setting:
    """Return the policy under a scope (None: the policy's own), with answers counted from its data.

    >>> from blowproof.models import Count, Domain, Labels
    >>> domain = Domain(sex=Labels(["F", "M"]))
    >>> policy = Policy(domain=domain, known=(Count({"sex": "F"}, answer=2),))
    >>> setting(policy, "any").equalities[0].answer is None
    True
    """
    policy = policy.with_answers(answers)
    equalities = tuple(fact for fact in policy.linear_facts if not fact.bounded)
    bounds = tuple(fact for fact in policy.linear_facts if fact.bounded)
    size = policy.database.size
    if size is not None:
        everything = Area((policy.domain.whole,))
        total = LinearFact(name="size", terms=((1, everything),), answer=size)
        equalities = (*equalities, total)
    if policy.scope == "any":
        equalities = tuple(replace(fact, answer=None) for fact in equalities)
    elif policy.database.data is not None:
        equalities, size = _counted(policy, equalities, bounds)
    return Setting(
        policy=policy,
        scope=policy.scope,
        size=size,
        equalities=equalities,
        bounds=bounds,
    )


def counted_once(policy: Policy) -> Policy:
    """Return the policy with the numbers that its data give its facts, so that whoever asks about
    it under scope "given" needs the data no more; itself where it has none.

    >>> from blowproof.models import Domain, Labels
    >>> policy = Policy(domain=Domain(sex=Labels(["F", "M"])))
    >>> counted_once(policy) is policy
    True
    """
    if policy.database.data is None:
        return policy
    return replace(policy, database=replace(policy.database, numbers=_numbers(policy)))


def _counted(
    policy: Policy, equalities: tuple[LinearFact, ...], bounds: tuple[LinearFact, ...]
) -> tuple[tuple[LinearFact, ...], int]:
    """Fill missing answers and n from the data; refuse facts that the data contradict."""
    numbers = policy.database.numbers
    if numbers is None or not numbers.about(policy):
        numbers = _numbers(policy)
    size, name = numbers.size, numbers.name
    _check_bounds(bounds, numbers)
    written = policy.database.size
    if written is not None and written != size:
        raise PolicyError(
            f"size = {written}, but {name} has {size} records",
            key="database.size",
            hint="leave size out to count it from the data",
        )
    filled = []
    for fact in equalities:
        found = size if fact.name == "size" else numbers.totals[fact.terms]
        if fact.answer is not None and fact.answer != found:
            raise PolicyError(
                f"the answer is {fact.answer}, but {name} counts {found}",
                key=fact.name,
                hint="leave the answer out to count it from the data",
            )
        filled.append(fact.answering(found))
    return tuple(filled), size


def _numbers(policy: Policy) -> Numbers:
    """Count the policy's data; refuse those with impossible values, or with a false clause."""
    from blowproof.models.data.opening import open_data

    assert policy.database.data is not None
    with open_data(policy.database.data, policy.domain, policy.folder) as data:
        size = data.size
        totals = _marginal_counts(policy, data)
        facts = [fact for fact in policy.linear_facts if fact.terms not in totals]
        areas = [area for fact in facts for _, area in fact.terms]
        impossible, *found = data.counts([policy.impossible, *areas])
        counts = iter(found)
        for fact in facts:
            totals[fact.terms] = sum(times * next(counts) for times, _ in fact.terms)
        if impossible:
            raise PolicyError(
                f"records of {data.name} hold values that are called impossible: {impossible}",
                key="known",
                hint="correct the data, or the fact that calls them impossible",
            )
        _check_clauses(policy, data)
    return Numbers(data.name, policy.domain, size, totals, policy.impossible, policy.clauses)


def _check_bounds(bounds: tuple[LinearFact, ...], numbers: Numbers) -> None:
    """Refuse data outside a bound."""
    for fact in bounds:
        total = numbers.totals[fact.terms]
        if not fact.holds(total):
            raise PolicyError(
                f"{numbers.name} counts {total}, which the fact does not allow",
                key=fact.name,
                hint="correct the bound, or the data",
            )


def _check_clauses(policy: Policy, data: Counted) -> None:
    """Refuse data for which a clause is false."""
    if policy.clauses:
        records = data.records()
        for clause in policy.clauses:
            if max(clause.records) < len(records) and not clause.holds(records):
                raise PolicyError(
                    f"the records of {data.name} make no part of the clause true",
                    key=clause.name,
                    hint="correct the clause, or the order of the records",
                )


def _marginal_counts(policy: Policy, data: Counted) -> dict[Terms, int]:
    """Count whole marginals with one GROUP BY each: the numbers of their cells."""
    result: dict[Terms, int] = {}
    for place, fact in enumerate(policy.known):
        if isinstance(fact, Marginal):
            axes = policy.domain.axes(fact.attributes)
            cells = [bound.terms for bound in fact.bind(policy.domain, f"known[{place}]")]
            result.update(zip(cells, data.marginal(axes), strict=True))
    return result
