"""Does a part of many moves keep every fact? Where the signatures are independent, by walking.

Let the signatures that moves come from or go to be affinely independent. A part of the moves keeps
every fact iff each signature gains as many records as it loses by it: if it is a circulation. So
moves that keep every fact have no proper part that does iff they are one simple cycle, or one move
alone. Independence is seen by taking away, again and again, a signature with a fact (or the count
of all records) that counts none of those that are left. This shares nothing with the theorem that
finds such pairs (`simple_cycles`), and takes time that follows what is not 0.

*A few facts that count much beside them.* Without these, let the signatures be independent, and let
each be left once. Then the moves fall into cycles in one way only, and a part that keeps every fact
is some of them, with no effect on the few facts together: their effects on these are searched.

*Many records for each move.* Otherwise, take arcs between signatures that join them all (a forest):
a circulation follows from how often it goes along the other arcs. Along the forest a signature gets
a height in each of the few facts; a circulation is without effect iff the other arcs, each as often
as it goes along it, add up to 0 in what they rise beyond the heights of their ends. If the only
such multiples are those of the moves themselves, and the moves have no common divisor, they have no
such part.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from math import gcd

from blowproof.verifier.limits.limit import whole_limit
from blowproof.verifier.neighbours.zero_parts import zero_part

__all__ = ["part_of_cycle"]

MOST_BESIDE = whole_limit(__name__, "MOST_BESIDE")

Signature = tuple[tuple[int, int], ...]
"""(fact, times) where times is not 0, the facts in order."""


def part_of_cycle(moves: Sequence[tuple[Signature, Signature]]) -> bool | None:
    """Return whether a proper part of moves that keep every fact keeps them; None: not decided.

    >>> one, two, none = ((0, 1),), ((1, 1),), ()
    >>> part_of_cycle([(one, two), (two, none), (none, one)])
    False
    >>> part_of_cycle([(one, two), (two, one), (one, none), (none, one)])
    True
    >>> both = ((0, 1), (1, 1))
    >>> part_of_cycle([(one, two), (two, one), (none, both), (both, none)]) is None
    True
    """
    found = _walked(moves)
    for beside in _beside(moves) if found is None else ():
        found = _by_cycles(moves, beside)
        if found is None and _only_relation(moves, beside):
            found = False
        if found is not None:
            break
    return found


def _beside(moves: Sequence[tuple[Signature, Signature]]) -> Iterator[frozenset[int]]:
    """Yield the fact that counts most of the values, then the two that do, and so on."""
    users = Counter(fact for move in moves for signature in move for fact, _ in signature)
    chosen: frozenset[int] = frozenset()
    for fact, _ in users.most_common(MOST_BESIDE):
        chosen |= {fact}
        yield chosen


def _by_cycles(moves: Sequence[tuple[Signature, Signature]], beside: frozenset[int]) -> bool | None:
    """Return whether some of the cycles have no effect on the facts beside, and not all of them."""
    order = sorted(beside)
    after: dict[Signature, tuple[Signature, tuple[int, ...]]] = {}
    for move in moves:
        one, two = (tuple(item for item in end if item[0] not in beside) for end in move)
        before, later = map(dict, move)
        if one in after:
            return None
        after[one] = two, tuple(later.get(k, 0) - before.get(k, 0) for k in order)
    if {two for two, _ in after.values()} != after.keys() or not _independent(list(after)):
        return None
    effects: Counter[tuple[int, ...]] = Counter()
    while after:
        place, label = after.popitem()[1]
        while place in after:
            place, more = after.pop(place)
            label = tuple(a + b for a, b in zip(label, more, strict=True))
        effects[label] += 1
    return zero_part(effects)


def _only_relation(moves: Sequence[tuple[Signature, Signature]], beside: frozenset[int]) -> bool:
    """Whether moves keep every fact, and no others of these kinds do but multiples of them."""
    order = sorted(beside)
    arcs: Counter[tuple[Signature, Signature, tuple[int, ...]]] = Counter()
    for (one, two), times in Counter(moves).items():
        before, later = dict(one), dict(two)
        ends = [tuple(item for item in end if item[0] not in beside) for end in (one, two)]
        arcs[ends[0], ends[1], tuple(later.get(k, 0) - before.get(k, 0) for k in order)] += times
    places = list(dict.fromkeys(end for arc in arcs for end in arc[:2]))
    changes: Counter[Signature] = Counter()
    rises = [0] * len(order)
    for (one, two, rise), times in arcs.items():
        changes[one] -= times
        changes[two] += times
        rises = [total + times * step for total, step in zip(rises, rise, strict=True)]
    if any(rises) or any(changes.values()) or gcd(*arcs.values()) > 1 or not _independent(places):
        return False
    heights, forest = _heights(arcs, len(order))
    excess = []
    for one, two, rise in arcs:
        if (one, two, rise) not in forest:
            along = zip(rise, heights[one], heights[two], strict=True)
            excess.append([step + low - high for step, low, high in along])
    return len(excess) == 1 + _rank(excess)


def _heights(
    arcs: Iterable[tuple[Signature, Signature, tuple[int, ...]]], facts: int
) -> tuple[dict[Signature, list[int]], set[tuple[Signature, Signature, tuple[int, ...]]]]:
    """Return heights of signatures, and the arcs of a forest along which they rise so."""
    around: dict[Signature, list[tuple[Signature, Signature, tuple[int, ...]]]] = defaultdict(list)
    for arc in arcs:
        around[arc[0]].append(arc)
        around[arc[1]].append(arc)
    heights: dict[Signature, list[int]] = {}
    forest = set()
    for start in around:
        if start in heights:
            continue
        heights[start], waiting = [0] * facts, [start]
        while waiting:
            place = waiting.pop()
            for arc in around[place]:
                one, two, rise = arc
                other, sign = (two, 1) if place == one else (one, -1)
                if other not in heights:
                    steps = zip(heights[place], rise, strict=True)
                    heights[other] = [height + sign * step for height, step in steps]
                    forest.add(arc)
                    waiting.append(other)
    return heights, forest


def _rank(rows: Sequence[Sequence[int]]) -> int:
    """Return the rank of rows, by elimination."""
    left = [list(row) for row in rows]
    rank = 0
    while left := [row for row in left if any(row)]:
        top, rank = left.pop(), rank + 1
        place = next(k for k, number in enumerate(top) if number)
        left = [
            [top[place] * a - row[place] * b for a, b in zip(row, top, strict=True)] for row in left
        ]
    return rank


def _walked(moves: Sequence[tuple[Signature, Signature]]) -> bool | None:
    """Return whether the walk along all moves is closed before its end."""
    after: dict[Signature, list[Signature]] = defaultdict(list)
    for one, two in moves:
        after[one].append(two)
    gains = Counter(two for _, two in moves)
    if any(gains[place] != len(found) for place, found in after.items()) or len(gains) > len(after):
        return None  # then they do not keep every fact, or signatures are not independent
    if not _independent(list(after)):
        return None
    start = moves[0][0]
    place, seen = after[start][0], 1
    while place != start:
        place, seen = after[place][0], seen + 1
        if seen > len(moves):
            return True
    return seen < len(moves)


def _independent(signatures: Sequence[Signature]) -> bool:
    """Whether signatures are seen to be affinely independent; -1 is the count of all records."""
    users: dict[int, set[int]] = defaultdict(set)
    for number, signature in enumerate(signatures):
        for fact in (-1, *(fact for fact, _ in signature)):
            users[fact].add(number)
    single = [fact for fact, found in users.items() if len(found) == 1]
    taken = 0
    while single:
        left = users[single.pop()]
        if len(left) != 1:
            continue
        number = next(iter(left))
        taken += 1
        for fact in (-1, *(fact for fact, _ in signatures[number])):
            users[fact].discard(number)
            if len(users[fact]) == 1:
                single.append(fact)
    return taken == len(signatures)
