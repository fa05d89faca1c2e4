"""Strategies to compare for a workload: marginals to measure from which its queries follow.

For all queries together, the marginals that are best for them (`kinds.strategy`). And each finer
table for the coarser ones: every query's own marginal, what joins all of them, and what joins each
with a published one, also with noise in the shape of the neighbours.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import prod

from blowproof.mechanisms.base.errors import RefusedError
from blowproof.mechanisms.kinds.measuring import (
    MOST_CELLS,
    asked_of,
    cells_query,
    measured_for,
    published,
)
from blowproof.mechanisms.kinds.strategy import SHAPED
from blowproof.mechanisms.planning.candidates import MOST_SHAPED, Candidate
from blowproof.mechanisms.planning.workload import Workload
from blowproof.mechanisms.release.request import Request
from blowproof.mechanisms.structures.marginals import Asked, Axes
from blowproof.models import BlowproofError, BoundQuery, Policy, setting
from blowproof.models.norms import L1, Norm
from blowproof.models.policy.readings import Reading
from blowproof.models.stacks.stacked import Part
from blowproof.verifier.asked.answer import Answer
from blowproof.verifier.certify.base.asked_before import Known
from blowproof.verifier.certify.base.verdict import LossBounds

__all__ = ["at_best", "strategies"]

NAME = "strategy"
MOST_TABLES = 8


def strategies(request: Request, workload: Workload) -> list[list[Candidate]]:
    """Return for each query of a workload the strategies that answer it.

    Queries that follow from no marginal have none, and so has everything where a published count
    was not recognised in time.
    """
    asked = [_asked(request, workload, place) for place in range(len(workload))]
    found: list[list[Candidate]] = [[] for _ in asked]
    some = [item for item in asked if item is not None]
    if not some or request.policy.impossible.boxes:
        return found
    try:
        known = published(request)
        texts = [measured_for(request, some, known)] if len(some) > 1 else []
    except BlowproofError:
        return found
    for row, item in zip(found, asked, strict=True):
        if item is None:
            continue
        row.append(Candidate(NAME))
        row += [Candidate(NAME, {"measure": text}) for text in texts]
    for table in _tables(request, some, known):
        measure = {"measure": cells_query(table, request.policy).name}
        cells = prod(request.policy.domain.attribute(axis).size for axis in table)
        shaped = any(set(axes) < set(table) for axes in known)
        shaped |= not known and cells <= MOST_SHAPED
        for row, item in zip(found, asked, strict=True):
            if item is None or not set(item.axes) <= set(table):
                continue
            if len(workload) > 1 and item.axes != table:
                row.append(Candidate(NAME, measure))
            if shaped and (len(workload) > 1 or item.axes != table):
                row.append(Candidate(NAME, {**measure, "noise": SHAPED}))
    return found


def at_best(request: Request) -> Request:
    """Return a request whose questions are answered by the pairs that are known, and by no more.

    Noise from such an answer is what a mechanism cannot do with less of: it tells which ones are
    worth a question, and is never drawn, for nothing proves it private.
    """

    def least(policy: Policy, query: BoundQuery, reading: Reading, limit: float | None) -> Answer:
        value = request.at_least(query)
        if not value:
            raise RefusedError(f"no pair is known that changes {query.name}")
        return Answer(
            policy=policy.name,
            query=query.name,
            reading=reading,
            answers=setting(policy, request.answers).scope,
            lower=value,
            upper=value,
            status="bounds",
            witness=None,
            engine="pairs",
            seconds=0.0,
            norm=query.measure.name,
        )

    return replace(request, oracle=least, known=_Unmoved(), said=list(request.said), looked=[])


class _Unmoved(Known):
    """Keeps nothing: what was assumed proves nothing private."""

    def keep(self, parts: Sequence[Part], found: LossBounds, norm: Norm = L1) -> None:
        """Forget the bounds."""


def _asked(request: Request, workload: Workload, place: int) -> Asked | None:
    try:
        weight = float(workload.weights[place])
        return asked_of(workload.queries[place], request.policy, weight)
    except BlowproofError:
        return None


def _tables(request: Request, asked: list[Asked], known: tuple[Axes, ...]) -> list[Axes]:
    """Return tables from which several queries may follow, or more exactly than from their own."""
    domain = request.policy.domain
    own = list(dict.fromkeys(item.axes for item in asked))
    joined = [_union(*own)]
    joined += [_union(axes, other) for axes in own for other in known]
    tables = dict.fromkeys((*own, *joined))
    small = [axes for axes in tables
             if prod(domain.attribute(axis).size for axis in axes) <= MOST_CELLS]  # fmt: skip
    return small[:MOST_TABLES]


def _union(*sets: Axes) -> Axes:
    return tuple(sorted({axis for axes in sets for axis in axes}))
