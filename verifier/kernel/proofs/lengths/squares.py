"""A histogram beside cells and one more fact, in the norms beside l1. For kind `beside`.

N classes, one label of width w, n = N + 1; names are those of `cells`, (b), in FORMAT.md. A pair
that is no simple cycle is (1 / W) times the sum of the k l <= W flows b_j A_i + a_i B_j, and norms
(for squares, their root) add up: so its norm is at most the largest of one b A + a B. Whole labels
are w times labels in [-1, 1]: let w be 1, and for more multiply a and b.

*One value* changes by no more than a + b, and by the larger of them unless both cycles leave it, or
both enter it. a <= |A| <= N, and b. If both do, they meet: for s <= 1 the labels that are alike
cancel in T = a + b <= |A| + |B| - 1 <= N; else T <= x + y <= n - K <= N, or T <= 2 (N + 2) / 5,
which is no more (N > 1). So it is w N in linf, and in range twice that.

*Squares.* Count what leaves each class by each label, and what enters: (e - l)^2 <= e^2 + l^2.
With X = |A|, Y = |B| and sigma, how many classes both leave by one label, and how many both enter
by one, half of the squares is at most V = b^2 X + a^2 Y + a b sigma. A common class adds to T 1 at
most for those that enter, 1 for those that leave, and nothing where they do so by one label: T <= X
+ Y - sigma. Let a >= b.
*s <= 1:* X + Y <= n, X >= a, and b + sigma <= n - a: V <= a (n - a) n.
*Only h_1 >= T:* a <= x + t, b <= y - t, x + y + K <= n. V is no less with equality in all (one more
in a for one less in sigma adds 2 a Y - a b or more). Then sigma <= X + Y - T = K + m, and sigma <=
2 s <= 2 (m + 1); b = n - a - K. The first two terms are largest where R = m, Q = K, and x is as
small as can be, a - m: so V <= a b (b + sigma) + a^2 (n - a + m), in which K = m, sigma = 2 m is
best (K = m + 1 leaves b - 1 and 2 m + 1, more leaves b - 2 and 2 m + 2, b + sigma being what it
was, or less). That is a (n - m)(n - a + m), with b = n - a - m > 0.
*Two or more of them:* T <= 2 (N + 2) / 5, and V <= N T^2. *A simple cycle:* V = N.

a, n - m and n - a + m add up to 2 n, so that their product is at most (2 n / 3)^3. Whole numbers (w
= 1, b >= 1) are tried.

*How often classes exchange records*, w = 1: with V = b^2 X + a^2 Y + 2 a b s, s the common classes,
X + Y - s <= N. Let a >= b. s <= 1: V grows with s, so that it is no more than what follows. Only
h_1 >= T: a <= x + t, b <= y - t, s <= m + 1, and R + Q = N + s - x - y is given, V linear in R: let
R or Q be as small as can be, |t| or s - 1. One common class more adds one to the other rest in the
first case, and one to this rest in the second, as long as s - 1 < K = n - x - y. So s = K + 1, R =
Q = K, and V = b^2 (n - y) + a^2 (n - x) + 2 a b (K + 1), which falls with x >= a - t and y >= b +
t, both at least 1: with K = n - a - b it is at most

    F(a, b) = b^2 (n - b - t) + a^2 (n - a + t) + 2 a b (K + 1),  t the lesser of K and a - 1

(where x = 1 > a - t, less t makes y smaller; where y = 1 > b + t, more t makes x smaller). Two or
more: V <= N T^2. Besides, k l <= W; where it is less, the pair has a part k l / W <= k' / (k' + 1)
of V's root, for k l <= k' = n^2 / 4 rounded down. Where k l = W, all sums of the first of the a
less sums of the first of the b are all residues modulo W, once each, in whichever order. If two of
the a differ, by d, exchanging them as first and second leaves the sums of the b, moved by d, as
they were modulo W: so for each order of the b they are the same after a turn that is not whole, and
all b are equal. Say all b are k; no sum of some but not all of the k numbers a is divided by k: all
a have the same residue, and its multiples are all residues, so that a and b have no common divisor.

*By how many records classes change their labels*, w = 1: V = b^2 X + a^2 Y + 2 a b P, X, Y and P
the sums of |i|, |j| and i j over the classes, i = d(A) and j = d(B) there, i - j adding up to T, i
to a <= X. Say z0 classes have i = j = 0, n' have (-1, 0) or (0, 1), k' have i = j, p have (1, -1)
and q have (-1, 1): X + Y = N - z0 + k' + p + q, T = N - z0 - k' + p - 3 q - 2 n', P = k' - p - q.
Let a >= b. If p <= z0 + n' + q: for m = k' + n' + 2 q, X + Y <= N + m, T <= N - m, P <= m, so that
V <= b^2 a + a^2 (N + m - a) + 2 a b m, at most a (N - m)(N - a + m) for a >= 1, m >= 0, a + m < N.
Else p > 0. *s = 1:* p = 1 and z0 = n' = k' = q = 0, X = a, Y = b, T = N + 1: V = a b (N - 1). *Only
h_1 >= T:* over the rests i - j adds up to T - h_1 <= 0, where (1, -1) adds 2, or 1 where the rests
begin or end, -1 being added there only by what z0, n' and q count: with p' and q' of both ends, 2 p
- p' <= z0 + n' + 2 q - q', so z0 + n' + 2 <= p' - q' <= 2. Hence z0 = n' = 0, p = q + 1, q >= 1;
for m = k' + 2 q - 1, X + Y = N + m + 2, T = N - m, P <= m - 4, X >= a + 2, and V is less than the
value for a and m above by 8 a b - 2 b^2 at least. *Two or more:* no class changes by more than T,
all of them by N^2 / 2 together. N = 1 has none.

*By how many records come to each label*, w = 1: c to the larger one and l to the other, in all L or
less, and each of the two at most n^2 / 3 (kind `one-sided`). For one A, B let c >= l, else exchange
labels and cycles. Of d(A) and d(B) moves with label -1 none comes to the larger label: c <= P, P =
b (|A| - d(A)) + a (|B| - d(B)), D = b d(A) + a d(B), and c^2 + l^2 <= P^2 + D^2 for any such P that
is no less than c, P + D being what it is. *s <= 1:* d(A) = i, d(B) = b + h, |A| = 2 i + a + j, |B|
= b + h + j', 2 i + j + h + j' <= K = n - a - b; convex, so that one of these takes all of K: not
more than (a b + (a + b) K)^2 + (a b)^2, which is t = 0 below. *Only h_1 >= T:* A's rest has a label
of at most t, B_1 one of at most -(b + t), |t| <= m. For t >= 0 d(B) >= b + t: P = b (x + R) + a (y
+ Q - b - t), D = a (b + t). R and Q up to n - x - y make P larger, and so do small x and y, which
are at least 1, a - t and b + t:

   G(a, b) = (b (n - y) + a (n - x - y))^2 + (a y)^2,  x = max(1, a - t), y = b + t, t <= n - x - y;

for t < 0 it is G(b, a). For x = a - t and for x = 1, P and D are linear in t, and so the largest is
where t is 0, a - 1, or as large as can be. *Two or more:* c <= T (n - 2 T + 1) + a b (kind
`one-sided`), l <= c, 2 <= T <= 2 (N + 2) / 5. *A simple cycle:* c + l <= N. A part k l / W of the
root, and common divisors, as above.
"""

from __future__ import annotations

from fractions import Fraction
from math import floor, gcd

from ...document import Budget

TRIED = 2_000
"""Of no more classes all whole a and m are tried."""


def histogram(norm: str, count: int, width: int, budget: Budget) -> int | None:
    """Return what no pair changes a histogram by in the norm; None in l1."""
    if norm == "l1":
        return None
    if norm != "l2-squared":
        return width * count * (1 if norm == "linf" else 2)
    most = floor(Fraction(16 * width**2 * (count + 1) ** 3, 27))
    if width > 1 or count > TRIED:
        return most
    return min(most, 2 * max(_shared(count + 1, budget), count * _twice(count) ** 2, count))


def exchanged(count: int, budget: Budget) -> int:
    """Return what squares of how often each class exchanges records do not exceed, added up."""
    n = count + 1
    if count > TRIED:  # none does more than n times, nor all in more than n^2 / 2 moves
        return n * (n * n // 2)
    budget.spend(2 * n * n)
    whole = apart = 0
    for a in range(1, n):
        for b in range(1, min(a, n - a) + 1):
            free = n - a - b
            t = min(free, a - 1)
            v = b * b * (n - b - t) + a * a * (n - a + t) + 2 * a * b * (free + 1)
            whole, apart = max(whole, v), max(apart, v if gcd(a, b) == 1 else 0)
    k = n * n // 4
    return max(apart, whole * k**2 // (k + 1) ** 2, count, count * _twice(count) ** 2)


def relabelled(count: int, budget: Budget) -> int:
    """Return what squares of by how many records the classes change their labels do not exceed."""
    if count > TRIED:
        return exchanged(count, budget)
    together = _twice(count) * (count**2 // 4 * 2)
    return max(_shared(count, budget), (count - 1) * ((count + 1) ** 2 // 4), together)


def sided(count: int, moves: int, budget: Budget) -> int:
    """Return what squares of how many records come to each label do not exceed, added up."""
    n = count + 1
    most = min(moves, n * n // 3)
    corner = most**2 + min(most, moves - most) ** 2
    if count > TRIED:
        return corner
    budget.spend(3 * n * n)
    whole = apart = 0
    for a in range(1, n):
        for b in range(1, n - a + 1):
            v = max(_ends(n, a, b, t) for t in {0, min(n - a - b, a - 1), (n - 1 - b) // 2})
            whole, apart = max(whole, v), max(apart, v if gcd(a, b) == 1 else 0)
    k = n * n // 4
    two = [t * (n - 2 * t + 1) + t * t // 4 for t in range(2, _twice(count) + 1)]
    found = max(apart, whole * k**2 // (k + 1) ** 2, count**2, 2 * max(two, default=0) ** 2)
    return min(corner, found)


def _ends(n: int, a: int, b: int, t: int) -> int:
    x, y = max(1, a - t), b + t
    return 0 if n - x - y < t else (b * (n - y) + a * (n - x - y)) ** 2 + (a * y) ** 2


def _shared(n: int, budget: Budget) -> int:
    """Return the largest a (n - m)(n - a + m), a >= 1, m >= 0, a + m < n."""
    budget.spend(n * n)
    return max((a * (n - m) * (n - a + m) for a in range(1, n) for m in range(n - a)), default=0)


def _twice(count: int) -> int:
    """Return T where two segments or more have h_i >= T."""
    return 2 * (count + 2) // 5
