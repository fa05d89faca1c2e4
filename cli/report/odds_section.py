"""The odds as a part of a page: the attacker who learns most, and what is seen."""

from __future__ import annotations

from typing import Any

from blowproof.cli.report.html import Markup, join, table, tag
from blowproof.cli.report.paper import Drawn
from blowproof.models.policy.in_words import counted, value_text

__all__ = ["moved", "odds_section"]

SHOWN = 8
VERDICTS = {
    "within": "no more than e^epsilon",
    "exceeded": "more than e^epsilon promises",
    "undecided": "the bounds leave open whether that is within e^epsilon",
}

COVERED = "no more than e^epsilon, since the noise is for S of the reading pufferfish, too"


def odds_section(
    odds: dict[str, Any] | None, drawn: Drawn, *, covered: bool = False
) -> Markup | None:
    """Return the attacker of an odds document; None without one.

    `covered`: the noise is for S of reading 5, so that no odds move further than was promised, also
    where none that move so far were found.
    """
    if odds is None:
        return None
    covered = covered and odds["verdict"] == "undecided"
    factor = moved(*odds["ratio_between"])
    if covered:
        factor = f"a factor of {_about(odds['ratio_between'][0])} or more"
    verdict = COVERED if covered else VERDICTS[odds["verdict"]]
    kind = "good" if covered or odds["verdict"] == "within" else "bad"
    parts: list[Markup | None] = [
        tag("h3", "The attacker who learns most from this noise"),
        tag("p", "Against attackers who believe records to be independent, each as they like, the "
                 f"odds between two values of one record move by {factor} at the worst: ",
            tag("span", verdict, class_=kind), "."),
        drawn("odds", lambda paper: None),  # the report says it in that sentence
    ]  # fmt: skip
    if odds["secret"]:
        first, second = odds["secret"]
        parts.append(tag("p", f"One of them asks whether {first}, or {second}. Before the release "
                              "this attacker believes:"))  # fmt: skip
        parts.append(_beliefs(odds["prior"]))
        parts.append(_seen(odds["output"]))
    return join(parts)


def moved(least: str | None, most: str | None) -> str:
    """Return by how much odds move: the factor, or what bounds it."""
    low = _about(least)
    if most is None:
        return f"a factor that nothing bounds from above here, at least {low}"
    high = _about(most)
    return f"a factor of {low}" if low == high else f"a factor between {low} and {high}"


def _about(text: str | None) -> str:
    return "?" if text is None else f"{float(text):.4g}" if _is_number(text) else text


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _beliefs(prior: dict[str, Any] | None) -> Markup | None:
    records = (prior or {}).get("records")
    if not records:
        return None
    rows = [
        tag("tr", tag("th", number, scope="row"),
            tag("td", "; ".join(f"{', '.join(map(value_text, value))} ({chance})"
                                for value, chance in belief[:SHOWN])))
        for number, belief in enumerate(records[:SHOWN], start=1)
    ]  # fmt: skip
    more = len(records) - SHOWN
    return join([
        table(("record", "may hold (probability)"), rows, "Beliefs"),
        tag("p", f"and {counted(more, 'more record')}") if more > 0 else None,
    ])  # fmt: skip


def _seen(output: Any) -> Markup | None:
    if not isinstance(output, list) or not output:
        return None
    words = [f"{item['output']} = {item['value']}" for item in output[:SHOWN]
             if isinstance(item, dict) and "output" in item]  # fmt: skip
    more = " and more" if len(output) > SHOWN else ""
    return tag("p", f"What tells most is to see {'; '.join(words)}{more}.") if words else None
