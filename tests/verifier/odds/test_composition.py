"""Composition against attackers, and what they have seen before, held against the definitions."""

import math
import random
from fractions import Fraction
from itertools import product
from typing import Any

import pytest

from blowproof.models import (
    Count,
    Database,
    Domain,
    Edges,
    Integers,
    Labels,
    NamedCount,
    Policy,
    PolicyError,
)
from blowproof.models.attackers.attackers import Attackers, Seen
from blowproof.models.attackers.beliefs import Chain, Listed
from blowproof.models.mechanisms.mechanism import Channel, Mechanism, Release
from blowproof.verifier.odds.base.asked import Asked
from blowproof.verifier.odds.composition import composition, couples
from blowproof.verifier.odds.odds import odds
from corpus import TRAP, exam_queue

ONE, HALF = Fraction(1), Fraction(1, 2)
NOISE = Mechanism(releases=(Release(query="histogram", scale=ONE),))
ILL = Policy(domain=Domain(ill=Labels(["no", "yes"])), database=Database(size=3))


def composed(attackers: Attackers, policy: Policy = ILL) -> Any:
    return composition(Asked.of(NOISE, policy, ONE, attackers))


def mechanism_of(example: Any) -> dict[tuple[str, ...], Fraction]:
    return {
        tuple(x for (x,) in item["database"]): Fraction(item["a"]) for item in example["mechanism"]
    }


@pytest.mark.parametrize(
    ("attackers", "policy"),
    [
        (Attackers(), ILL),
        (Attackers(), TRAP),
        (Attackers(), exam_queue(4)),
        (Attackers(kind="any"), ILL),
        (Attackers(kind="any"), exam_queue(3)),
    ],
)
def test_conditions_on_pairs_of_databases_compose(attackers: Attackers, policy: Policy) -> None:
    assert composed(attackers, policy).linear == "proved"


def test_identical_records_do_not_compose() -> None:
    """Example 3.2's attackers: a mechanism that no belief f learns from, and run twice it does."""
    four = Policy(domain=ILL.domain, database=Database(size=4))
    found = composed(Attackers(kind="iid"), four)
    assert found.linear == "refuted"
    chance = mechanism_of(found.example)
    rng = random.Random(5)
    moved = False
    for _ in range(20):
        f = Fraction(rng.randint(1, 9), 10)
        sides = []
        for told in ("no", "yes"):
            side = {
                d: math.prod(f if x == "yes" else 1 - f for x in d[1:])
                for d in product(("no", "yes"), repeat=4)
                if d[0] == told
            }
            sides.append(side)
        once = [sum(w * chance[d] for d, w in side.items()) for side in sides]
        twice = [sum(w * chance[d] ** 2 for d, w in side.items()) for side in sides]
        assert once[0] == once[1]
        moved = moved or twice[0] != twice[1]
    assert moved


def test_two_identical_records_compose() -> None:
    pair = Policy(domain=ILL.domain, database=Database(size=2))
    assert composed(Attackers(kind="iid"), pair).linear == "proved"


def test_a_chain_of_infections_does_not_compose() -> None:
    step = ((Fraction(9, 10), Fraction(1, 10)), (Fraction(1, 10), Fraction(9, 10)))
    chain = Chain((HALF, HALF), step)
    found = composed(Attackers(kind="markov", listed=(chain,)))
    assert (found.linear, found.universal) == ("refuted", (False,))
    chance, told = mechanism_of(found.example), found.example["told"]
    sides = [
        {tuple(x for (x,) in item["database"]): Fraction(item["probability"]) for item in side}
        for side in told
    ]
    once, twice = (
        [sum(w * chance[d] ** power for d, w in side.items()) for side in sides] for power in (1, 2)
    )
    assert once[0] == once[1]
    assert twice[0] / twice[1] == Fraction(found.example["odds_twice"]) > 1


def test_a_belief_in_two_databases_is_universally_composable() -> None:
    """Theorem 8.1: each secret leaves one database."""
    sure = Listed((("no", "no"), ("yes", "no")), (HALF, HALF))
    pair = Policy(domain=ILL.domain, database=Database(size=2))
    found = composed(Attackers(kind="listed", listed=(sure,)), pair)
    assert (found.linear, found.universal) == ("proved", (True,))


def test_a_belief_that_follows_from_others_is_no_harm() -> None:
    """Independent halves are none of the scenarios of Theorem 8.1; beside four pairs they are."""
    pair = Policy(domain=ILL.domain, database=Database(size=2))
    every = tuple(product(("no", "yes"), repeat=2))
    mixed = Listed(every, (Fraction(1, 4),) * 4)
    assert composed(Attackers(kind="listed", listed=(mixed,)), pair).linear == "refuted"
    edges = [
        (a, b) for a, b in product(every, repeat=2) if a < b and (a[0] == b[0]) != (a[1] == b[1])
    ]
    sure = tuple(Listed(edge, (HALF, HALF)) for edge in edges)
    found = composed(Attackers(kind="listed", listed=(*sure, mixed)), pair)
    assert (found.linear, found.universal) == ("proved", (True,) * len(edges) + (False,))


def test_a_coupling_is_refuted_by_a_set() -> None:
    a, b, c = ((0,),), ((1,),), ((2,),)
    near: dict[tuple[tuple[int, ...], ...], list[tuple[tuple[int, ...], ...]]]
    near = {a: [b], c: [b, c]}
    assert couples({a: HALF, c: HALF}, {b: HALF, c: HALF}, lambda x: near[x]) == (True, set())
    refuted = couples({a: HALF, c: HALF}, {b: Fraction(1, 4), c: Fraction(3, 4)}, lambda x: near[x])
    assert refuted == (False, {a})


# what was seen before -----------------------------------------------------------------------------


def test_a_listed_belief_is_conditioned_on_what_was_seen() -> None:
    """Four databases of two people, by hand: likelihoods exp(-|a - cases| / 2) on each."""
    policy = Policy(
        domain=ILL.domain,
        database=Database(size=2),
        queries=(NamedCount("cases", {"ill": "yes"}),),
    )
    every = tuple(product(("no", "yes"), repeat=2))
    belief = Listed(every, (Fraction(1, 10), Fraction(2, 10), Fraction(3, 10), Fraction(4, 10)))
    seen = Seen(query="count(cases)", scale=Fraction(2), answer=(2,))
    attackers = Attackers(kind="listed", listed=(belief,), seen=(seen,))
    noise = Mechanism(releases=(Release(query="count(cases)", scale=ONE),))
    found = odds(noise, policy, ONE, attackers=attackers)
    worst = 0.0
    for told, output in product((0, 1), (0, 1, 2)):
        sides = []
        for value in ("no", "yes"):
            inside = [
                (
                    p * math.exp(-abs(2 - d.count("yes")) / 2),
                    math.exp(-abs(output - d.count("yes"))),
                )
                for d, p in zip(every, (0.1, 0.2, 0.3, 0.4), strict=True)
                if d[told] == value
            ]
            sides.append(sum(w * q for w, q in inside) / sum(w for w, _ in inside))
        worst = max(worst, sides[0] / sides[1], sides[1] / sides[0])
    assert abs(float(found.lower.between(64)[0]) - worst) < 1e-9


@pytest.mark.parametrize("kind", ["independent", "iid"])
def test_no_belief_that_has_seen_numbers_does_better(kind: str) -> None:
    rng = random.Random(kind)
    policy = Policy(
        domain=Domain(v=Integers(0, 2)),
        secrets=Edges([[{"v": 0}, {"v": 1}]]),
        known=(Count({"v": [1, 2]}, answer=2),),
        database=Database(size=3),
    )
    databases = [d for d in product(range(3), repeat=3) if sum(x > 0 for x in d) == 2]
    for _ in range(4):
        chances = {d: Fraction(rng.randint(1, 9), 10) for d in databases}
        rows = tuple((str(p), str(1 - p)) for p in chances.values())
        named = tuple([[x] for x in d] for d in databases)
        channel = Channel(of="database", inputs=named, outputs=("a", "b"), rows=rows)
        answer = rng.randint(-1, 7)
        seen = Seen(query="sum(v)", scale=Fraction(1, 2), answer=(answer,))
        attackers = Attackers(kind=kind, seen=(seen,))  # type: ignore[arg-type]
        found = odds(Mechanism(channel=channel), policy, ONE, attackers=attackers)
        assert found.upper is not None
        upper = float(found.upper.between(64)[1]) * (1 + 1e-9)
        for _ in range(150):
            f = [[rng.choice([0.0, 1e-5, 0.1, 1.0, 5.0]) for _ in range(3)] for _ in range(3)]
            f = [f[0]] * 3 if kind == "iid" else f
            weights = {
                d: math.prod(f[j][x] for j, x in enumerate(d)) * math.exp(-2 * abs(answer - sum(d)))
                for d in databases
            }
            for j, output in product(range(3), (0, 1)):
                sides = []
                for value in (0, 1):
                    inside = [d for d in databases if d[j] == value]
                    total = sum(weights[d] for d in inside)
                    some = (
                        weights[d] * float(chances[d] if output else 1 - chances[d]) for d in inside
                    )
                    sides.append(sum(some) / total if total else math.nan)
                if not any(map(math.isnan, sides)):
                    assert max(sides[0] / sides[1], sides[1] / sides[0]) <= upper


def test_what_was_seen_has_a_number_for_each_output() -> None:
    seen = Seen(query="histogram", scale=ONE, answer=(1,))
    with pytest.raises(PolicyError, match="1 numbers for 2 outputs") as raised:
        odds(NOISE, ILL, ONE, attackers=Attackers(seen=(seen,)))
    assert raised.value.key == "attackers.seen[0].answer"


def test_large_policies_with_what_was_seen_have_bounds() -> None:
    """Where databases cannot be listed: one release from below, all from above."""
    policy = Policy(domain=Domain(v=Integers(0, 9)), database=Database(size=30))
    seen = Seen(query="sum(v)", scale=Fraction(9), answer=(100,))
    noise = Mechanism(releases=(Release(query="histogram", scale=Fraction(2)),))
    found = odds(noise, policy, ONE, attackers=Attackers(seen=(seen,)))
    assert found.lower.loss == 1 and found.upper is not None and found.upper.loss == 3
