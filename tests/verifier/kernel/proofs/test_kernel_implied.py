"""What known numbers imply: values that nobody holds, bounds that say nothing, in certificates."""

from __future__ import annotations

import copy
import itertools
import json
import random
from pathlib import Path
from typing import Any

import pytest

from asked import resigned
from blowproof.models import (
    Between,
    Count,
    Database,
    Domain,
    Integers,
    Labels,
    Marginal,
    Policy,
    parse_query,
)
from blowproof.verifier.ask import certified, sensitivity
from blowproof.verifier.kernel import Unreadable, check
from blowproof.verifier.kernel.check import world_of
from blowproof.verifier.kernel.document import Budget

SEX = Labels(["F", "M"])


def adults(low: int = 0) -> Policy:
    """All patients of a practice are adults, said as a count whose answer is n."""
    known = (
        Marginal(["sex"], answers=[20, 16]),
        Count({"age": Between(18, 99)}, answer=36),
    )
    domain = Domain(sex=SEX, age=Integers(low, 99))
    return Policy(domain=domain, known=known, database=Database(size=36))


def certificate(policy: Policy, query: str, reading: Any = "published") -> dict[str, Any]:
    answer, found = certified(policy, query, reading=reading, time_limit=60)
    assert answer.status == "proved", found.reason
    assert found.document is not None
    return found.document


def accepted(document: dict[str, Any]) -> bool:
    try:
        return check(resigned(document)).accepted
    except Unreadable:
        return False


@pytest.mark.parametrize(
    ("query", "value"), [("cumulative(age)", 162), ("ranges(age)", 5100), ("histogram", 4)]
)
def test_adults_only_written_as_a_count_is_proved(query: str, value: int) -> None:
    """The two values of age that the count tells apart are not both held: 2 by 1, no 2 x 2."""
    document = certificate(adults(), query)
    assert document["value"] == value
    assert document["implied"]["empty"]


def test_a_bound_that_equalities_imply_does_not_stop_a_proof() -> None:
    known = (
        Marginal(["sex"], answers=[5, 4]),
        Count({"sex": "F", "age": 0}, at_most=5),
        Count({}, at_least=1, at_most=40),
    )
    domain = Domain(sex=SEX, age=Integers(0, 30))
    policy = Policy(domain=domain, known=known, database=Database(answers="given"))
    document = certificate(policy, "cumulative(age)", "add-remove")
    assert document["value"] == 30
    assert len(document["implied"]["bounds"]) >= 2
    assert accepted(document)
    for place, item in enumerate(document["implied"]["bounds"]):
        forged = copy.deepcopy(document)
        forged["implied"]["bounds"][place]["of"] = []
        assert not accepted(forged) or item["of"] == []


def test_no_forged_combination_calls_values_empty() -> None:
    """Of every change of what is implied: the claim is refused, or true (the proof needs less)."""
    document = certificate(adults(), "ranges(age)")
    less = {**document, "value": 1, "witness": None}
    for terms in document["implied"]["empty"]:
        for place, change in itertools.product(range(len(terms)), (-2048, -1, 1, 2048)):
            forged = copy.deepcopy(less)
            forged["implied"]["empty"][0][place][1] += change
            assert not accepted(forged)
    wrong: list[Any] = [[[[0, 1]]], [[[9, 1]]], [[[-1, 1]]], [[[2, -1]]], [[[0]]], [[]], []]
    for forged_terms in wrong:
        forged = {**less, "implied": {"empty": forged_terms}}
        assert not accepted(forged)
        assert not accepted({**document, "implied": {"empty": forged_terms}})
    assert not accepted({k: v for k, v in document.items() if k != "implied"})


def test_nothing_is_implied_without_numbers() -> None:
    domain = Domain(sex=SEX, age=Integers(0, 3))
    policy = Policy(domain=domain, known=(Marginal(["sex"]),))
    document = certificate(policy, "ranges(age)")
    assert "implied" not in document
    assert not accepted({**document, "implied": {"empty": [[[0, 1]]]}})
    assert not accepted({**document, "implied": {}})


@pytest.mark.parametrize("seed", range(12))
def test_what_combinations_say_holds_in_every_database(seed: int) -> None:
    """Any combination that the kernel takes: the values that it calls empty are held by nobody."""
    rng = random.Random(seed)
    domain = Domain(a=Integers(0, 1), b=Integers(0, 2))
    points = list(domain.points())
    people = [rng.choice(points) for _ in range(3)]
    boxes = [(rng.randrange(2), rng.randrange(3)) for _ in range(3)]
    known = tuple(
        Count({"a": Between(a, 1), "b": Between(0, b)},
              answer=sum(x[0] >= a and x[1] <= b for x in people))
        for a, b in boxes
    )  # fmt: skip
    policy = Policy(domain=domain, known=known, database=Database(size=3))
    document = claim(policy)
    held = {x for some in itertools.combinations_with_replacement(points, 3)
            if all(fact.answer == sum(x[0] >= a and x[1] <= b for x in some)
                   for fact, (a, b) in zip(known, boxes, strict=True)) for x in some}  # fmt: skip
    for terms in itertools.product((-1, 0, 1), repeat=4):
        combination = [[k, times] for k, times in enumerate(terms) if times]
        try:
            found, _ = world_of({**document, "implied": {"empty": [combination]}}, Budget())
        except Exception as refusal:  # of the kernel's two kinds, both are refusals
            assert type(refusal).__name__ in ("Rejected", "Unreadable")
            continue
        alive = {cell.point for cell in found.cells(found.equalities, listed=range(2))}
        assert held <= alive


def claim(policy: Policy) -> dict[str, Any]:
    answer, found = certified(policy, "histogram", time_limit=60)
    assert found.document is not None, (answer.status, found.reason)
    return {key: item for key, item in found.document.items() if key != "implied"}


@pytest.mark.parametrize("query", ["cumulative(a)", "ranges(a)"])
def test_prefixes_and_ranges_by_position_have_the_same_norm(query: str) -> None:
    """Sizes from positions are those of all outputs, one by one."""
    policy = Policy(domain=Domain(a=Integers(0, 6)), known=(Count({"a": Between(2, 4)}),))
    document = certificate(policy, query)
    found, _ = world_of(document, Budget())
    rng = random.Random(query)
    rows = {p: found.query.row((p,)) for p in range(7)}
    measure = found.by_position()
    for _ in range(60):
        change = {p: rng.randint(-3, 3) for p in range(7)}
        total: dict[Any, Any] = {}
        for p, times in change.items():
            for output in rows[p]:
                total[output] = total.get(output, 0) + times
        told = measure.size(frozenset((p, times) for p, times in change.items() if times))
        assert told == sum(map(abs, total.values()))


def test_all_ranges_of_a_long_axis_beside_a_table_are_proved() -> None:
    """2,775 ranges and more: rows by outputs were refused as too many."""
    domain = Domain(ward=Labels(["a", "b", "c"]), age=Integers(0, 119))
    policy = Policy(domain=domain, known=(Marginal(["ward"]),))
    document = certificate(policy, "ranges(age)")
    assert (document["value"], document["proof"]["kind"]) == (3 * 60 * 61, "cells")
    assert not accepted({**document, "value": document["value"] - 1})


@pytest.mark.parametrize("far", [2**31, 2**53, 2**63, 10**30])
def test_queries_along_an_axis_too_long_to_list_are_proved(far: int) -> None:
    """Ends of pieces stand for their values, beside a table and a count on the axis itself."""
    domain = Domain(ward=Labels(["a", "b"]), income=Integers(0, far))
    policy = Policy(domain=domain, known=(Marginal(["ward"]),))
    document = certificate(policy, "cumulative(income)")
    assert (document["value"], document["proof"]["kind"]) == (2 * far, "cells")
    assert not accepted({**document, "value": document["value"] - 1})
    document = certificate(policy, "ranges(income)")
    moved = (far + 2) // 2  # of far + 1 positions
    assert document["value"] == 2 * moved * (far + 2 - moved)
    assert not accepted({**document, "value": document["value"] - 1})


def test_thousands_of_classes_are_proved_within_memory() -> None:
    """3,143 counties: each fact was asked about each value, and effects were kept twice."""
    domain = Domain(county=Integers(1, 3143), sex=SEX)
    policy = Policy(domain=domain, known=(Marginal(["county"]),))
    document = certificate(policy, "histogram")
    assert (document["value"], document["proof"]["kind"]) == (6286, "cells")


def test_what_numbers_leave_a_count_is_proved_and_no_less() -> None:
    """Three people have a rare disease: a count of some of them is between 0 and 3."""
    folder = Path(__file__).parents[3] / "certificates" / "valid"
    document = json.loads((folder / "limits-three-with-a-rare-disease.json").read_text())
    assert (document["value"], check(document).accepted) == (3, True)
    proof = document["proof"]
    for less in (2, 1, 0):
        forged = {**document, "value": less, "witness": None}
        assert not accepted(forged)
        for end, change in itertools.product(("most", "least"), (-4096, -2048, -1024, 1024, 2048)):
            for place in range(5):
                terms = dict(map(tuple, proof[end]))
                terms[place] = terms.get(place, 0) + change
                forged["proof"] = {**proof, end: [[k, v] for k, v in terms.items()]}
                assert not accepted(forged)
        for times in (0, -1, 2048, 1 << 70):
            assert not accepted({**forged, "proof": {**proof, "times": times}})
    assert not accepted({**document, "proof": {**proof, "most": []}})
    assert not accepted({**document, "proof": {**proof, "least": [[0, 1]]}})


def test_the_search_for_a_certificate_keeps_to_its_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Checks inside of the search had no clock: a limit of 20 s became ten minutes."""
    from blowproof.verifier.proofs import margins, write

    monkeypatch.setattr(margins, "_known", {})  # what other tests have searched
    bit = Labels(["0", "1"])
    table = Policy(
        domain=Domain(a=bit, b=bit, c=bit, name=Labels(["x", "y"])),
        known=tuple(Marginal([name]) for name in "abc"),
    )
    for policy, text, status, reason in (
        (adults(), "ranges(age)", "proved", ""),  # cells and what is beside them: no search
        (table, "histogram", "exact", "the search for a proof had no time left"),
    ):
        query, answer = parse_query(text, policy), sensitivity(policy, text, time_limit=60)
        told, found = write.certify_answer(policy, query, answer, time_limit=0.0)
        assert (told.status, found.reason) == (status, reason)
