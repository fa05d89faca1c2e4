"""A partition whose cells are listed as regions: two values are joined iff one cell holds both."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from heapq import merge
from itertools import combinations, islice, product
from math import prod

from blowproof.models.base.errors import PolicyError
from blowproof.models.base.numbers import Exact
from blowproof.models.domain.domain import Domain
from blowproof.models.domain.overlap import sharing
from blowproof.models.domain.regions import Area, Box, Point, rows
from blowproof.models.secrets.graph import (
    LISTING_LIMIT,
    Components,
    Pair,
    PartitionGraph,
    distinct_pair,
    refuse_above,
)
from blowproof.models.secrets.spelling import show_record
from blowproof.models.secrets.spread import diameter

__all__ = ["CellGraph", "check_partition"]


@dataclass(frozen=True)
class CellGraph(PartitionGraph):
    """Listed cells, each kept as disjoint boxes; a cell's key is its place in the list."""

    domain: Domain
    areas: tuple[Area, ...]
    labels: tuple[str, ...]

    @property
    def complete(self) -> bool:
        """Whether there is only one cell."""
        return len(self.areas) == 1

    @property
    def edge_count(self) -> int:
        """How many edges there are: each cell is a clique."""
        sizes = (_size(area) for area in self.areas)
        return sum(size * (size - 1) // 2 for size in sizes)

    def is_edge(self, x: Point, y: Point) -> bool:
        """Whether x != y lie in the same cell."""
        return x != y and self.cell_of(x) == self.cell_of(y)

    def edge_between(self, a: Box, b: Box) -> Pair | None:
        """Return distinct values of a and b from one cell, or None."""
        for area in self.areas:
            for first, second in product(area.boxes, repeat=2):
                pair = distinct_pair(a & first, b & second)
                if pair is not None:
                    return pair
        return None

    def plain_between(self, a: Box, b: Box) -> Pair | None:
        """Return values of a and b from different cells, or None.

        Two cells met by each box are enough to look at: if any pair differs, one of these does.
        """
        firsts, seconds = islice(self._met(a), 2), list(islice(self._met(b), 2))
        for (cell, x), (other, y) in product(firsts, seconds):
            if cell != other:
                return x, y
        return None

    def _met(self, box: Box) -> Iterator[tuple[int, Point]]:
        """Yield each cell that the box meets, with a value of both."""
        for cell, area in enumerate(self.areas):
            shared = next((part for piece in area.boxes if (part := piece & box)), None)
            if shared is not None:
                yield cell, shared.nth(0)

    def distance(self, x: Point, y: Point) -> int | None:
        """Return 0, 1 (same cell) or None: each cell is a clique."""
        if x == y:
            return 0
        return 1 if self.is_edge(x, y) else None

    def components(self) -> Components:
        """Return the cells: each is a clique, and no edge leaves one."""

        def component_of(point: Point) -> Point:
            return min(box.nth(0) for box in self.cell_area(self.cell_of(point)).boxes)

        def area_of(key: Point) -> Area:
            return self.cell_area(self.cell_of(key))

        return Components(len(self.areas), component_of, area_of)

    def neighbours(self, x: Point) -> Iterator[Point]:
        """Yield the other values of the cell of x, row-major."""
        return (y for y in _rows(self.cell_area(self.cell_of(x))) if y != x)

    def degree(self, x: Point) -> int:
        """Return the size of the cell of x, less one."""
        return _size(self.cell_area(self.cell_of(x))) - 1

    def edges(self, *, limit: int = LISTING_LIMIT) -> Iterator[Pair]:
        """Yield the edges (x, y), x < y, in order."""
        refuse_above(limit, self.edge_count, "edges")
        return merge(*(combinations(_rows(area), 2) for area in self.areas if _size(area) > 1))

    @property
    def cell_count(self) -> int:
        """How many cells there are."""
        return len(self.areas)

    def cell_of(self, point: Point) -> int:
        """Return the place of the cell that holds the point."""
        return next(cell for cell, area in enumerate(self.areas) if point in area)

    def cell_area(self, key: int) -> Area:
        """Return the values of a cell."""
        return self.areas[key]

    def cell_label(self, key: int) -> str:
        """Return the cell as it was written."""
        return self.labels[key]

    def reach(self, axis: int) -> int:
        """Return how far apart two positions of one cell are at the most."""
        ends = [[run for box in boxes for run in box.sides[axis].runs] for boxes in self._boxes()]
        return max(max(high for _, high in runs) - 1 - min(low for low, _ in runs) for runs in ends)

    def gaps(self, axis: int) -> Iterable[tuple[int, int]]:
        """Yield, for each two runs of positions that one cell holds, the distances between them."""
        for boxes in self._boxes():
            runs = [run for box in boxes for run in box.sides[axis].runs]
            gaps = ((max(0, c - b + 1), d - 1 - a) for (a, b), (c, d) in product(runs, repeat=2))
            yield from ((low, high) for low, high in gaps if high >= low)

    def stretch(self, axes: Sequence[int]) -> Exact:
        """Return the largest l1 diameter of a cell on some axes."""
        return max(diameter(self.domain, boxes, axes) for boxes in self._boxes())

    def _boxes(self) -> Iterator[tuple[Box, ...]]:
        """Yield each cell as disjoint boxes that hold something."""
        return (tuple(box for box in area.boxes if box) for area in self.areas)


def check_partition(domain: Domain, areas: Sequence[Area], labels: Sequence[str]) -> None:
    """Refuse cells that share a value or miss one, naming it; areas hold disjoint boxes."""
    owned = [(cell, box) for cell, area in enumerate(areas) for box in area.boxes]
    shared = sharing([box for _, box in owned])
    if shared is not None:
        (i, a), (j, b) = (owned[place] for place in shared)
        raise PolicyError(
            f"the value {show_record(domain, (a & b).nth(0))} lies in two cells:"
            f" cells[{i}] = {labels[i]} and cells[{j}] = {labels[j]}",
            key=f"cells[{j}]",
            hint="make the cells disjoint",
        )
    # Disjoint cells cover the domain iff their sizes add up.
    if sum(_size(area) for area in areas) < domain.size:
        missed = _first_missed(domain.whole, [box for area in areas for box in area.boxes])
        raise PolicyError(
            f"the value {show_record(domain, missed)} lies in no cell",
            key="cells",
            hint="add a cell for it; the cells must cover the domain",
        )


def _first_missed(whole: Box, boxes: list[Box]) -> Point:
    """Return the first value outside disjoint boxes that do not cover the domain.

    Axis by axis: the first position beyond which the boxes hold too few values. Which boxes hold a
    position changes only at the ends of their runs, so only those positions are tried.
    """
    point: list[int] = []
    for axis, side in enumerate(whole.sides):
        changes = {0: 0}
        for box in boxes:
            width = _room(box, axis)
            for low, high in box.sides[axis].runs:
                changes[low] = changes.get(low, 0) + width
                changes[high] = changes.get(high, 0) - width
        room, held = _room(whole, axis), 0
        for position in sorted(changes):
            held += changes[position]
            if held < room and position < side.size:
                point.append(position)
                boxes = [box for box in boxes if position in box.sides[axis]]
                break
    return tuple(point)


def _room(box: Box, axis: int) -> int:
    """Return how many values of a box share one position on this axis and those on earlier ones."""
    return prod(side.size for side in box.sides[axis + 1 :])


def _size(area: Area) -> int:
    """Return the size of an area whose boxes are known to be disjoint."""
    return sum(box.size for box in area.boxes)


def _rows(area: Area) -> Iterator[Point]:
    return merge(*(rows(box.sides) for box in area.boxes))
