"""Few cells, and a few facts beside them: cycles that fit together two by two, searched through.

*Statement.* Let the N classes and labels be those of `beside`, labels being points of Z^d, and let
a finite set P of points be such that the labels of each class lie in a translate of it. D is the
set of differences of two points of P, D_l that of sums of l members of D. Take any positive
definite quadratic form; products are its. Say that cycles of a moves with label v and of b moves
with label w *fit*, where 1 <= a, b <= N, v is in D_a and w in D_b, neither 0, if v = w, or a + b <=
N + 1, or for some s >= 2 with a + b - s <= N there are positive l_i, m_i and labels x_i in D_(l_i),
y_i in D_(m_i), i = 1, ..., s, with sums a, b, v and w, so that for every set I of places

    h(I) (v - w - h(I)) <= 0 and h(I) is not v,    h(I) the sum of x_i - y_i over I.

A list of cycles (lengths and labels), any two of which fit, whose labels sum to 0, and no proper
part of them does, *stands* if for any two of its cycles with v not w and a + b > N + 1 the l_i,
m_i, x_i and y_i can be chosen so that besides v - h(I) + t is not 0, unless h(I) is 0 or v - w,
where t is the sum of the labels of some of the other cycles. Then a pair makes at most max(N, L)
moves, L being the largest sum of lengths in a list that stands.

*Proof.* Taking a translation away from each class changes no label of a circulation, nor the
difference of two ways from one class to another: let all labels be in P. Then a move has a label in
D. Let M be irreducible. If a simple cycle in M has label 0, it is M, of at most N moves. Else cut M
into simple cycles, as many as possible, and among these cuts take one with the least sum of squares
of labels. Their labels sum to 0, and those of a proper part do not, as it would be a proper part of
M. Let A and B be two of the cycles, of a and b moves, with labels v and w.

They meet their s common classes in the same cyclic order (`beside`, (i)), and a + b - s <= N. If s
<= 1, then a + b <= N + 1. Else common classes cut them into segments A_i, B_i with the same ends;
let l_i and m_i be their moves, x_i and y_i their labels. To exchange those at the places I leaves
as many cycles, simple ones, with labels v - h(I) and w + h(I). So the sum of squares is no less,
which is the first condition; and v - h(I) is not 0, else that cycle would be all of M. Nor is v -
h(I) + t, t being the sum of some other cycles' labels: these and that cycle are a proper part of M,
as the other cycle that came of the exchange is not among them. QED.

*The search* for L is that of `engines/irreducibles/search`, with cycles for effects: to a list with
sum s, all lists that go on hold a cycle with a negative value of y, where y is linear and positive
on s. Each such cycle is tried, and then left out by those after it. What does not fit, and what
makes a part sum to 0 without closing, is left out as well. At the root, images of what was tried
under linear maps that permute D are left out: these keep D_l, and the form, which is the inverse of
the sum of the squares of D. Whether a list stands is asked of those alone that are longer than all
before.

For margins of 2 x c it says what T3 of `beside` says: 8, 12, 18 for c = 3, 4, 5. For 3 x 3, 3 x 4
and 2 x 2 x 3 it says 20, 39 and 28, where 15, 27 and 24 are known to be right.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations, product
from math import gcd
from operator import add, mul, sub

import numpy as np

from blowproof.verifier.exact.coordinates import inverse
from blowproof.verifier.limits.limit import whole_limit

__all__ = ["Cycle", "Fits", "fitting", "longest_of_cycles"]

MOST_NODES = whole_limit(__name__, "MOST_NODES")
DIGIT = whole_limit(__name__, "DIGIT")
HELD = whole_limit(__name__, "HELD")

Point = tuple[int, ...]
Cycle = tuple[int, Point]
"""How many moves, and the label."""


def longest_of_cycles(points: Iterable[Point], classes: int) -> int | None:
    """Return max(N, L) for labels in translates of these points; None if that takes too long.

    >>> [longest_of_cycles([(0,), (1,)], classes) for classes in (2, 3, 4)]
    [4, 8, 12]
    """
    fits = fitting(points, classes)
    found = _Lists(fits).longest()
    return None if found is None else max(classes, found)


@dataclass(frozen=True)
class Fits:
    """Labels that cycles may have, and which cycles fit: `by[a, b]` has pairs of labels."""

    steps: frozenset[Point]
    reach: tuple[frozenset[Point], ...]
    norm: dict[Point, int]
    by: dict[tuple[int, int], set[tuple[Point, Point]]]

    def __call__(self, one: Cycle, two: Cycle) -> bool:
        """Whether two cycles fit."""
        return one[1] == two[1] or (one[1], two[1]) in self.by[one[0], two[0]]

    @property
    def classes(self) -> int:
        """The most moves of a cycle."""
        return len(self.reach) // 2 - 1


def fitting(points: Iterable[Point], classes: int) -> Fits:
    """Return which cycles on so many classes fit.

    >>> fits = fitting([(0,), (1,)], 3)
    >>> fits((3, (2,)), (3, (-1,))), fits((3, (1,)), (3, (-1,))), fits((2, (2,)), (2, (-2,)))
    (False, True, True)
    """
    some = sorted(set(points))
    steps = frozenset(_less(x, y) for x in some for y in some)
    reach = [frozenset({(0,) * len(some[0])})]
    for _ in range(2 * classes + 1):
        reach.append(frozenset(_plus(x, step) for x in reach[-1] for step in steps))
    square = np.array([list(x) for x in sorted(steps)], dtype=object)
    form = inverse(square.T @ square)[0].tolist()
    norm = {x: sum(p * _times(row, x) for p, row in zip(x, form, strict=True)) for x in reach[-2]}
    lengths = range(1, classes + 1)
    by = {
        (a, b): set(product(reach[a], reach[b])) if a + b <= classes + 1 else set()
        for a, b in product(lengths, repeat=2)
    }
    fits = Fits(steps, tuple(reach), norm, by)
    for places in range(2, classes + 1):
        for parts in _parts(places, classes - places, (classes + 1, 0)):
            if sum(first - second for first, second in parts) >= 0:
                _Segments(fits, parts).put()
    return fits


def _parts(places: int, over: int, last: tuple[int, int]) -> Iterator[tuple[tuple[int, int], ...]]:
    """Yield lengths (l_i, m_i), the largest first, that are at most `over` more than 1 together."""
    if not places:
        yield ()
        return
    for first, second in product(range(1, over + 2), repeat=2):
        left = over - (first - 1) - (second - 1)
        if left >= 0 and (first, second) <= last:
            for others in _parts(places - 1, left, (first, second)):
                yield ((first, second), *others)


class _Segments:
    """Two cycles that are cut into segments of these lengths."""

    def __init__(self, fits: Fits, parts: tuple[tuple[int, int], ...]) -> None:
        self.fits, self.parts = fits, parts
        self.lengths = tuple(map(sum, zip(*parts, strict=True)))
        self.ways = [_ways(fits.reach[first], fits.reach[second]) for first, second in parts]

    def put(self) -> None:
        """Note which labels fit."""
        first, second = self.lengths
        for apart in self.fits.reach[first + second]:
            if any(apart):
                for sums, labels in self.choices(apart):
                    pairs = {(v, _less(v, apart)) for v in labels.difference(sums)}
                    self.fits.by[first, second] |= pairs
                    self.fits.by[second, first] |= {(w, v) for v, w in pairs}

    def choices(self, apart: Point) -> Iterator[tuple[list[Point], set[Point]]]:
        """Yield h(I) of all I, and the labels v of A, for labels so far apart."""
        zero = next(iter(self.fits.reach[0]))
        usable = [[h for h in ways if self._allowed(h, apart)] for ways in self.ways]
        yield from self._extend(apart, usable, [zero], {zero})

    def _allowed(self, part: Point, apart: Point) -> bool:
        """Whether h (T - h) <= 0: h^2 + (T - h)^2 >= T^2."""
        norm = self.fits.norm
        rest = norm.get(_less(apart, part))
        return rest is not None and norm[part] + rest >= norm[apart]

    def _extend(
        self, apart: Point, usable: list[list[Point]], sums: list[Point], first: set[Point]
    ) -> Iterator[tuple[list[Point], set[Point]]]:
        """Choose h at the next place; `sums`: h(I) of all I so far; `first`: sums of x_i."""
        place = len(self.parts) - len(usable)
        ways = self.ways[place]
        alike = place and self.parts[place] == self.parts[place - 1]
        last = _less(sums[-1], sums[len(sums) // 2 - 1]) if alike else None
        rest = [_less(apart, sums[-1])] if len(usable) == 1 else usable[0]
        for h in rest:
            if h not in ways or (last is not None and h > last):
                continue
            more = [_plus(part, h) for part in sums]
            if all(self._allowed(part, apart) for part in more):
                labels = {_plus(x, y) for x in first for y in ways[h]}
                if len(usable) > 1:
                    yield from self._extend(apart, usable[1:], sums + more, labels)
                else:
                    yield sums + more, labels


@cache
def _ways(first: frozenset[Point], second: frozenset[Point]) -> dict[Point, set[Point]]:
    """Return the x of each difference x - y."""
    ways: dict[Point, set[Point]] = {}
    for x in first:
        for y in second:
            ways.setdefault(_less(x, y), set()).add(x)
    return ways


class _Lists:
    """All lists of cycles, any two of which fit: see the search in the theorem."""

    def __init__(self, fits: Fits) -> None:
        self.fits = fits
        every = [(a, v) for a in range(1, fits.classes + 1) for v in fits.reach[a] if any(v)]
        self.cycles = sorted(every, key=lambda cycle: (-fits.norm[cycle[1]], cycle))
        self.labels = [label for _, label in self.cycles]
        self.fitting = [
            sum(1 << k for k, other in enumerate(self.cycles) if fits(cycle, other))
            for cycle in self.cycles
        ]
        self.same: dict[Point, int] = {}
        for place, label in enumerate(self.labels):
            self.same[label] = self.same.get(label, 0) | 1 << place
        self.images = list(_images(fits, self.cycles))
        self.sides = sorted(self._sides(fits.classes), key=lambda side: side[1].bit_count())
        self.middle = _place((DIGIT // 2,) * len(self.labels[0]))
        self.low = self.middle - max(map(_place, self.labels))
        self.dropped = [
            (1 << self.middle - _place(label) - self.low, cycles)
            for label, cycles in self.same.items()
        ]
        self.most = (DIGIT // 2 - 1) // max(1, *(abs(x) for step in fits.steps for x in step))
        self.held: dict[int, int] = {}
        self.below: dict[Point, list[int]] = {}
        self.exchanges: dict[tuple[int, int], list[frozenset[Point]]] = {}
        self.best = self.nodes = 0

    def longest(self) -> int | None:
        """Return the largest sum of lengths; None where it takes too long to find."""
        left = (1 << len(self.cycles)) - 1
        try:
            for place, label in enumerate(self.labels):
                if left >> place & 1:
                    sums = 1 << self.middle
                    self._try(place, label, sums | _shifted(sums, _place(label)), left, 0)
                    for image in self.images:
                        left &= ~(1 << image[place])
        except OverflowError:
            return None
        return self.best

    def _sides(self, size: int) -> Iterator[tuple[Point, int]]:
        """Yield linear y, and the cycles that are negative there."""
        for y in product(range(-size, size + 1), repeat=len(self.labels[0])):
            if gcd(*y) == 1:
                below = (k for k, label in enumerate(self.labels) if _times(y, label) < 0)
                yield y, sum(1 << k for k in below)

    def _try(self, place: int, total: Point, sums: int, left: int, length: int) -> None:
        """Look at all lists that go on from one that holds this cycle last.

        `total`: the sum of the list's labels; `sums`: those of all its parts, as bits of a number
        (coordinates are digits of a bit's place); `left`: the cycles that may still be put in.
        """
        length += self.cycles[place][0]
        self.nodes += 1
        if self.nodes > MOST_NODES or length > self.most:
            raise OverflowError
        left &= self.fitting[place]
        closing = self.same.get(tuple(-x for x in total), 0) & left
        self.held[place] = self.held.get(place, 0) + 1
        for k in _places(closing):
            if length + self.cycles[k][0] > self.best and self._stands(k):
                self.best = length + self.cycles[k][0]
        near = sums >> self.low
        for negative, cycles in self.dropped:
            if cycles & left and near & negative:
                left &= ~cycles
        for k in _places(self._side(total, left)):
            label = self.labels[k]
            more = sums | _shifted(sums, _place(label))
            self._try(k, _plus(total, label), more, left, length)
            left &= ~(1 << k)
        self.held[place] -= 1

    def _side(self, total: Point, left: int) -> int:
        """Return the cycles of which all lists that go on hold one: few, and few that are held."""
        fewest, chosen = 1 << 62, 0
        for below in self._below(total):
            tried = below & left
            if not tried:
                return 0
            count = tried.bit_count()
            if count < fewest:
                count += sum(HELD * n for k, n in self.held.items() if tried >> k & 1)
                if count < fewest:
                    fewest, chosen = count, tried
        return chosen

    def _below(self, total: Point) -> list[int]:
        """Return the cycles that are negative for each y that is positive on the total."""
        if total not in self.below:
            self.below[total] = [below for y, below in self.sides if _times(y, total) > 0]
        return self.below[total]

    def _stands(self, last: int) -> bool:
        """Whether any two cycles of the list, with this one, can be exchanged without harm."""
        list_ = Counter(self.held)
        list_[last] += 1
        held = [k for k in list_ if list_[k]]
        for one, two in combinations(sorted(held, key=lambda k: -self.cycles[k][0]), 2):
            (a, v), (b, w) = self.cycles[one], self.cycles[two]
            if v != w and a + b > self.fits.classes + 1:
                others = list_ - Counter((one, two))
                sums = {v}
                for k, times in others.items():
                    for _ in range(times):
                        sums |= {_plus(x, self.labels[k]) for x in sums}
                if not any(each.isdisjoint(sums) for each in self._exchanges(one, two)):
                    return False
        return True

    def _exchanges(self, one: int, two: int) -> list[frozenset[Point]]:
        """Return the h(I) of all I, as few as they may be; the first cycle is no shorter."""
        if (one, two) not in self.exchanges:
            (a, v), (b, w) = self.cycles[one], self.cycles[two]
            apart, size = _less(v, w), self.fits.classes
            found: set[frozenset[Point]] = set()
            for places in range(2, size + 1):
                for parts in _parts(places, size - places, (size + 1, 0)):
                    if tuple(map(sum, zip(*parts, strict=True))) == (a, b):
                        for sums, labels in _Segments(self.fits, parts).choices(apart):
                            if v in labels:
                                found.add(frozenset(h for h in sums if any(h) and h != apart))
            fewest: list[frozenset[Point]] = []
            for each in sorted(found, key=len):
                if not any(other <= each for other in fewest):
                    fewest.append(each)
            self.exchanges[one, two] = fewest
        return self.exchanges[one, two]


def _shifted(bits: int, by: int) -> int:
    return bits << by if by > 0 else bits >> -by


@cache
def _place(point: Point) -> int:
    return sum(x * DIGIT**k for k, x in enumerate(point))


def _images(fits: Fits, cycles: Sequence[Cycle]) -> Iterator[list[int]]:
    """Yield where linear maps that permute D put the cycles."""
    places = {cycle: place for place, cycle in enumerate(cycles)}
    size = len(cycles[0][1])
    units = {tuple(int(j == k) for j in range(size)) for k in range(size)}
    for columns in product(fits.steps, repeat=size) if units <= fits.steps else ():
        rows = list(zip(*columns, strict=True))
        if {tuple(_times(row, step) for row in rows) for step in fits.steps} == fits.steps:
            moved = ((a, tuple(_times(row, v) for row in rows)) for a, v in cycles)
            yield [places[cycle] for cycle in moved]


def _places(bits: int) -> Iterator[int]:
    """Yield the places of a number's bits."""
    while bits:
        last = bits & -bits
        yield last.bit_length() - 1
        bits ^= last


def _plus(x: Point, y: Point) -> Point:
    return tuple(map(add, x, y))


def _less(x: Point, y: Point) -> Point:
    return tuple(map(sub, x, y))


def _times(x: Sequence[int], y: Sequence[int]) -> int:
    return sum(map(mul, x, y))
