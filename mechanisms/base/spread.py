"""Points spread evenly over a cube, the same each time: Halton's sequence.

It is written out here since `scipy.stats` takes longer to load than most of what asks for it.
"""

from __future__ import annotations

from itertools import count, islice

import numpy as np
from numpy.typing import NDArray

__all__ = ["halton"]


def halton(points: int, dimension: int) -> NDArray[np.float64]:
    """Return points of the cube [0, 1)^dimension, a row each, the first at its corner.

    Coordinate j of point i mirrors the digits of i at the point, in the j-th prime base.

    >>> halton(4, 2)[:, 0].tolist()
    [0.0, 0.5, 0.25, 0.75]
    >>> halton(4, 2)[:, 1].round(3).tolist()
    [0.0, 0.333, 0.667, 0.111]
    """
    primes = (n for n in count(2) if all(n % k for k in range(2, n)))
    found = np.zeros((points, dimension))
    for axis, base in enumerate(islice(primes, dimension)):
        left, worth = np.arange(points), 1 / base
        while left.any():
            found[:, axis] += worth * (left % base)
            left //= base
            worth /= base
    return found
