"""The policy graph drawn on a circle, with the longest cycle or path lit.

Arcs come in opposite pairs (secret pairs have no direction), so each pair is one line; only the lit
walk has arrows.
"""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

from blowproof.cli.report.html import Markup, tag

__all__ = ["arrow_tip", "graph_picture", "graph_words"]

SIZE = 440
RADIUS = 150
NODE = 7


def graph_words(graph: dict[str, Any]) -> str:
    """Return what the graph says."""
    alpha, xi = graph["alpha"], graph["xi"]
    return (
        "The facts are sparse: one secret move raises at most one known count and lowers at most "
        f"one. The longest cycle has {_span(alpha)} arcs, the longest path from v+ to v- "
        f"{_span(xi)}; that many records can be forced to change together."
    )


def arrow_tip() -> Markup:
    """Return the shape of the arrows' tips, which a page needs once, whatever it draws."""
    tip = tag("path", d="M 0 0 L 8 4 L 0 8 z", class_="tip")
    marker = tag("marker", tip, id="tip", viewBox="0 0 8 8", refX=8, refY=4, markerWidth=8,
                 markerHeight=8, orient="auto")  # fmt: skip
    return tag("svg", tag("defs", marker), width=0, height=0, aria_hidden="true", class_="defs")


def _span(bound: dict[str, int]) -> str:
    low, high = bound["lower"], bound["upper"]
    return str(low) if low == high else f"{low} to {high}"


def graph_picture(graph: dict[str, Any]) -> Markup:
    """Return the drawing as SVG, with the lit walk written out as its description."""
    lit = graph["lit"]
    closed = graph["lit_is"] == "cycle"
    walk = " to ".join(graph["labels"].get(n, n) for n in [*lit, *(lit[:1] if closed else [])])
    places = _places(graph["nodes"], lit)
    lit_arcs = _walk(lit, closed=closed)
    lines = {tuple(sorted(arc)) for arc in graph["arcs"] if arc[0] != arc[1]}
    return tag(
        "svg",
        tag("title", f"Policy graph, longest {graph['lit_is']} lit"),
        tag("desc", f"{len(graph['nodes'])} nodes, {len(lines)} lines. Lit: {walk}"),
        [_line(places[a], places[b]) for a, b in sorted(lines)],
        [_arrow(places[a], places[b]) for a, b in lit_arcs],
        [_node(graph["labels"].get(name, name), places[name], name in lit)
         for name in graph["nodes"]],
        viewBox=f"-130 0 {SIZE + 260} {SIZE}", role="img", class_="graph",
    )  # fmt: skip


def _walk(lit: list[str], *, closed: bool) -> list[tuple[str, str]]:
    arcs = list(pairwise(lit))
    return [*arcs, (lit[-1], lit[0])] if closed and len(lit) > 1 else arcs


def _places(names: list[str], lit: list[str]) -> dict[str, tuple[float, float]]:
    """Round the circle, the lit walk first and in its order, so that it does not cross itself."""
    order = [*lit, *(name for name in names if name not in lit)]
    step = 2 * math.pi / max(len(order), 1)
    return {
        name: (
            SIZE / 2 + RADIUS * math.sin(place * step),
            SIZE / 2 - RADIUS * math.cos(place * step),
        )
        for place, name in enumerate(order)
    }


def _line(start: tuple[float, float], end: tuple[float, float]) -> Markup:
    return tag("line", class_="arc", x1=start[0], y1=start[1], x2=end[0], y2=end[1])


def _arrow(start: tuple[float, float], end: tuple[float, float]) -> Markup:
    """A line that ends at the rim of its head, so that the tip is seen."""
    length = math.dist(start, end) or 1.0
    share = max(0.0, 1 - (NODE + 3) / length)
    x = start[0] + (end[0] - start[0]) * share
    y = start[1] + (end[1] - start[1]) * share
    return tag("line", class_="lit", x1=start[0], y1=start[1], x2=x, y2=y, marker_end="url(#tip)")


def _node(name: str, place: tuple[float, float], lit: bool) -> Markup:
    x, y = place
    right = x >= SIZE / 2 - 1
    anchor = "middle" if abs(x - SIZE / 2) < 20 else "start" if right else "end"
    dx = 0 if anchor == "middle" else 12 if right else -12
    dy = 4 if anchor != "middle" else (-14 if y < SIZE / 2 else 24)
    return tag(
        "g",
        tag("circle", cx=x, cy=y, r=NODE, class_="node lit" if lit else "node"),
        tag("text", _short(name), x=x + dx, y=y + dy, text_anchor=anchor),
    )


def _short(name: str) -> str:
    return name if len(name) <= 34 else f"{name[:33]}…"
