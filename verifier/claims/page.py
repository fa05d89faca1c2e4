"""CLAIMS.md, made of the record: what matters first, then each paper in one line a statement.

Details (counterexamples, repairs, proofs) are on the pages that `blowproof claims --html` writes;
every row links to its own.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

from blowproof.verifier.claims.passed import passed_over

__all__ = ["PAGES", "TITLES", "VERDICTS", "anchor", "matters", "page", "papers_of", "verdict_words"]

Json = dict[str, Any]
TITLES = {
    "blowfish-2014": "He, Machanavajjhala, Ding: Blowfish Privacy (2014)",
    "exact-cuboids-draft": "Exact cuboids (draft)",
    "designing-statistical-privacy-2015": "Designing Statistical Privacy for your Data (2015)",
    "pufferfish-2012": "Kifer, Machanavajjhala: Pufferfish (2012)",
    "data-dependent-blowfish": "Data-dependent algorithms under Blowfish",
    "ours": "Results of our own",
}
VERDICTS = ("holds", "holds-checked", "holds-amended", "refuted", "not-checkable")
GRADES = ("substantial", "degenerate", "misprint")
PAGES = "build/claims"
"""Where the links go: the pages lie there after `blowproof claims --html build/claims`."""
HEAD = """# The papers' statements, checked by machine

Generated from `verifier/claims/verdicts.json` by `blowproof claims --full --write .`; `blowproof
claims` checks it again. Nothing here is presumed true: each statement was put to families of small
policies, listed exhaustively up to a stated size and drawn at random beyond, and the exact side was
computed by the engines, never by the formula in question. Rows link to their details, with the
counterexamples to step through, as written by `blowproof claims --html build/claims`.

* **holds**: on every instance checked, and in general by the proof that the row names (by hand,
  algebra that sympy proves at each run, certificates that the kernel checked, or a list of all
  there is).
* **holds-checked**: on every instance checked; no proof is named.
* **holds-amended**: true after the repair stated; without it, a condition is missing whose absence
  costs accuracy at the most, or a misprint is in the way.
* **refuted**: an instance contradicts it. *costs privacy*: noise set by it is too small somewhere;
  *costs accuracy*: it is only too large, or an error larger than promised.
* **not-checkable**: with the reason.

A failure is *substantial*, a *misprint*, or *degenerate*: for one value, one record, one cluster,
no secret pair or nothing left open alone. The counterexample shown is the smallest that is not
degenerate, if there is one. An instance is counted once for each part and reading in which it was
checked.
"""


def page(text: str) -> str:
    """Return the page for a record, given as its JSON text."""
    claims: list[Json] = json.loads(text)["claims"]
    papers = papers_of(claims)
    lines = [HEAD, _engines(claims), "", *_glance(claims, papers), "", *_warnings(claims)]
    lines += ["", *_ours(claims)]
    for paper in papers:
        mine = [item for item in claims if paper_of(item) == paper]
        if paper != "ours":
            lines += ["", f"## {TITLES.get(paper, paper)}", "", _summary(mine), "", *_table(mine)]
            lines += _passed(paper)
    return "\n".join(lines).rstrip() + "\n"


def papers_of(claims: Iterable[Json]) -> list[str]:
    """Return the papers of some claims, in their order."""
    return list(dict.fromkeys(paper_of(item) for item in claims))


def paper_of(item: Json) -> str:
    """Return the paper of a claim: the first half of its id."""
    return str(item["id"]).partition("/")[0]


def anchor(item: Json) -> str:
    """Return the name of a claim on its paper's page."""
    return str(item["id"]).partition("/")[2]


def matters(item: Json) -> bool:
    """Whether a claim is one of those that matter most: it fails substantially, at privacy's cost.

    What a misprint or a degenerate instance costs is left to the paper's own table.
    """
    example = item["counterexample"]
    return item["grade"] == "substantial" and example is not None and item["cost"] == "privacy"


def _engines(claims: list[Json]) -> str:
    found = Counter(item["engines"] or "unknown" for item in claims if item["parts"])
    if len(found) == 1:
        (version,) = found
        return f"Every row was found by the full check on one version of the engines, `{version}`."
    listed = ", ".join(f"`{version}`: {count} rows" for version, count in found.most_common())
    return f"By which engines the rows were found: {listed}."


def _glance(claims: list[Json], papers: list[str]) -> Iterator[str]:
    yield f"| paper | rows | {' | '.join((*VERDICTS, *GRADES))} | instances |"
    yield "| --- " * (len(VERDICTS) + len(GRADES) + 3) + "|"
    for paper in papers:
        mine = [item for item in claims if paper_of(item) == paper]
        verdicts = [sum(1 for item in mine if item["verdict"] == name) for name in VERDICTS]
        grades = [sum(1 for item in mine if item["grade"] == name) for name in GRADES]
        counts = " | ".join(map(str, (*verdicts, *grades)))
        instances = sum(item["instances"] for item in mine)
        yield f"| {paper} | {len(mine)} | {counts} | {instances} |"


def _warnings(claims: list[Json]) -> Iterator[str]:
    """Yield the statements that fail substantially and cost privacy to trust, with both numbers."""
    yield "## What matters most: substantial, and costs privacy"
    yield ""
    yield "| claim | what, on the smallest proper instance | claimed | exact | instead |"
    yield "| --- | --- | --- | --- | --- |"
    for item in claims:
        example = item["counterexample"]
        if matters(item):
            claimed = f"{example['relation']} {example['claimed']}"
            numbers = (example["part"], claimed, str(example["exact"]))
            yield _row((_link(item, full=True), *numbers, item["repaired"] or ""))


def _ours(claims: list[Json]) -> Iterator[str]:
    """Yield what is new: proved, conjectured or found, and on how many instances."""
    yield "## Results of our own"
    yield ""
    yield "| result | status | statement | verdict | instances | proved by |"
    yield "| --- | --- | --- | --- | --- | --- |"
    for item in claims:
        if item["status"]:
            proved = "; ".join(item["proved_by"]) or "nothing: checked on the instances"
            cells = (item["status"], item["statement"], verdict_words(item))
            yield _row((_link(item, full=True), *cells, str(item["instances"]), proved))


def _summary(mine: list[Json]) -> str:
    verdicts = Counter(item["verdict"] for item in mine)
    words = ", ".join(f"{verdicts[name]} {name}" for name in VERDICTS if verdicts[name])
    worst = [item for item in mine if matters(item)]
    said = f"{len(mine)} rows: {words}."
    if worst:
        said += f" Not to be trusted: {', '.join(_link(item) for item in worst)}."
    return said


def _table(claims: list[Json]) -> Iterator[str]:
    yield "| claim | where | statement | read as | verdict | checked on |"
    yield "| --- | --- | --- | --- | --- | --- |"
    for item in sorted(claims, key=lambda item: not item["parts"]):  # definitions come last
        quote = f", “{item['quote']}”" if item["quote"] else ""
        cells = (f"{item['source']}{quote}", item["statement"], item["read_as"])
        yield _row((_link(item), *cells, verdict_words(item), _checked(item)))


def _passed(paper: str) -> Iterator[str]:
    rows = passed_over().get(paper, ())
    if not rows:
        return
    yield from ("", "Sentences without a row, and why:", "")
    yield "| where | words | why |"
    yield "| --- | --- | --- |"
    for item in rows:
        yield _row((item.where, f"“{item.words}”", item.why))


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"


def _link(item: Json, *, full: bool = False) -> str:
    name = item["id"] if full else anchor(item)
    return f"[{name}]({PAGES}/{paper_of(item)}.html#{anchor(item)})"


def verdict_words(item: Json) -> str:
    """Return the verdict with what it costs and how it fails."""
    cost = f", costs {item['cost']}" if item["cost"] not in (None, "nothing") else ""
    grade = f", {item['grade']}" if item["grade"] else ""
    return f"**{item['verdict']}**{grade}{cost}"


def _checked(item: Json) -> str:
    if not item["parts"]:
        return str(item["why_not"])
    proved = f"; {'; '.join(item['proved_by'])}" if item["proved_by"] else ""
    return f"{item['instances']} instances{proved}"
