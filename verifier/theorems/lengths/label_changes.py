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
"""

from __future__ import annotations

from collections.abc import Sequence

from blowproof.models import BoundQuery, Exact, Point
from blowproof.models.domain.classes import firsts
from blowproof.models.norms import L1
from blowproof.models.stacks.stacked import is_histogram
from blowproof.verifier.asked.question import Question
from blowproof.verifier.databases.value_classes import ClassTable
from blowproof.verifier.theorems.values.seen_values import seen_values

__all__ = ["by_labels", "most_label_changes"]


def most_label_changes(count: int) -> int:
    """Return what sum |z_c| of N classes does not exceed.

    >>> [most_label_changes(n) for n in (1, 2, 3, 4, 5, 6, 7, 10)]
    [0, 2, 4, 8, 12, 18, 24, 50]
    """
    return count * count // 4 * 2


def by_labels(
    question: Question,
    table: ClassTable,
    home: Sequence[int],
    labels: Sequence[int],
    end: float,
) -> Exact | None:
    """Return the bound on S(f, P); None where f sees more than classes and labels.

    `home` and `labels`: of each class of the table its class of the base, and its label.
    """
    query = question.query
    if query.measure is not L1:
        return None
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
    largest: Exact = 0
    for (place, label), x in ends.items():
        if label and (place, 0) in ends:
            largest = max(largest, _apart(query, ends[place, 0], x))
    return largest * most_label_changes(1 + max(home))


def _apart(query: BoundQuery, x: Point, y: Point) -> Exact:
    return query.norm({x: -1, y: 1})
