"""The audit as one page of HTML that needs nothing else: it reads the JSON document alone."""

from __future__ import annotations

from base64 import b64encode
from fractions import Fraction
from hashlib import sha256
from importlib.resources import files
from typing import Any

from blowproof.cli.report.attack import attack_picture, attack_ways, attack_words
from blowproof.cli.report.belief import belief_picture
from blowproof.cli.report.charts import PROMISES, curves, error_plot
from blowproof.cli.report.graph import arrow_tip, graph_picture, graph_words
from blowproof.cli.report.html import Markup, between, join, table, tag
from blowproof.cli.report.odds_section import odds_section
from blowproof.cli.report.pair import pair_table
from blowproof.cli.report.paper import Drawn, Paper, as_drawn
from blowproof.cli.report.plan_section import choice, plan_section
from blowproof.cli.report.record import embedded, record_section
from blowproof.cli.report.terms import FINAL, NORMS, READINGS, RELATIONS, RESTS, STATUS, TERMS

__all__ = ["page", "sections", "whole_page"]

Promised = tuple[str, "int | str"]
"""What is aimed for: "epsilon" or "rho", and how much."""


def page(document: dict[str, Any], version: str) -> str:
    """Return the page of an audit's JSON document."""
    name = document["policy"]
    body = [
        tag("a", "Skip to the answer", href="#answer", class_="skip"),
        arrow_tip(),
        tag("header", tag("h1", f"{name}: how far one secret reaches"), _lead()),
        tag("main", _policy(document),
            [_query(document, query, place) for place, query in enumerate(document["queries"])],
            record_section(document.get("record")), _words(), id="answer"),
        tag("footer", tag("p", f"Made by blowproof {version}. Numbers are exact unless a sentence "
                               "says otherwise.")),
    ]  # fmt: skip
    kept = embedded(document.get("record"), str(join(body)))
    return whole_page(f"{name}: privacy audit", [*body, *([kept] if kept else [])], version)


def whole_page(title: str, body: list[Markup], version: str) -> str:
    """Return a page that needs nothing else, with the style and the script of all reports."""
    style, script = _asset("style.css"), _asset("script.js")
    head = join([
        tag("meta", charset="utf-8"),
        tag("meta", http_equiv="Content-Security-Policy", content=_allowed(style, script)),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="generator", content=f"blowproof {version}"),
        tag("title", title),
        tag("style", style),
    ])  # fmt: skip
    html = tag("html", tag("head", head), tag("body", *body, tag("script", script)), lang="en")
    return f"<!doctype html>\n{html}\n"


def _asset(name: str) -> Markup:
    return Markup(files("blowproof.cli.report").joinpath(name).read_text(encoding="utf-8"))


def _allowed(style: Markup, script: Markup) -> str:
    """What a browser may run of the page: this style and this script, and nothing from elsewhere.

    A policy's names stand on the page. They are escaped; were one not, it still could not run.
    """
    rules = {
        "default-src": "'none'",
        "style-src": _digest(style),
        "script-src": _digest(script),
        "img-src": "data:",
        "base-uri": "'none'",
        "form-action": "'none'",
    }
    return "; ".join(f"{name} {source}" for name, source in rules.items())


def _digest(text: Markup) -> str:
    """A text by its digest, as a Content-Security-Policy names it."""
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode('ascii')}'"


def _lead() -> Markup:
    return tag(
        "p",
        "What is secret about one person, what the public already knows, and how much noise a "
        "released number needs because of both. Every term is explained ",
        tag("a", "at the end", href="#words"), ".",
        class_="lead",
    )  # fmt: skip


def _policy(document: dict[str, Any]) -> Markup:
    size = document["size"]
    values = [("Protected", document["protected"]),
              ("Known", [tag("div", line) for line in document["known"]]),
              ("Values", _values(document["domain"])),
              ("Records", f"{size:,}" if size is not None else "any number")]  # fmt: skip
    if document["answers"] == "any":
        values.append(("Judged for", "the worst numbers that the known facts can have"))
    else:
        values.append(("Judged for", "the numbers of the known facts as written or counted"))
    return tag("section", tag("h2", "The policy"), _list(values))


def _values(domain: dict[str, Any]) -> str:
    sides = [f"{name} ({size:,})" for name, size in domain["attributes"].items()]
    return f"{' × '.join(sides)} = {domain['size']:,}"


def _list(values: list[tuple[str, Any]]) -> Markup:
    return tag("dl", [[tag("dt", word), tag("dd", text)] for word, text in values])


def _query(document: dict[str, Any], query: dict[str, Any], number: int) -> Markup:
    parts = sections(document, query, number)
    return tag("section", tag("h2", "Releasing ", tag("code", query["query"])), *parts.values())


def sections(
    document: dict[str, Any], query: dict[str, Any], number: int, drawn: Drawn = as_drawn
) -> dict[str, Markup | None]:
    """Return what the page says about one query, by the names of its parts, in their order.

    None where a part does not apply. `drawn` puts something else in the place of pictures.
    """
    name = "epsilon" if document["epsilon"] is not None else "rho"
    promise = (name, document[name])
    return {
        "answer": _headline(query),
        "todo": tag("div", tag("h3", "What to do"), tag("p", query["recommendation"]),
                    choice(query.get("plan")), _judged(query), class_="todo"),
        "readings": _readings(query),
        "plain": _plain(query, promise),
        "pair": _pair(document, query, number),
        "plan": plan_section(query.get("plan"), drawn),
        "graph": _graph(query),
        "errors": _errors(query, promise, drawn),
        "learned": _learned(query, promise[1], drawn),
        "odds": odds_section(query.get("odds"), drawn, covered=_covered(query)),
        "attack": _attack(query, drawn),
        "facts": _facts(query, drawn),
        "forms": _forms(query),
        "certificate": _certificate(query),
    }  # fmt: skip


def _headline(query: dict[str, Any]) -> Markup:
    how = STATUS[query["status"]] if query.get("more_time_helps", True) else FINAL
    return tag(
        "div",
        tag("strong", f"S = {between(query['lower'], query['upper'])}"),
        tag("p", "The most that this release can differ between two databases that the policy "
                 f"calls neighbours, under the reading “{query['reading']}”. This is "
                 f"{how}."),
        tag("p", query["warning"].replace("<=", "≤"), class_="bad") if query["warning"] else "",
        class_="answer" if query["status"] != "bounds" else "answer open",
    )  # fmt: skip


def _judged(query: dict[str, Any]) -> list[Markup]:
    words = {True: ("good", "is enough"), False: ("bad", "is not enough"),
             None: ("bad", "is left open by the bounds")}  # fmt: skip
    return [
        tag("p", tag("span", f"{item['what']} {words[item['enough']][1]}",
                     class_=words[item["enough"]][0]),
            f": it covers a difference of {item['enough_for']}.")
        for item in query["judgements"]
    ]  # fmt: skip


def _readings(query: dict[str, Any]) -> Markup:
    rows = []
    for row in query["readings"]:
        answer = row["answer"]
        mine = row["reading"] == query["reading"]
        rows.append(
            tag(
                "tr",
                tag("th", row["reading"], " (decides)" if mine else None, scope="row"),
                tag("td", "–" if answer is None else between(answer["lower"], answer["upper"])),
                tag("td", "does not apply" if answer is None else answer["status"]),
                tag("td", row["reason"] or READINGS[row["reading"]]),
                class_="decides" if mine else None,
            )
        )
    return join([
        tag("h3", "The readings"),
        table(("reading", "S", "how sure", "neighbours are"), rows, "S under each reading",
              "What counts as neighbours can be read in five ways."),
    ])  # fmt: skip


def _plain(query: dict[str, Any], promise: Promised) -> Markup | None:
    name, value = promise
    plain = query["plain"]
    if plain["sensitivity"] is None or plain[f"real_{name}"] is None:
        return None
    real = between(plain[f"real_{name}"]["lower"], plain[f"real_{name}"]["upper"])
    return join([
        tag("h3", "What plain differential privacy would have assumed"),
        tag("p", f"It assumes that one record changes alone, so that the release moves by "
                 f"{plain['sensitivity']}{_counted(query)}. With noise for that, {name} = {value} "
                 "is really ",
            tag("strong", real), "."),
    ])  # fmt: skip


def _pair(document: dict[str, Any], query: dict[str, Any], number: int) -> Markup | None:
    if query["chain"] is None:
        return None
    differ = between(query["lower"], query["lower"])
    return join([
        tag("h3", "A worst pair, change by change"),
        tag("p", f"Two databases that nobody may tell apart; their answers differ by {differ}"
                 f"{_counted(query)}. {query['chain']['words']} Take the changes one at a time: as "
                 "long as a known fact is off, the database in between is not a possible one."),
        pair_table(list(document["domain"]["attributes"]), query, number),
    ])  # fmt: skip


def _graph(query: dict[str, Any]) -> Markup | None:
    graph = query["picture"]["policy_graph"]
    if graph is None:
        return None
    drawn = graph_picture(graph) if graph["arcs"] is not None else tag(
        "p", f"With {len(graph['nodes'])} nodes it is too large to draw.")  # fmt: skip
    return _together(tag("h3", "How the facts tie records together"),
                     tag("p", graph_words(graph)), drawn)  # fmt: skip


def _counted(query: dict[str, Any]) -> str:
    """Say what S counts, where it is not the sum of the changes."""
    return NORMS.get(query["norm"], "")


def _errors(query: dict[str, Any], promise: Promised, drawn: Drawn) -> Markup:
    name, value = promise
    noise = query["noise"]
    said = noise["words"].rstrip(".")
    words = f"{said[0].upper()}{said[1:]}."
    if noise["kind"] not in ("laplace", "gaussian") or not noise["useful"]:
        return _together(tag("h3", "Noise"), tag("p", words))
    words += f" The dotted line is {name} = {value}."

    def picture(paper: Paper) -> Markup:
        return error_plot(curves(query), Fraction(value), PROMISES[name], paper)

    return _together(tag("h3", "Noise and error"), tag("p", words), drawn("errors", picture))


def _covered(query: dict[str, Any]) -> bool:
    """Whether the noise is proved to be enough against attackers with independent beliefs."""
    found, own = query["attackers"], query["upper"]
    if found is None or own is None or found["upper"] is None or not found["enough_is_proved"]:
        return False
    return Fraction(found["upper"]) <= Fraction(own)


def _learned(query: dict[str, Any], epsilon: int | str, drawn: Drawn) -> Markup | None:
    found = query["attackers"]
    if found is None:
        return None
    words = found["words"]
    return _together(
        tag("h3", "What an attacker learns"),
        tag("p", "Take somebody who is sure of everything but one secret, and thinks two "
                 f"values of it equally likely. {words[0].upper()}{words[1:]}"),
        drawn("learned", lambda paper: belief_picture(found, epsilon, paper)),
    )  # fmt: skip


def _attack(query: dict[str, Any], drawn: Drawn) -> Markup | None:
    attack = query["picture"]["averaging"]
    if attack is None:
        return None
    return join([
        _together(tag("h3", "The averaging attack"), tag("p", attack_words(attack)),
                  drawn("attack", lambda paper: attack_picture(attack, paper))),
        attack_ways(attack),
    ])  # fmt: skip


def _together(*parts: Markup | None) -> Markup:
    """A heading with what belongs to it: no end of a printed page comes between."""
    return tag("div", *parts, class_="together")


def _facts(query: dict[str, Any], drawn: Drawn) -> Markup | None:
    """What each known fact costs, and what other counts would save."""
    left_out = [item for item in query["facts"] if item["reached"]]
    instead = [item for item in query["instead"] if item["reached"]]
    if not left_out and not instead:
        return None
    rows = [_changed("without", item) for item in left_out]
    rows += [_changed("instead", item) for item in instead]
    return _together(
        tag("h3", "What each known fact costs"),
        drawn("facts", lambda paper: None),  # the report has the table alone
        table(("", "counts", "S would be"), rows, "What each known fact costs",
              "S if one known fact were not published, or others were in its place."),
    )  # fmt: skip


def _changed(word: str, item: dict[str, Any]) -> Markup:
    low = item["lower"]
    value = between(low, item["upper"]) if low is not None else item["reason"] or "open"
    return tag("tr", tag("th", word, scope="row"), tag("td", item["words"]), tag("td", value))


def _forms(query: dict[str, Any]) -> Markup | None:
    """The published formulas that apply, in which reading, and whether they are right here."""
    forms = query["closed_forms"]
    if not forms["applying"]:
        return None
    rows = [
        tag(
            "tr",
            tag("th", form["id"], scope="row"),
            tag("td", form["statement"].replace("<=", "≤"), class_="said"),
            tag("td", form["reading"]),
            tag(
                "td",
                f"{RELATIONS.get(form['relation'], form['relation'])} {form['value']}",
                class_="tight",
            ),
            tag("td", _found(form), class_="tight"),
            tag("td", _standing(form)),
        )
        for form in _once(forms["applying"])
    ]
    heads = ("formula", "it says of S", "in the reading", "here", "S is", "so it is")
    return join([tag("h3", "Published formulas"), tag("p", forms["words"]),
                 table(heads, rows, "Published formulas")])  # fmt: skip


def _found(form: dict[str, Any]) -> str:
    """S in the formula's own reading, exactly or in bounds."""
    low = form["exact_lower"]
    return "not asked" if low is None else between(low, form["exact_upper"])


def _once(forms: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The forms, a row for each statement and value: readings and ids that only repeat it joined.

    A statement that is right in one reading and wrong in another has a row for each.
    """
    found: dict[tuple[str, ...], dict[str, Any]] = {}
    for form in forms:
        said = (form["statement"], form["relation"], str(form["value"]), _found(form),
                str(_standing(form)))  # fmt: skip
        kept = found.setdefault(said, dict(form))
        for key in ("id", "reading"):
            if form[key] not in kept[key].split(", "):
                kept[key] += f", {form[key]}"
    return list(found.values())


def _standing(form: dict[str, Any]) -> Markup | str:
    """How a formula stands: wrong here, where what it says of S is not what was found."""
    if form.get("agrees") is False:
        return tag("span", "wrong here", class_="bad")
    right = "right here" if form.get("agrees") else "open here"
    if form["status"] == "repaired":
        return f"{right} (repaired)"
    return f"{right}, wrong elsewhere" if form["recorded_wrong"] else right


def _certificate(query: dict[str, Any]) -> Markup:
    rests = tag("p", RESTS) if query["certificate"]["proved"] else None
    return join([tag("h3", "How sure this is"),
                 tag("p", f"Certificate: {query['certificate']['words']}"), rests])  # fmt: skip


def _words() -> Markup:
    return tag("section", tag("h2", "The words used here"), _list(TERMS), id="words")
