"""Noisy choices of partitions, exactly: how likely is each partition, for given counts?

The channel of a `Selection` with candidates "intervals": a run of w counts costs its deviation, the
penalty and its own noise; the cheapest partition is published, and of several that are cheapest the
one with the shortest last bucket, then the shortest last but one, and so on (the rule of
`mechanisms.partitions`). Every probability comes as two fractions around it.

*All alone.* Where buckets of one count have no noise, every count is alone iff no longer bucket by
itself is cheaper than its counts alone: a product of tails, one for each bucket, at any size.

*Buckets of one or two.* Let C_e be the cost of the cheapest partition of the first e counts, and
t = C_e - C_(e-1). The next t' is min(c + N, c' + N' - t), where N, N' are the noises of the single
count and of the pair that end there; so t is a Markov chain on the grid, and a partition is the
outcome iff at each of its ends its own bucket wins. Noise is cut where 2^-48 of it is left, which
widens the upper fraction; all sums are of whole numbers, rounded down for one and up for the other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, lru_cache
from itertools import pairwise
from math import ceil, prod

from blowproof.models.base.kept import cached_property
from blowproof.models.mechanisms.mechanism import Selection
from blowproof.verifier.certify.channels.exponential_sums import enclosure
from blowproof.verifier.limits.limit import whole_limit

__all__ = ["NoisyChoice", "Partition", "around", "deviation"]

BITS = whole_limit(__name__, "BITS")
ONE = 1 << BITS
CUT = whole_limit(__name__, "CUT")
FAR = whole_limit(__name__, "FAR")
MOST_STEPS = whole_limit(__name__, "MOST_STEPS")
MOST_OUTCOMES = whole_limit(__name__, "MOST_OUTCOMES")

Partition = tuple[int, ...]
"""The ends of the buckets: (2, 3) is the first two counts together, and the third alone."""
Around = tuple[Fraction, Fraction]


def deviation(counts: Sequence[int]) -> Fraction:
    """Return the sum of |count - mean|.

    >>> deviation([1, 3, 3])
    Fraction(8, 3)
    """
    mean = Fraction(sum(counts), len(counts))
    return sum((abs(count - mean) for count in counts), Fraction(0))


@dataclass(frozen=True)
class NoisyChoice:
    """A selection among intervals of so many counts."""

    selection: Selection
    size: int

    @property
    def lengths(self) -> list[int]:
        """How many counts a bucket can have."""
        most = min(self.size, self.selection.longest or self.size)
        return [1 << power for power in range(most.bit_length())]

    @property
    def grid(self) -> int:
        """The noise lives on the multiples of 1 / grid."""
        return self.lengths[-1]

    @property
    def penalty(self) -> Fraction:
        """What every bucket costs; on the grid where the noise has one."""
        exact = self.selection.penalty or Fraction(0)
        return Fraction(round(exact * self.grid), self.grid) if self.discrete else exact

    @property
    def discrete(self) -> bool:
        """Whether the noise has a grid."""
        return self.selection.noise == "discrete-laplace"

    def partitions(self) -> Iterator[Partition]:
        """Yield every partition."""

        def from_(start: int) -> Iterator[Partition]:
            if start == self.size:
                yield ()
            for length in self.lengths:
                if start + length <= self.size:
                    for rest in from_(start + length):
                        yield (start + length, *rest)

        yield from from_(0)

    # --- all alone ---

    @property
    def tells_alone(self) -> bool:
        """Whether the chance of "all alone" is a product of tails."""
        return not self.selection.scale_of(0)

    def alone(self, counts: Sequence[int]) -> Around:
        """Return fractions around the probability that every count is alone."""
        tails = [
            self._tail(
                self.selection.scale_of(length.bit_length() - 1),
                (length - 1) * self.penalty - deviation(counts[start : start + length]),
            )
            for length in self.lengths[1:]
            for start in range(self.size - length + 1)
        ]
        return prod((low for low, _ in tails), start=Fraction(1)), prod(
            (high for _, high in tails), start=Fraction(1)
        )

    def _tail(self, scale: Fraction, least: Fraction) -> Around:
        """Return fractions around P(noise >= least)."""
        if not scale:
            return (Fraction(least <= 0),) * 2
        if not self.discrete:
            low, high = around(-abs(least) / scale)
            return (low / 2, high / 2) if least >= 0 else (1 - high / 2, 1 - low / 2)
        steps = ceil(least * self.grid)
        rate = -1 / (scale * self.grid)
        one = around(rate)
        low, high = around(rate * (steps if steps > 0 else 1 - steps))
        low, high = low / (1 + one[1]), high / (1 + one[0])
        return (low, high) if steps > 0 else (1 - high, 1 - low)

    # --- buckets of one or two ---

    @cached_property
    def listable(self) -> bool:
        """Whether the probabilities of all partitions can be enclosed."""
        most = max(noise.reach for noise in self._noises)
        few = self.size <= 16 and sum(1 for _ in self.partitions()) <= MOST_OUTCOMES
        return self.discrete and len(self.lengths) <= 2 and most <= MOST_STEPS and few

    @cached_property
    def _noises(self) -> tuple[_Noise, ...]:
        scales = [self.selection.scale_of(power) * self.grid for power in range(2)]
        return tuple(_noise(scale) for scale in scales)

    @property
    def work(self) -> int:
        """How much work the probabilities for one histogram are, roughly."""
        return self.size * (1 + max(noise.reach for noise in self._noises))

    def probabilities(self, counts: Sequence[int]) -> dict[Partition, Around]:
        """Return fractions around the probability of each partition.

        They depend on the differences of counts that are next to each other.
        """
        return _enclosed(self, tuple(abs(a - b) for a, b in pairwise(counts)))

    def outcomes(self, apart: Sequence[int], *, up: bool) -> dict[Partition, int]:
        """Return ONE times each probability, all noise within reach, rounded down or up."""
        chain = _Chain(self._noises, int(self.penalty * self.grid), up=up)
        pairs = [int((step + self.penalty) * self.grid) for step in apart]
        found: dict[Partition, int] = {}

        def go(ends: Partition, now: _State | None) -> None:
            """Go on from a state where the last bucket ended at the last of `ends`."""
            at = ends[-1] if ends else 0
            if at == self.size:
                found[ends] = sum(now.mass) if now is not None else ONE
                return
            two = len(self.lengths) > 1
            alone, any_ = chain.single(now, pairs[at - 1] if two and at else None)
            go((*ends, at + 1), alone)
            if at + 2 <= self.size and two:
                go((*ends, at + 2), chain.double(any_, pairs[at]))

        go((), None)
        return found

    def beyond(self) -> Fraction:
        """Return at least the probability that some noise is out of reach."""
        single, pair = self._noises
        return self.size * single.beyond + (self.size - 1) * pair.beyond


@lru_cache(maxsize=10_000)
def _enclosed(choice: NoisyChoice, apart: tuple[int, ...]) -> dict[Partition, Around]:
    """Return `NoisyChoice.probabilities`, which is the same for many histograms."""
    low, high = choice.outcomes(apart, up=False), choice.outcomes(apart, up=True)
    beyond = choice.beyond()
    return {ends: (Fraction(low[ends], ONE), Fraction(high[ends], ONE) + beyond) for ends in low}


# --- noise, and sums of it, in whole numbers -----------------------------------------------------


@dataclass(frozen=True)
class _Noise:
    """Discrete Laplace noise up to `reach` steps: ONE times its probabilities, down and up.

    `beyond` is at least the probability of more.
    """

    reach: int
    low: tuple[int, ...]
    high: tuple[int, ...]
    beyond: Fraction

    def masses(self, *, up: bool) -> tuple[int, ...]:
        """Return the probabilities of -reach..reach."""
        return self.high if up else self.low


def around(exponent: Fraction) -> Around:
    """Return fractions around e^exponent, for an exponent <= 0; far below, 0 is near enough."""
    if exponent < -FAR:
        return Fraction(0), enclosure(Fraction(-FAR), BITS)[1]
    return enclosure(exponent, BITS)


@cache
def _noise(scale: Fraction) -> _Noise:
    """Return noise of a scale, in steps of its grid (0: none)."""
    if not scale:
        return _Noise(0, (ONE,), (ONE,), Fraction(0))
    reach = ceil(scale * CUT * Fraction(7, 10))
    if reach > MOST_STEPS:
        return _Noise(reach, (), (), Fraction(1))
    low, high = around(-1 / scale)
    middle = (1 - high) / (1 + high), (1 - low) / (1 + low)
    down, up = [int(middle[0] * ONE)], [ceil(middle[1] * ONE)]
    rate_down, rate_up = int(low * ONE), ceil(high * ONE)
    for _ in range(reach):
        down.append(down[-1] * rate_down >> BITS)
        up.append(-(-up[-1] * rate_up >> BITS))
    beyond = Fraction(2 * up[-1] * rate_up, ONE * (ONE - rate_up))
    return _Noise(reach, (*down[:0:-1], *down), (*up[:0:-1], *up), beyond)


@dataclass(frozen=True)
class _State:
    """ONE times the probability of each t = C_e - C_(e-1), from `first` on."""

    first: int
    mass: list[int]

    @property
    def last(self) -> int:
        return self.first + len(self.mass) - 1


class _Chain:
    """The steps of the chain, all rounded in one direction."""

    def __init__(self, noises: tuple[_Noise, ...], penalty: int, *, up: bool) -> None:
        self.up = up
        self.penalty = penalty
        self.reach = [noise.reach for noise in noises]
        self.mass = [noise.masses(up=up) for noise in noises]
        self.tail = [_tails(mass) for mass in self.mass]

    def single(self, now: _State | None, pair: int | None) -> tuple[_State, _State]:
        """Return the next state where the single count wins, and where either does."""
        first = self.penalty - self.reach[0]
        if now is None or pair is None:
            state = _State(first, list(self.mass[0]))
            return state, state
        # P(pair's noise >= t' + t - pair) for the t' of the single count
        wins = self._over(now, first, len(self.mass[0]), pair, self._at_least)
        alone = _State(first, [self._cut(x * y) for x, y in zip(self.mass[0], wins, strict=True)])
        return alone, _joined(alone, self.double(now, pair))

    def double(self, now: _State, pair: int) -> _State:
        """Return the next state where the pair wins: strictly, as ties fall to the single count."""
        first = pair - self.reach[1] - now.last
        last = self.penalty + self.reach[0] - 1
        length = max(0, last - first + 1)
        found = self._over(now, first, length, pair, self._exactly)
        rest = [self._tail(0, first + place - self.penalty + 1) for place in range(length)]
        return _State(first, [self._cut(x * y) for x, y in zip(found, rest, strict=True)])

    def _at_least(self, steps: int) -> int:
        return self._tail(1, steps)

    def _exactly(self, steps: int) -> int:
        place = steps + self.reach[1]
        return self.mass[1][place] if 0 <= place < len(self.mass[1]) else 0

    def _tail(self, which: int, steps: int) -> int:
        tails, place = self.tail[which], steps + self.reach[which]
        return tails[max(0, place)] if place < len(tails) else 0

    def _over(
        self, now: _State, first: int, length: int, pair: int, of: Callable[[int], int]
    ) -> list[int]:
        """Return, for each t' from `first` on, the sum over t of mass(t) * of(t' + t - pair)."""
        if not length or not now.mass:
            return [0] * length
        lowest = first + now.first - pair
        values = [of(lowest + place) for place in range(length + len(now.mass) - 1)]
        sums = _convolved(now.mass[::-1], values)
        start = len(now.mass) - 1
        return [self._cut(value) for value in sums[start : start + length]]

    def _cut(self, value: int) -> int:
        """Return a product of two numbers times ONE as one number times ONE."""
        return -(-value >> BITS) if self.up else value >> BITS


def _tails(mass: Sequence[int]) -> list[int]:
    """Return the sums of all that is left, from each place on."""
    found = [0]
    for value in reversed(mass):
        found.append(found[-1] + value)
    return found[::-1]


def _joined(one: _State, two: _State) -> _State:
    first = min(one.first, two.first)
    mass = [0] * (max(one.last, two.last) - first + 1)
    for state in (one, two):
        for place, value in enumerate(state.mass, start=state.first - first):
            mass[place] += value
    return _State(first, mass)


def _convolved(one: Sequence[int], two: Sequence[int]) -> list[int]:
    """Return the convolution of numbers >= 0: one product of two long numbers, cut up again."""
    bits = 2 * max(max(one).bit_length(), max(two).bit_length()) + len(one).bit_length() + 1
    width = bits // 8 + 1
    packed = [
        int.from_bytes(b"".join(value.to_bytes(width, "little") for value in item), "little")
        for item in (one, two)
    ]
    length = len(one) + len(two) - 1
    text = (packed[0] * packed[1]).to_bytes(width * length + 8, "little")
    return [
        int.from_bytes(text[place * width : (place + 1) * width], "little")
        for place in range(length)
    ]
