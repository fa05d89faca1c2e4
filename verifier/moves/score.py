"""What changes of a query count, in whole numbers: its norm, and the weights of its outputs.

Engines work on changes that are scaled to integers, an output at a time. A `Score` measures them;
`length` and `most` come from the norm (see `models/norms`), so that lengths of moves add up to a
bound on what they do together.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from math import lcm

from blowproof.models import BoundQuery
from blowproof.models.norms import L1, L2_SQUARED, LINF, Norm
from blowproof.models.programs.linear import LinearModel
from blowproof.models.programs.linear_terms import LinearExpr

__all__ = ["PLAIN", "Score"]

Change = Mapping[object, int]


@dataclass(frozen=True)
class Score:
    """A norm on scaled changes. `weights`: how often outputs count, where that is not once.

    `width`: how many outputs there are (None: nobody needs to know); `scale`: what a size is to be
    divided by for the query's own.
    """

    norm: Norm = L1
    weights: Mapping[object, int] = field(default_factory=dict)
    width: int | None = None
    scale: int = 1

    @staticmethod
    def of(query: BoundQuery, outputs: Iterable[Hashable], scale: int) -> Score:
        """Return the score of a query whose rows are scaled, and have these outputs."""
        norm = query.measure
        exact = {output: query.weight(output) for output in outputs}
        common = lcm(*(weight.denominator for weight in exact.values()), 1)
        weights = {output: int(weight * common) for output, weight in exact.items()}
        if set(weights.values()) <= {1}:
            weights = {}
        return Score(norm, weights, query.width, scale**norm.degree * common)

    def size(self, change: Change) -> int:
        """Return the size of a change."""
        if self.norm is L1 and not self.weights:
            return sum(map(abs, change.values()))
        if self.norm is L2_SQUARED:
            return self._weighed((output, value * value) for output, value in change.items())
        counted = [(value, self.weights.get(output, 1)) for output, value in change.items()]
        if self.width is not None and sum(map(bool, change.values())) < self.width:
            counted.append((0, 1))
        return int(self.norm.of(counted))

    def gained(self, total: Change, more: Change) -> int:
        """Return how much larger a change is with some more of it."""
        if not self.norm.adds:
            return self.size(self._sum(total, more)) - self.size(total)
        if self.norm is L1 and not self.weights:
            return sum(
                abs(total.get(output, 0) + number) - abs(total.get(output, 0))
                for output, number in more.items()
            )
        if self.norm is L2_SQUARED:  # (a + b)^2 - a^2
            return self._weighed((o, b * (2 * total.get(o, 0) + b)) for o, b in more.items())
        before = {output: total.get(output, 0) for output in more}
        return self.size(self._sum(before, more)) - self.size(before)

    def _weighed(self, squares: Iterable[tuple[object, int]]) -> int:
        """Return the sum of numbers, each as often as its output counts."""
        if not self.weights:
            return sum(number for _, number in squares)
        return sum(self.weights.get(output, 1) * number for output, number in squares)

    @staticmethod
    def _sum(total: Change, more: Change) -> dict[object, int]:
        found = dict(total)
        for output, number in more.items():
            found[output] = found.get(output, 0) + number
        return found

    def gain(self, linear: LinearModel, outputs: Mapping[object, LinearExpr]) -> LinearExpr:
        """Return an expression that is at most, and can be, the size of the outputs' changes."""
        counted = [(change, self.weights.get(output, 1)) for output, change in outputs.items()]
        still = self.width is not None and len(outputs) < self.width
        return self.norm.gain(linear, counted, still=still)

    def spread(
        self, rises: Mapping[object, int], falls: Mapping[object, int], up: int, down: int
    ) -> int:
        """Return what no change exceeds that makes no output rise or fall by more than these, and
        all outputs together by no more than `up` and `down`.
        """
        if self.norm is not L2_SQUARED:
            top, bottom = (max(side.values(), default=0) for side in (rises, falls))
            return max(top, bottom) if self.norm is LINF else top + bottom
        return sum(self._squares(side, left) for side, left in ((rises, up), (falls, down)))

    def _squares(self, most: Mapping[object, int], left: int) -> int:
        """Return what the squares of so much do not exceed: spent where it counts most, since
        w x^2 <= w m x up to m; with equal weights, as largest first makes them.
        """
        total = 0
        worth = {output: self.weights.get(output, 1) * value for output, value in most.items()}
        for output in sorted(most, key=lambda output: -worth[output]):
            value = min(most[output], left)
            total += worth[output] * value if self.weights else value * value
            left -= value
            if not left:
                break
        return total

    def length(self, size: int) -> int:
        """Return a whole number that lengths of several changes may be added up in."""
        return self.norm.length(size)

    def most(self, length: int) -> int:
        """Return what changes of this length, all together, do not exceed."""
        return self.norm.most(length)

    def within(self, size: int) -> int:
        """Return the largest length whose changes do not exceed this size."""
        return self.norm.within(size)


PLAIN = Score()
