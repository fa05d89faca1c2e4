"""What no database with the known numbers holds is as good as impossible."""

from __future__ import annotations

import random
from typing import Any

import pytest

from blowproof.models import (
    Between,
    BudgetError,
    Count,
    Database,
    Domain,
    Impossible,
    Integers,
    Labels,
    Marginal,
    Policy,
    Sum,
    parse_query,
    setting,
)
from blowproof.verifier.ask import sensitivity
from blowproof.verifier.databases.consistency import prepare
from blowproof.verifier.databases.value_classes import class_table
from blowproof.verifier.engines.brute import brute_sensitivity
from blowproof.verifier.theorems.empty_classes import without_unheld

WARDS = Domain(a=Labels(["x", "y", "w"]), b=Integers(0, 2))


def given(*known: Any, size: int = 2, domain: Domain = WARDS) -> Policy:
    return Policy(domain=domain, known=known, database=Database(size=size, answers="given"))


def test_all_are_adults() -> None:
    """A count whose answer is n says what the written impossible says."""
    said = given(Count({"b": 2}, answer=2))
    written = given(Impossible([{"b": Between(0, 1)}]))
    assert sensitivity(said).lower == sensitivity(written).lower == 2
    assert sensitivity(said).status == "exact"
    prepared = prepare(setting(said), "published")
    assert [item.size for item in class_table(without_unheld(prepared)).classes] == [3]


def test_zeros_that_sums_imply() -> None:
    """Two parts add up to the total: nobody is in the third, and margins beside say no more."""
    policy = given(
        Count({"a": ["x", "y", "w"], "b": Between(0, 1)}, answer=4),
        Count({"a": "x", "b": Between(0, 1)}, answer=1),
        Count({"a": "y", "b": 0}, answer=3),
        Marginal(["b"], answers=[4, 0, 3]),
        size=7,
    )
    prepared = prepare(setting(policy), "published")
    left = without_unheld(prepared)
    kept = [x for x in policy.domain.points() if x not in left.impossible]
    assert kept == [(0, 0), (0, 2), (1, 0), (1, 2), (2, 2)]


def test_where_nothing_is_forced_nothing_changes() -> None:
    prepared = prepare(setting(given(Count({"b": 2}, answer=1))), "published")
    assert without_unheld(prepared) is prepared
    free = prepare(setting(Policy(domain=WARDS, known=(Count({"b": 2}),))), "published")
    assert without_unheld(free) is free


def drawn(rng: random.Random) -> Policy:
    """Counts of a drawn database, close together, so that some classes are forced to be empty."""
    domain = Domain(a=Integers(0, 2), b=Integers(0, 1))
    values = list(domain.points())
    held = rng.choices(rng.sample(values, 2), k=rng.randint(1, 3))
    known: list[Any] = []
    for _ in range(rng.randint(1, 3)):
        some = rng.sample(values, rng.randint(1, 4))
        regions = [{"a": a, "b": b} for a, b in some]
        if rng.random() < 0.3:
            twice = [(2, regions[:1]), (1, regions)]
            total = sum(2 * (x == some[0]) + (x in some) for x in held)
            known.append(Sum(twice, equals=total))
        else:
            known.append(Count(regions, answer=sum(x in some for x in held)))
    return Policy(
        domain=domain, known=tuple(known), database=Database(size=len(held), answers="given")
    )


@pytest.mark.parametrize("seed", range(4))
def test_no_value_that_some_database_holds_is_taken_away(seed: int) -> None:
    rng = random.Random(seed)
    gone = 0
    for number in range(25):
        policy = drawn(rng)
        prepared = prepare(setting(policy), "published")
        left = without_unheld(prepared)
        away = {x for x in policy.domain.points() if x in left.impossible}
        gone += len(away)
        held = {
            x for database in databases(policy) for x in database if prepared.satisfied_by(database)
        }
        assert not away & held, policy
        if number % 5 == 0:
            query = parse_query("histogram", policy)
            try:
                truth = brute_sensitivity(
                    prepared, query, "published", sizes=[prepared.size or 0], complete=True
                )
            except BudgetError:
                continue
            found = sensitivity(policy, time_limit=20)
            assert (found.lower, found.upper) == (truth.lower, truth.lower), policy
    assert gone >= 10


def databases(policy: Policy) -> list[tuple[tuple[int, ...], ...]]:
    found: list[tuple[tuple[int, ...], ...]] = [()]
    for _ in range(policy.database.size or 0):
        found = [(*old, x) for old in found for x in policy.domain.points()]
    return found
