"""The ordered hierarchical structure of blowfish-2014, section 7.2, as the paper describes it.

Values are 1..size. S node i counts 1..i theta, the last one everything. H_i is a tree over the
i-th block of theta values: a node of w > 1 values has children of ceil(w / fan-out) values each,
the last one shorter. s_1 is the root of H_1. Nothing here comes from the mechanisms.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction

from blowproof.models.base.kept import cached_property

__all__ = ["Node", "OrderedTree", "height", "tree_nodes"]

Node = tuple[str, int, int]
"""What a node is, and its ends: "S"; "top" (s_1) and "H1" in H_1; "root" and "H" in the others."""


def height(size: int, fan_out: int) -> int:
    """Return ceil(log_f(size)), in whole numbers.

    >>> [height(size, 4) for size in (1, 2, 4, 5, 16, 17)]
    [0, 1, 1, 2, 2, 3]
    """
    levels, reach = 0, 1
    while reach < size:
        levels, reach = levels + 1, reach * fan_out
    return levels


def tree_nodes(low: int, high: int, fan_out: int, level: int = 0) -> Iterator[tuple[int, int, int]]:
    """Yield (level, first, last) of every node of the tree over low..high."""
    yield level, low, high
    if low < high:
        width = -(-(high - low + 1) // fan_out)
        for start in range(low, high + 1, width):
            yield from tree_nodes(start, min(start + width - 1, high), fan_out, level + 1)


@dataclass(frozen=True)
class OrderedTree:
    """The structure for |T| = size, a threshold and a fan-out; `roots`: those of H_2, ... count."""

    size: int
    theta: int
    fan_out: int
    roots: bool = True

    @property
    def height(self) -> int:
        """h = ceil(log_f(theta))."""
        return height(self.theta, self.fan_out)

    @property
    def blocks(self) -> list[tuple[int, int]]:
        """The blocks of theta values."""
        starts = range(1, self.size + 1, self.theta)
        return [(start, min(start + self.theta - 1, self.size)) for start in starts]

    @cached_property
    def nodes(self) -> tuple[Node, ...]:
        """Every node that is released: S nodes from s_2 on, H_1 with its root s_1, H_2, ..."""
        found: list[Node] = []
        for place, (low, high) in enumerate(self.blocks):
            if place:
                found.append(("S", 1, high))
            for level, first, last in tree_nodes(low, high, self.fan_out):
                kind = ("H1" if level else "top") if place == 0 else "H" if level else "root"
                if kind != "root" or self.roots:
                    found.append((kind, first, last))
        return tuple(found)

    def changed(self, x: int, y: int) -> list[Node]:
        """Return the nodes whose count changes when a record moves from x to y."""
        return [
            node for node in self.nodes if (node[1] <= x <= node[2]) != (node[1] <= y <= node[2])
        ]

    def secret_pairs(self) -> Iterator[tuple[int, int]]:
        """Yield x < y with y - x <= theta."""
        for x in range(1, self.size + 1):
            for y in range(x + 1, min(x + self.theta, self.size) + 1):
                yield x, y

    def loss_of(self, x: int, y: int, scales: Mapping[str, Fraction]) -> Fraction:
        """Return the loss of a move from x to y, given the Laplace scale of each kind of node."""
        return sum((1 / scales[kind] for kind, _, _ in self.changed(x, y)), Fraction(0))

    def prefix(self, last: int) -> frozenset[Node]:
        """Return the nodes that q[1, last] is summed from: one S node and nodes of one subtree."""
        if last == 0:
            return frozenset()
        if last == self.size:
            kind = "S" if len(self.blocks) > 1 else "top"
            return frozenset([(kind, 1, self.size)])
        whole = last // self.theta
        chosen: set[Node] = set()
        if whole:
            chosen.add(("S" if whole > 1 else "top", 1, whole * self.theta))
        if last % self.theta:
            low, high = self.blocks[whole]
            kind = "H" if whole else "H1"
            chosen |= {(kind, *part) for part in _cover(low, high, last, self.fan_out)}
        return frozenset(chosen)

    def uses(self) -> dict[str, int]:
        """Return how many ranges read a node of each kind, added up over the nodes.

        A range is the difference of two prefixes, and noise that both have in common cancels: of
        |T| + 1 prefixes p read a node, and so p (|T| + 1 - p) ranges do.
        """
        readers: Counter[Node] = Counter()
        for last in range(self.size + 1):
            readers.update(self.prefix(last))
        found: Counter[str] = Counter()
        for (kind, _, _), read in readers.items():
            found[kind] += read * (self.size + 1 - read)
        return dict(found)

    def range_error(self, scales: Mapping[str, Fraction], *, shared: bool) -> Fraction:
        """Return the expected squared error of a range, on average over all ranges.

        `shared`: noise that both prefixes have in common cancels; else both count in full. A node's
        noise has the variance 2 scale^2.
        """
        total, count = Fraction(0), self.size * (self.size + 1) // 2
        if shared:
            found = self.uses().items()
            return sum((2 * scales[kind] ** 2 * many for kind, many in found), total) / count
        prefixes = [self.prefix(last) for last in range(self.size + 1)]
        for last in range(1, self.size + 1):
            for first in range(1, last + 1):
                right, left = prefixes[last], prefixes[first - 1]
                used = [*right, *left]
                total += sum((2 * scales[kind] ** 2 for kind, _, _ in used), Fraction(0))
        return total / count


def _cover(low: int, high: int, last: int, fan_out: int) -> Iterator[tuple[int, int]]:
    """Yield the nodes of the tree over low..high that low..last is the union of."""
    if last == high:
        yield low, high
        return
    width = -(-(high - low + 1) // fan_out)
    for start in range(low, high + 1, width):
        end = min(start + width - 1, high)
        if end <= last:
            yield start, end
        else:
            if start <= last:
                yield from _cover(start, end, last, fan_out)
            return
