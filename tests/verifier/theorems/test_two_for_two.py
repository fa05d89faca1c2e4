"""Reading 4 where n is known: two records for two others, against the definition."""

from __future__ import annotations

import random

import pytest

from blowproof.models import (
    Clause,
    Count,
    Database,
    Domain,
    Impossible,
    Integers,
    Labels,
    Literal,
    Marginal,
    Policy,
    parse_query,
    setting,
)
from blowproof.verifier.ask import sensitivity
from blowproof.verifier.asked.question import Question
from blowproof.verifier.databases.consistency import prepare
from blowproof.verifier.neighbours.check import check_pair
from blowproof.verifier.theorems.families.four_cells import four_cells, no_four_cells

QUERIES = ("sum(x)", "cumulative(x)", "ranges(x)", "marginal(x)", "range(x,1,1)", "marginal(a,b)")


def asked(policy: Policy, query: str) -> Question:
    found = prepare(setting(policy), "markov")
    return Question(found, parse_query(query, policy), "markov")


def drawn(rng: random.Random) -> Policy:
    domain = Domain(x=Integers(0, rng.randint(1, 3)), a=Labels("uv"), b=Labels("pq"))
    margins = rng.choice([["a"], ["a", "b"], ["b", "a", "x"]])
    known: list[Marginal | Count | Impossible] = [Marginal([name]) for name in margins]
    if rng.random() < 0.3:
        known.append(Count({"x": rng.randint(0, 1), "a": "u"}))
    if rng.random() < 0.3:
        known.append(Impossible({"x": 1, "b": "p"}))
    return Policy(domain=domain, known=tuple(known))


@pytest.mark.parametrize("seed", range(48))
def test_no_pair_changes_more_and_some_does(seed: int) -> None:
    policy = drawn(random.Random(seed))
    question = asked(policy, QUERIES[seed % len(QUERIES)])
    assert not no_four_cells(question)
    told = four_cells(question)
    assert told is not None and told.upper is not None
    # All pairs of any answers are pairs of four records or fewer, with no others beside them.
    truth = sensitivity(policy, question.query.name, reading="markov", engine="brute", max_size=2)
    assert told.lower <= truth.lower <= told.upper
    if told.witness is not None:
        assert check_pair(question.setting, "markov", told.witness).holds


def test_schools_exchange_two_records() -> None:
    """380..760 before: four records, each alone, were thought to come or go."""
    domain = Domain(school=Integers(1, 9), meals=Labels(["free", "paid"]), absent=Integers(0, 190))
    known = (Marginal(["school"]), Count({"meals": "free"}))
    policy = Policy(domain=domain, known=known)
    for query, value in (("sum(absent)", 380), ("cumulative(absent)", 380)):
        told = four_cells(asked(policy, query))
        assert told is not None
        assert (told.lower, told.upper) == (value, value)


def test_known_numbers_leave_records_to_exchange() -> None:
    known = (Marginal(["a"], answers=[1, 0]), Marginal(["b"], answers=[1, 0]))
    policy = Policy(
        domain=Domain(x=Integers(0, 5), a=Labels("uv"), b=Labels("pq")),
        known=known,
        database=Database(answers="given"),
    )
    told = four_cells(asked(policy, "sum(x)"))
    truth = sensitivity(policy, "sum(x)", reading="markov", engine="brute")
    assert told is not None and told.upper is not None
    assert told.lower <= truth.lower == 5 <= told.upper


@pytest.mark.parametrize("seed", range(12))
def test_bounds_and_clauses_take_pairs_away(seed: int) -> None:
    draw = random.Random(seed)
    domain = Domain(x=Integers(0, 3), a=Labels("uv"))
    clause = Clause([Literal(1, {"x": 0}), Literal(2, {"x": 3})])
    known = (
        Marginal(["a"], answers=[2, 1]),
        Count({"x": [2, 3]}, at_most=draw.randint(0, 2)) if seed % 3 else clause,
    )
    policy = Policy(domain=domain, known=known, database=Database(size=3, answers="given"))
    question = asked(policy, QUERIES[seed % 4])
    told = four_cells(question)
    assert told is not None and told.upper is not None
    truth = sensitivity(policy, question.query.name, reading="markov", engine="brute")
    assert told.lower <= truth.lower <= told.upper
    if told.witness is not None:
        assert check_pair(question.setting, "markov", told.witness).holds


def test_it_says_nothing_where_n_is_not_known() -> None:
    policy = Policy(domain=Domain(x=Integers(0, 5)), known=(Count({"x": 1}),))
    assert four_cells(asked(policy, "sum(x)")) is None
