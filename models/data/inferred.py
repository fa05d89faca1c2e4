"""What the columns of data could be: labels, numbers on a grid, days, or left out.

Every cell is looked at as a text (`columns_at`); nothing is rounded. What is found here is a
suggestion for a policy, which is public: ends of ranges are moved outwards to round numbers, so
that they tell of nobody, but labels are those of the file.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from contextlib import closing
from dataclasses import dataclass, replace
from datetime import timedelta
from fractions import Fraction
from functools import reduce
from itertools import count
from math import gcd, lcm
from pathlib import Path
from typing import Literal

from blowproof.models.base.door import open_file
from blowproof.models.base.errors import BlowproofError, DataError
from blowproof.models.base.numbers import plain
from blowproof.models.data.columns_at import MOST_VALUES, Columns, Counted, columns_of
from blowproof.models.data.encoding import number
from blowproof.models.data.opening import open_data
from blowproof.models.data.table_at import TableAt
from blowproof.models.domain.attributes import Attribute, Integers, Labels, Steps
from blowproof.models.domain.domain import Domain

__all__ = ["MOST_LABELS", "Inferred", "infer", "readable"]

MOST_LABELS = 1000
"""Labels of one attribute: what a person can look through, and days of some three years."""

FEW = 20
"""So many numbers on a grid keep the ends that they have: codes, not measurements."""

FEW_OTHERS = 3
"""So few texts in a column of numbers are words for what is not known."""

_COMMA = r"\s*[+-]?[0-9][0-9.]*,[0-9]+\s*"

_IDS = frozenset(
    {"id", "ids", "nr", "no", "num", "number", "key", "index", "row", "person", "uuid", "serial"}
)
"""Words in the names of columns that tell persons apart."""

_NOT_CSV = {
    b"PK\x03\x04": "a spreadsheet or a zip archive",
    b"\xd0\xcf\x11\xe0": "a spreadsheet or another Office document",
    b"%PDF": "a PDF",
    b"{": "JSON",
    b"[{": "JSON",
    b"<!": "a web page",
    b"<html": "a web page",
    b"<?xml": "XML",
    b"SQLite format 3": "a SQLite database",
    b"\xff\xfe": "text in UTF-16",
    b"\xfe\xff": "text in UTF-16",
}
"""How files begin that somebody named .csv."""

Kind = Literal["labels", "numbers", "days", "left out"]


@dataclass(frozen=True)
class Inferred:
    """One column: what it could be, in words too, and how many cells are empty or seen once.

    `attribute` is None where the column is left out of the domain; `words` then says why, and what
    to do about it.
    """

    name: str
    kind: Kind
    attribute: Attribute | None
    words: str
    empty: int
    alone: int = 0
    alike: tuple[tuple[str, ...], ...] = ()


def infer(data: str | Path | TableAt) -> tuple[int, list[Inferred]]:
    """Return how many rows the data have, and what each of their columns could be."""
    if not isinstance(data, TableAt):
        _refuse_others(Path(data))
    with columns_of(data) as columns:
        names = columns.names
        rows, counted = columns.counted()
        if not rows:
            raise DataError(f"{data}: there are no rows below the names of the columns")
        found = [_inferred(columns, at, name, rows, counted[at]) for at, name in enumerate(names)]
    return rows, found


def _refuse_others(path: Path) -> None:
    """Say what a file is that is no table, whatever its name says."""
    if not path.name.lower().endswith((".csv", ".tsv")):
        return
    with open_file(path) as file:
        start = file.read(16)
    for begins, what in _NOT_CSV.items():
        if start.startswith(begins):
            raise DataError(
                f"{path}: this is {what}, not CSV\n"
                "  try: open it where it was made, and save the table as CSV (UTF-8)"
            )


def readable(data: str | Path | TableAt, columns: Iterable[Inferred]) -> list[Inferred]:
    """Return the columns, those left out that a policy with these values could not read.

    A Parquet column of doubles, for instance, holds 0.1 as a number that is not on a grid of
    tenths.
    """
    found = list(columns)
    used = {item.name: item.attribute for item in found if item.attribute is not None}
    if not used or _fits(data, used) is None:
        return found
    result = []
    for item in found:
        if item.attribute is not None:
            why = _fits(data, {item.name: item.attribute})
            if why is not None:
                item = replace(item, kind="left out", attribute=None, words=why, alike=())  # noqa: PLW2901
        result.append(item)
    return result


def _fits(data: str | Path | TableAt, attributes: dict[str, Attribute]) -> str | None:
    """Why the data cannot be read into a domain of these attributes; None: they can."""
    path = data if isinstance(data, TableAt) else str(data)
    with closing(open_data(path, Domain(**attributes), None)) as found:
        try:
            _ = found.size
        except BlowproofError as error:
            return str(error).partition("\n")[0].removeprefix(f"{data}: ")
    return None


def _inferred(columns: Columns, at: int, name: str, rows: int, seen: Counted) -> Inferred:
    empty = rows - seen.filled
    if seen.odd:
        return Inferred(name, "left out", None, seen.odd, 0)
    if seen.different < 2:
        same = "every cell is empty" if not seen.filled else "every filled cell is the same"
        if not (seen.filled and empty):
            return Inferred(name, "left out", None, f"{same}: it tells nobody from anybody", empty)
    every = seen.filled == seen.different == rows
    if columns.is_key(at) or (every and rows > FEW and _tells_apart(columns, at, name, seen)):
        return Inferred(name, "left out", None, "a number for each person", empty)
    if seen.numeric and not seen.codes:
        return _numbers(columns, at, name, seen, empty)
    if seen.days is not None:
        return _days(columns, at, name, seen.days, empty)
    if all(re.fullmatch(_COMMA, text) for text, _ in columns.values(at)):
        words = "numbers with a decimal comma: write 1.5 for 1,5, or group them"
        return Inferred(name, "left out", None, words, empty)
    own = seen.different == seen.filled > 3
    if own or seen.different > min(MOST_LABELS, max(FEW, rows // 2)):
        each = "nearly every row has its own: a name or a number of a person"
        words = each if 2 * seen.different > seen.filled else f"{seen.different:,} different texts"
        return Inferred(name, "left out", None, f"{words}; group them first to use it", empty)
    return _labels(columns, at, name, seen, empty)


def _tells_apart(columns: Columns, at: int, name: str, seen: Counted) -> bool:
    """Whether a column of different values in all rows is a number of a person, not a measure.

    Its name says so, or it rises from row to row, as numbers do that are handed out.
    """
    words = re.findall(r"[A-Z]?[a-z]+|[A-Z]+", name)
    named = not name.strip() or any(word.lower() in _IDS for word in words)
    return named or (seen.numeric and columns.rising(at))


def _labels(columns: Columns, at: int, name: str, seen: Counted, empty: int) -> Inferred:
    values = columns.values(at)
    labels = sorted((text for text, _ in values), key=_as_people_count)
    words = f"{len(labels)} labels"
    if empty:
        labels = [*labels, ""]
        words += ', and "" for cells that are empty'
    alone = sum(times == 1 for _, times in values)
    if alone > FEW and 2 * alone > len(values):
        each = f"{alone:,} of {len(values):,} texts are in one row only, and a policy is public"
        return Inferred(name, "left out", None, f"{each}; group them first to use it", empty)
    ordered = all(re.match(r"\s*[<>]?=?\s*[0-9]", text) for text, _ in values)
    others = [text for text, _ in values if number(text) is None]
    if len(values) > FEW and 0 < len(others) <= FEW_OTHERS:
        words += f"; numbers but for {', '.join(map(repr, others))}: with those cells empty it has"
        words += " an order"
    attribute = Labels(labels, ordered=ordered and not empty)
    return Inferred(name, "labels", attribute, words, empty, alone, _alike(labels))


def _as_people_count(text: str) -> tuple[object, ...]:
    """Sort "5-9" before "10-14": by the numbers in a text, then by its letters."""
    parts = re.split(r"([0-9]+)", text.strip().casefold())
    return tuple((0, int(p), "") if p.isdecimal() else (1, 0, p) for p in parts if p)


def _alike(labels: Iterable[str]) -> tuple[tuple[str, ...], ...]:
    """The labels that differ in capitals and blanks alone: perhaps one, spelled in several ways."""
    groups: dict[str, list[str]] = {}
    for label in labels:
        groups.setdefault(" ".join(label.split()).casefold(), []).append(label)
    return tuple(tuple(group) for group in groups.values() if len(group) > 1)


def _numbers(columns: Columns, at: int, name: str, seen: Counted, empty: int) -> Inferred:
    if seen.different <= MOST_VALUES:
        texts = [text for text, _ in columns.values(at)]
        values = [Fraction(number(text) or 0) for text in texts]
        low, high, step = min(values), max(values), _step(values)
    else:
        texts = []
        low, high, step = columns.ends(at)
    low, high = _rounded(low, high, step)
    size = (high - low) / step + 1
    shown = f"{plain(low)}..{plain(high)}" + ("" if step == 1 else f" in steps of {plain(step)}")
    if not empty:
        found = f"numbers {shown}, the ends rounded outwards" if size > FEW else f"numbers {shown}"
        if step == 1 and low.denominator == 1:
            return Inferred(name, "numbers", Integers(int(low), int(high)), found, 0)
        return Inferred(name, "numbers", Steps(low, high, step), found, 0)
    plainly = step == low.denominator == 1 and all(
        text == str(plain(Fraction(text))) for text in texts
    )
    if size > MOST_LABELS or not texts or not plainly:
        why = f"numbers {shown}, and {empty:,} cells are empty: fill them, or group the numbers"
        return Inferred(name, "left out", None, why, empty)
    labels = ["", *(str(value) for value in range(int(low), int(high) + 1))]
    words = f'numbers {shown}; "" for cells that are empty, so that they cannot be summed'
    return Inferred(name, "labels", Labels(labels, ordered=True), words, empty)


def _step(values: Iterable[Fraction]) -> Fraction:
    """The widest step from the first value that meets all the others; above 1 it is 1."""
    items = list(values)
    below = lcm(*(value.denominator for value in items))
    first = int(items[0] * below)
    width = reduce(gcd, (abs(int(value * below) - first) for value in items), 0)
    return min(Fraction(1), Fraction(width, below)) if width else Fraction(1)


def _rounded(low: Fraction, high: Fraction, step: Fraction) -> tuple[Fraction, Fraction]:
    """Move the ends outwards to round numbers, on the grid; a few values keep their ends.

    >>> _rounded(Fraction(3), Fraction(97), Fraction(1))
    (Fraction(0, 1), Fraction(100, 1))
    """
    if (high - low) / step < FEW:
        return low, high
    power = next(k for k in count() if step * 10 ** (k + 1) > high - low)
    unit = step * 10**power
    down = (low - low // unit * unit) // step * step
    up = (-(-high // unit) * unit - high) // step * step
    return low - down, high + up


def _days(columns: Columns, at: int, name: str, form: str, empty: int) -> Inferred:
    first, last = columns.days(at, form)
    span = (last - first).days + 1
    if span + bool(empty) > MOST_LABELS:
        why = f"days of {span // 365} years, {first.year} to {last.year}: make it years or months"
        return Inferred(name, "left out", None, why, empty)
    labels = [(first + timedelta(days=step)).strftime(form) for step in range(span)]
    words = f"every day from {labels[0]} to {labels[-1]}"
    if empty:
        labels, words = ["", *labels], f'{words}, and "" for cells that are empty'
    return Inferred(name, "days", Labels(labels, ordered=True), words, empty)
