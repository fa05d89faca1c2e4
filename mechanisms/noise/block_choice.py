"""A partition into blocks within blocks, drawn by the exponential mechanism over all, exactly.

The blocks form a forest: a block either stays whole or is cut into its children, each of which
again stays whole or is cut. A partition costs what its blocks cost together, in whole units, and is
drawn with probability in proportion to exp(-rate * cost). The sum of that over all partitions of a
block b is Z(b) = exp(-rate * cost(b)) + the product of Z over its children; so one goes down from
the top, and b stays whole with probability exp(-rate * cost(b)) / Z(b). A block with one child is
the same block once more, and is no choice.

*Exactly.* As in `interval_choice`: numbers are rounded down, and a uniform number is drawn bit by
bit until it decides; where it comes too close to the border, all is worked out again with twice as
many bits, and what was decided stays. Each block adds at most 2^(4 - bits) to how far its Z is
below the truth, in proportion, and the children's add up: less than 2^(SLACK - bits) for up to 2^21
blocks.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from fractions import Fraction

from blowproof.mechanisms.noise.rounded_down import WORD, Big, Powers, shifted, times, total
from blowproof.models.base.errors import BudgetError, PolicyError

__all__ = ["MOST_BLOCKS", "raw_block_choice"]

MOST_BLOCKS = 1 << 20
"""Blocks of all sizes together; more take minutes."""
BITS, SLACK = 192, 32
Source = Callable[[int], bytes]
Costs = Sequence[Sequence[int]]
Parents = Sequence[Sequence[int]]


def raw_block_choice(
    costs: Costs, parents: Parents, rate: Fraction, *, source: Source = os.urandom
) -> list[list[int]]:
    """Return the blocks that stay whole, level by level.

    `costs[l][b]` is what block b of level l costs, level 0 being the smallest; `parents[l][b]` is
    the block of level l + 1 that it lies in. Raw: it takes any rate, so of our modules only the
    gate may call it. `source` is there for tests of the sampler.

    >>> raw_block_choice([[0, 0], [10**9]], [[0, 0]], Fraction(1))
    [[0, 1], []]
    """
    if rate <= 0:
        raise PolicyError(f"no choice has the rate {rate}", key="scale")
    if sum(map(len, costs)) > MOST_BLOCKS:
        raise BudgetError(f"{sum(map(len, costs)):,} blocks; {MOST_BLOCKS:,} at the most are drawn")
    bits = BITS
    table = _Table(costs, parents, rate, bits)
    whole: list[list[int]] = [[] for _ in costs]
    top = len(costs) - 1
    waiting = [(top, block) for block in range(len(costs[top]))]
    drawn: Big = (0, 0)
    while waiting:
        level, block = waiting[-1]
        stays, drawn = table.decided(level, block, drawn, source)
        if stays is None:
            bits *= 2
            table = _Table(costs, parents, rate, bits)
            continue
        drawn = (0, 0)
        waiting.pop()
        if stays:
            whole[level].append(block)
        else:
            waiting += [(level - 1, child) for child in table.children[level][block]]
    return [sorted(row) for row in whole]


class _Table:
    """The sums Z of all blocks, rounded down."""

    def __init__(self, costs: Costs, parents: Parents, rate: Fraction, bits: int) -> None:
        self._bits = bits
        least = min(min(row) for row in costs if row)
        if least < 0:
            raise PolicyError("a block costs 0 or more", key="penalty")
        powers = _Kept(Powers(rate, max(max(row) for row in costs if row), bits))
        self.children: list[list[list[int]]] = [[]]
        for below, row in zip(parents, costs[1:], strict=True):
            found: list[list[int]] = [[] for _ in row]
            for child, above in enumerate(below):
                found[above].append(child)
            self.children.append(found)
        self._weights: list[list[Big]] = [[powers(cost) for cost in row] for row in costs]
        self._cut: list[list[Big]] = [[]]
        sums = self._weights[0]
        for level in range(1, len(costs)):
            cut = [self._product([sums[child] for child in some]) for some in self.children[level]]
            self._cut.append(cut)
            sums = [
                parts if len(some) == 1 else total((weight, parts), bits)
                for weight, parts, some in zip(
                    self._weights[level], cut, self.children[level], strict=True
                )
            ]

    def _product(self, factors: Sequence[Big]) -> Big:
        found = factors[0]
        for factor in factors[1:]:
            found = times(found, factor, self._bits)
        return found

    def decided(
        self, level: int, block: int, drawn: Big, source: Source
    ) -> tuple[bool | None, Big]:
        """Return whether a block stays whole; None where more bits are needed.

        `drawn`: the value and the number of the bits of the uniform number that are drawn already.
        """
        if not level:
            return True, drawn
        if len(self.children[level][block]) == 1:
            return False, drawn
        weight, parts = self._weights[level][block], self._cut[level][block]
        lowest = max(weight[1], parts[1]) - WORD
        stays, cut = shifted(weight, lowest), shifted(parts, lowest)
        most_stays, most_cut = self._ceiling(stays), self._ceiling(cut)
        value, many = drawn
        while True:
            if many:
                if (value + 1) * (stays + most_cut) <= stays << many:
                    return True, (0, 0)
                if value * (most_stays + cut) >= most_stays << many:
                    return False, (0, 0)
            if many + 2 * SLACK > self._bits:
                return None, (value, many)
            value = value << 8 * WORD | int.from_bytes(source(WORD), "little")
            many += 8 * WORD

    def _ceiling(self, share: int) -> int:
        """Return a number that the truth does not exceed, for one that was rounded down."""
        return share + (share >> self._bits - SLACK - 1) + 128


class _Kept:
    """Powers of exp(-rate), each worked out once: most blocks cost the same as others."""

    def __init__(self, powers: Powers) -> None:
        self._powers = powers
        self._kept: dict[int, Big] = {}

    def __call__(self, steps: int) -> Big:
        found = self._kept.get(steps)
        if found is None:
            found = self._kept[steps] = self._powers(steps)
        return found
