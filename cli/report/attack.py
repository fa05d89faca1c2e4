"""The picture of the averaging attack: what is left of the noise on one count."""

from __future__ import annotations

import math
from typing import Any

from blowproof.cli.report.html import Markup, table, tag
from blowproof.cli.report.paper import Paper
from blowproof.models.policy.in_words import value_text

__all__ = ["attack_picture", "attack_ways", "attack_words", "widths"]

HEIGHT, MIDDLE = 240, 140
BAR, STEP, LEFT, RIGHT = 16, 28, 130, 150
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


def attack_picture(attack: dict[str, Any], paper: Paper) -> Markup | None:
    """Return two bell curves: one noisy count, and the average of all that the facts give.

    They are drawn as normal densities of the right variances: the widths count, not the shape.
    Bars from zero below them show differences that curves hide.
    """
    found = widths(attack)
    if found is None:
        return None
    width = found[1][1]
    middle, step = paper.width / 2, paper.step(STEP)
    _, room = paper.room(LEFT, RIGHT)
    bars = [
        paper.bar(MIDDLE + 36 + row * step, label, room * share,
                  f"{100 * share:.3g} % of its width", kind, left=LEFT, high=BAR)
        for row, (label, share, kind) in enumerate(found)
    ]  # fmt: skip
    named = _place(1.75, paper) if not paper.slim else paper.width - 110
    return paper.picture(
        HEIGHT + len(found) * (step - STEP),
        "What averaging leaves of the noise",
        attack_words(attack),
        tag("line", class_="axis", x1=20, x2=paper.width - 20, y1=MIDDLE, y2=MIDDLE),
        _bell(1.0, width, "bell one", paper),
        _bell(width, width, "bell averaged", paper),
        tag("line", class_="truth", x1=middle, x2=middle, y1=12, y2=MIDDLE),
        tag("text", "true count", x=middle, y=MIDDLE + 18, text_anchor="middle"),
        tag("text", "one noisy count", class_="one", x=named, y=MIDDLE - 40),
        tag("text", "after averaging", class_="averaged", x=_place(0.75 * width, paper) + 10, y=26),
        bars,
    )


def widths(attack: dict[str, Any]) -> list[tuple[str, float, str]] | None:
    """Return how wide the noise is before and after, with a name and a kind for each.

    None where averaging leaves nothing of it, or all.
    """
    left = attack["variance_left"]
    if left == 0 or left > 0.9995:
        return None
    return [("one noisy count", 1.0, "reading"), ("after averaging", math.sqrt(left), "plain")]


def _place(deviations: float, paper: Paper) -> float:
    return paper.width / 2 + deviations / SPREAD * (paper.width / 2 - 20)


def _bell(width: float, narrowest: float, style: str, paper: Paper) -> Markup:
    """A normal density; its height is relative to that of the narrowest one drawn."""
    height = narrowest / width * (MIDDLE - 24)
    points = []
    for step in range(STEPS + 1):
        x = SPREAD * (2 * step / STEPS - 1)
        y = height * math.exp(-((x / width) ** 2) / 2)
        points.append(f"{_place(x, paper):.1f} {MIDDLE - y:.1f}")
    return tag("path", class_=style, d=f"M {' L '.join(points)}")
