"""Noisy counts that must rise, made to rise: isotonic regression and clipping.

Both are projections onto sets that hold the truth (rising sequences; sequences within [0, n]), so
the sum of squared errors never grows, whatever the noise was. They look at noisy numbers only.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["rising"]

Floats = NDArray[np.float64]


def rising(values: Floats, *, most: int | None) -> Floats:
    """Return the nearest rising sequence from 0 to `most` in least squares (None: no upper end).

    The nearest one within an interval is the nearest one at all, clipped.

    >>> rising(np.array([-1.0, 3.0, 2.0, 9.0]), most=5).tolist()
    [0.0, 2.5, 2.5, 5.0]
    """
    from scipy.optimize import isotonic_regression

    if not len(values):
        return values
    fitted = np.asarray(isotonic_regression(values).x, dtype=np.float64)
    return np.clip(fitted, 0, most)
