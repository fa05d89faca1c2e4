"""Regions: as people write them (`Region`), and as positions (`Positions`, `Box`, `Area`).

A region is a conjunction over attributes. On positions it is a box: one set of positions per axis,
kept as runs, so that "age 18 to 65" costs one pair of numbers however long the axis is. A union of
regions is an `Area`. Nothing here lists a domain.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import prod
from operator import itemgetter

from blowproof.models.base.errors import BudgetError, PolicyError
from blowproof.models.base.numbers import Exact, exact, plain, show
from blowproof.models.domain.attributes import Value

__all__ = ["Area", "Between", "Box", "Condition", "Point", "Positions", "Region", "rows"]

Point = tuple[int, ...]

_START = itemgetter(0)
_NONE = (0, 0)
"""A run without positions: there is no other."""

MOST_CUTS = 30_000
"""How often one box may be cut out of another, to find what a list of them covers."""


@dataclass(frozen=True, slots=True)
class Positions:
    """A set of positions on one axis: sorted, disjoint, non-touching half-open runs.

    >>> Positions.of([0, 1, 2, 7]).runs
    ((0, 3), (7, 8))
    >>> (Positions.span(0, 10) - Positions.of([4])).runs
    ((0, 4), (5, 10))
    """

    runs: tuple[tuple[int, int], ...]

    @staticmethod
    def span(low: int, high: int) -> Positions:
        """Return the positions low..high-1."""
        return Positions(((low, high),) if low < high else ())

    @staticmethod
    def of(items: Iterable[int]) -> Positions:
        """Return the set of the given positions."""
        return Positions.joined((item, item + 1) for item in items)

    @staticmethod
    def joined(runs: Iterable[tuple[int, int]]) -> Positions:
        """Return the union of runs in any order."""
        merged: list[tuple[int, int]] = []
        for low, high in sorted(run for run in runs if run[0] < run[1]):
            if merged and low <= merged[-1][1]:
                merged[-1] = (merged[-1][0], max(high, merged[-1][1]))
            else:
                merged.append((low, high))
        return Positions(tuple(merged))

    @property
    def size(self) -> int:
        """How many positions there are."""
        return sum(high - low for low, high in self.runs)

    def __bool__(self) -> bool:
        return bool(self.runs)

    def __contains__(self, item: int) -> bool:
        place = bisect_right(self.runs, item, key=_START)
        return place > 0 and item < self.runs[place - 1][1]

    def __iter__(self) -> Iterator[int]:
        for low, high in self.runs:
            yield from range(low, high)

    def __and__(self, other: Positions) -> Positions:
        parts = []
        mine, theirs = iter(self.runs), iter(other.runs)
        (low, high), (start, end) = next(mine, _NONE), next(theirs, _NONE)
        while low < high and start < end:  # whichever run ends first meets no later one
            if max(low, start) < min(high, end):
                parts.append((max(low, start), min(high, end)))
            if high < end:
                low, high = next(mine, _NONE)
            else:
                start, end = next(theirs, _NONE)
        return Positions(tuple(parts))

    def __or__(self, other: Positions) -> Positions:
        return Positions.joined((*self.runs, *other.runs))

    def __sub__(self, other: Positions) -> Positions:
        parts = []
        theirs = iter(other.runs)
        start, end = next(theirs, _NONE)
        for low, high in self.runs:
            left = low  # everything of this run before `left` is decided
            while start < end and start < high:
                if left < start:
                    parts.append((left, start))
                left = max(left, end)
                if end > high:  # it may reach into the next run
                    break
                start, end = next(theirs, _NONE)
            if left < high:
                parts.append((left, high))
        return Positions(tuple(parts))

    def nth(self, place: int) -> int:
        """Return the place-th smallest position."""
        for low, high in self.runs:
            if place < high - low:
                return low + place
            place -= high - low
        raise IndexError("no such position")


def rows(sides: Sequence[Positions]) -> Iterator[Point]:
    """Yield the points of a product row-major, never holding a whole side (unlike itertools)."""
    if not sides:
        yield ()
        return
    for place in sides[0]:
        for rest in rows(sides[1:]):
            yield (place, *rest)


@dataclass(frozen=True, slots=True)
class Box:
    """A product of position sets, one per attribute.

    >>> Box.of([Positions.span(0, 2), Positions.of([5])]).size
    2
    """

    sides: tuple[Positions, ...]

    @staticmethod
    def of(sides: Iterable[Positions]) -> Box:
        """Return the box with these sides."""
        return Box(tuple(sides))

    @staticmethod
    def at(point: Point) -> Box:
        """Return the box that holds one point."""
        return Box(tuple(Positions.span(place, place + 1) for place in point))

    @property
    def size(self) -> int:
        """How many points there are (exact, however large)."""
        return prod(side.size for side in self.sides)

    def __bool__(self) -> bool:
        return all(self.sides)

    def __contains__(self, point: Point) -> bool:
        return all(place in side for place, side in zip(point, self.sides, strict=True))

    def __and__(self, other: Box) -> Box:
        return Box(tuple(a & b for a, b in zip(self.sides, other.sides, strict=True)))

    def minus(self, other: Box) -> tuple[Box, ...]:
        """Return disjoint boxes that cover this box without the other one."""
        parts: list[Box] = []
        kept = list(self.sides)
        for axis, side in enumerate(other.sides):
            outside = kept[axis] - side
            if outside:
                parts.append(Box((*kept[:axis], outside, *kept[axis + 1 :])))
            kept[axis] = kept[axis] & side
            if not kept[axis]:
                return (self,)
        return tuple(part for part in parts if part)

    def points(self) -> Iterator[Point]:
        """Yield the points, row-major."""
        yield from rows(self.sides)

    def nth(self, place: int) -> Point:
        """Return the place-th point in row-major order."""
        point = []
        for side in reversed(self.sides):
            place, offset = divmod(place, side.size)
            point.append(side.nth(offset))
        return tuple(reversed(point))


@dataclass(frozen=True, slots=True)
class Area:
    """A union of boxes, which may overlap."""

    boxes: tuple[Box, ...]

    def __contains__(self, point: Point) -> bool:
        return any(point in box for box in self.boxes)

    def disjoint(self) -> tuple[Box, ...]:
        """Return disjoint boxes that cover the same points; BudgetError where they are too many."""
        from blowproof.models.domain.overlap import sharing

        if sharing(self.boxes) is None:
            return tuple(box for box in self.boxes if box)
        result: list[Box] = []
        cuts = 0
        for box in self.boxes:
            fresh = [box] if box else []
            for old in result:
                if not all(a & b for a, b in zip(box.sides, old.sides, strict=True)):
                    continue
                cuts += len(fresh)
                if cuts > MOST_CUTS:
                    raise BudgetError(
                        f"a list of {len(self.boxes)} regions falls into too many pieces that do "
                        "not overlap\n  try: fewer regions, or regions that do not overlap"
                    )
                fresh = [part for piece in fresh for part in piece.minus(old)]
            result.extend(fresh)
        return tuple(result)

    @property
    def size(self) -> int:
        """How many points there are."""
        return sum(box.size for box in self.disjoint())


@dataclass(frozen=True)
class Between:
    """The values min..max of an ordered attribute, both included; a missing end is open.

    >>> Between(min=18)
    {min = 18}
    """

    min: Value | None = None
    max: Value | None = None

    def __post_init__(self) -> None:
        if self.min is None and self.max is None:
            raise PolicyError("the range has neither min nor max", hint="leave the attribute out")
        for name, end in (("min", self.min), ("max", self.max)):
            if isinstance(end, Fraction):
                object.__setattr__(self, name, _written(end))

    def __repr__(self) -> str:
        both = (("min", self.min), ("max", self.max))
        ends = [f"{name} = {end!r}" for name, end in both if end is not None]
        return "{" + ", ".join(ends) + "}"


Condition = Value | tuple[Value, ...] | Between


@dataclass(frozen=True, init=False)
class Region:
    """A conjunction over attributes, as written; a missing attribute is unrestricted.

    >>> Region(sex="F", age=Between(18, 65), ward=["a", "b"])
    {sex = 'F', age = {min = 18, max = 65}, ward = ['a', 'b']}
    """

    conditions: tuple[tuple[str, Condition], ...]

    def __init__(self, conditions: Mapping[str, object] | None = None, /, **named: object) -> None:
        pairs = {**(conditions or {}), **named}
        object.__setattr__(
            self,
            "conditions",
            tuple((name, _condition(value, name)) for name, value in pairs.items()),
        )

    def __repr__(self) -> str:
        items = [f"{name} = {_show(condition)}" for name, condition in self.conditions]
        return "{" + ", ".join(items) + "}"


def _condition(value: object, name: str) -> Condition:
    if isinstance(value, Between):
        return value
    if isinstance(value, Mapping):
        extra = sorted(set(value) - {"min", "max"})
        if extra:
            raise PolicyError(
                f"unknown key {extra[0]!r}",
                key=f"{name}.{extra[0]}",
                hint="a range has min and max",
            )
        try:
            return Between(**value)
        except PolicyError as error:
            raise error.inside(name) from None
    if isinstance(value, Sequence) and not isinstance(value, str):
        if not value:
            raise PolicyError(
                "the list of values is empty", key=name, hint="name at least one value"
            )
        return tuple(_value(item, f"{name}[{place}]") for place, item in enumerate(value))
    return _value(value, name)


def _value(value: object, key: str) -> Value:
    if isinstance(value, bool) or not isinstance(value, (str, int, Fraction, float)):
        raise PolicyError(f"{value!r} is not a value", key=key, hint="a label, an integer or 'p/q'")
    if isinstance(value, (float, Fraction)):  # a float is refused here
        return _written(exact(value, key=key))
    return value


def _written(value: Exact) -> Value:
    """A number as a policy file writes it, so that a region equals itself read back."""
    whole = plain(value)
    return whole if isinstance(whole, int) else show(whole)


def _show(condition: Condition) -> str:
    return repr(list(condition)) if isinstance(condition, tuple) else repr(condition)
