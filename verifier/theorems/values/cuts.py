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

*From below.* One class after the other takes the two positions that are best beside what the others
have, over and over, until nothing is better.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from itertools import permutations

import numpy as np
from numpy.typing import NDArray

from blowproof.models.base.clock import now
from blowproof.verifier.limits.limit import whole_limit

__all__ = ["best_steps", "crossed", "ranges_above"]

MOST_SPOTS = whole_limit(__name__, "MOST_SPOTS")
FEW_SPOTS = whole_limit(__name__, "FEW_SPOTS")
MOST_CLASSES = whole_limit(__name__, "MOST_CLASSES")
ROUNDS = whole_limit(__name__, "ROUNDS")
SAFE = whole_limit(__name__, "SAFE")

Runs = list[tuple[int, int]]
"""(what bounds the cut, how many such cuts there are)."""


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


def best_steps(
    classes: Sequence[Sequence[int]], size: int, *, end: float | None = None
) -> list[tuple[int, int]]:
    """Return two positions for each class, from one of which to the other its record goes.

    Equal ones for a class that stays. The changes of all ranges add up to much, not always to most.

    >>> best_steps([[0, 1, 2, 3]], 4)
    [(0, 2)]
    """
    count = len(classes)
    every = [sorted(set(spots)) for spots in classes]
    best = [(spots[0], spots[0]) for spots in every]
    if count > MOST_CLASSES or 4 * (count + 1) * (size + 1) ** 2 >= SAFE:
        return [(spots[0], spots[-1]) for spots in every]
    most = MOST_SPOTS if count <= MOST_SPOTS else FEW_SPOTS
    gap = max(map(len, every), default=0)
    chosen = [_some(spots, most) for spots in every]
    while True:
        best = _improved(chosen, best, size, end)
        if gap <= most or (end is not None and now() > end):
            return best
        gap = 2 * gap // most  # the next positions, between those that were looked at
        chosen = [_near(spots, step, gap, most) for spots, step in zip(every, best, strict=True)]


def _improved(
    classes: Sequence[Sequence[int]],
    best: Sequence[tuple[int, int]],
    size: int,
    end: float | None,
) -> list[tuple[int, int]]:
    """Give each class its best two positions beside the others, until nothing is better."""
    line = _Line(sorted({spot for spots in classes for spot in spots}), size)
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

    def __init__(self, spots: Sequence[int], size: int) -> None:
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
        order = np.argsort(change, kind="stable")
        values, lengths = change[order], self.lengths[order]
        seen = np.cumsum(lengths) - lengths
        after = lengths.sum() - seen - lengths
        return int((values * lengths * (seen - after)).sum())
