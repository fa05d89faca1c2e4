"""Reading 5 with bounds or clauses: can an attacker be left with exactly D1 and D2?

A belief makes records independent, given the facts. Told what record i holds, the attacker may be
certain (in the limit) of D1, and told its other value of D2, iff some weights c_j(v) make D1 the
only least one of {D in I_Q : D_i = D1_i}, and D2 the only least one of {D in I_Q : D_i = D2_i},
of sum c_j(D_j): give value v of record j a probability in proportion to t^c_j(v), and let t go to
0; the other way round, minus the logarithms of beliefs that come near to both are such weights.

Values that neither D1 nor D2 has may weigh as much as one likes, so that only databases between the
two matter, those in which each record holds what it holds in D1 or in D2. With w_j = c_j(D2_j) -
c_j(D1_j), what is asked for are numbers w with

    sum of w over s > 0   for each part s of the other changes that leads from D1 into I_Q,
    sum of w over s < 0   for each part s of them whose undoing leads from D2 into I_Q.

There are none iff some of the former and some of the latter, with positive multiplicities, cover
each change equally often (Gordan's lemma): a linear program, solved exactly. Where no part of one
sort exists there are; where some part is of both sorts there are none. With equalities alone both
sorts are the same, and what is left is irreducibility. Records that make the same move are alike
(the mean of w over them does as well), unless clauses name records.

Brute force writes down the weights instead; this shares nothing with the engines.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from math import lcm, prod

from blowproof.models import BudgetError, Point, Setting
from blowproof.models.base.clock import now
from blowproof.models.programs.linear_lp import Inequality, maximum
from blowproof.verifier.asked.answer import Pair
from blowproof.verifier.limits.limit import whole_limit

__all__ = ["certain_of_both", "certainty_weights", "separated"]

Part = tuple[int, ...]
"""How many records of each group of equal changes take part."""

OFTEN = whole_limit(__name__, "OFTEN")


def certain_of_both(
    setting: Setting, pair: Pair, *, budget: int, deadline: float | None = None
) -> bool:
    """Return whether a record's secret move tells D1 from D2, nothing else being in doubt.

    The pair is well-formed, and both databases are in I_Q. BudgetError where parts are too many.
    """
    world = _Between.of(setting, pair)
    for place, ((x, y), _) in enumerate(world.groups):
        if setting.graph.is_edge(x, y):
            onward, back = world.parts(place, budget, deadline)
            if separated(onward, back, deadline):
                return True
    return False


def separated(onward: Sequence[Part], back: Sequence[Part], deadline: float | None = None) -> bool:
    """Return whether some w is positive on every part of the one sort, negative on the other.

    Parts are not zero, and nowhere negative.

    >>> separated([(1, 0)], [(0, 1)]), separated([(1, 0), (0, 1)], [(1, 1)])
    (True, False)
    """
    if not onward or not back:
        return True
    if set(onward) & set(back):
        return False
    columns = [*onward, *(tuple(-number for number in part) for part in back)]
    rows = [
        Inequality({n: column[place] for n, column in enumerate(columns)}, "=", 0)
        for place in range(len(onward[0]))
    ]
    rows.append(Inequality(dict.fromkeys(range(len(onward)), 1), "=", 1))
    try:
        found = maximum(rows, {}, len(columns), deadline=deadline)
    except (OverflowError, TimeoutError) as refusal:
        raise BudgetError("the linear program of joint certainty is too large") from refusal
    return found.status == "infeasible"


def certainty_weights(
    setting: Setting, pair: Pair, told: int, *, budget: int = 1 << 16
) -> list[int] | None:
    """Return whole numbers w for the changes, by which a belief comes near to both databases.

    `told` is the change that the attacker is told, with weight 0. None where there are no weights.
    A belief that gives D2's value of each other record j a part 2^-(k w_j) of what it gives D1's
    is certain of D1, told that, and of D2, told the other value, as k grows.
    """
    world = _Between.of(setting, pair)
    group = next(k for k, (_, places) in enumerate(world.groups) if told in places)
    onward, back = world.parts(group, budget, None)
    weights = _weights(onward, back, len(world.groups))
    if weights is None:
        return None
    found = [0] * len(pair.before)
    for weight, (_, places) in zip(weights, world.groups, strict=True):
        for place in places:
            found[place] = 0 if place == told else weight
    return found


def _weights(onward: Sequence[Part], back: Sequence[Part], count: int) -> list[int] | None:
    if not onward or not back:
        return [1 if not back else -1] * count
    rows = []
    for part, sign in [(part, 1) for part in onward] + [(part, -1) for part in back]:
        terms: dict[int, int] = {}
        for place, times in enumerate(part):
            terms[2 * place], terms[2 * place + 1] = sign * times, -sign * times
        rows.append(Inequality(terms, ">=", 1))
    found = maximum(rows, {}, 2 * count)
    if found.status != "optimal":
        return None
    exact = [found.point[2 * k] - found.point[2 * k + 1] for k in range(count)]
    scale = lcm(*(value.denominator for value in exact))
    return [int(value * scale) for value in exact]


@dataclass(frozen=True)
class _Between:
    """The databases between D1 and D2: the changes in groups, and which records make them."""

    setting: Setting
    pair: Pair
    groups: tuple[tuple[tuple[Point, Point], tuple[int, ...]], ...]

    @staticmethod
    def of(setting: Setting, pair: Pair) -> _Between:
        moves = list(zip(pair.before, pair.after, strict=True))
        if setting.clauses:
            return _Between(setting, pair, tuple((m, (k,)) for k, m in enumerate(moves)))
        alike: dict[tuple[Point, Point], list[int]] = {}
        for place, move in enumerate(moves):
            alike.setdefault(move, []).append(place)
        return _Between(setting, pair, tuple((m, tuple(ks)) for m, ks in alike.items()))

    def parts(
        self, told: int, budget: int, deadline: float | None
    ) -> tuple[list[Part], list[Part]]:
        """Return the parts without record i (one of group `told`), of both sorts."""
        most = [len(places) - (number == told) for number, (_, places) in enumerate(self.groups)]
        if prod(times + 1 for times in most) > budget:
            raise BudgetError("the search outgrew its budget: too many parts of the changes")
        onward: list[Part] = []
        back: list[Part] = []
        whole = tuple(len(places) for _, places in self.groups)
        for number, part in enumerate(product(*(range(times + 1) for times in most))):
            if deadline is not None and number % OFTEN == 0 and now() > deadline:
                raise BudgetError("no time was left to look at every part of the changes")
            if not any(part):
                continue
            if self._inside(part):
                onward.append(part)
            if self._inside(tuple(a - b for a, b in zip(whole, part, strict=True))):
                back.append(part)
        return onward, back

    def _inside(self, part: Part) -> bool:
        """Whether D1 with so many of each group's changes is in I_Q."""
        setting, pair = self.setting, self.pair
        if setting.clauses:
            assert pair.database is not None
            assert pair.records is not None
            database = list(pair.database)
            for times, (_, (place,)) in zip(part, self.groups, strict=True):
                if times:
                    database[pair.records[place]] = pair.after[place]
            return setting.satisfied_by(database)
        held = Counter(pair.first())
        for times, ((x, y), _) in zip(part, self.groups, strict=True):
            held[x] -= times
            held[y] += times
        first = pair.first()
        return all(
            fact.holds(fact.total(held)) if fact.bounded else fact.total(held) == fact.total(first)
            for fact in (*setting.equalities, *setting.bounds)
        )
