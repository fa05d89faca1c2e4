"""One count between limits: what replaces S, against every belief (families) on tiny policies."""

import random
from collections import Counter
from fractions import Fraction
from itertools import product

import pytest

from blowproof.models import Count, Database, Domain, Edges, Full, Integers, Policy, setting
from blowproof.models.attackers.attackers import Attackers
from blowproof.models.mechanisms.mechanism import Channel, Mechanism, Release
from blowproof.verifier.asked.answer import Pair
from blowproof.verifier.neighbours.joint_certainty import certain_of_both
from blowproof.verifier.odds.base.asked import Asked
from blowproof.verifier.odds.families.search import searched
from blowproof.verifier.odds.independent import with_one_bound
from blowproof.verifier.odds.odds import odds

ONE = Fraction(1)


def asked(policy: Policy, mechanism: Mechanism) -> Asked:
    return Asked.of(mechanism, policy, ONE, Attackers())


def noise(query: str) -> Mechanism:
    return Mechanism(releases=(Release(query=query, scale=Fraction(3)),))


def pair_of(one: tuple[int, ...], two: tuple[int, ...]) -> Pair:
    moved = [(x, y) for x, y in zip(one, two, strict=True) if x != y]
    kept = Counter((x,) for x, y in zip(one, two, strict=True) if x == y)
    before, after = (tuple((end[k],) for end in moved) for k in (0, 1))
    return Pair(before=before, after=after, unchanged=tuple(kept.items()))


@pytest.mark.parametrize("seed", range(25))
def test_no_belief_exceeds_the_theorem_of_one_bound(seed: int) -> None:
    """And where the limits leave room for both directions, some belief reaches it."""
    rng = random.Random(seed)
    values, size = rng.randint(2, 3), rng.randint(2, 3)
    region = rng.sample(range(values), rng.randint(1, values - 1))
    low = rng.randint(0, size)
    high = rng.randint(low, size)
    pairs = [(a, b) for a, b in product(range(values), repeat=2) if a < b]
    edges = rng.sample(pairs, rng.randint(1, len(pairs)))
    policy = Policy(
        domain=Domain(v=Integers(0, values - 1)),
        secrets=Edges([[{"v": a}, {"v": b}] for a, b in edges]),
        known=(Count({"v": region}, at_least=low, at_most=high),),
        database=Database(size=size, answers="given"),
    )
    question = asked(policy, noise(rng.choice(["histogram", "sum(v)"])))
    bound, found = with_one_bound(question), searched(question)
    assert bound is not None and not found.lower.above(bound)
    if low < high and (low, high) != (0, size):
        assert not bound.above(found.upper)


def test_a_bound_on_many_records_has_an_exact_answer() -> None:
    """8 records of 6 values cannot be listed: two records move where the bound is reached."""
    policy = Policy(
        domain=Domain(place=Integers(0, 5)),
        known=(Count({"place": [0, 1, 2]}, at_least=2, at_most=6),),
        database=Database(size=8, answers="given"),
    )
    found = odds(Mechanism(releases=(Release(query="histogram", scale=Fraction(4)),)), policy, ONE)
    assert found.exact and found.lower.loss == 1


def test_pairs_of_reading_5_are_not_enough_with_one_bound() -> None:
    """At least one of three holds 1: every pair of reading 5 keeps to 10, and the odds do not."""
    policy = Policy(
        domain=Domain(v=Integers(0, 1)),
        secrets=Full(),
        known=(Count({"v": [1]}, at_least=1),),
        database=Database(size=3, answers="given"),
    )
    away: dict[tuple[int, ...], int]
    away = {(0, 1, 1): 0, (0, 1, 0): 1, (0, 0, 1): 1, (1, 1, 1): 1}
    chances = {
        d: Fraction(9, 10 ** (1 + away.get(d, 2))) for d in product(range(2), repeat=3) if any(d)
    }
    inside = setting(policy)
    pairs = [
        (one, two)
        for one, two in product(chances, repeat=2)
        if one != two and certain_of_both(inside, pair_of(one, two), budget=100)
    ]
    assert len(pairs) > 10
    assert all(chances[one] <= 10 * chances[two] for one, two in pairs)
    channel = Channel(
        of="database",
        inputs=tuple([[x] for x in d] for d in chances),
        outputs=("a", "b"),
        rows=tuple((str(p), str(1 - p)) for p in chances.values()),
    )
    found = odds(Mechanism(channel=channel), policy, ONE)
    assert found.lower.between(64)[0] > 14
    assert found.upper is not None and found.upper.between(64)[1] < 15
