"""The picture of the averaging attack: what is left of the noise on one count."""

from __future__ import annotations

import math
from typing import Any

from blowproof.cli.report.html import Markup, tag

__all__ = ["attack_picture", "attack_words"]

WIDTH, HEIGHT, MIDDLE = 640, 240, 140
BAR, LEFT, ROOM = 16, 130, 360
SPREAD = 4.0
STEPS = 160


def attack_words(attack: dict[str, Any]) -> str:
    """Return the attack in words."""
    cell = ", ".join(str(value) for value in attack["cell"])
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
        f"If every count were released with noise of its own, calibrated as if nothing were known, "
        f"the known facts would give {copies:.4g} independent estimates of how many records hold "
        f"({cell}). Averaged, {100 * attack['variance_left']:.3g} % of the variance is left: the "
        f"noise shrinks to {100 * math.sqrt(attack['variance_left']):.3g} % of its width."
    )


def attack_picture(attack: dict[str, Any]) -> Markup | None:
    """Return two bell curves: one noisy count, and the average of all that the facts give.

    They are drawn as normal densities of the right variances: the widths count, not the shape.
    """
    left = attack["variance_left"]
    if left == 0 or left > 0.9995:
        return None
    width = math.sqrt(left)
    return tag(
        "svg",
        tag("title", "What averaging leaves of the noise"),
        tag("desc", attack_words(attack)),
        tag("line", class_="axis", x1=20, x2=WIDTH - 20, y1=MIDDLE, y2=MIDDLE),
        _bell(1.0, width, "bell one"),
        _bell(width, width, "bell averaged"),
        tag("line", class_="truth", x1=WIDTH / 2, x2=WIDTH / 2, y1=12, y2=MIDDLE),
        tag("text", "true count", x=WIDTH / 2, y=MIDDLE + 18, text_anchor="middle"),
        tag("text", "one noisy count", class_="one", x=_place(1.5), y=MIDDLE - 34),
        tag("text", "after averaging", class_="averaged", x=_place(1.15 * width) + 8, y=32),
        _bar(0, "one noisy count", 1.0, "reading"), _bar(1, "after averaging", width, "plain"),
        viewBox=f"0 0 {WIDTH} {HEIGHT}", role="img", class_="plot",
    )  # fmt: skip


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
