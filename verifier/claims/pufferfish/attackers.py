"""pufferfish-2012, sections 8 and 9: composition, and attackers who know counts."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import product
from random import Random

from blowproof.models import Exact
from blowproof.verifier.claims.pufferfish.worlds import (
    Database,
    certain_pairs,
    databases,
    induced_pairs,
    mechanism,
    secret_pairs,
)
from blowproof.verifier.claims.stating.claim import Claim, Instance
from blowproof.verifier.claims.stating.families import SEED, family
from blowproof.verifier.claims.stating.identity import Identity
from blowproof.verifier.claims.stating.parts import counted
from blowproof.verifier.neighbours.joint_certainty import separated

__all__ = ["CLAIMS"]

# --- section 8 -----------------------------------------------------------------------------------


def _splits() -> Iterator[Instance]:
    for one in range(1, 4):
        for two in range(1, 4):
            for seed in range(4):
                yield Instance(
                    shape=f"{one} databases against {two}",
                    parameters={"one": one, "two": two, "seed": seed},
                    sampled=True,
                )


SPLITS = family("1 to 3 databases on each side of a secret pair", _splits)


def _composes(instance: Instance) -> Exact:
    """Whether no two mechanisms tried let the odds together move by more than one by one.

    One belief alone, its databases equally likely. The mechanism of the proof is among them: half
    on one side, and on the other a half on average, spread as far as it goes.
    """
    sides = instance.whole("one"), instance.whole("two")
    rng = Random(f"{SEED} {sides} {instance.whole('seed')}")
    rows = [[[Fraction(rng.randint(1, 9), 10) for _ in range(n)] for n in sides] for _ in range(3)]
    for wide in range(2):
        if sides[wide] > 1:
            even = [Fraction(1, 2)] * (sides[wide] - 2)
            spread = [Fraction(9, 10), Fraction(1, 10), *even]
            flat = [Fraction(1, 2)] * sides[1 - wide]
            rows.append([spread, flat] if wide == 0 else [flat, spread])
    for first, second in product(rows, repeat=2):
        alone = [_most([_means(m, a) for a in range(2)]) for m in (first, second)]
        together = [
            [
                _mean([_either(x, a) * _either(y, b) for x, y in zip(one, two, strict=True)])
                for one, two in zip(first, second, strict=True)
            ]
            for a in range(2)
            for b in range(2)
        ]
        if _most(together) > alone[0] * alone[1]:
            return 0
    return 1


def _either(chance: Fraction, output: int) -> Fraction:
    return chance if output else 1 - chance


def _means(rows: list[list[Fraction]], output: int) -> list[Fraction]:
    return [_mean([_either(x, output) for x in row]) for row in rows]


def _mean(chances: list[Fraction]) -> Fraction:
    return sum(chances, start=Fraction(0)) / len(chances)


def _most(means: list[list[Fraction]]) -> Fraction:
    return max(max(a / b, b / a) for a, b in means)


THEOREM_8_1 = Claim(
    id="pufferfish-2012/theorem-8.1",
    source="Section 8, Theorem 8.1",
    quote="if and only if for all",
    statement="A distribution is a universally composable evolution scenario iff each secret of a "
    "pair determines the database under it.",
    read_as="Both directions on small sets of databases and two-valued mechanisms.",
    parts=(
        counted(
            "whether mechanisms compose linearly under it",
            SPLITS,
            lambda item: int(item.whole("one") == item.whole("two") == 1),
            _composes,
        ),
    ),
    proof="If both determine it, the condition is one on a pair of databases, and products of "
    "ratios multiply. If not, say given s' two databases are possible: an output of probability "
    "1/2 given s on each database, and of 1/2 on average but not on each given s', moves no odds, "
    "and twice it does, since the mean of a square is more than the square of the mean. No "
    "scenario besides is a definition that composes, and with this one it does not.",
)

# --- section 9 -----------------------------------------------------------------------------------


def _counts(most: int) -> Iterator[Instance]:
    """Yield how many people, and for each tuple the cell that counts it (0: none)."""
    for people in range(1, most + 1):
        for cells in ("1", "0", "11", "12", "10", "112", "120", "110"):
            for known in range(people + 1):
                yield Instance(
                    shape=f"cells {cells}",
                    parameters={"people": people, "cells": cells, "known": known},
                )


COUNTS = family(
    "1 to 3 people, up to 3 tuples in up to 2 cells, every number in the first",
    lambda: _counts(2),
    lambda: _counts(3),
)


def _possible(instance: Instance) -> list[Database]:
    """The databases whose first cell has the known number, and the second (if any) one."""
    cells, known = instance.word("cells"), instance.whole("known")
    every = databases(instance.whole("people"), len(cells))
    wanted = {"1": known, "2": 1}
    return [
        d
        for d in every
        if all(
            sum(t > 0 and cells[t - 1] == name for t in d) == number
            for name, number in wanted.items()
            if name in cells
        )
    ]


def _apart(one: Database, two: Database) -> int:
    """How much the histogram of tuples changes."""
    return sum(abs(one.count(t) - two.count(t)) for t in range(1, 4))


def _induced(instance: Instance) -> int:
    return max((_apart(*pair) for pair in induced_pairs(_possible(instance))), default=0)


def _left_with(instance: Instance) -> int:
    pairs = list(secret_pairs(instance.whole("people"), len(instance.word("cells")), values=True))
    return max((_apart(*pair) for pair in certain_pairs(_possible(instance), pairs)), default=0)


def _missed(instance: Instance) -> Exact:
    """How many induced neighbours no independent belief is left with."""
    people, tuples = instance.whole("people"), len(instance.word("cells"))
    possible = _possible(instance)
    left = set(certain_pairs(possible, list(secret_pairs(people, tuples, values=True))))
    return sum(pair not in left for pair in induced_pairs(possible))


THEOREM_9_1 = Claim(
    id="pufferfish-2012/theorem-9.1",
    source="Section 9.2, Theorem 9.1",
    quote="any general constraint",
    statement="Pufferfish with a deterministic constraint Q implies induced neighbours privacy "
    "for Q.",
    read_as="Pairs of induced neighbours against the attackers of Equation 17.",
    parts=(
        counted("induced neighbours that no belief is left with", COUNTS, lambda item: 0, _missed),
    ),
    proof="A belief that gives each person half to what it has in the one database and half to "
    "what it has in the other is left with these two: what is between them is made by a part of "
    "the moves.",
)


def _covering(instance: Instance) -> bool:
    return "0" not in instance.word("cells")


THEOREM_9_2 = Claim(
    id="pufferfish-2012/theorem-9.2",
    source="Section 9.3, Theorem 9.2",
    quote="is a univariate histogram",
    statement="For univariate histograms induced neighbours privacy is enough for Pufferfish.",
    read_as="Cells as printed, which need not cover the domain.",
    parts=(
        counted(
            "change of the histogram between databases that a belief is left with",
            COUNTS,
            _induced,
            _left_with,
            "<=",
            small="privacy",
        ),
        counted(
            "the same, where each tuple is in some cell",
            COUNTS,
            lambda item: _induced(item) if _covering(item) else None,
            _left_with,
            "<=",
            small="privacy",
            amended=True,
        ),
    ),
    repaired="If the cells cover the domain. For all count constraints, and any secrets: privacy "
    "of the pairs of reading 5 (irreducible changes of labelled records, a secret one among them) "
    "is necessary and enough, exactly.",
    amendment="condition",
    explanation="Where a tuple is in no cell, one person may go from a cell to that tuple while "
    "another comes into the cell: three moves, of which two keep the counts, so no induced "
    "neighbours; yet a belief that doubts nothing else is left with exactly these two databases.",
    proof="See blowproof.verifier.odds.independent: the coupling, by duality.",
)


def _students(most: int) -> Iterator[Instance]:
    for students in range(1, most + 1):
        yield Instance(shape=f"{students} students", parameters={"students": students})


def _certain_states(instance: Instance) -> Exact:
    """How many pairs of states some weights tell apart, by a student who is done in one of them."""
    students = instance.whole("students")
    states = [[int(i < k) for i in range(students)] for k in range(students + 1)]
    found = 0
    for one, two in product(states, repeat=2):
        places = [i for i in range(students) if one[i] != two[i]]
        found += any(_sure(states, one, two, places, told) for told in places)
    return found


def _sure(
    states: list[list[int]], one: list[int], two: list[int], places: list[int], told: int
) -> bool:
    rest = [i for i in range(len(one)) if one[i] == two[i]]
    between = [s for s in states if all(s[i] == one[i] for i in rest)]
    others = [i for i in places if i != told]

    def parts(home: list[int]) -> list[tuple[int, ...]]:
        alike = (s for s in between if s[told] == home[told])
        moved = (tuple(int(s[i] != home[i]) for i in others) for s in alike)
        return [part for part in moved if any(part)]

    return separated(parts(one), parts(two))


EQUATION_18 = Claim(
    id="pufferfish-2012/equation-18",
    source="Section 9.2, Equation 18",
    quote="in this situation",
    statement="In the exam queue Pufferfish needs any two possible databases to give every output "
    "with probabilities within exp(epsilon).",
    read_as="Any two databases of the exam queue, by the printed beliefs.",
    parts=(
        counted(
            "pairs of states that a belief is left with",
            family("1 to 7 students", lambda: _students(5), lambda: _students(7)),
            lambda item: item.whole("students") * (item.whole("students") + 1),
            _certain_states,
        ),
    ),
    proof="For i < j: sure that the first i are done and those after j are not, told of student "
    "i + 1, and leaning to done more and more for all others between.",
    identities=(
        Identity(
            "n students, t = exp(-epsilon), q of the trust for each absent student more: the odds "
            "at output n, in the limit of small q",
            "limit(((1-(q*t)**n)/(1-q*t))/((1-q**n)/(1-q))/t**n, q, 0)",
            "t**(-n)",
            whole="n",
            real="t",
        ),
    ),
)


def _together(instance: Instance) -> Exact:
    """The largest ratio of two independent outputs, over what attackers are left with, less the
    product of the two largest.
    """
    possible = _possible(instance)
    people, cells = instance.whole("people"), instance.word("cells")
    rng = Random(f"{SEED} {people} {cells} {instance.whole('known')}")
    pairs = list(certain_pairs(possible, list(secret_pairs(people, len(cells), values=True))))
    one, two = mechanism(rng, possible), mechanism(rng, possible)
    largest = [max((c[a] / c[b] for a, b in pairs), default=Fraction(1)) for c in (one, two)]
    both = max((one[a] * two[a] / (one[b] * two[b]) for a, b in pairs), default=Fraction(1))
    return both - largest[0] * largest[1]


COMPOSITION = Claim(
    id="pufferfish-2012/section-9.3-composition",
    source="Section 9.3, after Theorem 9.2",
    quote="composes with itself linearly",
    statement="For univariate histograms Pufferfish composes with itself linearly.",
    read_as="For the attackers of Theorem 9.2, two random channels.",
    parts=(
        counted(
            "odds of two releases above the product of theirs",
            COUNTS,
            lambda item: 0,
            _together,
            "<=",
            small="privacy",
        ),
    ),
    proof="By the theorem of blowproof.verifier.odds.independent it is a condition on pairs of "
    "databases that do not depend on the mechanism, for all count constraints, whether or not "
    "cells cover the domain; ratios of independent outputs multiply.",
)

CLAIMS = (THEOREM_8_1, THEOREM_9_1, EQUATION_18, THEOREM_9_2, COMPOSITION)
