"""Counts that stand in for a data file: every query can be answered from them.

Noisy ones, when a query follows from what a mechanism released; made-up ones, in rehearsals.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from blowproof.mechanisms.answers.masks import mask
from blowproof.mechanisms.answers.true_answers import true_answers
from blowproof.mechanisms.answers.vectors import Estimate, cells_of, largest, roomy, whole
from blowproof.models import Area, BoundQuery, DataError, Domain, Point, Policy
from blowproof.models.data.dataset import Dataset

__all__ = ["NoisyTable", "answered_from"]

MOST_VALUES = 2_000_000
LONGEST = 2**62
"""Smaller numbers have room in 64 bits."""
FINE = 2**20


class NoisyTable(Dataset):
    """Noisy counts in place of a data file: every query can be asked of them, exactly."""

    def __init__(self, counts: NDArray[Any], domain: Domain) -> None:
        # No file is behind these counts: what the base class opens is never used.
        self.path, self.domain = Path("noisy counts"), domain
        (held,) = roomy(counts.size * largest(counts), counts)  # room for every sum of them
        self._counts = held.reshape([kind.size for _, kind in domain.attributes])

    def close(self) -> None:
        """Do nothing: there is no file."""

    @property
    def size(self) -> int:
        """The sum of all counts."""
        return int(self._counts.sum())

    def counts(self, areas: Sequence[Area]) -> list[int]:
        """Return the noisy count of each area."""
        return [self._count(area) for area in areas]

    def _count(self, area: Area) -> int:
        return int(self._counts[mask(area, self.domain)].sum())

    def _marginal(self, axes: tuple[int, ...]) -> NDArray[Any]:
        others = tuple(axis for axis in range(self._counts.ndim) if axis not in axes)
        table: NDArray[Any] = self._counts.sum(axis=others)
        return table.transpose(np.argsort(np.argsort(axes)))

    def dense_marginal(self, axes: tuple[int, ...]) -> NDArray[Any]:
        """Return the noisy counts of a marginal, row-major."""
        return self._marginal(axes).ravel()

    def sparse_marginal(
        self, axes: tuple[int, ...], *, limit: int = MOST_VALUES
    ) -> dict[Point, int]:
        """Return the noisy counts of a marginal that are not 0."""
        table = self._marginal(axes)
        held = np.nonzero(table)
        places = zip(*(place.tolist() for place in held), strict=True)
        return dict(zip(places, table[held].tolist(), strict=True))

    def records(self, limit: int = 0) -> list[Point]:
        """Refuse: noisy counts are no records."""
        raise DataError("noisy counts have no single records, so no weights can be put on them")


def answered_from(table: NDArray[np.float64], query: BoundQuery, policy: Policy) -> Estimate:
    """Return the answers to the query on estimated counts of all values, which are no whole ones.

    Counts are taken to a millionth, for queries are answered in whole numbers.
    """
    if query.separates:
        return Estimate(table, cells_of(policy.domain, tuple(range(len(policy.domain)))))
    found = true_answers(query, policy, NoisyTable(_in_parts(table), policy.domain))
    return Estimate(found.units.astype(np.float64) * float(found.grid) / FINE, found.names)


def _in_parts(table: NDArray[np.float64]) -> NDArray[Any]:
    """Return estimates in whole parts of 1 / FINE, the even one where two are as near."""
    parts = FINE * table
    if abs(parts).max(initial=0) < LONGEST:
        return np.rint(parts).astype(np.int64)
    return whole([round(part) for part in parts.tolist()])
