"""Cells and one more fact beside them: how many records with one label change at the most.

*Statement.* As in `beside`, with one further fact of width 1, and L the most moves that a pair
makes. No more than t = (N + 1)^2 / 3 rounded down leave label 1, and no more leave label 0. So if
two values of label l, of whichever classes, have rows that differ by D_l at the most in a norm
(which is no square), and D is the larger of D_0 and D_1 and d the smaller, S(f, P) is at most t D +
(L - t) d where L > t, else L D.

*Proof.* A move to label 1 has label 0 or 1, so that they are t at the most (`one_sided`: its proof
bounds |M|', the moves with these labels). By exchanging the labels the same is true of label 0. The
fact is kept, so as many records leave a label as come to it: say c leave label 1, and c come; l
leave label 0, and l come. In whichever way they are put together, f changes by the sum of c
differences of two rows of label 1 and l of two rows of label 0: at most c D_1 + l D_0, c <= t, l <=
t, c + l <= L. QED

So a sum of ages beside published cells and the number of minors: 82 of 100 ages are of one label,
18 of the other, and moves of all records from one end to the other are made by no more than two
thirds of those that a pair makes. Cycles that share a path of label 0 come near (`two_cycles`).

*A bound in the place of the fact.* Let the moves be irreducible with the slack of one row of width
1 (`beside_bounds`), and let any two rows of f differ by C at the most. Then S(f, P) is at most the
largest of z D + p max(D + d, C) over numbers with z + p <= t and z + 2 p <= L.

*Proof.* Slack moves are arcs as others, so that they count in both, t and L. Let z moves have label
0, u label 1 and v label -1, and say u >= v (else exchange the labels): u - v slack moves of label
-1 close the row. So z + u <= t and z + 2 u <= L. As many records leave label 1 as come to it, but
for u - v more that come, and label 0 those more that leave it: f changes by z differences of two
rows of one label, v of either label, and u - v of any two: at most z D + v (D + d) + (u - v) C. QED
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from blowproof.models import Exact, Point
from blowproof.models.base.clock import now
from blowproof.models.base.numbers import plain
from blowproof.models.stacks.stacked import is_histogram
from blowproof.verifier.asked.question import Question
from blowproof.verifier.databases.value_classes import ClassTable
from blowproof.verifier.theorems.values.by_kind import best_in
from blowproof.verifier.theorems.values.seen_values import seen_values

__all__ = ["by_sides", "most_of_a_side"]


def most_of_a_side(count: int) -> int:
    """Return how many records leave one label at the most, beside so many cells.

    >>> [most_of_a_side(n) for n in (1, 2, 3, 4, 5)]
    [1, 3, 5, 8, 12]
    """
    return (count + 1) ** 2 // 3


def by_sides(
    question: Question,
    table: ClassTable,
    labels: Sequence[int],
    count: int,
    most: int,
    end: float,
    *,
    slack: bool = False,
) -> Exact | None:
    """Return the bound on S(f, P) beside so many classes, for so many moves; None: not known.

    `labels`: of each class of the table. `slack`: they are those of a bound. TimeoutError where the
    time is over.
    """
    query = question.query
    if query.measure.degree != 1 or is_histogram(query):
        return None
    seen = seen_values(question.setting, query, table, end=end)
    if seen is None:
        return None
    axes = sorted(query.axes_read(question.setting.domain))
    sides: list[dict[Point, Point]] = [{}, {}]
    for label, values in zip(labels, seen, strict=True):
        sides[label].update({tuple(x[k] for k in axes): x for x in values})
    widths: list[Exact] = []
    for side in [*sides, sides[0] | sides[1]] if slack else sides:
        found = None if now() > end else best_in(query, [list(side.values())], end)
        if found is None:
            return None
        widths.append(found.upper)
    less, more = sorted(widths[:2])
    both = max(less + more, *widths[2:]) if slack else less + more
    return _largest(more, both, min(most, most_of_a_side(count)), most)


def _largest(one: Exact, both: Exact, side: int, most: int) -> Exact:
    """Return the largest of z `one` + p `both` where z + p <= `side` and z + 2 p <= `most`."""
    half = Fraction(most, 2)
    corners: list[tuple[Exact, Exact]] = [(side, 0), (0, half if half < side else side)]
    if half <= side:
        corners.append((2 * side - most, most - side))
    return plain(max(z * one + p * both for z, p in corners))
