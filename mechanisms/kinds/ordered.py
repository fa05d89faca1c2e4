"""The ordered mechanism (section 7.1 of blowfish-2014): a noisy cumulative histogram.

Under distance secrets a record moves at most theta positions, so at most theta prefix counts change
and S(S_T, P) is small whatever the size of the domain. Each range is the difference of two prefix
counts: its expected squared error is at most 4 (S / epsilon)^2, which is Theorem 7.1 for S = 1.

Where counts are alike, the estimate is straighter than the noise (`estimates.straight`, unless
`stretches=rising`). Intervals are those without it: how much it gains depends on the data.
"""

from __future__ import annotations

from copy import copy

import numpy as np

from blowproof.mechanisms.answers.true_answers import require_answerable
from blowproof.mechanisms.answers.vectors import Estimate, Vector
from blowproof.mechanisms.estimates.ranges import OrderedCounts, axis_asked, query_text
from blowproof.mechanisms.estimates.straight import rising_straight
from blowproof.mechanisms.release.calibrate import require_floats
from blowproof.mechanisms.release.release import Draw, Plan, Request, status_notes
from blowproof.mechanisms.release.request import noisy_release
from blowproof.mechanisms.structures.ordered_hierarchical import variance
from blowproof.models import QueryError

__all__ = ["Ordered"]

STRETCHES = ("straight", "rising")


class Ordered(Plan):
    """The cumulative histogram with noise (Gaussian, for a rho), then made to rise from 0 to n.

    S is the verified sensitivity of the cumulative histogram under the policy, theta for distance
    secrets in unit steps. Where n is public, the last prefix is n itself.
    """

    name = "ordered"
    postprocessing = ("isotonic regression", "straight stretches", "clipping to [0, n]")
    settings = ("stretches",)

    def __init__(self, request: Request) -> None:
        super().__init__(request)
        policy = request.policy
        self.stretches = request.options.get("stretches", STRETCHES[0])
        if self.stretches not in STRETCHES:
            raise QueryError(
                f"there are no stretches {self.stretches!r}\n  try: straight, or rising"
            )
        self.axis = axis_asked(request.bound, policy, self.name)
        text = query_text("cumulative", policy.domain.names[self.axis])
        require_floats(request.epsilon, self.name)
        for query in (request.bound, text):
            require_answerable(query, policy)
        self.release, self.sensitivity = noisy_release(request, text)
        self.description = self.described(self.release)
        self.notes = status_notes(self.sensitivity)

    def run(self, draw: Draw) -> Vector | Estimate:
        """Return what was asked for, as estimated from the noisy cumulative histogram."""
        size = draw.public_size(self.request)
        key = self.name, self.release, self.stretches, size
        counts: OrderedCounts = draw.once(key, lambda: self.counts(draw(self.release), size))
        return counts.answer(self.request.bound)

    def for_intervals(self) -> Plan:
        """Return the plan without straight stretches: how straight the truth is, nobody knows."""
        other = copy(self)
        other.stretches = STRETCHES[1]
        return other

    @property
    def _variance(self) -> float:
        """The variance of the noise on each prefix, in units of its grid."""
        wide, grid = self.release.widths[0], self.release.grid
        if self.release.width == "variance":
            return float(wide / grid**2)
        return variance(wide / grid)

    def counts(self, noisy: Vector, size: int | None) -> OrderedCounts:
        """Return the rising estimate that follows from the noisy prefixes alone (and n, if known).

        Counts that are alike get one number where the noise hides how they differ (`straight`).

        The regression leaves out the last prefix where n is known: it is not uncertain.
        """
        prefixes = noisy.units.astype(np.float64)
        wide = self._variance if self.stretches == STRETCHES[0] else 0.0
        if size is None:
            below = np.concatenate([[0.0], rising_straight(prefixes, wide, most=None)])
        else:
            inner = rising_straight(prefixes[:-1], wide, most=size)
            below = np.concatenate([[0.0], inner, [float(size)]])
        return OrderedCounts(self.request.policy, self.axis, below)
