"""Upper bounds without a search tree: one move, sparse policies, four cells, every database."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations_with_replacement, product
from math import gcd

from .document import Exact, Rejected
from .policy import Point, inside
from .witness import Pair, change_of, why_not
from .world import Moves, Vector, World, implied_size, norm


def single(world: World) -> Exact:
    """Bound one secret move. Where no fact sees any secret move, neighbours make exactly one.

    Each axis gives the largest offset that G allows on it alone; the query's change along one axis
    is then a formula, and at most 1 or 2 for counts and histograms, whatever moves.
    """
    if not world.labelled or world.bounds or world.policy.clauses or world.query.weights:
        raise Rejected("this kind of proof is for unconstrained moves of labelled records")
    spots = [place.point for place in world.places(world.equalities, [])]
    if any(world.effect(x) != world.effect(spots[0]) for x in spots):
        raise Rejected("a known fact tells values apart")
    query, policy = world.query, world.policy
    if query.kind in ("range", "count"):
        return 1
    if query.kind in ("histogram", "marginal", "partition", "cluster-sizes"):
        return 2
    if query.kind not in ("sum", "cumulative", "ranges") or policy.graph.cells:
        raise Rejected("no formula for this query")
    reaches = [_reach(policy.axes[p].size - 1, p, world) for p in query.places]
    if query.kind == "cumulative":
        return reaches[0]
    if query.kind == "ranges":
        size = policy.axes[query.places[0]].size
        best = min(reaches[0], (size + 1) // 2)
        return best * (size + 1 - best)
    steps = [Fraction(policy.axes[p].step) for p in query.places]
    gains = [step * reach for step, reach in zip(steps, reaches, strict=True)]
    graph = policy.graph
    if graph.kind == "attribute":
        return sum(sorted(gains, reverse=True)[: int(graph.bound)])
    if graph.kind == "distance" and graph.added and graph.power == 1:  # charges are the changes
        unit = steps[0]
        for step in steps[1:]:
            bottom = unit.denominator * step.denominator
            unit = Fraction(gcd(int(unit * bottom), int(step * bottom)), bottom)
        most = graph.bound // unit * unit
        if graph.strict and most == graph.bound:
            most -= unit
        return min(most, sum(gains))
    return sum(gains)


def _reach(longest: int, place: int, world: World) -> int:
    """Return the largest offset on one axis that G allows when the others are equal."""
    graph = world.policy.graph
    if graph.kind == "edges":
        return max((abs(x[place] - y[place]) for x, y in graph.pairs), default=0)

    def paid(offset: int) -> bool:
        offsets = [0] * len(world.policy.axes)
        offsets[place] = offset if graph.line[place] else min(offset, 1)
        return graph.pays(offsets)

    low, high = 0, longest
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if paid(middle) else (low, middle - 1)
    return low


def cycles(moves: Moves) -> int:
    """Bound sparse policies: each effect raises at most one count and lowers at most one, by 1.

    An effect is then an arc of a graph whose vertices are the counts and one more; a multiset that
    sums to zero is a circulation and contains a simple cycle. So an irreducible one is a simple
    cycle, no longer than its component has vertices.
    """
    columns = [c for c in dict.fromkeys(zip(*moves.effects, strict=True)) if any(c)]
    parent = list(range(len(columns) + 1))

    def root(v: int) -> int:
        while parent[v] != v:
            parent[v] = v = parent[parent[v]]
        return v

    arcs = []
    for effect, weight in zip(zip(*columns, strict=True), moves.weights, strict=True):
        ups = [j for j, x in enumerate(effect) if x > 0]
        downs = [j for j, x in enumerate(effect) if x < 0]
        if max(map(abs, effect)) > 1 or len(ups) > 1 or len(downs) > 1:
            raise Rejected("a move raises or lowers two counts")
        one, two = (*ups, len(columns))[0], (*downs, len(columns))[0]
        parent[root(one)] = root(two)
        arcs.append((one, weight))
    sizes = Counter(root(v) for v in range(len(parent)))
    best = moves.idle
    for vertex, _ in arcs:
        weight = max(w for v, w in arcs if root(v) == root(vertex))
        length = sizes[root(vertex)]
        if moves.longest is not None:
            length = min(length, moves.longest)
        best = max(best, length * weight)
    return best


def four_cells(moves: Moves, claim: int) -> None:
    """Refuse unless no at most four cells, each changed by 1, change the query by more.

    Two halves of at most two cells each, put together where their effects cancel.
    """
    cells = moves.signed
    if 4 * max((norm(change) for _, change, _, _ in cells), default=0) <= claim:
        return
    width = len(moves.world.equalities)
    halves: dict[Vector, list[tuple[int, ...]]] = {}
    for count in (0, 1, 2):
        for part in combinations_with_replacement(range(len(cells)), count):
            moves.world.budget.spend(width + 1)
            moves.world.budget.keep(width + 4)
            total = tuple(sum(cells[k][0][j] for k in part) for j in range(width))
            halves.setdefault(total, []).append(part)
    for total, ones in halves.items():
        twos = halves.get(tuple(-x for x in total), [])
        moves.world.budget.spend(8 * len(ones) * len(twos))
        for one, two in product(ones, twos):
            change: Counter[object] = Counter()
            for k in (*one, *two):
                change.update(cells[k][1])
            used = Counter(cells[k][2] for k in (*one, *two))
            if sum(map(abs, change.values())) > claim and all(
                used[cells[k][2]] <= cells[k][3] for k in (*one, *two)
            ):
                raise Rejected("four cells change the query by more than the claim")


def every_database(world: World, claim: Exact) -> None:
    """Refuse unless no neighbour pair among all databases of n records changes by more."""
    weights = world.query.weights
    size = world.size if weights is None else len(weights)
    if size is None and world.policy.scope == "given":
        size = implied_size(world)
    if size is None:
        raise Rejected("n is not a number, so the databases cannot be listed")
    points = world.points()
    named = bool(world.policy.clauses) or weights is not None
    facts = [*world.equalities, *world.bounds]
    each = size * (2 + len(facts) + 2 * len(world.policy.clauses))
    world.budget.spend(each * len(points) ** min(size, 40) if size else 1)
    labelled = world.labelled
    listed: Iterator[tuple[Point, ...]] = (
        product(points, repeat=size) if labelled else combinations_with_replacement(points, size)
    )
    worlds: dict[Vector, list[tuple[Point, ...]]] = {}
    at = {x: (*world.effect(x), *world.push(x)) for x in points}
    for database in listed:
        totals = [sum(at[x][j] for x in database) for j in range(len(facts))]
        world.budget.keep(size + 2)
        fits = all(fact.fits(total) for fact, total in zip(facts, totals, strict=True))
        if fits and _clauses(world, database):
            worlds.setdefault(tuple(totals[: len(world.equalities)]), []).append(database)
    for databases in worlds.values():
        for one in databases:
            if labelled and not named and list(one) != sorted(one):
                continue  # a relabelling takes every pair to one whose D1 is sorted
            world.budget.spend(40 * size * len(databases))
            for two in databases:
                pair = _pair(one, two, labelled=labelled, named=named)
                if pair is not None and change_of(world, pair) > claim and not why_not(world, pair):
                    raise Rejected("a neighbour pair changes the query by more than the claim")


def _clauses(world: World, database: tuple[Point, ...]) -> bool:
    return all(
        any(inside(database[k], area) == told for k, area, told in clause)
        for clause in world.policy.clauses
    )


def _pair(
    one: tuple[Point, ...], two: tuple[Point, ...], *, labelled: bool, named: bool
) -> Pair | None:
    if one == two:
        return None
    if not labelled:
        first, second = Counter(one), Counter(two)
        gone, new = first - second, second - first
        return Pair(list(gone.elements()), list(new.elements()), first & second)
    places = [k for k, (x, y) in enumerate(zip(one, two, strict=True)) if x != y]
    rest = Counter(x for x, y in zip(one, two, strict=True) if x == y)
    before, after = [one[k] for k in places], [two[k] for k in places]
    return Pair(before, after, rest, places, list(one)) if named else Pair(before, after, rest)
