"""Kind `circuits`: how long circuits of moves are, and how many of them an irreducible is made of.

Readings 1, 2 and 5, equality facts and impossible values. Let values have N signatures, of affine
rank r, and let `facts` be r of the equalities on which the signatures have this rank too: then what
keeps these keeps all. `shape` is a symmetric matrix H of whole numbers for these facts, positive
definite; q is the largest d' H d of a difference d of two signatures. A circuit (moves without
effect of which no other numbers have none but multiples of these) has no more than

    C = root of (r + 1) (q (r + 1) / r)^r / det H

moves, and an irreducible is a simple cycle on the signatures, of at most N moves, or a sum of
circuits with positive factors, which add up to 1 at the most if d = N - 1 - r is 1, and to less
than d if it is more: so it has at most max(N, C), or max(N, d C - 1), moves (N if d = 0), each of
which changes f by no more than the largest move. The proofs are at the heads of
`theorems/lengths/longest_circuit.py` and `lattice_free.py` of the verifier, and in FORMAT.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import floor, isqrt
from typing import Any

from ...document import Budget, Exact, Rejected, want, words
from ...independent import affine_rank
from ...world import World
from ..cells import Place, places_of, restricted
from ..margins import bound

Matrix = Sequence[Sequence[int]]

MOST_FACTS = 100


def refute(world: World, proof: dict[str, Any], value: Exact) -> None:
    """Refuse unless so many moves, each with the largest change, are within the value."""
    told = want(proof, {"kind": str, "facts": [int], "shape": [[int]]}, "the proof")
    scale, places = places_of(world)
    most = longest(world, places, told["facts"], told["shape"])
    if bound(world, places, most) > world.measure.claim(value, scale):
        raise Rejected("so many moves may change the query by more than the value")


def longest(world: World, places: Sequence[Place], facts: Sequence[int], shape: Matrix) -> int:
    """Return how many moves no irreducible exceeds; refuse what is no ellipsoid for the facts."""
    rank, kept = len(facts), set(facts)
    if not 0 < rank == len(kept) <= MOST_FACTS or not kept <= set(range(len(world.equalities))):
        raise Rejected("there are no such facts")
    every = list(dict.fromkeys(effect for effect, _ in places))
    seen = list(dict.fromkeys(restricted(effect, kept, world) for effect in every))
    if affine_rank(every, world.budget) != rank or affine_rank(seen, world.budget) != rank:
        raise Rejected("the facts are not as many as the signatures' rank, or not independent")
    found = [dict(effect) for effect in seen]
    points = [[point.get(fact, 0) for fact in facts] for point in found]
    circuit = longest_circuit(points, shape, world.budget)
    dependencies = len(every) - 1 - rank
    return max(len(every), dependencies * circuit - (dependencies > 1))


def longest_circuit(points: Matrix, shape: Matrix, budget: Budget) -> int:
    """Return C, for points of which some r + 1 are affinely independent."""
    rank = len(points[0])
    if len(shape) != rank or any(len(row) != rank for row in shape):
        raise Rejected("the ellipsoid has another dimension")
    if any(shape[i][j] != shape[j][i] for i in range(rank) for j in range(i)):
        raise Rejected("the ellipsoid's matrix is not symmetric")
    det = determinant(shape, budget)
    inside = (rank + 1) * Fraction(farthest(points, shape, budget) * (rank + 1), rank) ** rank / det
    return max(2, isqrt(floor(inside)))


def farthest(points: Matrix, shape: Matrix, budget: Budget) -> int:
    """Return the largest (x - y)' H (x - y)."""
    rank, count = len(shape), len(points)
    wide = words(max(abs(x) for row in (*points, *shape) for x in row)) ** 2
    budget.spend((count * rank * rank + count * count * rank // 2) * wide, 2 * count * rank)
    turned = [[sum(h * x for h, x in zip(row, point, strict=True)) for row in shape]
              for point in points]  # fmt: skip
    own = [sum(map(int.__mul__, p, t)) for p, t in zip(points, turned, strict=True)]
    return max(
        (own[i] + own[j] - 2 * sum(map(int.__mul__, points[i], turned[j]))
         for i in range(count) for j in range(i)),
        default=0,
    )  # fmt: skip


def determinant(shape: Matrix, budget: Budget) -> int:
    """Return the determinant of a symmetric matrix; refuse one that is not positive definite.

    Elimination without fractions (Bareiss): the pivots are the leading minors, all of them above 0
    iff the matrix is positive definite, and each division is exact.
    """
    rows, before = [list(row) for row in shape], 1
    wide = words(max((abs(x) for row in rows for x in row), default=0))
    for step, row in enumerate(rows):
        pivot = row[step]
        if pivot <= 0:
            raise Rejected("the ellipsoid's matrix is not positive definite")
        budget.spend(2 * ((len(rows) - step) * (step + 1) * wide) ** 2)
        for other in rows[step + 1 :]:
            first = other[step]
            for k in range(step + 1, len(rows)):
                other[k] = (pivot * other[k] - first * row[k]) // before
        before = pivot
    return before
