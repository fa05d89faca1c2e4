"""Which marginals to measure, and how well, so that others follow from them with the least error.

A table over some attributes is a sum of parts, one for each set A of attributes: what the
A-marginal says beyond its own marginals (differences from the mean along each attribute of A). The
part of A follows from every measured marginal that has all of A's attributes, and two parts never
share an error. So the least-squares estimate, and its error, are worked out part by part
(`precision`, `error`), for domains of any size; this is the idea of HDMM's marginals (McKenna et
al. 2018), with S under the policy in place of the column norm. The parts of published marginals are
known, and cost nothing.

Noise on a marginal C has some variance v for each cell. Summed up to the cells of A, a part of C,
it is v n_C / n_A, where n counts cells.

*Differences.* Where an attribute a of C has two values, their difference may be measured in place
of both: it says nothing of the parts without a, and all that the cells say of the others, at half
the variance for the same noise. For the difference of two noisy cells has twice the variance of
one, and here it has once that; and no move changes differences by more than it does cells.

*How well.* For weights w (1 / scale of Laplace noise, 1 / variance of Gaussian noise) the loss is
the largest of p . w, where p says how much of each marginal a pair of neighbours changes. The error
times the loss (squared, for Laplace noise) does not depend on how large the weights are; it is made
small over their proportions, for the pairs that are known so far.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, combinations
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

__all__ = ["Asked", "Axes", "Marginals", "best_weights", "closure", "parts_of"]

Floats = NDArray[np.float64]
Axes = tuple[int, ...]
"""Attributes by number, in increasing order."""

LEAST_SHARE = 1e-3
ROUNDS = 60


def parts_of(axes: Axes) -> list[Axes]:
    """Return all sets of these attributes, the empty one first.

    >>> parts_of((0, 2))
    [(), (0,), (2,), (0, 2)]
    """
    return list(chain.from_iterable(combinations(axes, k) for k in range(len(axes) + 1)))


@dataclass(frozen=True)
class Asked:
    """A query that follows from one marginal, `axes`, and how much an error in it counts.

    `shares`: for each part A of the marginal the sum of squares, over the query's outputs, of its
    rows' parts in A. None: the cells of the marginal are what is asked for.
    """

    axes: Axes
    weight: float
    outputs: int
    shares: Mapping[Axes, float] | None = None


@dataclass(frozen=True)
class Marginals:
    """Attributes by their sizes, the marginals that may be measured, and those that are known."""

    sizes: tuple[int, ...]
    measured: tuple[Axes, ...]
    known: tuple[Axes, ...] = ()
    compared: tuple[int | None, ...] = ()
    """Of each measured marginal the attribute whose two values are compared, if any is."""

    @property
    def items(self) -> list[tuple[Axes, int | None]]:
        """What is measured: the attributes, and which of them is compared."""
        return list(zip(self.measured, self.compared or (None,) * len(self.measured), strict=True))

    def cells(self, axes: Axes) -> int:
        """Return how many cells a marginal has."""
        return math.prod(self.sizes[axis] for axis in axes)

    def dimension(self, part: Axes) -> int:
        """Return in how many directions a part can differ.

        >>> Marginals((3, 2), ()).dimension((0, 1))
        2
        """
        return math.prod(self.sizes[axis] - 1 for axis in part)

    def is_known(self, part: Axes) -> bool:
        """Return whether a part follows from what is known."""
        return any(set(part) <= set(known) for known in self.known)

    def precision(self, part: Axes, precisions: Sequence[float]) -> float:
        """Return 1 / variance of a cell of the part's marginal, before it is compared with others.

        `precisions`: 1 / variance of each cell of each measured marginal.
        """
        inside = set(part)
        own = self.cells(part)
        return sum(
            precision * own / self.cells(axes) * (1 if compared is None else 2)
            for (axes, compared), precision in zip(self.items, precisions, strict=True)
            if inside <= set(axes) and (compared is None or compared in inside)
        )

    def error(self, asked: Asked, precisions: Sequence[float]) -> float:
        """Return the expected squared error of a query, all outputs added up (inf: not said)."""
        total = 0.0
        whole = self.cells(asked.axes)
        for part in parts_of(asked.axes):
            share = self._share(asked, part)
            if share <= 0 or self.is_known(part):
                continue
            known = self.precision(part, precisions)
            if known <= 0:
                return math.inf
            total += share * self.cells(part) / whole / known
        return total

    def _share(self, asked: Asked, part: Axes) -> float:
        if asked.shares is None:
            return float(self.dimension(part))
        return asked.shares.get(part, 0.0)


def closure(wanted: Iterable[Axes], sizes: Sequence[int], most: int, many: int) -> list[Axes]:
    """Return marginals worth measuring: those wanted, what they share, and what joins them.

    None has more than `most` cells, and there are `many` at most, the wanted ones first.

    >>> closure([(0, 1), (1, 2)], (2, 2, 2), 100, 10)
    [(0, 1), (1, 2), (1,), (0, 1, 2)]
    """
    found = list(dict.fromkeys(wanted))
    place = 0
    while place < len(found) and len(found) < 4 * many:
        for other in found[:place]:
            both = set(found[place]), set(other)
            for fresh in (both[0] & both[1], both[0] | both[1]):
                axes = tuple(sorted(fresh))
                cells = math.prod(sizes[axis] for axis in axes)
                if axes and axes not in found and cells <= most:
                    found.append(axes)
        place += 1
    return found[:many]


def best_weights(
    marginals: Marginals,
    asked: Sequence[Asked],
    pairs: Floats,
    *,
    power: int,
) -> tuple[float, ...] | None:
    """Return the proportions in which the marginals are best measured, by the largest first.

    `pairs` has a row for each pair of neighbours that is known, and says how much of each measured
    marginal it changes. `power` is 2 where a weight is 1 / scale of Laplace noise, 1 where it is
    1 / variance of Gaussian noise. Marginals that hardly matter have the weight 0; None where the
    queries do not follow from these marginals.
    """
    from scipy.optimize import minimize

    def cost(weights: Floats) -> float:
        precisions = (weights**power).tolist()
        error = sum(item.weight * marginals.error(item, precisions) for item in asked)
        return math.log(error) + power * math.log(float((pairs @ weights).max()))

    def smooth(logs: Floats, places: Sequence[int]) -> float:
        weights = np.zeros(len(marginals.measured))
        weights[places] = np.exp(logs - logs.max())
        return cost(weights)

    places = list(range(len(marginals.measured)))
    if not math.isfinite(_safely(cost, np.ones(len(places)))):
        return None
    result = np.ones(len(places))
    for _ in range(2):
        found: Any = minimize(
            cast("Any", smooth), np.log(result[places]), args=(places,), method="L-BFGS-B",
            options=cast("Any", {"maxiter": ROUNDS, "eps": 1e-4}),
        )  # fmt: skip
        result = np.zeros(len(marginals.measured))
        result[places] = np.exp(found.x - found.x.max())
        kept = [place for place in places if result[place] >= LEAST_SHARE]
        dropped = result * (result >= LEAST_SHARE)
        if len(kept) == len(places) or not math.isfinite(_safely(cost, dropped)):
            break
        result, places = dropped, kept
    best = min([result, *_alone(marginals)], key=lambda item: _safely(cost, item))
    return tuple(best.tolist())


def _alone(marginals: Marginals) -> list[Floats]:
    """Return the weights that measure one marginal, and no other."""
    return list(np.eye(len(marginals.measured)))


def _safely(cost: Callable[[Floats], float], weights: Floats) -> float:
    try:
        return cost(weights)
    except ValueError:  # the logarithm of 0: nothing is measured that changes
        return math.inf
