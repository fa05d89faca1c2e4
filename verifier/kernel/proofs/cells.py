"""Kind `cells`: facts whose signatures are independent, and at most one more fact beside them.

`base` names equalities by place, from 0, n being the last where it is a number. What the cells'
values add to these are the signatures; let the N different ones be affinely independent. Moves that
keep the base are a circulation on them, which falls into simple cycles.

*No other fact tells values of one signature apart.* An irreducible is one simple cycle, or one move
within a signature: each signature loses one record and gains one, or neither. So f changes by what
the signatures (the n for which it is largest) change, each by no more than the largest change that
two values of it make: in l1 their sum, or if it is less, the largest sum over signatures of how far
t.row goes apart in each, t being signs of the outputs (|x| is t.x for some t). In the other norms
each part of a stack is looked at alone. Where no output of a part changes with two signatures,
squares add up, and the largest and the least change are those of one signature; where some does,
roots add up, and so do largest and least.
Besides, an output j changes by no more than R_j, the sum over signatures of how far two values of
it lie apart there: so by R_j^2 in squares, by the largest R_j in linf, by the two largest in range.
Under scope "given" the numbers leave one number of records to each signature, and those that have
none take no part.

*All ranges of an axis*, in l1. Let u_j be how many records the cut j of the m + 1 cuts has more on
its near side than before (0 at the outermost), so that f changes by the sum of |u_i - u_j| over
every two cuts. Say of each signature whether its record goes up the axis or down: then -n_j <= u_j
<= p_j, for the p_j that go up and the n_j that go down of the signatures that lie on both sides of
j. A level h is between u_i and u_j if one of them is h or more and the other is not: so the sum is
that of N (m + 1 - N), N being how many u_j are h or more, over all whole h. For h >= 1 these have
p_j >= h; for h <= 0 the m + 1 - N others have n_j >= 1 - h. So f changes by no more than, for the
worst choice of ways, the sum of the most that k (m + 1 - k) is for k up to how many p_j (n_j) are h
or more, over h >= 1 and both.

*The others tell them apart by multiples of one vector*, the multiples being whole and without a
common divisor, w the largest difference of two of them within a signature. An irreducible then has
at most w (N + 1)^2 / 2 moves, rounded down (the proof is at the head of `theorems/beside.py` of the
verifier, and in FORMAT.md), and each changes f by no more than the largest move.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Container, Iterable, Iterator, Sequence
from itertools import chain, compress, pairwise, product
from math import gcd, prod
from typing import Any, NamedTuple

from ..document import Budget, Exact, Rejected, want
from ..independent import Sparse, independent, records
from ..measure import Change, Measure, ends
from ..stack import Stack
from ..world import SOME, World, less, plus

Place = tuple[Sparse, Change]
"""What a record in a cell adds to each fact, and to the query."""


def refute(world: World, proof: dict[str, Any], value: Exact) -> None:
    """Refuse unless the bound that the base gives is within the value."""
    table = want(proof, {"kind": str, "base": [int]}, "the proof")
    scale, places = places_of(world)
    if bound(world, places, table["base"]) > world.measure.claim(value, scale):
        raise Rejected("the bound that the proof gives is above the value")


def places_of(world: World) -> tuple[int, list[Place]]:
    """Return a scale, and the cells' effects and scaled rows of the query."""
    if (
        not world.labelled
        or world.bounds
        or world.policy.clauses
        or world.query.weights is not None
    ):
        raise Rejected("this kind of proof is for equalities, in readings 1 and 2")
    world.by_position(single=True)
    cells, _, _ = world.classes()
    scale, rows = world.rows(cells)
    return scale, [(world.sparse(cell.point), row) for cell, row in zip(cells, rows, strict=True)]


def bound(world: World, places: Sequence[Place], base: Sequence[int]) -> int:
    """Return what no neighbour pair exceeds, as a size."""
    inside, apart = classed(world, places, base)
    if not inside:
        return 0
    if not apart:
        held = occupied(world, [members[0][0] for members in inside.values()])
        signatures = [
            frozenset(row for _, row in members)
            for members in inside.values()
            if members[0][0] in held
        ]
        return _cycle(world, signatures)
    most = apart * (len(inside) + 1) ** 2 // 2
    if world.size is not None:
        most = min(most, world.size)
    return world.measure.repeated(largest(world, {row for _, row in places}).size, most)


def classed(
    world: World, places: Sequence[Place], base: Sequence[int]
) -> tuple[dict[Sparse, list[Place]], int]:
    """Return the places by independent signatures, and how far those of one lie apart."""
    inside: dict[Sparse, list[Place]] = defaultdict(list)
    width = len(world.equalities)
    if any(not 0 <= k < width for k in base):
        raise Rejected("there is no such fact")
    whole = list(base) == list(range(width))  # then a signature is the effect itself
    some = set(base)
    for effect, row in places:
        inside[effect if whole else restricted(effect, some, world)].append((effect, row))
    if not independent(list(inside), world.budget):
        raise Rejected("the signatures are not independent")
    return inside, 0 if whole else _width(world, inside.values())


def restricted(effect: Sparse, base: Container[int], world: World) -> Sparse:
    """Return what a record adds to some facts alone."""
    world.budget.spend(1 + len(effect), 2 * len(effect))
    return tuple([item for item in effect if item[0] in base])


def occupied(world: World, effects: Sequence[Sparse]) -> set[Sparse]:
    """Return the signatures that a record can have by the known numbers; they are independent."""
    found = list(dict.fromkeys(effects))
    answers = [fact.answer for fact in world.equalities]
    if world.size is None or None in answers:
        return set(found)
    totals = [world.size, *(answer for answer in answers if answer is not None)]
    told = records(found, totals, world.budget)
    return set(found) if told is None else {s for s, h in zip(found, told, strict=True) if h}


def _cycle(world: World, signatures: Sequence[frozenset[Change]]) -> int:
    """Return the largest change where each signature loses a record and gains one, or neither."""
    measure = world.measure
    if measure.name == "l1":
        alone = _together(world, [_known(world, signatures)])
        others = [_by_signs(world, signatures), _by_ways(world, signatures)]
        return min([alone, *(most for most in others if most is not None)])
    parts = len(world.query.parts) if isinstance(world.query, Stack) else 0
    found, apart = [], []
    for number in range(parts or 1):
        rows = [_of_part(some, number) for some in signatures] if parts else signatures
        world.budget.spend(sum(len(row) for some in rows for row in some))
        apart.append(not world.positions and disjoint(rows))
        found.append(_known(world, rows))
    least = _by_outputs(world, signatures)
    if measure.squared:
        whole = sum(_together(world, [each], apart=alone)
                    for each, alone in zip(found, apart, strict=True))  # fmt: skip
        return whole if least is None else min(whole, least)
    top = bottom = 0
    for each, alone in zip(found, apart, strict=True):
        most = 1 if alone else world.size
        top = max(top, sum(sorted([item.top for item in each], reverse=True)[:most]))
        bottom = max(bottom, sum(sorted([item.bottom for item in each], reverse=True)[:most]))
    whole = max(top, bottom) if measure.name == "linf" else top + bottom
    return whole if least is None else min(whole, least)


def _by_outputs(world: World, signatures: Sequence[frozenset[Change]]) -> int | None:
    """Return what no cycle exceeds as no output changes by more; None where rows are not listed."""
    reach: dict[object, int] = defaultdict(int)
    for rows in signatures:
        if SOME in rows or world.positions:
            return None
        values: dict[object, list[int]] = defaultdict(list)
        for row in rows:
            for output, value in row:
                values[output].append(value)
        for output, some in values.items():
            if len(some) < len(rows):
                some.append(0)
            reach[output] += max(some) - min(some)
    if world.measure.squared:
        return world.measure.size(reach.items())
    return sum(sorted(reach.values())[-1 if world.measure.name == "linf" else -2 :])


def _by_signs(world: World, signatures: Sequence[frozenset[Change]]) -> int | None:
    """Return the largest l1 norm of a sum of one difference of rows for each signature: for some
    signs t of the outputs, the sum of how far t.row goes apart within each. None: too many signs.
    """
    kinds = Counter(signatures)
    outputs = {output: None for rows in kinds for row in rows for output, _ in row}
    work = sum(1 + len(row) for rows in kinds for row in rows) << max(0, len(outputs) - 1)
    if world.positions or SOME in {row for rows in kinds for row in rows} or work > MOST_SIGNED:
        return None
    world.budget.spend(4 * work)
    found = 0
    for signs in product((1, -1), repeat=max(0, len(outputs) - 1)):  # -t says the same as t
        t = dict(zip(outputs, (1, *signs), strict=bool(outputs)))
        spreads: list[int] = []
        for rows, times in kinds.items():
            values = [sum([t[output] * value for output, value in row]) for row in rows]
            spreads += [max(values) - min(values)] * times
        found = max(found, sum(sorted(spreads, reverse=True)[: world.size]))
    return found


def _by_ways(world: World, signatures: Sequence[frozenset[Change]]) -> int | None:
    """Return the largest change of all ranges, whichever way each signature's record goes; None: it
    is another query, or there are too many ways.
    """
    if not world.positions or world.query.kind != "ranges":
        return None
    places = [[place for row in rows for place, _ in row if isinstance(place, int)]
              for rows in signatures]  # fmt: skip
    spans = Counter((min(spots), max(spots)) for spots in places if len(set(spots)) > 1)
    pieces = list(pairwise(sorted({place for span in spans for place in span})))
    ways = prod(times + 1 for times in spans.values())
    world.budget.spend(4 * len(pieces) * len(spans))
    over = [[low <= a and b <= high for low, high in spans] for a, b in pieces]
    work = ways * len(pieces) * (len(spans) + 4)
    if work > MOST_SIGNED:
        return None
    world.budget.spend(work)
    found = 0
    for up in product(*(range(times + 1) for times in spans.values())):
        down = [times - some for times, some in zip(spans.values(), up, strict=True)]
        most = 0
        for way in (up, down):
            crossing = [sum(compress(way, held)) for held in over]
            levels = sorted(zip(crossing, [b - a for a, b in pieces], strict=True), reverse=True)
            left = 0
            for (high, length), (low, _) in pairwise([*levels, (0, 0)]):
                left += length
                most += (high - low) * world.query.reach(left)
        found = max(found, most)
    return found


def _together(world: World, found: Sequence[Sequence[Largest]], *, apart: bool = False) -> int:
    """Return what the signatures change together, the n for which it is most."""
    sizes = sorted((item.size for each in found for item in each), reverse=True)[: world.size]
    return sum(sizes) if apart else world.measure.together(sizes)


def _known(world: World, signatures: Sequence[frozenset[Change]]) -> list[Largest]:
    """Return the largest change within each signature; equal ones are looked at once."""
    known: dict[frozenset[Change], Largest] = {}
    for rows in signatures:
        if rows not in known:
            known[rows] = largest(world, rows)
    return [known[rows] for rows in signatures]


def _of_part(rows: frozenset[Change], number: int) -> frozenset[Change]:
    """Return the rows of one part of a stack."""
    return frozenset(
        frozenset(item for item in row if isinstance(item[0], tuple) and item[0][0] == number)
        for row in rows
    )


def disjoint(signatures: Sequence[frozenset[Change]]) -> bool:
    """Whether no output changes with two signatures; "some" values are those of one."""
    seen: set[object] = set()
    for rows in signatures:
        if len(rows) > 1:  # with one row, losing and gaining a record changes nothing
            own = {output for row in rows if row != SOME for output, _ in row}
            if own & seen:
                return False
            seen |= own
    return True


def _width(world: World, signatures: Iterable[Sequence[Place]]) -> int:
    """Return how far values of one signature lie apart, in steps along one vector (0: nowhere)."""
    spots: list[list[int]] = []  # how far, along the first difference that there is
    along: Sparse = ()
    for members in signatures:
        first, spot = members[0][0], []
        for effect, _ in members:
            apart = less(effect, first)
            along = along or apart
            world.budget.spend(4 * (1 + len(first) + len(effect)), 1)
            spot.append(apart[0][1] if apart else 0)
            if apart and _times(apart, along[0][1]) != _times(along, spot[-1]):
                raise Rejected("more than one fact beside the base")
        spots.append(spot)
    step = gcd(*(spot for each in spots for spot in each))
    return max((max(each) - min(each)) // step for each in spots) if step else 0


def _times(vector: Sparse, factor: int) -> Sparse:
    return tuple([(k, factor * value) for k, value in vector])


MOST_SIGNED = 5 * 10**7
"""Entries of rows that are added up, over all signs of the outputs, or all ways of the records."""
MOST_LOOKED_AT = 10**8
"""Entries of rows that are compared two by two, whatever the budget."""


class Largest(NamedTuple):
    """The largest change within a signature: its size, how far an output rises, and how far one
    falls. Each is over all pairs of rows, so no change is larger in any of them.
    """

    size: int
    top: int
    bottom: int


def largest(world: World, rows: Iterable[Change]) -> Largest:
    """Return the largest change by a record that goes from one row to another (or, in a cell of two
    values or more, to another value).
    """
    every, measure = list(rows), world.measure
    some = [frozenset([("leaves", -1), ("enters", 1)])] if SOME in every else []
    above = None if world.positions else _above(measure, every)
    if len(every) * sum(map(len, every)) > MOST_LOOKED_AT and above is not None:
        return above
    size = top = bottom = 0
    for change in chain(some, _moved(every, world.budget)):
        size = max(size, measure.size(change))
        values = [value for _, value in change]
        high, low = ends(values, None)
        top, bottom = max(top, high, -low), max(bottom, high, -low)
        if (size, top, bottom) == above:
            break
    return Largest(size, top, bottom)


def _above(measure: Measure, rows: list[Change]) -> Largest:
    """Return what no two rows exceed, and sort them, the largest first. Where no number is below 0,
    nothing of one row adds to the other: squares add up, and linf is that of either.
    """
    rows.sort(key=measure.size, reverse=True)
    sizes = [measure.size(row) for row in rows[:2]]
    high, low = ends([value for row in rows for _, value in row], None)
    if measure.squared and low < 0:
        return Largest(measure.repeated(max(sizes, default=0), 2), high - low, high - low)
    alone = measure.name == "linf" and low >= 0
    return Largest(max(sizes, default=0) if alone else sum(sizes), high - low, high - low)


def _moved(rows: Sequence[Change], budget: Budget) -> Iterator[Change]:
    """Yield the difference of every two rows, one after the other: all of them may be many."""
    left = sum(map(len, rows))
    for place, one in enumerate(rows, 1):
        left -= len(one)
        budget.spend(8 * ((len(rows) - place) * len(one) + left))
        if one != SOME:
            away = frozenset((output, -value) for output, value in one)
            yield from (plus(away, two) for two in rows[place:] if two != SOME)
