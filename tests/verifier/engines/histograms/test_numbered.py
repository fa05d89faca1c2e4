"""Readings 3 and 4 with clauses, and without a known n: engines against listing databases."""

from __future__ import annotations

import random
from itertools import product
from pathlib import Path

import pytest

from blowproof.models import (
    BlowproofError,
    Clause,
    Count,
    Database,
    Domain,
    Integers,
    Known,
    Labels,
    Literal,
    Policy,
    Reading,
    Sum,
    setting,
)
from blowproof.verifier.ask import neighbours, sensitivity
from blowproof.verifier.databases.consistency import prepare
from blowproof.verifier.databases.numbering import can_be_numbered
from blowproof.verifier.engines.histograms.numbered import Numbering
from blowproof.verifier.neighbours.check import check_pair
from refusals import left_out

DOMAIN = Domain(sex=Labels(["F", "M"]), age=Integers(0, 1))
QUERIES = ("histogram", "marginal(sex)", "sum(age)")


def region(rng: random.Random) -> dict[str, object]:
    where: dict[str, object] = {}
    if rng.random() < 0.6:
        where["sex"] = rng.choice("FM")
    if rng.random() < 0.7:
        where["age"] = rng.randrange(2)
    return where


def with_clauses(rng: random.Random) -> Policy:
    size = rng.choice([1, 2, 3, 3])
    known: list[Known] = []
    for _ in range(rng.randrange(1, 4)):
        literals = [
            Literal(rng.randrange(1, size + 1), region(rng), inside=rng.random() < 0.7)
            for _ in range(rng.randrange(1, 3))
        ]
        known.append(Clause(literals))
    for _ in range(rng.randrange(3)):
        low = rng.randrange(3)
        choices: list[Known] = [
            Count(region(rng), at_least=low),
            Count(region(rng), at_least=low, at_most=low + 1),
            Count(region(rng), answer=low),
            Sum([(1, region(rng)), (-2, region(rng))], at_least=-1, at_most=1),
        ]
        known.append(rng.choice(choices))
    return Policy(domain=DOMAIN, known=tuple(known), database=Database(size=size))


def without_size(rng: random.Random) -> Policy:
    known: list[Known] = []
    for _ in range(rng.randrange(1, 4)):
        low, times = rng.randrange(3), rng.randrange(1, 4)
        choices: list[Known] = [
            Count(region(rng), at_least=low),
            Count(region(rng), at_least=low, at_most=low + 1),
            Count(region(rng), answer=low),
            Sum([(times, region(rng)), (-2, region(rng))], at_least=-low),
            Sum([(times, region(rng)), (-1, region(rng))], at_least=-low, at_most=0),
        ]
        known.append(rng.choice(choices))
    return Policy(domain=DOMAIN, known=tuple(known), database=Database(answers="given"))


@pytest.mark.parametrize("seed", range(12))
def test_clauses_against_listing_databases(seed: int) -> None:
    rng = random.Random(seed)
    policy, query = with_clauses(rng), rng.choice(QUERIES)
    reading: Reading = rng.choice(["add-remove", "add-remove", "markov"])
    try:
        listed = sensitivity(policy, query, reading=reading, engine="brute")
    except BlowproofError as error:
        with pytest.raises(type(error)):
            sensitivity(policy, query, reading=reading)
        return
    for engine in ("ilp", "auto"):
        found = sensitivity(policy, query, reading=reading, engine=engine)  # type: ignore[arg-type]
        assert found.status == "exact"
        assert found.lower == listed.lower
        if found.witness is not None:
            assert check_pair(setting(policy), reading, found.witness)
    pairs = [
        sorted(
            (pair.before, pair.after, pair.unchanged)
            for pair in neighbours(policy, reading=reading, engine=engine)
        )
        for engine in ("auto", "brute")
    ]
    assert pairs[0] == pairs[1]


@pytest.mark.parametrize("seed", range(12))
def test_no_known_size_against_growing_databases(seed: int) -> None:
    """Databases of up to four records give a lower bound, and the answer for small coefficients."""
    rng = random.Random(seed)
    policy, query = without_size(rng), rng.choice(QUERIES)
    try:
        found = sensitivity(policy, query, reading="add-remove", time_limit=20)
    except BlowproofError:
        with pytest.raises(BlowproofError):
            sensitivity(policy, query, reading="add-remove", engine="brute", max_size=3)
        return
    assert found.upper is not None
    if found.witness is not None:
        assert check_pair(setting(policy), "add-remove", found.witness)
    try:
        listed = sensitivity(policy, query, reading="add-remove", engine="brute", max_size=4)
    except BlowproofError as error:  # the facts ask for more records than can be listed
        left_out(error)
        return
    assert listed.lower <= found.upper
    if listed.status == "exact":
        assert found.lower <= listed.lower


def test_a_part_that_is_all_that_is_done_refutes_nothing_beside_slack() -> None:
    """An age-1 record may come alone; what refutes one that is exchanged must not rule that out."""
    known = (
        Sum([(1, {"age": 1}), (-3, {"sex": "F", "age": 0})], at_least=-2, at_most=0),
        Count({"sex": "F", "age": 0}, at_least=1, at_most=2),
        Count({"age": 0}, answer=2),
    )
    policy = Policy(domain=DOMAIN, known=known)
    found = sensitivity(policy, "marginal(sex)", reading="add-remove")
    listed = sensitivity(policy, "marginal(sex)", reading="add-remove", engine="ilp")
    assert (found.lower, found.upper) == (listed.lower, listed.upper) == (3, 3)


def test_many_records_and_a_clause_need_no_listing() -> None:
    domain = Domain(sex=Labels(["F", "M"]), age=Integers(0, 9))
    known = (
        Count({"sex": "F"}, at_least=1),
        Count({"age": [2, 3]}, at_most=2),
        Clause([Literal(1, {"sex": "F"})]),
        Clause([Literal(2, {"age": 3})]),
    )
    policy = Policy(domain=domain, known=known, database=Database(size=10**6))
    found = sensitivity(policy, reading="add-remove")
    assert (found.lower, found.upper) == (2, 2)


def test_numberings_are_those_that_listing_finds() -> None:
    for seed in range(20):
        policy = with_clauses(random.Random(seed))
        found = setting(policy)
        numbering = Numbering.of(found, tuple(DOMAIN.points()))
        places = range(len(numbering.groups))
        listed = set()
        for choice in product(places, repeat=len(numbering.records)):
            records: list[tuple[int, ...]] = [numbering.groups[0][0]] * (numbering.records[-1] + 1)
            for record, group in zip(numbering.records, choice, strict=True):
                records[record] = numbering.groups[group][0]
            if all(clause.holds(records) for clause in found.clauses):
                listed.add(tuple(choice.count(group) for group in places))
                assert can_be_numbered(found, records)
        assert set(numbering.every) == listed


def test_listing_databases_ends_at_the_deadline_with_what_it_has() -> None:
    policy = Policy(domain=Domain(age=Integers(0, 5)), database=Database(size=3))
    late = sensitivity(policy, reading="published", engine="brute", time_limit=0)
    assert late.status == "bounds" and late.upper is None
    with pytest.raises(TimeoutError):
        list(neighbours(policy, engine="brute", time_limit=0))


def test_the_size_of_the_data_is_no_fact_where_records_come_and_go(tmp_path: Path) -> None:
    """F = 2 M is known, n is not: three records come or go together, whatever the data hold."""
    (tmp_path / "people.csv").write_text("sex,age\nF,0\nF,1\nM,0\n")
    known = (Sum([(1, {"sex": "F"}), (-2, {"sex": "M"})]),)
    data = Database(data="people.csv")
    policy = Policy(domain=DOMAIN, known=known, database=data, folder=tmp_path)
    assert prepare(setting(policy), "published").size == 3
    assert prepare(setting(policy), "add-remove").size is None
    found = sensitivity(policy, reading="add-remove")
    listed = sensitivity(policy, reading="add-remove", engine="brute", max_size=4)
    assert found.lower == found.upper == listed.lower == 3
