"""Kinds of proof by a theorem: no bound below S is accepted, and ordinary answers are proved."""

from __future__ import annotations

import random
from collections.abc import Callable
from copy import copy
from dataclasses import replace
from typing import Any

import pytest

from blowproof.models import (
    AttributeChange,
    Between,
    Clause,
    Count,
    Database,
    Distance,
    Domain,
    Impossible,
    Integers,
    Labels,
    Literal,
    Marginal,
    NamedCount,
    Policy,
    parse_query,
    setting,
)
from blowproof.verifier.ask import certified, sensitivity
from blowproof.verifier.asked.answer import Answer
from blowproof.verifier.databases.consistency import prepare
from blowproof.verifier.kernel.check import world_of
from blowproof.verifier.kernel.document import Budget, Rejected
from blowproof.verifier.kernel.independent import records
from blowproof.verifier.kernel.proofs import (
    determined,
    exchanges,
    four_cells,
    margins,
    one_sided,
    secret_arc,
)
from blowproof.verifier.kernel.proofs.cells import places_of
from blowproof.verifier.kernel.world import World
from blowproof.verifier.proofs.cells import bases
from blowproof.verifier.proofs.claim import claim_of
from blowproof.verifier.proofs.margins import factors_of
from blowproof.verifier.theorems.listed_margins import LEFT, LISTED, longest_listed, often
from vectors import thin

QUERIES = ("histogram", "marginal(b)", "cumulative(a)", "sum(a)", "ranges(a)", "count(some)")


def world(policy: Policy, text: str, reading: str) -> tuple[World, Any]:
    query = parse_query(text, policy)
    answer = sensitivity(policy, query, reading=reading, time_limit=20)  # type: ignore[arg-type]
    prepared = prepare(setting(policy, answer.answers), answer.reading)
    return world_of(claim_of(policy, query, answer, prepared), Budget())[0], answer


def drawn(rng: random.Random, *, secrets: bool) -> Policy:
    """A small policy: counts, zeros, or counts with the numbers of a few people; any G."""
    rows, columns = rng.choice([(2, 2), (3, 2), (4, 1), (2, 3)])
    domain = Domain(a=Integers(0, rows - 1), b=Integers(0, columns - 1))
    people = [(rng.randrange(rows), rng.randrange(columns)) for _ in range(rng.randint(1, 3))]
    numbers = rng.random() < 0.4
    boxes = [(k, k, 0, columns - 1) for k in range(rows) if rng.random() < 0.6]
    for _ in range(rng.randint(0, 2)):
        low, end = rng.randrange(rows), rng.randrange(columns)
        boxes.append((low, rng.randrange(low, rows), end, end))
    known: list[Any] = []
    for low, high, left, right in boxes:
        answer = sum(low <= a <= high and left <= b <= right for a, b in people)
        region = {"a": Between(low, high), "b": Between(left, right)}
        known.append(Count(region, answer=answer if numbers else None))
    if not numbers and rng.random() < 0.3:
        known.append(Impossible([{"a": rng.randrange(rows), "b": 0}]))
    some = NamedCount("some", {"a": rng.randrange(rows), "b": rng.randrange(columns)})
    more: dict[str, Any] = {}
    if secrets:
        more["secrets"] = rng.choice([Distance(metric="l1", threshold=1), AttributeChange()])
    if numbers:
        more["database"] = Database(size=len(people), answers="given")
    return Policy(domain=domain, known=tuple(known), queries=(some,), **more)


def drawn_table(rng: random.Random) -> Policy:
    """A small table with both margins known, and some cells where nobody can be."""
    rows, columns = rng.choice([(2, 2), (3, 2), (2, 3), (4, 2)])
    domain = Domain(a=Integers(0, rows - 1), b=Integers(0, columns - 1))
    zeros = [
        {"a": rng.randrange(rows), "b": rng.randrange(columns)} for _ in range(rng.randint(0, 2))
    ]
    known: list[Any] = [Marginal(["a"]), Marginal(["b"])]
    known += [Impossible(zeros)] if zeros else []
    some = NamedCount("some", {"a": rng.randrange(rows), "b": rng.randrange(columns)})
    return Policy(domain=domain, known=tuple(known), queries=(some,))


Bound = Callable[[World], list[tuple[int, int]]]


def of_bases(found: World) -> list[tuple[int, int]]:
    """What kind `one-sided` says with each base that the writer would try."""
    _, places = places_of(found)
    told = []
    for base in bases(found, places):
        try:
            told.append(one_sided.bound(found, base))
        except Rejected:
            continue
    return told


def of_table(found: World) -> list[tuple[int, int]]:
    """What kind `margins` says of the table that the writer would take."""
    scale, places = places_of(found)
    factors, sides = factors_of(found, places)
    most = longest_listed(tuple(sides))
    if most is None:
        return []
    assert sides == margins.sides_of(found, places, factors)
    told = [(scale, margins.bound(found, places, most))]
    for k, factor in enumerate(factors):
        left = often(tuple(sides), k, most)
        told.append((scale, margins.bound_by_classes(found, places, most, factor, left)))
    return told


def of_two_factors(found: World) -> list[tuple[int, int]]:
    """What kind `exchanges` says of two factors: those of the writer, and any others."""
    places = exchanges.places_of(found, single=True)[1]
    told, facts = [], range(len(found.equalities))
    for cut in facts:
        for factors in (factors_of(found, places)[0], [[*facts[:cut]], [*facts[cut:]]]):
            try:
                told.append(exchanges.rounds(found, factors))
            except Rejected:
                continue
    return told


CASES: dict[str, tuple[Bound, str, bool, tuple[str, ...]]] = {
    "exchanges": (lambda found: [exchanges.bound(found)], "add-remove", False, QUERIES),
    "secret-arc": (lambda found: [secret_arc.bound(found)], "published", True, QUERIES),
    "secret-arc, all secret": (
        lambda found: [secret_arc.bound(found)],
        "secret-moves",
        True,
        QUERIES,
    ),
    "one-sided": (of_bases, "published", False, ("count(some)", "range(a,0,0)")),
    "margins": (of_table, "published", False, QUERIES),
    "two factors": (of_two_factors, "add-remove", False, QUERIES),
}


@pytest.mark.parametrize("case", CASES)
def test_no_bound_is_below_the_truth(case: str) -> None:
    """Whatever the policy: what the kernel would accept is not below what an engine shows."""
    bounds, reading, secrets, queries = CASES[case]
    rng = random.Random(case)
    said = met = 0
    for number in range(30):
        tables = case == "margins" or (case == "two factors" and number % 5)
        policy = drawn_table(rng) if tables else drawn(rng, secrets=secrets)
        if all(x in policy.impossible for x in policy.domain.points()):
            continue
        found, answer = world(policy, queries[number % len(queries)], reading)
        try:
            told = bounds(found)
        except Rejected:
            continue
        for scale, most in told:
            assert most >= answer.lower * scale, policy
            said += 1
            met += most == answer.lower * scale
    assert said >= 5
    assert met >= (0 if case == "margins" else 2)


def test_what_the_facts_leave_open_is_not_determined() -> None:
    rng = random.Random(3)
    said = 0
    for number in range(40):
        policy = drawn(rng, secrets=number % 2 == 1)
        reading = ("published", "add-remove", "markov", "secret-moves")[number % 4]
        found, answer = world(policy, QUERIES[1 + number % 5], reading)
        try:
            determined.refute(found, {"kind": "determined"}, 0)
        except Rejected:
            continue
        assert answer.lower == 0, policy
        said += 1
    assert said >= 3


@pytest.mark.parametrize("reading", ["published", "secret-moves", "pufferfish"])
def test_no_edge_between_values_that_can_be_leaves_nothing_secret(reading: str) -> None:
    """Clauses and bounds, of which the other kinds know too little, leave no more pairs."""
    domain = Domain(a=Integers(0, 5), b=Labels(["u", "v"]))
    apart = Distance(metric="l1", threshold=2, attributes=["a"])
    known = (Count({"b": "u"}, at_least=1), Clause([Literal(1, {"b": "u"}), Literal(2, {"a": 0})]))
    for zeros, nothing in (([1, 2, 4, 5], True), ([1, 3, 4, 5], False)):
        policy = Policy(
            domain=domain,
            known=(*known, Impossible({"a": zeros})),
            secrets=apart,
            database=Database(size=2, answers="given"),
        )
        found, _ = world(policy, "sum(a)", reading)
        if nothing:
            determined.refute(found, {"kind": "determined"}, 0)
        else:
            with pytest.raises(Rejected, match="no combination"):
                determined.refute(found, {"kind": "determined"}, 0)


def test_two_records_for_two_change_no_less_than_the_truth() -> None:
    """Reading 4 where n is known, bounds and clauses or not; and without n by listing alone."""
    rng = random.Random(9)
    met = 0
    for number in range(36):
        policy = drawn(rng, secrets=False)
        if number % 3 and policy.scope == "any":
            policy = replace(policy, known=(*policy.known, Marginal(["b"])))
        found, answer = world(policy, QUERIES[number % len(QUERIES)], "markov")
        assert answer.status == "exact"
        with pytest.raises(Rejected):
            four_cells.refute(found, {"kind": "four-cells"}, answer.lower - 1)
        met += four_cells._two_for_two(copy(found), answer.lower)
        assert not four_cells._two_for_two(copy(found), answer.lower - 1)
    assert met >= 15


def test_hundreds_of_signatures_in_reading_4_are_proved() -> None:
    """Listing halves of 576 cells took more memory than there is; a bound takes nothing away."""
    domain = Domain(
        office=Labels([f"d{k}" for k in range(8)]),
        sex=Labels("fmx"),
        grade=Labels([f"g{k}" for k in range(6)]),
        salary=Integers(0, 360),
    )
    known = (
        Marginal(["office", "sex"]),
        Marginal(["office", "grade"]),
        Count({"salary": Between(200, 360)}),
    )
    policy = Policy(domain=domain, known=known)
    for text, value in (("range(salary,60,160)", 2), ("cumulative(salary)", 398)):
        found, answer = world(policy, text, "markov")
        assert (answer.lower, answer.upper) == (value, value)
        four_cells.refute(found, {"kind": "four-cells"}, value)
        assert not four_cells._two_for_two(copy(found), value - 1)


def test_records_of_signatures_are_those_of_the_numbers() -> None:
    rng = random.Random(5)
    for _ in range(40):
        width = rng.randint(1, 4)
        signatures = [tuple(rng.randint(0, 1) for _ in range(width)) for _ in range(3)]
        times = [rng.randint(0, 2**70) for _ in signatures]
        totals = [
            sum(h * v for h, v in zip(times, column, strict=True))
            for column in zip(*((1, *s) for s in signatures), strict=True)
        ]
        budget = Budget()
        found = records([thin(*s) for s in signatures], totals, budget)
        assert found is not None
        for k, total in enumerate(totals):
            assert sum(h * (1, *s)[k] for h, s in zip(found, signatures, strict=True)) == total
    assert records([thin(0), thin(1)], [1, 2], Budget()) == [-1, 2]
    assert records([thin(1)], [1, 2], Budget()) is None


@pytest.mark.parametrize("large", [2**31, 2**53, 2**63, 10**30])
def test_large_numbers_are_whole(large: int) -> None:
    """Numbers of records, and values of the query, beyond what arrays hold."""
    domain = Domain(a=Labels(["u", "v"]), b=Integers(0, large))
    known = (Marginal(["a"], answers=[large, 1]),)
    policy = Policy(domain=domain, known=known, database=Database(answers="given"))
    answer, found = certified(policy, "sum(b)", reading="add-remove", time_limit=20)
    assert (answer.lower, answer.status, found.kind) == (large, "proved", "exchanges")
    wards = Domain(a=Labels(["u", "v", "w"]), b=Integers(0, large))
    near = Policy(domain=wards, known=(Marginal(["a"]),), secrets=AttributeChange())
    answer, found = certified(near, "range(b,0,5)", time_limit=20)
    assert (answer.lower, answer.status, found.kind) == (2, "proved", "secret-arc")


@pytest.mark.parametrize("sides", [(2, 3), (3, 3), (2, 2, 2)], ids=str)
def test_listed_margins_are_derived(sides: tuple[int, ...]) -> None:
    """The number that is listed is proved by a tree that the kernel replays, and no less is."""
    names = [f"x{k}" for k in range(len(sides))]
    domain = Domain(
        {name: Labels([str(v) for v in range(n)]) for name, n in zip(names, sides, strict=True)}
        | {"z": Labels([str(v) for v in range(40)])}
    )
    policy = Policy(domain=domain, known=tuple(Marginal([name]) for name in names))
    answer, found = certified(policy, "marginal(z)", time_limit=60)
    assert (answer.status, answer.lower) == ("proved", 2 * LISTED[tuple(sorted(sides))])
    assert found.document is not None
    if found.kind == "margins":
        table = {**found.document["proof"], "longest": found.document["proof"]["longest"] - 1}
        with pytest.raises(Rejected):
            margins.refute(world_of(found.document, Budget())[0], table, answer.lower)


def counted_classes(sides: tuple[int, ...], place: int) -> tuple[Answer, World, dict[str, Any]]:
    """How many of one label are in a class of a table that was listed: answer, world and proof."""
    names = [f"x{k}" for k in range(len(sides))]
    tables = {name: Integers(0, n - 1) for name, n in zip(names, sides, strict=True)}
    policy = Policy(
        domain=Domain(tables | {"z": Labels("uv")}),
        known=tuple(Marginal([name]) for name in names),
        queries=(NamedCount("some", {names[place]: 0, "z": "u"}),),
    )
    answer, found = certified(policy, "count(some)", time_limit=20)
    assert (answer.status, found.kind) == ("proved", "margins")
    assert found.document is not None
    return answer, world_of(found.document, Budget())[0], found.document["proof"]


@pytest.mark.parametrize(("sides", "place"), [((2, 2, 2), 1), ((3, 3), 0)])
def test_how_often_a_class_is_left_is_derived(sides: tuple[int, ...], place: int) -> None:
    """The proof is accepted for S and for nothing less, and each field of it is needed."""
    answer, found, proof = counted_classes(sides, place)
    times = LEFT[sides].classes[sides[place]]
    assert answer.lower == answer.upper == times
    margins.refute(found, proof, times)
    where, most = proof["left"]
    forged = {
        "a class is left more often": {"left": [where, most - 1]},
        "no factor": {"left": [len(sides), most]},
        "a factor from behind": {"left": [-1, most]},
        "more often than there are moves": {"left": [where, proof["longest"] + 1]},
        "one number": {"left": [where]},
        "irreducibles are longer": {"longest": proof["longest"] - 1},
        "not all facts": {"factors": proof["factors"][1:]},
        "nothing is searched": {"table": proof["table"] | {"nodes": []}},
        "without what tells of classes": {"left": None},
    }
    for name, change in forged.items():
        table = {key: value for key, value in (proof | change).items() if value is not None}
        with pytest.raises(Rejected):
            margins.refute(found, table, times)
            pytest.fail(f"accepted: {name}")
    with pytest.raises(Rejected):
        margins.refute(found, proof, times - 1)


def test_symmetries_keep_what_is_counted() -> None:
    """One that takes what leaves a class elsewhere is refused, though it keeps weights and sums."""
    _, found, proof = counted_classes((3, 3), 0)
    table = margins.Table(found, [3, 3])
    table.most, table.counted = 15, table.ends(3)
    margins.Counted(table, proof["table"], 8)
    for some in (table.counted[:1], table.counted[1:], table.counted[:3]):
        table.counted = some
        with pytest.raises(Rejected, match="a symmetry takes what leaves a signature"):
            margins.Counted(table, proof["table"], 8)


def test_fields_that_count_classes_do_not_run_over() -> None:
    """Whatever is met: refused iff a class may be left more often than the claim says, by moves
    that leave it and by all that may stay in it.
    """
    _, found, proof = counted_classes((2, 2, 2), 0)
    table = margins.Table(found, [2, 2, 2])
    table.most, table.counted = 10, table.ends(2)
    rng = random.Random(8)
    for claim in (0, 1, 3, 7, 10):
        replay = margins.Counted(table, proof["table"], claim)
        for _ in range(200):
            members = tuple(rng.choices(range(len(table.effects)), k=rng.randint(1, 10)))
            effects = [table.effects[e] for e in members]
            left = [
                sum(d[j] < 0 or not any(d[j - j % 2 : j - j % 2 + 2]) for d in effects)
                for j in range(6)
            ]
            if max(left) > claim:
                with pytest.raises(Rejected, match="leaves a signature more often"):
                    replay._judge(members, len(members))
            else:
                replay._judge(members, len(members))
        with pytest.raises(Rejected, match="longer than the proof says"):
            replay._judge((0,) * 11, 11)
