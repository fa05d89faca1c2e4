"""Circuits of few classes: all frames, those that symmetries map to one another once.

*Statement.* Let K, of rank d, and frames be those of `affine_frames`. For a set Z of classes let
K_Z be the vectors of K that are 0 on it. Take every Z up to permutations of the classes that map K
onto itself, where K_Z has rank d - |Z|, and every cut of the other classes into d - |Z| blocks of
two classes or more. Let k be the primitive whole vector of K_Z that sums to 0 on each block, where
it is unique up to multiples. A circuit has as many moves as one of these k at the most, if all
moves from each class to the next one, block by block in descending order of k, are counted.

*Proof.* A circuit has so many moves at the most, or fewer, for the vector of a frame
(`closed_forms.ours.more_dependencies` (2), `one_dependency`). Let Z be the classes that are a block
of their own. There k is 0. So k is what is unique among vectors of K_Z which sum to 0 on the other
d - |Z| blocks. That is a condition for each, one of which follows from the others, as all of k sums
to 0; so K_Z has rank d - |Z| at the most, and at least. A permutation that maps K onto itself maps
frames to frames, and their k to theirs. QED

For one-way margins of 4 x 4 classes there are 3,884,651 such cuts in place of 820,784,250, and the
longest circuit has 54 moves (9 s of CPU). None leaves the classes of a row more than 24 times, nor
one class more than 13 times (46 s).

`longest_listed` does without symmetries, compiled (`exact/cuts`), and as long as there is time: the
62 million cuts of 14 classes with six dependencies take 14 s of CPU.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from functools import cache
from itertools import combinations
from math import comb, gcd

import numpy as np
from numpy.typing import NDArray

from blowproof.models.base.clock import now, spend
from blowproof.verifier.exact.available import AVAILABLE
from blowproof.verifier.limits.limit import real_limit, whole_limit

__all__ = ["cuts_to_list", "longest_in_frames", "longest_listed", "most_left"]

CHUNK = whole_limit(__name__, "CHUNK")
MOST_CUTS = whole_limit(__name__, "MOST_CUTS")
CUT = real_limit(__name__, "CUT")
SLICE = whole_limit(__name__, "SLICE")
SAFE = whole_limit(__name__, "SAFE")

Numbers = NDArray[np.int64]
Vectors = list[tuple[int, ...]]


def longest_in_frames(
    basis: Sequence[Sequence[int]], symmetries: Sequence[Sequence[int]] = ()
) -> tuple[int, int]:
    """Return how many moves a circuit has at the most, and how many cuts were looked at.

    `basis`: of the dependencies; `symmetries`: permutations of the classes that map K onto itself.

    >>> longest_in_frames([(1, -1, 0, -1, 1, 0), (0, 1, -1, 0, -1, 1)])
    (8, 31)
    """
    longest, seen = 0, 0
    for _, cuts, vectors in _frames(basis, symmetries):
        longest = max(longest, _moves(vectors, cuts))
        seen += len(cuts)
    return longest, seen


def longest_listed(
    basis: Sequence[Sequence[int]], *, useful: Callable[[int], bool] = bool, end: float
) -> int | None:
    """Return how many moves a circuit has at the most; None where that is not found out.

    It is not where there are too many cuts, or no time for all of them, or where circuits have so
    many moves that to know it is not `useful`.

    >>> longest_listed([(1, -1, 0, -1, 1, 0), (0, 1, -1, 0, -1, 1)], end=float("inf"))
    8
    """
    count, several = len(basis[0]), len(basis)
    cuts = cuts_to_list(count, several)
    if not AVAILABLE or cuts > MOST_CUTS or now() + cuts * CUT > end:
        return None
    # Compiled: imported when first needed.
    from blowproof.verifier.exact.cuts import Cuts

    rows = [tuple(int(x) for x in vector) for vector in basis]
    longest = 1
    for alone in range(several):
        for zeros in map(frozenset, combinations(range(count), alone)):
            reduced = _zero_on(rows, zeros)
            if len(reduced) != several - alone:
                continue
            free = [c for c in range(count) if c not in zeros]
            found = Cuts.of([[vector[c] for c in free] for vector in reduced])
            if found is None:
                return None
            done = False
            while not done:
                before = found.seen
                done = found.go_on(SLICE)
                longest = max(longest, found.longest)
                spend((found.seen - before) * CUT)
                if now() > end or not useful(longest):
                    return None
    return longest


def cuts_to_list(items: int, blocks: int) -> int:
    """Return in how many ways some of the items are left out, and the others cut into blocks of two
    or more, as many fewer as are left out.

    >>> cuts_to_list(4, 2), cuts_to_list(14, 6)
    (7, 63436373)
    """
    return sum(
        comb(items, alone) * _in_twos(items - alone, blocks - alone) for alone in range(blocks)
    )


@cache
def _in_twos(items: int, blocks: int) -> int:
    """Return in how many ways items are cut into so many blocks of two or more."""
    if items < 2 * blocks or not blocks:
        return int(items == blocks == 0)
    more = _in_twos(items - 2, blocks - 1)
    return blocks * _in_twos(items - 1, blocks) + (items - 1) * more


def most_left(
    basis: Sequence[Sequence[int]],
    sets: Sequence[Collection[int]],
    symmetries: Sequence[Sequence[int]] = (),
) -> int:
    """Return how often a circuit leaves the classes of one of these sets at the most.

    `sets`: with each all that the symmetries make of it.

    >>> basis = [(1, -1, 0, -1, 1, 0), (0, 1, -1, 0, -1, 1)]
    >>> most_left(basis, [range(6)]), most_left(basis, [range(3)]), most_left(basis, [[0]])
    (8, 5, 3)
    """
    most = 0
    for free, cuts, vectors in _frames(basis, symmetries):
        for inside in {tuple(c in each for c in free) for each in sets}:
            chosen = np.array(inside)
            for signed in (vectors, -vectors):
                most = max(most, _left(signed, cuts, chosen))
    return most


def _frames(
    basis: Sequence[Sequence[int]], symmetries: Sequence[Sequence[int]]
) -> Iterator[tuple[list[int], NDArray[np.int8], Numbers]]:
    """Yield classes, cuts of them into blocks of two or more, and the k of each (0: not unique)."""
    rows = [tuple(int(x) for x in vector) for vector in basis]
    count, several = len(rows[0]), len(rows)
    for alone in range(several):
        left, blocks = count - alone, several - alone
        if 2 * blocks > left:
            continue
        every = np.array(list(_cuts(left, blocks)), dtype=np.int8)
        for zeros in _orbits(count, alone, symmetries):
            reduced = _zero_on(rows, zeros)
            if len(reduced) == blocks:
                free = [c for c in range(count) if c not in zeros]
                columns = np.ascontiguousarray(np.array(reduced, dtype=np.int64)[:, free].T)
                for start in range(0, len(every), CHUNK):
                    part = every[start : start + CHUNK]
                    yield free, part, _vectors(columns, part, blocks)


def _cuts(items: int, blocks: int) -> Iterator[list[int]]:
    """Yield the block of each item, for all cuts into blocks of two or more.

    >>> list(_cuts(4, 2))
    [[0, 0, 1, 1], [0, 1, 0, 1], [0, 1, 1, 0]]
    """
    sizes, found = [0] * blocks, [0] * items

    def go(item: int, used: int, wanted: int) -> Iterator[list[int]]:
        if wanted > items - item:
            return
        if item == items:
            yield list(found)
            return
        for block in range(min(used + 1, blocks)):
            sizes[block] += 1
            found[item] = block
            yield from go(item + 1, max(used, block + 1), wanted - (sizes[block] <= 2))
            sizes[block] -= 1

    return go(0, 0, 2 * blocks)


def _orbits(count: int, size: int, symmetries: Sequence[Sequence[int]]) -> Iterator[frozenset[int]]:
    """Yield sets of so many classes, one of those that symmetries make of it.

    >>> len(list(_orbits(4, 2, []))), len(list(_orbits(4, 2, [(1, 2, 3, 0)])))
    (6, 2)
    """
    seen: set[frozenset[int]] = set()
    for each in map(frozenset, combinations(range(count), size)):
        if each in seen:
            continue
        yield each
        seen.add(each)
        waiting = [each]
        while waiting:
            places = waiting.pop()
            for symmetry in symmetries:
                image = frozenset(symmetry[c] for c in places)
                if image not in seen:
                    seen.add(image)
                    waiting.append(image)


def _zero_on(vectors: Vectors, places: frozenset[int]) -> Vectors:
    """Return independent vectors whose combinations are those that are 0 at these places."""
    left = list(vectors)
    for place in sorted(places):
        pivot = next((v for v in left if v[place]), None)
        if pivot is None:
            continue
        left.remove(pivot)
        reduced = []
        for vector in left:
            mixed = [
                pivot[place] * x - vector[place] * y for x, y in zip(vector, pivot, strict=True)
            ]
            common = gcd(*mixed)
            reduced.append(tuple(x // common for x in mixed))
        left = reduced
    return left


def _vectors(columns: Numbers, cuts: NDArray[np.int8], blocks: int) -> Numbers:
    """Return each cut's k (0 where it is not unique)."""
    sums = [(cuts == block).astype(np.int64) @ columns for block in range(1, blocks)]
    kernels = _kernels(np.stack(sums, axis=1)) if sums else np.ones((len(cuts), 1), np.int64)
    found: Numbers = kernels @ columns.T
    common = np.gcd.reduce(found, axis=1)
    found //= np.maximum(common, 1)[:, None]
    return found


def _moves(vectors: Numbers, cuts: NDArray[np.int8]) -> int:
    """Return the most moves of these k: all classes are gone through."""
    return _left(vectors, cuts, np.ones(vectors.shape[1], dtype=np.bool_))


def _left(vectors: Numbers, cuts: NDArray[np.int8], inside: NDArray[np.bool_]) -> int:
    """Return how often classes of a set are left at the most by what goes through all of them."""
    far = 2 * int(np.abs(vectors).max(initial=0)) + 2
    outside = np.where(inside, 0, np.where(vectors > 0, -1, 1))
    order = np.argsort((3 * cuts.astype(np.int64) + outside) * far - vectors, axis=1, kind="stable")
    after = np.cumsum(np.take_along_axis(vectors, order, axis=1), axis=1)
    return int((after * inside[order]).sum(axis=1).max(initial=0))


def _kernels(rows: Numbers) -> Numbers:
    """Return a vector for each n x (n + 1) matrix that its rows times are 0; 0 if they are not
    independent.

    By fraction-free elimination: all numbers are minors, and none may be near what 64 bits hold.

    >>> _kernels(np.array([[[1, 2, 3], [0, 1, 1]], [[1, 2, 3], [2, 4, 6]]])).tolist()
    [[1, 1, -1], [0, 0, 0]]
    """
    left = rows.copy()
    count, size, width = left.shape
    every = np.arange(count)
    places = np.repeat(np.arange(width)[None], count, axis=0)
    before = np.ones(count, dtype=np.int64)
    alive = np.ones(count, dtype=np.bool_)
    for k in range(size):
        sizes = np.abs(left[:, k:, k:]).reshape(count, -1)
        if int(sizes.max(initial=0)) >= SAFE:
            raise OverflowError("determinants of blocks are too large to be listed")
        best = sizes.argmax(axis=1)
        row, column = k + best // (width - k), k + best % (width - k)
        held = left[every, row].copy()
        left[every, row] = left[:, k]
        left[:, k] = held
        swapped = left[every, :, column].copy()
        left[every, :, column] = left[:, :, k]
        left[:, :, k] = swapped
        moved = places[every, column].copy()
        places[every, column] = places[:, k]
        places[:, k] = moved
        pivot = left[:, k, k].copy()
        alive &= pivot != 0
        others = np.arange(size) != k
        factors = left[:, others, k][:, :, None]
        left[:, others] = (
            pivot[:, None, None] * left[:, others] - factors * left[:, k][:, None]
        ) // (before[:, None, None])
        before = np.where(pivot == 0, 1, pivot)
    found = np.zeros((count, width), dtype=np.int64)
    found[every, places[:, -1]] = -before
    found[every[:, None], places[:, :-1]] = left[:, :, -1]
    return np.where(alive[:, None], -found, 0)
