"""Reading 2, independent signatures: cycles along edges are what the search finds."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from blowproof.models import (
    AttributeChange,
    Between,
    Count,
    Database,
    Distance,
    Domain,
    Impossible,
    Integers,
    Labels,
    Marginal,
    Policy,
    parse_query,
    setting,
)
from blowproof.models.stacks.written import parse_question
from blowproof.verifier.ask import sensitivity
from blowproof.verifier.asked.question import Question
from blowproof.verifier.databases.consistency import prepare
from blowproof.verifier.neighbours.check import check_pair
from blowproof.verifier.theorems.simple_cycles import single_cycles
from blowproof.verifier.theorems.values import secret_cycles

QUERIES = (
    "sum(x)",
    "cumulative(x)",
    "ranges(x)",
    "marginal(x)",
    "marginal(sex)",
    "range(x,1,2)",
    "histogram",
)


def asked(policy: Policy, query: str) -> Question:
    found = prepare(setting(policy), "secret-moves")
    return Question(found, parse_query(query, policy), "secret-moves")


def drawn(rng: random.Random) -> Policy:
    """Bands of a line, some of them by sex; secrets at a distance, or any one attribute."""
    length = rng.randint(4, 7)
    domain = Domain(x=Integers(0, length - 1), sex=Labels(["F", "M"]))
    cuts = sorted(rng.sample(range(1, length), rng.randint(1, 2)))
    bands = [Between(low, high - 1) for low, high in zip((0, *cuts), (*cuts, length), strict=True)]
    known: list[Count | Impossible | Marginal] = [Count({"x": band}) for band in bands]
    if rng.random() < 0.3:
        known = [Marginal(["sex"])]
    if rng.random() < 0.2:
        known.append(Impossible({"x": 0, "sex": "F"}))
    secrets: AttributeChange | Distance = Distance(metric="l1", threshold=rng.randint(1, 3))
    if rng.random() < 0.3:
        secrets = AttributeChange(changes=1)
    return Policy(domain=domain, known=tuple(known), secrets=secrets)


@pytest.mark.parametrize("seed", range(42))
def test_cycles_along_edges_are_what_the_search_finds(seed: int) -> None:
    policy = drawn(random.Random(seed))
    query = QUERIES[seed % len(QUERIES)]
    question = asked(policy, query)
    told = single_cycles(question)
    assert told is not None and told.upper is not None
    found = sensitivity(policy, query, reading="secret-moves", engine="search", time_limit=20)
    assert found.upper == found.lower
    assert told.lower <= found.lower <= told.upper
    if told.witness is not None:
        assert check_pair(question.setting, "secret-moves", told.witness).holds


@pytest.mark.parametrize("seed", range(42))
def test_in_other_norms_too(seed: int) -> None:
    rng = random.Random(seed)
    policy = drawn(rng)
    query, norm = QUERIES[seed % len(QUERIES)], ("l2-squared", "linf", "range")[seed % 3]
    if seed % 2:
        query = f"1/2*{query} + 3*sum(x)"
    found = prepare(setting(policy), "secret-moves")
    asked = parse_question(query, policy, norm)
    told = single_cycles(Question(found, asked, "secret-moves"))
    assert told is not None and told.upper is not None
    slow = sensitivity(policy, query, norm=norm, reading="secret-moves", engine="search")
    assert slow.upper == slow.lower
    assert told.lower <= slow.lower <= told.upper
    if told.witness is not None:
        assert check_pair(found, "secret-moves", told.witness).holds


@pytest.mark.parametrize("seed", range(14))
def test_rows_that_are_not_written_out_give_the_same(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    policy = drawn(random.Random(seed))
    question = asked(policy, QUERIES[seed % len(QUERIES)])
    written = single_cycles(question)
    monkeypatch.setattr(secret_cycles, "LONG_ROW", 0)
    not_written = single_cycles(question)
    assert written is not None and not_written is not None
    assert (written.lower, written.upper) == (not_written.lower, not_written.upper)


def test_ranges_of_a_long_axis_need_no_rows_written_out() -> None:
    """A range of 500 positions is in up to 62,500 outputs: rows of all values are 200 million."""
    policy = Policy(
        domain=Domain(place=Labels("abcd"), income=Integers(0, 499)),
        known=(Marginal(["place"]), Count({"income": Between(100, 499)})),
        secrets=Distance(metric="l1", threshold=10, attributes=["income"]),
    )
    told = sensitivity(policy, "ranges(income)", reading="secret-moves", time_limit=30)
    two = policy.domain.encode({"place": "a", "income": 244})
    ten = policy.domain.encode({"place": "a", "income": 254})
    one_move = parse_query("ranges(income)", policy).norm({two: -1, ten: 1})
    assert told.lower == told.upper
    assert one_move <= told.lower <= 2 * one_move


@pytest.mark.parametrize("seed", range(20))
def test_attributes_of_which_one_value_is_possible_are_left_out(seed: int) -> None:
    rng = random.Random(seed)
    policy = drawn(rng)
    held = rng.randint(0, 2)
    domain = Domain(x=policy.domain["x"], sex=policy.domain["sex"], region=Labels(["n", "m", "s"]))
    others = [Impossible({"region": label}) for k, label in enumerate("nms") if k != held]
    wider = replace(policy, domain=domain, known=(*others, *policy.known))
    query = QUERIES[seed % (len(QUERIES) - 1)]
    one, two = single_cycles(asked(policy, query)), single_cycles(asked(wider, query))
    assert one is not None and two is not None
    assert (one.lower, one.upper) == (two.lower, two.upper)
    if two.witness is not None:
        assert check_pair(setting(wider), "secret-moves", two.witness).holds


def three_axes(rng: random.Random) -> Policy:
    """Cells of one attribute or two of three; secrets by attribute, or at a distance."""
    domain = Domain(x=Integers(0, 2), y=Integers(0, 1), z=Labels(["p", "q"]))
    known: list[Impossible | Marginal] = [Marginal(rng.sample(["x", "y", "z"], rng.randint(1, 2)))]
    if rng.random() < 0.3:
        known.append(Impossible({"x": 0, "y": 0}))
    secrets: AttributeChange | Distance = AttributeChange(changes=rng.choice((1, 1, 2)))
    if rng.random() < 0.3:
        secrets = Distance(metric="l1", threshold=rng.randint(1, 2))
    return Policy(domain=domain, known=tuple(known), secrets=secrets)


@pytest.mark.parametrize("seed", range(24))
def test_edges_along_axes_that_nobody_reads_are_not_needed(seed: int) -> None:
    policy = three_axes(random.Random(seed))
    query = ("marginal(x)", "marginal(x,z)", "histogram", "sum(y)")[seed % 4]
    question = asked(policy, query)
    told = single_cycles(question)
    assert told is not None and told.upper is not None
    found = sensitivity(policy, query, reading="secret-moves", engine="search", time_limit=20)
    assert found.upper == found.lower
    assert told.lower <= found.lower <= told.upper
    if told.witness is not None:
        assert check_pair(question.setting, "secret-moves", told.witness).holds


@pytest.mark.parametrize("query", ["histogram", "marginal(ward,rent)"])
def test_a_long_cycle_of_wards_has_its_pair(query: str) -> None:
    """Bounds of 60..64 and 2..64, of 32 boroughs, before."""
    domain = Domain(
        ward=Labels(map(str, range(9))), tenure=Labels(["o", "r"]), rent=Integers(0, 30)
    )
    policy = Policy(domain=domain, known=(Marginal(["ward"]),), secrets=AttributeChange(changes=1))
    told = single_cycles(asked(policy, query))
    assert told is not None
    assert (told.lower, told.upper) == (18, 18)


SALARIES = tuple(Count({"x": Between(20 * k, 20 * k + 19)}) for k in range(10))


@pytest.mark.parametrize(
    ("query", "norm", "value"),
    [("cumulative(x)", "l1", 18), ("ranges(x)", "l1", 3456), ("ranges(x)", "l2-squared", 3618)],
)
def test_salaries_in_bands_are_exact(query: str, norm: str, value: int) -> None:
    """10..100, 1,910..19,100 and 3,618..38,190 before."""
    policy = Policy(
        domain=Domain(x=Integers(0, 199)),
        known=SALARIES,
        secrets=Distance(metric="l1", threshold=10),
    )
    found = prepare(setting(policy), "secret-moves")
    told = single_cycles(Question(found, parse_question(query, policy, norm), "secret-moves"))
    assert told is not None
    assert (told.lower, told.upper) == (value, value)


def test_bands_with_nobody_take_no_part() -> None:
    known = (
        Count({"x": Between(0, 3)}, answer=2),
        Count({"x": Between(4, 5)}, answer=0),
        Count({"x": Between(6, 9)}, answer=1),
    )
    policy = Policy(
        domain=Domain(x=Integers(0, 9)),
        known=known,
        secrets=Distance(metric="l1", threshold=2),
        database=Database(size=3, answers="given"),
    )
    told = single_cycles(asked(policy, "sum(x)"))
    assert told is not None
    assert (told.lower, told.upper) == (2, 2)
    assert told.witness is not None
    found = prepare(setting(policy), "secret-moves")
    assert check_pair(found, "secret-moves", told.witness).holds


def test_three_classes_in_a_ring_are_bounded_by_their_arcs() -> None:
    domain = Domain(x=Integers(0, 2), sex=Labels(["F", "M"]))
    policy = Policy(domain=domain, known=(Marginal(["x"]),), secrets=AttributeChange(changes=1))
    told = single_cycles(asked(policy, "cumulative(x)"))
    found = sensitivity(policy, "cumulative(x)", reading="secret-moves", engine="search")
    assert told is not None and told.upper is not None
    assert found.lower <= told.upper <= 6
