"""Two cycles round cells, on which labels of one more fact rise and fall."""

from __future__ import annotations

import random
from collections import Counter
from itertools import product

import pytest

from blowproof.models import (
    AttributeChange,
    Count,
    Database,
    Distance,
    Domain,
    Full,
    Integers,
    Labels,
    Marginal,
    NamedCount,
    PartitionBy,
    Point,
    Policy,
    Reading,
    Sum,
    parse_query,
    setting,
)
from blowproof.models.secrets import SecretsSpec
from blowproof.verifier.asked.question import Question
from blowproof.verifier.neighbours.check import check_pair
from blowproof.verifier.theorems.families.turning_cycles import no_turning_cycles, turning_cycles

QUERIES = (
    "histogram",
    "cumulative(doses)",
    "marginal(place,doses)",
    "count(some)",
    "ranges(doses)",
)
SECRETS = (
    Distance(threshold=1, attributes=("doses",)),
    Distance(threshold=2, attributes=("doses",)),
    AttributeChange(changes=1),
    PartitionBy(("place",)),
    Full(),
)


READINGS: tuple[Reading, ...] = ("published", "pufferfish")


def register(places: int, most: int, secrets: SecretsSpec = SECRETS[0], kinds: int = 1) -> Policy:
    """People by place, and how many doses they had in all."""
    return Policy(
        domain=Domain(
            place=Labels([f"p{place}" for place in range(places)]),
            doses=Integers(0, most),
            kind=Labels([f"k{kind}" for kind in range(kinds)]),
        ),
        secrets=secrets,
        known=(
            Marginal(("place",)),
            Sum(tuple((times, {"doses": times}) for times in range(1, most + 1))),
        ),
        queries=(NamedCount("some", {"place": ["p0", "p1"], "doses": 1}),),
    )


def asked(policy: Policy, query: str, reading: Reading = "published") -> Question:
    return Question(setting(policy), parse_query(query, policy), reading)


@pytest.mark.parametrize("query", QUERIES)
def test_what_is_found_is_a_pair(query: str) -> None:
    found = 0
    for secrets, (places, most, kinds) in product(SECRETS, ((4, 2, 2), (5, 3, 1))):
        policy = register(places, most, secrets, kinds)
        for reading in READINGS:
            question = asked(policy, query, reading)
            told = turning_cycles(question)
            if told is None:
                continue
            found += 1
            assert told.witness is not None
            assert check_pair(question.setting, reading, told.witness).holds
            change = question.query.difference(told.witness.moves(reading))
            assert change == told.lower
    assert found >= 16


def with_numbers(policy: Policy, people: list[tuple[int, int]], most: int) -> Policy:
    """Return the register with the numbers of these people, a place and doses each."""
    counts = Counter(place for place, _ in people)
    places = policy.domain["place"].size
    terms = tuple((times, {"doses": times}) for times in range(1, most + 1))
    return Policy(
        domain=policy.domain,
        secrets=policy.secrets,
        known=(
            Marginal(("place",), answers=[counts[place] for place in range(places)]),
            Sum(terms, equals=sum(doses for _, doses in people)),
        ),
        database=Database(size=len(people)),
        queries=policy.queries,
    )


def hold(policy: Policy, histogram: Counter[Point]) -> bool:
    """Whether a database has the known numbers."""
    found = setting(policy)
    return sum(histogram.values()) == found.size and all(
        fact.total(histogram) == fact.answer for fact in found.equalities
    )


def test_with_known_numbers_both_databases_have_them() -> None:
    found = 0
    for seed in range(40):
        rng = random.Random(seed)
        places, most = rng.choice([(4, 2), (5, 1), (6, 3)])
        people = [(rng.randrange(places), rng.randint(0, most)) for _ in range(rng.randint(20, 40))]
        policy = with_numbers(register(places, most, rng.choice(SECRETS)), people, most)
        question = asked(policy, QUERIES[seed % len(QUERIES)])
        told = turning_cycles(question)
        if told is not None:
            found += 1
            assert told.witness is not None
            assert check_pair(question.setting, "published", told.witness).holds
            assert hold(policy, told.witness.first())
            assert hold(policy, told.witness.second())
    assert found >= 10


def test_many_cells_beside_a_total_move_nearly_all_records() -> None:
    """80 records in each of 40 cells: 79 of most of them go round."""
    people = [(place, k % 6) for place in range(40) for k in range(80)]
    policy = with_numbers(register(40, 5), people, 5)
    told = turning_cycles(asked(policy, "histogram"))
    assert told is not None
    assert told.lower >= 5_000
    assert told.witness is not None
    assert hold(policy, told.witness.first())
    assert hold(policy, told.witness.second())


def test_it_is_for_one_fact_beside_cells() -> None:
    policy = register(5, 1)
    assert not no_turning_cycles(asked(policy, "histogram"))
    assert no_turning_cycles(asked(policy, "histogram", "secret-moves"))
    assert no_turning_cycles(asked(policy, "histogram", "add-remove"))
    two = Policy(domain=policy.domain, known=(Marginal(("place",)), Count({"doses": 1})))
    one = Policy(domain=policy.domain, known=(Marginal(("place",)),))
    assert turning_cycles(asked(two, "histogram")) is not None
    assert turning_cycles(asked(one, "histogram")) is None
