"""Kind `single` where no edge of G leads to a value that a fact tells apart."""

from __future__ import annotations

import json

import pytest

from blowproof.models import (
    Domain,
    Edges,
    Integers,
    Labels,
    Marginal,
    PartitionBy,
    Policy,
    parse_query,
)
from blowproof.models.secrets import AttributeChange, Distance
from blowproof.verifier.ask import sensitivity
from blowproof.verifier.kernel.check import check_text
from blowproof.verifier.proofs.write import certify_answer

WARDS = Domain(ward=Labels(["w", "x", "y"]), age=Integers(0, 99))
AGES = Distance(threshold=10, attributes=["age"])
INSIDE = Edges([({"ward": "w", "age": 0}, {"ward": "w", "age": 30})])


@pytest.mark.parametrize(
    ("secrets", "text", "value"),
    [
        (AGES, "histogram", 2),
        (AGES, "ranges(age)", 910),
        (AGES, "cumulative(age)", 10),
        (PartitionBy(["ward"]), "ranges(age)", 2550),
        (PartitionBy(["ward"]), "sum(age)", 99),
        (INSIDE, "histogram", 2),
        (INSIDE, "sum(age)", 30),
    ],
)
@pytest.mark.parametrize("reading", ["published", "secret-moves"])
def test_known_wards_do_not_see_ages(secrets: object, text: str, value: int, reading: str) -> None:
    policy = Policy(domain=WARDS, known=(Marginal(["ward"]),), secrets=secrets)  # type: ignore[arg-type]
    found = sensitivity(policy, text, reading=reading, time_limit=60)  # type: ignore[arg-type]
    assert (found.status, found.lower) == ("exact", value)
    proved, certificate = certify_answer(policy, parse_query(text, policy), found, time_limit=60)
    assert (proved.status, certificate.kind) == ("proved", "single")


@pytest.mark.parametrize(
    "secrets",
    [
        AttributeChange(changes=1),
        Distance(threshold=10),
        PartitionBy(["age"]),
        Edges([({"ward": "w", "age": 0}, {"ward": "x", "age": 1})]),
    ],
)
def test_an_edge_that_a_fact_sees_is_refused(secrets: object) -> None:
    """The same certificate, with other secrets: two moves go together, and change more."""
    policy = Policy(domain=WARDS, known=(Marginal(["ward"]),), secrets=AGES)
    found = sensitivity(policy, time_limit=60)
    _, certificate = certify_answer(policy, parse_query("histogram", policy), found, time_limit=60)
    document = json.loads(certificate.text)
    other = Policy(domain=WARDS, known=(Marginal(["ward"]),), secrets=secrets)  # type: ignore[arg-type]
    answer = sensitivity(other, time_limit=60)
    _, fresh = certify_answer(other, parse_query("histogram", other), answer, time_limit=20)
    if fresh.document is None:
        pytest.skip("no kind of proof fits these secrets")
    forged = {**json.loads(fresh.text), "proof": document["proof"]}
    assert answer.lower > 2 or fresh.kind != "single"
    assert not check_text(json.dumps(forged)).accepted


@pytest.mark.parametrize("reading", ["pufferfish", "add-remove"])
def test_other_readings_are_refused(reading: str) -> None:
    policy = Policy(domain=WARDS, known=(Marginal(["ward"]),), secrets=AGES)
    found = sensitivity(policy, time_limit=60)
    _, certificate = certify_answer(policy, parse_query("histogram", policy), found, time_limit=60)
    document = {**json.loads(certificate.text), "reading": reading}
    assert not check_text(json.dumps(document)).accepted
