"""The classes of values that the facts tell apart, as one matrix of signatures."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from blowproof.models import BudgetError, LinearFact, Point, Setting
from blowproof.models.base.clock import spend
from blowproof.models.base.kept import Kept
from blowproof.models.domain.classes import ValueClass, classes_of, collapse
from blowproof.models.domain.regions import Area
from blowproof.verifier.limits.limit import real_limit, whole_limit

__all__ = ["ClassTable", "class_table", "possible_classes", "table_of"]

MOST_CLASSES = whole_limit(__name__, "MOST_CLASSES")
LARGEST = whole_limit(__name__, "LARGEST")
MOST_AREAS = whole_limit(__name__, "MOST_AREAS")
AREA = real_limit(__name__, "AREA")
ENTRY = real_limit(__name__, "ENTRY")


@dataclass(frozen=True)
class ClassTable:
    """Classes of possible values, and what one record of each adds to each fact (a row a class).

    The facts are the equalities of a setting, then its bounds. `inside` of a class counts the
    areas that were cut out besides from `extra` on.
    """

    classes: tuple[ValueClass, ...]
    rows: NDArray[np.int64]
    equalities: int
    extra: int
    kept: Kept = field(default_factory=Kept, init=False, repr=False, compare=False)

    @property
    def effects(self) -> NDArray[np.int64]:
        """What one record of each class adds to each equality."""
        return self.rows[:, : self.equalities]


def class_table(
    setting: Setting,
    areas: tuple[Area, ...] = (),
    *,
    limit: int = MOST_CLASSES,
    deadline: float | None = None,
) -> ClassTable:
    """Return the classes that facts and the given areas cut out of the possible values.

    BudgetError where there are more than `limit`, where they are not found by the deadline, or
    where facts have huge coefficients.
    """
    if areas:  # more areas cut a domain into no fewer classes: what refuses none refuses these
        setting.kept.repeat(("class table", (), limit), deadline)
    return setting.kept.get(
        ("class table", areas, limit),
        lambda: _class_table(setting, areas, limit, deadline),
        deadline=deadline,
    )


def _class_table(
    setting: Setting, areas: tuple[Area, ...], limit: int, deadline: float | None
) -> ClassTable:
    facts = (*setting.equalities, *setting.bounds)
    cut = [area for fact in facts for _, area in fact.terms]
    extra = len(cut)
    if extra > MOST_AREAS:
        raise BudgetError(
            f"{extra:,} counts are known; a table of what each of them counts has no more than "
            f"{MOST_AREAS:,}\n  try: fewer facts, or areas that lie inside of one another or apart"
        )
    classes = possible_classes(setting, (*cut, *areas), limit=limit, deadline=deadline)
    return ClassTable(classes, _rows(facts, classes), len(setting.equalities), extra)


def possible_classes(
    setting: Setting,
    areas: Sequence[Area],
    *,
    limit: int = MOST_CLASSES,
    deadline: float | None = None,
) -> tuple[ValueClass, ...]:
    """Return the classes that areas cut out of the possible values."""
    return setting.kept.get(
        ("classes", tuple(areas), limit),
        lambda: collapse(
            setting.domain, areas, limit=limit, deadline=deadline, without=setting.impossible
        ),
        deadline=deadline,
    )


def table_of(setting: Setting, points: Iterable[Point]) -> ClassTable:
    """Return the classes that some values lie in, each with these values alone."""
    facts = (*setting.equalities, *setting.bounds)
    cut = [area for fact in facts for _, area in fact.terms]
    classes = classes_of(setting.domain, cut, points, without=setting.impossible)
    return ClassTable(classes, _rows(facts, classes), len(setting.equalities), len(cut))


def _rows(facts: tuple[LinearFact, ...], classes: tuple[ValueClass, ...]) -> NDArray[np.int64]:
    owners = [(place, times) for place, fact in enumerate(facts) for times, _ in fact.terms]
    if any(abs(times) > LARGEST for _, times in owners):
        raise BudgetError(f"a fact counts records more than {LARGEST} times")
    rows = np.zeros((len(classes), len(facts)), dtype=np.int64)
    spend(sum(len(item.inside) for item in classes) * AREA + rows.size * ENTRY)
    for number, item in enumerate(classes):
        for area in item.inside:
            if area < len(owners):
                place, times = owners[area]
                rows[number, place] += times
    return rows
