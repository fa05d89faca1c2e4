"""Private partitions of a histogram into buckets of like counts.

Both choose the cheapest partition of noisy costs. A bucket costs its deviation, the sum of
|count - mean| over its values, plus a public penalty for the noise that its count will get later.

*Privacy*, for a policy without known facts. Let one record move from u to v, let the partition M be
the outcome, and let a and b be M's buckets that hold u and v. Lower the noise of a and of b by what
the costs can have moved against M: M's own cost has grown by at most the change of cost(a) and of
cost(b), and that of another partition fallen by at most the change of its buckets at u and v. One
record changes a bucket's deviation by at most `step` (2 in general, 1 where buckets have at most
two values), so 2 * step for each of the two (4 * step where a is b) is enough, and M stays
cheapest: a partition that holds a or b itself only gains the same. Shifting two noises of scale b
by 2 * step multiplies probabilities by at most exp(4 * step / b), so the scale 4 * step / epsilon
gives epsilon. (This is the argument of data-dependent-blowfish, Theorem 5.2, where one record is
added or removed, with buckets of any size; two such steps make a move.) Costs and noise lie on one
grid of whole numbers, so that the shift is one of the grid.

*Ties* are part of the argument: against a partition that holds a and b too, M gains nothing, so
where the two cost the same, the same rule must choose M again. What decides between them has to be
one total order of all partitions that the data and the noise do not enter. (It is not enough that a
library is deterministic. A million noisy costs are not private together, only what is cheapest is,
so a rule that looks at all of them may lose more than epsilon.) Intervals: of several cheapest ones
the one with the shortest last bucket, then the shortest before that, and so on. Pairs: `matchings`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from blowproof.mechanisms.answers.vectors import largest, prefix_sums, roomy
from blowproof.mechanisms.noise.discrete_laplace import Noise
from blowproof.mechanisms.structures.matchings import heaviest_matching
from blowproof.models.base.errors import PolicyError

__all__ = [
    "Noisy",
    "cheapest_intervals",
    "cheapest_pairs",
    "deviations",
    "interval_costs",
    "interval_partition",
    "interval_rows",
    "matching_partition",
    "scale_of",
]

Ints = NDArray[Any]
"""Whole numbers in an array with room for them (`roomy`)."""
Noisy = Callable[[int, int], Noise]
"""Returns so many independent numbers of noise for costs, in units of 1 / the second argument."""

LONGEST = 4096
WIDE = 512
"""Longer runs are judged by ranks: some twenty steps for each, whatever their length."""
CHUNK = 1 << 16


def scale_of(step: int, epsilon: Fraction) -> Fraction:
    """Return the scale of the noise on every bucket's cost, for buckets that change by `step`."""
    if epsilon <= 0:
        raise PolicyError(f"epsilon is positive, not {epsilon}", key="epsilon")
    return 4 * step / Fraction(epsilon)


def interval_partition(
    counts: Ints, noise: Noisy, *, penalty: Fraction, longest: int = LONGEST
) -> Ints:
    """Return the ends of consecutive buckets (the first step of DAWA), with this noise on costs.

    Buckets have 1, 2, 4, ... values, `longest` at the most, and begin anywhere. The last end is the
    number of values.

    >>> def none(size, finer):
    ...     return np.zeros(size, dtype=np.int64)
    >>> interval_partition(np.array([5, 5, 5, 5, 900, 900]), none, penalty=Fraction(2))
    array([4, 6])
    """
    size = len(counts)
    lengths = _lengths(size, longest)
    noises = [noise(size - length + 1, lengths[-1]) for length in lengths]
    return cheapest_intervals(counts, noises, penalty)


def _lengths(size: int, longest: int) -> list[int]:
    return [1 << power for power in range(max(1, min(size, longest)).bit_length())]


def cheapest_intervals(counts: Ints, noises: Sequence[Ints], penalty: Fraction) -> Ints:
    """Return the ends of the cheapest buckets of 1, 2, 4, ... values for this noise on each.

    `noises[k][first]` is that of the bucket of 2**k values from `first` on, in units of the grid:
    one over the longest length. A bucket costs its deviation, its noise and the penalty.
    """
    return _walk_back(_cheapest(interval_costs(counts, len(noises), penalty, noises)), len(counts))


def interval_costs(
    counts: Ints, rows: int, penalty: Fraction, noises: Sequence[Ints] | None = None
) -> Ints:
    """Return the cost of each bucket of 2**row values that ends before each place.

    In units of one over the longest length; noise, if any, is in these units too.

    >>> interval_costs(np.array([1, 3, 3]), 2, Fraction(1)).tolist()
    [[0, 2, 2, 2], [0, 0, 6, 2]]
    """
    size = len(counts)
    grid = 1 << rows - 1
    fixed = round(penalty * grid)
    wide = 0 if noises is None else max(map(largest, noises))
    # a deviation is at most twice the sum of the counts
    bound = 2 * grid * size * largest(counts) + abs(fixed) + wide
    (counts,) = roomy(bound, counts)
    costs = np.zeros((rows, size + 1), dtype=counts.dtype)
    ranked = Ranked(counts) if grid > WIDE else None
    for row in range(rows):
        length = 1 << row
        found = deviations(counts, length, ranked if length > WIDE else None)
        (found,) = roomy(bound, found)
        costs[row, length:] = found * (grid // length) + fixed
        if noises is not None:
            costs[row, length:] += roomy(bound, noises[row])[0]
    return costs


def interval_rows(size: int, longest: int) -> int:
    """Return how many lengths 1, 2, 4, ... buckets can have."""
    return len(_lengths(size, longest))


def deviations(counts: Ints, length: int, ranked: Ranked | None = None) -> Ints:
    """Return `length` times the deviation of every run of `length` counts, in whole numbers.

    Count by count, or (`ranked`) from the counts up to each run's mean, whose parts of the
    deviation are half of it.

    >>> deviations(np.array([1, 3, 3]), 2).tolist()
    [4, 0]
    >>> deviations(np.array([1, 3, 3]), 2, Ranked(np.array([1, 3, 3]))).tolist()
    [4, 0]
    """
    bound = 2 * length * len(counts) * largest(counts)
    counts, before = roomy(bound, counts, prefix_sums(counts))
    sums = before[length:] - before[:-length]
    result = np.empty(len(sums), dtype=counts.dtype)
    chunk = max(1, (1 << 22) // (length if ranked is None else 1))
    windows = np.lib.stride_tricks.sliding_window_view(counts, length)
    for start in range(0, len(sums), chunk):
        part = slice(start, start + chunk)
        if ranked is None:
            result[part] = abs(windows[part] * length - sums[part, None]).sum(axis=1)
        else:
            first = np.arange(start, start + len(sums[part]))
            many, low = ranked.up_to(sums[part] // length, first, first + length)
            result[part] = 2 * (many * sums[part] - length * low)
    return result


class Ranked:
    """How many counts of a run are at most so large, and their sum: a wavelet matrix.

    On each level the counts are in the order of the level above, those whose rank has a 0 in the
    level's bit before the others; kept are the number and the sum of the former up to each place.
    """

    def __init__(self, counts: Ints) -> None:
        self.values, ranks = np.unique(counts, return_inverse=True)
        self.levels: list[tuple[int, Ints, Ints]] = []
        for bit in reversed(range(len(self.values).bit_length())):
            zero = (ranks >> bit) & 1 == 0
            number = prefix_sums(zero.astype(np.int64))
            total = prefix_sums(np.where(zero, counts, 0))
            self.levels.append((bit, number, total))
            ranks = np.concatenate([ranks[zero], ranks[~zero]])
            counts = np.concatenate([counts[zero], counts[~zero]])

    def up_to(self, most: Ints, first: Ints, last: Ints) -> tuple[Ints, Ints]:
        """Return the number and the sum of those counts of runs [first, last) that are <= most."""
        below = np.searchsorted(self.values, most, side="right")
        many, low = np.zeros_like(first), np.zeros(len(first), dtype=most.dtype)
        for bit, number, total in self.levels:
            taken = (below >> bit) & 1 == 1
            left, right = number[first], number[last]
            many += np.where(taken, right - left, 0)
            low += np.where(taken, total[last] - total[first], 0)
            first = np.where(taken, number[-1] + first - left, left)
            last = np.where(taken, number[-1] + last - right, right)
        return many, low

    def smallest(self, many: Ints, first: Ints, last: Ints) -> Ints:
        """Return the sum of so many smallest counts of runs [first, last), no more than they have.

        >>> Ranked(np.array([5, 1, 3])).smallest(np.array([2]), np.array([0]), np.array([3]))
        array([4])
        """
        sums = np.zeros(len(first), dtype=self.values.dtype)
        rank = np.zeros(len(first), dtype=np.int64)
        for bit, number, total in self.levels:
            left, right = number[first], number[last]
            beyond = many >= right - left  # all whose rank has a 0 here, and some of the others
            sums += np.where(beyond, total[last] - total[first], 0)
            many = np.where(beyond, many - (right - left), many)
            rank |= np.where(beyond, 1 << bit, 0)
            first = np.where(beyond, number[-1] + first - left, left)
            last = np.where(beyond, number[-1] + last - right, right)
        return np.asarray(sums + many * self.values[np.minimum(rank, len(self.values) - 1)])


def _cheapest(costs: Ints) -> list[int]:
    """Return the last bucket's length in the cheapest partition of every beginning of the values.

    `costs[j, end]` is what a bucket of 2**j values costs that stops before `end`. Of several that
    are cheapest, the one with the shortest last bucket.
    """
    lengths = [1 << row for row in range(len(costs))]
    done, steps = [0], [0]
    for start in range(1, costs.shape[1], CHUNK):
        for row in costs[:, start : start + CHUNK].T.tolist():
            end = len(done)
            fitting = lengths if end >= lengths[-1] else lengths[: end.bit_length()]
            options = [
                done[end - length] + cost for length, cost in zip(fitting, row, strict=False)
            ]
            least = min(options)
            done.append(least)
            steps.append(lengths[options.index(least)])
    return steps


def _walk_back(steps: list[int], size: int) -> Ints:
    ends = []
    end = size
    while end > 0:
        ends.append(end)
        end -= steps[end]
    return np.array(ends[::-1], dtype=np.int64)


def matching_partition(counts: Ints, noise: Noisy, *, penalty: Fraction) -> Ints:
    """Return the bucket (numbered from 0) of each value: pairs of like counts, and single values.

    Every pair and every value alone gets noise of its own on its cost. The cheapest partition is a
    matching of largest weight, where a pair weighs what it saves over two single values; pairs that
    save nothing are left out, for no matching of largest weight needs them.

    >>> def none(size, finer):
    ...     return np.zeros(size, dtype=np.int64)
    >>> matching_partition(np.array([5, 900, 5]), none, penalty=Fraction(2)).tolist()
    [0, 1, 0]
    """
    size = len(counts)
    alone, paired = noise(size, 1), noise(size * (size - 1) // 2, 1)
    return cheapest_pairs(counts, alone, paired, round(penalty))


def cheapest_pairs(counts: Ints, alone: Ints, paired: Ints, penalty: int) -> Ints:
    """Return the buckets of the cheapest partition for this noise on singles and on pairs.

    Pairs are in the order (0, 1), (0, 2), ..., (1, 2), ... A bucket costs its deviation, its noise
    and the penalty.
    """
    size = len(counts)
    left, right = np.triu_indices(size, 1)
    bound = abs(penalty) + 2 * (largest(counts) + largest(alone)) + largest(paired)
    counts, alone, paired = roomy(bound, counts, alone, paired)
    save = penalty + alone[left] + alone[right] - paired - abs(counts[left] - counts[right])
    buckets = np.arange(size, dtype=np.int64)
    for a, b in heaviest_matching(size, left, right, save):
        buckets[max(a, b)] = min(a, b)
    return np.unique(buckets, return_inverse=True)[1].astype(np.int64)
