"""Checks of parsed TOML (or JSON) values: each says what was found and what is needed.

Keys of errors are relative; `within` adds one level on the way out, so that the message carries the
full path, e.g. `known[2].count.age.min`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import date, datetime, time
from math import isfinite
from typing import TypeVar

from blowproof.models.base.errors import PolicyError, nearest
from blowproof.models.base.numbers import Exact, exact

__all__ = [
    "array",
    "check_keys",
    "choice",
    "each",
    "flag",
    "found",
    "integer",
    "number",
    "table",
    "text",
    "within",
]

Result = TypeVar("Result")


@contextmanager
def within(key: str) -> Iterator[None]:
    """Prefix the key of every PolicyError that leaves the block."""
    try:
        yield
    except PolicyError as error:
        raise error.inside(key) from None


def found(value: object) -> str:
    """Return what a value is, in words.

    >>> found("x"), found(True), found({}), found(0.5)
    ('a string', 'a boolean', 'a table', 'a float')
    """
    names: tuple[tuple[type | tuple[type, ...], str], ...] = (
        (bool, "a boolean"),
        (str, "a string"),
        (int, "an integer"),
        (float, "a float"),
        ((datetime, date), "a date"),
        (time, "a time"),
        ((list, tuple), "an array"),
        (Mapping, "a table"),
    )
    for kind, name in names:
        if isinstance(value, kind):
            return name
    return "nothing (null)" if value is None else f"a {type(value).__name__}"


EXAMPLES = {
    "a string": 'write it in quotes: "people"',
    "an integer": "write a whole number, as in 3",
    'an integer or a string "p/q"': 'write 3 or "7/2"',
    "an array of integers": "write [8, 7, 5]",
    "an array of labels": 'write ["F", "M"]',
    "a table": "write { key = value }",
}
"""What to try where the caller knows nothing better."""


def _wrong(value: object, need: str, hint: str | None = None) -> PolicyError:
    return PolicyError(
        f"found {found(value)}, need {need}", hint=hint or EXAMPLES.get(need, f"write {need}")
    )


def text(value: object, *, need: str = "a string", hint: str | None = None) -> str:
    """Return a string."""
    if isinstance(value, str):
        return value
    if hint is None and isinstance(value, (int, float, date, time)):
        hint = "put it in quotes"
    raise _wrong(value, need, hint)


def flag(value: object) -> bool:
    """Return a boolean."""
    if isinstance(value, bool):
        return value
    raise _wrong(value, "true or false", "write true or false, without quotes")


def integer(value: object, *, need: str = "an integer", hint: str | None = None) -> int:
    """Return an integer; what merely looks like one is refused with the right spelling."""
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    if isinstance(value, float):
        if isfinite(value) and value.is_integer():
            hint = f"write {int(value)}"
        elif not isfinite(value):
            hint = "use a finite integer"
        raise PolicyError(f"found the float {value!r}, need {need}", hint=hint)
    if isinstance(value, str) and value.strip().lstrip("+-").isdecimal():
        hint = f"write {value.strip()}, without quotes"
    elif isinstance(value, date):
        hint = "count years, months or days as integers"
    raise _wrong(value, need, hint if isinstance(value, (str, date)) else None)


def number(value: object) -> Exact:
    """Return an exact number from an integer or a string "p/q"; a float is refused."""
    if isinstance(value, (int, float, str)) and not isinstance(value, bool):
        return exact(value)
    raise _wrong(value, 'an integer or a string "p/q"')


def array(value: object, *, of: str, hint: str | None = None) -> list[object]:
    """Return an array's items; `of` names them in the message."""
    if isinstance(value, (list, tuple)):
        return list(value)
    raise _wrong(value, f"an array of {of}", hint)


def each(items: Iterable[object], read: Callable[[object], Result]) -> list[Result]:
    """Read every item of an array; an error carries the item's place."""
    result = []
    for place, item in enumerate(items):
        with within(f"[{place}]"):
            result.append(read(item))
    return result


def choice(value: object, allowed: Iterable[str], *, what: str) -> str:
    """Return one of the allowed words."""
    word = text(value)
    names = list(allowed)
    if word not in names:
        article = "an" if what[:1] in "aeiou" else "a"
        raise PolicyError(
            f"{word!r} is not {article} {what}",
            hint=nearest(word, names, what=what) or " or ".join(names),
        )
    return word


def table(value: object, *, need: str = "a table", hint: str | None = None) -> dict[str, object]:
    """Return a table as a dictionary."""
    if not isinstance(value, Mapping):
        raise _wrong(value, need, hint)
    for key in value:
        if not isinstance(key, str):
            raise PolicyError(f"the key {key!r} is not a string", hint="put it in quotes")
    return dict(value)


def check_keys(
    value: Mapping[str, object],
    allowed: Iterable[str],
    *,
    elsewhere: Mapping[str, str] | None = None,
    owner: str = "",
) -> None:
    """Refuse the first key that is not allowed, naming the nearest one that is.

    `elsewhere` holds hints for keys that do exist, but not in this table, which is the `owner`.
    """
    names = list(allowed)
    for key in value:
        if key in names:
            continue
        hint = (elsewhere or {}).get(key) or nearest(key, names, what="key")
        known = owner and key in (elsewhere or {})
        reason = f"{key!r} does not belong to {owner}" if known else f"unknown key {key!r}"
        raise PolicyError(reason, key=key, hint=hint)
