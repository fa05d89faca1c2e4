"""A best score where databases are few: all of them and their neighbours are listed.

Every answer is looked at on every pair, in both directions. What it loses, that is the logarithm of
how much oftener it is chosen on the second database, depends on by how much it is behind each other
answer on either, and on which of these stand after it: of equal scores with noise on a grid, the
answer that stands first wins. So much is looked at once, the largest changes first. The worst pair
of all is among them; of what it loses (`known_scores`, `winning`) there is the lower end here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction

from blowproof.models import BoundQuery, BudgetError
from blowproof.models.base.clock import now
from blowproof.models.mechanisms.mechanism import Selection
from blowproof.verifier.asked.answer import Pair
from blowproof.verifier.certify.base.asked import Asked
from blowproof.verifier.certify.selections.choices import log_between
from blowproof.verifier.certify.selections.known_scores import log_sum, scores_of
from blowproof.verifier.certify.selections.winning import how_often
from blowproof.verifier.databases.consistency import databases_within, size_range
from blowproof.verifier.engines.brute import brute_neighbours
from blowproof.verifier.limits.limit import real_limit, whole_limit

__all__ = ["lost_on_few_databases"]

MOST_DATABASES = whole_limit(__name__, "MOST_DATABASES")
SECONDS = real_limit(__name__, "SECONDS")
FINER = whole_limit(__name__, "FINER")
FEW = whole_limit(__name__, "FEW")

Behind = Mapping[tuple[Fraction, Fraction, bool], int]
"""By how much an answer is behind others, in scales, on the first database and on the second, and
whether these stand after it; and how many they are."""


@dataclass(frozen=True)
class _Told:
    """An answer on the two databases of a pair, and how far the pair moves answers apart."""

    pair: Pair
    behind: Behind
    change: Fraction

    def on(self, second: bool) -> tuple[Counter[Fraction], Counter[Fraction]]:
        """Return by how much it is behind those that stand before it, and those after it."""
        sides = Counter[Fraction](), Counter[Fraction]()
        for (one, two, after), times in self.behind.items():
            sides[after][two if second else one] += times
        return sides


def lost_on_few_databases(
    asked: Asked, item: Selection, query: BoundQuery
) -> tuple[Fraction, Pair | None]:
    """Return what a best score loses at least on the worst pair that is met, and it; or 0."""
    outputs = query.outputs(asked.policy.domain)
    few = databases_within(asked.setting, asked.reading, MOST_DATABASES)
    if not few or outputs is None or outputs.count < 2 or query.per_record:
        return Fraction(0), None
    left = asked.left(Fraction(1, 4))
    end = now() + (SECONDS if left is None else min(SECONDS, left))
    low, high = size_range(asked.setting, asked.reading)
    named = bool(asked.setting.clauses)  # else one numbering of equal databases stands for all
    seen: dict[object, _Told] = {}
    with suppress(BudgetError, TimeoutError):
        for pair in brute_neighbours(
            asked.setting,
            asked.reading,
            sizes=range(low, (high or low) + 1),
            every_label=named,
            deadline=end,
        ):
            for way in (pair, pair.reversed()):
                for told in _answers(query, way, item.scale, outputs.count, outputs.place):
                    seen.setdefault(frozenset(told.behind.items()), told)
    return _worst(item, sorted(seen.values(), key=lambda told: -told.change), end)


def _worst(item: Selection, every: list[_Told], end: float) -> tuple[Fraction, Pair | None]:
    """Return the most that is lost; what is most telling is looked at more closely."""
    found: list[tuple[Fraction, _Told]] = []
    for told in every:
        if now() > end:
            break
        with suppress(BudgetError):
            found.append((_lost(item, told), told))
    best: tuple[Fraction, Pair | None] = Fraction(0), None
    for loss, told in sorted(found, key=lambda each: -each[0])[:FEW]:
        closer = loss
        if item.candidates == "maximum" and item.noise == "laplace":
            with suppress(BudgetError):
                closer = max(loss, _lost(item, told, finer=FINER))
        if closer > best[0]:
            best = closer, told.pair
    return best


def _answers(
    query: BoundQuery, pair: Pair, scale: Fraction, count: int, place: Callable[[Hashable], int]
) -> list[_Told]:
    """Return every answer that is not 0 on both databases of a pair, and its like."""
    first, second = (
        {key: value / scale for key, value in scores_of(query, database).items()}
        for database in (pair.first(), pair.second())
    )
    zero = Fraction(0)
    both = {key: (first.get(key, zero), second.get(key, zero)) for key in {**first, **second}}
    moves = [two - one for one, two in both.values()] + [zero] * (len(both) < count)
    change = max(moves, default=zero) - min(moves, default=zero)
    found = []
    for own, (one, two) in both.items():
        behind: Counter[tuple[Fraction, Fraction, bool]] = Counter()
        for key, (other, moved) in both.items():
            if key != own:
                behind[other - one, moved - two, place(key) > place(own)] += 1
        after = sum(times for (_, _, later), times in behind.items() if later)
        before = sum(behind.values()) - after
        behind[-one, -two, True] += count - 1 - place(own) - after
        behind[-one, -two, False] += place(own) - before
        found.append(_Told(pair, +behind, change))
    return found if change else []


def _lost(item: Selection, told: _Told, *, finer: int = 1) -> Fraction:
    """Return the logarithm of how much oftener an answer is chosen on the second, from below."""
    one, two = told.on(False), told.on(True)
    if item.candidates == "exponential":
        return log_sum(one[0] + one[1])[0] - log_sum(two[0] + two[1])[1]
    steps = item.scale if item.noise == "discrete-laplace" else None
    least, most = (
        how_often(*one, steps, finer=finer)[1],
        how_often(*two, steps, finer=finer)[0],
    )
    if not most or not least:
        raise BudgetError("the chance is too small to tell it")
    return log_between(most)[0] - log_between(least)[1]
