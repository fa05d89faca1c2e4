"""Rows of the table of limits, and how a module takes its own:

SECONDS = real_limit(__name__, "SECONDS")
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from blowproof.verifier.limits.table import TABLE

__all__ = ["LIMITS", "Limit", "real_limit", "whole_limit"]


class Limit(NamedTuple):
    """One limit: where it holds, what it is called, its number and unit, and what it does."""

    module: str
    name: str
    default: int | float
    unit: str
    does: str


def whole_limit(module: str, name: str) -> int:
    """Return a limit that is a whole number; `module` is its `__name__`.

    >>> whole_limit("blowproof.verifier.plan", "VERY_FEW")
    300
    """
    value = _NAMED[module, name]
    assert isinstance(value, int), f"{name} is no whole number"
    return value


def real_limit(module: str, name: str) -> float:
    """Return a limit in seconds, or a part or a multiple of something."""
    value = _NAMED[module, name]
    assert isinstance(value, float), f"{name} is a whole number"
    return value


def _read(table: str) -> Iterator[Limit]:
    """Yield the rows of the table; a row that is indented twice goes on with the one before."""
    module, row = "", ""
    for line in [*table.splitlines(), ""]:
        if line.startswith(" " * 8):
            row += f" {line.strip()}"
            continue
        if row:
            name, default, rest = row.split(" ", 2)
            unit, _, does = rest.partition(": ")
            yield Limit(module, name, _number(default), unit, does)
        row = line.strip() if line.startswith(" ") else ""
        module = module if line.startswith(" ") else line


def _number(text: str) -> int | float:
    base, _, exponent = text.partition("^")
    if exponent:
        whole: int = int(base) ** int(exponent)
        return whole
    return float(text) if "." in text or "e" in text else int(text)


LIMITS: tuple[Limit, ...] = tuple(_read(TABLE))
"""All of them, by module."""

_NAMED = {
    (f"blowproof.verifier.{row.module.replace('/', '.')}", row.name): row.default for row in LIMITS
}
