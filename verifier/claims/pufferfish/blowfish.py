"""blowfish-2014, section 4.2: Blowfish and what independent attackers learn.

Databases, neighbours and channels are listed from the definitions; odds are the largest over all
beliefs, by `odds` without its theorem (families of pairs of databases).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import combinations, product
from random import Random

from blowproof.models import (
    Clause,
    Count,
    Database,
    Distance,
    Domain,
    Exact,
    Full,
    Integers,
    Known,
    Literal,
    Policy,
    setting,
)
from blowproof.models.attackers.attackers import Attackers
from blowproof.models.mechanisms.mechanism import Channel, Mechanism
from blowproof.verifier.claims.stating.claim import Claim, Instance, Parameter
from blowproof.verifier.claims.stating.families import SEED, family
from blowproof.verifier.claims.stating.parts import counted
from blowproof.verifier.odds.base.asked import Asked
from blowproof.verifier.odds.families.search import searched

__all__ = [
    "CLAIMS",
    "KNOWN",
    "Records",
    "learnt",
    "mechanism_of",
    "of_reading_5",
    "policy_of",
    "possible",
    "world",
    "worst_pair",
]

Records = tuple[int, ...]
Pair = tuple[Records, Records]
Chances = dict[Records, Fraction]
SHAPES = (
    *(("full", 2, 2), ("full", 2, 3), ("line", 3, 2), ("full", 3, 2)),
    *(("line", 3, 3), ("line", 4, 2)),
)
EQUALITIES = ("no facts", "one holds 1", "one holds 1 or 2")
FACTS = (*EQUALITIES, "at least one holds 1", "at most one holds 1", "in order", "never two")


def _worlds(facts: Sequence[str], seeds: int) -> Iterator[Instance]:
    for secrets, values, people in SHAPES:
        for known in facts:
            for seed in range(seeds):
                if values >= 3 or known != "one holds 1 or 2":
                    yield world(secrets, values, people, known, seed)
    if "one holds 1 or 2" in facts:
        yield world("line", 4, 3, "one holds 1 or 2", 0)


def world(secrets: str, values: int, people: int, known: str, seed: int) -> Instance:
    """Return an instance: the secrets, how many values and people, what is known, a channel."""
    named: dict[str, Parameter] = {"secrets": secrets, "values": values, "people": people}
    shape = f"{people} people, {values} values, {secrets} secrets, {known}"
    parameters = {**named, "facts": known, "seed": seed}
    return Instance(shape=shape, parameters=parameters, sampled=True)


def policy_of(instance: Instance) -> Policy:
    """Return the policy of an instance."""
    values, people = instance.whole("values"), instance.whole("people")
    ones = {
        "one holds 1": Count({"v": [1]}, answer=1),
        "one holds 1 or 2": Count({"v": [1, 2]}, answer=1),
        "at least one holds 1": Count({"v": [1]}, at_least=1),
        "at most one holds 1": Count({"v": [1]}, at_most=1),
    }
    facts, known = instance.word("facts"), list[Known]()
    if facts in ones:
        known.append(ones[facts])
    if facts == "in order":
        for k in range(1, people):
            known.append(Clause([Literal(k, {"v": [1]}), Literal(k + 1, {"v": [1]}, inside=False)]))
    if facts == "never two":
        for two in combinations(range(1, people + 1), 2):
            told = [Literal(k, {"v": [1]}, inside=k not in two) for k in range(1, people + 1)]
            known.append(Clause(told))
    return Policy(
        domain=Domain(v=Integers(0, values - 1)),
        secrets=Distance(threshold=1) if instance.word("secrets") == "line" else Full(),
        known=tuple(known),
        database=Database(size=people, answers="given"),
    )


def possible(instance: Instance) -> list[Records]:
    """Return the databases that the facts allow."""
    inside = setting(policy_of(instance))
    every = product(range(instance.whole("values")), repeat=instance.whole("people"))
    return [d for d in every if inside.satisfied_by([(x,) for x in d])]


def _edge(instance: Instance, x: int, y: int) -> bool:
    return x != y and (instance.word("secrets") == "full" or abs(x - y) == 1)


def _published(instance: Instance) -> Iterator[Pair]:
    """Yield the neighbours of Definition 4.1, T(D1, D3) not being empty."""
    every = possible(instance)
    for one in every:
        marks = []
        for two in every:
            moved = {(k, y) for k, (x, y) in enumerate(zip(one, two, strict=True)) if x != y}
            marks.append(({(k, y) for k, y in moved if _edge(instance, one[k], y)}, moved))
        for two, (secret, moved) in zip(every, marks, strict=True):
            if secret and not any(
                (t and t < secret) or (t == secret and c < moved) for t, c in marks
            ):
                yield one, two


def left_with(instance: Instance) -> Iterator[Pair]:
    """Yield the pairs of reading 5 under equality counts: some record makes a secret move, and no
    database between the two, each record as in one or the other, is possible.
    """
    every = possible(instance)
    for one, two in product(every, repeat=2):
        ends = list(zip(one, two, strict=True))
        between = (d for d in every if all(z in xy for z, xy in zip(d, ends, strict=True)))
        if any(_edge(instance, x, y) for x, y in ends) and set(between) == {one, two}:
            yield one, two


def channel_of(instance: Instance) -> Chances:
    """Return the probability of an output on each database."""
    rng = Random(f"{SEED} {sorted(instance.parameters.items())}")
    return {d: Fraction(rng.choice([1, 5, 10, 50, 90]), 100) for d in possible(instance)}


def worst_pair(chances: Chances, pairs: Iterator[Pair]) -> Fraction:
    """Return the largest ratio of an output's probabilities over pairs, both outputs, both ways."""
    worst = Fraction(1)
    for one, two in pairs:
        for p, q in ((chances[one], chances[two]), (1 - chances[one], 1 - chances[two])):
            worst = max(worst, p / q, q / p)
    return worst


def mechanism_of(chances: Chances) -> Mechanism:
    """Return the channel with two outputs."""
    return Mechanism(
        channel=Channel(
            of="database",
            inputs=tuple([[x] for x in d] for d in chances),
            outputs=("a", "b"),
            rows=tuple((str(p), str(1 - p)) for p in chances.values()),
        )
    )


@lru_cache(maxsize=512)
def _learnt(parameters: tuple[tuple[str, object], ...]) -> tuple[Fraction, Fraction]:
    named = dict(parameters)
    instance = Instance(shape="", parameters=named)  # type: ignore[arg-type]
    if not possible(instance):
        return Fraction(1), Fraction(1)
    mechanism = mechanism_of(channel_of(instance))
    found = searched(Asked.of(mechanism, policy_of(instance), Fraction(1), Attackers()))
    return found.lower.between(64)[0], found.upper.between(64)[1]


def learnt(instance: Instance) -> Exact:
    """Return the largest odds ratio over independent beliefs; where it is in bounds, the lower."""
    return _learnt(tuple(sorted(instance.parameters.items())))[0]


def _neighbours(instance: Instance) -> Exact:
    return worst_pair(channel_of(instance), _published(instance))


def of_reading_5(instance: Instance) -> Exact | None:
    """Return the largest ratio over pairs of reading 5; None with bounds or clauses."""
    if instance.word("facts") not in EQUALITIES:
        return None
    return worst_pair(channel_of(instance), left_with(instance))


FREE = family(
    "2 or 3 people, 2 to 4 values, full secrets or a line, without facts; random channels",
    lambda: _worlds(["no facts"], 2),
    lambda: _worlds(["no facts"], 10),
)
KNOWN = family(
    "2 or 3 people, 2 to 4 values, full secrets or a line; a count, a bound, an order; random "
    "channels",
    lambda: _worlds(FACTS, 1),
    lambda: _worlds(FACTS, 6),
)

THEOREM_4_4 = Claim(
    id="blowfish-2014/theorem-4.4",
    source="Section 4.2, Theorem 4.4",
    quote="if and only if it satisfies",
    statement="Without constraints, Blowfish privacy is Pufferfish privacy for all product "
    "distributions.",
    read_as="For every channel the largest odds ratio is the largest ratio over neighbours.",
    parts=(
        counted(
            "the largest odds ratio of a channel",
            FREE,
            _neighbours,
            learnt,
            small="privacy",
            large="accuracy",
        ),
    ),
    proof="Given that record i holds x, or y, the others have one and the same distribution: "
    "databases couple with those that differ in this record alone, which is an edge of G; and a "
    "belief that is certain of the others meets each of these.",
)

THEOREM_4_5 = Claim(
    id="blowfish-2014/theorem-4.5",
    source="Section 4.2, Theorem 4.5",
    quote="product distributions conditioned on",
    statement="With constraints, Pufferfish privacy for product distributions conditioned on them "
    "implies Blowfish privacy.",
    read_as="For every channel the largest odds ratio is at least the largest over neighbours.",
    parts=(
        counted(
            "the largest odds ratio of a channel",
            KNOWN,
            _neighbours,
            learnt,
            ">=",
            large="privacy",
        ),
    ),
    proof="For neighbours D1, D2 let a belief be certain of all records that do not change, and "
    "give each other one but i, which makes a secret move, its value in D1 far more than that in "
    "D2. Told D1's value of record i it is certain of D1 in the limit. Told D2's, what is "
    "possible besides D2 undoes some of the other changes; it has record i's secret move, so its "
    "T is not empty and inside T(D1, D2), or it has fewer changes with the same T: no such "
    "database is in I_Q. So it is certain of D2.",
)

CONJECTURE = Claim(
    id="blowfish-2014/section-4.2-conjecture",
    source="Section 4.2, after Theorem 4.5",
    quote="we conjecture the sufficiency",
    statement="The converse of Theorem 4.5 (a conjecture): Blowfish privacy is enough.",
    read_as="For every channel the largest odds ratio is at most the largest over neighbours.",
    parts=(
        counted(
            "the largest odds ratio of a channel", KNOWN, _neighbours, learnt, "<=", small="privacy"
        ),
        counted(
            "the same against pairs of reading 5, with equality counts",
            KNOWN,
            of_reading_5,
            learnt,
            amended=True,
        ),
    ),
    repaired="With equality counts and impossible values, for pairs of reading 5 in place of "
    "neighbours (for full secrets they are the same). With bounds and clauses what is enough is "
    "the largest ratio over families of pairs (see verifier/odds/families).",
    explanation="Where students pass an exam in order, neighbours differ by one student, and an "
    "attacker who leans to the first students having passed compares any two states. Where the "
    "graph is not complete it fails with one count already: a plain move that compensates makes a "
    "pair no neighbours, and a belief that is sure of everybody else is left with this pair.",
    proof="See blowproof.verifier.odds.independent: a coupling, by duality.",
)

CLAIMS = (THEOREM_4_4, THEOREM_4_5, CONJECTURE)
