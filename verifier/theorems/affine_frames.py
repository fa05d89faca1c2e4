"""Few signatures: affine dependencies, frames, and the flows in which a frame is worth most.

Let N classes of values have distinct signatures s_c of affine rank r. K = {k integer : sum k = 0,
sum k_c s_c = 0} has rank d = N - 1 - r. A *frame* cuts the classes into d blocks such that the
vectors of K that sum to 0 on each block are the multiples of one primitive k. The theorems that
rest on this are stated and proved in `closed_forms.ours.one_dependency` (d = 0 and 1) and
`closed_forms.ours.more_dependencies`; here is their arithmetic, for the closed forms and for the
engines.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import pairwise
from math import gcd, lcm

from blowproof.models.base.clock import now
from blowproof.models.base.kept import cached_property
from blowproof.models.domain.classes import ValueClass
from blowproof.verifier.databases.value_classes import ClassTable
from blowproof.verifier.limits.limit import whole_limit
from blowproof.verifier.theorems.lengths.frames_above import change_in_frames, moves_in_frames
from blowproof.verifier.theorems.lengths.heaviest_blocks import heaviest
from blowproof.verifier.theorems.lengths.shared_attribute import moves_of_tables
from blowproof.verifier.theorems.lengths.two_dependencies import of_boundaries

__all__ = [
    "MOST_PARTITIONS",
    "Blocks",
    "Frame",
    "Signatures",
    "best_frame",
    "change_above",
    "few_partitions",
    "framed",
    "heaviest_frame",
    "kernel",
    "partition_count",
    "partitions",
    "signatures_of",
    "steps",
    "worth",
]

MOST_SIGNATURES = whole_limit(__name__, "MOST_SIGNATURES")
MOST_PARTITIONS = whole_limit(__name__, "MOST_PARTITIONS")

Blocks = tuple[tuple[int, ...], ...]
Members = tuple[tuple[ValueClass, ...], ...]
"""The classes of values with each signature."""


@dataclass(frozen=True)
class Signatures:
    """The distinct signatures of the possible values, and whether each has two values or more."""

    vectors: tuple[tuple[int, ...], ...]
    large: tuple[bool, ...]

    @cached_property
    def dependencies(self) -> tuple[tuple[int, ...], ...]:
        """The affine dependencies of the signatures: a basis, in primitive integer vectors."""
        return kernel(self.vectors)


@dataclass(frozen=True)
class Frame:
    """A cut of the classes into blocks, its vector k, and its worth."""

    blocks: Blocks
    vector: tuple[int, ...]
    worth: int


def kernel(vectors: Sequence[Sequence[int]]) -> tuple[tuple[int, ...], ...]:
    """Return a basis, in primitive integer vectors, of {k : sum k = 0, sum k_c vector_c = 0}.

    >>> kernel([(0, 0), (1, 0), (0, 1), (1, 1)])
    ((1, -1, -1, 1),)
    """
    size = len(vectors)
    rows = [[Fraction(1)] * size]
    rows += [[Fraction(x) for x in column] for column in zip(*vectors, strict=True)]
    pivots: list[int] = []
    for column in range(size):
        done = len(pivots)
        pivot = next((i for i in range(done, len(rows)) if rows[i][column]), None)
        if pivot is None:
            continue
        rows[done], rows[pivot] = rows[pivot], rows[done]
        rows[done] = [x / rows[done][column] for x in rows[done]]
        for i, row in enumerate(rows):
            if i != done and row[column]:
                rows[i] = [x - row[column] * y for x, y in zip(row, rows[done], strict=True)]
        pivots.append(column)
    free = [column for column in range(size) if column not in pivots]
    return tuple(_dependency(rows, pivots, column, size) for column in free)


def _dependency(
    rows: Sequence[Sequence[Fraction]], pivots: Sequence[int], free: int, size: int
) -> tuple[int, ...]:
    found = [Fraction(0)] * size
    found[free] = Fraction(1)
    for row, pivot in zip(rows, pivots, strict=False):
        found[pivot] = -row[free]
    scale = lcm(*(x.denominator for x in found))
    whole = [int(x * scale) for x in found]
    divisor = gcd(*whole)
    return tuple(x // divisor for x in whole)


@cache
def partition_count(items: int, blocks: int) -> int:
    """Return how many partitions there are, the Stirling number of the second kind."""
    if items == 0 or blocks == 0:
        return int(items == blocks)
    return blocks * partition_count(items - 1, blocks) + partition_count(items - 1, blocks - 1)


def partitions(items: int, blocks: int) -> Iterator[Blocks]:
    """Yield every partition of range(items) into so many non-empty blocks.

    >>> list(partitions(3, 2))
    [((0, 2), (1,)), ((0,), (1, 2)), ((0, 1), (2,))]
    """
    if items == 0 or not 0 < blocks <= items:
        if items == blocks == 0:
            yield ()
        return
    last = items - 1
    for found in partitions(last, blocks):
        for place, block in enumerate(found):
            yield (*found[:place], (*block, last), *found[place + 1 :])
    for found in partitions(last, blocks - 1):
        yield (*found, (last,))


def _determinant(rows: Sequence[Sequence[int]]) -> int:
    """Expand along the first row: there are d - 1 rows, and d is small."""
    if not rows:
        return 1
    first, *rest = rows
    return sum(
        (-1) ** place * x * _determinant([[*row[:place], *row[place + 1 :]] for row in rest])
        for place, x in enumerate(first)
        if x
    )


def framed(basis: Sequence[Sequence[int]], blocks: Blocks) -> tuple[int, ...] | None:
    """Return the primitive k in the span of `basis` that sums to 0 on each block, if it is unique.

    The sums over all blocks but one are d - 1 equations for d coefficients: if they have rank
    d - 1, their solution is the vector of the signed minors. (On the last block, k then sums to 0.)
    """
    rows = [[sum(vector[c] for c in block) for vector in basis] for block in blocks[1:]]
    minors = [
        (-1) ** place * _determinant([[*row[:place], *row[place + 1 :]] for row in rows])
        for place in range(len(basis))
    ]
    mixed = [sum(m * x for m, x in zip(minors, c, strict=True)) for c in zip(*basis, strict=True)]
    divisor = gcd(*mixed)
    return tuple(x // divisor for x in mixed) if divisor else None


def worth(losses: Sequence[int], large: Sequence[bool]) -> int:
    """Return the most that an acyclic flow changes the histogram, V in
    `one_dependency.one_dependency`.

    Class c loses `losses[c]` records more than it gains; the losses sum to 0.

    >>> worth((1, -1, -1, 1), (True, True, True, True))
    8
    """
    before = sum(k for k, many in zip(losses, large, strict=True) if not many and k > 0)
    total = sum(abs(k) for k, many in zip(losses, large, strict=True) if not many)
    for k in sorted((k for k, many in zip(losses, large, strict=True) if many), reverse=True):
        total += k + 2 * before
        before += k
    return total


def best_frame(found: Signatures, *, end: float | None = None) -> Frame | None:
    """Return a frame of the largest worth, trying every partition of the classes into d blocks.

    None where there is no dependency, or `end` (of `now`) is not met.
    """
    best = None
    for blocks in partitions(len(found.vectors), len(found.dependencies)):
        if end is not None and now() > end:
            return None
        k = framed(found.dependencies, blocks) if blocks else None
        if k is not None:
            parts = (([k[c] for c in b], [found.large[c] for c in b]) for b in blocks)
            value = sum(worth(*part) for part in parts)
            if best is None or value > best.worth:
                best = Frame(blocks, k, value)
    return best


def heaviest_frame(found: Signatures) -> int:
    """Return W, the largest worth of a frame (0 where there is none).

    >>> heaviest_frame(Signatures(((0,), (1,), (2,), (3,)), (True,) * 4))
    10
    """
    best = best_frame(found)
    return 0 if best is None else best.worth


def steps(frame: Frame, large: Sequence[bool]) -> list[tuple[int, int, int]]:
    """Return (class, next class, records) for the flow that the frame is worth.

    In each block: the small classes that lose, the large ones in descending order of what they
    lose, the small ones that gain; everything moves from each class to the next one.

    >>> found = Signatures(((0,), (1,), (2,)), (True,) * 3)
    >>> steps(best_frame(found), found.large)
    [(0, 2, 1), (2, 1, 2)]
    """
    moves = []
    for block in frame.blocks:
        loss = {c: frame.vector[c] for c in block}
        order = sorted(
            (c for c in block if large[c] or loss[c]),
            key=lambda c: (0 if large[c] else -loss[c], -loss[c]),
        )
        before = 0
        for one, two in pairwise(order):
            before += loss[one]
            if before:
                moves.append((one, two, before))
    return moves


def signatures_of(table: ClassTable) -> tuple[Signatures, Members] | None:
    """Return the signatures of a table's classes for the equalities, and the classes of each.

    None where they are more than are worth looking at.
    """
    return table.kept.get("signatures", lambda: _signatures_of(table))


def _signatures_of(table: ClassTable) -> tuple[Signatures, Members] | None:
    found: dict[tuple[int, ...], list[ValueClass]] = defaultdict(list)
    for item, row in zip(table.classes, table.effects.tolist(), strict=True):
        found[tuple(row)].append(item)
        if len(found) > MOST_SIGNATURES:
            return None
    vectors = tuple(sorted(found))
    large = tuple(sum(item.size for item in found[vector]) > 1 for vector in vectors)
    return Signatures(vectors, large), tuple(tuple(found[vector]) for vector in vectors)


def few_partitions(found: Signatures) -> bool:
    """Whether the frames can be listed."""
    count = partition_count(len(found.vectors), len(found.dependencies))
    return count <= MOST_PARTITIONS


def change_above(found: Signatures, *, end: float) -> int | None:
    """Return what an irreducible multiset of all moves changes the histogram by at the most.

    The theorems of `closed_forms.ours.one_dependency` (d = 0, 1) and `more_dependencies` (d = 2:
    `blocks_above`). For d > 2 the proof of the latter holds as it stands, but for (2), where the
    trees of c_i have d - 1 independent sums on K, and the block of all other trees with these d - 1
    is a frame, and (3), which is sum l_i < d (`lengths.lattice_free`). So the bound is d W - 2, W
    being even and no less than the worth of every frame (`lengths.frames_above`, `heaviest_blocks`,
    `shared_attribute`). If every class is called large, it is twice what so many moves can be: the
    proofs bound what enters classes and what leaves them. If none is, all that counts is the
    boundary, and for d = 2 the bound is W (`lengths.two_dependencies`).

    >>> points = ((0,), (1,), (2,), (3,))
    >>> [change_above(Signatures(points, (x,) * 4), end=float("inf")) for x in (True, False)]
    [18, 8]
    """
    several = len(found.dependencies)
    cycle = 2 * sum(found.large)
    if several == 0:
        return cycle
    most = _listed_worth(found, end) if several <= 2 else _worth_above(found, end)
    if most is None:
        return None
    if not any(found.large):
        return of_boundaries(several, most, unit=2)
    return max(cycle, most if several == 1 else several * most - 2)


def _listed_worth(found: Signatures, end: float) -> int | None:
    best = best_frame(found, end=end) if few_partitions(found) else None
    return None if best is None else best.worth


def _worth_above(found: Signatures, end: float) -> int | None:
    """Return an even number that no frame's worth exceeds; calling classes large takes no less.

    All moves from each class of a block to the next one are at most so many as a circuit's
    (`lengths.shared_attribute`: each is what a part of the block loses).
    """
    basis = found.dependencies
    shared = moves_of_tables(basis)
    every = [None if shared is None else 2 * shared]
    if any(found.large):
        moves = moves_in_frames(basis, end=end)
        every.append(None if moves is None else 2 * moves)
    else:
        listed = heaviest(basis)
        every += [change_in_frames(basis, end=end), listed and listed.change]
    known = [each for each in every if each is not None]
    return min(known) // 2 * 2 if known else None
