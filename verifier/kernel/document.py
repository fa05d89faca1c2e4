"""Reading a certificate: JSON within limits, typed access, and a budget of steps.

`Unreadable` is what is not a certificate at all (exit 2); `Rejected` is one that proves nothing
(exit 1). Whatever a file holds, it ends as one of the two, in bounded time and memory.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from fractions import Fraction
from typing import Any, NoReturn

MOST_BYTES = 100_000_000
MOST_DIGITS = 400
MOST_STEPS = 1_000_000_000
MOST_KEPT = 12_000_000

Exact = int | Fraction

_NUMBER = re.compile(r"-?\d{1,400}(/\d{1,400})?")


class Rejected(Exception):  # noqa: N818 # a verdict rather than an error
    """The certificate does not prove its claim; `limit`: it was too large, or of no use here."""

    def __init__(self, reason: str, *, limit: bool = False) -> None:
        super().__init__(reason)
        self.limit = limit


class Unreadable(Exception):  # noqa: N818
    """The file is no certificate of this format."""


class Budget:
    """Steps that a check may still take, and numbers that it may still keep in memory."""

    def __init__(self, steps: int, kept: int | None = None) -> None:
        self.left = steps
        self.room = MOST_KEPT if kept is None else kept

    def keep(self, numbers: int) -> None:
        """Take room for numbers that stay in memory; Rejected when there is none left."""
        self.room -= numbers
        if self.room < 0:
            raise Rejected("the check takes more memory than its budget allows", limit=True)

    def spend(self, steps: int = 1) -> None:
        """Take steps; Rejected when none are left."""
        self.left -= steps
        if self.left < 0:
            raise Rejected("the check takes more steps than its budget allows", limit=True)


def load(text: str) -> dict[str, Any]:
    """Return the document: no floats, no repeated keys, no number of more than MOST_DIGITS."""
    if len(text) > MOST_BYTES:
        raise Unreadable("the file is too large")
    try:
        found = json.loads(
            text,
            parse_float=_refuse,
            parse_constant=_refuse,
            parse_int=_int,
            object_pairs_hook=_object,
        )
    except (ValueError, RecursionError) as error:
        raise Unreadable(f"no JSON that a certificate may hold: {str(error)[:80]}") from None
    if not isinstance(found, dict):
        raise Unreadable("a certificate is a JSON object")
    return found


def _refuse(text: str) -> NoReturn:
    raise ValueError(f"{text[:20]} is not an exact number")


def _int(text: str) -> int:
    if len(text) > MOST_DIGITS:
        raise ValueError("a number is too long")
    return int(text)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key stands twice in one object")
    return found


def take(table: object, key: str, *kinds: type, where: str = "the certificate") -> Any:
    """Return table[key], which must be there and of one of the types (bool is no int)."""
    if not isinstance(table, dict) or key not in table:
        raise Unreadable(f"{where} has no {key!r}")
    value = table[key]
    if not isinstance(value, kinds) or (isinstance(value, bool) and bool not in kinds):
        raise Unreadable(f"{key!r} is not of the right type")
    return value


def only(table: object, keys: Sequence[str], where: str) -> dict[str, Any]:
    """Return a table that has no other keys than these."""
    if not isinstance(table, dict):
        raise Unreadable(f"{where} is no object")
    for key in table:
        if key not in keys:
            raise Unreadable(f"{where} has an unknown key {key[:40]!r}")
    return table


def whole(value: object, where: str) -> int:
    """Return an int."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise Unreadable(f"{where}: not a whole number")
    return value


def wholes(value: object, where: str) -> list[int]:
    """Return a list of ints."""
    found = items(value, where)
    if any(type(number) is not int for number in found):
        raise Unreadable(f"{where}: not a list of whole numbers")
    return found


def items(value: object, where: str) -> list[Any]:
    """Return a list."""
    if not isinstance(value, list):
        raise Unreadable(f"{where}: not a list")
    return value


def number(value: object, where: str) -> Exact:
    """Return an exact number from an int or a string "p/q" in lowest terms."""
    if isinstance(value, str) and _NUMBER.fullmatch(value):
        top, _, bottom = value.partition("/")
        if (
            bottom
            and int(bottom) > 1
            and Fraction(int(top), int(bottom)).denominator == int(bottom)
        ):
            return Fraction(int(top), int(bottom))
    elif isinstance(value, int) and not isinstance(value, bool):
        return value
    raise Unreadable(f"{where}: {str(value)[:40]!r} is not an exact number")
