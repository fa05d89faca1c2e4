"""Counts of blocks within blocks on a grid: for rectangles, under secrets that lead far.

A rectangle is made of few large blocks inside and small ones along its border, so that noise on
blocks of several widths adds up to less than noise on all values does. Fan-out and shares of
epsilon are chosen for random rectangles of the first two ordered attributes, by the error of least
squares on noise alone; a single level is among the choices, which is the Laplace mechanism. A
record that moves changes two blocks of a level at most, by 1 each. For a rho, noise is Gaussian.

Under secrets within a step of each other `steps` has less noise, for there a move that crosses the
border of large blocks changes every level all the same.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from math import prod

import numpy as np
from numpy.typing import NDArray

from blowproof.mechanisms.answers.noisy_table import answered_from
from blowproof.mechanisms.answers.rectangles import rectangle_sums
from blowproof.mechanisms.answers.true_answers import require_answerable
from blowproof.mechanisms.answers.vectors import Estimate, Vector
from blowproof.mechanisms.kinds.transformed import (
    Flows,
    require_few_values,
    require_one_record,
)
from blowproof.mechanisms.release.calibrate import require_floats
from blowproof.mechanisms.release.release import Draw, Plan, Request
from blowproof.mechanisms.release.request import whole_option
from blowproof.mechanisms.structures.forests import Forest
from blowproof.mechanisms.structures.matchings import tickets
from blowproof.mechanisms.structures.ordered_hierarchical import variance
from blowproof.mechanisms.structures.quadtrees import Blocks
from blowproof.models import Domain, QueryError
from blowproof.models.mechanisms.mechanism import Release
from blowproof.models.queries.kinds import Rectangles

__all__ = ["Quadtree"]

FAN_OUTS = (2, 3, 4, 6, 8, 16)
TILTS = (0.0, 1 / 3, 2 / 3)
"""Shares of epsilon fall with the level like the block's width to the power of these."""
PARTS = 1_000
SAMPLE = 2_000
LEAST = 1e-9
"""Stands for the variance 0, of noise too narrow to be felt."""


class Quadtree(Plan):
    """Noisy counts of blocks of several widths, least squares, and every query from the counts.

    Option "fan-out": how many blocks lie side by side in the next larger one, along each attribute.
    """

    name = "quadtree"
    postprocessing = ("least squares", "sums of noisy cells")
    settings = ("fan-out",)

    def __init__(self, request: Request) -> None:
        super().__init__(request)
        policy, domain = request.policy, request.policy.domain
        ordered = [axis for axis, (_, kind) in enumerate(domain.attributes)
                   if kind.ordered and kind.size > 1]  # fmt: skip
        if not ordered:
            raise QueryError(f"{self.name} is for ordered attributes\n  try: --mechanism laplace")
        if request.bound.per_record:
            raise QueryError(f"{request.bound.name} weighs records\n  try: --mechanism laplace")
        require_one_record(request, self.name)
        require_few_values(policy)
        require_floats(request.epsilon, self.name)
        for query in (request.bound, "histogram"):
            require_answerable(query, policy)
        fan_out = whole_option(request, "fan-out", 2)
        pair = tuple(ordered[:2])
        fan_outs = FAN_OUTS if fan_out is None else (fan_out,)
        gaussian = request.rho is not None
        self.blocks, shares = _designed(domain, pair, fan_outs, gaussian=gaussian)
        self.releases = tuple(self._noisy(level, share) for level, share in enumerate(shares))
        self.description = self.described(*self.releases)
        self.notes = (
            f"{len(shares)} levels of blocks" if len(shares) > 1 else "values alone, no blocks",
            f"fan-out {self.blocks.fan_out} along each attribute",
        )

    def _noisy(self, level: int, share: Fraction) -> Release:
        """Return a level with its noise: a record that moves changes two counts by 1."""
        query, rho = self._level(level), self.request.rho
        if rho is None:
            scale = 2 / (share * self.request.epsilon)
            return Release(query=query, noise="discrete-laplace", scale=scale)
        return Release(query=query, noise="discrete-gaussian", variance=1 / (share * rho))

    def _level(self, level: int) -> str | Flows:
        if not level:
            return "histogram"
        vertex = self.blocks.vertex(level)
        lonely = Forest(np.full(int(vertex.max()) + 1, -1, dtype=np.int64))
        domain = self.request.policy.domain
        return Flows(domain, vertex, lonely, edges=False, roots=True, name=f"blocks {level}")

    def draws_as(self, other: Plan) -> bool:
        """Whether the other plan has the same blocks and scales; then its releases are taken."""
        if not isinstance(other, Quadtree) or self.blocks.fan_out != other.blocks.fan_out:
            return False
        widths = [[(it.noise, it.widths) for it in plan.releases] for plan in (self, other)]
        same = widths[0] == widths[1]
        if same:
            self.releases, self.description = other.releases, other.description
        return same

    def run(self, draw: Draw) -> Vector | Estimate:
        """Return the answers on the counts that fit all levels best."""
        widths = tuple((item.width, item.widths) for item in self.releases)
        table = draw.once((self.name, self.blocks.fan_out, widths), lambda: self._fitted(draw))
        return answered_from(table, self.request.bound, self.request.policy)

    def _fitted(self, draw: Draw) -> NDArray[np.float64]:
        drawn = [draw(item).units.astype(np.float64) for item in self.releases]
        variances = [max(LEAST, _variance(item)) for item in self.releases]
        return self.blocks.fitted(drawn, variances, draw.public_size(self.request))


def _variance(item: Release) -> float:
    """Return the variance of a level's noise; of Gaussian noise, nearly."""
    return float(item.widths[0]) if item.width == "variance" else variance(item.widths[0])


Design = tuple[Blocks, tuple[Fraction, ...]]


@lru_cache(maxsize=32)
def _designed(
    domain: Domain, pair: tuple[int, ...], fan_outs: tuple[int, ...], *, gaussian: bool
) -> Design:
    """Return blocks and the levels' shares of the budget with the least error for rectangles.

    All scales are in proportion to 1 / epsilon, all variances to 1 / rho, so it does not matter
    here how large that is. Ties go to the first.
    """
    tried: list[Design] = [(Blocks(domain, fan_outs[0], 1), (Fraction(1),))]
    for fan_out in fan_outs:
        most = len(Blocks(domain, fan_out).shapes)
        for levels in range(2, most + 1):
            blocks = Blocks(domain, fan_out, levels)
            tried += [(blocks, _shares(fan_out, levels, tilt)) for tilt in TILTS]
    sizes = [domain.attribute(axis).size for axis in pair]
    asked = Rectangles((pair[0], pair[-1]), (sizes[0], 1 if len(pair) < 2 else sizes[1]), SAMPLE)
    return min(
        tried[:1] + _likely(tried[1:]), key=lambda item: _squares(item, asked, gaussian=gaussian)
    )


def _likely(tried: list[Design]) -> list[Design]:
    """Leave out designs of few levels, unless there are no others: small blocks gain little."""
    most = {item[0].fan_out: len(item[1]) for item in tried}
    return [item for item in tried if len(item[1]) >= most[item[0].fan_out] - 1]


def _shares(fan_out: int, levels: int, tilt: float) -> tuple[Fraction, ...]:
    weights = [fan_out ** (-tilt * level) for level in range(levels)]
    parts = [max(1, round(PARTS * weight / sum(weights))) for weight in weights]
    return tuple(Fraction(part, sum(parts)) for part in parts)


def _squares(design: Design, asked: Rectangles, *, gaussian: bool) -> float:
    """Return the mean squared error of some rectangles, from numbers that stand for noise.

    They are spread as normal numbers are, in a fixed order without any pattern.
    """
    blocks, shares = design
    variances = [1 / float(share) if gaussian else 8 / float(share) ** 2 for share in shares]
    others = tuple(axis for axis in range(len(blocks.domain)) if axis not in asked.axes)
    noisy = [
        wide**0.5 * _spread_normal(prod(shape), level)
        for level, (wide, shape) in enumerate(zip(variances, blocks.shapes, strict=True))
    ]
    table = blocks.fitted(noisy, variances, 0).reshape(blocks.shapes[0])
    return float((rectangle_sums(asked, table.sum(axis=others).reshape(asked.sizes)) ** 2).mean())


@lru_cache(maxsize=64)
def _spread_normal(size: int, level: int) -> NDArray[np.float64]:
    """Return the quantiles of the normal distribution in a fixed scramble of their own."""
    from scipy.special import ndtri

    ranks = np.argsort(np.argsort(tickets(size + level)))[level:]
    return np.asarray(ndtri((ranks + 0.5) / (size + level)))
