"""HTML as nested tuples of text: everything is escaped, nothing is a template.

>>> str(tag("p", "a < b", class_="note"))
'<p class="note">a &lt; b</p>'
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from blowproof.models.policy.in_words import short

__all__ = ["Markup", "between", "join", "number", "scrolled", "table", "tag"]

SHORT = 4
"""Tables of so many rows are not cut by the end of a printed page."""
_VOID = {"br", "col", "hr", "line", "circle", "path", "rect", "meta", "input"}


class Markup(str):
    """Text that is HTML already."""

    __slots__ = ()


def tag(name: str, /, *children: object, **attributes: object) -> Markup:
    """Return an element; `class_` is "class", "_" in a name is "-", None leaves one out."""
    parts = [name]
    for key, value in attributes.items():
        if value is None or value is False:
            continue
        label = key.rstrip("_").replace("_", "-")
        shown = number(value) if isinstance(value, float) else str(value)
        parts.append(label if value is True else f'{label}="{escape(shown)}"')
    opening = f"<{' '.join(parts)}>"
    if name in _VOID and not children:
        return Markup(opening[:-1] + "/>")
    return Markup(f"{opening}{join(children)}</{name}>")


def join(children: Iterable[object]) -> Markup:
    """Return children one after the other: markup as it is, all else escaped, None left out."""
    parts: list[str] = []
    for child in children:
        if child is None:
            continue
        if isinstance(child, Markup):
            parts.append(str(child))
        elif isinstance(child, (list, tuple)):
            parts.append(str(join(child)))
        else:
            parts.append(escape(str(child)))
    return Markup("".join(parts))


def table(heads: Sequence[str], rows: Sequence[Markup], label: str, caption: str = "") -> Markup:
    """Return a table with heads over its columns, as `scrolled` has it."""
    top = tag("tr", [tag("th", word, scope="col") for word in heads])
    title = tag("caption", caption) if caption else None
    return scrolled(tag("table", title, tag("thead", top), tag("tbody", rows)), label, len(rows))


def scrolled(inner: Markup, label: str, rows: int) -> Markup:
    """Return a table that scrolls where it is too wide; a short one stays together in print."""
    style = "wide" if rows > SHORT else "wide short"
    return tag("div", inner, class_=style, tabindex=0, role="region", aria_label=label)


def between(low: int | str, high: int | str | None) -> str:
    """Return a number of the document, or the two that bound it.

    >>> between(4, 4), between(1000, None), between("7/2", 20000)
    ('4', '1,000 … ?', '7/2 … 20,000')
    >>> between(0, 75 * 10**39)
    '0 … about 10^40'
    """
    ends = [short(end) if isinstance(end, int) else str(end or "?") for end in (low, high)]
    return ends[0] if low == high else " … ".join(ends)


def number(value: float) -> str:
    """Return a coordinate, short.

    >>> number(3.0), number(2.345)
    ('3', '2.35')
    """
    return f"{value:.2f}".rstrip("0").rstrip(".")
