"""Multisets to be put into databases, heaviest first (see `merged_into_databases`)."""

from __future__ import annotations

import heapq
from bisect import insort

from blowproof.models.base.clock import now
from blowproof.verifier.engines.irreducibles import Multiset
from blowproof.verifier.engines.irreducibles.search_from import Started
from blowproof.verifier.engines.search.effects import EffectTable
from blowproof.verifier.limits.limit import whole_limit
from blowproof.verifier.reductions.merged_records import Heaviest, JointSums

__all__ = ["Source"]

Vector = tuple[int, ...]

MOST_POOLED = whole_limit(__name__, "MOST_POOLED")
MOST_KEPT = whole_limit(__name__, "MOST_KEPT")
UNKNOWN = 1 << 62


class Source:
    """Multisets above the best, heaviest first: a sum is searched when it could be next.

    All weights here are lengths (see `models.norms`), `lower` and what is told as well.
    """

    def __init__(
        self, table: EffectTable, sums: JointSums, known: Heaviest, lower: int, end: float
    ) -> None:
        self.table, self.sums, self.end = table, sums, end
        self.floor = lower
        self.step = 2 * max([1, *table.weights])
        # Where nothing is known, any sum may be the heaviest; else those that are known come first.
        some = known.by_sum or dict.fromkeys(sums.weights, UNKNOWN)
        self.waiting = sorted((most, one) for one, most in some.items())
        self.complete = len(some) == len(sums.weights)
        self.stopped = False
        self.heap: list[tuple[int, int, Vector, Multiset]] = []
        self.number = 0

    def told(self, best: int) -> None:
        """Only what is heavier is wanted from now on."""
        self.floor = max(self.floor, best)

    def next(self, best: int) -> tuple[int, Vector, Multiset] | None:
        """Return the heaviest that is left, if it is heavier than the best."""
        while self.waiting and self.waiting[-1][0] > best:
            if self.heap and self.waiting[-1][0] < -self.heap[0][0]:
                break
            self._search(*self.waiting.pop())
            if self.stopped:
                return None
        if not self.heap or -self.heap[0][0] <= max(best, self.floor):
            return None
        weight, _, total, multiset = heapq.heappop(self.heap)
        return -weight, total, multiset

    def _search(self, most: int, total: Vector) -> None:
        """Find what weighs `most` or a little less; what weighs less still may come later."""
        own = self.sums.weights[total]
        least = self.floor if most == UNKNOWN else max(self.floor, most - self.step)
        search = Started(
            self.table.effects,
            self.table.weights,
            total,
            above=least - own,
            time_limit=max(0.0, self.end - now()) / 2,
        )
        found: list[tuple[int, Multiset]] = []
        for weight, multiset in search:
            if weight + own <= most:
                found.append((int(weight) + own, multiset))
            if len(found) > 2 * MOST_POOLED:
                found = heapq.nlargest(MOST_POOLED, found)
                self.floor = max(self.floor, found[-1][0])
        self.stopped = not search.complete
        self.complete &= search.complete
        for weight, multiset in found:
            self.number += 1
            heapq.heappush(self.heap, (-weight, self.number, total, multiset))
        if len(self.heap) > MOST_KEPT:
            self.heap = heapq.nsmallest(MOST_KEPT // 2, self.heap)  # a heap: it is sorted
            self.floor = max(self.floor, -self.heap[-1][0])
        if least > self.floor:
            insort(self.waiting, (least, total))
