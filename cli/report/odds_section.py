"""The odds as a part of a page: the attacker who learns most, and what is seen."""

from __future__ import annotations

from typing import Any

from blowproof.cli.report.html import Markup, join, tag

__all__ = ["odds_section"]

SHOWN = 8
VERDICTS = {
    "within": "no more than e^epsilon",
    "exceeded": "more than e^epsilon promises",
    "undecided": "the bounds leave open whether that is within e^epsilon",
}


def odds_section(odds: dict[str, Any] | None) -> Markup | None:
    """Return the attacker of an odds document; None without one."""
    if odds is None:
        return None
    low, high = (_about(item) for item in odds["ratio_between"])
    moved = low if low == high else f"{low} … {high}"
    verdict = VERDICTS[odds["verdict"]]
    kind = "bad" if odds["verdict"] == "exceeded" else "good"
    parts: list[Markup | None] = [
        tag("h3", "The attacker who learns most from this noise"),
        tag("p", "Against attackers who believe records to be independent, each as they like, the "
                 "odds between two values of one record move by a factor of "
                 f"{moved} at the worst: ",
            tag("span", verdict, class_=kind if odds["verdict"] != "undecided" else "bad"), "."),
    ]  # fmt: skip
    if odds["secret"]:
        first, second = odds["secret"]
        parts.append(tag("p", f"One of them asks whether {first}, or {second}. Before the release "
                              "this attacker believes:"))  # fmt: skip
        parts.append(_beliefs(odds["prior"]))
        parts.append(_seen(odds["output"]))
    return join(parts)


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
            tag("td", "; ".join(f"{', '.join(map(str, value))} ({chance})"
                                for value, chance in belief[:SHOWN])))
        for number, belief in enumerate(records[:SHOWN], start=1)
    ]  # fmt: skip
    head = tag("tr", tag("th", "record", scope="col"), tag("th", "may hold (probability)",
                                                           scope="col"))  # fmt: skip
    table = tag("table", tag("thead", head), tag("tbody", rows))
    more = len(records) - SHOWN
    return join([
        tag("div", table, class_="wide", tabindex=0, role="region", aria_label="Beliefs"),
        tag("p", f"and {more} more records") if more > 0 else None,
    ])  # fmt: skip


def _seen(output: Any) -> Markup | None:
    if not isinstance(output, list) or not output:
        return None
    words = [f"{item['output']} = {item['value']}" for item in output[:SHOWN]
             if isinstance(item, dict) and "output" in item]  # fmt: skip
    more = " and more" if len(output) > SHOWN else ""
    return tag("p", f"What tells most is to see {'; '.join(words)}{more}.") if words else None
