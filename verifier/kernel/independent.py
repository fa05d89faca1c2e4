"""Are signatures affinely independent? Then what keeps every fact is a circulation on them.

They are iff the rows (1, s) are independent. A column that is 0 in all rows but one gives that row
the factor 0 in every dependency, so that it is taken away; what is left, when no column does that
any more, goes through an elimination in whole numbers. Besides: which effects have nothing to do
with one another (`parts`)?
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from copy import copy
from fractions import Fraction

from .document import Budget, Exact, common
from .world import Effects, Vector, relations

__all__ = ["independent", "parts", "records", "round_a_cycle"]


def independent(signatures: Sequence[Vector], budget: Budget) -> bool:
    """Whether different signatures are affinely independent."""
    left = _peeled(signatures, budget)[1]
    rest = [(1, *signatures[number]) for number in left]
    return len(relations(rest, budget)[0]) == len(rest)


def records(
    signatures: Sequence[Vector], totals: Sequence[Exact], budget: Budget
) -> list[Exact] | None:
    """Return how many records each independent signature has where they add up to totals (n, then
    one for each fact); None where no numbers do.
    """
    order, left = _peeled(signatures, budget)
    found: list[Exact] = [0] * len(signatures)
    short = list(totals)
    for number, k in order:  # nobody who comes later has this column
        row = (1, *signatures[number])
        found[number] = Fraction(short[k + 1], row[k + 1])
        short = [x - found[number] * v for x, v in zip(short, row, strict=True)]
        budget.spend(len(row))
    rows = [(1, *signatures[number]) for number in left]
    scale = common((Fraction(x).denominator for x in short), budget)
    basis, told = relations([*rows, [int(x * scale) for x in short]], budget)
    if len(rows) in basis:
        return None
    own, coordinates = told[-1]
    for place, share in zip(basis, coordinates, strict=True):
        found[left[place]] = Fraction(-share, own * scale)
    return found


def _peeled(
    signatures: Sequence[Vector], budget: Budget
) -> tuple[list[tuple[int, int]], list[int]]:
    """Return the rows (1, s) in an order in which each has a column (from -1) that no later one
    has, with that column, and those that are left.
    """
    users: dict[int, set[int]] = defaultdict(set)
    rows = []
    for number, signature in enumerate(signatures):
        rows.append([-1, *(k for k, value in enumerate(signature) if value)])
        for k in rows[-1]:
            users[k].add(number)
        budget.spend(1 + len(signature), 2 * len(rows[-1]))
    ready = [k for k, found in users.items() if len(found) == 1]
    left, order = set(range(len(rows))), []
    while ready:
        column = ready.pop()
        found = users[column]
        if len(found) != 1:
            continue
        number = next(iter(found))
        left.remove(number)
        order.append((number, column))
        budget.spend(4 * len(rows[number]))
        for k in rows[number]:
            users[k].remove(number)
            if len(users[k]) == 1:
                ready.append(k)
    return order, sorted(left)


def round_a_cycle(moves: Sequence[tuple[Vector, Vector]], budget: Budget) -> bool:
    """Whether moves from signature to signature go once round different ones, independent ones.

    Then they keep every fact, and no proper part of them does: a part that does is a circulation.
    """
    following = dict(moves)
    if len(following) != len(moves):
        return False
    place, seen = moves[0][0], 0
    while place in following and seen < len(moves):
        budget.spend(1 + len(place))
        place, seen = following[place], seen + 1
        if place == moves[0][0]:
            break
    closed = seen == len(moves) and place == moves[0][0]
    return closed and independent(list(following), budget)


def parts(moves: Effects) -> list[tuple[Effects, int]]:
    """Return the effects in parts that span spaces whose sum is direct, and each space's dimension.

    If a multiset sums to zero, so does what it takes from each part: an irreducible one lies in one
    part. Parts that no secret move has an effect in are left out.
    """
    line = {d: max(d, tuple([-v for v in d])) for d in moves.effects}
    lines, budget = sorted(set(line.values())), moves.world.budget
    basis, forms = relations(lines, budget)
    group = list(range(len(basis)))

    def root(k: int) -> int:
        while group[k] != k:
            group[k] = k = group[group[k]]
        return k

    place: dict[Vector, int] = {}
    for d, (_, coordinates) in zip(lines, forms, strict=True):
        place[d], *others = [k for k, times in enumerate(coordinates) if times]
        budget.spend(len(coordinates) + 4 * len(others))
        for k in others:
            group[root(k)] = root(place[d])
    dimensions = Counter(root(k) for k in range(len(basis)))
    weight = dict(zip(moves.effects, moves.weights, strict=True))
    found: dict[int, Effects] = {}
    for d in moves.effects:
        number = root(place[line[d]])
        if number not in found:
            found[number] = copy(moves)
            found[number].effects, found[number].weights, found[number].secret = [], [], set()
        part = found[number]
        part.effects.append(d)
        part.weights.append(weight[d])
        part.secret |= {d} & moves.secret
    return [(part, dimensions[number]) for number, part in found.items() if part.secret]
