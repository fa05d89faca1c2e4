"""A sweep as one page: what each policy needs, as a table or as a small picture for each query.

Of a few policies one table says it all: a row for each question, a column for each policy. Of more:
a policy that publishes more counts and needs less noise is better. Those that no other beats at
both are its *front*: the only ones worth choosing from. One that publishes the query itself (S = 0)
is no answer to the question, nor is one whose bounds are too far apart for a release.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from blowproof.cli.report.html import Markup, tag
from blowproof.cli.report.page import whole_page
from blowproof.cli.sweeping.run import Judged, Swept, bounds_of, settled
from blowproof.cli.sweeping.shown import bounds_words
from blowproof.cli.sweeping.work import Row
from blowproof.models import Exact
from blowproof.models.policy.in_words import counted, printable

__all__ = ["front", "sweep_page"]

WIDTH, HEIGHT = 420, 260
LEFT, RIGHT, TOP, BOTTOM = 64, 16, 20, 42
RADIUS = 4.0


class Spot(NamedTuple):
    """A policy in a picture: how many counts it publishes, and S from above."""

    name: str
    counts: int
    upper: Exact
    exact: bool
    usable: bool = True


FEW = 4
"""So many policies stand beside each other in a table."""

FAR = 4
"""An upper bound more than so many times the lower one is no basis for a release."""


def front(spots: Sequence[Spot]) -> list[Spot]:
    """Return the spots that no other beats: with as many counts or more, and less S.

    >>> some = [Spot("a", 1, 2, True), Spot("b", 5, 4, True), Spot("c", 3, 4, True)]
    >>> [spot.name for spot in front(some)]
    ['a', 'b']
    """
    found: list[Spot] = []
    useful = [spot for spot in spots if spot.usable and spot.upper]
    for spot in sorted(useful, key=lambda item: (item.upper, -item.counts)):
        if not found or spot.counts > found[-1].counts:
            found.append(spot)
    return found


def sweep_page(swept: Swept, claims: Sequence[Judged], version: str) -> str:
    """Return the page of a sweep."""
    name = printable(swept.grid.name)
    exact = sum(map(settled, swept.rows))
    policies = list(dict.fromkeys(row["policy"] for row in swept.rows))
    groups: dict[str, list[Row]] = {}
    for row in swept.rows:
        groups.setdefault(_question(row), []).append(row)
    one_each = all(len(rows) == len({row["policy"] for row in rows}) for rows in groups.values())
    few = len(policies) <= FEW and one_each  # names need not differ
    noise = (
        "Laplace noise has the scale S / epsilon; Gaussian noise, for S in the norm l2-squared, "
        "the variance S / (2 rho)"
    )
    how = (
        f"Each number is S, by which a release needs noise: {noise}. At 0, what is asked follows "
        "from what is published."
        if few
        else "Every dot is a policy: to the right, more counts are published exactly; further up, "
        f"on a logarithmic scale, the other numbers need more noise ({noise}). Hollow dots are "
        "upper bounds; at 0, what is asked follows from what is published."
    )
    lead = f"{counted(swept.size, 'question')}, {exact:,} of them exact. {how}"
    body = [
        tag("a", "Skip to the pictures", href="#answer", class_="skip"),
        tag("header", tag("h1", name), tag("p", lead, class_="lead")),
        tag(
            "main",
            [_claims(claims)] if claims else [],
            _at_a_glance(groups, policies)
            if few
            else [_group(words, rows) for words, rows in groups.items()],
            tag("section", tag("h2", "All answers"), _table(swept.rows)),
            id="answer",
        ),
        tag("footer", tag("p", f"Made by blowproof {version}. Numbers are exact.")),
    ]
    return whole_page(f"{name}: sweep", body, version)


def _question(row: Row) -> str:
    norm = "" if row["norm"] == "l1" else f", norm {row['norm']}"
    return f"{row['query']}, {row['reading']}, answers {row['answers']}{norm}"


def _claims(claims: Sequence[Judged]) -> Markup:
    said = {True: ("good", "holds"), False: ("bad", "fails"), None: ("bad", "is open")}
    items = [
        tag("li", f"{found.claim.words()}: ", tag("span", said[found.holds][1],
            class_=said[found.holds][0]))
        for found in claims
    ]  # fmt: skip
    return tag("section", tag("h2", "What was claimed"), tag("ul", items))


def _at_a_glance(groups: Mapping[str, Sequence[Row]], policies: Sequence[str]) -> Markup:
    """A row for each question, with S under each policy."""
    counts = {row["policy"]: row["counts"] for rows in groups.values() for row in rows}
    heads = [
        tag("th", f"{name} ({counted(counts[name], 'count')})", scope="col") for name in policies
    ]
    body = []
    for words, rows in groups.items():
        found = {row["policy"]: bounds_words(row).removeprefix("S = ") for row in rows}
        cells = [tag("td", found.get(name, "")) for name in policies]
        body.append(tag("tr", tag("th", words, scope="row"), cells))
    head = tag("thead", tag("tr", tag("th", "question", scope="col"), heads))
    table = tag("table", head, tag("tbody", body))
    wide = tag("div", table, class_="wide", tabindex="0", role="region", aria_label="S at a glance")
    return tag("section", tag("h2", "S at a glance"), wide)


def _group(words: str, rows: Sequence[Row]) -> Markup:
    spots = []
    for row in rows:
        lower, upper = bounds_of(row)
        if upper is not None and row["error"] is None:
            usable = upper <= FAR * lower
            spots.append(Spot(row["policy"], row["counts"], upper, settled(row), usable))
    best = front(spots)
    listed = [
        tag("li", f"{spot.name}: {counted(spot.counts, 'count')}, "
                  f"{'S =' if spot.exact else 'S <='} {spot.upper}")
        for spot in best[:8]
    ]  # fmt: skip
    more = [tag("li", f"... and {len(best) - 8} more")] if len(best) > 8 else []
    return tag(
        "section",
        tag("h2", words),
        _picture(spots, best) if spots else tag("p", "No answer bounds S from above."),
        tag("p", "Worth choosing from:") if best else None,
        tag("ul", listed, more) if best else None,
    )


def _picture(spots: Sequence[Spot], best: Sequence[Spot]) -> Markup:
    low, high = min(s.counts for s in spots), max(s.counts for s in spots)
    tops = [_height(s.upper) for s in spots]
    least, most = min(tops), max(tops)

    def x(counts: int) -> float:
        part = (counts - low) / (high - low) if high > low else 0.5
        return LEFT + 8 + part * (WIDTH - LEFT - RIGHT - 16)

    def y(upper: Exact) -> float:
        part = (_height(upper) - least) / (most - least) if most > least else 0.5
        return HEIGHT - BOTTOM - 8 - part * (HEIGHT - TOP - BOTTOM - 16)

    chosen = set(best)
    line = " ".join(f"{x(s.counts):.1f},{y(s.upper):.1f}" for s in best)
    dots = [
        tag("circle", tag("title", f"{s.name}: {s.counts} counts, S {s.upper}"), cx=x(s.counts),
            cy=y(s.upper), r=RADIUS, class_="dot" if s.exact else "dot open")
        for s in sorted(spots, key=lambda item: item in chosen)
    ]  # fmt: skip
    bottom, left = float(HEIGHT - BOTTOM), float(LEFT)
    labels = [
        tag("text", f"{low:,}", x=x(low), y=bottom + 18, text_anchor="middle"),
        tag("text", f"{high:,}", x=x(high), y=bottom + 18, text_anchor="middle")
        if high > low else None,
        tag("text", "S", x=left - 8, y=float(TOP) - 4, text_anchor="end") if most > least else None,
        tag("text", "counts published", x=(LEFT + WIDTH) / 2, y=bottom + 36, text_anchor="middle"),
        *(tag("text", _short(value), x=left - 8, y=y(value) + 4, text_anchor="end")
          for value in dict.fromkeys((min(s.upper for s in spots), max(s.upper for s in spots)))),
    ]  # fmt: skip
    return tag(
        "svg",
        tag("title", "Counts published against the sensitivity of the query"),
        tag("desc", "; ".join(f"{s.name}: {s.counts} counts, S {s.upper}" for s in best)),
        tag("line", class_="axis", x1=left, x2=float(WIDTH - RIGHT), y1=bottom, y2=bottom),
        tag("line", class_="axis", x1=left, x2=left, y1=float(TOP), y2=bottom),
        tag("polyline", points=line, class_="front"),
        dots,
        labels,
        viewBox=f"0 0 {WIDTH} {HEIGHT}", role="img", class_="plot small",
    )  # fmt: skip


def _height(upper: Exact) -> float:
    """Return a place on a logarithmic axis, for numbers of any size; 0 has one too."""
    if upper <= 1:
        return float(upper)
    whole = int(upper)
    shift = max(0, whole.bit_length() - 60)
    return 1 + math.log2(whole >> shift) + shift


def _short(value: Exact) -> str:
    text = str(value)
    return text if len(text) <= 8 else f"10^{len(str(int(value))) - 1}"


def _table(rows: Sequence[Row]) -> Markup:
    head = tag("tr", [tag("th", word, scope="col") for word in
                      ("policy", "counts", "query", "reading", "S", "status")])  # fmt: skip
    body = [
        tag("tr", tag("th", row["policy"], scope="row"), tag("td", f"{row['counts']:,}"),
            tag("td", row["query"]), tag("td", row["reading"]), tag("td", bounds_words(row)),
            tag("td", row["error"] or row["status"]))
        for row in rows
    ]  # fmt: skip
    table = tag("table", tag("thead", head), tag("tbody", body))
    return tag("div", table, class_="wide", tabindex="0", role="region", aria_label="all answers")
