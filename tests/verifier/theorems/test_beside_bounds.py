"""Cells and bounds beside them, against the definition."""

from __future__ import annotations

import random

import pytest

from blowproof.models import (
    Between,
    BudgetError,
    Count,
    Database,
    Domain,
    Integers,
    Labels,
    Marginal,
    Policy,
    parse_query,
    setting,
)
from blowproof.verifier.ask import sensitivity
from blowproof.verifier.asked.question import Question
from blowproof.verifier.databases.consistency import prepare
from blowproof.verifier.neighbours.check import check_pair
from blowproof.verifier.theorems.beside_bounds import (
    bounds_beside,
    known_parts,
    no_bounds_beside,
)


def asked(policy: Policy, text: str = "histogram") -> Question:
    found = prepare(setting(policy), "published")
    return Question(found, parse_query(text, policy), "published")


def bounded(rng: random.Random) -> Policy:
    """A margin, and one bound or two beside it."""
    ages = rng.randint(2, 3)
    domain = Domain(c=Labels(["c0", "c1", "c2"][: rng.randint(1, 3)]), age=Integers(0, ages))
    held = [
        (rng.randrange(domain.attribute(0).size), rng.randint(0, ages))
        for _ in range(rng.randint(2, 4))
    ]
    answers = [sum(x == k for x, _ in held) for k in range(domain.attribute(0).size)]
    known: list[object] = [Marginal(["c"], answers=answers)]
    for _ in range(rng.randint(1, 2)):
        low = rng.randint(0, ages)
        high = rng.randint(low, ages)
        number = sum(low <= age <= high for _, age in held)
        ends = {}
        if rng.random() < 0.7:
            ends["at_most"] = number + rng.randint(0, 1)
        if not ends or rng.random() < 0.5:
            ends["at_least"] = max(0, number - rng.randint(0, 1))
        known.append(Count({"age": Between(low, high)}, **ends))
    return Policy(
        domain=domain,
        known=tuple(known),  # type: ignore[arg-type]
        database=Database(size=len(held), answers="given"),
    )


@pytest.mark.parametrize("seed", range(5))
def test_bounds_hold_the_definition(seed: int) -> None:
    rng = random.Random(seed)
    spoken = 0
    for number in range(14):
        policy = bounded(rng)
        text = ("histogram", "marginal(age)", "sum(age)", "range(age,0,1)")[number % 4]
        question = asked(policy, text)
        found = None if no_bounds_beside(question) else bounds_beside(question)
        if found is None:
            continue
        try:
            truth = sensitivity(policy, text, engine="brute", time_limit=30)
        except BudgetError:
            continue
        assert found.lower <= truth.lower, (policy, text)
        assert truth.upper is not None
        if truth.status == "exact":
            assert truth.lower <= found.upper, (policy, text)  # type: ignore[operator]
        if found.witness is not None:
            assert check_pair(question.setting, "published", found.witness)
        spoken += 1
    assert spoken >= 5


def test_two_loose_bounds_are_no_thousands() -> None:
    """3,040 before; at both ends there is a pair of 18 moves, more than without the bounds."""
    kinds = ["none", "school", "trade", "bachelor", "master", "doctor"]
    policy = Policy(
        domain=Domain(education=Labels(kinds), age=Integers(0, 99)),
        known=(
            Marginal(["education"], answers=[200, 700, 500, 300, 180, 120]),
            Count({"age": Between(19, 99)}, at_most=1900),
            Count({"age": Between(81, 99)}, at_least=3),
        ),
        database=Database(size=2000, answers="given"),
    )
    question = asked(policy)
    found = bounds_beside(question)
    assert found is not None
    assert found.witness is not None
    assert (found.lower, found.upper) == (36, 48)
    assert check_pair(question.setting, "published", found.witness)


def test_a_count_and_a_bound_beside_cells() -> None:
    """Two facts beside cells, one of them closed by slack: 28,056 by stages."""
    domain = Domain(
        c=Labels([str(k) for k in range(12)]), s=Labels("FM"), o=Labels("ab"), z=Labels("uv")
    )
    known = (
        Marginal(["c"], answers=[5000] * 12),
        Count({"s": "F"}, answer=30000),
        Count({"o": "a"}, at_least=150, at_most=155),
    )
    policy = Policy(domain=domain, known=known, database=Database(size=60000, answers="given"))
    found = bounds_beside(asked(policy))
    assert found is not None and found.upper is not None
    assert found.upper < 10_000


KINDS = ["none", "school", "trade", "bachelor", "master", "doctor"]


def survey(*bounds: Count) -> Policy:
    """2,000 people of six kinds, some bounds on their ages; they live in one of two places."""
    domain = Domain(education=Labels(KINDS), age=Integers(0, 99), place=Labels(["in", "out"]))
    published = Marginal(["education"], answers=[200, 700, 500, 300, 180, 120])
    return Policy(
        domain=domain, known=(published, *bounds), database=Database(size=2000, answers="given")
    )


ADULTS = Count({"age": Between(19, 99)}, at_most=1900)
OLD = Count({"age": Between(81, 99)}, at_least=3)
YOUNG = Count({"age": Between(0, 59)}, at_most=900)
FEW_OLD = Count({"age": Between(81, 99)}, at_most=40)


@pytest.mark.parametrize(
    ("bounds", "text", "lower", "upper"),
    [
        ((ADULTS, OLD), "sum(age)", 840, 1432),  # 594..2,376 before
        ((ADULTS, OLD), "cumulative(age)", 840, 1432),
        ((ADULTS, OLD), "marginal(place)", 36, 48),  # 12..48: pairs had any values
        ((YOUNG, FEW_OLD), "sum(age)", 1052, 1264),
    ],
)
def test_pairs_at_two_ends(bounds: tuple[Count, ...], text: str, lower: int, upper: int) -> None:
    """Ends of two bounds that are met exactly, both upper ones in the last case."""
    question = asked(survey(*bounds), text)
    found = bounds_beside(question)
    assert found is not None and found.witness is not None
    assert check_pair(question.setting, "published", found.witness)
    assert (found.lower, found.upper) == (lower, upper)


@pytest.mark.parametrize(("most", "upper"), [(623, 1264), (624, 6 * 99), (1500, 6 * 99)])
def test_ends_far_apart_are_one_end(most: int, upper: int) -> None:
    """A pair has 24 moves at the most, with slack: 12 rise, and ends 24 apart are never both in its
    way.
    """
    policy = survey(Count({"age": Between(60, 99)}, at_least=600, at_most=most))
    found = bounds_beside(asked(policy, "sum(age)"))
    assert found is not None and found.upper == upper
    assert (known_parts(asked(policy, "sum(age)"))[-1].rows == ()) == (most >= 624)


def test_far_ends_leave_the_published_cells() -> None:
    """Six moves, as without the bound; they were 24."""
    policy = survey(Count({"age": Between(60, 99)}, at_least=600, at_most=1500))
    for text, value in (("histogram", 12), ("sum(age)", 594), ("marginal(place)", 12)):
        found = sensitivity(policy, text, time_limit=20)
        assert (found.lower, found.upper) == (value, value)
