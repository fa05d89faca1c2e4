"""What may nobody find out, what is already public, what will be published: as options say it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from blowproof.models.base.errors import PolicyError, nearest
from blowproof.models.base.numbers import exact
from blowproof.models.data.inferred import Inferred
from blowproof.models.data.nested import Nested
from blowproof.models.domain.attributes import Attribute, Integers, Labels
from blowproof.models.queries.arguments import query_name, split_arguments, split_query

__all__ = [
    "EVERYTHING",
    "SIZE",
    "Choices",
    "Secret",
    "column_from",
    "nesting_text",
    "published",
    "read_public",
    "read_secret",
]

EVERYTHING, SIZE = "everything", "size"
FORMS = "everything, each-column, within(COLUMN,...) or near(COLUMN,DISTANCE)"
MOST_CELLS = 10_000
"""A whole table with more cells is nothing that a newcomer publishes."""
FEW_CELLS, RECORDS = 20, 4
"""Nor is one, beyond a few cells, that has not so many records for each cell on average."""


@dataclass(frozen=True)
class Secret:
    """What may nobody find out: the kind, and the columns or the column and distance it is about.

    `kind` is a kind of the policy language: full, attribute, partition or distance.
    """

    kind: str = "full"
    columns: tuple[str, ...] = ()
    near: str = ""


@dataclass(frozen=True)
class Choices:
    """All answers: what is secret, which counts and whether n are public, what is published.

    `nested` is what everybody knows of columns that lie within others.
    """

    secret: Secret = Secret()
    public: tuple[tuple[str, ...], ...] = ()
    size_public: bool = False
    queries: tuple[str, ...] = ()
    nested: tuple[Nested, ...] = ()

    def with_public(self, found: tuple[str, ...] | Nested | None) -> Choices:
        """Return the same with one more public table (None: the number of records), or nesting."""
        if found is None:
            return replace(self, size_public=True)
        if isinstance(found, Nested):
            kept = (item for item in self.nested if item != found)
            return replace(self, nested=(*kept, found))
        return self if found in self.public else replace(self, public=(*self.public, found))


def read_secret(text: str, columns: Sequence[Inferred]) -> Secret:
    """Return what an option or an answer says is secret.

    >>> read_secret("within(ward)", [column_from("ward=a,b")])
    Secret(kind='partition', columns=('ward',), near='')
    """
    word, inner = split_query(text) or ("", None)
    given = split_arguments(inner) or []
    if word == EVERYTHING and not given:
        return Secret()
    if word == "each-column" and not given:
        return Secret("attribute")
    if word == "within" and given:
        return Secret("partition", _columns(given, columns))
    if word == "near" and len(given) == 2:
        (name,) = _columns(given[:1], columns)
        attribute = next(item.attribute for item in columns if item.name == name)
        if attribute is None or not attribute.ordered:
            raise PolicyError(
                f"--secret {text}: the values of {name} have no order",
                hint="near needs numbers, days or ordered labels; write within(...) or everything",
            )
        if exact(given[1]) <= 0:
            raise PolicyError(f"--secret {text}: the distance is not above zero", hint="write 5")
        return Secret("distance", (name,), given[1])
    raise PolicyError(f"--secret {text}: this is not understood", hint=f"write {FORMS}")


def read_public(
    text: str, columns: Sequence[Inferred], nested: Sequence[Nested] = ()
) -> tuple[str, ...] | Nested | None:
    """Return the columns whose counts are public; None: the number of records is.

    `school in district` is about columns that lie within others: which of them has which.

    >>> read_public("marginal(ward)", [column_from("ward=a,b")]), read_public("size", [])
    (('ward',), None)
    """
    if text.strip() == SIZE:
        return None
    for item in nested:
        if text.strip() == nesting_text(item):
            return item
    start, within, end = text.partition(" in ")
    if within and not any(item.name == text.strip() for item in columns):
        fine, coarse = _columns([start.strip(), end.strip()], columns)
        known = ", ".join(map(nesting_text, nested))
        raise PolicyError(
            f"--public {text}: some {fine} of the data has no {coarse}, or several, or there "
            "are too few rows to tell",
            hint=f"found in the data: {known}" if known else "name columns, as region,sex",
        )
    word, inner = split_query(text) or ("", None)
    names = split_arguments(inner if word == "marginal" else text) or []
    if not names:
        raise PolicyError(f"--public {text}: this names no columns", hint="write ward,sex, or size")
    return _columns(names, columns)


def nesting_text(item: Nested) -> str:
    """Return how `--public` names a nesting."""
    return f"{item.inner} in {item.outer}"


def published(
    columns: Sequence[Inferred],
    given: Iterable[str],
    rows: int | None = None,
    nested: Sequence[Nested] = (),
) -> tuple[str, ...]:
    """Return the queries to publish: those given, or the largest table that is still one.

    Of data with so many rows it is one whose cells are not nearly all empty: their noise would be
    larger than they are. A column is not in it beside one that lies within it.
    A query may also be written as the columns of its table.
    """
    used = [item for item in columns if item.attribute is not None]
    names = {item.name for item in used}
    found = []
    for text in given:
        words = split_arguments(text) or []
        plain = words and all(word in names for word in words)
        found.append(query_name("marginal", words) if plain else text)
    if found:
        return tuple(found)
    most = MOST_CELLS if rows is None else min(MOST_CELLS, max(FEW_CELLS, rows // RECORDS))
    small = {item.name for item in used if item.attribute and item.attribute.size <= most}
    implied = {item.outer for item in nested if item.inner in small}
    cells, first = 1, []
    for item in used:
        assert item.attribute is not None
        if item.name in implied or cells * item.attribute.size > most:
            continue
        cells *= item.attribute.size
        first.append(item.name)
    if len(first) == len(used):
        return ("histogram",)
    return (query_name("marginal", first or [used[0].name]),)


def _columns(names: Sequence[str], columns: Sequence[Inferred]) -> tuple[str, ...]:
    usable = [item.name for item in columns if item.attribute is not None]
    for name in names:
        left_out = next((item for item in columns if item.name == name), None)
        if left_out is not None and left_out.attribute is None:
            raise PolicyError(
                f"the column {name!r} is left out of the policy: {left_out.words}",
                hint=nearest(name, usable, what="column"),
            )
        if name not in usable:
            hint = nearest(name, usable, what="column")
            raise PolicyError(f"there is no column {name!r}", hint=hint)
    return tuple(dict.fromkeys(names))


def column_from(text: str) -> Inferred:
    """Return a column that somebody describes in words, where there are no data.

    >>> column_from("age = 0..115").attribute, column_from('sex = F, M').attribute
    (Integers(min=0, max=115), Labels(['F', 'M']))
    """
    name, equals, values = (part.strip() for part in text.partition("="))
    if not (name and equals and values):
        raise PolicyError(
            f"{text!r} does not describe a column", hint="write sex=F,M or age=0..115"
        )
    span = re.fullmatch(r"(-?[0-9]+)\s*\.\.\s*(-?[0-9]+)", values)
    attribute: Attribute
    if span is not None:
        attribute = Integers(int(span[1]), int(span[2]))
        return Inferred(name, "numbers", attribute, f"numbers {values}", 0)
    attribute = Labels(split_arguments(values) or [])
    return Inferred(name, "labels", attribute, f"{attribute.size} labels", 0)
