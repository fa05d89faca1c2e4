"""Partition secrets, and facts about one cell each: a question for each cell, with full secrets."""

from __future__ import annotations

import random

import pytest

from blowproof.models import (
    Count,
    Domain,
    Full,
    Impossible,
    Integers,
    Labels,
    Marginal,
    NamedCount,
    PartitionBy,
    Policy,
    setting,
)
from blowproof.models.stacks.written import parse_question
from blowproof.verifier.ask import sensitivity
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


def cells(policy: Policy, query: str) -> list[Policy] | None:
    """Return the question about each cell."""
    whole = setting(policy)
    groups = linked_facts(whole)
    among = {place for group in groups for place in group}
    some = [with_facts(whole, group, among=among) for group in groups]
    found = within_cells(whole, some, parse_question(query, policy))
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
