"""Kind `ends`: cumulative counts, by the ends of classes instead of one value after the other.

In l1; readings 1, 2 and 5, equality facts and impossible values. The row of a value x is 1 from x
on. Let a class, the values of one effect, go from `low` to `high` on the axis; its row v is 1/2
from `low` and 1 from `high` on, so that a value's row is 1/2 away from v in high - low places. A
move from x in class c to y in class d changes f by (row(y) - v_d) + (v_d - v_c) + (v_c - row(x)),
so a pair's moves by no more than half the widths of the classes that they leave and enter, added
up, and what they change f by if v stands for the rows of its class. `rest` is a proof of kind
`irreducible` that no irreducible multiset, of any moves, has more of both together: the lemma holds
for it, and neither G nor which move is secret is used. All of this is counted twice, in whole
numbers.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from itertools import product
from operator import sub
from typing import Any

from ...document import Exact, Rejected, want
from ...independent import Sparse
from ...measure import Along
from ...world import Effects, World
from ..irreducible import PROOF, replayed

SPREAD = {"kind": str, "rest": PROOF}
WIDE = "wide"
"""Where a change keeps the widths of the classes of its moves."""


def refute(world: World, proof: dict[str, Any], value: Exact) -> None:
    """Refuse unless widths and middles together are within the value."""
    table = want(proof, SPREAD, "the proof")
    moves = Ends(world)
    replayed(moves, table["rest"], moves.claimed(value))


class Ends(Effects):
    """The moves between classes, each with what it leaves open beside what middles change."""

    def __init__(self, world: World) -> None:
        query = world.query
        if not world.labelled or world.bounds or world.named:
            raise Rejected("this kind of proof is for equalities, in readings 1, 2 and 5")
        if query.kind != "cumulative" or query.measure != "l1":
            raise Rejected("this kind of proof is for cumulative counts, in l1")
        axis = query.places[0]
        spots: dict[Sparse, list[int]] = {}
        for cell in world.cells(world.equalities, ends=[axis]):
            spots.setdefault(world.sparse(cell.point), []).append(cell.point[axis])
        ends = {world.filled(effect): (min(some), max(some)) for effect, some in spots.items()}
        self.world, self.longest, self.scale = world, world.size, 2
        self.measure, self.changes = _Widths(query.spread), {}
        self.idle = max((2 * (high - low) for low, high in ends.values()), default=0)
        for (source, (a, b)), (target, (c, d)) in product(ends.items(), repeat=2):
            change: dict[Hashable, int] = {WIDE: b - a + d - c}
            for place, times in ((a, -1), (b, -1), (c, 1), (d, 1)):
                change[place] = change.get(place, 0) + times
            some = frozenset(item for item in change.items() if item[1])
            self.changes.setdefault(tuple(map(sub, target, source)), set()).add(some)
            world.budget.spend(8 + len(source), 16 + len(source))
        self.changes.pop((0,) * len(world.equalities), None)
        self.effects = sorted(self.changes)
        self.secret = set(self.effects)
        self.weights = [max(map(self.length, self.changes[d])) for d in self.effects]


class _Widths(Along):
    """Twice the norm of what middles change, and the widths."""

    def size(self, change: Iterable[tuple[Hashable, int]]) -> int:
        """Return both together."""
        told = dict(change)
        return told.pop(WIDE, 0) + super().size(told.items())
