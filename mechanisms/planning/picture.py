"""Pictures (SVG, without any library): the options of a plan, and answers with their errors."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape

from blowproof.mechanisms.kinds.together import Several
from blowproof.mechanisms.planning.planner import Planned
from blowproof.mechanisms.release.release import Released
from blowproof.models.policy.in_words import value_text

__all__ = ["Bar", "bars", "of_answers", "of_plan"]

WIDTH, ROW, LEFT, RIGHT, TOP = 760, 26, 290, 90, 56
MOST_ROWS, MOST_POINTS, MOST_PANELS = 40, 1_500, 12
HIGH, LOW = 320, 190
"""How tall the one panel of a query is, and one of several."""
Bar = tuple[str, float, float]
"""A label, a number, and a larger one: a bar, and a line on from it."""


def of_plan(planned: Planned) -> str:
    """Return a bar for each option: its RMSE, and a line to 95 % of the largest error."""
    rows = [
        (option.short, option.rmse, max((error.max95 for error in option.errors), default=0.0))
        for option in planned.options
    ]
    names = ", ".join(query.name for query in planned.workload.queries)
    title = f"Expected error of {names}: RMSE (bar) and 95 % of the largest error (line)"
    return bars(title, rows, mark=planned.bound, mark_name="no mechanism is below")


def bars(title: str, rows: Sequence[Bar], *, mark: float | None = None, mark_name: str = "") -> str:
    """Return a picture with one bar for each row, on one logarithmic axis.

    >>> picture = bars("errors", [("laplace", 2.0, 9.0)])
    >>> picture.startswith("<svg") and "laplace" in picture
    True
    """
    shown = list(rows[:MOST_ROWS])
    numbers = [value for _, low, high in shown for value in (low, high) if value > 0]
    if mark:
        numbers.append(mark)
    least, most = (min(numbers), max(numbers)) if numbers else (1.0, 10.0)
    first, last = math.floor(math.log10(least) - 0.05), math.ceil(math.log10(most) + 0.05)

    def x(value: float) -> float:
        share = (math.log10(max(value, 10.0**first)) - first) / max(1, last - first)
        return LEFT + share * (WIDTH - LEFT - RIGHT)

    height = TOP + ROW * len(shown) + 40
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" '
        'font-family="sans-serif" font-size="12">',
        f"<title>{escape(title)}</title>",
        f'<rect width="{WIDTH}" height="{height}" fill="white"/>',
        f'<text x="12" y="22" font-size="13">{escape(_short(title, 105))}</text>',
    ]
    for power in range(first, last + 1):
        at = x(10.0**power)
        parts.append(f'<line x1="{at:.1f}" x2="{at:.1f}" y1="{TOP - 8}" y2="{height - 30}" '
                     'stroke="#ddd"/>')  # fmt: skip
        parts.append(f'<text x="{at:.1f}" y="{height - 14}" text-anchor="middle">'
                     f"{10.0**power:g}</text>")  # fmt: skip
    for place, (label, low, high) in enumerate(shown):
        y = TOP + ROW * place
        left, middle, right = x(0), x(low), x(max(low, high))
        colour = "#1f6fb2" if place == 0 else "#9bb8d3"
        name = escape(_short(label, 44))
        parts += [
            f'<text x="{LEFT - 8}" y="{y + 15}" text-anchor="end">{name}</text>',
            f'<rect x="{left:.1f}" y="{y + 4}" width="{max(0.0, middle - left):.1f}" height="15" '
            f'fill="{colour}"/>',
            f'<line x1="{middle:.1f}" x2="{right:.1f}" y1="{y + 11.5}" y2="{y + 11.5}" '
            'stroke="#555"/>',
            f'<text x="{right + 5:.1f}" y="{y + 15}">{low:.4g}</text>',
        ]
    if mark:
        at = x(mark)
        parts += [
            f'<line x1="{at:.1f}" x2="{at:.1f}" y1="{TOP - 12}" y2="{height - 30}" '
            'stroke="#b22" stroke-dasharray="4 3"/>',
            f'<text x="{at:.1f}" y="{TOP - 16}" text-anchor="middle" fill="#b22">'
            f"{escape(mark_name)} {mark:.4g}</text>",
        ]
    return "\n".join([*parts, "</svg>", ""])


INTERVALS = "with intervals of 95 %"
Answer = tuple[str, float, float, float]
"""A name, a number, and the ends of its interval."""


def of_answers(released: Released) -> str:
    """Return the released numbers, each with the interval that holds the truth with 95 %.

    Up to forty are rows with their names; more are a line, with a band around it, one for each
    query: each has a scale of its own. Of clusters the centres are shown, and no sizes.
    """
    if released.form is not None:
        return _as_rows(f"{released.form.thing}s: released, {INTERVALS}", _of_form(released))
    values = [float(value) for value in released.answers]
    lows, highs = released.ends or (values, values)
    names = (", ".join(map(value_text, row)) for row in released.answers.names.rows())
    rows = [
        (name, value, *((value, value) if math.isnan(low) else (low, high)))
        for name, value, low, high in zip(names, values, lows, highs, strict=True)
    ]
    told = INTERVALS if released.ends is not None else "without errors"
    title = f"{released.request.bound.name}: released, {told}"
    if not rows:
        rows = [("nothing", 0.0, 0.0, 0.0)]
    if len(rows) <= MOST_ROWS:
        return _as_rows(title, rows)
    answers = released.answers
    if not isinstance(answers, Several):
        return _as_lines(title, [("", rows)])
    panels: list[tuple[str, Sequence[Answer]]] = []
    begin = 0
    for query, found in answers.parts:
        own = rows[begin : begin + len(found)]
        begin += len(found)
        prefix = f"{query}, "
        panels.append((query, [(it[0].removeprefix(prefix), *it[1:]) for it in own]))
    return _as_lines(title, panels)


def _of_form(released: Released) -> list[Answer]:
    """Return the answers, each with the interval that the form has for it."""
    form = released.form
    assert form is not None
    each = len(released.answers) // max(1, len(form.rows))  # coordinates; what follows is no answer
    return [
        (f"{form.thing} {at}, {name}", float(value), float(low), float(high))
        for at, row in enumerate(form.rows, start=1)
        for name, (value, _, low, high) in zip(form.names[:each], row, strict=False)
    ]


def _ends(rows: Sequence[Answer]) -> tuple[float, float]:
    low = min(0.0, *(min(value, first) for _, value, first, _ in rows))
    high = max(0.0, *(max(value, last) for _, value, _, last in rows))
    return low, high if high > low else low + 1


def _begin(title: str, height: int) -> list[str]:
    return [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" '
        'font-family="sans-serif" font-size="12">',
        f"<title>{escape(title)}</title>",
        f'<rect width="{WIDTH}" height="{height}" fill="white"/>',
        f'<text x="12" y="22" font-size="13">{escape(_short(title, 105))}</text>',
    ]


def _as_rows(title: str, rows: Sequence[Answer]) -> str:
    low, high = _ends(rows)
    height = TOP + ROW * len(rows) + 40

    def x(value: float) -> float:
        return LEFT + (value - low) / (high - low) * (WIDTH - LEFT - RIGHT)

    parts = _begin(title, height)
    parts.append(f'<line x1="{x(0):.1f}" x2="{x(0):.1f}" y1="{TOP - 8}" y2="{height - 30}" '
                 'stroke="#999"/>')  # fmt: skip
    for place, (label, value, first, last) in enumerate(rows):
        y = TOP + ROW * place + 11.5
        parts += [
            f'<text x="{LEFT - 8}" y="{y + 4}" text-anchor="end">'
            f"{escape(_short(label, 44))}</text>",
            f'<line x1="{x(first):.1f}" x2="{x(last):.1f}" y1="{y}" y2="{y}" '
            'stroke="#1f6fb2" stroke-width="3" opacity="0.5"/>',
            f'<circle cx="{x(value):.1f}" cy="{y}" r="4" fill="#1f6fb2"/>',
            f'<text x="{WIDTH - RIGHT + 8}" y="{y + 4}">{value:,.6g}</text>',
        ]
    return "\n".join([*parts, "</svg>", ""])


def _as_lines(title: str, panels: Sequence[tuple[str, Sequence[Answer]]]) -> str:
    """Return a panel for each query, below each other; those that are empty are left out."""
    shown = [panel for panel in panels if panel[1]][:MOST_PANELS]
    tall = HIGH if len(shown) == 1 else LOW
    parts = _begin(title, 40 + tall * len(shown))
    for place, (name, rows) in enumerate(shown):
        parts += _panel(name, rows, (40 + tall * place, 40 + tall * (place + 1)))
    return "\n".join([*parts, "</svg>", ""])


def _panel(name: str, rows: Sequence[Answer], between: tuple[int, int]) -> list[str]:
    """Return a line with its band, and a line at 0, between two heights of the picture."""
    shown, every = _thinned(rows)
    low, high = _ends([row for _, row in shown])
    top, bottom = between[0] + 24, between[1] - 36

    def y(value: float) -> str:
        return f"{bottom - (value - low) / (high - low) * (bottom - top):.1f}"

    def at(place: int, value: float) -> str:
        return f"{70 + place / max(1, len(rows) - 1) * (WIDTH - 100):.1f},{y(value)}"

    band = [at(place, last) for place, (_, _, _, last) in shown]
    band += [at(place, first) for place, (_, _, first, _) in reversed(shown)]
    line = [at(place, value) for place, (_, value, _, _) in shown]
    few = f"{len(rows):,} numbers, of every {every} the least and the greatest"
    return [
        f'<text x="70" y="{between[0] + 12}">{escape(_short(name, 100))}</text>',
        f'<line x1="70" x2="{WIDTH - 30}" y1="{y(0)}" y2="{y(0)}" stroke="#bbb"/>',
        f'<polygon points="{" ".join(band)}" fill="#9bb8d3" opacity="0.6"/>',
        f'<polyline points="{" ".join(line)}" fill="none" stroke="#1f6fb2"/>',
        f'<text x="64" y="{bottom}" text-anchor="end">{_end(low)}</text>',
        f'<text x="64" y="{top + 8}" text-anchor="end">{_end(high)}</text>',
        f'<text x="70" y="{bottom + 18}">{escape(_short(rows[0][0], 30))}</text>',
        f'<text x="{WIDTH - 30}" y="{bottom + 18}" text-anchor="end">'
        f"{escape(_short(rows[-1][0], 30))}</text>",
        *([f'<text x="{WIDTH / 2 + 20}" y="{bottom + 18}" text-anchor="middle" fill="#777">'
           f"{few}</text>"] if every > 1 else []),
    ]  # fmt: skip


def _thinned(rows: Sequence[Answer]) -> tuple[list[tuple[int, Answer]], int]:
    """Return rows with their places, few enough to draw, and of how many each two are taken.

    Of so many in turn the least and the greatest number, and the widest of their intervals: no
    peak is left out. The first and the last row are there always.
    """
    every = max(1, -(-2 * len(rows) // MOST_POINTS)) if len(rows) > MOST_POINTS else 1
    if every == 1:
        return list(enumerate(rows)), 1
    found = {0: rows[0], len(rows) - 1: rows[-1]}
    for begin in range(0, len(rows), every):
        some = range(begin, min(begin + every, len(rows)))
        low, high = min(rows[at][2] for at in some), max(rows[at][3] for at in some)
        for at in (min(some, key=lambda at: rows[at][1]), max(some, key=lambda at: rows[at][1])):
            found[at] = (*rows[at][:2], low, high)
    return sorted(found.items()), every


def _end(value: float) -> str:
    """Return the end of an axis in nine letters at the most, as there is room for.

    >>> _end(198100.2), _end(-74.0), _end(61.04), _end(-123456789.0)
    ('198,100', '-74', '61', '-1.23e+08')
    """
    return (
        f"{value:.2e}"
        if abs(value) >= 1e6
        else f"{value:,.0f}"
        if abs(value) >= 10
        else f"{value:.3g}"
    )


def _short(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 3]}..."
