"""Which range each node of a `Tree` counts, and the counts of trees and prefixes.

The layout is that of the descriptions (`blowproof.models.mechanisms.mechanism`): blocks of
consecutive values, over each of them a tree whose nodes of w values have children of ceil(w /
fan_out) values.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from blowproof.mechanisms.answers.vectors import Names, Vector, prefix_sums
from blowproof.models.mechanisms.mechanism import Prefixes, Tree

__all__ = ["Level", "answer_prefixes", "answer_tree", "prefix_ends", "tree_levels"]

Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Level:
    """The nodes of one level, from left to right: node i counts the positions low[i]..high[i]-1.

    `parent[i]` is the place of its parent in the level above (-1 for a root).
    """

    low: Ints
    high: Ints
    parent: Ints


def tree_levels(tree: Tree, size: int) -> list[Level]:
    """Return the levels of all trees over `size` positions, the roots first; a leaf occurs once.

    >>> [level.high.tolist() for level in tree_levels(Tree(attribute="age", fan_out=2), 5)]
    [[5], [3, 5], [2, 3, 4, 5], [1, 2]]
    """
    width = size if tree.block is None else tree.block
    starts = np.arange(0, size, width, dtype=np.int64)
    if tree.blocks is not None:
        starts = starts[tree.blocks[0] : tree.blocks[1] + 1]
    level = Level(starts, np.minimum(starts + width, size), np.full(len(starts), -1))
    levels = [level]
    while (level := _children(level, tree.fan_out)).low.size:
        levels.append(level)
    last = len(levels) if tree.last is None else tree.last + 1
    return levels[tree.first : last]


def _children(level: Level, fan_out: int) -> Level:
    widths = level.high - level.low
    parents = np.flatnonzero(widths > 1)
    step = -(-widths[parents] // fan_out)
    many = -(-widths[parents] // step)
    parent = np.repeat(parents, many)
    order = np.arange(parent.size) - np.repeat(np.cumsum(many) - many, many)
    low = level.low[parent] + order * np.repeat(step, many)
    high = np.minimum(low + np.repeat(step, many), level.high[parent])
    return Level(low, high, parent)


def prefix_ends(prefixes: Prefixes, size: int) -> Ints:
    """Return how many values each prefix counts.

    >>> prefix_ends(Prefixes(attribute="age", every=2), 5).tolist()
    [2, 4]
    >>> prefix_ends(Prefixes(attribute="age", every=2, whole=True), 5).tolist()
    [2, 4, 5]
    """
    ends = np.arange(prefixes.every, size, prefixes.every, dtype=np.int64)
    return np.append(ends, size) if prefixes.whole else ends


def answer_tree(tree: Tree, counts: NDArray[Any]) -> Vector:
    """Return the true count of every node, level by level."""
    levels = tree_levels(tree, len(counts))
    low = np.concatenate([level.low for level in levels] or [np.zeros(0, dtype=np.int64)])
    high = np.concatenate([level.high for level in levels] or [np.zeros(0, dtype=np.int64)])
    sums = prefix_sums(counts)
    runs = tuple(len(level.low) for level in levels)
    return Vector(sums[high] - sums[low], Fraction(1), _intervals(low, high), runs)


def answer_prefixes(prefixes: Prefixes, counts: NDArray[Any]) -> Vector:
    """Return the true count of every prefix."""
    ends = prefix_ends(prefixes, len(counts))
    return Vector(prefix_sums(counts)[ends], Fraction(1), _intervals(np.zeros_like(ends), ends))


def _intervals(low: Ints, high: Ints) -> Names:
    """Name outputs by their first and last position."""
    return Names(
        ("first", "last"),
        len(low),
        lambda: zip(low.tolist(), (high - 1).tolist(), strict=True),
    )
