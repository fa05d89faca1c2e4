"""The lower bound: two databases, every condition checked, minimality by a search of its own."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from math import lcm
from operator import add
from typing import Any, NamedTuple

from .document import Exact, Rejected, Unreadable, items, only, whole
from .linear import relations
from .policy import Point, inside
from .world import MOST_POINTS, Vector, World

MOST_SUMS = 2_000_000
TOO_MANY = "the witness has too many parts to check that it is minimal"


class Pair(NamedTuple):
    """Record i changes from before[i] to after[i] (readings 1 and 2), or values leave and enter.

    `places` numbers the changing records (from 0) and `whole` lists D1 where that matters.
    """

    before: list[Point]
    after: list[Point]
    rest: Counter[Point]
    places: list[int] | None = None
    whole: list[Point] | None = None


class Option(NamedTuple):
    """What a record may do in D3: its effect and push, whether it changes as in D2, and which
    clauses it makes true.
    """

    effect: Vector
    push: Vector
    taken: bool
    true: int


def read_pair(world: World, table: dict[str, Any]) -> Pair:
    """Return the witness, refused if it is not well-formed or not in I_Q."""
    only(table, ("before", "after", "unchanged", "records", "database"), "the witness")
    policy = world.policy

    def points(key: str) -> list[Point]:
        return [policy.point(items(v, key)) for v in items(table.get(key), key)]

    rest: Counter[Point] = Counter()
    for value, times in items(table.get("unchanged", []), "unchanged"):
        rest[policy.point(items(value, "a record"))] += whole(times, "unchanged")
    places = [whole(k, "records") - 1 for k in table["records"]] if "records" in table else None
    whole_of = points("database") if "database" in table else None
    pair = Pair(points("before"), points("after"), rest, places, whole_of)
    if any(times < 1 for times in rest.values()):
        raise Unreadable("a record stands there less than once")
    for x in {*pair.before, *pair.after, *rest}:
        if inside(x, tuple(policy.zeros)):
            raise Rejected("the witness holds an impossible value")
    _check_shape(world, pair)
    _check_facts(world, pair)
    return pair


def _check_shape(world: World, pair: Pair) -> None:
    before, after, rest, places, whole_of = pair
    if not before and not after:
        raise Rejected("the two databases are equal")
    if world.labelled and (len(before) != len(after) or any(map(tuple.__eq__, before, after))):
        raise Rejected("a record that is said to change does not, or there is none after it")
    if not world.labelled and set(before) & set(after):
        raise Rejected("a value is both added and removed")
    named = bool(world.policy.clauses) or world.query.weights is not None
    if named != (places is not None and whole_of is not None):
        raise Rejected("records are numbered iff clauses or weights name them")
    if places is not None and whole_of is not None:
        inner = all(0 <= k < len(whole_of) for k in places) and len(set(places)) == len(places)
        if not inner or [whole_of[k] for k in places] != before:
            raise Rejected("the changing records do not hold what they should")
        if Counter(whole_of) != Counter(before) + rest:
            raise Rejected("the listed database is not the one of the witness")


def _check_facts(world: World, pair: Pair) -> None:
    first, second = (Counter(side) + pair.rest for side in (pair.before, pair.after))
    if world.size is not None and first.total() != world.size:
        raise Rejected("the witness has the wrong number of records")
    weights = world.query.weights
    if weights is not None and first.total() != len(weights):
        raise Rejected("there are not as many weights as records")
    for fact in (*world.equalities, *world.bounds):
        one, two = (sum(k * fact.at(x) for x, k in side.items()) for side in (first, second))
        if not (fact.fits(one) and fact.fits(two)) or (one != two and not fact.bounded):
            raise Rejected("the witness does not satisfy a known fact")
    if world.policy.clauses and pair.whole is not None and pair.places is not None:
        changed = list(pair.whole)
        for place, x in zip(pair.places, pair.after, strict=True):
            changed[place] = x
        for database in (pair.whole, changed):
            if _true(world, enumerate(database)) + 1 != 1 << len(world.policy.clauses):
                raise Rejected("the witness does not satisfy a clause")


def _true(world: World, records: Iterable[tuple[int, Point]]) -> int:
    """Return the clauses that these records make true, as a bit set."""
    true = 0
    for record, x in records:
        for place, clause in enumerate(world.policy.clauses):
            if any(k == record and inside(x, area) == told for k, area, told in clause):
                true |= 1 << place
    return true


def change_of(world: World, pair: Pair) -> Exact:
    """Return the change of the query over the pair."""
    if world.query.weights is not None:
        ends = zip(pair.places or [], zip(pair.before, pair.after, strict=True), strict=True)
        return world.query.labelled(dict(ends))
    change = Counter(pair.after)
    change.subtract(pair.before)
    return world.query.norm({x: times for x, times in change.items() if times})


def check_minimal(world: World, pair: Pair) -> None:
    """Refuse the pair unless it is a neighbour pair: see SEMANTICS, section 2, of the project."""
    problem = why_not(world, pair)
    if problem:
        raise Rejected(problem)


def why_not(world: World, pair: Pair) -> str:
    """Return why no neighbours, given two databases in I_Q ("" if they are)."""
    reading, joined = world.reading, world.policy.graph.joined
    if reading == "markov":
        cells = [*Counter(pair.before).values(), *Counter(pair.after).values()]
        fits = len(cells) <= 4 and max(cells) == 1
        return "" if fits else "more than four cells differ, or one by more than 1"
    if not world.labelled:
        if world.policy.clauses:
            raise Rejected("clauses are checked for labelled records only", limit=True)
        moves = [(None, x) for x in pair.after] + [(x, None) for x in pair.before]
        return _parts(world, pair, [_option(world, x, y, None) for x, y in moves], None)
    ends = list(zip(pair.before, pair.after, strict=True))
    secret = [joined(x, y) for x, y in ends]
    places: Sequence[int | None] = pair.places or [None] * len(ends)
    options = [_option(world, x, y, k) for (x, y), k in zip(ends, places, strict=True)]
    if reading == "secret-moves" and not all(secret):
        return "a changed record makes no secret move"
    if not any(secret):
        return "no changed record makes a secret move"
    if reading == "secret-moves" or world.policy.graph.complete:
        return _parts(world, pair, options, None)
    plain = world.bounds or world.policy.clauses
    if not plain and sum(secret) == 1:  # a part without effect, or its complement, has no secret
        return _parts(world, pair, options, None)
    return _parts(world, pair, options, secret) or _bystanders(world, pair, options, secret)


def _option(world: World, x: Point | None, y: Point | None, place: int | None) -> Option:
    """A record that goes from x to y (None: it is not there)."""
    effect, push = [0] * len(world.equalities), [0] * len(world.bounds)
    for point, sign in ((x, -1), (y, 1)):
        if point is not None:
            effect = [a + b for a, b in zip(effect, world.effect(point, sign), strict=True)]
            push = [a + b for a, b in zip(push, world.push(point, sign), strict=True)]
    true = 0 if place is None or y is None else _true(world, [(place, y)])
    return Option(tuple(effect), tuple(push), True, true)


def _stay(world: World, x: Point | None, place: int | None) -> Option:
    true = 0 if place is None or x is None else _true(world, [(place, x)])
    return Option((0,) * len(world.equalities), (0,) * len(world.bounds), False, true)


def _fixed(world: World, pair: Pair) -> int:
    """Return the clauses that records which do not change make true."""
    ends = enumerate(pair.whole or ())
    return _true(world, [(k, x) for k, x in ends if k not in (pair.places or ())])


def _parts(world: World, pair: Pair, moves: list[Option], secret: list[bool] | None) -> str:
    """D3 makes a part of the changes; with `secret`, all secret ones and a part of the others."""
    told = "a part of the changes leads into I_Q"
    if secret is None and not world.bounds and not world.policy.clauses:
        return "" if irreducible(world, Counter(move.effect for move in moves)) else told
    places: Sequence[int | None] = pair.places or [None] * len(moves)
    ends = pair.before if world.labelled else [*pair.after, *pair.before]
    columns = zip(ends, places, moves, strict=True)
    free = [[_stay(world, x, k), move] for x, k, move in columns]
    if secret is None:
        return told if _reaches(world, pair, [(1, record, True) for record in free]) else ""
    records = [
        (1, [move] if hidden else record, not hidden)
        for record, move, hidden in zip(free, moves, secret, strict=True)
    ]
    return told if _reaches(world, pair, records, some=True) else ""


def _bystanders(world: World, pair: Pair, moves: list[Option], secret: list[bool]) -> str:
    """D3 makes some but not all secret changes; every record may make a plain move instead."""
    if sum(secret) < 2:
        return ""
    places: Sequence[int | None] = pair.places or [None] * len(moves)
    records = []
    for x, k, move, hidden in zip(pair.before, places, moves, secret, strict=True):
        options = [_stay(world, x, k), *_plain(world, x, k), *([move] if hidden else [])]
        records.append((1, options, hidden))
    if world.policy.clauses and pair.whole is not None:
        others = [(x, 1, k) for k, x in enumerate(pair.whole) if k not in (pair.places or ())]
    else:
        others = [(x, times, -1) for x, times in pair.rest.items()]
    for x, times, k in others:
        place = None if k < 0 else k
        records.append((times, [_stay(world, x, place), *_plain(world, x, place)], False))
    found = _reaches(world, pair, records, fixed=False)
    return "some of the secret changes, and plain moves, lead into I_Q" if found else ""


def _plain(world: World, x: Point, place: int | None) -> list[Option]:
    """Return what plain moves away from x do (in a large domain: what any move does)."""
    if world.policy.size <= MOST_POINTS:
        ends = [y for y in world.points() if y != x and not world.policy.graph.joined(x, y)]
    else:
        ends = [found.point for found in world.places([*world.equalities, *world.bounds], [])]
    world.budget.spend(len(ends))
    found = (_option(world, x, y, place)._replace(taken=False) for y in ends)
    return list(dict.fromkeys(found))


Group = tuple[int, list[Option], bool]


def _reaches(
    world: World, pair: Pair, groups: list[Group], *, some: bool = False, fixed: bool = True
) -> bool:
    """Whether some choice keeps every fact, takes some counted change (or `some`), and not all."""
    facts = len(world.equalities)
    first = Counter(pair.before) + pair.rest
    start = [sum(k * fact.at(x) for x, k in first.items()) for fact in world.bounds]
    zero = (0,) * (facts + len(start))
    true = _fixed(world, pair) if fixed and world.policy.clauses else 0
    states = {(zero, some, True, true)}
    for times, options, counted in groups:
        for _ in range(times):
            world.budget.spend(len(states) * len(options) * (1 + len(zero)))
            grown = {
                (
                    tuple(a + b for a, b in zip(total, (*o.effect, *o.push), strict=True)),
                    any_yet or (counted and o.taken),
                    every and (o.taken or not counted),
                    yet | o.true,
                )
                for total, any_yet, every, yet in states
                for o in options
            }
            if len(grown) > MOST_SUMS:
                raise Rejected(TOO_MANY, limit=True)
            if grown == states:
                break  # staying changes nothing, and nothing new is reached any more
            states = grown
    return any(
        any_yet
        and not every
        and yet + 1 == 1 << len(world.policy.clauses)
        and not any(total[:facts])
        and all(f.fits(a + b) for f, a, b in zip(world.bounds, start, total[facts:], strict=True))
        for total, any_yet, every, yet in states
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
    basis, found = relations(ordered)
    chosen = [ordered[place] for place in basis]
    others = [(ordered[k], *found[k]) for k in range(len(ordered)) if k not in basis]
    # own * d + sum of coordinates * chosen = 0; all multiplied by `scale`, so that they are whole
    scale = lcm(*(own for _, own, _ in others))
    sums: set[Vector] = set()
    for place, (d, own, coordinates) in enumerate(others):
        ends = [0] * (len(chosen) - len(coordinates))
        step = [-c * scale // own for c in coordinates] + ends
        multiples = [tuple(k * c for c in step) for k in range(1, times[d] + (place > 0))]
        world.budget.spend((len(sums) + 1) * (len(multiples) + 1) * (1 + len(step)))
        if len(sums) * len(multiples) > MOST_SUMS:
            raise Rejected(TOO_MANY, limit=True)
        sums |= {tuple(map(add, s, m)) for s in sums for m in multiples}
        sums.update(multiples)
    return not any(
        all(c % scale == 0 and -times[b] * scale <= c <= 0 for c, b in zip(s, chosen, strict=True))
        for s in sums
    )
