"""How large a change is, in each norm, in whole numbers; and what sizes say about sums of changes.

A *size* is the norm of a scaled change: of l2-squared the sum of squares. A *length* is a whole
number not below the root of a size (in steps of 1 / STEPS), or in the other norms the size itself.
Each of the roots is a seminorm, so lengths of several changes, added up, bound that of their sum.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from fractions import Fraction
from math import floor, isqrt

from .document import Exact, Rejected

STEPS = 1 << 20

Change = frozenset[tuple[Hashable, int]]


class Measure:
    """A norm of the query's changes. `weight`, in l2-squared: how often an output's square counts,
    in whole numbers, `one` standing for once. `width`: how many outputs there are; None: unknown.
    """

    def __init__(
        self,
        name: str,
        width: int | None = None,
        weight: Callable[[Hashable], int] | None = None,
        one: int = 1,
    ) -> None:
        self.name, self.width, self.weight, self.one = name, width, weight, one
        self.squared = name == "l2-squared"

    def unit(self, scale: int) -> int:
        """Return what sizes are multiplied by where changes are by a scale."""
        return scale * scale * self.one if self.squared else scale

    def claim(self, value: Exact, scale: int) -> int:
        """Return a value as a size."""
        return floor(Fraction(value) * self.unit(scale))

    def size(self, change: Iterable[tuple[Hashable, int]]) -> int:
        """Return the norm of a scaled change, which lists the outputs that change."""
        if self.name == "l1":
            return sum([abs(value) for _, value in change])
        if self.squared:
            if self.weight is None:
                return sum([value * value for _, value in change])
            return sum([self.weight(output) * value * value for output, value in change])
        top, bottom = ends([value for _, value in change], self.width)
        return max(top, -bottom) if self.name == "linf" else top - bottom

    def length(self, size: int) -> int:
        """Return a whole number that lengths of several changes may be added up in."""
        if not self.squared:
            return size
        return isqrt(size * STEPS * STEPS - 1) + 1 if size > 0 else 0

    def within(self, size: int) -> int:
        """Return the largest length whose changes do not exceed a size."""
        return isqrt((size + 1) * STEPS * STEPS - 1) if self.squared else size

    def repeated(self, size: int, times: int) -> int:
        """Return what so many changes of at most this size each do not exceed together."""
        return size * times * times if self.squared else size * times

    def together(self, sizes: Sequence[int]) -> int:
        """Return what changes of these sizes, one each, do not exceed together.

        Squares: (sum of roots)^2, which is at most (how many) * (their sum); that is exact where
        all are equal, and lengths are close where they are not.
        """
        if not self.squared:
            return sum(sizes)
        lengths = sum(map(self.length, sizes))
        return min(lengths * lengths // (STEPS * STEPS), len(sizes) * sum(sizes))


class Along(Measure):
    """The l1 norm of all prefixes or ranges of an attribute, where a change lists its positions."""

    def __init__(self, spread: Callable[[Mapping[int, int]], int]) -> None:
        super().__init__("l1")
        self.spread = spread

    def size(self, change: Iterable[tuple[Hashable, int]]) -> int:
        """Return the norm of what so many records at each position change."""
        return self.spread({place: times for place, times in change if isinstance(place, int)})


class Apart(Measure):
    """The same of one record that moves: the most that a move so far, or less far, changes.

    It changes each output by 1 at the most: so in l2-squared by as much as in l1, in linf by 1, and
    in range by 2.
    """

    def __init__(self, reach: Callable[[int], int], name: str = "l1") -> None:
        super().__init__(name)
        self.reach = reach

    def size(self, change: Iterable[tuple[Hashable, int]]) -> int:
        """Return the size of a move from one position to another, or of a larger change."""
        moved = [(times, place) for place, times in change if isinstance(place, int)]
        if not moved:
            return 0
        if sorted(times for times, _ in moved) != [-1, 1]:
            raise Rejected("only single moves are measured like this", limit=True)
        far = self.reach(abs(moved[0][1] - moved[1][1]))
        return far if self.name in ("l1", "l2-squared") else min(far, 1 + (self.name == "range"))


def ends(changes: Sequence[int], width: int | None) -> tuple[int, int]:
    """Return the largest change and the least, 0 being one of them where some output stays as it
    is (or where that is not known, which makes nothing smaller).
    """
    if width is None or len(changes) < width:
        return max(0, *changes, 0), min(0, *changes, 0)
    return max(changes, default=0), min(changes, default=0)
