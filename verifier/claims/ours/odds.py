"""Results of our own about attackers: the theorem of equality counts, and where it ends."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterator
from fractions import Fraction
from itertools import product
from math import prod
from random import Random

from blowproof.models import Database, Domain, Exact, Integers, Policy, setting
from blowproof.models.attackers.attackers import Attackers
from blowproof.verifier.asked.answer import Pair
from blowproof.verifier.claims.pufferfish.blowfish import (
    KNOWN,
    Records,
    learnt,
    mechanism_of,
    of_reading_5,
    policy_of,
    possible,
    world,
    worst_pair,
)
from blowproof.verifier.claims.stating.claim import Claim, Instance
from blowproof.verifier.claims.stating.families import SEED, family
from blowproof.verifier.claims.stating.parts import counted
from blowproof.verifier.neighbours.joint_certainty import certain_of_both
from blowproof.verifier.odds.base.asked import Asked
from blowproof.verifier.odds.composition import composition
from blowproof.verifier.odds.families.families import Families, World, question_of
from blowproof.verifier.odds.families.search import searched

__all__ = ["CLAIMS"]

EQUALITIES = Claim(
    id="ours/odds-equalities",
    source="design: theorems, attackers",
    statement="Under equality counts, and for every graph, the largest odds ratio over independent "
    "attackers, given the counts, is the largest ratio over pairs of reading 5; so releases "
    "compose linearly.",
    read_as="For every channel; n and the counts known.",
    status="theorem",
    parts=(
        counted(
            "the largest odds ratio of a channel",
            KNOWN,
            of_reading_5,
            learnt,
            small="privacy",
            large="accuracy",
        ),
    ),
    proof="Given the unordered pairs {x_j, y_j} the orientations that keep the counts are equally "
    "likely on both sides, and some doubly stochastic matrix on them lives where two agree on an "
    "irreducible set: a least one does, by its optimal duals.",
    proof_in="verifier/odds/independent",
)

# --- bounds and clauses --------------------------------------------------------------------------

BUDGET = 1 << 12


def _steep() -> Iterator[Instance]:
    for known in ("at least one holds 1", "at most one holds 1", "never two", "one holds 1"):
        for people in (2, 3):
            every = product(range(2), repeat=people)
            for start in range(len(list(every))):
                item = world("full", 2, people, known, start)
                if start < len(possible(item)):
                    yield item


STEEP = family(
    "2 or 3 people who hold 0 or 1; a count, a bound, or never two of three: channels that fall by "
    "ten with each step along pairs of reading 5, from each database",
    _steep,
)


def _pairs(instance: Instance) -> list[tuple[Records, Records]]:
    """Return the pairs of reading 5."""
    inside = setting(policy_of(instance))
    found = []
    for one, two in product(possible(instance), repeat=2):
        moved = [(x, y) for x, y in zip(one, two, strict=True) if x != y]
        places = tuple(k for k, (x, y) in enumerate(zip(one, two, strict=True)) if x != y)
        kept = Counter((x,) for x, y in zip(one, two, strict=True) if x == y)
        pair = Pair(
            before=tuple((x,) for x, _ in moved),
            after=tuple((y,) for _, y in moved),
            unchanged=tuple(kept.items()),
            records=places if inside.clauses else None,
            database=tuple((x,) for x in one) if inside.clauses else None,
        )
        if moved and certain_of_both(inside, pair, budget=BUDGET):
            found.append((one, two))
    return found


def _falling(instance: Instance) -> dict[Records, Fraction]:
    """Return a channel that is steep away from one database: 9/10, 9/100, ..."""
    pairs, every = _pairs(instance), possible(instance)
    start = every[instance.whole("seed")]
    away, row = {start: 0}, deque([start])
    while row:
        here = row.popleft()
        for one, two in pairs:
            if one == here and two not in away:
                away[two] = away[here] + 1
                row.append(two)
    farthest = max(away.values()) + 1
    return {d: Fraction(9, 10 ** (1 + away.get(d, farthest))) for d in every}


def _over_pairs(instance: Instance) -> Exact:
    return worst_pair(_falling(instance), iter(_pairs(instance)))


def _asked(instance: Instance) -> Asked:
    mechanism = mechanism_of(_falling(instance))
    return Asked.of(mechanism, policy_of(instance), Fraction(1), Attackers())


def _largest(instance: Instance) -> Exact:
    return searched(_asked(instance)).lower.between(64)[0]


def _over_families(instance: Instance) -> Exact:
    """Return the largest ratio of a family."""
    everything, worst = World(_asked(instance)), Fraction(1)
    for pair in everything.pairs():
        families = Families.of(everything, pair)
        for output in range(2) if families is not None else ():
            assert families is not None
            most = question_of(families, output).most
            assert most is not None
            worst = max(worst, most)
    return worst


def _of_beliefs(instance: Instance) -> Exact:
    """Return the largest odds of random independent beliefs, from the definition."""
    chances, worst = _falling(instance), Fraction(1)
    rng = Random(f"{SEED} {sorted(instance.parameters.items())}")
    for _ in range(60):
        f = [[Fraction(rng.choice([1, 3, 20, 1000])) for _ in range(2)] for _ in range(3)]
        for k in range(instance.whole("people")):
            for sign in (True, False):
                means = []
                for value in (0, 1):
                    inside = [d for d in chances if d[k] == value]
                    weights = [prod(f[j][x] for j, x in enumerate(d) if j != k) for d in inside]
                    if not inside:
                        break
                    some = [chances[d] if sign else 1 - chances[d] for d in inside]
                    total = sum((w * p for w, p in zip(weights, some, strict=True)), Fraction(0))
                    means.append(total / sum(weights))
                if len(means) == 2:
                    worst = max(worst, means[0] / means[1], means[1] / means[0])
    return worst


BOUNDS = Claim(
    id="ours/odds-bounds",
    source="design: theorems, attackers",
    statement="With bounds or clauses privacy of the pairs of reading 5 is enough as well.",
    read_as="For every channel the largest odds ratio is at most the largest over these pairs.",
    status="finding",
    parts=(
        counted(
            "the largest odds ratio of a channel", STEEP, _over_pairs, _largest, "<=",
            small="privacy",
        ),
        counted(
            "odds of random beliefs, against the largest ratio over families",
            STEEP,
            _over_families,
            _of_beliefs,
            "<=",
            small="privacy",
            amended=True,
        ),
    ),
    repaired="What is enough is the largest ratio over families: pairs (x, y) of databases of the "
    "two statements with the same unordered pairs {x_j, y_j}, sum p(x) against sum p(y). For "
    "additive noise beside one count between limits: the larger of S without the fact, and S with "
    "the count known as a number.",
    explanation="Three records, at least one holds 1: 011 is no pair with 100, 101 or 110, "
    "as beliefs near to certainty leave other databases; but an undecided belief, told that the "
    "first holds 0, thinks of 011 beside 001 and 010, and told that it holds 1 of 100, 101 and "
    "110. Every pair of reading 5 keeps to a factor of 10, and its odds move by more than 14.",
    proof="Odds are a mean of the families' ratios. One bound: the others' counts are log-concave "
    "and couple within one; the records behind them by the theorem of equality counts.",
    proof_in="verifier/odds/families and verifier/odds/one_bound",
)  # fmt: skip

# --- identical records ---------------------------------------------------------------------------


def _people() -> Iterator[Instance]:
    for people in (2, 3, 4):
        yield Instance(shape=f"{people} people", parameters={"people": people})


def _composes(instance: Instance) -> Exact:
    """Return 0 if a mechanism that no belief learns from tells, run twice; 1 if none is found.

    The example is checked by the definition, at many beliefs.
    """
    people = instance.whole("people")
    policy = Policy(domain=Domain(v=Integers(0, 1)), database=Database(size=people))
    every = list(product(range(2), repeat=people))
    half = mechanism_of(dict.fromkeys(every, Fraction(1, 2)))
    found = composition(Asked.of(half, policy, Fraction(1), Attackers(kind="iid")))
    if found.linear != "refuted":
        return 1
    chances = {
        tuple(x for (x,) in item["database"]): Fraction(item["a"])
        for item in found.example["mechanism"]
    }
    twice = False
    for tenths in range(1, 10):
        f = (Fraction(10 - tenths, 10), Fraction(tenths, 10))
        sides = [
            [(prod(f[x] for x in d[1:]), chances[d]) for d in every if d[0] == told]
            for told in (0, 1)
        ]
        once = [sum(w * p for w, p in side) for side in sides]
        again = [sum(w * p * p for w, p in side) for side in sides]
        if once[0] != once[1]:
            return 1
        twice = twice or again[0] != again[1]
    return int(not twice)


IDENTICAL = Claim(
    id="ours/iid-composition",
    source="design: theorems, attackers; pufferfish-2012, Example 3.2 and Definition 8.1",
    statement="Pufferfish for independent, identically distributed records composes with itself "
    "linearly.",
    read_as="Records of two values; nothing known but n.",
    status="finding",
    parts=(
        counted(
            "whether mechanisms compose",
            family("2, 3 and 4 people", _people),
            lambda item: 1,
            _composes,
            large="privacy",
        ),
        counted(
            "the same for two people",
            family("2, 3 and 4 people", _people),
            lambda item: 1 if item.whole("people") == 2 else None,
            _composes,
            amended=True,
        ),
    ),
    repaired="For two people.",
    amendment="condition",
    explanation="With four people: an output of probability 9/10 on 0101 and 1010, of 1/10 on 0110 "
    "and 1001, and of 1/2 elsewhere is as likely whatever one person has, for every belief that is "
    "the same for all. Twice that output is not.",
    proof="Two people: each family couples along databases that differ in one of them.",
)

CLAIMS = (EQUALITIES, BOUNDS, IDENTICAL)
