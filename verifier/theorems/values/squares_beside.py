"""Cells, and one more fact beside them: squares of what a histogram and what each cell exchanges.

*Statement.* As in `beside`: N classes of independent signatures, one further fact of width w, and
all other facts follow. Then S(h, P), the histogram in l2-squared, is at most 2 w^2 8 / 27 (N + 1)^3
and for w = 1 at most twice the largest (2 m + 1)(N - m)(N - m + 1), m = 0, 1, ..., N / 2. For G
complete, any answers, and classes with both labels, each of two values or more, some pair changes
so much (`two_cycles`, sharing a path of moves of label 1).

No value's count changes by more than w N, so that in linf and range S is at most w N and 2 w N.

*Proof.* With names and steps of `beside`, n = N + 1, and flows of cycles as vectors: by (iii) a
pair that is no simple cycle is (1 / W) times the sum of the k l <= W vectors b_j A_i + a_i B_j, and
the root of the squares is a norm. So it is largest for a single A, B: squares of b A + a B, where
whole labels are w times those in [-1, 1]. Let X = |A|, Y = |B|, and count by which class and label
records leave, and by which they enter: no value's change is larger than what leaves or enters. Let
sigma be how many classes A and B both leave by one label, and how many both enter by one. Then

    V = b^2 X + a^2 Y + a b sigma

is half of the sum of squares. A class of both cycles adds to T = a + b as much as (entered by A) -
(entered by B) + (left by B) - (left by A), each of them a label: 1 for the two that enter, and 1
for the two that leave, and nothing where they do so by one label. Others add at most 1. So T <= X
+ Y - sigma.

Let a >= b; else exchange the cycles. *s <= 1:* X + Y <= n and X >= a, so that V <= b^2 a +
a^2 (n - a) + a b sigma, b <= n - a - sigma, which is at most a n (n - a). *Only h_1 >= T:* x, y, R,
Q, K, m, t as there: a = x + t, b = y - t, for V grows with a and b, T <= X + Y - sigma being kept
(2 a Y >= a b). sigma <= 2 s <= 2 (m + 1), and sigma <= R + Q = K + m. b = n - a - K. If R = m and
Q = K: V = b^2 (x + m) + a^2 (n - x) + a b sigma falls with x >= a - m, so V <= b^2 a + a^2 (n - a +
m) + a b sigma; one more in K takes a (b + sigma) off, or more. So K = m, sigma = 2 m:

    V <= a (n (n - a) + m (a - m)),  b = n - a - m > 0.

If R = K, Q = m, it is the same and (K - m)(b^2 - a^2) more. For w > 1, the largest value is at a =
2 n / 3, m = n / 3: 8 n^3 / 27. For w = 1, b >= 1: it does not fall with m up to (a + 1) / 2, nor,
at m = a / 2 rounded down, with a as long as b >= 1 after it; so it is largest where b = 1, a = N -
m, and is what the statement says. (s <= 1 is m = 0.) *Two or more segments:* T <= 2 (N + 2) / 5,
and V <= N T^2, for X, Y <= N and sigma <= 2 N. A simple cycle has V = N. Both are less.

*One value* changes by a + b at most, and by the larger of them where not both cycles leave (or
enter) it. a <= X <= N, and b too. If both leave by it, sigma >= 1, and for s <= 1 T <= X + Y - 1 <=
N; else T = x + y <= n - K <= N, or T <= 2 (N + 2) / 5, which is no more (N = 1 has s <= 1). QED

*Where cells do not mind one another.* Let w = 1, and let n_c be how often records of class c are
exchanged. If each output is about values of one class only, and two rows of a class differ by no
more than e in squares, then S <= sum n_c^2 e <= e E, where E is the largest of

* F(a, b) = b^2 (n - b - t) + a^2 (n - a + t) + 2 a b (K + 1), K = n - a - b >= 0, t the smaller of
  K and a - 1, over a >= b >= 1 without a common divisor;
* (k / (k + 1))^2 F(a, b) over all a >= b >= 1 with a + b <= n, where k = n^2 / 4 rounded down;
* N, and N T^2 for T = 2 (N + 2) / 5 rounded down

(and E no more than n n^2 / 2: none is exchanged more than n times, nor all in more moves).

The first is met where t = K: two cycles share a path of K moves of label 1, of label a and -b in
all (`two_cycles`), if all records of a class leave with one row and come with another.

*Proof.* n is b A + a B in the classes, and the root of its squares a norm: for one A, B its squares
are V = b^2 X + a^2 Y + 2 a b s, with X + Y - s <= N. Let a >= b. *s <= 1:* V grows with s, and, as
a <= X and b <= Y, no less is b^2 a + a^2 (n - a) + 2 a b, which is at most F(a, b) (t <= K). *Only
h_1 >= T:* a <= x + t, b <= y - t, |t| <= m, and s <= m + 1, since all common classes are on both
rests; R + Q = N + s - x - y. For given x, y, t and R + Q, V is linear in R, so let R or Q be as
small as can be, the larger of |t| and s - 1. If that is |t|, one more common class adds one to the
other rest; if it is s - 1 < K = n - x - y, it adds one to this rest. So s = K + 1 and R = Q = K are
no less, and

    V <= b^2 (n - y) + a^2 (n - x) + 2 a b (n - x - y + 1),

which falls with x and y, that are at least a - t, b + t and 1. If both are these, x + y = a + b,
and a >= b asks for the largest t that leaves x >= 1: F(a, b). Where x = 1 > a - t, less t makes y
smaller; where y = 1 > b + t, more t makes x smaller. *Two or more segments:* V <= N T^2, for X, Y,
s <= N. A simple cycle has N.

*Common divisors.* By (iii) n is (1 / W) times a sum of k l <= W such vectors, k + l <= a + b <= n
for some of its labels, so that k l is at most what k is in the statement. If k l < W, k l / W is at
most k / (k + 1). Let k l = W: the sums P_i of the first a, less the sums Q_j of the first b, are
all residues modulo W, once each, in whichever orders. Let two of the a differ by d, and exchange
them, as the first and second: all P but one stay, so that Q + d = Q modulo W. Hence the b, round a
circle of sum W, come back to themselves by a turn that is none of all of W; and so in every order.
In the order where equal ones stand together only b that are all equal do. So all a are equal, or
all b. Let all b = k' (the other case is the same): W = l k' = k l, k' = k. No part of the k numbers
a but all and none has a sum that k divides, else it and some of the b were a part of sum 0; so sums
of the first 1, ..., k - 1 are all residues but 0, whichever stands first: all a have the same
residue, and its multiples are all residues. So no a has a common divisor with k: all F(a_i, b_j)
are of the first kind. QED

*Where labels do not mind one another.* Let w = 1, and let a pair make L moves at the most. If each
output is about values of one label only, and two rows of a label differ by no more than e in
squares, then S <= e E, where E is at most t^2 + (L - t)^2, t the smaller of L and (N + 1)^2 / 3
rounded down, and at most the largest of

* G(a, b) = (b (n - y) + a (n - x - y))^2 + (a y)^2, x = max(1, a - t), y = b + t, n - x - y >= t,
  for t = 0, 1, ..., over a, b >= 1 without a common divisor, a + b <= n;
* (k / (k + 1))^2 G(a, b) over all a, b >= 1 with a + b <= n, where k = n^2 / 4 rounded down;
* N^2, and 2 (T (N - 2 T + 2) + T^2 / 4)^2 over whole T from 2 to 2 (N + 2) / 5.

G(a, b) with t = 0 is met by two cycles that share a path of label 0 (`two_cycles.sided_two`), for G
complete, any answers and classes with both labels, if all records of a label leave with one row and
come with another.

*Proof.* Say c records come to label 1 and l to label 0. The fact is kept: as many leave each label
as come to it. So f changes by the sum of c differences of two rows of label 1 and l of label 0,
which no output has in common: by at most e (c^2 + l^2). A move to label 1 has label 0 or 1, so that
c is at most t (`one_sided`), and by exchanging the labels l is too; c + l <= L, and a sum of
squares is largest at a corner. That is the first bound.

(c, l) is b A + a B in these numbers, and the root of its squares a norm: look at one A, B, and let
c >= l; else exchange the labels 0 and 1, and A and B. Let d be how many moves of a cycle have label
-1. They come to label 0, so that c <= b (|A| - d(A)) + a (|B| - d(B)). Where that is P or less, and
D is b |A| + a |B| - P, c^2 + l^2 <= P^2 + D^2, for c is no less than half of P + D.

*s <= 1:* let A have i moves of label -1, so i + a others at least, and B b of these at least: i
twice, j more others of A, j' of B and h more of label -1 in B are K = n - a - b at the most. With P
= b (a + i + j) + a j' and D = b i + a (b + h), the sum of squares is convex, so no more than where
one of them takes all of K: 2 (a b + b K / 2)^2, or (a b)^2 and the square of a b + a K, or of a b +
b K. G for t = 0 is (a b + (a + b) K)^2 + (a b)^2, which is no less than any of these.

*Only h_1 >= T:* x, y, R, Q, r <= r', t, K as in `one_sided`. Let t >= 0: d(B) >= b + t, so P = b (x
+ R) + a (y + Q - b - t), D = a (b + t). P grows with R and Q: both K = n - x - y >= t. Then it
falls with x and y, that are at least 1, a - t and b + t. That is G(a, b). For t < 0, d(A) >= -t and
d(B) >= b, which is the same with a, x, R and b, y, Q exchanged: G(b, a).

*Two segments or more:* c <= T (N - 2 T + 2) + a b, as in `one_sided`, and l <= c. A simple cycle
has c + l <= N. Common divisors are as above, for (c, l) in the place of n. QED"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from math import floor, gcd

from blowproof.verifier.limits.limit import whole_limit

__all__ = [
    "exchanged_squares",
    "labels_of_most",
    "longest_shared",
    "squares_beside",
    "squares_of_sides",
    "value_beside",
]

MOST_CELLS = whole_limit(__name__, "MOST_CELLS")


def value_beside(count: int, width: int) -> int:
    """Return what no value's count changes by more than: N classes, one fact beside.

    >>> value_beside(8, 1)
    8
    """
    return width * count


def squares_beside(count: int, width: int) -> int:
    """Return what the squares of a histogram's change do not exceed: N classes, one fact beside.

    >>> [squares_beside(n, 1) for n in (1, 2, 3, 4, 10, 16)]
    [4, 12, 36, 72, 784, 2904]
    """
    if width > 1:
        return floor(Fraction(16 * width**2 * (count + 1) ** 3, 27))
    return 2 * _half(count, longest_shared(count))


def longest_shared(count: int) -> int:
    """Return the m for which it is largest: how many moves the two cycles have in common."""
    middle = count // 3
    return max(range(max(0, middle - 2), min(count // 2, middle + 2) + 1),
               key=lambda m: _half(count, m))  # fmt: skip


def _half(count: int, shared: int) -> int:
    return (2 * shared + 1) * (count - shared) * (count - shared + 1)


@lru_cache(maxsize=64)
def exchanged_squares(count: int) -> int:
    """Return what squares of how often each of N classes exchanges records do not exceed, added up
    (E of the statement).

    >>> [exchanged_squares(n) for n in (1, 2, 3, 4, 10)]
    [4, 10, 22, 42, 406]
    """
    if (
        count > MOST_CELLS
    ):  # none is exchanged more than N + 1 times, nor all in (N + 1)^2 / 2 moves
        return (count + 1) * ((count + 1) ** 2 // 2)
    whole = count + 1
    pairs = whole * whole // 4
    apart = max(_exchanged(whole, *labels) for labels in _labels(count))
    most = max(
        _exchanged(whole, a, b) for a in range(1, whole) for b in range(1, min(a, whole - a) + 1)
    )
    return max(
        apart, most * pairs**2 // (pairs + 1) ** 2, count, count * (2 * (count + 2) // 5) ** 2
    )


def squares_of_sides(count: int, moves: int) -> int:
    """Return what squares of how many records leave each of two labels do not exceed, added up,
    where there are N classes and so many moves (E of the statement).

    >>> squares_of_sides(2, 4), squares_of_sides(3, 8), squares_of_sides(51, 1352)
    (10, 32, 935041)
    """
    most = min(moves, (count + 1) ** 2 // 3)
    rest = min(most, moves - most)
    corner = most * most + rest * rest
    return corner if count > MOST_CELLS else min(corner, _sides(count))


@lru_cache(maxsize=64)
def _sides(count: int) -> int:
    whole = count + 1
    pairs = whole * whole // 4
    apart = most = 0
    for a in range(1, whole):
        for b in range(1, whole - a + 1):
            found = _sided(whole, a, b)
            most = max(most, found)
            if gcd(a, b) == 1:
                apart = max(apart, found)
    several = [t * (count - 2 * t + 2) + t * t // 4 for t in range(2, 2 * (count + 2) // 5 + 1)]
    return max(
        apart, most * pairs**2 // (pairs + 1) ** 2, count * count, *(2 * c * c for c in several)
    )


def _sided(whole: int, a: int, b: int) -> int:
    """Return G(a, b), `whole` being N + 1."""
    best = 0
    for t in range(whole):
        x, y = max(1, a - t), b + t
        if whole - x - y < t:
            break
        best = max(best, (b * (whole - y) + a * (whole - x - y)) ** 2 + (a * y) ** 2)
    return best


@lru_cache(maxsize=64)
def labels_of_most(count: int) -> tuple[int, int]:
    """Return the labels a, b of the two cycles that exchange most, among those with t = K.

    >>> [labels_of_most(n) for n in (1, 2, 3, 4, 10)]
    [(1, 1), (2, 1), (2, 1), (3, 1), (7, 1)]
    """
    fitting = ((a, b) for a, b in _labels(count) if count + 1 - a - b <= a - 1)
    return max(fitting, key=lambda labels: _exchanged(count + 1, *labels))


def _labels(count: int) -> list[tuple[int, int]]:
    """Return labels a >= b that have no common divisor, a + b <= N + 1."""
    tops = range(1, count + 1)
    return [(a, b) for a in tops for b in range(1, min(a, count + 1 - a) + 1) if gcd(a, b) == 1]


def _exchanged(whole: int, a: int, b: int) -> int:
    """Return F(a, b), `whole` being N + 1."""
    shared = whole - a - b
    t = min(shared, a - 1)
    return b * b * (whole - b - t) + a * a * (whole - a + t) + 2 * a * b * (shared + 1)
