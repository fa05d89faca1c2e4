"""One axis of a graph that looks only at offsets: what an offset costs, and how many there are."""

from __future__ import annotations

from dataclasses import dataclass
from math import isqrt

from blowproof.models.domain.regions import Positions

__all__ = ["Axis", "closest", "farthest"]


@dataclass(frozen=True, slots=True)
class Axis:
    """One axis: an offset is |p - q| on a line, else 0 or 1; it costs weight * offset**power."""

    size: int
    weight: int
    line: bool = False
    power: int = 1

    @property
    def longest(self) -> int:
        """The largest offset on the axis."""
        return self.size - 1 if self.line else min(1, self.size - 1)

    def offset(self, p: int, q: int) -> int:
        """Return how far apart two positions are."""
        return abs(p - q) if self.line else int(p != q)

    def cost(self, offset: int) -> int:
        """Return the charge for an offset."""
        return self.weight * (offset * offset if self.power == 2 else offset)

    def reach(self, budget: int) -> int:
        """Return the largest offset on the axis that the budget pays for."""
        steps = budget // self.weight
        return min(isqrt(steps) if self.power == 2 else steps, self.longest)

    def around(self, p: int, reach: int) -> range:
        """Return the positions within an offset of p."""
        if self.line:
            return range(max(0, p - reach), min(self.size, p + reach + 1))
        return range(self.size) if reach else range(p, p + 1)

    def at(self, p: int, offset: int) -> int:
        """Return how many positions lie at exactly this offset from p."""
        if offset == 0:
            return 1
        return (p >= offset) + (p + offset < self.size) if self.line else self.size - 1

    def within(self, p: int, reach: int) -> int:
        """Return how many positions lie within this offset of p."""
        return len(self.around(p, reach))

    def pairs_at(self, offset: int) -> int:
        """Return how many ordered pairs of positions lie at exactly this offset."""
        if offset == 0:
            return self.size
        return 2 * (self.size - offset) if self.line else self.size * (self.size - 1)

    def pairs_within(self, reach: int) -> int:
        """Return how many ordered pairs of positions lie within this offset."""
        if self.line:
            return self.size * (2 * reach + 1) - reach * (reach + 1)
        return self.size**2 if reach else self.size


def farthest(s: Positions, t: Positions) -> tuple[int, int]:
    """Return positions of s and of t that are as far apart as can be."""
    rising = (s.runs[0][0], t.runs[-1][1] - 1)
    falling = (s.runs[-1][1] - 1, t.runs[0][0])
    return max(rising, falling, key=lambda pair: abs(pair[0] - pair[1]))


def closest(s: Positions, t: Positions, *, apart: bool) -> tuple[int, int] | None:
    """Return positions of s and of t that are as close as can be; if `apart`, not equal.

    A sweep over runs. Of two runs, the one that ends first is done: to it, later runs of the other
    side are farther than the next one, and the next one matters only where both are the same point.
    """
    best: tuple[int, int] | None = None
    i = j = 0
    while i < len(s.runs) and j < len(t.runs):
        for k, m in ((i, j), (i + 1, j), (i, j + 1)):
            if k < len(s.runs) and m < len(t.runs):
                pair = _between_runs(s.runs[k], t.runs[m], apart)
                if pair and (best is None or abs(pair[0] - pair[1]) < abs(best[0] - best[1])):
                    best = pair
        if s.runs[i][1] <= t.runs[j][1]:
            i += 1
        else:
            j += 1
    return best


def _between_runs(s: tuple[int, int], t: tuple[int, int], apart: bool) -> tuple[int, int] | None:
    shared = max(s[0], t[0])
    if shared >= min(s[1], t[1]):
        return (s[1] - 1, t[0]) if s[1] <= t[0] else (s[0], t[1] - 1)
    if not apart:
        return shared, shared
    for other in (shared - 1, shared + 1):
        if s[0] <= other < s[1]:
            return other, shared
        if t[0] <= other < t[1]:
            return shared, other
    return None
