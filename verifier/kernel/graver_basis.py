"""The Graver basis of a lattice: first some of its coordinates, then one more at a time.

The basis of {z : sum of z_k columns_k = 0} consists of its vectors z != 0 that are not sums of two
others of the same signs. FORMAT.md says why what is found here is all of it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Mapping, Sequence
from fractions import Fraction
from operator import add, le, sub

from .document import Budget, Rejected, common, words
from .independent import Vector, relations
from .measure import Change

LARGEST = 1 << 62


def basis(columns: Sequence[Vector], budget: Budget) -> list[Vector]:
    """Return the basis, one of z and -z.

    Coordinates that are free begin, with those that are no whole combinations of them: each of
    these has an equation, whose value is one coordinate more until it is zero for good.
    """
    size = len(columns)
    chosen, forms = relations(columns, budget)
    free = sorted(set(range(size)) - set(chosen))
    each = max((words(v) for own, told in forms for v in (own, *told)), default=1)
    budget.spend(4 * size * (1 + len(free)) * each**2, 4 * size * (1 + len(free)) * each)
    shares = {
        b: {k: Fraction(forms[k][1][i], forms[k][0]) for k in free if i < len(forms[k][1])}
        for i, b in enumerate(chosen)
    }
    scales = {b: common((v.denominator for v in share.values()), budget)
              for b, share in shares.items()}  # fmt: skip
    odd = [b for b in chosen if scales[b] > 1]
    later = [b for b in chosen if scales[b] == 1]
    seen = [*free, *odd]
    budget.spend(len(seen) * (size + len(odd)), len(seen) * (size + len(odd)))
    found = []
    for k in seen:  # the vector that is 1 at k and 0 at the other first coordinates
        own = [int(shares[j].get(k, 0)) if j in later else int(j == k) for j in range(size)]
        equations = [-scales[b] if b == k else scales[b] * shares[b].get(k, 0) for b in odd]
        found.append((*own, *map(int, equations)))
    for j in range(size, size + len(odd)):
        found = [z for z in lifted(found, seen, j, budget) if not z[j]]
    while later:
        budget.spend(len(found) * len(later) // 4)
        j = min(later, key=lambda c: sum(1 for z in found if z[c]))
        found = lifted(found, seen, j, budget)
        seen.append(j)
        later.remove(j)
    return [z[:size] for z in found]


def lifted(known: list[Vector], seen: list[int], j: int, budget: Budget) -> list[Vector]:
    """Return the basis for the coordinates `seen` and j, given that for `seen`, which tell vectors
    apart. Levels are norms on `seen`; of z and -z, one with z_j >= 0 is kept.
    """
    levels: dict[int, set[Vector]] = defaultdict(set)

    def note(z: Vector, level: int) -> None:
        batch, up = levels[level], (z[j], z) > (0, (0,) * len(z))
        count = len(batch)
        batch.add(z if up else tuple([-v for v in z]))
        budget.spend(2 + len(z) // 2, (len(batch) - count) * len(z))

    room = budget.room
    for z in known:
        note(z, sum([abs(z[c]) for c in seen]))
    old = set().union(*levels.values())
    found: list[Vector] = []
    parts: list[tuple[int, list[int]]] = []  # signs on `seen` as bits, absolute values
    masks: list[int] = []  # the signs of those with z_j > 0
    rising: list[tuple[int, Vector]] = []  # these, with their levels
    while levels:
        budget.spend(len(levels))
        level = min(levels)
        batch = levels.pop(level)
        budget.room += len(batch) * len(known[0])
        for z in batch:
            budget.spend(8 + len(z) + len(masks) // 8)
            signed = [(1 << 2 * i, z[c]) for i, c in enumerate(seen) if z[c]]
            mask, turned = (sum([bit << (s * v < 0) for bit, v in signed]) for s in (1, -1))
            sizes = [*[abs(z[c]) for c in seen], z[j]]
            if z not in old and _has_part(mask, sizes, parts, budget):
                continue
            if max(map(abs, z)) > LARGEST:
                raise Rejected("a basis has too large numbers", limit=True)
            budget.spend(0, 2 * len(z))
            found.append(z)
            parts.append((mask, sizes))
            if not z[j]:
                parts.append((turned, sizes))
                continue
            for k in [k for k, other in enumerate(masks) if not mask & other]:
                note(tuple(map(sub, z, rising[k][1])), level + rising[k][0])
            masks.append(mask)
            rising.append((level, z))
    budget.room = room
    return found


def _has_part(
    mask: int, sizes: list[int], parts: list[tuple[int, list[int]]], budget: Budget
) -> bool:
    away = ~mask
    fitting = (k for k, (signs, _) in enumerate(parts) if not signs & away)
    hit = next((k for k in fitting if all(map(le, parts[k][1], sizes))), None)
    budget.spend((len(parts) if hit is None else hit) // 8)
    return hit is not None


def splits(
    z: Mapping[Hashable, int], pieces: Sequence[tuple[Change, Vector]], budget: Budget
) -> bool:
    """Whether some of the pieces are together a proper part of z, and have no effect.

    What is left of z is a number with a field for each coordinate, whose top bit is lost below 0.
    """
    budget.spend(len(pieces) * len(z) // 4)
    span = max(map(abs, z.values())).bit_length() + 1
    unit = {k: 1 << i * span for i, k in enumerate(z)}
    guard = sum(unit.values()) << span - 1
    parts = [
        (sum(abs(v) * unit[k] for k, v in piece), effect)
        for piece, effect in pieces
        if all(k in z and v * z[k] > 0 and abs(v) <= abs(z[k]) for k, v in piece)
    ]
    whole, none = sum(abs(v) * unit[k] for k, v in z.items()), (0,) * len(pieces[0][1])
    todo, taken = [whole], {whole: none, 0: none}
    while todo:
        left = todo.pop()
        budget.spend(len(parts) * (1 + len(z) * span // 256))
        for part, effect in parts:
            rest = (left | guard) - part
            if rest & guard != guard or rest ^ guard in taken:
                continue
            total = tuple(map(add, taken[left], effect))
            if total == none:
                return True
            taken[rest ^ guard] = total
            todo.append(rest ^ guard)
            budget.spend(len(none), 2 + len(none))
    return False
