"""Stacks of marginals beside one published marginal: the bound is met, by brute force too."""

import random
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

from blowproof.models import (
    AttributeChange,
    Domain,
    Impossible,
    Integers,
    Labels,
    Marginal,
    Move,
    PartitionBy,
    Policy,
)
from blowproof.models import setting as setting_of
from blowproof.models.norms import NORMS
from blowproof.models.policy.readings import Reading
from blowproof.models.stacks.written import parse_question
from blowproof.verifier.ask import explain, sensitivity
from blowproof.verifier.asked.question import Question
from blowproof.verifier.databases.consistency import prepare
from blowproof.verifier.engines.one_move.by_structure import largest_change
from blowproof.verifier.neighbours.check import check_pair
from blowproof.verifier.theorems.values.tables_beside_one import no_tables

READINGS: tuple[Reading, ...] = ("published", "secret-moves", "pufferfish", "markov")


@pytest.mark.parametrize("seed", range(16))
def test_secrets_by_attribute(seed):
    """Where one attribute is the secret: exact, and no pair of small databases is worse.

    Reading 2 beside the search, which lists every irreducible multiset.
    """
    draw = random.Random(100 + seed)
    states = draw.choice([2, 3])
    zeros = draw.choice([(), ({"state": 1, "county": 2},)])
    rules = policy(states, zeros=zeros, secrets=AttributeChange())
    query = stacked(rules, draw.choice(list(NORMS)), draw)
    for reading in ("secret-moves", "published", "pufferfish"):
        found = sensitivity(rules, query, reading=reading, time_limit=20)
        listed = sensitivity(rules, query, reading=reading, engine="brute", max_size=2)
        assert found.upper is not None and listed.lower <= found.upper
        assert states > 2 or listed.lower <= found.lower
        if reading == "secret-moves":
            searched = sensitivity(rules, query, reading=reading, engine="search")
            assert searched.status == "exact" and searched.upper is not None
            assert found.lower <= searched.upper and searched.lower <= found.upper


def policy(states, *, zeros=(), secrets=None):
    found = Policy(
        domain=Domain(state=Integers(1, states), county=Integers(1, 2), sex=Labels(["f", "m"])),
        known=(Marginal(["state"]), *(Impossible(zero) for zero in zeros)),
    )
    return found if secrets is None else replace(found, secrets=secrets)


def stacked(rules, norm, draw):
    tables = ["marginal(state)", "marginal(sex)", "marginal(state,county)", "marginal(county)",
              "marginal(county,sex)", "histogram"]  # fmt: skip
    chosen = draw.sample(tables, 3)
    weights = [Fraction(draw.randint(1, 6), draw.randint(1, 3)) for _ in chosen]
    return parse_question([f"{w}*{t}" for w, t in zip(weights, chosen, strict=True)], rules, norm)


@pytest.mark.parametrize("seed", range(32))
def test_no_pair_is_worse_and_one_is_as_bad(seed):
    """Two or three states: their worst pairs have so many records, and brute force sees them."""
    draw = random.Random(seed)
    states = draw.choice([2, 3])
    zeros = draw.choice([(), ({"state": 1, "county": 2},), ({"county": 2, "sex": "m"},)])
    secrets = draw.choice([None, None, PartitionBy(["state"])])
    rules = policy(states, zeros=zeros, secrets=secrets)
    norm = draw.choice(list(NORMS))
    reading = draw.choice(READINGS)
    query = stacked(rules, norm, draw)
    found = sensitivity(rules, query, reading=reading, time_limit=20)
    listed = sensitivity(rules, query, reading=reading, engine="brute", max_size=states)
    assert found.upper is not None and listed.lower <= found.upper
    if not zeros:
        assert found.lower == listed.lower
    if found.witness is not None:
        assert check_pair(prepare(setting_of(rules), reading), reading, found.witness)


def test_edges_are_measured_with_their_weights_in_squares():
    """A bound of 6 was said for a move that changes the stack by 18: weights were left out."""
    rules = policy(2, zeros=({"county": 2, "sex": "m"},))
    question = ["3*marginal(county)", "2*histogram", "4*marginal(county,sex)"]
    query = parse_question(question, rules, "l2-squared")
    most = largest_change(replace(rules, known=()), query)
    points = list(rules.domain.points())
    assert most == max(query.difference([Move(x, y)]) for x in points for y in points if x != y)


def test_a_nesting_tree_is_not_listed():
    """Fifty-one states and 10^20 places: the worst pair goes through all of them."""
    rules = Policy(
        domain=Domain(
            state=Integers(1, 51),
            county=Integers(1, 10**6),
            block=Integers(1, 10**14),
            sex=Labels(["f", "m"]),
        ),
        known=(Marginal(["state"]),),
    )
    question = ["marginal(sex)", "3*marginal(state)", "5*marginal(state,county,sex)", "histogram"]
    found: Any = sensitivity(rules, parse_question(question, rules, "l2-squared"))
    assert found.lower == found.upper == 2 * 51**2 + 5 * 2 * 51 + 2 * 51
    assert found.engine == "tables" and len(found.witness.before) == 51
    for norm, most in (("linf", 51), ("range", 102)):
        largest = sensitivity(rules, parse_question(question, rules, norm))
        assert largest.lower == largest.upper == most and largest.engine == "tables"
    within = replace(rules, secrets=PartitionBy(["state"]))
    inside = sensitivity(within, parse_question(question, within, "l2-squared"))
    assert inside.lower == inside.upper == 2 + 10 + 2


def test_four_cells_of_reading_4():
    """Two that come and two that go, alike in all but the place that costs least."""
    rules = Policy(
        domain=Domain(state=Integers(1, 5), block=Integers(1, 9), sex=Labels(["f", "m"])),
        known=(Marginal(["state"]),),
    )
    text = ["10*marginal(state,sex)", "histogram"]
    question = parse_question(text, rules, "l2-squared")
    found = sensitivity(rules, question, reading="markov")
    assert found.lower == found.upper == 10 * 8 + 4
    for norm, most in (("linf", 10 * 2), ("range", 10 * 4)):
        largest = sensitivity(rules, parse_question(text, rules, norm), reading="markov")
        assert largest.lower == largest.upper == most


def test_it_says_where_it_does_not_apply():
    rules = policy(3)
    steps, _ = explain(rules, parse_question("sum(state)", rules, "linf"))
    (step,) = [step for step in steps if step.strategy.name == "tables"]
    assert not step.applies and step.why_not
    more = replace(rules, known=(*rules.known, Marginal(["county"])))
    steps, _ = explain(more, parse_question("histogram + marginal(sex)", more, "l1"))
    (step,) = [step for step in steps if step.strategy.name == "tables"]
    assert not step.applies and "one published marginal" in step.why_not


def test_an_equality_that_the_policy_does_not_list_is_another_fact():
    rules = policy(3)
    query = parse_question("histogram + marginal(sex)", rules, "l1")
    question = Question(setting_of(rules), query, "published")
    assert not no_tables(question)
    more = setting_of(replace(rules, known=(*rules.known, Marginal(["county"]))))
    assert no_tables(
        replace(question, setting=replace(question.setting, equalities=more.equalities))
    )
