"""Policies, pairs and answers as small pieces of HTML, for notebooks: no scripts, all escaped."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from html import escape
from typing import TYPE_CHECKING

from blowproof.models.base.numbers import Exact, show
from blowproof.models.policy.in_words import known_words, scope_words, secret_words, value_text

if TYPE_CHECKING:
    from blowproof.models.domain.domain import Domain
    from blowproof.models.domain.regions import Point
    from blowproof.models.policy.policy import Policy
    from blowproof.models.secrets import SecretGraph

__all__ = ["bounds_html", "pair_html", "policy_html", "table_html"]

SHOWN = 20
"""How many rows are drawn; the rest are counted."""

_CELL = "text-align: left; padding: 0.1em 0.8em 0.1em 0; vertical-align: top"
_CHANGED = "font-weight: bold"


def table_html(
    rows: Iterable[Sequence[str]], *, head: Sequence[str] = (), caption: str = ""
) -> str:
    """Return a table; its cells are HTML already.

    >>> table_html([["1", "<b>x</b>"]]).count("<td")
    2
    """
    top = "".join(f'<th style="{_CELL}" scope="col">{item}</th>' for item in head)
    body = "".join(
        "<tr>" + "".join(f'<td style="{_CELL}">{item}</td>' for item in row) + "</tr>"
        for row in rows
    )
    title = f'<caption style="{_CELL}">{caption}</caption>' if caption else ""
    start = f"<thead><tr>{top}</tr></thead>" if top else ""
    return f"<table>{title}{start}<tbody>{body}</tbody></table>"


def policy_html(policy: Policy) -> str:
    """Return a policy as a table in sentences: values, secrets, known facts, whose answers.

    >>> from blowproof.models import Domain, Labels, Policy
    >>> "&lt;b&gt;" in policy_html(Policy(domain=Domain(x=Labels(["<b>", "c"]))))
    True
    """
    attributes = [
        f"{escape(name)}: {escape(axis.describe())}" for name, axis in policy.domain.attributes
    ]
    known = known_words(policy, policy.database.size, limit=SHOWN)
    return table_html(
        [
            ["what a record holds", f"{'<br>'.join(attributes)}<br>{policy.domain.size:,} values"],
            ["protected", escape(secret_words(policy))],
            ["known", "<br>".join(map(escape, known))],
            ["answers", escape(scope_words(policy.scope))],
        ],
        caption=f"<b>policy {escape(policy.name)}</b>",
    )


def pair_html(
    domain: Domain | None,
    before: Sequence[Point],
    after: Sequence[Point],
    unchanged: Iterable[tuple[Point, int]] = (),
    *,
    graph: SecretGraph | None = None,
) -> str:
    """Return two databases side by side: the records that change, and how many stay.

    Where as many records leave as come, row i is one record before and after, and what changes is
    bold; else they are records removed and added. Without a domain, positions stand for values.
    With the graph of the secrets, each row says whether its move is a secret one.
    """
    rows = _changes(domain, before, after, graph) if len(before) == len(after) else []
    head = ["", "before", "after"] if graph is None else ["", "before", "after", "move"]
    if not rows:
        moved = [("removed", x, n) for x, n in Counter(before).items()]
        moved += [("added", y, n) for y, n in Counter(after).items()]
        head = ["", "record"]
        rows = [[_many(word, n), ", ".join(_values(domain, x))] for word, x, n in moved]
    hidden = len(rows) - SHOWN
    if hidden > 0:
        rows = [*rows[:SHOWN], [f"... and {hidden} more"]]
    staying = sum(times for _, times in unchanged)
    rows.append([f"{staying} other record{'' if staying == 1 else 's'}"])
    return table_html(rows, head=head)


def _changes(
    domain: Domain | None,
    before: Sequence[Point],
    after: Sequence[Point],
    graph: SecretGraph | None,
) -> list[list[str]]:
    changes = Counter(zip(before, after, strict=True))
    return [
        [_many("", times), _beside(domain, x, y), _beside(domain, y, x), *_kind(graph, x, y)]
        for (x, y), times in changes.items()
    ]


def _kind(graph: SecretGraph | None, x: Point, y: Point) -> list[str]:
    return [] if graph is None else ["secret" if graph.is_edge(x, y) else "plain"]


def _many(word: str, times: int) -> str:
    return f"{word} {times} ×".strip() if times > 1 else word


def _beside(domain: Domain | None, point: Point, other: Point) -> str:
    parts = [
        f'<span style="{_CHANGED}">{value}</span>' if x != y else value
        for value, x, y in zip(_values(domain, point), point, other, strict=True)
    ]
    return ", ".join(parts)


def _values(domain: Domain | None, point: Point) -> list[str]:
    if domain is None:
        return [str(place) for place in point]
    return [escape(value_text(value)) for value in domain.decode(point)]


def bounds_html(lower: Exact, upper: Exact | None) -> str:
    """Return "S = 4", or the bounds that are known.

    >>> bounds_html(4, 4), bounds_html(4, None)
    ('S = 4', '4 &le; S')
    """
    if upper is not None and lower == upper:
        return f"S = {show(lower)}"
    end = "" if upper is None else f" &le; {show(upper)}"
    return f"{show(lower)} &le; S{end}"
