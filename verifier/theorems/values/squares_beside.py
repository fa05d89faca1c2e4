"""Cells, and one more fact beside them: the sum of squares of a histogram's change.

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
"""

from __future__ import annotations

from fractions import Fraction
from math import floor

__all__ = ["longest_shared", "squares_beside", "value_beside"]


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
