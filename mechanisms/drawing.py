"""The only place where noise meets answers: both, and the scale, come from one `Release`."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any, TypeVar

import numpy as np

from blowproof.mechanisms.errors import RefusedError
from blowproof.mechanisms.exact import true_answers
from blowproof.mechanisms.noise import discrete_laplace
from blowproof.mechanisms.request import Request
from blowproof.mechanisms.vectors import Vector
from blowproof.models import Policy
from blowproof.models.data import Dataset
from blowproof.models.mechanism import Release, Selection

__all__ = ["Draw", "noisy"]

T = TypeVar("T")


class Draw:
    """The only source of noise: answers a `Release` on the data, and remembers that it did."""

    def __init__(self, policy: Policy, data: Dataset) -> None:
        self.policy = policy
        self.data = data
        self.drawn: list[Release] = []
        self.chosen: list[Selection] = []
        self.noisy: list[Vector] = []
        self._ready: dict[int, tuple[Release, Vector]] = {}

    def count(self, release: Release) -> Vector:
        """Return the true answers (kept, so that nothing can fail once the budget is spent)."""
        if id(release) not in self._ready:
            self._ready[id(release)] = release, true_answers(release, self.policy, self.data)
        return self._ready[id(release)][1]

    def __call__(self, release: Release) -> Vector:
        """Return the noisy answers of one release."""
        truth = self.count(release)
        self._ready.pop(id(release))
        self.drawn.append(release)
        self.noisy.append(noisy(release, truth))
        return self.noisy[-1]

    def public_size(self, request: Request) -> int | None:
        """Return n where the reading or the policy makes it public, else None."""
        return self.data.size if self.policy.size_known(request.reading) else None

    def choose(self, selection: Selection, how: Callable[[Vector], T]) -> T:
        """Return what `how` chooses, privately, from the true answers of the selection's query."""
        self.chosen.append(selection)
        return how(true_answers(selection.query, self.policy, self.data))


def noisy(release: Release, truth: Vector) -> Vector:
    """Return the true answers plus discrete Laplace noise at the scales of the release."""
    if release.noise != "discrete-laplace":
        raise RefusedError(
            f"noise is drawn on an exact grid: discrete-laplace, not {release.noise}"
        )
    if truth.grid != release.grid:
        raise RefusedError(f"the answers lie on the grid {truth.grid}, the noise on {release.grid}")
    scales = [scale / release.grid for scale in release.scales]
    if len(scales) == 1:
        units = truth.units + discrete_laplace(scales[0], len(truth))
    else:
        units = truth.units + _mixed(scales, truth)
    return Vector(units, truth.grid, truth.names, truth.runs)


def _mixed(scales: list[Fraction], truth: Vector) -> Any:
    """Return noise whose scale changes from run to run (default: from output to output)."""
    runs = truth.runs or (1,) * len(truth)
    if len(runs) != len(scales):
        raise RefusedError(f"{len(scales)} scales are declared for {len(runs)} groups of outputs")
    of_output = np.repeat(np.arange(len(runs)), runs)
    parts: dict[Fraction, list[int]] = {}
    for place, scale in enumerate(scales):
        parts.setdefault(scale, []).append(place)
    result: Any = np.zeros(len(truth), dtype=np.int64)
    for scale, places in parts.items():
        chosen = np.isin(of_output, places)
        drawn = discrete_laplace(scale, int(chosen.sum()))
        result = result.astype(np.result_type(result, drawn))
        result[chosen] = drawn
    return result
