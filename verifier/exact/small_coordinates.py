"""Other coordinates for effects with large ones: which sums are zero does not change.

Any invertible linear map will do that turns the effects into whole vectors. The best to start from
is a basis of the lattice that they generate: then no coordinates of whole numbers are a proper
multiple of others. Of all its bases, one whose dual rows are short is found by the algorithm of
Lenstra, Lenstra and Lovasz, on the quadratic form that says how long rows are, in whole numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from blowproof.verifier.limits.limit import whole_limit

__all__ = ["reduced"]

Row = list[int]

MOST_RANK = whole_limit(__name__, "MOST_RANK")


def reduced(vectors: Sequence[Sequence[int]]) -> list[list[int]]:
    """The vectors (of full rank, in independent coordinates) in coordinates that are small.

    Huge multiples of one and the same thing, and sums with huge multiples of others, go away:

    >>> reduced([(10**20, 1), (0, 1), (-(10**20), -1), (0, -1)])
    [[-1, 0], [0, -1], [1, 0], [0, 1]]
    """
    rank = len(vectors[0]) if vectors else 0
    if not rank or rank > MOST_RANK:
        return [list(vector) for vector in vectors]
    basis = _generated(vectors, rank)
    found = [_in_basis(vector, basis) for vector in vectors]
    gram = [[sum(z[i] * z[j] for z in found) for j in range(rank)] for i in range(rank)]
    rows = _short(gram)
    return [[sum(a * x for a, x in zip(row, z, strict=True)) for row in rows] for z in found]


def _generated(vectors: Sequence[Sequence[int]], rank: int) -> list[Row]:
    """A basis of the lattice that vectors generate: row i has its first entry other than 0 at i."""
    basis: list[Row | None] = [None] * rank
    for vector in vectors:
        left = list(vector)
        for place in range(rank):
            if not left[place]:
                continue
            base = basis[place]
            if base is None:
                basis[place] = left
                break
            while left[place]:  # Euclid's algorithm, on whole rows
                times = base[place] // left[place]
                base, left = left, [x - times * y for x, y in zip(base, left, strict=True)]
            basis[place] = base
    found = [row for row in basis if row is not None]
    assert len(found) == rank, "the vectors have full rank"
    for place in range(rank):  # keep the entries above below their pivots, or they grow
        for above in range(place):
            times = found[above][place] // found[place][place]
            found[above] = [x - times * y for x, y in zip(found[above], found[place], strict=True)]
    return found


def _in_basis(vector: Sequence[int], basis: Sequence[Row]) -> Row:
    """The coordinates of a lattice vector in a triangular basis."""
    left, found = list(vector), []
    for place, base in enumerate(basis):
        times, rest = divmod(left[place], base[place])
        assert not rest, "the vector is in the lattice"
        found.append(times)
        left = [x - times * y for x, y in zip(left, base, strict=True)]
    return found


def _short(gram: Sequence[Sequence[int]]) -> list[Row]:
    """A unimodular matrix whose rows are short in a positive definite form (LLL, delta = 3/4)."""
    size = len(gram)
    rows = [[int(i == j) for j in range(size)] for i in range(size)]
    place = 1
    while place < size:
        factors, norms = _orthogonal(rows[: place + 1], gram)
        for other in reversed(range(place)):
            times = round(factors[place][other])
            if times:
                rows[place] = [x - times * y for x, y in zip(rows[place], rows[other], strict=True)]
                factors, norms = _orthogonal(rows[: place + 1], gram)
        factor = factors[place][place - 1]
        if norms[place] >= (Fraction(3, 4) - factor * factor) * norms[place - 1]:
            place += 1
        else:
            rows[place], rows[place - 1] = rows[place - 1], rows[place]
            place = max(1, place - 1)
    return rows


def _orthogonal(
    rows: Sequence[Row], gram: Sequence[Sequence[int]]
) -> tuple[list[list[Fraction]], list[Fraction]]:
    """The factors and squared norms of Gram and Schmidt's orthogonalisation."""
    size = len(rows)
    factors = [[Fraction(0)] * size for _ in range(size)]
    norms: list[Fraction] = []
    for i, row in enumerate(rows):
        image = [sum(x * y for x, y in zip(row, line, strict=True)) for line in gram]
        products: list[Fraction] = []
        for j in range(i + 1):
            value = Fraction(sum(x * y for x, y in zip(rows[j], image, strict=True)))
            value -= sum((factors[j][k] * products[k] for k in range(j)), start=Fraction(0))
            products.append(value)
            if j < i:
                factors[i][j] = value / norms[j]
        norms.append(products[i])
    return factors, norms
