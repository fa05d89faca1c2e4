"""What the compiled search reads and writes: arrays only, so that it can stop and go on at will."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from blowproof.verifier.limits.limit import whole_limit

# Answers of `advance`.
DONE, PAUSED, FOUND, CROWDED = 0, 1, 2, 3

# Positions in State.control.
DEPTH, NODES, BEST, FILLED, LARGEST, TABLES, EAGER, FULL, SHORT = 0, 1, 2, 3, 4, 5, 6, 7, 8
# FULL: sums may not grow any more. SHORT: some sums were left out.

EMPTY = -(2**63)  # no packed sum
MIXER = -7046029254386353131  # 2^64 / golden ratio, odd
ONE = np.uint64(1)
LOW = np.uint64(63)
BLOCK = whole_limit(__name__, "BLOCK")
PENALTY = 2
KEY_BITS = whole_limit(__name__, "KEY_BITS")
MARKED, EXCLUDED = 1, 2  # bits in a trace: covered from then on; covered multisets were looked up


def widest_box(vectors: NDArray[np.int64]) -> NDArray[np.int64]:
    """How far sums of parts may be kept in each coordinate: a field for each in one number."""
    half = 1 << max(1, KEY_BITS // vectors.shape[1]) - 1
    widest: NDArray[np.int64] = (half - 1 - np.abs(vectors).max(axis=0)) // 2
    return widest


class Fixed(NamedTuple):
    """What does not change: n effects of rank r, m functionals, g symmetries, W words of n bits."""

    vectors: NDArray[np.int64]  # n x r
    keys: NDArray[np.int64]  # n: packed vectors; packing is additive, and injective within `reach`
    weights: NDArray[np.int64]  # n
    values: NDArray[np.int32]  # n x m: y.d
    below: NDArray[np.uint64]  # W x m: the d with y.d < 0
    above: NDArray[np.uint64]  # W x m: the d with y.d > 0
    form: NDArray[np.float64]  # n x n: an invariant inner product
    permutations: NDArray[np.int32]  # g x n
    reach: int
    edge: int  # sums are kept within a box: see `add_sums`
    guard: int  # 0 without a box


class State(NamedTuple):
    """What changes. Most arrays are indexed by depth in the tree, which is the size of w."""

    control: NDArray[np.int64]
    available: NDArray[np.uint64]  # effects neither excluded nor dropped
    todo: NDArray[np.uint64]  # branches not yet taken
    chosen: NDArray[np.int64]  # w, in the order of choice, from index 1
    weight: NDArray[np.int64]
    sizes: NDArray[np.int64]  # of Sigma
    entered: NDArray[np.int64]  # NODES when this node was entered
    inexact: NDArray[np.uint8]  # whether Sigma lacks sub-sums of w
    times: NDArray[np.int64]  # n: multiplicity in w
    total: NDArray[np.int64]  # r: s, the sum of w
    spread: NDArray[np.int64]  # 2 x r: what the positive, the negative coordinates of w add up to
    products: NDArray[np.int64]  # m: y.s
    inner: NDArray[np.float64]  # n: form(d, s)
    sums: NDArray[np.int64]  # Sigma as a list, and
    slots: NDArray[np.int64]  # the place of each sum in
    table: NDArray[np.int64]  # the hash table
    pairs: NDArray[np.uint64]  # n x W: covered multisets {a, b}, as a set of b for each a
    triples: NDArray[np.uint64]  # n x n x W
    quadruples: NDArray[np.uint64]  # n x n x n x W, the three indices rising
    found: NDArray[np.int64]  # irreducibles: the size (negative if inexact), then the members
    fresh: NDArray[np.uint64]  # W: the available effects of a node in the making
    scratch: NDArray[np.int64]  # 2 x BLOCK
    trace: NDArray[np.int32]  # nodes x 4 (or 0): branch, +-(functional + 1) or 0, marks, depth
