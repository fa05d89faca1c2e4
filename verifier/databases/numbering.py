"""Clauses in readings without labels: can the records be numbered so that every clause holds?

Readings 3 and 4 speak of multisets, clauses of numbered records. A multiset belongs to I_Q iff some
numbering of its records satisfies the clauses; that is how pufferfish-2012 counts the states of the
exam queue, whose induced neighbours are its neighbouring states.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from blowproof.models import Point, Setting

__all__ = ["can_be_numbered"]


def can_be_numbered(setting: Setting, records: Iterable[Point] | Mapping[Point, int]) -> bool:
    """Return whether the records, in some order, satisfy every clause of the setting.

    The records one by one, or as how many hold each value, which may be any number.
    """
    named = sorted({record for clause in setting.clauses for record in clause.records})
    if not named:
        return True
    stock: Counter[Point] = Counter(records)
    if named[-1] >= stock.total():
        return False
    return _place(setting, named, stock, {})


def _place(
    setting: Setting, named: list[int], stock: Counter[Point], placed: dict[int, Point]
) -> bool:
    """Give the first unplaced record one of the values that are left, and go on."""
    if not named:
        return all(
            any((placed[record] in area) == inside for record, area, inside in clause.literals)
            for clause in setting.clauses
        )
    record, rest = named[0], named[1:]
    for point in [point for point, times in stock.items() if times]:
        stock[point] -= 1
        found = _place(setting, rest, stock, {**placed, record: point})
        stock[point] += 1
        if found:
            return True
    return False
