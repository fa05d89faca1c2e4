"""What a question of the workbench is answered with: events, as they come.

The first is the policy, read; then bounds while a search goes on, the answer with its pair, what
facts cost, the plan, the odds, and "done". Whatever is wrong becomes an "error" in words.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from blowproof.cli.asking.ask import Session
from blowproof.cli.asking.errors import describe, shortened
from blowproof.cli.asking.options import ENGINES, READINGS, Options
from blowproof.cli.asking.stoppable import Stopped
from blowproof.cli.audit.audited import Audited
from blowproof.cli.audit.findings import Plan
from blowproof.cli.audit.noise import NOISE
from blowproof.cli.audit.search import complete_all, decide_all, known_size
from blowproof.cli.audit.shown.json_document import audit_document
from blowproof.cli.report.graph import arrow_tip
from blowproof.cli.report.page import sections
from blowproof.cli.serving.fields import fields, tables
from blowproof.cli.serving.plots import place_of, plots
from blowproof.cli.serving.pool import seconds_of
from blowproof.models import BlowproofError, Policy, PolicyError
from blowproof.models.base.numbers import exact, show
from blowproof.models.files.reading import parse_policy, policy_from
from blowproof.models.files.writing import to_toml
from blowproof.models.policy.in_words import domain_words, known_words, scope_words, secret_words
from blowproof.models.stacks.written import parse_question

if TYPE_CHECKING:
    from blowproof.cli.audit.findings import Finding
    from blowproof.verifier.ask import Progress

__all__ = ["answer"]

PLAN_SECONDS, ODDS_SECONDS = 10.0, 5.0
"""For what comes after the question's own time (`pool.AFTER` is enough for both)."""
MOST_EXACT = 2**53
"""Beyond it a number of JSON is rounded by browsers; digits are not."""
EVERY = 0.05
"""Seconds between two bounds that a page is sent."""

Post = Callable[[dict[str, Any]], None]
FIRST = ("answer", "todo", "pair", "errors")
SECOND = (
    "todo",
    "readings",
    "plain",
    "graph",
    "learned",
    "attack",
    "facts",
    "forms",
    "certificate",
)


def answer(asked: Mapping[str, Any], folder: Path, post: Post) -> None:
    """Post the events of one question; files of the policy lie in the folder."""
    try:
        _answer(asked, folder, post)
    except (Exception, KeyboardInterrupt) as error:
        message, _ = describe(error)
        line = error.line if isinstance(error, PolicyError) else None
        post({"kind": "error", "message": shortened(message), "line": line})


def _answer(asked: Mapping[str, Any], folder: Path, post: Post) -> None:
    policy, text = _policy(asked, folder)
    post(_told(policy, text))
    question, epsilon, query = _question(asked)
    latest = 0.0

    def bounds(progress: Progress) -> None:
        nonlocal latest
        if time.monotonic() - latest >= EVERY:
            latest = time.monotonic()
            post({"kind": "bounds", **_bounds(progress)})

    session = Session(question, total=question.time_limit, shown=False, listener=bounds)
    bound = session.read(policy.name, lambda: parse_question(query, policy, question.norm))
    size = known_size(policy, session)
    plan = Plan(noise=NOISE[question.norm], promised=epsilon)
    drafts = decide_all(policy, [bound], session, plan, size)
    session.listener = None  # what comes now are other questions
    post(_shown("answer", policy, drafts, size, FIRST))
    if asked.get("job") == "quick":
        return post({"kind": "done"})
    findings = complete_all(policy, drafts, session, size)
    audited = _audited(policy, findings, size, session)
    document = audit_document(audited)
    costs = [item for item in document["queries"][0]["facts"] if item["fact"] is not None]
    post({**_rendered("rest", document, SECOND), "costs": [_cost(item) for item in costs]})
    finding = findings[0]
    if session.interrupted:
        return post({"kind": "done"})
    document["queries"][0]["plan"] = _planned(policy, finding, session)
    post(_rendered("plan", document, ("plan",)))
    document["queries"][0]["odds"] = _odds(policy, finding, session)
    post(_rendered("odds", document, ("odds",)))
    if asked.get("job") == "report":
        post({"kind": "report", "html": _report(asked, text, audited, session)})
    return post({"kind": "done"})


def _policy(asked: Mapping[str, Any], folder: Path) -> tuple[Policy, str]:
    """Return the policy that is asked about, and its text."""
    form = asked.get("form")
    name = str(asked.get("name") or "policy")
    if form is None:
        text = str(asked.get("text", ""))
        return parse_policy(text, name=name, folder=folder), text
    policy = policy_from(tables(form), name=name, folder=folder)
    comment = str(asked.get("comment") or "")
    text = f"{comment}{to_toml(policy)}"
    return parse_policy(text, name=name, folder=folder), text


def _question(asked: Mapping[str, Any]) -> tuple[Options, Fraction, str]:
    """Return what is asked, refusing what the page cannot have sent."""
    reading, engine = asked.get("reading", "published"), asked.get("engine", "auto")
    norm = asked.get("norm", "l1")
    if reading not in READINGS or engine not in ENGINES or norm not in list(NOISE):
        raise PolicyError("there is no such reading, engine or norm", hint="reload the page")
    epsilon = Fraction(exact(str(asked.get("epsilon") or "1").strip(), key="epsilon"))
    if epsilon <= 0:
        raise PolicyError("epsilon is not above zero", hint="write 1 or 1/2")
    limit = seconds_of(asked)
    if limit is None:
        raise PolicyError("the time limit is no number of seconds", hint="reload the page")
    query = str(asked.get("query") or "histogram")
    return Options(reading, None, engine, limit, None, norm), epsilon, query


def _told(policy: Policy, text: str) -> dict[str, Any]:
    return {
        "kind": "policy",
        "text": text,
        "form": fields(policy),
        "words": {
            "protected": secret_words(policy),
            "known": known_words(policy, policy.database.size),
            "domain": domain_words(policy),
            "answers": scope_words(policy.scope),
        },
        "queries": _suggested(policy),
    }


def _suggested(policy: Policy) -> list[str]:
    """Queries that the policy can answer, for a list to choose from."""
    from blowproof.cli.asking.suggested import suggested

    return suggested(policy)


def _bounds(progress: Progress) -> dict[str, Any]:
    upper = progress.upper
    return {
        "lower": show(progress.lower),
        "upper": None if upper is None else show(upper),
        "what": progress.what,
    }


def _audited(
    policy: Policy, findings: list[Finding], size: int | None, session: Session
) -> Audited:
    from blowproof.cli.commands.audit import pictures

    drawings = pictures(policy, findings, session)
    return Audited(policy, policy.scope, size, findings, None, drawings)


def _shown(
    kind: str, policy: Policy, findings: list[Finding], size: int | None, names: tuple[str, ...]
) -> dict[str, Any]:
    document = audit_document(Audited(policy, policy.scope, size, findings))
    found = document["queries"][0]
    event = _rendered(kind, document, names)
    kept = ("lower", "upper", "status", "more_time_helps")
    exact = {key: found[key] for key in kept if key in found}
    for key in ("lower", "upper"):
        if isinstance(exact[key], int) and exact[key] > MOST_EXACT:
            exact[key] = str(exact[key])
    return {**event, **exact}


def _cost(item: dict[str, Any]) -> dict[str, Any]:
    """What one fact costs, for the form."""
    low, high = item["lower"], item["upper"]
    value = f"S = {low}" if low == high else f"S from {low}{'' if high is None else f' to {high}'}"
    words = f"without it {value}" if low is not None else ""
    return {"fact": item["fact"], "words": words}


def _rendered(kind: str, document: dict[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    query = document["queries"][0]
    found = plots(query, ("epsilon", document["epsilon"]))
    parts = sections(document, query, 0, lambda name, _: place_of(name) if name in found else None)
    html = {name: str(parts[name] or "") for name in names}
    if html.get("graph"):
        html["graph"] = f"{arrow_tip()}{html['graph']}"
    return {"kind": kind, "html": html, "plots": {n: found[n] for n in names if n in found}}


def _planned(policy: Policy, finding: Finding, session: Session) -> dict[str, Any] | None:
    """The plan as data, without options where it takes too long; None where it does not apply."""
    from blowproof.cli.releasing.plan import OVERTIME, plan_document

    try:
        return plan_document(policy, finding, _within(session, PLAN_SECONDS))
    except Stopped:
        why = (f"the comparison was not over after {OVERTIME * PLAN_SECONDS:.0f} seconds, which is "
               "all the time that it has here; blowproof plan takes a --time-limit")  # fmt: skip
        return {"options": [], "refused": [{"why": why}]}
    except BlowproofError:
        return None


def _odds(policy: Policy, finding: Finding, session: Session) -> dict[str, Any] | None:
    from blowproof.cli.releasing.odds import odds_document

    return _tried(lambda: odds_document(policy, finding, _within(session, ODDS_SECONDS)))


def _within(session: Session, seconds: float) -> Session:
    """A session for one more question, with its own time."""
    question = replace(session.question, time_limit=seconds)
    return Session(question, total=seconds, shown=False)


def _tried(task: Callable[[], dict[str, Any] | None]) -> dict[str, Any] | None:
    try:
        return task()
    except (BlowproofError, Stopped):
        return None


def _report(asked: Mapping[str, Any], text: str, audited: Audited, session: Session) -> str:
    """The report, as `blowproof audit --html` writes it."""
    from importlib.metadata import version

    from blowproof.cli.commands.audit import with_record
    from blowproof.cli.report.page import page

    words = f"blowproof serve (query {asked.get('query') or 'histogram'})"
    return page(with_record(audited, None, words, session, text), version("blowproof"))
