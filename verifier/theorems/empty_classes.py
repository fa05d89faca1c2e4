"""Classes of values that no database with the known numbers holds: as good as impossible.

That "all our patients are adults" says a count of adults that is n; so no record is of another age,
as if that had been written. The same follows from sums: parts that add up to a total leave nothing
for what else the total counts. Values that no record holds in any database of I_Q can be called
impossible: I_Q stays the same, and so do all neighbours and S, in every reading.

Over fractions there is a database that holds something in every class that any holds something in
(the mean of such ones), so one linear program shows which classes cannot: its optimum is trusted
for nothing, since a combination of facts, checked in whole numbers, then says that these classes
together hold less than one record (`known_counts`).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from blowproof.models import BlowproofError, Setting
from blowproof.models.base.clock import now
from blowproof.verifier.databases.value_classes import class_table
from blowproof.verifier.limits.limit import real_limit, whole_limit
from blowproof.verifier.reductions.fewer_facts import declared_empty
from blowproof.verifier.theorems.known_counts import GRAIN, KnownCounts, Vector

__all__ = ["MOST_CLASSES", "why_unheld", "without_unheld"]

MOST_CLASSES = whole_limit(__name__, "MOST_CLASSES")
SINGLY = whole_limit(__name__, "SINGLY")
SECONDS = real_limit(__name__, "SECONDS")
NOTHING = 1e-6


def without_unheld(setting: Setting, *, deadline: float | None = None) -> Setting:
    """Return a setting with the same databases, in which what no database holds is impossible."""
    return setting.kept.get("without unheld", lambda: _without(setting, deadline))


def _without(setting: Setting, deadline: float | None) -> Setting:
    if setting.scope != "given" or not setting.equalities:
        return setting
    import scipy.optimize  # noqa: F401 (to load it may take as long as all of this may)

    end = now() + SECONDS
    end = end if deadline is None else min(end, deadline)
    try:
        table = class_table(setting, limit=MOST_CLASSES, deadline=end)
        known = KnownCounts(setting, table, size=setting.size, deadline=end)
        places = _unheld(known) if known.usable and len(table.classes) > 1 else []
        boxes = [box for place in places for box in table.classes[place].boxes()]
    except BlowproofError:
        return setting
    return declared_empty(setting, boxes) if len(places) < len(table.classes) else setting


def why_unheld(known: KnownCounts) -> list[Vector]:
    """Return combinations of facts that show which classes hold nothing: nowhere below 0, and above
    what their answers add up to in each of these.
    """
    suspects = _suspects(known)
    together = known.combination(_goal(known, suspects)) if suspects else None
    if together is not None and together[1] < GRAIN:
        return [together[0]]
    found = (known.combination(_goal(known, [place])) for place in suspects[:SINGLY])
    return [one[0] for one in found if one is not None and one[1] < GRAIN]


def _unheld(known: KnownCounts) -> list[int]:
    """Return classes that are shown to hold nothing."""
    suspects = _suspects(known)
    if not suspects or _most(known, suspects) == 0:
        return suspects
    return [place for place in suspects[:SINGLY] if _most(known, [place]) == 0]


def _most(known: KnownCounts, places: list[int]) -> int | None:
    return known.most(_goal(known, places))


def _goal(known: KnownCounts, places: list[int]) -> Vector:
    goal = np.zeros(known.rows.shape[1], dtype=np.int64)
    goal[places] = 1
    return goal


def _suspects(known: KnownCounts) -> list[int]:
    """Return classes that hold nothing in a database (over fractions) of the most classes."""
    from scipy.optimize import linprog

    rows, count = known.rows, known.rows.shape[1]
    total = max(1, *map(abs, known.answers))
    nothing = np.zeros((len(rows), count))
    solved: Any = linprog(
        np.concatenate([np.zeros(count), -np.ones(count)]),
        A_eq=np.hstack([rows.astype(float), nothing]),
        b_eq=np.array(known.answers, dtype=float) / total,  # shares of all records
        A_ub=np.hstack([-np.eye(count), np.eye(count)]),
        b_ub=np.zeros(count),
        bounds=[(0, None)] * count + [(0, 1 / total)] * count,
        method="highs",
    )
    if solved.x is None:
        return []
    held: NDArray[np.float64] = solved.x[count:]
    return [int(place) for place in np.flatnonzero(held * total < NOTHING)]
