"""pufferfish-2012, sections 3, 5 and 6: odds, axioms, and what differential privacy assumes."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations, product
from random import Random

from blowproof.models import Exact
from blowproof.verifier.claims.pufferfish.worlds import (
    Belief,
    Database,
    databases,
    independent,
    mechanism,
    odds,
    secret_pairs,
    worst,
)
from blowproof.verifier.claims.stating.claim import Claim, Instance
from blowproof.verifier.claims.stating.families import SEED, family
from blowproof.verifier.claims.stating.parts import counted

__all__ = ["CLAIMS"]

HALF = Fraction(1, 2)
GRID = 12


def _worlds(count: int) -> Iterator[Instance]:
    for people, tuples in ((1, 1), (1, 2), (2, 1), (2, 2), (3, 1)):
        for seed in range(count):
            yield Instance(
                shape=f"{people} people, {tuples} tuples",
                parameters={"people": people, "tuples": tuples, "seed": seed},
                sampled=True,
            )


WORLDS = family(
    "1 to 3 people, 1 or 2 tuples, random mechanisms", lambda: _worlds(4), lambda: _worlds(20)
)


def _world(instance: Instance) -> tuple[Random, int, int, list[Database], dict[Database, Fraction]]:
    people, tuples = instance.whole("people"), instance.whole("tuples")
    rng = Random(f"{SEED} {people} {tuples} {instance.whole('seed')}")
    every = databases(people, tuples)
    return rng, people, tuples, every, mechanism(rng, every)


# --- section 3 -----------------------------------------------------------------------------------


def _two_databases(instance: Instance) -> Exact:
    *_, chance = _world(instance)
    return max(p / q for p, q in product(chance.values(), repeat=2))


def _any_belief(instance: Instance) -> Exact:
    """The largest odds ratio over beliefs in two databases, and random ones, for Equation 4."""
    rng, people, tuples, every, chance = _world(instance)
    beliefs: list[Belief] = [{a: HALF, b: HALF} for a, b in combinations(every, 2)]
    for _ in range(GRID):
        weights = {d: Fraction(rng.choice([0, 1, 5])) for d in every}
        total = sum(weights.values()) or Fraction(1)
        beliefs.append({d: w / total for d, w in weights.items()})
    pairs = list(secret_pairs(people, tuples, values=True))
    found = worst(beliefs, chance, pairs)
    for belief in beliefs:  # somebody is in the data, or is not
        for i in range(people):
            inside = [{d: p for d, p in belief.items() if (d[i] > 0) is there} for there in (1, 0)]
            if all(sum(side.values()) for side in inside):
                means = [
                    sum((p * chance[d] for d, p in s.items()), start=Fraction(0)) / sum(s.values())
                    for s in inside
                ]
                found = max(found, means[0] / means[1], means[1] / means[0])
    return found


THEOREM_3_1 = Claim(
    id="pufferfish-2012/theorem-3.1",
    source="Section 3.2, Theorem 3.1",
    quote="the set of all possible",
    statement="With all distributions over databases, Pufferfish is: any two databases give every "
    "output with probabilities within exp(epsilon).",
    read_as="All distributions over small sets of databases, by their corners.",
    parts=(counted("the largest ratio over beliefs", WORLDS, _two_databases, _any_belief),),
    proof="Given a secret an output's probability is a mean over databases, at most the largest; "
    "half on each of two databases, which differ in somebody's secret, meets it.",
)


def _odds_of_beliefs(instance: Instance) -> Exact:
    """The largest difference between Equation 1's ratio and posterior odds over prior odds."""
    rng, people, tuples, _, chance = _world(instance)
    off = Fraction(0)
    for _ in range(GRID):
        belief = independent(rng, people, tuples)
        seen = sum((p * chance[d] for d, p in belief.items()), start=Fraction(0))
        after = {d: p * chance[d] / seen for d, p in belief.items()}
        for (i, t), (_, u) in secret_pairs(people, tuples, values=True):
            ratio = odds(belief, chance, (i, t), (i, u))
            if ratio is None:
                continue
            before, later = (_odds_of(b, i, t) / _odds_of(b, i, u) for b in (belief, after))
            off = max(off, abs(later / before - ratio))
    return off


def _odds_of(belief: Belief, person: int, value: int) -> Fraction:
    """How likely it is that a person has a tuple (0: none)."""
    return sum((p for d, p in belief.items() if d[person] == value), start=Fraction(0))


ODDS = Claim(
    id="pufferfish-2012/section-3.1",
    source="Section 3.1, the odds ratio",
    quote="a simple calculation shows",
    statement="Equations 1 and 2 hold iff posterior odds are within exp(epsilon) times prior "
    "odds: the two ratios are the same number.",
    read_as="Both conditions on random channels and beliefs, as one number.",
    parts=(counted("difference of the two ratios", WORLDS, lambda item: 0, _odds_of_beliefs),),
    proof="Bayes' rule: P(s | w) / P(s) = P(w | s) / P(w), and P(w) cancels.",
)

# --- section 5 -----------------------------------------------------------------------------------


def _one_belief(instance: Instance) -> tuple[Belief, list[dict[Database, Fraction]], Fraction]:
    """A belief, two mechanisms of two outputs by the first's probability, and their odds."""
    rng, people, tuples, every, chance = _world(instance)
    weights = {d: Fraction(rng.randint(0, 3)) for d in every}
    weights[every[0]] += 1
    total = sum(weights.values())
    belief = {d: w / total for d, w in weights.items()}
    outputs = [chance, mechanism(rng, every)]
    pairs = list(secret_pairs(people, tuples, values=True))
    both = [c for one in outputs for c in (one, {d: 1 - p for d, p in one.items()})]
    return belief, outputs, max(worst([belief], c, pairs) for c in both)


def _mixed(instance: Instance) -> Exact:
    """The odds of a coin toss between the two, and of a noisy look at the first one's output."""
    belief, (one, two), _ = _one_belief(instance)
    people, tuples = instance.whole("people"), instance.whole("tuples")
    pairs = list(secret_pairs(people, tuples, values=True))
    tossed = {d: one[d] / 3 + 2 * two[d] / 3 for d in one}
    looked = {d: one[d] * Fraction(3, 4) + (1 - one[d]) * Fraction(1, 5) for d in one}
    return max(worst([belief], c, pairs) for c in (tossed, looked))


THEOREM_5_1 = Claim(
    id="pufferfish-2012/theorem-5.1",
    source="Section 5, Theorem 5.1",
    quote="satisfies the axioms of",
    statement="Pufferfish satisfies transformation invariance and convexity (Axioms 5.1 and 5.2).",
    read_as="Random channels, processed further or mixed, for the beliefs listed.",
    parts=(
        counted(
            "the largest ratio of a mixture, and of what is made of an output",
            WORLDS,
            lambda item: _one_belief(item)[2],
            _mixed,
            "<=",
            small="privacy",
        ),
    ),
    proof="Both are sums of outputs' probabilities with weights that do not look at the data, and "
    "a ratio of sums is at most the largest ratio of their terms.",
)

# --- section 6 -----------------------------------------------------------------------------------


def _one_tuple(instance: Instance) -> Exact:
    *_, every, chance = _world(instance)
    near = [
        (a, b)
        for a, b in product(every, repeat=2)
        if sum(x != y for x, y in zip(a, b, strict=True)) == 1
        and any(x != y and 0 in (x, y) for x, y in zip(a, b, strict=True))
    ]
    return max(chance[a] / chance[b] for a, b in near)


def _independent(instance: Instance) -> Exact:
    rng, people, tuples, every, chance = _world(instance)
    beliefs: list[Belief] = [independent(rng, people, tuples) for _ in range(GRID)]
    for a, b in product(every, repeat=2):
        if sum(x != y for x, y in zip(a, b, strict=True)) == 1:
            beliefs.append({a: HALF, b: HALF})
    return worst(beliefs, chance, list(secret_pairs(people, tuples, values=False)))


THEOREM_6_1 = Claim(
    id="pufferfish-2012/theorem-6.1",
    source="Section 6, Theorem 6.1",
    quote="is equivalent to",
    statement="Differential privacy is Pufferfish with records that are independent of each other.",
    read_as="Independent beliefs as in Equation 7, against pairs that differ by one record.",
    parts=(counted("the largest ratio over beliefs", WORLDS, _one_tuple, _independent),),
    proof="Given a person's tuple, or that there is none, the others have one and the same "
    "distribution, so that databases couple with those that differ in this tuple alone; a belief "
    "that is sure of the others meets each of these.",
)

BELIEFS: dict[str, dict[Database, Fraction]] = {
    "independent": {d: Fraction(1, 4) for d in databases(2, 1)},
    "both there or neither": {(0, 0): HALF, (1, 1): HALF},
    "correlated weakly": {
        **{(0, 0): Fraction(3, 10), (1, 1): Fraction(3, 10)},
        **{(0, 1): Fraction(1, 5), (1, 0): Fraction(1, 5)},
    },
    "one certain to be there": {(1, 0): HALF, (1, 1): HALF},
    "equal tuples, both certain to be there": {(1, 1): HALF, (2, 2): HALF},
    "different tuples, both certain to be there": {(1, 2): HALF, (2, 1): HALF},
}


def _named() -> Iterator[Instance]:
    for name in BELIEFS:
        yield Instance(shape=name, parameters={"belief": name})


NAMED = family("six beliefs about two people", _named)


def _is_product(belief: Belief) -> bool:
    sides = [
        {t: sum(p for d, p in belief.items() if d[i] == t) for t in range(3)} for i in range(2)
    ]
    every = product(range(3), repeat=2)
    return all(belief.get((a, b), Fraction(0)) == sides[0][a] * sides[1][b] for a, b in every)


def _tells_more(belief: Belief) -> bool:
    """Whether some secret pair with positive probabilities says something of the other person."""
    for (i, t), (_, u) in secret_pairs(2, 2, values=False):
        sides = []
        for value in (t, u):
            inside = {d: p for d, p in belief.items() if p and d[i] == value}
            weight = sum(inside.values())
            if weight:
                sides.append({d[1 - i]: p / weight for d, p in inside.items()})
        if len(sides) == 2 and sides[0] != sides[1]:
            return True
    return False


def _exceeds(instance: Instance) -> Exact:
    """Whether a differentially private mechanism (exp(epsilon) = 2) lets the odds move by more.

    Those of the proof: twice as likely where person i is there, and half as much again on an event
    about the other one.
    """
    belief = BELIEFS[instance.word("belief")]
    pairs = list(secret_pairs(2, 2, values=False))
    for i, event in product(
        range(2), (set(c) for n in range(4) for c in combinations(range(3), n))
    ):
        for sign in (True, False):
            chance = {
                d: Fraction(2 if (d[i] > 0) is sign else 1, 16) * (HALF * (d[1 - i] in event) + 1)
                for d in databases(2, 2)
            }
            if worst([belief], chance, pairs) > 2:
                return 1
    return 0


THEOREM_6_2 = Claim(
    id="pufferfish-2012/theorem-6.2",
    source="Section 6, Theorem 6.2",
    quote="is not equivalent to",
    statement="With any distribution in which records are not independent, some differentially "
    "private mechanism lets an attacker's odds move by more than exp(epsilon).",
    read_as="Some differentially private mechanism beats the bound, for each belief outside.",
    parts=(
        counted(
            "whether some mechanism does",
            NAMED,
            lambda item: None if _is_product(BELIEFS[item.word("belief")]) else 1,
            _exceeds,
            large="accuracy",
        ),
        counted(
            "the same, where a secret pair tells something of the other records",
            NAMED,
            lambda item: int(_tells_more(BELIEFS[item.word("belief")])),
            _exceeds,
            amended=True,
        ),
    ),
    repaired="Iff for some pair of secrets with positive probabilities, the other records have "
    "different distributions given the one and given the other.",
    amendment="condition",
    explanation="The secrets of Equation 6 are about a record that is there or not. Records that "
    "are certain to be there may depend on each other in any way: no pair of secrets has two "
    "positive probabilities, Definition 3.1 skips them all, and the distribution may be added to "
    "those of Theorem 6.1 at no cost.",
    proof="If the other records have the same distribution, databases couple as in Theorem 6.1. "
    "Else an event A about them has different probabilities; the output with probability in "
    "proportion to exp(epsilon [record i is there]) (1 + eta [A]), for a small eta, is "
    "differentially private.",
)

CLAIMS = (ODDS, THEOREM_3_1, THEOREM_5_1, THEOREM_6_1, THEOREM_6_2)
