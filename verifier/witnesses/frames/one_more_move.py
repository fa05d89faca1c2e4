"""A circuit of moves that any record may make, and one move more, along an edge of G.

*Statement.* Let effects e_1, ..., e_n have one relation, sum c_i e_i = 0, where the c_i > 0 are
whole numbers without a common divisor, and all others be multiples of it. Let e be one more effect,
and v_1, ..., v_n >= 0 be whole numbers with e + sum v_i e_i = 0, and not v_i >= c_i for all i.

(i) e once and each e_i v_i times are irreducible. For each e there is one such v or none.

(ii) Unless there is such a v, with v_i <= c_i for all i and v_j < c_j, these are irreducible: each
e_i c_i times, but e_j once less, and e and e_j - e once each.

*Proof.* (i) A part without effect, or what is left without it, holds e_i w_i <= v_i times, and not
e. So w is a whole multiple of c, hence 0. Any two such v differ by a multiple s c, s whole: with s
> 0 the larger one would have v_i >= c_i for all i. (ii) A part without effect that holds both e and
e_j - e, or neither, is a part of the circuit, with e_j for the two. If it holds just one of them,
it or what is left holds e, and each e_i w_i <= c_i times, w_j < c_j. So w is not c or more, and it
is v. QED

In reading 1 one record makes a secret move (`reductions/complete_graph`). The heaviest circuits
may have no move along an edge of G. But with (ii) one of their records may go by way of another
value, along an edge to there, and another record from there: that costs nothing. And where no such
way is seen, with (i) and few records less, they may have a place for one. On two margins of 4 x 4
classes, one attribute secret, that is 50 moves: no circuit of more than 47 has a move from a class
to one that differs in one attribute, and 54 is the longest of all.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import gcd

import numpy as np
from numpy.typing import NDArray

from blowproof.models.base.clock import spend
from blowproof.verifier.exact.coordinates import inverse
from blowproof.verifier.exact.span import full_rank, independent
from blowproof.verifier.limits.limit import real_limit

__all__ = ["Circuit"]

SOLVED = real_limit(__name__, "SOLVED")

Numbers = NDArray[np.int64]


class Circuit:
    """Effects, and how often each is there: a circuit, as `walk.irreducible` has said."""

    def __init__(self, effects: Numbers, times: Sequence[int]) -> None:
        self.times = [int(c) for c in times]
        order = sorted(range(len(times)), key=lambda i: -self.times[i])
        self.order = order
        self._with: dict[tuple[int, ...], list[int] | None] = {}
        self.effects = effects[order].astype(object)
        basis = effects[order[:-1]]
        places = independent(np.ascontiguousarray(basis.T))
        self.places = places if full_rank(np.ascontiguousarray(basis[:, places].T)) else []
        if self.places:
            rows = self.effects[:-1, self.places].T
            self.inverse, self.det = inverse(rows)
            self.slope = [int(x) for x in self.inverse @ self.effects[-1, self.places]]

    def with_one(self, effect: Sequence[int]) -> list[int] | None:
        """Return v, or None where there is none.

        >>> short = Circuit(np.array([[3], [-2]]), [2, 3])
        >>> short.with_one([1]), short.with_one([-3])
        ([1, 2], [1, 0])
        """
        key = tuple(effect)
        if key not in self._with:
            spend(len(self.times) ** 2 * SOLVED)
            self._with[key] = self._with_one(key)
        return self._with[key]

    def _with_one(self, effect: Sequence[int]) -> list[int] | None:
        more = np.array(effect, dtype=object)
        if not self.places:
            return None
        start = [int(x) for x in self.inverse @ more[self.places]]
        last = _solved(self.slope, start, self.det)
        if last is None:
            return None
        found = [-(a + b * last) // self.det for a, b in zip(start, self.slope, strict=True)]
        found.append(last)
        if (np.array(found, dtype=object) @ self.effects + more).any():
            return None  # beyond the span of the circuit's effects
        around = [self.times[i] for i in self.order]
        rounds = max(-(v // c) for v, c in zip(found, around, strict=True))
        moves = [0] * len(around)
        for place, v, c in zip(self.order, found, around, strict=True):
            moves[place] = v + rounds * c
        return moves

    def goes_round(self, effect: Sequence[int], place: int) -> bool:
        """Whether one move of those at a place may be made in two, one with this effect: (ii).

        >>> short = Circuit(np.array([[3], [-2]]), [2, 3])
        >>> short.goes_round([1], 0), short.goes_round([5], 0), short.goes_round([-2], 0)
        (False, True, True)
        """
        if not self.places:  # nothing was worked out
            return False
        found = self.with_one(effect)
        if found is None:
            return True
        pairs = zip(found, self.times, strict=True)
        return found[place] == self.times[place] or any(v > c for v, c in pairs)


def _solved(slope: Sequence[int], start: Sequence[int], modulus: int) -> int | None:
    """Return a t >= 0 with start_i + t slope_i divisible by the modulus for all i, or None.

    >>> _solved([2, 3], [4, 6], 5), _solved([2, 0], [1, 0], 4)
    (3, None)
    """
    found, step = 0, 1  # t is found, or more by a multiple of the step
    for a, b in zip(start, slope, strict=True):
        rest, times = (a + b * found) % modulus, b * step % modulus
        common = gcd(times, modulus)
        if rest % common:
            return None
        less = modulus // common
        if less > 1:
            found += step * (-rest // common * pow(times // common, -1, less) % less)
        step *= less
        found %= step
    return found
