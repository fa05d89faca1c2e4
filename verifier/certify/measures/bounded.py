"""Noise with ends (cell keys): the exact delta at an epsilon.

Noise that takes the values -m, ..., m, with fractions for probabilities, hides no change without a
delta: at its ends some answer is possible for one of two neighbours only. For outputs that change
by d_1, ..., d_k steps, delta is the sum of max(0, P - e^epsilon Q) over all answers: exactly, for
answers with one ratio P : Q are put together, and the sign of P - e^epsilon Q is known without
doubt (`exponential_sums`).

Over all neighbours. Whoever sees more outputs tells no less, so a pair whose changes add up to less
than S (in l1, in steps) is told apart no better than with some further outputs that change by one
step. So no pair has a larger delta than the worst way of writing S as a sum of whole numbers, none
above the S in linf, with signs where the noise is not symmetric. It is met where the worst pair
changes so.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import lru_cache

from blowproof.models import BudgetError
from blowproof.verifier.certify.channels.exponential_sums import Number
from blowproof.verifier.limits.limit import whole_limit

__all__ = ["Law", "bounded_delta", "less", "worst_delta"]

Law = tuple[Fraction, ...]
"""The probabilities of -m, ..., m."""

MOST_RATIOS = whole_limit(__name__, "MOST_RATIOS")
MOST_WAYS = whole_limit(__name__, "MOST_WAYS")
MOST_STEPS = whole_limit(__name__, "MOST_STEPS")


def less(one: Number, two: Number) -> bool:
    """Whether a number is smaller than another, without doubt."""
    return (one - two).sign() < 0


@lru_cache(maxsize=4096)
def bounded_delta(law: Law, shifts: tuple[int, ...], epsilon: Fraction) -> Number:
    """Return the smallest delta at an epsilon for a pair with these changes, in this direction.

    >>> third = Fraction(1, 3)
    >>> bounded_delta((third, third, third), (1,), Fraction(1)).terms
    {Fraction(0, 1): Fraction(1, 3)}
    """
    mixed: dict[tuple[Fraction, bool], tuple[Fraction, Fraction]] = {
        (Fraction(1), True): (Fraction(1), Fraction(1))
    }
    for shift in shifts:
        single = _ratios(law, shift)
        following: dict[tuple[Fraction, bool], tuple[Fraction, Fraction]] = {}
        for (ratio, finite), (p, q) in mixed.items():
            for (more, bounded), (a, b) in single.items():
                key = (ratio * more, True) if finite and bounded else (Fraction(0), False)
                old = following.get(key, (Fraction(0), Fraction(0)))
                following[key] = old[0] + p * a, old[1] + q * b
        if len(following) > MOST_RATIOS:
            raise BudgetError("bounded noise: too many ratios of probabilities to list them")
        mixed = following
    terms: dict[Fraction, Fraction] = defaultdict(Fraction)
    for p, q in mixed.values():
        if (Number({Fraction(0): p}) - Number({epsilon: q} if q else {})).sign() > 0:
            terms[Fraction(0)] += p
            terms[epsilon] -= q
    return Number({power: value for power, value in terms.items() if value})


def _ratios(law: Law, shift: int) -> dict[tuple[Fraction, bool], tuple[Fraction, Fraction]]:
    """Return P and Q of all answers with one ratio (finite or not); answers without P count not."""
    found: dict[tuple[Fraction, bool], tuple[Fraction, Fraction]] = {}
    for place, p in enumerate(law):
        if p:
            other = place - shift
            q = law[other] if 0 <= other < len(law) else Fraction(0)
            key = (p / q, True) if q else (Fraction(0), False)
            old = found.get(key, (Fraction(0), Fraction(0)))
            found[key] = old[0] + p, old[1] + q
    return found


def worst_delta(
    law: Law, steps: int, epsilon: Fraction, most: int
) -> tuple[Number, tuple[int, ...]]:
    """Return the largest delta of changes that add up to so many steps, and such changes.

    `most`: no single one is larger.
    """
    if steps > MOST_STEPS:
        raise BudgetError(f"bounded noise: {steps} steps are not written as sums of changes")
    symmetric = law == law[::-1]
    worst, changes = Number({}), tuple[int, ...]()
    for number, shifts in enumerate(_ways(steps, most, len(law), symmetric)):
        if number > MOST_WAYS:
            raise BudgetError(f"bounded noise: {steps} steps have too many ways to be changed in")
        found = bounded_delta(law, shifts, epsilon)
        if less(worst, found):
            worst, changes = found, shifts
    return worst, changes


def _ways(steps: int, most: int, reach: int, symmetric: bool) -> Iterator[tuple[int, ...]]:
    """Yield the ways to write a number as a sum of sizes, in falling order, with their signs.

    A change by `reach` or more steps tells everything: larger ones are not looked at apart.
    """

    def sums(left: int, most: int) -> Iterator[tuple[int, ...]]:
        if left == 0:
            yield ()
            return
        for size in range(min(left, most), 0, -1):
            yield from ((size, *rest) for rest in sums(left - size, size))

    for sizes in sums(steps, most):
        if sizes and sizes[0] >= reach:
            yield sizes[:1]
        elif symmetric:
            yield sizes
        else:
            yield from _signed(sizes)


def _signed(sizes: Sequence[int]) -> Iterator[tuple[int, ...]]:
    """Yield the ways to give signs; equal sizes count once for each number of minus signs."""
    if not sizes:
        yield ()
        return
    same = sum(1 for size in sizes if size == sizes[0])
    for rest in _signed(sizes[same:]):
        for minus in range(same + 1):
            yield (*[sizes[0]] * (same - minus), *[-sizes[0]] * minus, *rest)
