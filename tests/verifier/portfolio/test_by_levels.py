"""All ranges of an attribute, by cumulative counts and by how far one range differs."""

from __future__ import annotations

import random
from collections.abc import Sequence
from itertools import accumulate, combinations, product

import pytest

from blowproof.models import (
    AttributeChange,
    Between,
    Count,
    Database,
    Distance,
    Domain,
    Exact,
    Integers,
    Policy,
    Reading,
    parse_query,
    setting,
)
from blowproof.models.stacks.written import parse_question
from blowproof.verifier.ask import sensitivity
from blowproof.verifier.asked.question import Question
from blowproof.verifier.databases.consistency import prepare
from blowproof.verifier.portfolio.by_levels import by_levels, most_of_levels, no_levels

READINGS: tuple[Reading, ...] = ("published", "secret-moves", "pufferfish")


def differ(sums: Sequence[int]) -> int:
    return sum(abs(x - y) for x, y in combinations(sums, 2))


@pytest.mark.parametrize("size", [1, 2, 3, 4, 5])
def test_no_change_is_above_it_and_some_are_met(size: int) -> None:
    """Every change of up to 2 in each cumulative count."""
    most: dict[tuple[int, int], int] = {}
    for inner in product(range(-2, 3), repeat=size - 1):
        sums = [0, *inner, 0]
        key = sum(map(abs, sums)), max(sums) - min(sums)
        most[key] = max(most.get(key, 0), differ(sums))
    for (total, width), value in most.items():
        assert value <= most_of_levels(size, total, width) <= most_of_levels(size, total, None)
    met = [key for key, value in most.items() if value == most_of_levels(size, *key)]
    assert len(met) >= size


def test_more_is_no_less() -> None:
    for size, total in product(range(1, 8), range(12)):
        by_width = [most_of_levels(size, total, width) for width in range(10)]
        assert by_width == sorted(by_width)
        assert most_of_levels(size, total + 1, 3) >= most_of_levels(size, total, 3)


@pytest.mark.parametrize("seed", range(12))
def test_ranges_of_small_policies_are_within(seed: int) -> None:
    rng = random.Random(seed)
    size = rng.randint(3, 5)
    ends = [sorted(rng.sample(range(size), 2)) for _ in range(rng.randint(1, 2))]
    count = rng.randint(2, 3)
    held = [rng.randrange(size) for _ in range(count)]
    bounded = rng.random() < 0.4
    known = []
    for low, high in ends:
        there = sum(low <= x <= high for x in held)
        region = {"a": Between(low, high)}
        known.append(Count(region, at_most=there) if bounded else Count(region, answer=there))
    policy = Policy(
        domain=Domain(a=Integers(0, size - 1)),
        secrets=rng.choice([Distance(metric="l1", threshold=1), AttributeChange()]),
        database=Database(size=count),
        known=tuple(known),
    )
    reading = READINGS[seed % 3]
    question = Question(
        prepare(setting(policy), reading), parse_query("ranges(a)", policy), reading
    )
    assert not no_levels(question)
    found = by_levels(question)
    assert found is not None
    (easier,) = found
    asked = easier.apply(question)
    assert asked is not None
    assert asked.query.name == "cumulative(a)"
    whole = sensitivity(policy, "cumulative(a)", reading=reading, engine="brute")
    truth = sensitivity(policy, "ranges(a)", reading=reading, engine="brute")
    assert whole.upper is not None
    upper: Exact | None = easier.upper(question, whole.upper)
    assert upper is not None
    assert truth.lower <= upper


def test_other_questions_are_refused() -> None:
    policy = Policy(domain=Domain(a=Integers(0, 4), b=Integers(0, 4)), known=(Count({"a": 1}),))
    found = prepare(setting(policy), "published")
    for text, norm in (("cumulative(a)", "l1"), ("ranges(a)", "linf"), ("1/2*ranges(a)", "l1")):
        query = parse_question(text, policy, norm)
        assert no_levels(Question(found, query, "published"))
        assert by_levels(Question(found, query, "published")) is None
    ranges = parse_query("ranges(a)", policy)
    assert no_levels(Question(found, ranges, "add-remove"))
    assert not no_levels(Question(found, ranges, "published"))


def test_cumulative_sums_are_what_a_change_is_counted_by() -> None:
    """The norm of the query is that of the proof."""
    rng, policy = random.Random(3), Policy(domain=Domain(a=Integers(0, 6)))
    query = parse_query("ranges(a)", policy)
    for _ in range(30):
        change = [rng.randint(-2, 2) for _ in range(6)]
        change.append(-sum(change))
        told = query.norm({(place,): times for place, times in enumerate(change) if times})
        assert told == differ([0, *accumulate(change)])
