"""How many circuits make up an irreducible multiset: the sum of their factors, by its dimension.

*Statement.* Readings 1, 2 and 5, equality facts and impossible values; let the N classes of values
have distinct signatures of affine rank r, and d = N - 1 - r. An irreducible multiset of moves is a
simple cycle on the classes, of at most N moves, or a sum of circuits with positive factors that add
up to at most 1 if d = 1, and to less than d if d >= 2. So, C being the length of the longest
circuit, it has at most N moves for d = 0, max(N, C) for d = 1, and max(N, d C - 1) for d >= 2.
(Caratheodory gives the number of pairs of signatures less r, 765 for two tables of 2 x 4 and 2 x 5
cells that share an attribute, where d = 24. Of the irreducibles of 2 x 4 and 2 x 2 x 2 margins no
sum is above 3/2; the lemma below is sharp up to 1, as multiples 1/n and (d - 1 times) 1 - 1/n of d
independent vectors show, their sum being a lattice point.)

*Proof.* Let M be irreducible. If it holds a simple cycle (or a move within a class), this has no
effect and is all of M. Else M is an acyclic flow u on the classes, of whole numbers, whose boundary
is in K = {k integer : sum k_c = 0, sum k_c s_c = 0}, of rank d; write it k(z), z in Z^d, k being a
basis of K. A real flow 0 <= u' <= u with boundary k(z'), z' in Z^d, can be replaced by a flow of
whole numbers with the same boundary (flows are totally unimodular), a part of M without effect:
nothing or M. So z' = 0 or z' = z.

The real flows v >= 0 on the arcs of u with a boundary in the span of K are a pointed cone. u = sum
of l_i c_i, l_i > 0, the c_i primitive whole vectors on its extreme rays: circuits, since the flows
on the arcs of c_i with such a boundary are its multiples. Let c_i have the boundary k(z_i). Some
linear form is positive on all z_i: else a sum of c_i with factors >= 0, not all 0, has no boundary,
and is a cycle on the arcs of u. Let Z be the sum of the segments from 0 to l_i z_i. Its points are
boundaries of real flows within u, so its only lattice points are 0 and z. It remains to show the

*Lemma.* Let z_i be vectors of a lattice, a linear form g be positive on all of them, l_i > 0, and
let the sum Z of the segments [0, l_i z_i] hold no lattice points but 0 and perhaps its end z, the
sum of all l_i z_i. Let the z_i span r dimensions. Then sum l_i <= 1 if r = 1, and sum l_i < r else.

*Translates that cover.* Let X be a subspace that is spanned by those z_i that lie in it, m its
dimension, Z_X the sum of their segments. Its bases are the sets B of m of them that are
independent. *If numbers p_B >= 0 of sum 1 are such that t_i, the sum of p_B over the bases that
hold z_i, is at most l_i for all i, then every point of X is the sum of a point of Z_X and a lattice
point of X.* Let all p_B be positive first. In coordinates of X let det(B) be the determinant of B,
and y(B) the sum of numbers y_i over B. The function

    log (sum over B of det(B)^2 e^y(B)) - sum over B of p_B y(B)

depends on the differences of the y(B) alone, is convex, and large where one of these is, being at
least the sum of p_B times (the largest y less y(B)), and a constant. So it has a minimum. There let
a_i = e^(y_i) and A be the sum of a_i z_i z_i'. The sum in the function is det A (Cauchy and Binet),
and its derivatives are 0: a_i z_i' A^-1 z_i = t_i. Given x in X, take a lattice point of X which,
taken from x, leaves a p of least p' A^-1 p. As p + z_i and p - z_i have no less, |p' A^-1 z_i| <=
z_i' A^-1 z_i / 2. Now p = A A^-1 p is the sum of the z_i with factors a_i p' A^-1 z_i, of size t_i
/ 2 <= l_i / 2 at the most, hence a point of Z_X less half its end; and with x, x plus half the end
runs through all of X. If some p_B are 0, this holds for factors that are larger by as little as one
likes, and Z_X is closed.

*They do not, unless r = 1.* Suppose that they cover X. All points of X that are close to 0 lie in
translates that hold 0, since Z_X is closed: in Z_X, where g > 0 but at 0; or in Z_X - z, where g <
0 but at 0, as z has the most g of Z; and then Z_X holds z, so that all z_i are in X. Points close
to 0 have g = 0 if m >= 2, and g < 0. So m = 1, and all z_i are in X: r = 1.

*Less than r.* If r = 1, all z_i are positive multiples of one primitive vector v. v is in Z only as
its end, so that z is at most v, and sum l_i <= 1. If r >= 2, then by the above there are no such
p_B for any X. The t of all p and what is above them are a closed convex set, so that some y_i >= 0
have a sum of y_i l_i that is below y(B) for every basis B. Let Y_s be the span of the z_i in X with
y_i < s. The basis of X that takes vectors by growing y_i, each that is independent of those before,
has dim Y_s elements with y_i < s, so that y(B) is the integral over s > 0 of m - dim Y_s. The sum
of y_i l_i is the integral of the sum of the l_i with y_i >= s, which is no less than the sum of
those l_i with z_i in X and not in Y_s. So there is a Y = Y_s where the latter is less than m - dim
Y, which therefore is above 0. Go on with Y in place of X, from the span of all z_i down to 0. The
sums add up: sum l_i < r. QED.
"""

from __future__ import annotations

from math import isqrt

import numpy as np
from numpy.typing import NDArray

from blowproof.verifier.limits.limit import whole_limit
from blowproof.verifier.theorems.lengths.longest_circuit import determinant

__all__ = ["longest_by_volume", "made_of_circuits"]

MOST_DIMENSIONS = whole_limit(__name__, "MOST_DIMENSIONS")
MOST_PRODUCTS = whole_limit(__name__, "MOST_PRODUCTS")
SAFE = whole_limit(__name__, "SAFE")

Matrix = NDArray[np.int64]


def made_of_circuits(dimension: int, longest: int) -> int:
    """Return how many moves a sum of circuits has at the most, the longest having so many.

    `dimension` is d.

    >>> [made_of_circuits(d, 10) for d in range(4)]
    [0, 10, 19, 29]
    """
    return dimension * longest - (dimension > 1)


def longest_by_volume(effects: Matrix) -> int | None:
    """Return how many elements an irreducible multiset of effects and negatives has at the most.

    `effects`: one of each d and -d, none of them 0, in rows. None where there are too many, or
    their coordinates are not independent.

    >>> longest_by_volume(np.array([[2], [3]])), longest_by_volume(np.array([[1, 0], [1, 0]]))
    (5, None)

    *Statement.* Let n effects d_1, ..., d_n (of d and -d one at the most) be vectors of whole
    numbers that span r dimensions, the columns of A. An irreducible multiset of effects and
    their negatives that holds u_j of d_j, or of -d_j, and is not d, -d, has

        u_1^2 + ... + u_n^2 <= det A A',

    so that it has at most the root of n det A A' elements. (If r + 1 effects have no common
    divisor of their minors, and all are needed, these are the u_j, and both sides are the same:
    Cauchy and Binet.)

    *Proof.* Turn effects round such that all u_j are those of d_j. Let K be the vectors of
    whole numbers z with A z = 0, and V those of real numbers. u is in K, and if z in K has 0 <=
    z <= u then z = 0 or z = u; so u is no multiple in K. Let E be those w in V with w'u = 0, of
    dimension m = n - r - 1.

    (1) *Near the line through u.* If z in K is w + t u with w in E and all |w_j| < 1, then z is
    a multiple of u. Take a multiple of u from z, such that 0 <= t < 1. Then z_j > t u_j - 1 >=
    -1 and z_j < t u_j + 1 <= u_j + 1, or z_j < 1 where u_j = 0. As z_j is whole, 0 <= z <= u:
    so z = 0 or z = u.

    (2) *Minkowski.* Project K along u to E: a lattice L, whose volume is that of K over |u|. By
    (1) no vector of L but 0 has all |w_j| < 1. So the volume of these w, in E, is at most 2^m
    times that of L (Minkowski's theorem on convex bodies). By (3) it is at least 2^m. So |u| is
    at most the volume of K, whose square is the sum of the squares of its n - r by n - r
    minors. Those are the r by r minors of A, up to signs and a common divisor (complementary
    minors of K and the lattice of A's rows, completed). So the square is at most det A A'
    (Cauchy and Binet).

    (3) *A cube's sections* (Vaaler). The points of a space E of dimension m, in n dimensions,
    with all |x_j| <= 1/2 have a volume of at least 1. Let p be 1 on the interval from -1/2 to
    1/2, and q(x) = exp(-pi x^2); both have the integral 1. An interval from -s to s has no less
    of p than of q: 2 s if s <= 1/2, as q <= 1; all, if s >= 1/2. So for an even function F >= 0
    on the line that falls on either side of 0, the integral of F p is no less than that of F q,
    as F is a sum of indicators of such intervals. Let C be convex and -C = C, in n dimensions.
    Put q in p's place for one coordinate after the other in the integral over C of p(x_1) ...
    p(x_n): what is integrated are products of log-concave even functions, so that the integral
    over all coordinates but one is an even function F of that one, and log-concave (Prekopa and
    Leindler), which falls on either side of 0. So C has no less of the cube than of exp(-pi
    |x|^2). Take for C what is no further than e from E. Parallel to E, at any place, there is
    no more of the cube than in E itself (Brunn and Minkowski: sections at y and -y are alike,
    and their mean lies in E), and at a distance of at most e no less of exp(-pi |x|^2) than
    exp(-pi e^2), for its integral over E is 1. So the volume in E is at least exp(-pi e^2), for
    every e > 0. QED

    Sums of circuits (`longest_irreducible`) take their number into account, n - r, and the
    longest of all. Here a few long effects among short ones cost little. For n up to some 2 r
    or 3 r effects this is less by far: of 200 drawn lists of 5 to 9 coordinates, n - r = 3, 6,
    10, 20, it was 2 to 11, 7 to 20, 13 to 37 and 60 to 74 percent of the least of the others.
    """
    count, rank = effects.shape
    if not 0 < rank <= MOST_DIMENSIONS or count * rank * rank > MOST_PRODUCTS:
        return None
    if count * int(np.abs(effects).max()) ** 2 >= SAFE:
        return None  # the products might not fit
    volume = determinant((effects.T @ effects).tolist())
    return None if volume is None else max(2, isqrt(count * volume))
