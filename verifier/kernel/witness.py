"""The lower bound: two databases, every condition checked, minimality by a search of its own."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from operator import add, sub
from typing import Any, NamedTuple

from .boxes import Point, inside
from .document import Exact, Rejected, common, want, words
from .independent import Vector, relations, round_a_cycle
from .world import MOST_POINTS, World

MOST_SUMS = 2_000_000
TOO_MANY = "the witness has too many parts to check that it is minimal"
PAIR: dict[str, Any] = {"before": [list], "after": [list], "unchanged?": [list]}
NAMED = {**PAIR, "records": [int], "database": [list]}

Ways = tuple[int, ...]
"""What a record can do for the clauses, as bit sets: a bit for each clause that it makes true, and
above them one for the number that it is given, where records have none."""
Option = tuple[Vector, Ways, bool]
Record = tuple[int, Sequence[Option], bool]
"""So many alike; what each may do in D3 (effect, ways, whether it is D2's); whether that counts."""
Holder = tuple[int | None, Point]
"""The number of a record (None: it does not matter, or is not known), and its value."""


class Pair(NamedTuple):
    """Record i changes from before[i] to after[i] (readings 1 and 2), or values leave and enter.

    `numbers` are those of the records that change (all None where records have none).
    """

    before: list[Point]
    after: list[Point]
    rest: Counter[Holder]
    numbers: Sequence[int | None]


def read_pair(world: World, witness: Any) -> Pair:
    """Return the witness, refused if it is not well-formed or not in I_Q."""
    named, policy = world.named and world.labelled, world.policy
    if named and not {"records", "database"} <= set(witness):
        raise Rejected("records are not numbered, though clauses or weights name them")
    table = want(witness, NAMED if named else PAIR, "the witness")
    rest: Counter[Point] = Counter()
    for values, times in table.get("unchanged", []):
        rest[policy.point(values)] += want(times, int, "unchanged")
    before, after = ([policy.point(values) for values in table[key]] for key in ("before", "after"))
    if any(times < 1 for times in rest.values()):
        raise Rejected("a record stands there less than once")
    world.budget.spend((len(before) + len(after) + len(rest)) * (world.look + len(policy.zeros)))
    world.budget.spend(len(before) * policy.graph.finder.cost)
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
    pair = Pair(before, after, Counter({(None, x): times for x, times in rest.items()}),
                [None] * max(len(before), len(after)))  # fmt: skip
    if named:
        pair = _numbered(world, pair, table["records"], table["database"])
    for side in (before, after):
        held = pair.rest + Counter(zip(pair.numbers, side, strict=False))
        if not satisfied(world, held):
            raise Rejected("the databases of the witness do not satisfy every clause")
    return pair


def _numbered(world: World, pair: Pair, records: list[int], database: list[list[object]]) -> Pair:
    """Return a pair with the numbers that the witness gives to the records."""
    numbers, first = [k - 1 for k in records], [world.policy.point(values) for values in database]
    held = dict(enumerate(first))
    if len(world.query.weights or first) != len(first):
        raise Rejected("the listed database has the wrong number of records")
    if any(held.pop(k, None) != x for k, x in zip(numbers, pair.before, strict=True)):
        raise Rejected("the changing records do not hold what they should")
    if Counter((None, x) for x in held.values()) != pair.rest:
        raise Rejected("the listed database is not the one of the witness")
    rest = Counter((k if k in world.policy.named else None, x) for k, x in held.items())
    return pair._replace(rest=rest, numbers=numbers)


def totals(world: World, database: Counter[Point]) -> Vector | None:
    """Return the left-hand sides of all facts; None if one is not satisfied."""
    facts = (*world.equalities, *world.bounds)
    found = [0] * len(facts)
    for x, k in database.items():
        for place, times in world.adds(x):
            found[place] += k * times
    return tuple(found) if all(map(lambda fact, total: fact.fits(total), facts, found)) else None


def ways(world: World, x: Point, number: int | None) -> Ways:
    """Return what a record that holds x can do for the clauses."""
    clauses, named = world.policy.clauses, world.policy.named
    size = sum(len(area) for clause in clauses for _, area, _ in clause)
    world.budget.spend(1 + size)
    found = set() if number in named else {0}
    for spot, k in enumerate(named, len(clauses)):
        if k == number or not world.labelled:
            serves = [any(r == k and inside(x, area) == told for r, area, told in clause)
                      for clause in clauses]  # fmt: skip
            bits = sum(1 << place for place, true in enumerate(serves) if true)
            found.add(bits if world.labelled else bits and bits | 1 << spot)
            world.budget.spend(size)
    return tuple(found)


def satisfied(world: World, database: Counter[Holder]) -> bool:
    """Whether the clauses hold (where records have no numbers: for some way to number them)."""
    nothing: Vector = ()
    records = [(times, [(nothing, ways(world, x, number), False)], False)
               for (number, x), times in database.items()]  # fmt: skip
    return bool(_reached(world, nothing, records))


def change_of(world: World, pair: Pair) -> Exact:
    """Return the change of the query over the pair."""
    query, weights = world.query, world.query.weights
    changed = len(pair.before) + len(pair.after)
    world.budget.spend(changed * (changed if query.kind == "ranges" else query.cost))
    if weights is not None:
        place, step = query.places[0], world.policy.axes[query.places[0]].step
        moves = zip(pair.numbers, pair.before, pair.after, strict=True)
        steps = sum(weights[k or 0] * (y[place] - x[place]) for k, x, y in moves)
        return query.size([abs(Fraction(steps * step, query.scale))])
    change = Counter(pair.after)
    change.subtract(pair.before)
    return query.norm({x: times for x, times in change.items() if times})


def why_not(world: World, pair: Pair) -> str:
    """Return why two databases in I_Q are no neighbours, "" if they are (SEMANTICS, section 2)."""
    graph, reading = world.policy.graph, world.reading
    none = (0,) * (len(world.equalities) + len(world.bounds))
    if reading == "markov":
        cells = [*Counter(pair.before).values(), *Counter(pair.after).values()]
        fits = len(cells) <= 4 and max(cells) == 1
        return "" if fits else "more than four cells differ, or one by more than 1"
    stay = [ways(world, x, k) for k, x in zip(pair.numbers, pair.before, strict=False)]
    go = [ways(world, y, k) for k, y in zip(pair.numbers, pair.after, strict=False)]
    bare = not world.bounds and not world.policy.clauses
    secret = [True] * (len(stay) + len(go))
    if world.labelled:
        secret = [graph.joined(x, y) for x, y in zip(pair.before, pair.after, strict=True)]
    if not any(secret) or (reading == "secret-moves" and not all(secret)):
        return "no changed record makes a secret move, or one makes none"
    if reading == "pufferfish" and not bare:
        return _doubt(world, pair, secret)
    mixed = reading == "published" and not graph.complete
    told = "a part of the changes leads into I_Q"
    alike = bare and (not mixed or sum(secret) == 1)  # a part, or the rest, has no secret move
    if alike and world.labelled:
        spots = [[world.sparse(x) for x in side] for side in (pair.before, pair.after)]
        if round_a_cycle(list(zip(*spots, strict=True)), world.budget):
            return ""
    ends = [world.effects(side) for side in (pair.before, pair.after)]
    if world.labelled:
        effects = [tuple(map(sub, two, one)) for one, two in zip(*ends, strict=True)]
    else:
        effects = [*(tuple(-v for v in effect) for effect in ends[0]), *ends[1]]
        stay, go = stay + [(0,)] * len(go), [(0,)] * len(stay) + go
    if alike:
        return "" if irreducible(world, Counter(effects)) else told
    options = [((none, one, False), (effect, two, True))
               for effect, one, two in zip(effects, stay, go, strict=True)]  # fmt: skip
    others = [(times, [(none, ways(world, x, k), False)], False)
              for (k, x), times in pair.rest.items()]  # fmt: skip
    records: list[Record] = [(1, both, True) for both in options]
    if mixed:  # 3(b): all secret moves, and a part of the others
        records = [
            (1, both[hidden:], not hidden) for both, hidden in zip(options, secret, strict=True)
        ]
    if _leads(world, pair, [*others, *records], some=mixed):
        return told
    if not mixed or sum(secret) < 2:
        return ""
    # 3(a): some secret moves but not all, and every record may move plainly
    holders = zip(pair.numbers, pair.before, options, secret, strict=True)
    records = [
        (1, [*both[: 1 + hidden], *_plain(world, x, k)], hidden) for k, x, both, hidden in holders
    ]
    records += [(times, [*still, *_plain(world, x, k)], False)
                for (times, still, _), (k, x) in zip(others, pair.rest, strict=True)]  # fmt: skip
    found = _leads(world, pair, records)
    return "some of the secret changes, and plain moves, lead into I_Q" if found else ""


def _doubt(world: World, pair: Pair, secret: Sequence[bool]) -> str:
    """Reading 5 with bounds or clauses: why no belief is certain of D1 and of D2, told record i.

    Some weights of the other changes are above 0 for each part that leads from D1 into I_Q, and
    below it for each whose undoing leads from D2 into I_Q: so it is where one sort has no parts,
    and not where a part is of both. What is left would be a linear program.
    """
    changes = len(secret)
    world.budget.spend(4 << changes if changes < 60 else 1 << 60)

    def inside(part: int) -> bool:
        both = enumerate(zip(pair.before, pair.after, strict=True))
        moved = [ends[part >> k & 1] for k, ends in both]
        held = pair.rest + Counter(zip(pair.numbers, moved, strict=True))
        world.budget.spend(changes * (4 + world.look))
        values: Counter[Point] = Counter()
        for (_, x), times in held.items():
            values[x] += times
        found = totals(world, values)
        return found is not None and satisfied(world, held)

    every = (1 << changes) - 1
    open_ = False
    for told in (k for k in range(changes) if secret[k]):
        parts = [part for part in range(1, every + 1) if not part >> told & 1]
        onward = {part for part in parts if inside(part)}
        back = {part for part in parts if inside(every - part)}
        if not onward or not back:
            return ""
        open_ = open_ or not onward & back
    if open_:
        raise Rejected("whether a belief can be certain of both is a linear program", limit=True)
    return "a part of the changes leads into I_Q, and so does undoing it"


def _step(world: World, x: Point, y: Point) -> Vector:
    return tuple(b - a for a, b in zip(world.effect(x), world.effect(y), strict=True))


def _plain(world: World, x: Point, number: int | None) -> set[Option]:
    """Return what plain moves away from x do (in a large domain: what any move does)."""
    if world.policy.size <= MOST_POINTS:
        ends = [y for y in world.points() if y != x and not world.policy.graph.joined(x, y)]
    else:
        cuts = [box for clause in world.policy.clauses for _, area, _ in clause for box in area]
        ends = [cell.point for cell in world.cells([*world.equalities, *world.bounds], cuts)]
    return {(_step(world, x, y), ways(world, y, number), False) for y in ends}


def _leads(world: World, pair: Pair, records: Sequence[Record], *, some: bool = False) -> bool:
    """Whether some choice leads into I_Q, takes some counted change (or `some`), and not all."""
    values, known = Counter(pair.before), len(world.equalities)
    for (_, x), times in pair.rest.items():
        values[x] += times
    start = totals(world, values) or ()
    return any(
        yet
        and not every
        and total[:known] == start[:known]
        and all(fact.fits(v) for fact, v in zip(world.bounds, total[known:], strict=True))
        for total, yet, every in _reached(world, start, records, some=some)
    )


def _reached(
    world: World, start: Vector, records: Sequence[Record], *, some: bool = False
) -> set[tuple[Vector, bool, bool]]:
    """Return what the totals can be after choices that satisfy the clauses, whether some counted
    change is among them (or `some`), and whether all are.
    """
    clauses = len(world.policy.clauses)
    states = {(start, 0, some, True)}
    for times, options, counted in records:
        for _ in range(times):
            choices = sum(len(way) for _, way, _ in options)
            world.budget.spend(len(states) * choices * (1 + len(start)))
            grown: set[tuple[Vector, int, bool, bool]] = set()
            for total, true, yet, every in states:
                grown.update([
                    (tuple(map(add, total, effect)), true | more, yet or (counted and taken),
                     every and (taken or not counted))
                    for effect, way, taken in options
                    for more in way
                    if not (true & more) >> clauses  # a number is given once
                ])  # fmt: skip
                if len(grown) * (1 + len(start) // 16) > MOST_SUMS:
                    raise Rejected(TOO_MANY, limit=True)
            if grown == states:
                break  # staying changes nothing, and nothing new is reached any more
            states = grown
    every_clause = (1 << clauses) - 1
    return {(total, yet, every) for total, true, yet, every in states
            if true & every_clause == every_clause}  # fmt: skip


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
    scale = common((abs(own) for _, own, _ in others), world.budget)
    sums: set[Vector] = set()
    for place, (d, own, coordinates) in enumerate(others):
        ends = [0] * (len(chosen) - len(coordinates))
        world.budget.spend(len(chosen) * words(scale) ** 2)
        step = [-c * scale // own for c in coordinates] + ends
        size = 1 + (len(step) + max(map(abs, step), default=0).bit_length() * len(step) // 64) // 16
        each = (1 + len(step)) * words(max(map(abs, step), default=0))
        world.budget.spend((len(sums) + 1) * (times[d] + 1) * each)
        if (len(sums) + 1) * times[d] * size > MOST_SUMS:
            raise Rejected(TOO_MANY, limit=True)
        multiples = [tuple(k * c for c in step) for k in range(1, times[d] + (place > 0))]
        sums |= {tuple(map(add, s, m)) for s in sums for m in multiples}
        sums.update(multiples)
    return not any(
        all(c % scale == 0 and -times[b] * scale <= c <= 0 for c, b in zip(s, chosen, strict=True))
        for s in sums
    )
