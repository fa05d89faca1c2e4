"""The ledger of claims as pages: an index, and one for each paper, counterexamples to step through.

They read the record's JSON alone (and the policies in it), and need nothing else.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from blowproof.cli.report.html import Markup, tag
from blowproof.cli.report.page import whole_page
from blowproof.cli.report.pair import pair_table

if TYPE_CHECKING:
    from blowproof.models import Point, Policy

__all__ = ["pages"]

Json = dict[str, Any]


def pages(text: str, version: str) -> dict[str, str]:
    """Return the pages for a record, given as its JSON text, by the names of their files."""
    from blowproof.verifier.claims.page import TITLES, paper_of, papers_of

    claims: list[Json] = json.loads(text)["claims"]
    found = {"index.html": whole_page("The papers' statements", _index(claims), version)}
    for paper in papers_of(claims):
        mine = [item for item in claims if paper_of(item) == paper]
        title = TITLES.get(paper, paper)
        found[f"{paper}.html"] = whole_page(title, _paper(paper, title, mine), version)
    return found


def _index(claims: list[Json]) -> list[Markup]:
    from blowproof.verifier.claims.page import TITLES, matters, paper_of, papers_of

    worst = [item for item in claims if matters(item)]
    ours = [item for item in claims if item["status"]]
    listed = [
        tag("li", tag("a", TITLES.get(paper, paper), href=f"{paper}.html"),
            f": {sum(1 for item in claims if paper_of(item) == paper)} rows")
        for paper in papers_of(claims)
    ]  # fmt: skip
    return [
        tag("header", tag("h1", "The papers' statements, checked by machine")),
        tag("h2", "What matters most: substantial, and costs privacy"),
        _listing([(item, _numbers(item["counterexample"])) for item in worst]),
        tag("h2", "Results of our own"),
        _listing([(item, f"{item['status']}; {item['instances']} instances") for item in ours]),
        tag("h2", "Paper by paper"),
        tag("ul", listed),
    ]


def _listing(rows: list[tuple[Json, str]]) -> Markup:
    from blowproof.verifier.claims.page import anchor, paper_of

    body = [
        tag("tr", tag("th", tag("a", item["id"], href=f"{paper_of(item)}.html#{anchor(item)}"),
                      scope="row"),
            tag("td", item["statement"]), tag("td", words))
        for item, words in rows
    ]  # fmt: skip
    return tag("div", tag("table", tag("tbody", body)), class_="wide")


def _numbers(example: Json) -> str:
    return f"claimed {example['relation']} {example['claimed']}, exact {example['exact']}"


# --- one paper -----------------------------------------------------------------------------------


def _paper(paper: str, title: str, claims: list[Json]) -> list[Markup]:
    from blowproof.verifier.claims.page import matters
    from blowproof.verifier.claims.passed import passed_over

    counter = iter(range(10**6))
    first = [item for item in claims if matters(item)]
    rest = [item for item in claims if not matters(item)]
    body = [
        tag("header", tag("p", tag("a", "All papers", href="index.html")), tag("h1", title)),
        *(_claim(item, counter) for item in (*first, *rest)),
    ]
    passed = passed_over().get(paper, ())
    if passed:
        rows = [
            tag("tr", tag("td", item.where), tag("td", f"“{item.words}”"), tag("td", item.why))
            for item in passed
        ]
        body += [
            tag("h2", "Sentences without a row, and why"),
            tag("div", tag("table", tag("tbody", rows)), class_="wide"),
        ]
    return body


def _claim(item: Json, counter: Iterator[int]) -> Markup:
    from blowproof.verifier.claims.page import anchor, verdict_words

    quote = f", “{item['quote']}”" if item["quote"] else ""
    facts = [
        ("Where", f"{item['source']}{quote}"),
        ("Read as", item["read_as"]),
        ("Verdict", verdict_words(item).replace("**", "")),
        ("Proved by", "; ".join(item["proved_by"])),
        ("Engines", item["engines"]),
        ("Why not", item["why_not"]),
    ]
    texts = (("Why", "explanation"), ("Repaired", "repaired"), ("Proof", "proof"))
    return tag(
        "section",
        tag("h2", anchor(item), id=anchor(item)),
        tag("p", tag("strong", item["statement"])),
        tag("dl", [[tag("dt", word), tag("dd", text)] for word, text in facts if text]),
        [[tag("h3", word), tag("p", item[key])] for word, key in texts if item[key]],
        _identities(item),
        _parts(item),
        [_example(example, next(counter)) for example in _shown(item)],
    )


def _identities(item: Json) -> list[Markup]:
    listed = [tag("li", tag("code", words)) for words in item["identities"]]
    return [tag("h3", "Algebra, proved by sympy"), tag("ul", listed)] if listed else []


def _parts(item: Json) -> Markup | None:
    if not item["parts"]:
        return None
    rows = []
    for part in item["parts"]:
        taken = ", ".join(filter(None, (part["reading"], part["answers"])))
        name = f"{'repaired: ' if part['amended'] else ''}{part['name']}"
        failed = ", ".join(f"{count} cost {cost}" for cost, count in part["failures"].items())
        rows.append(
            tag("tr", tag("td", f"{name}{f' ({taken})' if taken else ''}"),
                tag("td", part["family"]), tag("td", f"{part['instances']}"),
                tag("td", f"fails: {failed}" if failed else "holds"))
        )  # fmt: skip
    head = [tag("th", word, scope="col") for word in ("part", "of", "instances", "outcome")]
    return tag(
        "div", tag("table", tag("thead", tag("tr", head)), tag("tbody", rows)), class_="wide"
    )


def _shown(item: Json) -> Iterator[Json]:
    """Yield counterexamples without repetitions, degenerate ones only where there is no other."""
    printed = [part for part in item["parts"] if not part["amended"]]
    every = [example for part in printed for example in part["counterexamples"]]
    proper = [example for example in every if example["degenerate"] is None]
    seen = set()
    for example in proper or every:
        key = (example["policy_file"], example["cost"], example["claimed"], example["exact"])
        if key not in seen:
            seen.add(key)
            yield example


def _example(example: Json, number: int) -> Markup:
    name = example["part"][:1].upper() + example["part"][1:]
    asked = f"query {example['query']}" if example["query"] else ""
    rows = f"with {example['rows']}" if "rows" in example else ""
    given = [f"{key} = {value}" for key, value in example.get("parameters", {}).items()]
    words = "; ".join(filter(None, (example["reading"], asked, rows, *given, example["checked"])))
    small = f" (degenerate: {example['degenerate']})" if example["degenerate"] else ""
    return tag(
        "div",
        tag("h3", f"{name}: {_numbers(example)}{small}"),
        tag("p", words),
        tag("pre", tag("code", example["policy_file"])) if example["policy_file"] else None,
        _steps(example, number),
    )


def _steps(example: Json, number: int) -> Markup | None:
    """Return the pair of databases as a table to step through, where the example has one."""
    from blowproof.models.files.reading import policy_from
    from blowproof.models.policy.readings import is_labelled

    witness = example.get("witness")
    if not witness or not example["reading"] or not witness["before"] + witness["after"]:
        return None
    policy = policy_from(example["policy"])
    before, after = witness["before"], witness["after"]
    if is_labelled(example["reading"]):
        pairs = list(zip(before, after, strict=True))
    else:
        pairs = [*((one, None) for one in before), *((None, one) for one in after)]
    places = witness.get("records") or [None] * len(pairs)
    moves = [_move(policy, *pair, place) for pair, place in zip(pairs, places, strict=True)]
    query = {"chain": {"moves": moves}, "witness": witness}
    return pair_table([name for name, _ in policy.domain.attributes], query, number)


def _move(policy: Policy, before: Any, after: Any, record: int | None) -> Json:
    from blowproof.models.policy.in_words import fact_label

    one, two = _point(policy, before), _point(policy, after)
    changes = [
        (fact_label(policy, fact), _times(fact, two) - _times(fact, one))
        for fact in policy.linear_facts
    ]
    secret = one is not None and two is not None and policy.graph.is_edge(one, two)
    return {
        "before": before,
        "after": after,
        "record": record,
        "secret": secret,
        "lowers": [[name, -n] for name, n in changes if n < 0],
        "lifts": [[name, n] for name, n in changes if n > 0],
    }


def _times(fact: Any, point: Point | None) -> int:
    return 0 if point is None else int(fact.coefficient(point))


def _point(policy: Policy, values: list[Any] | None) -> Point | None:
    """Return the point that a record of the JSON stands for."""
    if values is None:
        return None
    from blowproof.verifier.asked.answer import json_value

    return next(x for x in policy.domain.points() if json_value(policy.domain, x) == values)
