"""Linear relations between vectors of whole numbers."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import gcd
from typing import NamedTuple

from .document import Exact


class Relation(NamedTuple):
    """own * vector + sum of coordinates * basis vectors = 0, with own != 0."""

    own: int
    coordinates: list[int]


def relations(vectors: Sequence[Sequence[int]]) -> tuple[list[int], list[Relation]]:
    """Return the places of the first independent vectors, and each vector's relation to them."""
    width = len(vectors[0]) if vectors else 0
    rows: list[tuple[int, list[int]]] = []  # (pivot, a vector reduced and how it came about)
    basis: list[int] = []
    found = []
    for place, vector in enumerate(vectors):
        row = [*vector, *[0] * (width + 1)]
        row[width + len(basis)] = 1
        for pivot, base in rows:
            if row[pivot]:
                a, b = base[pivot], row[pivot]
                row = [a * x - b * y for x, y in zip(row, base, strict=True)]
                shared = gcd(*row)
                row = [x // shared for x in row]
        pivot = next((j for j in range(width) if row[j]), -1)
        last = width + len(basis)
        if pivot < 0:
            found.append(Relation(row[last], row[width:last]))
            continue
        rows.append((pivot, row))
        found.append(Relation(1, [*[0] * len(basis), -1]))
        basis.append(place)
    return basis, found


def combination(rows: Sequence[Sequence[int]], target: Sequence[int]) -> list[Exact] | None:
    """Return numbers k with sum k_i rows_i = target, or None if there are none."""
    if not target:
        return [0] * len(rows)
    basis, found = relations([*rows, target])
    if len(rows) in basis:
        return None
    own, coordinates = found[-1]
    result: list[Exact] = [0] * len(rows)
    for place, value in zip(basis, coordinates, strict=True):
        result[place] = Fraction(-value, own)
    return result
