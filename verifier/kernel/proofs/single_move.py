"""Kind `single`: where no fact sees any secret move of labelled records, neighbours make one.

Either no fact tells possible values apart; or, in readings 1 and 2, no edge of G leads from a value
to one that a fact tells apart: then any secret move of a pair leads by itself from D1 into I_Q, so
that it is a D3 by 3(a), or by 3(b), unless it is all of the pair.

Where G changes one attribute at a time, reading 2 asks this of the axes alone that the query looks
at: a pair that makes no move there leaves the query as it is.

Each axis gives the largest offset that G allows on it alone; the query's change along one axis is
then a formula, and at most 1 or 2 for counts and histograms, whatever moves.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import floor, gcd
from typing import Any

from ..document import Exact, Rejected, common, want
from ..world import World


def refute(world: World, proof: dict[str, Any], value: Exact) -> None:
    """Refuse unless one secret move changes the query by no more than the value."""
    want(proof, {"kind": str}, "the proof")
    if bound(world) > value:
        raise Rejected("the bound that the proof gives is above the value")


def bound(world: World) -> Exact:
    """Return what no neighbour pair exceeds."""
    if not world.labelled or world.bounds or world.named:
        raise Rejected("this kind of proof is for unconstrained moves of labelled records")
    if not _unseen(world):
        effects = {world.sparse(cell.point) for cell in world.cells(world.equalities)}
        if len(effects) > 1:
            raise Rejected("a known fact tells values apart")
    most = along_an_edge(world)
    if most is None:
        raise Rejected("no formula for this query")
    return most


def along_an_edge(world: World) -> Exact | None:
    """Return what no secret move changes the query by more than; None: no formula for the query."""
    query = world.query
    whole, largest = query.measure in ("l1", "l2-squared"), query.measure == "linf"
    if query.kind in ("range", "count"):
        return 1
    if query.kind in ("histogram", "marginal", "partition", "cluster-sizes"):
        return 1 if largest else 2  # one output rises by one, another falls by one
    if query.kind not in ("sum", "cumulative", "ranges") or world.policy.graph.cells:
        return None
    reaches = [_reach(world, place) for place in query.places]
    if query.kind == "sum":
        return _sums(world, reaches)
    if query.kind == "cumulative":  # so many outputs, all by one and the same way
        return reaches[0] if whole else min(1, reaches[0])
    size = world.policy.axes[query.places[0]].size  # of ranges some rise by one, others fall by one
    best = min(reaches[0], (size + 1) // 2)
    return best * (size + 1 - best) if whole else min(1 if largest else 2, 2 * best)


def _sums(world: World, reaches: Sequence[int]) -> Exact:
    """Return the largest norm of a change of sums, each of which moves as far as its axis lets it.

    In l1 also: distances that add the changes up bound them all together.
    """
    query, axes, graph = world.query, world.policy.axes, world.policy.graph
    steps = [Fraction(axes[place].step) for place in query.places]
    scale = common((step.denominator for step in steps), world.budget)
    units = [int(step * scale) for step in steps]
    gains = [step * reach for step, reach in zip(units, reaches, strict=True)]
    if graph.kind == "attribute":
        gains = sorted(gains, reverse=True)[: max(0, graph.bound)]
    if query.measure == "l2-squared":
        return Fraction(sum(gain * gain for gain in gains), scale * scale)
    if query.measure != "l1":  # each either way
        most = sorted(gains, reverse=True)[: 1 if query.measure == "linf" else 2]
        return Fraction(sum(most), scale)
    if graph.kind == "distance" and graph.added and graph.power == 1:  # charges are the changes
        end, unit = Fraction(graph.bound * scale, graph.scale), gcd(*units)
        most_of_all = floor(end / unit) * unit
        if graph.strict and most_of_all == end:
            most_of_all -= unit
        return Fraction(min(most_of_all, sum(gains)), scale)
    return Fraction(sum(gains), scale)


def _unseen(world: World) -> bool:
    """Whether facts leave every axis alone along which an edge of G may lead (readings 1 and 2)."""
    graph, axes = world.policy.graph, world.policy.axes
    facts = world.equalities
    if world.reading not in ("published", "secret-moves") or graph.cells:
        return False
    if graph.kind == "edges":
        terms = sum(len(area) for fact in facts for _, area in fact.terms)
        world.budget.spend((1 + terms) * len(graph.pairs) * len(axes))
        return all(fact.at(x) == fact.at(y) for fact in facts for x, y in graph.pairs)
    moving = [k for k, axis in enumerate(axes) if graph.reach(k, axis.size)]
    if world.reading == "secret-moves" and graph.kind == "attribute" and graph.bound == 1:
        moving = [k for k in moving if k in _read(world)]
    for fact in facts:
        for _, area in fact.terms:
            world.budget.spend(len(area) * (1 + len(moving)))
            if any(box[k] != ((0, axes[k].size),) for box in area for k in moving):
                return False
    return True


def _read(world: World) -> set[int]:
    """Return the axes that the query looks at."""
    query, axes = world.query, world.policy.axes
    if query.area:
        return {
            k for k, axis in enumerate(axes) for box in query.area if box[k] != ((0, axis.size),)
        }
    return set(query.places or range(len(axes)))


def _reach(world: World, place: int) -> int:
    """Return the largest offset on one axis that G allows when the others are equal."""
    graph, axes = world.policy.graph, world.policy.axes
    if graph.kind == "edges":
        return max((abs(x[place] - y[place]) for x, y in graph.pairs), default=0)
    reach = graph.reach(place, axes[place].size)
    return reach if graph.line[place] else reach and axes[place].size - 1
