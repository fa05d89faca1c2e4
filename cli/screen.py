"""The audit as one screen of text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from blowproof.cli.advice import advice, judgement_words, plain_words
from blowproof.cli.pairs import pair_parts
from blowproof.cli.render import bounds_text
from blowproof.cli.words import (
    domain_words,
    known_words,
    number,
    printable,
    scope_words,
    secret_words,
)
from blowproof.models import Policy, show

if TYPE_CHECKING:
    from rich.console import RenderableType

    from blowproof.cli.findings import Finding, Row

__all__ = ["audit_parts"]

LABEL = 12


def audit_parts(
    policy: Policy, scope: str, size: int | None, findings: Sequence[Finding]
) -> Iterator[RenderableType]:
    """Yield the policy's story, then one section for each query."""
    yield Text(printable(policy.name), style="bold")
    yield Text()
    yield _grid(
        ("protected", secret_words(policy)),
        ("known", "\n".join(known_words(policy, size))),
        ("domain", domain_words(policy)),
        ("answers", scope_words(scope)),
    )
    for finding in findings:
        yield from _finding_parts(policy, finding)


def _grid(*rows: tuple[str, str | Text]) -> RenderableType:
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(width=LABEL - 2, no_wrap=True, style="bold")
    table.add_column(overflow="fold")
    for label, text in rows:
        table.add_row(label, text if isinstance(text, Text) else Text(text))
    return table


def _finding_parts(policy: Policy, finding: Finding) -> Iterator[RenderableType]:
    answer = finding.verdict
    yield Text()
    yield Text.assemble(
        (f"query {printable(finding.query.name)}: ", "bold"),
        (bounds_text(answer), "bold green" if answer.status != "bounds" else "bold yellow"),
    )
    yield Text()
    yield _readings(finding.rows, finding.reading)
    yield from _reasons(finding.rows)
    yield Text()
    yield _grid(*_meaning(finding))
    yield Text()
    if answer.witness is not None:
        yield Text(f"A worst pair of neighbours; their answers differ by {show(answer.lower)}:")
        yield from pair_parts(policy, answer.witness, answer.reading)
    elif answer.lower:
        yield Text("The search was stopped before it handed over the pair that shows this.")
    else:
        yield Text("No pair of neighbours that differ in their answers was found.")
    yield Text()
    yield _grid(("do this", advice(finding)))


def _readings(rows: Sequence[Row], deciding: str) -> RenderableType:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for column in ("reading", "", "status", "records", ""):
        table.add_column(column, overflow="fold")
    for row in rows:
        marker = "<- decides" if row.reading == deciding else ""
        if row.answer is None:
            table.add_row(
                row.reading, "-", Text(f"does not apply: {printable(row.reason)}"), "", ""
            )
            continue
        changed = _changed(row)
        table.add_row(row.reading, bounds_text(row.answer), row.answer.status, changed, marker)
    return Padding(table, (0, 0, 0, 2), expand=False)


def _reasons(rows: Sequence[Row]) -> Iterator[RenderableType]:
    """Yield why searches were stopped, each reason once."""
    readings: dict[str, list[str]] = {}
    for row in rows:
        if row.answer and row.answer.status == "bounds" and row.answer.notes:
            note = row.answer.notes[-1].splitlines()[0]
            readings.setdefault(note, []).append(row.reading)
    for note, names in readings.items():
        yield Padding(Text(f"{', '.join(names)}: {printable(note)}", "dim"), (0, 0, 0, 2))


def _changed(row: Row) -> str:
    """How many records differ between the two databases of the worst pair."""
    assert row.answer is not None
    pair = row.answer.witness
    if pair is None:
        return ""
    if row.reading in ("published", "secret-moves"):
        return f"{len(pair.before)} change"
    return f"{len(pair.before)} out, {len(pair.after)} in"


def _meaning(finding: Finding) -> Iterator[tuple[str, str]]:
    yield "plain DP", plain_words(finding)
    scale = finding.scale
    if scale is None:
        yield "noise", "unknown until S is bounded from above"
    elif scale == 0:
        yield "noise", "none is needed"
    else:
        yield (
            "noise",
            f"Laplace of scale {number(scale)} for epsilon = {show(finding.plan.epsilon)}: "
            f"each number is then off by {number(scale)} on average.",
        )
    for judgement in finding.judgements:
        yield "your plan", judgement_words(finding, judgement)
