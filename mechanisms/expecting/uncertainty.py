"""The standard error of every released number, and how far it is from the truth 95 times in 100.

Where an answer is the noisy one, both follow from the noise. Where it was made from noisy answers,
they come from rehearsals of the same plan on made-up data, the worst shape for each number; that
says nothing about these data, and is an estimate. Nothing here reads what was released.

What a partition chosen from the data takes off the truth depends on the data: answers within a
bucket get their mean. Made-up data do not tell how much that is, so the note of such a release
says so. `benchmarks/intervals.py` counts how
often the intervals hold.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from blowproof.mechanisms.answers.true_answers import true_answers
from blowproof.mechanisms.answers.vectors import Estimate, Vector
from blowproof.mechanisms.expecting.expected import expected, largest_of
from blowproof.mechanisms.expecting.k_norm_error import k_norm_half
from blowproof.mechanisms.expecting.made_up import MOST_CELLS, made_up
from blowproof.mechanisms.expecting.polytope_error import polytope_error
from blowproof.mechanisms.expecting.rehearsal import Stage, numbers
from blowproof.mechanisms.kinds.k_norm import KNorm
from blowproof.mechanisms.kinds.kmeans import KMeans
from blowproof.mechanisms.kinds.laplace import Gaussian, Laplace
from blowproof.mechanisms.kinds.strategy import NUMBERS, Strategy
from blowproof.mechanisms.kinds.together import Together
from blowproof.mechanisms.release.release import Plan
from blowproof.models import BlowproofError, Exact

__all__ = ["LAPLACE", "NORMAL", "Uncertainty", "gaussian_half", "intervals", "uncertainty"]

Floats = NDArray[np.float64]
ROUNDS, SEED = 40, 95
WORK = 2e7
NORMAL, LAPLACE = 1.96, 2.12
"""How many standard errors of Gaussian noise, and of Laplace noise, hold 95 times in 100; of sums
of Laplace numbers fewer would do."""
MERGED = (
    "intervals are rehearsed on made-up data: where values that differ were put together, they may "
    "miss the truth more often than 5 times in 100"
)
CUT = (
    "intervals are rehearsed on made-up data, the worst shape: where many true numbers are near 0, "
    "they hold more often than 95 times in 100"
)


@dataclass(frozen=True, eq=False)
class Uncertainty:
    """For each answer its standard error, and half the width of an interval of 95 %.

    `note`: what a reader has to know about them.
    """

    errors: Sequence[float]
    halves: Sequence[float]
    how: str
    note: str | None = None


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
        return _rehearsed(plan.for_intervals(), answers, size)
    except BlowproofError:
        return None


def intervals(
    answers: Vector | Estimate, halves: Sequence[float]
) -> tuple[list[float], list[float]]:
    """Return the lower and the upper ends of intervals of such halves around the answers."""
    middle = np.array([_as_float(value) for value in answers], dtype=np.float64)
    wide = np.asarray(halves, dtype=np.float64)
    return (middle - wide).tolist(), (middle + wide).tolist()


def _as_float(value: Exact | float) -> float:
    """Return a number as a float; an infinite one beyond those that there are."""
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def _of_noise(plan: Plan, answers: int) -> Uncertainty | None:
    error = expected(plan, (), 0)
    if error is None:
        return None
    if type(plan) is Laplace:
        scale = plan.release.scales[0] / plan.release.grid
        half = float(plan.release.grid) * largest_of(scale, 1)
    elif isinstance(plan, Gaussian) and plan.release.width == "variance":
        grid = plan.release.grid
        half = float(grid) * gaussian_half(float(plan.release.widths[0] / grid**2))
    elif isinstance(plan, KNorm) and plan.release.facets:
        return _in_shape(plan)
    elif isinstance(plan, KNorm):
        scale, width = plan.release.scales[0] / plan.release.grid, plan.release.groups
        half = float(plan.release.grid) * k_norm_half(width, answers // width, scale)
    else:
        half = (NORMAL if plan.request.rho is not None else LAPLACE) * error.rmse
    return Uncertainty([error.rmse] * answers, [half] * answers, "exact")


def _in_shape(plan: KNorm) -> Uncertainty:
    """Return the uncertainty of noise in the shape of a polytope, of each output by itself."""
    release, grid = plan.release, float(plan.release.grid)
    found = polytope_error(release.facets, release.fixed, release.scales[0] / release.grid)
    return Uncertainty((grid * found.errors).tolist(), (grid * found.halves).tolist(), "simulated")


def gaussian_half(variance: float) -> float:
    """Return the least k that discrete Gaussian noise stays within 95 times in 100.

    >>> gaussian_half(0.0), gaussian_half(2.0), gaussian_half(1e6)
    (0.0, 3.0, 1960.0)
    """
    if variance <= 0:
        return 0.0
    wide = math.sqrt(variance)
    if wide > 500:  # the grid is lost in it
        return float(math.ceil(NORMAL * wide))
    steps = np.arange(1, int(10 * wide) + 10)
    chances = 2 * np.exp(-(steps**2) / (2 * variance))
    within = np.cumsum(np.concatenate([[1.0], chances]))
    return float(np.searchsorted(within, 0.95 * within[-1]))


def _rehearsed(plan: Plan, answers: int, size: int | None) -> Uncertainty:
    request = plan.request
    errors: Floats = np.zeros(answers)
    halves: Floats = np.zeros(answers)
    for place, (_, data) in enumerate(made_up(request.policy, request.answers, size)):
        stage = Stage(request.policy, data, SEED + place)
        stage.silent = True
        truth = numbers(
            true_answers(request.bound, request.policy, data) if plan.merges else plan.run(stage)  # type: ignore[arg-type] # a Stage stands in for a Draw
        )
        stage.silent = False
        apart = np.array([numbers(plan.run(stage)) - truth  # type: ignore[arg-type]
                          for _ in range(ROUNDS)])  # fmt: skip
        errors = np.maximum(errors, np.sqrt((apart**2).mean(axis=0)))
        halves = np.maximum(halves, np.quantile(abs(apart), 0.95, axis=0, method="higher"))
    cut = request.options.get("numbers", NUMBERS[0]) != NUMBERS[0]
    note = MERGED if plan.merges else CUT if cut else None
    return Uncertainty(errors.tolist(), halves.tolist(), "rehearsed", note)


def _of_all(plan: Together, size: int | None) -> Uncertainty | None:
    errors: list[float] = []
    halves: list[float] = []
    note = None
    for place, part in enumerate(plan.plans):
        fitted = plan.uncertain(place)
        if fitted is not None:
            errors += fitted[0].tolist()
            halves += fitted[1].tolist()
            continue
        outputs = part.request.bound.outputs(part.request.policy.domain)
        if outputs is None:
            return None
        found = uncertainty(part, outputs.count, size)
        none = [math.nan] * outputs.count
        errors += none if found is None else found.errors
        halves += none if found is None else found.halves
        note = note or (None if found is None else found.note)
    return Uncertainty(errors, halves, "as each query", note)
