"""`blowproof release POLICY DATA`: a private release, with the noise that the policy needs."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, cast

import click

from blowproof.cli.asking.account_options import AccountChoice, account_options
from blowproof.cli.asking.errors import Exit
from blowproof.cli.asking.options import (
    Question,
    json_option,
    policy_argument,
    question_options,
)
from blowproof.cli.asking.promise_options import NO_PROMISE, promise_options

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from rich.console import RenderableType

    from blowproof.cli.asking.ask import Session
    from blowproof.mechanisms.budget.accountant import Accountant
    from blowproof.mechanisms.planning.plan_file import PlanFile
    from blowproof.mechanisms.release.publish import OutputFile
    from blowproof.mechanisms.release.release import Oracle, Plan, Released, Request
    from blowproof.models import BoundQuery, Policy
    from blowproof.models.data.dataset import Dataset
    from blowproof.models.policy.readings import Reading
    from blowproof.verifier.certify.base.promise import Promise

__all__ = [
    "carried_out",
    "output_file",
    "read_plan_for",
    "release",
    "release_parts",
    "request_of",
]

SHOWN = 20
MARGIN = 0.5
"""Seconds before the end of the planning at which an engine comes back."""


@click.command(
    short_help="A private release.",
    epilog="Example: blowproof release examples/survey.toml examples/survey.csv --epsilon 1 "
    "--budget 2",
)
@policy_argument()
@click.argument("data", type=click.Path(), metavar="DATA")
@click.option("--query", help="Which numbers are released.  [default: histogram]")
@promise_options(delta=False, required=False)
@click.option("--mechanism", metavar="M",
              help="How: laplace, ordered, ...  "
              "[default: what plan chooses; with --rho, gaussian]")  # fmt: skip
@click.option("--plan", "plan_path", type=click.Path(), metavar="FILE",
              help="Draw what a plan says, and nothing else.")  # fmt: skip
@click.option("--set", "settings", multiple=True, metavar="NAME=VALUE",
              help="A setting of the mechanism; may be repeated.")  # fmt: skip
@account_options
@click.option("--records", metavar="RANGES",
              help="Release it about these records alone: 1-100,205.")  # fmt: skip
@click.option("--output", type=click.Path(), metavar="FILE",
              help="Write the answers to a .csv, .parquet or .json file.")  # fmt: skip
@click.option("--overwrite", is_flag=True, help="Even if that file exists.")
@click.option("--accept-wide-bounds", is_flag=True,
              help="Release noise that is hardly worth its price too.")  # fmt: skip
@click.option("--real", is_flag=True,
              help="Leave estimates of counts as they are, with fractions.")  # fmt: skip
@question_options()
@json_option
def release(  # noqa: PLR0913 # one parameter for each option
    *,
    policy: str,
    data: str,
    query: str | None,
    promise: Promise | None,
    mechanism: str | None,
    plan_path: str | None,
    settings: tuple[str, ...],
    choice: AccountChoice,
    records: str | None,
    output: str | None,
    overwrite: bool,
    accept_wide_bounds: bool,
    real: bool,
    question: Question,
    as_json: bool,
) -> int:
    """A private release: the query's answers on DATA, with noise that the policy calls for.

    The scale comes from the verified sensitivity, never from a number typed in. What would exceed
    the budget of the people in DATA is refused before any noise is drawn. Their account is found by
    what DATA holds, whatever the file is called; without one, --budget opens it.

    Without --mechanism, what `blowproof plan` finds best for the query is drawn, or Gaussian noise
    where a --rho is given away. With --plan, what
    that file says is drawn, for the policy, the queries and the data that it was made for. Counts
    come in whole numbers then, unless --real.

    DATA that break a fact of the policy are refused for nothing. That tells one bit about them:
    which fact, and never how many records. Keep it to the owner of the data.

    Noise from an upper bound more than four times the lower one is refused, and so is noise that is
    larger than the counts it is added to (n, where it is public), unless --accept-wide-bounds.

    Exit code 0: released; 1: refused; 2: bad input.
    """
    if question.seed is not None:
        raise click.UsageError(
            "noise has no seed: it comes from the system's randomness, and noise that can be "
            "repeated can be taken off again"
        )
    from blowproof.cli.asking.ask import Session
    from blowproof.cli.text.output import print_all, quietly, write_json
    from blowproof.mechanisms.base.errors import RefusedError
    from blowproof.models import BudgetError, parse_query

    options = dict(map(_setting, settings))
    if plan_path is not None:
        _require_bare_plan(query, promise, mechanism, settings, records)
    elif promise is None:
        raise click.UsageError(NO_PROMISE)
    session = Session(question)
    read, _ = session.open(policy)
    with ExitStack() as stack:
        try:
            inputs = (policy, data, choice.ledger, plan_path)
            place = output_file(output, inputs, read.domain.names, overwrite=overwrite)
            if place is not None:
                stack.callback(place.discard)
            if plan_path is not None:
                made = read_plan_for(plan_path, read, data)
                asked, promise = made.workload.queries[0], made.promise
            else:
                made, asked = None, parse_query(query or "histogram", read)
            assert promise is not None
            request = request_of(read, asked, promise, options, records, session)
            request = replace(request, accept_wide_bounds=accept_wide_bounds)
            errors = place is not None
            released = carried_out(
                made or mechanism, request, data, choice, session, real=real, errors=errors
            )
        except (RefusedError, BudgetError) as error:
            _refuse(str(error), as_json, read.name, mechanism)
            return Exit.NO
        if place is not None:
            place.save(released)
    with quietly():
        if as_json:
            write_json({**released.to_json(), "released": True})
        else:
            print_all(release_parts(released, output))
    return Exit.OK


def request_of(
    policy: Policy,
    query: str | BoundQuery,
    promise: Promise,
    settings: Mapping[str, str],
    records: str | None,
    session: Session,
) -> Request:
    """Return what is to be released, to be planned within the session's time."""
    from blowproof.cli.asking.ask import scope_of
    from blowproof.mechanisms.parts.records import Records
    from blowproof.mechanisms.release.release import Request
    from blowproof.models import parse_query
    from blowproof.verifier.asked.names import Engine

    question = session.question
    return Request(
        policy=policy,
        query=parse_query(query, policy) if isinstance(query, str) else query,
        epsilon=promise.epsilon or Fraction(0),
        rho=promise.rho,
        reading=cast("Reading", question.reading),
        answers=scope_of(question),
        engine=cast("Engine", question.engine),
        time_limit=question.time_limit,
        oracle=_oracle(session),
        options=settings,
        records=None if records is None else Records.read(records),
    )


def _require_bare_plan(*others: object) -> None:
    """Refuse what a plan says already: two places that say it may differ."""
    if any(others):
        raise click.UsageError(
            "--plan says what is released and how: leave --query, --epsilon, --rho, --mechanism, "
            "--set and --records out"
        )


def read_plan_for(path: str, policy: Policy, data: str) -> PlanFile:
    """Return the plan in a file, made for this policy and, if for any, for these data."""
    from blowproof.mechanisms.planning.plan_file import read_plan

    found = read_plan(path, policy)
    found.require_same(policy, data)
    return found


def _setting(text: str) -> tuple[str, str]:
    name, sign, value = text.partition("=")
    if not (name and sign):
        raise click.BadParameter(f"{text!r} is not of the form NAME=VALUE", param_hint="--set")
    return name, value


def _oracle(session: Session) -> Oracle:
    """Ask as `blowproof sensitivity` does; but after Ctrl-C nothing is released."""

    def ask(policy: Policy, query: Any, reading: str, limit: float | None) -> Any:
        # A question comes back with its bounds before the planning as a whole is cut off.
        end = None if limit is None else max(limit / 2, limit - MARGIN)
        answer = session.ask(policy, query, reading, limit=end)
        if session.interrupted:
            raise click.Abort
        return answer

    return ask


def _planned(how: str | PlanFile | None, request: Request, data: str, session: Session) -> Plan:
    """Work out the noise, watched: also what no engine looks at a clock for ends at the limit.

    `how`: a mechanism by name, a plan, or None for what a plan would choose.
    """
    from blowproof.cli.asking.ask import GRACE
    from blowproof.cli.asking.stoppable import Stopped
    from blowproof.mechanisms.base.errors import RefusedError
    from blowproof.mechanisms.planning.default import best_plan
    from blowproof.mechanisms.planning.plan_file import ready
    from blowproof.mechanisms.release.registry import plan

    def work_out() -> Plan:
        if isinstance(how, str):
            return plan(how, request)
        return best_plan(request, data) if how is None else ready(how, request)

    limit = session.question.time_limit
    try:
        end = None if limit is None else limit + GRACE
        return session.run(work_out, limit=end)
    except Stopped as stop:
        hint = "" if session.interrupted else "\n  try: a longer --time-limit"
        raise RefusedError(
            f"{stop} before the noise was known: nothing was released and nothing spent{hint}"
        ) from None


def _account(request: Request, data: str, choice: AccountChoice) -> Accountant | None:
    """Return the account that releases from DATA add up in; None where told that there is none."""
    from blowproof.mechanisms.budget.accountant import Accountant

    if choice.unaccounted:
        return None
    return Accountant(
        request.policy,
        data,
        ledger=choice.ledger,
        budget=choice.budget,
        reading=request.reading,
        answers=request.answers,
        people="new" if choice.new_people else choice.same_people_as,
        new_guarantee=choice.new_guarantee,
        measure="epsilon" if request.rho is None else "rho",
    )


def carried_out(
    how: str | PlanFile | None,
    request: Request,
    data: str,
    choice: AccountChoice,
    session: Session,
    *,
    real: bool = False,
    errors: bool = False,
) -> Released:
    """Plan a release, charge it to the account that is chosen, and draw it; or refuse.

    `how`: a mechanism by name, a plan that was read, or None for what a plan would choose (Gaussian
    noise, where a rho is given away). What a plan chose comes in whole numbers where it counts
    records, unless `real`. `errors`: with the standard error of each number.
    """
    from blowproof.mechanisms.planning.default import in_whole_numbers
    from blowproof.mechanisms.release.release import release as carry_out
    from blowproof.models.data.dataset import Dataset

    if how is None and request.rho is not None:
        how = "gaussian"
    account = _account(request, data, choice)
    made = _planned(how, request, data, session)
    with Dataset(data, made.request.policy.domain) as dataset:
        _load(dataset, session)
        found = carry_out(made, dataset, budget=account)
        if errors:
            known = request.policy.size_known(request.reading)
            found = _with_errors(found, made, dataset.size if known else None)
    return found if isinstance(how, str) or real else in_whole_numbers(found)


def _with_errors(found: Released, made: Plan, size: int | None) -> Released:
    """Add the standard errors of the answers, where something says what they are."""
    from blowproof.mechanisms.expecting.uncertainty import uncertainty

    said = uncertainty(made, len(found.answers), size)
    if said is None or len(said.errors) != len(found.answers):
        return found
    return replace(found, errors=said.errors, halves=said.halves)


def _load(dataset: Dataset, session: Session) -> None:
    """Read the data within the limits, and before anything is charged."""
    from blowproof.cli.asking.stoppable import Stopped
    from blowproof.mechanisms.base.errors import RefusedError

    try:
        session.run(lambda: dataset.size, limit=session.question.time_limit)
    except Stopped as stop:
        raise RefusedError(
            f"{stop} while the data were read: nothing was released and nothing spent"
        ) from None


def output_file(
    output: str | None,
    inputs: tuple[str | None, ...],
    names: tuple[str, ...],
    *,
    overwrite: bool = False,
) -> OutputFile | None:
    """Return the file for the answers, ready to be written; never one that is read."""
    from blowproof.cli.text.files import keep_apart
    from blowproof.mechanisms.release.publish import OutputFile

    if output is None:
        return None
    keep_apart({"--output": output}, inputs)
    return OutputFile(output, names, overwrite=overwrite)


def _refuse(reason: str, as_json: bool, policy: str, mechanism: str | None) -> None:
    from blowproof.cli.text.output import quietly, write_json

    if as_json:
        document = {
            "schema": "blowproof/release/1",
            "policy": policy,
            "mechanism": mechanism,
            "released": False,
            "reason": reason,
        }
        with quietly():
            write_json(document)
    else:
        click.echo(f"refused: {reason}", err=True)


def release_parts(released: Released, output: str | None) -> Iterator[RenderableType]:
    """Yield what was released, what it rests on, and the answers that no file holds."""
    from rich.text import Text

    from blowproof.cli.text.policy_in_words import printable, short

    request = released.request
    yield Text(f"{printable(request.bound.name)}, released by {released.mechanism}", style="bold")
    scope = request.policy.with_answers(request.answers).scope
    yield Text(
        f"{request.promise.name} {short(request.promise.limit)} under policy "
        f"{printable(request.policy.name)}, "
        f"reading {request.reading}, answers {scope}"
    )
    yield from _noise_lines(released)
    for note in released.notes:
        yield Text(note)
    yield Text()
    if output is not None:
        yield Text(f"{len(released.answers):,} answers written to {printable(output)}")
    else:
        yield from _table(released)


def _noise_lines(released: Released) -> Iterator[RenderableType]:
    from rich.text import Text

    from blowproof.cli.text.answer import bounds_text
    from blowproof.cli.text.policy_in_words import printable, short

    if released.sensitivity is not None:
        found = released.sensitivity
        norm = "" if found.norm == "l1" else f" in {found.norm}"
        yield Text(f"{bounds_text(found)} for {printable(found.query)}{norm} ({found.status})")
    for item in released.description:
        scales = sorted(set(item.widths))
        low, high = _about(scales[0]), _about(scales[-1])
        scale = low if low == high else f"{low} to {high}"
        grid = "" if item.grid == 1 else f", in steps of {short(item.grid)}"
        what = item.query if isinstance(item.query, str) else _name(item.query)
        yield Text(f"{item.noise} noise of {item.width} {scale}{grid} on {printable(what)}")


def _name(query: object) -> str:
    name = getattr(query, "name", None)
    if isinstance(name, str):
        return name
    return f"{type(query).__name__.lower()}({getattr(query, 'attribute', '')})"


def _about(scale: Fraction) -> str:
    from blowproof.cli.text.policy_in_words import short

    return short(scale) if scale.denominator < 1000 else f"{float(scale):.4g}"


def _table(released: Released) -> Iterator[RenderableType]:
    from itertools import islice

    from rich.table import Table
    from rich.text import Text

    from blowproof.cli.text.policy_in_words import printable, short
    from blowproof.mechanisms.release.publish import answer_column

    table = Table(box=None, pad_edge=False, padding=(0, 3, 0, 0), header_style="bold")
    for name in released.answers.names.columns:
        table.add_column(Text(printable(name)), overflow="fold")
    table.add_column(answer_column(released), justify="right")
    rows = zip(released.answers.names.rows(), released.answers, strict=True)
    for names, value in islice(rows, SHOWN):
        number = f"{value:,.2f}" if isinstance(value, float) else short(value)
        texts = [name if isinstance(name, str) else short(name) for name in names]
        table.add_row(*(Text(printable(text)) for text in texts), number)
    yield table
    more = len(released.answers) - SHOWN
    if more > 0:
        yield Text(f"... and {more:,} more: --output FILE or --json holds them all")
