"""The same databases by fewer bounds and fewer values.

What engines do about a bound costs time, and the theorems of `conformal_parts` say more where there
are fewer of them. Leaving out what follows from the other facts does not change I_Q, so it changes
no answer, in any reading. A bound that leaves one number only is an equality. And a value that a
count of 0 counts is held by no record of any database in I_Q: it is as good as impossible.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from blowproof.models import (
    Area,
    Box,
    BudgetError,
    Clause,
    Count,
    Domain,
    Impossible,
    Known,
    LinearFact,
    Positions,
    Region,
    Setting,
    Sum,
)
from blowproof.models.base.clock import now
from blowproof.models.domain.classes import collapse
from blowproof.verifier.databases.consistency import FactModel
from blowproof.verifier.limits.limit import whole_limit

__all__ = [
    "declared_empty",
    "freed",
    "held_at",
    "known_empty",
    "left_over",
    "loosened",
    "without_empty",
]

MOST_BOUNDS = whole_limit(__name__, "MOST_BOUNDS")
MOST_BOXES = whole_limit(__name__, "MOST_BOXES")
MOST_LISTED = whole_limit(__name__, "MOST_LISTED")


def loosened(setting: Setting, *, deadline: float | None = None) -> Setting:
    """Return a setting with the same databases, and without ends of bounds that never matter.

    Facts are looked at one after the other, each beside those that are still there.
    """
    if setting.scope != "given" or len(setting.bounds) > MOST_BOUNDS:
        return setting
    for fact in setting.bounds:
        if deadline is not None and now() > deadline:
            break
        others = tuple(other for other in setting.bounds if other is not fact)
        low, high = FactModel.of(replace(setting, bounds=(*others, _free(fact)))).range_of(fact)
        least, most = fact.at_least, fact.at_most
        if least is not None and low is not None and least <= low:
            least = None
        if most is not None and high is not None and most >= high:
            most = None
        bottom, top = low if least is None else least, high if most is None else most
        if bottom == top and top is not None:
            equal = LinearFact(name=fact.name, terms=fact.terms, answer=top)
            setting = replace(setting, bounds=others, equalities=(*setting.equalities, equal))
        elif least is None and most is None:
            setting = replace(setting, bounds=others)
        else:
            looser = replace(fact, at_least=least, at_most=most)
            kept = tuple(looser if other is fact else other for other in setting.bounds)
            setting = replace(setting, bounds=kept)
    return setting


def _free(fact: LinearFact) -> LinearFact:
    """Return the same left-hand side without ends (its areas stay in the model of the facts)."""
    return replace(fact, at_least=None, at_most=None)


def without_empty(setting: Setting) -> Setting:
    """Return a setting with the same databases, in which what a known 0 counts is impossible."""
    return setting.kept.get("without empty", lambda: _without_empty(setting))


def _without_empty(setting: Setting) -> Setting:
    if setting.scope != "given":
        return setting
    return declared_empty(setting, [box for area in known_empty(setting) for box in area.boxes])


def declared_empty(setting: Setting, counted: Sequence[Box]) -> Setting:
    """Return the setting with boxes that no database holds a record in among what is impossible.

    As it is where they are too many, where nothing would be possible, or where nothing is new.
    """
    new = [box for box in counted if left_over([box], setting.impossible.boxes)]
    if not new or len(new) > MOST_BOXES:
        return setting
    everything = Area((*setting.impossible.boxes, *new))
    try:
        if not collapse(setting.domain, (), without=everything):
            return setting
    except BudgetError:
        return setting
    regions = [region for box in new if (region := _region(setting.domain, box)) is not None]
    if not regions:
        return setting
    known = (*setting.policy.known, Impossible(regions))
    return replace(setting, policy=replace(setting.policy, known=known))


def held_at(setting: Setting, places: Mapping[int, int]) -> Setting:
    """Return the setting in which values with other positions on these axes are impossible.

    As it is where `declared_empty` leaves it so.
    """
    others = []
    for axis, place in places.items():
        sides = list(setting.domain.whole.sides)
        sides[axis] -= Positions.of([place])
        if sides[axis]:
            others.append(Box(tuple(sides)))
    return declared_empty(setting, others)


def known_empty(setting: Setting) -> list[Area]:
    """Return the areas that a known 0 says are empty: it adds up counts, and takes none away."""
    return [
        area
        for fact in setting.equalities
        if fact.answer == 0 and len({times > 0 for times, _ in fact.terms}) == 1
        for _, area in fact.terms
    ]


def left_over(boxes: Sequence[Box], taken: Iterable[Box]) -> Sequence[Box]:
    """Return what is left of boxes without others (or more, if these would be too many pieces)."""
    for box in taken:
        if len(boxes) > MOST_BOXES:
            break
        boxes = [part for piece in boxes for part in piece.minus(box)]
    return boxes


def _region(domain: Domain, box: Box) -> Region | None:
    """Return a box as a region of a policy file; None where it would have to list many values."""
    conditions: dict[str, object] = {}
    for (name, attribute), side, whole in zip(
        domain.attributes, box.sides, domain.whole.sides, strict=True
    ):
        if side == whole:
            continue
        positions = [p for low, high in side.runs for p in range(low, min(high, low + MOST_LISTED))]
        if sum(high - low for low, high in side.runs) > MOST_LISTED:
            return None
        conditions[name] = [attribute.value(p) for p in positions]
    return Region(conditions)


def freed(setting: Setting) -> Setting:
    """Return the setting's equalities under scope "any", without its bounds and clauses.

    Equalities that took the place of bounds are kept, and listed as such in the policy.
    """
    return setting.kept.get("freed", lambda: _freed(setting))


def _freed(setting: Setting) -> Setting:
    told = {fact.terms for fact in setting.equalities}
    kept: list[Known] = []
    for fact in setting.policy.known:
        if isinstance(fact, Impossible) or not (isinstance(fact, Clause) or fact.bounded):
            kept.append(fact)
        elif isinstance(fact, (Count, Sum)) and fact.bind(setting.domain, "")[0].terms in told:
            kept.append(Count(fact.where) if isinstance(fact, Count) else Sum(fact.terms))
    policy = replace(setting.policy, known=tuple(kept)).with_answers("any")
    free = tuple(replace(fact, answer=None) for fact in setting.equalities)
    return replace(setting, policy=policy, scope="any", equalities=free, bounds=())
