"""Parts of the effects that have nothing to do with one another."""

from __future__ import annotations

from collections import Counter
from copy import copy

from .world import Effects, Vector, relations


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
