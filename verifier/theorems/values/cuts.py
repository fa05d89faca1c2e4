"""All ranges of an axis: what they change by, from what crosses each cut.

Let u_0, ..., u_m be the change of the cumulative counts of an axis of m positions, with u_0 before
the first one: u_j is how many records more are on the near side of cut j, and u_0 = 0. A range from
i to j changes by the difference of two of these, and every two are the ends of one range, so that
all ranges together change by sum over i < j of |u_i - u_j|.

*From above.* Let |u_j| <= k_j for all j. Then

    sum over i < j of |u_i - u_j| <= sum over i < j of max(k_i, k_j) + (sum of k_j) / 2.

For the left side is convex in each u_j, so that it is largest where u_j = s_j k_j with signs s_j;
there |u_i - u_j| = max(k_i, k_j) - s_i s_j min(k_i, k_j). And sum over all i, j of s_i s_j min(k_i,
k_j) is the integral over t > 0 of (sum of the s_j with k_j > t)^2, so at least 0, so that the sum
over i < j of s_i s_j min(k_i, k_j) is at least -(sum of k_j) / 2.

If one record of each class may go from one position of the class to another, k_j is the number of
classes that lie on both sides of cut j.

*By directions.* Let the record of each class go up or down, as is said beforehand; p_j classes that
go up lie on both sides of cut j, and n_j that go down. Then -n_j <= u_j <= p_j. Let m = (how many
cuts there are), the outermost ones included. For every such choice of directions

    sum over i < j of |u_i - u_j| <= sum over h >= 1 of g(how many p_j >= h) + g(how many n_j >= h),
    sum over i < j of (u_i - u_j)^2 <= t^2 + sum over j of max(p_j (m p_j - 2 t), n_j (m n_j + 2 t))

where g(N) is the largest k (m - k) over k <= N, and t any number. So the largest of these over all
choices bounds all ranges. For |a - b| is how many h (positive, zero and negative) have a >= h > b
or b >= h > a, so that the first sum is that of N_h (m - N_h), N_h being how many u_j >= h; for h >=
1 these have p_j >= h, and for h <= 0 the m - N_h others have n_j >= 1 - h. The second sum is m (sum
u_j^2) - (sum u_j)^2, and -s^2 <= t^2 - 2 t s for all s and t; what is left, sum of m u_j^2 - 2 t
u_j, is convex in each u_j, and largest at an end. (t = the sum of the best u_j meets it.) Classes
with the same first and last position are alike, and turning all directions round changes nothing.

*From below.* One class after the other takes the two positions that are best beside what the others
have, over and over, until nothing is better. It begins in squares with the directions of the bound,
each class crossing the cuts where its direction is what makes the most of the sum.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import pairwise, permutations, product
from math import prod

import numpy as np
from numpy.typing import NDArray

from blowproof.models.base.clock import now
from blowproof.verifier.limits.limit import whole_limit

__all__ = ["best_steps", "by_directions", "crossed", "ranges_above"]

MOST_SPOTS = whole_limit(__name__, "MOST_SPOTS")
FEW_SPOTS = whole_limit(__name__, "FEW_SPOTS")
MOST_CLASSES = whole_limit(__name__, "MOST_CLASSES")
MOST_WAYS = whole_limit(__name__, "MOST_WAYS")
ROUNDS = whole_limit(__name__, "ROUNDS")
SAFE = whole_limit(__name__, "SAFE")

Runs = list[tuple[int, int]]
"""(what bounds the cut, how many such cuts there are)."""

Span = tuple[int, int]
"""The first and last position of a class on the axis."""

Steps = list[Span]
"""For each class, the position from which its record goes, and the one to which."""


def crossed(spans: Sequence[tuple[int, int]], size: int) -> Runs:
    """Return, for an axis of so many positions, how many of the spans (low, high) cross its cuts.

    The cut before the first position and the one after the last are crossed by none.

    >>> crossed([(0, 2), (1, 3)], 5)
    [(0, 1), (1, 1), (2, 1), (1, 1), (0, 2)]
    """
    steps: dict[int, int] = {}
    for low, high in spans:
        if low < high:
            steps[low] = steps.get(low, 0) + 1
            steps[high] = steps.get(high, 0) - 1
    runs, running, last = [(0, 1)], 0, 0
    for place in sorted(steps):
        if place > last:
            runs.append((running, place - last))
        running, last = running + steps[place], place
    runs.append((running, size - last))
    return runs


def ranges_above(runs: Runs) -> int:
    """Return what no change of all ranges exceeds, whose u_j are bounded by these runs.

    >>> ranges_above([(0, 7), (1, 94)]), ranges_above([(0, 2), (3, 1)])
    (5076, 7)
    """
    total = seen = every = 0
    for most, length in sorted(runs):
        total += most * (length * seen + length * (length - 1) // 2)
        seen += length
        every += most * length
    return total + every // 2


def by_directions(
    spans: Sequence[Span], size: int, *, squares: bool, end: float | None = None
) -> tuple[int, Steps] | None:
    """Return what no change of all ranges exceeds, whichever way each class goes, and steps that
    go the ways of the largest bound; None where there are too many ways, or no time is left.

    >>> by_directions([(0, 2), (3, 6)], 7, squares=True)
    (39, [(0, 2), (6, 3)])
    >>> by_directions([(0, 6), (8, 12), (13, 17)], 20, squares=False)[0]
    194
    """
    alike = Counter(span for span in spans if span[0] < span[1])
    if prod(count + 1 for count in alike.values()) > MOST_WAYS:
        return None
    ends = sorted({place for span in alike for place in span})
    over = [[s for s in alike if s[0] <= low and high <= s[1]] for low, high in pairwise(ends)]
    best, steps = 0, [(low, low) for low, _ in spans]
    for ways in product(*(range(count + 1) for count in alike.values())):
        if ways < tuple(count - up for count, up in zip(alike.values(), ways, strict=True)):
            continue  # the same, turned round
        if end is not None and now() > end:
            return None
        ups = dict(zip(alike, ways, strict=True))
        both = [(sum(map(ups.__getitem__, s)), sum(map(alike.__getitem__, s))) for s in over]
        runs = [
            (up, every - up, high - low)
            for (up, every), (low, high) in zip(both, pairwise(ends), strict=True)
        ]
        most, t = _squared(runs, size + 1) if squares else (_layered(runs, size + 1), 0)
        if most > best:
            best = most
            rising = [_end(p, t, size + 1) >= _end(n, -t, size + 1) for p, n, _ in runs]
            steps = _along(spans, ends, ups, rising if squares else None)
    return best, steps


def _layered(runs: Sequence[tuple[int, int, int]], cuts: int) -> int:
    """Return the bound of sizes: g(how many p_j >= h) + g(how many n_j >= h) over all h."""
    total = 0
    for side in (0, 1):
        left = 0
        levels = sorted(((run[side], run[2]) for run in runs if run[side]), reverse=True)
        for (high, length), (low, _) in pairwise([*levels, (0, 0)]):
            left += length
            crossing = min(left, cuts // 2)
            total += (high - low) * crossing * (cuts - crossing)
    return total


def _squared(runs: Sequence[tuple[int, int, int]], cuts: int) -> tuple[int, int]:
    """Return the bound of squares, and the t of it that is the best whole one."""

    def bound(t: int) -> int:
        ends = (length * max(_end(p, t, cuts), _end(n, -t, cuts)) for p, n, length in runs)
        return t * t + sum(ends)

    high = sum(max(p, n) * length for p, n, length in runs)
    low = -high
    while low < high:
        middle = (low + high) // 2
        if bound(middle + 1) < bound(middle):
            low = middle + 1
        else:
            high = middle
    return bound(low), low


def _end(u: int, t: int, cuts: int) -> int:
    return u * (cuts * u - 2 * t)


def _along(
    spans: Sequence[Span], ends: Sequence[int], ups: Mapping[Span, int], rising: list[bool] | None
) -> Steps:
    """Return steps: so many of each span up, the others down, each over all cuts that go its way
    (`rising`; None: over all that it has).
    """
    left, steps = dict(ups), []
    for low, high in spans:
        up = left.get((low, high), 0) > 0
        if up:
            left[low, high] -= 1
        if rising is not None:
            parts = zip(pairwise(ends), rising, strict=True)
            way = [part for part, rises in parts
                   if rises is up and low <= part[0] and part[1] <= high]  # fmt: skip
            steps.append((way[0][0], way[-1][1]) if way else (low, low))
        else:
            steps.append((low, high))
        if not up:
            steps[-1] = steps[-1][::-1]
    return steps


def best_steps(
    classes: Sequence[Sequence[int]],
    size: int,
    *,
    squares: bool = False,
    start: Sequence[Span] | None = None,
    end: float | None = None,
) -> Steps:
    """Return two positions for each class, from one of which to the other its record goes.

    Equal ones for a class that stays. The changes of all ranges (or their squares) add up to much,
    not always to most. `start`: steps to begin with, or from positions nearby.

    >>> best_steps([[0, 1, 2, 3]], 4)
    [(0, 2)]
    """
    count = len(classes)
    every = [sorted(set(spots)) for spots in classes]
    best = [(spots[0], spots[0]) for spots in every]
    largest = (count + 1) ** 2 if squares else count + 1
    if count > MOST_CLASSES or 4 * largest * (size + 1) ** 2 >= SAFE:
        return [(spots[0], spots[-1]) for spots in every]
    most = MOST_SPOTS if count <= MOST_SPOTS else FEW_SPOTS
    gap = max(map(len, every), default=0)
    if start is not None:
        best = [_inside(spots, step) for spots, step in zip(every, start, strict=True)]
    chosen = [sorted({*_some(spots, most), *step}) for spots, step in zip(every, best, strict=True)]
    while True:
        best = _improved(chosen, best, size, end, squares=squares)
        if gap <= most or (end is not None and now() > end):
            return best
        gap = 2 * gap // most  # the next positions, between those that were looked at
        chosen = [_near(spots, step, gap, most) for spots, step in zip(every, best, strict=True)]


def _improved(
    classes: Sequence[Sequence[int]],
    best: Sequence[tuple[int, int]],
    size: int,
    end: float | None,
    *,
    squares: bool,
) -> Steps:
    """Give each class its best two positions beside the others, until nothing is better."""
    line = _Line(sorted({spot for spots in classes for spot in spots}), size, squares=squares)
    found = list(best)
    for step in found:
        line.take(*step)
    order = sorted(range(len(classes)), key=lambda c: (classes[c][0] - classes[c][-1], c))
    for _ in range(ROUNDS):
        better = False
        for c in order:
            if end is not None and now() > end:
                return found
            line.take(*reversed(found[c]))
            steps = [(classes[c][0], classes[c][0]), found[c], *permutations(classes[c], 2)]
            worth = [line.worth(low, high) for low, high in steps]
            top = max(range(len(steps)), key=lambda k: worth[k])
            if worth[top] > worth[1]:
                found[c], better = steps[top], True
            line.take(*found[c])
        if not better:
            break
    return found


def _inside(spots: Sequence[int], step: Span) -> Span:
    """Return the same step between positions that there are, no longer where it can be so."""
    low, high = sorted(step)
    first = spots[min(bisect_left(spots, low), len(spots) - 1)]
    last = max(first, spots[max(bisect_right(spots, high) - 1, 0)])
    return (first, last) if step[0] <= step[1] else (last, first)


def _near(spots: Sequence[int], step: tuple[int, int], gap: int, most: int) -> list[int]:
    """Return positions of a class near the two that it has, and these."""
    found = set(step)
    for spot in step:
        place = bisect_left(spots, spot)
        found.update(_some(spots[max(0, place - gap) : place + gap + 1], most // 2))
    return sorted(found)


def _some(spots: Sequence[int], most: int) -> list[int]:
    """Return a few of many positions, spread over all of them."""
    if len(spots) <= most:
        return list(spots)
    return [spots[k * (len(spots) - 1) // (most - 1)] for k in range(most)]


class _Line:
    """The u_j, where they are alike between two positions of a list."""

    def __init__(self, spots: Sequence[int], size: int, *, squares: bool) -> None:
        self.squares = squares
        self.places = {spot: k + 1 for k, spot in enumerate(spots)}
        bounds = [*spots, size]
        lengths = [bounds[k + 1] - bounds[k] for k in range(len(spots))]
        first = spots[0] + 1 if spots else 1
        self.lengths: NDArray[np.int64] = np.array([first, *lengths], dtype=np.int64)
        self.change: NDArray[np.int64] = np.zeros(len(self.lengths), dtype=np.int64)

    def take(self, low: int, high: int) -> None:
        """Let a record go from one position to another."""
        self._add(self.change, low, high)

    def _add(self, change: NDArray[np.int64], low: int, high: int) -> None:
        sign = -1 if low < high else 1
        one, two = sorted((self.places[low], self.places[high]))
        change[one:two] += sign

    def worth(self, low: int, high: int) -> int:
        """Return what all ranges change by if one more record goes from one position to another."""
        change = self.change.copy()
        self._add(change, low, high)
        if self.squares:
            moved = change * self.lengths
            return int(self.lengths.sum() * (moved * change).sum() - moved.sum() ** 2)
        order = np.argsort(change, kind="stable")
        values, lengths = change[order], self.lengths[order]
        seen = np.cumsum(lengths) - lengths
        after = lengths.sum() - seen - lengths
        return int((values * lengths * (seen - after)).sum())
