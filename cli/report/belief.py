"""A picture of one attacker's belief: before the release, and after the output that tells most."""

from __future__ import annotations

from fractions import Fraction
from math import exp
from typing import Any

from blowproof.cli.report.html import Markup
from blowproof.cli.report.paper import Paper

__all__ = ["belief_picture", "beliefs", "believed"]

BAR, STEP, LEFT, RIGHT = 22, 34, 250, 70


def believed(log_odds: Fraction) -> float:
    """Return what even odds become when they move by a factor of e^log_odds.

    >>> round(believed(Fraction(1)), 3), believed(Fraction(0)), believed(Fraction(10**6))
    (0.731, 0.5, 1.0)
    """
    return 1 / (1 + exp(-min(float(log_odds), 700.0)))


def beliefs(attackers: dict[str, Any], epsilon: int | str) -> list[tuple[str, float, str]] | None:
    """Return how sure an attacker is before, and can be after, with a name and a kind for each."""
    moved = attackers["log_odds_at_least"]
    if moved is None:
        return None
    return [
        ("before", 0.5, "plain"),
        ("after, as e^epsilon promises", believed(Fraction(epsilon)), "reading"),
        ("after, with this noise", believed(Fraction(moved)), "decides"),
    ]


def belief_picture(attackers: dict[str, Any], epsilon: int | str, paper: Paper) -> Markup | None:
    """Return bars: even odds before; after, as promised, and as this noise really allows."""
    bars = beliefs(attackers, epsilon)
    if bars is None:
        return None
    _, room = paper.room(LEFT, RIGHT)
    step = paper.step(STEP)
    rows = [
        paper.bar(10 + place * step, label, room * share, f"{share:.3f}", kind, left=LEFT, high=BAR)
        for place, (label, share, kind) in enumerate(bars)
    ]
    return paper.picture(
        20 + step * len(bars),
        "How sure an attacker can become of a secret that seemed even",
        "; ".join(f"{label}: {share:.3f}" for label, share, _ in bars),
        rows,
    )
