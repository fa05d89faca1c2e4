"""What the known numbers imply: values that no record holds, and bounds that say nothing more.

Scope "given". Let g be a combination of the equalities in whole numbers, and c that of their
answers: over the records of any database of I_Q, g adds up to c. So, where g is nowhere below 0, no
record holds a value with g above c. And where times * (what a bound counts) is nowhere above g, for
times above 0, the bound's count is at most c / times; where it is nowhere below g, at least that.
I_Q stays the same if such values are impossible and such an end of a bound is not there, and so do
all pairs, in every reading. A combination may rest on those before it.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from .boxes import Point
from .document import Rejected, want
from .independent import Sparse
from .world import World

SHAPE = {"empty?": [[[int]]], "bounds?": [{"bound": int, "end": str, "times": int, "of": [[int]]}]}


class Mixed(NamedTuple):
    """A combination of equalities: how many times each, and what their answers add up to."""

    times: dict[int, int]
    total: int

    def of(self, effect: Sparse) -> int:
        """Return what a record adds that adds so much to each fact."""
        return sum([self.times.get(k, 0) * value for k, value in effect])


class Above:
    """Whether a value adds more to a combination than there is."""

    def __init__(self, world: World, mixed: Mixed) -> None:
        self.world, self.mixed = world, mixed

    def __call__(self, x: Point) -> bool:
        """Return whether no record holds the value."""
        return _at(self.world, self.mixed, x) > self.mixed.total


def declare(world: World, told: object) -> None:
    """Take values out of the world that hold nothing, and ends of bounds that are implied."""
    table: dict[str, Any] = want(told, SHAPE, "what is implied")
    if world.policy.scope != "given":
        raise Rejected("only known numbers imply anything")
    for terms in table.get("empty", []):
        mixed = mixture(world, terms)
        if any(_at(world, mixed, x) < 0 for x in _points(world)):
            raise Rejected("the combination is below 0 somewhere")
        world.empty.append(Above(world, mixed))
    ends = [_implied(world, item) for item in table.get("bounds", [])]
    for place, end in ends:
        fact = world.bounds[place]
        low, high = (None if end == name else getattr(fact, name) for name in ("low", "high"))
        world.bounds[place] = fact._replace(low=low, high=high)
    world.bounds = [fact for fact in world.bounds if fact.bounded]


def _implied(world: World, item: dict[str, Any]) -> tuple[int, str]:
    """Return which bound, and which end of it, the equalities imply; Rejected if they do not."""
    place, end, times = item["bound"], item["end"], item["times"]
    if not 0 <= place < len(world.bounds) or end not in ("low", "high") or times < 1:
        raise Rejected("there is no such bound")
    fact, mixed = world.bounds[place], mixture(world, item["of"])
    limit = fact.low if end == "low" else fact.high
    if limit is None:
        raise Rejected("the bound has no such end")
    sign = 1 if end == "high" else -1
    if sign * (mixed.total - times * limit) >= times:
        raise Rejected("the combination does not reach the bound")
    cells = [cell.point for cell in world.cells([*world.equalities, fact])]
    if any(sign * (times * fact.at(x) - _at(world, mixed, x)) > 0 for x in cells):
        raise Rejected("the combination does not count all that the bound does")
    return place, end


def mixture(world: World, terms: list[list[int]]) -> Mixed:
    """Return a combination as a certificate writes it; Rejected if it names no facts."""
    found: dict[int, int] = {}
    for term in terms:
        if len(term) != 2 or not 0 <= term[0] < len(world.equalities):
            raise Rejected("there is no such fact")
        found[term[0]] = found.get(term[0], 0) + term[1]
    world.budget.widen(found.values())
    total = sum(times * (world.equalities[k].answer or 0) for k, times in found.items())
    return Mixed(found, total)


def _at(world: World, mixed: Mixed, x: Point) -> int:
    """Return what one record of a value adds to a combination."""
    return mixed.of(world.sparse(x))


def _points(world: World) -> list[Point]:
    return [cell.point for cell in world.cells(world.equalities)]
