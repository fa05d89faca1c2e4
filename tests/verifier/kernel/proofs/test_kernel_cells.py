"""Kind `cells`: whatever the base, no bound below S is accepted; and ordinary tables are proved."""

from __future__ import annotations

import random
from itertools import combinations, pairwise, product
from typing import Any

import pytest

from blowproof.models import (
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
from blowproof.verifier.ask import certified, sensitivity
from blowproof.verifier.databases.consistency import prepare
from blowproof.verifier.kernel.check import world_of
from blowproof.verifier.kernel.document import Budget, Rejected
from blowproof.verifier.kernel.independent import independent, round_a_cycle
from blowproof.verifier.kernel.proofs.cells import bound, places_of, refute
from blowproof.verifier.kernel.world import World
from blowproof.verifier.proofs.cells import based
from blowproof.verifier.proofs.claim import claim_of
from vectors import thin

QUERIES = ("histogram", "marginal(b)", "cumulative(a)", "sum(a)", "marginal(a,z)")


def world(policy: Policy, text: str, reading: str = "published") -> tuple[World, Any]:
    query = parse_query(text, policy)
    answer = sensitivity(policy, query, reading=reading, time_limit=20)  # type: ignore[arg-type]
    prepared = prepare(setting(policy, answer.answers), answer.reading)
    return world_of(claim_of(policy, query, answer, prepared), Budget())[0], answer


def shown(policy: Policy, text: str) -> dict[str, Any]:
    """What a certificate says before its proof."""
    query = parse_query(text, policy)
    answer = sensitivity(policy, query, time_limit=20)
    return claim_of(policy, query, answer, prepare(setting(policy, answer.answers), answer.reading))


def drawn(rng: random.Random) -> Policy:
    rows, columns = rng.choice([(2, 2), (3, 2), (4, 1), (2, 3)])
    domain = Domain(
        a=Integers(0, rows - 1),
        b=Integers(0, columns - 1),
        z=Labels(["u", "v"][: rng.randint(1, 2)]),
    )
    known: list[Any] = [Marginal(["a"])] if rng.random() < 0.6 else []
    for _ in range(rng.randint(0, 2)):
        low, end = rng.randrange(rows), rng.randrange(columns)
        known.append(Count({"a": Between(low, rng.randrange(low, rows)), "b": end}))
    if rng.random() < 0.3:
        known.append(Count({"b": 0}))
    if rng.random() < 0.3:
        known.append(Impossible([{"a": rng.randrange(rows), "b": 0}]))
    near = Distance(metric="l1", threshold=1)
    secrets = {} if rng.random() < 0.8 else {"secrets": near}
    if isinstance(domain.attribute(2), Labels):
        secrets = {}
    return Policy(domain=domain, known=tuple(known), **secrets)  # type: ignore[arg-type]


@pytest.mark.parametrize("seed", range(6))
def test_no_base_gives_a_bound_below_the_truth(seed: int) -> None:
    rng = random.Random(seed)
    accepted = met = 0
    for number in range(12):
        policy = drawn(rng)
        if all(x in policy.impossible for x in policy.domain.points()):
            continue
        found, answer = world(policy, QUERIES[number % len(QUERIES)])
        if answer.status == "bounds":
            continue
        scale, places = places_of(found)
        facts = range(len(found.equalities))
        bases = [rng.sample(facts, rng.randint(0, len(facts))) for _ in range(6)]
        for base in (list(facts), *bases):
            try:
                most = bound(found, places, base)
            except Rejected:
                continue
            assert most >= answer.lower * scale, (policy, base)
            accepted += 1
            met += most == answer.lower * scale
    assert accepted >= 10
    assert met >= 4


def test_other_readings_and_facts_are_refused() -> None:
    domain = Domain(a=Integers(0, 3), b=Integers(0, 1))
    policy = Policy(domain=domain, known=(Marginal(["a"]),))
    with pytest.raises(Rejected, match="readings 1 and 2"):
        refute(world(policy, "histogram", "add-remove")[0], {"kind": "cells", "base": [0]}, 99)
    bounded = Policy(
        domain=domain,
        known=(Count({"a": 0}, at_most=2),),
        database=Database(size=3, answers="given"),
    )
    with pytest.raises(Rejected, match="equalities"):
        refute(world(bounded, "histogram")[0], {"kind": "cells", "base": []}, 99)


def test_known_n_bounds_how_many_signatures_move() -> None:
    domain = Domain(a=Integers(0, 9), b=Integers(0, 1))
    known = tuple(Count({"a": k}, answer=int(k < 3)) for k in range(10))
    policy = Policy(domain=domain, known=known, database=Database(size=3, answers="given"))
    found, answer = world(policy, "histogram")
    assert answer.lower == 6
    assert list(based(found, 6))
    assert not list(based(found, 5))


def test_ordinary_tables_are_proved() -> None:
    states = Domain(
        state=Labels([f"s{k}" for k in range(51)]), sex=Labels(["F", "M"]), race=Labels("abcdef")
    )
    for known, text, value in (
        ((Marginal(["state"]),), "marginal(race)", 102),
        ((Marginal(["state"]), Marginal(["state", "sex"])), "histogram", 204),
    ):
        answer, found = certified(Policy(domain=states, known=known), text, time_limit=60)
        assert (answer.status, answer.lower, found.kind) == ("proved", value, "cells")
    table = Domain(a=Labels([f"c{k}" for k in range(10)]), b=Labels(["F", "M"]), z=Integers(0, 9))
    policy = Policy(domain=table, known=(Marginal(["a"]), Marginal(["b"])))
    answer, found = certified(policy, "histogram", time_limit=60)
    assert (answer.status, answer.lower, found.kind) == ("proved", 120, "cells")


def test_all_ranges_of_bands_change_by_no_more_than_the_worst_ways() -> None:
    """Against every choice of where each band's record goes from and to."""
    rng = random.Random(4)
    met = 0
    for _ in range(25):
        axis = rng.randint(4, 7)
        ends = sorted(rng.sample(range(1, axis), rng.randint(0, 2)))
        bands = list(pairwise([0, *ends, axis]))
        known = tuple(Count({"a": Between(low, high - 1)}) for low, high in bands)
        policy = Policy(domain=Domain(a=Integers(0, axis - 1)), known=known)
        found = world_of(shown(policy, "ranges(a)"), Budget())[0]
        scale, places = places_of(found)
        best = 0
        for moves in product(*(product(range(*band), repeat=2) for band in bands)):
            cuts = [0] * (axis + 1)
            for low, high in moves:
                for cut in range(min(low, high) + 1, max(low, high) + 1):
                    cuts[cut] += 1 if low < high else -1
            best = max(best, sum(abs(u - v) for u, v in combinations(cuts, 2)))
        most = bound(found, places, range(len(known)))
        assert most >= best * scale, bands
        met += most == best * scale
    assert met >= 20


def test_all_ranges_of_nested_bands_are_proved() -> None:
    ranges = [(0, 17), (18, 64), (65, 99), (0, 4), (5, 17), (18, 24), (25, 44)]
    known = tuple(Count({"age": Between(*ends)}) for ends in ranges)
    policy = Policy(domain=Domain(age=Integers(0, 99)), known=known)
    answer, found = certified(policy, "ranges(age)", time_limit=20)
    assert (answer.status, answer.lower, found.kind) == ("proved", 5074, "cells")
    again = world_of(found.document, Budget())[0]  # type: ignore[arg-type]
    with pytest.raises(Rejected, match="above the value"):
        refute(again, {"kind": "cells", "base": found.document["proof"]["base"]}, 5073)  # type: ignore[index]


def test_changes_of_classes_that_work_against_each_other() -> None:
    """Three classes, each of two outputs of three: alone each changes 2, together they change 4."""
    domain = Domain(a=Labels("xyz"), b=Labels("123"))
    zeros = [{"a": "x", "b": "3"}, {"a": "y", "b": "1"}, {"a": "z", "b": "2"}]
    policy = Policy(domain=domain, known=(Marginal(["a"]), Impossible(zeros)))
    found, answer = world(policy, "marginal(b)")
    assert answer.lower == 4
    assert list(based(found, 4))
    assert not list(based(found, 3))
    assert sensitivity(policy, parse_query("marginal(b)", policy), engine="brute").lower == 4


def test_signatures_that_do_not_peel_are_eliminated() -> None:
    budget = Budget()
    assert independent([thin(1, 1, 0), thin(1, 0, 1), thin(0, 1, 1)], budget)
    assert not independent([thin(0, 0), thin(1, 0), thin(0, 1), thin(1, 1)], budget)
    assert not independent([thin(1, 0), thin(1, 0)], budget)
    assert independent([], budget)


def test_cycles_are_seen_and_nothing_else() -> None:
    one, two, three, four = thin(1, 0, 0), thin(0, 1, 0), thin(0, 0, 1), thin(0, 0, 0)
    budget = Budget()
    assert round_a_cycle([(one, two), (two, three), (three, one)], budget)
    assert round_a_cycle([(one, one)], budget)
    assert not round_a_cycle([(one, two), (two, one), (three, four), (four, three)], budget)
    assert not round_a_cycle([(one, two), (two, one), (one, three), (three, one)], budget)
    assert not round_a_cycle([(one, two), (two, three)], budget)
    corners = [thin(0, 0), thin(0, 1), thin(1, 1), thin(1, 0)]
    square = list(zip(corners, corners[1:] + corners[:1], strict=True))
    assert not round_a_cycle(square, budget)
