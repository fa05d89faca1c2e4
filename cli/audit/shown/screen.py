"""The audit as one screen of text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from blowproof.cli.audit.advice import (
    advice,
    better_words,
    headlines,
    judgement_words,
    noise_words,
    plain_words,
    warning,
)
from blowproof.cli.audit.attackers import attackers_words
from blowproof.cli.audit.mechanism import mechanism_words
from blowproof.cli.audit.sentences import (
    at_once_words,
    certificate_words,
    chain_words,
    cost_lines,
    form_words,
    instead_lines,
)
from blowproof.cli.text.answer import bounds_text, in_norm, reasons_of
from blowproof.cli.text.pairs import pair_parts
from blowproof.models import Policy, show
from blowproof.models.norms import L1
from blowproof.models.policy.in_words import (
    domain_words,
    known_words,
    printable,
    scope_words,
    secret_words,
)
from blowproof.models.policy.readings import is_labelled

if TYPE_CHECKING:
    from rich.console import RenderableType

    from blowproof.cli.audit.audited import Audited
    from blowproof.cli.audit.findings import Finding, Row

__all__ = ["audit_parts"]

LABEL = 14


def audit_parts(found: Audited) -> Iterator[RenderableType]:
    """Yield the policy's story, then one section for each query."""
    policy = found.policy
    yield from _first(found)
    yield Text()
    yield _grid(
        ("protected", secret_words(policy)),
        ("known", "\n".join(known_words(policy, found.size))),
        ("domain", domain_words(policy)),
        ("answers", scope_words(found.scope)),
    )
    if found.mechanism is not None:
        yield Text()
        yield _grid(("mechanism", mechanism_words(found.mechanism)))
    for finding in found.findings:
        yield from _finding_parts(policy, finding)


def _first(found: Audited) -> Iterator[RenderableType]:
    """The answer, and what its one term means."""
    for finding in found.findings:
        for line in headlines(finding):
            yield Text(f"{printable(found.policy.name)}: {line}", style="bold")
    yield Text(
        "S is how far the released numbers can differ between two databases that nobody may tell "
        "apart: the noise is set from it.",
        style="dim",
    )


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
        (f"query {printable(finding.query.name)}{_norm(finding)}: ", "bold"),
        (bounds_text(answer), "bold green" if answer.status != "bounds" else "bold yellow"),
    )
    said = warning(finding)
    if said:
        yield Text(printable(said), style="bold red")
    yield Text()
    yield Text("A reading says which databases are neighbours, which nobody may tell apart.",
               style="dim")  # fmt: skip
    yield _readings(finding.rows, finding.reading)
    yield from _reasons(finding.rows)
    yield Text()
    yield _grid(*_meaning(policy, finding))
    yield Text()
    yield from _pair(policy, finding)
    yield Text()
    said = " ".join(filter(None, (advice(finding), better_words(policy, finding))))
    yield _grid(("do this", said))


def _norm(finding: Finding) -> str:
    """Name the norm where it is not the usual one."""
    norm = finding.query.measure
    return "" if norm is L1 else f", norm {norm}"


def _pair(policy: Policy, finding: Finding) -> Iterator[RenderableType]:
    answer, chain = finding.verdict, finding.chain
    if answer.witness is None:
        said = "The search was stopped before it handed over the pair that shows this."
        none = "No pair of neighbours that differ in their answers was found."
        yield Text(said if answer.lower else none)
        return
    differ = f"{show(answer.lower)}{in_norm(answer)}"
    yield Text(f"A worst pair of neighbours; their answers differ by {differ}:")
    if chain is None:
        yield from pair_parts(policy, answer.witness, answer.reading)
        return
    yield from pair_parts(policy, chain.pair, answer.reading, numbered=True)
    if is_labelled(answer.reading):
        words = chain_words(chain, clauses=bool(policy.clauses))
        yield Padding(Text(words), (0, 0, 0, 2))


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
    """Yield why open upper bounds hold, and why more time does not help, each reason once."""
    readings: dict[str, list[str]] = {}
    for row in rows:
        for reason in () if row.answer is None else reasons_of(row.answer):
            readings.setdefault(reason, []).append(row.reading)
    for reason, names in readings.items():
        yield Padding(Text(f"{', '.join(names)}: {printable(reason)}", "dim"), (0, 0, 0, 2))


def _changed(row: Row) -> str:
    """How many records differ between the two databases of the worst pair."""
    assert row.answer is not None
    pair = row.answer.witness
    if pair is None:
        return ""
    if is_labelled(row.reading):
        return f"{len(pair.before)} change"
    return f"{len(pair.before)} out, {len(pair.after)} in"


def _meaning(policy: Policy, finding: Finding) -> Iterator[tuple[str, str]]:
    yield "at once", at_once_words(finding)
    yield "plain DP", plain_words(finding)
    yield "closed forms", form_words(finding.extras.forms, finding.query.measure.name)
    yield "noise", noise_words(finding)
    learned = attackers_words(policy, finding)
    if learned:
        yield "attackers", learned
    for judgement in finding.judgements:
        yield "your plan", judgement_words(finding, judgement)
    yield "certificate", certificate_words(finding)
    costs = cost_lines(finding)
    if costs:
        yield "facts", "\n".join(costs)
    others = instead_lines(finding)
    if others:
        yield "instead", "\n".join(others)
