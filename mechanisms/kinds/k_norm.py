"""Noise in the shape of the neighbours (`noise.k_norm`): for tables beside published totals.

Where the counts of a marginal are published and everything is secret, neighbours move at most one
record within, out of and into each published cell. Laplace noise for that is as wide as all cells
together; noise in the shape of these differences is narrower, most of all where a published cell is
divided in two, and its sums over the published cells are 0: released totals are the published ones.

For a few outputs of any query (`shape=hull`): noise in the shape of the polytope that holds all
differences, whose facets are found by asking for what lies beyond them (`structures.hulls`). Where
it is too large to be described, a box that holds it (`shape=box`): each answer as far as it changes
at the most, and sums that never change stay as they are.

For any other query: noise with probability in proportion to exp(-max |z_j| / b), by S in the norm
linf. It is better than Laplace noise where one pair changes many of the outputs.
"""

from __future__ import annotations

from math import prod

import numpy as np

from blowproof.mechanisms.answers.true_answers import query_grid, require_answerable
from blowproof.mechanisms.answers.vectors import Estimate, Vector, cells_of
from blowproof.mechanisms.base.errors import RefusedError
from blowproof.mechanisms.noise.k_norm import MOST_DIMENSIONS, dimension
from blowproof.mechanisms.noise.polytope import body_of, kept_of
from blowproof.mechanisms.release.release import Draw, Plan, Request, calibrated_scale, status_notes
from blowproof.mechanisms.structures.hulls import boxed, searched
from blowproof.models import BoundQuery, BudgetError, Domain, QueryError, setting
from blowproof.models.mechanisms.mechanism import Release
from blowproof.models.norms import LINF
from blowproof.models.queries.arguments import query_name
from blowproof.models.queries.kinds import MarginalQuery
from blowproof.models.stacks.stacked import in_norm
from blowproof.verifier.asked.answer import Answer
from blowproof.verifier.certify.noise.k_norm import K_NORM, gauged, output_axes, published_axes
from blowproof.verifier.databases.consistency import prepare

__all__ = ["KNorm"]

SHAPES = ("groups", "cube", "hull", "box")
FEWEST_KEPT = 1 / 2_000
"""Of the draws from a box around a hull."""
ROUND = 0.2
"""The share of the time left for a question that only looks for the hull."""


class KNorm(Plan):
    """Noise in the shape of the neighbours' differences; option `shape`: groups, cube, hull or box.

    Left out, it is the groups where they are what is published, else the cube.
    """

    name = "k-norm"
    settings = ("shape",)

    def __init__(self, request: Request) -> None:
        super().__init__(request)
        require_answerable(request.bound, request.policy)
        shape = request.options.get("shape")
        if shape not in (None, *SHAPES):
            raise QueryError(f"there is no shape {shape!r}\n  try: one of {', '.join(SHAPES)}")
        self.axes = self._in_groups() if shape in (None, "groups") else None
        if shape == "groups" and self.axes is None:
            raise RefusedError(
                "no groups of these outputs are published: the shape of their differences is not "
                "known\n  try: --set shape=cube, or --mechanism laplace"
            )
        if shape in ("hull", "box"):
            self.release = self._polytope(box=shape == "box")
        else:
            self.release = self._cube() if self.axes is None else self._groups(self.axes)
        self.description = self.described(self.release)

    def _in_groups(self) -> tuple[int, ...] | None:
        """Return the query's attributes, published ones first; None where they are no groups."""
        request = self.request
        found = prepare(setting(request.policy, request.answers), request.reading)
        asked, known = output_axes(request.bound, found), published_axes(found, request.reading)
        if asked is None or known is None or not set(known) < set(asked):
            return None
        self.known = known
        return (*known, *(axis for axis in asked if axis not in known))

    def _groups(self, axes: tuple[int, ...]) -> Release:
        domain = self.request.policy.domain
        sizes = [domain.attribute(axis).size for axis in axes]
        width, count = prod(sizes[len(self.known) :]), prod(sizes[: len(self.known)])
        _require_few(width, count)
        names = [domain.names[axis] for axis in axes]
        query = MarginalQuery(axes, query_name("marginal", names))
        scale = 1 / self.request.epsilon
        return Release(query=query, noise=K_NORM, scale=scale, groups=width)

    def _cube(self) -> Release:
        request, query = self.request, self.request.bound
        if query.per_record:
            raise QueryError(
                f"{query.name} is one number, in which the cube is that of laplace"
                "\n  try: --mechanism laplace"
            )
        count = _outputs(query, request.policy.domain)
        _require_few(1, count)
        self.sensitivity = request.sensitivity(in_norm(query, LINF, request.policy.domain))
        scale = calibrated_scale(self.sensitivity, request.epsilon)
        if not scale:
            raise QueryError("nothing changes here\n  try: --mechanism laplace, without any noise")
        self.notes = status_notes(self.sensitivity)
        return Release(
            query=query, noise=K_NORM, scale=scale, grid=query_grid(query, request.policy.domain)
        )

    def _polytope(self, *, box: bool) -> Release:
        """Return noise on the hull of all differences, or on a box around it; its scale is what S
        of its facets calls for.

        Where it is not known to hold all differences, it grows until it does.
        """
        if self._in_groups() is not None:
            raise RefusedError("the published groups are the hull\n  try: --set shape=groups")
        request, query = self.request, self.request.bound
        domain, grid = request.policy.domain, query_grid(query, request.policy.domain)
        begun = request.left

        def late() -> bool:
            return begun is not None and (request.left or 0) < begun / 2

        def ask(asked: BoundQuery) -> Answer:
            return request.sensitivity(asked, share=ROUND)

        about = query, setting(request.policy, request.answers), request.reading, grid
        hull = boxed(*about, ask=ask) if box else searched(*about, ask=ask, late=late)
        body = body_of(hull.facets, hull.fixed)
        kept = kept_of(body)
        if kept < FEWEST_KEPT:
            raise BudgetError(
                f"of the box that is drawn from, {kept:.2g} lies where the neighbours' differences "
                "are: to draw takes too long\n  try: --set shape=cube, or --mechanism laplace"
            )
        facets = gauged(query, hull.facets, domain)
        self.sensitivity = request.sensitivity(in_norm(facets, LINF, domain))
        scale = calibrated_scale(self.sensitivity, request.epsilon)
        self.notes = (
            *status_notes(self.sensitivity),
            f"the {'box around' if box else 'hull of'} the neighbours' differences has "
            f"{body.dimension} dimension{'s' * (body.dimension != 1)} and "
            f"{2 * len(hull.facets)} facets",
        )
        return Release(query=query, noise=K_NORM, scale=scale, grid=grid, facets=hull.facets,
                       fixed=hull.fixed)  # fmt: skip

    def run(self, draw: Draw) -> Vector | Estimate:
        """Return the noisy answers, in the order in which they were asked for."""
        return self.in_order(draw(self.release))

    def in_order(self, noisy: Vector) -> Vector:
        """Return what was drawn in the order in which it was asked for."""
        if self.axes is None:
            return noisy
        domain = self.request.policy.domain
        found = prepare(setting(self.request.policy, self.request.answers), self.request.reading)
        asked = output_axes(self.request.bound, found)
        assert asked is not None
        table = noisy.units.reshape([domain.attribute(axis).size for axis in self.axes])
        units = table.transpose([self.axes.index(axis) for axis in asked]).ravel()
        return Vector(np.ascontiguousarray(units), noisy.grid, cells_of(domain, asked))


def _outputs(query: BoundQuery, domain: Domain) -> int:
    """Return how many outputs there are; of a matrix, up to its last row that is not zero."""
    found = query.outputs(domain)
    return max(1, query.height) if found is None else found.count


def _require_few(width: int, count: int) -> None:
    many = dimension(width, count)
    if many > MOST_DIMENSIONS:
        raise BudgetError(
            f"the body of the neighbours' differences has {many} dimensions; up to "
            f"{MOST_DIMENSIONS} are described\n  try: --mechanism consistent, or laplace"
        )
