"""The fewest hops between two values when the axes' charges add up (l1, l2, attribute changes).

Only the offsets d = (d_1, ..., d_k) of the axes that differ matter. Take any path of h hops. On
each axis the hops' offsets add up to at least d_i; shrink them until they add up to exactly d_i,
all in the direction of y. No charge grows, and the path now stays between x and y, so inside the
domain; axes where x and y agree are left alone. Hence h hops suffice iff d is a sum of h vectors
of non-negative integers, each of charge sum_i w_i * d_i**power <= bound: bin packing, with d_i
items of each size.

It is decided by two tests that need no search, and by a search, within a budget, where they differ.
Feasible(h) is monotone (add an idle hop), so the first feasible h is the answer.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import accumulate
from math import gcd, isqrt

from blowproof.models.base.errors import BudgetError

__all__ = ["fewest_hops"]

BUDGET = 200_000

Part = tuple[int, int, int]  # offset, weight, power
Vector = tuple[int, ...]


def fewest_hops(parts: Sequence[Part], bound: int, *, budget: int = BUDGET) -> int:
    """Return the fewest hops for these offsets; every weight must be positive and within the bound.

    >>> fewest_hops([(7, 1, 1), (4, 1, 1)], 3)  # l1: eleven unit steps, three a hop
    4
    >>> fewest_hops([(1, 2, 1), (2, 3, 1)], 4)  # 2, 3 and 3 do not pair up within 4
    3
    >>> fewest_hops([(10**12, 1, 2), (10**12, 1, 2)], 2)  # l2 below sqrt(2): diagonals
    1000000000000
    """
    if not parts:
        return 0
    return _Packing(parts, bound, budget).fewest()


class _Packing:
    """The offsets to pack, the weights, the charge that one hop may have, and the work left."""

    def __init__(self, parts: Sequence[Part], bound: int, budget: int) -> None:
        self.offsets: Vector = tuple(offset for offset, _, _ in parts)
        self.weights: Vector = tuple(weight for _, weight, _ in parts)
        self.power = parts[0][2]
        self.bound = bound - bound % gcd(*self.weights)  # every charge is a multiple of the gcd
        self.budget = budget

    def fewest(self) -> int:
        """Return the first number of hops that suffices."""
        steps = (self._reach(place, self.bound) for place in range(len(self.offsets)))
        high = sum(-(-d // step) for d, step in zip(self.offsets, steps, strict=True))
        low = self._first_possible(high)
        hops = low
        while not self._packs(hops, low, high):
            hops += 1
        return hops

    def _first_possible(self, high: int) -> int:
        """Return the first number of hops that `_possible` does not rule out (it is monotone)."""
        low = 1
        while low < high:
            middle = (low + high) // 2
            if self._possible(self.offsets, middle):
                high = middle
            else:
                low = middle + 1
        return low

    def _possible(self, offsets: Vector, hops: int) -> bool:
        """Return False if `hops` hops surely do not suffice.

        Some hop covers ceil(d/h) of axis i, and the hops' total charge is least when each axis is
        split evenly (the charge is convex in the offset).
        """
        if hops == 0:
            return not any(offsets)
        total = 0
        for place, offset in enumerate(offsets):
            share, extra = divmod(offset, hops)
            if self._cost(place, share + bool(extra)) > self.bound:
                return False
            total += (hops - extra) * self._cost(place, share)
            total += extra * self._cost(place, share + 1)
        return total <= hops * self.bound

    def _even(self, offsets: Vector, hops: int) -> bool:
        """Return True if an even split surely suffices.

        Each axis gives every hop its share and one more to `extra` hops: arcs laid end to end round
        a circle of hops. Charges rise only where an arc starts: only those hops are looked at.
        """
        if hops == 0:
            return not any(offsets)
        splits = [divmod(offset, hops) for offset in offsets]
        starts = list(accumulate((extra for _, extra in splits), initial=0))
        return all(
            sum(
                self._cost(place, share + ((hop - start) % hops < extra))
                for place, ((share, extra), start) in enumerate(zip(splits, starts, strict=False))
            )
            <= self.bound
            for hop in starts
        )

    def _packs(self, hops: int, low: int, high: int) -> bool:
        """Decide whether `hops` hops suffice: peel off one hop at a time, in every maximal way."""
        todo = [self.offsets]
        for left in range(hops, 0, -1):
            # Invariant: `hops` suffice iff `left` hops suffice for one of the offsets in `todo`.
            if any(self._even(offsets, left) for offsets in todo):
                return True
            rest = {piece for offsets in todo for piece in self._peel(offsets, low, high)}
            open_ = [piece for piece in rest if self._possible(piece, left - 1)]
            todo = self._least(open_, low, high)
        return any(not any(offsets) for offsets in todo)

    def _peel(self, offsets: Vector, low: int, high: int) -> Iterator[Vector]:
        """Yield what is left after one hop that could not go further on the last axis."""

        def go(place: int, rest: int) -> Iterator[Vector]:
            self._pay(low, high)
            most = min(offsets[place], self._reach(place, rest))
            if place == len(offsets) - 1:
                yield (offsets[place] - most,)
                return
            for taken in range(most + 1):
                for tail in go(place + 1, rest - self._cost(place, taken)):
                    yield (offsets[place] - taken, *tail)

        yield from go(0, self.bound)

    def _least(self, items: list[Vector], low: int, high: int) -> list[Vector]:
        """Return the items that no other item undercuts everywhere."""
        kept: list[Vector] = []
        for item in sorted(items, key=lambda vector: (sum(vector), vector)):
            self._pay(low, high, 1 + len(kept) // 8)
            if not any(all(a <= b for a, b in zip(old, item, strict=True)) for old in kept):
                kept.append(item)
        return kept

    def _pay(self, low: int, high: int, price: int = 1) -> None:
        self.budget -= price
        if self.budget < 0:
            raise BudgetError(
                f"the hop distance lies in {low}..{high}; finding it exceeds the search budget"
            )

    def _cost(self, place: int, offset: int) -> int:
        return self.weights[place] * (offset * offset if self.power == 2 else offset)

    def _reach(self, place: int, budget: int) -> int:
        steps = budget // self.weights[place]
        return isqrt(steps) if self.power == 2 else steps
