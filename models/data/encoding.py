"""One column of a data file, turned into positions exactly.

DuckDB's casts are lenient: '1.5' becomes the integer 2, '1_000' a thousand, the double 0.1 a neat
DECIMAL. So a cast counts only where printing its result gives back what was read. That covers
nearly every row, inside the engine. The spellings that are left ("+5", "73/2", doubles with a
fraction) are *odd*: each distinct one is read once, in Python's fractions; nothing is rounded.

`STAGES` are the steps of the SQL, each a small function of the column and the name of the
expression before it; `place` is the same map in Python and has the last word on what is refused.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from math import lcm
from typing import Literal

from blowproof.models.base.errors import PolicyError, nearest
from blowproof.models.base.kept import cached_property
from blowproof.models.base.numbers import Exact, plain, show
from blowproof.models.domain.attributes import Attribute, Labels
from blowproof.models.domain.regions import Positions

__all__ = [
    "NO_LABEL",
    "STAGES",
    "Column",
    "among",
    "escaped",
    "literal",
    "number",
    "place",
    "quoted",
]

NO_LABEL = "not a label"
_WHOLE = re.compile("U?(TINY|SMALL|BIG|HUGE)?INT(EGER)?")
_NUMBER = re.compile(
    r"[+-]?(?:[0-9]+/(?P<below>[0-9]+)|(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:e[+-]?[0-9]{1,3})?)", re.I
)
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")
"""What begins a formula in some spreadsheet; the last four are the wide forms."""
_FORMS = {"label": "VARCHAR", "text": "VARCHAR", "float": "DOUBLE"}
_LONGEST = 1000  # characters of one number; Python itself refuses to read far longer ones
_NARROW = ((8, "UTINYINT"), (16, "USMALLINT"), (32, "UINTEGER"), (63, "BIGINT"), (126, "HUGEINT"))


def quoted(name: str) -> str:
    """Return an SQL identifier.

    >>> print(quoted('the "old" ward'))
    "the ""old"" ward"
    """
    return '"' + name.replace('"', '""') + '"'


def literal(text: str) -> str:
    """Return an SQL text.

    >>> print(literal("it's"))
    'it''s'
    """
    return "'" + text.replace("'", "''") + "'"


def escaped(text: str) -> str:
    """Return a text that no spreadsheet runs as a formula: with an apostrophe before it.

    Plain numbers stay; a text that has its apostrophe already gets one more. Labels and names of
    columns are read in either form.

    >>> escaped("=1+1"), escaped("-1/2"), escaped("'@a"), escaped("it's")
    ("'=1+1", '-1/2', "''@a", "it's")
    """
    runs = text.lstrip("'").startswith(_FORMULA) and not _NUMBER.fullmatch(text)
    return f"'{text}" if runs else text


def number(text: str) -> Exact | None:
    """Return the exact number that a text spells, or None. Decimals are data here, so 0.1 is 1/10.

    >>> number("36.50"), number("73/2"), number(" -2 "), number("1e-3"), number("1_000")
    (Fraction(73, 2), Fraction(73, 2), -2, Fraction(1, 1000), None)
    """
    match = _NUMBER.fullmatch(text.strip()) if len(text) <= _LONGEST else None
    if match is None or (match["below"] and int(match["below"]) == 0):
        return None
    return plain(Fraction(text.strip()))


@dataclass(frozen=True)
class _Grid:
    """The values of a numeric attribute, scaled to integers: low, low + step, ..., high."""

    scale: int
    digits: int | None  # scale = 10**digits, if the values have finite decimals
    low: int
    high: int
    step: int

    @property
    def type(self) -> str:
        return "BIGINT" if max(abs(self.low), abs(self.high), self.step) < 10**17 else "HUGEINT"

    def literal(self, value: int) -> str:
        return f"'{value}'::{self.type}"


@dataclass(frozen=True)
class Column:
    """A column of a file: the attribute it holds, its name in SQL, and its DuckDB type."""

    name: str
    attribute: Attribute
    source: str
    type: str = "VARCHAR"
    enum: str = ""  # the SQL type that lists the labels

    @property
    def kind(self) -> Literal["label", "whole", "float", "text"]:
        """How the file stores the values."""
        if isinstance(self.attribute, Labels):
            return "label"
        if self.type in ("FLOAT", "DOUBLE"):
            return "float"
        return "whole" if _WHOLE.fullmatch(self.type) else "text"

    @property
    def kept(self) -> str:
        """The column in SQL, in a form that loses nothing; empty cells are the label "", if any."""
        if self.kind == "whole":
            return self.source
        text = f"CAST({self.source} AS {_FORMS[self.kind]})"
        empty = isinstance(self.attribute, Labels) and "" in self.attribute.labels
        return f"coalesce({text}, '')" if empty else text

    @property
    def narrow(self) -> str | None:
        """The smallest SQL type for the positions; None if there are too many for any."""
        bits = (self.attribute.size - 1).bit_length()
        return next((name for width, name in _NARROW if bits <= width), None)

    @cached_property
    def grid(self) -> _Grid | None:
        """The attribute as a grid of integers; None where SQL could not be exact."""
        if isinstance(self.attribute, Labels):
            return None
        low, high = Fraction(self.attribute.min), Fraction(self.attribute.max)
        step = Fraction(self.attribute.step)
        base = lcm(low.denominator, step.denominator)
        digits = next((count for count in range(10) if 10**count % base == 0), None)
        scale = base if digits is None else 10**digits
        ends = [int(value * scale) for value in (low, high, step)]
        too_long = max(map(abs, (*ends, scale))) >= 10**36
        fractions = self.kind == "text" and digits is None
        return None if too_long or fractions else _Grid(scale, digits, *ends)


Stage = Callable[[Column, str, str], str]


def _cast(column: Column, kept: str, _: str) -> str:
    """The value as SQL reads it; NULL where it cannot."""
    grid = column.grid
    if column.kind == "label":
        plainly = f"TRY_CAST({kept} AS {column.enum})"
        assert isinstance(column.attribute, Labels)
        labels = [str(label) for label in column.attribute.labels]
        marked = [literal(escaped(label)) for label in labels if escaped(label) != label]
        if not marked:
            return plainly
        bare = f"TRY_CAST(substr({kept}, 2) AS {column.enum})"
        return f"coalesce({plainly}, CASE WHEN {kept} IN ({', '.join(marked)}) THEN {bare} END)"
    if grid is None:
        return "NULL::HUGEINT"
    if column.kind == "float":
        return f"TRY_CAST({kept} AS BIGINT)"
    if column.kind == "whole" or not grid.digits:
        return f"TRY_CAST({kept} AS {grid.type})"
    return f"TRY_CAST({kept} AS DECIMAL({18 if grid.type == 'BIGINT' else 38}, {grid.digits}))"


def _certain(column: Column, kept: str, cast: str) -> str:
    """How many times 1/scale the value is; NULL unless the cast is exactly what was read."""
    grid = column.grid
    if column.kind == "label":
        return f"enum_code({cast})"
    if grid is None:
        return cast
    text = f"CAST({cast} AS VARCHAR)"
    if column.kind == "text" and grid.digits:  # trimming is slow, hence only after plain comparison
        same = f"{text} = {kept} OR {_trimmed(text)} = {_trimmed(kept)}"
        return f"CASE WHEN {same} THEN CAST(replace({text}, '.', '') AS {grid.type}) END"
    if column.kind == "text":
        return f"CASE WHEN {text} = {kept} THEN {cast} END"
    first, last = grid.literal(grid.low // grid.scale), grid.literal(grid.high // grid.scale)
    sure = f"CAST({cast} AS DOUBLE) = {kept} AND " if column.kind == "float" else ""
    scaled = f"CAST({cast} AS {grid.type}) * {grid.literal(grid.scale)}"
    return f"CASE WHEN {sure}{cast} BETWEEN {first} AND {last} THEN {scaled} END"


def _trimmed(text: str) -> str:
    """A decimal without the zeros, and the point, that say nothing."""
    return f"CASE WHEN contains({text}, '.') THEN rtrim(rtrim({text}, '0'), '.') ELSE {text} END"


def _offset(column: Column, _: str, certain: str) -> str:
    """How far the value lies above the smallest one; guarded, so that nothing overflows."""
    if column.grid is None:
        return certain
    low, high = column.grid.literal(column.grid.low), column.grid.literal(column.grid.high)
    return f"CASE WHEN {certain} BETWEEN {low} AND {high} THEN {certain} - {low} END"


def _position(column: Column, _: str, offset: str) -> str:
    """The position; NULL between the points of the grid."""
    if column.grid is None or column.grid.step == 1:
        return f"CAST({offset} AS {column.narrow})"
    step = column.grid.literal(column.grid.step)
    return f"CASE WHEN {offset} % {step} = 0 THEN CAST({offset} // {step} AS {column.narrow}) END"


STAGES: tuple[Stage, ...] = (_cast, _certain, _offset, _position)


def place(column: Column, text: str) -> int:
    """Return the position of a value as the file spells it; a PolicyError says why there is none.

    >>> from blowproof.models.domain.attributes import Steps
    >>> place(Column("temp", Steps(35, 42, "1/2"), "temp"), "36.50")
    3
    """
    attribute = column.attribute
    if isinstance(attribute, Labels):
        return _label(attribute, text)
    if column.kind == "float":
        return _double(column, text)
    value = number(text)
    if value is None:
        raise PolicyError("not an exact number", hint=f"use {attribute.describe()}")
    return attribute.index(value)


def _label(attribute: Labels, text: str) -> int:
    spelled = [str(label) for label in attribute.labels]
    if text in spelled:
        return spelled.index(text)
    marked = [escaped(label) for label in spelled]
    if text in marked:
        return marked.index(text)
    if text.strip() in spelled:
        raise PolicyError(f"not the label {text.strip()!r}", hint="remove the blanks around it")
    raise PolicyError(NO_LABEL, hint=nearest(text, spelled, what="label"))


def _double(column: Column, text: str) -> int:
    """The double itself is judged, not the decimal it is printed as: 0.1 is not 1/10."""
    try:
        value = plain(Fraction(float(text)))
    except (OverflowError, ValueError):
        raise PolicyError("not a finite number") from None
    try:
        return column.attribute.index(value)
    except PolicyError as error:
        written = number(text)
        if written is None or written == value:
            raise
        raise PolicyError(
            f"the double {show(value)}, not {show(written)}; {error.reason.split(' is ')[-1]}",
            hint=f"store the column {column.name!r} as text or DECIMAL: doubles round fractions",
        ) from None


def among(name: str, side: Positions) -> str:
    """Return the SQL condition "the position is one of these".

    >>> among("p0", Positions.of([1, 5, 6, 7, 9]))
    '(p0 BETWEEN 5 AND 7 OR p0 IN (1, 9))'
    """
    runs = [f"{name} BETWEEN {low} AND {high - 1}" for low, high in side.runs if high - low > 1]
    single = [str(low) for low, high in side.runs if high - low == 1]
    if single:
        runs.append(f"{name} IN ({', '.join(single)})")
    return f"({' OR '.join(runs)})" if runs else "FALSE"
