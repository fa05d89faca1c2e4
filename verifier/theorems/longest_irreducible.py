"""How long an irreducible multiset of moves can be, from the signatures of the classes alone.

No list of effects is needed, of which there are millions where facts cut a domain into thousands of
classes. The effects are given as points: in reading 3 they are the points and their negatives, in
readings 1 and 2 the differences of two points. r is the dimension of their span, and r independent
coordinates determine the others (`span.independent`; more than r coordinates are safe too).

*Steinitz* (Grinberg and Sevastyanov). Vectors of a symmetric convex body K in r dimensions that sum
to zero can be ordered so that every partial sum lies in r K. Partial sums of an irreducible differ,
so its length is at most the number of whole points in r K. K is the set of vectors whose
coordinates are at most c_j in size, and whose sizes add up to at most w.

*Circuits* (after Diaconis, Graham and Sturmfels). An irreducible is, by Caratheodory, a sum of at
most h - r circuits with factors below 1 (or it is a circuit), h being the number of pairs d, -d. A
circuit other than d, -d is made of r + 1 effects C, its multiplicities divide their r x r minors,
and by Cauchy's inequality and Cauchy and Binet's formula these add up to at most the root of
(r + 1) det C C'. That determinant is det T times the one of T^-1/2 C C' T^-1/2, whose eigenvalues
have a mean of at most q (r + 1) / r, for any positive diagonal T and a q that is at least d' T^-1 d
for every effect d; so it is at most det T (q (r + 1) / r)^r.

*Circuits, sharper.* Where the effects are differences of points, the smallest ellipsoid round them
takes the place of T (`lengths.longest_circuit`), and for N points the factors of circuits add up to
less than N - 1 - r, or to 1 at the most (`lengths.lattice_free`).

*Volume.* Where effects are given as points, few of them, the sum of the squares of how often each
occurs is bounded by one determinant, of all (`lengths.lattice_free.longest_by_volume`).

*One coordinate after the other.* Let a multiset be cut into parts that vanish on the first k
coordinates, of at most L members each. Their coordinates k + 1 are numbers of size at most C = L c.
If the multiset is irreducible on k + 1 coordinates, these numbers are irreducible, which takes at
most as many positive ones as the largest negative one's size, and conversely: 2 C - 1 in all (2 if
C = 1). So L grows to L (2 C - 1).
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import floor, inf, isqrt, prod

import numpy as np
from numpy.typing import NDArray

from blowproof.models.base.clock import now, spend
from blowproof.verifier.exact.span import full_rank, independent
from blowproof.verifier.limits.limit import real_limit, whole_limit
from blowproof.verifier.theorems.lengths.lattice_free import longest_by_volume, made_of_circuits
from blowproof.verifier.theorems.lengths.longest_circuit import longest_circuit

__all__ = ["longest_of_effects", "longest_of_points", "whole_points"]

Matrix = NDArray[np.int64]

MOST_DEGREE = whole_limit(__name__, "MOST_DEGREE")
MOST_COUNTED = whole_limit(__name__, "MOST_COUNTED")
MOST_ENTRIES = whole_limit(__name__, "MOST_ENTRIES")
MOST_COMPARED = whole_limit(__name__, "MOST_COMPARED")
MOST_PAIRS = whole_limit(__name__, "MOST_PAIRS")
FINEST = whole_limit(__name__, "FINEST")
BLOCK = whole_limit(__name__, "BLOCK")
LINK = real_limit(__name__, "LINK")
COMPARED = real_limit(__name__, "COMPARED")
SQUARED = real_limit(__name__, "SQUARED")


def longest_of_points(points: Matrix, *, differences: bool, end: float = inf) -> int:
    """Return a length that no irreducible multiset exceeds: the least of the theorems.

    After `end` (a time of `now`) it is the least of those that were worked out.

    `differences`: the effects are the differences of two points, else the points and their
    negatives. Effects that are zero do not count: alone, they are irreducible.

    >>> longest_of_points(np.array([[0], [1]]), differences=True)
    2
    >>> longest_of_points(np.array([[1, 0], [0, 1], [1, 1]]), differences=False)
    3
    """
    if not points.any():
        return 1
    if points.size > MOST_ENTRIES:
        return _unreduced(points, differences=differences)
    points = np.unique(points, axis=0)
    points = points - points[0] if differences else points[points.any(axis=1)]
    if not points.any():
        return 1
    if now() > end:
        return _unreduced(points, differences=differences)
    points = points[:, independent(np.ascontiguousarray(points.T), end=end)]
    rank, count = points.shape[1], len(points)
    reach = np.ptp(points, axis=0) if differences else np.abs(points).max(axis=0)
    reaches = [int(c) for c in reach]
    width = _widest(points, differences=differences)
    pairs = count * (count - 1) // 2 if differences else count
    found = [whole_points([rank * c for c in reaches], rank * width), _stepwise(reaches)]
    for scales in _scales(points):
        if now() > end:
            break
        found.append(max(pairs - rank, 1) * _circuit(points, scales, differences=differences))
    if not differences:
        sharper = longest_by_volume(points)
    else:
        sharper = _by_circuits(points, end) if now() <= end else None
    return max(2, min(found if sharper is None else [*found, sharper]))


def _by_circuits(points: Matrix, end: float) -> int | None:
    """Return max(N, d C - 1) for the differences of N points (see `lengths.lattice_free`)."""
    count, rank = len(points), int(points.shape[1])
    if not full_rank(np.ascontiguousarray(points.T)):
        return None  # the rank may be less, and so d more
    dependencies = count - 1 - rank
    longest = longest_circuit(points, end=end) if dependencies else 0
    return None if longest is None else max(count, made_of_circuits(dependencies, longest))


def _unreduced(points: Matrix, *, differences: bool) -> int:
    """Return the same for so many points that their coordinates are taken as they are.

    Both theorems hold with more coordinates than there need be, and say no less then.
    """
    reach = np.ptp(points, axis=0) if differences else np.abs(points).max(axis=0)
    used, count = np.flatnonzero(reach), len(points)
    rank, reaches = len(used), [int(c) for c in reach[used]]
    if count < 2 or not rank:
        return 1 if differences else max(2, *reaches)
    if max(reaches) ** 2 * rank >= 1 << 62:
        return max(2, prod(2 * rank * c + 1 for c in reaches))
    moved = points[:, used] - points[0, used] if differences else points[:, used]
    squares = sorted((moved**2).sum(axis=1).tolist())
    most = 2 * (squares[-1] + squares[-2]) if differences else squares[-1]
    pairs = count * (count - 1) // 2 if differences else count
    inside = (rank + 1) * (Fraction(most) * (rank + 1) / rank) ** rank
    circuit = isqrt(floor(inside))
    return max(2, min(prod(2 * rank * c + 1 for c in reaches), pairs * circuit))


def longest_of_effects(effects: Matrix) -> int:
    """Return a length that no irreducible multiset of these effects (and negatives) exceeds.

    Effects that are linked by no facts in common have nothing to do with one another: an
    irreducible lies among linked ones.

    >>> longest_of_effects(np.array([[1, 0, 0], [0, 1, -1], [0, 0, 0]]))
    2
    """
    effects = effects[effects.any(axis=1)]
    if not len(effects):
        return 1
    rows, facts = np.nonzero(effects)
    linked = _linked(rows.tolist(), facts.tolist(), effects.shape[1])
    home = linked[facts[np.unique(rows, return_index=True)[1]]]
    most, seen = 1, set()
    for fact in np.unique(home).tolist():
        now()  # others may have their turn
        part = effects[home == fact][:, linked == fact]
        first = part[np.arange(len(part)), (part != 0).argmax(axis=1)]
        part = np.unique(part * np.sign(first)[:, None], axis=0)
        alike = (part.shape, part.tobytes())
        if alike not in seen:
            seen.add(alike)
            most = max(most, longest_of_points(part, differences=False))
    return most


def _linked(rows: list[int], facts: list[int], count: int) -> NDArray[np.int64]:
    """Return, for each fact, one of those that a chain of effects leads to: for all the same one.

    `rows` and `facts`: where an effect changes a fact, effect by effect.
    """
    leads = list(range(count))

    def end(fact: int) -> int:
        while leads[fact] != fact:
            leads[fact] = fact = leads[leads[fact]]
        return fact

    spend(len(rows) * LINK)
    for place in range(1, len(rows)):
        if rows[place] == rows[place - 1]:
            leads[end(facts[place])] = end(facts[place - 1])
    return np.array([end(fact) for fact in range(count)], dtype=np.int64)


def whole_points(sides: Sequence[int], width: int) -> int:
    """Return how many whole vectors v have |v_j| <= sides[j] and sizes that add up to <= width.

    Where that takes too long to count, the second condition is left out.

    >>> whole_points([1, 1], 2), whole_points([1, 1], 1), whole_points([3], 2)
    (9, 5, 5)
    """
    everything = prod(2 * side + 1 for side in sides)
    width = min(width, sum(sides))
    if width > MOST_DEGREE or width == sum(sides) or len(sides) * width > MOST_COUNTED:
        return everything
    ways = [1] + [0] * width  # by the total of the sizes
    for side in sides:
        running, longer = 0, []
        for total in range(width + 1):
            running += ways[total]  # of totals from total - side to total
            if total > side:
                running -= ways[total - side - 1]
            longer.append(2 * running - ways[total])
        ways = longer
    return sum(ways)


def _stepwise(reaches: Sequence[int]) -> int:
    length = 1
    for reach in sorted(reaches):
        length *= max(2, 2 * length * reach - 1)
        if length.bit_length() > 4_000:
            break  # no minimum any more
    return length if len(reaches) < 12 else 1 << 4_000


def _sizes(points: Matrix) -> NDArray[np.int64]:
    sizes: NDArray[np.int64] = np.abs(points).sum(axis=-1)
    return sizes


def _widest(points: Matrix, *, differences: bool) -> int:
    """Return a bound on an effect's sum of sizes: of all pairs, or of both, from the middle."""
    if not differences:
        return int(_sizes(points).max())
    if len(points) > MOST_PAIRS or len(points) * points.size > MOST_COMPARED:
        middle = np.median(points, axis=0).astype(np.int64)
        return int(np.sort(_sizes(points - middle))[-2:].sum())
    most = 0
    spend(len(points) * points.size * COMPARED)
    for start in range(0, len(points), BLOCK):
        for row in points[start : start + BLOCK]:
            most = max(most, int(_sizes(points - row).max()))
    return most


def _scales(points: Matrix) -> list[list[Fraction]]:
    """Return diagonals T: the identity, and the variances of the coordinates, roughly."""
    rank = points.shape[1]
    spread = points.astype(float).var(axis=0)
    least = max(float(spread.max()) / FINEST, 1e-12)
    return [
        [Fraction(1)] * rank,
        [Fraction(max(1, round(x / least)), FINEST) for x in spread.tolist()],
    ]


def _circuit(points: Matrix, scales: Sequence[Fraction], *, differences: bool) -> int:
    """Return what no circuit's length exceeds, with the diagonal T of these scales.

    d' T^-1 d is a square of a norm: of a difference at most twice the sum of the squares of both
    points' norms, taken from the middle.
    """
    rank = len(scales)
    whole = [Fraction(FINEST * FINEST) / scale for scale in scales]
    weights = np.array([-(-x.numerator // x.denominator) for x in whole], dtype=object)

    def squares(rows: Matrix) -> NDArray[np.object_]:
        spend(rows.size * SQUARED)
        found: NDArray[np.object_] = (rows.astype(object) ** 2) @ weights
        return found

    if not differences:
        most = int(max(squares(points)))
    else:
        middle = np.median(points, axis=0).astype(np.int64)
        one, two = sorted(squares(points - middle))[-2:] if len(points) > 1 else (0, 0)
        most = 2 * int(one + two)
        if len(points) <= MOST_PAIRS:
            most = min(most, _farthest(points, weights.tolist()) or most)
    limit = Fraction(most, FINEST * FINEST)
    inside = (rank + 1) * prod(scales) * (limit * (rank + 1) / rank) ** rank
    return max(2, isqrt(floor(inside)))


def _farthest(points: Matrix, weights: list[int]) -> int | None:
    """Return the largest weighted square of a difference, by products that floats hold exactly."""
    reach = int(np.abs(points).max()) ** 2 * sum(weights)
    if 4 * reach >= 1 << 52:
        return None
    rows = points.astype(np.float64)
    weighted = rows * np.array(weights, dtype=np.float64)
    own = (weighted * rows).sum(axis=1)
    most = 0.0
    for start in range(0, len(rows), BLOCK):
        products = weighted[start : start + BLOCK] @ rows.T
        squares = own[start : start + BLOCK, None] + own - 2 * products
        most = max(most, float(squares.max()))
    return int(most)
