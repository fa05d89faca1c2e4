"""One bound with one end beside equalities: pairs are those of the equalities, for any answers."""

from __future__ import annotations

import random

import pytest

from blowproof.models import (
    Between,
    BudgetError,
    Count,
    Database,
    Domain,
    Integers,
    Labels,
    Marginal,
    Policy,
    setting,
)
from blowproof.verifier.ask import sensitivity
from blowproof.verifier.asked.answer import Pair
from blowproof.verifier.databases.consistency import prepare
from blowproof.verifier.neighbours.check import check_pair

WARDS = [900, 800, 700, 600, 500, 500, 500, 500]


def hospital(*, died: int, cancer: int) -> Policy:
    """Totals by hospital, how many died, and that at least some have cancer."""
    return Policy(
        domain=Domain(
            hospital=Labels(list("ABCDEFGH")),
            month=Integers(1, 12),
            diagnosis=Labels(["infection", "cancer", "heart", "injury", "other"]),
            died=Labels(["no", "yes"]),
        ),
        known=(
            Marginal(["hospital"], answers=WARDS),
            Count({"died": "yes"}, answer=died),
            Count({"diagnosis": "cancer"}, at_least=cancer),
        ),
        database=Database(size=sum(WARDS), answers="given"),
    )


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("histogram", 80),
        ("marginal(diagnosis,died)", 80),
        ("cumulative(month)", 440),
        ("sum(month)", 440),
        ("ranges(month)", 1680),
        ("range(month,6,8)", 40),
        ("marginal(hospital)", 0),
    ],
)
def test_a_hospital_with_totals_deaths_and_a_least_count(text: str, value: int) -> None:
    """8 wards and one count: 40 moves (`beside`), whatever the bound says."""
    found = sensitivity(hospital(died=140, cancer=5), text, time_limit=120)
    assert (found.status, found.lower) == ("exact", value)


def test_a_bound_at_its_end_agrees_with_the_definition() -> None:
    """Small n, so that the bound binds: never more than without it, and exactly what is listed."""
    rng = random.Random(5)
    spoken = 0
    for _ in range(40):
        domain = Domain(a=Integers(0, 1), b=Integers(0, rng.randint(1, 2)))
        held = [(rng.randrange(2), rng.randrange(domain["b"].size)) for _ in range(3)]
        ward = sum(a == 0 for a, _ in held)
        most = rng.randrange(domain["b"].size)
        region = {"b": Between(0, most)}
        count = sum(b <= most for _, b in held)
        end = {"at_least": count - rng.randint(0, 1)}
        if rng.random() < 0.5:
            end = {"at_most": count + rng.randint(0, 1)}
        policy = Policy(
            domain=domain,
            known=(Count({"a": 0}, answer=ward), Count(region, **end)),  # type: ignore[arg-type]
            database=Database(size=3, answers="given"),
        )
        try:
            truth = sensitivity(policy, engine="brute")
        except BudgetError:
            continue
        found = sensitivity(policy, time_limit=60)
        assert (found.status, found.lower) == ("exact", truth.lower), policy
        spoken += 1
    assert spoken >= 30


def test_two_cycles_beside_a_bound_are_still_refuted() -> None:
    """Each of the two keeps the equalities and the bound: the quick check leaves it open."""
    domain = Domain(ward=Labels([f"w{k}" for k in range(14)]), b=Labels(["x", "y"]))
    policy = Policy(
        domain=domain,
        known=(Marginal(["ward"], answers=[5] * 14), Count({"b": "x"}, at_least=1)),
        database=Database(size=70, answers="given"),
    )
    found = prepare(setting(policy), "published")
    before = tuple((ward, 0) for ward in range(14))
    halves = [range(7), range(7, 14)]
    after = tuple((half[(k + 1) % 7], 0) for half in halves for k in range(7))
    staying = tuple(((ward, 0), 4) for ward in range(14))
    pair = Pair(before=before, after=after, unchanged=staying)
    verdict = check_pair(found, "published", pair)
    assert not verdict and verdict.minimality != "budget"
