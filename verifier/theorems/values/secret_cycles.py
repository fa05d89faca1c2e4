"""Reading 2, G not complete, independent signatures: cycles all of whose moves are along edges.

*Statement.* As in `simple_cycles`, reading 2, scope "any" or "given", a query in L1. Call two
classes joined if an edge of G has an end in each. Let E_a be the largest change of f along an edge
within class a; D_ab the differences row(y) - row(x) over edges from x in a to y in b, W_ab the
largest of their norms, and V_ab the largest norm of a difference of two elements of D_ab. Then
S(f, P) is at least the largest E_a and V_ab. It is that if no classes are joined in a cycle of
three or more; else it is at most the largest of these, and of the sums of W_ab round simple cycles
of three or more (`heaviest_cycle`).

*Proof.* A pair is a move within a class, along an edge: f changes by E_a at the most, and by that
for some edge. Or it is a simple cycle of moves between different classes, all of them along edges.
If it has two moves, x to y from a to b, and x' to y' from b to a, f changes by (row(y) - row(x)) -
(row(x') - row(y')), the difference of two elements of D_ab, and any two elements occur: G has its
edges both ways, and two moves that have an effect each, and none together, are irreducible. If it
has three moves or more, the classes that it visits are joined in a cycle, and f changes by no more
than what its moves change it by, each W_ab at the most. Under scope "given" every class that is
occupied has a record, with any of its values. QED
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from itertools import combinations

from blowproof.models import BlowproofError, BoundQuery, BudgetError, Exact, Point, Setting
from blowproof.models.base.clock import now
from blowproof.models.norms import L1
from blowproof.verifier.limits.limit import whole_limit
from blowproof.verifier.theorems.values.sums_along_edges import heaviest_cycle

__all__ = ["SecretCycles", "secret_cycles"]

MOST_EDGES = whole_limit(__name__, "MOST_EDGES")
MOST_COMPARED = whole_limit(__name__, "MOST_COMPARED")
LONG_ROW = whole_limit(__name__, "LONG_ROW")

PlaceOf = Callable[[Point], int | None]
Edge = tuple[Point, Point]
Edges = dict[Hashable, Edge]
"""Edges from one class to another, one for each difference of rows."""


@dataclass(frozen=True)
class SecretCycles:
    """Bounds on S(f, P); `exchanges` meet the lower one: a value that goes and one that comes, in
    each class of a cycle.
    """

    lower: Exact
    upper: Exact
    exchanges: tuple[Edge, ...]


def secret_cycles(
    setting: Setting, query: BoundQuery, place_of: PlaceOf, end: float
) -> SecretCycles | None:
    """Return the bounds; None where edges are too many to list, or there is no time."""
    if query.measure is not L1 or query.separates:
        return None
    try:
        across, inside = _edges(setting, query, place_of, end)
    except BlowproofError:
        return None
    best: tuple[Exact, tuple[Edge, ...]] = (0, ())
    if inside is not None:
        best = query.norm({inside[0]: -1, inside[1]: 1}), (inside,)
    compared = sum(len(found) ** 2 for found in across.values())
    if compared > MOST_COMPARED:
        return None
    for found in across.values():
        if now() > end:
            return None
        for (x, y), (u, v) in combinations(found.values(), 2):
            # x goes to y, and v comes back to u
            change = _change(((x, y), (v, u)))
            value = query.norm(change)
            if value > best[0]:
                best = value, ((x, u), (v, y))
    arcs: dict[int, dict[int, Exact]] = defaultdict(dict)
    for (a, b), found in across.items():
        most = max(query.norm({x: -1, y: 1}) for x, y in found.values())
        arcs[a][b] = arcs[b][a] = most
    upper = heaviest_cycle(arcs, end=end, least=3, above=best[0]).upper
    return SecretCycles(best[0], upper, best[1])


def _change(moves: tuple[Edge, ...]) -> dict[Point, int]:
    change: dict[Point, int] = defaultdict(int)
    for x, y in moves:
        change[x] -= 1
        change[y] += 1
    return {point: times for point, times in change.items() if times}


def _edges(
    setting: Setting, query: BoundQuery, place_of: PlaceOf, end: float
) -> tuple[dict[tuple[int, int], Edges], Edge | None]:
    """Return edges between each two classes, the first one left, and the best within a class."""
    across: dict[tuple[int, int], Edges] = defaultdict(dict)
    seen: dict[Point, tuple[int | None, int]] = {}
    rows: list[Mapping[Hashable, Exact]] = []
    numbers: dict[Hashable, int] = {}
    met: set[tuple[int, int, int, int]] = set()
    inside: dict[Hashable, Edge] = {}

    def look(x: Point) -> tuple[int | None, int]:
        """Return the class of a value, and the number of its row (a long one has its own)."""
        if x not in seen:
            row = query.row(x)
            key: Hashable = frozenset(row.items()) if len(row) <= LONG_ROW else x
            if key not in numbers:
                numbers[key] = len(rows)
                rows.append(row)
            seen[x] = place_of(x), numbers[key]
        return seen[x]

    for number, (x, y) in enumerate(setting.graph.edges(limit=MOST_EDGES)):
        if number % 1000 == 0 and now() > end:
            raise BudgetError("no time was left to look at the edges of G")
        (a, first), (b, second) = look(x), look(y)
        if a is None or b is None or (a, first, b, second) in met:
            continue
        met.add((a, first, b, second))
        one, two = rows[first], rows[second]
        key: Hashable = (x, y)
        if len(one) + len(two) <= LONG_ROW:
            apart = {output: two.get(output, 0) - one.get(output, 0) for output in (*one, *two)}
            if a > b:
                apart = {output: -value for output, value in apart.items()}
            key = frozenset((output, value) for output, value in apart.items() if value)
        if a == b:
            inside.setdefault(key, (x, y))
        elif a < b:
            across[a, b].setdefault(key, (x, y))
        else:
            across[b, a].setdefault(key, (y, x))
    best = max(inside.values(), key=lambda e: query.norm({e[0]: -1, e[1]: 1}), default=None)
    return across, best
