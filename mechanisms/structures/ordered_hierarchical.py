"""The ordered hierarchical structure of section 7.2: which counts are released, with what variance.

The positions are cut into blocks. The prefixes that end with a block are released (the paper's S
nodes), and below each block a tree of range counts (its H nodes) without the block's own count,
which is the difference of two prefixes. Blocks of one value leave the prefixes alone: the ordered
mechanism. A single block leaves a tree alone: the hierarchical mechanism.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from blowproof.models.mechanisms.mechanism import Noise, Prefixes, Release, Tree

__all__ = ["Structure", "solve_chain", "variance"]

Floats = NDArray[np.float64]


def variance(scale: Fraction) -> float:
    """Return the variance of discrete Laplace noise: below 2 scale^2, which it approaches.

    >>> round(variance(Fraction(10)), 2), variance(Fraction(0))
    (199.83, 0.0)
    """
    if scale < Fraction(1, 600):  # exp(-600): beyond what a float can tell from 0
        return 0.0
    return 0.5 / math.sinh(0.5 / float(scale)) ** 2


def solve_chain(own: Floats, off: Floats, right: Floats) -> Floats:
    """Return the solution of a symmetric, positive definite, tridiagonal system.

    >>> solve_chain(np.array([2.0, 2.0]), np.array([-1.0]), np.array([1.0, 1.0])).tolist()
    [1.0, 1.0]
    """
    from scipy.linalg import solveh_banded

    if len(own) == 1:
        return np.asarray(right / own)
    bands = np.stack([own, np.append(off, 0.0)])
    return np.asarray(solveh_banded(bands, right, lower=True))


@dataclass(frozen=True)
class Structure:
    """Blocks of `block` positions among `size`, trees with up to `fan_out` children.

    `open_end`: n is not public, so the prefix of everything is released too.
    """

    size: int
    block: int
    fan_out: int
    open_end: bool = False

    @property
    def blocks(self) -> int:
        """How many blocks there are."""
        return -(-self.size // self.block)

    @property
    def has_prefixes(self) -> bool:
        """Whether any prefix is released."""
        return self.blocks > 1 or self.open_end or self.height == 0

    @property
    def height(self) -> int:
        """How many levels of a tree are released: those below the block itself."""
        levels, width = 0, min(self.block, self.size)
        while width > 1:
            width = -(-width // self.fan_out)
            levels += 1
        return levels

    @property
    def whole(self) -> bool:
        """Whether the last prefix is that of everything."""
        return self.open_end or (self.blocks == 1 and self.height == 0)

    @property
    def unknowns(self) -> int:
        """How many prefixes that end with a block are not public."""
        return self.blocks if self.open_end else self.blocks - 1

    def tree(self, attribute: str, first: int = 1) -> Tree:
        """Return the trees, from a level down."""
        return Tree(attribute=attribute, fan_out=self.fan_out, block=self.block, first=first)

    def releases(
        self,
        attribute: str,
        prefix: Fraction,
        levels: tuple[Fraction, ...],
        *,
        gaussian: bool = False,
    ) -> list[Release]:
        """Return what is released: the prefixes at one scale, the trees at one scale per level.

        With Gaussian noise they are variances; what has none is released as it is.
        """
        key = "variance" if gaussian else "scale"
        noise: Noise = "discrete-gaussian" if gaussian else "discrete-laplace"
        found = []
        if self.has_prefixes:
            query = Prefixes(attribute=attribute, every=self.block, whole=self.whole)
            found.append(_noisy(query, noise, key, prefix))
        if self.height:
            tree = self.tree(attribute)
            found.append(_noisy(tree, noise, key, levels))
        return found


def _noisy(
    query: Prefixes | Tree, noise: Noise, key: str, width: Fraction | tuple[Fraction, ...]
) -> Release:
    if not any(width if isinstance(width, tuple) else (width,)):
        return Release(query=query, noise="discrete-laplace", scale=width)
    widths: dict[str, Any] = {key: width}
    return Release(query=query, noise=noise, **widths)
