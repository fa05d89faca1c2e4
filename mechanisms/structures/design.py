"""Which structure, and which share of epsilon for each of its parts: from public numbers only.

The candidates are the ordered mechanism (blocks of one value), the hierarchical one (a single
block) and blocks of about the reach of a secret move, with several fan-outs. Each is judged by the
exact expected error of its least-squares estimates, so the best is never worse than either extreme;
where the paper's equation 15 splits epsilon by a bound on that error, the error itself is minimised
here, level by level.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from blowproof.mechanisms.structures.ordered_hierarchical import Structure, variance
from blowproof.mechanisms.structures.tree_error import expected_error

__all__ = ["Design", "Setup", "best_design", "equation_15", "evaluated"]

Floats = NDArray[np.float64]
FAN_OUTS = (2, 3, 4, 5, 6, 8, 10, 12, 16, 24, 32, 48, 64)
ROUGH_SPLIT = (0.2,)
SPLITS = (0.02, 0.05, 0.1, 0.2, 0.35, 0.5, 0.7)
"""Shares of epsilon for the prefixes."""
SHORT_LIST = 12
MANY_BLOCKS = 3000
STEPS = 2**16
"""Shares of epsilon are whole numbers of these parts."""


@dataclass(frozen=True)
class Setup:
    """The public numbers that a design rests on.

    `reach`: how many positions a secret move can pass. `sealed`: blocks whose ends none passes, as
    with secrets that are a partition. `blocks` and `fan_outs`: the candidates (empty: our choice).
    With `gaussian` noise, `epsilon` stands for 2 rho, and scales are variances.
    """

    size: int
    reach: int
    epsilon: Fraction
    open_end: bool = False
    sealed: tuple[int, ...] = ()
    blocks: tuple[int, ...] = ()
    fan_outs: tuple[int, ...] = ()
    gaussian: bool = False

    def variance(self, width: Fraction) -> float:
        """Return the variance of the noise of a scale, or that of Gaussian noise itself.

        Discrete Gaussian noise has a smaller one, which it is nearly.
        """
        return float(width) if self.gaussian else variance(width)

    def structures(self) -> list[Structure]:
        """Return the candidates."""
        found: dict[tuple[int, int], Structure] = {}
        for block in sorted(set(self.blocks or self._blocks())):
            for fan_out in self.fan_outs or FAN_OUTS:
                fan = min(fan_out, max(2, block))
                found.setdefault(
                    (block, fan), Structure(self.size, block, fan, open_end=self.open_end)
                )
        return list(found.values())

    def _blocks(self) -> list[int]:
        reach = max(1, self.reach)
        near = [reach * 2**k for k in range(4)] + [-(-reach // 2**k) for k in range(1, 4)]
        return [1, self.size, *self.sealed, *(block for block in near if block < self.size)]


@dataclass(frozen=True)
class Design:
    """A structure, the scales of its parts, and its expected squared error on a random range."""

    structure: Structure
    prefix: Fraction
    levels: tuple[Fraction, ...]
    error: float


Split = tuple[Design, tuple[Fraction, ...]]
"""A design, and the shares of epsilon that it comes from."""


def best_design(setup: Setup) -> Design:
    """Return the design with the least expected error among the candidates.

    All are ranked by a rough split of epsilon, the best of them by better ones; then the shares of
    the best two, and of the best single block, are refined level by level. Variances of Gaussian
    noise, and so their errors, are in proportion to 1 / epsilon, whatever that is: one search tells
    the design for all of them.
    """
    if not setup.gaussian:
        return _best_design(setup)
    found, by = _best_design(replace(setup, epsilon=Fraction(1))), 1 / setup.epsilon
    levels = tuple(variance * by for variance in found.levels)
    return replace(found, prefix=found.prefix * by, levels=levels, error=found.error * float(by))


@lru_cache(maxsize=256)
def _best_design(setup: Setup) -> Design:
    rough = sorted(
        (_best_split(setup, item, ROUGH_SPLIT) for item in setup.structures()), key=_error
    )
    ranked = sorted(
        (_best_split(setup, item[0].structure, SPLITS) for item in rough[:SHORT_LIST]), key=_error
    )
    single = [item for item in rough if item[0].structure.blocks == 1]
    chosen = [*ranked[:2], *(single[:1] if single[:1] != ranked[:1] else [])]
    refined = [_refined(setup, *item) for item in chosen if len(item[1]) > 1]
    return min((*refined, *(item[0] for item in (*ranked, *rough))), key=lambda item: item.error)


def _error(item: Split) -> float:
    return item[0].error


def evaluated(setup: Setup, structure: Structure, shares: Sequence[Fraction]) -> Design:
    """Return the design in which the prefixes (if any), then the levels, have shares of epsilon.

    A secret move passes at most ceil(reach / block) ends of blocks, so it changes so many prefixes
    by 1, and on each level of the trees at most two counts by 1. More than thousands of blocks
    hardly change the expected error, so not more are looked at.
    """
    passed = min(-(-setup.reach // structure.block), structure.unknowns)
    if structure.block in setup.sealed:
        passed = 0
    rest = list(shares)
    prefix = Fraction(0)
    if structure.has_prefixes:
        prefix = passed / (rest.pop(0) * setup.epsilon)
    reached = 2 if setup.reach else 0
    levels = tuple(reached / (share * setup.epsilon) for share in rest)
    noise = [setup.variance(scale) for scale in levels]
    enough = min(structure.size, MANY_BLOCKS * structure.block)
    error = expected_error(replace(structure, size=enough), setup.variance(prefix), noise)
    return Design(structure, prefix, levels, error)


def _parts(structure: Structure) -> int:
    """How many parts share epsilon."""
    return structure.height + (1 if structure.has_prefixes else 0)


def _best_split(setup: Setup, structure: Structure, splits: Sequence[float]) -> Split:
    """Return the best of some splits between prefixes and trees, all levels of trees alike."""
    if not structure.has_prefixes or not structure.height:
        shares = _shares(np.ones(_parts(structure)))
        return evaluated(setup, structure, shares), shares

    def at(share: float) -> Split:
        levels = np.full(structure.height, (1 - share) / structure.height)
        shares = _shares(np.concatenate([[share], levels]))
        return evaluated(setup, structure, shares), shares

    return min(map(at, splits), key=_error)


def _shares(weights: Floats) -> tuple[Fraction, ...]:
    """Return exact shares of 1 in proportion to weights, none of them 0."""
    parts = [max(1, math.floor(weight / weights.sum() * STEPS)) for weight in weights]
    return tuple(Fraction(part, sum(parts)) for part in parts)


def _refined(setup: Setup, start: Design, shares: Sequence[Fraction]) -> Design:
    """Return a design with better shares: the error is smooth in their logarithms."""
    from scipy.optimize import minimize

    def error(logs: Floats) -> float:
        weights = np.exp(logs - logs.max())
        return math.log(evaluated(setup, start.structure, _shares(weights)).error + 1e-12)

    first = np.log([float(share) for share in shares])
    options = {"maxiter": 12, "eps": 0.02}
    found: Any = minimize(
        cast("Any", error), first, method="L-BFGS-B", options=cast("Any", options)
    )
    design = evaluated(setup, start.structure, _shares(np.exp(found.x - found.x.max())))
    return min(start, design, key=lambda item: item.error)


def equation_15(setup: Setup, structure: Structure) -> Design:
    """Return the design with epsilon split as equation 15 of blowfish-2014 says, levels alike."""
    size, reach, fan_out = setup.size, structure.block, structure.fan_out
    c1 = 4 * (size - reach) / (size + 1)
    c2 = 8 * (fan_out - 1) * math.log(max(2, reach), fan_out) ** 3 * size / (size + 1)
    share = c1 ** (1 / 3) / (c1 ** (1 / 3) + c2 ** (1 / 3))
    levels = np.full(structure.height, (1 - share) / max(1, structure.height))
    weights = np.concatenate([[share], levels]) if structure.has_prefixes else levels
    return evaluated(setup, structure, _shares(weights))
