"""How well one pair of databases is told apart: a number that its delta is not below.

For two databases with distributions P and Q of the answers, and L = ln(P/Q), the smallest delta at
an epsilon is the mean under P of max(0, 1 - e^(epsilon - L)). It rises with L. So L may be rounded
down, and chances may be left out: what is added up is then a bound from below. Outputs have
independent noise, so their L add up and their laws are convolved.

* Gaussian noise of variance s, an output that changes by d: L = (d^2 - 2 d x) / 2s at noise x.
* Laplace noise of scale b: L = (|x - d| - |x|) / b. Continuous noise is cut into POINTS places.

Outputs of the same noise and change are put together on the grid of x itself, exactly; only then is
L rounded to a common grid. Chances are whole numbers times 2^-BITS, rounded down.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import isqrt
from typing import Literal

from blowproof.verifier.certify.channels.exponential_sums import enclosure
from blowproof.verifier.limits.limit import whole_limit

__all__ = ["Shift", "delta_of_pair"]

BITS = whole_limit(__name__, "BITS")
POINTS = whole_limit(__name__, "POINTS")
_PI = Fraction(314159265358979323847, 10**20)
"""A little more than pi."""
_FAR = 60
"""e^-60 is left out."""


@dataclass(frozen=True, order=True)
class Shift:
    """An output that changes by so many steps of its grid (more than 0), under which noise.

    `width` is the variance in squared steps, or the scale in steps. "continuous" is Laplace noise
    without a grid; of the others, `steps` is whole.
    """

    noise: Literal["gaussian", "laplace", "continuous"]
    width: Fraction
    steps: Fraction


@dataclass(frozen=True)
class _Law:
    """Chances (in 2^-BITS) of the values start, start + step, ...; they are not above the true."""

    start: Fraction
    step: Fraction
    chances: Sequence[int]


def delta_of_pair(shifts: Iterable[Shift], epsilon: Fraction) -> Fraction:
    """Return a number such that no smaller delta holds for a pair with these changes.

    >>> found = delta_of_pair([Shift("laplace", Fraction(1), Fraction(1))], Fraction(1, 2))
    >>> float(found) # the chance of x <= 0, times 1 - e^-1/2
    0.287...
    """
    laws = [_group(shift, times) for shift, times in sorted(Counter(shifts).items())]
    if not laws:
        return Fraction(0)
    if len(laws) == 1:
        return _delta(laws[0], epsilon)
    ends = [(law.start, law.start + law.step * (len(law.chances) - 1)) for law in laws]
    low, high = sum(end[0] for end in ends), sum(end[1] for end in ends)
    step = Fraction(high - low) / POINTS
    place, chances = 0, [1 << BITS]
    for law in laws:
        first, more = _on_grid(law, step)
        place += first
        chances = _convolved(chances, more)
    return _delta(_Law(place * step, step, chances), epsilon)


def _delta(law: _Law, epsilon: Fraction) -> Fraction:
    """Add up chance * (1 - e^(epsilon - L)); from value to value, e^-L falls by one factor."""
    first = max(0, int((epsilon - law.start) // law.step) + 1)
    if first >= len(law.chances):
        return Fraction(0)
    one = 1 << BITS
    fall = _up(enclosure(-law.step, BITS)[1] * one) if law.step < _FAR else 1
    ahead = law.start + first * law.step - epsilon
    rest = _up(enclosure(-ahead, BITS)[1] * one) if ahead < _FAR else 1
    total = 0
    for chance in law.chances[first:]:
        total += chance * (one - rest) >> BITS
        rest = -(-rest * fall >> BITS)
    return Fraction(total, one)


def _up(value: Fraction) -> int:
    return -(-value.numerator // value.denominator)


def _group(shift: Shift, times: int) -> _Law:
    """Return the law of L for so many outputs of one noise and change."""
    law = _LAWS[shift.noise](shift)
    start, chances = law.start * times, law.chances
    found: tuple[int, Sequence[int]] | None = None
    place = 0
    while True:
        if times & 1:
            found = (place, chances) if found is None else _trimmed(
                found[0] + place, _convolved(found[1], chances)
            )  # fmt: skip
        times >>= 1
        if not times:
            assert found is not None
            return _Law(start + found[0] * law.step, law.step, found[1])
        place, chances = _trimmed(2 * place, _convolved(chances, chances))


def _trimmed(place: int, chances: Sequence[int]) -> tuple[int, Sequence[int]]:
    """Leave out chances at both ends that hardly count; `place` is that of the first."""
    least = 1 << BITS - _FAR
    first = next((k for k, chance in enumerate(chances) if chance > least), 0)
    last = next((k for k in range(len(chances) - 1, -1, -1) if chances[k] > least), 0)
    return place + first, chances[first : last + 1]


def _gaussian(shift: Shift) -> _Law:
    """Return L rising: from x high to x low; blocks of x count by their larger end."""
    s, d = shift.width, int(shift.steps)
    sigma = isqrt(int(s)) + 1
    reach = 11 * sigma + 1
    block = -(-2 * reach // POINTS)
    share = Fraction(1 << BITS) / _weights_of_all(s)
    unit = share.numerator // share.denominator
    chances = []
    ends = range(reach, -reach - 1, -block)
    for top in ends:
        far = max(abs(top), abs(top - block + 1))
        rate = Fraction(far * far) / (2 * s)
        weight = enclosure(-rate, BITS)[0] if rate < _FAR else Fraction(0)
        chances.append(weight.numerator * unit * block // weight.denominator)
    return _Law(Fraction(d * d - 2 * d * reach) / (2 * s), Fraction(d * block) / s, chances)


def _weights_of_all(s: Fraction) -> Fraction:
    """Return a bound from above on the sum of e^(-k^2 / 2s) over all whole k.

    For s >= 1 it is sqrt(2 pi s) (1 + 2 sum e^(-2 pi^2 s k^2)) (Poisson), below 1 + 3 e^(-19 s);
    for s < 1 the terms beyond 12 add up to less than e^-60.
    """
    if s >= 1:
        square = 2 * _PI * s
        root = Fraction(isqrt(square.numerator * square.denominator << 128) + 1)
        return root / (square.denominator << 64) * (1 + 3 * enclosure(Fraction(-19), BITS)[1])
    terms = (enclosure(max(Fraction(-k * k) / (2 * s), Fraction(-4 * _FAR)), BITS)[1]
             for k in range(1, 13))  # fmt: skip
    return 1 + 2 * sum(terms) + enclosure(Fraction(-_FAR), BITS)[1]


def _laplace(shift: Shift) -> _Law:
    """Return L on d + 1 places (or fewer, wider ones): its ends hold all that is beyond them.

    Where places are wide, the last one stands for a little less than L = d / b, as it must.
    """
    b, d = shift.width, int(shift.steps)
    block = -(-d // POINTS)
    u = Fraction(1) / b
    one = 1 << BITS
    below = enclosure(-u, BITS)[1] if u < _FAR else Fraction(0)
    centre = (1 - below) / (1 + below)  # P(x = 0), not above
    far = enclosure(-u * d, BITS)[0] if u * d < _FAR else Fraction(0)
    chances = [0] * (d // block + 1)
    chances[0] = int(centre / (1 - below) * far * one)  # x >= d
    for top in range(d - 1, 0, -block):  # of a block, L is lowest at its top
        near = enclosure(-u * top, BITS)[0] if u * top < _FAR else Fraction(0)
        chances[(d - top) // block] += int(centre * near * min(block, top) * one)
    chances[-1] += int(one / (1 + below))  # x <= 0
    return _Law(-d * u, 2 * u * block, chances)


def _continuous(shift: Shift) -> _Law:
    """Return L at the far ends of equal pieces between 0 and d, and at the two ends."""
    u = shift.steps / shift.width
    one = 1 << BITS
    rates = [u * k / POINTS for k in range(POINTS + 1)]
    tails = [
        enclosure(-rate, BITS) if rate < _FAR else (Fraction(0), Fraction(0)) for rate in rates
    ]
    inside = [max(0, int((tails[k][0] - tails[k + 1][1]) / 2 * one)) for k in range(POINTS)]
    chances = [int(tails[-1][0] / 2 * one), *reversed(inside)]
    chances[0] += chances.pop(1)  # a piece counts at the L of its far end, where it is lowest
    return _Law(-u, 2 * u / POINTS, [*chances, one >> 1])


def _on_grid(law: _Law, step: Fraction) -> tuple[int, list[int]]:
    """Return the chances by floor(L / step), and the first of these places."""
    places = [int((law.start + law.step * k) // step) for k in range(len(law.chances))]
    found = [0] * (places[-1] - places[0] + 1)
    for place, chance in zip(places, law.chances, strict=True):
        found[place - places[0]] += chance
    return places[0], found


def _convolved(one: Sequence[int], two: Sequence[int]) -> list[int]:
    """Return the convolution, rounded down, as one product of two long numbers."""
    slot = -(-(2 * BITS + 2 + min(len(one), len(two)).bit_length()) // 8)
    packed = [int.from_bytes(b"".join(item.to_bytes(slot, "little") for item in items), "little")
              for items in (one, two)]  # fmt: skip
    size = len(one) + len(two) - 1
    data = (packed[0] * packed[1]).to_bytes(slot * size, "little")
    return [int.from_bytes(data[at : at + slot], "little") >> BITS
            for at in range(0, slot * size, slot)]  # fmt: skip


_LAWS = {"gaussian": _gaussian, "laplace": _laplace, "continuous": _continuous}
