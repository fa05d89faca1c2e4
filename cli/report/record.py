"""The record in a report: what it is about, so that somebody can verify it years later.

The page holds it as data: the policy's text, digests, the command, versions, the date, and the
certificates. `blowproof check report.html` reads it (`cli/releasing/check_report.py`).
"""

from __future__ import annotations

import json
import platform
import re
from collections.abc import Sequence
from datetime import UTC, datetime
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any

from blowproof.cli.report.html import Markup, join, tag

if TYPE_CHECKING:
    from blowproof.cli.audit.findings import Finding
    from blowproof.models import Policy

__all__ = ["SCHEMA", "embedded", "main_digest", "read_record", "record", "record_section"]

SCHEMA = "blowproof/record/1"
MOST_LINES = 60
"""A policy of so many lines stands open."""
TOOLS = ("blowproof", "numba", "numpy", "ortools", "python-sat")
_DATA = re.compile(r'<script type="application/json" id="record">(.*?)</script>', re.S)
_MAIN = re.compile(r"<main\b.*</main>", re.S)


def record(policy: Policy, text: str, findings: Sequence[Finding], command: str) -> dict[str, Any]:
    """Return the record of an audit: the policy's text as it was read, and how it was asked."""
    from blowproof.models.files.writing import digest

    return {
        "schema": SCHEMA,
        "made": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "command": command,
        "versions": _versions(),
        "policy": {
            "name": policy.name,
            "text": text,
            "sha256": sha256(text.encode()).hexdigest(),
            "digest": digest(policy),
        },
        "data": _data(policy),
        "answers": [_answer(finding) for finding in findings],
        "certificates": [
            None
            if finding.certificate is None or finding.certificate.document is None
            else finding.certificate.document
            for finding in findings
        ],
    }


def _answer(finding: Finding) -> dict[str, Any]:
    """What the page says of one query, for comparison with its certificate."""
    from blowproof.verifier.asked.answer import json_number

    answer = finding.verdict
    return {
        "query": finding.query.name,
        "reading": answer.reading,
        "lower": json_number(answer.lower),
        "upper": None if answer.upper is None else json_number(answer.upper),
    }


def _versions() -> dict[str, str]:
    found = {"python": platform.python_version()}
    for name in TOOLS:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def _data(policy: Policy) -> dict[str, Any] | None:
    """The data that the policy counts; None: it counts none.

    A report is handed round: what the data hold is told by a fingerprint under a key of this
    machine, and not at all where none can be kept.
    """
    data = policy.database.data
    if not isinstance(data, str) or policy.scope != "given":
        return None
    from blowproof.mechanisms.base.errors import LedgerError
    from blowproof.mechanisms.budget.fingerprints import fingerprint_of
    from blowproof.models import BlowproofError
    from blowproof.models.data.content import content_of

    try:
        found = content_of((policy.folder / data) if policy.folder is not None else data)
    except BlowproofError:
        return None
    try:
        told = fingerprint_of(found)
    except LedgerError:
        told = None
    return {"file": data, "fingerprint": told, "rows": found.rows}


def record_section(found: dict[str, Any] | None) -> Markup | None:
    """Return the record for people; None without one."""
    if found is None:
        return None
    policy, data = found["policy"], found["data"]
    proofs = sum(item is not None for item in found["certificates"])
    values = [
        ("Made", found["made"]),
        ("By", tag("code", found["command"])),
        ("With", ", ".join(f"{name} {number}" for name, number in found["versions"].items())),
        ("Policy", f"SHA-256 of its text {policy['sha256']}; of what it says {policy['digest']}"),
    ]
    counted = "none was counted: S holds for all data that the policy allows"
    if data is not None:
        counted = f"{data['file']}: {data['rows']:,} rows"
        if data["fingerprint"] is not None:
            counted += f", fingerprint {data['fingerprint']} (under a key of whoever made this)"
    values.append(("Data", counted))
    values.append(("Proofs", f"{proofs} of {len(found['certificates'])} answers: the certificates "
                             "are part of this file"))  # fmt: skip
    return tag(
        "section",
        tag("h2", "The record"),
        tag("p", "To verify this report, whenever: ", tag("code", "blowproof check THIS-FILE"),
            " replays the certificates, and compares them with the policy below."),
        tag("dl", [[tag("dt", word), tag("dd", text)] for word, text in values], class_="record"),
        tag("details", tag("summary", "The policy, as it was read"), tag("pre", policy["text"]),
            open=policy["text"].count("\n") <= MOST_LINES),
    )  # fmt: skip


def embedded(found: dict[str, Any] | None, page: str) -> Markup | None:
    """Return the record as data for the end of a page, with a digest of what the page shows."""
    if found is None:
        return None
    whole = {**found, "page": main_digest(page)}
    text = json.dumps(whole, separators=(",", ":"))
    for sign in "<>&":  # so that no text of a policy ends the element
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return join([Markup(f'<script type="application/json" id="record">{text}</script>')])


def main_digest(page: str) -> str:
    """Return the SHA-256 of what a page shows, from <main> to </main>; "" where it has none."""
    found = _MAIN.search(page)
    return "" if found is None else sha256(found[0].encode()).hexdigest()


def read_record(page: str) -> dict[str, Any] | None:
    """Return the record in a page; None where there is none."""
    match = _DATA.search(page)
    if match is None:
        return None
    try:
        found = json.loads(match[1])
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) and found.get("schema") == SCHEMA else None
