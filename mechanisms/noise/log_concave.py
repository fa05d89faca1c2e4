"""A whole number drawn exactly by log-concave weights that are too many, and too large, to add up.

Rejection from an envelope of three pieces (Devroye 1987): flat from `low` to `high`, and a falling
geometric series on either side. Weights f(r) are log-concave: f(r + 1) / f(r) never grows with r.
So right of `high` f(r) <= f(high) s^(r - high) for any s >= f(high + 1) / f(high), and left of
`low` alike; and f(r) <= f(mode) s^|r - mode| in between, for s the larger ratio at the mode, which
is 1 or hardly more. All numbers of the envelope are rational, and rounded up. A draw is accepted
with the probability f(r) / envelope(r), which random bits decide: as many of them, and enclosures
of f as close, as it takes. So no rounding enters the distribution; where the pieces meet decides
the time that a draw takes, and nothing else.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, lcm

from blowproof.mechanisms.noise.discrete_laplace import Source
from blowproof.models.base.kept import cached_property

__all__ = [
    "Enclosed",
    "Envelope",
    "below",
    "enveloped",
    "geometric",
    "power",
    "raw_log_concave",
    "weighted",
]

Enclosed = Callable[[int, int, int], tuple[Fraction, Fraction]]
"""Encloses f(r) / f(s) for r, s and a number of bits; ever more closely as these grow."""
FIRST_BITS = 96
GRAIN = 1 << 24
"""Heights of the envelope are rounded up to whole numbers of these parts, falls to smaller ones."""
WORD = 64


def below(bound: int, source: Source) -> int:
    """Return a uniform number from 0 to bound - 1."""
    bits = (bound - 1).bit_length()
    if bits == 0:
        return 0
    length = -(-bits // 8)
    while True:
        value = int.from_bytes(source(length), "little") >> (8 * length - bits)
        if value < bound:
            return value


def weighted(weights: list[int], source: Source) -> int:
    """Return a place with probability in proportion to its weight."""
    value = below(sum(weights), source)
    for place, weight in enumerate(weights):
        if value < weight:
            return place
        value -= weight
    raise AssertionError  # pragma: no cover # the weights add up


def geometric(fall: Fraction, source: Source) -> int:
    """Return how often in a row something happens that has this probability each time, exactly.

    In blocks of about as many as there are on average: how many blocks there are and what is left
    over have nothing to do with each other, so that it takes a few steps, however many there are.
    """
    block = ceil(1 / (1 - fall))
    blocks = 0
    while _happens(fall, block, source):
        blocks += 1
    while True:
        rest = below(block, source)
        if _happens(fall, rest, source):
            return blocks * block + rest


def _happens(chance: Fraction, times: int, source: Source) -> bool:
    """Return True with the probability chance ^ times: random bits, and as close as they need."""
    bits, drawn = 0, 0
    while True:
        bits += WORD
        drawn = drawn << WORD | int.from_bytes(source(WORD // 8), "little")
        low, high = power(chance, times, bits)
        if drawn < low:
            return True
        if drawn >= high:
            return False


def power(base: Fraction, times: int, bits: int) -> tuple[int, int]:
    """Return whole numbers between which base ^ times is, in parts of 2^bits; base is at most 1.

    >>> power(Fraction(1, 2), 3, 8), power(Fraction(1), 10**40, 4)
    ((32, 32), (16, 16))
    """
    room = bits + times.bit_length() + 8  # each squaring doubles what rounding has lost
    one = 1 << room
    under, over = (sign * (sign * base.numerator * one // base.denominator) for sign in (1, -1))
    low = high = one
    for digit in bin(times)[2:]:
        low, high = low * low >> room, -(-high * high >> room)
        if digit == "1":
            low, high = low * under >> room, -(-high * over >> room)
    return low >> room - bits, -(-high >> room - bits)


@dataclass(frozen=True)
class Envelope:
    """What f(r) / f(mode) does not exceed: `middle` from `low` to `high`, then falling series.

    A side is its height at the end of the middle, and its ratio; a ratio of 0: nothing is there.
    """

    mode: int
    low: int
    high: int
    middle: Fraction
    left: tuple[Fraction, Fraction]
    right: tuple[Fraction, Fraction]

    def at(self, r: int) -> Fraction:
        """Return the envelope at a number."""
        if self.low <= r <= self.high:
            return self.middle
        height, fall = self.left if r < self.low else self.right
        return height * fall ** (self.low - r if r < self.low else r - self.high)

    def around(self, r: int, bits: int) -> tuple[Fraction, Fraction]:
        """Enclose the envelope at a number, which may be far out."""
        if self.low <= r <= self.high:
            return self.middle, self.middle
        height, fall = self.left if r < self.low else self.right
        under, over = power(fall, self.low - r if r < self.low else r - self.high, bits)
        return height * Fraction(under, 1 << bits), height * Fraction(over, 1 << bits)

    @cached_property
    def pieces(self) -> list[int]:
        """The weights of the middle, of the left and of the right, as whole numbers."""
        sides = [height * fall / (1 - fall) for height, fall in (self.left, self.right)]
        pieces = [self.middle * (self.high - self.low + 1), *sides]
        common = lcm(*(piece.denominator for piece in pieces))
        return [int(item * common) for item in pieces]

    def draw(self, source: Source) -> int:
        """Return a number with probability in proportion to the envelope."""
        piece = weighted(self.pieces, source)
        if piece == 0:
            return self.low + below(self.high - self.low + 1, source)
        steps = 1 + geometric((self.left, self.right)[piece - 1][1], source)
        return self.low - steps if piece == 1 else self.high + steps


def enveloped(ratio: Enclosed, least: int, guess: int, wide: int) -> Envelope:
    """Return an envelope for weights on `least`, `least` + 1, ...; their mode is near a guess.

    `wide` is about how far from the mode they fall by half or so.
    """
    bits = FIRST_BITS + 2 * wide.bit_length()  # ratios of neighbours are that close to 1
    grain = GRAIN << wide.bit_length()
    mode = _mode(ratio, least, guess, bits)
    low, high = max(least, mode - wide), mode + wide
    while _up(ratio(high + 1, high, bits)[1], grain) >= 1:
        high += wide
    while low > least and _up(ratio(low - 1, low, bits)[1], grain) >= 1:
        low = max(least, low - wide)
    right = _up(ratio(high + 1, high, bits)[1], grain)
    left = _up(ratio(low - 1, low, bits)[1], grain) if low > least else Fraction(0)
    middle = Fraction(1)
    for at, far in ((mode + 1, high - mode), (mode - 1, mode - low)):
        slope = ratio(at, mode, bits)[1] if at >= least else Fraction(1)
        if slope > 1:
            rise = (slope - 1) * far  # (1 + x)^far <= e^(x far), and e^y <= 1 + 2 y up to 1
            middle = max(middle, _up(1 + 2 * rise if rise <= 1 else slope**far))
    return Envelope(
        mode,
        low,
        high,
        middle,
        (_up(ratio(low, mode, bits)[1]), left),
        (_up(ratio(high, mode, bits)[1]), right),
    )


def _mode(ratio: Enclosed, least: int, guess: int, bits: int) -> int:
    """Return a number that hardly any neighbour outweighs: bisection, for ratios only fall."""
    low, high = least, max(least + 1, 2 * guess)
    while ratio(high + 1, high, bits)[0] > 1:
        low, high = high, 2 * high
    while low < high:
        middle = (low + high) // 2
        if ratio(middle + 1, middle, bits)[0] > 1:
            low = middle + 1
        else:
            high = middle
    return low


def _up(value: Fraction, grain: int = GRAIN) -> Fraction:
    return Fraction(-(-value.numerator * grain // value.denominator), grain)


def raw_log_concave(ratio: Enclosed, envelope: Envelope, least: int, source: Source) -> int:
    """Return r >= `least` with probability in proportion to f(r), exactly.

    Raw: of our modules, only samplers that the gate calls may call it.
    """
    while True:
        r = envelope.draw(source)
        if r >= least and _accepted(ratio, r, envelope, source):
            return r


def _accepted(ratio: Enclosed, r: int, envelope: Envelope, source: Source) -> bool:
    """Return True with probability f(r) / (f(mode) envelope(r)), exactly."""
    bits, value, drawn = FIRST_BITS, 0, 0
    while True:
        value = value << (bits - drawn) | int.from_bytes(source((bits - drawn) // 8), "little")
        drawn = bits
        under, over = ratio(r, envelope.mode, bits + WORD)
        least, most = envelope.around(r, bits + WORD)
        if (value + 1) * most.numerator * under.denominator <= (
            under.numerator * most.denominator << bits
        ):
            return True
        if value * least.numerator * over.denominator >= (
            over.numerator * least.denominator << bits
        ):
            return False
        bits *= 2
