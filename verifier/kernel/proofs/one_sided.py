"""Kind `one-sided`: a count of values of one label, beside cells and one more fact.

As in kind `cells`, (b), with `base` and labels 0 and 1 (w = 1); f has one output, which is 0 or one
number v for each value, and it is v only where the label is 1, or only where it is 0. (A class
whose values have one label may have either: what is the same in all of a class cancels.) Then f
changes by at most |v| times the largest whole number within (N + 1)^2 / 3.

*Why.* Let all counted values have label 1, else exchange the labels. A move that raises f has label
0 or 1, one that lowers it 0 or -1, and M has as many moves of label 1 as of -1; so f changes by at
most |M|', the number of moves of label 0 or 1, times |v|. If M is a simple cycle, |M|' <= N. Else,
with the cycles and all names of `cells` (b), |M|' = (1/W) sum over i, j of (b_j |A_i|' + a_i
|B_j|') and k l <= W, so that F = b |A|' + a |B|' <= Z^2 / 3, Z = N + 1, is enough. Let d count
moves of label -1 and u those of label 1: |A|' = |A| - d(A), |B|' = |B| - b - u(B).
*s <= 1:* F <= b |A| + a (|B| - b) with a <= |A|, b <= |B|: it grows with a, up to |A| |B| <= Z^2 /
4.
*Only h_1 >= T:* x, y, R, Q, K, t, m as there, a <= x + t, b <= y - t. The rest of A has a label <=
t, so d(A) >= max(0, -t); d(B) >= b + max(0, t). For t >= 0, F <= x y + x Q + y R + t (Q - R - x),
for t < 0 it is <= x y + x Q + y R - t (R - Q - y): linear, so largest at 0 or m. At 0: x y + x K +
y K <= Z^2 / 3. At t = m: if R = m, at most (x + m)(x + y + K - x - m) <= Z^2 / 4; if Q = m, x y + y
K <= Z^2 / 4. At t = -m the same, x and y exchanged.
*p >= 2 of them:* |A|' <= N - p (T - 1) + a and |B|' <= N - p (T - 1), by the inner classes of the
segments that the other cycle does not meet. So F <= T (N - 2 T + 2) + a b <= T (N + 2) - 7 T^2 / 4
<= (N + 2)^2 / 7 <= Z^2 / 3 (N >= 2; where N = 1, |M|' <= 1).
"""

from __future__ import annotations

from typing import Any

from ..document import Exact, Rejected, want
from ..world import SOME, World, less
from .cells import classed, places_of


def refute(world: World, proof: dict[str, Any], value: Exact) -> None:
    """Refuse unless the bound that the base gives is within the value."""
    table = want(proof, {"kind": str, "base": [int]}, "the proof")
    scale, most = bound(world, table["base"])
    if most > value * scale:
        raise Rejected("the bound that the proof gives is above the value")


def bound(world: World, base: list[int]) -> tuple[int, int]:
    """Return a scale, and what no neighbour pair exceeds, scaled."""
    scale, places = places_of(world)
    inside, apart = classed(world, places, base)
    if apart > 1:
        raise Rejected("the further fact has more than two labels")
    rows = {row for _, row in places if row}
    if SOME in rows or len(rows) > 1 or any(len(row) > 1 for row in rows):
        raise Rejected("this kind of proof is for counts")
    if not rows:
        return scale, 0
    sides: set[int] = set()
    for members in inside.values():
        effects = list({effect for effect, _ in members})
        counted = {effect for effect, row in members if row}
        if len(effects) == 2:
            if less(effects[1], effects[0])[0][1] < 0:  # the same order everywhere
                effects.reverse()
            sides.update(effects.index(effect) for effect in counted)
    if len(sides) > 1:
        raise Rejected("values of either label are counted")
    ((_, value),) = next(iter(rows))
    most = max((len(inside) + 1) ** 2 // 3, 1)
    if world.size is not None:
        most = min(most, world.size)
    return scale, most * abs(value)
