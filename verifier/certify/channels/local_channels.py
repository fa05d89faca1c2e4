"""Local mechanisms under any answers: the worst product of ratios over irreducible multisets.

With equality counts and impossible values, the moves of a neighbour pair are an irreducible
multiset: of secret moves in reading 2, of all moves in readings 1 and 5. The ratio of a pair is the
product over its moves, so each effect is made by the move with the largest ratio.

Reading 1 with a graph that is not complete: a pair is an irreducible multiset with at least one
secret move, but not every such multiset is a pair. Those of few moves are tried in every way, each
checked by the independent checker; for the others the largest product is a bound. Reading 5 has all
of these multisets for pairs, and goes the same way.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import combinations_with_replacement, product
from math import comb, inf, log, prod

from blowproof.models import BudgetError, Point
from blowproof.models.domain.regions import Area
from blowproof.models.policy.readings import is_mixed
from blowproof.models.queries.kinds import CountQuery
from blowproof.verifier.asked.answer import Pair
from blowproof.verifier.certify.base.asked import Asked
from blowproof.verifier.certify.channels.ratios import Ratio
from blowproof.verifier.engines.irreducibles import irreducibles
from blowproof.verifier.engines.search.effects import SEARCH_EFFECTS, EffectTable
from blowproof.verifier.limits.limit import whole_limit
from blowproof.verifier.moves.kinds import Kind, Moves
from blowproof.verifier.neighbours.check import check_pair, require_pair

__all__ = ["Ends", "any_answers"]

Ends = tuple[Point, Point]
Check = Callable[[Sequence[Kind]], bool]
Rate = Callable[[Ends], Ratio | None]
NOTHING = CountQuery(Area(()), "none")
WAYS = whole_limit(__name__, "WAYS")


class _Best:
    """The moves with the largest product so far, and what bounds the products of all pairs."""

    def __init__(self, rate: Rate) -> None:
        self.lower = self.upper = Ratio.one()
        self.rate = rate
        self.kinds: tuple[Kind, ...] = ()
        self.infinite = False
        self.unbounded = False
        self._logs: dict[Ends, float] = {}
        self._least = 0.0

    def log(self, kind: Kind) -> float:
        """Return a little more than the logarithm of a move's ratio."""
        ends = _ends(kind)
        if ends not in self._logs:
            ratio = self.rate(ends)
            above = None if ratio is None else ratio.between[1]
            self._logs[ends] = inf if above is None else _log(above)
        return self._logs[ends]

    def promising(self, kinds: Sequence[Kind]) -> bool:
        """Whether the product is not clearly below the best so far."""
        return not self.infinite and sum(map(self.log, kinds)) > self._least - 1e-6

    def product(self, kinds: Sequence[Kind]) -> Ratio | None:
        """Return the product of the moves' ratios (None: infinite)."""
        product = Ratio.one()
        for kind in kinds:
            ratio = self.rate(_ends(kind))
            if ratio is None:
                return None
            product = product.times(ratio)
        return product

    def offer(self, kinds: Sequence[Kind], *, check: Check | None = None) -> None:
        """Take the moves of a pair; with a check, only if they are one."""
        if not self.promising(kinds):
            return
        product = self.product(kinds)
        if product is not None and not product.above(self.lower):
            return
        if check is not None and not check(kinds):
            return
        self.kinds = tuple(kinds)
        if product is None:
            self.infinite = True
        else:
            self.lower = product
            self._least = _log(product.between[0])
            self.upper = product if product.above(self.upper) else self.upper

    def bound(self, kinds: Sequence[Kind]) -> None:
        """Take what some pair might lose."""
        if not self.promising(kinds):
            return
        product = self.product(kinds)
        if product is None:
            self.unbounded = True
        elif product.above(self.upper):
            self.upper = product

    def largest(self, kinds: Sequence[Kind]) -> Kind:
        """Return the move with the largest ratio."""
        near = max(map(self.log, kinds))
        best, *others = [kind for kind in kinds if self.log(kind) >= near - 1e-6]
        for kind in others:
            one, two = self.rate(_ends(kind)), self.rate(_ends(best))
            if one is None or (two is not None and one.above(two)):
                best = kind
        return best


def _log(value: Fraction) -> float:
    """Return the logarithm of a number from 1 on; where too few digits are known, 0."""
    return log(value.numerator) - log(value.denominator) if value > 0 else 0.0


def any_answers(
    asked: Asked, values: Sequence[Point], rate: Rate
) -> tuple[Pair | None, Ratio | None, str]:
    """Return a pair with the largest ratio found, an upper bound (None: none), and a note.

    `rate` says the largest ratio of one move (None: infinite).
    """
    setting = asked.setting
    possible = tuple(sorted(x for x in values if x not in setting.impossible))
    moves = Moves(setting, NOTHING, asked.reading, possible)
    table = EffectTable.of(moves)
    if len(table.effects) > SEARCH_EFFECTS:
        raise BudgetError(f"{len(table.effects)} effects of moves are too many to combine")
    best = _Best(rate)
    partly = is_mixed(asked.reading) and not setting.graph.complete

    def check(kinds: Sequence[Kind]) -> bool:
        """Whether the moves are a pair in one direction or the other: both directions count."""
        pair = moves.pair(Counter(kinds), Counter())
        ways = (pair, pair.reversed())
        return any(check_pair(setting, asked.reading, way) for way in ways)

    for kind in table.idle:
        if kind.secret:
            best.offer([kind])
    listing = irreducibles(table.effects, time_limit=asked.left())
    for multiset in listing:
        groups = table.groups(multiset)
        if partly:
            _try_every_way(best, groups, check)
        else:
            best.offer([best.largest(kinds) for kinds, times in groups for _ in range(times)])
        if best.infinite:
            break
    done = listing.complete or best.infinite
    pair = None
    if best.kinds:
        pair = moves.pair(Counter(best.kinds), Counter())
        pair = pair if check_pair(setting, asked.reading, pair) else pair.reversed()
        require_pair(setting, asked.reading, pair)
    upper = None if best.unbounded or not done else best.upper
    note = "every irreducible multiset of moves" if done else "stopped before every one was listed"
    return pair, upper, note


def _try_every_way(best: _Best, groups: Sequence[tuple[Sequence[Kind], int]], check: Check) -> None:
    """Reading 1, G not complete: choose the moves in every way, or bound what they can lose."""
    if not any(kind.secret for kinds, _ in groups for kind in kinds):
        return
    free = [best.largest(kinds) for kinds, times in groups for _ in range(times)]
    if prod(comb(len(kinds) + times - 1, times) for kinds, times in groups) > WAYS:
        best.offer(free, check=check)
        best.bound(free)
        return
    if best.promising(free):
        choices = [combinations_with_replacement(kinds, times) for kinds, times in groups]
        for choice in product(*choices):
            kinds = [kind for part in choice for kind in part]
            if any(kind.secret for kind in kinds):
                best.offer(kinds, check=check)


def _ends(kind: Kind) -> Ends:
    assert kind.before is not None
    assert kind.after is not None
    return kind.before, kind.after
