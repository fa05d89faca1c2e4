"""The questions of `blowproof init` in a terminal, in plain words, each with a safe answer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeVar

import click

from blowproof.cli.beginning.choices import (
    EVERYTHING,
    SIZE,
    Choices,
    Secret,
    column_from,
    published,
    read_public,
    read_secret,
)
from blowproof.models.base.errors import BlowproofError
from blowproof.models.data.inferred import Inferred
from blowproof.models.data.nested import Nested
from blowproof.models.policy.in_words import printable

__all__ = ["ask_columns", "ask_nested", "ask_public", "ask_queries", "ask_secret"]

T = TypeVar("T")

SECRETS = (
    ("everything: from what is published, nobody may tell any two values apart", EVERYTHING),
    ("each column by itself: two people who differ in one column cannot be told apart",
     "each-column"),
    ("everything, except which group somebody is in (a region that all know, for instance)",
     "within"),
    ("numbers that are near each other: whether somebody is 34 or 36, but not 34 or 70", "near"),
)  # fmt: skip


def _say(text: str = "") -> None:
    click.echo(text, err=True)


def _answer(question: str, default: str = "") -> str:
    found: str = click.prompt(
        question, default=default, show_default=bool(default), err=True, type=str
    )
    return found.strip()


def _until_understood(question: str, read: Callable[[str], T], default: str = "") -> T:
    """Ask until the answer is understood; say each time what was not."""
    while True:
        try:
            return read(_answer(question, default))
        except BlowproofError as error:
            _say(f"  {error}")


def ask_columns() -> list[Inferred]:
    """Return columns as somebody describes them, where there are no data."""
    _say("What is recorded of each person? One column at a time: sex=F,M or age=0..115.")
    found: list[Inferred] = []

    def read(text: str) -> Inferred | None:
        return column_from(text) if text else None

    while True:
        item = _until_understood("column (nothing: no more)", read)
        if item is not None:
            found = [*(old for old in found if old.name != item.name), item]
        elif found:
            return found


def ask_secret(columns: Sequence[Inferred]) -> Secret:
    """Return what may nobody find out about a person."""
    _say("\nWhat may nobody find out about a person?")
    for number, (words, _) in enumerate(SECRETS, start=1):
        _say(f"  {number}  {words}")

    def read(text: str) -> Secret:
        place = int(text) if text in ("1", "2", "3", "4") else 0
        form = SECRETS[place - 1][1] if place else text
        if form == "within":
            return _until_understood(
                "  which columns say the group (region, or region,sex)",
                lambda names: read_secret(f"within({names})", columns),
            )
        if form == "near":
            return _until_understood(
                "  which column, and how near (age,5)",
                lambda pair: read_secret(f"near({pair})", columns),
            )
        return read_secret(form, columns)

    return _until_understood("1 to 4", read, "1")


def ask_nested(nested: Sequence[Nested], choices: Choices) -> Choices:
    """Return the choices with what everybody knows of columns that lie within others."""
    for item in nested:
        _say(f"\nIn the data each {printable(item.inner)} has one {printable(item.outer)}.")
        if click.confirm("Does everybody know which one?", default=False, err=True):
            choices = choices.with_public(item)
    return choices


def ask_public(columns: Sequence[Inferred], choices: Choices, rows: int | None) -> Choices:
    """Return the choices with what is already public."""
    names = ", ".join(item.name for item in columns if item.attribute is not None)
    _say("\nWhat is already public, or will be? Totals that somebody can look up elsewhere.")
    _say(f"Columns whose counts are known, as region or region,sex (columns: {names});")
    _say("or size, if it is known how many people there are.")

    def read(text: str) -> tuple[str, ...] | str | None:
        found = read_public(text, columns) if text else ""
        assert not isinstance(found, Nested)
        return found

    while True:
        found = _until_understood("public (nothing: no more)", read)
        if found == "":
            return choices
        assert not isinstance(found, str)
        choices = choices.with_public(found)
        _say(f"  {SIZE if found is None else ', '.join(found)}: noted")


def ask_queries(
    columns: Sequence[Inferred],
    choices: Choices,
    check: Callable[[str], None],
    rows: int | None,
    nested: Sequence[Nested],
) -> Choices:
    """Return the choices with what will be published; `check` refuses what is no query."""
    (usual,) = published(columns, (), rows, nested)
    _say("\nWhich numbers will you publish? A table of counts by columns, as sex,region;")
    _say("or a query: histogram (the whole table), sum(age), cumulative(age), ranges(age).")

    def read(text: str) -> tuple[str, ...]:
        found = published(columns, [text])
        for query in found:
            check(query)
        return found

    return replace(choices, queries=_until_understood("publish", read, usual))
