"""Sigma, the set of sub-sums of w, compiled: a hash set of packed sums with open addressing.

Sums leave in the reverse of the order in which they came, which linear probing allows.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from blowproof.verifier.engines.irreducibles.arrays.state import (
    DEPTH,
    EMPTY,
    MIXER,
    SHORT,
    Fixed,
    State,
)
from blowproof.verifier.exact.compiled import compiled

__all__ = ["add_sums", "contains", "rehash"]


@compiled
def rehash(state: State) -> None:
    """Put the sums, oldest first, into an empty table."""
    for slot in range(len(state.table)):
        state.table[slot] = EMPTY
    for i in range(state.sizes[state.control[DEPTH]]):
        state.slots[i] = _insert(state.table, state.sums[i])


@compiled
def add_sums(problem: Fixed, state: State, d: int, depth: int) -> None:
    """Extend Sigma by d; if the sums do not fit, leave it: a subset of Sigma drops less, safely.

    Within a box, only sums in it are kept: in a sum, and in `edge` less it, `guard` is set then.
    """
    size = state.sizes[depth - 1]
    state.sizes[depth] = size
    state.inexact[depth] = state.inexact[depth - 1]
    fits = 2 * size + 1 <= len(state.sums)
    for j in range(len(state.total)):
        fits = fits and max(state.spread[0, j], state.spread[1, j]) <= problem.reach
    if not fits:
        state.inexact[depth] = 1
        state.control[SHORT] = 1
        return
    key, edge, guard = problem.keys[d], problem.edge, problem.guard
    for i in range(-1, state.sizes[depth - 1]):
        moved = key if i < 0 else state.sums[i] + key
        if (edge + moved) & (edge - moved) & guard != guard:
            continue
        slot = _insert(state.table, moved)
        if slot >= 0:
            state.sums[size] = moved
            state.slots[size] = slot
            size += 1
    state.sizes[depth] = size


@compiled
def _insert(table: NDArray[np.int64], key: int) -> int:
    """The slot that now holds the key; -1 if one did already."""
    mask = len(table) - 1
    slot = ((key * MIXER) >> 20) & mask
    while table[slot] != EMPTY:
        if table[slot] == key:
            return -1
        slot = (slot + 1) & mask
    table[slot] = key
    return slot


@compiled
def contains(table: NDArray[np.int64], key: int) -> bool:
    """Whether the key is in the table."""
    mask = len(table) - 1
    slot = ((key * MIXER) >> 20) & mask
    while table[slot] != EMPTY:
        if table[slot] == key:
            return True
        slot = (slot + 1) & mask
    return False
