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
"""

from __future__ import annotations

from fractions import Fraction
from math import floor

from ...document import Budget

TRIED = 2_000
"""Of no more classes all whole a and m are tried."""


def histogram(norm: str, count: int, width: int, budget: Budget) -> int | None:
    """Return what no pair changes a histogram by in the norm; None in l1."""
    if norm == "l1":
        return None
    if norm != "l2-squared":
        return width * count * (1 if norm == "linf" else 2)
    n, most = count + 1, floor(Fraction(16 * width**2 * (count + 1) ** 3, 27))
    if width > 1 or count > TRIED:
        return most
    budget.spend(count**2)
    shared = max(a * (n - m) * (n - a + m) for a in range(1, n) for m in range(n - a))
    several = count * (2 * (count + 2) // 5) ** 2
    return min(most, 2 * max(shared, several, count))
