"""Are signatures affinely independent? Then what keeps every fact is a circulation on them.

They are iff the rows (1, s) are independent. A column that is 0 in all rows but one gives that row
the factor 0 in every dependency, so that it is taken away; what is left, when no column does that
any more, goes through an elimination in whole numbers.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from fractions import Fraction

from .document import Budget, Exact, common
from .world import Vector, relations

__all__ = ["independent", "records", "round_a_cycle"]


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
