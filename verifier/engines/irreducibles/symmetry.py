"""Linear maps that permute the effects and keep their weights, as explicit permutations.

The search needs no group, only some such maps; each listed one is checked exactly before it is
used.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from math import gcd

import numpy as np
from numpy.typing import NDArray

from blowproof.models.base.clock import now
from blowproof.verifier.exact.coordinates import Instance, inverse
from blowproof.verifier.limits.limit import real_limit, whole_limit

__all__ = ["automorphisms", "basis_of", "check_symmetry", "form_work", "invariant_form"]

MOST = whole_limit(__name__, "MOST")
MOST_STEPS = whole_limit(__name__, "MOST_STEPS")
STEP = real_limit(__name__, "STEP")


def automorphisms(
    instance: Instance, most: int = MOST, *, end: float | None = None
) -> NDArray[np.int32]:
    """Permutations p of the effects, identity among them, with p linear and weight-preserving.

    All of them if there are at most `most`, else that many, spread evenly over the images of the
    first basis effect; fewer still if the clock passes `end`.

    A linear map permutes the effects exactly if it keeps the bilinear form of `invariant_form`;
    images of a basis are searched with that form as the test, then every image is checked exactly.
    """
    count = len(instance.effects)
    identity = np.arange(count, dtype=np.int32)[None]
    if end is not None and now() + form_work(instance) * STEP > end:
        return identity
    basis = basis_of(instance.vectors)
    same = _compatible(instance)
    steps = _steps(end)
    images = list(_images(basis, same, [], most, steps))
    if not images:
        return identity
    permutations = _permutations(instance.vectors, basis, np.array(images, dtype=np.int64))
    weights = np.array(instance.weights, dtype=object)
    keeps = [bool((weights[p] == weights).all()) for p in permutations]
    return np.unique(np.concatenate([identity, permutations[keeps]]), axis=0)


def check_symmetry(instance: Instance, permutation: Sequence[int]) -> tuple[int, ...]:
    """The permutation of effect indices, if a linear map acts like that; ValueError if not."""
    count = len(instance.effects)
    p = tuple(int(i) for i in permutation)
    if sorted(p) != list(range(count)):
        raise ValueError("a symmetry is a permutation of the effect indices")
    basis = basis_of(instance.vectors)
    images = _permutations(
        instance.vectors, basis, np.array([[p[b] for b in basis]], dtype=np.int64)
    )
    if len(images) != 1 or tuple(images[0].tolist()) != p:
        raise ValueError("a symmetry must act linearly on the effects")
    return p


def invariant_form(instance: Instance) -> tuple[NDArray[np.object_], int]:
    """Whole numbers F[i, j] and q > 0 with F / q = d_i^T Q^-1 d_j, where Q is the sum of all d d^T.

    A linear map A that permutes the effects has A Q A^T = Q, so it keeps F; and a permutation that
    keeps F is linear, because Q^-1 is positive definite and the effects span the space.
    """
    vectors = instance.vectors.astype(object)
    numerator, denominator = inverse(vectors.T @ vectors)
    return vectors @ numerator @ vectors.T, denominator


def form_work(instance: Instance) -> int:
    """How many multiplications of whole numbers the invariant form takes."""
    count, rank = len(instance.effects), instance.rank
    return count * count * rank + rank**3


def _compatible(instance: Instance) -> Callable[[Sequence[int], Sequence[int]], list[int]]:
    """`same(basis, images)`: the effects that may follow as the image of basis[len(images)]."""
    form, _ = invariant_form(instance)
    alike: list[dict[int, int]] = []  # alike[i][value]: bit set of the j with form[i, j] = value
    for row in form.tolist():
        sets: dict[int, int] = {}
        for j, value in enumerate(row):
            sets[value] = sets.get(value, 0) | 1 << j
        alike.append(sets)
    own: dict[tuple[int, int], int] = {}
    for i, weight in enumerate(instance.weights):
        key = (form[i, i], weight)
        own[key] = own.get(key, 0) | 1 << i

    def same(basis: Sequence[int], images: Sequence[int]) -> list[int]:
        b = basis[len(images)]
        candidates = own[form[b, b], instance.weights[b]]
        for earlier, image in zip(basis, images, strict=False):
            candidates &= alike[image].get(form[earlier, b], 0)
        return [j for j in range(len(instance.weights)) if candidates >> j & 1]

    return same


def _steps(end: float | None) -> Iterator[int]:
    """So many steps, or as many as the clock allows."""
    for step in range(MOST_STEPS):
        if end is not None and step % 64 == 0 and now() > end:
            return
        yield step


def _images(
    basis: Sequence[int],
    same: Callable[[Sequence[int], Sequence[int]], list[int]],
    images: list[int],
    quota: int,
    steps: Iterator[int],
) -> Iterator[list[int]]:
    """At most `quota` form-preserving images of the basis that begin with `images`."""
    if len(images) == len(basis):
        yield images
        return
    candidates = same(basis, images)
    for position, image in enumerate(candidates):
        if quota <= 0 or next(steps, None) is None:
            return
        share = -(-quota // (len(candidates) - position))
        for complete in _images(basis, same, [*images, image], share, steps):
            quota -= 1
            yield complete


def _permutations(
    vectors: NDArray[np.int64], basis: Sequence[int], images: NDArray[np.int64]
) -> NDArray[np.int32]:
    """How the linear maps basis -> images act, for those that send effects to effects."""
    base = vectors[list(basis)].astype(object)
    numerator, denominator = inverse(base)
    coefficients = vectors.astype(object) @ numerator  # effect = coefficients @ base / denominator
    index = {tuple(row): i for i, row in enumerate((vectors * denominator).tolist())}
    small = max(abs(int(x)) for x in coefficients.flat) * int(np.abs(vectors).max()) < 1 << 50
    factors = coefficients.astype(np.int64 if small else object)
    found = []
    for image in images:
        rows = factors @ (vectors[image] if small else vectors[image].astype(object))
        permutation = [index.get(tuple(row), -1) for row in rows.tolist()]
        if len(set(permutation)) == len(vectors) and -1 not in permutation:
            found.append(permutation)
    return np.array(found, dtype=np.int32).reshape(len(found), len(vectors))


def basis_of(vectors: NDArray[np.int64]) -> list[int]:
    """Indices of the first linearly independent effects that span the space."""
    echelon: list[tuple[int, list[int]]] = []
    chosen: list[int] = []
    for i, vector in enumerate(vectors.tolist()):
        row = vector
        for pivot, base in echelon:
            if row[pivot]:
                a, b = base[pivot], row[pivot]
                row = [a * x - b * y for x, y in zip(row, base, strict=True)]
                divisor = gcd(*row)
                row = [x // divisor for x in row] if divisor > 1 else row
        pivot = next((j for j, x in enumerate(row) if x), -1)
        if pivot >= 0:
            echelon.append((pivot, row))
            chosen.append(i)
    return chosen
