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

from collections.abc import Sequence
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
from blowproof.mechanisms.kinds.k_norm import KNorm
from blowproof.mechanisms.kinds.transformed import NoisyTable
from blowproof.mechanisms.release.calibrate import require_floats
from blowproof.mechanisms.release.release import Draw, Plan, Request, calibrated_scale, status_notes
from blowproof.mechanisms.structures.marginals import (
    Asked,
    Axes,
    Marginals,
    best_weights,
    closure,
    parts_of,
)
from blowproof.mechanisms.structures.ordered_hierarchical import variance
from blowproof.models import BoundQuery, BudgetError, Marginal, Policy, QueryError, parse_query
from blowproof.models.mechanisms.mechanism import Release
from blowproof.models.norms import L1, L2_SQUARED, Norm
from blowproof.models.queries.arguments import query_name
from blowproof.models.stacks.stacked import Part, Stacked, stack
from blowproof.models.stacks.written import parse_question
from blowproof.verifier.asked.answer import Answer

__all__ = ["Strategy", "asked_of", "cells_query", "measured_for", "published"]

MOST_CELLS = 2_000_000
"""Of a marginal that is measured."""
MANY = 24
MOST_LISTED, MOST_ENTRIES = 20_000, 4_000_000
"""Cells, and numbers, of queries that are not the cells of a marginal themselves."""
MOST_SPREAD = 1_000_000
STEPS = 1_000
"""Weights are whole numbers of these parts of the largest."""
ROUNDS = 3
FINE = 2**20
SHAPED = "k-norm"
GUIDE = 0.2
"""The share of the time left for a question that only guides the choice."""


class Strategy(Plan):
    """Answers by least squares from noisy marginals; option `measure`: which, with their weights.

    `measure` is written as stacks are: "marginal(a,b) + 1/4*marginal(a)"; a weight is 1 / scale of
    Laplace noise, 1 / variance of Gaussian noise, up to a factor. Option `noise`: k-norm, for one
    marginal; left out, it is what goes with the promise.
    """

    name = "strategy"
    postprocessing = ("least squares",)
    settings = ("measure", "noise")

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
        self.parts = _measured(text, policy)
        sizes = tuple(kind.size for _, kind in policy.domain.attributes)
        measured = tuple(axes_of(part.query, policy) for part in self.parts)
        self.marginals = Marginals(sizes, measured, _all_known(request, known))
        self.known = tuple(axes for axes in known if set(axes) & set(self.asked.axes))
        self.shaped: KNorm | None = None
        noise = request.options.get("noise")
        if noise not in (None, SHAPED):
            raise QueryError(f"there is no noise {noise!r} here\n  try: {SHAPED}, or leave it out")
        self.releases = self._noisy() if noise is None else self._in_shape()
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

    def _noisy(self) -> tuple[Release, ...]:
        """Return the noisy marginals, at the scales that the verified S calls for."""
        request = self.request
        norm = L1 if request.rho is None else L2_SQUARED
        self.sensitivity = request.sensitivity(_stacked(self.parts, request.policy, norm))
        self.notes = status_notes(self.sensitivity)
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
        table = estimated(self.marginals, axes, noisy, self.precisions, known)
        return self._answers(table)

    def _cells(self, units: NDArray[Any], axes: Axes, query: BoundQuery | None) -> NDArray[Any]:
        """Return a marginal as floats, an axis for each of its attributes in increasing order."""
        found = None if query is None else query.cell_axes(self.request.policy.domain)
        order = axes if found is None else found
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


def axes_of(query: BoundQuery, policy: Policy) -> Axes:
    """Return the attributes of a marginal in increasing order; refuse any other query."""
    found = query.cell_axes(policy.domain)
    if not found:
        raise QueryError(
            f"{query.name} is no marginal, and marginals are what a strategy measures"
            "\n  try: --set 'measure=marginal(a,b) + 1/4*marginal(a)'"
        )
    return tuple(sorted(found))


def cells_query(axes: Axes, policy: Policy) -> BoundQuery:
    """Return the marginal of some attributes, in increasing order; of all, the histogram."""
    if len(axes) == len(policy.domain):
        return parse_query("histogram", policy)
    return parse_query(query_name("marginal", [policy.domain.names[at] for at in axes]), policy)


def published(request: Request) -> tuple[Axes, ...]:
    """Return the marginals that are known facts: those in which no two neighbours differ."""
    policy = request.policy
    found: list[Axes] = []
    for fact in policy.known:
        if isinstance(fact, Marginal):
            axes = tuple(sorted(policy.domain.axes(fact.attributes)))
            if axes not in found and request.sensitivity(cells_query(axes, policy)).upper == 0:
                found.append(axes)
    return tuple(found)


def _all_known(request: Request, known: tuple[Axes, ...]) -> tuple[Axes, ...]:
    """Return what is known: published marginals, and n (the marginal of no attribute)."""
    return (*known, ()) if request.policy.size_known(request.reading) else known


def asked_of(query: BoundQuery, policy: Policy, weight: float = 1.0) -> Asked:
    """Return from which marginal a query follows, and how; refuse what follows from none.

    The weight is for the mean squared error of its outputs.
    """
    domain = policy.domain
    if query.per_record:
        raise QueryError(
            f"{query.name} weighs single records, and does not follow from any marginal"
            "\n  try: --mechanism laplace"
        )
    outputs = query.outputs(domain)
    axes = tuple(sorted(query.axes_read(domain)))
    if outputs is None or not axes:
        raise QueryError(f"{query.name} follows from no marginal\n  try: --mechanism laplace")
    cells = prod(domain.attribute(axis).size for axis in axes)
    if query.cell_axes(domain) is not None:
        _refuse_above(MOST_CELLS, cells, "cells")
        return Asked(axes, weight / outputs.count, outputs.count)
    _refuse_above(MOST_LISTED, cells, "cells")
    _refuse_above(MOST_ENTRIES, cells * outputs.count, "numbers")
    _refuse_above(MOST_SPREAD, domain.size, "values")
    shares = _shares(query, policy, axes, outputs.count)
    return Asked(axes, weight / outputs.count, outputs.count, shares)


def _refuse_above(limit: int, found: int, what: str) -> None:
    if found > limit:
        raise BudgetError(
            f"{found:,} {what}; a strategy looks at {limit:,} at the most"
            "\n  try: --mechanism laplace, or a coarser query"
        )


def _shares(query: BoundQuery, policy: Policy, axes: Axes, count: int) -> dict[Axes, float]:
    """Return the squares of the parts of a query's rows, part by part."""
    domain = policy.domain
    outputs = query.outputs(domain)
    assert outputs is not None
    shape = [domain.attribute(axis).size for axis in axes]
    rows = np.zeros((count, *shape))
    point = [0] * len(domain)
    for cell in np.ndindex(*shape):
        for axis, at in zip(axes, cell, strict=True):
            point[axis] = at
        for key, value in query.row(tuple(point)).items():
            rows[(outputs.place(key), *cell)] = float(value)
    found = {}
    for part in parts_of(axes):
        table = rows
        for place, axis in enumerate(axes, start=1):
            mean = table.mean(axis=place, keepdims=True)
            table = table - mean if axis in part else np.broadcast_to(mean, table.shape)
        found[part] = float((table**2).sum())
    return found


def _measured(text: str, policy: Policy) -> tuple[Part, ...]:
    """Return the marginals that a text names, each with its weight."""
    query = parse_question(text, policy)
    parts = query.parts if isinstance(query, Stacked) else (Part(query, (Fraction(1),)),)
    for part in parts:
        axes = axes_of(part.query, policy)
        _refuse_above(MOST_CELLS, prod(policy.domain.attribute(at).size for at in axes), "cells")
        if not part.uniform or part.weights[0] <= 0:
            raise QueryError(f"the weight of {part.query.name} is one number above 0")
    return parts


def measured_for(
    request: Request, asked: Sequence[Asked], known: tuple[Axes, ...] | None = None
) -> str:
    """Return the marginals to measure for some queries, as the setting `measure` has them.

    The best proportions for the pairs of neighbours that are known; S of these marginals brings a
    worse pair, if there is one, and so on for some rounds.
    """
    policy = request.policy
    known = published(request) if known is None else known
    sizes = tuple(kind.size for _, kind in policy.domain.attributes)
    free = _all_known(request, known)
    probe = Marginals(sizes, (), free)
    wanted = closure((item.axes for item in asked), sizes, MOST_CELLS, MANY)
    useful = [axes for axes in wanted if not probe.is_known(axes)]
    if not useful:
        raise QueryError("what is asked for is published\n  try: --mechanism laplace")
    marginals = Marginals(sizes, tuple(useful), free)
    queries = [cells_query(axes, policy) for axes in useful]
    power = 2 if request.rho is None else 1
    norm = L1 if request.rho is None else L2_SQUARED
    singles = [_stacked((Part(query, (Fraction(1),)),), policy, norm) for query in queries]
    rows = []
    for place, query in enumerate(singles):
        found = request.sensitivity(query, share=GUIDE)
        row = _changes(found, singles, request)
        row[place] = max(row[place], float(found.upper or 0))
        rows.append(row)
    best: tuple[float, ...] | None = None
    for _ in range(ROUNDS):
        best = best_weights(marginals, asked, np.array(rows), power=power)
        if best is None:
            raise QueryError("nothing that may be measured says what is asked for")
        parts = _parts(queries, best)
        found = request.sensitivity(_stacked(parts, policy, norm), share=GUIDE)
        rounded = [float(_whole(weight)) for weight in best]
        reached = float((np.array(rows) @ np.array(rounded)).max())
        if found.witness is None or float(found.lower) <= reached * 1.001:
            break
        rows.append(_changes(found, singles, request))
    assert best is not None
    return " + ".join(f"{part.weights[0]}*{part.query.name}" for part in _parts(queries, best))


def _whole(weight: float) -> int:
    return round(weight * STEPS)


def _parts(queries: Sequence[BoundQuery], weights: Sequence[float]) -> tuple[Part, ...]:
    top = max(weights)
    return tuple(
        Part(query, (Fraction(_whole(weight / top)),))
        for query, weight in zip(queries, weights, strict=True)
        if _whole(weight / top) > 0
    )


def _changes(found: Answer, singles: Sequence[BoundQuery], request: Request) -> list[float]:
    """Return how much the pair of an answer changes each query."""
    if found.witness is None:
        return [0.0] * len(singles)
    moves = found.witness.moves(request.reading)
    return [float(query.difference(moves)) for query in singles]


def _stacked(parts: Sequence[Part], policy: Policy, norm: Norm) -> BoundQuery:
    if len(parts) == 1 and parts[0].weights[0] == 1 and norm is L1:
        return parts[0].query
    return stack(parts, norm, policy.domain, name="marginals")
