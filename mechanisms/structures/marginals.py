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
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, combinations
from math import log
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

__all__ = ["Asked", "Axes", "Marginals", "best_weights", "closure", "parts_of"]

Floats = NDArray[np.float64]
Axes = tuple[int, ...]
"""Attributes by number, in increasing order."""

LEAST_SHARE = 1e-3
LEAST_GAIN = 1e-4
"""Of a change, in the logarithm of the cost."""
ROUNDS = 60
FAR = 20.0
"""Logarithms of weights: beyond, one that costs nothing would have no end."""
SHARP = (30.0, 1000.0)
"""The largest loss is looked for as a norm of such a power, the first for the way there."""
MOST_TRIED = 1_500
"""Choices of marginals, from each start."""


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
            share = self.share(asked, part)
            if share <= 0 or self.is_known(part):
                continue
            known = self.precision(part, precisions)
            if known <= 0:
                return math.inf
            total += share * self.cells(part) / whole / known
        return total

    def share(self, asked: Asked, part: Axes) -> float:
        """Return how much an error in a part counts in a query."""
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

    For Gaussian noise there is one best choice. For Laplace noise there are many that no small
    change improves, as one table measured well is worth more than two measured half as well each.
    So marginals are put in, taken out and exchanged for as long as that helps, from what is asked
    for and from all of them; and each is tried alone.
    """
    choices = _Choices(marginals, asked, pairs, power)
    every = tuple(range(len(marginals.measured)))
    if choices.of(every) is None:
        return None
    starts = [choices.kept(every)]
    if power > 1:
        own = {item.axes for item in asked}
        plain = [at for at, (axes, compared) in enumerate(marginals.items)
                 if compared is None and axes in own]  # fmt: skip
        starts = [choices.changed(places) for places in (tuple(plain), starts[0])]
    alone = [(at,) for at in every]
    found = [item for item in map(choices.of, (*starts, *alone)) if item is not None]
    best = min(found, key=lambda item: item[0])[1]
    best = best / best.max()
    return tuple(np.where(best >= LEAST_SHARE, best, 0.0).tolist())


class _Choices:
    """Choices of marginals to measure, each with its best weights and the logarithm of its cost.

    The cost is the error of what is asked for, times the loss (squared, for Laplace noise).
    """

    def __init__(
        self, marginals: Marginals, asked: Sequence[Asked], pairs: Floats, power: int
    ) -> None:
        self.pairs, self.power = np.unique(pairs, axis=0), power
        self.many = len(marginals.measured)
        counted: dict[Axes, float] = {}
        for item in asked:
            whole = marginals.cells(item.axes)
            for part in parts_of(item.axes):
                share = item.weight * marginals.share(item, part)
                if share > 0 and not marginals.is_known(part):
                    counted[part] = counted.get(part, 0.0) + share * marginals.cells(part) / whole
        self.errors = np.array(list(counted.values()))
        self.says = np.array([
            [marginals.precision(part, one) for one in np.eye(self.many).tolist()]
            for part in counted
        ]).reshape(len(counted), self.many)  # fmt: skip
        self.found: dict[Axes, tuple[float, Floats] | None] = {}

    def of(self, places: Axes) -> tuple[float, Floats] | None:
        """Return the cost of measuring these marginals, and the weights; None: not all follows."""
        if places not in self.found:
            self.found[places] = self._of(places)
        return self.found[places]

    def _of(self, places: Axes) -> tuple[float, Floats] | None:
        from scipy.optimize import minimize

        says, pairs = self.says[:, places], self.pairs[:, places]
        if not places or not (says.sum(axis=1) > 0).all() or not (pairs > 0).any():
            return None
        logs, power = np.zeros(len(places)), self.power

        def cost(logs: Floats, sharp: float) -> tuple[float, Floats]:
            weights = np.exp(logs)
            known = says @ weights**power
            error = float((self.errors / known).sum())
            slope = -power * (says.T @ (self.errors / known**2)) * weights**power / error
            losses = pairs @ weights
            top = float(losses.max())
            shares = (losses / top) ** sharp  # the largest of them, made smooth
            loss = top * float(shares.sum()) ** (1 / sharp)
            towards = pairs.T @ (shares / np.maximum(losses, 1e-300)) / shares.sum()
            return log(error) + power * log(loss), slope + power * weights * towards

        for sharp in SHARP if len(pairs) > 1 else SHARP[-1:]:
            result: Any = minimize(
                cast("Any", cost), logs, args=(sharp,), jac=True, method="L-BFGS-B",
                bounds=[(-FAR, FAR)] * len(places), options=cast("Any", {"maxiter": ROUNDS}),
            )  # fmt: skip
            logs = result.x - result.x.max()
        weights = np.zeros(self.many)
        weights[list(places)] = np.exp(logs)
        error = float((self.errors / (self.says @ weights**power)).sum())
        return log(error) + power * log(float((self.pairs @ weights).max())), weights

    def kept(self, places: Axes) -> Axes:
        """Return those of some marginals that matter, or all where the rest says too little."""
        found = self.of(places)
        if found is None:
            return places
        largest = found[1].max()
        some = tuple(at for at in places if found[1][at] >= LEAST_SHARE * largest)
        return places if self.of(some) is None else some

    def changed(self, places: Axes) -> Axes:
        """Return the choice after all changes by one marginal that lessen the cost."""
        begin = self.of(places)
        if begin is None:
            return places
        least, tried = begin[0], len(self.found) + MOST_TRIED
        while len(self.found) < tried:
            found = ((self.of(other), other) for other in self._near(places))
            costs = [(item[0], other) for item, other in found if item is not None]
            cost, other = min(costs, default=(least, places))
            if cost > least - LEAST_GAIN:
                break
            least, places = cost, self.kept(other)
        return places

    def _near(self, places: Axes) -> list[Axes]:
        """Return the choices with one marginal more, one less, or another in place of one."""
        fewer = [tuple(at for at in places if at != out) for out in places]
        others = [at for at in range(self.many) if at not in places]
        return [*fewer, *(tuple(sorted((*some, at))) for some in (places, *fewer) for at in others)]
