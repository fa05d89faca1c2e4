"""Labels in the plane: how many moves, and how many cycles, where two facts are beside cells.

For kind `beside`. The N signatures have labels, pairs of whole numbers; `form` is a list of [t, x,
y], t > 0, of q(v) = sum of t (x v_1 + y v_2)^2, whose det is above 0. |v| is the root of q(v), r_c
the largest |d| of a difference d of two labels in signature c, R the sum of all r_c, r the largest;
for each f = (x, y) R_f and r_f are the same of |f(d)|. D is the lesser of R + r and the root of the
sum of t (R_f + r_f)^2. Two cycles of A and B moves, of labels v and w on opposite sides of a line
through 0, at distances a and b from it (in q), have a <= the sum of the A largest r_c, the same of
b and B, and a + b <= D, and a + b <= r root of m, m = (A + B)^2 where A + B <= N + 1, else (2 N + 2
- A - B)^2 + 4. Let E be at least b A + a B for all these. A cycle at a distance H from the line has
H <= D, and limits the others: with K = 2 N + root 8, Y = 2 root((R + 2 r)^2 + 4 r^2) + r root 8, T
the lesser of D and (Y^2 - 4 H^2) / (2 Y), and L the lesser of N and K - 2 H / r, the mean of b A +
a B is no more than some y min(r L + T - r y, r K - 2 r y), 0 <= y <= L, y <= T / r. J is the
largest H times that, J' the largest H T. Then an irreducible has at most max(N, E, 2 min(D E, J) /
root of det) moves, of at most max(1, D, 2 min(D^2, J') / root of det) cycles. The proof is at the
head of `theorems/lengths/two_beside.py` of the verifier, and in FORMAT.md.

Lengths are in parts of FINE and rounded up. Loops of other labels (slack) need a class in which two
labels are as far apart.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import accumulate, combinations
from math import isqrt

from ...document import Budget, Rejected

Label = Sequence[int]
Form = Sequence[Sequence[int]]
FINE = 1 << 24
STEPS = 120
FAR = 300
MOST_TERMS = 12


def in_the_plane(
    classes: Sequence[Collection[Label]], form: Form, slack: Collection[Label], budget: Budget
) -> tuple[int, int]:
    """Return how many moves and how many cycles; `slack`: labels that loops have besides."""
    if not 0 < len(form) <= MOST_TERMS or any(len(term) != 3 or term[0] <= 0 for term in form):
        raise Rejected("this is no form of the plane")
    det = sum(s * t * (x * w - y * v) ** 2 for (s, x, y), (t, v, w) in combinations(form, 2))
    if det <= 0:
        raise Rejected("the form is not positive definite")
    reach = [_reach(labels, form, budget) for labels in classes]
    if slack:  # one class holds labels as far apart
        loops = [_reach([(0, 0), label], form, budget) for label in slack]
        reach[0] = tuple([max(column) for column in zip(reach[0], *loops, strict=True)])
    radii = sorted([item[0] for item in reach], reverse=True)
    within = sum(
        t * (sum(column) + max(column)) ** 2
        for (t, _, _), column in zip(form, zip(*[item[1:] for item in reach], strict=True),
                                     strict=True)
    )  # fmt: skip
    apart = min(sum(radii) + radii[0], _root(within * FINE * FINE))
    both, area = _both(radii, apart, budget), isqrt(det * FINE * FINE)
    far, wide = _far(radii, apart, budget)
    far, wide = min(far, apart * both), min(wide, apart * apart)
    moves = max(len(radii), both // FINE, 2 * far // (FINE * area))
    return moves, max(1, apart // FINE, 2 * wide // (FINE * area))


def _reach(labels: Collection[Label], form: Form, budget: Budget) -> tuple[int, ...]:
    """Return r_c in parts of FINE, rounded up, and the largest |f(d)| of each term."""
    values = [[x * v + y * w for _, x, y in form] for v, w in labels]
    budget.spend((len(values) ** 2 + 1) * len(form))
    most, sizes = 0, [0] * len(form)
    for one, two in combinations(values, 2):
        apart = [abs(a - b) for a, b in zip(one, two, strict=True)]
        most = max(most, sum(t * d * d for (t, _, _), d in zip(form, apart, strict=True)))
        sizes = [max(pair) for pair in zip(sizes, apart, strict=True)]
    return (_root(most * FINE * FINE), *sizes)


def _both(radii: Sequence[int], apart: int, budget: Budget) -> int:
    """Return E: all lengths of A and of B in steps, each step taken for its longest (and for a and
    b for its best), so that no more than STEPS by STEPS are looked at.
    """
    count = len(radii)
    tops = [0, *accumulate(radii)]
    width = -(-count // STEPS)
    steps = [(low, min(count, low + width - 1)) for low in range(1, count + 1, width)]
    budget.spend(8 * len(steps) ** 2 + count)
    found = 0
    for number, (least, most) in enumerate(steps):
        for low, high in steps[: number + 1]:
            # m falls from N + 1 on, so that it is largest for the lengths next to that
            total = min(max(count + 1, least + low), most + high)
            square = total * total
            if total > count + 1:
                square = (2 * count + 2 - total) ** 2 + 4
            limit = min(apart, _root(square * radii[0] * radii[0]), tops[most] + tops[high])
            b = min(tops[high], limit)  # |A| >= |B|: as much of the sum as may be goes to b
            found = max(found, b * most + min(tops[most], limit - b) * high)
    return found


def _far(radii: Sequence[int], apart: int, budget: Budget) -> tuple[int, int]:
    """Return J and J': H in FAR steps, each counted with its upper end, and what it limits with its
    lower one. y times the lesser of two lines that fall is largest where they cross, where its own
    slope is 0, or at an end.
    """
    radius, most = radii[0], len(radii) * FINE
    if not radius:
        return 0, 0
    budget.spend(16 * FAR)
    root_8 = _root(8 * FINE * FINE)
    every = 2 * most + root_8  # K
    round_three = (2 * _root((sum(radii) + 2 * radius) ** 2 + 4 * radius**2)
                   + -(-root_8 * radius // FINE))  # fmt: skip
    moves = cycles = 0
    for step in range(FAR):
        near, far = apart * step // FAR, -(-apart * (step + 1) // FAR)
        both = min(apart, -((4 * near * near - round_three**2) // (2 * round_three)))  # T
        length = min(most, every - 2 * near * FINE // radius)  # L
        if both <= 0 or length <= 0:
            break
        span = -(-both * FINE // radius)  # T / r
        top = min(length, span)
        crossing = every - length - span
        places = [top, *(y for y in (crossing, (length + span) // 2, every // 4) if 0 < y < top)]
        found = max((y + 1) * (min(length + span - y, every - 2 * y) + 2) for y in places)
        moves = max(moves, far * -(-found * radius // FINE**2))
        cycles = max(cycles, far * both)
    return moves, cycles


def _root(square: int) -> int:
    """Return the root, rounded up."""
    return isqrt(square - 1) + 1 if square > 0 else 0
