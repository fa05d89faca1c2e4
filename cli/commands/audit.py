"""`blowproof audit POLICY`: the whole story on one screen."""

from __future__ import annotations

import time
from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any, cast

import click

from blowproof.cli.asking.errors import Exit
from blowproof.cli.asking.options import Options, policy_argument, question_options
from blowproof.cli.audit.audited import Audited
from blowproof.cli.audit.options import Planned, format_options, plan_options

if TYPE_CHECKING:
    from blowproof.cli.asking.ask import Session
    from blowproof.cli.audit.findings import Finding
    from blowproof.models import Policy, Reading

__all__ = ["audit", "audited", "first_audit", "pictures", "with_record"]

TIME_LIMIT = 30
FIRST_SECONDS = 20.0
PICTURE_SECONDS = 6.0
PLAN_SECONDS, ODDS_SECONDS = 8.0, 4.0
"""What the plan and the odds of a report may take, for each query."""


@click.command(
    short_help="The whole story of a policy on one screen. Start here.",
    epilog="Example: blowproof audit examples/census.toml --planned-scale 2 --epsilon 1",
)
@policy_argument()
@click.option(
    "--query", "queries", multiple=True, metavar="QUERY",
    help="Which numbers are released; may be repeated.  [default: histogram]",
)  # fmt: skip
@click.option(
    "--from", "source", type=click.Choice(["opendp", "registry"]),
    help="POLICY is an OpenDP context (JSON) or an entry of the registry of deployments (YAML).",
)  # fmt: skip
@click.option(
    "--policy", "beside", type=click.Path(), metavar="FILE",
    help="With --from registry: the policy, which an entry cannot say.",
)  # fmt: skip
@plan_options()
@question_options(time_limit=TIME_LIMIT, whole=True, norm=True)
@format_options()
def audit(
    policy: str,
    queries: tuple[str, ...],
    source: str | None,
    beside: str | None,
    planned: Planned,
    question: Options,
    form: str,
) -> int:
    """The whole story: what is secret, what is known, and the noise that takes.

    Exit code 0: answered; 1: the planned noise is too small; 2: bad input; 3: undecided in time.
    """
    from blowproof.cli.asking.error_lines import placed
    from blowproof.cli.text.files import keep_apart
    from blowproof.models import BlowproofError

    if source is not None:
        asked = queries or ("histogram",)
        return _from_others(source, policy, beside, asked, planned, question, form)
    if beside is not None:
        raise click.UsageError("--policy goes with --from registry")
    keep_apart(
        {"--certificate": planned.certificate, "--html": planned.html}, [policy, planned.mechanism]
    )
    if len(queries) > 1 and planned.of_one_query:
        alone = "--claimed, --planned-scale (or -variance) and --certificate are about one query"
        raise click.UsageError(f"{alone}: give --query once")
    try:
        with placed(policy):
            drawn = form == "json" or planned.html is not None
            found = _audited(policy, queries or ("histogram",), planned, question, drawn=drawn)
    except BlowproofError as error:
        if form == "sarif":
            _write_refusal(policy, error)
        raise
    if planned.certificate is not None:
        _write_certificate(planned.certificate, found)
    document = None
    if planned.html is not None:
        document = _write_page(planned.html, policy, found, question)
    _write(policy, found, form, document)
    return found.code


def first_audit(path: str, queries: tuple[str, ...]) -> int:
    """Show the audit of a policy that another command has just written; return its exit code."""
    question = Options("published", None, "auto", FIRST_SECONDS, None)
    found = _audited(path, queries, Planned(epsilon=Fraction(1)), question, drawn=False)
    _write(path, found, "text")
    return found.code


def _from_others(
    source: str,
    path: str,
    beside: str | None,
    queries: Sequence[str],
    planned: Planned,
    question: Options,
    form: str,
) -> int:
    from blowproof.cli.asking.ask import Session
    from blowproof.cli.audit.from_others import audit_opendp
    from blowproof.cli.audit.from_registry import audit_registry

    registry = source == "registry"
    allowed = ("--mechanism", "--policy") if registry else ()
    given = [*planned.given, *(["--policy"] if beside is not None else [])]
    given += [f"--norm {question.norm}"] if question.norm != "l1" else []
    given += [f"--format {form}"] if form in ("sarif", "registry") else []
    odd = [name for name in given if name not in allowed]
    if odd:
        raise click.UsageError(
            f"--from {source} compares what is claimed there with what it really is, and takes the "
            f"measure from there: leave {' and '.join(odd)} out"
        )
    session = Session(question)
    if registry:
        return audit_registry(
            path, beside, planned.mechanism, queries, session, as_json=form == "json"
        )
    return audit_opendp(path, queries, session, as_json=form == "json")


def _audited(
    path: str, queries: tuple[str, ...], planned: Planned, question: Options, *, drawn: bool
) -> Audited:
    start = time.monotonic()
    from blowproof.cli.asking.ask import Session

    session = Session(question, total=_total(question.time_limit, start))
    policy, _ = session.open(path)
    return audited(policy, queries, planned, session, drawn=drawn)


def audited(
    policy: Policy, queries: Sequence[str], planned: Planned, session: Session, *, drawn: bool
) -> Audited:
    """Return what is found about each query in the session's time, with what is `drawn` of it."""
    from blowproof.cli.asking.ask import scope_of
    from blowproof.cli.audit.mechanism import judge_mechanism
    from blowproof.cli.audit.search import complete_all, decide_all, known_size
    from blowproof.models.stacks.written import parse_question

    norm = session.question.norm
    plan = planned.plan(norm)
    bound = session.read(
        policy.name, lambda: [parse_question(text, policy, norm) for text in queries]
    )
    size = known_size(policy, session)
    drafts = decide_all(policy, bound, session, plan, size)
    mechanism = None
    if planned.mechanism is not None:
        mechanism = judge_mechanism(planned.mechanism, policy, plan, session)
    findings = complete_all(policy, drafts, session, size)
    scope = policy.with_answers(scope_of(session.question)).scope
    drawings = pictures(policy, findings, session) if drawn else ()
    return Audited(policy, scope, size, findings, mechanism, drawings)


def pictures(
    policy: Policy, findings: Sequence[Finding], session: Session
) -> list[dict[str, Any] | None]:
    """What is drawn about each query, in the time that is left; None where it was up."""
    from blowproof.cli.asking.stoppable import Stopped
    from blowproof.cli.report.story import picture

    found: list[dict[str, Any] | None] = []
    for finding in findings:
        seconds = PICTURE_SECONDS if session.left is None else min(PICTURE_SECONDS, session.left)

        def task(reading: str = finding.reading, seconds: float = seconds) -> dict[str, Any]:
            return picture(policy, cast("Reading", reading), seconds / 2)

        try:
            found.append(session.run(task, limit=seconds) if seconds > 0.02 else None)
        except Stopped:
            found.append(None)
    return found


def _total(limit: float | None, start: float) -> float | None:
    """Seconds for the whole audit: to load the solvers counts as well, up to half of the limit."""
    return None if limit is None else max(limit / 2, limit - (time.monotonic() - start))


def _write_certificate(path: str, found: Audited) -> None:
    """Write the certificate of the one query, or say on stderr why there is none."""
    from blowproof.cli.text.files import save
    from blowproof.models.policy.in_words import printable

    certificate = found.findings[0].certificate
    if certificate is not None and certificate.document is not None:
        save(path, certificate.text)
        return
    reason = "the time was up" if certificate is None else certificate.reason
    click.echo(f"no certificate: {printable(reason)}", err=True)


def _write_page(path: str, policy_file: str, found: Audited, question: Options) -> dict[str, Any]:
    """Write the page of --html, with plan, odds and record; return the document that it shows."""
    from importlib.metadata import version

    from blowproof.cli.asking.ask import Session
    from blowproof.cli.report.page import page
    from blowproof.cli.text.files import save

    document = with_record(found, policy_file, _command(), Session(question, shown=False))
    save(path, page(document, version("blowproof")))
    return document


def with_record(
    found: Audited, policy_file: str | None, command: str, session: Session, text: str = ""
) -> dict[str, Any]:
    """Return the document of an audit with each query's plan and odds, and the record.

    The policy's text is that of its file, or is given.
    """
    from dataclasses import replace

    from blowproof.cli.asking.ask import Session
    from blowproof.cli.asking.stoppable import Stopped
    from blowproof.cli.audit.shown.json_document import audit_document
    from blowproof.cli.releasing.odds import odds_document
    from blowproof.cli.releasing.plan import plan_document
    from blowproof.cli.report.record import record
    from blowproof.models import BlowproofError
    from blowproof.models.base.door import is_standard_input, read_document
    from blowproof.models.files.writing import to_toml

    document = audit_document(found)
    for finding, shown in zip(found.findings, document["queries"], strict=True):
        for name, seconds, asked in (
            ("plan", PLAN_SECONDS, plan_document),
            ("odds", ODDS_SECONDS, odds_document),
        ):
            limited = replace(session.question, time_limit=seconds)
            try:
                one = Session(limited, total=seconds, shown=session.shown)
                shown[name] = asked(found.policy, finding, one)
            except (BlowproofError, Stopped):
                shown[name] = None
    if not text:
        piped = policy_file is None or is_standard_input(policy_file)
        text = to_toml(found.policy) if piped else read_document(str(policy_file))
    document["record"] = record(found.policy, text, found.findings, command)
    return document


def _command() -> str:
    """The command line as it was typed."""
    import shlex
    import sys

    return shlex.join(["blowproof", *sys.argv[1:]])


def _write(path: str, found: Audited, form: str, document: dict[str, Any] | None = None) -> None:
    from blowproof.cli.text.output import print_all, quietly, write_json

    with quietly():
        if form == "json":
            from blowproof.cli.audit.shown.json_document import audit_document

            write_json(document or audit_document(found))
        elif form == "registry":
            from blowproof.cli.audit.shown.registry import registry_text
            from blowproof.cli.text.output import write

            write(registry_text(found))
        elif form == "sarif":
            from blowproof.cli.audit.shown.sarif import results, sarif_document

            write_json(sarif_document(path, results(found), found.code))
        else:
            from blowproof.cli.audit.shown.screen import audit_parts

            print_all(audit_parts(found))


def _write_refusal(path: str, error: Exception) -> None:
    """For pipelines: what is wrong with the policy is a finding as well."""
    from blowproof.cli.audit.shown.sarif import error_results, sarif_document
    from blowproof.cli.text.output import quietly, write_json
    from blowproof.models import BlowproofError

    assert isinstance(error, BlowproofError)
    with quietly():
        write_json(sarif_document(path, error_results(error), Exit.BAD_INPUT))
