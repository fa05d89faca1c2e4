"""Tiny worlds of pufferfish-2012, all in fractions: people, beliefs, mechanisms, odds.

A database says of each person which tuple it has, 0 for none. A mechanism is one output's
probability on each database. Nothing here knows a theorem.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import product
from math import prod
from random import Random

__all__ = [
    "Belief",
    "Database",
    "certain_pairs",
    "databases",
    "independent",
    "induced_pairs",
    "mechanism",
    "odds",
    "secret_pairs",
    "worst",
]

Database = tuple[int, ...]
Belief = Mapping[Database, Fraction]
Chance = Mapping[Database, Fraction]
Secret = tuple[int, int]
"""Person i has tuple t (0: none)."""


def databases(people: int, tuples: int) -> list[Database]:
    """Return every database."""
    return list(product(range(tuples + 1), repeat=people))


def mechanism(rng: Random, every: Sequence[Database], most: int = 9) -> dict[Database, Fraction]:
    """Return an output's probability on each database, none of them 0 or 1."""
    return {database: Fraction(rng.randint(1, most), most + 1) for database in every}


def secret_pairs(people: int, tuples: int, *, values: bool) -> Iterator[tuple[Secret, Secret]]:
    """Yield presence with a tuple against absence (Equation 6); `values`: and tuples (16)."""
    for i in range(people):
        for t in range(1, tuples + 1):
            yield (i, t), (i, 0)
            for other in range(1, t) if values else ():
                yield (i, t), (i, other)


def independent(rng: Random, people: int, tuples: int) -> dict[Database, Fraction]:
    """Return a belief of Equation 7: people independent of each other; often certain of some."""
    rows = []
    for _ in range(people):
        weights = [rng.choice([0, 0, 1, 2, 50]) for _ in range(tuples + 1)]
        weights[rng.randrange(tuples + 1)] += 1
        rows.append([Fraction(w, sum(weights)) for w in weights])
    return {
        d: prod((row[t] for row, t in zip(rows, d, strict=True)), start=Fraction(1))
        for d in databases(people, tuples)
    }


def odds(belief: Belief, chance: Chance, one: Secret, two: Secret) -> Fraction | None:
    """Return P(w | s) / P(w | s'), None where a secret has probability 0 (Definition 3.1)."""
    means = []
    for i, t in (one, two):
        inside = {d: p for d, p in belief.items() if p and d[i] == t}
        weight = sum(inside.values())
        if not weight:
            return None
        means.append(Fraction(sum(p * chance[d] for d, p in inside.items())) / weight)
    return means[0] / means[1]


def worst(
    beliefs: Iterable[Belief], chance: Chance, pairs: Sequence[tuple[Secret, Secret]]
) -> Fraction:
    """Return the largest odds ratio over beliefs and pairs, both ways; 1 where all are skipped."""
    found = Fraction(1)
    for belief in beliefs:
        for one, two in pairs:
            ratio = odds(belief, chance, one, two)
            if ratio is not None:
                found = max(found, ratio, 1 / ratio)
    return found


def induced_pairs(possible: Sequence[Database]) -> Iterator[tuple[Database, Database]]:
    """Yield the induced neighbours (Definition 9.2, proper non-empty parts): a tuple comes or goes.

    Each person has one tuple at the most, so that one who changes tuples makes two moves.
    """
    inside = set(possible)
    for one, two in product(possible, repeat=2):
        choices = [{x, y, 0} for x, y in zip(one, two, strict=True)]
        between = (d for d in product(*map(sorted, choices)) if d not in (one, two))
        if one != two and not any(d in inside for d in between):
            yield one, two


def certain_pairs(
    possible: Sequence[Database], pairs: Sequence[tuple[Secret, Secret]]
) -> Iterator[tuple[Database, Database]]:
    """Yield what independent beliefs may be left with where facts are counts: databases that
    differ in a secret pair, and nothing between them (each person as in one or the other) is
    possible.
    """
    inside, told = set(possible), {frozenset(pair) for pair in pairs}
    for one, two in product(possible, repeat=2):
        ends = list(zip(one, two, strict=True))
        secret = any(frozenset([(i, x), (i, y)]) in told for i, (x, y) in enumerate(ends))
        between = (d for d in product(*(sorted({x, y}) for x, y in ends)) if d not in (one, two))
        if one != two and secret and not any(d in inside for d in between):
            yield one, two
