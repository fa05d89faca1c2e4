"""A partition into intervals, drawn by the exponential mechanism over all of them, exactly.

Buckets have 1, 2, 4, ... values and begin anywhere; a partition M costs what its buckets cost
together, in whole units, and is drawn with probability in proportion to exp(-rate * cost(M)). The
sum of that over all partitions of the first e values is Z(e) = sum over the last bucket's length w
of exp(-rate * cost of that bucket) * Z(e - w): so the last bucket is drawn, then the one before it.

*Exactly.* All numbers are kept as a whole number of `bits` bits times a power of two, and every
step rounds down, so each is below the truth by a factor of 1 + 2^(SLACK - bits) at the most
(`_ceiling`). A uniform number is drawn bit by bit until it decides among the enclosed shares; where
it comes too close to a border for the bits in use, all is worked out again with twice as many, and
the bits drawn and the buckets decided so far stay. No float takes part.

*How much below.* Powers of exp(-rate) have bits to spare for all the roundings of their squarings,
so that a weight is below by 2^(2 - bits) at the most. A step of the sum multiplies, shifts and adds
up at most 64 terms: (64 + 6) * 2^(1 - bits). With up to 2^24 values in a row that is less than
2^(32 - bits).
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from fractions import Fraction
from itertools import accumulate
from typing import TYPE_CHECKING

from blowproof.mechanisms.noise.rounded_down import WORD, Big, Powers, cut, shifted, times, total
from blowproof.models.base.errors import BudgetError, PolicyError

if TYPE_CHECKING:
    from collections.abc import Callable

    Source = Callable[[int], bytes]

__all__ = ["MOST_CHOSEN", "raw_interval_choice"]

MOST_CHOSEN = 1 << 17
"""Values; more take minutes."""
BITS, SLACK = 192, 32


def raw_interval_choice(
    costs: Sequence[Sequence[int]], rate: Fraction, *, source: Source = os.urandom
) -> list[int]:
    """Return the ends of the buckets that were drawn.

    `costs[j][end]` is what a bucket of 2**j values costs that stops before `end`, from `end` = 0 to
    the number of values (what is left of 2**j is not looked at). Raw: it takes any rate, so of our
    modules only the gate may call it. `source` is there for tests of the sampler.

    >>> raw_interval_choice([[0, 0, 0], [0, 0, 10**9]], Fraction(1))
    [1, 2]
    """
    size = len(costs[0]) - 1
    if rate <= 0 or len(costs) > 64:
        raise PolicyError(f"no choice has the rate {rate}", key="scale")
    if size > MOST_CHOSEN:
        raise BudgetError(f"{size} values; a partition of {MOST_CHOSEN} at the most is drawn")
    bits, end = BITS, size
    ends: list[int] = []
    drawn: Big = (0, 0)
    while end > 0:
        table = _Table(costs, rate, bits)
        while end > 0:
            found, drawn = table.last(end, drawn, source)
            if found is None:
                bits *= 2
                break
            ends.append(end)
            end -= 1 << found
            drawn = (0, 0)
    return ends[::-1]


class _Table:
    """The sums Z(0), Z(1), ..., rounded down."""

    def __init__(self, costs: Sequence[Sequence[int]], rate: Fraction, bits: int) -> None:
        self.bits = bits
        self._costs = costs
        least = min(min(row[1 << power :], default=0) for power, row in enumerate(costs))
        most = max(max(row[1 << power :], default=0) for power, row in enumerate(costs))
        self._least = least
        self._powers = Powers(rate, most - least, bits)
        # a bucket's cost is counted from the least one: exp(-rate * least), for each bucket
        self._bucket = self._each(rate, least)
        self._sums: list[Big] = [(1 << bits - 1, 1 - bits)]
        for end in range(1, len(costs[0])):
            self._sums.append(total([self._term(end, power) for power in self._fitting(end)], bits))

    def _each(self, rate: Fraction, least: int) -> Big:
        """Return exp(-rate * least), which may be above 1; rounded down."""
        if least >= 0:
            return Powers(rate, least, self.bits)(least)
        mantissa, power = Powers(rate, -least, 2 * self.bits)(-least)
        inverse = (1 << 4 * self.bits) // (mantissa + (mantissa >> self.bits) + 1)
        return cut(inverse, -power - 4 * self.bits, self.bits)

    def _fitting(self, end: int) -> range:
        return range(min(len(self._costs), end.bit_length()))

    def _term(self, end: int, power: int) -> Big:
        """Return the part of Z(end) whose last bucket has 2**power values."""
        weight = self._powers(self._costs[power][end] - self._least)
        before = self._sums[end - (1 << power)]
        return times(times(weight, self._bucket, self.bits), before, self.bits)

    def last(self, end: int, drawn: Big, source: Source) -> tuple[int | None, Big]:
        """Return the power of the last bucket's length; None where more bits are needed.

        `drawn`: the value and the number of the bits of the uniform number that are drawn already.
        """
        terms = [self._term(end, power) for power in self._fitting(end)]
        lowest = max(power for _, power in terms) - WORD
        shares = list(accumulate(shifted(term, lowest) for term in terms))
        highest = self._ceiling(shares[-1])
        value, many = drawn
        while True:
            for place, share in enumerate(shares):
                if (value + 1) * highest <= share << many:
                    before = self._ceiling(shares[place - 1]) if place else 0
                    if value * shares[-1] >= before << many:
                        return place, (0, 0)
                    break
            if many + 2 * SLACK > self.bits:
                return None, (value, many)
            value = value << 8 * WORD | int.from_bytes(source(WORD), "little")
            many += 8 * WORD

    def _ceiling(self, share: int) -> int:
        """Return a number that the truth does not exceed, for one that was rounded down."""
        return share + (share >> self.bits - SLACK - 1) + 2 * 64 if share else 128
