"""The room `lengths`: whatever a proof chooses, no bound below S is accepted; bounds are proved."""

from __future__ import annotations

import random
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
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
    PartitionBy,
    Policy,
    Sum,
    parse_query,
    setting,
)
from blowproof.models.stacks.stacked import in_norm
from blowproof.verifier.ask import sensitivity
from blowproof.verifier.asked.question import Question
from blowproof.verifier.databases.consistency import prepare
from blowproof.verifier.kernel.check import world_of
from blowproof.verifier.kernel.document import Budget, Rejected
from blowproof.verifier.kernel.proofs.cells import places_of
from blowproof.verifier.kernel.proofs.lengths import beside, circuits
from blowproof.verifier.kernel.proofs.lengths.plane import in_the_plane
from blowproof.verifier.kernel.proofs.lengths.squares import histogram
from blowproof.verifier.kernel.proofs.margins import bound as so_many
from blowproof.verifier.kernel.world import World
from blowproof.verifier.portfolio.searches import by_ceiling
from blowproof.verifier.proofs.cells import bases
from blowproof.verifier.proofs.claim import claim_of
from blowproof.verifier.proofs.lengths.beside import beside as write_beside
from blowproof.verifier.proofs.lengths.circuits import circuits as write_circuits
from blowproof.verifier.proofs.write import certify_answer
from blowproof.verifier.theorems.beside import facts_beside
from blowproof.verifier.theorems.beside_bounds import bounds_beside
from blowproof.verifier.theorems.lengths.longest_circuit import ellipsoid, longest_circuit
from blowproof.verifier.theorems.lengths.two_beside import forms_of, longest_with_two
from blowproof.verifier.theorems.values.squares_beside import squares_beside, value_beside

QUERIES = ("histogram", "marginal(b)", "cumulative(a)", "sum(a)", "marginal(a,z)")


def world(policy: Policy, text: str, reading: str = "published") -> tuple[World, Any]:
    query = parse_query(text, policy)
    answer = sensitivity(policy, query, reading=reading, time_limit=20)  # type: ignore[arg-type]
    prepared = prepare(setting(policy, answer.answers), answer.reading)
    return world_of(claim_of(policy, query, answer, prepared), Budget())[0], answer


def drawn(rng: random.Random, *, bounded: bool) -> Policy:
    rows, columns = rng.choice([(2, 2), (3, 2), (4, 1), (2, 3)])
    near = not bounded and rng.random() < 0.3
    third: Any = Integers(0, rng.randint(0, 1)) if near else Labels(["u", "v"][: rng.randint(1, 2)])
    domain = Domain(a=Integers(0, rows - 1), b=Integers(0, columns - 1), z=third)
    known: list[Any] = [Marginal(["a"])] if not bounded and rng.random() < 0.6 else []
    size = rng.randint(2, 4) if bounded else None
    for _ in range(rng.randint(1, 3)):
        low, end = rng.randrange(rows), rng.randrange(columns)
        area = {"a": Between(low, rng.randrange(low, rows)), "b": end}
        kinds: list[dict[str, int]] = [{}]
        if bounded:
            assert size is not None
            least = rng.randint(0, size - 1)
            kinds = [{"answer": least}, {"at_least": least}, {"at_most": least},
                     {"at_least": least, "at_most": rng.randint(least, size)}]  # fmt: skip
        known.append(Count(area, **rng.choice(kinds)))
    secrets: dict[str, Any] = {}
    if near:
        secrets["secrets"] = rng.choice([Distance(metric="l1", threshold=1), PartitionBy(["b"])])
    return Policy(
        domain=domain,
        known=tuple(known),
        database=Database(size=size, answers="given") if bounded else Database(),
        **secrets,
    )


def random_form(rng: random.Random) -> list[list[int]]:
    return [[rng.randint(1, 3), rng.randint(-2, 2), rng.randint(-2, 2)]
            for _ in range(rng.randint(1, 3))]  # fmt: skip


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("bounded", [False, True])
def test_no_choice_gives_a_bound_below_the_truth(seed: int, bounded: bool) -> None:
    rng = random.Random(100 * bounded + seed)
    accepted = met = 0
    for number in range(14):
        policy = drawn(rng, bounded=bounded)
        reading = rng.choice(("published", "secret-moves", "pufferfish"))
        try:
            found, answer = world(policy, QUERIES[number % len(QUERIES)], reading)
        except Exception as error:
            if "no database" in str(error):
                continue
            raise
        if answer.status == "bounds":
            continue
        every = range(len(found.equalities) + len(found.bounds))
        for _ in range(30):
            base = rng.sample(every, rng.randint(0, min(3, len(every))))
            labels = [k for k in every if k not in base and rng.random() < 0.8]
            rng.shuffle(labels)
            forms = [random_form(rng)] if rng.random() < 0.3 else []
            try:
                scale, most = beside.bound(found, base, labels, forms)
            except Rejected:
                continue
            accepted += 1
            assert most >= answer.lower * scale, (policy, reading, base, labels, forms)
            met += most == answer.lower * scale
        for proof in write_beside(found, answer.upper, bases):
            assert beside.bound(found, proof["base"], proof["labels"], proof["forms"])
    assert accepted > 10
    assert met


def test_cycles_along_edges_change_a_sum_by_so_many_edges() -> None:
    """Bands of a line, or blocks of a grid: a cycle of three classes, or only two at a time."""
    rng = random.Random(8)
    met = 0
    for number in range(18):
        axes = {"a": rng.randint(4, 9)} if number % 2 else {"a": 4, "b": 3}
        domain = Domain({name: Integers(0, size) for name, size in axes.items()})
        known = [
            Count({name: Between(*sorted(rng.sample(range(size + 1), 2)))})
            for name, size in list(axes.items())[: rng.randint(1, 2)]
        ]
        near = Distance(metric="l1", threshold=rng.randint(1, 3))
        policy = Policy(domain=domain, known=tuple(known), secrets=near)
        found, answer = world(policy, f"sum({','.join(axes)})", "secret-moves")
        try:
            scale, most = beside.bound(found, list(range(len(known))), [], [])
        except Rejected:
            continue
        assert answer.status == "exact"
        assert most >= answer.lower * scale, policy
        met += most == answer.lower * scale
    assert met >= 6


def test_districts_far_apart_exchange_with_what_is_around_them_alone() -> None:
    """4 classes of 1,600 values, and cycles of two: with four, or steps of any length, more."""
    domain = Domain(x=Integers(0, 39), y=Integers(0, 39))
    known = tuple(
        Count({"x": Between(x, x + 5), "y": Between(y, y + 5)})
        for x, y in ((5, 5), (5, 25), (25, 5))
    )
    policy = Policy(domain=domain, known=known, secrets=Distance(metric="l1", threshold=4))
    found, answer = world(policy, "sum(x,y)", "secret-moves")
    assert (answer.status, answer.lower) == ("exact", 8)
    proof = {"kind": "beside", "base": [0, 1, 2], "labels": [], "forms": []}
    beside.refute(found, proof, 8)
    for forged, value in (
        (proof, 7),
        ({**proof, "base": [0, 1]}, 8),
        ({**proof, "base": [0, 1, 3]}, 8),
        ({**proof, "labels": [0]}, 8),
    ):
        with pytest.raises(Rejected):
            beside.refute(world(policy, "sum(x,y)", "secret-moves")[0], forged, value)


@pytest.mark.parametrize("seed", range(6))
def test_no_ellipsoid_gives_a_bound_below_the_truth(seed: int) -> None:
    rng = random.Random(seed)
    accepted = 0
    for number in range(14):
        policy = drawn(rng, bounded=False)
        reading = rng.choice(("published", "secret-moves", "pufferfish"))
        found, answer = world(policy, QUERIES[number % len(QUERIES)], reading)
        if answer.status == "bounds":
            continue
        scale, places = places_of(found)
        for _ in range(20):
            facts = rng.sample(range(len(found.equalities)),
                               rng.randint(0, len(found.equalities)))  # fmt: skip
            root = [[rng.randint(-2, 2) for _ in facts] for _ in facts]
            shape = [[sum(a * b for a, b in zip(x, y, strict=True)) for y in root] for x in root]
            try:
                most = circuits.longest(found, places, facts, shape)
            except Rejected:
                continue
            accepted += 1
            assert so_many(found, places, most) >= answer.lower * scale
    assert accepted


def test_the_kernel_finds_the_numbers_of_the_theorems() -> None:
    budget = Budget()
    rng = random.Random(5)
    for _ in range(30):
        rank, count = rng.randint(1, 4), rng.randint(6, 9)
        points = np.array([[rng.randint(0, 2) for _ in range(rank)] for _ in range(count)])
        points = np.unique(points, axis=0)
        if np.linalg.matrix_rank(points - points[0]) < rank:
            continue
        shape = ellipsoid(points)
        assert shape is not None
        most = circuits.longest_circuit(points.tolist(), shape.tolist(), budget)
        assert most == longest_circuit(points)


def test_the_kernel_finds_no_more_in_the_plane_than_the_theorem() -> None:
    rng, budget = random.Random(6), Budget()
    for _ in range(30):
        held = [{(rng.randint(0, 2), rng.randint(0, 2)) for _ in range(rng.randint(1, 4))}
                for _ in range(rng.randint(1, 30))]  # fmt: skip
        if all(len(labels) == 1 for labels in held):
            continue
        forms = [[[t, *f] for t, f in form] for form in forms_of([(one, 1) for one in held])]
        some = [in_the_plane(held, form, [], budget) for form in forms]
        told = longest_with_two([(one, 1) for one in held])
        assert min(moves for moves, _ in some) <= told[0]
        assert min(cycles for _, cycles in some) <= told[1]


def test_a_shape_that_is_no_ellipsoid_is_refused() -> None:
    points = [[0, 0], [1, 0], [0, 1], [1, 1]]
    assert circuits.longest_circuit(points, [[2, 0], [0, 2]], Budget()) == 5
    wrong: list[list[list[int]]] = [
        [[1, 0], [0, 0]],  # a line is no ellipsoid
        [[1, 2], [2, 1]],  # of both signs
        [[-1, 0], [0, -1]],
        [[2, 1], [0, 2]],  # not symmetric: d' H d would be that of another matrix
        [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
        [[1, 0]],
        [],
    ]
    for shape in wrong:
        with pytest.raises(Rejected):
            circuits.longest_circuit(points, shape, Budget())


def tables() -> Policy:
    """Two margins of four classes each, and no one in one cell: only circuits say as little."""
    domain = Domain(a=Integers(0, 3), b=Labels(["x", "y", "z", "w"]))
    nobody = Impossible({"a": 0, "b": "x"})
    return Policy(domain=domain, known=(Marginal(["a"]), Marginal(["b"]), nobody))


def bands(end: int) -> Policy:
    """Cells, and a bound beside them that has two ends."""
    domain = Domain(age=Integers(0, 99), ward=Labels(list("abcdef")), sex=Labels(["F", "M"]))
    known = (
        Marginal(["ward"], answers=(50,) * 6),
        Count({"sex": "F"}, at_least=100, at_most=end),
    )
    return Policy(domain=domain, known=known, database=Database(size=300))


def asked(policy: Policy, text: str = "histogram") -> Question:
    found = prepare(setting(policy), "published")
    return Question(found, parse_query(text, policy), "published")


def test_what_circuits_bound_is_proved() -> None:
    policy = tables()
    question = asked(policy)
    answer = by_ceiling(question)
    assert answer is not None and answer.upper == 1_070
    told, proof = certify_answer(policy, question.query, answer)
    assert proof.kind == "circuits"
    assert told.proof is not None and told.proof.value == answer.upper


@pytest.mark.parametrize(("end", "value"), [(123, 48), (124, 12)])
def test_what_bounds_beside_cells_allow_is_proved(end: int, value: int) -> None:
    """At most 24 moves, slack included: ends that are so far apart are not both in the way."""
    policy = bands(end)
    question = asked(policy)
    answer = bounds_beside(question)
    assert answer is not None
    told, proof = certify_answer(policy, question.query, answer)
    assert proof.kind == "beside"
    assert told.proof is not None and told.proof.value == answer.upper == value


def test_a_proof_is_not_written_for_less() -> None:
    policy = tables()
    question = asked(policy)
    answer = by_ceiling(question)
    assert answer is not None and answer.upper is not None
    claim = claim_of(policy, question.query, answer, question.setting)
    with_bases = partial(write_beside, bases=bases)
    for writer, most in ((write_circuits, answer.upper), (with_bases, 10**30)):
        (proof,) = writer(world_of(claim, Budget())[0], most)
        assert proof["kind"] in ("circuits", "beside")
        assert not list(writer(world_of(claim, Budget())[0], 17))


@pytest.mark.parametrize("norm", ["l2-squared", "linf", "range"])
def test_no_histogram_beside_cells_is_bounded_below_the_truth(norm: str) -> None:
    """Every pair that the search finds; with two values to each label the bound is met."""
    met = 0
    for cells, labels, values in ((1, 2, 2), (2, 2, 2), (3, 2, 2), (2, 3, 1), (1, 3, 2), (3, 2, 1)):
        domain = Domain(
            a=Integers(0, cells - 1), b=Integers(0, labels - 1), z=Integers(0, values - 1)
        )
        known: list[Any] = [Marginal(["a"])]
        known.append(Sum([(k, {"b": k}) for k in range(1, labels)]))
        policy = Policy(domain=domain, known=tuple(known))
        query = in_norm(parse_query("histogram", policy), norm, domain)
        truth = sensitivity(policy, query, engine="search", time_limit=60)
        assert truth.status == "exact"
        most = histogram(norm, cells, labels - 1, Budget())
        assert most is not None and most >= truth.lower
        met += most == truth.lower
        if most > truth.lower:
            truth = replace(truth, upper=most, status="bounds")
        proof = certify_answer(policy, query, truth)[1]
        assert proof.verdict is not None and proof.verdict.value == most
    assert met


def test_the_kernel_finds_the_squares_of_the_theorem() -> None:
    for count in (*range(1, 40), 200):
        for width in (1, 2, 3):
            told = histogram("l2-squared", count, width, Budget())
            assert told == squares_beside(count, width)
    assert histogram("linf", 16, 1, Budget()) == value_beside(16, 1)
    assert histogram("l1", 16, 1, Budget()) is None


def test_a_table_beside_a_count_is_proved_in_squares() -> None:
    domain = Domain(a=Integers(0, 15), b=Labels(["x", "y"]), z=Integers(0, 9))
    policy = Policy(domain=domain, known=(Marginal(["a"]), Marginal(["b"])))
    query = in_norm(parse_query("histogram", policy), "l2-squared", domain)
    found = prepare(setting(policy), "published")
    answer = facts_beside(Question(found, query, "published"))
    assert answer is not None and answer.lower == answer.upper == 2904
    told, proof = certify_answer(policy, query, answer)
    assert (told.status, proof.kind) == ("proved", "beside")
