"""A neighbour pair as people read it: the two databases side by side, changed records marked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import groupby
from typing import TYPE_CHECKING

from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from blowproof.models import Point, Policy
from blowproof.models.policy.in_words import counted, record_text

if TYPE_CHECKING:
    from rich.console import RenderableType

    from blowproof.verifier.asked.answer import Pair

__all__ = ["pair_parts"]

SHOWN = 12
"""How many changes are drawn; the rest are counted."""


def pair_parts(
    policy: Policy, pair: Pair, reading: str, *, numbered: bool = False
) -> Iterator[RenderableType]:
    """Yield the table of what changes, and a line on what stays.

    `numbered`: the changes carry their numbers (from 1), in the order in which the pair has them.
    """
    labelled = reading not in ("add-remove", "markov")
    table = _changes(policy, pair, numbered) if labelled else _moves(policy, pair)
    yield Padding(table, (0, 0, 0, 2), expand=False)
    yield Text(f"  {_staying(policy, pair)}", style="dim")


def _table(*columns: str) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for column in columns:
        table.add_column(column, overflow="fold")
    return table


def _changes(policy: Policy, pair: Pair, numbered: bool) -> Table:
    table = _table("", "before", "", "after", "")
    shown = list(_in_order(pair) if numbered else _marked(pair))
    for mark, before, after in shown[:SHOWN]:
        secret = policy.graph.is_edge(before, after)
        table.add_row(
            Text(mark, style="red"),
            _side(policy, before, after),
            "->",
            _side(policy, after, before),
            Text("secret" if secret else "plain move", style="red" if secret else "yellow"),
        )
    _more(table, len(shown) - SHOWN, blanks=1)
    return table


def _marked(pair: Pair) -> Iterator[tuple[str, Point, Point]]:
    """The changes with a mark each: the record, or how often the change occurs."""
    for (record, before, after), times in _grouped(pair).items():
        mark = f"record {record + 1}" if record is not None else f"{times} x" if times > 1 else "*"
        yield mark, before, after


def _in_order(pair: Pair) -> Iterator[tuple[str, Point, Point]]:
    """The changes with their numbers; equal ones that follow one another share a line."""
    places = pair.records if pair.records is not None else (None,) * len(pair.before)
    number, width = 1, len(f"{len(places)}")
    changes = zip(places, pair.before, pair.after, strict=True)
    for (record, before, after), run in groupby(changes):
        last = number + sum(1 for _ in run) - 1
        mark = f"{number:>{width}}" if last == number else f"{number} to {last}"
        yield (mark if record is None else f"{mark}  record {record + 1}"), before, after
        number = last + 1


def _grouped(pair: Pair) -> Counter[tuple[int | None, Point, Point]]:
    """The changes with how often each occurs; records are told apart only where they matter."""
    places = pair.records if pair.records is not None else (None,) * len(pair.before)
    return Counter(zip(places, pair.before, pair.after, strict=True))


def _moves(policy: Policy, pair: Pair) -> Table:
    table = _table("", "record")
    rows = [("removed", point, times) for point, times in Counter(pair.before).items()]
    rows += [("added", point, times) for point, times in Counter(pair.after).items()]
    for word, point, times in rows[:SHOWN]:
        many = f" {times} x" if times > 1 else ""
        table.add_row(Text(f"{word}{many}", style="red"), Text(record_text(policy.domain, point)))
    _more(table, len(rows) - SHOWN, blanks=1)
    return table


def _more(table: Table, hidden: int, *, blanks: int) -> None:
    if hidden > 0:
        table.add_row(
            *[""] * blanks, Text(f"... and {hidden} more (--json lists all)", style="dim")
        )


def _side(policy: Policy, point: Point, other: Point) -> Text:
    """One record; what differs from the other side is bold."""
    text = Text()
    parts = record_text(policy.domain, point, separator="\0").split("\0")
    for axis, part in enumerate(parts):
        text.append(", " if axis else "")
        text.append(part, style="bold" if point[axis] != other[axis] else "")
    return text


def _staying(policy: Policy, pair: Pair) -> str:
    total = sum(times for _, times in pair.unchanged)
    if not total:
        return "No other records."
    kinds = [
        f"{times} x ({record_text(policy.domain, point)})" for point, times in pair.unchanged[:3]
    ]
    more = ", ..." if len(pair.unchanged) > 3 else ""
    verb = "stays" if total == 1 else "stay"
    return f"{counted(total, 'other record')} {verb}: {', '.join(kinds)}{more}"
