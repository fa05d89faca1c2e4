"""Reading 3 by other secrets: what goes and comes in the cells of a published table."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from blowproof.models import (
    Count,
    Database,
    Domain,
    Exact,
    Impossible,
    Integers,
    Known,
    Labels,
    Marginal,
    NamedCount,
    Policy,
    parse_query,
    setting,
)
from blowproof.models.base.clock import now
from blowproof.verifier.ask import sensitivity
from blowproof.verifier.asked.question import Question
from blowproof.verifier.databases.consistency import prepare
from blowproof.verifier.neighbours.check import Verdict, check_pair
from blowproof.verifier.plan import answer
from blowproof.verifier.portfolio import matched, step
from blowproof.verifier.portfolio.matched import no_matches
from blowproof.verifier.reductions.fewer_facts import freed, loosened

QUERIES = ("histogram", "marginal(a,b)", "marginal(c)", "count(some)", "sum(a)")


def drawn(rng: random.Random) -> Policy:
    """One or two small tables, or n, and some counts that cut across them."""
    domain = Domain(
        a=Integers(0, rng.randint(1, 2)), b=Integers(0, rng.randint(0, 2)), c=Integers(0, 1)
    )
    known: list[Marginal | Count | Impossible] = [
        Marginal(rng.choice([["a"], ["b"], ["a", "b"], ["a", "c"]]))
        for _ in range(rng.randint(0, 2))
    ]
    known += [
        Count({rng.choice("ab"): 0, "c": rng.randint(0, 1)}) for _ in range(rng.randint(0, 2))
    ]
    if rng.random() < 0.3:
        known.append(Impossible({"a": 1, "b": 0, "c": 1}))
    rng.shuffle(known)
    size = None if any(isinstance(fact, Marginal) for fact in known) else 3
    return Policy(
        domain=domain,
        known=tuple(known),
        database=Database(size=size, answers="any"),
        queries=(NamedCount("some", {"a": 0, "c": 0}),),
    )


def asked(policy: Policy, query: str) -> Question:
    return Question(setting(policy), parse_query(query, policy), "add-remove")


def test_no_pair_is_worse_than_full_secrets_say() -> None:
    closed = 0
    for seed in range(60):
        policy, query = drawn(random.Random(seed)), QUERIES[seed % len(QUERIES)]
        question = asked(policy, query)
        assert not no_matches(question)
        told = answer(question, "matched")
        truth = sensitivity(policy, query, reading="add-remove", engine="search")
        assert truth.lower == truth.upper
        assert told.upper is not None
        assert told.lower <= truth.lower <= told.upper
        if told.witness is not None:
            assert check_pair(question.setting, "add-remove", told.witness).holds
        closed += told.lower == told.upper > 0
    assert closed >= 15


def meals(schools: int, grades: int) -> Policy:
    """Pupils by school and by grade, and how many have free meals."""
    return Policy(
        domain=Domain(
            school=Labels([f"s{place}" for place in range(schools)]),
            group=Labels("ABC"),
            meal=Labels(["free", "reduced", "paid"]),
            grade=Integers(1, grades),
        ),
        known=(
            Marginal(["school"]),
            Marginal(["grade"]),
            Count({"meal": ["free", "reduced"]}),
        ),
        queries=(NamedCount("some", {"meal": "free", "group": "C"}),),
    )


@pytest.mark.parametrize(
    ("query", "most"), [("histogram", 168), ("marginal(school,meal)", 168), ("count(some)", 56)]
)
def test_two_margins_and_a_count_are_cells_and_a_fact_beside_them(query: str, most: int) -> None:
    """12 grades as cells: 13^2 / 2 exchanges, each kind of which has a school for itself."""
    told = sensitivity(meals(28, 12), query, reading="add-remove", time_limit=60)
    assert (told.lower, told.upper) == (most, most)
    assert told.witness is not None
    assert {x[0] for x in told.witness.before} == {x[0] for x in told.witness.after}


def test_where_cells_are_few_pairs_of_fewer_kinds_of_moves_are_found() -> None:
    """Women are in 5 of 14 places alone, and there are 14 places for kinds of moves."""
    places = [f"p{place}" for place in range(14)]
    policy = Policy(
        domain=Domain(
            place=Labels(places),
            offence=Labels("abcdefg"),
            sex=Labels("mf"),
            sentence=Labels(["short", "life"]),
        ),
        known=(
            Marginal(["place"]),
            Marginal(["offence", "sex"]),
            Count({"sentence": "life"}),
            Impossible({"sex": "f", "place": places[:9]}),
        ),
    )
    question = asked(policy, "histogram")
    best: Exact = 0
    for reduction in matched.matched(question):
        easier = reduction.apply(question)
        assert easier is not None
        told = answer(easier, "beside")
        if reduction.upper(question, 224) is None and told.witness is not None:
            pair = reduction.bring_back(replace(question, deadline=now()), told)
            if pair is not None:
                assert told.lower == question.query.difference(pair.moves("add-remove"))
                best = max(best, told.lower)
    assert best == 120


def test_two_tables_by_department_and_a_count_stay_within_departments() -> None:
    """Cycles of three exchanges in one department each, five of them: with full secrets 168."""
    domain = Domain(
        department=Labels([f"d{place}" for place in range(4)]),
        gender=Labels("fmx"),
        grade=Integers(1, 3),
        paid=Labels(["more", "less"]),
    )
    tables = (Marginal(["department", "gender"]), Marginal(["department", "grade"]))
    policy = Policy(domain=domain, known=(*tables, Count({"paid": "more"})))
    told = sensitivity(policy, "histogram", reading="add-remove", time_limit=2)
    assert (told.lower, told.upper) == (30, 30)


def test_a_table_with_few_cells_bounds_from_above() -> None:
    """Where kinds of moves have no cells of their own, larger pairs fall apart."""
    policy = meals(3, 3)
    told = answer(asked(policy, "histogram"), "matched")
    truth = sensitivity(policy, reading="add-remove", engine="hilbert")
    assert told.upper is not None
    assert told.lower <= truth.lower <= told.upper == 16


def test_what_goes_may_be_matched_with_what_comes_in_other_ways() -> None:
    """24 cells would let 144 women go in treatment; but cells of both tables match by threes."""
    policy = Policy(
        domain=Domain(
            centre=Labels([f"c{place}" for place in range(12)]),
            arm=Labels(["drug", "placebo"]),
            response=Labels(["all", "some", "none"]),
            severe=Labels(["yes", "no"]),
        ),
        known=(
            Marginal(["centre", "arm"]),
            Marginal(["arm", "response"]),
            Count({"severe": "yes"}),
        ),
        queries=(NamedCount("some", {"arm": "drug", "severe": "yes"}),),
    )
    told = answer(asked(policy, "count(some)"), "matched")
    assert told.upper == 6
    assert told.lower <= 6


def test_a_pair_without_cells_of_its_own_needs_a_check_that_ends(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A pair of 5 grades has more kinds of moves than 5 schools have cells."""

    def without_end(*_: object, **__: object) -> Verdict:
        return Verdict(False, minimality="budget")

    for module in (matched, step):
        monkeypatch.setattr(module, "check_pair", without_end)
    monkeypatch.setattr(matched, "SPARE", ())
    few = answer(asked(meals(5, 5), "histogram"), "matched")
    assert few.upper == 36
    assert (few.lower, few.witness) == (0, None)
    many = answer(asked(meals(28, 12), "histogram"), "matched")
    assert many.lower == many.upper == 168


def test_it_is_for_reading_3_where_n_is_known() -> None:
    policy = meals(3, 3)
    assert not no_matches(asked(policy, "histogram"))
    assert no_matches(replace(asked(policy, "histogram"), reading="markov"))
    free = replace(policy, known=policy.known[2:])
    assert no_matches(asked(free, "histogram")) == "n is not known"
    sized = replace(free, database=Database(size=9, answers="any"))
    assert not no_matches(asked(sized, "histogram"))


@pytest.mark.parametrize("place", [0, 1, 2])
def test_a_bound_that_leaves_one_number_is_known_besides(place: int) -> None:
    """It is an equality by the time that other secrets are asked about, and stays one."""
    known: list[Known] = [Marginal(["a"], answers=[2, 2]), Marginal(["b"], answers=[2, 2])]
    known.insert(place, Count({"c": 0}, at_least=2, at_most=2))
    policy = Policy(
        domain=Domain(a=Integers(0, 1), b=Integers(0, 1), c=Integers(0, 1)),
        known=tuple(known),
        database=Database(size=4),
    )
    given = loosened(prepare(setting(policy), "add-remove"))
    assert not given.as_listed
    free = freed(given)
    assert free.as_listed
    question = Question(free, parse_query("histogram", policy), "add-remove")
    told = answer(question, "matched")
    truth = answer(question, "search")
    assert truth.lower == truth.upper == 6
    assert told.upper is not None
    assert told.lower <= 6 <= told.upper
    # as it would be if the policy did not say so
    behind = replace(free, policy=free.policy.without([place]))
    assert no_matches(replace(question, setting=behind)) != ""
