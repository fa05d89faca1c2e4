"""Made-up data of public size: what a plan is rehearsed on, in place of the records.

Nothing here comes from the data but n, and only where n is public. Mechanisms whose error depends
on the data are judged by the worst of several shapes, so that none looks good by luck:

* `flat`: the records spread evenly. Isotonic regression gains least on it.
* `uneven`: counts that fall like 1, 1/2, 1/3, ... over values in no order, as names and places do.
  A partition into buckets of like counts gains least on it.

Values that the policy calls impossible hold nobody. Where known counts have numbers, the shapes are
moved to the nearest whole table with these counts, on small domains; on others they are not, and
mechanisms that lean on the counts are judged by what the noise alone does.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from blowproof.mechanisms.answers.masks import mask
from blowproof.mechanisms.estimates.consistency import rounded
from blowproof.mechanisms.kinds.consistent import known_sums
from blowproof.mechanisms.kinds.transformed import NoisyTable
from blowproof.mechanisms.structures.matchings import tickets
from blowproof.models import BlowproofError, Policy, Setting, setting
from blowproof.models.policy.policy import Answers

__all__ = ["MOST_CELLS", "made_up"]

MOST_CELLS = 4_000_000
MOST_AGREEING = 2_000
SECONDS = 5.0
USUAL = 100
"""Records for each value, where n is not public."""


def made_up(
    policy: Policy, answers: Answers | None, size: int | None
) -> Iterator[tuple[str, NoisyTable]]:
    """Yield public data of each shape: `size` records (None: a hundred for each value)."""
    found = setting(policy, answers)
    free = ~mask(found.impossible, policy.domain).ravel()
    places = np.flatnonzero(free)
    size = USUAL * len(places) if size is None else size
    order = np.argsort(np.argsort(tickets(len(places))))  # a fixed scramble
    shapes = {"flat": np.ones(len(places)), "uneven": 1.0 / (1 + order)}
    for name, shares in shapes.items():
        counts = np.zeros(policy.domain.size, dtype=np.int64)
        counts[places] = spread(shares, min(size, 2**53))
        yield name, NoisyTable(_agreeing(counts, found), policy.domain)


def _agreeing(counts: NDArray[np.int64], found: Setting) -> NDArray[np.int64]:
    """Return the nearest whole table with the known counts, where they have numbers."""
    sums = [fact for fact in found.equalities if fact.name != "size"]
    if found.scope != "given" or not sums or len(counts) > MOST_AGREEING:
        return counts
    try:
        free, facts, answers = known_sums(found, with_size=found.size is not None)
        result = np.zeros_like(counts)
        result[free] = rounded(counts[free], facts, answers, time_limit=SECONDS)
    except BlowproofError:
        return counts
    return result


def spread(shares: NDArray[np.float64], size: int) -> NDArray[np.int64]:
    """Return whole numbers in proportion to shares that add up to `size`.

    >>> spread(np.array([1.0, 1.0, 1.0]), 4).tolist()
    [1, 2, 1]
    """
    ends = np.rint(np.cumsum(shares) / shares.sum() * size).astype(np.int64)
    ends[-1] = size
    counts: NDArray[np.int64] = np.diff(ends, prepend=0)
    return counts
