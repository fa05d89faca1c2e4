"""Proofs that are kept as files are those that the kernel wants, and fit a policy's tables."""

from __future__ import annotations

from collections import Counter
from typing import ClassVar

import pytest

from blowproof.models import Domain, Labels, Marginal, Policy, parse_query, setting
from blowproof.verifier.asked.question import Question
from blowproof.verifier.databases.consistency import prepare
from blowproof.verifier.kernel.check import world_of
from blowproof.verifier.kernel.document import Budget, Rejected
from blowproof.verifier.kernel.independent import Vector
from blowproof.verifier.kernel.proofs.irreducible import Replay, replayed
from blowproof.verifier.kernel.proofs.margins import Table
from blowproof.verifier.kernel.world import World
from blowproof.verifier.proofs.claim import claim_of
from blowproof.verifier.proofs.lengths.kept import kept
from blowproof.verifier.proofs.margins import margins


def world(*sizes: int) -> World:
    domain = Domain(
        {name: Labels([f"{name}{k}" for k in range(size)])
         for name, size in zip("ABC", sizes, strict=True)}
    )  # fmt: skip
    policy = Policy(domain=domain, known=(Marginal(["A"]), Marginal(["B"])))
    query = parse_query("histogram", policy)
    question = Question(prepare(setting(policy), "published"), query, "published")
    claim = claim_of(policy, query, question.answer(0, 54, ""), question.setting)
    return world_of(claim, Budget())[0]


@pytest.mark.parametrize("sizes", [(3, 4, 2), (4, 3, 2)])
def test_a_table_in_any_order_takes_the_proof_that_is_kept(sizes: tuple[int, ...]) -> None:
    (proof,) = margins(world(*sizes), 54, 0.0)
    assert proof["longest"] == 27
    assert proof["table"] == kept((3, 4))
    assert not list(margins(world(*sizes), 53, 0.0))


class Watched(Replay):
    """A replay that goes on after what it refuses, and keeps how long it was."""

    refused: ClassVar[Counter[int]] = Counter()

    def _judge(self, members: Vector, weight: int) -> None:
        with pytest.raises(Rejected, match="changes the query by more than the claim"):
            super()._judge(members, weight)
        Watched.refused[len(members)] += 1


def test_the_kernel_accepts_what_is_kept_and_no_less() -> None:
    """The claim decides what is judged, and nothing else of a replay: all that is refused for 26
    has 27 elements, so that for 27 the same branches are taken and nothing is refused.
    """
    found, proof = world(3, 4, 2), kept((3, 4))
    assert proof is not None
    replayed(Table(found, (3, 4)), proof, 26, Watched)
    assert set(Watched.refused) == {27}


def test_nothing_is_kept_for_other_tables() -> None:
    assert kept((4, 3)) is None
    assert kept((3, 5)) is None
