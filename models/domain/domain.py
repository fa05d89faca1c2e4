"""The domain: what one record can hold. Attributes in order; never listed unless asked for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod

from blowproof.models.base.errors import BudgetError, PolicyError, nearest
from blowproof.models.domain.attributes import Attribute, Value
from blowproof.models.domain.regions import Area, Between, Box, Condition, Point, Positions, Region

__all__ = ["Domain"]

LISTING_LIMIT = 5_000_000

MOST_ATTRIBUTES = 500
"""Diagrams and searches descend axis by axis, and Python's stack ends at a thousand."""

MOST_BITS = 12_000
"""Sizes are printed: Python refuses above 4,300 digits, which is some 14,000 bits."""


@dataclass(frozen=True, init=False)
class Domain:
    """Named attributes, in order.

    >>> from blowproof.models.domain.attributes import Integers, Labels
    >>> d = Domain(sex=Labels(["F", "M"]), age=Integers(0, 10**12))
    >>> d.size
    2000000000002
    >>> d.encode(["M", 7])
    (1, 7)
    """

    attributes: tuple[tuple[str, Attribute], ...]

    def __init__(
        self, attributes: Mapping[str, Attribute] | None = None, /, **named: Attribute
    ) -> None:
        pairs = {**(attributes or {}), **named}
        if not pairs:
            raise PolicyError("the domain has no attributes", hint="add one, e.g. sex = ['F', 'M']")
        if len(pairs) > MOST_ATTRIBUTES:
            raise PolicyError(
                f"the domain has {len(pairs)} attributes, and {MOST_ATTRIBUTES} are the most",
                hint="leave out attributes that no secret, no known fact and no query names",
            )
        if sum(attribute.size.bit_length() for attribute in pairs.values()) > MOST_BITS:
            raise PolicyError(
                f"the domain has far too many values: more than 2^{MOST_BITS // 2}",
                hint="use fewer or coarser attributes",
            )
        object.__setattr__(self, "attributes", tuple(pairs.items()))
        object.__setattr__(self, "_axes", {name: axis for axis, name in enumerate(pairs)})

    @property
    def names(self) -> tuple[str, ...]:
        """The attributes' names, in order."""
        return tuple(name for name, _ in self.attributes)

    @property
    def size(self) -> int:
        """How many values there are (exact, however large)."""
        return prod(attribute.size for _, attribute in self.attributes)

    @property
    def whole(self) -> Box:
        """The box of all values."""
        return Box.of(Positions.span(0, attribute.size) for _, attribute in self.attributes)

    @property
    def ends(self) -> tuple[Point, Point]:
        """The first value and the last: they differ on every axis that has several positions."""
        return (0,) * len(self), tuple(attribute.size - 1 for _, attribute in self.attributes)

    def restricted(self, areas: Iterable[Area]) -> frozenset[int]:
        """Return the axes on which some box of an area does not hold every position."""
        whole = self.whole.sides
        found: set[int] = set()
        for area in areas:
            for box in area.boxes:
                found.update(axis for axis, side in enumerate(box.sides) if side != whole[axis])
            if len(found) == len(whole):
                break
        return frozenset(found)

    def axis(self, name: object) -> int:
        """Return the place of an attribute, or refuse the name with the nearest one."""
        axes: dict[object, int] = self.__dict__["_axes"]
        if isinstance(name, str) and name in axes:
            return axes[name]
        raise PolicyError(
            f"there is no attribute {name!r}", hint=nearest(name, self.names, what="attribute")
        )

    def axes(self, names: Iterable[object]) -> tuple[int, ...]:
        """Return the places of several attributes, each named once."""
        result: dict[int, None] = {}
        for place, name in enumerate(names):
            try:
                axis = self.axis(name)
            except PolicyError as error:
                raise error.inside(f"[{place}]") from None
            if axis in result:
                raise PolicyError(
                    f"the attribute {name!r} is named twice",
                    key=f"[{place}]",
                    hint="name it once",
                )
            result[axis] = None
        return tuple(result)

    def __getitem__(self, name: str) -> Attribute:
        return self.attributes[self.axis(name)][1]

    def attribute(self, axis: int) -> Attribute:
        """Return the attribute at a place."""
        return self.attributes[axis][1]

    def __len__(self) -> int:
        return len(self.attributes)

    def encode(self, values: Sequence[object] | Mapping[str, object]) -> Point:
        """Return the point of a full record, given in domain order or by name."""
        if isinstance(values, Mapping):
            values = self._in_order(values)
        if len(values) != len(self):
            raise PolicyError(
                f"a record has {len(self)} values, found {len(values)}",
                hint=f"one for each of {', '.join(self.names)}",
            )
        point = []
        for (name, attribute), value in zip(self.attributes, values, strict=True):
            try:
                point.append(attribute.index(value))
            except PolicyError as error:
                raise error.inside(name) from None
        return tuple(point)

    def _in_order(self, values: Mapping[str, object]) -> list[object]:
        for name in values:
            self.axis(name)
        missing = [name for name in self.names if name not in values]
        if missing:
            raise PolicyError(
                f"the attribute {missing[0]!r} is missing from the record",
                hint="a record has a value for every attribute",
            )
        return [values[name] for name in self.names]

    def decode(self, point: Point) -> tuple[Value, ...]:
        """Return the record that a point stands for."""
        return tuple(
            attribute.value(place)
            for (_, attribute), place in zip(self.attributes, point, strict=True)
        )

    def points(self, *, limit: int = LISTING_LIMIT) -> Iterator[Point]:
        """Yield every point in row-major order; a domain above the limit is refused."""
        if self.size > limit:
            raise BudgetError(f"the domain has {self.size} values; listing stops at {limit}")
        return product(*(range(attribute.size) for _, attribute in self.attributes))

    def rank(self, point: Point) -> int:
        """Return the place of a point in row-major order."""
        result = 0
        for (_, attribute), place in zip(self.attributes, point, strict=True):
            result = result * attribute.size + place
        return result

    def box(self, region: Region) -> Box:
        """Return the region on positions, refusing what lies outside the domain."""
        sides = list(self.whole.sides)
        for name, condition in region.conditions:
            try:
                axis = self.axis(name)
                sides[axis] = _positions(self.attribute(axis), condition)
            except PolicyError as error:
                raise error.inside(name) from None
        return Box.of(sides)

    def area(self, regions: Region | Sequence[Region]) -> Area:
        """Return one region, or a union of several, on positions."""
        if isinstance(regions, Region):
            return Area((self.box(regions),))
        boxes = []
        for place, region in enumerate(regions):
            try:
                boxes.append(self.box(region))
            except PolicyError as error:
                raise error.inside(f"[{place}]") if len(regions) > 1 else error from None
        return Area(tuple(boxes))

    def __repr__(self) -> str:
        items = ", ".join(f"{name}={attribute!r}" for name, attribute in self.attributes)
        return f"Domain({items})"


def _positions(attribute: Attribute, condition: Condition) -> Positions:
    if isinstance(condition, Between):
        return _between(attribute, condition)
    if isinstance(condition, tuple):
        return Positions.of(_indices(attribute, condition))
    return Positions.of([attribute.index(condition)])


def _indices(attribute: Attribute, values: tuple[Value, ...]) -> list[int]:
    result = []
    for place, value in enumerate(values):
        try:
            result.append(attribute.index(value))
        except PolicyError as error:
            raise error.inside(f"[{place}]") from None
    return result


def _between(attribute: Attribute, condition: Between) -> Positions:
    if not attribute.ordered:
        raise PolicyError(
            "a range needs an ordered attribute",
            hint="list the labels, or declare { labels = [...], ordered = true }",
        )
    ends = {"min": 0, "max": attribute.size - 1}
    for name, end in (("min", condition.min), ("max", condition.max)):
        if end is not None:
            try:
                ends[name] = attribute.index(end)
            except PolicyError as error:
                raise error.inside(name) from None
    if ends["min"] > ends["max"]:
        raise PolicyError(f"the range {condition!r} is empty", hint="swap min and max")
    return Positions.span(ends["min"], ends["max"] + 1)
