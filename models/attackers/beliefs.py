"""Beliefs with exact probabilities, as a file lists them: over databases, records or a chain.

A belief is bound to a policy before it is used: `Belief.of` lists the databases that it thinks
possible, each with an exact probability.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import Any

from blowproof.models.base.errors import BlowproofError, BudgetError, PolicyError
from blowproof.models.base.toml_values import within
from blowproof.models.domain.domain import Domain
from blowproof.models.domain.regions import Point
from blowproof.models.policy.policy import Policy

__all__ = ["MOST_DATABASES", "Belief", "Chain", "Listed", "Records", "Scenario"]

MOST_DATABASES = 200_000
"""A belief is written out over at most so many databases."""

Database = tuple[Point, ...]


@dataclass(frozen=True)
class Listed:
    """Databases, as a file writes them, with their probabilities."""

    databases: tuple[tuple[Any, ...], ...]
    probabilities: tuple[Fraction, ...]


@dataclass(frozen=True)
class Records:
    """Independent records: for each the probabilities of all values, in row-major order."""

    records: tuple[tuple[Fraction, ...], ...]


@dataclass(frozen=True)
class Chain:
    """A Markov chain over records: where the first starts, and how each follows the one before."""

    start: tuple[Fraction, ...]
    step: tuple[tuple[Fraction, ...], ...]


Scenario = Listed | Records | Chain


@dataclass(frozen=True)
class Belief:
    """A probability distribution over databases; those of probability 0 are left out."""

    chances: dict[Database, Fraction]

    @staticmethod
    def of(scenario: Scenario, policy: Policy, size: int | None, key: str) -> Belief:
        """Return the scenario over the policy's values; what does not fit is a PolicyError."""
        with within(key):
            return Belief({d: p for d, p in _chances(scenario, policy, size).items() if p})


def _chances(scenario: Scenario, policy: Policy, size: int | None) -> dict[Database, Fraction]:
    if isinstance(scenario, Listed):
        return _listed(scenario, policy.domain)
    values = list(policy.domain.points())
    if isinstance(scenario, Records):
        return dict(_independent(scenario, values))
    if size is None:
        raise PolicyError("a chain needs the number of records", hint="write size under [database]")
    return _chain(scenario, values, size)


def _listed(scenario: Listed, domain: Domain) -> dict[Database, Fraction]:
    found: dict[Database, Fraction] = defaultdict(Fraction)
    for place, (records, chance) in enumerate(
        zip(scenario.databases, scenario.probabilities, strict=True)
    ):
        with within(f"databases[{place}]"):
            found[tuple(_record(domain, item) for item in records)] += chance
    return found


def _record(domain: Domain, item: object) -> Point:
    try:
        if isinstance(item, dict):
            return domain.encode(item)
        return domain.encode(list(item) if isinstance(item, (list, tuple)) else [item])
    except PolicyError:
        raise
    except BlowproofError as error:
        raise PolicyError(str(error)) from error


def _independent(scenario: Records, values: list[Point]) -> Iterator[tuple[Database, Fraction]]:
    choices = []
    for place, row in enumerate(scenario.records):
        if len(row) != len(values):
            raise PolicyError(
                f"{len(row)} probabilities for {len(values)} values",
                key=f"records[{place}]",
                hint="one for each value, in row-major order",
            )
        choices.append([(x, p) for x, p in zip(values, row, strict=True) if p])
    _few(choices)
    for chosen in product(*choices):
        chance = Fraction(1)
        for _, p in chosen:
            chance *= p
        yield tuple(x for x, _ in chosen), chance


def _few(choices: list[list[tuple[Point, Fraction]]]) -> None:
    count = 1
    for some in choices:
        count *= len(some)
        if count > MOST_DATABASES:
            raise BudgetError(
                f"a belief thinks more than {MOST_DATABASES} databases possible\n"
                "  try: fewer records, or values of probability 0"
            )


def _chain(scenario: Chain, values: list[Point], size: int) -> dict[Database, Fraction]:
    if len(scenario.start) != len(values) or len(scenario.step) != len(values):
        raise PolicyError(
            f"the chain has {len(scenario.start)} states, and records have {len(values)} values",
            key="start",
            hint="one state for each value, in row-major order",
        )
    found: dict[tuple[int, ...], Fraction] = {(): Fraction(1)}
    for record in range(size):
        grown: dict[tuple[int, ...], Fraction] = {}
        for states, chance in found.items():
            row = scenario.step[states[-1]] if record else scenario.start
            grown.update({(*states, k): chance * p for k, p in enumerate(row) if p})
        if len(grown) > MOST_DATABASES:
            raise BudgetError(
                f"the chain thinks more than {MOST_DATABASES} databases possible\n"
                "  try: fewer records"
            )
        found = grown
    return {tuple(values[k] for k in states): chance for states, chance in found.items()}
