"""Noise on the steps of a grid, drawn exactly: a discrete Laplace or Gaussian number for each.

It is added to the count at one end of the step and taken off that at the other, so that it adds up
to 0. A step leads to the next position of an ordered attribute, and between any two positions of
another one.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from blowproof.mechanisms.noise.discrete_gaussian import raw_discrete_gaussian
from blowproof.mechanisms.noise.discrete_laplace import Noise, Source, raw_discrete_laplace
from blowproof.models import Domain
from blowproof.models.base.errors import BudgetError

__all__ = ["MOST_PAIRED", "raw_gaussian_steps", "raw_steps", "step_ends", "step_noise", "steps_at"]

SAFE = 2**62
MOST_PAIRED = 8
"""Values of an unordered attribute, between any two of which there are steps."""


def step_ends(size: int, ordered: bool) -> list[tuple[slice, slice]]:
    """Return where the steps along an attribute begin and end, as slices of its positions.

    >>> step_ends(3, True), len(step_ends(3, False))
    ([(slice(0, 2, None), slice(1, 3, None))], 3)
    """
    if ordered:
        return [(slice(0, size - 1), slice(1, size))] if size > 1 else []
    if size > MOST_PAIRED:
        raise BudgetError(
            f"an unordered attribute of {size} values has {size * (size - 1) // 2} steps; up to "
            f"{MOST_PAIRED} values are taken\n  try: --mechanism laplace, or ordered = true"
        )
    return [(slice(i, i + 1), slice(j, j + 1)) for i, j in combinations(range(size), 2)]


def steps_at(axes: Sequence[int], domain: Domain) -> list[tuple[tuple[Any, ...], tuple[Any, ...]]]:
    """Return the steps along some attributes, as two parts of the table of counts at a time."""
    whole = [slice(None)] * len(domain)
    found = []
    for axis in axes:
        kind = domain.attribute(axis)
        for first, second in step_ends(kind.size, kind.ordered):
            ends = [(*whole[:axis], end, *whole[axis + 1 :]) for end in (first, second)]
            found.append((ends[0], ends[1]))
    return found


def step_noise(axes: Sequence[int], domain: Domain, numbers: Any) -> NDArray[Any]:
    """Return the noise on each value of the domain (row-major) for `numbers(size)` on the steps."""
    shape = [kind.size for _, kind in domain.attributes]
    table: NDArray[Any] = np.zeros(shape, dtype=np.int64)
    reached = 0
    for first, second in steps_at(axes, domain):
        part = table[first]
        drawn = numbers(prod(part.shape)).reshape(part.shape)
        reached += 2 * max(int(drawn.max(initial=0)), -int(drawn.min(initial=0)))
        if (
            reached >= SAFE or drawn.dtype == object
        ):  # beyond what int64 adds up rightly: Python's own numbers
            table, drawn = table.astype(object), drawn.astype(object)
        table[first] += drawn
        table[second] -= drawn
    return table.ravel()


def raw_steps(
    scale: Fraction, axes: Sequence[int], domain: Domain, *, source: Source = os.urandom
) -> Noise:
    """Return noise for every value of the domain, from discrete Laplace numbers on the steps.

    Raw: it takes any scale, proved or not, so of our modules only the gate may call it.

    >>> from blowproof.models import Integers
    >>> int(raw_steps(Fraction(5), (0, 1), Domain(x=Integers(0, 3), y=Integers(0, 2))).sum())
    0
    """
    return step_noise(axes, domain, lambda size: raw_discrete_laplace(scale, size, source=source))


def raw_gaussian_steps(
    variance: Fraction, axes: Sequence[int], domain: Domain, *, source: Source = os.urandom
) -> Noise:
    """Return noise for every value of the domain, from discrete Gaussian numbers on the steps.

    Raw: it takes any variance, proved or not, so of our modules only the gate may call it.

    >>> from blowproof.models import Integers
    >>> int(raw_gaussian_steps(Fraction(5), (0,), Domain(x=Integers(0, 3))).sum())
    0
    """
    return step_noise(
        axes, domain, lambda size: raw_discrete_gaussian(variance, size, source=source)
    )
