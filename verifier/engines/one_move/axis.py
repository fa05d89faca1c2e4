"""The worst move along one ordered axis, exactly, in time that grows with its length.

A record moves from position p to q. What it loses on this axis is

    rise(q) - rise(p)   the prefixes and sums that change: additive along the axis,
  + for each level      w(p) + w(q) unless one node holds both: the nodes of a level are disjoint
                        intervals, w is the weight of the node that holds a position (0: none),
  + ranges              weight * m * (N + 1 - m) for m = |q - p|: all ranges that hold one of both.

`worst_move` finds the maximum over all p before q in the same group and within reach. With W the
sum of the levels' weights and C(p, q) the weight of the nodes that hold both, the loss of a move
without ranges is (W + rise)(q) + (W - rise)(p) - 2 C(p, q). Seen from p, C only falls as q moves
away, and it falls where a node that holds p ends. So it is enough to take, for every p and every
end e of such a node (and e = p), the largest (W + rise)(q) over all q behind e that p reaches, with
C as it is just behind e: for the best q that is its loss, for every other q it is at most that.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from blowproof.verifier.limits.limit import whole_limit

__all__ = ["Level", "Order", "Profile", "Worst", "worst_move"]

Integers = NDArray[Any]  # int64, or Python's integers (dtype object) where these could overflow

PAIRS_LIMIT = whole_limit(__name__, "PAIRS_LIMIT")
TABLE_LIMIT = whole_limit(__name__, "TABLE_LIMIT")


@dataclass(frozen=True)
class Level:
    """Disjoint intervals: the node that holds each position (-1: none), and its weight there."""

    nodes: Integers
    weights: Integers


@dataclass
class Profile:
    """All that changes along one axis of a given size; integers, so that sums are exact."""

    size: int
    dtype: Any = np.int64
    rise: Integers | None = None
    levels: list[Level] = field(default_factory=list)
    ranges: int = 0

    def add_rise(self, rise: Integers) -> None:
        """Add an additive part: a sequence that never falls."""
        self.rise = rise if self.rise is None else self.rise + rise

    def loss(self, p: int, q: int) -> int:
        """Return the loss of one move, straight from the definition."""
        p, q = min(p, q), max(p, q)
        total = 0 if self.rise is None else int(self.rise[q]) - int(self.rise[p])
        for level in self.levels:
            if level.nodes[p] != level.nodes[q]:
                total += int(level.weights[p]) + int(level.weights[q])
        return total + self.ranges * (q - p) * (self.size + 1 - (q - p))


@dataclass(frozen=True)
class Order:
    """Positions, group by group and ascending within each; no edge leaves a group.

    `last[i]` is the index of the last position that an edge joins to position i, all those between
    included.
    """

    places: NDArray[np.int64]
    last: NDArray[np.int64]
    starts: NDArray[np.bool_]

    @staticmethod
    def within(places: NDArray[np.int64], reach: int) -> Order:
        """Return one group, joined up to a distance."""
        last = np.searchsorted(places, places + reach, side="right") - 1
        return Order(places, last.astype(np.int64), np.arange(len(places)) == 0)

    @staticmethod
    def cliques(groups: list[NDArray[np.int64]]) -> Order:
        """Return groups within which everything is joined."""
        kept = [group for group in groups if len(group)]
        places = np.concatenate(kept) if kept else np.empty(0, dtype=np.int64)
        sizes = np.array([len(group) for group in kept], dtype=np.int64)
        last = np.repeat(np.cumsum(sizes) - 1, sizes)
        starts = np.zeros(len(places), dtype=bool)
        starts[np.cumsum(sizes) - sizes] = True
        return Order(places, last, starts)

    @property
    def spread(self) -> int:
        """The largest number of steps, in this order, between joined positions."""
        if not len(self.places):
            return 0
        return int((self.last - np.arange(len(self.places))).max())

    @property
    def plain(self) -> bool:
        """Whether these are all positions of an axis, in one group."""
        count = len(self.places)
        return count > 0 and not self.starts[1:].any() and int(self.places[-1]) == count - 1


@dataclass(frozen=True)
class Worst:
    """The largest loss, and a move that has it."""

    loss: int
    move: tuple[int, int] | None


NOTHING = Worst(0, None)


def worst_move(profile: Profile, order: Order) -> Worst | None:
    """Return the largest loss of any move between joined positions; None if that takes too long."""
    if not order.spread:
        return NOTHING
    if not profile.ranges:
        return _by_ends(profile, order)
    if not profile.levels and profile.rise is None and order.plain:
        reach = order.spread
        step = min(reach, (profile.size + 1) // 2)
        return Worst(profile.loss(0, step), (0, step))
    return _by_pairs(profile, order)


def _by_ends(profile: Profile, order: Order) -> Worst | None:
    """Take for each position every end of a node that holds it (see above)."""
    count = len(order.places)
    zero = np.zeros(count, dtype=profile.dtype)
    rise = zero if profile.rise is None else profile.rise[order.places]
    ends = [_ends(level.nodes[order.places], order.starts) for level in profile.levels]
    weights = [level.weights[order.places] for level in profile.levels]
    total = sum(weights, start=zero)
    largest = _Largest.of(total + rise, order)
    if largest is None:
        return _by_pairs(profile, order)
    best = NOTHING
    for end in (np.arange(count), *ends):
        open_ = np.nonzero(end < order.last)[0]
        if not len(open_):
            continue
        here = slice(None) if len(open_) == count else open_  # a slice copies nothing
        behind = end[here] + 1
        shared = np.zeros(len(open_), dtype=profile.dtype)
        for other, weight in zip(ends, weights, strict=True):
            if other is not end:
                shared += weight[here] * (other[here] >= behind)
        own = total[here] - rise[here] - 2 * shared
        losses = largest.between(behind, order.last[here]) + own
        place = int(losses.argmax())
        if int(losses[place]) > best.loss:
            first = int(open_[place])
            second = largest.where(int(behind[place]), int(order.last[first]))
            move = (int(order.places[first]), int(order.places[second]))
            best = Worst(int(losses[place]), move)
    return best


def _ends(nodes: Integers, starts: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Return, for each index, the last index of its run of equal nodes within its group."""
    count = len(nodes)
    opens = starts.copy()
    opens[0] = True
    opens[1:] |= nodes[1:] != nodes[:-1]
    bounds = np.append(np.nonzero(opens)[0], count)
    return np.repeat(bounds[1:] - 1, np.diff(bounds))


@dataclass(frozen=True)
class _Largest:
    """The largest value of any stretch of a sequence, by a table of stretches of 2^k values.

    Where the sequence never falls within a group, the last value of a stretch is the largest, and
    no table is needed.
    """

    values: Integers
    table: list[Integers] | None

    @staticmethod
    def of(values: Integers, order: Order) -> _Largest | None:
        """Prepare for stretches within groups; None where the table would be too large."""
        falls = (values[1:] < values[:-1]) & ~order.starts[1:]
        if not falls.any():
            return _Largest(values, None)
        levels = order.spread.bit_length()
        if levels * len(values) > TABLE_LIMIT:
            return None
        table = [values]
        for k in range(1, levels):
            half = 1 << (k - 1)
            table.append(np.maximum(table[-1][:-half], table[-1][half:]))
        return _Largest(values, table)

    def between(self, low: Integers, high: Integers) -> Integers:
        """Return the largest values of the stretches low..high, both ends included."""
        if self.table is None:
            return self.values[high]
        result = self.values[high].copy()
        exponents = np.frexp((high - low + 1).astype(np.float64))[1] - 1
        for k in np.unique(exponents):
            chosen = np.nonzero(exponents == k)[0]
            row = self.table[int(k)]
            behind = high[chosen] + 1 - (1 << int(k))
            result[chosen] = np.maximum(row[low[chosen]], row[behind])
        return result

    def where(self, low: int, high: int) -> int:
        """Return the index of a largest value of one stretch."""
        return low + int(self.values[low : high + 1].argmax()) if self.table else high


def _by_pairs(profile: Profile, order: Order) -> Worst | None:
    """Compare every two joined positions, one distance (in the order) at a time."""
    count, spread = len(order.places), order.spread
    if count * spread * (1 + len(profile.levels)) > PAIRS_LIMIT:
        return None
    index = np.arange(count)
    best = NOTHING
    for step in range(1, spread + 1):
        first = index[order.last >= index + step]
        p, q = order.places[first], order.places[first + step]
        losses = np.zeros(len(first), dtype=profile.dtype)
        if profile.rise is not None:
            losses += profile.rise[q] - profile.rise[p]
        for level in profile.levels:
            apart = level.nodes[p] != level.nodes[q]
            losses += np.where(apart, level.weights[p] + level.weights[q], 0)
        if profile.ranges:
            away = (q - p).astype(profile.dtype)
            losses += profile.ranges * away * (profile.size + 1 - away)
        place = int(losses.argmax())
        if int(losses[place]) > best.loss:
            best = Worst(int(losses[place]), (int(p[place]), int(q[place])))
    return best
