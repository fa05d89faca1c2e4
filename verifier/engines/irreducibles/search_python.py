"""The search of `search.py` in plain Python: for small sets, where compiled code costs more to
load.

It is written independently of the compiled one (bit sets are ints, sums are tuples, covered
multisets are sorted tuples), so that the two can be compared.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

from blowproof.verifier.engines.irreducibles.arrays.state import EXCLUDED, MARKED
from blowproof.verifier.exact.coordinates import Instance, Vector
from blowproof.verifier.limits.limit import whole_limit

__all__ = ["PlainEngine"]

COVERED_SIZE = whole_limit(__name__, "COVERED_SIZE")
MOST_SUMS = whole_limit(__name__, "MOST_SUMS")
PENALTY = 2


@dataclass
class _Node:
    """A multiset w on the current path: its sum, its sub-sums, what is available, what is to do."""

    members: tuple[int, ...]
    total: Vector
    sums: frozenset[Vector]
    available: int
    todo: int
    weight: int
    entry: int = -1


class PlainEngine:
    """See `search.Engine`. `permutations` are the symmetries that the search may use.

    `box`: only sums of parts with |coordinate j| at most box[j] are kept.
    """

    seconds = 1e-4

    def __init__(
        self,
        instance: Instance,
        functionals: Sequence[Sequence[int]],
        permutations: Sequence[Sequence[int]],
        *,
        largest: int | None = None,
        most_sums: int = MOST_SUMS,
        box: Sequence[int] | None = None,
    ) -> None:
        self.vectors: list[Vector] = [tuple(map(int, row)) for row in instance.vectors]
        self.index = {vector: i for i, vector in enumerate(self.vectors)}
        self.weights = instance.weights
        self.opposite = instance.opposite
        self.functionals = [*functionals, *([-y for y in row] for row in functionals)]
        self.sides = [_bits(i for i, y in enumerate(row) if y < 0) for row in self.functionals]
        self.permutations = permutations
        self.largest = largest
        self.most_sums = most_sums
        self.box = box
        self.threshold = -1
        self.nodes = 0
        self.covered: set[tuple[int, ...]] = set()
        self.found: list[list[int]] = []
        self.trace: list[list[int]] = []  # for each node: branch, functional, marks, depth
        everything = (1 << len(self.vectors)) - 1
        root = _Node((), (0,) * instance.rank, frozenset(), everything, everything, 0)
        self.path = [root]

    def raise_threshold(self, weight: int) -> None:
        """Report only irreducibles that weigh more than this from now on."""
        self.threshold = weight

    def advance(self, nodes: int) -> bool | None:
        """True when the search is finished, None when sums get too many for plain Python.

        False after that many more nodes or a new irreducible.
        """
        stop = self.nodes + nodes
        while self.path and self.nodes < stop and not self.found:
            node = self.path[-1]
            if len(node.sums) > self.most_sums:
                return None
            if node.todo:
                self.path.append(self._child(node, self._next(node)))
            else:
                self._retreat(self.path.pop())
        return not self.path

    def take(self) -> Iterator[tuple[list[int], bool]]:
        """The irreducibles found since the last call; none needs a further check."""
        found, self.found = self.found, []
        return ((members, False) for members in found)

    def _next(self, node: _Node) -> int:
        """The branch that points back to zero most."""
        return min(_members(node.todo), key=lambda e: (_dot(self.vectors[e], node.total), e))

    def _child(self, node: _Node, d: int) -> _Node:
        self.nodes += 1
        vector = self.vectors[d]
        members = (*node.members, d)
        total = _add(node.total, vector)
        sums = node.sums | self._kept([vector, *(_add(part, vector) for part in node.sums)])
        weight = node.weight + self.weights[d]
        available = node.available & ~_bits(
            self.opposite[i] for part in (*sums, total) if (i := self.index.get(part, -1)) >= 0
        )
        if total in self.index:
            self._record(members, self.opposite[self.index[total]], node, weight)
        excluded = _bits(e for e in _members(available) if self._is_covered(members, e))
        available &= ~excluded
        node.todo &= ~(1 << d)
        node.available &= ~(1 << d)
        child = _Node(members, total, sums, available, 0, weight, len(self.trace))
        self.trace.append([d, 0, EXCLUDED if excluded else 0, len(members)])
        if self.largest is None or len(members) + 2 <= self.largest:
            child.todo = self._branches(child)
        return child

    def _kept(self, sums: list[Vector]) -> set[Vector]:
        """Those in the box."""
        if self.box is None:
            return set(sums)
        return {x for x in sums if all(abs(v) <= b for v, b in zip(x, self.box, strict=True))}

    def _record(self, members: tuple[int, ...], last: int, node: _Node, weight: int) -> None:
        """Report w + last, unless `last` is excluded, in which case the multiset was met before."""
        excluded = not node.available >> last & 1 or self._is_covered(members, last)
        if not excluded and weight + self.weights[last] > self.threshold:
            self.found.append([*members, last])

    def _branches(self, node: _Node) -> int:
        """The available effects below zero at the best functional that is positive on s."""
        best, branches, half = -1, node.available, len(self.functionals) // 2
        for place, (row, side) in enumerate(zip(self.functionals, self.sides, strict=True)):
            product = sum(row[i] for i in node.members)
            if product > 0:
                choice = node.available & side
                repeated = sum(1 for i in node.members if choice >> i & 1)
                score = choice.bit_count() + PENALTY * repeated
                if best < 0 or score < best:
                    best, branches = score, choice
                    told = place + 1 if place < half else half - place - 1
                    self.trace[node.entry][1] = told
        return branches

    def _is_covered(self, members: tuple[int, ...], e: int) -> bool:
        """Whether a covered multiset lies in w + e and holds e."""
        if not self.covered:
            return False
        return any(
            tuple(sorted((*part, e))) in self.covered
            for size in range(COVERED_SIZE)
            for part in combinations(members, size)
        )

    def _retreat(self, node: _Node) -> None:
        """Cover a finished node with its images, and apply that to its siblings."""
        if not self.path or len(node.members) > COVERED_SIZE or len(self.permutations) == 1:
            return
        self.trace[node.entry][2] |= MARKED
        for p in self.permutations:
            self.covered.add(tuple(sorted(p[i] for i in node.members)))
        parent = self.path[-1]
        gone = _bits(e for e in _members(parent.todo) if self._is_covered(parent.members, e))
        parent.todo &= ~gone
        parent.available &= ~gone


def _bits(indices: Iterator[int]) -> int:
    word = 0
    for i in indices:
        word |= 1 << i
    return word


def _members(word: int) -> Iterator[int]:
    while word:
        low = word & -word
        yield low.bit_length() - 1
        word ^= low


def _add(a: Vector, b: Vector) -> Vector:
    return tuple(x + y for x, y in zip(a, b, strict=True))


def _dot(a: Vector, b: Vector) -> int:
    return sum(x * y for x, y in zip(a, b, strict=True))
