"""Prefixes and ranges of long axes in other norms: by prefix sums, as if all were listed."""

from __future__ import annotations

import json
import random

import pytest

from blowproof.models import (
    Count,
    Domain,
    Integers,
    Known,
    Labels,
    Marginal,
    Policy,
    parse_query,
)
from blowproof.models.files.writing import canonical
from blowproof.models.stacks.stacked import in_norm
from blowproof.verifier.ask import certified, sensitivity
from blowproof.verifier.kernel import policy as kernel_policy
from blowproof.verifier.kernel import query as kernel_query
from blowproof.verifier.kernel.document import Budget

NORMS = ("l2-squared", "linf", "range")


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("kind", ["cumulative", "ranges"])
def test_norms_by_prefix_sums_are_those_of_all_outputs(
    kind: str, norm: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = random.Random(f"{kind} {norm}")
    for _ in range(80):
        size = rng.randint(1, 7)
        line = Policy(domain=Domain(x=Integers(0, size - 1)))
        read = kernel_policy.Policy(json.loads(canonical(line)))
        query = kernel_query.Query(read, {"kind": kind, "arguments": ["x"]}, Budget())
        query.measure = norm
        drawn = {(k,): rng.randint(-2, 2) for k in range(size) if rng.random() < 0.7}
        change: dict[tuple[int, ...], int] = {x: times for x, times in drawn.items() if times}
        listed = query.norm(change)
        with monkeypatch.context() as patched:
            patched.setattr(kernel_query, "MOST_OUTPUTS", 0)
            assert query.norm(change) == listed


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("seed", range(4))
def test_no_bound_by_positions_is_below_the_truth(
    norm: str, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = random.Random(seed)
    for _ in range(6):
        size = rng.randint(2, 5)
        domain = Domain(a=Integers(0, size - 1), b=Labels(["p", "q"][: rng.randint(1, 2)]))
        low = rng.randrange(size)
        known: list[Known] = [Marginal(["b"]), Count({"a": list(range(low, size))})]
        policy = Policy(domain=domain, known=tuple(known[: rng.randint(1, 2)]))
        query = in_norm(parse_query(rng.choice(["ranges(a)", "cumulative(a)"]), policy), norm,
                        policy.domain)  # fmt: skip
        truth = sensitivity(policy, query, time_limit=20)
        assert truth.status == "exact"
        with monkeypatch.context() as patched:
            patched.setattr(kernel_query, "MOST_OUTPUTS", 0)
            answer, proof = certified(policy, query, time_limit=20)
            if proof.kind in ("cells", "beside", "circuits", "margins"):
                assert answer.proof is not None and answer.proof.value == truth.upper


def test_ranges_of_an_axis_of_ages_are_proved_in_every_norm() -> None:
    domain = Domain(age=Integers(0, 99), ward=Labels(["a", "b", "c"]))
    policy = Policy(domain=domain, known=(Marginal(["ward"]),))
    most = 50 * 51  # a move by 50 of 100 places
    for norm, value in (("l2-squared", 9 * most), ("linf", 3), ("range", 6)):
        answer, proof = certified(policy, in_norm(parse_query("ranges(age)", policy), norm,
                                                  policy.domain), time_limit=20)  # fmt: skip
        assert (answer.upper, answer.status, proof.kind) == (value, "proved", "cells")
