"""Exact numbers: int and Fraction from the file to the answer; a float is refused at the door."""

from __future__ import annotations

import re
from collections.abc import Iterable
from fractions import Fraction
from math import isfinite

from blowproof.models.base.errors import PolicyError

__all__ = ["Exact", "exact", "magnitude", "plain", "show", "total", "whole"]

Exact = int | Fraction

_NUMBER = re.compile(r"[+-]?\d{1,1000}(/\d{1,1000})?")  # Python refuses 4300 digits
_DECIMAL = re.compile(r"([+-]?)(\d*)\.(\d+)")


def plain(value: Exact) -> Exact:
    """Return the value as an int where it is whole, as a Fraction otherwise.

    >>> plain(Fraction(4, 2)), plain(Fraction(1, 2))
    (2, Fraction(1, 2))
    """
    return value.numerator if value.denominator == 1 else value


def exact(value: object, *, key: str = "") -> Exact:
    """Return an exact number from an int, a Fraction or a string "p/q".

    >>> exact("1/2"), exact("-6/3"), exact(7)
    (Fraction(1, 2), -2, 7)
    >>> exact(0.5)
    Traceback (most recent call last):
    ...
    blowproof.models.base.errors.PolicyError: 0.5 is a float, and floats are not exact
      try: write the fraction as a string: "1/2"
    """
    if isinstance(value, bool):
        raise PolicyError(f"{str(value).lower()} is not a number", key=key, hint='write 3 or "7/2"')
    if isinstance(value, (int, Fraction)):
        return plain(value)
    if isinstance(value, float) and not isfinite(value):
        hint = "use a finite integer or fraction"
        raise PolicyError(f"{value!r} is not a finite number", key=key, hint=hint)
    if isinstance(value, float):
        raise PolicyError(
            f"{value!r} is a float, and floats are not exact", key=key, hint=_as_fraction(value)
        )
    if isinstance(value, str) and _NUMBER.fullmatch(value.strip()):
        top, _, bottom = value.strip().partition("/")
        if bottom and int(bottom) == 0:
            raise PolicyError(
                f"{value!r} divides by zero", key=key, hint="the lower number is 1 or more"
            )
        return plain(Fraction(int(top), int(bottom or 1)))
    if isinstance(value, str) and _DECIMAL.fullmatch(value.strip()):
        raise PolicyError(
            f"{value!r} is not of the form 'p/q'",
            key=key,
            hint=f'write "{Fraction(value.strip())}"',
        )
    raise PolicyError(
        f"{value!r} is not an exact number", key=key, hint='use an integer or a string "p/q"'
    )


def _as_fraction(value: float) -> str:
    text = show(plain(Fraction(repr(value))))
    return f'write the fraction as a string: "{text}"' if "/" in text else f"write {text}"


def whole(value: object, *, key: str = "", least: int | None = None) -> int:
    """Return an int, refusing everything else and what is below `least`.

    >>> whole(3)
    3
    """
    if isinstance(value, bool) or not isinstance(value, int):
        raise PolicyError(
            f"{value!r} is not an integer", key=key, hint="write a whole number, without quotes"
        )
    if least is not None and value < least:
        raise PolicyError(f"{value} is below {least}", key=key, hint=f"use {least} or more")
    return value


def show(value: Exact) -> str:
    """Return the number as people and JSON write it: "3" or "7/2".

    >>> show(Fraction(7, 2)), show(Fraction(6, 2))
    ('7/2', '3')
    """
    value = plain(value)
    return str(value) if isinstance(value, int) else f"{value.numerator}/{value.denominator}"


def magnitude(value: Exact) -> Exact:
    """Return the absolute value, typed as what it is."""
    return value if value >= 0 else -value


def total(values: Iterable[Exact]) -> Exact:
    """Return the exact sum of the values (0 for none)."""
    result: Exact = 0
    for value in values:
        result += value
    return plain(result)
