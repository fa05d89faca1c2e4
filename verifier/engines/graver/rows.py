"""Vectors of the lifting as rows of arrays: appending, and finding equal ones.

Equal rows are found by 64-bit hash values that are linear in the row. Whatever they say is checked
on the rows themselves: a collision is an error, met with other factors, never a lost vector.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from blowproof.verifier.engines.graver.compiled import hash_values, sign_sets, turn_upright

__all__ = ["CollisionError", "Keys", "Rows", "Store"]

Rows = NDArray[np.int16]


class CollisionError(Exception):
    """Two different vectors have the same hash value."""


@dataclass
class Store:
    """Rows that are appended to, contiguous at any time, and their signs (see `sign_sets`)."""

    rows: Rows
    signs: NDArray[np.uint64]
    count: int = 0

    @classmethod
    def empty(cls, width: int) -> Store:
        """A store of rows of this width."""
        return cls(
            np.zeros((64, width), dtype=np.int16),
            np.zeros((64, 2, (width + 62) // 64), dtype=np.uint64),
        )

    def append(self, rows: Rows) -> None:
        """Append rows; room is made for twice as many when there is none left."""
        end = self.count + len(rows)
        if end > len(self.rows):
            size = max(end, 2 * len(self.rows))
            self.rows = np.resize(self.rows, (size, self.rows.shape[1]))
            self.signs = np.resize(self.signs, (size, *self.signs.shape[1:]))
        self.rows[self.count : end] = rows
        self.signs[self.count : end] = sign_sets(rows, self.rows.shape[1] - 1)
        self.count = end


class Keys:
    """One choice of hash values."""

    def __init__(self, width: int, seed: int) -> None:
        generator = np.random.default_rng(seed)
        self.factors = generator.integers(0, 1 << 64, width, dtype=np.uint64)

    def upright(self, rows: Rows) -> Rows:
        """Of z and -z the one with last > 0, or, where last = 0, with the smaller hash value."""
        result = rows.copy()
        if not turn_upright(result, self.factors):
            raise CollisionError
        return result

    def new(self, rows: Rows, known: Rows) -> Rows:
        """The rows that are not known, each once."""
        if not len(rows):
            return rows
        hashes = hash_values(rows, self.factors)
        _, first, inverse = np.unique(hashes, return_index=True, return_inverse=True)
        distinct = rows[first]
        if (distinct[inverse] != rows).any():
            raise CollisionError
        return distinct[self.places(distinct, known) < 0]

    def places(self, rows: Rows, known: Rows) -> NDArray[np.int64]:
        """Where each row stands among the known ones, -1 where it does not."""
        if not len(known):
            return np.full(len(rows), -1, dtype=np.int64)
        wanted, hashes = hash_values(rows, self.factors), hash_values(known, self.factors)
        order = np.argsort(hashes)
        places = np.searchsorted(hashes, wanted, sorter=order)
        places[places == len(hashes)] = 0
        found: NDArray[np.int64] = order[places].astype(np.int64)
        found[hashes[found] != wanted] = -1
        if (known[found[found >= 0]] != rows[found >= 0]).any():
            raise CollisionError
        return found
