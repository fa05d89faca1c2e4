"""All range counts of one ordered attribute, and counts of rectangles of two."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from itertools import combinations, product
from typing import TYPE_CHECKING

from blowproof.models.base.errors import PolicyError
from blowproof.models.base.kept import cached_property
from blowproof.models.base.numbers import Exact
from blowproof.models.domain.domain import Domain
from blowproof.models.domain.regions import Area, Box, Point, Positions
from blowproof.models.norms.norm import Counted
from blowproof.models.queries.arguments import ordered_axis, query_name
from blowproof.models.queries.cumulative import AlongAxis, prefix_runs, sum_runs
from blowproof.models.queries.outputs import Outputs, numbered_outputs, span_label
from blowproof.models.queries.query import BoundQuery, Group, Row, cells_on
from blowproof.models.secrets import SecretGraph

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from blowproof.models.policy.policy import Policy

__all__ = ["MOST_SAMPLED", "Ranges", "Rectangles", "Span", "middle", "widest_range"]

MOST_SAMPLED = 100_000
MOST_AREAS = 2_000
DIGITS = 6
LONGEST = 2**62
"""Positions of shorter attributes have room in 64 bits."""
Span = tuple[int, int]
"""The first and the last position of a range."""


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

    def squares(self, change: Mapping[Point, int]) -> Exact:
        """Sum (S_j - S_i)^2 over all i < j of m + 1 sums: (m + 1) sum S^2 - (sum S)^2."""
        runs = prefix_runs(change, self.axis, self.size)
        sums = sum(value * length for value, length in runs)
        return (self.size + 1) * sum(value * value * length for value, length in runs) - sums * sums

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


@dataclass(frozen=True, repr=False)
class Rectangles(BoundQuery):
    """Every range of one attribute together with every range of another: counts of rectangles.

    `sample`: so many rectangles, always the same ones, for attributes whose rectangles are too many
    to list: each end is a fixed number that looks random (two positions, the smaller one first).
    """

    axes: tuple[int, int]
    sizes: tuple[int, int]
    sample: int | None = None
    name: str = "rectangles"
    binary = True

    @classmethod
    def parse(cls, kind: str, arguments: Sequence[str], policy: Policy) -> Rectangles:
        """Return the rectangles of two attributes, and how many of them are sampled."""
        names, rest = arguments[:2], arguments[2:]
        if len(names) < 2 or len(rest) > 1:
            raise PolicyError("rectangles have two attributes", hint="rectangles(A,B)")
        first, second = (ordered_axis(policy.domain, name) for name in names)
        if first == second:
            raise PolicyError(f"the attribute {names[0]!r} is named twice", hint="name it once")
        sample = _many(rest[0]) if rest else None
        sizes = policy.domain.attribute(first).size, policy.domain.attribute(second).size
        text = query_name(kind, [*names, *([] if sample is None else [sample])])
        return cls((first, second), sizes, sample, text)

    @cached_property
    def _sampled(self) -> tuple[tuple[Span, Span], ...]:
        return tuple(_chosen(place, self.sizes) for place in range(self.sample or 0))

    @cached_property
    def _ends(self) -> NDArray[np.int64]:
        """The ends of a sample's rectangles: a column for each, its four numbers below each other.

        For attributes whose positions have room in 64 bits.
        """
        import numpy as np

        return np.array(self._sampled, dtype=np.int64).reshape(-1, 4).T

    def spans(self) -> Iterator[tuple[Span, Span]]:
        """Yield the rectangles, in the order of the outputs."""
        if self.sample is None:
            yield from product(*(list(_ranges(size)) for size in self.sizes))
        else:
            yield from self._sampled

    def row(self, point: Point) -> Row:
        """One record adds 1 to every rectangle that holds it."""
        if self.sample is not None:
            x, y = (point[axis] for axis in self.axes)
            if max(self.sizes) < LONGEST:
                import numpy as np

                left, right, low, high = self._ends
                held = (left <= x) & (x <= right) & (low <= y) & (y <= high)
                return dict.fromkeys(np.flatnonzero(held).tolist(), 1)
            return {
                place: 1
                for place, (one, two) in enumerate(self._sampled)
                if one[0] <= x <= one[1] and two[0] <= y <= two[1]
            }
        sides = [
            [(i, j) for i in range(point[axis] + 1) for j in range(point[axis], size)]
            for axis, size in zip(self.axes, self.sizes, strict=True)
        ]
        return dict.fromkeys(product(*sides), 1)

    def counted(self, change: Mapping[Point, int]) -> list[Counted]:
        """Return how rectangles change: which of the changed positions they hold is what counts."""
        if self.sample is not None:
            return list(super().counted(change))
        sides = [
            _classes(sorted({point[axis] for point in change}), size)
            for axis, size in zip(self.axes, self.sizes, strict=True)
        ]
        found: dict[int, int] = defaultdict(int)
        places = [((point[self.axes[0]], point[self.axes[1]]), k) for point, k in change.items()]
        for (one, many), (two, more) in product(*sides):
            value = sum(
                times for (x, y), times in places if one[0] <= x <= one[1] and two[0] <= y <= two[1]
            )
            found[value] += many * more
        return list(found.items())

    def arguments(self, domain: Domain) -> list[str | Exact]:
        """Return the two attributes, and how many rectangles are sampled."""
        names: list[str | Exact] = [domain.names[axis] for axis in self.axes]
        return names if self.sample is None else [*names, str(self.sample)]

    def outputs(self, domain: Domain) -> Outputs:
        """Return the rectangles, the ranges of the first attribute first."""
        if self.sample is not None:
            return numbered_outputs(self.sample)
        first, second = self.sizes
        many = second * (second + 1) // 2

        def place(key: Hashable) -> int:
            assert isinstance(key, tuple)
            one, two = key
            return _place(one, first) * many + _place(two, second)

        return Outputs(first * (first + 1) // 2 * many, place)

    def label(self, key: Hashable, domain: Domain) -> str:
        """Return the ends of a rectangle."""
        spans = self._sampled[key] if isinstance(key, int) else key
        assert isinstance(spans, tuple)
        both = zip(self.axes, spans, strict=True)
        return " x ".join(span_label(domain, axis, low, high) for axis, (low, high) in both)

    @property
    def longest_row(self) -> int:
        """The number of rectangles that hold the value in the middle."""
        if self.sample is not None:
            return self.sample
        return (self.sizes[0] + 1) ** 2 // 4 * ((self.sizes[1] + 1) ** 2 // 4)

    def axes_read(self, domain: Domain) -> frozenset[int]:
        """Return the two attributes."""
        return frozenset(self.axes)

    def areas(self, domain: Domain) -> list[Area] | None:
        """Return the cells of the two attributes, if they are few."""
        return cells_on(self.axes, domain)

    def counted_areas(self, domain: Domain) -> list[Area] | None:
        """Return the rectangles, if they are few."""
        if self.outputs(domain).count > MOST_AREAS:
            return None
        return [_area(spans, self.axes, domain) for spans in self.spans()]

    def one_record(self, domain: Domain) -> Exact | None:
        """Return the rectangles that hold the value in the middle; of a sample, at most all."""
        if self.sample is not None:
            return None
        return self.longest_row


def _many(text: str) -> int:
    if len(text) > DIGITS or not text.isascii() or not text.isdigit() or not int(text):
        raise PolicyError(
            f"{text!r} is no number of rectangles", hint=f"a whole number from 1 to {MOST_SAMPLED}"
        )
    if int(text) > MOST_SAMPLED:
        raise PolicyError(f"{text} rectangles are too many", hint=f"{MOST_SAMPLED} at the most")
    return int(text)


def _ranges(size: int) -> Iterator[Span]:
    return ((i, j) for i in range(size) for j in range(i, size))


def _chosen(place: int, sizes: tuple[int, int]) -> tuple[Span, Span]:
    """Return a rectangle of the sample: the digest of its place says where it ends."""
    text = sha256(f"rectangle {place}".encode("ascii")).digest()
    ends = [int.from_bytes(text[8 * k : 8 * k + 8], "big") for k in range(4)]
    first, second = (sorted((a % size, b % size))
                     for a, b, size in zip(ends[::2], ends[1::2], sizes, strict=True))  # fmt: skip
    return (first[0], first[1]), (second[0], second[1])


def _classes(places: Sequence[int], size: int) -> list[tuple[Span, int]]:
    """Return ranges that stand for all that hold the same of some positions, and how many do.

    >>> _classes([1], 3)
    [((1, 1), 4), ((1, 0), 2)]
    """
    found = []
    inside = 0
    gaps = [-1, *places, size]
    for i in range(1, len(gaps) - 1):
        for j in range(i, len(gaps) - 1):
            many = (gaps[i] - gaps[i - 1]) * (gaps[j + 1] - gaps[j])
            inside += many
            found.append(((gaps[i], gaps[j]), many))
    return [*found, ((1, 0), size * (size + 1) // 2 - inside)]


def _area(spans: tuple[Span, Span], axes: tuple[int, int], domain: Domain) -> Area:
    sides = list(domain.whole.sides)
    for axis, (low, high) in zip(axes, spans, strict=True):
        sides[axis] = Positions.span(low, high + 1)
    return Area((Box(tuple(sides)),))
