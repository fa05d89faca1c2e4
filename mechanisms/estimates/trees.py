"""Least squares over prefixes and trees: the best unbiased estimate of all counts, in two passes.

Going up, each node is estimated from what lies below it and from its own noisy count, weighted by
their variances (Hay et al. 2010, for any noise, fan-out and width). Then the blocks' totals and the
noisy prefixes are made consistent by one tridiagonal system. Going down, what a node gained or lost
is shared among its children in proportion to their variances.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from blowproof.mechanisms.answers.trees import Level, tree_levels
from blowproof.mechanisms.structures.ordered_hierarchical import Structure, solve_chain

__all__ = ["Measured", "cumulative_estimate"]

Floats = NDArray[np.float64]
LEAST = 1e-9


@dataclass(frozen=True, eq=False)
class Measured:
    """Noisy counts and the variances of their noise: of prefixes, and of each level of trees.

    `size` is n where it is public.
    """

    structure: Structure
    prefixes: Floats
    prefix_variance: float
    levels: Sequence[Floats]
    level_variances: Sequence[float]
    size: int | None


def cumulative_estimate(measured: Measured) -> Floats:
    """Return the least-squares estimates of all prefixes, F_0 = 0 to F_|A|.

    The cost is linear in the number of counts.
    """
    structure = measured.structure
    levels = tree_levels(structure.tree("", first=0), structure.size)
    estimates, variances = _upwards(levels, measured)
    ends = _smoothed(measured, estimates[0], variances[0])
    totals = np.diff(np.concatenate([[0.0], ends]))
    leaves = np.zeros(structure.size)
    for place, level in enumerate(levels):
        if place:
            totals = _shared(level, estimates[place], variances[place], totals)
        alone = level.high - level.low == 1
        leaves[level.low[alone]] = totals[alone]
    return np.concatenate([[0.0], np.cumsum(leaves)])


def _upwards(levels: Sequence[Level], measured: Measured) -> tuple[list[Floats], list[Floats]]:
    """Return each node's estimate from its subtree, and its variance (infinite for a bare root)."""
    estimates: list[Floats] = []
    variances: list[Floats] = []
    below: tuple[Level, Floats, Floats] | None = None
    for place in range(len(levels) - 1, -1, -1):
        count = len(levels[place].low)
        value: Floats = np.zeros(count)
        spread: Floats = np.full(count, np.inf)
        if below is not None:
            parent = below[0].parent
            inner = levels[place].high - levels[place].low > 1
            value = np.bincount(parent, below[1], count).astype(np.float64)
            spread = np.where(inner, np.bincount(parent, below[2], count), np.inf)
        if place:
            own = max(LEAST, measured.level_variances[place - 1])
            share = 1 / (1 + own / spread)  # 1 at a leaf, where nothing else is known
            value = share * measured.levels[place - 1] + (1 - share) * value
            spread = np.where(np.isinf(spread), own, own * share)
        below = levels[place], value, spread
        estimates.insert(0, value)
        variances.insert(0, spread)
    return estimates, variances


def _shared(level: Level, estimate: Floats, spread: Floats, totals: Floats) -> Floats:
    """Return the children's totals: their estimates, and a share of what their parent adds."""
    count = len(totals)
    missing = totals - np.bincount(level.parent, estimate, count)
    share = spread / np.bincount(level.parent, spread, count)[level.parent]
    return estimate + share * missing[level.parent]


def _smoothed(measured: Measured, totals: Floats, spread: Floats) -> Floats:
    """Return the prefixes S_1..S_K from the noisy ones and the blocks' estimated totals."""
    structure = measured.structure
    count, blocks = structure.unknowns, structure.blocks
    known = [] if measured.size is None else [float(measured.size)]
    if count == 0:
        return np.array(known)
    links = 1 / spread
    seen = 1 / max(LEAST, measured.prefix_variance)
    own = seen + links[:count]
    right = seen * measured.prefixes[:count] + links[:count] * totals[:count]
    ahead = min(count, blocks - 1)  # prefixes that are followed by a block
    own[:ahead] += links[1 : ahead + 1]
    right[:ahead] -= links[1 : ahead + 1] * totals[1 : ahead + 1]
    if known:
        right[-1] += links[count] * known[0]
    return np.concatenate([solve_chain(own, -links[1:count], right), known])
