"""The lower bound: two databases, every condition checked, minimality by a search of its own."""

from __future__ import annotations

from collections import Counter
from math import lcm
from operator import add
from typing import Any, NamedTuple

from .document import Exact, Rejected, want
from .policy import Point, inside
from .world import MOST_POINTS, Vector, World, relations

MOST_SUMS = 2_000_000
TOO_MANY = "the witness has too many parts to check that it is minimal"
PAIR = {"before": [list], "after": [list], "unchanged?": [list]}


class Pair(NamedTuple):
    """Record i changes from before[i] to after[i] (readings 1 and 2), or values leave and enter."""

    before: list[Point]
    after: list[Point]
    rest: Counter[Point]


Record = tuple[int, list[tuple[Vector, bool]], bool]
"""So many alike; what each may do in D3 (an effect, whether it is D2's); whether that counts."""


def read_pair(world: World, witness: Any) -> Pair:
    """Return the witness, refused if it is not well-formed or not in I_Q."""
    table, policy = want(witness, PAIR, "the witness"), world.policy
    rest: Counter[Point] = Counter()
    for values, times in table.get("unchanged", []):
        rest[policy.point(values)] += want(times, int, "unchanged")
    before, after = ([policy.point(values) for values in table[key]] for key in ("before", "after"))
    if any(times < 1 for times in rest.values()):
        raise Rejected("a record stands there less than once")
    world.budget.spend((len(before) + len(after) + len(rest)) * (world.look + len(policy.zeros)))
    world.budget.spend(len(before) * policy.graph.boxes)
    if any(inside(x, policy.zeros) for x in {*before, *after, *rest}):
        raise Rejected("the witness holds an impossible value")
    if not before and not after:
        raise Rejected("the two databases are equal")
    if world.labelled and (len(before) != len(after) or any(map(tuple.__eq__, before, after))):
        raise Rejected("a record that is said to change does not, or there is none after it")
    if not world.labelled and set(before) & set(after):
        raise Rejected("a value is both added and removed")
    if world.labelled and world.size not in (None, len(before) + rest.total()):
        raise Rejected("the witness has the wrong number of records")
    one, two = (totals(world, Counter(side) + rest) for side in (before, after))
    if one is None or two is None or one[: len(world.equalities)] != two[: len(world.equalities)]:
        raise Rejected("the witness does not satisfy a known fact")
    return Pair(before, after, rest)


def totals(world: World, database: Counter[Point]) -> Vector | None:
    """Return the left-hand sides of all facts; None if one is not satisfied."""
    facts = (*world.equalities, *world.bounds)
    found = tuple(sum(k * fact.at(x) for x, k in database.items()) for fact in facts)
    return found if all(map(lambda fact, total: fact.fits(total), facts, found)) else None


def change_of(world: World, pair: Pair) -> Exact:
    """Return the change of the query over the pair."""
    change = Counter(pair.after)
    change.subtract(pair.before)
    world.budget.spend(
        len(change) * (len(change) if world.query.kind == "ranges" else world.query.cost)
    )
    return world.query.norm({x: times for x, times in change.items() if times})


def why_not(world: World, pair: Pair) -> str:
    """Return why two databases in I_Q are no neighbours, "" if they are (SEMANTICS, section 2)."""
    graph, reading = world.policy.graph, world.reading
    none = (0,) * (len(world.equalities) + len(world.bounds))
    if reading == "markov":
        cells = [*Counter(pair.before).values(), *Counter(pair.after).values()]
        fits = len(cells) <= 4 and max(cells) == 1
        return "" if fits else "more than four cells differ, or one by more than 1"
    if world.labelled:
        effects = [_step(world, x, y) for x, y in zip(pair.before, pair.after, strict=True)]
        secret = [graph.joined(x, y) for x, y in zip(pair.before, pair.after, strict=True)]
    else:
        effects = [world.effect(x) for x in pair.after]
        effects += [tuple(-v for v in world.effect(x)) for x in pair.before]
        secret = [True] * len(effects)
    if not any(secret) or (reading == "secret-moves" and not all(secret)):
        return "no changed record makes a secret move, or one makes none"
    mixed = reading == "published" and not graph.complete
    told = "a part of the changes leads into I_Q"
    if not world.bounds and (not mixed or sum(secret) == 1):  # a part, or the rest, has no secret
        return "" if irreducible(world, Counter(effects)) else told
    stay = (none, False)
    moves = list(zip(effects, secret, strict=True))
    records: list[Record] = [(1, [stay, (effect, True)], True) for effect in effects]
    if mixed:  # 3(b): all secret moves, and a part of the others
        records = [
            (1, [(effect, True)] if hidden else [stay, (effect, True)], not hidden)
            for effect, hidden in moves
        ]
    if _leads(world, pair, records, some=mixed):
        return told
    if not mixed or sum(secret) < 2:
        return ""
    records = [  # 3(a): some secret moves but not all, and every record may move plainly
        (1, [stay, *_plain(world, x), *([(effect, True)] if hidden else [])], hidden)
        for x, (effect, hidden) in zip(pair.before, moves, strict=True)
    ]
    records += [(times, [stay, *_plain(world, x)], False) for x, times in pair.rest.items()]
    found = _leads(world, pair, records)
    return "some of the secret changes, and plain moves, lead into I_Q" if found else ""


def _step(world: World, x: Point, y: Point) -> Vector:
    return tuple(b - a for a, b in zip(world.effect(x), world.effect(y), strict=True))


def _plain(world: World, x: Point) -> set[tuple[Vector, bool]]:
    """Return what plain moves away from x do (in a large domain: what any move does)."""
    if world.policy.size <= MOST_POINTS:
        ends = [y for y in world.points() if y != x and not world.policy.graph.joined(x, y)]
    else:
        ends = [cell.point for cell in world.cells([*world.equalities, *world.bounds])]
    return {(_step(world, x, y), False) for y in ends}


def _leads(world: World, pair: Pair, records: list[Record], *, some: bool = False) -> bool:
    """Whether some choice keeps every fact, takes some counted change (or `some`), and not all."""
    start = totals(world, Counter(pair.before) + pair.rest) or ()
    states = {(start, some, True)}
    for times, options, counted in records:
        for _ in range(times):
            world.budget.spend(len(states) * len(options) * (1 + len(start)))
            grown = {
                (tuple(map(add, total, effect)), yet or (counted and taken),
                 every and (taken or not counted))
                for total, yet, every in states
                for effect, taken in options
            }  # fmt: skip
            if len(grown) * (1 + len(start) // 16) > MOST_SUMS:
                raise Rejected(TOO_MANY, limit=True)
            if grown == states:
                break  # staying changes nothing, and nothing new is reached any more
            states = grown
    known = len(world.equalities)
    return any(
        yet
        and not every
        and total[:known] == start[:known]
        and all(fact.fits(v) for fact, v in zip(world.bounds, total[known:], strict=True))
        for total, yet, every in states
    )


def irreducible(world: World, times: Counter[Vector]) -> bool:
    """Whether the multiset of effects sums to zero and no proper non-empty part does.

    If a part sums to zero, so does the rest, and one of the two lacks a chosen occurrence: that one
    is taken away, and no non-empty part may sum to zero. Independent effects need not be tried:
    what they must contribute is determined by the sum of the others.
    """
    width = len(next(iter(times)))
    if any(sum(d[j] * k for d, k in times.items()) for j in range(width)):
        return False
    if times.total() == 1:
        return True
    ordered = sorted(times, key=lambda d: (-times[d], d))
    basis, found = relations(ordered, world.budget)
    chosen = [ordered[place] for place in basis]
    others = [(ordered[k], *found[k]) for k in range(len(ordered)) if k not in basis]
    # own * d + sum of coordinates * chosen = 0; all multiplied by `scale`, so that they are whole
    scale = lcm(*(own for _, own, _ in others))
    sums: set[Vector] = set()
    for place, (d, own, coordinates) in enumerate(others):
        ends = [0] * (len(chosen) - len(coordinates))
        step = [-c * scale // own for c in coordinates] + ends
        size = 1 + (len(step) + max(map(abs, step), default=0).bit_length() * len(step) // 64) // 16
        multiples = [tuple(k * c for c in step) for k in range(1, times[d] + (place > 0))]
        world.budget.spend((len(sums) + 1) * (len(multiples) + 1) * (1 + len(step)))
        if len(sums) * len(multiples) * size > MOST_SUMS:
            raise Rejected(TOO_MANY, limit=True)
        sums |= {tuple(map(add, s, m)) for s in sums for m in multiples}
        sums.update(multiples)
    return not any(
        all(c % scale == 0 and -times[b] * scale <= c <= 0 for c, b in zip(s, chosen, strict=True))
        for s in sums
    )
