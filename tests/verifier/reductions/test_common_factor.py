"""Weights with a common factor: the same pairs, and S times the factor."""

from fractions import Fraction

import pytest

from blowproof.models import (
    Count,
    Domain,
    Integers,
    Labels,
    Marginal,
    Point,
    Policy,
    parse_query,
    setting,
)
from blowproof.models.norms import L1, NORMS
from blowproof.models.stacks.stacked import Part, Stacked, stack
from blowproof.models.stacks.written import parse_question
from blowproof.verifier import plan
from blowproof.verifier.ask import explain, sensitivity
from blowproof.verifier.asked.question import Progress, Question
from blowproof.verifier.databases.consistency import prepare

SMALL = Policy(domain=Domain(sex=Labels("FM"), age=Integers(0, 1)), known=(Count({"sex": "F"}),))
TABLE = Policy(
    domain=Domain(ward=Labels("abcd"), sex=Labels("FM"), age=Integers(0, 1)),
    known=(Marginal(["ward"]), Marginal(["sex"])),
)
WORDS = ("2/5*histogram", "2/5*histogram + 1/3*sum(age)")


@pytest.mark.parametrize("norm", NORMS)
def test_the_weights_of_a_question_are_those_without_their_factor_times_it(norm: str) -> None:
    for text, factor in zip(WORDS, (Fraction(2, 5), Fraction(1, 15)), strict=True):
        query = parse_question(text, SMALL, norm)
        assert isinstance(query, Stacked) and query.factor == factor
        inner = query.without_factor()
        changes: dict[Point, int] = {(0, 0): -1, (1, 1): 2, (1, 0): -1}
        assert inner.norm(changes) * factor == query.norm(changes)
        assert (inner.measure is L1) == (norm == "l1")
        if isinstance(inner, Stacked):
            assert inner.factor == 1


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("text", WORDS)
def test_the_answer_is_that_of_brute_force_with_the_weights_as_they_are(
    text: str, norm: str
) -> None:
    query = parse_question(text, SMALL, norm)
    question = Question(prepare(setting(SMALL), "published"), query, "published", max_size=3)
    brute = plan.answer(question, "brute")
    found = sensitivity(SMALL, text, norm=norm)
    assert found.witness is not None
    moves = found.witness.moves("published")
    assert found.lower == found.upper == query.difference(moves)
    assert brute.lower == found.lower
    assert found.query == query.name


@pytest.mark.parametrize(("norm", "times"), [("l1", "2/5"), ("l2-squared", "3/7"), ("linf", "5")])
def test_what_is_known_of_the_query_itself_is_known_with_a_weight(norm: str, times: str) -> None:
    plain, heavier = (sensitivity(TABLE, text, norm=norm, time_limit=20)
                      for text in ("histogram", f"{times}*histogram"))  # fmt: skip
    assert plain.upper is not None and plain.decided_by == heavier.decided_by
    assert heavier.lower == heavier.upper == plain.upper * Fraction(times)


def test_listeners_and_steps_are_told_bounds_with_the_weights() -> None:
    told: list[Progress] = []
    found = sensitivity(TABLE, "2/5*histogram", norm="l2-squared", listener=told.append)
    assert (told[-1].lower, told[-1].upper) == (found.lower, found.upper) == (found.upper,) * 2
    steps, _ = explain(TABLE, "2/5*histogram", norm="l2-squared", run=True)
    assert any(step.told and step.told.upper == found.upper for step in steps)
    assert all(step.told is None or step.told.lower <= found.lower for step in steps)


@pytest.mark.parametrize(("norm", "size"), [("l1", 4), ("l2-squared", 8), ("linf", 4)])
def test_steps_count_in_the_norm_that_was_asked_for(norm: str, size: int) -> None:
    """One output is asked for in l1: its steps said 2 where the answer was 4."""
    policy = Policy(domain=Domain(age=Integers(3, 5)))
    steps, answer = explain(policy, "2*sum(age)", norm=norm, run=True)
    assert answer is not None and answer.lower == answer.upper == size
    (told,) = (step.told for step in steps if step.told is not None)
    assert (told.lower, told.upper) == (size, size)
    begun: list[plan.Step] = []
    explain(policy, "2*sum(age)", norm=norm, run=True, begun=begun.extend)  # also where it stops
    assert [step.told for step in begun if step.told is not None] == [told]


@pytest.mark.parametrize("norm", NORMS)
def test_no_weight_at_all_has_no_factor(norm: str) -> None:
    part = Part(parse_query("histogram", SMALL), (Fraction(0),))
    query = stack((part,), norm, SMALL.domain, name="nothing")
    assert query.factor == 0
    assert sensitivity(SMALL, query).upper == 0
