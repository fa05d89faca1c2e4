"""Where G is not complete, a cycle of classes has a secret arc, and that may cost it something.

*Statement.* As in `simple_cycles`, in readings 1, 2 and 5, for a query in l1. For classes a and b
let E_ab be the largest change of f along an edge of G between a value of a and one of b, C_ab the
largest along any move between them, m_c the largest within class c, and E_aa the largest along an
edge within a. Then S(f, P) is at most the largest of

    E_aa, over classes a; and E_ab + C_ab + sum of m_c over the other classes c, over pairs a, b
    that an edge of G joins.

*Proof.* A pair is a simple cycle of moves on the classes, or a move within a class, and at least
one move is along an edge of G. If it is a move within a class a, f changes by E_aa at the most.
Else let a record go along an edge from x in a to y in b. The cycle takes one more record out of b,
with value x', and brings one more into a, to y'; and each other class that it visits loses one
record and gains one. So f changes by (y - x) + (y' - x') and one element of D_c for each other
class (rows stand for values): by E_ab + C_ab + sum m_c at the most. QED.

A move that changes one attribute changes nothing else: of secrets by attribute, one that changes
the published attribute leaves the query alone.

*Where no fact speaks of the attributes that f looks at* (`free_change`), let L be the largest
change of f by any move and E that along an edge of G: then E_ab <= E, C_ab <= L and m_c <= L, so
that S(f, P) <= E + (N - 1) L for N classes. That holds on axes of any length. If secrets are by
attribute, an edge between two classes changes an attribute that facts speak of, and no other one:
E_ab = 0, and S(f, P) <= max(E, (N - 1) L). In other norms the sizes of single changes add up as the
norm says (`Norm.together`).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from blowproof.models import (
    Area,
    AttributeChange,
    BlowproofError,
    BoundQuery,
    Box,
    Exact,
    Point,
    Setting,
)
from blowproof.models.base.clock import now
from blowproof.models.norms import L1
from blowproof.models.stacks.stacked import Stacked
from blowproof.verifier.databases.value_classes import class_table
from blowproof.verifier.limits.limit import whole_limit
from blowproof.verifier.theorems.values.free_change import axes_of_facts, largest_free
from blowproof.verifier.theorems.values.in_norms import free_edge

__all__ = ["free_of_facts", "with_a_secret_arc"]

MOST_PARTS = whole_limit(__name__, "MOST_PARTS")
MOST_BOXES = whole_limit(__name__, "MOST_BOXES")

Key = bytes
Home = Callable[[Key], int | None]


def free_of_facts(setting: Setting, query: BoundQuery, count: int) -> Exact | None:
    """Return the bound for so many classes where no fact speaks of what the query looks at."""
    if query.axes_read(setting.domain) & axes_of_facts(setting):
        return None
    if query.measure is not L1:
        return _in_norm(setting, query, count) if isinstance(query, Stacked) else None
    change, along = largest_free(query, setting.domain), query.along(setting.graph)
    if change is None or along is None:
        return None
    others = max(0, count - 1) * change.upper
    return max(along, others) if setting.policy.secrets == AttributeChange() else along + others


def _in_norm(setting: Setting, query: Stacked, count: int) -> Exact | None:
    """Return the bound in another norm: sizes of single changes, together."""
    edge = free_edge(setting, query, along=True)
    move = free_edge(setting, query, along=False)
    if edge is None or move is None or count > MOST_PARTS:
        return None
    others = [move[0]] * max(0, count - 1)
    if setting.policy.secrets == AttributeChange():
        return max(edge[0], query.measure.together(others))
    return query.measure.together([edge[0], *others])


@dataclass(frozen=True)
class _Part:
    """Values of one class that the query does not tell apart."""

    home: int
    boxes: tuple[Box, ...]
    value: Point
    row: int


def with_a_secret_arc(
    setting: Setting, query: BoundQuery, home: Home, *, end: float
) -> Exact | None:
    """Return the bound, or None where it is not to be had in time.

    `home` gives the class of a signature, None for one where no record can be.
    """
    areas = query.cells(setting.domain)
    if query.measure is not L1 or areas is None or query.separates:
        return None
    try:
        parts = _parts(setting, query, areas, home, end)
    except BlowproofError:
        return None
    if parts is None:
        return None
    return _bound(setting, query, parts, end)


def _parts(
    setting: Setting, query: BoundQuery, areas: Sequence[Area], home: Home, end: float
) -> list[_Part] | None:
    table = class_table(setting, tuple(areas), deadline=end)
    if len(table.classes) > MOST_PARTS:
        return None
    numbers: dict[object, int] = {}
    found: list[_Part] = []
    boxes = 0
    for number, item in enumerate(table.classes):
        place = home(table.effects[number].tobytes())
        if place is None:
            continue
        covered = []
        for box in item.boxes():
            covered.append(box)
            boxes += 1
            if boxes > MOST_BOXES or now() > end:
                return None
        (value,) = item.take(1)
        row = frozenset(query.row(value).items())
        found.append(_Part(place, tuple(covered), value, numbers.setdefault(row, len(numbers))))
    return found


def _bound(setting: Setting, query: BoundQuery, parts: Sequence[_Part], end: float) -> Exact | None:
    graph = setting.graph
    changes: dict[tuple[int, int], Exact] = {}

    def change(one: _Part, two: _Part) -> Exact:
        if one.row == two.row:
            return 0
        key = min(one.row, two.row), max(one.row, two.row)
        if key not in changes:
            changes[key] = query.norm({one.value: -1, two.value: 1})
        return changes[key]

    within: defaultdict[int, Exact] = defaultdict(int)
    across: defaultdict[tuple[int, int], Exact] = defaultdict(int)
    joined: dict[tuple[int, int], Exact] = {}
    for number, one in enumerate(parts):
        if now() > end:
            return None
        for two in parts[number:]:
            ends = min(one.home, two.home), max(one.home, two.home)
            size = change(one, two)
            if one.home == two.home:
                within[one.home] = max(within[one.home], size)
            else:
                across[ends] = max(across[ends], size)
            if size > joined.get(ends, -1) and any(
                graph.edge_between(a, b) for a in one.boxes for b in two.boxes
            ):
                joined[ends] = size
    whole = sum(within.values())
    return max(
        (
            along if a == b else along + across[a, b] + whole - within[a] - within[b]
            for (a, b), along in joined.items()
        ),
        default=0,
    )
