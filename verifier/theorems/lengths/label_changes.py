"""Cells and one more fact beside them: a query that sees classes and labels, and nothing else.

*Statement.* As in `beside`: N classes, one further fact of width 1, all other facts follow. For
each class c let z_c be by how much a pair changes the number of records of c with label 1. Then sum
|z_c| is even and at most N^2 / 2. So if the rows of f are the same for all values of one class and
label, and those of the two labels of a class differ by e at the most, S(f, P) is at most e times
the largest even number up to N^2 / 2.

Two one-way margins of 2 x c, and the table itself as the query, are of that kind: S = 2 (2 floor(c
/ 2) ceil(c / 2)) is met where it is known: 4, 8, 16, 24, 36 for c = 2, ..., 6.

*Proof.* f changes by the sum over classes of z_c times the difference of two rows. The facts keep
the records of each class and of label 1 in all, so that sum z_c = 0, and sum |z_c| is even. A pair
within a class and label has z = 0; a simple cycle changes each z_c by 1 at the most, and N is at
most N^2 / 2 unless N = 1, where z = 0. Else, with names and steps of `beside`, (iii): z is (1 / W)
times the sum of the k l <= W vectors b_j d(A_i) + a_i d(B_j), where d_c is the label that a cycle
enters a class with less that which it leaves it with, 0 where it does not pass. So it is enough
that for a single A and B, of labels a and -b, the sizes of b d(A) + a d(B) add up to N^2 / 2 at
most.

Let P be the classes where that is positive and Q the others, and write d(A, P) for the sum of
d_c(A) over P. All of it adds up to b a - a b = 0, so that the sizes add up to twice what it is over
P:

    2 (b p - a (b - q)) = 2 (p q - (p - a) (q - b)),  p = d(A, P),  q = -d(B, Q),

for d(B, P) = q - b. p is at most the number of classes of A in P, and q of those of B in Q, so that
p + q <= N. If (p - a) (q - b) >= 0, it is at most 2 p q <= N^2 / 2. Else let p > a and q < b (the
other case is this one with the labels 0 and 1 exchanged, and with them A and B, P and Q). Then it
is less than 2 p b, and it is enough that p + b <= N. As d(A, Q) = a - p < 0, some class of A is in
Q.

*A and B have s <= 1 classes in common.* p <= |A| - 1, b <= |B| and |A| + |B| <= N + 1.

*s >= 2, and only h_1 >= T.* Let u be the common class where A_1 and B_1 begin, v the one where they
end, x and y their lengths, and call the classes on the rests of A and B but u and v inner. Let i(c)
and o(c) be the labels that a cycle enters c with and leaves it with. The h of the rests add up to T
- h_1 <= 0, that is: over inner classes, the sum of d(A) less that of d(B) is at most

    (o_A - o_B)(v) + (i_B - i_A)(u).

Inner classes add to p + b what that sum is, but for d(A) in Q: at most that and n, n being how many
inner classes of A are in Q. The insides of A_1 and B_1 add at most (x - 1) + (y - 1). And with what
v itself adds, (o_A - o_B)(v) is (i_A - i_B)(v) if v is in P, and (o_A - i_B)(v) if it is in Q: 1 at
the most; u likewise, (o_B - o_A)(u) or (o_B - i_A)(u). So p + b <= x + y + n. There are n inner
classes at least, u, v, and x + y - 2 classes inside of A_1 and B_1: N is no less.

*Two segments or more have h_i >= T.* Then T <= 2 (N + 2) / 5 (labels are whole: T >= 2). A has as
many classes in Q as p is more than a, at least: 2 p <= N + a. So b p - a (b - q) <= b (N + a) / 2 -
a, which for a + b = T <= N is largest at a = 1: (T - 1) (N + 1) / 2 - 1 <= (2 N - 1) (N + 1) / 10 -
1, which is less than N^2 / 4. QED

*In squares.* If besides no output is about two classes, and e bounds the squares of what the rows
of the two labels of a class differ by, S(f, P) in l2-squared is at most e times the largest of

* (2 m + 1)(N - m)(N - m - 1), m = 0, 1, ..., (N - 1) / 2;
* (N - 1) times (N + 1)^2 / 4 rounded down;
* T N^2 / 2 (an even number, as above) for T = 2 (N + 2) / 5 rounded down.

The first is the largest from N = 4 on, so far as it was computed (N <= 60). For G complete, any
answers, and classes with both labels, it is met from N = 5 on (`two_cycles.relabelled_two`).

*Proof.* No output is about two classes, so it is sum z_c^2 that is wanted. For N = 1, z = 0; a
simple cycle has N at the most, which the first is no less than. Else, the root of the squares being
a norm, it is again enough to look at z = b d(A) + a d(B). Write i, j for d_c(A), d_c(B), X for the
sum of |i|, Y for that of |j| and P for that of i j. So V = b^2 X + a^2 Y + 2 a b P. Let a >= b;
else exchange the labels 0 and 1, and A and B. T = a + b is the sum of i - j, and X >= a, as the sum
of i is a.

Let z0 be how many classes have i = j = 0, n how many (-1, 0) or (0, 1), k how many i = j other than
0, p how many (1, -1), q how many (-1, 1). The others have (1, 0) or (0, -1). Counting,

    X + Y = N - z0 + k + p + q,    T = N - z0 - k + p - 3 q - 2 n,    P = k - p - q.

*If p <= z0 + n + q*, let m = k + n + 2 q: X + Y <= N + m, T <= N - m, P <= m. V falls with X where
X + Y is given, so that with X = a it is at most b^2 a + a^2 (N + m - a) + 2 a b m, which grows with
b: it is at most what it is for b = N - m - a,

    a (N (N - a) + m (a - m)),  a >= 1, m >= 0, a + m < N.

That is what `squares_beside` finds for squares of a histogram, with N for N + 1, and its largest
value is the first of the three. Let now p > z0 + n + q, so p > 0.

*s = 1* (no class has i j < 0 for s = 0): p = 1 and z0 = n = q = k = 0. Then all i >= 0 >= j, X = a,
Y = b, T = N + 1 and P = -1: V = a b (a + b - 2), the second.

*s >= 2, and only h_1 >= T.* u and v being as above, the h of the rests add up to T - h_1 <= 0. A
class on the rests but u and v adds i - j to them; u adds (i_A - i_B)(u) and v adds (o_B - o_A)(v).
So (1, -1) adds 2, or 1 at u or v. At u, -1 is added only if A enters by 0 and B by 1, so that i <=
0 <= j; at v likewise: the class is one of those that z0, n and q count. With p' and q' for how many
of u and v are counted by p and by q, 2 p - p' <= z0 + n + 2 q - q'. As p >= z0 + n + q + 1, z0 + n
+ 2 <= p' - q' <= 2. Hence z0 = n = 0, p' = 2 and p = q + 1, so q >= 1. Let m = k + 2 q - 1: X + Y =
N + m + 2, T = N - m, P = m - 4 q <= m - 4, and X >= a + 2, as some i is -1. So V <= b^2 (a + 2) +
a^2 (N + m - a) + 2 a b (m - 4), which is 8 a b - 2 b^2 > 0 less than the value for a and m above.

*Two segments or more have h_i >= T.* No |z_c| is more than T <= 2 (N + 2) / 5, and all of them add
up to N^2 / 2 at most. QED
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from blowproof.models import BoundQuery, Exact, Point
from blowproof.models.domain.classes import firsts
from blowproof.models.norms import L1, L2_SQUARED
from blowproof.models.stacks.stacked import Stacked, is_histogram
from blowproof.verifier.asked.question import Question
from blowproof.verifier.databases.value_classes import ClassTable
from blowproof.verifier.theorems.values.seen_values import seen_values
from blowproof.verifier.theorems.values.squares_beside import squares_beside

__all__ = ["Ends", "by_labels", "ends_of_labels", "most_label_changes", "most_label_squares"]

Ends = dict[int, tuple[Point, Point]]
"""For each class of the base that has both labels, a value of either."""


def most_label_changes(count: int) -> int:
    """Return what sum |z_c| of N classes does not exceed.

    >>> [most_label_changes(n) for n in (1, 2, 3, 4, 5, 6, 7, 10)]
    [0, 2, 4, 8, 12, 18, 24, 50]
    """
    return count * count // 4 * 2


def most_label_squares(count: int) -> int:
    """Return what sum z_c^2 of N classes does not exceed.

    >>> [most_label_squares(n) for n in (1, 2, 3, 4, 5, 6, 7, 10)]
    [0, 2, 8, 18, 36, 60, 100, 294]
    """
    return max(
        squares_beside(count - 1, 1) // 2,
        (count - 1) * ((count + 1) ** 2 // 4),
        2 * (count + 2) // 5 * most_label_changes(count),
    )


def ends_of_labels(
    question: Question,
    table: ClassTable,
    home: Sequence[int],
    labels: Sequence[int],
    end: float,
) -> Ends | None:
    """Return a value of either label for each class that has both; None where f sees more.

    `home` and `labels`: of each class of the table its class of the base, and its label.
    """
    query = question.query
    seen: Sequence[Sequence[Point]] | None = (
        firsts(table.classes, 2)
        if is_histogram(query)
        else seen_values(question.setting, query, table, end=end)
    )
    if seen is None:
        return None
    ends: dict[tuple[int, int], Point] = {}
    for place, label, values in zip(home, labels, seen, strict=True):
        first = ends.setdefault((place, label), values[0])
        if any(_apart(query, first, x) for x in values if x != first):
            return None
    return {
        place: (ends[place, 0], x)
        for (place, label), x in ends.items()
        if label and (place, 0) in ends
    }


def by_labels(query: BoundQuery, ends: Ends, count: int) -> Exact | None:
    """Return the bound on S(f, P) beside so many classes; None in other norms, and where, in
    squares, an output is about two classes.
    """
    squared = query.measure is L2_SQUARED and isinstance(query, Stacked)
    if query.measure is not L1 and not squared:
        return None
    both = list(ends.values())
    largest: Exact = max((_apart(query, *pair) for pair in both), default=0)
    if not squared:
        return largest * most_label_changes(count)
    return largest * most_label_squares(count) if _one_class_each(query, both) else None


def _one_class_each(query: BoundQuery, both: Sequence[tuple[Point, Point]]) -> bool:
    """Whether no output changes in two of these, a value of each label for every class."""
    assert isinstance(query, Stacked)
    met: set[Hashable] = set()
    for x, y in both:
        before, after = query.row(x), query.row(y)
        changed = {k for k in {*before, *after} if before.get(k, 0) != after.get(k, 0)}
        if met & changed:
            return False
        met |= changed
    return True


def _apart(query: BoundQuery, x: Point, y: Point) -> Exact:
    return query.norm({x: -1, y: 1})
