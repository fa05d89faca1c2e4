"""What is drawn where nobody says how: the best that a plan finds, and never what it dominates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from blowproof.mechanisms.answers.vectors import Estimate, Vector, whole
from blowproof.mechanisms.base.errors import RefusedError
from blowproof.mechanisms.combining.alike import agreeing, rounded_alike
from blowproof.mechanisms.combining.whole import MOST_TOGETHER, known_of_bins, whole_answers
from blowproof.mechanisms.kinds.consistent import known_sums
from blowproof.mechanisms.kinds.together import Several
from blowproof.mechanisms.planning.planner import planned
from blowproof.mechanisms.planning.workload import Workload
from blowproof.mechanisms.release.publish import is_count
from blowproof.mechanisms.release.registry import plan as made_ready
from blowproof.mechanisms.release.release import Plan, Released, Request
from blowproof.models import BlowproofError, BoundQuery, setting
from blowproof.models.base.clock import now
from blowproof.models.data.dataset import Dataset
from blowproof.models.policy.readings import is_labelled
from blowproof.models.stacks.stacked import Stacked

__all__ = ["best_plan", "in_whole_numbers"]

ROUNDING = "rounding"
ALIKE = (
    "whole numbers of tables are rounded together: what two of them have in common, as a table and "
    "its margin, or two margins of one attribute, has the same sums in both"
)
REST = "other whole numbers are rounded query by query; with --real they differ as estimates do"
APART = (
    "whole numbers are rounded query by query: a table and its margin, released together, may "
    "differ by that; with --real they differ only as the estimates do"
)
SECONDS = 30.0
"""For the comparison, where the request has no end."""
USUAL = "laplace"
MOST_CELLS = 10**6
"""Of larger domains it is not looked which sums of the answers are known."""
LARGEST = 2**52
"""Larger numbers are rounded one by one."""


def best_plan(request: Request, data: str) -> Plan:
    """Return the plan with the least expected error for a request's one query.

    n is read from the data where it is public. Where a mechanism has settings, they are its own
    choice; where nothing could be compared, the Laplace mechanism says why it refuses.
    """
    if request.options:
        raise RefusedError(
            "settings belong to a mechanism, and none is named: nothing was drawn and nothing spent"
            "\n  try: --mechanism M with --set"
        )
    if request.records is not None:
        return made_ready(USUAL, request)  # parts of the records are no whole table to plan on
    policy = request.policy
    size = setting(policy, request.answers).size
    if size is None and policy.size_known(request.reading):
        with Dataset(data, policy.domain) as dataset:
            size = dataset.size
    ends = [now() + SECONDS, *([] if request.deadline is None else [request.deadline])]
    work = Workload((request.bound.name,), (request.bound,), (Fraction(1),))
    found = planned(replace(request, deadline=min(ends)), work, size=size, beside=False)
    best = found.chosen
    if best is None:
        return made_ready(USUAL, request)
    part = best.parts[0]
    plan = made_ready(part.mechanism, replace(request, options=best.settled(part)))
    error = best.errors[0]
    others = len(found.options) - 1
    plan.notes += (
        f"chosen by plan among {others + 1} mechanisms: expected RMSE {error.rmse:.4g}"
        if others
        else f"the one mechanism for this query: expected RMSE {error.rmse:.4g}",
    )
    return plan


def in_whole_numbers(released: Released) -> Released:
    """Return a release with the estimates of counts rounded: a step after the noise, and so free.

    Numbers of records are whole; what is whole already, and what is no count, stays. An estimate
    that has the known sums keeps them, with its fractions where that cannot be had otherwise.
    """
    if released.form is not None:
        return released
    answers, alike = _all_rounded(released)
    if answers is released.answers:
        return released
    steps = (*released.description.postprocessing, ROUNDING)
    description = replace(released.description, postprocessing=steps)
    notes = released.notes
    if _may_differ(released.answers, released.request.bound):
        notes = (*notes, *alike)
    return replace(released, answers=answers, description=description, notes=notes)


def _may_differ(answers: Vector | Estimate, query: BoundQuery) -> bool:
    """Whether numbers of records of several queries are rounded, each query by itself.

    What they have in common, as a table and its margin do, may then differ by what rounding takes
    and gives.
    """
    if not (isinstance(answers, Several) and isinstance(query, Stacked)):
        return False
    return sum(is_count(part.query) for part in query.parts) > 1


def _all_rounded(released: Released) -> tuple[Vector | Estimate, tuple[str, ...]]:
    """Return the answers rounded, and what to say of counts of several queries."""
    answers, request = released.answers, released.request
    query = request.bound
    if not (isinstance(answers, Several) and isinstance(query, Stacked)):
        return _rounded(answers, query, request), ()
    asked = [part.query for part in query.parts]
    wanted = [place for place, one in enumerate(asked) if is_count(one)]
    alike = _rounded_alike(answers, asked, request)
    if not alike:
        return _rounded(answers, query, request), (APART,)
    parts = [
        (name, alike[place] if place in alike else _rounded(found, one, request))
        for place, ((name, found), one) in enumerate(zip(answers.parts, asked, strict=True))
    ]
    said = (ALIKE,) if set(wanted) <= set(alike) else (ALIKE, REST)
    return Several(parts, answers.by), said


def _rounded_alike(
    answers: Several, asked: Sequence[BoundQuery], request: Request
) -> dict[int, Vector]:
    """Return the tables among the answers, by place, that agree and were rounded so that they do.

    None where fewer than two agree, or no such numbers were found.
    """
    domain = request.policy.domain
    sizes = [kind.size for _, kind in domain.attributes]
    tables: dict[int, tuple[tuple[int, ...], NDArray[np.float64]]] = {}
    for place, ((_, found), query) in enumerate(zip(answers.parts, asked, strict=True)):
        axes = query.cell_axes(domain)
        if axes is None or isinstance(found, Vector) or not is_count(query):
            continue
        values = np.array(list(found), dtype=np.float64)
        if len(values) <= MOST_TOGETHER and abs(values).max(initial=0) <= LARGEST:
            tables[place] = axes, values
    places = list(tables)
    kept = [places[at] for at in agreeing(list(tables.values()), sizes)]
    if len(kept) < 2:
        return {}
    units = rounded_alike([tables[at] for at in kept], sizes, lambda axes: _known_of(axes, request))
    if units is None:
        return {}
    names = {at: answers.parts[at][1].names for at in kept}
    return {at: Vector(it, Fraction(1), names[at]) for at, it in zip(kept, units, strict=True)}


def _rounded(answers: Vector | Estimate, query: BoundQuery, request: Request) -> Vector | Estimate:
    if isinstance(answers, Several) and isinstance(query, Stacked):
        pairs = list(zip(answers.parts, query.parts, strict=True))
        parts = [(name, _rounded(found, part.query, request)) for (name, found), part in pairs]
        same = all(new is old for (_, new), ((_, old), _) in zip(parts, pairs, strict=True))
        return answers if same else Several(parts, answers.by)
    if isinstance(answers, Vector) or not is_count(query):
        return answers
    values = np.array(list(answers), dtype=np.float64)
    known = _known_sums(query, request)
    if known is None or abs(values).max(initial=0) > LARGEST:
        return Vector(whole([round(value) for value in answers]), Fraction(1), answers.names)
    units = whole_answers(values, *known)
    return answers if units is None else Vector(units, Fraction(1), answers.names)


def _known_sums(query: BoundQuery, request: Request) -> tuple[Any, NDArray[np.float64]] | None:
    """Return the known sums of a table's cells, and their numbers; None: nothing is known of it."""
    axes = query.cell_axes(request.policy.domain)
    return None if axes is None else _known_of(axes, request)


def _known_of(axes: tuple[int, ...], request: Request) -> tuple[Any, NDArray[np.float64]] | None:
    """Return the known sums of the cells of some attributes."""
    domain = request.policy.domain
    if domain.size > MOST_CELLS:
        return None
    try:  # it is paid for: nothing fails here
        here = setting(request.policy, request.answers)
        if here.scope == "any":
            return None
        with_size = is_labelled(request.reading)
        free, facts, known = known_sums(here, with_size=with_size, records=request.records)
    except (BlowproofError, OSError):
        return None
    sizes = [kind.size for _, kind in domain.attributes]
    places = np.unravel_index(free, sizes)
    shape = [sizes[axis] for axis in axes]
    bins = np.ravel_multi_index([places[axis] for axis in axes], shape)
    return known_of_bins(facts, known.astype(np.float64), bins, prod(shape))
