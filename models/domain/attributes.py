"""One attribute of a record: labels, ordered labels, integers, or exact steps.

An attribute is a finite row of positions 0..size-1; everything below this file works on positions,
so that a label, an integer and a temperature of 36 1/2 are treated alike.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from fractions import Fraction

from blowproof.models.base.errors import PolicyError, nearest
from blowproof.models.base.numbers import Exact, exact, plain, show, whole

__all__ = ["Attribute", "Integers", "Labels", "Steps", "Value"]

Value = str | int | Fraction


@dataclass(frozen=True, init=False)
class Labels:
    """Named values; any two are at distance 1 unless `ordered`, then |difference of positions|.

    >>> Labels(["low", "middle", "high"], ordered=True).gap(0, 2)
    2
    """

    labels: tuple[str | int, ...]
    ordered: bool = field(kw_only=True)

    def __init__(self, labels: Iterable[str | int], *, ordered: bool = False) -> None:
        items = tuple(labels)
        if not items:
            raise PolicyError("the attribute has no labels", hint="list at least one label")
        seen: set[str | int] = set()
        for place, label in enumerate(items):
            if isinstance(label, bool) or not isinstance(label, (str, int)):
                raise PolicyError(
                    f"the label {label!r} is not text", key=f"[{place}]", hint="put it in quotes"
                )
            if label in seen:
                raise PolicyError(
                    f"the label {label!r} appears twice",
                    key=f"[{place}]",
                    hint="leave one of them out",
                )
            seen.add(label)
        if len({type(label) for label in items}) > 1:
            raise PolicyError("labels mix text and integers", hint="put every label in quotes")
        object.__setattr__(self, "labels", items)
        object.__setattr__(self, "ordered", bool(ordered))
        object.__setattr__(self, "_places", {label: place for place, label in enumerate(items)})

    @property
    def size(self) -> int:
        """How many values there are."""
        return len(self.labels)

    @property
    def numeric(self) -> bool:
        """Labels are never numbers."""
        return False

    @property
    def step(self) -> Exact:
        """The distance between neighbouring positions."""
        return 1

    def value(self, position: int) -> Value:
        """Return the label at a position."""
        return self.labels[position]

    def index(self, value: object) -> int:
        """Return the position of a label, or refuse it with the nearest one."""
        places: dict[object, int] = self.__dict__["_places"]
        if isinstance(value, (str, int)) and not isinstance(value, bool) and value in places:
            return places[value]
        raise PolicyError(
            f"{value!r} is not a label of this attribute",
            hint=nearest(value, self.labels, what="label"),
        )

    def gap(self, first: int, second: int) -> Exact:
        """Return the distance between two positions."""
        return abs(first - second) if self.ordered else int(first != second)

    def coordinate(self, position: int) -> Exact:
        """Return the position as a number; unordered labels have none."""
        if not self.ordered:
            raise PolicyError("unordered labels have no coordinate", hint="declare ordered = true")
        return position

    def describe(self) -> str:
        """Return the values in words."""
        names = ", ".join(str(label) if label != "" else "(empty)" for label in self.labels[:8])
        more = f", ... ({self.size} labels)" if self.size > 8 else ""
        return f"{'ordered ' if self.ordered else ''}labels {names}{more}"

    def __repr__(self) -> str:
        return f"Labels({list(self.labels)!r}{', ordered=True' if self.ordered else ''})"


@dataclass(frozen=True)
class Integers:
    """The integers min..max, both included.

    >>> Integers(18, 65).size
    48
    """

    min: int
    max: int

    def __post_init__(self) -> None:
        whole(self.min, key="min")
        whole(self.max, key="max")
        if self.max < self.min:
            raise PolicyError(
                f"min = {self.min} is above max = {self.max}", hint="swap min and max"
            )

    @property
    def size(self) -> int:
        """How many values there are."""
        return self.max - self.min + 1

    @property
    def ordered(self) -> bool:
        """Numbers are ordered."""
        return True

    @property
    def numeric(self) -> bool:
        """Values are numbers."""
        return True

    @property
    def step(self) -> Exact:
        """The distance between neighbouring positions."""
        return 1

    def value(self, position: int) -> Value:
        """Return the integer at a position."""
        return self.min + position

    def index(self, value: object) -> int:
        """Return the position of an integer, or refuse it."""
        number = exact(value) if isinstance(value, (str, Fraction, float)) else value
        if isinstance(number, bool) or not isinstance(number, int):
            found = show(number) if isinstance(number, Fraction) else repr(value)
            raise PolicyError(f"{found} is not an integer", hint=self.describe())
        if not self.min <= number <= self.max:
            raise PolicyError(f"{number} is outside the domain", hint=f"use {self.describe()}")
        return number - self.min

    def gap(self, first: int, second: int) -> Exact:
        """Return the distance between two positions."""
        return abs(first - second)

    def coordinate(self, position: int) -> Exact:
        """Return the value as a number."""
        return self.min + position

    def describe(self) -> str:
        """Return the values in words."""
        return f"integers {self.min}..{self.max}"


@dataclass(frozen=True)
class Steps:
    """The grid min, min + step, ..., max, in exact fractions.

    >>> Steps(35, 42, "1/2").size
    15
    >>> Steps(35, 42, "1/2").value(3)
    Fraction(73, 2)
    """

    min: Exact
    max: Exact
    step: Exact

    def __init__(self, min: object, max: object, step: object) -> None:
        low, high, width = exact(min, key="min"), exact(max, key="max"), exact(step, key="step")
        if width <= 0:
            raise PolicyError(
                f"step = {show(width)} is not positive", key="step", hint="write 1 or 1/2"
            )
        if high < low:
            raise PolicyError(
                f"min = {show(low)} is above max = {show(high)}", hint="swap min and max"
            )
        if Fraction(high - low, 1) % width != 0:
            last = plain(low + (high - low) // width * width)
            raise PolicyError(
                f"max = {show(high)} is not min plus a whole number of steps of {show(width)}",
                key="max",
                hint=f"the last value on the grid is {show(last)}",
            )
        object.__setattr__(self, "min", low)
        object.__setattr__(self, "max", high)
        object.__setattr__(self, "step", width)

    @property
    def size(self) -> int:
        """How many values there are."""
        return int((self.max - self.min) / Fraction(self.step)) + 1

    @property
    def ordered(self) -> bool:
        """Numbers are ordered."""
        return True

    @property
    def numeric(self) -> bool:
        """Values are numbers."""
        return True

    def value(self, position: int) -> Value:
        """Return the number at a position."""
        return plain(self.min + position * self.step)

    def index(self, value: object) -> int:
        """Return the position of a number, or refuse it."""
        number = exact(value)
        if not self.min <= number <= self.max:
            raise PolicyError(f"{show(number)} is outside the domain", hint=self.describe())
        place = Fraction(number - self.min) / self.step
        if place.denominator != 1:
            raise PolicyError(f"{show(number)} is off the grid", hint=self.describe())
        return int(place)

    def gap(self, first: int, second: int) -> Exact:
        """Return the distance between two positions."""
        return plain(abs(first - second) * self.step)

    def coordinate(self, position: int) -> Exact:
        """Return the value as a number."""
        return plain(self.min + position * self.step)

    def describe(self) -> str:
        """Return the values in words."""
        return f"numbers {show(self.min)}..{show(self.max)} in steps of {show(self.step)}"

    def __repr__(self) -> str:
        return f"Steps({show(self.min)!r}, {show(self.max)!r}, {show(self.step)!r})"


Attribute = Labels | Integers | Steps
