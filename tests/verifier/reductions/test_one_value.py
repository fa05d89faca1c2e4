"""Attributes that nobody looks at hold one value: the same S by fewer values."""

from __future__ import annotations

import random

import pytest

from blowproof.models import (
    AttributeChange,
    Count,
    Distance,
    Domain,
    Full,
    Impossible,
    Integers,
    Labels,
    Marginal,
    PartitionBy,
    Policy,
    parse_query,
    setting,
)
from blowproof.models.secrets import SecretsSpec
from blowproof.verifier.ask import sensitivity
from blowproof.verifier.reductions.one_value import with_one_value


def drawn(rng: random.Random) -> Policy:
    """Facts about two of four attributes."""
    secrets: SecretsSpec = rng.choice(
        [
            PartitionBy(["u"]),
            PartitionBy(["u", "a"]),
            AttributeChange(changes=rng.randint(1, 2)),
            Distance(metric=rng.choice(["l1", "linf"]), threshold=1),
            Distance(metric="l1", threshold=1, attributes=["a", "u"]),
        ]
    )
    known: list[Marginal | Count | Impossible] = [Marginal(["a"])]
    if rng.random() < 0.6:
        known.append(Count({"a": [0, 1], "b": 0}))
    if rng.random() < 0.3:
        known.append(Impossible({"a": 1, "b": 1}))
    return Policy(
        domain=Domain(
            u=Integers(0, 1), a=Integers(0, rng.randint(1, 2)), b=Integers(0, 1), v=Labels("xy")
        ),
        known=tuple(known),
        secrets=secrets,
    )


@pytest.mark.parametrize("query", ["sum(a,b)", "marginal(a,b)", "cumulative(b)", "marginal(v,b)"])
def test_the_answer_is_the_same(query: str) -> None:
    narrower = 0
    for seed in range(15):
        policy = drawn(random.Random(seed))
        whole = setting(policy)
        narrow = with_one_value(whole, parse_query(query, policy))
        truth = sensitivity(policy, query, reading="secret-moves", engine="search")
        less = sensitivity(narrow.policy, query, reading="secret-moves", engine="search")
        assert truth.lower == truth.upper == less.lower == less.upper
        assert possible(narrow.policy) < possible(policy)
        narrower += isinstance(narrow.policy.secrets, Full)
    assert narrower >= 1


def possible(policy: Policy) -> int:
    return sum(x not in policy.impossible for x in policy.domain.points())


def test_what_is_looked_at_stays_as_it_is() -> None:
    policy = drawn(random.Random(1))
    whole = setting(policy)
    assert with_one_value(whole, parse_query("histogram", policy)) is whole
    narrow = with_one_value(whole, parse_query("marginal(u,v)", policy))
    assert possible(narrow.policy) == possible(policy)


def test_other_secrets_stay_as_they_are() -> None:
    policy = Policy(domain=Domain(a=Labels("xy"), u=Integers(0, 3)), known=(Marginal(["a"]),))
    whole = setting(policy)
    assert with_one_value(whole, parse_query("marginal(a)", policy)) is whole
