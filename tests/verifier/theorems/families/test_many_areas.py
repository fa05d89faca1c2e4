"""Thousands of areas: what is said without a table is what is said with one."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import pytest

from blowproof.models import (
    AttributeChange,
    Between,
    Count,
    Database,
    Distance,
    Domain,
    Integers,
    Labels,
    Marginal,
    Policy,
    setting,
)
from blowproof.models.norms import NORMS
from blowproof.verifier.ask import sensitivity
from blowproof.verifier.neighbours.check import check_pair
from blowproof.verifier.theorems.families import many_areas

QUERIES = (
    *("histogram", "marginal(sex)", "marginal(x)", "marginal(x,sex)", "sum(x)", "cumulative(x)"),
    *("ranges(x)", "range(x,2,4)"),
)


def drawn(rng: random.Random, *, given: bool) -> Policy:
    """Nested and disjoint ranges of a line, or boxes of a grid; sometimes with people's numbers."""
    length = rng.choice([6, 14, 40])
    domain = Domain(x=Integers(0, length - 1), sex=Labels(["F", "M"]))
    boxes = {(0, length, 0, 2)}
    for _ in range(rng.randint(1, 5)):
        low, high, left, right = rng.choice(sorted(boxes))
        a, b = sorted(rng.sample(range(low, high + 1), 2)) if high > low else (low, high)
        c = rng.choice([(left, right), (left, left + 1)])
        new = (a, b, *c)
        if all(_apart(new, old) or _inside(new, old) or _inside(old, new) for old in boxes):
            boxes.add(new)
    people = [(rng.randrange(length), rng.randrange(2)) for _ in range(rng.randint(2, 6))]
    known = []
    for low, high, left, right in sorted(boxes - {(0, length, 0, 2)}):
        answer = sum(low <= x < high and left <= s < right for x, s in people)
        region: dict[str, Any] = {"x": Between(low, high - 1)}
        if right - left < 2:
            region["sex"] = "FM"[left]
        known.append(Count(region, answer=answer if given else None))
    database = Database(size=len(people), answers="given") if given else Database()
    return Policy(domain=domain, known=tuple(known), database=database)


def _inside(one: tuple[int, ...], two: tuple[int, ...]) -> bool:
    return two[0] <= one[0] and one[1] <= two[1] and two[2] <= one[2] and one[3] <= two[3]


def _apart(one: tuple[int, ...], two: tuple[int, ...]) -> bool:
    return not (one[0] < two[1] and two[0] < one[1] and one[2] < two[3] and two[2] < one[3])


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("reading", ["published", "secret-moves", "add-remove"])
def test_areas_say_what_a_table_says(
    reading: Any, norm: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = random.Random(reading)
    met = asked = 0
    for number in range(24):
        policy = drawn(rng, given=number % 3 == 0)
        query = QUERIES[number % len(QUERIES)]
        told = sensitivity(policy, query, reading=reading, norm=norm, time_limit=0.2)
        with monkeypatch.context() as patched:
            patched.setattr(many_areas, "MANY", 0)
            found = _alone(policy, query, reading, norm)
        if found is None:
            continue
        asked += 1
        assert found.upper is None or told.lower <= found.upper, (policy, query)
        assert told.upper is None or found.lower <= told.upper, (policy, query)
        met += found.lower == found.upper
    assert asked >= 15
    assert met >= asked // 3


def _alone(policy: Policy, query: str, reading: Any, norm: str = "l1") -> Any:
    """What the theorem says by itself."""
    from blowproof.models import setting
    from blowproof.models.stacks.written import parse_question
    from blowproof.verifier.asked.question import Question
    from blowproof.verifier.databases.consistency import prepare

    prepared = prepare(setting(policy, None), reading)
    question = Question(prepared, parse_question(query, policy, norm), reading)
    if many_areas.no_many_areas(question):
        return None
    return many_areas.many_areas(question)


def test_overlapping_areas_are_not_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(many_areas, "MANY", 0)
    domain = Domain(x=Integers(0, 9))
    known = (Count({"x": Between(0, 5)}), Count({"x": Between(3, 8)}))
    assert _alone(Policy(domain=domain, known=known), "histogram", "published") is None


@pytest.mark.parametrize(
    ("query", "move"), [("sum(x)", 11), ("cumulative(y)", 7), ("sum(x,y)", 18)]
)
def test_what_lies_between_districts_changes_as_much_as_any_move(
    query: str, move: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only that class is bounded by a move: districts are as wide as they are."""
    rng = random.Random(query)
    for _ in range(6):
        sides = [(4 * i, 4 * i + rng.randint(0, 2), 4 * j) for i in range(3) for j in range(2)]
        policy = Policy(
            domain=Domain(x=Integers(0, 11), y=Integers(0, 7)),
            known=tuple(
                Count({"x": Between(low, high), "y": Between(at, at + rng.randint(0, 2))})
                for low, high, at in sides
            ),
        )
        whole = sensitivity(policy, query, time_limit=5)
        with monkeypatch.context() as patched:
            patched.setattr(many_areas, "MANY", 0)
            found = _alone(policy, query, "published")
        assert whole.status == "exact" and whole.upper is not None
        assert whole.lower <= found.upper < 7 * move
        assert found.lower == found.upper == whole.upper


def test_six_thousand_districts_of_a_long_line() -> None:
    """More facts than a table is made for, on an axis beyond 64 bits; the pair is checked."""
    step = 2**60
    domain = Domain(x=Integers(0, 6001 * step), sex=Labels(["F", "M"]))
    known = tuple(Count({"x": Between(k * step, k * step + 9)}) for k in range(6000))
    policy = Policy(domain=domain, known=known)
    for query, value in (("histogram", 12002), ("marginal(sex)", 12002)):
        answer = sensitivity(policy, query, time_limit=120)
        assert (answer.lower, answer.upper, answer.engine) == (value, value, "areas")
    near = Policy(domain=domain, known=known, secrets=Distance(metric="l1", threshold=3))
    assert _alone(near, "marginal(sex)", "published").upper == 12002


@pytest.mark.parametrize(
    ("query", "value"), [("histogram", 12_000), ("marginal(age)", 11_998), ("sum(age)", 593_901)]
)
def test_six_thousand_counties_and_secrets_by_attribute(query: str, value: int) -> None:
    """At least 0 before, where G is not complete."""
    domain = Domain(county=Integers(1, 6000), sex=Labels(["F", "M"]), age=Integers(0, 99))
    policy = Policy(domain=domain, known=(Marginal(["county"]),), secrets=AttributeChange())
    told = _alone(policy, query, "published")
    assert (told.lower, told.upper) == (value, value)
    assert len(told.witness.before) >= 5_999


@pytest.mark.parametrize("seed", range(12))
def test_areas_and_other_graphs_agree_with_a_table(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = random.Random(300 + seed)
    policy = replace(drawn(rng, given=False), secrets=rng.choice(
        [AttributeChange(), Distance(metric="l1", threshold=rng.randint(1, 3))]
    ))  # fmt: skip
    query = QUERIES[seed % len(QUERIES)]
    told = sensitivity(policy, query, time_limit=1)
    monkeypatch.setattr(many_areas, "MANY", 0)
    found = _alone(policy, query, "published")
    if found is not None:
        assert found.upper is None or told.lower <= found.upper
        assert told.upper is None or found.lower <= told.upper
        assert (
            found.witness is None or check_pair(setting(policy), "published", found.witness).holds
        )
