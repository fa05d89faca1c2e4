"""What neighbours of one policy say about those of another, by brute force over small policies."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from blowproof.models import (
    Count,
    Database,
    Domain,
    Edges,
    Full,
    Impossible,
    Integers,
    Labels,
    Marginal,
    Policy,
    parse_query,
    setting,
)
from blowproof.models.policy.readings import READINGS
from blowproof.verifier.ask import Problem, sensitivity
from blowproof.verifier.engines.brute import brute_neighbours
from blowproof.verifier.portfolio.problem import travelled
from blowproof.verifier.portfolio.related import Known, Outline, fits, pairs_travel, within
from strategies import secret_graphs

DOMAIN = Domain(a=Labels(["0", "1"]), b=Labels(["x", "y", "z"]))
FACTS = [
    Marginal(["a"]),
    Marginal(["b"]),
    Marginal(["a", "b"]),
    Count({}),
    Count({"a": "0"}),
    Count({"b": ["x", "y"]}),
    Count([{"a": "0", "b": "x"}, {"a": "1", "b": "z"}]),
    Impossible({"a": "0", "b": "z"}),
    Impossible({"b": "y"}),
]


@st.composite
def drawn(draw):
    """A policy, and one that may be related to it: facts more or less, other secrets."""
    some = draw(st.lists(st.sampled_from(FACTS), max_size=3, unique_by=repr))
    other = [fact for fact in some if draw(st.booleans())]
    other += draw(st.lists(st.sampled_from(FACTS), max_size=2))
    secrets = draw(st.one_of(st.just(Full()), secret_graphs(DOMAIN)))
    others = draw(st.one_of(st.just(secrets), st.just(Full())))
    sizes = draw(st.sampled_from([(None, None), (2, 2), (2, None), (None, 2)]))
    return [
        Policy(
            domain=DOMAIN,
            secrets=graph,
            known=tuple(known),
            database=Database(answers="any", size=size),
        )
        for known, graph, size in ((some, secrets, sizes[0]), (other, others, sizes[1]))
    ]


def outline(policy) -> Outline:
    """The outline of a policy that has one."""
    found = Outline.of(policy)
    assert found is not None
    return found


def pairs(policy, reading):
    found, sizes = setting(policy, "any"), range(3 if reading == "pufferfish" else 4)
    return set(brute_neighbours(found, reading, sizes=sizes, every_label=False))


@pytest.mark.parametrize("reading", READINGS)
@settings(max_examples=8)
@given(both=drawn())
def test_related_policies_by_brute_force(reading, both):
    here, there = both
    one, two = outline(here), outline(there)
    inside, travel = within(one, two, reading), pairs_travel(one, two, reading)
    assume(inside or travel)
    mine, theirs = pairs(here, reading), pairs(there, reading)
    if inside:
        assert mine <= theirs
    if travel:
        found = setting(here, "any")
        assert {pair for pair in theirs if fits(found, pair)} <= mine


def policy(*known, secrets=None):
    return Policy(domain=DOMAIN, secrets=secrets or Full(), known=known)


def test_what_follows_from_a_table_changes_nothing():
    plain = policy(Marginal(["a", "b"]))
    more = policy(Marginal(["a", "b"]), Marginal(["b"]), Count({"a": "0"}))
    for reading in READINGS:
        assert within(outline(more), outline(plain), reading)
        assert within(outline(plain), outline(more), reading)


def test_an_added_fact_lets_pairs_travel_and_upper_bounds_in_reading_4_alone():
    one, two = outline(policy(Marginal(["a"]))), outline(policy(*FACTS[:2]))
    for reading in READINGS:
        assert within(two, one, reading) is (reading == "markov")
        assert not within(one, two, reading)
        assert pairs_travel(two, one, reading)


def test_a_value_that_is_impossible_may_make_a_pair_minimal():
    """Reading 1 where a secret is kept on one edge alone: a third record that may go from c to b,
    which no secret keeps, lets the first move go alone; where nobody holds c, both have to go.
    """
    line = Domain(a=Labels(["a", "b", "c"]))
    one_edge = Edges([({"a": "a"}, {"a": "b"})])
    known = (Count({"a": "a"}),)
    plain = Policy(domain=line, secrets=one_edge, known=known)
    more = replace(plain, known=(*known, Impossible({"a": "c"})))
    for reading in READINGS:
        mine, theirs = pairs(more, reading), pairs(plain, reading)
        assert mine
        assert (mine <= theirs) is within(outline(more), outline(plain), reading)
        assert (mine <= theirs) is (reading != "published")


def test_bounds_and_clauses_have_no_outline():
    assert Outline.of(policy(Count({"a": "0"}, at_most=3))) is None


def test_upper_bounds_of_another_policy_end_a_question_at_once():
    """The known pair and the known bound meet: nothing is searched."""
    known = policy(Marginal(["a", "b"]))
    query = parse_query("histogram", known)
    answer = sensitivity(known, query)
    more = policy(Marginal(["a", "b"]), Marginal(["a"]))
    problem = Problem(more)
    problem.abroad = (
        Known("published", query, answer.upper, answer.witness, "the other"),
        Known("markov", query, 0, None, "of another reading"),
    )
    found = sensitivity(problem, query)
    assert (found.lower, found.upper) == (answer.lower, answer.upper)
    assert {name for _, name, _ in found.decided_by} == {"travel"}
    assert found.lower == sensitivity(more, query).lower
    count = parse_query("marginal(a)", known)
    assert sensitivity(problem, count).upper == sensitivity(more, count).upper


@pytest.mark.parametrize("first", ["published", "add-remove"])
@settings(max_examples=15)
@given(both=drawn())
def test_pairs_that_change_few_cells_are_pairs_of_reading_4(first, both):
    """They are on the board before anybody searches; the board would refuse what is no pair."""
    query = parse_query("histogram", both[0])
    problem = Problem(both[0])
    found = sensitivity(problem, query, reading=first)
    known = sensitivity(problem, query, reading="markov")
    assert known.lower == sensitivity(both[0], query, reading="markov").lower
    changed = [] if found.witness is None else [*found.witness.before, *found.witness.after]
    if len(set(changed)) == len(changed) == 4:
        assert {name for end, name, _ in known.decided_by if end == "lower"} == {"travel"}


def test_a_pair_that_does_not_fit_stays_abroad():
    plain, more = policy(Marginal(["a"])), policy(Marginal(["a"]), Marginal(["b"]))
    query = parse_query("marginal(b)", more)
    pair = sensitivity(plain, query).witness
    assert pair is not None and not fits(setting(more, "any"), pair)
    problem = Problem(more)
    problem.abroad = (Known("published", query, None, pair, "the other"),)
    assert sensitivity(problem, query).lower == sensitivity(more, query).lower == 0


PEOPLE = [(0, 0), (1, 1), (1, 2)]
"""Whom the policies under scope "given" are about."""


def about_people(policy, people=PEOPLE):
    """A policy of scope "any" with the numbers of these people."""
    counted: list[Any] = []
    for place, fact in enumerate(policy.known):
        bound = [item for item in policy.linear_facts if item.name.startswith(f"known[{place}]")]
        answers = [sum(map(item.coefficient, people)) for item in bound]
        if isinstance(fact, Marginal):
            counted.append(Marginal(fact.attributes, answers=answers))
        elif isinstance(fact, Count):
            counted.append(Count(list(fact.where), answer=answers[0]))
        else:
            counted.append(fact)
    database = Database(answers="given", size=len(people))
    return replace(policy, known=tuple(counted), database=database)


@pytest.mark.parametrize("reading", READINGS)
@settings(max_examples=5)
@given(both=drawn(), limit=st.sampled_from([None, Count({"b": ["y", "z"]}, at_least=1)]))
def test_related_policies_by_brute_force_with_their_numbers(reading, both, limit):
    """Under scope "given" nothing travelled."""
    people = PEOPLE[::2] if reading == "pufferfish" else PEOPLE  # brute force takes long there
    assume(not any(point in one.impossible for one in both for point in people))
    here, there = (about_people(one, people) for one in both)
    if limit is not None:
        here = replace(here, known=(*here.known, limit))
    one, two = Outline.of(here, "given"), Outline.of(there, "given")
    assert one is not None and two is not None
    inside, travel = within(one, two, reading), pairs_travel(one, two, reading)
    assume(inside or travel)
    found = [setting(item, "given") for item in (here, there)]
    sizes = range(len(people), len(people) + 1)
    mine, theirs = (
        set(brute_neighbours(item, reading, sizes=sizes, every_label=False)) for item in found
    )
    if inside:
        assert mine <= theirs
    if travel:
        assert {pair for pair in theirs if fits(found[0], pair)} <= mine


def test_numbers_that_differ_let_nothing_travel():
    one = about_people(policy(Marginal(["a"])))
    other = replace(one, known=(Marginal(["a"], answers=[2, 1]),))
    finer = about_people(policy(Marginal(["a", "b"])))
    known, theirs, more = (Outline.of(item, "given") for item in (one, other, finer))
    assert known is not None and theirs is not None and more is not None
    assert not pairs_travel(known, theirs, "published")
    assert pairs_travel(more, known, "published")  # the sums of its cells are the same numbers
    assert not pairs_travel(more, theirs, "published")
    assert Outline.of(replace(one, known=(Marginal(["a"]),)), "given") is None


@pytest.mark.parametrize("reading", READINGS)
@pytest.mark.parametrize("text", ["sum(b)", "cumulative(b)", "range(b,1,2)", "ranges(b)"])
def test_a_marginal_bounds_whatever_its_attributes_determine(reading, text):
    """A coarser query was left with what it found itself, unless it was a marginal."""
    domain = Domain(a=Labels(["0", "1"]), b=Integers(0, 3))
    for known in ((Marginal(["a"]),), (Count({"b": 1}), Count({"a": "0"})), (Marginal(["b"]),)):
        here = Policy(domain=domain, known=known)
        query, marginal = parse_query(text, here), parse_query("marginal(b)", here)
        upper = sensitivity(here, marginal, reading=reading).upper
        problem = Problem(here)
        problem.abroad = (Known(reading, marginal, upper, None, "the other"),)
        bound, why, _ = travelled(problem, setting(here, "any"), reading, query)
        exactly = sensitivity(here, query, reading=reading).upper
        assert bound is not None and exactly is not None and bound >= exactly
        assert "marginal(b)" in why
        wider = parse_query("histogram", here)
        assert travelled(problem, setting(here, "any"), reading, wider)[0] is None
