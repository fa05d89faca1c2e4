"""The sums of parts of a multiset w, as w grows and shrinks: as bits of one integer, or as a set.

Vectors are packed into one number each, coordinate j with radix m_j + 1, where m_j is `reach_j`,
which no sum of a part exceeds, and twice the largest coordinate of an effect. The vectors that are
asked for are -e and -e - d: they differ from a sum by m_j or less in coordinate j, so equal numbers
are equal vectors.
"""

from __future__ import annotations

from collections.abc import Sequence

from .document import Budget, Rejected

MOST_BITS = 1 << 20
MOST_SUMS = 4_000_000

Vector = tuple[int, ...]


class Sums:
    """The sums of all parts of w, the empty one too (w itself is not stored)."""

    def __init__(self, effects: Sequence[Vector], reach: Sequence[int], budget: Budget) -> None:
        self.effects, self.reach, self.budget = effects, reach, budget
        radix, self.offset, units = 1, 0, []
        for limit, column in zip(reach, zip(*effects, strict=True), strict=True):
            span = limit + 2 * max(map(abs, column))
            units.append(radix)
            self.offset += span * radix
            radix *= span + 1
        self.keys = [sum(x * unit for x, unit in zip(d, units, strict=True)) for d in effects]
        self.spread = [(0,) * (2 * len(reach))]
        self.bits: list[int] | None = None
        if 2 * self.offset < MOST_BITS:
            self.bits = [1 << self.offset]
            self.bytes = [self._bytes()]
        self.sums, self.added = {0}, list[set[int]]()

    def _bytes(self) -> bytes:
        assert self.bits is not None
        return self.bits[-1].to_bytes(self.offset // 4 + 1, "little")

    def extend(self, i: int) -> None:
        """Add effect i to w."""
        ups = (max(x, 0) for x in self.effects[i])
        downs = (max(-x, 0) for x in self.effects[i])
        spread = tuple(map(int.__add__, self.spread[-1], (*ups, *downs)))
        if any(x > limit for x, limit in zip(spread, (*self.reach, *self.reach), strict=True)):
            raise Rejected("sums of parts leave the stated reach")
        self.spread.append(spread)
        key = self.keys[i]
        if self.bits is not None:
            self.budget.spend(4 + self.offset // 1000)
            old = self.bits[-1]
            self.bits.append(old | (old << key if key > 0 else old >> -key))
            self.bytes.append(self._bytes())
            return
        self.budget.spend(len(self.sums))
        self.added.append({part + key for part in self.sums} - self.sums)
        self.sums |= self.added[-1]
        if len(self.sums) > MOST_SUMS:
            raise Rejected("a node has too many sums of parts", limit=True)

    def undo(self) -> None:
        """Take the last effect out of w again."""
        self.spread.pop()
        if self.bits is not None:
            self.bits.pop()
            self.bytes.pop()
        else:
            self.sums -= self.added.pop()

    def closing(self, side: int, last: int) -> int:
        """Return the effects e of the bit set `side` with -e among the sums of w and `last`."""
        found, shift, keys = 0, self.keys[last], self.keys
        sums, data, offset = self.sums, None if self.bits is None else self.bytes[-1], self.offset
        while side:
            low = side & -side
            side ^= low
            key = -keys[low.bit_length() - 1]
            if data is None:
                if key in sums or key - shift in sums:
                    found |= low
            else:
                one, two = offset + key, offset + key - shift
                if data[one >> 3] >> (one & 7) & 1 or data[two >> 3] >> (two & 7) & 1:
                    found |= low
        return found
