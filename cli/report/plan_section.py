"""The plan as a part of a page: what each mechanism that applies would be worth."""

from __future__ import annotations

from typing import Any

from blowproof.cli.report.html import Markup, join, table, tag
from blowproof.cli.report.paper import Drawn, Paper

__all__ = ["SHOWN", "choice", "option_name", "plan_section"]

SHOWN = 8
ROW, BAR, LEFT, RIGHT = 30, 20, 250, 90


def plan_section(plan: dict[str, Any] | None, drawn: Drawn) -> Markup | None:
    """Return the comparison of a plan's JSON document, its choice first; None without a plan."""
    if plan is None:
        return None
    heading = tag("h3", "What a release would be worth")
    if not plan["options"]:
        why = plan["refused"][0]["why"].partition("\n")[0] if plan["refused"] else "none applies"
        why = why.partition(": nothing was released")[0]  # of course not: this is a plan
        return join([heading, tag("p", f"No mechanism could be compared: {why}.")])
    options = plan["options"][:SHOWN]
    best = options[0]
    name = "epsilon" if plan["rho"] is None else "rho"
    bound = plan["lower_bound"]["rmse"] if plan["lower_bound"] else None
    words = (
        f"For {name} = {plan[name]} the planner chooses “{option_name(best)}”: each number is "
        f"then off by {best['rmse']:,.4g} (root of the mean square), and 95 % of the time no "
        f"number by more than {_most(best):,.4g}."
    )
    if bound:
        words += f" No mechanism at all can be below {bound:,.4g}."
    rows = [_row(option, place == 0) for place, option in enumerate(options)]
    columns = ("mechanism", "error (RMSE)", "95 % of the largest", "private")
    worth = table(columns, rows, "What each mechanism would be worth",
                  "Expected errors, before anything is spent.")  # fmt: skip
    picture = drawn("plan", lambda paper: _bars(options, bound, paper))
    return join([tag("div", heading, tag("p", words), picture, class_="together"), worth])


def choice(plan: dict[str, Any] | None) -> Markup | None:
    """Return what to take instead of plain noise: the planner's choice, in a sentence."""
    if plan is None or not plan["options"]:
        return None
    best = plan["options"][0]
    return tag(
        "p",
        f"Of all mechanisms the planner chooses “{option_name(best)}”, with which a number is "
        f"off by {best['rmse']:,.4g}: ", tag("code", "blowproof release"), " takes it by itself.",
    )  # fmt: skip


def option_name(option: dict[str, Any]) -> str:
    """Return the mechanism with the settings that tell it from others of its kind."""
    settings = [f"{key} {value}" for key, value in option["settings"].items()
                if isinstance(value, (str, int, float)) and len(str(value)) < 30]  # fmt: skip
    return ", ".join([option["mechanism"], *settings])


def _most(option: dict[str, Any]) -> float:
    return max((float(item["max95"]) for item in option["queries"]), default=0.0)


def _row(option: dict[str, Any], chosen: bool) -> Markup:
    return tag(
        "tr",
        tag("th", option_name(option), tag("strong", " chosen") if chosen else None, scope="row"),
        tag("td", f"{option['rmse']:,.4g}"),
        tag("td", f"{_most(option):,.4g}"),
        tag("td", option["private"]),
        class_="decides" if chosen else None,
    )


def _bars(options: list[dict[str, Any]], bound: float | None, paper: Paper) -> Markup:
    """A bar for each option, from zero; a line where no mechanism is below."""
    most = max(*(option["rmse"] for option in options), bound or 0.0, 1e-9)
    begin, room = paper.room(LEFT, RIGHT)
    row = paper.step(ROW)
    parts = []
    for place, option in enumerate(options):
        kind = "decides" if place == 0 else "reading"
        name, error = _short(option_name(option)), f"{option['rmse']:,.4g}"
        length = room * option["rmse"] / most
        parts += paper.bar(8 + place * row, name, length, error, kind, left=LEFT, high=BAR)
    end = 8 + row * len(options)
    if bound:
        x = begin + room * bound / most
        parts += [tag("line", class_="truth", x1=float(x), x2=float(x), y1=2, y2=end),
                  tag("text", "no mechanism is below", x=max(float(x), 80.0), y=end + 14,
                      text_anchor="middle")]  # fmt: skip
    words = "; ".join(f"{option_name(option)}: {option['rmse']:,.4g}" for option in options)
    return paper.picture(end + 22, "Expected error of each mechanism", words, parts)


def _short(text: str) -> str:
    return text if len(text) <= 34 else f"{text[:33]}…"
