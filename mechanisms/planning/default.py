"""What is drawn where nobody says how: the best that a plan finds, and never what it dominates."""

from __future__ import annotations

import time
from dataclasses import replace

from blowproof.mechanisms.base.errors import RefusedError
from blowproof.mechanisms.planning.planner import planned
from blowproof.mechanisms.planning.workload import Workload
from blowproof.mechanisms.release.registry import plan as made_ready
from blowproof.mechanisms.release.release import Plan, Request
from blowproof.models import setting
from blowproof.models.data.dataset import Dataset

__all__ = ["best_plan"]

SECONDS = 30.0
"""For the comparison, where the request has no end."""
USUAL = "laplace"


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
    ends = [time.monotonic() + SECONDS, *([] if request.deadline is None else [request.deadline])]
    work = Workload((request.bound.name,), (request.bound,), (request.epsilon / request.epsilon,))
    found = planned(replace(request, deadline=min(ends)), work, size=size, beside=False)
    best = found.chosen
    if best is None:
        return made_ready(USUAL, request)
    part = best.parts[0]
    plan = made_ready(part.mechanism, replace(request, options=part.settings))
    error = best.errors[0]
    others = len(found.options) - 1
    plan.notes += (
        f"chosen by plan among {others + 1} mechanisms: expected RMSE {error.rmse:.4g}"
        if others
        else f"the one mechanism for this query: expected RMSE {error.rmse:.4g}",
    )
    return plan
