"""Long irreducible circulations that are made of two simple cycles.

Classes 0, ..., N - 1, each with labels 0, ..., w_c; moves go from (class, label) to (class,
label), and a circulation on the classes is a neighbour pair iff its labels (those that records
enter less those that they leave) sum to 0 and no proper part that is a circulation has sum 0. Two
kinds:

*Sharing one class.* A cycle A of p classes with label a > 0 and a cycle B of q classes with label
-b < 0, p + q = N + 1, with one class in common. The circulations below any multiple of the two are
i A + j B, i and j whole: the two have no arc in common, and no other cycle can be made of them. If
a and b have no common divisor, i a = j b > 0 asks for at least b times A and a times B: taken so
often, they are irreducible, of b p + a q moves.

*Sharing a path.* N = 2 q - 1, every class with labels 0 and 1. B goes round q classes with label
-1 on each arc. A goes through all classes: along B on q - 1 of its arcs, then through the other q
- 1 classes and back, with label 1 on these q arcs: its label is q - (q - 1) = 1. Again A and B are
all the simple cycles. q times A and once B: a part i A + j B with i <= q and j <= 1 has label i -
j q, which is 0 for none and for all of it. It has q N + q = (N + 1)^2 / 2 moves.

*Sharing a path of moves of label 0.* A and B have a path of m arcs with label 0 in common, besides
A goes along x arcs with label 1 and B along y with label -1: N = x + y + m - 1. If x and y have no
common divisor, y times A and x times B are irreducible in the same way. Fewer moves, but m (x + y)
+ x y of them have label 0 or 1 (see `one_sided`).

*Sharing a path of moves of label 1*, of m arcs; besides A goes along N - 2 m arcs with label 1, and
B along m + 1 with label -1. A has label N - m, B has -1: A once and B N - m times are irreducible
in the same way. The path is gone N - m + 1 times: squares of what single cells change by are
largest so (`values/squares_beside`).

With x moves of label 1 for A and y of label -1 for B, N = x + y + m - 1, A has label a = x + m and
B has -b = m - y. If a and b have no common divisor, A b times and B a times are irreducible in the
same way: squares of how often single classes exchange records are largest so.

For w_c = 1 in all classes one of the first two has floor((N + 1)^2 / 2) moves, which is the most
that any has (`beside`): for even N, p = N / 2 = a and q = p + 1 = b give 2 p q.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from math import gcd
from typing import NamedTuple

from blowproof.models import Exact
from blowproof.verifier.limits.limit import whole_limit
from blowproof.verifier.theorems.values.squares_beside import (
    MOST_CELLS,
    labels_of_most,
    longest_shared,
)

__all__ = [
    "Arc",
    "exchanged_two",
    "gained_two",
    "longest_two",
    "most_one_sided",
    "moves_of",
    "one_value_two",
    "relabelled_two",
    "sharing_zeros",
    "sided_two",
    "squared_two",
    "squares_of",
]

MOST_CLASSES = whole_limit(__name__, "MOST_CLASSES")
MOST_TRIED = whole_limit(__name__, "MOST_TRIED")


class Arc(NamedTuple):
    """`times` records go from a label of a class to a label of the next class of a cycle."""

    source: tuple[int, int]
    target: tuple[int, int]
    times: int


def longest_two(widths: Sequence[int]) -> list[Arc]:
    """Return such a circulation of the most moves that is found; none where no labels differ.

    >>> [moves_of(longest_two([1] * n)) for n in (1, 2, 3, 4, 5, 6, 7, 10, 51)]
    [2, 4, 8, 12, 18, 24, 32, 60, 1352]
    >>> moves_of(longest_two([3, 3]))
    11
    >>> longest_two([0, 0])
    []
    """
    count = len(widths)
    if not any(widths) or count > MOST_CLASSES:
        return []
    wide = sorted(range(count), key=lambda c: (-widths[c], c))
    found = _sharing_one(wide, widths)
    if count % 2 and all(widths) and (count + 1) ** 2 // 2 > moves_of(found):
        found = _sharing_a_path(wide)
    return found


def moves_of(arcs: Sequence[Arc]) -> int:
    """Return how many moves there are."""
    return sum(arc.times for arc in arcs)


def _sharing_one(wide: Sequence[int], widths: Sequence[int]) -> list[Arc]:
    """Share the widest class; give the wide ones to one cycle or the other."""
    best, chosen = 0, None
    shared = wide[0]
    for p in range(1, len(wide) + 1):
        q = len(wide) + 1 - p
        for one, two in _shares(wide[1:], p - 1):
            most = widths[shared] + sum(widths[c] for c in one)
            least = widths[shared] + sum(widths[c] for c in two)
            for a in range(most, max(0, most - MOST_TRIED), -1):
                for b in range(least, max(0, least - MOST_TRIED), -1):
                    if gcd(a, b) == 1 and b * p + a * q > best:
                        best, chosen = b * p + a * q, (one, two, a, b)
    if chosen is None:
        return []
    one, two, a, b = chosen
    return [
        *_cycle([shared, *one], widths, a, 1, b),
        *_cycle([shared, *two], widths, b, -1, a),
    ]


def _shares(others: Sequence[int], count: int) -> list[tuple[list[int], list[int]]]:
    """Return a few ways to give `count` of the classes to the first cycle, and the rest."""
    ends = [(list(others[:count]), list(others[count:]))]
    cut = len(others) - count
    ends.append((list(others[cut:]), list(others[:cut])))
    spread = {round(k * len(others) / count) for k in range(count)} if count else set()
    if len(spread) == count:
        split = [others[k] for k in sorted(spread)]
        ends.append((split, [c for k, c in enumerate(others) if k not in spread]))
    return ends


def _cycle(
    classes: Sequence[int], widths: Sequence[int], label: int, sign: int, times: int
) -> list[Arc]:
    """Return a cycle with label `sign * label`: each class is left at 0 and entered at what it adds
    (or the other way round).
    """
    adds = []
    for c in classes:
        adds.append(min(label, widths[c]))
        label -= adds[-1]
    leaves = [0 if sign > 0 else add for add in adds]
    enters = [add if sign > 0 else 0 for add in adds]
    following = [*range(1, len(classes)), 0]
    return [
        Arc((classes[k], leaves[k]), (classes[n], enters[n]), times)
        for k, n in enumerate(following)
    ]


def _sharing_a_path(classes: Sequence[int]) -> list[Arc]:
    q = (len(classes) + 1) // 2
    first, rest = classes[:q], classes[q:]
    down = [Arc((x, 1), (y, 0), q + 1) for x, y in pairwise(first)]
    way = [first[-1], *rest, first[0]]
    up = [Arc((x, 0), (y, 1), q) for x, y in pairwise(way)]
    return [*down, Arc((first[-1], 1), (first[0], 0), 1), *up]


def squared_two(classes: Sequence[int]) -> list[Arc]:
    """Return two cycles over classes with labels 0 and 1, whose squares are largest; the last
    classes lose one record each.

    >>> [moves_of(squared_two(range(n))) for n in (1, 2, 3, 16)]
    [2, 4, 8, 132]
    """
    count = len(classes)
    return _sharing_ups(classes, count - longest_shared(count), 1)


def exchanged_two(classes: Sequence[int]) -> list[Arc]:
    """Return two cycles over classes with labels 0 and 1 that exchange records so often that the
    squares of how often are largest; none where there is one class, or too many.

    >>> [moves_of(exchanged_two(range(n))) for n in (2, 3, 4, 10)]
    [4, 8, 12, 56]
    """
    count = len(classes)
    if not 2 <= count <= MOST_CELLS:
        return []
    return _sharing_ups(classes, *labels_of_most(count))


def relabelled_two(classes: Sequence[int]) -> list[Arc]:
    """Return two cycles over classes with labels 0 and 1 that change how many records of each have
    label 1 by as much as squares allow (`lengths.label_changes`); none over few classes.

    >>> [moves_of(relabelled_two(range(n))) for n in (4, 5, 6, 10)]
    [0, 18, 24, 60]
    """
    count = len(classes)
    shared = longest_shared(max(0, count - 1)) + 1
    a = count - shared
    return _sharing_ups(classes, a, 1) if a > shared else []


def gained_two(gaining: Sequence[int], losing: Sequence[int]) -> list[Arc]:
    """Return two cycles over classes with labels 0 and 1: p classes gain p q records of label 1 in
    all from q others, which is the most (`lengths.label_sets`).

    >>> [moves_of(gained_two(range(p), range(p, 6))) for p in (0, 1, 2, 3, 4, 5)]
    [0, 10, 16, 18, 16, 10]
    """
    p, q = len(gaining), len(losing)
    if not p or not q:
        return []
    if p > q:
        return [Arc(y, x, times) for x, y, times in gained_two(losing, gaining)]
    shared = next(j for j in range(p) if gcd(p - j, q) == 1)
    path, rest = losing[:shared], losing[shared:]
    joined = list(pairwise(path))
    ups = [*path[-1:], *gaining, *path[:1]] if path else [*gaining, gaining[0]]
    downs = [*path[-1:], *rest, *path[:1]] if path else [*rest, rest[0]]
    lost = set(losing)
    return [
        *(Arc((x, 1), (y, 0), q + p - shared) for x, y in joined),
        *(Arc((x, int(x in lost)), (y, int(y not in lost)), q) for x, y in pairwise(ups)),
        *(Arc((x, 1), (y, 0), p - shared) for x, y in pairwise(downs)),
    ]


def one_value_two(classes: Sequence[int]) -> list[Arc]:
    """Return two cycles over three classes or more with labels 0 and 1, which share a move of label
    1: one value is left as often as there are classes, and one is entered so often; else none.

    >>> [max(arc.times for arc in one_value_two(range(n))) for n in (3, 4, 9)]
    [3, 4, 9]
    """
    return _sharing_ups(classes, len(classes) - 1, 1) if len(classes) > 2 else []


def sided_two(classes: Sequence[int]) -> list[Arc]:
    """Return two cycles over classes with labels 0 and 1, of which so many records leave each label
    that the squares of these two numbers are largest; none where there are too many classes.

    >>> [moves_of(sided_two(range(n))) for n in (1, 2, 3, 4, 10)]
    [2, 4, 7, 12, 58]
    """
    count = len(classes)
    if not 1 <= count <= MOST_CELLS:
        return []
    best, (x, y, m) = 0, (1, 1, count - 1)
    for one in range(1, count + 1):
        for two in range(max(1, one - 2), min(one, count + 1 - one) + 1):
            left, shared = one * two, count + 1 - one - two
            found = left**2 + (left + shared * (one + two)) ** 2
            if gcd(one, two) == 1 and found > best:
                best, (x, y, m) = found, (one, two, shared)
    return sharing_zeros(classes, x, y, m)


def _sharing_ups(classes: Sequence[int], a: int, b: int) -> list[Arc]:
    """Return two cycles with labels a and -b that share a path of moves of label 1, all classes;
    the last ones lose b records each, others a or a + b.
    """
    count = len(classes)
    shared = count + 1 - a - b
    last = count - (a - shared - 1)
    path, downs, ups = classes[: shared + 1], classes[shared + 1 : last], classes[last:]
    return [
        *(Arc((x, 0), (y, 1), a + b) for x, y in pairwise(path)),
        *(Arc((x, 0), (y, 1), b) for x, y in pairwise([path[-1], *ups, path[0]])),
        *(Arc((x, 1), (y, 0), a) for x, y in pairwise([path[-1], *downs, path[0]])),
    ]


def squares_of(arcs: Sequence[Arc]) -> int:
    """Return the squares of what leaves each label of a class, and what enters it, added up."""
    left: Counter[tuple[int, int]] = Counter()
    entered: Counter[tuple[int, int]] = Counter()
    for arc in arcs:
        left[arc.source] += arc.times
        entered[arc.target] += arc.times
    return sum(times * times for times in (*left.values(), *entered.values()))


def most_one_sided(count: int, zero: Exact = 1, both: Exact = 1) -> tuple[int, int, int]:
    """Return (x, y, m) with most moves of label 0 or 1 among cycles that share a path (m = 0: one
    class) in so many classes; or worth most, where a move of label 0 is worth `zero`, and one of
    label 1 and one of label -1 `both`.

    >>> [(n, most_one_sided(n)) for n in (1, 2, 3, 16)]
    [(1, (1, 1, 0)), (2, (1, 1, 1)), (3, (1, 1, 2)), (16, (6, 5, 6))]
    """
    best: Exact = 0
    found = (1, 1, count - 1)
    for x in range(1, count + 1):
        for y in range(max(1, x - 2), x + 1):
            m = count + 1 - x - y
            if m >= 0 and gcd(x, y) == 1:
                worth = x * y * both + m * (x + y) * zero
                if worth > best:
                    best, found = worth, (x, y, m)
    return found


def sharing_zeros(classes: Sequence[int], x: int, y: int, m: int, *, label: int = 0) -> list[Arc]:
    """Return two cycles over x + y + m - 1 classes that share a path of m moves of label 0, between
    labels `label` of the first ones; besides one has x moves of label 1, the other y of label -1.
    """
    path, rest = classes[: m + 1], classes[m + 1 :]
    ups = [path[-1], *rest[: x - 1], path[0]]
    downs = [path[-1], *rest[x - 1 :], path[0]]
    return [
        *(Arc((one, label), (two, label), x + y) for one, two in pairwise(path)),
        *(Arc((one, 0), (two, 1), y) for one, two in pairwise(ups)),
        *(Arc((one, 1), (two, 0), x) for one, two in pairwise(downs)),
    ]
