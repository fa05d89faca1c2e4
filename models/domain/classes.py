"""A domain collapsed by areas: values that lie in the same areas form one class.

How they are found is in `class_diagram`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice

from blowproof.models.domain.class_diagram import Diagram, members
from blowproof.models.domain.domain import Domain
from blowproof.models.domain.lookup import Lookup
from blowproof.models.domain.regions import Area, Box, Point, Positions

__all__ = ["ValueClass", "classes_of", "collapse", "firsts", "locator"]


@dataclass(frozen=True, slots=True)
class ValueClass:
    """The values that lie in exactly the areas `inside`.

    `size` is exact; `boxes()` are disjoint and cover the class; `take(k)` hands out values.
    """

    inside: frozenset[int]
    size: int
    _diagram: Diagram | _Listed = field(repr=False, compare=False)

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
    domain: Domain,
    areas: Sequence[Area],
    *,
    limit: int | None = None,
    deadline: float | None = None,
    without: Area | None = None,
) -> tuple[ValueClass, ...]:
    """Return the non-empty classes of the domain, those in fewer areas first.

    Values of the area `without` are left out. There may be exponentially many (thirty known
    marginals of two cells), and the diagram may be large where they are few. A BudgetError says
    that there are more than `limit`, that the diagram outgrew its budget, or that the deadline (of
    `now`) passed.

    >>> from blowproof.models import Domain, Integers, Region, Between
    >>> d = Domain(age=Integers(0, 10**12))
    >>> areas = [d.area(Region(age=Between(0, 9))), d.area(Region(age=Between(5, 14)))]
    >>> [(sorted(c.inside), c.size) for c in collapse(d, areas)]
    [([], 999999999986), ([0], 5), ([1], 5), ([0, 1], 5)]
    >>> collapse(d, areas)[3].take(2)
    ((5,), (6,))
    """
    diagram = Diagram(domain, areas, limit=limit, deadline=deadline, without=without)
    sizes = diagram.sizes(0, diagram.everything)
    classes = [ValueClass(frozenset(members(inside)), n, diagram) for inside, n in sizes.items()]
    return tuple(sorted(classes, key=lambda item: (len(item.inside), sorted(item.inside))))


def classes_of(
    domain: Domain, areas: Sequence[Area], points: Iterable[Point], *, without: Area | None = None
) -> tuple[ValueClass, ...]:
    """Return the classes that some values lie in, each with these values alone.

    For domains that fall into too many classes to find them all.

    >>> from blowproof.models import Domain, Integers, Region, Between
    >>> d = Domain(age=Integers(0, 99))
    >>> [c.take(9) for c in classes_of(d, [d.area(Region(age=Between(0, 9)))], [(5,), (50,), (7,)])]
    [((50,),), ((5,), (7,))]
    """
    listed = _Listed(domain, areas, without)
    for point in dict.fromkeys(points):
        listed.add(point)
    classes = [
        ValueClass(frozenset(members(inside)), len(found), listed)
        for inside, found in listed.points.items()
    ]
    return tuple(sorted(classes, key=lambda item: (len(item.inside), sorted(item.inside))))


class _Listed:
    """In the place of a diagram: a few values, by the areas that they lie in."""

    everything = 0

    def __init__(self, domain: Domain, areas: Sequence[Area], without: Area | None) -> None:
        every = areas if without is None else [*areas, without]
        self._lookup, self._possible = Lookup(domain, every), len(areas)
        self.points: dict[int, list[Point]] = {}

    def add(self, point: Point) -> None:
        """Take a value in, if it is possible."""
        inside = self.walk(point)
        if not inside >> self._possible:
            self.points.setdefault(inside, []).append(point)

    def walk(self, point: Point) -> int:
        """Return the areas that hold a point."""
        return self._lookup.areas(point)

    def paths(self, axis: int, alive: int, inside: int) -> Iterator[tuple[Positions, ...]]:
        """Yield the values of a class, as boxes' sides."""
        for point in self.points[inside]:
            yield Box.at(point).sides


def firsts(classes: Sequence[ValueClass], count: int) -> list[tuple[Point, ...]]:
    """Return `count` values of each class of one domain (fewer where it has fewer), all at once.

    >>> from blowproof.models import Domain, Integers, Region, Between
    >>> d = Domain(age=Integers(0, 99))
    >>> firsts(collapse(d, [d.area(Region(age=Between(0, 0)))]), 2)
    [((1,), (2,)), ((0,),)]
    """
    if not classes or isinstance(classes[0]._diagram, _Listed):
        return [item.take(count) for item in classes]
    diagram = classes[0]._diagram
    found = diagram.firsts(0, diagram.everything, count)
    return [tuple(found[sum(1 << n for n in item.inside)]) for item in classes]


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
