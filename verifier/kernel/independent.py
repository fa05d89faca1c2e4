"""Are signatures affinely independent? Then what keeps every fact is a circulation on them.

They are iff the rows (1, s) are independent. A column that is 0 in all rows but one gives that row
the factor 0 in every dependency, so that it is taken away; what is left, when no column does that
any more, goes through an elimination in whole numbers.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from .document import Budget
from .world import Vector, relations

__all__ = ["independent", "round_a_cycle"]


def independent(signatures: Sequence[Vector], budget: Budget) -> bool:
    """Whether different signatures are affinely independent."""
    users: dict[int, set[int]] = defaultdict(set)
    rows = []
    for number, signature in enumerate(signatures):
        rows.append([-1, *(k for k, value in enumerate(signature) if value)])
        for k in rows[-1]:
            users[k].add(number)
        budget.spend(1 + len(signature), 2 * len(rows[-1]))
    ready = [k for k, found in users.items() if len(found) == 1]
    left = set(range(len(rows)))
    while ready:
        found = users[ready.pop()]
        if len(found) != 1:
            continue
        number = next(iter(found))
        left.remove(number)
        budget.spend(4 * len(rows[number]))
        for k in rows[number]:
            users[k].remove(number)
            if len(users[k]) == 1:
                ready.append(k)
    rest = [(1, *signatures[number]) for number in sorted(left)]
    return len(relations(rest, budget)[0]) == len(rest)


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
