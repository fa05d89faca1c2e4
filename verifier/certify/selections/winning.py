"""How often an answer wins a noisy maximum: fractions around it, for given scores.

Let the noise of i be z, and let the answer j be ahead of i by x_j. i wins iff each other noise is
at most z - x_j (or less, where j stands first and ties are), so with the chance of the product of
F(z - x_j), F being the law of one noise; and that product grows with z. Noise with a grid is added
up step by step. Else z is cut into steps of 1 / PARTS of the scale: within one the product is no
less than at its left end and no more than at its right end. All numbers are whole, times ONE,
rounded down for the lower fraction and up for the upper one; what is out of reach is added to that.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from functools import lru_cache
from math import ceil, floor

from blowproof.models import BudgetError
from blowproof.verifier.certify.selections.noisy_partitions import around
from blowproof.verifier.limits.limit import whole_limit

__all__ = ["how_often"]

BITS = whole_limit(__name__, "BITS")
ONE = 1 << BITS
PARTS = whole_limit(__name__, "PARTS")
REACH = whole_limit(__name__, "REACH")
NEAR = whole_limit(__name__, "NEAR")
MOST_STEPS = whole_limit(__name__, "MOST_STEPS")


def how_often(
    behind: Mapping[Fraction, int],
    ties: Mapping[Fraction, int],
    scale: Fraction | None,
    *,
    finer: int = 1,
) -> tuple[Fraction, Fraction]:
    """Return fractions around the chance to win; BudgetError where the noise has too many steps.

    `behind`: by how much (in scales) the answer is behind others, and how many these are; `ties`:
    the same for those with whom a tie is a win. `scale`: how many steps of the noise's grid a scale
    is; None: it has none, and is cut into PARTS times `finer`.

    >>> low, high = how_often({Fraction(0): 1}, {}, None)
    >>> round(float(low), 2), round(float(high), 2)  # one of two, as often as not
    (0.5, 0.5)
    """
    smooth = scale is None
    steps = Fraction(PARTS * finer) if scale is None else scale
    reach = ceil((REACH if finer == 1 else NEAR) * steps)
    if 2 * reach * (1 + len(behind) + len(ties)) > MOST_STEPS:
        raise BudgetError("the noise has too many steps to add them up")
    low, high = _law(steps, reach, smooth)
    total = [0, ONE - low[-1]]  # beyond the reach, anything may be
    for up in (False, True):
        law = high if up else low
        others = [(_place(x * steps, smooth, tie=False, up=up), n) for x, n in behind.items()]
        others += [(_place(x * steps, smooth, tie=True, up=up), n) for x, n in ties.items()]
        for z in range(2 * reach + 1):
            before = (low if up else high)[z - 1] if z else 0 if up else ONE
            chance = law[z] - before
            at = z - 1 if smooth and not up else z
            for place, times in others:
                if chance <= 0:
                    break
                k = at - place
                least = high[0] if up else 0
                one = least if k < 0 else law[k] if k <= 2 * reach else ONE if up else law[-1]
                chance = _times(chance, _power(one, times, up=up), up=up)
            total[up] += max(chance, 0)
    return Fraction(total[0], ONE), Fraction(min(total[1], ONE), ONE)


def _place(steps: Fraction, smooth: bool, *, tie: bool, up: bool) -> int:
    """Return by how many steps another noise must be less, at least, or where none are at most."""
    if smooth:
        return floor(steps) if up else ceil(steps)
    return ceil(steps) if tie else floor(steps) + 1


@lru_cache(maxsize=8)
def _law(steps: Fraction, reach: int, smooth: bool) -> tuple[list[int], list[int]]:
    """Return ONE times P(noise <= z), z from -reach to reach, rounded down and up.

    Beyond z >= 0 lies e^-z / 2 of smooth noise, and q^(z + 1) / (1 + q) of noise in steps.
    """
    down, up = around(-1 / steps)
    tails = []
    for rate, other, rounded_up in ((down, up, False), (up, down, True)):
        start = Fraction(ONE, 2) if smooth else ONE * rate / (1 + other)
        tail = [_whole(start, up=rounded_up)]
        factor = _whole(rate * ONE, up=rounded_up)
        for _ in range(reach + 1):
            tail.append(_times(tail[-1], factor, up=rounded_up))
        tails.append(tail)
    low, high = tails
    first = 0 if not smooth else 1  # P(noise <= -1) is the first tail, or the second
    return (
        [low[first + n] for n in range(reach - 1, -1, -1)]
        + [ONE - high[n] for n in range(reach + 1)],
        [high[first + n] for n in range(reach - 1, -1, -1)]
        + [ONE - low[n] for n in range(reach + 1)],
    )


def _whole(number: Fraction, *, up: bool) -> int:
    return ceil(number) if up else floor(number)


def _times(one: int, two: int, *, up: bool) -> int:
    """Return a product of two numbers times ONE as one number times ONE."""
    return -(-one * two >> BITS) if up else one * two >> BITS


def _power(one: int, times: int, *, up: bool) -> int:
    """Return a power of a number times ONE."""
    found = ONE
    while times:
        if times & 1:
            found = _times(found, one, up=up)
        one, times = _times(one, one, up=up), times >> 1
    return found
