"""Partition secrets, and facts about one cell each: a question for each cell, with full secrets."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from blowproof.models import (
    Count,
    Database,
    Domain,
    Full,
    Impossible,
    Integers,
    Labels,
    Marginal,
    NamedCount,
    PartitionBy,
    Policy,
    Setting,
    Sum,
    setting,
)
from blowproof.models.stacks.written import parse_question
from blowproof.verifier.ask import sensitivity
from blowproof.verifier.asked.question import Question
from blowproof.verifier.databases.consistency import prepare
from blowproof.verifier.neighbours.check import check_pair
from blowproof.verifier.plan import answer
from blowproof.verifier.portfolio.group_by_group import group_by_group
from blowproof.verifier.reductions.linked_facts import linked_facts, with_facts
from blowproof.verifier.reductions.one_cell import within_cells

QUERIES = ("histogram", "marginal(a)", "marginal(kind,b)", "count(some)", "sum(a)", "cumulative(a)")


def drawn(rng: random.Random) -> Policy:
    """Two margins for each kind, some of them with a count more, or with a value less."""
    known: list[Marginal | Count | Impossible] = [Marginal(["kind", "a"])]
    if rng.random() < 0.5:
        known.append(Marginal(["kind", "b"]))
    if rng.random() < 0.4:
        known.append(Count({"kind": "p", "a": 0, "b": 1}))
    if rng.random() < 0.3:
        known.append(Impossible({"kind": "q", "a": 1, "b": 0}))
    return Policy(
        domain=Domain(a=Integers(0, 1), kind=Labels("pq"), b=Integers(0, rng.randint(1, 2))),
        secrets=PartitionBy(["kind"]),
        known=tuple(known),
        queries=(NamedCount("some", {"kind": "q", "a": 0, "b": 0}),),
    )


def narrowed(policy: Policy, query: str) -> list[Setting] | None:
    """Return the question about each cell."""
    whole = prepare(setting(policy), "secret-moves")
    every = {*range(len(whole.equalities))}
    some = [with_facts(whole, group, among=every) for group in linked_facts(whole)]
    return within_cells(whole, some, parse_question(query, policy))


def cells(policy: Policy, query: str) -> list[Policy] | None:
    """Return the policy about each cell."""
    found = narrowed(policy, query)
    return None if found is None else [each.policy for each in found]


def test_the_largest_of_the_cells_is_s() -> None:
    told = fewer = 0
    for seed in range(36):
        policy, query = drawn(random.Random(seed)), QUERIES[seed % len(QUERIES)]
        some = cells(policy, query)
        if some is None:
            continue
        truth = sensitivity(policy, query, reading="secret-moves", engine="search")
        each = [sensitivity(one, query, reading="secret-moves", engine="search") for one in some]
        assert all(one.secrets == Full() for one in some)
        assert truth.lower == truth.upper == max(one.lower for one in each)
        assert all(one.lower == one.upper for one in each)
        told += 1
        fewer += len(some) == 1
    assert told >= 25
    assert fewer >= 6


def counted(policy: Policy, rng: random.Random, size: int) -> Policy:
    """Return the policy with what its facts count in a database of so many records."""
    points = [x for x in policy.domain.points() if x not in policy.impossible]
    held = [rng.choice(points) for _ in range(size)]
    known: list[Marginal | Count | Impossible] = []
    for fact in policy.known:
        assert isinstance(fact, (Marginal, Count, Impossible))
        if isinstance(fact, Impossible):
            known.append(fact)
            continue
        facts = fact.bind(policy.domain, "known")
        answers = [sum(map(one.coefficient, held)) for one in facts]
        if isinstance(fact, Marginal):
            known.append(Marginal(list(fact.attributes), answers=answers))
        else:
            known.append(Count(fact.where, answer=answers[0]))
    return replace(policy, known=tuple(known))


def test_with_the_numbers_each_cell_has_its_own_n() -> None:
    told = moving = 0
    for seed in range(30):
        rng = random.Random(seed)
        policy = counted(drawn(rng), rng, rng.randint(2, 3))
        query = QUERIES[seed % len(QUERIES)]
        asked = parse_question(query, policy)
        some = narrowed(policy, query)
        if some is None:
            continue
        truth = sensitivity(policy, query, reading="secret-moves", engine="brute")
        each = [answer(Question(one, asked, "secret-moves")) for one in some]
        auto = sensitivity(policy, query, reading="secret-moves")
        assert auto.lower == auto.upper == truth.lower == max(one.lower for one in each)
        assert all(one.lower == one.upper for one in each)
        told += 1
        moving += truth.lower > 0
    assert told >= 16
    assert moving >= 6


def test_a_cell_whose_records_nobody_counts_is_left_alone() -> None:
    """Of kind p it is known how many have a = 0, but not how many there are."""
    policy = Policy(
        domain=Domain(kind=Labels("pq"), a=Integers(0, 2)),
        secrets=PartitionBy(["kind"]),
        database=Database(size=4),
        known=(Count({"kind": "p", "a": 0}, answer=1), Count({"kind": "q", "a": 0}, answer=2)),
    )
    assert cells(policy, "histogram") is None
    truth = sensitivity(policy, reading="secret-moves", engine="brute")
    auto = sensitivity(policy, reading="secret-moves")
    assert auto.lower == auto.upper == truth.lower == 2


def test_the_records_of_other_cells_are_put_back() -> None:
    """What the question about a cell answers has records of that cell alone, D1 has all 20."""
    rng = random.Random(1)
    domain = Domain(kind=Labels("pq"), district=Integers(1, 2), month=Integers(1, 3))
    known = (Marginal(["kind", "district"]), Marginal(["kind", "month"]))
    policy = counted(Policy(domain=domain, secrets=PartitionBy(["kind"]), known=known), rng, 20)
    whole = prepare(setting(policy), "secret-moves")
    question = Question(whole, parse_question("histogram", policy), "secret-moves")
    easier = group_by_group(question)
    assert easier is not None
    assert len(easier.cases) == 2
    for each in easier.cases:
        asked = each.apply(question)
        assert asked is not None
        found = answer(asked)
        assert found.witness is not None
        pair = each.bring_back(question, found)
        assert pair is not None
        assert check_pair(whole, "secret-moves", pair).holds
        assert len({x[0] for x in (*found.witness.first(), *pair.before, *pair.after)}) == 1
        assert pair.first().total() == 20


def test_cells_that_look_alike_are_asked_once() -> None:
    policy = Policy(
        domain=Domain(kind=Labels("pqr"), a=Integers(0, 2), b=Integers(0, 3)),
        secrets=PartitionBy(["kind"]),
        known=(Marginal(["kind", "a"]), Marginal(["kind", "b"])),
        queries=(NamedCount("one", {"kind": "q", "a": 0}), NamedCount("any", {"a": 0})),
    )
    for query, count in (("histogram", 1), ("marginal(kind,b)", 1), ("count(any)", 1)):
        assert len(cells(policy, query) or ()) == count
    assert len(cells(policy, "count(one)") or ()) == 3
    assert len(cells(policy, "histogram + 2*count(one)") or ()) == 3


def test_a_count_that_is_added_up_three_times_is_another_fact() -> None:
    three = [(1, {"kind": "q", "a": 0})] * 3
    policy = Policy(
        domain=Domain(kind=Labels("pq"), a=Integers(0, 2)),
        secrets=PartitionBy(["kind"]),
        known=(
            Sum([(1, {"kind": "p", "a": 0}), (1, {"kind": "p", "a": 1})]),
            Sum([*three, (1, {"kind": "q", "a": 1})]),
        ),
    )
    some = cells(policy, "histogram") or []
    each = [sensitivity(one, reading="secret-moves", engine="search").upper for one in some]
    assert each == [2, 6]
    assert sensitivity(policy, reading="secret-moves", engine="brute", max_size=3).lower == 6


@pytest.mark.parametrize(
    "known",
    [
        (Marginal(["kind", "a"]), Count({"a": 0, "b": 1})),
        (Count({"kind": "p", "a": 0}), Count({"kind": "p", "b": 0})),
    ],
)
def test_facts_across_cells_and_cells_without_facts_are_left_alone(
    known: tuple[Marginal | Count, ...],
) -> None:
    policy = Policy(
        domain=Domain(kind=Labels("pq"), a=Integers(0, 1), b=Integers(0, 1)),
        secrets=PartitionBy(["kind"]),
        known=known,
    )
    assert cells(policy, "histogram") is None


def test_offences_by_district_and_by_month_are_two_margins_for_each_kind() -> None:
    """2 x 5 cells of a kind: 8 moves at the most go round, and a table of 3 kinds is no harder."""
    policy = Policy(
        domain=Domain(kind=Labels("pqr"), district=Labels("vw"), month=Integers(1, 5)),
        secrets=PartitionBy(["kind"]),
        known=(Marginal(["kind", "district"]), Marginal(["kind", "month"])),
    )
    one = Policy(
        domain=Domain(district=Labels("vw"), month=Integers(1, 5)),
        known=(Marginal(["district"]), Marginal(["month"])),
    )
    many = sensitivity(policy, reading="secret-moves", time_limit=60)
    few = sensitivity(one, reading="secret-moves", time_limit=60)
    assert many.lower == many.upper == few.lower == few.upper


@pytest.mark.parametrize("turned", [False, True])
def test_who_bounds_the_largest_group_is_named(turned: bool) -> None:
    """One kind has two margins, the other only one: whichever is asked first."""
    large, small = ("q", "p") if turned else ("p", "q")
    policy = Policy(
        domain=Domain(kind=Labels("pq"), a=Integers(0, 1), b=Integers(0, 2), c=Integers(0, 1)),
        secrets=PartitionBy(["kind"]),
        known=(
            *(Count({"kind": large, "a": 0, "b": b}) for b in range(3)),
            Count({"kind": large, "c": 0}),
            Count({"kind": small, "a": 0}),
        ),
    )
    whole = prepare(setting(policy), "secret-moves")
    found = answer(Question(whole, parse_question("histogram", policy), "secret-moves"), "groups")
    why = {end: told for end, _, told in found.decided_by}
    assert found.status == "exact" and found.upper is not None and found.upper > 4
    assert "the largest of 2 questions, the others by cycles, through: groups" in why["upper"]
