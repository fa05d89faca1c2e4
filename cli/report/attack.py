"""The picture of the averaging attack: what is left of the noise on one count."""

from __future__ import annotations

import math
from typing import Any

from blowproof.cli.report.html import Markup, table, tag
from blowproof.models.policy.in_words import value_text

__all__ = ["attack_picture", "attack_ways", "attack_words", "widths"]

WIDTH, HEIGHT, MIDDLE = 640, 240, 140
BAR, LEFT, ROOM = 16, 130, 360
SPREAD = 4.0
STEPS = 160


def attack_words(attack: dict[str, Any]) -> str:
    """Return the attack in words."""
    cell = ", ".join(value_text(value) for value in attack["cell"])
    if attack["variance_left"] == 0:
        return (
            f"The known facts alone give away how many records hold ({cell}): any noise on this "
            "count can be taken off."
        )
    copies = attack["estimates"]
    if copies < 1.0005:
        return (
            "The known facts tie no counts together: noise on one count cannot be averaged away "
            "with the help of the others."
        )
    return (
        "Suppose that every count were released with noise of its own, as if nothing were known. "
        f"How many records hold ({cell}) could then be read off in more than one way, and the "
        f"average of all ways is as good as {copies:.4g} independent noisy counts: "
        f"{100 * attack['variance_left']:.3g} % of the variance is left, and the noise is "
        f"{100 * math.sqrt(attack['variance_left']):.3g} % as wide. Noise for S is wide "
        "enough to make up for that."
    )


def attack_ways(attack: dict[str, Any]) -> Markup | None:
    """Return the ways in which the count can be read off, and how wide the noise of each is."""
    if not attack["ways"] or not 0 < attack["variance_left"] <= 0.9995:
        return None
    rows = [("its own noisy count", 1.0, False)]
    rows += [
        (f"{way['known']} (known), less the other noisy counts", math.sqrt(way["variance"]), False)
        for way in attack["ways"]
    ]
    rows.append(
        ("all ways, averaged with the best weights", math.sqrt(attack["variance_left"]), True)
    )
    return table(
        ("read off from", "width of the noise"),
        [
            tag("tr", tag("th", words, scope="row"), tag("td", f"{width:.3g}"),
                class_="decides" if best else None)
            for words, width, best in rows
        ],
        "The ways to read the count off",
        "How wide the noise is (its standard deviation), where that of one noisy count is 1.",
    )  # fmt: skip


def attack_picture(attack: dict[str, Any]) -> Markup | None:
    """Return two bell curves: one noisy count, and the average of all that the facts give.

    They are drawn as normal densities of the right variances: the widths count, not the shape.
    """
    found = widths(attack)
    if found is None:
        return None
    width = found[1][1]
    bars = [_bar(row, *bar) for row, bar in enumerate(found)]
    return tag(
        "svg",
        tag("title", "What averaging leaves of the noise"),
        tag("desc", attack_words(attack)),
        tag("line", class_="axis", x1=20, x2=WIDTH - 20, y1=MIDDLE, y2=MIDDLE),
        _bell(1.0, width, "bell one"),
        _bell(width, width, "bell averaged"),
        tag("line", class_="truth", x1=WIDTH / 2, x2=WIDTH / 2, y1=12, y2=MIDDLE),
        tag("text", "true count", x=WIDTH / 2, y=MIDDLE + 18, text_anchor="middle"),
        tag("text", "one noisy count", class_="one", x=_place(1.75), y=MIDDLE - 40),
        tag("text", "after averaging", class_="averaged", x=_place(0.75 * width) + 10, y=26),
        bars,
        viewBox=f"0 0 {WIDTH} {HEIGHT}", role="img", class_="plot",
    )  # fmt: skip


def widths(attack: dict[str, Any]) -> list[tuple[str, float, str]] | None:
    """Return how wide the noise is before and after, with a name and a kind for each.

    None where averaging leaves nothing of it, or all.
    """
    left = attack["variance_left"]
    if left == 0 or left > 0.9995:
        return None
    return [("one noisy count", 1.0, "reading"), ("after averaging", math.sqrt(left), "plain")]


def _bar(row: int, label: str, share: float, kind: str) -> list[Markup]:
    """How wide the noise is: a bar from zero, which shows differences that curves hide."""
    y = MIDDLE + 36 + row * (BAR + 12)
    return [
        tag("text", label, x=LEFT - 10, y=y + 13, text_anchor="end"),
        tag("rect", x=LEFT, y=y, width=float(ROOM * share), height=BAR, class_=kind),
        tag("text", f"{100 * share:.3g} % of its width", x=LEFT + ROOM * share + 8, y=y + 13),
    ]


def _place(deviations: float) -> float:
    return WIDTH / 2 + deviations / SPREAD * (WIDTH / 2 - 20)


def _bell(width: float, narrowest: float, style: str) -> Markup:
    """A normal density; its height is relative to that of the narrowest one drawn."""
    height = narrowest / width * (MIDDLE - 24)
    points = []
    for step in range(STEPS + 1):
        x = SPREAD * (2 * step / STEPS - 1)
        y = height * math.exp(-((x / width) ** 2) / 2)
        points.append(f"{_place(x):.1f} {MIDDLE - y:.1f}")
    return tag("path", class_=style, d=f"M {' L '.join(points)}")
