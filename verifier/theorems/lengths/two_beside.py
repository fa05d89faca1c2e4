"""Cells and two facts beside them: how many moves, by cycles in the plane.

*Statement.* Let the N classes and labels be those of `beside`, with two further facts, so that a
label is a point of the plane. Let q be a positive definite quadratic form of whole numbers, |x| the
root of q(x), det its determinant; r_c the largest |x| of a difference x of two labels in class c, R
the sum of all r_c, r the largest of them. If q is a sum of terms t_j f_j(x)^2, f_j linear and t_j >
0, let R_j, r_j be the same with |f_j(x)| in place of |x|. Put

    D = min(R + r, root of (sum of t_j (R_j + r_j)^2)),

and let E be at least b |A| + a |B| for all numbers a, b, |A| and |B| that (ii) allows. Put K = 2 N
+ root of 8, and Y = 2 root((R + 2 r)^2 + 4 r^2) + r root of 8. For 0 <= H <= D let T_H be the
lesser of D and (Y^2 - 4 H^2) / (2 Y), l_H the lesser of N and K - 2 H / r, and F_H the largest y
min(r l_H + T_H - r y, r K - 2 r y) for 0 <= y <= l_H and y <= T_H / r; none where T_H or l_H is
below 0. Let J be the largest H F_H, and J' the largest H T_H. Then a pair makes at most max(N, E, 2
min(D E, J) / root of det) moves, in at most max(1, D, 2 min(D^2, J') / root of det) simple cycles.

*Proof.* Let M be an irreducible multiset and no simple cycle. Cut it into simple cycles, as many as
possible, and among these cuts take one with the least sum of q(v), v being the cycles' labels. None
is 0, since that cycle would be M, and none of their sums is but that of all, which is M.

(i) *Two labels are no more than D apart.* Let A and B be two of the cycles, with labels v and w, T
= v - w. As in `beside` (i) they meet their s common classes in the same cyclic order, and these cut
them into segments, whose labels differ by h_i, sum h_i = T. For a set I of segments let h(I) be the
sum of its h_i. Exchanging the segments in I leaves as many simple cycles, with labels v - h(I) and
w + h(I), so that q(v - h(I)) + q(w + h(I)) is no less than q(v) + q(w): in the inner product of q,
h(I) and T - h(I) have a product <= 0. The mean of these products over all sets I is (q(T) - sum
q(h_i)) / 4. Hence q(T) <= sum q(h_i). (With s < 2 there is one segment or none, and it is plain if
h_1 stands for T.)

A cycle enters a class with one label and leaves it with another one. So h_i is a sum of differences
of labels of one class: one in each class inside of the segments, and one in each common class at
their two ends (in one of them what A and B bring, in the other what they take). So |h_i| <= g_i =
p_i + p_(i+1) + m_i, p_i being the r_c of the i-th common class, and m_i the sum of r_c inside. (If
s < 2, |T| <= R + r at once.) The sum of g_i^2 is convex in the m_i, whose sum is m <= R - p, p =
sum p_i; so it is largest where one of them is m: at most sum (p_i + p_(i+1))^2 + 2 m (p_1 + p_2) +
m^2. The first sum is at most 4 sum p_i^2 <= 4 r p <= (p + r)^2, and p_1 + p_2 <= p: all together at
most (m + p + r)^2 <= (R + r)^2. With f_j in place of the norm: sum of f_j(h_i)^2 <= (R_j + r_j)^2,
and q(T) <= sum over j of t_j times that.

*The two longest h_i.* Signs can be chosen so that the square of the sum of all +- h_i is no more
than q of the two longest together: among the numbers x_i from -1 to 1 with sum x_i h_i = 0 there is
a corner, where all but two are 1 or -1; let these two be 1 or -1 at random, with x_i on average.
The sum is that of two vectors then, with mean 0, and its square is (1 - x_i^2) q(h_i) for both on
average. With + where i is not in I it is T - 2 h(I), of a square q(T) - 4 (a product <= 0). So q(T)
<= q of the two longest h_i.

(ii) *Lengths.* Let u be a unit vector, v u = a > 0 and w u = -b < 0 (products are those of q). Then
a <= |v|, which is at most the sum of the |A| largest r_c; the same for b and |B|; and a + b <= |T|,
which is at most D, and at most both these sums together. And |h_i| <= r l_i, l_i >= 2 being the
number of arcs of the segments: they add up to l = |A| + |B|, and |A| + |B| - s <= N. So |T| <= r l
if l <= N + 1. Else s >= l - N, two l_i add up to l - 2 (s - 2) at the most, and q(T) <= r^2 ((l - 2
(s - 1))^2 + 4) <= r^2 ((2 N + 2 - l)^2 + 4). As root(z^2 + 4) - z <= root of 8 - 2 for z >= 2, in
all cases

    |A| + |B| + |T| / r <= K.

*Three cycles* have |v - w| + |v - x| + |w - x| <= Y: let m be the sum of r_c over classes on one of
A and B alone. Then |T| <= root((m + 2 r)^2 + 4 r^2), as |h_i| <= 2 r + m_i. That is convex in m, no
m is above R, and three of them add up to 2 R at the most, since a class is on one alone for two
pairs or for none. So the sum is largest at R, R and 0. (If two of the cycles are the same, it is
twice a |T|.)

(iii) *Two sides.* Among the sums of some of the labels let V have the largest |V|, and let u be its
direction. It is the sum of a set P of labels; one with a product with u that is not negative and
not in P, or is not positive and in P, would make |V| larger if it were put in or left out. So P are
the k cycles with a product > 0, and the l others, Q, have products < 0 and the sum -V. Put P and Q
into any order; P_i is the sum of the first i of P, Q_j that of the first j of Q. *The k l vectors
P_i + Q_j, i < k, j < l, differ modulo whole multiples of V.* Let the difference of two be t V, and
let the one with the larger i, or the same, come first. If its j is no smaller, tV is a sum over a
part of P, not all of it, and a part of Q, not all of it; its product with u lies strictly between -
|V| and |V|, so that t = 0: a sum of some labels is 0, of none then. If its j is smaller, then with
the part of Q by which it is, exchanged for the rest of Q, a sum over a part of P, not all of it,
and a part of Q, neither empty nor all of it, is (t - 1) V. Again it is 0, which is impossible.

Let V be g times a vector e with coordinates that have no common divisor. x -> det(e, x) takes whole
numbers, and of each value there are g vectors modulo V. *k l <= g max(1, 2 h), where h is the
largest |det(e, x)| of a label x.* Its sum over P is 0, and over Q. Let P have values x_1, ..., x_n
> 0 and -y_1, ..., -y_m < 0, X = sum x_i = sum y_j. Put the x_i one after the other round a circle
of X places, and the y_j round another one, turned against it by one of X numbers. Go round: where
the sum so far is 0 or less, a positive value is next, else a negative one. The sums that are met
are, for each y_j, how far its end is from the next end of an x_i (> 0), and for each x_i minus how
far its end is from the next end of a y_j, or from one at the same place (<= 0). So in all X turns
together a sum z > 0 is met as often as pairs have x_i >= z, and z <= 0 as often as they have y_j >=
1 - z: in one turn, on average, m #(x_i >= z) / X and n #(y_j >= 1 - z) / X times. If there are
labels of value 0, let them be put, all at one place, where one of the n + m sums at random is met:
all numbers grow k / (n + m) times. The same for Q, with x', y', n', m', X', turned by itself, and
one way round or the other, which changes the sign of its sums. Now count, on average, pairs of i
and j with the sum 1, for the one way, and with the sum 0 for the other. Together they are, c being
k l / ((n + m) (n' + m') X X'), c times the sum over all x, x', y and y' of

    m m' min(x, x') + n n' min(y, y') + m n' min(x, y') + n m' min(y, x'),

where sums are over the two that are named. min(x, x') >= x x' / h makes this k l / h at least; but
either number is g at most. If all values of P are 0 (or of Q), so are its sums, and those of Q are
1, on average, l n' m' / ((n' + m') X') times, l / (2 h) at least, as X' <= h min(n', m'); if all
values are 0, k l <= g.

So, as in `beside` (iii), the a and the b both adding up to |V| = g |e|, with means that are written
a', b', A' and B', and T' = a' + b',

    |M| = (1 / |V|) sum over P and Q of (b |A| + a |B|) = (k l / |V|) (b' A' + a' B').

det(e, x) is |e| times the part of x orthogonal to u, over the root of det. Let H be the largest
such part, of a cycle C. (k l <= g: then |M| is at most E, as |e| >= 1, for q(e) is a whole number.)
Else |M| <= (2 H / root of det) (b' A' + a' B'). H <= D, since some label on the side of C has its
orthogonal part 0 or on the other side. That is 2 D E / root of det at the most. Besides, let x_A be
how far A is from the line along u, towards C; the mean of x_A is 0, over P and over Q. (ii) for A
and C says that |A| + |C| + (H - x_A) / r <= K, and |C| >= H / r, so that A' <= l_H, and B' <= l_H.
(ii) for A and B says that A' + B' + T' / r <= K. And three cycles, A, B and C, say that t +
root(t^2 + (2 H - x_A - x_B)^2) <= Y, where t = a + b; the left-hand side is convex, so that T' +
root(T'^2 + 4 H^2) <= Y and T' <= T_H. Let A' >= B' (else exchange P and Q), and y be the lesser of
B' and T' / r. b' <= r y, and

    b' A' + a' B' <= r y A' + (T' - r y) B' <= y (r A' + T' - r y),

as B' = y, or T' = r y. A' <= l_H, and A' <= K - T' / r - y: it is F_H at the most. With 1 in place
of |A| and |B| it is the number of cycles, 2 H T' / root of det. QED.

*Loops.* Let there be moves within classes with some other labels, which are cycles by themselves
(slack, see `beside_bounds`). They share one class at most with another cycle, so that the exchange
in (i) says nothing of them, and all else holds if D >= R + r and r is no smaller than their |x|,
and each r_j no smaller than their |f_j(x)|. So it is enough to give one class two labels so far
apart.

Two facts of 0/1 with all four labels in each class have about 1.25 (N + 2)^3; circuits that are
known have (N + 2)^3 / 4, nearly: two paths there and two back between two classes, with labels (1,
1) all along the one and (-1, -1) the other, (1, -1) and (-1, 1) back, but for one move (42, 498,
1,368 and 2,530 moves for N = 4, 11, 16 and 20). Sums of cycles that stay in a box (`beside`, all at
once) have 16 N^3. A margin of three labels has 0.7 (N + 2)^3, and circuits of (N + 2)^3 / 8.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from itertools import accumulate, product
from math import isqrt

from blowproof.verifier.limits.limit import whole_limit

__all__ = ["forms_of", "longest_with_two"]

MOST_LABELS = whole_limit(__name__, "MOST_LABELS")
LENGTHS = whole_limit(__name__, "LENGTHS")
FAR = whole_limit(__name__, "FAR")
FINEST = whole_limit(__name__, "FINEST")

Label = tuple[int, int]
Form = tuple[tuple[int, Label], ...]
"""A quadratic form: squares of linear functions, each with its factor."""


def longest_with_two(classes: Collection[tuple[Collection[Label], int]]) -> tuple[int, int]:
    """Return how many moves a pair makes at the most, and how many cycles.

    `classes`: labels, and how many classes have these.

    >>> longest_with_two([([(0, 0), (0, 1), (1, 0), (1, 1)], 24)])
    (20640, 1169)
    """
    apart = [(_differences(labels), times) for labels, times in classes]
    found = [_by_form(form, apart) for form in _forms(apart)]
    return min(moves for moves, _ in found), min(cycles for _, cycles in found)


def forms_of(classes: Collection[tuple[Collection[Label], int]]) -> list[Form]:
    """Return the forms that are tried: the certificate of a bound names the best of them."""
    return list(_forms([(_differences(labels), times) for labels, times in classes]))


def _differences(labels: Collection[Label]) -> list[Label]:
    """Return differences of labels; of corners of a box round them, where there are many."""
    if len(labels) > MOST_LABELS:
        first, second = zip(*labels, strict=True)
        labels = list(product((min(first), max(first)), (min(second), max(second))))
    return list({(x - v, y - w) for x, y in labels for v, w in labels})


def _forms(apart: Sequence[tuple[list[Label], int]]) -> Iterator[Form]:
    """Yield forms that are tried: for labels as they are, and scaled to reach equally far."""
    reach = [sum(times * max(abs(d[k]) for d in each) for each, times in apart) for k in (0, 1)]
    for x, y in {(1, 1), (max(1, reach[1]), max(1, reach[0]))}:
        functions = ((x, 0), (0, y), (x, -y), (x, y))
        for factors in ((1, 1, 0, 0), (1, 1, 1, 0), (1, 1, 0, 1), (2, 2, 1, 0), (2, 2, 0, 1)):
            yield tuple((t, f) for t, f in zip(factors, functions, strict=True) if t)


def _by_form(form: Form, apart: Sequence[tuple[list[Label], int]]) -> tuple[int, int]:
    """Return the two bounds of the theorem. Lengths are in parts of FINEST, and rounded up."""
    radii: list[int] = []
    totals, largest = [0] * len(form), [0] * len(form)
    for each, times in apart:
        sizes = [[abs(f[0] * x + f[1] * y) for x, y in each] for _, f in form]
        squares = [
            sum(t * size**2 for (t, _), size in zip(form, one, strict=True))
            for one in zip(*sizes, strict=True)
        ]
        radii += [_root(max(squares) * FINEST**2)] * times
        totals = [total + times * max(size) for total, size in zip(totals, sizes, strict=True)]
        largest = [max(most, *size) for most, size in zip(largest, sizes, strict=True)]
    radii.sort(reverse=True)
    reach = sum(radii)
    within = sum(
        t * (total + most) ** 2 for (t, _), total, most in zip(form, totals, largest, strict=True)
    )
    most_apart = min(reach + radii[0], _root(within * FINEST**2))
    both = _both_lengths(radii, most_apart)
    # The determinant of a sum of t f f' in the plane.
    size = sum(
        s * t * (f[0] * g[1] - f[1] * g[0]) ** 2
        for k, (s, f) in enumerate(form)
        for t, g in form[:k]
    )
    area = isqrt(size * FINEST**2)
    far, wide = _with_one_far(len(radii), reach, radii[0], most_apart)
    far, wide = min(far, most_apart * both), min(wide, most_apart**2)
    moves = max(len(radii), both // FINEST, 2 * far // (FINEST * area))
    cycles = max(1, most_apart // FINEST, 2 * wide // (FINEST * area))
    return moves, cycles


def _with_one_far(count: int, total: int, radius: int, most_apart: int) -> tuple[int, int]:
    """Return J and J' of the statement, all lengths in parts of FINEST; H in so many steps."""
    if not radius:
        return 0, 0
    lengths = 2 * count * FINEST + _root(8 * FINEST**2)
    around = 2 * _root((total + 2 * radius) ** 2 + 4 * radius**2) + _root(8 * radius**2)
    top = min(most_apart, around // 2 + 1)
    best = widest = 0
    for step in range(FAR):
        low, high = step * top // FAR, -(-(step + 1) * top // FAR)
        longest = min(count * FINEST, lengths - 2 * low * FINEST // radius)
        apart = min(most_apart, (around**2 - 4 * low**2) // (2 * around) + 1)
        if longest <= 0 or apart <= 0:
            break
        across = -(-apart * FINEST // radius)
        # f <= y min(r (longest + across - y), r (lengths - 2 y)): concave in y, the ends meet
        meet = max(0, lengths - longest - across)
        y = lengths // 4 if lengths // 4 >= meet else min((longest + across) // 2, meet)
        y = min(y, longest, across)
        rest = min(longest + across - y, lengths - 2 * y)
        widest = max(widest, high * apart)
        best = max(best, high * ((y + 2) * (rest + 4) * radius // FINEST**2 + 1))
    return best, widest


def _both_lengths(radii: Sequence[int], most_apart: int) -> int:
    """Return the largest b |A| + a |B|, lengths in as many steps as the limit allows.

    A step stands for all lengths in it: as arcs for the longest, as bounds on labels for the best.
    """
    count = len(radii)
    tops = [0, *accumulate(radii)]
    every = -(-count // LENGTHS)
    steps = [(low, min(count, low + every - 1)) for low in range(1, count + 1, every)]
    best = 0
    for number, (least, most) in enumerate(steps):
        for low, high in steps[: number + 1]:
            together = min(max(count + 1, least + low), most + high)
            square = together**2 if together <= count + 1 else (2 * count + 2 - together) ** 2 + 4
            total = min(most_apart, _root(square * radii[0] ** 2), tops[most] + tops[high])
            shorter = min(tops[high], total)
            best = max(best, shorter * most + min(tops[most], total - shorter) * high)
    return best


def _root(square: int) -> int:
    """Return the root, rounded up."""
    return isqrt(square - 1) + 1 if square else 0
