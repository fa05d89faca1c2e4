"""Kind `tables`: whatever grids are told, no bound is below the truth; bounds are proved."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import product
from typing import Any

import pytest

from blowproof.models import (
    Count,
    Domain,
    Labels,
    Marginal,
    NamedCount,
    Policy,
    parse_query,
    setting,
)
from blowproof.verifier.ask import sensitivity
from blowproof.verifier.asked.question import Question
from blowproof.verifier.databases.consistency import prepare
from blowproof.verifier.kernel.check import world_of
from blowproof.verifier.kernel.document import Budget, Rejected
from blowproof.verifier.kernel.proofs.cells import places_of
from blowproof.verifier.kernel.proofs.lengths import tables
from blowproof.verifier.kernel.world import World
from blowproof.verifier.portfolio.searches import by_ceiling
from blowproof.verifier.proofs.claim import claim_of
from blowproof.verifier.proofs.lengths.tables import tables as write_tables
from blowproof.verifier.proofs.write import certify_answer
from blowproof.verifier.theorems.lengths.shared_attribute import SUMS, all_moves_of_table


def shared(ages: int, rows: int, columns: int, **others: list[str]) -> Policy:
    """Two tables that share an attribute, and attributes that no fact tells."""
    sizes = {"age": ages, "b": rows, "c": columns}
    domain = Domain({name: Labels([f"{name}{k}" for k in range(n)]) for name, n in sizes.items()}
                    | {name: Labels(labels) for name, labels in others.items()})  # fmt: skip
    return Policy(domain=domain, known=(Marginal(["age", "b"]), Marginal(["age", "c"])))


def asked(policy: Policy, text: str = "histogram") -> Question:
    found = prepare(setting(policy), "published")
    return Question(found, parse_query(text, policy), "published")


def world(policy: Policy) -> World:
    question = asked(policy)
    answer = by_ceiling(question)
    assert answer is not None
    return world_of(claim_of(policy, question.query, answer, question.setting), Budget())[0]


def told(sides: tuple[int, int]) -> dict[str, Any]:
    known = SUMS[sides]
    terms = [[times, *(end for move in moves for end in move)] for times, moves in known.terms]
    return {"rows": sides[0], "columns": sides[1], "over": known.denominator, "terms": terms}


def test_what_tables_bound_is_proved() -> None:
    """Two tables with four ages in common: 4 (111 / 11)^3 30 moves in place of 445,149."""
    question = asked(shared(4, 4, 3, sex=["F", "M"]))
    answer = by_ceiling(question)
    assert answer is not None and answer.upper == 2 * (24 * 123_302 - 1)
    found, proof = certify_answer(question.setting.policy, question.query, answer)
    assert proof.kind == "tables"
    assert found.proof is not None and found.proof.value == answer.upper


def test_a_count_of_whole_classes_is_proved_by_its_rows() -> None:
    """A circuit changes it by 81 for each of four cells, others by less than 8 times that."""
    first = NamedCount("first", {"b": "b0", "c": "c0"})
    policy = replace(shared(4, 2, 3), queries=(first,))
    question = asked(policy, "count(first)")
    proved = 8 * 4 * 81 - 1
    answer = by_ceiling(question)
    assert answer is not None and answer.upper is not None
    answer = replace(answer, upper=proved, status="bounds")
    found, proof = certify_answer(policy, question.query, answer)
    assert proof.kind == "tables"
    assert found.proof is not None
    less = replace(answer, upper=proved - 1)
    assert certify_answer(policy, question.query, less)[0].proof is None


def test_a_proof_is_not_written_for_less() -> None:
    policy = shared(4, 2, 3, sex=["F", "M"])
    question = asked(policy)
    answer = by_ceiling(question)
    assert answer is not None and answer.upper is not None
    claim = claim_of(policy, question.query, answer, question.setting)
    (proof,) = write_tables(world_of(claim, Budget())[0], answer.upper)
    assert not list(write_tables(world_of(claim, Budget())[0], answer.upper - 1))
    less = replace(answer, upper=answer.upper - 1)
    assert certify_answer(policy, question.query, less)[0].proof is None
    with pytest.raises(Rejected):
        tables.refute(world(policy), proof, answer.upper - 1)


@pytest.mark.parametrize("sides", [(3, 3), (3, 4), (3, 5)])
def test_the_kernel_adds_up_the_sums_of_the_theorem(sides: tuple[int, int]) -> None:
    assert tables.weight(told(sides), Budget()) == SUMS[sides].weight


@pytest.mark.parametrize("sides", [(2, 2), (2, 3), (2, 6), (3, 3), (3, 4), (3, 5)])
def test_all_moves_of_a_table_are_bounded_as_in_the_theorem(sides: tuple[int, int]) -> None:
    assert tables.together(*sides, Budget()) == all_moves_of_table(*sides)


def test_sums_that_are_not_the_list_are_refused() -> None:
    rng = random.Random(3)
    for number in range(12):
        wrong = told((3, 3))
        term = rng.choice(wrong["terms"])
        term[0 if number < 3 else rng.randrange(1, 9)] = number + 1 if number < 3 else 4
        if wrong == told((3, 3)):
            continue
        try:
            weight = tables.weight(wrong, Budget())
        except Rejected:
            continue
        assert weight == Fraction(6)  # another move of the same kind
    with pytest.raises(Rejected):
        tables.weight({**told((3, 3)), "terms": []}, Budget())


def grids_of(rng: random.Random, count: int) -> Sequence[Sequence[Sequence[int]]]:
    """Some grids of these signatures."""
    left, found = rng.sample(range(count), count), []
    while len(left) >= 4 and rng.random() < 0.9:
        rows, columns = rng.choice([(2, 2), (2, 2), (2, 3), (3, 2)])
        if rows * columns <= len(left):
            found.append([[left.pop() for _ in range(columns)] for _ in range(rows)])
    return found


@pytest.mark.parametrize("seed", range(3))
def test_no_grids_give_a_bound_below_the_truth(seed: int) -> None:
    rng = random.Random(seed)
    accepted = 0
    for _ in range(3):
        domain = Domain(a=Labels(["x", "y"]), b=Labels(["u", "v", "w"][: rng.randint(2, 3)]))
        known: list[Any] = [Marginal(["a"]), Marginal(["b"])]
        if rng.random() < 0.4:
            known[1] = Count({"b": "u"})
        policy = Policy(domain=domain, known=tuple(known))
        found = world(policy)
        scale, places = places_of(found)
        count = len({effect for effect, _ in places})
        truth = sensitivity(policy, parse_query("histogram", policy), engine="search")
        assert truth.status in ("exact", "proved")
        every = [grids_of(rng, count) for _ in range(60)]
        for order in product(range(count), repeat=4) if count == 4 else ():
            every.append([[list(order[:2]), list(order[2:])]])
        for grids in every:
            try:
                most = tables.dependencies(found, places, grids, []).longest
            except Rejected:
                continue
            accepted += 1
            assert 2 * most >= truth.lower
            assert tables.within(found, places, grids, []) >= truth.lower * scale
    assert accepted
