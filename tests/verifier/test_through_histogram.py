"""What the histogram, and the ends of classes, say about other queries."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from functools import lru_cache

from hypothesis import given
from hypothesis import settings as effort
from hypothesis import strategies as st

from blowproof.models import (
    READINGS,
    Between,
    BlowproofError,
    Count,
    Domain,
    Integers,
    Labels,
    Marginal,
    Policy,
    Reading,
    parse_query,
    setting,
)
from blowproof.models.base.clock import Budget
from blowproof.models.norms import NORMS
from blowproof.models.stacks.written import parse_question
from blowproof.verifier import plan
from blowproof.verifier.ask import Problem, sensitivity
from blowproof.verifier.asked.answer import Answer, Pair
from blowproof.verifier.asked.question import Question
from blowproof.verifier.databases.consistency import prepare
from blowproof.verifier.neighbours.check import check_pair
from blowproof.verifier.portfolio.registry import ENGINES, THEOREMS, named
from blowproof.verifier.witnesses.revalued import MOVE, revalued
from strategies import policies, query_texts, question_texts

OFFICE = Policy(
    domain=Domain(
        age=Integers(0, 99), sex=Labels(["F", "M"]), school=Labels(["none", "some", "more"])
    ),
    known=(Marginal(["sex"]), Count({"age": Between(18, 99)})),
)
"""Sexes and adults are published: 100 ages are too many to look at one by one."""


def decided(text: str) -> tuple[object, object]:
    found = sensitivity(OFFICE, text, time_limit=60)
    return found.lower, found.upper


def test_ordinary_queries_of_an_office_are_exact() -> None:
    assert decided("histogram") == (8, 8)
    assert decided("marginal(age)") == (8, 8)
    assert decided("marginal(school)") == (8, 8)
    assert decided("sum(age)") == (260, 260)
    assert decided("cumulative(age)") == (260, 260)


def test_no_strategy_bounds_less_than_brute_force_finds() -> None:
    """Each one alone: its bounds hold, and its pairs are pairs."""
    asked: Counter[str] = Counter()
    every = [item.name for item in (*THEOREMS, *ENGINES) if item.name != "brute"]

    @given(st.data())
    @effort(max_examples=60)
    def compare(data: st.DataObject) -> None:
        policy = data.draw(policies(max_values=6, max_records=3))
        text = data.draw(question_texts(policy))
        reading: Reading = data.draw(st.sampled_from(READINGS[:3]))
        norm = data.draw(st.sampled_from(list(NORMS)))
        for name in every:
            if bounds_hold(name, policy, text, reading, norm):
                asked[name] += 1
        for cumulative in query_texts(policy):
            if cumulative.startswith("cumulative") and cumulative != text:
                for each in NORMS:
                    asked[f"ends in {each}"] += bounds_hold(
                        "ends", policy, cumulative, reading, each
                    )

    compare()
    assert all(asked[f"ends in {norm}"] > 0 for norm in NORMS)
    assert asked["l1"] > 0
    assert len(asked) > 15, asked


@lru_cache(1)
def by_definition(policy: Policy, text: str, reading: Reading, norm: str) -> Answer:
    """Every strategy in turn is asked the same question."""
    query = parse_question(text, policy, norm)
    return sensitivity(policy, query, reading=reading, engine="brute", max_size=3)


def bounds_hold(name: str, policy: Policy, text: str, reading: Reading, norm: str) -> bool:
    """Compare a strategy with brute force; return whether there was something to compare."""
    query = parse_question(text, policy, norm)
    try:
        question = Question(prepare(setting(policy), reading), query, reading)
        if named(name).why_not(question):
            return False
        with Budget(20):
            found = plan.answer(question, name)
        listed = by_definition(policy, text, reading, norm)
    except BlowproofError:
        return False
    assert found.upper is None or found.upper >= listed.lower
    if found.witness is not None:
        assert check_pair(question.setting, reading, found.witness)
        changed = query.difference(found.witness.moves(reading))
        assert listed.upper is None or changed <= listed.upper
    return True


def test_a_pair_by_other_values_makes_the_same_moves() -> None:
    question = Question(setting(OFFICE), parse_query("sum(age)", OFFICE), "published")
    worst = sensitivity(OFFICE).witness
    assert worst is not None
    found = revalued(question.setting, question.query, "published", worst)
    assert found is not None and check_pair(question.setting, "published", found)
    moves = worst.moves("published")
    worth = question.query.difference(found.moves("published"))
    assert worth >= question.query.difference(moves)
    for known, is_asked in ((worth - 1, True), (len(worst.before) * 99, False)):  # 99 a move
        again = revalued(question.setting, question.query, "published", worst, above=known)
        assert (again == found) if is_asked else (again is None)


def test_moves_that_are_looked_at_are_counted_as_work() -> None:
    question = Question(setting(OFFICE), parse_query("sum(age)", OFFICE), "published")
    worst = sensitivity(OFFICE).witness
    assert worst is not None
    many = Pair(before=worst.before * 1000, after=worst.after * 1000)
    used = []
    for pair in (worst, many):
        with Budget() as budget:
            revalued(question.setting, question.query, "published", pair)
            used.append(budget.used + budget.owed)
    assert used[1] - used[0] > 1000 * len(worst.before) * MOVE / 2


def test_bounds_travel_between_the_questions_of_one_problem() -> None:
    problem = Problem(replace(OFFICE, name="once"))
    first = sensitivity(problem)
    again = sensitivity(problem)
    coarse = sensitivity(problem, "marginal(age)")
    assert (first.lower, first.upper) == (again.lower, again.upper) == (8, 8)
    assert coarse.upper is not None and coarse.upper <= 8
