"""Reading a certificate: JSON within limits, values of stated shapes, a budget of steps.

`Unreadable` is what is not a certificate at all (exit 2); `Rejected` is one that proves nothing
(exit 1). Whatever a file holds, it ends as one of the two, in bounded time and memory.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from fractions import Fraction
from math import inf, lcm
from time import monotonic
from typing import Any, NoReturn

MOST_BYTES = 100_000_000
MOST_DIGITS = 400
MOST_LISTS = 10_000_000
MOST_STEPS = 1_000_000_000
MOST_KEPT = 12_000_000
MOST_BITS = 1 << 14
LOOK = 100_000

Exact = int | Fraction


class Rejected(Exception):  # noqa: N818 # a verdict rather than an error
    """The certificate does not prove its claim; `limit`: it was too large, or of no use here."""

    def __init__(self, reason: str, *, limit: bool = False) -> None:
        super().__init__(reason)
        self.limit = limit


class Unreadable(Exception):  # noqa: N818
    """The file is no certificate of this format."""


class Budget:
    """Steps that a check may still take, numbers that it may still keep in memory, and when it
    stops. `wide`: how many words of 64 bits the numbers have that it goes on with.
    """

    def __init__(
        self, steps: int = MOST_STEPS, room: int = MOST_KEPT, seconds: float | None = None
    ) -> None:
        self.left, self.room, self.wide = steps, room, 1
        self.end = inf if seconds is None else monotonic() + seconds
        self.look = steps - LOOK  # what is left when the clock is looked at again

    def spend(self, steps: int, kept: int = 0) -> None:
        """Take steps, and room for numbers that stay; Rejected when there are none left."""
        self.left -= steps * self.wide
        self.room -= kept * self.wide
        if self.left < 0 or self.room < 0:
            what = "steps" if self.left < 0 else "memory"
            raise Rejected(f"the check takes more {what} than its budget allows", limit=True)
        if self.left < self.look:
            self.look = self.left - LOOK
            if monotonic() > self.end:
                raise Rejected("the check takes longer than its time limit", limit=True)

    def widen(self, numbers: Iterable[int]) -> None:
        """Count each number as so many words as the largest of some has, from now on."""
        self.wide = max(self.wide, max(map(words, numbers), default=1))


def words(number: int) -> int:
    """Return how many words of 64 bits a number takes."""
    return 1 + number.bit_length() // 64


def common(denominators: Iterable[int], budget: Budget | None = None) -> int:
    """Return the least common multiple; Rejected if it is too long to go on with."""
    found = 1
    for number in set(denominators):
        found = lcm(found, number)
        if found.bit_length() > MOST_BITS:
            raise Rejected("the fractions have no short common denominator", limit=True)
        if budget is not None:
            budget.spend(words(found) * words(number))
    return found


def load(text: str) -> dict[str, Any]:
    """Return the document: no floats, no repeated keys, no number of more than MOST_DIGITS."""
    if len(text) > MOST_BYTES or text.count("[") + text.count("{") > MOST_LISTS:
        raise Unreadable("the file is too large")
    hooks: dict[str, Any] = {"parse_float": _refuse, "parse_constant": _refuse, "parse_int": _int}
    try:
        found = json.loads(text, object_pairs_hook=_object, **hooks)
    except (ValueError, RecursionError) as error:
        raise Unreadable(f"no JSON that a certificate may hold: {str(error)[:80]}") from None
    return want(found, dict)  # type: ignore[no-any-return]


def _refuse(text: str) -> NoReturn:
    raise ValueError(f"{text[:20]} is not an exact number")


def _int(text: str) -> int:
    return int(text) if len(text) <= MOST_DIGITS else _refuse(text)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    return found if len(found) == len(pairs) else _refuse("an object with a key twice")


def want(value: Any, shape: Any, where: str = "the certificate") -> Any:
    """Return a value of a shape, exact numbers read; Unreadable if it has another.

    A shape is a type (Fraction: an exact number, object: anything), a tuple of alternatives, a list
    of one shape, or a table of shapes by key, which has no other keys; "key?" may be missing.
    """
    kind = type(value)
    if isinstance(shape, dict) and kind is dict:
        shapes = {key.removesuffix("?"): inner for key, inner in shape.items()}
        if value.keys() - shapes.keys() or any(k[-1] != "?" and k not in value for k in shape):
            odd = sorted(value.keys() - shapes.keys()) or sorted(shapes.keys() - value.keys())
            raise Unreadable(f"{where}: unknown or missing keys, {str(odd)[:80]}")
        return {key: want(item, shapes[key], f"{where}, {key}") for key, item in value.items()}
    if isinstance(shape, list) and kind is list:
        if shape[0] is int and all(type(item) is int for item in value):
            return value
        return [want(item, shape[0], where) for item in value]
    if isinstance(shape, tuple) and kind in shape:
        return value
    if kind is shape or shape is object or (shape is Fraction and kind is int):
        return value
    if shape is Fraction and kind is str and len(value) <= 2 * MOST_DIGITS + 2 and "/" in value:
        number = Fraction(value)
        if str(number) == value and number.denominator > 1:
            return number
    raise Unreadable(f"{where}: {str(value)[:40]!r} is not of the right kind")
