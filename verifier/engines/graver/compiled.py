"""The inner loops of the lifting, compiled: which pairs may be added, and what is reducible.

A vector's signs are kept as bit sets: `signs[i, 0]` the words of its positive coordinates,
`signs[i, 1]` those of its negative ones. The last coordinate of a vector is the one that is being
lifted; it is not in the bit sets.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from blowproof.verifier.exact.compiled import compiled

__all__ = ["hash_values", "irreducible_rows", "opposite_pairs", "sign_sets", "turn_upright"]

Words = NDArray[np.uint64]


@compiled
def sign_sets(vectors: NDArray[np.int16], width: int) -> Words:
    """The bit sets of the first `width` coordinates of each vector."""
    words = (width + 63) // 64
    found = np.zeros((len(vectors), 2, words), dtype=np.uint64)
    for a in range(len(vectors)):
        for i in range(width):
            bit = np.uint64(1) << np.uint64(i % 64)
            if vectors[a, i] > 0:
                found[a, 0, i // 64] |= bit
            elif vectors[a, i] < 0:
                found[a, 1, i // 64] |= bit
    return found


@compiled
def hash_values(rows: NDArray[np.int16], factors: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """The sum of coordinates times factors for each row, modulo 2**64."""
    result = np.zeros(len(rows), dtype=np.uint64)
    for r in range(len(rows)):
        total = np.uint64(0)
        for i in range(rows.shape[1]):
            total += np.uint64(np.int64(rows[r, i])) * factors[i]
        result[r] = total
    return result


@compiled
def turn_upright(rows: NDArray[np.int16], factors: NDArray[np.uint64]) -> bool:
    """Of z and -z keep, in place, the one with last > 0, or else with the smaller hash value.

    Returns whether every row had one.
    """
    last = rows.shape[1] - 1
    for r in range(len(rows)):
        turned = rows[r, last] < 0
        if rows[r, last] == 0:
            total = np.uint64(0)
            for i in range(last):
                total += np.uint64(np.int64(rows[r, i])) * factors[i]
            if total == np.uint64(0) - total:
                return False
            turned = total > np.uint64(0) - total
        if turned:
            for i in range(last + 1):
                rows[r, i] = -rows[r, i]
    return True


@compiled
def opposite_pairs(
    signs: Words,
    firsts: NDArray[np.int64],
    low: int,
    high: int,
    position: NDArray[np.int64],
    pairs: NDArray[np.int32],
) -> int:
    """Fill `pairs` with (u, w), u in `firsts`, low <= w < high, whose signs agree nowhere.

    Then u and -w have the same sign wherever both are nonzero. `position` (which of `firsts`, which
    w) is where to begin, and is where the next call goes on; it ends at len(firsts).
    """
    count = 0
    words = signs.shape[2]
    a, b = position[0], position[1]
    while a < len(firsts):
        u = firsts[a]
        while b < high:
            if count == len(pairs):
                position[0], position[1] = a, b
                return count
            clash = np.uint64(0)
            for k in range(words):
                clash |= (signs[u, 0, k] & signs[b, 0, k]) | (signs[u, 1, k] & signs[b, 1, k])
            if clash == 0 and u != b:
                pairs[count, 0], pairs[count, 1] = u, b
                count += 1
            b += 1
        a += 1
        b = low
    position[0], position[1] = a, low
    return count


@compiled
def _below(part: NDArray[np.int16], whole: NDArray[np.int16], sign: int) -> bool:
    """Whether |sign * part| <= |whole| where they have the same signs (which the caller knows)."""
    for i in range(len(part)):
        x, y = sign * part[i], whole[i]
        if x > 0:
            if x > y:
                return False
        elif x < y and x < 0:
            return False
    return True


@compiled
def irreducible_rows(
    rows: NDArray[np.int16],
    row_signs: Words,
    known: NDArray[np.int16],
    signs: Words,
    count: int,
) -> NDArray[np.bool_]:
    """For each row, whether none of the first `count` known vectors (nor a negative) divides it.

    The last coordinate is not negative, in the rows and in the known vectors alike. A vector that
    divides something changes places with one halfway to the front, for a few vectors divide most of
    what is divided at all.
    """
    result = np.ones(len(rows), dtype=np.bool_)
    words = row_signs.shape[2]
    last = rows.shape[1] - 1
    for r in range(len(rows)):
        for i in range(count):
            same, turned = np.uint64(0), np.uint64(0)
            for k in range(words):
                plus, minus = signs[i, 0, k], signs[i, 1, k]
                no_plus, no_minus = ~row_signs[r, 0, k], ~row_signs[r, 1, k]
                same |= (plus & no_plus) | (minus & no_minus)
                turned |= (minus & no_plus) | (plus & no_minus)
            if same != 0 and turned != 0:
                continue
            divides = same == 0 and _below(known[i], rows[r], 1)
            if not divides and turned == 0 and known[i, last] == 0:
                divides = _below(known[i], rows[r], -1)
            if divides:
                result[r] = False
                _advance(known, signs, i)
                break
    return result


@compiled
def _advance(known: NDArray[np.int16], signs: Words, i: int) -> None:
    """Exchange the vectors in places i and i // 2."""
    j = i // 2
    for k in range(known.shape[1]):
        known[i, k], known[j, k] = known[j, k], known[i, k]
    for half in range(2):
        for k in range(signs.shape[2]):
            signs[i, half, k], signs[j, half, k] = signs[j, half, k], signs[i, half, k]
