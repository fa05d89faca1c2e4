"""CLAIMS.md, made of the record: the state of each paper at a glance, then the counterexamples."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

__all__ = ["page"]

Json = dict[str, Any]
TITLES = {
    "blowfish-2014": "He, Machanavajjhala, Ding: Blowfish Privacy (2014)",
    "exact-cuboids-draft": "Exact cuboids (draft)",
    "designing-statistical-privacy-2015": "Designing Statistical Privacy for your Data (2015)",
    "pufferfish-2012": "Kifer, Machanavajjhala: Pufferfish (2012)",
    "data-dependent-blowfish": "Data-dependent algorithms under Blowfish",
}
VERDICTS = ("holds", "holds-checked", "holds-amended", "refuted", "not-checkable")
HEAD = """# The papers' statements, checked by machine

This page is generated from `verifier/claims/verdicts.json` by `blowproof claims --full --write .`;
`blowproof claims` checks it again. Nothing here is presumed true: each statement was put to
families of small policies, listed exhaustively up to a stated size and drawn at random beyond, and
the exact side was computed by the engines, never by the formula in question.

* **holds**: on every instance checked, and in general by the proof named.
* **holds-checked**: on every instance checked; no proof is named.
* **holds-amended**: true after the repair stated; without it, a condition is missing whose absence
  costs accuracy at the most, or a misprint is in the way.
* **refuted**: an instance contradicts it. *costs privacy*: noise set by it is too small somewhere;
  *costs accuracy*: it is only too large, or an error larger than promised.
* **not-checkable**: with the reason.

An instance is counted once for each part and reading in which it was checked.
"""


def page(text: str) -> str:
    """Return the page for a record, given as its JSON text."""
    claims: list[Json] = json.loads(text)["claims"]
    papers = list(dict.fromkeys(item["id"].partition("/")[0] for item in claims))
    lines = [HEAD, *_glance(claims, papers), "", *_warnings(claims)]
    for paper in papers:
        mine = [item for item in claims if item["id"].startswith(f"{paper}/")]
        lines += ["", f"## {TITLES.get(paper, paper)}", "", *_table(mine)]
        lines += ["", "Not checkable:", "", *_unchecked(mine)]
    lines += ["", "## What fails, and the smallest instance on which it does", ""]
    for item in claims:
        if item["counterexample"] is not None:
            lines += _failing(item)
    lines += ["## Why what holds does", ""]
    for item in claims:
        if item["proof"] and item["counterexample"] is None:
            lines += [f"**{item['id']}**. {item['proof']}", ""]
    return "\n".join(lines).rstrip() + "\n"


def _warnings(claims: list[Json]) -> Iterator[str]:
    """Yield the statements that cost privacy to trust, with both numbers."""
    yield "## Statements that cost privacy to trust"
    yield ""
    yield "| claim | what, on the smallest instance | claimed | exact | instead |"
    yield "| --- | --- | --- | --- | --- |"
    for item in claims:
        example = item["counterexample"]
        if item["verdict"] == "refuted" and item["cost"] == "privacy":
            claimed = f"{example['relation']} {example['claimed']}"
            numbers = (example["part"], claimed, str(example["exact"]))
            yield _row((_link(item, full=True), *numbers, item["repaired"] or ""))


def _glance(claims: list[Json], papers: list[str]) -> Iterator[str]:
    yield f"| paper | claims | {' | '.join(VERDICTS)} | instances |"
    yield "| --- " * (len(VERDICTS) + 3) + "|"
    for paper in papers:
        mine = [item for item in claims if item["id"].startswith(f"{paper}/")]
        counts = [sum(1 for item in mine if item["verdict"] == name) for name in VERDICTS]
        instances = sum(item["instances"] for item in mine)
        yield f"| {paper} | {len(mine)} | {' | '.join(map(str, counts))} | {instances} |"


def _table(claims: list[Json]) -> Iterator[str]:
    yield "| claim | statement | verdict | checked on |"
    yield "| --- | --- | --- | --- |"
    for item in claims:
        if item["parts"]:
            yield _row((_link(item), item["statement"], _verdict(item), _checked(item)))


def _unchecked(claims: list[Json]) -> Iterator[str]:
    yield "| claim | statement | why not |"
    yield "| --- | --- | --- |"
    for item in claims:
        if not item["parts"]:
            yield _row((_link(item), item["statement"], item["why_not"]))


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"


def _link(item: Json, *, full: bool = False) -> str:
    name = item["id"] if full else item["id"].partition("/")[2]
    return f"[{name}](#{_anchor(item)})" if item["counterexample"] is not None else name


def _anchor(item: Json) -> str:
    kept = (letter for letter in item["id"].lower() if letter.isalnum() or letter in "- ")
    return "".join(kept).replace(" ", "-")


def _verdict(item: Json) -> str:
    cost = f", costs {item['cost']}" if item["cost"] not in (None, "nothing") else ""
    return f"**{item['verdict']}**{cost}"


def _checked(item: Json) -> str:
    families = dict.fromkeys(part["family"] for part in item["parts"] if not part["amended"])
    proof = "; proved in general" if item["verdict"] == "holds" else ""
    return f"{item['instances']} instances: {'; '.join(families)}{proof}"


def _failing(item: Json) -> Iterator[str]:
    yield f"### {item['id']}"
    yield ""
    yield f"*{item['source']}.* {item['statement']} {_verdict(item)}."
    yield ""
    for part in item["parts"]:
        yield f"- {_outcome(part)}"
    yield ""
    if item["explanation"]:
        yield from (item["explanation"], "")
    if item["repaired"]:
        yield from (f"**Repaired.** {item['repaired']}", "")
    if item["proof"]:
        yield from (f"**Why the repair holds.** {item['proof']}", "")
    for example in _examples(item):
        yield from _example(example)


def _outcome(part: Json) -> str:
    taken = ", ".join(filter(None, (part["reading"], part["answers"])))
    name = (
        f"{'repaired: ' if part['amended'] else ''}{part['name']}{f' ({taken})' if taken else ''}"
    )
    if not part["failures"]:
        return f"{name}: holds on {part['instances']} instances."
    costs = ", ".join(f"{count} cost {cost}" for cost, count in part["failures"].items())
    return f"{name}: fails, {costs}, of {part['instances']} instances."


def _examples(item: Json) -> Iterator[Json]:
    """Yield one counterexample for each reading and cost, without repetitions."""
    seen = set()
    for part in item["parts"]:
        for example in part["counterexamples"]:
            key = (example["policy_file"], example["cost"], example["claimed"], example["exact"])
            if key not in seen and not part["amended"]:
                seen.add(key)
                yield example


def _example(example: Json) -> Iterator[str]:
    taken = "; ".join(filter(None, (example["reading"], example["answers"])))
    number = f"claimed {example['relation']} {example['claimed']}, exact {example['exact']}"
    where = f" ({taken})" if taken else ""
    query = f", query `{example['query']}`" if example["query"] else ""
    rows = f" with {example['rows']}" if "rows" in example else ""
    name = example["part"][:1].upper() + example["part"][1:]
    yield f"{name}: {number}{where}{query}{rows}; {example['checked']}:"
    yield ""
    yield "```toml"
    for name, value in example.get("parameters", {}).items():
        yield f"# {name} = {value}"
    if example["policy_file"]:
        yield example["policy_file"].rstrip()
    witness = example.get("witness")
    if witness:
        yield f"# D1: {witness['before']}"
        yield f"# D2: {witness['after']}"
        if witness["unchanged"]:
            yield f"# in both: {witness['unchanged']}"
    yield from ("```", "")
