"""The audit as SARIF 2.1.0 (OASIS), for pipelines that show findings beside the code.

A result is something to act upon: a plan that is too small, noise for plain differential privacy
that would not do, a number that is still open, facts that contradict each other. It points at the
lines of the policy file that bring it about.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from blowproof.cli.asking.error_lines import fact_key
from blowproof.cli.asking.errors import Exit
from blowproof.cli.audit.advice import advice, judgement_words, plain_words
from blowproof.cli.audit.mechanism import mechanism_words
from blowproof.cli.audit.sentences import form_words
from blowproof.models.base.door import is_standard_input, read_document
from blowproof.models.base.errors import BlowproofError, ContradictionError, PolicyError
from blowproof.models.files.toml_lines import KeyLines, key_lines

if TYPE_CHECKING:
    from blowproof.cli.audit.audited import Audited
    from blowproof.cli.audit.findings import Finding
    from blowproof.models import Policy

__all__ = ["RULES", "Result", "Rule", "error_results", "results", "sarif_document"]

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
MOST_RELATED = 10
ROOT = "%SRCROOT%"


@dataclass(frozen=True)
class Rule:
    """A kind of finding: its id, its usual level, what it says, and what to do about it."""

    id: str
    level: str
    short: str
    full: str
    help: str

    def to_json(self) -> dict[str, Any]:
        """Return the rule as a reportingDescriptor."""
        return {
            "id": self.id,
            "shortDescription": {"text": self.short},
            "fullDescription": {"text": self.full},
            "help": {"text": self.help, "markdown": self.help},
            "defaultConfiguration": {"level": self.level},
        }


RULES = (
    Rule(
        "S-underestimated",
        "error",
        "The planned noise is too small.",
        "Two neighbouring databases differ by more than the claimed sensitivity, or than the "
        "planned noise scale hides at the epsilon aimed for.",
        "Set the noise from S as `blowproof audit POLICY` gives it, or publish fewer facts: the "
        "audit says what each of them costs. `blowproof plan POLICY` compares the mechanisms.",
    ),
    Rule(
        "mechanism-refuted",
        "error",
        "The mechanism is not private under this policy.",
        "Its exact privacy loss over the policy's neighbours exceeds the epsilon aimed for.",
        "`blowproof certify MECHANISM --policy POLICY --epsilon E` shows the two databases that it "
        "tells apart too well, and what its epsilon really is. Raise its scales by that ratio.",
    ),
    Rule(
        "plain-dp-not-enough",
        "warning",
        "Noise calibrated for plain differential privacy is too small.",
        "The known facts tie records together, so that neighbouring databases differ by more than "
        "one record changes. Calibrate noise to the policy's sensitivity.",
        "`blowproof audit POLICY` gives the scale that is enough. A plan that was judged and is "
        "enough (`--planned-scale`, `--mechanism`) makes this a note.",
    ),
    Rule(
        "closed-form-disagrees",
        "warning",
        "A closed form disagrees with the exact value.",
        "A published or repaired formula whose preconditions hold fails its own relation here.",
        "Do not calibrate noise by this formula. `blowproof closed-forms POLICY` shows its "
        "conditions, its value and the exact one.",
    ),
    Rule(
        "undecided",
        "warning",
        "The sensitivity is known only between two bounds.",
        "The search was stopped, or nothing that it could try was left. Both bounds are sound; "
        "calibrate noise to the upper one.",
        "Ask for a coarser query, or take the upper bound: it is safe. `blowproof explain POLICY "
        "--run` shows what was tried, and whether the time was used up.",
    ),
    Rule(
        "contradictory",
        "error",
        "No database satisfies the known facts.",
        "The facts contradict each other or the domain, so there is nothing to protect.",
        "The message names a smallest set of facts that contradict each other: one of them is "
        "wrong, or the domain lacks values that the data have.",
    ),
    Rule(
        "invalid-policy",
        "error",
        "The policy cannot be audited as it is written.",
        "A part of the policy, its data or the query is not understood; nothing is guessed.",
        "The message says what is wrong, where, and what to try. `blowproof schema` has all keys.",
    ),
)
_INDEX = {rule.id: place for place, rule in enumerate(RULES)}


@dataclass(frozen=True)
class Result:
    """One finding: a rule, a message, and the keys of the policy file that it is about."""

    rule: str
    message: str
    keys: tuple[str, ...] = ()
    line: int | None = None
    file: str | None = None
    query: str | None = None
    level: str | None = None


def results(found: Audited) -> Iterator[Result]:
    """Yield what an audit has found, the gravest first within each query."""
    policy = found.policy
    if found.mechanism is not None and found.mechanism.verdict == "refuted":
        keys = tuple(f"known[{place}]" for place in range(len(policy.known))) or ("domain",)
        yield Result("mechanism-refuted", mechanism_words(found.mechanism), keys)
    for finding in found.findings:
        keys = _keys(policy, finding)
        name = finding.query.name
        for judgement in finding.judgements:
            if judgement.enough is False:
                message = judgement_words(finding, judgement).replace(
                    ", as the pair below shows", ""
                )
                yield Result("S-underestimated", f"{name}: {message}", keys, query=name)
        if finding.plain is not None and finding.verdict.lower > finding.plain:
            message = f"{name}: plain differential privacy assumes {plain_words(finding)}"
            text = f"{message} {advice(finding)}"
            level = "note" if _planned_well(found, finding) else None
            yield Result("plain-dp-not-enough", text, keys, query=name, level=level)
        wrong = [
            item
            for item in finding.extras.forms or ()
            if item.applies and not item.recorded_wrong and item.agrees is False
        ]
        if wrong:
            message = f"{name}: closed forms: {form_words(wrong)}"
            yield Result("closed-form-disagrees", message, keys, query=name)
        if finding.verdict.status == "bounds":
            yield Result("undecided", f"{name}: {advice(finding)}", keys, query=name)


def _planned_well(found: Audited, finding: Finding) -> bool:
    """Whether a plan was judged, and is enough: then plain noise is no danger, only a fact."""
    proved = found.mechanism is not None and found.mechanism.verdict == "proved"
    judged = [judgement.enough for judgement in finding.judgements]
    return proved or (bool(judged) and all(judged))


def _keys(policy: Policy, finding: Finding) -> tuple[str, ...]:
    """The facts that the finding is about: those that cost something, else all of them."""
    lower = finding.verdict.lower
    costly = [
        item.place
        for item in finding.extras.left_out
        if item.place is not None
        and item.answer is not None
        and item.answer.upper is not None
        and item.answer.upper < lower
    ]
    places = costly or range(len(policy.known))
    return tuple(f"known[{place}]" for place in places) or ("domain",)


def error_results(error: BlowproofError) -> Iterator[Result]:
    """Yield the one result of an audit that was refused."""
    message = str(error).replace("\n  try: ", ". Try: ")
    if isinstance(error, ContradictionError):
        yield Result("contradictory", message, tuple(map(fact_key, error.facts)))
    elif isinstance(error, PolicyError):
        keys = (error.key,) if error.key else ()
        yield Result("invalid-policy", message, keys, line=error.line, file=error.file)
    else:
        yield Result("invalid-policy", message)


def sarif_document(path: str, found: Iterable[Result], code: Exit) -> dict[str, Any]:
    """Return the log: one run with its rules and results."""
    lines = _lines(path)
    return {
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {
                    "driver": {
                        "name": "blowproof",
                        "version": version("blowproof"),
                        "rules": [rule.to_json() for rule in RULES],
                    }
                },
                "invocations": [
                    {
                        "executionSuccessful": code != Exit.BAD_INPUT,
                        "exitCode": int(code),
                    }
                ],
                "originalUriBaseIds": {
                    ROOT: {"description": {"text": "The folder that blowproof was started in."}}
                },
                "columnKind": "unicodeCodePoints",
                "results": [_result(path, lines, item) for item in found],
            }
        ],
    }


def _result(path: str, lines: KeyLines, item: Result) -> dict[str, Any]:
    places = [(key, lines.line(key)) for key in item.keys] or [("", 1)]
    first = item.line or places[0][1]
    document: dict[str, Any] = {
        "ruleId": item.rule,
        "ruleIndex": _INDEX[item.rule],
        "level": item.level or RULES[_INDEX[item.rule]].level,
        "message": {"text": item.message},
        "locations": [_location(item.file or path, first)],
    }
    if len(places) > 1:
        document["relatedLocations"] = [
            {**_location(path, line), "id": number, "message": {"text": key}}
            for number, (key, line) in enumerate(places[1 : MOST_RELATED + 1], start=1)
        ]
    if item.query is not None:
        document["partialFingerprints"] = {"ruleAndQuery/v1": f"{item.rule}/{item.query}"}
    return document


def _location(path: str, line: int) -> dict[str, Any]:
    return {
        "physicalLocation": {
            "artifactLocation": _artifact(path),
            "region": {"startLine": max(1, line)},
        }
    }


def _artifact(path: str) -> dict[str, Any]:
    """A path within the folder at hand, relative to it, as pipelines want it; else a file URI."""
    place, here = Path(path), Path.cwd()
    if place.is_absolute() and place.is_relative_to(here):
        place = place.relative_to(here)
    if place.is_absolute():
        return {"uri": place.as_uri()}
    return {"uri": quote(place.as_posix()), "uriBaseId": ROOT}


def _lines(path: str) -> KeyLines:
    try:
        return key_lines("" if is_standard_input(path) else read_document(path))
    except BlowproofError:
        return key_lines("")
