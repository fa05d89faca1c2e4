"""The plot of the error one has to expect against epsilon (or rho), a line for each reading."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

from blowproof.cli.report.html import Markup, tag
from blowproof.cli.report.paper import BROAD, Paper
from blowproof.models.policy.in_words import short

__all__ = ["EPSILONS", "PROMISES", "Curve", "curves", "error_plot", "merged", "shown_bound"]

HEIGHT = 300
LEFT, RIGHT, TOP, BOTTOM = 64, 190, 24, 48
SLIM_RIGHT = 16
"""On slim paper the names of lines stand below."""
EPSILONS = (0.1, 0.2, 0.5, 1.0, 2.0, 5.0)
LABEL_STEP = 16
MOST_TICKS = 8
LABEL_LETTERS = 25
"""What fits beside the lines."""
LARGEST = Fraction(10) ** 300
"""Lines of larger numbers are drawn as this one's: an axis is drawn by floats."""
FAR = 1000
"""So many times all that is known or decides is too far for one plot."""


class Promise(NamedTuple):
    """What is promised, and the error of one number with noise for S, for so much of it."""

    name: str
    formula: str
    error: Callable[[float, float], float]


EPSILON = Promise("epsilon", "{} / epsilon", lambda size, epsilon: size / epsilon)
"""Laplace noise of scale S / epsilon: off by as much, on average."""
RHO = Promise("rho", "sqrt({} / (pi rho))", lambda size, rho: math.sqrt(size / (math.pi * rho)))
"""Gaussian noise of variance S / (2 rho), off by sqrt(2 / pi) of its deviation on average."""
PROMISES = {"epsilon": EPSILON, "rho": RHO}


class Curve(NamedTuple):
    """Noise for S, or for a bound on it; `kind` is "decides", "reading" or "plain"."""

    label: str
    sensitivity: Fraction
    kind: str
    exact: bool = True

    @property
    def size(self) -> float:
        """How large S is, as far as an axis goes."""
        return float(min(self.sensitivity, LARGEST))


def curves(query: Mapping[str, Any]) -> list[Curve]:
    """Return a curve for each reading that has an upper bound, and for plain privacy.

    Bounds of other readings that are far above all else are left out: they say nothing, and beside
    them all that is known would be one line.
    """
    found = [
        Curve(row["reading"], Fraction(row["answer"]["upper"]),
              "decides" if row["reading"] == query["reading"] else "reading",
              row["answer"]["lower"] == row["answer"]["upper"])
        for row in query["readings"]
        if row["answer"] is not None and row["answer"]["upper"] is not None
    ]  # fmt: skip
    if query["plain"]["sensitivity"] is not None:
        found.append(Curve("plain DP", Fraction(query["plain"]["sensitivity"]), "plain"))
    told = [curve.sensitivity for curve in found if curve.exact or curve.kind != "reading"]
    far = FAR * max(told, default=LARGEST)
    return [curve for curve in found if curve.sensitivity <= far]


def merged(found: Sequence[Curve]) -> list[Curve]:
    """Return the curves, those with one value as one line with all their names."""
    groups: dict[tuple[Fraction, bool], list[Curve]] = {}
    for curve in found:
        if curve.sensitivity > 0:
            groups.setdefault((curve.sensitivity, curve.exact), []).append(curve)
    rank = ["decides", "plain", "reading"]
    return [
        Curve(
            " = ".join(curve.label for curve in alike),
            value,
            min((curve.kind for curve in alike), key=rank.index),
            exact,
        )
        for (value, exact), alike in sorted(groups.items(), reverse=True)
    ]


def shown_bound(line: Curve) -> str:
    """Return S of a line in words; where it is only bounded, that.

    >>> shown_bound(Curve("published", Fraction(4), "decides"))
    'S = 4'
    >>> shown_bound(Curve("published", Fraction(10**30), "decides", exact=False))
    'S ≤ about 10^30'
    """
    return f"S {'=' if line.exact else '≤'} {short(line.sensitivity)}"


def error_plot(
    found: Sequence[Curve], promised: Fraction, promise: Promise = EPSILON, paper: Paper = BROAD
) -> Markup:
    """Return the plot as SVG; both axes are logarithmic, so that every line is straight."""
    lines = merged(found)
    if not lines:
        return tag("p", "No reading asks for any noise here.")
    values = [line.size for line in lines]
    low = promise.error(min(values), EPSILONS[-1])
    scale = _Scale(low, promise.error(max(values), EPSILONS[0]), paper)
    words = "; ".join(f"{line.label}: {promise.formula.format(line.sensitivity)}" for line in lines)
    mark = min(max(float(promised), EPSILONS[0]), EPSILONS[-1])
    labels, below = _key(lines) if paper.slim else (_labels(lines, scale, promise), 0)
    return paper.picture(
        HEIGHT + below,
        f"Expected error of one count against {promise.name}",
        words,
        _grid(scale, promise.name),
        tag("line", class_="epsilon", x1=scale.x(mark), x2=scale.x(mark), y1=float(TOP),
            y2=float(HEIGHT - BOTTOM)),
        [_line(line, scale, promise) for line in lines],
        labels,
    )  # fmt: skip


class _Scale:
    """From epsilon and error to the places on the page."""

    def __init__(self, low: float, high: float, paper: Paper) -> None:
        self.low, self.high = math.log10(low) - 0.05, math.log10(high) + 0.05
        self.end = paper.width - (SLIM_RIGHT if paper.slim else RIGHT)

    def x(self, epsilon: float) -> float:
        first, last = math.log10(EPSILONS[0]), math.log10(EPSILONS[-1])
        return LEFT + (math.log10(epsilon) - first) / (last - first) * (self.end - LEFT)

    def y(self, error: float) -> float:
        share = (math.log10(error) - self.low) / (self.high - self.low)
        return HEIGHT - BOTTOM - share * (HEIGHT - TOP - BOTTOM)

    def ticks(self) -> list[float]:
        every = -(-(math.ceil(self.high) - math.floor(self.low)) // MOST_TICKS)
        powers = range(math.floor(self.low), math.ceil(self.high) + 1, max(every, 1))
        steps = (1,) if len(powers) > 5 else (1, 2, 5)
        found = [step * 10.0**power for power in powers for step in steps]
        return [tick for tick in found if self.low <= math.log10(tick) <= self.high]


def _grid(scale: _Scale, name: str) -> list[Markup]:
    parts = []
    for tick in scale.ticks():
        y = scale.y(tick)
        parts.append(tag("line", class_="grid", x1=LEFT, x2=scale.end, y1=y, y2=y))
        parts.append(tag("text", f"{tick:g}", x=LEFT - 8, y=y + 4, text_anchor="end"))
    for epsilon in EPSILONS:
        x = scale.x(epsilon)
        parts.append(tag("line", class_="grid", x1=x, x2=x, y1=TOP, y2=HEIGHT - BOTTOM))
        parts.append(tag("text", f"{epsilon:g}", x=x, y=HEIGHT - BOTTOM + 18, text_anchor="middle"))
    middle = (LEFT + scale.end) / 2
    parts.append(tag("text", name, x=middle, y=HEIGHT - 8, text_anchor="middle"))
    parts.append(tag("text", "off by, on average", x=4, y=14))
    return parts


def _line(line: Curve, scale: _Scale, promise: Promise) -> Markup:
    ends = [(scale.x(at), scale.y(promise.error(line.size, at)))
            for at in (EPSILONS[0], EPSILONS[-1])]  # fmt: skip
    (x1, y1), (x2, y2) = ends
    return tag("line", class_=f"curve {line.kind}", x1=x1, y1=y1, x2=x2, y2=y2)


def _labels(lines: Sequence[Curve], scale: _Scale, promise: Promise) -> list[Markup]:
    """Labels at the right ends, moved down where they would touch."""
    parts, free = [], 0.0
    for line in lines:
        y = max(scale.y(promise.error(line.size, EPSILONS[-1])) + 4, free)
        rows = _rows(line)
        free = y + LABEL_STEP * len(rows)
        for row, text in enumerate(rows):
            x = scale.end + 8
            parts.append(tag("text", text, class_=line.kind, x=x, y=y + row * LABEL_STEP))
    return parts


def _key(lines: Sequence[Curve]) -> tuple[list[Markup], int]:
    """Names below the plot, each beside a piece of its line; and how much room they take."""
    parts, y = [], HEIGHT + LABEL_STEP
    for line in lines:
        parts.append(tag("line", class_=f"curve {line.kind}", x1=0, x2=24, y1=y - 4, y2=y - 4))
        for text in _rows(line):
            parts.append(tag("text", text, class_=line.kind, x=32, y=y))
            y += LABEL_STEP
    return parts, y - HEIGHT


def _rows(line: Curve) -> list[str]:
    """A label in rows that fit: the first name with S, where there is room for both."""
    first, *others = line.label.split(" = ")
    said = f"({shown_bound(line)})"
    whole = f"{first} {said}"
    rows = [whole] if len(whole) <= LABEL_LETTERS else [first, said]
    return [*rows, *(f"= {name}" for name in others)]
