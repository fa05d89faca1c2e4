"""Reading 3 without facts: one record joins or leaves, or, where n is known, one replaces another.

The neighbours are unlabelled and G plays no part. With no fact at all, a single added or removed
record is a pair, and no pair has more moves; with n as the only fact, one removed and one added.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from blowproof.models import Exact, Point, Setting
from blowproof.models.base.numbers import magnitude
from blowproof.models.policy.readings import Reading
from blowproof.models.stacks.stacked import Part, Stacked
from blowproof.verifier.asked.answer import Pair
from blowproof.verifier.engines.one_move.worst_edge import worst_edge
from blowproof.verifier.limits.limit import whole_limit
from blowproof.verifier.reductions.complete_graph import complete_setting

__all__ = ["worst_arrival"]

MOST_VALUES = whole_limit(__name__, "MOST_VALUES")
MOST_ENTRIES = whole_limit(__name__, "MOST_ENTRIES")


def worst_arrival(
    setting: Setting, reading: Reading, parts: Sequence[Part]
) -> tuple[Fraction, Pair | None, str] | None:
    """Return the largest loss, a pair that has it, and how it was found; None if not so simple."""
    if reading != "add-remove" or setting.bounds or setting.clauses:
        return None
    if [fact for fact in setting.equalities if fact.name != "size"]:
        return None
    if not setting.equalities:
        return _one_more(setting, parts)
    size = setting.size if setting.scope == "given" else 1
    if not size:
        return None
    found = worst_edge(complete_setting(setting), parts)
    if found is None:
        return None
    pair = None
    if found.edge is not None:
        rest = ((found.edge[0], size - 1),) if size > 1 else ()
        pair = _swap(*found.edge, rest)
    return Fraction(found.loss), pair, f"one record for another; {found.how}"


def _swap(before: Point, after: Point, rest: tuple[tuple[Point, int], ...]) -> Pair:
    return Pair(before=(before,), after=(after,), unchanged=rest)


def _one_more(setting: Setting, parts: Sequence[Part]) -> tuple[Fraction, Pair | None, str] | None:
    """Return the heaviest row of a possible value, value by value."""
    if setting.domain.size > MOST_VALUES or any(part.query.per_record for part in parts):
        return None
    stacked = Stacked(tuple(parts))
    best: tuple[Exact, Point | None] = (0, None)
    work = 0
    for point in setting.domain.points():
        row = stacked.row(point)
        work += 1 + len(row)
        if work > MOST_ENTRIES:
            return None
        norm = sum(magnitude(value) for value in row.values())
        if norm > best[0] and point not in setting.impossible:
            best = (norm, point)
    loss, heaviest = best
    if heaviest is None:
        return Fraction(0), None, "no record changes what is released"
    return Fraction(loss), Pair(before=(), after=(heaviest,)), "one record joins or leaves"
