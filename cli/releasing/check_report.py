"""`blowproof check REPORT.html`: is the page as it was made, and do its certificates hold?"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

    from blowproof.models import Policy

__all__ = ["CheckedReport", "checked_report", "is_report"]

MOST_BYTES = 64_000_000


@dataclass
class CheckedReport:
    """What was verified, line by line, and what was not ("": everything was)."""

    lines: list[str] = field(default_factory=list)
    reason: str = ""
    made: str = ""

    def to_json(self) -> dict[str, Any]:
        """Return the document of `blowproof check REPORT.html --json`."""
        return {
            "schema": "blowproof/check-report/1",
            "verdict": "rejected" if self.reason else "accepted",
            "reason": self.reason or None,
            "made": self.made or None,
            "verified": self.lines,
        }


def is_report(path: str) -> bool:
    """Whether a file is to be read as a page."""
    return Path(path).suffix.lower() in (".html", ".htm")


def checked_report(path: str, *, time_limit: float) -> CheckedReport:
    """Verify a report: what it shows, its policy, and each of its certificates by the kernel.

    Raises the kernel's Unreadable where the page holds no record.
    """
    from blowproof.cli.report.record import main_digest, read_record
    from blowproof.models.base.door import FileError, read_bytes
    from blowproof.verifier.kernel import Unreadable

    try:
        page = read_bytes(path, most=MOST_BYTES).decode("utf-8")
    except FileError as error:
        raise Unreadable(f"it cannot be read ({error.reason})") from None
    except UnicodeDecodeError:
        raise Unreadable("it is no UTF-8 text") from None
    record = read_record(page)
    if record is None:
        raise Unreadable("it holds no record: only reports of `blowproof audit --html` do")
    found = CheckedReport(made=str(record.get("made", "")))
    try:
        if record["page"] != main_digest(page):
            found.reason = "the page was changed after it was made"
            return found
        found.lines.append("the page shows what it showed when it was made")
        for reason in _verified(found, record, page, Path(path).parent, time_limit):
            found.reason = found.reason or reason
    except (KeyError, TypeError, ValueError, AttributeError):
        raise Unreadable("its record is not as blowproof writes it") from None
    return found


def _verified(
    found: CheckedReport, record: dict[str, Any], page: str, folder: Path, limit: float
) -> Iterator[str]:
    """Verify policy and certificates; yield what does not hold."""
    from hashlib import sha256
    from html import escape

    from blowproof.cli.report.html import between
    from blowproof.models.base.errors import BlowproofError
    from blowproof.models.files.reading import parse_policy
    from blowproof.models.files.writing import digest

    text, name = record["policy"]["text"], record["policy"]["name"]
    if sha256(text.encode()).hexdigest() != record["policy"]["sha256"]:
        yield "the policy's text is not the one that its digest is of"
    if escape(text) not in page:
        yield "the policy that the page shows is not the one of its record"

    def read() -> Policy:
        return parse_policy(text, name=name, folder=folder)

    try:
        same = digest(read()) == record["policy"]["digest"]
    except BlowproofError as error:
        yield f"the policy cannot be read here: {str(error).partition(chr(10))[0]}"
        return
    if not same:
        yield "the policy says something else than when the report was made"
    shown = zip(record["answers"], record["certificates"], strict=True)
    for place, (answer, certificate) in enumerate(shown, start=1):
        if (
            f"S = {between(answer['lower'], answer['lower'])}</strong>" not in page
            and certificate is not None
        ):
            yield f"answer {place}: the page shows another number than its record"
        yield from _certificate(found, answer, certificate, place, read, limit)


def _certificate(
    found: CheckedReport,
    answer: dict[str, Any],
    certificate: Any,
    place: int,
    read: Any,
    limit: float,
) -> Iterator[str]:
    import json

    from blowproof.cli.asking.whose_certificate import compared
    from blowproof.models.policy.in_words import short
    from blowproof.verifier.asked.answer import json_number
    from blowproof.verifier.kernel import check_text

    if certificate is None:
        yield (
            f"answer {place} has no certificate, as it was not proved when the report was made: "
            "it rests on the engine that found it"
        )
        return
    verdict = check_text(json.dumps(certificate), seconds=limit)
    if not verdict.accepted:
        yield f"answer {place}: {verdict.reason}"
        return
    proved = {
        "query": verdict.query,
        "reading": verdict.reading,
        "lower": json_number(verdict.least),
        "upper": json_number(verdict.value),
    }
    if proved != answer:
        yield f"answer {place} is not the one that its certificate proves"
        return
    about = compared(verdict, read, "the report", verdict.query, verdict.answers)
    if about.other:
        yield f"answer {place}: {about.other}"
        return
    taken = f"; taken from the certificate: {about.embedded}" if about.missing else ""
    how_much = f"= {short(verdict.value)}"
    if verdict.least != verdict.value:
        how_much = f"from {short(verdict.least)} to {short(verdict.value)}"
    found.lines.append(
        f"S({verdict.query}) {how_much} under the reading {verdict.reading} is "
        f"proved ({verdict.kind}; compared: {', '.join(about.same)}{taken})"
    )
