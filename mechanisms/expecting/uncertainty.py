"""The standard error of every released number, and how far it is from the truth 95 times in 100.

Where an answer is the noisy one, both follow from the scale. Where it was made from noisy answers,
they come from rehearsals of the same plan on made-up data, the worst shape for each number; that
says nothing about these data, and is an estimate. Nothing here reads what was released.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from blowproof.mechanisms.expecting.expected import expected, largest_of
from blowproof.mechanisms.expecting.made_up import MOST_CELLS, made_up
from blowproof.mechanisms.expecting.rehearsal import Stage, numbers
from blowproof.mechanisms.kinds.k_norm import KNorm
from blowproof.mechanisms.kinds.kmeans import KMeans
from blowproof.mechanisms.kinds.laplace import Gaussian, Laplace
from blowproof.mechanisms.kinds.strategy import NUMBERS, Strategy
from blowproof.mechanisms.kinds.together import Together
from blowproof.mechanisms.release.release import Plan
from blowproof.models import BlowproofError

__all__ = ["Uncertainty", "uncertainty"]

Floats = NDArray[np.float64]
ROUNDS, SEED = 40, 95
WORK = 2e7


@dataclass(frozen=True, eq=False)
class Uncertainty:
    """For each answer its standard error, and half the width of an interval of 95 %."""

    errors: Sequence[float]
    halves: Sequence[float]
    how: str


def uncertainty(plan: Plan, answers: int, size: int | None) -> Uncertainty | None:
    """Return the uncertainty of a plan's answers; None where nothing says what it is."""
    if isinstance(plan, Together):
        return _of_all(plan, size)
    alike = (
        isinstance(plan, Strategy) and plan.asked.shares is None and plan.numbers == NUMBERS[0]
    )  # the same for each cell
    if alike or type(plan) is Laplace or isinstance(plan, (Gaussian, KNorm)):
        return _of_noise(plan, answers)
    if isinstance(plan, KMeans) or plan.request.policy.domain.size > MOST_CELLS:
        return None
    if ROUNDS * (answers + plan.request.policy.domain.size) > WORK:
        return None
    try:
        return _rehearsed(plan, answers, size)
    except BlowproofError:
        return None


def _of_noise(plan: Plan, answers: int) -> Uncertainty | None:
    error = expected(plan, (), 0)
    if error is None:
        return None
    half = 1.96 * error.rmse
    if type(plan) is Laplace:
        scale = plan.release.scales[0] / plan.release.grid
        half = float(plan.release.grid) * largest_of(scale, 1)
    return Uncertainty([error.rmse] * answers, [half] * answers, "exact")


def _rehearsed(plan: Plan, answers: int, size: int | None) -> Uncertainty:
    request = plan.request
    errors: Floats = np.zeros(answers)
    halves: Floats = np.zeros(answers)
    for place, (_, data) in enumerate(made_up(request.policy, request.answers, size)):
        stage = Stage(request.policy, data, SEED + place)
        stage.silent = True
        truth = numbers(plan.run(stage))  # type: ignore[arg-type] # a Stage stands in for a Draw
        stage.silent = False
        apart = np.array([numbers(plan.run(stage)) - truth  # type: ignore[arg-type]
                          for _ in range(ROUNDS)])  # fmt: skip
        errors = np.maximum(errors, np.sqrt((apart**2).mean(axis=0)))
        halves = np.maximum(halves, np.quantile(abs(apart), 0.95, axis=0))
    return Uncertainty(errors.tolist(), halves.tolist(), "rehearsed")


def _of_all(plan: Together, size: int | None) -> Uncertainty | None:
    errors: list[float] = []
    halves: list[float] = []
    for part in plan.plans:
        outputs = part.request.bound.outputs(part.request.policy.domain)
        if outputs is None:
            return None
        found = uncertainty(part, outputs.count, size)
        none = [math.nan] * outputs.count
        errors += none if found is None else found.errors
        halves += none if found is None else found.halves
    return Uncertainty(errors, halves, "as each query")
