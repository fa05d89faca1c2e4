"""Do releases compose linearly against these attackers (pufferfish-2012, section 8)? `composition`.

Privacy is a set of constraints on what a mechanism does: sum a(x) p(x) <= e^eps sum b(y) p(y), and
the other way round, each with two distributions a, b over databases. For listed beliefs there is
one for each belief and secret pair. For independent or identical ones there is one for each family
(see `families`): the family's are enough, and those of a corner are necessary, as limits.

* *Proved* (`linear` "proved"). Constraints that compare one database with one (Theorem 8.1: the
  universally composable ones) are conditions on neighbours, and compose: ratios of independent
  outputs multiply. If every other constraint's a and b couple along such neighbours (a maximum flow
  of 1), it follows from them, for every mechanism, and the whole composes.
* *Refuted.* Let g be a function of databases with the same mean under a as under b in every
  constraint. A mechanism that gives an output with probability 1/2 + d g moves no odds at all,
  whatever epsilon; run twice, it gives that output twice with probability 1/4 + d g + d^2 g^2. If
  some constraint has another mean of g^2 under a than under b, odds move by more than 1: more than
  e^(eps1 + eps2) for small epsilons. The g are the kernel of a matrix of fractions.
  For listed beliefs mechanisms are tried besides, whose odds twice are above the square of those
  once.
* *Open*: neither.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import lcm, prod
from random import Random
from typing import Any

import networkx as nx

from blowproof.models import BudgetError, InternalError, show
from blowproof.models.attackers.beliefs import Belief
from blowproof.verifier.asked.answer import json_value
from blowproof.verifier.limits.limit import whole_limit
from blowproof.verifier.odds.base.answer import Composition
from blowproof.verifier.odds.base.asked import Asked, Database
from blowproof.verifier.odds.families.families import Families, World
from blowproof.verifier.odds.listed import conditioned

__all__ = ["composition", "couples"]

MOST_DATABASES = whole_limit(__name__, "MOST_DATABASES")
MOST_CONSTRAINTS = whole_limit(__name__, "MOST_CONSTRAINTS")
TRIES = whole_limit(__name__, "TRIES")

Weights = Mapping[Database, Fraction]
Pair = tuple[Database, Database]

THEOREM = "a condition on pairs of databases that do not depend on the mechanism"
COUPLED = (
    "every constraint follows from those that compare one database with one, by a coupling "
    "(maximum flow)"
)
SQUARED = "run twice, a mechanism moves odds by more than the square of what it moves them by once"
TWICE = "a mechanism that moves no odds moves them when it is run twice"


@dataclass(frozen=True)
class Constraint:
    """Two distributions that the mechanism may not tell apart; whether both limits are reached."""

    ones: Weights
    twos: Weights
    told: tuple[str, str]
    necessary: bool = True

    @property
    def pair(self) -> Pair | None:
        """The two databases, where there is one on each side."""
        if len(self.ones) != 1 or len(self.twos) != 1 or not self.necessary:
            return None
        return next(iter(self.ones)), next(iter(self.twos))

    def moved(self, g: Mapping[Database, int]) -> Fraction:
        """Return by how much the mean of g differs."""
        one, two = (
            sum((w * g[d] for d, w in side.items()), start=Fraction(0))
            for side in (self.ones, self.twos)
        )
        return one - two

    def ratio(
        self, chances: Weights, a: int, b: int, *, both: bool = False
    ) -> tuple[Fraction, bool]:
        """Return the odds of an output (`both`: of two), and whether they are those of the other.

        1 stands for the output that `chances` are about, 0 for the other one.
        """
        one, two = (
            sum(
                (
                    w * _chance(chances[d], a) * (_chance(chances[d], b) if both else 1)
                    for d, w in side.items()
                ),
                start=Fraction(0),
            )
            for side in (self.ones, self.twos)
        )
        return (one / two, False) if one >= two else (two / one, True)


def composition(asked: Asked) -> Composition:
    """Return whether releases compose linearly against the attackers of a question."""
    kind = asked.attackers.kind
    loose = bool(asked.setting.bounds or asked.setting.clauses)
    if kind == "any" or (
        kind == "independent" and not loose and asked.by_graph and not asked.before.parts
    ):
        return Composition("proved", THEOREM)
    universal: tuple[bool, ...] = ()
    try:
        if kind in ("listed", "markov"):
            each = [list(found) for found in _of_listed(asked)]
            universal = tuple(all(c.pair is not None for c in some) for some in each)
            constraints = [c for some in each for c in some]
        else:
            constraints = list(_of_families(asked))
    except BudgetError as refusal:
        return Composition("open", str(refusal).partition("\n")[0])
    found = _decided(asked, constraints)
    return Composition(found.linear, found.why, found.example, universal)


def _of_listed(asked: Asked) -> Iterator[Iterator[Constraint]]:
    """Yield the constraints of each listed belief, given the facts and what was seen."""
    for place, scenario in enumerate(asked.attackers.listed):
        key = f"attackers.listed[{place}]"
        belief = Belief.of(scenario, asked.policy, asked.setting.size, key)
        yield _of_belief(asked, conditioned(asked, belief.chances, key))


def _of_belief(asked: Asked, chances: Weights) -> Iterator[Constraint]:
    size = max(map(len, chances), default=0)
    for one, two in asked.attackers.pairs.pairs(asked.policy, size):
        sides = [
            {d: p for d, p in chances.items() if p and statement.holds(d)}
            for statement in (one, two)
        ]
        if all(sides):
            yield Constraint(_mean(sides[0]), _mean(sides[1]), (one.text, two.text))


def _mean(side: Weights) -> dict[Database, Fraction]:
    total = sum(side.values())
    return {d: Fraction(weight) / total for d, weight in side.items()}


def _of_families(asked: Asked) -> Iterator[Constraint]:
    """Yield the constraint of each family; corners are necessary."""
    if asked.before.parts:
        raise BudgetError("what was seen has probabilities that are no fractions")
    world = World(asked, symmetric=False)
    seen: set[object] = set()
    for pair in world.pairs():
        families = Families.of(world, pair)
        if families is None:
            continue
        sides: list[tuple[dict[Database, Fraction], dict[Database, Fraction]]]
        sides = [(defaultdict(Fraction), defaultdict(Fraction)) for _ in families.exponents]
        for number, a, b in families.members:
            asked.in_time()
            for x, _ in families.ones[a]:
                for y, _ in families.twos[b]:
                    sides[number][0][x] += 1
                    sides[number][1][y] += 1
        for number, (ones, twos) in enumerate(sides):
            key = frozenset((frozenset(ones.items()), frozenset(twos.items())))
            if key in seen:
                continue
            seen.add(key)
            told = (pair[0].text, pair[1].text)
            single = len(ones) == len(twos) == 1
            corner = single and families.corner(number) is not None
            yield Constraint(_mean(ones), _mean(twos), told, necessary=corner)


def _decided(asked: Asked, constraints: Sequence[Constraint]) -> Composition:
    near: dict[Database, set[Database]] = defaultdict(set)
    for constraint in constraints:
        if constraint.pair is not None:
            one, two = constraint.pair
            near[one].add(two)
            near[two].add(one)
    open_ = [c for c in constraints if c.pair is None]
    if all(_follows(asked, c, near) for c in open_):
        return Composition("proved", COUPLED if open_ else THEOREM)
    every = sorted({d for c in constraints for side in (c.ones, c.twos) for d in side})
    if len(every) > MOST_DATABASES or len(constraints) > MOST_CONSTRAINTS:
        size = f"{len(every)} databases and {len(constraints)} constraints"
        return Composition("open", f"{size} are too many to look for an example")
    example = _twice(asked, constraints, every)
    if example is not None:
        return Composition("refuted", TWICE, example)
    if asked.attackers.exact:
        example = _more_than_squared(asked, constraints, every)
        if example is not None:
            return Composition("refuted", SQUARED, example)
    return Composition("open", "no coupling follows, and no example was found")


def _follows(asked: Asked, constraint: Constraint, near: Mapping[Database, set[Database]]) -> bool:
    asked.in_time()
    return couples(
        constraint.ones,
        constraint.twos,
        lambda x: (y for y in constraint.twos if y == x or y in near.get(x, ())),
    )[0]


def couples(
    ones: Weights, twos: Weights, near: Callable[[Database], Iterable[Database]]
) -> tuple[bool, set[Database]]:
    """Return whether two distributions couple along allowed pairs, else a set that refutes it.

    By maximum flow in whole numbers. The dual, a least cut, is checked: its set of databases has
    more weight than all that may be put opposite them.
    """
    scale = lcm(*(w.denominator for w in (*ones.values(), *twos.values())))
    graph = nx.DiGraph()
    graph.add_nodes_from(("from", "to"))
    for x, weight in ones.items():
        graph.add_edge("from", (0, x), capacity=int(weight * scale))
        for y in near(x):
            graph.add_edge((0, x), (1, y))
    for y, weight in twos.items():
        graph.add_edge((1, y), "to", capacity=int(weight * scale))
    value, (reached, _) = nx.minimum_cut(graph, "from", "to")
    if value == scale:
        return True, set()
    few = {x for x in ones if (0, x) in reached}
    opposite = {y for x in few for y in near(x)}
    if sum(ones[x] for x in few) <= sum(twos[y] for y in opposite):
        raise InternalError("a least cut refutes nothing")
    return False, few


# --- an example ----------------------------------------------------------------------------------


def _twice(
    asked: Asked, constraints: Sequence[Constraint], every: Sequence[Database]
) -> Any | None:
    """Return a mechanism that moves no odds, and moves them when it is run twice; None: not found.

    If any two functions of the kernel have a product that does, so has the square of their sum, or
    that of one of them: sums with random whole factors are tried, each checked exactly.
    """
    basis = _kernel([_row(c, every) for c in constraints], len(every), asked)
    rng = Random(0)
    for number in range(len(basis) + TRIES):
        asked.in_time()
        if number < len(basis):
            factors = [int(k == number) for k in range(len(basis))]
        else:
            factors = [rng.randint(-3, 3) for _ in basis]
        values = [
            sum(f * vector[k] for f, vector in zip(factors, basis, strict=True))
            for k in range(len(every))
        ]
        g = dict(zip(every, values, strict=True))
        squared = {d: value * value for d, value in g.items()}
        for constraint in constraints:
            if constraint.moved(squared):
                return _example(asked, g, constraint)
    return None


def _more_than_squared(
    asked: Asked, constraints: Sequence[Constraint], every: Sequence[Database]
) -> Any | None:
    """Return a mechanism whose largest odds, run twice, are above the square; None: not found."""
    rng = Random(2)
    for number in range(TRIES):
        asked.in_time()
        wide = 1 + number % 9
        chances = {d: Fraction(10 + rng.randint(-wide, wide), 20) for d in every}
        once = max(c.ratio(chances, a, 0)[0] for c in constraints for a in (1, 0))
        for a, b in ((1, 1), (1, 0), (0, 0)):
            for constraint in constraints:
                twice, turned = constraint.ratio(chances, a, b, both=True)
                if twice > once * once:
                    return _shown(asked, chances, constraint, (a, b), once, turned=turned)
    return None


def _chance(p: Fraction, output: int) -> Fraction:
    return p if output else 1 - p


def _row(constraint: Constraint, every: Sequence[Database]) -> list[Fraction]:
    zero = Fraction(0)
    return [constraint.ones.get(d, zero) - constraint.twos.get(d, zero) for d in every]


def _kernel(rows: Iterable[list[Fraction]], width: int, asked: Asked) -> list[list[int]]:
    """Return a basis of the vectors that every row is orthogonal to, in whole numbers."""
    pivots: dict[int, list[Fraction]] = {}
    for each in rows:
        asked.in_time()
        left = each
        for place, pivot in pivots.items():
            left = _less(left, pivot, place)
        place = next((k for k, value in enumerate(left) if value), -1)
        if place < 0:
            continue
        left = [value / left[place] for value in left]
        for other, pivot in pivots.items():
            pivots[other] = _less(pivot, left, place)
        pivots[place] = left
    basis = []
    for free in (k for k in range(width) if k not in pivots):
        vector = [Fraction(int(k == free)) for k in range(width)]
        for place, pivot in pivots.items():
            vector[place] = -pivot[free]
        scale = lcm(*(value.denominator for value in vector))
        basis.append([int(value * scale) for value in vector])
    return basis


def _less(row: list[Fraction], pivot: list[Fraction], place: int) -> list[Fraction]:
    """Take a row away so that nothing is left at its place, where it has 1."""
    factor = row[place]
    return [a - factor * b for a, b in zip(row, pivot, strict=True)] if factor else row


def _example(asked: Asked, g: Mapping[Database, int], constraint: Constraint) -> Any:
    """Return the mechanism, and an attacker whose odds it moves when it is run twice, as data."""
    largest = max(map(abs, g.values()))
    chances = {d: Fraction(1, 2) + Fraction(2 * value, 5 * largest) for d, value in g.items()}
    told, sides = constraint.told, (constraint.ones, constraint.twos)
    if not asked.attackers.exact:
        told, sides = _moved_belief(asked, chances)
    once, twice = (
        [
            sum((w * chances[d] ** power for d, w in side.items()), start=Fraction(0))
            for side in sides
        ]
        for power in (1, 2)
    )
    if once[0] != once[1] or twice[0] == twice[1]:
        raise InternalError("an example of what does not compose is none")
    found = Constraint(sides[0], sides[1], told)
    turned = found.ratio(chances, 1, 1, both=True)[1]
    return _shown(asked, chances, found, (1, 1), Fraction(1), turned=turned)


def _shown(  # keyword-only options
    asked: Asked,
    chances: Weights,
    constraint: Constraint,
    outputs: tuple[int, int],
    once: Fraction,
    *,
    turned: bool,
) -> Any:
    domain = asked.policy.domain
    way = -1 if turned else 1
    sides = (constraint.ones, constraint.twos)[::way]
    return {
        "outputs": "a, with the probability beside its database, else b",
        "mechanism": [
            {"database": [json_value(domain, x) for x in d], "a": show(p)}
            for d, p in sorted(chances.items())
        ],
        "secret": list(constraint.told[::way]),
        "seen": ["a" if output else "b" for output in outputs],
        "odds_once": show(once),
        "odds_twice": show(constraint.ratio(chances, *outputs, both=True)[0]),
        "told": [
            [
                {"database": [json_value(domain, x) for x in d], "probability": show(w)}
                for d, w in sorted(side.items())
            ]
            for side in sides
        ],
    }


def _moved_belief(
    asked: Asked, chances: Weights
) -> tuple[tuple[str, str], tuple[Weights, Weights]]:
    """Return what a belief is told, and thinks then, whose odds the mechanism moves when run twice.

    Some belief's odds move, as two polynomials in the weights differ: random weights find one.
    """
    world, rng = World(asked, symmetric=False), Random(1)
    while True:
        asked.in_time()
        weights: dict[object, int] = {}
        for pair in world.pairs():
            sides: list[Weights] = []
            for statement in pair:
                side: dict[Database, Fraction] = {}
                for monomial, some in world.side(statement).items():
                    weight = prod(weights.setdefault(v, rng.randint(1, 9)) for v in monomial)
                    side.update((d, Fraction(weight)) for d, _ in some)
                sides.append(_mean(side) if side else {})
            one, two = sides
            if one and two and _square(one, chances) > _square(two, chances):
                return (pair[0].text, pair[1].text), (one, two)


def _square(side: Weights, chances: Weights) -> Fraction:
    return sum((w * chances[d] ** 2 for d, w in side.items()), start=Fraction(0))
