"""Thousands of facts, of which each value is seen by few: rows that are 0 nearly everywhere."""

from __future__ import annotations

import random

import pytest

from blowproof.models import (
    Count,
    Database,
    Domain,
    Integers,
    Labels,
    Marginal,
    NamedCount,
    Policy,
    parse_query,
)
from blowproof.verifier.ask import certified
from blowproof.verifier.kernel.document import Budget, Rejected
from blowproof.verifier.kernel.independent import Span, relations
from vectors import thin


def drawn(rng: random.Random) -> list[tuple[int, ...]]:
    """Return rows of which some depend on others, with large and small numbers."""
    width, most = rng.randint(1, 6), rng.choice([1, 3, 2**70])
    rows = [
        tuple(rng.choice([0, 0, 1, rng.randint(-most, most)]) for _ in range(width))
        for _ in range(rng.randint(1, 6))
    ]
    for _ in range(rng.randint(0, 2)):
        one, two = rng.choice(rows), rng.choice(rows)
        k = rng.randint(-2, 2)
        rows.append(tuple(a + k * b for a, b in zip(one, two, strict=True)))
    rng.shuffle(rows)
    return rows


@pytest.mark.parametrize("seed", range(200))
def test_spans_agree_with_an_elimination_of_full_rows(seed: int) -> None:
    rng = random.Random(seed)
    rows, budget = drawn(rng), Budget()
    span = Span([dict(thin(*row)) for row in rows], budget)
    assert len(span.kept) == len(relations(rows, budget)[0])
    width = len(rows[0])
    for _ in range(6):
        times = [rng.randint(-3, 3) for _ in rows]
        target = [sum(t * row[k] for t, row in zip(times, rows, strict=True)) for k in range(width)]
        if rng.random() < 0.5:
            target[rng.randrange(width)] += 1
        inside = len(relations([*rows, tuple(target)], budget)[0]) == len(span.kept)
        found = span.shares(dict(thin(*target)))
        assert (found is not None) == inside
        if found is not None:
            for k, wanted in enumerate(target):
                assert sum(t * row[k] for t, row in zip(found, rows, strict=True)) == wanted


def test_long_numbers_are_paid_for() -> None:
    rng = random.Random(1)
    rows = [{k: rng.randint(1, 10**300) for k in range(60)} for _ in range(60)]
    with pytest.raises(Rejected, match="budget"):
        Span(rows, Budget(steps=10**7))


MANY = [f"c{k:04}" for k in range(3_143)]


def counties(*, known: bool) -> Policy:
    domain = Domain(county=Labels(MANY), sex=Labels(["F", "M"]), age=Integers(0, 99))
    answers = [7] * len(MANY) if known else None
    return Policy(
        domain=domain,
        known=(Marginal(["county"], answers=answers),),
        queries=(NamedCount("old", {"sex": "F", "age": 99}),),
        database=Database(answers="given") if known else Database(),
    )


@pytest.mark.parametrize(
    ("text", "value", "known"), [("marginal(sex)", 6_286, False), ("count(old)", 3_143, True)]
)
def test_thousands_of_counties_are_proved(text: str, value: int, known: bool) -> None:
    policy = counties(known=known)
    answer, found = certified(policy, parse_query(text, policy), time_limit=60)
    assert (answer.status, answer.lower, found.kind) == ("proved", value, "cells"), found.reason


def test_thousands_of_counties_beside_one_more_fact() -> None:
    """Numbers from which n follows, and one of them from the others."""
    domain = Domain(county=Labels(MANY), sex=Labels(["F", "M"]))
    facts = (
        Marginal(["county"], answers=[2] * len(MANY)),
        Count({"sex": "F"}, answer=len(MANY)),
        Count({"sex": "M"}),
    )
    policy = Policy(domain=domain, known=facts, database=Database(answers="given"))
    answer, found = certified(policy, parse_query("marginal(sex)", policy), time_limit=60)
    assert (answer.status, answer.lower, found.kind) == ("proved", 0, "determined"), found.reason
