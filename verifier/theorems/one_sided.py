"""A count of values that all have one label, beside cells and one more fact.

*Statement.* As in `beside`, with one further fact of width w = 1: each value has label 0 or 1. Let
f count values that all have label 1 (or all 0). Then S(f, P) <= floor((N + 1)^2 / 3).

*Proof.* Let all counted values have label 1; else exchange the labels. A move that raises f comes
to a label 1, so that its own label is 0 or 1. M be irreducible, and |M|' the number of its moves
with label 0 or 1. A move that lowers f has label 0 or -1, and M has as many moves of label 1 as of
-1; so |f| changes by at most |M|'. If M is one simple cycle, |M|' <= N <= (N + 1)^2 / 3. Else,
with the cycles A_i, B_j, their labels, k l <= W, and A, B, a, b, s, h_i, N as in `beside`,

    |M|' = (1/W) sum over i, j of (b_j |A_i|' + a_i |B_j|'),

so it is enough that F = b |A|' + a |B|' <= (N + 1)^2 / 3 =: Z^2 / 3. Let d be the number of moves
of label -1, u that of label 1: |A|' = |A| - d(A), |B|' = |B| - d(B), d(B) = b + u(B).

*s <= 1.* F <= b |A| + a (|B| - b), a <= |A|, b <= |B|: it grows with a up to |A| |B| <= Z^2 / 4.

*One h_i >= T only*, h_1. x, y, R, Q, r <= r', t, m, K as in `beside`: a <= x + t, b <= y - t, |t|
<= m, x + y + K <= Z. Write t+ and t- for the parts of t. A's rest has label r <= t, so d(A) >= t-;
B_1 has label -(b + r'), so B has d(B) >= b + t+. F <= b (x + R - t-) + a (y + Q - b - t+); the
factor of a is at least Q - t- >= 0, so let a = x + t: F <= b (R - t+) + (x + t) (y + Q - t+), and
b = y - t. For t >= 0 that is x y + x Q + y R + t (Q - R - x), for t < 0 it is x y + x Q + y R - t
(R - Q - y): linear, so largest at t = 0 or |t| = m. t = 0: at most x y + x K + y K <= Z^2 / 3. t =
m: if R = m, (x + m) (x + y + K - x - m) <= Z^2 / 4; if Q = m, at most x y + y K <= Z^2 / 4. t =
-m: the same, x and y exchanged.

*p >= 2 of them.* Let P be these. |B_i| >= T - alpha_i for i in P, and the sum of these alpha_i is
at most a + d(A), so that the inner classes of the B_i, i in P, are at least p T - a - d(A) - p,
which A does not meet: |A|' <= N - p (T - 1) + a. In the same way |A_i| >= T + beta_i, the sum of
these beta_i is at least -b - u(B), and |B|' = |B| - b - u(B) <= N - p (T - 1). So F <= T (N - 2 T
+ 2) + a b <= T (N + 2) - 7 T^2 / 4 <= (N + 2)^2 / 7 <= Z^2 / 3. QED.

*In other norms*: f has one output, so that the size of its change is a function of |f| that grows
with it, and the plan asks in l1 (`reductions.one_output`).

*Met* (up to a remainder) by cycles that share a path of label 0 (`two_cycles`), where each class
has a value that counts, and one of its label that does not: every move of label 0 or 1 raises f by
1. Where some classes have such values, the path and the moves of label 1 lead through these first.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from math import gcd

from blowproof.models import Area, BlowproofError, Point
from blowproof.models.base.clock import now
from blowproof.models.domain.classes import firsts
from blowproof.verifier.asked.answer import Answer, Pair
from blowproof.verifier.asked.question import Question
from blowproof.verifier.databases.value_classes import class_table
from blowproof.verifier.limits.limit import real_limit, whole_limit
from blowproof.verifier.theorems.beside import Beside, beside, groups_of
from blowproof.verifier.theorems.beside_pairs import placed
from blowproof.verifier.theorems.simple_cycles import no_cycles
from blowproof.verifier.theorems.two_cycles import Arc, sharing_zeros

__all__ = ["no_one_side", "one_sided"]

SECONDS = real_limit(__name__, "SECONDS")
MOST_SHARED = whole_limit(__name__, "MOST_SHARED")


def no_one_side(question: Question) -> str:
    """Return why the theorem does not speak about a question, or ""."""
    if _counted(question) is None:
        return "it speaks about one count"
    return no_cycles(question)


def _counted(question: Question) -> Area | None:
    """Return the area that the query counts, if it is one count."""
    areas = question.query.counted_areas(question.setting.domain) or []
    return areas[0] if len(areas) == 1 else None


def one_sided(question: Question) -> Answer | None:
    """Return bounds on S(f, P) for a count on one side of a further fact; None where it is not."""
    setting, query, started = question.setting, question.query, time.perf_counter()
    counted = _counted(question)
    assert counted is not None
    end = now() + (SECONDS if question.left is None else min(SECONDS, question.left / 3))
    try:
        table = class_table(setting, deadline=end)
        found = beside(table, groups_of(setting))
        finer = class_table(setting, (counted,), deadline=end)
    except (BlowproofError, OverflowError):
        return None
    if found is None or found.widths != (1,):
        return None
    places = {item.inside: place for place, item in enumerate(table.classes)}
    values: dict[tuple[int, int, bool], Point] = {}  # by class, label, and whether they count
    for item, (point,) in zip(finer.classes, firsts(finer.classes, 1), strict=True):
        place = places[frozenset(area for area in item.inside if area < finer.extra)]
        label = int(found.labels[place, 0])
        values[found.home[place], label, point in counted] = point
    sides = {label for _, label, counted in values if counted}
    if len(sides) != 1:
        return None
    (side,) = sides
    most = (found.count + 1) ** 2 // 3
    why = f"{found.count} cells, and the count lies on one side of the fact beside them"
    pair = _pair(question, found, values, side)
    lower = 0 if pair is None else query.difference(pair.moves(question.reading))
    return question.answer(lower, most, why, witness=pair, engine="one-sided", since=started)


def _pair(
    question: Question, found: Beside, values: dict[tuple[int, int, bool], Point], side: int
) -> Pair | None:
    """Return two cycles that share a path, over the classes that have all values that they need."""
    usable = [
        place
        for place in range(found.count)
        if (place, side, False) in values and (place, 1 - side, False) in values
    ]
    counted = {place for place in usable if (place, side, True) in values}

    def cycles(places: Sequence[int]) -> list[list[Arc]]:
        inside = set(places)
        held = [place for place in usable if place in inside]
        some = [place for place in held if place in counted]
        return [_gaining(some, [place for place in held if place not in counted])]

    def made(arcs: Sequence[Arc]) -> Pair:
        before: list[Point] = []
        after: list[Point] = []
        for (one, leaves), (two, enters), times in arcs:
            x = values[one, side if leaves else 1 - side, False]
            gains = bool(enters) and two in counted
            y = values[two, side if enters else 1 - side, gains]
            before += [x] * times
            after += [y] * times
        return Pair(before=tuple(before), after=tuple(after))

    def worth(arcs: Sequence[Arc]) -> int:
        return sum(times for _, (two, enters), times in arcs if enters and two in counted)

    return placed(question, found, cycles, made, worth)


def _gaining(counted: Sequence[int], others: Sequence[int]) -> list[Arc]:
    """Return two cycles that share a path of m moves between labels 1 of counted classes.

    One has x moves of label 1, i + 1 of which come to counted classes, the other y of label -1: x +
    y + m - 1 classes, and m (x + y) + (i + 1) y records that come to label 1 of a counted class.
    """
    count, several = len(counted) + len(others), len(counted)
    best, found = 0, (0, 0, 0, 0)
    for m in range(0, several, 1 + several // MOST_SHARED):
        both = count + 1 - m
        for x in {1, several - m, several - m + 1, *range(both // 2 - 1, both // 2 + 2)}:
            y, more = both - x, min(x - 1, several - m - 1)
            if min(x, y) >= 1 and gcd(x, y) == 1 and m * both + (more + 1) * y > best:
                best, found = m * both + (more + 1) * y, (x, y, m, more)
    x, y, m, more = found
    if not best:
        return []
    path, rest = counted[: m + 1 + more], counted[m + 1 + more :]
    plain = x - 1 - more
    return sharing_zeros([*path, *others[:plain], *rest, *others[plain:]], x, y, m, label=1)
