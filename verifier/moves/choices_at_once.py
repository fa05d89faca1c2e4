"""All choices of kinds for groups of moves, in arrays: how large each makes the sum of the changes.

Norms are convex, so that some choice in which each group makes one kind of move is best (see
`best_choice`). Group after group, every sum so far takes each kind. A sum is left where no choice
for the groups to come makes it larger than what is known: an output that can still rise by r and
fall by s ends between x - s and x + r, and every norm is largest where each output is at one of
these ends (`_most`). Sums are arrays of whole numbers; none of them overflows, since what all moves
together can change is looked at beforehand.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from blowproof.models.base.clock import spend
from blowproof.models.norms import L1, L2_SQUARED, LINF, RANGE
from blowproof.verifier.limits.limit import real_limit, whole_limit
from blowproof.verifier.moves.kinds import Kind
from blowproof.verifier.moves.score import Score

__all__ = ["better_choice"]

MOST_NUMBERS = whole_limit(__name__, "MOST_NUMBERS")
LARGEST = whole_limit(__name__, "LARGEST")
NUMBER = real_limit(__name__, "NUMBER")

Groups = Sequence[tuple[Sequence[Kind], int]]
Numbers = NDArray[np.int64]


def better_choice(groups: Groups, score: Score, known: int) -> Counter[Kind] | None:
    """Return the choice whose sum is largest, or nothing where none is larger than `known`; None
    where choices are too many, numbers too large, or the norm is not one of those that it adds up.
    """
    if score.norm not in (L1, L2_SQUARED, LINF, RANGE):
        return None
    seen = dict.fromkeys(output for kinds, _ in groups for kind in kinds for output in kind.change)
    outputs = list(seen)
    if not outputs or not _small(groups, score, len(outputs)):
        return None
    ordered = sorted(groups, key=lambda group: -group[1])
    rows = [_rows(kinds, times, outputs) for kinds, times in ordered]
    weights = np.array([score.weights.get(output, 1) for output in outputs], dtype=np.int64)
    sums: Numbers = np.zeros((1, len(outputs)), dtype=np.int64)
    rises, falls = (np.sum([each(row) for row in rows], axis=0) for each in (_rises, _falls))
    trail: list[tuple[Numbers, int]] = []
    for row in rows:
        if len(sums) * row.size > MOST_NUMBERS:
            return None
        spend(len(sums) * row.size * NUMBER)
        rises, falls = rises - _rises(row), falls - _falls(row)
        sums = (sums[:, None] + row[None]).reshape(-1, len(outputs))
        left = np.flatnonzero(_most(sums, rises, falls, weights, score) > known)
        if not len(left):
            return Counter()
        sums = sums[left]
        trail.append((left, len(row)))
    place = int(_most(sums, rises, falls, weights, score).argmax())
    found: Counter[Kind] = Counter()
    for (left, width), (kinds, times) in zip(reversed(trail), reversed(ordered), strict=True):
        place, kind = divmod(int(left[place]), width)
        found[kinds[kind]] += times
    return found


def _rows(kinds: Sequence[Kind], times: int, outputs: Sequence[object]) -> Numbers:
    """Return what each kind changes, made so often."""
    return np.array(
        [[kind.change.get(output, 0) * times for output in outputs] for kind in kinds],
        dtype=np.int64,
    )


def _rises(row: Numbers) -> Numbers:
    return np.asarray(row.max(axis=0))


def _falls(row: Numbers) -> Numbers:
    return np.asarray(-row.min(axis=0))


def _small(groups: Groups, score: Score, outputs: int) -> bool:
    """Whether no sum of changes, nor its size, is larger than 64 bits hold."""
    most = sum(
        times * max(max(map(abs, kind.change.values()), default=0) for kind in kinds)
        for kinds, times in groups
    )
    weight = max(score.weights.values(), default=1)
    return bool(max(1, 2 * most) ** score.norm.degree * max(weight, 1) * outputs <= LARGEST)


def _most(sums: Numbers, rises: Numbers, falls: Numbers, weights: Numbers, score: Score) -> Numbers:
    """Return what sums (a row each) do not exceed that may still rise and fall by so much: their
    sizes where that is nothing.
    """
    high, low = sums + rises, sums - falls
    sizes = np.maximum(np.abs(high), np.abs(low))
    if score.norm is L2_SQUARED:
        return np.asarray((sizes * sizes) @ weights)
    if score.norm is L1:
        return np.asarray(sizes @ weights)
    if score.norm is LINF:
        return np.asarray(sizes.max(axis=1))
    top, bottom = high.max(axis=1), low.min(axis=1)
    if score.width is not None and score.width > sums.shape[1]:  # an output that nobody changes
        top, bottom = np.maximum(top, 0), np.minimum(bottom, 0)
    return np.asarray(top - bottom)
