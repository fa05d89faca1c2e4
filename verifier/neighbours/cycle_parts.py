"""Does a part of many moves keep every fact? Where the signatures are independent, by walking.

Let the signatures that moves come from or go to be affinely independent. A part of the moves keeps
every fact iff each signature gains as many records as it loses by it: if it is a circulation. So
moves that keep every fact have no proper part that does iff they are one simple cycle, or one move
alone. Independence is seen by taking away, again and again, a signature with a fact (or the count
of all records) that counts none of those that are left. This shares nothing with the theorem that
finds such pairs (`simple_cycles`), and takes time that follows what is not 0.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence

__all__ = ["part_of_cycle"]

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
