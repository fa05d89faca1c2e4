"""All range counts of one ordered attribute."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations

from blowproof.models.base.numbers import Exact
from blowproof.models.domain.domain import Domain
from blowproof.models.domain.regions import Point
from blowproof.models.norms.norm import Counted
from blowproof.models.queries.cumulative import AlongAxis, prefix_runs, sum_runs
from blowproof.models.queries.outputs import Outputs, span_label
from blowproof.models.queries.query import Group, Row
from blowproof.models.secrets import SecretGraph

__all__ = ["Ranges", "middle", "widest_range"]


@dataclass(frozen=True, repr=False)
class Ranges(AlongAxis):
    """Every range count [i, j] of one ordered attribute: |A|(|A|+1)/2 outputs."""

    name: str = "ranges"

    def row(self, point: Point) -> Row:
        """One record adds 1 to every range that holds it."""
        place = point[self.axis]
        return {(i, j): 1 for i in range(place + 1) for j in range(place, self.size)}

    def counted(self, change: Mapping[Point, int]) -> list[Counted]:
        """Return S_j - S_i for all i < j of the prefix sums S_0 = 0, S_1, ..., two runs at once."""
        runs = [(0, 1), *prefix_runs(change, self.axis, self.size)]
        within = sum(length * (length - 1) // 2 for _, length in runs)
        return [
            (0, within),
            *((high - low, one * other) for (low, one), (high, other) in combinations(runs, 2)),
        ]

    def norm(self, change: Mapping[Point, int]) -> Exact:
        """Sum |S_j - S_i| over all pairs i < j of the prefix sums S_0 = 0, S_1, ..., S_|A|."""
        runs = sorted([(0, 1), *prefix_runs(change, self.axis, self.size)])
        total = seen = weighted = 0
        for value, length in runs:
            total += length * (value * seen - weighted)
            seen += length
            weighted += value * length
        return total

    def groups(self, change: Mapping[Point, int]) -> Iterator[Group]:
        """Yield, for each two runs of S, the ranges [i, j] that change by S_(j+1) - S_i."""
        runs = sum_runs(change, self.axis, self.size)
        for (value, low, high), (later, start, stop) in combinations(runs, 2):
            keys = _pairs(range(low, high), range(start - 1, stop - 1))
            yield Group(later - value, (high - low) * (stop - start), keys)

    def outputs(self, domain: Domain) -> Outputs:
        """Return the ranges [i, j], by i and then by j."""
        size = self.size
        return Outputs(size * (size + 1) // 2, lambda key: _place(key, size))

    def label(self, key: Hashable, domain: Domain) -> str:
        """Return the ends of a range."""
        assert isinstance(key, tuple)
        return span_label(domain, self.axis, key[0], key[1])

    @property
    def longest_row(self) -> int:
        """The number of ranges that hold the position in the middle."""
        return (self.size + 1) ** 2 // 4

    def one_record(self, domain: Domain) -> Exact:
        """Return the number of ranges that hold the position in the middle."""
        return (self.size + 1) // 2 * ((self.size + 2) // 2)

    def farthest(self, domain: Domain) -> tuple[Point, Point]:
        """Return the first value, and the one that is half the axis away (see `middle`)."""
        low, _ = domain.ends
        return low, tuple(middle(self.size) if k == self.axis else x for k, x in enumerate(low))

    def along(self, graph: SecretGraph) -> Exact | None:
        """Return the largest d (|A| + 1 - d) over the distances d that edges have."""
        gaps = graph.gaps(self.axis)
        return None if gaps is None else widest_range(gaps, self.size)


def middle(size: int) -> int:
    """Return the distance of two positions at which most ranges hold one of them and not the other.

    Of the ranges of an axis of m positions, d (p + 1) hold p and not p + d, and d (m - p - d) hold
    p + d and not p: d (m + 1 - d) in all, whatever p is.

    >>> [max(range(1, m), key=lambda d: d * (m + 1 - d)) == middle(m) for m in (2, 5, 8, 116)]
    [True, True, True, True]
    """
    return min(size - 1, (size + 1) // 2)


def widest_range(gaps: Iterable[tuple[int, int]], size: int) -> int:
    """Return the largest d(size + 1 - d) over the differences d that lie in one of the gaps.

    >>> widest_range([(1, 2)], 10), widest_range([(0, 9)], 10), widest_range([(8, 9)], 10)
    (18, 30, 24)
    """
    best = (size + 1) // 2
    choices = [min(max(low, best), high) for low, high in gaps]
    return max((d * (size + 1 - d) for d in choices), default=0)


def _pairs(firsts: range, seconds: range) -> Iterator[tuple[int, int]]:
    """Yield all pairs, one by one: `itertools.product` would hold both ranges as tuples."""
    for first in firsts:
        for second in seconds:
            yield first, second


def _place(key: Hashable, size: int) -> int:
    assert isinstance(key, tuple)
    low, high = key
    return int(low * size - low * (low - 1) // 2 + (high - low))
