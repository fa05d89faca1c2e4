"""Signed permutations of the coordinates that map a lattice onto itself, as generators of a group.

A signed permutation takes x to x' with x'[i] = sign[i] * x[place[i]]. One that keeps the lattice
keeps the space that it spans, hence the orthogonal projection onto that space, hence each entry of
the projection's matrix up to sign. Those entries (modulo a prime: they only steer the search) are
what images of coordinates are matched by. Whatever the search ends with is checked on the lattice's
basis, exactly, before it is used. So a search that gives up early loses symmetries, never truth.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from blowproof.verifier.limits.limit import whole_limit

__all__ = ["SignedPermutation", "coefficients", "symmetries"]

PRIME = 2_147_483_629
MOST_NODES = whole_limit(__name__, "MOST_NODES")

Integers = NDArray[np.int64]
Flags = NDArray[np.bool_]


@dataclass(frozen=True)
class SignedPermutation:
    """x'[i] = signs[i] * x[places[i]]."""

    places: NDArray[np.int64]
    signs: NDArray[np.int16]

    def __call__(self, rows: NDArray[np.int16]) -> NDArray[np.int16]:
        """The images of vectors, one in each row."""
        return np.ascontiguousarray(rows[:, self.places] * self.signs)


def coefficients(basis: Integers, steps: Integers, vectors: Integers) -> Integers | None:
    """The whole numbers t with basis t = vectors (in columns), or None if there are none.

    The first rows of the basis are lower triangular, with the steps on the diagonal.
    """
    rank = basis.shape[1]
    found = np.zeros((rank, vectors.shape[1]), dtype=np.int64)
    for k in range(rank):
        left = vectors[k] - basis[k, :k] @ found[:k]
        if (left % steps[k]).any():
            return None
        found[k] = left // steps[k]
    return found if (basis @ found == vectors).all() else None


def symmetries(basis: Integers, steps: Integers) -> list[SignedPermutation]:
    """Generators of a group of signed permutations that keep the lattice and its last coordinate.

    The first rows of the basis are lower triangular, with the steps on the diagonal.
    """
    search = _Stabilisers(basis, steps)
    return list(search.generators())


def _projection(basis: Integers) -> Integers:
    """The matrix B (B^T B)^-1 B^T modulo the prime (zero where it has no inverse there)."""
    reduced = basis % PRIME
    gram = _times(reduced.T, reduced)
    inverse = _inverse(gram)
    if inverse is None:
        return np.zeros((len(basis), len(basis)), dtype=np.int64)
    return _times(_times(reduced, inverse), reduced.T)


def _times(left: Integers, right: Integers) -> Integers:
    total = np.zeros((left.shape[0], right.shape[1]), dtype=np.int64)
    for k in range(left.shape[1]):
        total = (total + left[:, k, None] * right[None, k, :]) % PRIME
    return total


def _inverse(matrix: Integers) -> Integers | None:
    size = len(matrix)
    rows = np.concatenate([matrix, np.eye(size, dtype=np.int64)], axis=1)
    for k in range(size):
        nonzero = np.nonzero(rows[k:, k])[0]
        if not len(nonzero):
            return None
        lead = k + int(nonzero[0])
        rows[[k, lead]] = rows[[lead, k]]
        rows[k] = rows[k] * pow(int(rows[k, k]), -1, PRIME) % PRIME
        factors = rows[:, k].copy()
        factors[k] = 0
        rows = (rows - factors[:, None] * rows[k]) % PRIME
    return rows[:, size:]


class _Stabilisers:
    """Generators by the chain of stabilisers of coordinates 0, 1, 2, ...

    Point t < m stands for coordinate t, and point t + m for its negative. `choices[k, t]` says that
    coordinate k may still be sent to point t.
    """

    def __init__(self, basis: Integers, steps: Integers) -> None:
        self.basis, self.steps = basis, steps
        self.size = len(basis)
        form = _projection(basis)
        self.form = np.block([[form, -form], [-form, form]]) % PRIME
        self.nodes = 0

    def generators(self) -> Iterator[SignedPermutation]:
        """Yield generators: those that fix the most coordinates first."""
        last = self.size - 1
        everything = np.ones((self.size, 2 * self.size), dtype=bool)
        fixed = [self._sent(everything, last, last)]
        for k in range(last):
            fixed.append(self._sent(fixed[-1], k, k))
        found: list[tuple[SignedPermutation, NDArray[np.int64]]] = []
        for k in reversed(range(last)):
            tried = {k}
            for image in np.nonzero(fixed[k][k])[0].tolist():
                orbit = _orbit(k, [points for _, points in found])
                if image in orbit or tried & _orbit(image, [points for _, points in found]):
                    continue
                tried.add(image)
                permutation = self._complete(self._sent(fixed[k], k, image))
                if permutation is not None:
                    found.append(permutation)
                    yield permutation[0]
                if self.nodes > MOST_NODES:
                    return

    def _sent(self, choices: Flags, k: int, image: int) -> Flags:
        """What is left once coordinate k goes to the point `image`."""
        fitting = self.form[image][None, :] == self.form[k, : self.size][:, None]
        left: Flags = choices & fitting
        left[:, [image, (image + self.size) % (2 * self.size)]] = False
        kept = bool(choices[k, image])
        left[k] = False
        left[k, image] = kept
        return left

    def _complete(self, choices: Flags) -> tuple[SignedPermutation, NDArray[np.int64]] | None:
        """The first signed permutation within the choices, and how it acts on the points."""
        self.nodes += 1
        numbers = choices.sum(axis=1)
        if not numbers.all() or self.nodes > MOST_NODES:
            return None
        if (numbers == 1).all():
            return self._checked(choices.argmax(axis=1))
        open_ones = np.where(numbers > 1, numbers, 2 * self.size + 1)
        k = int(open_ones.argmin())
        for image in np.nonzero(choices[k])[0].tolist():
            found = self._complete(self._sent(choices, k, image))
            if found is not None:
                return found
        return None

    def _checked(
        self, images: NDArray[np.int64]
    ) -> tuple[SignedPermutation, NDArray[np.int64]] | None:
        """As x'[images[k]] = x[k], if that is a permutation and keeps the lattice."""
        size = self.size
        places = np.full(size, -1, dtype=np.int64)
        places[images % size] = np.arange(size)
        if (places < 0).any():
            return None
        signs = np.where(images >= size, -1, 1)[places]
        moved = self.basis[places] * signs[:, None]
        if coefficients(self.basis, self.steps, moved) is None:
            return None
        points = np.concatenate([images, (images + size) % (2 * size)])
        return SignedPermutation(places, signs.astype(np.int16)), points


def _orbit(point: int, permutations: list[NDArray[np.int64]]) -> set[int]:
    """The images of a point under the group that the permutations generate."""
    orbit = {point}
    fresh = [point]
    while fresh:
        images = {int(p[x]) for p in permutations for x in fresh} - orbit
        orbit |= images
        fresh = list(images)
    return orbit
