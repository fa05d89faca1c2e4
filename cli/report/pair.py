"""The worst pair as a table that one can step through; without scripts it shows every step."""

from __future__ import annotations

from typing import Any

from blowproof.cli.report.html import Markup, scrolled, tag
from blowproof.models.policy.in_words import counted, value_text

__all__ = ["pair_table"]

MOST_COLUMNS = 8
MOST_MOVES = 400
MOST_PRINTED = 30
"""On paper; on a screen the others are scrolled to."""
MOST_KINDS = 12


def pair_table(attributes: list[str], query: dict[str, Any], number: int) -> Markup:
    """Return the table of one query's worst pair, with its buttons."""
    moves, witness = query["chain"]["moves"], query["witness"]
    every = _touched(moves)
    facts = every[:MOST_COLUMNS]
    shown = moves[:MOST_MOVES]
    name = f"pair-{number}"
    caption = (
        f"Records as ({', '.join(attributes)}). On the right: by how much each known fact is off "
        "after the change. While one is off, there is no such database."
    )
    steps = tag("table", tag("thead", _head(facts)), tag("tbody", _rows(shown, facts)), id=name)
    unprinted = len(shown) - MOST_PRINTED
    return tag(
        "div",
        _buttons(name, len(shown)),
        tag("p", "All changes are shown.", class_="state", role="status", aria_live="polite"),
        tag("p", caption, class_="caption"),
        scrolled(steps, "The changes, one by one", len(shown)),
        tag("p", f"Not printed: {counted(unprinted, 'more change')}.", class_="printed")
        if unprinted > 0 else None,
        _more(len(moves) - len(shown), len(every) - len(facts)),
        tag("p", _staying(witness["unchanged"])),
        class_="stepper", data_moves=len(moves),
    )  # fmt: skip


def _buttons(name: str, count: int) -> Markup:
    def button(word: str, action: str) -> Markup:
        return tag("button", word, type="button", data_step=action, aria_controls=name)

    return tag(
        "div",
        button("Start", "first"), button("Back", "back"), button("Next", "next"),
        button("All", "last"),
        class_="buttons", hidden=True, role="group", aria_label=f"Step through {count} changes",
    )  # fmt: skip


def _head(facts: list[str]) -> Markup:
    cells = [tag("th", word, scope="col") for word in ("step", "before", "after", "kind")]
    return tag("tr", cells, [tag("th", fact, scope="col", class_="fact") for fact in facts])


def _touched(moves: list[dict[str, Any]]) -> list[str]:
    """The facts that move on the way, in the order in which they first do."""
    return list(dict.fromkeys(
        name for move in moves for side in ("lowers", "lifts") for name, _ in move[side]
    ))  # fmt: skip


def _rows(moves: list[dict[str, Any]], facts: list[str]) -> list[Markup]:
    """One row for each move; each says how far every fact is off once the move is made."""
    off: dict[str, int] = {}
    rows = []
    for place, move in enumerate(moves):
        for sign, side in ((-1, "lowers"), (1, "lifts")):
            for name, times in move[side]:
                off[name] = off.get(name, 0) + sign * times
        rows.append(_row(place, move, [off.get(name, 0) for name in facts]))
    return rows


def _row(place: int, move: dict[str, Any], off: list[int]) -> Markup:
    before, after = move["before"], move["after"]
    record = "" if move["record"] is None else f" (record {move['record']})"
    return tag(
        "tr",
        tag("th", f"{place + 1}{record}", scope="row"),
        tag("td", _record(before, after) if before else "not there"),
        tag("td", _record(after, before) if after else "gone"),
        tag("td", _kind(move)),
        [_off(value) for value in off],
        class_="unprinted" if place >= MOST_PRINTED else None,
    )


def _record(record: list[Any], other: list[Any] | None) -> list[Markup | str]:
    """A record's values; those that differ from the other side are marked."""
    parts: list[Markup | str] = []
    for place, value in enumerate(record):
        parts.append(", " if place else "")
        changed = other is not None and other[place] != value
        parts.append(tag("mark", value_text(value)) if changed else value_text(value))
    return parts


def _kind(move: dict[str, Any]) -> str:
    if move["before"] is None or move["after"] is None:
        return "added" if move["before"] is None else "removed"
    return "secret" if move["secret"] else "plain"


def _off(value: int) -> Markup:
    words = f"{value:+d}".replace("-", "−") if value else "0"
    return tag("td", words, class_="off" if value else "kept")


def _more(moves: int, facts: int) -> Markup | None:
    parts = []
    if moves:
        parts.append(counted(moves, "more change"))
    if facts:
        parts.append(f"{counted(facts, 'more fact')} on the way")
    return tag("p", f"Not shown: {' and '.join(parts)}.") if parts else None


def _staying(unchanged: list[Any]) -> str:
    total = sum(times for _, times in unchanged)
    if not total:
        return "There are no other records."
    kinds = [f"{times:,} × ({', '.join(map(value_text, record))})" for record, times in unchanged]
    more = f" and {len(kinds) - MOST_KINDS} other kinds" if len(kinds) > MOST_KINDS else ""
    verb = "stays" if total == 1 else "stay"
    noun = "other record" if total == 1 else "other records"
    return f"{total:,} {noun} {verb} as they are: {'; '.join(kinds[:MOST_KINDS])}{more}."
