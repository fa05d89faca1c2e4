"""The expected squared error of a structure's least-squares estimates, before anything is drawn.

Everything is linear and Gaussian as far as variances go, so a subtree is summed up in five numbers.
Given its total T, the count of its first o leaves is alpha(o) T + const + e(o), where e does not
depend on T; summed over its leaves, that leaves

    a1 = sum alpha(o),  a2 = sum alpha(o)^2,  e1 = sum Var e(o),  e2 = Var(sum e(o)),

and the variance v of T as the subtree itself estimates it. Subtrees of one width are alike, so the
cost follows the number of different widths, a few per level. The blocks' prefixes form a chain with
a tridiagonal precision matrix. The mean over all ranges [i, j] of Var(F_j - F_i) is then

    2 ((|A| + 1) trace C - 1'C1) / (|A| (|A| + 1)),   C the covariance of all |A| + 1 prefixes F.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from blowproof.mechanisms.structures.ordered_hierarchical import Structure, solve_chain

__all__ = ["expected_error"]

Floats = NDArray[np.float64]
LEAST = 1e-9
"""Stands for the variance 0, which would divide by zero."""


@dataclass(frozen=True)
class Subtree:
    """The numbers above, for a subtree of some width: its own count included, if it is released."""

    width: int
    v: float
    a1: float
    a2: float
    e1: float
    e2: float


def expected_error(structure: Structure, prefix: float, levels: Sequence[float]) -> float:
    """Return the mean, over all ranges, of the variance of the estimate of their counts.

    `prefix` and `levels` are the variances of the noise on prefixes, and on each level of trees.
    """
    size, width = structure.size, structure.block
    noise = [max(LEAST, value) for value in levels]
    memo: dict[tuple[int, int], Subtree] = {}
    full = _subtree(min(width, size), 0, structure.fan_out, noise, memo)
    rest = size - (structure.blocks - 1) * width
    last = _subtree(rest, 0, structure.fan_out, noise, memo)
    diagonal, beside, at_ends = _chain(structure, max(LEAST, prefix), full, last)
    many = structure.blocks - 1
    trace = many * full.e1 + last.e1
    trace += _spread(full, diagonal[:-2], beside[:-1], diagonal[1:-1])
    trace += _spread(last, diagonal[-2:-1], beside[-1:], diagonal[-1:])
    together = at_ends + many * full.e2 + last.e2
    return 2 * ((size + 1) * trace - together) / (size * (size + 1))


def _spread(block: Subtree, before: Floats, beside: Floats, after: Floats) -> float:
    """Return what the uncertain ends of some blocks add to the variances within them."""
    left = block.width - 2 * block.a1 + block.a2
    cross = 2 * (block.a1 - block.a2)
    return float(left * before.sum() + cross * beside.sum() + block.a2 * after.sum())


def _subtree(
    width: int,
    level: int,
    fan_out: int,
    noise: Sequence[float],
    memo: dict[tuple[int, int], Subtree],
) -> Subtree:
    """Return the summary of a subtree whose root is on a level (level 0 is not released)."""
    found = memo.get((width, level))
    if found is None:
        own = np.inf if level == 0 else noise[level - 1]
        if width == 1:
            found = Subtree(1, own, 1.0, 1.0, 0.0, 0.0)
        else:
            step = -(-width // fan_out)
            parts = [_subtree(step, level + 1, fan_out, noise, memo)] * (width // step)
            if width % step:
                parts.append(_subtree(width % step, level + 1, fan_out, noise, memo))
            found = _joined(width, parts, own)
        memo[width, level] = found
    return found


def _joined(width: int, parts: Sequence[Subtree], own: float) -> Subtree:
    """Return the summary of a node from those of its children; `own` is its own noise.

    Given the total T, child c has T_c = beta_c T + D_c, and the children before it add up to
    B_c T + U_c: beta_c = v_c / v, and Cov(D_c, D_d) = v_c [c = d] - v_c v_d / v.
    """
    columns = np.array([[p.width, p.v, p.a1, p.a2, p.e1, p.e2] for p in parts]).T
    w, v, a1, a2, e1, e2 = columns
    total = float(v.sum())
    beta = v / total
    ahead = np.cumsum(beta) - beta
    later = np.cumsum(w[::-1])[::-1] - w
    gain = a1 + later  # how often D_c counts in the sum of all prefixes
    in_u, in_d = total * ahead * (1 - ahead), total * beta * (1 - beta)
    return Subtree(
        width=width,
        v=total if np.isinf(own) else own * total / (own + total),
        a1=float((w * ahead + a1 * beta).sum()),
        a2=float((w * ahead**2 + 2 * ahead * beta * a1 + beta**2 * a2).sum()),
        e1=float((w * in_u - 2 * total * ahead * beta * a1 + in_d * a2 + e1).sum()),
        e2=float((gain**2 * v).sum() - (gain * v).sum() ** 2 / total + e2.sum()),
    )


def _chain(
    structure: Structure, prefix: float, full: Subtree, last: Subtree
) -> tuple[Floats, Floats, float]:
    """Return variances of S_0..S_K, covariances of neighbours, and Var of the sum they add.

    S_k, the prefix up to block k, is seen with variance `prefix`, and S_k - S_(k-1) with that of
    the block's tree. S_0 = 0, and S_K = n where that is public.
    """
    count, blocks = structure.unknowns, structure.blocks
    diagonal, beside = np.zeros(blocks + 1), np.zeros(blocks)
    if count == 0:
        return diagonal, beside, 0.0
    links = np.full(blocks, 1 / full.v)
    links[-1] = 1 / last.v
    own = 1 / prefix + links[:count]
    own[: blocks - 1] += links[1 : count + 1][: blocks - 1]
    off = -links[1:count]
    forward, backward = _eliminated(own, off), _eliminated(own[::-1], off[::-1])[::-1]
    diagonal[1 : count + 1] = 1 / (forward + backward - own)
    beside[1:count] = -off / forward[:-1] * diagonal[2 : count + 1]
    adds = np.full(blocks, full.a1 + full.width - full.a1)
    adds[-1] = last.a1
    if blocks > 1:
        adds[-2] = full.a1 + last.width - last.a1
    return diagonal, beside, float(adds[:count] @ solve_chain(own, off, adds[:count]))


def _eliminated(own: Floats, off: Floats) -> Floats:
    """Return the pivots of a tridiagonal matrix.

    Nearly all rows are alike, and their pivots settle: from there to the next row that is unlike
    the one before it, they are filled in.
    """
    pivots = own.copy()
    squares = off**2
    unlike = 1 + np.flatnonzero((np.diff(own) != 0) | (np.diff(squares, prepend=np.nan) != 0))
    k = 1
    while k < len(own):
        pivots[k] = own[k] - squares[k - 1] / pivots[k - 1]
        if abs(pivots[k] - pivots[k - 1]) < 1e-15 * pivots[k]:
            place = int(np.searchsorted(unlike, k, side="right"))
            end = int(unlike[place]) if place < len(unlike) else len(own)
            pivots[k:end] = pivots[k]
            k = end - 1
        k += 1
    return pivots
