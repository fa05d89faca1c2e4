"""Linear functionals to branch on: the normals of all hyperplanes that effects span.

They suffice. Let A be the available effects and t a target outside cone(A). Then some hyperplane
spanned by effects has A on one side and t strictly on the other: a facet of cone(A) within span(A),
or span(A) itself, is a flat of the effects, and it extends to a hyperplane by effects that avoid t.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import combinations
from math import comb, gcd
from random import Random

import numpy as np
from numpy.typing import NDArray

from blowproof.models.base.clock import now, spend
from blowproof.verifier.exact.coordinates import LARGEST, Instance
from blowproof.verifier.limits.limit import real_limit, whole_limit

__all__ = ["functionals", "small_functionals"]

MOST_SUBSETS = whole_limit(__name__, "MOST_SUBSETS")
MOST_NORMALS = whole_limit(__name__, "MOST_NORMALS")
MOST_WORK = whole_limit(__name__, "MOST_WORK")
SAMPLES = whole_limit(__name__, "SAMPLES")
SAMPLING = real_limit(__name__, "SAMPLING")
UNHURRIED = real_limit(__name__, "UNHURRIED")
MOST_RANK = whole_limit(__name__, "MOST_RANK")


def functionals(instance: Instance, seconds: float | None = None) -> NDArray[np.int64]:
    """Values y.d of each functional y (rows) on each effect d (columns), those with fewest d first.

    All normals up to sign where there are not too many of them; else a sample of normals, the
    coordinates and the caller's own coordinates that are not too large: the search stays correct
    with any choice and only its length changes. With few `seconds` left, fewer are sampled.
    """
    # Compiled: imported when first needed.
    from blowproof.verifier.engines.irreducibles.arrays.hyperplanes import all_normals, some_normals

    half = np.ascontiguousarray(instance.vectors[instance.halves])
    share = 1.0 if seconds is None else min(1.0, seconds / UNHURRIED)
    most_steps = int(share * MOST_WORK) // half.size if instance.rank <= MOST_RANK else 0
    normals, complete = all_normals(half, MOST_NORMALS, most_steps)
    spend(len(normals) * half.size / MOST_WORK if complete or not most_steps else share)
    if not complete:
        random = np.random.default_rng(1)
        most = int(share * min(SAMPLES, MOST_WORK // (half.size * instance.rank)))
        spend(most * half.size * instance.rank / MOST_WORK)
        orders = np.array([random.permutation(len(half)) for _ in range(most)], dtype=np.int64)
        orders = orders.reshape(most, len(half))
        units = np.eye(instance.rank, dtype=np.int64)
        normals = np.concatenate([some_normals(half, orders), units])
    values = np.asarray(normals @ instance.vectors.T, dtype=np.int64)
    if not complete:
        own = [row for row in zip(*instance.effects, strict=True) if max(map(abs, row)) <= LARGEST]
        values = np.concatenate([values, np.array(own, dtype=np.int64).reshape(-1, len(values.T))])
        values = np.unique(values[values.any(axis=1)], axis=0)
    return values[np.argsort(np.count_nonzero(values, axis=1), kind="stable")]


def small_functionals(instance: Instance, *, sample: bool = False) -> list[tuple[int, ...]] | None:
    """The same in plain Python; where listing the subsets would take long, None or a sample."""
    half = [tuple(int(x) for x in instance.vectors[i]) for i in instance.halves]
    subsets: Iterable[tuple[tuple[int, ...], ...]] = combinations(half, instance.rank - 1)
    normals = set()
    if comb(len(half), instance.rank - 1) > MOST_SUBSETS:
        if not sample:
            return None
        random = Random(1)
        subsets = (tuple(random.sample(half, instance.rank - 1)) for _ in range(MOST_SUBSETS))
        normals = {tuple(int(i == j) for j in range(instance.rank)) for i in range(instance.rank)}
    end = now() + SAMPLING
    for subset in subsets:
        normals.update(_normal(subset, instance.rank))
        if sample and now() > end:
            break
    effects = instance.vectors.tolist()
    rows = [
        tuple(sum(a * b for a, b in zip(normal, d, strict=True)) for d in effects)
        for normal in sorted(normals)
    ]
    return sorted(rows, key=lambda row: sum(map(bool, row)))


def _normal(vectors: tuple[tuple[int, ...], ...], rank: int) -> Iterator[tuple[int, ...]]:
    """The primitive vector orthogonal to r - 1 vectors, first entry positive; none if dependent."""
    space = [
        [int(i == j) for j in range(rank)] for i in range(rank)
    ]  # spans what is orthogonal so far
    for vector in vectors:
        dots = [sum(a * b for a, b in zip(y, vector, strict=True)) for y in space]
        pivot = next((i for i, dot in enumerate(dots) if dot), -1)
        if pivot < 0:
            return
        space = [
            _primitive([dots[pivot] * a - dot * b for a, b in zip(y, space[pivot], strict=True)])
            for i, (y, dot) in enumerate(zip(space, dots, strict=True))
            if i != pivot
        ]
    normal = tuple(space[0])
    yield normal if normal > (0,) * rank else tuple(-x for x in normal)


def _primitive(vector: list[int]) -> list[int]:
    divisor = gcd(*vector)
    return [x // divisor for x in vector] if divisor > 1 else vector
