"""Random mechanisms under random policies: whatever is proved loses no more, by plain enumeration.

Neighbours and losses are worked out here from the definitions, in a few lines that share nothing
with the certifier: databases as tuples of values, facts as sets of values with an answer, noise
listed value by value.
"""

import math
import random
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache
from itertools import product
from typing import Any

import numpy as np
import pytest

from blowproof.models import (
    Count,
    Database,
    Domain,
    Edges,
    Full,
    Impossible,
    Integers,
    Known,
    Policy,
)
from blowproof.models.mechanisms.mechanism import Channel, Mechanism, Release, Selection
from blowproof.verifier.certify.certify import certify

# --- a world, twice: as the definitions have it, and as a policy ---------------------------------


@dataclass
class World:
    """Values 0..size-1, n records, secret pairs, counts of sets that are known (exactly or not)."""

    size: int
    records: int
    edges: frozenset[tuple[int, int]]
    facts: list[tuple[frozenset[int], int, int]] = field(default_factory=list)
    impossible: frozenset[int] = frozenset()

    def databases(self):
        values = [x for x in range(self.size) if x not in self.impossible]
        for database in product(values, repeat=self.records):
            counts = [sum(x in where for x in database) for where, _, _ in self.facts]
            if all(
                low <= count <= high
                for count, (_, low, high) in zip(counts, self.facts, strict=True)
            ):
                yield database

    def policy(self):
        known: list[Known] = [
            Count({"x": sorted(where)}, answer=low)
            if low == high
            else Count({"x": sorted(where)}, at_least=low, at_most=high)
            for where, low, high in self.facts
        ]
        known += [Impossible({"x": x}) for x in sorted(self.impossible)]
        full = self.size * (self.size - 1) // 2 == len(self.edges)
        pairs = [({"x": x}, {"x": y}) for x, y in sorted(self.edges)]
        return Policy(
            domain=Domain(x=Integers(0, self.size - 1)),
            secrets=Full() if full else Edges(pairs),
            known=tuple(known),
            database=Database(size=self.records, answers="given"),
        )

    def secret(self, x, y):
        return (min(x, y), max(x, y)) in self.edges


def moves_of(one, two):
    return frozenset((i, x, y) for i, (x, y) in enumerate(zip(one, two, strict=True)) if x != y)


def neighbours(world, reading):
    """Definition 4.1, or its secret-moves form, by looking at every database."""
    worlds = list(world.databases())
    for one in worlds:
        changes = {two: moves_of(one, two) for two in worlds if two != one}
        secrets = {
            two: frozenset(move for move in moves if world.secret(*move[1:]))
            for two, moves in changes.items()
        }
        for two, moves in changes.items():
            mine = secrets[two]
            if reading == "secret-moves":
                fits = mine == moves and not any(other < moves for other in changes.values())
            else:
                fits = bool(mine) and not any(
                    (secrets[third] and secrets[third] < mine)
                    or (secrets[third] == mine and changes[third] < moves)
                    for third in changes
                )
            if fits:
                yield one, two


# --- mechanisms, twice ---------------------------------------------------------------------------


def histogram(world, database):
    return tuple(database.count(x) for x in range(world.size))


def answers(world, query, database):
    counts = histogram(world, database)
    if query == "histogram":
        return counts
    if query == "sum(x)":
        return (sum(database),)
    return tuple(sum(counts[: x + 1]) for x in range(world.size))


def additive(world, release, one, two):
    first, second = (answers(world, release.query, database) for database in (one, two))
    scales = release.scales * (len(first) if len(release.scales) == 1 else 1)
    loss = Fraction(0)
    for a, b, scale in zip(first, second, scales, strict=True):
        if a != b and not scale:
            return math.inf
        loss += abs(a - b) / scale if scale else 0
    return loss


REACH = 9


@cache
def chances(selection, counts):
    """The probability of each partition of two or three counts, noise by noise, and its error."""
    size = len(counts)
    buckets: list[tuple[int, ...]] = [(i,) for i in range(size)]
    buckets += [(i, i + 1) for i in range(size - 1)]
    shape = [1] * len(buckets)
    costs: dict[tuple[int, ...], Any] = {}
    weight, cut = np.ones(shape), 0.0
    for place, bucket in enumerate(buckets):
        scale = float(2 * selection.scale_of(len(bucket) - 1))  # in halves
        noise = np.arange(-REACH, REACH + 1) if scale else np.zeros(1, dtype=int)
        chance = np.exp(-abs(noise) / scale) if scale else np.ones(1)
        cut += 2 * math.exp(-(REACH + 1) / scale) if scale else 0
        lie = [1] * len(buckets)
        lie[place] = len(noise)
        apart = abs(counts[bucket[0]] - counts[bucket[-1]])
        costs[bucket] = (noise + 2 * apart + round(2 * selection.penalty)).reshape(lie)
        weight = weight * (chance / chance.sum()).reshape(lie)
    options: list[list[tuple[int, ...]]] = [[(0,), (1,)], [(0, 1)]]
    if size == 3:  # the shortest last bucket first, then the shortest before it
        options = [[(0,), (1,), (2,)], [(0, 1), (2,)], [(0,), (1, 2)]]
    totals = [sum(costs[bucket] for bucket in option) for option in options]
    least = totals[0]
    for total in totals[1:]:
        least = np.minimum(least, total)
    left, found = np.ones(weight.shape, dtype=bool), []
    for total in totals:
        wins = left & (total == least)
        found.append(float((weight * wins).sum()))
        left = left & ~wins
    return found, cut


def chosen(selection, one, two):
    """The loss of a choice, at least and at most, as far as noise that is cut tells it."""
    (first, cut), (second, _) = chances(selection, one), chances(selection, two)
    low, high = 0.0, 0.0
    for a, b in zip(first, second, strict=True):
        if a > cut:
            low = max(low, math.log((a - cut) / (b + cut)) if b + cut else math.inf)
        if a:
            high = max(high, math.log((a + cut) / (b - cut)) if b > cut else math.inf)
    return low, high


def loss_of(world, mechanism, one, two):
    """What a pair loses in one direction, at least and at most."""
    if mechanism.channel is not None:
        return (channel_loss(mechanism.channel, one, two),) * 2
    loss = float(sum(additive(world, item, one, two) for item in mechanism.releases))
    both = histogram(world, one), histogram(world, two)
    choices = [chosen(item, *both) for item in mechanism.selections]
    return loss + sum(low for low, _ in choices), loss + sum(high for _, high in choices)


def channel_loss(channel, one, two):
    if channel.of == "database":
        ends = [(channel.inputs.index(one_of(one)), channel.inputs.index(one_of(two)))]
    else:
        ends = list(zip(one, two, strict=True))
    loss = 0.0
    for a, b in ends:
        pairs = zip(channel.rows[a], channel.rows[b], strict=True)
        ratios = [
            math.inf if not Fraction(q) else Fraction(p) / Fraction(q)
            for p, q in pairs
            if Fraction(p)
        ]
        worst = max(ratios)
        loss += math.inf if worst == math.inf else math.log(worst)
    return loss


def one_of(database):
    return tuple((x,) for x in database)


# --- at random -----------------------------------------------------------------------------------


def random_world(draw):
    size, records = draw.randint(2, 3), draw.randint(1, 3)
    every = [(x, y) for x in range(size) for y in range(x + 1, size)]
    edges = frozenset(item for item in every if draw.random() < 0.7) or frozenset(every)
    world = World(size, records, frozenset(every) if draw.random() < 0.4 else edges)
    anyone = [draw.randrange(size) for _ in range(records)]
    for _ in range(draw.choice([0, 0, 1, 1, 2])):
        where = frozenset(x for x in range(size) if draw.random() < 0.5) or frozenset({0})
        count = sum(x in where for x in anyone)
        low, high = (count, count) if draw.random() < 0.7 else (max(0, count - 1), count)
        world.facts.append((where, low, high))
    free = sorted(set(range(size)) - set(anyone))
    if free and draw.random() < 0.2:
        world.impossible = frozenset({draw.choice(free)})
    return world


def random_mechanism(draw, world):
    if draw.random() < 0.25:
        return random_channel(draw, world)
    releases = []
    for _ in range(draw.choice([0, 1, 1, 2])):
        query = draw.choice(["histogram", "cumulative(x)", "sum(x)"])
        width = 1 if query == "sum(x)" else world.size
        scales = tuple(Fraction(draw.choice([0, 1, 2, 3, 8]), 2) for _ in range(width))
        scale = scales if draw.random() < 0.3 else Fraction(draw.choice([1, 2, 5]))
        noise = draw.choice(["laplace", "discrete-laplace"])
        releases.append(Release(query=query, scale=scale, noise=noise))
    selections = []
    if not releases or draw.random() < 0.4:
        scale = Fraction(draw.choice([1, 2]), 4)
        narrower = draw.choice([(), (), (Fraction(0),), (scale / 2,)])
        selections.append(
            Selection(
                query="histogram",
                candidates="intervals",
                scale=scale,
                narrower=narrower,
                penalty=Fraction(draw.choice([0, 1, 2]), 2),
                longest=2,
                step=draw.choice([None, Fraction(0)]),
            )
        )
    return Mechanism(releases=tuple(releases), selections=tuple(selections))


def random_channel(draw, world):
    of = draw.choice(["record", "database"])
    databases = [one_of(item) for item in product(range(world.size), repeat=world.records)]
    inputs = tuple(range(world.size)) if of == "record" else tuple(databases)
    rows = []
    for _ in inputs:
        weights = [draw.choice([0, 1, 1, 2, 3, 5]) for _ in range(3)]
        weights[draw.randrange(3)] += 1
        rows.append(tuple(str(Fraction(weight, sum(weights))) for weight in weights))
    return Mechanism(
        channel=Channel(of=of, inputs=inputs, outputs=("a", "b", "c"), rows=tuple(rows))
    )


def question(seed):
    """Return a random mechanism, policy and reading, and what the worst pair really loses."""
    draw = random.Random(seed)
    world = random_world(draw)
    mechanism = random_mechanism(draw, world)
    reading = draw.choice(["published", "secret-moves"])
    losses = [(0.0, 0.0)]
    for one, two in neighbours(world, reading):
        losses += [loss_of(world, mechanism, *ends) for ends in ((one, two), (two, one))]
    return mechanism, world.policy(), reading, tuple(map(max, zip(*losses, strict=True)))


def contradiction(seed):
    """Return in words what the certifier says that is not so; "" if it is right."""
    mechanism, policy, reading, (least, most) = question(seed)
    slack = 1e-6
    for factor in (0.5, 0.9, 1.1, 2):
        near = 7 if least in (0, math.inf) else least
        epsilon = Fraction(math.ceil(100 * near * factor), 100)
        found = certify(mechanism, policy, epsilon, reading=reading)
        limit = float(epsilon)
        if found.verdict == "proved" and least > limit + slack:
            return f"proved for {limit}, and loses {least}"
        if found.verdict == "refuted" and most < limit - slack:
            return f"refuted for {limit}, and loses {most}"
        if found.exp_between is None:
            low, high = (math.inf if x == "inf" else x for x in (found.lower, found.upper))
            if low > most + slack or (high is not None and high < least - slack):
                return f"loses {least} to {most}, and not {low} to {high}"
    return ""


@pytest.mark.parametrize("block", range(8))
def test_what_is_proved_loses_no_more_and_what_is_refuted_no_less(block):
    wrong = {seed: contradiction(seed) for seed in range(12 * block, 12 * block + 12)}
    assert not {seed: what for seed, what in wrong.items() if what}


def test_the_random_questions_are_of_every_kind():
    found = [question(seed) for seed in range(96)]
    assert {mechanism.channel.of for mechanism, *_ in found if mechanism.channel} == {
        "record",
        "database",
    }
    assert sum(bool(mechanism.selections) for mechanism, *_ in found) > 20
    assert sum(bool(policy.known) for _, policy, *_ in found) > 30
    assert sum(0 < least < math.inf for *_, (least, _) in found) > 40
