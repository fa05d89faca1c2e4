"""Reading 3 with independent signatures, and edges that keep all numbers: against the search and
the definition.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from blowproof.models import (
    Between,
    BudgetError,
    Count,
    Database,
    Domain,
    Impossible,
    Integers,
    Labels,
    Marginal,
    PartitionBy,
    Policy,
    parse_query,
    setting,
)
from blowproof.models.secrets import AttributeChange, Distance, Edges
from blowproof.verifier.ask import certified, sensitivity
from blowproof.verifier.asked.answer import Answer
from blowproof.verifier.asked.question import Question
from blowproof.verifier.databases.consistency import prepare
from blowproof.verifier.neighbours.check import check_pair
from blowproof.verifier.theorems.alone import alone, edges_keep_numbers, not_alone
from blowproof.verifier.theorems.exchanges import exchanges, no_exchanges

QUERIES = ("histogram", "marginal(a)", "marginal(b)", "cumulative(a)", "ranges(a)", "sum(a)",
           "range(a,0,0)", "sum(a,b)")  # fmt: skip


def asked(policy: Policy, text: str, reading: str) -> Question:
    found = prepare(setting(policy), reading)  # type: ignore[arg-type]
    return Question(found, parse_query(text, policy), reading)  # type: ignore[arg-type]


def checked(question: Question, found: Answer) -> None:
    if found.witness is not None:
        moves = found.witness.moves(question.reading)
        assert question.query.difference(moves) == found.lower
        assert check_pair(question.setting, question.reading, found.witness)


def facts(rng: random.Random, sizes: tuple[int, int]) -> Iterator[object]:
    """Counts, marginals and impossible values, single values and everything among them."""
    for _ in range(rng.randint(0, 3)):
        region: dict[str, object] = {}
        for name, size in zip("ab", sizes, strict=True):
            if rng.random() < 0.6:
                low = rng.randrange(size)
                region[name] = Between(low, rng.randrange(low, size))
        kind = rng.random()
        if kind < 0.5:
            yield Count(region)
        elif kind < 0.8:
            yield Marginal([rng.choice("ab")])
        else:
            yield Impossible([region])


def policies(seed: int, answers: str, secrets: bool) -> Iterator[Policy]:
    rng = random.Random(seed)
    while True:
        sizes = rng.choice([(4, 2), (3, 3), (5, 1), (2, 3)])
        domain = Domain(a=Integers(0, sizes[0] - 1), b=Integers(0, sizes[1] - 1))
        known = tuple(facts(rng, sizes))
        kinds = (PartitionBy(["b"]), Distance(threshold=1, attributes=["a"]),
                 AttributeChange(changes=1), PartitionBy(["a"]))  # fmt: skip
        settings = {"secrets": rng.choice(kinds)} if secrets else {}
        policy = Policy(domain=domain, known=known, **settings)  # type: ignore[arg-type]
        values = [x for x in domain.points() if x not in policy.impossible]
        if not values:
            continue
        if answers == "given":
            held = [rng.choice(values) for _ in range(rng.randint(1, 3))]
            numbered: list[object] = []
            for place, fact in enumerate(known):
                bound = [f for f in policy.linear_facts if f.name.startswith(f"known[{place}]")]
                if isinstance(fact, Count):
                    numbered.append(Count(fact.where, answer=sum(map(bound[0].coefficient, held))))
                elif isinstance(fact, Marginal):
                    told = [sum(map(each.coefficient, held)) for each in bound]
                    numbered.append(Marginal(fact.attributes, answers=told))
                else:
                    numbered.append(fact)
            size = {} if rng.random() < 0.4 and not secrets else {"size": len(held)}
            policy = Policy(
                domain=domain,
                known=tuple(numbered),  # type: ignore[arg-type]
                database=Database(answers="given", **size),  # type: ignore[arg-type]
                **settings,  # type: ignore[arg-type]
            )
        yield policy


@pytest.mark.parametrize("seed", range(4))
def test_exchanges_agree_with_the_search(seed: int) -> None:
    spoken = 0
    drawn = policies(seed, "any", secrets=False)
    for number in range(24):
        policy, text = next(drawn), QUERIES[number % len(QUERIES)]
        question = asked(policy, text, "add-remove")
        found = exchanges(question)
        if found is None:
            continue
        truth = sensitivity(policy, text, reading="add-remove", engine="search")
        assert (found.lower, found.upper) == (truth.lower, truth.upper), (policy, text)
        checked(question, found)
        spoken += 1
    assert spoken >= 9


@pytest.mark.parametrize("seed", range(4))
def test_exchanges_agree_with_the_definition(seed: int) -> None:
    spoken = 0
    drawn = policies(seed + 50, "given", secrets=False)
    for number in range(24):
        policy, text = next(drawn), QUERIES[number % len(QUERIES)]
        question = asked(policy, text, "add-remove")
        found = exchanges(question)
        if found is None:
            continue
        try:
            truth = sensitivity(policy, text, reading="add-remove", engine="brute", max_size=3)
        except BudgetError:
            continue
        assert found.lower <= truth.lower <= found.upper, (policy, text)  # type: ignore[operator]
        if truth.status == "exact":
            assert found.lower == truth.lower == found.upper, (policy, text)
        checked(question, found)
        spoken += 1
    assert spoken >= 6


def test_exchanges_say_what_they_do_not_speak_of() -> None:
    domain = Domain(a=Integers(0, 2), b=Integers(0, 2))
    policy = Policy(domain=domain, known=(Marginal(["a"]), Marginal(["b"])))
    assert exchanges(asked(policy, "histogram", "add-remove")) is None
    assert no_exchanges(asked(policy, "histogram", "published"))
    bounded = Policy(domain=domain, known=(Count({"a": 0}, at_least=1),),
                     database=Database(size=3, answers="given"))  # fmt: skip
    assert no_exchanges(asked(bounded, "histogram", "add-remove"))


def test_towns_in_states_are_exchanges() -> None:
    """Two columns, a town lies in one state: 85 times too much before."""
    towns = [f"t{k}" for k in range(60)]
    zeros = [
        Impossible([{"state": f"s{s}", "town": [t for k, t in enumerate(towns) if k % 6 != s]}])
        for s in range(6)
    ]
    domain = Domain(
        state=Labels([f"s{k}" for k in range(6)]), town=Labels(towns), sex=Labels(["F", "M"])
    )
    policy = Policy(domain=domain, known=(Marginal(["state"]), Marginal(["town"]), *zeros))
    found = sensitivity(policy, reading="add-remove", time_limit=60)
    assert (found.status, found.lower) == ("exact", 2)


@pytest.mark.parametrize("answers", ["any", "given"])
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("reading", ["published", "secret-moves"])
def test_one_record_alone_agrees_with_an_engine(reading: str, answers: str, seed: int) -> None:
    spoken = 0
    drawn = policies(seed + 20, answers, secrets=True)
    for number in range(30):
        policy, text = next(drawn), QUERIES[number % len(QUERIES)]
        question = asked(policy, text, reading)
        found = None if not_alone(question) else alone(question)
        if found is None:
            continue
        engine = "brute" if answers == "given" else "search"
        try:
            truth = sensitivity(policy, text, reading=reading, engine=engine, time_limit=30)  # type: ignore[arg-type]
        except BudgetError:
            continue
        assert found.lower <= truth.lower, (policy, text)
        assert truth.upper is None or found.upper >= truth.lower, (policy, text)  # type: ignore[operator]
        if answers == "any":
            assert found.lower == found.upper
        checked(question, found)
        spoken += 1
    assert spoken >= 2


@pytest.mark.parametrize("bounded", [False, True])
def test_one_attribute_at_a_time_is_asked_for_or_known(bounded: bool) -> None:
    """Reading 2: an age changes alone; patients who go from ward to ward keep theirs."""
    domain = Domain(ward=Labels(["w", "x"]), ill=Labels(["y", "n"]), age=Integers(0, 2))
    known: tuple[Any, ...] = (Marginal(["ward"], answers=[1, 1]), Marginal(["ill"], answers=[1, 1]))
    if bounded:
        known = (known[0], Count({"ill": "y"}, at_least=1))
    policy = Policy(
        domain=domain, known=known, secrets=AttributeChange(), database=Database(size=2)
    )
    for text, value in (("ranges(age)", 4), ("sum(age)", 2), ("marginal(age)", 2)):
        question = asked(policy, text, "secret-moves")
        found = alone(question)
        assert found is not None
        assert (found.lower, found.upper) == (value, value)
        checked(question, found)
        assert alone(asked(policy, text, "published")) is None
        if not bounded:
            told, proof = certified(policy, text, reading="secret-moves", time_limit=20)
            assert (told.status, told.lower, proof.kind) == ("proved", value, "single")
    for text in ("marginal(ward)", "marginal(ill,age)"):  # facts speak of these
        assert alone(asked(policy, text, "secret-moves")) is None
    truth = sensitivity(policy, "ranges(age)", reading="secret-moves", engine="brute")
    assert (truth.lower, truth.upper) == (4, 4)
    twice = replace(policy, secrets=AttributeChange(changes=2))
    assert alone(asked(twice, "sum(age)", "secret-moves")) is None


def test_a_listed_edge_between_wards_is_noticed() -> None:
    domain = Domain(ward=Labels(["w", "x"]), age=Integers(0, 3))
    inside = Edges([({"ward": "w", "age": 0}, {"ward": "w", "age": 1})])
    across = Edges([({"ward": "w", "age": 0}, {"ward": "x", "age": 1})])
    for secrets, kept in ((inside, True), (across, False)):
        policy = Policy(domain=domain, known=(Marginal(["ward"]),), secrets=secrets)
        assert edges_keep_numbers(asked(policy, "histogram", "published").setting) is kept


def test_ranges_beside_secret_ages_on_known_wards() -> None:
    domain = Domain(ward=Labels(["w", "x", "y"]), age=Integers(0, 99))
    policy = Policy(domain=domain, known=(Marginal(["ward"]),), secrets=PartitionBy(["ward"]))
    found = sensitivity(policy, "ranges(age)", time_limit=60)
    assert (found.status, found.lower, found.engine) == ("exact", 2550, "alone")


def test_ranges_of_a_secret_age_beside_impossible_values() -> None:
    """The structure of G is looked at as if all were possible; its edge is moved to what is."""
    domain = Domain(ward=Labels(["w", "x"]), kind=Labels(["k", "l"]), age=Integers(0, 99))
    policy = Policy(
        domain=domain,
        known=(Marginal(["ward", "kind"]), Impossible([{"ward": "w", "kind": "k"}])),
        secrets=Distance(threshold=10, attributes=["age"]),
    )
    found = sensitivity(policy, "ranges(age)", time_limit=60)
    assert (found.status, found.lower, found.engine) == ("exact", 910, "alone")
