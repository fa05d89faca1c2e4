"""Independent beliefs under any facts: the odds ratio as a ratio of polynomials, by families.

Record j holds v with a weight f_j(v) (`iid`: f(v), the same for all). Given a statement s, and the
facts, a database D of which s is true has a probability in proportion to the product of its
weights, the monomial m(D). So with Q_s the databases that the facts allow, and of which s is true,

    P(w | s) / P(w | s') = sum p(x) m(x) m(y) / sum p(y) m(x) m(y),   over x in Q_s, y in Q_s'.

Pairs (x, y) with one product m(x) m(y) are a *family* F. With A_F, B_F the sums of p(x), of p(y)
over a family, the ratio is sum A_F m_F / sum B_F m_F: a mean of the ratios A_F / B_F.

* **No more.** No belief does better than the largest A_F / B_F (`upper`). Where records differ in
  their beliefs, a family is what is left open when the unordered pairs {x_j, y_j} are fixed: the
  orientations of the theorem in `independent`, whose coupling says that with equalities A_F / B_F
  is at most the largest ratio over pairs of reading 5. With bounds and clauses it need not be: then
  this replaces S.
* **No less.** If F is a corner (a vertex of the convex hull of all exponents), some weights c make
  m_F the largest by far, as f(v) = few^-c(v) goes to its limit: beliefs come as near to A_F / B_F
  as one likes. A family of one pair (x, y) that is a corner is a pair of reading 5.

So where a family with the largest ratio is a corner, the answer is exact; else see `search`.
What attackers have seen (`seen`) gives each database a further factor, that of its likelihood.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import factorial, lcm, prod

from blowproof.models import BudgetError, Point
from blowproof.models.attackers.secrets import Intervals, Statement
from blowproof.models.base.kept import cached_property
from blowproof.models.programs.linear_lp import Inequality, maximum
from blowproof.verifier.certify.channels.exponential_sums import Quotient
from blowproof.verifier.limits.limit import whole_limit
from blowproof.verifier.odds.base.answer import Factor
from blowproof.verifier.odds.base.asked import Asked, Database
from blowproof.verifier.odds.base.chances import Additive
from blowproof.verifier.odds.base.evaluate import divided

__all__ = ["Families", "Monomial", "PairAndOutput", "Variable", "World", "question_of"]

MOST_PRODUCTS = whole_limit(__name__, "MOST_PRODUCTS")
BITS = whole_limit(__name__, "BITS")
LONGEST = whole_limit(__name__, "LONGEST")

Variable = tuple[int, Point]
"""A record (-1: all of them) and a value that it may hold: the weight f_j(v)."""
Monomial = tuple[Variable, ...]
"""Variables in order, each as often as its power."""
Within = tuple[int, int]
"""Whole numbers below and above a value, at the scale of its output."""
Between = tuple[Fraction, Fraction]
Side = dict[Monomial, list[tuple[Database, int]]]
"""The databases of which a statement is true, with how many each stands for, by monomial."""


class World:
    """The databases that the facts allow, and what they make likely, for one question."""

    def __init__(self, asked: Asked, *, symmetric: bool = True) -> None:
        """`symmetric`: make use of it where records may be exchanged, as far as outputs go."""
        self.asked = asked
        self.alike = asked.attackers.kind == "iid"
        self.symmetric = (
            symmetric
            and isinstance(asked.chances, Additive)
            and not asked.setting.clauses
            and not isinstance(asked.attackers.pairs, Intervals)
        )
        """Records may be exchanged: what holds of one holds of all."""
        self.kept: dict[tuple[str, Monomial, Hashable], tuple[Between, Between]] = {}
        self._sides: dict[str, Side] = {}

    @cached_property
    def databases(self) -> list[tuple[Database, int]]:
        """Every database; with identical beliefs and records that may be exchanged one of each
        multiset, records in order.
        """
        asked = self.asked
        if not (self.alike and self.symmetric):
            return [(d, 1) for d in asked.databases()]
        return [(d, 1) for d in asked.multisets()]

    def side(self, statement: Statement) -> Side:
        """Return the databases of which a statement is true, by monomial."""
        found = self._sides.get(statement.text)
        if found is None:
            found = defaultdict(list)
            for database, times in self._true(statement):
                found[self.monomial(database)].append((database, times))
            self._sides[statement.text] = found = dict(found)
        return found

    def _true(self, statement: Statement) -> Iterator[tuple[Database, int]]:
        if not (self.alike and self.symmetric):
            yield from ((d, n) for d, n in self.databases if statement.holds(d))
            return
        for database, _ in self.databases:
            if statement.about is None:
                if statement.holds(database):
                    yield database, orders(database)
            elif statement.about[1] in database:
                rest = list(database)
                rest.remove(statement.about[1])
                yield (statement.about[1], *rest), orders(rest)

    def monomial(self, database: Sequence[Point]) -> Monomial:
        """Return the product of a database's weights."""
        if self.alike:
            return tuple((-1, x) for x in sorted(database))
        return tuple(enumerate(database))

    def pairs(self) -> Iterator[tuple[Statement, Statement]]:
        """Yield the secret pairs, of one record alone where records may be exchanged."""
        for one, two in self.asked.attackers.pairs.pairs(self.asked.policy, self.asked.size):
            if self.symmetric and one.about is not None and one.about[0]:
                continue
            yield one, two
            yield two, one


def orders(database: Sequence[Point]) -> int:
    """Return in how many orders records can hold these values."""
    return factorial(len(database)) // prod(map(factorial, Counter(database).values()))


@dataclass(frozen=True, eq=False)
class Families:
    """One secret pair: its two sides, and the families that their monomials make."""

    world: World
    pair: tuple[Statement, Statement]
    ones: Side
    twos: Side
    exponents: tuple[Monomial, ...]
    members: tuple[tuple[int, Monomial, Monomial], ...]
    """Which family a monomial of the one side makes with one of the other."""

    @staticmethod
    def of(world: World, pair: tuple[Statement, Statement]) -> Families | None:
        """Return the families of a secret pair; None where a statement has probability 0."""
        ones, twos = (world.side(statement) for statement in pair)
        if not ones or not twos:
            return None
        if len(ones) * len(twos) > MOST_PRODUCTS:
            raise BudgetError(f"{len(ones)} times {len(twos)} products of beliefs are too many")
        numbers: dict[Monomial, int] = {}
        members = []
        for a in ones:
            world.asked.in_time()
            for b in twos:
                product = tuple(sorted((*a, *b)))
                members.append((numbers.setdefault(product, len(numbers)), a, b))
        return Families(world, pair, ones, twos, tuple(numbers), tuple(members))

    @cached_property
    def variables(self) -> tuple[Variable, ...]:
        """The variables whose powers differ between families."""
        rows = [Counter(exponent) for exponent in self.exponents]
        every = sorted({variable for row in rows for variable in row})
        return tuple(v for v in every if len({row[v] for row in rows}) > 1)

    @cached_property
    def powers(self) -> tuple[tuple[int, ...], ...]:
        """The families' powers of the variables."""
        rows = (Counter(exponent) for exponent in self.exponents)
        return tuple(tuple(row[v] for v in self.variables) for row in rows)

    def corner(self, family: int) -> dict[Variable, int] | None:
        """Return weights by which a family is larger than all others in the limit, if any are.

        A variable stands for few^-weight; a linear program finds them, a few families at a time.
        """
        own, count = self.powers[family], len(self.variables)
        others: list[int] = []
        weights = [0] * count
        while True:
            worst = min(
                (
                    (sum(w * (a - b) for w, a, b in zip(weights, row, own, strict=True)), n)
                    for n, row in enumerate(self.powers)
                    if n != family
                ),
                default=(1, 0),
            )
            if worst[0] > 0:
                return dict(zip(self.variables, weights, strict=True))
            others.append(worst[1])
            rows = []
            for n in others:
                terms: dict[int, int] = {}
                for k, (a, b) in enumerate(zip(self.powers[n], own, strict=True)):
                    if a != b:
                        terms[2 * k], terms[2 * k + 1] = a - b, b - a
                rows.append(Inequality(terms, ">=", 1))
            try:
                found = maximum(rows, {}, 2 * count, deadline=self.world.asked.deadline)
            except OverflowError:
                return None
            if found.status == "infeasible":
                return None
            exact = [found.point[2 * k] - found.point[2 * k + 1] for k in range(count)]
            scale = lcm(*(value.denominator for value in exact))
            weights = [int(value * scale) for value in exact]


@dataclass(frozen=True, eq=False)
class PairAndOutput:
    """One secret pair and one output: A_F and B_F of each family, within whole numbers."""

    families: Families
    output: Hashable
    tops: tuple[Within, ...]
    bottoms: tuple[Within, ...]

    @property
    def exact(self) -> bool:
        """Whether all numbers are known exactly."""
        return all(low == high for low, high in (*self.tops, *self.bottoms))

    @cached_property
    def ratios(self) -> tuple[tuple[Fraction, Fraction | None], ...]:
        """Each family's ratio A_F / B_F, between two fractions (None: infinite)."""
        return tuple(
            (Fraction(a, d) if d else Fraction(0), Fraction(b, c) if c else None)
            for (a, b), (c, d) in zip(self.tops, self.bottoms, strict=True)
        )

    @cached_property
    def order(self) -> tuple[int, ...]:
        """The families, the largest ratio first; those that weigh nothing on both sides last."""

        def key(n: int) -> tuple[int, Fraction]:
            high = self.ratios[n][1]
            if high is None:
                return (1, Fraction(0)) if self.tops[n][1] else (-1, Fraction(0))
            return 0, high

        return tuple(sorted(range(len(self.tops)), key=key, reverse=True))

    @cached_property
    def most(self) -> Fraction | None:
        """What no belief exceeds for this pair and output (None: infinite)."""
        return self.ratios[self.order[0]][1] if self.order else Fraction(0)

    def value(self, family: int) -> Factor | None:
        """Return A_F / B_F as it is; None where A_F is 0."""
        world = self.families.world
        top = bottom = Quotient.of(0)
        for number, a, b in self.families.members:
            if number == family:
                one, two = self.families.ones[a], self.families.twos[b]
                top = top + _summed(world, one, self.output) * _summed(world, two, None)
                bottom = bottom + _summed(world, one, None) * _summed(world, two, self.output)
        return divided(top, bottom, world.asked.epsilon)

    def reached(self, belief: Callable[[Monomial], Fraction]) -> Factor | None:
        """Return the odds ratio of a belief, by Definition 3.1 over the two sides."""
        world = self.families.world
        sides = []
        for side in (self.families.ones, self.families.twos):
            seen = total = Quotient.of(0)
            for monomial, some in side.items():
                weight = belief(monomial)
                if weight:
                    seen = seen + Quotient.of(weight) * _summed(world, some, self.output)
                    total = total + Quotient.of(weight) * _summed(world, some, None)
            if not total.top.terms:
                return None
            sides.append((seen, total))
        (seen_one, one), (seen_two, two) = sides
        return divided(seen_one * two, seen_two * one, world.asked.epsilon)


def _summed(
    world: World, some: Sequence[tuple[Database, int]], output: Hashable | None
) -> Quotient:
    """Return the sum of what databases make likely: what was seen, and an output (if any)."""
    found = Quotient.of(0)
    for database, times in some:
        chance = world.asked.seen(database)
        if output is not None:
            chance = chance * world.asked.chances.chance(database, output)
        found = found + Quotient.of(times) * chance
    return found


def question_of(families: Families, output: Hashable) -> PairAndOutput:
    """Return a secret pair with an output: what each family weighs on the two sides."""
    ones, twos = (
        _weights(families.world, statement.text, side, output)
        for statement, side in zip(families.pair, (families.ones, families.twos), strict=True)
    )
    scale = _scale([*ones.values(), *twos.values()])
    one = {m: _whole(pair, scale) for m, pair in ones.items()}
    two = {m: _whole(pair, scale) for m, pair in twos.items()}
    tops = [[0, 0] for _ in families.exponents]
    bottoms = [[0, 0] for _ in families.exponents]
    for number, a, b in families.members:
        for side in (0, 1):
            tops[number][side] += one[a][0][side] * two[b][1][side]
            bottoms[number][side] += one[a][1][side] * two[b][0][side]
    return PairAndOutput(
        families,
        output,
        tuple((low, high) for low, high in tops),
        tuple((low, high) for low, high in bottoms),
    )


def _weights(
    world: World, said: str, side: Side, output: Hashable
) -> dict[Monomial, tuple[Between, Between]]:
    """Return for each monomial how much weight its databases have, with the output and without."""
    kept, found = world.kept, {}
    for monomial, some in side.items():
        key = (said if world.alike else "", monomial, output)
        if key not in kept:
            with_it, without = (
                _between(_summed(world, some, told), world.asked.epsilon) for told in (output, None)
            )
            kept[key] = with_it, without
        found[monomial] = kept[key]
    return found


def _between(value: Quotient, epsilon: Fraction) -> Between:
    top, bottom = value.top.at(epsilon), value.bottom.at(epsilon)
    if not top.terms:
        return Fraction(0), Fraction(0)
    if not any((*top.terms, *bottom.terms)):
        exact = top.terms[Fraction(0)] / bottom.terms[Fraction(0)]
        return exact, exact
    (a, b), (c, d) = top.between(BITS), bottom.between(BITS)
    if d < 0:
        a, b, c, d = -b, -a, -d, -c
    if a < 0 or c <= 0:
        raise BudgetError("two probabilities are too close to be told apart")
    return a / d, b / c


def _scale(pairs: Sequence[tuple[Between, Between]]) -> int:
    """Return a number that makes all of them whole, or enough digits of the smallest one."""
    ends = [end for pair in pairs for between in pair for end in between]
    exact = all(low == high for pair in pairs for low, high in pair)
    if exact:
        scale = 1
        for end in ends:
            scale = lcm(scale, end.denominator)
            if scale.bit_length() > LONGEST:
                break
        else:
            return scale
    least = min((end for end in ends if end), default=Fraction(1))
    return 1 << (BITS + max(0, (1 / least).__ceil__().bit_length()))


def _whole(pair: tuple[Between, Between], scale: int) -> tuple[Within, Within]:
    (a, b), (c, d) = pair
    return (
        (a * scale).__floor__(),
        (b * scale).__ceil__(),
    ), ((c * scale).__floor__(), (d * scale).__ceil__())
