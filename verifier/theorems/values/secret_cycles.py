"""Reading 2, G not complete, independent signatures: cycles all of whose moves are along edges.

*Statement.* As in `simple_cycles`, reading 2, scope "any" or "given", in every norm. Call two
classes joined if an edge of G has an end in each. Let E_a be the largest change of f along an edge
within class a; D_ab the differences row(y) - row(x) over edges from x in a to y in b, W_ab the
largest of their norms, and V_ab the largest norm of a difference of two elements of D_ab. Then
S(f, P) is at least the largest E_a and V_ab. It is that if no classes are joined in a cycle of
three or more; else it is at most the largest of these, and of the sums of W_ab round simple cycles
of three or more (`heaviest_cycle`); in squares, of the squares of the sums of their roots.

*Proof.* A pair is a move within a class, along an edge: f changes by E_a at the most, and by that
for some edge. Or it is a simple cycle of moves between different classes, all of them along edges.
If it has two moves, x to y from a to b, and x' to y' from b to a, f changes by (row(y) - row(x)) -
(row(x') - row(y')), the difference of two elements of D_ab, and any two elements occur: G has its
edges both ways, and two moves that have an effect each, and none together, are irreducible. If it
has three moves or more, the classes that it visits are joined in a cycle, and f changes by no more
than what its moves change it by, each W_ab at the most: each norm, or its root, obeys the triangle
inequality. (So of two edges that are too short together none is compared with the other.) Under
scope "given" every class that is occupied has a record, with any of its values. QED

*The histogram.* Its edges need not be listed. Where a cycle visits a class, one record leaves and
one comes: the class changes by 2 at the most, and by nothing if it has one value. So S(h, P) is at
most 2 (a move within a class), or twice the classes of two values or more on a simple cycle of
joined classes, two of them or more; in squares too, as no cell changes by more than 1.

*Pairs round longer cycles.* Every choice of an edge for each arc of a simple cycle of classes makes
a pair. So the heaviest cycle is taken, with some edge for each arc, and one arc after the other
takes the edge that changes f most beside the others, until none does better. For the histogram
three edges without a common end are enough for each arc: each of its two neighbours on the cycle
bars one of them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from itertools import chain
from math import ceil, floor, isqrt

from blowproof.models import (
    Area,
    BlowproofError,
    BoundQuery,
    Box,
    BudgetError,
    Domain,
    Exact,
    Point,
    Setting,
)
from blowproof.models.base.clock import now
from blowproof.models.base.numbers import plain
from blowproof.models.norms import L1, L2_SQUARED
from blowproof.models.secrets import OffsetGraph
from blowproof.models.stacks.stacked import Stacked, is_histogram
from blowproof.verifier.limits.limit import whole_limit
from blowproof.verifier.moves.edge_ends import disjoint_edges, near_pairs
from blowproof.verifier.theorems.values.free_change import axes_of_facts
from blowproof.verifier.theorems.values.sums_along_edges import heaviest_cycle

__all__ = ["SecretCycles", "histogram_cycles", "secret_cycles"]

MOST_EDGES = whole_limit(__name__, "MOST_EDGES")
MOST_COMPARED = whole_limit(__name__, "MOST_COMPARED")
LONG_ROW = whole_limit(__name__, "LONG_ROW")
MOST_TURNS = whole_limit(__name__, "MOST_TURNS")
APART = whole_limit(__name__, "APART")
FINE = whole_limit(__name__, "FINE")

PlaceOf = Callable[[Point], int | None]
Edge = tuple[Point, Point]
Edges = dict[Hashable, Edge]
"""Edges from one class to another, one for each difference of rows."""
Worth = tuple[Exact, tuple[Edge, ...]]
"""What exchanges change a query by; of each class on a cycle, what goes and what comes."""


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
    if query.separates:
        return None
    try:
        across, inside, whole = _edges(setting, query, place_of, end)
    except BlowproofError:
        return None
    best: Worth = (0, ())
    if inside is not None:
        best = query.norm({inside[0]: -1, inside[1]: 1}), (inside,)
    sized = {
        ends: sorted(((_length(query, edge), edge) for edge in found.values()), key=_long_first)
        for ends, found in across.items()
    }
    arcs: dict[int, dict[int, Exact]] = defaultdict(dict)
    for (a, b), edges in sized.items():
        arcs[a][b] = arcs[b][a] = edges[0][0]
    compared = _compared(query, list(sized.values()), best, end)
    if compared is None:
        return None
    best, beyond = compared
    above = _root(query, best[0])
    heaviest = heaviest_cycle(arcs, end=end, least=3, above=above)
    if heaviest.upper > above:
        beyond = max(beyond, heaviest.upper**query.measure.degree)
    if heaviest.cycle:
        choices = [
            list(across[a, b].values()) if a < b else [(y, x) for x, y in across[b, a].values()]
            for a, b in _arcs(heaviest.cycle)
        ]
        best = max(best, _round(query, choices, end), key=_value)
    beyond = max(beyond, best[0])
    return SecretCycles(best[0], floor(beyond) if whole else plain(beyond), best[1])


def _compared(
    query: BoundQuery, sized: Sequence[Sequence[tuple[Exact, Edge]]], best: Worth, end: float
) -> tuple[Worth, Exact] | None:
    """Return the best two edges between two classes, and what no two exceed; None: no time."""
    left, beyond = MOST_COMPARED, best[0]
    for edges in sorted(sized, key=lambda edges: -edges[0][0]):
        if now() > end:
            return None
        longest, power = edges[0][0], query.measure.degree
        if (2 * longest) ** power <= best[0]:
            break
        left -= len(edges) ** 2
        if left < 0:  # too many to compare: some of them, and what no two exceed
            beyond = max(beyond, (2 * longest) ** power)
            there = [edge for _, edge in edges]
            best = max(best, _round(query, [there, [(y, x) for x, y in there]], end), key=_value)
            continue
        far = [ceil(length * FINE) for length, _ in edges]
        needed = _steps_below(query, best[0])
        for place, (_, (x, y)) in enumerate(edges):
            if now() > end:
                return None
            for number in range(place + 1, len(edges)):
                if far[place] + far[number] <= needed:
                    break
                u, v = edges[number][1]
                # x goes to y, and v comes back to u
                value = query.norm(_change(((x, y), (v, u))))
                if value > best[0]:
                    best = value, ((x, u), (v, y))
                    needed = _steps_below(query, value)
    return best, beyond


def _steps_below(query: BoundQuery, size: Exact) -> int:
    """Return a whole number of steps of length, 1 / FINE each, that change no more than a size."""
    if query.measure.degree == 1:
        return floor(size * FINE)
    return isqrt(floor(size * FINE * FINE))


def _long_first(edge: tuple[Exact, Edge]) -> Exact:
    return -edge[0]


def _length(query: BoundQuery, edge: Edge) -> Exact:
    """Return what a move changes, as a number that adds up."""
    x, y = edge
    return _root(query, query.norm({x: -1, y: 1}))


def _root(query: BoundQuery, size: Exact) -> Exact:
    """Return a size; in squares its root, rounded up to a step of 1 / FINE or finer."""
    if query.measure.degree == 1:
        return size
    square = Fraction(size)
    whole = square.numerator * square.denominator * FINE * FINE
    root = isqrt(whole)
    return plain(Fraction(root + (root * root < whole), square.denominator * FINE))


def histogram_cycles(
    setting: Setting, query: BoundQuery, classes: Sequence[Sequence[Box]], end: float
) -> SecretCycles | None:
    """Return the bounds of a histogram; `classes`: disjoint boxes of each, of those occupied."""
    if query.measure not in (L1, L2_SQUARED) or not is_histogram(query):
        return None
    try:
        near = near_pairs(setting.graph, classes, end)
        some = {ends: list(disjoint_edges(setting.graph, near[ends], 1)) for ends in near}
    except BlowproofError:
        return None
    best: Worth = (0, ())
    weights = [2 * int(sum(box.size for box in boxes) > 1) for boxes in classes]
    arcs: dict[int, dict[int, Exact]] = defaultdict(dict)
    for (a, b), found in some.items():
        if found and a == b:
            best = 2, (found[0],)
        elif found:
            arcs[a][b], arcs[b][a] = weights[b], weights[a]
    heaviest = heaviest_cycle(arcs, end=end, above=best[0])
    choices = []
    for a, b in _arcs(heaviest.cycle):
        few = disjoint_edges(setting.graph, near[min(a, b), max(a, b)], APART)
        choices.append(list(few) if a < b else [(y, x) for x, y in few])
    if choices:
        best = max(best, _round(query, choices, end), key=_value)
    return SecretCycles(best[0], heaviest.upper, best[1])


def _arcs(cycle: Sequence[int]) -> list[tuple[int, int]]:
    return list(zip(cycle, (*cycle[1:], *cycle[:1]), strict=True))


def _value(found: Worth) -> Exact:
    return found[0]


def _round(query: BoundQuery, choices: Sequence[Collection[Edge]], end: float) -> Worth:
    """Return what chosen edges round a cycle change; what goes and comes in each class on it."""
    moves = _chosen(query, choices, end)
    last = [y for _, y in (*moves[-1:], *moves[:-1])]
    exchanges = tuple((x, y) for (x, _), y in zip(moves, last, strict=True))
    return query.norm(_change(moves)), exchanges


def _chosen(query: BoundQuery, choices: Sequence[Collection[Edge]], end: float) -> tuple[Edge, ...]:
    """Return an edge for each arc that changes the query most beside the others."""
    moves = [next(iter(edges)) for edges in choices]
    written = query.longest_row <= LONG_ROW
    whole: dict[Hashable, Exact] = defaultdict(int)
    for edge in moves if written else ():
        _add(query, whole, edge, 1)
    for _ in range(MOST_TURNS):
        better = False
        for place, edges in enumerate(choices):
            if now() > end:
                return tuple(moves)
            others = [*moves[:place], *moves[place + 1 :]]
            if written:
                _add(query, whole, moves[place], -1)
                gain = partial(_gain, query, whole)
            else:
                gain = partial(_worth_beside, query, others)
            best = max(edges, key=gain)
            if gain(best) > gain(moves[place]):
                moves[place], better = best, True
            if written:
                _add(query, whole, moves[place], 1)
        if not better:
            break
    return tuple(moves)


def _worth_beside(query: BoundQuery, others: Sequence[Edge], edge: Edge) -> Exact:
    """Return how much a move changes the query together with others."""
    return query.norm(_change([*others, edge]))


def _add(query: BoundQuery, whole: dict[Hashable, Exact], edge: Edge, times: int) -> None:
    for point, sign in zip(edge, (-times, times), strict=True):
        for output, value in query.row(point).items():
            whole[output] += sign * value


def _gain(query: BoundQuery, whole: Mapping[Hashable, Exact], edge: Edge) -> Exact:
    """Return how much more outputs change when a move comes to those that there are: their
    squares where these count, else their sizes.
    """
    own: dict[Hashable, Exact] = defaultdict(int)
    _add(query, own, edge, 1)
    gain: Exact = 0
    for output, value in own.items():
        before: Exact = whole.get(output, 0)
        if query.measure.degree > 1:
            gain += query.weight(output) * value * (2 * before + value)
        else:
            gain += max(before + value, -before - value) - max(before, -before)
    return gain


def _change(moves: Sequence[Edge]) -> dict[Point, int]:
    change: dict[Point, int] = defaultdict(int)
    for x, y in moves:
        change[x] -= 1
        change[y] += 1
    return {point: times for point, times in change.items() if times}


def _edges(
    setting: Setting, query: BoundQuery, place_of: PlaceOf, end: float
) -> tuple[dict[tuple[int, int], Edges], Edge | None, bool]:
    """Return edges between each two classes, the first one left, the best within a class, and
    whether all that the query can change by is whole.
    """
    across: dict[tuple[int, int], Edges] = defaultdict(dict)
    inside: dict[Hashable, Edge] = {}
    rows = _Rows(query, setting.domain)
    seen: dict[Point, tuple[int | None, int]] = {}
    met: set[tuple[int, int, int, int]] = set()

    def look(x: Point) -> tuple[int | None, int]:
        """Return the class of a value, and the number of its row."""
        if x not in seen:
            seen[x] = place_of(x), rows.number(x)
        return seen[x]

    for number, (x, y) in enumerate(_edges_read(setting, query)):
        if number % 1000 == 0 and now() > end:
            raise BudgetError("no time was left to look at the edges of G")
        (a, first), (b, second) = look(x), look(y)
        if a is None or b is None or (a, first, b, second) in met:
            continue
        met.add((a, first, b, second))
        if a == b:
            inside.setdefault(rows.difference(first, second), (x, y))
        elif a < b:
            across[a, b].setdefault(rows.difference(first, second), (x, y))
        else:
            across[b, a].setdefault(rows.difference(second, first), (y, x))
    best = max(inside.values(), key=lambda e: query.norm({e[0]: -1, e[1]: 1}), default=None)
    return across, best, rows.whole


class _Rows:
    """Rows of a query by their numbers; long ones are not written out, each axis read counts."""

    def __init__(self, query: BoundQuery, domain: Domain) -> None:
        # the rows of a single part differ where the query's do
        self._parts = query.parts if isinstance(query, Stacked) else ()
        self._query = self._parts[0].query if len(self._parts) == 1 else query
        self._domain = domain
        self._read = sorted(query.axes_read(domain))
        self._written = query.longest_row <= LONG_ROW
        self._rows: list[Mapping[Hashable, Exact]] = []
        self._numbers: dict[Hashable, int] = {}
        self._shown: dict[Point, int] = {}

    def number(self, point: Point) -> int:
        """Return the number of a value's row; values with the same number have the same."""
        read = tuple(point[axis] for axis in self._read)
        if read not in self._shown:
            row = self._query.row(point) if self._written else {}
            key: Hashable = frozenset(row.items()) if self._written else read
            if key not in self._numbers:
                self._numbers[key] = len(self._rows)
                self._rows.append(row)
            self._shown[read] = self._numbers[key]
        return self._shown[read]

    def difference(self, first: int, second: int) -> Hashable:
        """Return a key of second - first: two with the same key are the same."""
        if not self._written:
            return first, second
        one, two = self._rows[first], self._rows[second]
        apart = {output: two.get(output, 0) - one.get(output, 0) for output in (*one, *two)}
        return frozenset((output, value) for output, value in apart.items() if value)

    @property
    def whole(self) -> bool:
        """Whether all that the query can change by is known to be whole."""
        entries: Iterable[Exact] | None = ()
        if not self._written:
            entries = self._query.entries(self._domain, labelled=True)
        elif not self._query.binary:
            entries = (value for row in self._rows for value in row.values())
        weights = (value for part in self._parts for value in part.weights)
        return entries is not None and all(x.denominator == 1 for x in chain(weights, entries))


def _edges_read(setting: Setting, query: BoundQuery) -> Iterator[Edge]:
    """Yield edges enough for all differences of rows, from class to class and within classes.

    Where G looks at offsets, an edge whose ends differ on an axis that neither the facts nor the
    query read is one without that, or nothing is left of it, and makes the same difference: other
    axes are charged no more. Where an edge changes one axis only, those of an axis that the query
    does not read change nothing, wherever they are on the query's axes; and those of an axis that
    no fact reads stay in their class, wherever that is, if records may be everywhere. On an axis
    with one possible position nothing changes.
    """
    graph, domain = setting.graph, setting.domain
    held = _held(setting)
    facts, asked = axes_of_facts(setting) - held.keys(), query.axes_read(domain) - held.keys()
    read = facts | asked
    if not isinstance(graph, OffsetGraph):
        yield from graph.edges(limit=MOST_EDGES)
    elif graph.together == "sum" and 2 * min(axis.weight for axis in graph.axes) > graph.bound:
        everywhere = setting.scope == "any" and domain.restricted([setting.impossible]) <= set(held)
        for axis in sorted(read):
            others = facts if axis not in asked else asked if everywhere else read
            yield from _edges_on(graph, others if axis not in facts else read, {axis}, held)
    else:
        yield from _edges_on(graph, read, read, held)


def _held(setting: Setting) -> dict[int, int]:
    """Return the axes with one possible position, whatever the others are, and that position."""
    left = dict(enumerate(setting.domain.whole.sides))
    for box in setting.impossible.boxes:
        axes = list(setting.domain.restricted([Area((box,))]))
        if len(axes) == 1:
            left[axes[0]] -= box.sides[axes[0]]
    return {axis: side.nth(0) for axis, side in left.items() if side.size == 1}


def _edges_on(
    graph: OffsetGraph, read: Collection[int], changed: Collection[int], held: Mapping[int, int]
) -> Iterator[Edge]:
    """Yield edges that change some axes, with one position on all axes that are not read."""
    kept = sorted(read)
    if not kept:
        return
    alone = graph.on(kept)
    smaller = replace(
        alone,
        axes=tuple(
            item if axis in changed else replace(item, weight=graph.bound + 1)
            for axis, item in zip(kept, alone.axes, strict=True)
        ),
    )
    places = {axis: place for place, axis in enumerate(kept)}

    def spread(point: Point) -> Point:
        return tuple(
            point[places[k]] if k in places else held.get(k, 0) for k in range(len(graph.domain))
        )

    for x, y in smaller.edges(limit=MOST_EDGES):
        yield spread(x), spread(y)
