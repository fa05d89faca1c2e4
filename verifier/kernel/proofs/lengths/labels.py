"""What f changes by beside N classes and one more fact, by what it sees. For kind `beside`.

One label of width 1, an equality. Let z_c be how many records more have the larger label in class
c; names are those of `cells`, (b), in FORMAT.md. Sum z_c = 0, and z_c = 0 where a class has one
label. A pair that is no simple cycle changes f by (1 / W) times the sum of the k l <= W changes by
b A + a B, which norms (of squares, the root) add up; a simple cycle changes each z_c by 1.

*f sees classes and labels*: all values of one class and label have one row; v_c is what the larger
label adds beyond the other. In l1 f changes by the largest v_c times the largest even number up to
N^2 / 2 (FORMAT.md). *Some of the classes*, m of them: their z_c add up to m (N - m) at the most. So
where f has one output, the integral over t of how many z_c have v_c > t says that it changes by no
more than the sum of |v_c - v_c'| over pairs of classes (those that lack a label lie where it is
least: at a median). Of several outputs, in l1, take the signs of their changes.

*Why m (N - m).* Let P be these classes, Q the others, d_c(A) the label that A enters c with less
that it leaves c with, p = d(A) over P, q = -d(B) over Q: p <= m, q <= N - m, and b A + a B has b p
- a (b - q) = p q - (p - a)(q - b) there. If the last product is not negative, that is p q at most.
Else let p > a, q < b (or exchange labels and cycles), k = p - a: some k classes of A are in Q, so 0
< k <= N - m. For s <= 1, or h_1 >= T alone, p + b <= N (FORMAT.md), so that it is b k + a q <= k (N
- k) + a (q - k): for q <= k at most k (N - k), k < m; for q > k, a <= m - k and q <= N - m make it
m (N - m). Two or more: no |z_c| is above T, a whole number up to (N + 1) / 2, and there are m of
them, or N - m. A simple cycle has min(m, N - m).

*Squares.* If no output is about two classes: e_c exchanges of class c change f by e_c^2 e at most,
e being the largest change (a square) in a class; where f sees classes and labels, by z_c^2 e. See
`squares` for the most that these add up to. If no output is about two labels: c records leave the
larger label and l the other, as many come to each, and f changes by at most e (c^2 + l^2), e being
the largest change by two values of one label. See `squares`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise, product

from ...independent import Sparse
from ...measure import Change
from ...world import SOME, World, plus
from ..cells import Place, disjoint, largest
from .squares import exchanged, relabelled, sided

FEW_OUTPUTS = 12
"""Of so many outputs all signs are tried."""


def seen(
    world: World, inside: Mapping[Sparse, Sequence[Place]], label: int, moves: int
) -> Iterator[int]:
    """Yield what no pair of so many moves changes the query by, by all that applies."""
    rows = [_by_label(world, members, label) for members in inside.values()]
    every = [frozenset[Change]().union(*some) for some in rows]
    count, squared = len(inside), world.measure.squared
    alone = _of_labels(rows)
    if alone is not None and world.measure.name == "l1":
        yield max((world.measure.size(v) for v in alone), default=0) * (count**2 // 4) * 2
        if not world.positions:
            yield from _separated(world, alone, count)
    if squared and not world.positions:
        if disjoint(every):
            budget, times = world.budget, alone is not None
            size = max((largest(world, some).size for some in every), default=0)
            yield size * (relabelled(count, budget) if times else exchanged(count, budget))
        ends = [frozenset[Change]().union(*(some[k] for some in rows)) for k in (0, 1)]
        if disjoint(ends):
            yield max(largest(world, some).size for some in ends if some) * sided(
                count, moves, world.budget
            )


def _by_label(world: World, members: Sequence[Place], label: int) -> tuple[set[Change], ...]:
    """Return the rows of a class with the smaller label, or its only one, and with the larger."""
    found: dict[int, set[Change]] = defaultdict(set)
    for effect, row in members:
        world.budget.spend(1 + len(effect) + len(row))
        found[dict(effect).get(label, 0)].add(row)
    low, high = min(found), max(found)
    return found[low], found[high] if high > low else set()


def _of_labels(rows: Sequence[Sequence[set[Change]]]) -> list[Change] | None:
    """Return v_c of each class with both labels; None where f sees more than classes and labels."""
    if any(len(some) > 1 or SOME in some for both in rows for some in both):
        return None
    return [
        plus([(key, -value) for key, value in next(iter(low))], next(iter(high)))
        for low, high in rows
        if high
    ]


def _separated(world: World, apart: Sequence[Change], count: int) -> Iterator[int]:
    """Yield the largest sum of |v - v'| over pairs of classes, over all signs of few outputs."""
    outputs = list(dict.fromkeys(output for change in apart for output, _ in change))
    if len(outputs) > FEW_OUTPUTS:
        return
    most = 0
    for signs in product((1, -1), repeat=max(0, len(outputs) - 1)):  # -t says the same as t
        t = dict(zip(outputs, (1, *signs), strict=bool(outputs)))
        world.budget.spend(8 * len(apart) + sum(map(len, apart)))
        values = sorted([sum([t[output] * v for output, v in change]) for change in apart])
        found, others = 0, count - len(values)
        for below, (low, high) in enumerate(pairwise(values), 1):
            above = len(values) - below
            found += (high - low) * (below * above + others * min(below, above))
        most = max(most, found)
    yield most
