"""Does a proper part of a multiset of effects sum to zero? By elimination, for long multisets.

Part x of times t: A x = 0 with 0 <= x <= t, x neither 0 nor t. Elimination writes the columns of A
as combinations of independent ones, so that the numbers taken of the others determine the rest. A
circuit has one other column, and a part of it is found or excluded with a pass over the multiples
of one effect, however many moves it has; the search over sums (`search_for_d3`) would list them
all.

*Long circuits.* Modulo a prime no more columns are independent than over the fractions. So where
all columns but one are so, A x = 0 has one solution up to multiples: t itself, since A t = 0. The
whole ones between 0 and t are those of t / g, g the greatest common divisor of t: there is a proper
part iff g > 1. Each column has few numbers that are not 0, and what is done to them keeps it so,
whereas the fractions of the other way are written out in full.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from fractions import Fraction
from itertools import product
from math import gcd, lcm, prod

from blowproof.verifier.limits.limit import whole_limit

__all__ = ["zero_part"]

Vector = tuple[int, ...]

MOST_PARTS = whole_limit(__name__, "MOST_PARTS")
MOST_WORK = whole_limit(__name__, "MOST_WORK")
MOST_STEPS = whole_limit(__name__, "MOST_STEPS")

PRIME = (1 << 61) - 1


def zero_part(times: Counter[Vector]) -> bool | None:
    """Return whether a proper non-empty part sums to zero; None: too many to say.

    >>> zero_part(Counter({(2, 0): 3, (-3, 0): 2, (0, 1): 1, (0, -1): 1}))
    True
    >>> zero_part(Counter({(2, 1): 3, (-3, 0): 2, (0, -3): 1}))
    False
    """
    if _at_once(times):
        return True
    if _one_relation(times):
        return gcd(*times.values()) > 1
    columns = sorted(times, key=lambda effect: (-times[effect], effect))
    rows = len(set(zip(*columns, strict=True)))
    if rows * min(rows, len(columns)) * len(columns) > MOST_WORK:
        return None
    free, rules, scale = _dependent(columns)
    if prod(times[columns[j]] + 1 for j in free) > MOST_PARTS:
        return None
    limits = [(row, times[columns[pivot]] * scale) for pivot, row in rules]
    whole = tuple(times[columns[j]] for j in free)
    for part in product(*(range(most + 1) for most in whole)):
        taken = [sum(a * x for a, x in zip(row, part, strict=True)) for row, _ in limits]
        fits = all(
            0 <= number <= most and number % scale == 0
            for number, (_, most) in zip(taken, limits, strict=True)
        )
        proper = any(part) or any(taken)
        if fits and proper and (part != whole or [most for _, most in limits] != taken):
            return True
    return False


def _one_relation(times: Counter[Vector]) -> bool:
    """Whether these effects, so many of each, sum to 0, and all but one are seen to be independent.

    >>> _one_relation(Counter({(2, 0): 3, (-3, 1): 2, (0, -1): 2}))
    True
    >>> _one_relation(Counter({(2, 0): 3, (-3, 0): 2, (0, 1): 1, (0, -1): 1}))
    False
    """
    often = Counter(k for effect in times for k, value in enumerate(effect) if value)
    sums: Counter[int] = Counter()
    solved: dict[int, dict[int, int]] = {}  # of each such place: what stands for it, elsewhere
    related = steps = 0
    for effect, number in times.items():
        row = {k: value % PRIME for k, value in enumerate(effect) if value}
        for k in row:
            sums[k] += number * effect[k]
        open_ = [k for k in row if k in solved]
        while open_:
            k = open_.pop()
            value = row.pop(k, 0)
            steps += len(solved[k])
            for place, other in solved[k].items() if value else ():
                entry = (row.get(place, 0) + value * other) % PRIME
                if not entry:
                    del row[place]
                    continue
                if place in solved and place not in row:
                    open_.append(place)
                row[place] = entry
        if row:
            last = min(row, key=lambda k: (often[k], k))
            inverse = pow(-row.pop(last), -1, PRIME)
            solved[last] = {place: value * inverse % PRIME for place, value in row.items()}
        else:
            related += 1
        if related > 1 or steps > MOST_STEPS:
            return False
    return related == 1 and not any(sums.values())


def _at_once(times: Counter[Vector]) -> bool:
    """Whether a proper part is seen without a search: two opposite effects, or all those that share
    facts with one another (and none with any other), where they sum to zero.
    """
    if sum(times.values()) > 2 and any(tuple(-v for v in effect) in times for effect in times):
        return True
    homes: dict[int, int] = {}

    def home(k: int) -> int:
        while homes.setdefault(k, k) != k:
            k = homes[k]
        return k

    touched = {effect: [k for k, value in enumerate(effect) if value] for effect in times}
    for places in touched.values():
        for k in places[1:]:
            homes[home(k)] = home(places[0])
    sums: dict[int, Counter[int]] = defaultdict(Counter)
    for effect, places in touched.items():
        for k in places:
            sums[home(k)][k] += times[effect] * effect[k]
    return len(sums) > 1 and any(not any(total.values()) for total in sums.values())


def _dependent(columns: list[Vector]) -> tuple[list[int], list[tuple[int, list[int]]], int]:
    """Return the dependent columns, for each independent one how many of it the numbers of these
    ask for (scaled to whole numbers), and the scale.
    """
    distinct = dict.fromkeys(zip(*columns, strict=True))
    rows = [[Fraction(number) for number in row] for row in distinct]
    pivots: list[int] = []
    for j in range(len(columns)):
        top = len(pivots)
        place = next((i for i in range(top, len(rows)) if rows[i][j]), None)
        if place is None:
            continue
        rows[top], rows[place] = rows[place], rows[top]
        head = rows[top][j]
        rows[top] = [number / head for number in rows[top]]
        for i, row in enumerate(rows):
            if i != top and row[j]:
                rows[i] = [a - row[j] * b for a, b in zip(row, rows[top], strict=True)]
        pivots.append(j)
    free = [j for j in range(len(columns)) if j not in pivots]
    scale = lcm(*(rows[i][j].denominator for i in range(len(pivots)) for j in free), 1)
    rules = [(j, [int(-rows[i][k] * scale) for k in free]) for i, j in enumerate(pivots)]
    return free, rules, scale
