"""Four cells of two tables: pairs of reading 4, and of reading 1 with one secret move."""

from __future__ import annotations

import random
from itertools import islice

import pytest

from blowproof.models import (
    AttributeChange,
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
from blowproof.verifier.ask import sensitivity
from blowproof.verifier.asked.question import Progress, Question
from blowproof.verifier.databases.consistency import prepare
from blowproof.verifier.databases.value_classes import class_table
from blowproof.verifier.neighbours.check import check_pair
from blowproof.verifier.witnesses.four_cells import alike, exchanged, with_one_secret
from blowproof.verifier.witnesses.frames import long_circuits as circuits_of_frames
from blowproof.verifier.witnesses.frames.long_circuits import long_circuits

DOMAIN = Domain(
    district=Labels(["North", "South", "East"]),
    grade=Integers(0, 3),
    lunch=Labels(["free", "reduced", "paid"]),
    learner=Labels(["yes", "no"]),
)
TABLES = (Marginal(["district", "grade"]), Marginal(["district", "lunch"]))
ENDLESS = float("inf")


@pytest.mark.parametrize("seed", range(6))
def test_two_classes_say_what_two_others_say(seed: int) -> None:
    rng = random.Random(seed)
    table = class_table(setting(Policy(domain=DOMAIN, known=TABLES)))
    found = list(alike(table, rng))
    assert found
    for a, b, c, d in found:
        assert (table.effects[a] + table.effects[b] == table.effects[c] + table.effects[d]).all()
        assert len({a, b, c, d}) == 4


@pytest.mark.parametrize("seed", range(4))
def test_exchanges_of_two_are_pairs_of_reading_4(seed: int) -> None:
    zero = Impossible({"district": "North", "grade": seed})
    held = prepare(setting(Policy(domain=DOMAIN, known=(*TABLES, zero))), "markov")
    pairs = list(islice(exchanged(class_table(held), random.Random(seed), ENDLESS), 20))
    assert len(pairs) == 20
    assert all(check_pair(held, "markov", pair) for pair in pairs)


@pytest.mark.parametrize("secrets", [PartitionBy(["district", "grade"]), AttributeChange()])
def test_one_secret_move_and_plain_ones_are_pairs_of_reading_1(
    secrets: PartitionBy | AttributeChange,
) -> None:
    held = prepare(setting(Policy(domain=DOMAIN, known=TABLES, secrets=secrets)), "published")
    pairs = list(islice(with_one_secret(held, class_table(held), random.Random(0), ENDLESS), 30))
    assert len(pairs) == 30
    for pair in pairs:
        assert check_pair(held, "published", pair)
        ends = zip(pair.before, pair.after, strict=True)
        assert [held.graph.is_edge(x, y) for x, y in ends].count(True) == 1


def test_a_school_in_reading_4_is_exact() -> None:
    policy = Policy(domain=DOMAIN, known=TABLES)
    for query in ("histogram", "marginal(grade,lunch)", "marginal(learner)"):
        found = sensitivity(policy, query, reading="markov")
        assert (found.lower, found.upper) == (4, 4), query


def test_short_pairs_come_before_a_basis(monkeypatch: pytest.MonkeyPatch) -> None:
    """The basis of a school's tables took all the time that there was, and S was 0 or more."""

    def takes_long(vectors: object) -> None:
        raise TimeoutError

    monkeypatch.setattr(circuits_of_frames, "kernel", takes_long)
    policy = Policy(domain=DOMAIN, known=TABLES, secrets=PartitionBy(["district", "grade"]))
    told: list[Progress] = []
    asked = Question(
        prepare(setting(policy), "published"),
        parse_query("marginal(grade,lunch)", policy),
        "published",
        listener=told.append,
    )
    long_circuits(asked)
    assert told and told[0].lower > 0
