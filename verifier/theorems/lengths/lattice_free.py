"""How many circuits make up an irreducible multiset: the sum of their factors, by its dimension.

*Statement.* Readings 1, 2 and 5, equality facts and impossible values; let the N classes of values
have distinct signatures of affine rank r, and d = N - 1 - r. An irreducible multiset of moves is a
simple cycle on the classes, of at most N moves, or a sum of circuits with positive factors that add
up to at most F(d): F(0) = 0, and F(d) is the number G above F(d - 1) with

    sum over i = 1, ..., d of (d - i + 1) d / (G - F(i - 1))^2 = 1.

So it has at most max(N, F(d) C) moves, C being the length of the longest circuit. F(1) = 1, F(2) <
2.94, F(8) < 27.1, F(24) < 159: about 1.4 d^(3/2), where Caratheodory gives the number of pairs of
signatures less r (765 for two tables of 2 x 4 and 2 x 5 cells that share an attribute, d = 24). (It
is far from sharp: of the irreducibles of 2 x 4 and 2 x 2 x 2 margins no sum is above 3/2.)

*Proof.* Let M be irreducible. If it holds a simple cycle (or a move within a class), this has no
effect and is all of M. Else M is an acyclic flow u on the classes, of whole numbers, whose boundary
is in K = {k integer : sum k_c = 0, sum k_c s_c = 0}, of rank d; write it k(z), z in Z^d, k being a
basis of K. A real flow 0 <= u' <= u with boundary k(z'), z' in Z^d, can be replaced by a flow of
whole numbers with the same boundary (flows are totally unimodular), a part of M without effect:
nothing or M. So z' = 0 or z' = z.

The real flows v >= 0 on the arcs of u with a boundary in the span of K are a pointed cone. u = sum
of l_i c_i, l_i > 0, the c_i primitive whole vectors on its extreme rays: circuits, since the flows
on the arcs of c_i with such a boundary are its multiples. Let c_i have the boundary k(z_i). Some
linear functional is positive on all z_i: else a sum of c_i with factors >= 0, not all 0, has no
boundary, and is a cycle on the arcs of u. Let Z be the sum of the segments from 0 to l_i z_i. Its
points are boundaries of real flows within u, so its only lattice points are 0 and z; both are
vertices of Z. The same is true of the sum of the segments in a subspace, if there are any: its
lattice points are vertices. It remains to show, for the span of the z_i, whose dimension is d at
most (F grows with d), the

*Lemma.* Let z_i be vectors of a lattice of rank d that span its space, l_i > 0, and let the sum Z
of the segments [0, l_i z_i] have no lattice point in its interior, and so for the segments in every
subspace (in its relative interior). Then sum l_i <= F(d).

*The right coordinates.* Among the matrices Q with sum l_i |Q z_i| <= d one has the largest
determinant: the z_i span, so that such Q are bounded. There, the gradient of log det Q, the
transpose of Q^-1, is a multiple of that of the sum, sum l_i x_i z_i' / |x_i| with x_i = Q z_i;
multiplied by Q', the identity is a multiple of sum l_i x_i x_i' / |x_i|. Both have the trace d, as
the constraint is tight: they are equal. In these coordinates, by its trace, sum l_i |x_i| = d, and
for every y the width of Z is

    sum l_i |y x_i| >= sum l_i (y x_i)^2 / (|y| |x_i|) = |y|,

so that Z, symmetric about its centre, holds a ball of radius 1/2 round it.

*Generators are long.* Let b_1 be a shortest vector of the lattice, b_2 one that is shortest
orthogonally to b_1, and so on; n_i is how long b_i is orthogonally to V_i, the span of b_1, ...,
b_(i-1). Rounding coordinates from the last to the first takes every point to within the root of
(sum n_i^2) / 4 of a lattice point, so that sum n_i^2 >= 1, or the open ball would hold one. A
generator x_j outside V_i has a part x'_j orthogonal to V_i with |x_j| >= |x'_j| >= n_i; and sum l_j
|x'_j|^2 / |x_j| = d - i + 1 =: m, the trace of the identity there. By Cauchy, over those j,

    (sum l_j)^2 <= (sum l_j / |x_j|) (sum l_j |x_j|) <= (m / n_i^2) d.

The generators inside V_i, of dimension i - 1, have sum l_j <= F(i - 1) by induction. (They may span
less: F grows with d.) So sum l_j <= F(i - 1) + root(m d) / n_i for every i. If sum l_j were G' >
F(d), each n_i^2 would be at most (d - i + 1) d / (G' - F(i - 1))^2, and these add up to less than
1. QED.
"""

from __future__ import annotations

from functools import cache

from blowproof.verifier.limits.limit import whole_limit

__all__ = ["factors_above"]

MOST_DIMENSIONS = whole_limit(__name__, "MOST_DIMENSIONS")

GRAIN = 1_000
"""F is rounded up to multiples of one part in so many."""
FINE = 10**12
"""The terms of the sum are rounded up to multiples of one part in so many."""


def factors_above(dimension: int) -> tuple[int, int] | None:
    """Return F(d), rounded up, as a numerator and a denominator; None where d is large.

    >>> factors_above(0), factors_above(1), factors_above(2), factors_above(24)
    ((0, 1000), (1000, 1000), (2934, 1000), (158987, 1000))
    """
    return None if dimension > MOST_DIMENSIONS else (_above(dimension), GRAIN)


@cache
def _above(dimension: int) -> int:
    """Return the least multiple of the grain with a sum of at most 1: larger numbers have less."""
    if dimension == 0:
        return 0
    smaller = [_above(lower) for lower in range(dimension)]
    below, above = smaller[-1], smaller[-1] + 4 * GRAIN * dimension
    while _sum(dimension, above, smaller) > FINE:
        above *= 2
    while above - below > 1:
        middle = (below + above) // 2
        if _sum(dimension, middle, smaller) > FINE:
            below = middle
        else:
            above = middle
    return above


def _sum(dimension: int, most: int, smaller: list[int]) -> int:
    """Return the sum for G = most / GRAIN, in parts of FINE, rounded up."""
    scale = FINE * GRAIN * GRAIN * dimension
    return sum(
        -(-(dimension - place) * scale // (most - less) ** 2) for place, less in enumerate(smaller)
    )
