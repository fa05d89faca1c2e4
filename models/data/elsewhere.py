"""A table of a database, counted where it lies.

Every column is asked once which values it holds, with a GROUP BY: each distinct one is read here,
once, by the same exact rules as a spelling in a file (`encoding.place`), so that all databases give
the same answer whatever their casts do, and a value outside the domain is found. Integers on a
domain without gaps are only compared with its ends. Counts are then GROUP BYs over the columns that
matter; their cells, not the records, come here and are added up. Where even these would be too many
the condition itself is sent.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from importlib import import_module
from math import isnan, prod
from operator import and_, or_
from pathlib import Path
from typing import Any, NoReturn

from blowproof.models.base.errors import BudgetError, DataError, PolicyError, nearest
from blowproof.models.base.kept import cached_property
from blowproof.models.base.temporary import prefix, sweep
from blowproof.models.data.backends import Backend, opened
from blowproof.models.data.counted import Counted, bounded, within
from blowproof.models.data.encoding import Column, place
from blowproof.models.data.table_at import TableAt
from blowproof.models.data.tabular import connect
from blowproof.models.domain.attributes import Attribute, Labels
from blowproof.models.domain.domain import LISTING_LIMIT, Domain
from blowproof.models.domain.regions import Area, Box, Point, Positions

__all__ = ["Elsewhere"]

MOST_VALUES = 100_000
"""Distinct values of a column that are read one by one."""
MOST_CELLS = 1_000_000
"""Cells that are fetched to be added up here."""
AT_ONCE = 50
"""Conditions in one expression, where cells would be too many."""


@dataclass(frozen=True)
class _Axis:
    """An attribute's column: which position each raw value has, or where positions begin."""

    places: dict[Any, int] | None
    low: int = 0

    def place(self, raw: Any) -> int:
        """Return the position of a value as the database gives it."""
        return int(raw) - self.low if self.places is None else self.places[raw]

    def among(self, value: Any, side: Positions) -> Any:
        """Return the condition that the column's value has one of these positions."""
        if self.places is None:
            runs = [value.between(self.low + a, self.low + b - 1) for a, b in side.runs]
        else:
            inside = [raw for raw, at in self.places.items() if at in side]
            runs = [value.isin([raw for raw in inside if raw is not None])]
            runs += [value.isnull()] if None in inside else []
        return reduce(or_, runs)


class Elsewhere(Counted):
    """The records of a table, each a value of the domain; read at the first question."""

    def __init__(self, at: TableAt, domain: Domain, folder: Path | None = None) -> None:
        self.at = at
        self.domain = domain
        self.name = str(at)
        sweep()
        self._scratch = tempfile.TemporaryDirectory(prefix=prefix(), ignore_cleanup_errors=True)
        try:
            self._backend: Backend = opened(at, folder, self._scratch.name)
        except BaseException:
            self._scratch.cleanup()
            raise
        self._keys: tuple[str, ...] = ()
        self._cells: dict[tuple[int, ...], str | None] = {}

    def close(self) -> None:
        """End the connection."""
        self._backend.close()
        self._engine.close()
        self._scratch.cleanup()

    @cached_property
    def _engine(self) -> Any:
        """Where cells are added up, in this process."""
        return connect(self._scratch.name)

    @cached_property
    def _table(self) -> Any:
        """The table's columns as p0, p1, ... in the order of the domain; nothing was checked."""
        table = self._backend.table(self.at.table)
        types, chosen = table.schema(), {}
        for axis, (name, attribute) in enumerate(self.domain.attributes):
            if name not in types:
                hint = nearest(name, types, what="column")
                raise DataError(f"{self.at}: there is no column {name!r}\n  try: {hint}")
            chosen[f"p{axis}"] = self._readable(table[name], types[name], attribute)
        self._keys = self._key_columns(types)
        for name in self._keys:
            chosen[_key(name)] = table[name]
        return table.select(**chosen)

    def _key_columns(self, types: Any) -> tuple[str, ...]:
        """The columns that tell rows apart: the key that the policy names, or the table's own."""
        if self.at.key is None:
            return tuple(self._backend.primary_key(self.at.table))
        if self.at.key not in types:
            hint = nearest(self.at.key, types, what="column")
            raise DataError(f"{self.at}: there is no column {self.at.key!r}\n  try: {hint}")
        return (self.at.key,)

    def _readable(self, column: Any, kind: Any, attribute: Attribute) -> Any:
        """Return a column as an expression whose values tell exactly what it holds."""
        text = kind.is_string() or kind.is_uuid() or kind.is_unknown()
        number = kind.is_integer() or kind.is_decimal() or kind.is_floating()
        named = isinstance(attribute, Labels) and (kind.is_boolean() or kind.is_date())
        if not (text or number or named):
            raise DataError(
                f"{self.at}: the column {column.get_name()!r} is of type {kind}, and the policy"
                f" wants {attribute.describe()}\n"
                "  try: a view with the column as a text or a whole number"
            )
        if text:
            return self._backend.text(column)
        if kind.is_floating():
            return column.cast("float64")
        return column.cast("string") if kind.is_date() else column

    @cached_property
    def _axes(self) -> list[_Axis]:
        """What every column holds; a value outside its attribute is an error, with its row."""
        return [self._axis(axis) for axis in range(len(self.domain))]

    def _axis(self, axis: int) -> _Axis:
        name, attribute = self.domain.attributes[axis]
        kind = self._table[f"p{axis}"].type()
        found = self._grouped((axis,), limit=MOST_VALUES)
        if found is None:
            if isinstance(attribute, Labels) or not kind.is_integer() or attribute.step != 1:
                raise BudgetError(
                    f"{self.at}: the column {name!r} holds more than {MOST_VALUES:,} different"
                    " values, and they are read one by one unless they are integers without gaps"
                )
            return self._between(axis, int(attribute.min), int(attribute.max))
        column = Column(name, attribute, name, "DOUBLE" if kind.is_floating() else "VARCHAR")
        places = {}
        for raw, _ in sorted(found, key=lambda row: str(row[0])):
            places[raw] = self._placed(axis, column, raw, boolean=kind.is_boolean())
        return _Axis(places)

    def _placed(self, axis: int, column: Column, raw: Any, *, boolean: bool) -> int:
        if raw is None and isinstance(column.attribute, Labels) and "" in column.attribute.labels:
            return column.attribute.labels.index("")
        if raw is None:
            hint = 'the label "" stands for values that are missing'
            labelled = isinstance(column.attribute, Labels)
            self._refuse(axis, raw, "is empty", hint if labelled else None)
        text = raw.decode() if isinstance(raw, bytes) else str(raw)
        text = str(bool(raw)).lower() if boolean else text
        try:
            return place(column, text)
        except PolicyError as error:
            self._refuse(axis, raw, f"= {text!r}: {error.reason}", error.hint)

    def _between(self, axis: int, low: int, high: int) -> _Axis:
        """Check a column of integers by its ends alone."""
        value = self._table[f"p{axis}"]
        outside = self._table.filter(value.isnull() | ~value.between(low, high))
        for (raw,) in self._backend.rows(outside.select(f"p{axis}").limit(1)):
            if raw is None:
                self._refuse(axis, raw, "is empty", None)
            self._refuse(axis, raw, f"= {raw}: not within {low}..{high}", None)
        return _Axis(None, low)

    def _refuse(self, axis: int, raw: Any, what: str, hint: str | None) -> NoReturn:
        """Say which row cannot be used, by its key, and why."""
        value = self._table[f"p{axis}"]
        odd = isinstance(raw, float) and isnan(raw)
        found = self._table.filter(
            value.isnull() if raw is None else value.isnan() if odd else value == raw
        )
        where = ""
        if self._keys:
            names = list(map(_key, self._keys))
            rows = self._backend.rows(found.order_by(names).select(*names).limit(1))
            pairs = (pair for row in rows for pair in zip(self._keys, row, strict=True))
            said = (f"{name} = {item}" for name, item in pairs)
            where = f"the row with {', '.join(said)}: "
        else:
            hint = hint or 'name a column that tells rows apart: data = { ..., key = "id" }'
        tried = f"\n  try: {hint}" if hint else ""
        raise DataError(f"{self.at}: {where}{self.domain.names[axis]} {what}{tried}")

    def _grouped(self, axes: Sequence[int], *, limit: int) -> list[tuple[Any, ...]] | None:
        """The distinct values of columns and how often they occur; None where they are more."""
        names = [f"p{axis}" for axis in axes]
        asked = self._table.group_by(names).aggregate(n=self._table.count()).limit(limit + 1)
        found = self._backend.rows(asked)
        return None if len(found) > limit else found

    @cached_property
    def size(self) -> int:
        """How many records there are."""
        assert self._axes is not None  # what is outside the domain is found first
        ((count,),) = self._backend.rows(self._table.aggregate(n=self._table.count()))
        return int(count)

    def counts(self, areas: Sequence[Area]) -> list[int]:
        """Return how many records lie in each area."""
        full = self.domain.whole.sides
        groups: dict[tuple[int, ...], list[int]] = {}
        every = tuple(sorted({at for area in areas for at in bounded(area, full)}))
        together = prod(self._width(axis) for axis in every) <= MOST_CELLS
        for at, area in enumerate(areas):
            own = tuple(sorted(bounded(area, full)))
            groups.setdefault(every if together else own, []).append(at)
        found = [0] * len(areas)
        for axes, members in groups.items():
            asked = [areas[at] for at in members]
            cells = self._local(axes)
            counted = self._sent(asked) if cells is None else self._added(asked, cells)
            for at, count in zip(members, counted, strict=True):
                found[at] = count
        return found

    def _width(self, axis: int) -> int:
        places = self._axes[axis].places
        return self.domain.attribute(axis).size if places is None else len(places)

    def _local(self, axes: tuple[int, ...]) -> str | None:
        """The name of the cells on these axes, fetched once; None where they are too many."""
        if axes not in self._cells:
            self._cells[axes] = self._fetched(axes)
        return self._cells[axes]

    def _fetched(self, axes: tuple[int, ...]) -> str | None:
        try:
            cells = self.sparse_marginal(axes, limit=MOST_CELLS)
        except BudgetError:
            return None
        name = f"cells{len(self._cells)}"
        columns = [[str(cell[k]) for cell in cells] for k in range(len(axes))]
        made = [f"CAST(unnest(?::VARCHAR[]) AS HUGEINT) AS p{axis}" for axis in axes]
        self._engine.execute(
            f"CREATE TEMP TABLE {name} AS SELECT "
            + ", ".join([*made, "CAST(unnest(?::VARCHAR[]) AS HUGEINT) AS n"]),
            [*columns, [str(count) for count in cells.values()]],
        )
        return name

    def _added(self, areas: Sequence[Area], cells: str) -> list[int]:
        whole = self.domain.whole
        asked = [f"sum(n) FILTER (WHERE {within(area, whole)})" for area in areas]
        (row,) = self._engine.execute(f"SELECT {', '.join(asked)} FROM {cells}").fetchall()
        return [int(count or 0) for count in row]

    def _sent(self, areas: Sequence[Area]) -> list[int]:
        """Count areas by conditions that the database works out itself."""
        found: list[int] = []
        for start in range(0, len(areas), AT_ONCE):
            part = areas[start : start + AT_ONCE]
            asked = {
                f"n{at}": self._table.count(where=self._condition(area))
                for at, area in enumerate(part)
            }
            (row,) = self._backend.rows(self._table.aggregate(**asked))
            found.extend(int(count or 0) for count in row)
        return found

    def _condition(self, area: Area) -> Any:
        literal = import_module("ibis").literal
        return reduce(or_, map(self._inside, area.boxes), literal(False))

    def _inside(self, box: Box) -> Any:
        literal, full = import_module("ibis").literal, self.domain.whole.sides
        sides = [
            self._axes[axis].among(self._table[f"p{axis}"], side)
            for axis, side in enumerate(box.sides)
            if side != full[axis]
        ]
        return reduce(and_, sides, literal(True))

    def sparse_marginal(
        self, axes: tuple[int, ...], *, limit: int = LISTING_LIMIT
    ) -> dict[Point, int]:
        """Return the counts that are not 0, by the positions on these axes."""
        if not axes:
            return {(): self.size} if self.size else {}
        used = [self._axes[axis] for axis in axes]
        found = self._grouped(axes, limit=limit)
        if found is None:
            raise BudgetError(f"{self.at}: more than {limit} different cells hold records")
        result: dict[Point, int] = {}
        for *raw, count in found:
            cell = tuple(axis.place(item) for axis, item in zip(used, raw, strict=True))
            result[cell] = result.get(cell, 0) + int(count)
        return result

    def records(self, limit: int = LISTING_LIMIT) -> list[Point]:
        """Return every record in the order of the table's key."""
        if self.size > limit:
            raise BudgetError(f"{self.at}: more than {limit} records; listing stops there")
        if not self._keys:
            raise DataError(
                f"{self.at}: rows of a table have no order, and it has no primary key\n"
                '  try: name the column that numbers the records: data = { ..., key = "id" }'
            )
        names = [f"p{axis}" for axis in range(len(self.domain))]
        rows = self._backend.rows(self._table.select(*map(_key, self._keys), *names))
        wide = len(self._keys)
        keys = [row[:wide] for row in rows]
        if len(set(keys)) < len(keys) or any(None in key for key in keys):
            raise DataError(f"{self.at}: the key does not tell all rows apart")
        return [
            tuple(axis.place(raw) for axis, raw in zip(self._axes, row[wide:], strict=True))
            for row in sorted(rows, key=lambda row: row[:wide])
        ]

    def __repr__(self) -> str:
        return f"Elsewhere({str(self.at)!r})"


def _key(name: str) -> str:
    """Return what a column of the key is called beside p0, p1, ..."""
    return f"key {name}"
