"""The plot of the error one has to expect against epsilon (or rho), a line for each reading."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import NamedTuple

from blowproof.cli.report.html import Markup, tag

__all__ = ["EPSILON", "RHO", "Curve", "Promise", "error_plot", "merged"]

WIDTH, HEIGHT = 640, 360
LEFT, RIGHT, TOP, BOTTOM = 64, 190, 24, 48
EPSILONS = (0.1, 0.2, 0.5, 1.0, 2.0, 5.0)
LABEL_STEP = 16


class Promise(NamedTuple):
    """What is promised, and the error of one number with noise for S, for so much of it."""

    name: str
    formula: str
    error: Callable[[float, float], float]


EPSILON = Promise("epsilon", "{} / epsilon", lambda size, epsilon: size / epsilon)
"""Laplace noise of scale S / epsilon: off by as much, on average."""
RHO = Promise("rho", "sqrt({} / (pi rho))", lambda size, rho: math.sqrt(size / (math.pi * rho)))
"""Gaussian noise of variance S / (2 rho), off by sqrt(2 / pi) of its deviation on average."""


class Curve(NamedTuple):
    """Noise for S; `kind` is "decides", "reading" or "plain"."""

    label: str
    sensitivity: Fraction
    kind: str


def merged(curves: Sequence[Curve]) -> list[Curve]:
    """Return the curves, those with one value as one line with all their names."""
    found: dict[Fraction, list[Curve]] = {}
    for curve in curves:
        if curve.sensitivity > 0:
            found.setdefault(curve.sensitivity, []).append(curve)
    rank = {"decides": 0, "plain": 1, "reading": 2}
    return [
        Curve(" = ".join(c.label for c in alike), value, min((c.kind for c in alike), key=rank.get))  # type: ignore[arg-type] # every kind is in rank
        for value, alike in sorted(found.items(), reverse=True)
    ]


def error_plot(curves: Sequence[Curve], promised: Fraction, promise: Promise = EPSILON) -> Markup:
    """Return the plot as SVG; both axes are logarithmic, so that every line is straight."""
    lines = merged(curves)
    if not lines:
        return tag("p", "No reading asks for any noise here.")
    values = [float(line.sensitivity) for line in lines]
    low = promise.error(min(values), EPSILONS[-1])
    scale = _Scale(low, promise.error(max(values), EPSILONS[0]))
    words = "; ".join(f"{line.label}: {promise.formula.format(line.sensitivity)}" for line in lines)
    mark = min(max(float(promised), EPSILONS[0]), EPSILONS[-1])
    return tag(
        "svg",
        tag("title", f"Expected error of one count against {promise.name}"),
        tag("desc", words),
        _grid(scale, promise.name),
        tag("line", class_="epsilon", x1=scale.x(mark), x2=scale.x(mark), y1=float(TOP),
            y2=float(HEIGHT - BOTTOM)),
        [_line(line, scale, promise) for line in lines],
        _labels(lines, scale, promise),
        viewBox=f"0 0 {WIDTH} {HEIGHT}", role="img", class_="plot",
    )  # fmt: skip


class _Scale:
    """From epsilon and error to the places on the page."""

    def __init__(self, low: float, high: float) -> None:
        self.low, self.high = math.log10(low) - 0.05, math.log10(high) + 0.05

    def x(self, epsilon: float) -> float:
        first, last = math.log10(EPSILONS[0]), math.log10(EPSILONS[-1])
        return LEFT + (math.log10(epsilon) - first) / (last - first) * (WIDTH - LEFT - RIGHT)

    def y(self, error: float) -> float:
        share = (math.log10(error) - self.low) / (self.high - self.low)
        return HEIGHT - BOTTOM - share * (HEIGHT - TOP - BOTTOM)

    def ticks(self) -> list[float]:
        powers = range(math.floor(self.low), math.ceil(self.high) + 1)
        steps = (1,) if len(powers) > 5 else (1, 2, 5)
        found = [step * 10.0**power for power in powers for step in steps]
        return [tick for tick in found if self.low <= math.log10(tick) <= self.high]


def _grid(scale: _Scale, name: str) -> list[Markup]:
    parts = []
    for tick in scale.ticks():
        y = scale.y(tick)
        parts.append(tag("line", class_="grid", x1=LEFT, x2=WIDTH - RIGHT, y1=y, y2=y))
        parts.append(tag("text", f"{tick:g}", x=LEFT - 8, y=y + 4, text_anchor="end"))
    for epsilon in EPSILONS:
        x = scale.x(epsilon)
        parts.append(tag("line", class_="grid", x1=x, x2=x, y1=TOP, y2=HEIGHT - BOTTOM))
        parts.append(tag("text", f"{epsilon:g}", x=x, y=HEIGHT - BOTTOM + 18, text_anchor="middle"))
    middle = (LEFT + WIDTH - RIGHT) / 2
    parts.append(tag("text", name, x=middle, y=HEIGHT - 8, text_anchor="middle"))
    parts.append(tag("text", "off by, on average", x=4, y=14))
    return parts


def _line(line: Curve, scale: _Scale, promise: Promise) -> Markup:
    ends = [(scale.x(at), scale.y(promise.error(float(line.sensitivity), at)))
            for at in (EPSILONS[0], EPSILONS[-1])]  # fmt: skip
    (x1, y1), (x2, y2) = ends
    return tag("line", class_=f"curve {line.kind}", x1=x1, y1=y1, x2=x2, y2=y2)


def _labels(lines: Sequence[Curve], scale: _Scale, promise: Promise) -> list[Markup]:
    """Labels at the right ends, moved down where they would touch."""
    parts, free = [], 0.0
    for line in lines:
        y = max(scale.y(promise.error(float(line.sensitivity), EPSILONS[-1])) + 4, free)
        free = y + LABEL_STEP * (1 + line.label.count(" = "))
        for row, word in enumerate(line.label.split(" = ")):
            text = f"{word} (S = {line.sensitivity})" if row == 0 else f"= {word}"
            x = WIDTH - RIGHT + 8
            parts.append(tag("text", text, class_=line.kind, x=x, y=y + row * LABEL_STEP))
    return parts
