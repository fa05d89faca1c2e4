"""Some noisy marginals, measured as well as it pays, and the answers that follow from all of them.

Which marginals, and how well, is worked out beforehand from public numbers (`structures.marginals`)
for the query that is asked, or for all queries of a plan. S of the marginals together, each with
its weight, comes from the verifier; so under facts that everybody knows, and for other secrets than
all, the choice is made for this policy. Published marginals, and n, are taken as they are: no two
neighbours differ in them, which is asked and not assumed. The answers are least-squares estimates:
unbiased, and consistent with each other and with what is published.

One marginal may also be measured with noise in the shape of the neighbours (`k_norm`): its groups
add up to what is published, and cells have equal variances and no other correlation, so that the
same estimates are the best ones.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from blowproof.mechanisms.answers.true_answers import require_answerable, true_answers
from blowproof.mechanisms.answers.vectors import Estimate, Vector, cells_of, whole
from blowproof.mechanisms.base.errors import RefusedError
from blowproof.mechanisms.estimates.marginals import estimated
from blowproof.mechanisms.estimates.positive import Seen, positive_table
from blowproof.mechanisms.kinds.k_norm import KNorm
from blowproof.mechanisms.kinds.measuring import (
    all_known,
    asked_of,
    axes_of,
    cells_query,
    compared_in,
    measured_for,
    measured_parts,
    published,
    refuse_above,
    stacked_parts,
)
from blowproof.mechanisms.kinds.transformed import NoisyTable
from blowproof.mechanisms.release.calibrate import require_floats
from blowproof.mechanisms.release.release import Draw, Plan, Request, calibrated_scale, status_notes
from blowproof.mechanisms.structures.marginals import Axes, Marginals
from blowproof.mechanisms.structures.ordered_hierarchical import variance
from blowproof.models import BoundQuery, QueryError
from blowproof.models.mechanisms.mechanism import Release
from blowproof.models.norms import L1, L2_SQUARED
from blowproof.models.stacks.stacked import Part

__all__ = ["NUMBERS", "SHAPED", "Strategy"]

FINE = 2**20
SHAPED = "k-norm"
WEIGHED = {
    L1: "S adds up the changes of all marginals, each times its weight; one of weight w has noise "
    "of scale S / (w epsilon)",
    L2_SQUARED: "S adds up the squares of all changes, each times its weight; one of weight w has "
    "noise of variance S / (2 w rho)",
}
NUMBERS = ("real", "positive")
MOST_JOINT = 5_000
"""Cells of a table that is fitted without numbers below 0."""


class Strategy(Plan):
    """Answers by least squares from noisy marginals; option `measure`: which, with their weights.

    `measure` is written as stacks are: "marginal(a,b) + 1/4*marginal(a)"; a weight is 1 / scale of
    Laplace noise, 1 / variance of Gaussian noise, up to a factor. Option `noise`: k-norm, for one
    marginal; left out, it is what goes with the promise. Option `numbers`: real (least squares,
    without any bias), or positive, where all marginals together have no cell below 0.
    """

    name = "strategy"
    postprocessing: tuple[str, ...] = ("least squares",)
    settings = ("measure", "noise", "numbers")

    def __init__(self, request: Request) -> None:
        super().__init__(request)
        policy = request.policy
        require_answerable(request.bound, policy)
        require_floats(request.epsilon, self.name)
        self.asked = asked_of(request.bound, policy)
        if policy.impossible.boxes:
            raise RefusedError(
                "strategy spreads what it knows over all cells, and some are impossible here"
                "\n  try: --mechanism consistent, or laplace"
            )
        known = published(request)
        text = request.options.get("measure")
        if text is None:
            text = measured_for(request, [self.asked], known)
        self.measured = text
        self.parts = measured_parts(text, policy)
        if len(self.parts) == 1:  # a weight is for what is measured beside it
            self.parts = (Part(self.parts[0].query, (Fraction(1),)),)
        sizes = tuple(kind.size for _, kind in policy.domain.attributes)
        measured = tuple(axes_of(part.query, policy) for part in self.parts)
        compared = tuple(compared_in(part.query) for part in self.parts)
        self.marginals = Marginals(sizes, measured, all_known(request, known), compared)
        self.known = tuple(axes for axes in known if set(axes) & set(self.asked.axes))
        self.shaped: KNorm | None = None
        noise = request.options.get("noise")
        if noise not in (None, SHAPED):
            raise QueryError(f"there is no noise {noise!r} here\n  try: {SHAPED}, or leave it out")
        self.releases = self._noisy() if noise is None else self._in_shape()
        self.numbers = request.options.get("numbers", NUMBERS[0])
        self._require_joint()
        if not np.isfinite(self.squares):
            raise QueryError(
                f"{request.bound.name} does not follow from the marginals that are measured"
                "\n  try: --set measure=... with all of its attributes, or leave it out"
            )
        self.exact = tuple(
            Release(query=cells_query(axes, policy), noise="discrete-laplace", scale=Fraction(0))
            for axes in self.known
        )
        self.description = self.described(*self.exact, *self.releases)

    def _require_joint(self) -> None:
        """Refuse numbers of an unknown kind, and a joint table that is too large to be fitted."""
        if self.numbers not in NUMBERS:
            raise QueryError(
                f"there are no numbers {self.numbers!r} here\n  try: {' or '.join(NUMBERS)}"
            )
        if self.numbers == NUMBERS[1]:
            self.postprocessing = (*Strategy.postprocessing, "no number below 0")
            if len(self.known) > 1:
                raise RefusedError(
                    "numbers=positive fits a table to one published marginal, and several are"
                    "\n  try: leave it out, and blowproof estimate --numbers positive afterwards"
                )
            refuse_above(MOST_JOINT, self.marginals.cells(self.joint), "joint cells")

    @property
    def joint(self) -> Axes:
        """The attributes of everything that is measured, asked for, or published beside it."""
        every = (*self.marginals.measured, self.asked.axes, *self.known)
        return tuple(sorted({axis for axes in every for axis in axes}))

    def _noisy(self) -> tuple[Release, ...]:
        """Return the noisy marginals, at the scales that the verified S calls for."""
        request = self.request
        norm = L1 if request.rho is None else L2_SQUARED
        self.sensitivity = request.sensitivity(stacked_parts(self.parts, request.policy, norm))
        self.notes = status_notes(self.sensitivity)
        if len(self.parts) > 1:
            self.notes += (WEIGHED[norm],)
        budget = request.epsilon if request.rho is None else 2 * request.rho
        unit = calibrated_scale(self.sensitivity, budget)
        if not unit:
            raise QueryError("nothing changes here\n  try: --mechanism laplace, without any noise")
        if request.rho is not None:
            return tuple(
                Release(query=part.query, noise="discrete-gaussian", variance=unit / weight)
                for part in self.parts
                for weight in part.weights
            )
        return tuple(
            Release(query=part.query, noise="discrete-laplace", scale=unit / weight)
            for part in self.parts
            for weight in part.weights
        )

    def _in_shape(self) -> tuple[Release, ...]:
        """Return one marginal with K-norm noise, drawn as the mechanism k-norm draws it."""
        if len(self.parts) != 1:
            raise QueryError("k-norm noise is for one marginal\n  try: another --set measure=...")
        query = self.parts[0].query
        options = {"shape": "groups"}
        self.shaped = KNorm(replace(self.request, query=query, options=options))
        self.sensitivity = self.shaped.sensitivity
        return (self.shaped.release,)

    @property
    def precisions(self) -> list[float]:
        """1 / variance of the noise on each measured marginal; of one, in its own unit."""
        if len(self.releases) == 1:
            return [1.0]
        return [
            1 / (variance(item.scales[0]) if item.width == "scale" else float(item.widths[0]))
            for item in self.releases
        ]

    @property
    def squares(self) -> float:
        """The expected squared error of the answers, for noise as in `precisions`."""
        return self.marginals.error(self.asked, self.precisions)

    @property
    def worked_out(self) -> Mapping[str, str]:
        """Which marginals are measured, and how well."""
        return {} if "measure" in self.request.options else {"measure": self.measured}

    def draws_as(self, other: Plan) -> bool:
        """Whether the other plan measures the same marginals, with the same noise."""
        return isinstance(other, Strategy) and self.releases == other.releases

    def run(self, draw: Draw) -> Vector | Estimate:
        """Return the estimates that follow from the noisy marginals and the published ones."""
        known = {
            axes: self._cells(draw(item).units, axes, None)
            for axes, item in zip(self.known, self.exact, strict=True)
        }
        measured = self.marginals.measured
        drawn = [draw(item) for item in self.releases]
        if self.shaped is not None:
            drawn = [self.shaped.in_order(drawn[0])]
        noisy = [self._cells(item.units, axes, part.query)
                 for item, axes, part in zip(drawn, measured, self.parts, strict=True)]  # fmt: skip
        size = draw.public_size(self.request)
        if size is not None and not known:
            known[()] = np.array(float(size))
        axes = self.asked.axes
        if self.numbers == NUMBERS[0]:
            return self._answers(estimated(self.marginals, axes, noisy, self.precisions, known))
        key = self.joint, self.releases
        table = draw.once(key, lambda: self._positive(noisy, known))
        others = tuple(at for at, axis in enumerate(self.joint) if axis not in axes)
        return self._answers(table.sum(axis=others))

    def _positive(
        self, noisy: Sequence[NDArray[Any]], known: Mapping[Axes, NDArray[Any]]
    ) -> NDArray[np.float64]:
        """Return the joint table without numbers below 0 that fits best."""
        joint = self.joint
        start = estimated(self.marginals, joint, noisy, self.precisions, known)
        seen: list[Seen] = [
            (
                tuple(joint.index(axis) for axis in axes),
                None if compared is None else joint.index(compared),
                values,
                precision,
            )
            for (axes, compared), values, precision in zip(
                self.marginals.items, noisy, self.precisions, strict=True
            )
        ]
        group, sums = np.zeros(start.size, dtype=np.int64), None
        for axes, values in known.items():
            places = np.indices(start.shape).reshape(len(joint), -1)
            sizes = [self.marginals.sizes[axis] for axis in axes]
            sums = np.maximum(values.astype(np.float64).ravel(), 0.0)
            if axes:
                chosen = tuple(places[joint.index(axis)] for axis in axes)
                group = np.ravel_multi_index(chosen, sizes).astype(np.int64)
        return positive_table(start, seen, group, sums)

    def _cells(self, units: NDArray[Any], axes: Axes, query: BoundQuery | None) -> NDArray[Any]:
        """Return a marginal as floats, an axis for each of its attributes in increasing order."""
        found = None if query is None else query.cell_axes(self.request.policy.domain)
        order = axes if found is None else found
        if query is not None and query.compared is not None:
            compared, order = query.compared
            axes = tuple(axis for axis in axes if axis != compared)
        shape = [self.marginals.sizes[axis] for axis in order]
        return units.astype(np.float64).reshape(shape).transpose([order.index(at) for at in axes])

    def _answers(self, table: NDArray[np.float64]) -> Estimate:
        policy, query = self.request.policy, self.request.bound
        cells = query.cell_axes(policy.domain)
        axes = self.asked.axes
        if cells is not None:
            order = [axes.index(axis) for axis in cells]
            return Estimate(table.transpose(order).ravel(), cells_of(policy.domain, cells))
        sizes = self.marginals.sizes
        wide = [size if axis in axes else 1 for axis, size in enumerate(sizes)]
        spread = np.broadcast_to(table.reshape(wide), sizes) * (self.marginals.cells(axes) /
                                                                prod(sizes))  # fmt: skip
        held = NoisyTable(whole([round(FINE * x) for x in spread.ravel().tolist()]), policy.domain)
        found = true_answers(query, policy, held)
        units = found.units.astype(np.float64) * float(found.grid) / FINE
        return Estimate(units, found.names)
