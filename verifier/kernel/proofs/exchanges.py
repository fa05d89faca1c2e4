"""Kind `exchanges`: reading 3, and signatures that are independent, of all facts or of two factors.

Equality facts and impossible values. A neighbour pair is an irreducible multiset of records that go
and come (the lemma). For each signature let net be the records that come less those that go.

*All facts, signatures that are not 0 linearly independent.* The sum of net times signature is 0, so
net is 0 for each signature that is not. So the pair is a single record of signature 0, or a record
that goes and another one of its signature that comes, for these two have no effect together. f
changes by no more than the largest of these. Under scope "given" the numbers may say that no record
has a signature: it exchanges none.

*Two `factors`*, lists of facts in which each fact is: the signatures of one are linearly
independent, of the other affinely. As above net is 0 for each signature of the first; so the sum of
net is 0, and for each signature of the other it is 0 too. Draw a graph whose vertices are the
signatures of either, an edge joining two that some value has; let an edge lead from the first
factor's signature to the second's for a record that comes, and back for one that goes. As many
lead to each vertex as away from it, so that they hold a simple cycle, which has no effect and is
all of the pair: j records that go and j that come, of j signatures of each factor. For j > 1 its
edges are distinct; taking away vertices of one edge, over and over, leaves the cycle, and j is at
most the fewer of the signatures of either factor in a connected part of what is left. j = 1 takes
two values of one edge. f changes by no more than j times the largest change by one record that
goes and one that comes.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

from ..document import Budget, Exact, Rejected, want
from ..independent import Sparse, independent, records
from ..measure import Change
from ..world import SOME, World
from .cells import Place, largest, restricted

Edge = tuple[Sparse, Sparse]
"""A signature of the first factor, and one of the second, that some value has."""


def refute(world: World, proof: dict[str, Any], value: Exact) -> None:
    """Refuse unless no exchange, and no single record, changes f by more than the value."""
    told = want(proof, {"kind": str, "factors?": [[int]]}, "the proof")
    scale, most = rounds(world, told["factors"]) if "factors" in told else bound(world)
    if most > world.measure.claim(value, scale):
        raise Rejected("an exchange changes the query by more than the value")


def bound(world: World) -> tuple[int, int]:
    """Return a scale, and what no neighbour pair exceeds, as a size."""
    scale, places = places_of(world, single=world.measure.name != "l1")
    inside: dict[Sparse, set[Change]] = defaultdict(set)
    for signature, row in places:
        inside[signature].add(row)
    nothing: Sparse = ()
    free = inside.pop(nothing, set())
    # With 0 among them, affinely independent is linearly independent.
    if not independent([nothing, *inside], world.budget):
        raise Rejected("the signatures are not independent")
    told = None
    answers = [fact.answer for fact in world.equalities]
    if None not in answers:
        totals = [answer for answer in answers if answer is not None]
        told = records([*inside, nothing], [0, *totals], world.budget)
    held = [1] * len(inside) if told is None else told
    sizes = [world.measure.size(row) for row in free]
    sizes += [
        largest(world, some).size for some, h in zip(inside.values(), held, strict=False) if h
    ]
    return scale, max(sizes, default=0)


def places_of(world: World, *, single: bool) -> tuple[int, list[Place]]:
    """Return a scale, and the cells' effects and scaled rows of the query."""
    if world.reading != "add-remove" or world.bounds or world.policy.clauses:
        raise Rejected("this kind of proof is for equalities, in reading 3")
    world.by_position(single=single)
    cells, _, _ = world.classes()
    scale, rows = world.rows(cells)
    return scale, [(world.sparse(cell.point), row) for cell, row in zip(cells, rows, strict=True)]


def rounds(world: World, factors: Sequence[Sequence[int]]) -> tuple[int, int]:
    """Return a scale, and what no pair exceeds that goes round signatures of two factors."""
    scale, places = places_of(world, single=True)
    some = [set(factor) for factor in factors]
    if len(some) != 2 or some[0] | some[1] != set(range(len(world.equalities))):
        raise Rejected("the factors are not two, or not all the facts")
    sides = [[restricted(effect, kept, world) for effect, _ in places] for kept in some]
    linear = 0
    for side in sides:
        signatures = list(dict.fromkeys(side))
        if not independent(signatures, world.budget):
            raise Rejected("the signatures of a factor are not independent")
        linear += () not in signatures and independent([(), *signatures], world.budget)
    if not linear:
        raise Rejected("the signatures of neither factor are linearly independent")
    edges = Counter(zip(*sides, strict=True))
    rows = {row for _, row in places}
    half = longest(edges, world.budget) or int(SOME in rows or max(edges.values(), default=0) > 1)
    most = largest(world, rows).size if half else 0
    return scale, world.measure.repeated(most, half)


def longest(edges: Iterable[Edge], budget: Budget) -> int:
    """Return a bound on half of a simple cycle's vertices, 0 where there is no cycle."""
    left = {(side, ends[side], ends[1 - side]) for ends in edges for side in (0, 1)}
    beside: dict[tuple[int, Sparse], set[tuple[int, Sparse]]] = defaultdict(set)
    for side, one, two in left:
        beside[side, one].add((1 - side, two))
    budget.spend(20 * len(left), 4 * len(left))
    ends = [vertex for vertex, others in beside.items() if len(others) == 1]
    while ends:
        vertex = ends.pop()
        for other in beside.pop(vertex, ()):
            beside[other].discard(vertex)
            if len(beside[other]) == 1:
                ends.append(other)
    found = 0
    while beside:
        waiting, part = [next(iter(beside))], Counter[int]()
        while waiting:
            vertex = waiting.pop()
            if vertex in beside:
                part[vertex[0]] += 1
                waiting += beside.pop(vertex)
        found = max(found, min(part[0], part[1]))
    return found
