"""What the columns of data hold, asked one at a time: of a file, or of a table of a database.

`inferred` decides what they could be. Of a file DuckDB looks at every cell; of a table each column
is asked once, with a GROUP BY, which values it holds: rows never come here.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from types import TracebackType
from typing import Any, Protocol, Self

from blowproof.models.base.kept import cached_property
from blowproof.models.base.temporary import prefix
from blowproof.models.data.encoding import literal
from blowproof.models.data.table_at import TableAt
from blowproof.models.data.tabular import Table

__all__ = ["MOST_VALUES", "Columns", "Counted", "columns_of"]

MOST_VALUES = 100_000
"""Different values of a column that are looked at one by one."""

NUMBER = r"\s*[+-]?[0-9]{1,25}(\.[0-9]{1,9})?\s*"
CODE = r"\s*[+-]?0[0-9].*"
"""Zeros in front: a code, such as a postcode, that is written with digits."""

DAYS = ("%Y-%m-%d", "%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y")


@dataclass(frozen=True)
class Counted:
    """What one pass over a column says; `odd`: why no policy can have it."""

    filled: int
    different: int
    numeric: bool
    codes: bool
    days: str | None
    odd: str = ""


class Columns(Protocol):
    """The columns of some data, by their places."""

    @property
    def names(self) -> tuple[str, ...]:
        """Their names."""

    def counted(self) -> tuple[int, list[Counted]]:
        """How many rows there are, and what one pass says about each column."""

    def values(self, at: int) -> list[tuple[str, int]]:
        """The distinct filled cells with how often each occurs, in no order."""

    def ends(self, at: int) -> tuple[Fraction, Fraction, Fraction]:
        """The ends of a column of very many numbers, and a step that all of them have."""

    def days(self, at: int, form: str) -> tuple[date, date]:
        """The first and the last day of a column of days."""

    def rising(self, at: int) -> bool:
        """Whether each row of a column of numbers has a larger one than the row before."""

    def is_key(self, at: int) -> bool:
        """Whether the data themselves say that a column tells rows apart: a primary key."""

    def together(self, places: Sequence[tuple[int, int]]) -> list[int]:
        """How many different pairs two columns hold, of each two, where the first is filled."""

    def pairs(self, first: int, second: int) -> list[tuple[str, str]]:
        """The different pairs that two columns hold where the first is filled."""

    def __enter__(self) -> Self: ...

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None: ...


def columns_of(data: str | Path | TableAt) -> Columns:
    """Return the columns of a file or a table, to be used in a `with` block."""
    return _OfTable(data) if isinstance(data, TableAt) else _OfFile(data)


class _OfFile(Table):
    """The columns of a file; every cell is a text."""

    def counted(self) -> tuple[int, list[Counted]]:
        """Return the rows, and what one pass says about each column."""

        def asked(source: str, cells: list[str]) -> str:
            parts = ["count(*)"]
            for cell in cells:
                text = f"nullif({cell}, '')"
                parts += [
                    f"count({text})",
                    f"count(DISTINCT {text})",
                    f"coalesce(bool_and(regexp_full_match({text}, {literal(NUMBER)})), false)",
                    f"coalesce(bool_or(regexp_full_match({text}, {literal(CODE)})), false)",
                ]
                for form in DAYS:
                    day = f"try_strptime({text}, '{form}')"
                    same = f"coalesce(strftime({day}, '{form}') = {text}, false)"
                    all_same = f"bool_and({same}) FILTER (WHERE {text} IS NOT NULL)"
                    parts.append(f"coalesce({all_same}, false)")
            return f"SELECT {', '.join(parts)} FROM {source}"

        (row,) = self.cells(asked)
        rows, *rest = row
        each = 4 + len(DAYS)
        found = []
        for at in range(len(self.names)):
            filled, different, numeric, codes, *days = rest[each * at : each * (at + 1)]
            form = next((form for form, fits in zip(DAYS, days, strict=True) if fits), None)
            found.append(Counted(filled, different, numeric, codes, form))
        return rows, found

    def values(self, at: int) -> list[tuple[str, int]]:
        """Return the distinct filled cells with how often each occurs."""

        def asked(source: str, cells: list[str]) -> str:
            inner = f"SELECT nullif({cells[at]}, '') AS text FROM {source}"
            return (
                f"SELECT text, count(*) FROM ({inner}) WHERE text IS NOT NULL GROUP BY text "
                f"LIMIT {MOST_VALUES + 1}"
            )

        return [(str(text), int(times)) for text, times in self.cells(asked)]

    def ends(self, at: int) -> tuple[Fraction, Fraction, Fraction]:
        """Return the ends of a column of numbers, and a step that all of them have."""

        def asked(source: str, cells: list[str]) -> str:
            text = f"trim(nullif({cells[at]}, ''))"
            value = f"CAST({text} AS DECIMAL(38, 9))"
            places = f"max(length(split_part({text}, '.', 2)))"
            return f"SELECT min({value})::VARCHAR, max({value})::VARCHAR, {places} FROM {source}"

        ((low, high, places),) = self.cells(asked)
        return Fraction(low), Fraction(high), Fraction(1, 10 ** int(places or 0))

    def days(self, at: int, form: str) -> tuple[date, date]:
        """Return the first and the last day."""

        def asked(source: str, cells: list[str]) -> str:
            day = f"CAST(try_strptime(nullif({cells[at]}, ''), '{form}') AS DATE)"
            return f"SELECT CAST(min({day}) AS VARCHAR), CAST(max({day}) AS VARCHAR) FROM {source}"

        ((least, most),) = self.cells(asked)
        return date.fromisoformat(least), date.fromisoformat(most)

    def is_key(self, at: int) -> bool:
        """Return False: a file has no keys."""
        return False

    def rising(self, at: int) -> bool:
        """Return whether the numbers rise from row to row."""

        def asked(source: str, cells: list[str]) -> str:
            value = f"CAST(trim({cells[at]}) AS DECIMAL(38, 9))"
            before = f"SELECT {value} AS this, lag({value}) OVER () AS last FROM {source}"
            return f"SELECT coalesce(bool_and(this > last), false) FROM ({before})"

        ((found,),) = self.cells(asked)
        return bool(found)

    def together(self, places: Sequence[tuple[int, int]]) -> list[int]:
        """Return how many different pairs each two columns hold, in one pass."""

        def asked(source: str, cells: list[str]) -> str:
            parts = [
                f"count(DISTINCT row({cells[a]}, coalesce({cells[b]}, ''))) "
                f"FILTER (WHERE {cells[a]} <> '')"
                for a, b in places
            ]
            return f"SELECT {', '.join(parts)} FROM {source}"

        return [int(found) for found in self.cells(asked)[0]]

    def pairs(self, first: int, second: int) -> list[tuple[str, str]]:
        """Return the different pairs that two columns hold."""

        def asked(source: str, cells: list[str]) -> str:
            texts = f"{cells[first]} AS a, coalesce({cells[second]}, '') AS b"
            return f"SELECT DISTINCT {texts} FROM {source} WHERE {cells[first]} <> ''"

        return [(str(a), str(b)) for a, b in self.cells(asked)]


class _OfTable:
    """The columns of a table of a database, as texts of what it gives."""

    def __init__(self, at: TableAt) -> None:
        from blowproof.models.data.backends import opened

        self.at = at
        self._scratch = tempfile.TemporaryDirectory(prefix=prefix(), ignore_cleanup_errors=True)
        try:
            self._backend = opened(at, None, self._scratch.name)
            self._table = self._backend.table(at.table)
        except BaseException:
            self._scratch.cleanup()
            raise
        self._found: dict[int, list[tuple[str, int]]] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._backend.close()
        self._scratch.cleanup()

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The table's columns."""
        return tuple(self._table.schema())

    def counted(self) -> tuple[int, list[Counted]]:
        """Return the rows, and what is known of each column."""
        ((rows,),) = self._backend.rows(self._table.aggregate(n=self._table.count()))
        return int(rows), [self._counted(at) for at in range(len(self.names))]

    def _counted(self, at: int) -> Counted:
        column, kind = self._table[self.names[at]], self._table.schema()[self.names[at]]
        named = kind.is_boolean() or kind.is_date() or kind.is_string() or kind.is_uuid()
        if not (named or kind.is_unknown() or self._numbers(at)):
            words = f"its type is {kind}: a view could have it as a text or a whole number"
            return Counted(0, 0, numeric=False, codes=False, days=None, odd=words)
        values = self.values(at)
        if len(values) <= MOST_VALUES:
            texts = [text for text, _ in values]
            return Counted(
                filled=sum(times for _, times in values),
                different=len(texts),
                numeric=bool(texts) and all(re.fullmatch(NUMBER, text) for text in texts),
                codes=any(re.fullmatch(CODE, text) for text in texts),
                days=next((form for form in DAYS if texts and _all_days(texts, form)), None),
            )
        asked = self._table.aggregate(n=column.count(), d=column.nunique())
        ((filled, different),) = self._backend.rows(asked)
        return Counted(int(filled), int(different), kind.is_integer(), codes=False, days=None)

    def _numbers(self, at: int) -> bool:
        kind = self._table.schema()[self.names[at]]
        return bool(kind.is_integer() or kind.is_decimal() or kind.is_floating())

    def values(self, at: int) -> list[tuple[str, int]]:
        """Return the distinct filled values as texts, with how often each occurs."""
        if at not in self._found:
            kind = self._table.schema()[self.names[at]]
            asked = self._table.select(v=self._told(at))
            found = asked.group_by("v").aggregate(n=asked.count()).limit(MOST_VALUES + 1)
            texts = ((_as_text(raw, kind), int(times)) for raw, times in self._backend.rows(found))
            self._found[at] = [(text, times) for text, times in texts if text]
        return self._found[at]

    def ends(self, at: int) -> tuple[Fraction, Fraction, Fraction]:
        """Return the ends of a column of whole numbers."""
        column = self._table[self.names[at]]
        ((low, high),) = self._backend.rows(self._table.aggregate(a=column.min(), b=column.max()))
        return Fraction(int(low)), Fraction(int(high)), Fraction(1)

    def days(self, at: int, form: str) -> tuple[date, date]:
        """Return the first and the last day."""
        found = [datetime.strptime(text, form).date() for text, _ in self.values(at)]
        return min(found), max(found)

    def rising(self, at: int) -> bool:
        """Return whether the column tells rows apart by itself, since a table has no order."""
        return self.is_key(at)

    def is_key(self, at: int) -> bool:
        """Return whether the column is the primary key."""
        return self._backend.primary_key(self.at.table) == (self.names[at],)

    def together(self, places: Sequence[tuple[int, int]]) -> list[int]:
        """Return how many different pairs each two columns hold; each two are asked for."""
        return [len(self.pairs(first, second)) for first, second in places]

    def pairs(self, first: int, second: int) -> list[tuple[str, str]]:
        """Return the different pairs that two columns hold, as texts."""
        kinds = [self._table.schema()[self.names[at]] for at in (first, second)]
        asked = self._table.select(a=self._told(first), b=self._told(second)).distinct()
        rows = self._backend.rows(asked.limit(MOST_VALUES))
        found = ((_as_text(a, kinds[0]), _as_text(b, kinds[1])) for a, b in rows)
        return [pair for pair in found if pair[0]]

    def _told(self, at: int) -> Any:
        """A column as it is where `_as_text` knows its values, else as the database writes it."""
        column, kind = self._table[self.names[at]], self._table.schema()[self.names[at]]
        plain = self._numbers(at) or kind.is_boolean() or kind.is_date()
        return column if plain else self._backend.text(column)


def _as_text(raw: Any, kind: Any) -> str:
    """Return a value of a table as a file would have it, numbers exactly; "" for none."""
    if raw is None:
        return ""
    if kind.is_boolean():
        return str(bool(raw)).lower()
    if isinstance(raw, (Decimal, float)):
        number = Decimal(str(raw))
        return format(number.normalize(), "f") if number.is_finite() else str(raw)
    return raw.decode("utf-8", "replace") if isinstance(raw, bytes) else str(raw)


def _all_days(texts: list[str], form: str) -> bool:
    def same(text: str) -> bool:
        try:
            return datetime.strptime(text, form).strftime(form) == text
        except ValueError:
            return False

    return all(map(same, texts))
