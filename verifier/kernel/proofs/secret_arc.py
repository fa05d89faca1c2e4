"""Kind `secret-arc`: independent signatures, and a G that does not join everything.

Readings 1, 2 and 5, equality facts and impossible values. As in kind `cells`, (a), a neighbour pair
is one move within a signature, or a simple cycle of moves on the signatures, each of which loses
one record and gains one. One of its moves is along an edge of G. For signatures a and b let E_ab be
the largest change of f along an edge between a value of a and one of b, C_ab that by any move from
one to the other, m_c the largest change by two values of c. A pair that moves within a changes f by
E_aa at the most. Else let a record go along an edge from x in a to y in b; besides it b loses x'
and a gains y', and so f changes by (y - x) + (y' - x') and at most m_c for each other c: by no more
than E_ab + C_ab + the sum of the m_c, c not a, b.

Under scope "given", a signature that no record can have takes no part.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from itertools import product
from typing import Any

from ..document import Exact, Rejected, want
from ..independent import Sparse, independent
from ..joined_boxes import near
from ..measure import Change
from ..world import SOME, World, plus
from .cells import largest, occupied

Rows = frozenset[Change]


def refute(world: World, proof: dict[str, Any], value: Exact) -> None:
    """Refuse unless no cycle with a move along an edge of G changes f by more than the value."""
    want(proof, {"kind": str}, "the proof")
    scale, most = bound(world)
    if most > value * scale:
        raise Rejected("a cycle with a secret move changes the query by more than the value")


def bound(world: World) -> tuple[int, int]:
    """Return a scale, and what no neighbour pair exceeds, scaled."""
    odd = world.bounds or world.policy.clauses or world.query.weights is not None
    if not world.labelled or world.free or odd:
        raise Rejected(
            "this kind of proof is for equalities, in readings 1, 2 and 5, and for some G"
        )
    world.by_position()
    cells, joins, areas = world.classes()
    scale, rows = world.rows(cells)
    if not joins:
        raise Rejected("G does not tell these cells apart", limit=True)
    effects = [world.sparse(cell.point) for cell in cells]
    if not independent(list(dict.fromkeys(effects)), world.budget):
        raise Rejected("the signatures are not independent")
    held = occupied(world, effects)
    kept = [k for k, effect in enumerate(effects) if effect in held]
    gathered: dict[Sparse, set[Change]] = defaultdict(set)
    for k in kept:
        gathered[effects[k]].add(rows[k])
    inside = {effect: frozenset(some) for effect, some in gathered.items()}
    sizes = _Sizes(world)
    within = {effect: sizes.within(some) for effect, some in inside.items()}
    boxes = [(k, box) for k in kept for box in (areas[k] if areas else [cells[k].box])]
    along: dict[tuple[Sparse, Sparse], int] = {}
    for i, j in near(world.policy.graph, [box for _, box in boxes], world.budget):
        one, two = boxes[i][0], boxes[j][0]
        ends = effects[one], effects[two]
        world.budget.spend(4)
        along[ends] = max(along.get(ends, 0), sizes.apart(rows[one], rows[two]))
    world.budget.spend(0, 4 * len(along))
    whole, most = sum(within.values()), 0
    for (a, b), edge in along.items():
        others = edge if a == b else edge + sizes.across(inside[a], inside[b])
        most = max(most, others + (0 if a == b else whole - within[a] - within[b]))
    return scale, most


class _Sizes:
    """Changes between rows; classes with equal rows are looked at once."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.inner: dict[Rows, int] = {}
        self.outer: dict[tuple[Rows, Rows], int] = {}
        self.pairs: dict[tuple[Change, Change], int] = {}

    def within(self, some: Rows) -> int:
        """Return the largest change by two values of one class."""
        if some not in self.inner:
            self.inner[some] = largest(self.world, some).size
        return self.inner[some]

    def across(self, some: Rows, others: Rows) -> int:
        """Return the largest change by a move from one class to another."""
        key = some, others
        if key not in self.outer:
            self.outer[key] = self._across(some, others)
        return self.outer[key]

    def _across(self, some: Iterable[Change], others: Iterable[Change]) -> int:
        return max(self.apart(one, two) for one, two in product(some, others))

    def apart(self, one: Change, two: Change) -> int:
        """Return the change by a move from one row to another (or to other values)."""
        key = one, two
        if key not in self.pairs:
            self.world.budget.spend(8 + len(one) + len(two), 4)
            less = frozenset((output, -value) for output, value in one)
            size = self.world.measure.size
            self.pairs[key] = size(one) + size(two) if SOME in key else size(plus(less, two))
        return self.pairs[key]
