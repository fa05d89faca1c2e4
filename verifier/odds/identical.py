"""Identically distributed records: one belief f for all, so fewer attackers than `independent`.

What bounds independent attackers bounds these. From below, beliefs are tried: each is evaluated
exactly, so that whatever they are, the bound is sound. Records that are known to be alike hide one
another less than independent ones, and more than certain ones; the beliefs that come near to
certainty (nearly all at one value) and those on a grid are what is tried.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations, product
from math import prod

from blowproof.models import BudgetError, Point
from blowproof.verifier.limits.limit import whole_limit
from blowproof.verifier.odds.answer import Factor, Shown
from blowproof.verifier.odds.asked import Asked
from blowproof.verifier.odds.independent import independent_odds
from blowproof.verifier.odds.listed import largest_of

__all__ = ["identical_odds"]

GRID = whole_limit(__name__, "GRID")
FEW_VALUES = whole_limit(__name__, "FEW_VALUES")
MOST_DATABASES = whole_limit(__name__, "MOST_DATABASES")
SLIGHT = (Fraction(1, 100), Fraction(1, 100_000))

WHY = "one belief for all records: tried from below, independent beliefs from above"

Belief = dict[Point, Fraction]


def identical_odds(
    asked: Asked,
) -> tuple[Factor, Factor | None, Shown | None, str, tuple[str, ...]]:
    """Return bounds on the largest odds ratio, what shows the lower one, why, and notes."""
    best, shown, tried = Factor.exp(0), None, 0
    notes: tuple[str, ...] = ()
    _, upper, _, _, more = independent_odds(asked)
    try:
        databases = asked.databases()
        if len(databases) > MOST_DATABASES:
            raise BudgetError(f"{len(databases)} databases are too many to try beliefs on")
        for belief in _beliefs([*dict.fromkeys(x for d in databases for x in d)]):
            asked.in_time()
            chances = {d: prod((belief[x] for x in d), start=Fraction(1)) for d in databases}
            total = sum(chances.values(), start=Fraction(0))
            if not total:
                continue
            found, seen, _ = largest_of(asked, {d: p / total for d, p in chances.items() if p})
            tried += 1
            if seen is not None and (shown is None or found.above(best)):
                best, shown = found, seen
            if upper is not None and not upper.above(best):
                break
    except (BudgetError, TimeoutError) as refusal:
        notes = (str(refusal).partition("\n")[0] or "stopped at the time limit",)
    return best, upper, shown, WHY, (*notes, *more, f"{tried} beliefs tried")


def _beliefs(values: list[Point]) -> Iterator[Belief]:
    """Yield beliefs: nearly certain of a value but for two others, then those on a grid."""
    for slight in SLIGHT:
        for two in combinations(values, 2):
            for rest in values:
                belief = dict.fromkeys(values, Fraction(0))
                for x in two:
                    belief[x] = slight
                belief[rest] += 1 - 2 * slight
                yield belief
    for two in combinations(values, 2):
        yield {x: Fraction(1, 2) if x in two else Fraction(0) for x in values}
    if len(values) <= FEW_VALUES:
        for parts in product(range(GRID + 1), repeat=len(values)):
            if sum(parts) == GRID:
                yield {x: Fraction(k, GRID) for x, k in zip(values, parts, strict=True)}
