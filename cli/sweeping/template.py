"""A policy text with holes: `{{name}}` stands for a parameter of the grid."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod

from blowproof.models.base.errors import PolicyError, nearest

__all__ = ["Alternative", "filled", "holes", "settings_of"]

_HOLE = re.compile(r"\{\{\s*([A-Za-z_][A-Za-z0-9_-]*)\s*\}\}")


@dataclass(frozen=True)
class Alternative:
    """One value of a parameter: what a point is called by, and the text that fills the hole."""

    label: str
    text: str


def holes(text: str) -> list[str]:
    """Return the names of the parameters that a template uses, each once.

    >>> holes('[[known]]\\nmarginal = {{table}} # {{ table }}')
    ['table']
    """
    return list(dict.fromkeys(_HOLE.findall(text)))


def filled(text: str, values: Mapping[str, Alternative]) -> str:
    """Return the template with its holes filled; one that has no value is refused by line.

    >>> filled('size = {{n}}', {"n": Alternative("5", "5")})
    'size = 5'
    """

    def value(hole: re.Match[str]) -> str:
        name = hole.group(1)
        if name not in values:
            line = text.count("\n", 0, hole.start()) + 1
            raise PolicyError(
                f"there is no parameter {name!r}",
                hint=nearest(name, values, what="parameters") if values else "add [parameters]",
                line=line,
            )
        return values[name].text

    return _HOLE.sub(value, text)


def settings_of(
    parameters: Mapping[str, Sequence[Alternative]],
) -> tuple[int, Iterator[dict[str, Alternative]]]:
    """Return how many ways there are to set all parameters, and these ways one by one.

    >>> two = [Alternative("1", "1"), Alternative("2", "2")]
    >>> count, found = settings_of({"a": two, "b": two})
    >>> count, [value.label for value in next(found).values()]
    (4, ['1', '1'])
    """
    count = prod(len(found) for found in parameters.values())
    ways = (dict(zip(parameters, values, strict=True)) for values in product(*parameters.values()))
    return count, ways
