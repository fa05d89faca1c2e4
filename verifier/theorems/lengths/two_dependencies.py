"""Two affine dependencies: a norm of an irreducible's boundary is no more than that of a frame's.

*Statement.* Readings 1, 2 and 5, equality facts and impossible values; let N classes of values have
distinct signatures, whose affine dependencies K have rank 2 (frames as in `affine_frames`: here a
set T of classes and the others, such that the vectors of K that sum to 0 on T are the multiples of
one primitive k). Let f be a norm of what each class loses, or a seminorm: f(s k) = |s| f(k), and
f(k + k') <= f(k) + f(k'). For the boundary k of an irreducible multiset of moves, f(k) is at most
the largest f of a frame's vector. So factors of circuits add up to less than 2
(`lattice_free`), but as to norms of the boundary one circuit is as good as any irreducible. (Not as
to how many moves there are: see `closed_forms.ours.more_dependencies`.)

*Proof.* Let M be irreducible. If it holds a simple cycle, or a move within a class, this has no
effect and is all of M, and its boundary is 0. Else M is an acyclic flow u with the boundary k(z),
where k maps Z^2 onto K, one to one. z is not 0, as an acyclic flow without a boundary is empty. For
a set T of classes let k_T(y) be the sum of k(y) over T, for real y too; let u bring a_T moves out
of T and b_T into it. So k_T(z) = a_T - b_T.

(1) *Cuts.* If y in Z^2 has -b_T <= k_T(y) <= a_T for every T, then y = 0 or y = z: a flow within u
with the boundary k(y) exists (max-flow min-cut), and one of whole numbers, which is a part of M
without effect. So z is primitive: if z = m y, m >= 2, then y has k_T(y) = (a_T - b_T) / m.

(2) *Near the line through z.* For every T where k_T is not 0 let g be the largest whole number by
which k_T is divisible on all of Z^2, and h_T = k_T / g. *If w is real, |h_T(w)| < 1 for all these
T, 0 <= t <= 1, and y = w + t z is in Z^2, then y = 0 or y = z.* For let A and B be a_T / g and b_T
/ g, rounded down. As a_T - b_T is divisible by g, it is g (A - B). So h_T(y) < 1 + t (A - B) <= 1 +
A, and h_T(y) is whole: h_T(y) <= A, and k_T(y) <= g A <= a_T. Likewise h_T(y) > -1 + t (A - B) >=
-1 - B, so that k_T(y) >= -g B >= -b_T. Where k_T is 0, k_T(y) = 0 is between -b_T and a_T. So (1)
applies.

(3) *A form.* Let h(y) be the determinant of z and y, and let C be the set of the real w with
|h_T(w)| <= 1 for all T of (2). If h(w) > 1 for some w in C, then w / h(w) has h = 1, and all |h_T|
below 1. As z is primitive, some v in Z^2 has h(v) = 1; then v - w / h(w) is a multiple of z, and
taking whole multiples of z from v one gets it to be t z, 0 <= t < 1. By (2) v = 0 or v = z, but
h(v) = 1. So h <= 1 on C. By the duality of linear programs (0 is in C, and C is bounded, as k_T = 0
for all T only at 0) h is the sum of numbers x_T times h_T, the |x_T| adding up to 1 at the most.

(4) *Vectors.* A form on R^2 is the determinant of one vector and y. That of h is z; let that of h_T
be z_T: it is in Z^2, primitive as h_T is, and h_T(z_T) = 0. So z is the sum of the x_T z_T, and
f(k(z)) is at most the largest f(k(z_T)). As k_T is not 0, T is not empty and not all classes (K
sums to 0), and the vectors of K that sum to 0 on T are the multiples of k(z_T): a frame's. QED
"""

from __future__ import annotations

__all__ = ["of_boundaries"]


def of_boundaries(dependencies: int, most: int, *, unit: int = 1) -> int:
    """Return what a norm of irreducibles' boundaries is at the most, `most` being that of frames.

    For more dependencies than two it is less than so many times `most` (`lattice_free`); norms of
    boundaries, and `most`, are multiples of `unit`.

    >>> [of_boundaries(d, 10, unit=2) for d in (1, 2, 3)]
    [10, 10, 28]
    """
    return most if dependencies <= 2 else dependencies * most - unit
