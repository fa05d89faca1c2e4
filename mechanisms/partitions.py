"""Private partitions of a histogram into buckets of like counts.

Both choose the cheapest partition of noisy costs. A bucket costs its deviation, the sum of
|count - mean| over its values, plus a public penalty for the noise that its count will get later.

*Privacy*, for a policy without known facts. Let one record move from u to v, let the partition M be
the outcome, and let a and b be M's buckets that hold u and v. Lower the noise of a and of b by what
the costs can have moved against M: M's own cost has grown by at most the change of cost(a) and of
cost(b), and that of another partition fallen by at most the change of its buckets at u and v. One
record changes a bucket's deviation by at most `step` (2 in general, 1 where buckets have at most
two values), so 2 * step for each of the two is enough, and M stays cheapest: a partition that holds
a or b itself only gains the same. Shifting two noises of scale b by 2 * step multiplies
probabilities by at most exp(4 * step / b), so the scale 4 * step / epsilon gives epsilon. (This is
the argument of data-dependent-blowfish, Theorem 5.2, where one record is added or removed, with
buckets of any size; two such steps make a move.) Costs and noise lie on one grid of whole numbers,
so that the shift is one of the grid, and ties fall to the first partition in a fixed order.
"""

from __future__ import annotations

import os
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from blowproof.mechanisms.noise import Source, discrete_laplace
from blowproof.models.errors import BudgetError, PolicyError

__all__ = ["MOST_MATCHED", "deviations", "interval_partition", "matching_partition", "scale_of"]

Ints = NDArray[np.int64]

LONGEST = 4096
MOST_MATCHED = 2048
_ROOM = 2**61


def scale_of(step: int, epsilon: Fraction) -> Fraction:
    """Return the scale of the noise on every bucket's cost, for buckets that change by `step`."""
    if epsilon <= 0:
        raise PolicyError(f"epsilon is positive, not {epsilon}", key="epsilon")
    return 4 * step / Fraction(epsilon)


def interval_partition(
    counts: Ints,
    epsilon: Fraction,
    *,
    penalty: Fraction,
    longest: int = LONGEST,
    source: Source = os.urandom,
) -> Ints:
    """Return the ends of consecutive buckets (the first step of DAWA), privately for epsilon.

    Buckets have 1, 2, 4, ... values, `longest` at the most, and begin anywhere. The last end is the
    number of values.

    >>> interval_partition(np.array([5, 5, 5, 5, 900, 900]), Fraction(1000), penalty=Fraction(2))
    array([4, 6])
    """
    size = len(counts)
    lengths = [1 << power for power in range(max(1, min(size, longest)).bit_length())]
    grid = lengths[-1]
    scale = scale_of(2, epsilon) * grid
    if int(counts.sum()) * 2 * grid + int(scale) * 100 > _ROOM:
        raise BudgetError(
            f"costs of {size} counts do not fit in 62 bits\n  try: a smaller `longest`"
        )
    best = np.zeros(size + 1, dtype=np.int64)
    fixed = round(penalty * grid)
    costs = np.full((len(lengths), size + 1), _ROOM, dtype=np.int64)
    for row, length in enumerate(lengths):
        noise = discrete_laplace(scale, size - length + 1, source=source)
        costs[row, length:] = deviations(counts, length) * (grid // length) + fixed + noise
    steps = _cheapest(costs, best)
    return _walk_back(steps, size)


def deviations(counts: Ints, length: int) -> Ints:
    """Return `length` times the deviation of every run of `length` counts, in whole numbers.

    >>> deviations(np.array([1, 3, 3]), 2)
    array([4, 0])
    """
    sums = np.convolve(counts, np.ones(length, dtype=np.int64), mode="valid")
    windows = np.lib.stride_tricks.sliding_window_view(counts, length)
    result = np.empty(len(sums), dtype=np.int64)
    chunk = max(1, (1 << 22) // length)
    for start in range(0, len(sums), chunk):
        part = slice(start, start + chunk)
        result[part] = abs(windows[part] * length - sums[part, None]).sum(axis=1)
    return result


def _cheapest(costs: Ints, best: Ints) -> Ints:
    """Fill in the least cost of every beginning of the values; return the last bucket's length.

    `costs[j, end]` is what a bucket of 2**j values costs that stops before `end`.
    """
    steps = np.zeros(len(best), dtype=np.int64)
    table = costs.T.tolist()
    done = best.tolist()
    for end in range(1, len(done)):
        options = (
            (done[end - (1 << row)] + cost, 1 << row)
            for row, cost in enumerate(table[end])
            if cost < _ROOM
        )
        done[end], steps[end] = min(options)
    return steps


def _walk_back(steps: Ints, size: int) -> Ints:
    ends = []
    end = size
    while end > 0:
        ends.append(end)
        end -= int(steps[end])
    return np.array(ends[::-1], dtype=np.int64)


def matching_partition(
    counts: Ints, epsilon: Fraction, *, penalty: Fraction, source: Source = os.urandom
) -> Ints:
    """Return the bucket (numbered from 0) of each value: pairs of like counts, and single values.

    Every pair and every value alone gets noise of its own on its cost. The cheapest partition is a
    matching of largest weight, where a pair weighs what it saves over two single values; pairs that
    save nothing are left out, for no matching of largest weight needs them.

    >>> matching_partition(np.array([5, 900, 5]), Fraction(1000), penalty=Fraction(2)).tolist()
    [0, 1, 0]
    """
    import rustworkx

    size = len(counts)
    if size > MOST_MATCHED:
        raise BudgetError(
            f"{size} values have {size * (size - 1) // 2} pairs; at most {MOST_MATCHED} values are "
            "matched\n  try: the partition into intervals"
        )
    scale = scale_of(1, epsilon)
    left, right = np.triu_indices(size, 1)
    alone = discrete_laplace(scale, size, source=source)
    paired = discrete_laplace(scale, len(left), source=source)
    save = round(penalty) + alone[left] + alone[right] - paired - abs(counts[left] - counts[right])
    kept = save > 0
    graph: Any = rustworkx.PyGraph(multigraph=False)
    graph.add_nodes_from(range(size))
    edges = zip(left[kept].tolist(), right[kept].tolist(), save[kept].tolist(), strict=True)
    graph.add_edges_from(list(edges))
    found = rustworkx.max_weight_matching(graph, max_cardinality=False, weight_fn=int)
    buckets = np.arange(size, dtype=np.int64)
    for a, b in found:
        buckets[max(a, b)] = min(a, b)
    return np.unique(buckets, return_inverse=True)[1].astype(np.int64)
