"""Edges compared offset by offset in integers: the same worst edge as by listing all of them."""

from __future__ import annotations

import random
from fractions import Fraction
from typing import Any

import pytest

from blowproof.models import (
    AttributeChange,
    Distance,
    Domain,
    Full,
    Impossible,
    Integers,
    Labels,
    Move,
    PartitionBy,
    Policy,
    Steps,
    parse_query,
    setting,
)
from blowproof.models.mechanisms.mechanism import Prefixes, Tree
from blowproof.models.mechanisms.trees_and_prefixes import bind_query
from blowproof.models.norms import L1, L2_SQUARED, LINF, RANGE
from blowproof.models.stacks.combined import combined
from blowproof.models.stacks.stacked import Part, Stacked, stack
from blowproof.verifier.engines.one_move import by_offsets as engine
from blowproof.verifier.engines.one_move.by_offsets import worst_by_offsets

DOMAIN = Domain(a=Integers(0, 4), b=Steps(-1, 5, "3/2"), c=Labels(["x", "y"]))
SECRETS: tuple[Any, ...] = (
    Full(),
    AttributeChange(changes=2),
    PartitionBy(["c"]),
    Distance(threshold=2),
    Distance(threshold=3, metric="l2"),
    Distance(threshold=2, metric="linf", attributes=["a", "b"]),
)
TEXTS = ("histogram", "marginal(a)", "marginal(a,c)", "cumulative(a)", "sum(a)", "sum(a,b)")


def parts_of(policy: Policy, rng: random.Random) -> list[Part]:
    """Return queries with weights: for all outputs, or for each."""
    found = []
    for text in rng.sample(TEXTS, rng.randint(1, 4)):
        query = parse_query(text, policy)
        outputs = query.outputs(policy.domain)
        assert outputs is not None
        many = rng.choice((1, outputs.count))
        weights = tuple(Fraction(rng.randint(0, 9), rng.randint(1, 7)) for _ in range(many))
        found.append(Part(query, weights, outputs))
    made = (Tree(attribute="a", fan_out=2), Prefixes(attribute="b", every=2))
    found += [Part(bind_query(item, policy), (Fraction(rng.randint(1, 9), 5),)) for item in made]
    return found


def listed(policy: Policy, stacked: Stacked) -> Any:
    """Return the largest loss by going through the edges one by one."""
    zeros = policy.impossible
    edges = (edge for edge in policy.graph.edges() if edge[0] not in zeros and edge[1] not in zeros)
    return max((stacked.difference([Move(*edge)]) for edge in edges), default=0)


@pytest.mark.parametrize("norm", [L1, L2_SQUARED])
@pytest.mark.parametrize("secrets", SECRETS)
def test_the_worst_edge_is_the_one_that_a_listing_finds(secrets, norm):
    rng = random.Random(7)
    for zeros in ((), (Impossible({"a": 2, "c": "x"}), Impossible({"a": 4}))):
        policy = Policy(domain=DOMAIN, secrets=secrets, known=zeros)
        for _ in range(3):
            stacked = stack(parts_of(policy, rng), norm, DOMAIN, name="several")
            found = worst_by_offsets(setting(policy), stacked)
            assert found is not None
            loss, edge = found
            assert loss == listed(policy, stacked)
            if edge is None:
                assert loss == 0
            else:
                assert policy.graph.is_edge(*edge)
                assert stacked.difference([Move(*edge)]) == loss


def test_weights_that_differ_by_less_than_any_room_are_told_apart():
    """2^80 + 1 and 2^80 are the same in 61 bits, and are added up in fractions."""
    policy = Policy(domain=Domain(a=Labels(["x", "y"]), b=Labels(["x", "y"])),
                    secrets=AttributeChange(changes=1))  # fmt: skip
    pairs: tuple[tuple[Any, Any], ...] = ((2**80, 2**80 + 1), (2**80 + 1, 2**80))
    for many in (*pairs, (Fraction(1, 2**80), Fraction(1, 3**60))):
        parts = [
            Part(parse_query(text, policy), (Fraction(weight),))
            for text, weight in zip(("marginal(a)", "marginal(b)"), many, strict=True)
        ]
        found = worst_by_offsets(setting(policy), stack(parts, L2_SQUARED, policy.domain, name="f"))
        assert found is not None
        assert found[0] == 2 * max(many)


def test_numbers_without_room_norms_that_do_not_add_up_and_listed_secrets_are_left_alone(
    monkeypatch,
):
    policy = Policy(domain=DOMAIN, secrets=Distance(threshold=2))
    cells = parse_query("marginal(c)", policy)

    def asked(factor: int, norm: Any = L2_SQUARED) -> Any:
        return stack([Part(combined(cells, [[factor, 0]], DOMAIN), (Fraction(1),))], norm, DOMAIN,
                     name="f")  # fmt: skip

    here = setting(policy)
    assert worst_by_offsets(here, asked(2**20)) == (2**40, ((0, 0, 0), (0, 0, 1)))
    assert worst_by_offsets(here, asked(2**40)) is None
    assert worst_by_offsets(here, asked(1, LINF)) is None
    assert worst_by_offsets(here, asked(1, RANGE)) is None
    for name in ("MOST_VALUES", "MOST_EDGES", "MOST_WORK", "MOST_GROUPS"):
        with monkeypatch.context() as less:
            less.setattr(engine, name, 0)
            assert worst_by_offsets(here, asked(1)) is None
    monkeypatch.setattr(engine, "HURRIED", 0)
    assert worst_by_offsets(here, asked(1), hurried=True) is None
    assert worst_by_offsets(here, asked(1)) is not None
