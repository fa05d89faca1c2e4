"""A belief, letter by letter: Definition 3.1 of pufferfish-2012 with exact numbers.

P(M = w | s, theta) is the sum of P(M(D) = w) theta(D) over the databases of which s is true,
divided by theta(s). A statement of probability 0 is skipped, as the definition does. Nothing here
knows of neighbours, sensitivities or theorems: every answer of `odds` is evaluated again by it.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from fractions import Fraction

from blowproof.models import Point
from blowproof.models.attackers.secrets import Statement
from blowproof.verifier.certify.channels.exponential_sums import Quotient
from blowproof.verifier.certify.channels.ratios import Ratio
from blowproof.verifier.odds.base.answer import Factor
from blowproof.verifier.odds.base.chances import Chances, Database

__all__ = ["Evaluation", "compared", "divided", "odds_ratio"]

Belief = Mapping[tuple[tuple[int, ...], ...], Fraction]
"""What a belief thinks of databases."""
ZERO = Quotient.of(0)


def odds_ratio(
    chances: Chances,
    belief: Belief,
    statements: tuple[Statement, Statement],
    output: Hashable,
    epsilon: Fraction,
) -> Factor | None:
    """Return P(w | s) / P(w | s') under a belief; None where a statement, or w, has probability 0.

    >>> from blowproof.models import Domain, Labels, Policy
    >>> from blowproof.models.attackers.secrets import Values
    >>> from blowproof.models.mechanisms.mechanism import Mechanism, Release
    >>> from blowproof.verifier.odds.base.chances import chances_of
    >>> policy = Policy(domain=Domain(ill=Labels(["no", "yes"])))
    >>> noise = Mechanism(releases=(Release(query="histogram", scale=Fraction(2)),))
    >>> chances, (pair,) = chances_of(noise, policy, Fraction(1)), Values().pairs(policy, 1)
    >>> half = {((0,),): Fraction(1, 2), ((1,),): Fraction(1, 2)}
    >>> odds_ratio(chances, half, pair, chances.at([(0,)], [(1,)]), Fraction(1)).text
    'exp(1)'
    """
    evaluation = Evaluation(chances, belief, epsilon)
    return evaluation.ratio(*statements, output)


class Evaluation:
    """One belief and one mechanism; sums are kept for each statement and output."""

    def __init__(
        self,
        chances: Chances,
        belief: Belief,
        epsilon: Fraction,
        seen: Callable[[tuple[Point, ...]], Quotient] | None = None,
    ) -> None:
        """`seen`: how likely a database makes what the attacker has seen before."""
        self.chances, self.belief, self.epsilon, self.seen = chances, belief, epsilon, seen
        self._inside: dict[str, list[tuple[Database, Fraction]]] = {}
        self._given: dict[tuple[str, Hashable], Quotient] = {}
        self._single: dict[tuple[Hashable, Hashable], Quotient] = {}

    def inside(self, statement: Statement) -> list[tuple[Database, Fraction]]:
        """Return the databases of which a statement is true, with their probabilities."""
        if statement.text not in self._inside:
            self._inside[statement.text] = [
                (database, chance)
                for database, chance in self.belief.items()
                if chance and statement.holds(database)
            ]
        return self._inside[statement.text]

    def believed(self, statement: Statement) -> Fraction:
        """Return the probability of a statement."""
        return sum((chance for _, chance in self.inside(statement)), start=Fraction(0))

    def given(self, statement: Statement, output: Hashable) -> Quotient:
        """Return P(w | s), up to a factor that is the same for all statements."""
        key = (statement.text, output)
        if key not in self._given:
            total = ZERO
            for database, chance in self.inside(statement):
                weight = Quotient.of(chance)
                if self.seen is not None:
                    weight = weight * self.seen(tuple(database))
                total = total + weight * self._chance(database, output)
            self._given[key] = total * self._all(statement).inverse()
        return self._given[key]

    def _all(self, statement: Statement) -> Quotient:
        """Return the probability of a statement, and of what was seen."""
        if self.seen is None:
            return Quotient.of(self.believed(statement))
        total = ZERO
        for database, chance in self.inside(statement):
            total = total + Quotient.of(chance) * self.seen(tuple(database))
        return total

    def _chance(self, database: Database, output: Hashable) -> Quotient:
        key = (tuple(database), output)
        if key not in self._single:
            self._single[key] = self.chances.chance(database, output)
        return self._single[key]

    def ratio(self, one: Statement, two: Statement, output: Hashable) -> Factor | None:
        """Return P(w | s) / P(w | s'); None where something has probability 0."""
        if not self.inside(one) or not self.inside(two):
            return None
        top, bottom = self.given(one, output), self.given(two, output)
        return divided(top, bottom, self.epsilon)

    def largest(
        self,
        pairs: Iterable[tuple[Statement, Statement]],
        outputs: Iterable[Hashable],
        in_time: Callable[[], None] = lambda: None,
    ) -> tuple[Factor, tuple[Statement, Statement, Hashable] | None, int]:
        """Return the largest ratio over pairs, both ways, and outputs; what shows it; how many
        pairs were skipped, since this belief gives one of the two probability 0.
        """
        best, skipped = Factor.exp(0), 0
        shown: tuple[Statement, Statement, Hashable] | None = None
        every = list(outputs)
        for one, two in pairs:
            in_time()
            if not self.inside(one) or not self.inside(two):
                skipped += 1
                continue
            for output in every:
                for s, other in ((one, two), (two, one)):
                    found = self.ratio(s, other, output)
                    if found is not None and (shown is None or found.above(best)):
                        best, shown = found, (s, other, output)
        return best, shown, skipped


def compared(
    chances: Chances, first: Database, second: Database, output: Hashable, epsilon: Fraction
) -> Factor | None:
    """Return P(M(D1) = w) / P(M(D2) = w); None where the output is impossible on D1."""
    return divided(chances.chance(first, output), chances.chance(second, output), epsilon)


def divided(top: Quotient, bottom: Quotient, epsilon: Fraction) -> Factor | None:
    """Return one sum divided by another; None where the first is 0, infinite where the other is."""
    if not top.top.at(epsilon).terms:
        return None
    if not bottom.top.at(epsilon).terms:
        return Factor.infinite()
    same = top.bottom == bottom.bottom
    found = Quotient(top.top, bottom.top) if same else top * bottom.inverse()
    return Factor.of(Ratio.of(found, epsilon), epsilon)
