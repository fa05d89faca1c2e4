"""The outputs of a query in order: what a list of noise scales is matched with, and their names."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from math import prod

from blowproof.models.domain.domain import Domain
from blowproof.models.policy.in_words import value_text

__all__ = ["Outputs", "cell_label", "cell_outputs", "numbered_outputs", "span_label", "value_label"]


@dataclass(frozen=True)
class Outputs:
    """How many outputs there are, and the place of each in order, from 0, by its key."""

    count: int
    place: Callable[[Hashable], int]


def numbered_outputs(count: int) -> Outputs:
    """Return outputs whose keys are their places."""
    return Outputs(count, _number)


def cell_outputs(sizes: Sequence[int]) -> Outputs:
    """Return the outputs of a table, row-major, whose keys are positions.

    >>> cell_outputs([2, 3]).place((1, 2))
    5
    """

    def place(key: Hashable) -> int:
        assert isinstance(key, tuple)
        found = 0
        for at, size in zip(key, sizes, strict=True):
            found = found * size + at
        return found

    return Outputs(prod(sizes), place)


def _number(key: Hashable) -> int:
    assert isinstance(key, int)
    return key


def cell_label(domain: Domain, axes: Sequence[int], key: Hashable) -> str:
    """Return the values at some positions, in words."""
    assert isinstance(key, tuple)
    return ", ".join(value_label(domain, axis, at) for axis, at in zip(axes, key, strict=True))


def span_label(domain: Domain, axis: int, low: int, high: int) -> str:
    """Return a stretch of positions, both ends included, in words."""
    first = value_label(domain, axis, low)
    return first if low == high else f"{first}..{value_label(domain, axis, high)}"


def value_label(domain: Domain, axis: int, place: int) -> str:
    """Return the value at a position."""
    return value_text(domain.attribute(axis).value(place))
