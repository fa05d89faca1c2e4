"""`blowproof plan POLICY [DATA]`: what a release would be worth, before anything is spent."""

from __future__ import annotations

import sys
from fractions import Fraction
from typing import TYPE_CHECKING, Any, cast

import click

from blowproof.cli.asking.errors import Exit
from blowproof.cli.asking.options import (
    Options,
    json_option,
    policy_argument,
    positive,
    question_options,
)
from blowproof.cli.asking.piped import data_argument
from blowproof.cli.asking.promise_options import promise_options
from blowproof.cli.releasing.tables import table_option

if TYPE_CHECKING:
    from blowproof.cli.asking.ask import Session
    from blowproof.cli.audit.findings import Finding
    from blowproof.mechanisms.planning.advice import Advice
    from blowproof.mechanisms.planning.planner import Planned
    from blowproof.mechanisms.planning.workload import Workload
    from blowproof.models import Policy
    from blowproof.verifier.certify.base.promise import Promise

__all__ = ["OVERTIME", "compared", "plan", "plan_document", "public_size"]

LIMIT = 60.0
SHORTLY = 3.0
"""Seconds for what would help, where nothing is worth releasing and no time is left."""
OVERTIME = 2.0
"""A plan on an audit's page is stopped after so many times its seconds."""


@click.command(
    short_help="What a release would be worth, before it is paid for.",
    epilog="Example: blowproof plan examples/census.toml --query histogram --epsilon 1",
)
@policy_argument()
@data_argument(required=False)
@table_option
@click.option("--query", "queries", multiple=True, metavar="Q",
              help="A query of the workload; once for each.")  # fmt: skip
@click.option("--weight", "weights", multiple=True, type=positive, metavar="W",
              help="What an error in each query counts, in the same order.")  # fmt: skip
@promise_options(delta=False)
@click.option("--output", type=click.Path(), metavar="FILE",
              help="Write the plan to a file, for release --plan FILE.")  # fmt: skip
@click.option("--overwrite", is_flag=True, help="Even if that file exists.")
@click.option("--plot", type=click.Path(), metavar="FILE",
              help="Write a picture of the errors (.svg).")  # fmt: skip
@click.option("--advice", is_flag=True,
              help="Say what would be gained if something else were published.")  # fmt: skip
@question_options(time_limit=LIMIT, whole=True)
@json_option
def plan(  # noqa: PLR0913 # one parameter for each option
    *,
    policy: str,
    data: str | None,
    queries: tuple[str, ...],
    weights: tuple[Fraction, ...],
    promise: Promise,
    output: str | None,
    overwrite: bool,
    plot: str | None,
    advice: bool,
    question: Options,
    as_json: bool,
) -> int:
    """What a release would be worth: every mechanism that applies, with its expected error.

    Nothing is drawn and nothing spent. Errors are exact where the answers are the noisy ones, else
    rehearsed on made-up data (--seed), for the shape that is worst, or simulated where no formula
    is known; then an interval of 95 % goes with them. DATA are looked at for n alone, where n is
    public. Beside them stand a lower bound on what any mechanism could do, and what the
    same queries would cost under plain differential privacy. --advice: what the error would be if a
    known fact were left out, a coarser marginal published, or two of them as one table.

    Where nothing is worth releasing, it says how large S is at least, which epsilon it would take,
    and which known fact to leave out.

    Exit code 0: planned; 1: no mechanism is worth releasing; 2: bad input; 3: undecided in time.
    """
    from blowproof.cli.asking.ask import Session
    from blowproof.cli.releasing.plan_text import advice_lines, indented, plan_parts
    from blowproof.cli.text.files import keep_apart, save
    from blowproof.cli.text.output import print_all, quietly, write_json
    from blowproof.mechanisms.budget.fingerprints import fingerprint
    from blowproof.mechanisms.planning.workload import workload

    keep_apart({"--output": output, "--plot": plot}, (policy, data))
    if plot is not None and not plot.lower().endswith(".svg"):
        raise click.BadParameter(
            f"{plot} does not end in .svg: name it {plot.rpartition('.')[0] or plot}.svg",
            param_hint="--plot",
        )
    session = Session(question, total=question.time_limit)
    read, _ = session.open(policy)
    asked = workload(queries, weights, read)
    kept = output is not None or as_json
    which = fingerprint(data) if data is not None and kept else None
    _require_free(None if overwrite else output, read, asked, promise, data, session)
    found = compared(read, data, asked, promise, session, seed=question.seed)
    helps = not found.worth_it and bool(read.known)  # which fact to leave out, and what for
    told = _advice(found, session, short=not advice) if advice or helps else None
    from blowproof.mechanisms.planning.picture import of_plan
    from blowproof.mechanisms.planning.plan_file import document

    written = document(found, data=which, advice=told)
    if output is not None and not found.options:
        click.echo(f"{output} was not written: there is nothing to draw", err=True)
        output = None
    if output is not None:
        import json

        save(output, json.dumps(written, indent=1) + "\n")
    if plot is not None:
        save(plot, of_plan(found))
    with quietly():
        if as_json:
            write_json(written)
        else:
            print_all(indented(plan_parts(found, output, told)))
            print_all(indented(advice_lines(told)))
            if told == [] and not advice:
                click.echo("try: --advice, which has more time for it")
            if found.worth_it and output is None and sys.stdout.isatty():
                click.echo(f"\nnext: {_next(policy, data, found, promise)}", err=True)
    return _code(found)


def _require_free(
    output: str | None,
    policy: Policy,
    asked: Workload,
    promise: Promise,
    data: str | None,
    session: Session,
) -> None:
    """Refuse, before any work, to write over a file that is not the plan of this same question."""
    from pathlib import Path

    from blowproof.cli.asking.ask import scope_of
    from blowproof.mechanisms.planning.plan_file import read_plan
    from blowproof.models import BlowproofError, DataError

    if output is None or not (Path(output).is_file() or Path(output).is_symlink()):
        return  # nothing is there, or a device
    scope = policy.with_answers(scope_of(session.question)).scope
    try:
        found = read_plan(output, policy)
        same = (found.promise, found.reading, found.answers, found.workload) == (
            promise, session.question.reading, scope, asked,
        )  # fmt: skip
        same = same and (found.digests.get("data") is None) == (data is None)
        found.require_same(policy, data or "")
    except BlowproofError:
        same = False
    if not same:
        raise DataError(
            f"{output}: this file exists, and is no plan of this question: nothing was planned"
            "\n  try: another --output, or --overwrite"
        )


def plan_document(policy: Policy, finding: Finding, session: Session) -> dict[str, Any]:
    """Return the plan for one query of an audit, as `blowproof plan --json` writes it."""
    from blowproof.mechanisms.planning.plan_file import document
    from blowproof.mechanisms.planning.workload import workload
    from blowproof.verifier.certify.base.promise import Promise

    plan = finding.plan
    rho = plan.noise.promise == "rho"
    promise = Promise(None, plan.promised) if rho else Promise(plan.promised)
    asked = workload((finding.query.name,), (), policy)
    limit = None if session.left is None else session.left * OVERTIME
    found = compared(policy, None, asked, promise, session, seed=None, limit=limit)
    return document(found, data=None)


def compared(
    policy: Policy,
    data: str | None,
    asked: Workload,
    promise: Promise,
    session: Session,
    *,
    seed: int | None,
    limit: float | None = None,
) -> Planned:
    """Return the comparison of all mechanisms, within the session's time.

    `limit`: seconds after which it is stopped, whatever it is about (None: it ends by itself).
    """
    from blowproof.cli.asking.ask import scope_of
    from blowproof.models.policy.readings import Reading
    from blowproof.models.policy.setting import counted_once
    from blowproof.verifier.asked.names import Engine

    question = session.question
    if policy.with_answers(scope_of(question)).scope == "given":
        policy = counted_once(policy)
    reading = cast("Reading", question.reading)
    size = public_size(policy, data, reading, session)

    def compare() -> Planned:
        # what takes long to load is loaded while the bar is shown
        from blowproof.mechanisms.planning.planner import planned
        from blowproof.mechanisms.release.release import Request

        request = Request(
            policy=policy,
            query=asked.queries[0],
            epsilon=promise.epsilon or Fraction(0),
            rho=promise.rho,
            reading=reading,
            answers=scope_of(question),
            engine=cast("Engine", question.engine),
            time_limit=session.left if session.left is not None else question.time_limit,
        )
        return planned(request, asked, size=size, seed=seed)

    title = f"comparing mechanisms for {', '.join(asked.texts)}"
    return session.run(compare, limit=limit, late=True, title=title)


def public_size(policy: Policy, data: str | None, reading: str, session: Session) -> int | None:
    """Return n where it is public and at hand: from the data, or from the policy."""
    from blowproof.cli.asking.ask import scope_of
    from blowproof.models import setting

    answers = scope_of(session.question)
    if data is None:
        return setting(policy, answers).size
    from blowproof.mechanisms.release.agreement import require_agreement
    from blowproof.models.data.dataset import Dataset
    from blowproof.models.policy.readings import Reading

    with Dataset(data, policy.domain) as dataset:
        session.read(data, lambda: require_agreement(policy, answers, dataset))
        return dataset.size if policy.size_known(cast("Reading", reading)) else None


def _next(policy: str, data: str | None, found: Planned, promise: Promise) -> str:
    """The command that draws what was planned: it plans again, or takes a plan that was kept."""
    from shlex import quote

    where = " ".join(quote(path) for path in (policy, data or "DATA"))
    queries = [query.name for query in found.workload.queries]
    if len(queries) > 1:
        return f"the same with --output plan.json, then blowproof release {where} --plan plan.json"
    much = promise.epsilon if promise.rho is None else promise.rho
    measure = "--epsilon" if promise.rho is None else "--rho"
    return f"blowproof release {where} --query {quote(queries[0])} {measure} {much} --budget {much}"


def _advice(found: Planned, session: Session, *, short: bool) -> list[Advice]:
    """Return what would be gained by other publications, within as long as the plan itself took.

    `short`: nobody asked for it, so it has what is left of the plan's own time.
    """
    from dataclasses import replace

    from blowproof.mechanisms.planning.advice import advised
    from blowproof.models.base.clock import now

    limit = session.question.time_limit
    if short:
        limit = max(SHORTLY, session.left or 0.0)
    deadline = None if limit is None else now() + limit
    request = replace(found.request, deadline=deadline)
    return session.run(
        lambda: advised(request, found.workload, short=short),
        late=True, title="judging other publications",
    )  # fmt: skip


def _code(found: Planned) -> int:
    if found.worth_it:
        return Exit.OK
    late = any(item.late for item in found.refused)
    return Exit.UNDECIDED if not found.options and late else Exit.NO
