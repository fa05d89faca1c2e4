"""Discrete Laplace noise on the integers, drawn exactly: no float takes part.

With scale b, the value k has probability proportional to exp(-|k| / b), for a fraction b. A Laplace
sampler in floats leaks through its lowest bits (Mironov 2012); here every probability is the real
number that it should be:

1. Discrete Laplace is the difference of two independent geometric numbers, P(k) ~ exp(-k / b).
2. A geometric number written in base m has independent digits: the lower ones geometric numbers
   cut off at m, the top one a geometric number of a small scale. So short tables suffice.
3. A digit is the inverse of its distribution function F at a uniform real number U, of which 64
   bits are drawn at first. They decide the digit unless F takes a value within the 2^-64 that are
   still open; then more bits of U are drawn, and F is computed to more bits, until they do. F(k)
   is a rational function of exp(-1/b), so it is transcendental, and U leaves it behind.

The randomness is the operating system's (`os.urandom`). There is no seed, and no way to set one.
How long a draw takes is not hidden; it hardly depends on what is drawn.
"""

from __future__ import annotations

import os
from bisect import bisect_left
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from blowproof.mechanisms.noise.exponential import exp_minus, powers_of_exp_minus
from blowproof.models.base.errors import PolicyError
from blowproof.models.base.numbers import Exact, exact

__all__ = ["Noise", "Source", "raw_discrete_laplace", "raw_geometric"]

Noise = NDArray[Any]
"""Whole numbers: int64, or Python's own (dtype object) where a scale is beyond 2^40."""
Source = Callable[[int], bytes]
"""Returns so many random bytes."""

WORD = 64
_DIGIT = 4096
"""The base of the digits; a table has at most this many entries."""
_TOP_SCALE = 64
"""The top digit's scale is at most this; beyond 44 scales there are no 64-bit words left."""
_FEW, _FEW_DIGIT, _FEW_TOP_SCALE = 2048, 64, 4
"""Up to so many numbers: more digits of a smaller base, for there the tables take most time."""
_CHUNK = 1 << 17
_WIDE = 2**40


class Geometric:
    """P(X = k) proportional to exp(-rate k), on k = 0, 1, 2, ... or below a bound."""

    def __init__(self, rate: Fraction, below: int | None = None) -> None:
        self.rate = rate
        self.below = below
        self.thresholds = self._thresholds()
        self._array = np.array(self.thresholds, dtype=np.uint64)

    def bounds(self, k: int, precision: int) -> tuple[int, int]:
        """Return integers around 2^precision F(k), for F(k) = P(X <= k) < 1.

        F(k) = (1 - exp(-rate (k+1))) / (1 - exp(-rate below)); without a bound, the numerator.
        """
        guard = precision + _slack(self.rate)
        low, high = exp_minus(self.rate * (k + 1), guard)
        whole = (0, 0) if self.below is None else exp_minus(self.rate * self.below, guard)
        return _rounded(_ratio((low, high), whole, guard), guard - precision, precision)

    def _thresholds(self) -> list[int]:
        """Return floor(2^64 F(k)) for k = 0, 1, ..., up to below - 2 or to 2^64 - 1."""
        precision = 2 * WORD
        while True:
            found = self._try_thresholds(precision)
            if found is not None:
                return found
            precision *= 2

    def _try_thresholds(self, precision: int) -> list[int] | None:
        guard = precision + _slack(self.rate)
        whole = (0, 0) if self.below is None else exp_minus(self.rate * self.below, guard)
        result: list[int] = []
        for power in powers_of_exp_minus(self.rate, guard):
            if self.below is not None and len(result) == self.below - 1:
                break
            low, high = _rounded(_ratio(power, whole, guard), guard - WORD, WORD)
            if high - low > 1:
                return None
            result.append(low)
            if low == 2**WORD - 1:
                break
        return result

    def draw(self, size: int, source: Source) -> tuple[NDArray[np.int64], dict[int, int]]:
        """Return numbers of this law, and apart from them the few that are too large for int64."""
        words = np.frombuffer(source(8 * size), dtype="<u8")
        digits = np.searchsorted(self._array, words, side="right").astype(np.int64)
        # A word that equals a threshold is not decided yet: F(k) lies within its 2^-64.
        last = self._array[np.maximum(digits - 1, 0)] if len(self._array) else words + np.uint64(1)
        late: dict[int, int] = {}
        for place in np.flatnonzero((last == words) & (digits > 0)).tolist():
            value = self.resolve(int(words[place]), source)
            digits[place] = min(value, _DIGIT)
            if value > _DIGIT:
                late[place] = value
        return digits, late

    def resolve(self, word: int, source: Source) -> int:
        """Return the number that U decides, given its first 64 bits; draw more as they are needed.

        Invariant: F(k - 1) <= U. The first threshold that equals the word has all others below it.
        """
        bits, value = WORD, word
        k = bisect_left(self.thresholds, word)
        while self.below is None or k < self.below - 1:
            low, high = self.bounds(k, bits)
            if value + 1 <= low:
                return k
            if value >= high:
                k += 1
            else:
                value = value << WORD | int.from_bytes(source(8), "little")
                bits += WORD
        return k


def _slack(rate: Fraction) -> int:
    """Bits that 1 - exp(-rate m) may cost, and the roundings of a table's powers."""
    return 64 + max(0, rate.denominator.bit_length() - rate.numerator.bit_length())


def _ratio(power: tuple[int, int], whole: tuple[int, int], bits: int) -> tuple[int, int]:
    """Return bounds on (1 - power) / (1 - whole), all of them times 2^bits."""
    one = 1 << bits
    least, most = one - power[1], one - power[0]
    if whole == (0, 0):
        return least, most
    return (least << bits) // (one - whole[0]), -((-most << bits) // (one - whole[1]))


def _rounded(bounds: tuple[int, int], shift: int, precision: int) -> tuple[int, int]:
    """Return bounds with fewer bits, rounded outwards; what is bounded lies between 0 and 1."""
    low, high = bounds[0] >> shift, -(-bounds[1] >> shift)
    return max(0, min(low, (1 << precision) - 1)), min(high, 1 << precision)


@lru_cache(maxsize=64)
def _digits(scale: Fraction, base: int, top: int) -> tuple[Geometric, ...]:
    """Return the laws of the digits of a geometric number, the lowest first."""
    rate, laws = 1 / scale, []
    while rate * top < 1:
        laws.append(Geometric(rate, base))
        rate *= base
    return (*laws, Geometric(rate))


def raw_geometric(scale: Fraction, size: int, *, source: Source = os.urandom) -> Noise:
    """Return independent numbers k >= 0 with P(k) proportional to exp(-k / scale), exactly."""
    kind: Any = np.int64 if scale < _WIDE else object
    total = np.zeros(size, dtype=kind)
    base, top = (_FEW_DIGIT, _FEW_TOP_SCALE) if size <= _FEW else (_DIGIT, _TOP_SCALE)
    for place, law in enumerate(_digits(scale, base, top)):
        digits, late = law.draw(size, source)
        if late:
            total = total.astype(object)
        total += digits.astype(total.dtype) * base**place
        for index, value in late.items():
            total[index] += (value - int(digits[index])) * base**place
    return total


def _chunks(size: int) -> Iterator[int]:
    while size > 0:
        yield min(size, _CHUNK)
        size -= _CHUNK


def raw_discrete_laplace(scale: Exact, size: int, *, source: Source = os.urandom) -> Noise:
    """Return independent whole numbers k with P(k) proportional to exp(-|k| / scale), exactly.

    Scale 0 returns zeros. Raw: it takes any scale, proved or not, so of our modules only the gate
    may call it (`tests/mechanisms/release/test_gate.py`). `source` is there for tests of the
    sampler.

    >>> raw_discrete_laplace(0, 3).tolist()
    [0, 0, 0]
    >>> raw_discrete_laplace(Fraction(1, 1000), 3).tolist()
    [0, 0, 0]
    """
    b = Fraction(exact(scale, key="scale"))
    if b < 0:
        raise PolicyError(f"a scale is not negative: {b}", key="scale")
    if b == 0 or size == 0:
        return np.zeros(size, dtype=np.int64)
    parts = [
        raw_geometric(b, n, source=source) - raw_geometric(b, n, source=source)
        for n in _chunks(size)
    ]
    return np.concatenate(parts) if len(parts) > 1 else parts[0]
