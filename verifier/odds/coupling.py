"""The coupling of the theorem in `independent`, found by matching: a test of its proof.

Record j of C holds one of two values, with effects e_j between them. An orientation s says which,
with s_i = 1; O are those with sum s_j e_j = 0. The claim is that some doubly stochastic matrix on O
lives where s and s' agree on an irreducible set. By Birkhoff's theorem there is one iff there is a
permutation, a perfect matching, which augmenting paths find or refute.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations, product

__all__ = ["coupling", "irreducible", "orientations"]

Vector = tuple[int, ...]
Orientation = tuple[int, ...]


def orientations(effects: Sequence[Vector], told: int) -> list[Orientation]:
    """Return the orientations that keep the facts, with +1 at the record that is told."""
    width = range(len(effects[0]))
    return [
        s
        for s in product((1, -1), repeat=len(effects))
        if s[told] == 1
        and not any(sum(x * e[k] for x, e in zip(s, effects, strict=True)) for k in width)
    ]


def irreducible(effects: Sequence[Vector], s: Orientation, part: Sequence[int]) -> bool:
    """Whether the records of a part make moves that keep the facts, and no fewer of them do."""

    def kept(some: Sequence[int]) -> bool:
        return not any(sum(s[j] * effects[j][k] for j in some) for k in range(len(effects[0])))

    proper = (some for size in range(1, len(part)) for some in combinations(part, size))
    return kept(part) and not any(kept(some) for some in proper)


def coupling(effects: Sequence[Vector], told: int) -> dict[Orientation, Orientation] | None:
    """Return a permutation of O under which s and its image agree on an irreducible set.

    None would refute the theorem.

    >>> coupling([(1,), (1,)], 0)
    {(1, -1): (1, -1)}
    """
    every = orientations(effects, told)
    allowed = {
        s: [
            other
            for other in every
            if irreducible(effects, s, [j for j in range(len(s)) if s[j] == other[j]])
        ]
        for s in every
    }
    taken: dict[Orientation, Orientation] = {}

    def augment(s: Orientation, seen: set[Orientation]) -> bool:
        for other in allowed[s]:
            if other in seen:
                continue
            seen.add(other)
            if other not in taken or augment(taken[other], seen):
                taken[other] = s
                return True
        return False

    if not all(augment(s, set()) for s in every):
        return None
    return {s: other for other, s in taken.items()}
