"""Few values stand for all: cumulative counts by the ends of the pieces of an axis.

Engines that look at these values alone say what the definition says over every database, and what
they say over every position.
"""

from __future__ import annotations

from itertools import product
from random import Random

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from blowproof.models import (
    Between,
    Count,
    Distance,
    Domain,
    Exact,
    Full,
    Impossible,
    Integers,
    Known,
    Labels,
    Marginal,
    PartitionBy,
    Policy,
    Reading,
    parse_query,
    setting,
)
from blowproof.models.norms import NORMS
from blowproof.models.stacks.written import parse_question
from blowproof.verifier.ask import sensitivity
from blowproof.verifier.reductions import few_values
from blowproof.verifier.reductions.few_values import reduce_values
from strategies import World, query_texts, worlds

AXIS = "cumulative(age)"
MONOTONE = ("l1", "l2-squared", "linf")
KNOWN = ("count", "marginal", "sum", "bound", "impossible")
READINGS: tuple[Reading, ...] = ("published", "secret-moves", "add-remove", "pufferfish")


def drawn(rng: Random, top: int) -> Policy:
    """Return a policy on ages, with ranges known that overlap, by sex or not; secrets by ward."""
    domain = Domain(age=Integers(0, top), sex=Labels(["F", "M"]))
    known: list[Known] = []
    for _ in range(rng.choice((1, 2, 2))):
        low = rng.randint(0, top)
        region: dict[str, object] = {"age": Between(low, rng.randint(low, top))}
        if rng.random() < 0.4:
            region["sex"] = rng.choice("FM")
        known.append(Count(region))
    if rng.random() < 0.3:
        known.append(Marginal(["sex"]))
    if rng.random() < 0.3:
        known.append(Impossible({"age": rng.randint(0, top), "sex": rng.choice("FM")}))
    secrets: Full | PartitionBy = Full() if rng.random() < 0.6 else PartitionBy(["sex"])
    return Policy(domain=domain, known=tuple(known), secrets=secrets)


@settings(max_examples=40)
@given(
    world=worlds(scope="given", secrets=("full", "by", "cells"), kinds=KNOWN, max_records=3),
    data=st.data(),
)
def test_ends_of_pieces_say_what_the_definition_says(world: World, data: st.DataObject) -> None:
    policy = world.policy
    prefixes = [text for text in query_texts(policy) if text.startswith("cumulative")]
    assume(prefixes)
    query = data.draw(st.sampled_from(prefixes))
    norm, reading = data.draw(st.sampled_from(MONOTONE)), data.draw(st.sampled_from(READINGS))
    slow = sensitivity(policy, query, norm=norm, reading=reading, engine="brute")
    quick = sensitivity(policy, query, norm=norm, reading=reading, engine="ilp")
    assert (quick.status, quick.lower) == (slow.status, slow.lower) == ("exact", slow.upper)


@pytest.mark.parametrize("seed", range(40))
def test_ends_of_pieces_say_what_all_positions_say(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = Random(seed)
    policy, norm, reading = drawn(rng, 5), rng.choice(MONOTONE), rng.choice(READINGS[1:3])
    if policy.graph.complete and rng.random() < 0.5:
        reading = "published"

    def told() -> Exact:
        found = sensitivity(policy, AXIS, norm=norm, reading=reading, engine="search")
        assert found.status == "exact"
        return found.lower

    few = told()
    monkeypatch.setattr(few_values, "_prefixes", lambda query: None)
    assert told() == few


def test_so_few_are_kept() -> None:
    age = Integers(0, 99)
    policy = Policy(domain=Domain(age=age), known=(Count({"age": [*range(10, 30), 50]}),))
    one = setting(policy)
    core = reduce_values(one, parse_query(AXIS, policy), "published")
    assert core.enough
    assert {x for (x,) in core.values} == {0, 9, 10, 29, 30, 49, 50, 51, 99}
    for norm in MONOTONE:
        query = parse_question(AXIS, policy, norm)
        core = reduce_values(one, query, "published")
        assert core.query is not None and core.query.longest_row == 9
        for x, y in product(core.values, repeat=2):
            for change in ({x: -1, y: 2}, {x: 1}):
                assert core.query.norm(change) == query.norm(change)


@pytest.mark.parametrize("times", [1, 3, 10_000])
def test_a_long_axis_is_no_harder(times: int) -> None:
    """Ages in finer and finer steps: every piece is as much longer, less what its last one is."""
    ranges = [(16, 67), (14, 31), (18, 81), (60, 100)]
    policy = Policy(
        domain=Domain(age=Integers(0, 100 * times - 1), sex=Labels(["F", "M"])),
        known=tuple(Count({"age": Between(a * times, b * times - 1)}) for a, b in ranges),
    )
    for norm, value in (("l1", 447 * times - 16), ("l2-squared", 2345 * times - 100), ("linf", 7)):
        found = sensitivity(policy, AXIS, norm=norm, engine="search")
        assert (found.status, found.lower) == ("exact", value)
        alone = sensitivity(policy, AXIS, norm=norm, reading="add-remove", engine="search")
        assert (alone.status, alone.lower) == ("exact", 1 if norm == "linf" else 100 * times)


def near(rng: Random) -> Policy:
    """Return a policy on wages, some of them counted, by sex or not; near wages are secret."""
    top = rng.randint(5, 11)
    known: list[Known] = []
    for _ in range(rng.choice((1, 2, 2, 3))):
        low = rng.randint(0, top)
        region: dict[str, object] = {"wage": Between(low, rng.randint(low, top))}
        if rng.random() < 0.4:
            region["sex"] = rng.choice("FM")
        known.append(Count(region))
    if rng.random() < 0.3:
        known.append(Impossible({"wage": rng.randint(1, top)}))
    across = rng.random() < 0.3
    secrets = Distance(
        metric=rng.choice(["l1", "linf"]),
        threshold=rng.randint(1, 4),
        attributes=None if across else ["wage"],
    )
    domain = Domain(sex=Labels(["F", "M"]), wage=Integers(0, top))
    return Policy(domain=domain, secrets=secrets, known=tuple(known))


@pytest.mark.parametrize("norm", MONOTONE)
def test_values_near_other_classes_say_what_all_positions_say(
    norm: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    fewer = 0
    for seed in range(25):
        policy = near(Random(seed))
        query = parse_question("cumulative(wage)", policy, norm)
        answers = []
        for small in (1000, 0):
            monkeypatch.setattr(few_values, "SMALL_DOMAIN", small)
            core = reduce_values(setting(policy), query, "secret-moves")
            found = sensitivity(policy, query, reading="secret-moves", engine="search", norm=norm)
            answers.append((found.lower, found.upper, len(core.values)))
        (lower, upper, every), (least, most, some) = answers
        assert lower == upper == least == most, seed
        fewer += some < every
    assert fewer >= 8


@pytest.mark.parametrize("times", [1, 1000])
def test_a_long_axis_with_near_secrets_is_no_harder(times: int) -> None:
    """One goes up over the threshold from as far as it can, one comes down: they share one step."""
    policy = Policy(
        domain=Domain(region=Labels("abc"), wage=Integers(0, 300 * times)),
        secrets=Distance(metric="l1", threshold=5 * times, attributes=["wage"]),
        known=(
            Count({"region": "a", "wage": {"min": 50 * times}}),
            Count({"region": "b", "wage": {"min": 50 * times}}),
        ),
    )
    found = sensitivity(policy, "cumulative(wage)", reading="secret-moves", time_limit=60)
    assert (found.lower, found.upper) == (10 * times - 2, 10 * times - 2)
    query = parse_query("cumulative(wage)", policy)
    assert len(reduce_values(setting(policy), query, "secret-moves").values) < 60


def test_a_range_of_changes_needs_what_lies_between() -> None:
    # One comes to 1 and one leaves 2: first a count rises, then it falls, within a piece.
    policy = Policy(domain=Domain(age=Integers(0, 9)), known=(Count({"age": Between(0, 8)}),))
    one = setting(policy)
    query = parse_question(AXIS, policy, "range")
    assert len(reduce_values(one, query, "published").values) == policy.domain.size
    for norm in set(NORMS) - {"range"}:
        assert len(reduce_values(one, parse_question(AXIS, policy, norm), "published").values) == 3
