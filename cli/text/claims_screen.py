"""Claims that were checked, for people: the statement, the parts, the counterexample, and why."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import RenderableType

    from blowproof.verifier.claims.session import Checked

__all__ = ["screen"]

DETAILED = 3
"""Up to this many claims are shown in full."""
STYLES = {
    "holds": "green",
    "holds-checked": "green",
    "refuted": "red",
    "holds-amended": "yellow",
    "not-checkable": "dim",
}


def screen(found: Sequence[Checked], wanted: int, stopped: str) -> Iterator[RenderableType]:
    """Yield what is shown of claims that were checked: a few in full, many a line each."""
    from rich.table import Table
    from rich.text import Text

    from blowproof.verifier.claims.record import document

    documents = [document(item.finding) for item in found]
    if wanted <= DETAILED:
        for item in documents:
            yield from _detail(item)
    else:
        table = Table.grid(padding=(0, 2, 0, 0))
        table.add_column(no_wrap=True)
        table.add_column(no_wrap=True)
        table.add_column()
        for item in documents:
            verdict = Text(item["verdict"], style=STYLES[item["verdict"]])
            table.add_row(verdict, item["id"], _count(item))
        yield table
    for checked in found:
        for change in checked.changes:
            yield Text(f"\nchanged: {checked.finding.claim.id}: {change}", style="bold red")
    yield Text(f"\n{_summary(found, wanted, stopped)}", style="bold")


def _count(item: dict[str, Any]) -> str:
    return _instances(item["instances"]) if item["parts"] else ""


def _instances(number: int) -> str:
    return f"{number} instance{'' if number == 1 else 's'}"


def _summary(found: Sequence[Checked], wanted: int, stopped: str) -> str:
    changed = sum(1 for item in found if item.changes)
    claims = "claim" if len(found) == 1 else "claims"
    said = f"{len(found)} {claims}, " + (f"{changed} changed" if changed else "all as recorded")
    said += _whose(found)
    if stopped:
        said = f"{len(found)} of {wanted} claims, {changed} changed; {stopped}, and the same"
        said += " command goes on from here"
    return said


def _whose(found: Sequence[Checked]) -> str:
    """Say by which other engines the rows on record were found, if any were."""
    from blowproof.verifier.claims.record import recorded
    from blowproof.verifier.claims.version import version

    rows = (recorded().get(item.finding.claim.id, {}) for item in found)
    others = {row["engines"] for row in rows if row.get("engines")} - {version()}
    if not others:
        return ""
    return f" (recorded by the engines {', '.join(sorted(others))}; these are {version()})"


def _detail(item: dict[str, Any]) -> Iterator[RenderableType]:
    from rich.padding import Padding
    from rich.text import Text

    grade = f", {item['grade']}" if item["grade"] else ""
    yield Text(f"{item['id']}: {item['verdict']}{grade}", style=f"bold {STYLES[item['verdict']]}")
    quote = f", “{item['quote']}”" if item["quote"] else ""
    yield Text(f"{item['source']}{quote}. {item['statement']}")
    yield Text(f"Read as: {item['read_as']}\n", style="dim")
    for part in item["parts"]:
        taken = ", ".join(filter(None, (part["reading"], part["answers"])))
        note = "repaired: " if part["amended"] else ""
        count = _instances(part["instances"])
        failed = sum(part["failures"].values())
        said = f"fails on {failed} of {count}" if part["failures"] else f"holds on {count}"
        yield Text(f"  {note}{part['name']}{f' ({taken})' if taken else ''}: {said}")
        yield Text(f"    of: {part['family']}", style="dim")
    example = item["counterexample"]
    if example is not None:
        numbers = f"claimed {example['relation']} {example['claimed']}, exact {example['exact']}"
        small = f", degenerate: {example['degenerate']}" if example["degenerate"] else ""
        yield Text(f"\nSmallest counterexample (costs {example['cost']}{small}): {numbers}")
        yield from _instance(example)
    if item["proved_by"]:
        yield Text(f"\nProved by: {'; '.join(item['proved_by'])}", style="bold")
    proof = "Proof" if item["verdict"] == "holds" else "Why the repair holds"
    for key, title in (("repaired", "Repaired"), ("explanation", "Why"), ("proof", proof),
                       ("why_not", "Not checkable")):  # fmt: skip
        if item[key]:
            yield Text(f"\n{title}:", style="bold")
            yield Padding(Text(item[key]), (0, 0, 0, 2), expand=False)


def _instance(example: dict[str, Any]) -> Iterator[RenderableType]:
    from rich.padding import Padding
    from rich.text import Text

    if example["policy_file"]:
        query = f"query {example['query']}" if example["query"] else ""
        query += f" with {example['rows']}" if "rows" in example else ""
        shown = f"{query}\n{example['policy_file']}".lstrip()
        yield Padding(Text(shown), (0, 0, 0, 2), expand=False)
    if "parameters" in example:
        given = ", ".join(f"{name} = {value}" for name, value in example["parameters"].items())
        yield Text(f"  {given}")
    witness = example.get("witness")
    if witness:
        for name in ("before", "after", "unchanged"):
            if witness[name]:
                yield Text(f"  {name:9} {witness[name]}")
    yield Text(f"  checked: {example['checked']}", style="dim")
