"""Sets of record numbers, and the part of a data file that holds them.

Records are numbered from 1 in the order of the file, as in the clauses of a policy.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from blowproof.models.base.errors import QueryError
from blowproof.models.base.kept import cached_property
from blowproof.models.data.dataset import Dataset
from blowproof.models.data.tabular import Table

__all__ = ["Part", "Records"]

_RANGE = re.compile(r"(\d{1,18})(?:-(\d{1,18}))?")


@dataclass(frozen=True)
class Records:
    """Numbers of records: disjoint ranges in order, both ends included.

    >>> Records.read("7, 1-3,4").text
    '1-4,7'
    """

    ranges: tuple[tuple[int, int], ...]

    @staticmethod
    def read(text: str) -> Records:
        """Return the numbers in a text like "1-100,205", or refuse it."""
        found = []
        for piece in text.split(","):
            match = _RANGE.fullmatch(piece.strip())
            low, high = (int(match[1]), int(match[2] or match[1])) if match else (0, 0)
            if not 1 <= low <= high:
                raise QueryError(f"{text!r} names no records\n  try: 1-100 or 1-100,205")
            found.append((low, high))
        return Records.of(found)

    @staticmethod
    def of(ranges: Iterable[tuple[int, int]]) -> Records:
        """Return the union of ranges."""
        joined: list[tuple[int, int]] = []
        for low, high in sorted(ranges):
            if joined and low <= joined[-1][1] + 1:
                joined[-1] = (joined[-1][0], max(high, joined[-1][1]))
            else:
                joined.append((low, high))
        return Records(tuple(joined))

    @property
    def text(self) -> str:
        """The numbers as `read` takes them."""
        return ",".join(f"{a}-{b}" if a < b else str(a) for a, b in self.ranges)

    @property
    def count(self) -> int:
        """How many records there are.

        >>> Records.read("1-3,7").count
        4
        """
        return sum(high - low + 1 for low, high in self.ranges)

    def __contains__(self, record: int) -> bool:
        return any(low <= record <= high for low, high in self.ranges)

    def meets(self, other: Records) -> bool:
        """Whether some record is in both."""
        return any(a <= d and c <= b for a, b in self.ranges for c, d in other.ranges)


class Part(Dataset):
    """Some records of a data file; `everything` is the whole of it."""

    def __init__(self, everything: Dataset, records: Records) -> None:
        super().__init__(everything.path, everything.domain)
        self.everything = everything
        self.records_held = records

    @cached_property
    def _table(self) -> Table:
        columns = [self._file.column(name, kind) for name, kind in self.domain.attributes]
        self._file.encode(columns)
        inside = " OR ".join(
            f"rowid BETWEEN {low - 1} AND {high - 1}" for low, high in self.records_held.ranges
        )
        size = int(self._file.rows("SELECT count(*) FROM encoded")[0][0])
        last = self.records_held.ranges[-1][1]
        if last > size:
            raise QueryError(
                f"{self.path}: there is no record {last}: nothing was released and nothing spent\n"
                "  try: records that the file has; its first one is 1"
            )
        self._file.rows(
            "CREATE OR REPLACE TEMP TABLE encoded AS "
            f"SELECT * FROM encoded WHERE {inside} ORDER BY rowid"
        )
        return self._file
