"""Options once more, with a step after the noise, where that makes their errors no larger.

`without_negative`: the chosen option without numbers below 0. Both are carried out on the same
made-up data with the same noise, so what is compared is the step itself. It is taken where the
workload's error is no larger on any of the shapes. On made-up data, whose cells all hold somebody,
it often gains nothing; on real ones, with empty cells, it does, and biases numbers near 0 upwards.

`joined`: options whose queries are answered from everything that they draw. For each query the
error of least squares over all releases (`combining.joint`), which needs no data, is compared with
the expected error of its own mechanism.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from blowproof.mechanisms.answers.true_answers import true_answers
from blowproof.mechanisms.combining.joint import MOST_CELLS, MOST_EXACT, Joint
from blowproof.mechanisms.expecting.expected import Expected
from blowproof.mechanisms.expecting.rehearsal import Stage, numbers
from blowproof.mechanisms.kinds.strategy import NUMBERS, Strategy
from blowproof.mechanisms.kinds.together import Together
from blowproof.mechanisms.kinds.transformed import NoisyTable
from blowproof.mechanisms.planning.options import Option
from blowproof.mechanisms.release.gate import proved
from blowproof.mechanisms.release.registry import plan as made_ready
from blowproof.mechanisms.release.release import Plan, Request
from blowproof.models import BlowproofError
from blowproof.models.mechanisms.mechanism import Mechanism

__all__ = ["joined", "without_negative"]

Floats = NDArray[np.float64]
GAINS = 0.999
"""An error that is smaller by less than this is the same."""
FEW, SEVERAL = 1, 5
"""Options that are joined, from the best on: of large domains, of small ones."""
ROUNDS = 8
SLACK = 1.002
"""Errors are as large as before up to what the fit is short of its end."""


@dataclass(frozen=True)
class Ratio:
    """How much smaller an error became on made-up data, with an interval of 95 %."""

    value: float
    low: float
    high: float
    on: str


def without_negative(
    option: Option, shapes: Sequence[tuple[str, NoisyTable]], seed: int
) -> Option | None:
    """Return the option with no number below 0; None where that costs something, or is not known.

    Only what strategies answer by least squares can change.
    """
    plans = option.plan.plans if isinstance(option.plan, Together) else (option.plan,)
    if not shapes or not any(map(_may_change, plans)):
        return None
    try:
        changed = [_changed(plan) if _may_change(plan) else plan for plan in plans]
        other: Plan = changed[0]
        if isinstance(option.plan, Together):
            other = Together(option.plan.request, changed)
        ratios = _ratios(option, other, shapes, seed)
    except BlowproofError:
        return None
    if ratios is None:
        return None
    parts = [
        replace(
            part,
            settings={**part.settings, "numbers": NUMBERS[1]},
            errors=tuple(
                _less(error, ratios[query])
                for query, error in zip(part.queries, part.errors, strict=True)
            ),
        )
        if _may_change(plans[part.queries[0]])
        else part
        for part in option.parts
    ]
    return replace(option, plan=other, parts=tuple(parts))


def _may_change(plan: Plan) -> bool:
    return isinstance(plan, Strategy) and plan.numbers == NUMBERS[0]


def _changed(plan: Plan) -> Plan:
    options = {**plan.request.options, "numbers": NUMBERS[1]}
    return made_ready(plan.name, replace(plan.request, options=options))


def _less(error: Expected, ratio: Ratio) -> Expected:
    """Return an error that was made smaller, with the interval that the rehearsals leave."""
    found = error.times(ratio.value)
    low, high = error.between or (error.rmse, error.rmse)
    between = min(found.rmse, ratio.low * low), max(found.rmse, ratio.high * high)
    return replace(found, how="rehearsed", on=ratio.on, between=between)


def _ratios(
    option: Option, other: Plan, shapes: Sequence[tuple[str, NoisyTable]], seed: int
) -> list[Ratio] | None:
    """Return the ratio of each query's RMSE, on the shape where the workload gains least."""
    weights = np.array([float(weight) for weight in option.weights])
    worst: tuple[float, list[Ratio]] | None = None
    for place, (on, data) in enumerate(shapes):
        before, after = (_squares(plan, data, seed + place) for plan in (option.plan, other))
        ratio = sqrt(float(weights @ after.mean(axis=0)) / float(weights @ before.mean(axis=0)))
        if worst is None or ratio > worst[0]:
            pairs = zip(before.T, after.T, strict=True)
            worst = ratio, [_ratio(one, two, on) for one, two in pairs]
    assert worst is not None
    return None if worst[0] > SLACK else worst[1]


def _ratio(before: Floats, after: Floats, on: str) -> Ratio:
    """Return the root of the ratio of two means, with an interval of 95 %.

    The noise of both is the same, so what varies is how far one is from a share of the other.
    """
    whole = max(float(before.mean()), 1e-300)
    share = float(after.mean()) / whole
    wide = 1.96 * float((after - share * before).std(ddof=1)) / sqrt(len(after)) / whole
    ends = sqrt(max(0.0, share - wide)), sqrt(share + wide)
    return Ratio(min(1.0, sqrt(share)), min(1.0, ends[0]), ends[1], on)


def _squares(plan: Plan, data: NoisyTable, seed: int) -> Floats:
    """Return the mean squared error of each query of a plan on made-up data, a row a rehearsal."""
    policy = plan.request.policy
    stage = Stage(policy, data, seed)
    plans = plan.plans if isinstance(plan, Together) else (plan,)
    truth = [numbers(true_answers(item.request.bound, policy, data)) for item in plans]
    ends = np.cumsum([len(part) for part in truth])[:-1]
    found = np.zeros((ROUNDS, len(plans)))
    for place in range(ROUNDS):
        drawn = np.fromiter(plan.run(stage), dtype=np.float64)  # type: ignore[arg-type] # a Stage
        for at, part in enumerate(np.split(drawn, ends)):
            found[place, at] = float(((part - truth[at]) ** 2).mean())
    return found


# --- answered from everything that is drawn ------------------------------------------------------


def joined(options: Sequence[Option], request: Request) -> list[Option]:
    """Return the options, the first of them joined where that lessens their error; the best first.

    Their order stays where nothing is gained.
    """
    size = request.policy.domain.size
    most = SEVERAL if size <= MOST_EXACT else FEW if size <= MOST_CELLS else 0
    found: list[Option] = []
    drawn: list[Mechanism | None] = []
    for option in options:
        new = None
        if len(drawn) < most and option.plan.description not in drawn:  # else it is a worse one
            drawn.append(option.plan.description)
            new = _joined(option, request)
        found.append(new or option)
    if not any(option.fitted for option in found):
        return list(options)
    return sorted(found, key=lambda option: option.rmse)


def _joined(option: Option, request: Request) -> Option | None:
    plan = option.plan
    if not isinstance(plan, Together) or len(option.parts) < 2 or plan.description is None:
        return None
    if sum(any(release.widths) for release in plan.description.releases) < 2:
        return None
    try:
        _ = request.left  # not where the time is over
        joint = Joint(plan.request, plan.plans, ())
        errors = joint.expected()
    except BlowproofError:
        return None
    own = option.errors
    fitted = [at for at, error in enumerate(errors) if error.rmse < GAINS * own[at].rmse]
    if not fitted:
        return None
    parts = tuple(
        replace(
            part,
            errors=tuple(errors[at] if at in fitted else own[at] for at in part.queries),
        )
        for part in option.parts
    )
    found = joint.only(fitted)
    try:
        proved(found)
    except BlowproofError:
        return None  # too little time to prove it
    return replace(option, plan=found, parts=parts)
