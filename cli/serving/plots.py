"""The workbench's plots, as Vega-Lite: the numbers that the report's pictures show, drawn by Vega.

A plot is a specification with its data in it. Each row has a `words`, the sentence that is said of
it when it is pointed at or stepped to; where no table stands beside a plot, its numbers go along as
one. Colours are those of the page
("var(--main)"), so that a plot is light, dark or printed as the page is. Axes are drawn by floats:
what is exact stands in the words, and in the tables beside.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from textwrap import wrap
from typing import Any

from blowproof.cli.report.attack import attack_words, widths
from blowproof.cli.report.belief import beliefs
from blowproof.cli.report.charts import EPSILONS, PROMISES, curves, merged, shown_bound
from blowproof.cli.report.html import Markup, between, tag
from blowproof.cli.report.odds_section import moved
from blowproof.cli.report.plan_section import SHOWN, option_name

__all__ = ["Spec", "place_of", "plots"]

Spec = dict[str, Any]
SCHEMA = "https://vega.github.io/schema/vega-lite/v6.json"
HUGE = 1e300
"""Where an axis ends: what is larger is drawn as this."""
STEP, TALLER = 26, 36
"""Pixels that a bar takes, with the room around it; the more where names have two lines."""
LETTERS = 32
"""Of a name, in one line."""
LETTER = 7
"""Pixels that a letter of a label takes, at the most."""
NUMBERS = (
    "datum.value >= 1e15 ? format(datum.value, '.1~e') : datum.value >= 1e5 ? "
    "format(datum.value, '~s') : format(datum.value, ',.6~r')"
)
"""The numbers of an axis, short however large they are."""
COLORS = {"decides": "var(--main)", "reading": "var(--curve)", "plain": "var(--warn)"}
DASHES: list[list[int]] = [[1, 0], [8, 4], [3, 3], [8, 3, 2, 3], [1, 4]]
SPREAD, POINTS = 4.0, 80
NEAR = 100
"""Lengths that are not this many times apart are drawn on a plain axis."""


def plots(query: Mapping[str, Any], promised: tuple[str, int | str]) -> dict[str, Spec]:
    """Return the plots of one query's document, by the parts of the page that they belong to."""
    found = {
        "errors": _errors(query, promised),
        "learned": _learned(query, promised[1]),
        "attack": _attack(query),
        "facts": _facts(query),
        "plan": _plan(query),
        "odds": _odds(query, promised[1]),
    }
    return {name: spec for name, spec in found.items() if spec is not None}


def place_of(name: str) -> Markup:
    """Return where the page draws a plot (plots.js)."""
    return tag("figure", class_="drawn", data_plot=name)


def _spec(description: str, rows: list[Spec], table: Spec | None = None, **parts: Any) -> Spec:
    """A specification of these rows; a table where none stands beside the plot already."""
    found = {
        "$schema": SCHEMA,
        "description": description,
        "width": "container",
        "autosize": {"type": "fit-x", "contains": "padding"},
        "data": {"values": rows},
        "params": [{"name": "chosen", "value": ""}],
        **parts,
    }
    return found if table is None else {**found, "usermeta": {"table": table}}


def _colored() -> Spec:
    return {"field": "kind", "type": "nominal", "legend": None,
            "scale": {"domain": list(COLORS), "range": list(COLORS.values())}}  # fmt: skip


def _bars(
    description: str,
    title: str,
    rows: list[Spec],
    *,
    line: Spec | None = None,
    most: float | None = None,
    table: Spec | None = None,
) -> Spec:
    """Bars from zero, one below the other; a pale one goes on to where a number is only bounded."""
    lengths = [row["high"] for row in rows if row["high"] > 0]
    far = bool(lengths) and max(lengths) > NEAR * min(lengths)
    scale: Spec = {"type": "symlog"} if far else {}
    if most is not None:
        scale["domainMax"] = most
    axis = {"grid": True, "tickCount": 4, "labelExpr": NUMBERS}
    y = {"field": "name", "type": "nominal", "sort": None,
         "axis": {"title": None, "labelExpr": "split(datum.label, '\\n')"}}  # fmt: skip
    dim = {"condition": {"test": "datum.words === chosen", "value": "var(--ink)"}, "value": None}

    def bar(field: str, opacity: float) -> Spec:
        return {
            "mark": {"type": "bar", "opacity": opacity, "strokeWidth": 2},
            "encoding": {
                "y": y,
                "x": {"field": field, "type": "quantitative", "title": title, "scale": scale,
                      "axis": axis},
                "color": _colored(), "stroke": dim,
                "description": {"field": "words"},
            },
        }  # fmt: skip

    text = {
        "mark": {"type": "text", "align": "left", "dx": 5, "aria": False},
        "encoding": {"y": y, "x": {"field": "high", "type": "quantitative"},
                     "text": {"field": "label"}},
    }  # fmt: skip
    layers = [bar("high", 0.3), bar("low", 1.0), text, *([line] if line else [])]
    step = TALLER if any("\n" in row["name"] for row in rows) else STEP
    room = {"left": 5, "top": 5, "bottom": 5,
            "right": 5 + LETTER * max(len(row["label"]) for row in rows)}  # fmt: skip
    return _spec(description, rows, table, height=step * len(rows), layer=layers, padding=room)


def _length(value: int | str | Fraction | None) -> float:
    """A number of the document as the length of a bar."""
    if value is None:
        return 0.0
    exact = Fraction(value)
    return HUGE if exact > HUGE else float(exact)


def _bounded(name: str, low: int | str, high: int | str | None, kind: str, words: str) -> Spec:
    lines = wrap(name, LETTERS, max_lines=2, placeholder=" ...")
    return {
        "name": "\n".join(lines),
        "low": _length(low),
        "high": _length(low if high is None else high),
        "kind": kind,
        "label": between(low, high),
        "words": words,
    }


def _facts(query: Mapping[str, Any]) -> Spec | None:
    """S as it is, and without each fact or with other ones."""
    changed = [(word, item) for word, key in (("without", "facts"), ("instead", "instead"))
               for item in query[key] if item["reached"] and item["lower"] is not None]  # fmt: skip
    if not changed:
        return None
    now = between(query["lower"], query["upper"])
    rows = [_bounded("as it is", query["lower"], query["upper"], "decides", f"As it is: S = {now}")]
    for word, item in changed:
        name = f"{word} {item['words']}"
        value = between(item["lower"], item["upper"])
        rows.append(_bounded(name, item["lower"], item["upper"], "reading", f"{name}: S = {value}"))
    return _bars("S as it is, and if one known fact were not published or others were in its place",
                 "S", rows)  # fmt: skip


def _plan(query: Mapping[str, Any]) -> Spec | None:
    plan = query.get("plan")
    if plan is None or not plan["options"]:
        return None
    rows = []
    for place, option in enumerate(plan["options"][:SHOWN]):
        words = f"{option_name(option)}: {option['rmse']:,.4g}"
        rows.append({"name": option_name(option), "low": float(option["rmse"]),
                     "high": float(option["rmse"]), "kind": "reading" if place else "decides",
                     "label": f"{option['rmse']:,.4g}", "words": words})  # fmt: skip
    bound = plan["lower_bound"]["rmse"] if plan["lower_bound"] else None
    line = None if not bound else {
        "data": {"values": [{"at": float(bound), "words": f"No mechanism is below {bound:,.4g}"}]},
        "mark": {"type": "rule", "strokeDash": [4, 3], "color": "var(--soft)"},
        "encoding": {"x": {"field": "at", "type": "quantitative"},
                     "description": {"field": "words"}},
    }  # fmt: skip
    return _bars("Expected error of each mechanism; the dotted line is what none can be below",
                 "error (RMSE)", rows, line=line)  # fmt: skip


def _learned(query: Mapping[str, Any], promised: int | str) -> Spec | None:
    found = query["attackers"]
    bars = None if found is None else beliefs(found, promised)
    if bars is None:
        return None
    rows = [{"name": name, "low": share, "high": share, "kind": kind, "label": f"{share:.3f}",
             "words": f"{name}: {share:.3f}"} for name, share, kind in bars]  # fmt: skip
    return _bars("How sure an attacker can become of a secret that seemed even",
                 "how sure", rows, most=1.0, table=_table("how sure", rows))  # fmt: skip


def _odds(query: Mapping[str, Any], promised: int | str) -> Spec | None:
    """By how much odds move: what is promised, and what was found."""
    odds = query.get("odds")
    if odds is None:
        return None
    low, high = (_factor(end) for end in odds["ratio_between"])
    if low is None:
        return None
    most = math.exp(min(float(Fraction(promised)), 600.0))
    found = moved(*odds["ratio_between"])
    exact = high is not None and f"{high:.4g}" == f"{low:.4g}"
    rows = [
        {"name": "as e^epsilon promises", "low": most, "high": most, "kind": "reading",
         "label": f"{most:.4g}", "words": f"What e^epsilon promises: a factor of {most:.4g}"},
        {"name": "with this noise", "low": low, "high": low if high is None else high,
         "kind": "decides", "label": f"{low:.4g}" if exact else f"from {low:.4g}",
         "words": f"With this noise: {found}"},
    ]  # fmt: skip
    return _bars("By how much the odds between two values of one record can move",
                 "odds move by a factor of", rows, table=_table("a factor of", rows))  # fmt: skip


def _table(title: str, rows: list[Spec]) -> Spec:
    return {"heads": ["", title], "rows": [[row["name"], row["label"]] for row in rows]}


def _factor(text: str | None) -> float | None:
    try:
        found = math.nan if text is None else float(text)
    except ValueError:
        found = math.nan
    return None if math.isnan(found) else min(found, HUGE)


def _errors(query: Mapping[str, Any], promised: tuple[str, int | str]) -> Spec | None:
    """The error to expect against epsilon: a straight line for each reading, on two log axes."""
    name, value = promised
    promise = PROMISES[name]
    noise = query["noise"]
    lines = merged(curves(query))
    if not lines or noise["kind"] not in ("laplace", "gaussian") or not noise["useful"]:
        return None
    names = [f"{line.label} ({shown_bound(line)})" for line in lines]
    table: Spec = {"heads": [name, *(f"{at:g}" for at in EPSILONS)], "rows": []}
    rows = []
    every: list[float] = []
    for title, line in zip(names, lines, strict=True):
        errors = [(at, promise.error(line.size, at)) for at in EPSILONS]
        table["rows"].append([title, *(f"{error:,.4g}" for _, error in errors)])
        every += [error for _, error in errors]
        rows += [
            {"at": at, "error": error, "name": title, "kind": line.kind,
             "words": f"{title}: off by {error:,.4g} where {name} = {at:g}"}
            for at, error in errors
        ]  # fmt: skip
    log = {"type": "log", "nice": False}
    x = {"field": "at", "type": "quantitative", "title": name, "scale": log,
         "axis": {"values": list(EPSILONS), "labelExpr": NUMBERS}}  # fmt: skip
    y = {"field": "error", "type": "quantitative", "title": "off by, on average", "scale": log,
         "axis": {"values": _marks(every), "labelExpr": NUMBERS}}  # fmt: skip
    told = {"title": None, "orient": "bottom", "direction": "vertical", "symbolType": "stroke"}
    color = {"field": "name", "type": "nominal", "sort": None, "legend": told, "scale": {
        "domain": names, "range": [COLORS[line.kind] for line in lines]}}  # fmt: skip
    dashes = [DASHES[place % len(DASHES)] for place in range(len(names))]
    dash = {"field": "name", "type": "nominal", "legend": told,
            "scale": {"domain": names, "range": dashes}}  # fmt: skip
    size = {"condition": {"test": "datum.words === chosen", "value": 110}, "value": 20}
    mark = min(max(float(Fraction(value)), EPSILONS[0]), EPSILONS[-1])
    layers: list[Spec] = [
        {"data": {"values": [{"at": mark}]}, "encoding": {"x": x},
         "mark": {"type": "rule", "strokeDash": [2, 4], "color": "var(--soft)", "aria": False}},
        {"mark": {"type": "line", "aria": False},
         "encoding": {"x": x, "y": y, "color": color, "strokeDash": dash}},
        {"mark": {"type": "point", "filled": True, "opacity": 1}, "encoding": {
            "x": x, "y": y, "color": color, "size": size,
            "description": {"field": "words"}}},
    ]  # fmt: skip
    words = "; ".join(f"{line.label}: {promise.formula.format(line.sensitivity)}" for line in lines)
    return _spec(f"Expected error of one count against {name}. {words}", rows, table,
                 height=240, layer=layers)  # fmt: skip


def _marks(numbers: list[float]) -> list[float]:
    """Where a logarithmic axis has its marks: at powers of ten, and between where these are few."""
    positive = [number for number in numbers if number > 0] or [1.0]
    low, high = (math.floor(math.log10(pick(positive))) for pick in (min, max))
    between = (1, 2, 5) if high - low < 3 else (1,)
    step = 1 + (high - low) // 8
    return [times * 10.0**power for power in range(low, high + 2, step) for times in between]


def _attack(query: Mapping[str, Any]) -> Spec | None:
    """The noise on one count, and what averaging leaves of it: two bells and their widths."""
    attack = query["picture"]["averaging"]
    found = None if attack is None else widths(attack)
    if attack is None or found is None:
        return None
    rows = []
    for name, width, kind in found:
        words = f"{name}: {100 * width:.3g} % of the width of one noisy count"
        for step in range(POINTS + 1):
            at = SPREAD * (2 * step / POINTS - 1)
            rows.append({"at": at, "height": math.exp(-((at / width) ** 2) / 2) / width,
                         "name": name, "kind": kind, "words": words})  # fmt: skip
    title = "off by, in widths of the noise on one count"
    x = {"field": "at", "type": "quantitative", "title": title, "axis": {"tickCount": 8}}
    y = {"field": "height", "type": "quantitative", "stack": None, "axis": None}
    layer = {
        "mark": {"type": "area", "line": True, "opacity": 0.35, "interpolate": "monotone"},
        "encoding": {"x": x, "y": y, "color": _colored(),
                     "detail": {"field": "name"}, "description": {"field": "words"}},
    }  # fmt: skip
    places = [(1.6, math.exp(-1.28)), (0.5 * found[1][1], math.exp(-0.125) / found[1][1])]
    labels = {
        "data": {"values": [
            {"name": name, "kind": kind, "at": at, "height": height}
            for (name, _, kind), (at, height) in zip(found, places, strict=True)]},
        "mark": {"type": "text", "align": "left", "dx": 8, "dy": -6, "aria": False},
        "encoding": {"x": x, "y": y, "text": {"field": "name"}, "color": _colored()},
    }  # fmt: skip
    return _spec(attack_words(attack), rows, height=180, layer=[layer, labels])
