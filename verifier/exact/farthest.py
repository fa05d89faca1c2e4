"""The largest square of a sum of differences: of each list of vectors, one less another.

*Statement.* Let R_1, ..., R_m be lists of whole vectors, and x a sum of one difference of two
vectors of each list. `farthest` returns bounds on the largest x . x, and a choice that meets the
lower one.

*Proof.* Lists are added one after the other. For a sum x so far, and y of the lists that are left,

    (x + y) . (x + y) <= x . x + 2 (the sum over these lists of the largest r . x less the
    smallest) + Y,

Y being a bound on y . y, found before in the same way, from the last list to the first, and no more
than if each place of a vector were by itself. (Of the first list one of a difference and its
opposite is enough.) A sum that cannot exceed what was met is left out, and of equal ones all but
one. Where those that stay are too many, no square exceeds both what was met and the largest of
their bounds. QED

The square is convex (as all norms are), so that of each list the corners of its hull are enough
(`corners`): whoever asks leaves out the others.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from blowproof.models.base.clock import now, spend
from blowproof.models.base.numbers import Exact
from blowproof.verifier.limits.limit import real_limit, whole_limit

__all__ = ["Farthest", "corners", "farthest"]

MOST_SUMMED = whole_limit(__name__, "MOST_SUMMED")
SAFE = whole_limit(__name__, "SAFE")
NUMBER = real_limit(__name__, "NUMBER")

Vectors = NDArray[np.int64]
Choice = tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class Farthest:
    """Bounds on the largest square; for each list the places of what goes and of what comes in a
    choice that meets the lower one.
    """

    lower: int
    upper: int
    choice: Choice


def farthest(lists: Sequence[Sequence[Sequence[int]]], end: float) -> Farthest | None:
    """Return the bounds; None where numbers are too large for arrays.

    >>> found = farthest([[(0, 0), (3, 1)], [(0, 0), (-1, 2), (1, 1)]], now() + 1)
    >>> found.lower, found.upper, found.choice
    (25, 25, ((0, 1), (1, 2)))
    """
    reach = sum(max((abs(x) for row in rows for x in row), default=0) for rows in lists)
    width = max((len(row) for rows in lists for row in rows), default=0)
    if width * (2 * reach) ** 2 >= SAFE:
        return None
    order = sorted(range(len(lists)), key=lambda k: (-len(lists[k]), k))
    rows = [np.array(lists[k], dtype=np.int64) for k in order]
    adding = _Adding(rows, list(_by_outputs(rows, width)), end)
    best = _Best(0, ())
    for first in reversed(range(len(rows))):
        best, above = adding.best_from(first, best)
        adding.above[first] = min(adding.above[first], above)
    chosen = dict(zip(order, best.choice, strict=True))
    return Farthest(best.square, adding.above[0], tuple(chosen[k] for k in range(len(lists))))


def _by_outputs(rows: Sequence[Vectors], width: int) -> Iterator[int]:
    """Yield for each list what squares from there on do not exceed, and 0 for none."""
    spreads = np.array([each.max(axis=0) - each.min(axis=0) for each in rows]).reshape(-1, width)
    for first in range(len(rows) + 1):
        yield int((spreads[first:].sum(axis=0) ** 2).sum())


@dataclass(frozen=True)
class _Best:
    """A choice in each of the last lists, and its square."""

    square: int
    choice: Choice


@dataclass(frozen=True)
class _Layer:
    """Sums; each is one of the layer before and a difference of two places of a list."""

    sums: Vectors
    before: NDArray[np.int64]
    low: NDArray[np.int64]
    high: NDArray[np.int64]

    def kept(self, kept: NDArray[np.bool_]) -> _Layer:
        """Return what is kept, of equal sums one."""
        places = np.flatnonzero(kept)
        _, first = np.unique(self.sums[places], axis=0, return_index=True)
        some = places[first]
        return _Layer(self.sums[some], self.before[some], self.low[some], self.high[some])


@dataclass
class _Adding:
    """The lists, and what the squares of all from each one on do not exceed (`above`)."""

    rows: Sequence[Vectors]
    above: list[int]
    end: float

    def best_from(self, first: int, later: _Best) -> tuple[_Best, int]:
        """Return the best choice in the lists from one on, and a bound; `later`: in all but it."""
        best = _Best(later.square, ((0, 0), *later.choice))
        width = self.rows[first].shape[1]
        nothing = np.zeros((1, width), dtype=np.int64), *[np.zeros(1, dtype=np.int64)] * 3
        layers = [_Layer(*nothing)]
        for place in range(first, len(self.rows)):
            wide = len(self.rows[place]) ** 2 * len(layers[-1].sums) * width
            if wide > MOST_SUMMED or now() > self.end:
                bounds, _ = self._bounds(layers[-1].sums, place)
                return best, max(best.square, int(bounds.max()))
            spend(wide * NUMBER)
            layer = _added(layers[-1].sums, self.rows[place], half=place == first)
            bounds, ends = self._bounds(layer.sums, place + 1)
            best = self._completed(layers, layer, ends, best)
            layers.append(layer.kept(bounds > best.square))
            if not len(layers[-1].sums):
                break
        return best, best.square

    def _bounds(self, sums: Vectors, place: int) -> tuple[Vectors, list[Vectors]]:
        """Return bounds for the lists from a place on, and what a sum chooses in each of these."""
        bounds = (sums * sums).sum(axis=1) + self.above[place]
        ends: list[Vectors] = []
        for rows in self.rows[place:]:
            spend(sums.size * len(rows) * NUMBER)
            along = sums @ rows.T
            both = np.column_stack([along.argmin(axis=1), along.argmax(axis=1)])
            bounds += 2 * (along.max(axis=1) - along.min(axis=1))
            ends.append(both)
        return bounds, ends

    def _completed(
        self, layers: Sequence[_Layer], layer: _Layer, ends: Sequence[Vectors], best: _Best
    ) -> _Best:
        """Return the best of what sums become if they go on as they choose, or what was met."""
        whole = layer.sums.copy()
        last = self.rows[len(self.rows) - len(ends) :]
        for rows, both in zip(last, ends, strict=True):
            whole += rows[both[:, 1]] - rows[both[:, 0]]
        squares = (whole * whole).sum(axis=1)
        spot = int(squares.argmax())
        if squares[spot] <= best.square:
            return best
        after = [(int(both[spot, 0]), int(both[spot, 1])) for both in ends]
        before = list(_path([*layers[1:], layer], spot))
        return _Best(int(squares[spot]), (*reversed(before), *after))


def _path(layers: Sequence[_Layer], spot: int) -> Iterator[tuple[int, int]]:
    """Yield what a sum of the last layer chose, from there to the first."""
    for layer in reversed(layers):
        yield int(layer.low[spot]), int(layer.high[spot])
        spot = int(layer.before[spot])


def _added(sums: Vectors, rows: Vectors, *, half: bool) -> _Layer:
    """Return all sums with a difference of two rows; `half`: of each two opposite ones one is
    enough.
    """
    low, high = np.triu_indices(len(rows), 1)
    if not half:
        low, high = np.concatenate([low, high]), np.concatenate([high, low])
    low, high = np.append(low, 0), np.append(high, 0)
    apart = rows[high] - rows[low]
    every = (sums[:, None] + apart[None]).reshape(-1, rows.shape[1])
    step = np.tile(np.arange(len(apart)), len(sums))
    return _Layer(every, np.repeat(np.arange(len(sums)), len(apart)), low[step], high[step])


def corners(points: Iterable[tuple[Exact, ...]]) -> list[tuple[Exact, ...]]:
    """Return points of which all others are means, in order; in more than two places all of them.

    >>> corners([(0, 0), (1, 1), (2, 2), (2, 0), (1, 0)]), corners([(3,), (1,), (2,)])
    ([(0, 0), (2, 0), (2, 2)], [(1,), (3,)])
    """
    order = sorted(set(points))
    if len(order[0]) == 1:
        return order[:: max(1, len(order) - 1)]
    if len(order[0]) == 2:
        return sorted({*_chain(order), *_chain(order[::-1])})
    return order


def _chain(points: Sequence[tuple[Exact, ...]]) -> list[tuple[Exact, ...]]:
    """Return one side of the hull of points in the plane that are in order."""
    side: list[tuple[Exact, ...]] = []
    for x, y in points:
        while len(side) > 1:
            (a, b), (c, d) = side[-2:]
            if (c - a) * (y - b) - (d - b) * (x - a) > 0:
                break
            side.pop()
        side.append((x, y))
    return side
