"""What the columns of a data file could be: labels, numbers on a grid, days, or left out.

DuckDB looks at every cell as a text; nothing is rounded. What is found here is a suggestion for a
policy, which is public: ends of ranges are moved outwards to round numbers, so that they tell of
nobody, but labels are those of the file.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import date, timedelta
from fractions import Fraction
from functools import reduce
from itertools import count
from math import gcd, lcm
from pathlib import Path
from typing import Literal

from blowproof.models.base.errors import BlowproofError
from blowproof.models.base.numbers import plain
from blowproof.models.data.dataset import Dataset
from blowproof.models.data.encoding import literal, number
from blowproof.models.data.tabular import Table
from blowproof.models.domain.attributes import Attribute, Integers, Labels, Steps
from blowproof.models.domain.domain import Domain

__all__ = ["MOST_LABELS", "Inferred", "infer", "readable"]

MOST_LABELS = 1000
"""Labels of one attribute: what a person can look through, and days of some three years."""

MOST_VALUES = 100_000
FEW = 20
"""So many numbers on a grid keep the ends that they have: codes, not measurements."""

_NUMBER = r"\s*[+-]?[0-9]{1,25}(\.[0-9]{1,9})?\s*"
_CODE = r"\s*[+-]?0[0-9].*"
"""Zeros in front: a code, such as a postcode, that is written with digits."""

_DAYS = ("%Y-%m-%d", "%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y")

_IDS = ("id", "nr", "no", "number", "key", "index", "row", "person", "")

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


@dataclass(frozen=True)
class _Counted:
    """What one pass over the file says about a column."""

    filled: int
    different: int
    numeric: bool
    codes: bool
    days: str | None


def infer(path: str | Path) -> tuple[int, list[Inferred]]:
    """Return how many rows a data file has, and what each of its columns could be."""
    with Table(path) as table:
        names = table.names
        rows, counted = _counted(table, len(names))
        columns = [_inferred(table, at, name, rows, counted[at]) for at, name in enumerate(names)]
    return rows, columns


def readable(path: str | Path, columns: Iterable[Inferred]) -> list[Inferred]:
    """Return the columns, those left out that a policy with these values could not read.

    A Parquet column of doubles, for instance, holds 0.1 as a number that is not on a grid of
    tenths.
    """
    found = list(columns)
    used = {item.name: item.attribute for item in found if item.attribute is not None}
    if not used or _fits(path, used) is None:
        return found
    result = []
    for item in found:
        if item.attribute is not None:
            why = _fits(path, {item.name: item.attribute})
            if why is not None:
                item = replace(item, kind="left out", attribute=None, words=why, alike=())  # noqa: PLW2901
        result.append(item)
    return result


def _fits(path: str | Path, attributes: dict[str, Attribute]) -> str | None:
    """Why the file cannot be read into a domain of these attributes; None: it can."""
    with Dataset(path, Domain(**attributes)) as data:
        try:
            _ = data.size
        except BlowproofError as error:
            return str(error).partition("\n")[0].removeprefix(f"{path}: ")
    return None


def _counted(table: Table, width: int) -> tuple[int, list[_Counted]]:
    def asked(source: str, cells: list[str]) -> str:
        parts = ["count(*)"]
        for cell in cells:
            text = f"nullif({cell}, '')"
            parts += [
                f"count({text})",
                f"count(DISTINCT {text})",
                f"coalesce(bool_and(regexp_full_match({text}, {literal(_NUMBER)})), false)",
                f"coalesce(bool_or(regexp_full_match({text}, {literal(_CODE)})), false)",
            ]
            for form in _DAYS:
                day = f"try_strptime({text}, '{form}')"
                same = f"coalesce(strftime({day}, '{form}') = {text}, false)"
                parts.append(f"coalesce(bool_and({same}) FILTER (WHERE {text} IS NOT NULL), false)")
        return f"SELECT {', '.join(parts)} FROM {source}"

    (row,) = table.cells(asked)
    rows, *rest = row
    each = 4 + len(_DAYS)
    found = []
    for at in range(width):
        filled, different, numeric, codes, *days = rest[each * at : each * (at + 1)]
        form = next((form for form, fits in zip(_DAYS, days, strict=True) if fits), None)
        found.append(_Counted(filled, different, numeric, codes, form))
    return rows, found


def _inferred(table: Table, at: int, name: str, rows: int, seen: _Counted) -> Inferred:
    empty = rows - seen.filled
    if seen.different < 2:
        same = "every cell is empty" if not seen.filled else "every filled cell is the same"
        if not (seen.filled and empty):
            return Inferred(name, "left out", None, f"{same}: it tells nobody from anybody", empty)
    if seen.filled == seen.different == rows > FEW and name.strip().casefold() in _IDS:
        return Inferred(name, "left out", None, "a number for each person", empty)
    if seen.numeric and not seen.codes:
        return _numbers(table, at, name, seen, empty)
    if seen.days is not None:
        return _days(table, at, name, seen.days, empty)
    own = seen.different == seen.filled > 3
    if own or seen.different > min(MOST_LABELS, max(FEW, rows // 2)):
        each = "nearly every row has its own: a name or a number of a person"
        words = each if 2 * seen.different > seen.filled else f"{seen.different:,} different texts"
        return Inferred(name, "left out", None, f"{words}; group them first to use it", empty)
    return _labels(table, at, name, seen, empty)


def _values(table: Table, at: int) -> list[tuple[str, int]]:
    """The distinct filled cells with how often each occurs, in no order."""

    def asked(source: str, cells: list[str]) -> str:
        inner = f"SELECT nullif({cells[at]}, '') AS text FROM {source}"
        return (
            f"SELECT text, count(*) FROM ({inner}) WHERE text IS NOT NULL GROUP BY text "
            f"LIMIT {MOST_VALUES + 1}"
        )

    return [(str(text), int(times)) for text, times in table.cells(asked)]


def _labels(table: Table, at: int, name: str, seen: _Counted, empty: int) -> Inferred:
    values = _values(table, at)
    labels = sorted((text for text, _ in values), key=_as_people_count)
    words = f"{len(labels)} labels"
    if empty:
        labels = [*labels, ""]
        words += ', and "" for cells that are empty'
    alone = sum(times == 1 for _, times in values)
    ordered = all(re.match(r"\s*[<>]?=?\s*[0-9]", text) for text, _ in values)
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


def _numbers(table: Table, at: int, name: str, seen: _Counted, empty: int) -> Inferred:
    if seen.different <= MOST_VALUES:
        texts = [text for text, _ in _values(table, at)]
        values = [Fraction(number(text) or 0) for text in texts]
        low, high, step = min(values), max(values), _step(values)
    else:
        texts = []
        low, high, step = _ends(table, at)
    low, high = _rounded(low, high, step)
    size = (high - low) / step + 1
    shown = f"{plain(low)}..{plain(high)}" + ("" if step == 1 else f" in steps of {plain(step)}")
    if not empty:
        found = f"numbers {shown}, the ends rounded outwards" if size > FEW else f"numbers {shown}"
        if step == 1:
            return Inferred(name, "numbers", Integers(int(low), int(high)), found, 0)
        return Inferred(name, "numbers", Steps(low, high, step), found, 0)
    plainly = step == 1 and all(text == str(plain(Fraction(text))) for text in texts)
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


def _ends(table: Table, at: int) -> tuple[Fraction, Fraction, Fraction]:
    """The ends of a column of very many numbers, and a step that all of them have."""

    def asked(source: str, cells: list[str]) -> str:
        text = f"trim(nullif({cells[at]}, ''))"
        value = f"CAST({text} AS DECIMAL(38, 9))"
        places = f"max(length(split_part({text}, '.', 2)))"
        return f"SELECT min({value})::VARCHAR, max({value})::VARCHAR, {places} FROM {source}"

    ((low, high, places),) = table.cells(asked)
    return Fraction(low), Fraction(high), Fraction(1, 10 ** int(places or 0))


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


def _days(table: Table, at: int, name: str, form: str, empty: int) -> Inferred:
    def asked(source: str, cells: list[str]) -> str:
        day = f"CAST(try_strptime(nullif({cells[at]}, ''), '{form}') AS DATE)"
        return f"SELECT CAST(min({day}) AS VARCHAR), CAST(max({day}) AS VARCHAR) FROM {source}"

    ((least, most),) = table.cells(asked)
    first, last = date.fromisoformat(least), date.fromisoformat(most)
    span = (last - first).days + 1
    if span + bool(empty) > MOST_LABELS:
        why = f"days of {span // 365} years, {first.year} to {last.year}: make it years or months"
        return Inferred(name, "left out", None, why, empty)
    labels = [(first + timedelta(days=step)).strftime(form) for step in range(span)]
    words = f"every day from {labels[0]} to {labels[-1]}"
    if empty:
        labels, words = ["", *labels], f'{words}, and "" for cells that are empty'
    return Inferred(name, "days", Labels(labels, ordered=True), words, empty)
