"""The small files beside a policy: published tables, weights, matrices and centroids.

A published table is CSV or Parquet. The others are plain text, one row per line, with commas or
white space between numbers; `#` starts a comment and blank lines are skipped. A number is an
integer, a fraction p/q or a decimal, which is read exactly: these files are data, so 0.25 is 1/4
(policies and queries take fractions only).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from io import BytesIO, TextIOWrapper
from math import prod
from pathlib import Path

from blowproof.models.base.door import NUMBERS_BYTES, read_bytes
from blowproof.models.base.errors import BudgetError, DataError
from blowproof.models.base.numbers import Exact, show
from blowproof.models.data.encoding import number
from blowproof.models.data.tabular import Table, rank
from blowproof.models.domain.attributes import Integers
from blowproof.models.domain.domain import LISTING_LIMIT, Domain

__all__ = ["read_centroids", "read_matrix", "read_table", "read_weights"]

Row = tuple[Exact, ...]

_LARGEST_COUNT = 10**18


def read_table(path: str | Path, domain: Domain, axes: tuple[int, ...]) -> list[int]:
    """Return the answers of a published marginal, row-major over these axes.

    The file has a column for each of the attributes and one named `count`; every cell stands in it
    exactly once, zeros included.
    """
    names = [domain.names[axis] for axis in axes]
    sizes = [domain.attribute(axis).size for axis in axes]
    if prod(sizes) > LISTING_LIMIT:
        raise BudgetError(f"the table has {prod(sizes)} cells; listing stops at {LISTING_LIMIT}")
    if "count" in names:
        raise DataError(f"{path}: an attribute is named 'count', like the column of the answers")
    with Table(path) as table:
        count = table.column("count", Integers(0, _LARGEST_COUNT))
        table.encode([*(table.column(name, domain[name]) for name in names), count])
        # One row more than there are cells is enough to see that one of them stands twice.
        most = prod(sizes) + 1
        rows = table.rows(f"SELECT rowid + 1, * FROM encoded ORDER BY rowid LIMIT {most}")
    answers: list[int | None] = [None] * prod(sizes)
    first: dict[int, int] = {}
    for row, *cell, answer in rows:
        at = rank(tuple(cell), sizes)
        if at in first:
            again = f"rows {first[at]} and {row}: {_cell(domain, axes, at)} stands twice"
            raise DataError(f"{path}: {again}{_finer(table, domain, names)}")
        first[at], answers[at] = row, answer
    return _complete(path, domain, axes, answers)


def _complete(
    path: str | Path, domain: Domain, axes: tuple[int, ...], answers: list[int | None]
) -> list[int]:
    missing = answers.count(None)
    if missing:
        cell = _cell(domain, axes, answers.index(None))
        raise DataError(
            f"{path}: {cell} is missing ({missing} of {len(answers)} cells are)\n"
            "  try: write every cell, those with the count 0 too"
        )
    return [answer for answer in answers if answer is not None]


def _finer(table: Table, domain: Domain, names: Sequence[str]) -> str:
    """A hint, if the table tells more attributes apart than were asked for."""
    more = [name for name in table.names if name in domain.names and name not in names]
    return f"\n  try: name the attribute {more[0]!r} in the marginal too" if more else ""


def _cell(domain: Domain, axes: tuple[int, ...], at: int) -> str:
    """Name a cell: {sex = 'F', age = 3}."""
    parts = []
    for axis in reversed(axes):
        name, attribute = domain.attributes[axis]
        at, place = divmod(at, attribute.size)
        value = attribute.value(place)
        parts.append(f"{name} = {value!r}" if isinstance(value, str) else f"{name} = {show(value)}")
    return "{" + ", ".join(reversed(parts)) + "}"


def read_weights(path: str | Path) -> Row:
    """Return the weights of records 1..n, one per line."""
    rows = _rows(path, "the weights are written one per line", 1, "weight")
    return tuple(weight for (weight,) in rows)


def read_matrix(path: str | Path, columns: int) -> tuple[Row, ...]:
    """Return the rows of a matrix, one per output of the query, each with a number per value."""
    return _rows(path, f"the matrix has {_many(columns, 'column')}, one per value", columns, "row")


def read_centroids(path: str | Path, dims: int) -> tuple[Row, ...]:
    """Return the centroids, one per line, each with a coordinate per attribute."""
    return _rows(path, f"a centroid has {_many(dims, 'coordinate')}", dims, "centroid")


def _rows(path: str | Path, rule: str, width: int, what: str) -> tuple[Row, ...]:
    result = []
    for line, text in _lines(path):
        items = re.split(r"\s*,\s*|\s+", text)
        if len(items) != width:
            found = _many(len(items), "number")
            raise DataError(f"{path}:{line}: found {found}, but {rule}")
        result.append(tuple(_number(item, f"{path}:{line}") for item in items))
    if not result:
        raise DataError(f"{path}: there is no {what} in this file")
    return tuple(result)


def _lines(path: str | Path) -> Iterator[tuple[int, str]]:
    """Yield the lines that say something, with their numbers."""
    content = read_bytes(path, most=NUMBERS_BYTES)
    try:
        for line, text in enumerate(TextIOWrapper(BytesIO(content), "utf-8-sig"), start=1):
            stripped = text.partition("#")[0].strip()
            if stripped:
                yield line, stripped
    except UnicodeDecodeError:
        raise DataError(f"{path}: this is not UTF-8 text") from None


def _number(text: str, place: str) -> Exact:
    value = number(text)
    if value is None:
        found = repr(text) if text else "nothing between two commas"
        raise DataError(f"{place}: {found} is not a number\n  try: an integer, p/q or a decimal")
    return value


def _many(count: int, noun: str) -> str:
    """Return "1 number" or "3 numbers".

    >>> _many(1, "number"), _many(3, "number")
    ('1 number', '3 numbers')
    """
    return f"{count} {noun}{'' if count == 1 else 's'}"
