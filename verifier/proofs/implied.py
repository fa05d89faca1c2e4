"""What the known numbers imply, for the kernel to see: combinations of equalities (its `implied`,
and what its kind `limits` rests on).

They come from linear programs (`empty_classes`, `known_counts`), whose solver nobody has to trust.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from blowproof.models import BlowproofError, BoundQuery, Setting
from blowproof.models.domain.regions import Area
from blowproof.verifier.databases.value_classes import ClassTable, class_table
from blowproof.verifier.theorems.empty_classes import MOST_CLASSES, why_unheld
from blowproof.verifier.theorems.known_counts import GRAIN, KnownCounts, Vector

__all__ = ["implied", "room"]


def implied(setting: Setting, deadline: float | None = None) -> dict[str, Any]:
    """Return the part of a certificate that says which values no record holds, and which ends of
    bounds say nothing more; {} where nothing of this kind was found.

    Equalities are named by place, n being the last: where n is no fact, only others take part.
    """
    try:
        found = _known(setting, deadline)
        if found is None:
            return {}
        table, known = found
        places = _places(setting)
        empty = [_terms(each, places) for each in why_unheld(known)]
        bounds = _ends(setting, table, known, places)
    except (BlowproofError, OverflowError):
        return {}
    told: dict[str, Any] = {"empty": empty} if empty else {}
    return {**told, "bounds": bounds} if bounds else told


def room(setting: Setting, query: BoundQuery, deadline: float | None) -> dict[str, Any] | None:
    """Return combinations that a query of one count lies between; None where none were found."""
    areas = tuple(query.counted_areas(setting.domain) or ())
    if len(areas) != 1:
        return None
    try:
        found = _known(setting, deadline, areas)
        if found is None:
            return None
        table, known = found
        inside = [table.extra in item.inside for item in table.classes]
        goal: Vector = np.array(inside, dtype=np.int64)
        most, least = known.combination(goal), known.combination(-goal)
    except (BlowproofError, OverflowError):
        return None
    if most is None or least is None:
        return None
    places = _places(setting)
    above, below = _terms(most[0], places), _terms(-least[0], places)
    return {"times": int(GRAIN), "most": above, "least": below}


def _known(
    setting: Setting, deadline: float | None, cut: tuple[Area, ...] = ()
) -> tuple[ClassTable, KnownCounts] | None:
    if setting.scope != "given" or not setting.equalities:
        return None
    table = class_table(setting, cut, limit=MOST_CLASSES, deadline=deadline)
    known = KnownCounts(setting, table, size=None, deadline=deadline)
    return (table, known) if known.usable else None


def _places(setting: Setting) -> list[int]:
    """Return where the kernel has each equality: n, if it is one, comes last there."""
    names = [fact.name for fact in setting.equalities]
    order = sorted(range(len(names)), key=lambda k: names[k] == "size")
    return [order.index(k) for k in range(len(names))]


def _terms(combination: Vector, places: list[int]) -> list[list[int]]:
    return sorted([places[k], int(times)] for k, times in enumerate(combination) if times)


def _ends(
    setting: Setting, table: ClassTable, known: KnownCounts, places: list[int]
) -> list[dict[str, Any]]:
    """Return the ends of bounds that the equalities imply, each with its combination."""
    found = []
    for number, fact in enumerate(setting.bounds):
        row: Vector = table.rows[:, len(setting.equalities) + number]
        for end, limit, sign in (("low", fact.at_least, -1), ("high", fact.at_most, 1)):
            one = None if limit is None else known.combination(sign * row)
            if one is None or limit is None or one[1] >= GRAIN * (sign * limit + 1):
                continue
            terms = _terms(sign * np.asarray(one[0]), places)
            found.append({"bound": number, "end": end, "times": int(GRAIN), "of": terms})
    return found
