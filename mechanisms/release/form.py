"""Answers in a form of their own: a row for each thing, in place of a row for each number."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import ceil, floor, isfinite, log10

from blowproof.models.base.kept import cached_property

__all__ = ["Form", "Measured", "in_few_digits"]

Measured = tuple[float, float | None, float, float]
"""A number, its standard error (None: nobody knows), and the ends of its interval of 95 %."""
ERRORS = ("standard_error", "low95", "high95")
DIGITS = 4


def in_few_digits(
    error: float | None, low: float, high: float
) -> tuple[float | None, float, float]:
    """Return a standard error in four digits, and its interval as far; the ends move outwards.

    More digits would say nothing: the errors are those of many releases, and often rehearsed.

    >>> in_few_digits(8.66496734734283, 44.35705128206104, 84.20705128204122)
    (8.665, 44.357, 84.208)
    >>> in_few_digits(123456.7, -10.5, 10.5), in_few_digits(0.0, 3.0, 3.0)
    ((123457.0, -11.0, 11.0), (0.0, 3.0, 3.0))
    """
    if error is None or not all(map(isfinite, (error, low, high))) or error <= 0:
        return error, low, high
    places = max(0, DIGITS - 1 - floor(log10(error)))
    if places > 12 or max(abs(low), abs(high)) * 10.0**places > 2.0**52:
        return error, low, high
    ten = 10**places
    return round(error, places), floor(low * ten) / ten, ceil(high * ten) / ten


@dataclass(frozen=True)
class Form:
    """Things (`thing`: clusters, say) of which several numbers were released, called `names`.

    `rows` has a row of numbers for each thing. `answer` is what a number is called where each has a
    row of its own; `mechanism` is where they come from.
    """

    thing: str
    names: tuple[str, ...]
    rows: tuple[tuple[Measured, ...], ...]
    answer: str
    mechanism: str

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """What the columns of a table are called: no two alike, in small letters or large ones.

        The numbers' names stay as they are.

        >>> Form("cluster", ("x",), (), "coordinate", "k-means").columns
        ('cluster', 'x', 'x_standard_error', 'x_low95', 'x_high95', 'mechanism')
        """
        taken = {name.casefold() for name in self.names}

        def own(name: str) -> str:
            while name.casefold() in taken:
                name += "_"
            taken.add(name.casefold())
            return name

        first = own(self.thing)
        errors = [own(f"{name}_{error}") for name in self.names for error in ERRORS]
        return first, *self.names, *errors, own("mechanism")

    def table(self) -> Iterator[tuple[str | int | float | None, ...]]:
        """Yield a row for each thing: its number, the numbers, their errors, the mechanism."""
        for at, row in enumerate(self.rows):
            errors = (error for number in row for error in in_few_digits(*number[1:]))
            yield at + 1, *(number[0] for number in row), *errors, self.mechanism

    def to_json(self) -> list[dict[str, str | int | float | None]]:
        """Return each row as a record of its columns."""
        return [dict(zip(self.columns, row, strict=True)) for row in self.table()]
