"""Definition 3.1 of pufferfish-2012 with fractions and no theorem at all, on tiny policies.

Shared by the tests of `odds` and its benchmark.
"""

import random
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import product
from math import prod

from blowproof.models import (
    Clause,
    Count,
    Database,
    Domain,
    Edges,
    Integers,
    Known,
    Literal,
    Point,
    Policy,
    setting,
)
from blowproof.models.mechanisms.mechanism import Channel
from blowproof.verifier.odds.base.answer import Odds
from blowproof.verifier.odds.families.search import Searched

ONE = Fraction(1)
Records_ = tuple[Point, ...]
Belief = Sequence[dict[Point, Fraction]]


def possible(policy: Policy) -> list[Records_]:
    """I_Q, listed."""
    found = setting(policy)
    assert found.size is not None
    return [d for d in product(policy.domain.points(), repeat=found.size) if found.satisfied_by(d)]


def reference(
    policy: Policy, rows: dict[Records_, list[Fraction]], belief: Belief
) -> Fraction | None:
    """The largest odds ratio of one independent belief, given the facts; None: nothing to tell."""
    chances = {d: prod(belief[j][x] for j, x in enumerate(d)) for d in rows}
    best: Fraction | None = None
    for i in range(len(belief)):
        for t, u in product(policy.domain.points(), repeat=2):
            if t == u or not policy.graph.is_edge(t, u):
                continue
            sides = [[(d, p) for d, p in chances.items() if p and d[i] == v] for v in (t, u)]
            weights = [sum(p for _, p in side) for side in sides]
            if not all(weights):
                continue
            for output in range(len(next(iter(rows.values())))):
                top, bottom = (
                    Fraction(sum(p * rows[d][output] for d, p in side)) / weight
                    for side, weight in zip(sides, weights, strict=True)
                )
                best = top / bottom if best is None else max(best, top / bottom)
    return best


def beliefs(rng: random.Random, values: Sequence[Point], size: int, count: int) -> Iterator[Belief]:
    """Beliefs on a grid: some records nearly certain, some halved between two values, some free."""
    for _ in range(count):
        belief = []
        for _ in range(size):
            kind = rng.choice(["two", "free", "near"])
            weights = {x: Fraction(rng.randint(0, 3)) for x in values}
            if kind == "two":
                few = rng.sample(values, min(2, len(values)))
                weights = {x: Fraction(x in few) for x in values}
            if kind == "near":
                chosen = rng.choice(values)
                weights = {x: Fraction(1 if x == chosen else rng.choice([0, 1]), 1) for x in values}
                weights[chosen] = Fraction(rng.choice([50, 10**6]))
            total = sum(weights.values())
            if not total:
                weights, total = dict.fromkeys(values, ONE), Fraction(len(values))
            belief.append({x: w / total for x, w in weights.items()})
        yield belief


def a_policy(rng: random.Random, kinds: Sequence[str]) -> Policy:
    """A tiny policy with numbers, of a database that there is."""
    count, size = rng.randint(2, 4), rng.randint(2, 3)
    values = list(range(count))
    pairs = [(a, b) for a in values for b in values if a < b]
    edges = rng.sample(pairs, rng.randint(1, len(pairs)))
    hidden = [rng.choice(values) for _ in range(size)]
    known: list[Known] = []
    for _ in range(rng.randint(1, 2)):
        chosen = rng.sample(values, rng.randint(1, count - 1))
        number = sum(x in chosen for x in hidden)
        kind = rng.choice(kinds)
        if kind == "equal":
            known.append(Count({"v": chosen}, answer=number))
        elif kind == "bound":
            known.append(Count({"v": chosen}, at_most=number))
        else:
            i, j = rng.sample(range(size), 2)
            literals = [Literal(i + 1, {"v": chosen}), Literal(j + 1, {"v": [hidden[j]]})]
            known.append(Clause(literals))
    return Policy(
        domain=Domain(v=Integers(0, count - 1)),
        secrets=Edges([[{"v": a}, {"v": b}] for a, b in edges]),
        known=tuple(known),
        database=Database(size=size, answers="given"),
    )


def a_channel(rng: random.Random, databases: Sequence[Records_]) -> tuple[Channel, dict]:
    """A channel with random whole weights, no probability 0."""
    rows = {}
    for database in databases:
        weights = [rng.randint(1, 5) for _ in range(2)]
        rows[database] = [Fraction(w, sum(weights)) for w in weights]
    channel = Channel(
        of="database",
        inputs=tuple([[x[0]] for x in d] for d in databases),
        outputs=("a", "b"),
        rows=tuple(tuple(map(str, row)) for row in rows.values()),
    )
    return channel, rows


def shown_belief(found: Odds | Searched, policy: Policy, size: int) -> Belief:
    """The belief that an answer shows, as what each record may hold."""
    assert found.shown is not None
    prior = found.shown.prior
    rows = prior["records"] if "records" in prior else [prior["every_record"]] * size
    empty = {x: Fraction(0) for x in policy.domain.points()}
    return [empty | {policy.domain.encode(x): Fraction(p) for x, p in row} for row in rows]
