"""What counting needs of data, wherever they lie."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from math import prod

from blowproof.models.base.closing import Closing
from blowproof.models.base.errors import BudgetError
from blowproof.models.data.encoding import among
from blowproof.models.data.tabular import rank
from blowproof.models.domain.domain import LISTING_LIMIT, Domain
from blowproof.models.domain.regions import Area, Box, Point, Positions

__all__ = ["Counted", "bounded", "within"]


class Counted(Closing):
    """Records, each a value of the domain, that are counted and never listed unless asked for.

    A value outside the domain, or a missing one, is a DataError that names the row and the value.
    """

    domain: Domain
    name: str
    """What the data are called in a message."""

    @property
    @abstractmethod
    def size(self) -> int:
        """How many records there are."""

    @abstractmethod
    def counts(self, areas: Sequence[Area]) -> list[int]:
        """Return how many records lie in each area."""

    @abstractmethod
    def sparse_marginal(
        self, axes: tuple[int, ...], *, limit: int = LISTING_LIMIT
    ) -> dict[Point, int]:
        """Return the counts that are not 0, by the positions on these axes."""

    @abstractmethod
    def records(self, limit: int = LISTING_LIMIT) -> list[Point]:
        """Return every record in order."""

    def count(self, area: Area) -> int:
        """Return how many records lie in the area."""
        return self.counts([area])[0]

    def marginal(self, axes: tuple[int, ...]) -> list[int]:
        """Return the counts of every combination of these attributes, row-major, zeros included."""
        sizes = [self.domain.attribute(axis).size for axis in axes]
        size = prod(sizes)
        if size > LISTING_LIMIT:
            raise BudgetError(f"the marginal has {size} cells; listing stops at {LISTING_LIMIT}")
        cells = [0] * size
        for cell, count in self.sparse_marginal(axes).items():
            cells[rank(cell, sizes)] = count
        return cells

    def histogram(self, *, limit: int = LISTING_LIMIT) -> dict[Point, int]:
        """Return how many records hold each value, for the values that occur."""
        return self.sparse_marginal(tuple(range(len(self.domain))), limit=limit)


def within(area: Area, whole: Box) -> str:
    """Return the SQL condition "the record lies in the area"; boxes may overlap."""
    return " OR ".join(f"({_inside(box, whole)})" for box in area.boxes) or "FALSE"


def bounded(area: Area, full: Sequence[Positions]) -> set[int]:
    """Return the axes on which some box of the area leaves something out."""
    return {at for box in area.boxes for at in _bounded(box, full)}


def _bounded(box: Box, full: Sequence[Positions]) -> list[int]:
    return [axis for axis, side in enumerate(box.sides) if side != full[axis]]


def _inside(box: Box, whole: Box) -> str:
    sides = [among(f"p{axis}", box.sides[axis]) for axis in _bounded(box, whole.sides)]
    return " AND ".join(sides) or "TRUE"
