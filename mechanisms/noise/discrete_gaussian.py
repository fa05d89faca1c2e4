"""Discrete Gaussian noise on the integers, drawn exactly: no float takes part.

With variance parameter s = sigma^2, a fraction, the value k has probability proportional to
exp(-k^2 / 2s). It is drawn by rejection (Canonne, Kamath and Steinke 2020):

1. Draw y of the discrete Laplace law of scale t = floor(sigma) + 1, exactly.
2. Keep it with probability exp(-(|y| - s/t)^2 / 2s), else begin again. The two exponents add up to
   -y^2 / 2s and a constant, whatever t is; the choice of t keeps more than two of five.

The keeping is decided in bulk. |y| falls into one of some thousand buckets, and for each there are
two 64-bit numbers, below and above the probabilities of all that falls into it (`_Keeping`). A
random word below the first keeps y, one above the second drops it. Of what lies between, one by
one, the probability itself is computed, to as many bits as it takes: it is exp of a fraction, so
random bits leave it behind. How many buckets there are changes how often that is, and nothing else.

Bounds are integers, every rounding away from the value. The randomness is the operating system's.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from fractions import Fraction
from functools import lru_cache
from itertools import islice
from math import isqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from blowproof.mechanisms.noise.discrete_laplace import WORD, Noise, Source, raw_discrete_laplace
from blowproof.mechanisms.noise.exponential import Bounds, exp_minus, gaussian_powers
from blowproof.models.base.errors import PolicyError
from blowproof.models.base.numbers import Exact, exact

__all__ = ["raw_discrete_gaussian"]

_CHUNK = 1 << 17
_FEW, _FEW_BUCKETS, _BUCKETS = 2048, 1 << 9, 1 << 15
_GUARD = 64
"""Bits beyond the 64 of a word: what 2^15 products of rounded powers may lose is less."""
_LAST = 2**WORD - 1


class _Keeping:
    """For which words a candidate is kept: exp(-(|y| - s/t)^2 / 2s) in buckets of |y|."""

    def __init__(self, variance: Fraction, buckets: int) -> None:
        self.variance = variance
        self.scale = isqrt(variance.numerator // variance.denominator) + 1
        self.centre = variance / self.scale
        # Beyond centre + 10 sigma < 11 scales the probability is below e^-50 < 2^-64.
        widest = 11 * self.scale
        self.shift = max(0, widest.bit_length() - buckets.bit_length() + 1)
        edges = list(self._edges(1 + (widest >> self.shift)))
        surely, never = self._words(edges)
        self._surely = np.array(surely, dtype=np.uint64)
        self._never = np.array(never, dtype=np.uint64)

    def _edges(self, count: int) -> Iterator[Bounds]:
        """Yield enclosures of the probability at |y| = 0, w, 2w, ..., w the width of a bucket."""
        width = 1 << self.shift
        first = -int(-self.centre // width)  # the first edge that is not below the centre
        down = gaussian_powers(
            self.centre - (first - 1) * width, Fraction(width), self.variance, WORD + _GUARD
        )
        yield from reversed(list(islice(down, min(first, count))))
        up = gaussian_powers(
            first * width - self.centre, Fraction(width), self.variance, WORD + _GUARD
        )
        yield from islice(up, max(0, count - first))

    def _words(self, edges: list[Bounds]) -> tuple[list[int], list[int]]:
        """Return, by bucket, the words below which all is kept, and above which nothing is.

        The probability rises to the centre and falls from there, so in a bucket it lies between
        the smaller of its ends, and the larger one, or 1 where the centre is inside. The bucket of
        all |y| from the last edge on reaches down to 0. A bucket of one |y| is that edge alone.
        """
        surely, never = [], []
        for place, end in enumerate(edges):
            following = edges[place + 1] if place + 1 < len(edges) else (0, 0)
            wide = self.shift > 0 or place + 1 == len(edges)
            low, high = (min(end[0], following[0]), max(end[1], following[1])) if wide else end
            if wide and place << self.shift <= self.centre <= (place + 1) << self.shift:
                high = 1 << WORD + _GUARD
            surely.append(min(low >> _GUARD, _LAST))
            never.append(min(max(0, -(-high >> _GUARD) - 1), _LAST))
        return surely, never

    def kept(self, candidates: Noise, source: Source) -> NDArray[np.bool_]:
        """Return which candidates are kept."""
        words = np.frombuffer(source(8 * len(candidates)), dtype="<u8")
        sizes: Any = np.minimum(np.abs(candidates) >> self.shift, len(self._surely) - 1)
        buckets = sizes.astype(np.int64)
        result: NDArray[np.bool_] = words < self._surely[buckets]
        open_ = ~result & (words <= self._never[buckets])
        for place in np.flatnonzero(open_).tolist():
            result[place] = self.resolve(int(candidates[place]), int(words[place]), source)
        return result

    def resolve(self, candidate: int, word: int, source: Source) -> bool:
        """Whether U is below the probability, given its first 64 bits; more are drawn as needed."""
        rate = (abs(candidate) - self.centre) ** 2 / (2 * self.variance)
        bits, value = WORD, word
        while True:
            low, high = exp_minus(rate, bits)
            if value + 1 <= low:
                return True
            if value >= high:
                return False
            value = value << WORD | int.from_bytes(source(8), "little")
            bits += WORD


@lru_cache(maxsize=64)
def _keeping(variance: Fraction, buckets: int) -> _Keeping:
    return _Keeping(variance, buckets)


def raw_discrete_gaussian(variance: Exact, size: int, *, source: Source = os.urandom) -> Noise:
    """Return independent whole numbers k with P(k) proportional to exp(-k^2 / (2 variance)).

    Variance 0 returns zeros. Raw: it takes any variance, proved or not, so of our modules only the
    gate may call it (`tests/mechanisms/release/test_gate.py`). `source` is there for tests.

    >>> raw_discrete_gaussian(0, 3).tolist()
    [0, 0, 0]
    >>> raw_discrete_gaussian(Fraction(1, 1000), 3).tolist()
    [0, 0, 0]
    """
    s = Fraction(exact(variance, key="variance"))
    if s < 0:
        raise PolicyError(f"a variance is not negative: {s}", key="variance")
    if s == 0 or size == 0:
        return np.zeros(size, dtype=np.int64)
    law = _keeping(s, _FEW_BUCKETS if size <= _FEW else _BUCKETS)
    parts: list[Noise] = []
    missing = size
    while missing > 0:
        candidates = raw_discrete_laplace(law.scale, min(2 * missing + 8, _CHUNK), source=source)
        parts.append(candidates[law.kept(candidates, source)][:missing])
        missing -= len(parts[-1])
    return np.concatenate(parts)
