"""A domain collapsed by areas: values that lie in the same areas form one class.

The axes are walked one after the other. On each axis, the borders of the boxes cut the positions
into runs, and runs that the same boxes contain are one branch. A node of the resulting diagram is
(axis, the boxes that are still alive); equal nodes are shared. The cost depends on how many
different sets of boxes come together, never on how many values the domain has, and the sizes are
exact big integers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice

from blowproof.models.domain import Domain
from blowproof.models.errors import BudgetError
from blowproof.models.regions import Area, Box, Point, Positions

__all__ = ["ValueClass", "collapse", "locator"]


@dataclass(frozen=True, slots=True)
class ValueClass:
    """The values that lie in exactly the areas `inside`.

    `size` is exact; `boxes()` are disjoint and cover the class; `take(k)` hands out values.
    """

    inside: frozenset[int]
    size: int
    _diagram: _Diagram = field(repr=False, compare=False)

    def boxes(self) -> Iterator[Box]:
        """Yield disjoint boxes that cover the class."""
        wanted = sum(1 << number for number in self.inside)
        for sides in self._diagram.paths(0, self._diagram.everything, wanted):
            yield Box(sides)

    def take(self, count: int) -> tuple[Point, ...]:
        """Return the first `count` values of the class (fewer where it has fewer)."""
        points = (point for box in self.boxes() for point in box.points())
        return tuple(islice(points, count))

    def __contains__(self, point: Point) -> bool:
        return self._diagram.walk(point) == sum(1 << number for number in self.inside)


def collapse(
    domain: Domain, areas: Sequence[Area], *, limit: int | None = None
) -> tuple[ValueClass, ...]:
    """Return the non-empty classes of the domain, those in fewer areas first.

    There may be exponentially many (thirty known marginals of two cells): more than `limit` of them
    are a BudgetError, at once.

    >>> from blowproof.models import Domain, Integers, Region, Between
    >>> d = Domain(age=Integers(0, 10**12))
    >>> areas = [d.area(Region(age=Between(0, 9))), d.area(Region(age=Between(5, 14)))]
    >>> [(sorted(c.inside), c.size) for c in collapse(d, areas)]
    [([], 999999999986), ([0], 5), ([1], 5), ([0, 1], 5)]
    >>> collapse(d, areas)[3].take(2)
    ((5,), (6,))
    """
    diagram = _Diagram(domain, areas, limit)
    sizes = diagram.sizes(0, diagram.everything)
    classes = [ValueClass(frozenset(_bits(inside)), n, diagram) for inside, n in sizes.items()]
    return tuple(sorted(classes, key=lambda item: (len(item.inside), sorted(item.inside))))


def locator(classes: Sequence[ValueClass]) -> Callable[[Point], int | None]:
    """Return what tells which of the classes of one domain a point lies in (None: in no one).

    >>> from blowproof.models import Domain, Integers, Region, Between
    >>> d = Domain(age=Integers(0, 99))
    >>> classes = collapse(d, [d.area(Region(age=Between(0, 9)))])
    >>> locator(classes)((5,)), locator(classes)((50,)), locator(classes[:1])((5,))
    (1, 0, None)
    """
    masks = {sum(1 << n for n in item.inside): place for place, item in enumerate(classes)}

    def place_of(point: Point) -> int | None:
        return masks.get(classes[0]._diagram.walk(point)) if classes else None

    return place_of


class _Diagram:
    """The shared diagram behind the classes; a node is (axis, bit set of boxes still alive).

    Sets of areas are bit sets here too.
    """

    def __init__(self, domain: Domain, areas: Sequence[Area], limit: int | None = None) -> None:
        self._limit = limit
        owned = [(owner, box) for owner, area in enumerate(areas) for box in area.boxes if box]
        self._owners = [owner for owner, _ in owned]
        self.everything = (1 << len(owned)) - 1
        self._axes = [
            _branches(side, [box.sides[axis] for _, box in owned])
            for axis, side in enumerate(domain.whole.sides)
        ]
        self._children: dict[tuple[int, int], tuple[tuple[int, Positions], ...]] = {}
        self._sizes: dict[tuple[int, int], dict[int, int]] = {}
        self._leaves: dict[int, int] = {}

    def leaf(self, alive: int) -> int:
        """Return the areas that own the boxes still alive."""
        found = self._leaves.get(alive)
        if found is None:
            found = 0
            for bit in _bits(alive):
                found |= 1 << self._owners[bit]
            self._leaves[alive] = found
        return found

    def children(self, axis: int, alive: int) -> tuple[tuple[int, Positions], ...]:
        """Return the branches of a node: (boxes alive after this axis, the positions)."""
        found = self._children.get((axis, alive))
        if found is None:
            merged: dict[int, list[tuple[int, int]]] = {}
            for mask, runs in self._axes[axis]:
                merged.setdefault(alive & mask, []).extend(runs)
            found = tuple((mask, Positions.joined(runs)) for mask, runs in merged.items())
            self._children[axis, alive] = found
        return found

    def sizes(self, axis: int, alive: int) -> dict[int, int]:
        """Return how many values below a node end in each class."""
        if axis == len(self._axes):
            return {self.leaf(alive): 1}
        found = self._sizes.get((axis, alive))
        if found is None:
            found = {}
            for mask, positions in self.children(axis, alive):
                width = positions.size
                for inside, size in self.sizes(axis + 1, mask).items():
                    found[inside] = found.get(inside, 0) + width * size
                if self._limit is not None and len(found) > self._limit:
                    raise BudgetError(
                        f"the facts cut the domain into more than {self._limit} classes of values"
                        "\n  try: fewer facts"
                    )
            self._sizes[axis, alive] = found
        return found

    def paths(self, axis: int, alive: int, inside: int) -> Iterator[tuple[Positions, ...]]:
        """Yield the paths from a node to a class, as the positions taken on each axis."""
        if axis == len(self._axes):
            yield ()
            return
        for mask, positions in self.children(axis, alive):
            if inside in self.sizes(axis + 1, mask):
                for rest in self.paths(axis + 1, mask, inside):
                    yield (positions, *rest)

    def walk(self, point: Point) -> int:
        """Return the areas that hold a point."""
        alive = self.everything
        for axis, place in enumerate(point):
            alive = next(m for m, positions in self.children(axis, alive) if place in positions)
        return self.leaf(alive)


def _branches(
    side: Positions, cuts: Sequence[Positions]
) -> list[tuple[int, list[tuple[int, int]]]]:
    """Cut an axis at the borders of the boxes: (bit set of boxes, the runs they share)."""
    toggles: dict[int, int] = {0: 0}
    for bit, cut in enumerate(cuts):
        for low, high in cut.runs:
            toggles[low] = toggles.get(low, 0) ^ (1 << bit)
            toggles[high] = toggles.get(high, 0) ^ (1 << bit)
    end = side.runs[-1][1]
    borders = sorted(place for place in toggles if place < end)
    branches: dict[int, list[tuple[int, int]]] = {}
    mask = 0
    for low, high in zip(borders, [*borders[1:], end], strict=True):
        mask ^= toggles[low]
        branches.setdefault(mask, []).append((low, high))
    return list(branches.items())


def _bits(mask: int) -> Iterator[int]:
    while mask:
        low = mask & -mask
        yield low.bit_length() - 1
        mask ^= low
