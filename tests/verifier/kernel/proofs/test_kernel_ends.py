"""Kind `ends`: no bound below S is accepted, whatever the tree; overlapping ranges are proved."""

from __future__ import annotations

import random
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any

import pytest

from blowproof.models import (
    Between,
    Count,
    Database,
    Distance,
    Domain,
    Full,
    Impossible,
    Integers,
    Labels,
    Marginal,
    Policy,
    parse_query,
    setting,
)
from blowproof.models.stacks.stacked import in_norm
from blowproof.verifier.ask import certified, sensitivity
from blowproof.verifier.databases.consistency import prepare
from blowproof.verifier.kernel.check import world_of
from blowproof.verifier.kernel.document import Budget, Rejected, Unreadable
from blowproof.verifier.kernel.proofs import irreducible
from blowproof.verifier.kernel.proofs.lengths.ends import Ends, refute
from blowproof.verifier.kernel.world import Effects, World
from blowproof.verifier.proofs.claim import claim_of
from blowproof.verifier.proofs.irreducible import trees
from blowproof.verifier.proofs.irreducible_parts import parted
from blowproof.verifier.proofs.lengths.ends import ends


def claimed(policy: Policy, text: str, reading: str, norm: str = "l1") -> tuple[Any, Any]:
    query = in_norm(parse_query(text, policy), norm, policy.domain)
    answer = sensitivity(policy, query, reading=reading, time_limit=20)  # type: ignore[arg-type]
    prepared = prepare(setting(policy, answer.answers), answer.reading)
    return claim_of(policy, query, answer, prepared), answer


def world(claim: Any) -> World:
    return world_of(claim, Budget())[0]


def drawn(rng: random.Random) -> Policy:
    axis, others = rng.randint(3, 6), rng.randint(1, 2)
    domain = Domain(a=Integers(0, axis - 1), b=Labels(["u", "v"][:others]))
    known: list[Any] = [Marginal(["b"])] if rng.random() < 0.3 else []
    for _ in range(rng.randint(1, 2)):
        known.append(Count({"a": Between(*sorted(rng.sample(range(axis), 2)))}))
    if rng.random() < 0.3:
        known.append(Impossible([{"a": rng.randrange(axis), "b": "u"}]))
    near = {"secrets": Distance(threshold=1, attributes=["a"])} if rng.random() < 0.3 else {}
    return Policy(domain=domain, known=tuple(known), **near)  # type: ignore[arg-type]


@pytest.mark.parametrize("seed", range(2))
def test_no_tree_gives_a_bound_below_the_truth(seed: int) -> None:
    rng = random.Random(seed)
    accepted = met = 0
    for number in range(6):
        reading = ("published", "secret-moves", "pufferfish")[number % 3]
        claim, answer = claimed(drawn(rng), "cumulative(a)", reading)
        assert answer.status == "exact"
        proof: dict[str, Any] = {}
        for value in range(answer.lower - 1, 3 * answer.lower + 2):
            found = world(claim)
            for one in ends(found, value, partial(trees, time_limit=20.0)):
                try:
                    refute(world(claim), one, value)
                except Rejected:
                    continue
                proof = one
            if proof:
                assert value >= answer.lower, claim["policy"]
                accepted += 1
                met += value == answer.lower
                break
    assert accepted >= 5
    assert met >= 2


def test_ages_in_ranges_that_overlap_are_proved_and_no_field_can_be_forged() -> None:
    domain = Domain(age=Integers(0, 99), sex=Labels(["F", "M"]))
    known = tuple(Count({"age": Between(*each)}) for each in ((16, 66), (14, 30), (18, 80)))
    policy = Policy(domain=domain, known=known)
    answer, found = certified(policy, "cumulative(age)", time_limit=20)
    assert (answer.status, answer.lower, found.kind) == ("proved", 298, "ends")
    assert found.document is not None
    proof = found.document["proof"]
    refute(world(found.document), proof, answer.lower)
    tree = proof["rest"]
    forged: list[Any] = [
        {**proof, "rest": {**tree, "effects": tree["effects"] + 1}},
        {**proof, "rest": {**tree, "nodes": tree["nodes"][:-1]}},
        {**proof, "rest": {**tree, "nodes": [*tree["nodes"], 0]}},
        {**proof, "rest": {**tree, "steps": tree["steps"][1:]}},
        {**proof, "rest": {**tree, "symmetries": [list(range(tree["effects"]))[::-1]]}},
        {**proof, "rest": {**tree, "functionals": [[0] * 3]}},
        {**proof, "rest": {**tree, "box": [1]}},
        {**proof, "widths": 1},
        {"kind": "ends", "rest": {}},
    ]
    for document in forged:
        with pytest.raises((Rejected, Unreadable, LookupError)):
            refute(world(found.document), document, answer.lower)
    with pytest.raises(Rejected, match="more than the claim"):
        refute(world(found.document), proof, answer.lower - 1)


def test_the_ends_of_runs_are_enough_and_no_less_is_proved() -> None:
    """Kind `irreducible`, full secrets: exactly S, which the search found over all values."""
    rng = random.Random(41)
    for _ in range(6):
        policy = replace(drawn(rng), secrets=Full())
        claim, answer = claimed(policy, "cumulative(a)", "published")
        assert answer.status == "exact"
        for value in (answer.lower, answer.lower - 1):
            moves = Effects(world(claim))
            said = []
            with suppress(Rejected):
                for proof in parted(moves, moves.claimed(value), 20.0):
                    with suppress(Rejected):
                        irreducible.refute(world(claim), proof, value)
                        said.append(proof)
            assert bool(said) == (value == answer.lower), claim["policy"]


def test_a_hundred_ages_beside_two_ranges_take_the_ends_of_runs() -> None:
    domain = Domain(age=Integers(0, 99), sex=Labels(["F", "M"]))
    known = (Count({"age": Between(16, 66)}), Count({"age": Between(14, 30)}))
    answer, found = certified(Policy(domain=domain, known=known), "cumulative(age)", time_limit=20)
    assert (answer.status, answer.lower, found.kind) == ("proved", 218, "irreducible")


def test_other_questions_are_refused() -> None:
    domain = Domain(a=Integers(0, 4))
    policy = Policy(domain=domain, known=(Count({"a": Between(1, 2)}),))
    for text, reading, norm in (
        ("sum(a)", "published", "l1"),
        ("ranges(a)", "published", "l1"),
        ("cumulative(a)", "published", "linf"),
        ("cumulative(a)", "add-remove", "l1"),
    ):
        with pytest.raises(Rejected, match="this kind of proof"):
            Ends(world(claimed(policy, text, reading, norm)[0]))
    bounded = Policy(
        domain=domain,
        known=(Count({"a": 1}, at_most=1),),
        database=Database(size=2, answers="given"),
    )
    with pytest.raises(Rejected, match="equalities"):
        Ends(world(claimed(bounded, "cumulative(a)", "published")[0]))
