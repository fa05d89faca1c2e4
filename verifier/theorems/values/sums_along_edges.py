"""Reading 2, independent signatures, sums: the heaviest cycle along edges, by boxes.

*Statement.* As in `secret_cycles`, for a sum of one attribute or of several, in l1. For signs t,
one for each attribute, let w_t(a, b) be the largest t (y - x) along an edge of G from x in class a
to y in class b. S(f, P) is the largest, over the signs t, of all w_t(a, a), and of the sums of w_t
round simple cycles of two classes or more, each joined to the next.

*Proof.* |v| is the largest t v over signs t. A pair is a move along an edge within a class, or a
simple cycle of moves along edges between different classes; and every such move, and every such
cycle, is a pair, whichever edges its moves are along (`secret_cycles`). So each arc may take the
edge that is best for t, and t = -1 in all places is the same cycle the other way round. QED

*In other norms*, with one weight for all attributes, the same holds with other t. |v|_inf is the
largest t v over t = 1 for one attribute and 0 for the others, the range of v that over t = 1 for
one, -1 for another (or none, if some output never changes): so S(f, P) is the largest again. With
U_t no less than it is for t, in squares |v|^2 is at most |v|_1^2, so the largest U_t^2 over signs
t, and at most the sum of U_t^2 over the attributes; from below there are the cycles of all these t.

*Cumulative counts.* A move from x to y changes them by |y - x| positions in l1, and several by no
less than |sum of (y - x)|. So S(f, P) is at least what it is for the sum of positions, and at most
the largest |y - x| along an edge within a class, or the sum of the largest |y - x| from class to
class round a cycle. (For all queries the second half is in `secret_cycles`.) The same holds of all
ranges of an axis of m positions: a move over d positions changes d (m + 1 - d) of them, the more
the longer it is, up to the `middle`; from below there is what the same moves change.

Where G looks at offsets alone, the best edge between two boxes is found axis by axis: an axis that
is not summed takes its cheapest offset, and the others share what G's bound leaves (`best_edge`).

The heaviest cycle is looked for with what is left to gain in view: each class is left once at the
most, along its best arc. Where there are too many, that is the bound: classes that lie on no cycle
of three or more are left out of it, one after the other, for they have at most one other beside
them. *Few light arcs, few heavy ones.* Call arcs of more than t heavy, and let C be what heavy arcs
join, to and fro. A simple cycle that does not stay in one C leaves each C that it visits by a light
arc, from one class a at least. With m(a) for the heaviest arc out of a, and l(a) for the heaviest
light one (no less than 0 both), the cycle weighs no more than the sum of all m(a), less the least
m(a) - l(a) of each C, over those a that have a light arc; and one that stays in C no more than the
sum of m(a) there. So the larger of these bounds it, for any t. Where only moves between three
degrees are seen, and all others lead from programme to programme, a third of the moves is not.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import singledispatch
from itertools import combinations, product
from typing import NamedTuple

from blowproof.models import Box, Exact, Point
from blowproof.models.base.clock import now, spend
from blowproof.models.base.numbers import plain, total
from blowproof.models.norms import L1, L2_SQUARED, RANGE
from blowproof.models.queries.cumulative import AlongAxis
from blowproof.models.queries.kinds import Ranges, SumQuery
from blowproof.models.queries.query import BoundQuery
from blowproof.models.queries.ranges import middle
from blowproof.models.secrets import OffsetGraph, SecretGraph
from blowproof.models.secrets.axes import Axis, closest
from blowproof.models.stacks.stacked import Stacked
from blowproof.verifier.limits.limit import real_limit, whole_limit

__all__ = ["Heaviest", "best_edge", "heaviest_cycle", "sums_along_edges"]

MOST_SUMMED = whole_limit(__name__, "MOST_SUMMED")
MOST_PAIRS = whole_limit(__name__, "MOST_PAIRS")
MOST_OFFSETS = whole_limit(__name__, "MOST_OFFSETS")
MOST_LEVELS = whole_limit(__name__, "MOST_LEVELS")
MOST_STEPS = whole_limit(__name__, "MOST_STEPS")
STEP = real_limit(__name__, "STEP")

Edge = tuple[Point, Point]
Slopes = Mapping[int, Exact]
"""What one position more on an axis is worth."""
Arcs = Mapping[int, Mapping[int, Exact]]


class Heaviest(NamedTuple):
    """The heaviest cycle that is found (classes in order), its weight, and what none exceeds."""

    weight: Exact
    cycle: tuple[int, ...]
    upper: Exact


class Found(NamedTuple):
    """Bounds on S(f, P), and the arcs that meet the lower one: round a cycle, or within a class."""

    lower: Exact
    upper: Exact
    arcs: tuple[Edge, ...]


def sums_along_edges(
    graph: SecretGraph, query: BoundQuery, classes: Sequence[Sequence[Box]], end: float
) -> Found | None:
    """Return bounds for classes (disjoint boxes of each); None where it does not speak of them.

    That is where G does not look at offsets alone, boxes are too many, or there is no time.
    """
    inner, weight = _unstacked(query)
    steps = {} if inner is None else _steps(inner)
    count = sum(map(len, classes))
    if inner is None or not steps or not isinstance(graph, OffsetGraph):
        return None
    if len(steps) > MOST_SUMMED or count**2 > MOST_PAIRS:
        return None
    signs, singles = _directions(query, len(steps))
    lower: Exact = 0
    best: tuple[Edge, ...] = ()
    uppers: dict[tuple[int, ...], Exact] = {}
    for direction in (*signs, *singles):
        slopes = {axis: t * step for (axis, step), t in zip(steps.items(), direction, strict=True)}
        edges = _edges(graph, classes, slopes, end)
        if edges is None:
            return None
        uppers[direction], found = _in_direction(inner, edges, end)
        for arcs in found:
            value = query.norm(_change(arcs))
            if value > lower:
                lower, best = value, arcs
    if query.measure is L2_SQUARED:
        sizes = max(uppers[t] for t in signs) ** 2, total(uppers[t] ** 2 for t in singles)
        return Found(lower, plain(weight * min(sizes)), best)
    return Found(lower, plain(weight * max(uppers.values(), default=0)), best)


def _unstacked(query: BoundQuery) -> tuple[BoundQuery | None, Exact]:
    """Return the query and its weight, if it is one, with one weight; counts along an axis: l1."""
    if not isinstance(query, Stacked):
        return query, 1
    part, *others = query.parts
    if others or not part.uniform or isinstance(part.query, AlongAxis):
        return None, 1
    return part.query, part.weights[0]


def _directions(
    query: BoundQuery, count: int
) -> tuple[list[tuple[int, ...]], list[tuple[int, ...]]]:
    """Return the t of the statement: all signs, and those that look at single attributes."""
    signs: list[tuple[int, ...]] = list(product((1,), *[(1, -1)] * (count - 1)))
    places = range(count)
    alone: list[tuple[int, ...]] = [tuple(int(k == each) for k in places) for each in places]
    if query.measure is L1:
        return signs, []
    if query.measure is not RANGE:
        return (signs if query.measure is L2_SQUARED else []), alone
    apart: list[tuple[int, ...]] = [
        tuple((k == one) - (k == two) for k in places) for one, two in combinations(places, 2)
    ]
    return [], [*apart, *(alone if query.still(count) else [])]


def _in_direction(
    query: BoundQuery, edges: Mapping[tuple[int, int], tuple[Exact, Edge]], end: float
) -> tuple[Exact, list[tuple[Edge, ...]]]:
    """Return what no pair exceeds in a direction, and the arcs of the best pairs found."""
    arcs: dict[int, dict[int, Exact]] = {}
    inside: Exact = 0
    best: list[tuple[Edge, ...]] = [(), ()]
    for (a, b), (weight, edge) in edges.items():
        if a != b:
            arcs.setdefault(a, {})[b] = weight
        elif weight > inside:
            inside, best[0] = weight, (edge,)
    found = heaviest_cycle(arcs, end=end)
    if found.cycle:
        ends = zip(found.cycle, (*found.cycle[1:], found.cycle[0]), strict=True)
        best[1] = tuple(edges[a, b][1] for a, b in ends)
    if isinstance(query, AlongAxis):
        longest = {
            a: {b: _passed(query, max(weight, arcs[b][a])) for b, weight in row.items()}
            for a, row in arcs.items()
        }
        found = heaviest_cycle(longest, end=end)
        inside = _passed(query, inside)
    return max(inside, found.upper), best


def _change(arcs: Sequence[Edge]) -> Counter[Point]:
    change = Counter(y for _, y in arcs)
    change.subtract(x for x, _ in arcs)
    return change


@singledispatch
def _steps(query: BoundQuery) -> dict[int, Exact]:
    """Return what a position is worth on the axes of a sum, or of counts along an axis; else {}."""
    return {}


@_steps.register
def _of_sums(query: SumQuery) -> dict[int, Exact]:
    return {axis: query.domain.attribute(axis).step for axis in query.axes}


@_steps.register
def _of_counts(query: AlongAxis) -> dict[int, Exact]:
    return {query.axis: 1}


@singledispatch
def _passed(query: AlongAxis, far: Exact) -> Exact:
    """Return what a move along an axis changes counts by if it passes no more positions."""
    return far


@_passed.register
def _in_ranges(query: Ranges, far: Exact) -> Exact:
    least = min(far, middle(query.size))
    return least * (query.size + 1 - least)


def _edges(
    graph: OffsetGraph, classes: Sequence[Sequence[Box]], slopes: Slopes, end: float
) -> dict[tuple[int, int], tuple[Exact, Edge]] | None:
    """Return the best edge from each class to each, with what it is worth."""
    found: dict[tuple[int, int], tuple[Exact, Edge]] = {}
    for a, left in enumerate(classes):
        if now() > end:
            return None
        for b, right in enumerate(classes):
            for one, two in product(left, right):
                told = best_edge(graph, one, two, slopes)
                if told is None:
                    return None
                for each in told:
                    if (a, b) not in found or each[0] > found[a, b][0]:
                        found[a, b] = each
    return found


# --- the best edge between two boxes -------------------------------------------------------------


class _Run(NamedTuple):
    """Offsets from one run of positions to another: all from the least to the most."""

    least: int
    most: int
    left: tuple[int, int]
    right: tuple[int, int]

    def ends(self, offset: int) -> tuple[int, int]:
        """Return two positions that are so far apart."""
        start = max(self.left[0], self.right[0] - offset)
        return start, start + offset


def best_edge(
    graph: OffsetGraph, one: Box, two: Box, slopes: Slopes
) -> list[tuple[Exact, Edge]] | None:
    """Return the best edge from a box to another, with what it is worth; [] where there is none.

    None where too many offsets would have to be tried. Two equal values are no edge: their worth is
    0, and they are left out where nothing is worth more.
    """
    pairs: list[tuple[int, int]] = []
    for s, t in zip(one.sides, two.sides, strict=True):
        near = closest(s, t, apart=False)
        if near is None:
            return []
        pairs.append(near)
    budget, free = graph.bound, [k for k in range(len(pairs)) if not slopes.get(k)]
    for axis in free:
        item = graph.axes[axis]
        cost = item.cost(item.offset(*pairs[axis]))
        if cost > budget:
            return []
        budget -= cost if graph.together == "sum" else 0
    summed = [axis for axis in slopes if slopes[axis]]
    best: tuple[Exact, list[tuple[int, int]]] | None = None
    for runs in product(*(_runs(one, two, axis) for axis in summed)):
        told = _best_offsets(graph, budget, list(zip(summed, runs, strict=True)), slopes)
        if told is None:
            return None
        for worth, offsets in told:
            if best is None or worth > best[0]:
                best = worth, [run.ends(far) for run, far in zip(runs, offsets, strict=True)]
    if best is None:
        return []
    for axis, ends in zip(summed, best[1], strict=True):
        pairs[axis] = ends
    x, y = tuple(p for p, _ in pairs), tuple(q for _, q in pairs)
    return [(best[0], (x, y))] if graph.is_edge(x, y) else []


def _runs(one: Box, two: Box, axis: int) -> Iterator[_Run]:
    for low, high in one.sides[axis].runs:
        for start, stop in two.sides[axis].runs:
            yield _Run(start - high + 1, stop - 1 - low, (low, high), (start, stop))


def _best_offsets(
    graph: OffsetGraph, budget: int, runs: Sequence[tuple[int, _Run]], slopes: Slopes
) -> list[tuple[Exact, list[int]]] | None:
    """Return the best offsets within a budget, and their worth; [] where there are none."""
    if not runs:
        return [(0, [])]
    (axis, run), *rest = runs
    item, slope = graph.axes[axis], slopes[axis]
    alone = graph.together == "max" or not rest
    offsets = _offsets(item, run, budget, up=slope > 0, best=alone)
    if len(offsets) > MOST_OFFSETS:
        return None
    best: tuple[Exact, list[int]] | None = None
    for offset in offsets:
        spend(STEP)
        cost = item.cost(_charged(item, offset))
        left = budget - cost if graph.together == "sum" else budget
        told = _best_offsets(graph, left, rest, slopes)
        if told is None:
            return None
        for worth, others in told:
            if best is None or worth + slope * offset > best[0]:
                best = worth + slope * offset, [offset, *others]
    return [] if best is None else [best]


def _charged(item: Axis, offset: int) -> int:
    """Return what an axis charges for: how far, or on an axis that is no line whether at all."""
    return abs(offset) if item.line else int(offset != 0)


def _offsets(item: Axis, run: _Run, budget: int, *, up: bool, best: bool) -> Sequence[int]:
    """Return the offsets on an axis that the budget pays for and that may be best.

    None are that pay more for less: those beyond 0 the wrong way, but for the nearest. `best`: the
    best alone.
    """
    reach = item.reach(budget)
    if not item.line:
        far = [run.most if up else run.least] if reach else []
        near = [0] if run.least <= 0 <= run.most else []
        if best and far:
            return far
        return list(dict.fromkeys([*near, *far]))
    low, high = max(run.least, -reach), min(run.most, reach)
    if low > high:
        return []
    if best:
        return [high if up else low]
    if up:
        return range(max(low, min(0, high)), high + 1)
    return range(low, min(high, max(0, low)) + 1)


# --- the heaviest cycle --------------------------------------------------------------------------


def heaviest_cycle(arcs: Arcs, *, end: float, least: int = 2, above: Exact = 0) -> Heaviest:
    """Return the heaviest simple cycle of so many classes at the `least`, if it is heavier than
    `above`; each arc has its opposite.

    Within a limit of steps; beyond it there are bounds.

    >>> ring = {k: {(k + 1) % 4: 3, (k - 1) % 4: 1} for k in range(4)}
    >>> heaviest_cycle(ring, end=float("inf"))
    Heaviest(weight=12, cycle=(0, 1, 2, 3), upper=12)
    """
    weight, cycle = above, tuple[int, ...]()
    for a, row in arcs.items() if least == 2 else ():
        for b, there in row.items():
            back = arcs[b][a]
            if a < b and there + back > weight:
                weight, cycle = there + back, (a, b)
    core = _core(arcs)
    upper = max(weight, _by_light_arcs(core))
    if weight == upper:
        return Heaviest(weight, cycle, upper)
    search = _Cycles(core, Heaviest(weight, cycle, upper), least, end)
    complete = search.run()
    return Heaviest(search.weight, search.cycle, search.weight if complete else upper)


def _by_light_arcs(core: Arcs) -> Exact:
    """Return what no simple cycle exceeds: some arcs out of what heavy arcs join are light."""
    rows = {a: sorted(max(0, weight) for weight in row.values()) for a, row in core.items()}
    best: Exact = sum(row[-1] for row in rows.values())
    size = {a: row[-1] for a, row in rows.items()}  # of what is joined, by its root
    root = {a: a for a in rows}

    def find(a: int) -> int:
        while root[a] != a:
            root[a] = a = root[root[a]]
        return a

    levels: dict[Exact, list[tuple[int, int]]] = defaultdict(list)
    for a, row in core.items():
        for b, weight in row.items():
            levels[max(0, weight)].append((a, b))
    spend(sum(map(len, levels.values())) * STEP)
    whole = best
    for level in sorted(levels, reverse=True)[: MOST_LEVELS + 1]:
        # arcs above this level are joined by now
        least: dict[int, Exact] = {}
        for a, weights in rows.items():
            light = bisect_right(weights, level)
            if light:
                home, drop = find(a), weights[-1] - weights[light - 1]
                least[home] = min(least.get(home, drop), drop)
        joined = max((size[a] for a in rows if root[a] == a), default=0)
        best = min(best, max(joined, whole - sum(least.values())))
        spend(len(rows) * STEP)
        for a, b in levels[level]:
            one, two = find(a), find(b)
            if one != two:
                root[one] = two
                size[two] += size[one]
    return best


def _core(arcs: Arcs) -> dict[int, dict[int, Exact]]:
    """Return what is left when classes with one other beside them are left out, over and over."""
    core = {a: dict(row) for a, row in arcs.items()}
    thin = [a for a, row in core.items() if len(row) < 2]
    while thin:
        a = thin.pop()
        for b in core.pop(a, {}):
            del core[b][a]
            if len(core[b]) == 1:
                thin.append(b)
    return core


class _Cycles:
    """A search along paths from each class to classes that were not started from."""

    def __init__(self, core: Arcs, best: Heaviest, least: int, end: float) -> None:
        self.core, self.least, self.end = core, least, end
        self.weight, self.cycle, self.upper = best
        self.most = {a: max(0, *row.values()) for a, row in core.items()}
        self.steps = 0

    def run(self) -> bool:
        """Look for a heavier cycle; return whether all were looked at."""
        barred: set[int] = set()
        for start in sorted(self.core, key=lambda a: (-self.most[a], a)):
            left = sum(most for a, most in self.most.items() if a not in barred)
            if left <= self.weight or self.weight == self.upper:
                return True
            if not self._from(start, barred, left):
                return False
            barred.add(start)
        return True

    def _from(self, start: int, barred: set[int], left: Exact) -> bool:
        """Follow paths from a class; `left`: what the classes on none of them yet may give."""
        path, on = [start], {start} | barred
        nothing: Exact = 0
        stack = [(self._ways(start), nothing, left - self.most[start])]
        while stack:
            ways, value, rest = stack[-1]
            step = next(ways, None)
            if step is None:
                stack.pop()
                on.discard(path.pop())
                continue
            self.steps += 1
            spend(STEP)
            if self.steps > MOST_STEPS or (self.steps % 1000 == 0 and now() > self.end):
                return False
            b, gain = step
            if b == start:
                if value + gain > self.weight and len(path) >= self.least:
                    self.weight, self.cycle = value + gain, tuple(path)
                    if self.weight == self.upper:
                        return True
            elif b not in on and value + gain + rest > self.weight:
                path.append(b)
                on.add(b)
                stack.append((self._ways(b), value + gain, rest - self.most[b]))
        return True

    def _ways(self, a: int) -> Iterator[tuple[int, Exact]]:
        """Yield the arcs that leave a class, the heaviest first."""
        return iter(sorted(self.core[a].items(), key=lambda item: -item[1]))
