"""The counting problem of a policy: cells, moves between them, and what they do to the query.

Where every two values are joined, or G plays no part, a cell is a set of values that neither a fact
nor the query tells apart; sums have a cell for each corner of such a set, for the change of a sum
is convex in every record, so that some choice of corners changes it no less. Otherwise every value
of a small domain is a cell; on a larger one cells are boxes, a move may be secret if an edge joins
the boxes, and may be plain unless both are single values that are joined. D3 moves records plainly
from one box into another only if no edge joins them, so that any record of the first can.

What a cell blurs is on the safe side: more moves, larger changes, fewer D3s than there are.
"""

from __future__ import annotations

from collections.abc import Hashable
from fractions import Fraction
from math import floor, lcm

from .counts import Move, Problem
from .document import Exact, Rejected
from .policy import first
from .world import Place, World

MOST_MOVES = 100_000
EVEN = ("histogram", "marginal", "partition", "cluster-sizes")
"""Queries that count every record once: with n known, what one output gains others lose."""


def counting_problem(world: World, value: Exact) -> Problem:
    """Return the problem of a neighbour pair that changes the query by more than a value.

    The pairs of a policy, under its reading and scope, all satisfy the problem's rows, and the
    changes of the query by more than the value all reach its goal.
    """
    if world.policy.clauses or world.query.weights is not None or world.reading == "markov":
        raise Rejected("this kind of proof is for counts, not for single records", limit=True)
    places = cells_of(world)
    rows = [world.query.row(place.point) for place in places]
    scale = lcm(*(Fraction(x).denominator for row in rows for x in row.values()), 1)
    numbers: dict[Hashable, int] = {}
    changes = []
    for place, row in zip(places, rows, strict=True):
        loose = world.query.kind == "histogram" and place.size > 1
        table = {} if loose else {k: int(x * scale) for k, x in row.items() if x}
        changes.append(
            (int(loose), {numbers.setdefault(k, len(numbers)): x for k, x in table.items()})
        )
    known = world.policy.scope == "given"
    step = 2 if world.labelled and world.query.kind in EVEN else 1
    moves = tuple(_moves(world, places, changes))
    return Problem(
        cells=tuple((*place.effect, *place.push) for place in places),
        moves=moves,
        plain=tuple(_plain(world, places)),
        answers=tuple(fact.answer or 0 for fact in world.equalities) if known else None,
        limits=tuple((fact.low, fact.high) for fact in world.bounds),
        size=world.size,
        most=world.size,
        goal=(floor(Fraction(value) * scale) // step + 1) * step,
        tight=not known,
    )


def cells_of(world: World) -> list[Place]:
    """Return the cells, in a fixed order."""
    query, graph, policy = world.query, world.policy.graph, world.policy
    facts = [*world.equalities, *world.bounds]
    ends = query.places if query.kind == "sum" else []
    if world.free:
        found = world.places(facts, query.cuts, query.listed, ends)
    else:
        count = policy.size
        if count * count <= MOST_MOVES:
            spots = [tuple(((p, p + 1),) for p in x) for x in world.points()]
            found = [
                Place(first(box), 1, box, world.effect(first(box)), world.push(first(box)))
                for box in spots
            ]
        elif ends:
            raise Rejected("sums under this graph need a small domain", limit=True)
        else:
            cuts = [box for area in graph.cells for box in area]
            cuts += [tuple(((p, p + 1),) for p in x) for pair in sorted(graph.pairs) for x in pair]
            found = world.places(facts, [*query.cuts, *cuts], query.listed, keep=True)
    if len(found) ** 2 > MOST_MOVES:
        raise Rejected("too many kinds of moves for this kind of proof", limit=True)
    world.budget.spend(len(found) ** 2 * (1 + len(facts)))
    return found


Change = tuple[int, dict[int, int]]
"""What a record in a cell adds to the query: an amount that nothing cancels, and to each output."""


def _moves(world: World, places: list[Place], changes: list[Change]) -> list[Move]:
    """Return the kinds of moves that a pair may make, in a fixed order."""
    cells = range(len(places))
    ends: list[tuple[int | None, int | None, bool]] = []
    if not world.labelled:
        ends += [(i, None, True) for i in cells]
        ends += [(None, j, True) for j in cells]
    else:
        published = world.reading == "published"
        for i, j in ((i, j) for i in cells for j in cells):
            x, y = places[i], places[j]
            if i == j and x.size == 1:
                continue
            joined = world.free or _touch(world, x, y)
            if joined:
                ends.append((i, j, True))
            if published and not world.free and not (joined and x.size == y.size == 1):
                ends.append((i, j, False))
    found = []
    for source, target, secret in ends:
        loose, change = 0, dict[int, int]()
        for place, sign in ((source, -1), (target, 1)):
            if place is not None:
                loose += changes[place][0]
                for output, number in changes[place][1].items():
                    change[output] = change.get(output, 0) + sign * number
        kept = tuple(sorted((output, number) for output, number in change.items() if number))
        found.append(Move(source, target, secret, kept, loose))
    return found


def _plain(world: World, places: list[Place]) -> list[tuple[int, int]]:
    """Return (source, target) such that every record of the source can move there plainly."""
    if world.reading != "published" or world.free:
        return []
    cells = range(len(places))
    return [
        (i, j) for i in cells for j in cells if i != j and not _touch(world, places[i], places[j])
    ]


def _touch(world: World, x: Place, y: Place) -> bool:
    """Whether some value of a cell is joined to some value of a cell."""
    graph = world.policy.graph
    if x.size == y.size == 1:
        return graph.joined(x.point, y.point)
    return graph.kind != "edges" and graph.touches(x.box, y.box)
