"""`blowproof release POLICY DATA`: a private release, with the noise that the policy needs."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import replace
from typing import TYPE_CHECKING

import click

from blowproof.cli.asking.account_options import AccountChoice, account_options
from blowproof.cli.asking.errors import Exit
from blowproof.cli.asking.options import (
    Options,
    json_option,
    policy_argument,
    question_options,
)
from blowproof.cli.asking.piped import data_argument
from blowproof.cli.asking.promise_options import NO_PROMISE, promise_options
from blowproof.cli.releasing.extras import Extras, extra_options, show_released
from blowproof.cli.releasing.tables import table_option

if TYPE_CHECKING:
    from blowproof.mechanisms.planning.plan_file import PlanFile
    from blowproof.mechanisms.release.release import Released
    from blowproof.models import Policy
    from blowproof.verifier.certify.base.promise import Promise

__all__ = ["read_plan_for", "release"]


@click.command(
    short_help="A private release.",
    epilog="Example: blowproof release examples/survey.toml examples/survey.csv --epsilon 1 "
    "--budget 2",
)
@policy_argument()
@data_argument()
@table_option
@click.option("--query", help="Which numbers are released.  [default: histogram]")
@promise_options(delta=False, required=False)
@click.option("--mechanism", metavar="M",
              help="How: laplace, ordered, ...  "
              "[default: what plan chooses]")  # fmt: skip
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
@extra_options
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
    extras: Extras,
    question: Options,
    as_json: bool,
) -> int:
    """A private release: the query's answers on DATA, with noise that the policy calls for.

    The scale comes from the verified sensitivity, never from a number typed in. What would exceed
    the budget of the people in DATA is refused before any noise is drawn. Their account is found by
    what DATA holds, whatever the file is called; without one, --budget opens it.

    Without --mechanism, what `blowproof plan` finds best for the query is drawn. With --plan, what
    that file says is drawn, for the policy, the queries and the data that it was made for.

    Numbers of records come whole, unless --real.

    --plot, --quantile and --synthetic are made from what was released, at no further cost; what
    they cannot do is refused before anything is spent.

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
    from blowproof.cli.releasing.carrying_out import (
        carried_out,
        output_file,
        request_of,
        save_answers,
    )
    from blowproof.cli.releasing.shield import Shield
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
        shield = stack.enter_context(Shield())
        try:
            inputs = (policy, data, choice.ledger, plan_path)
            place = output_file(output, inputs, read.domain.names, overwrite=overwrite)
            if place is not None:
                stack.callback(place.discard)
            made = None if plan_path is None else read_plan_for(plan_path, read, data)
            if made is not None:
                asked, promise = made.workload.queries[0], made.promise
            else:
                asked = parse_query("histogram" if query is None else query, read)
            assert promise is not None
            request = request_of(read, asked, promise, options, records, session)
            request = replace(request, accept_wide_bounds=accept_wide_bounds)
            every = made.workload.queries if made is not None else (request.bound,)
            extras.require(read, every, inputs, {"--output": output}, overwrite=overwrite)
            errors = place is not None or extras.wants_errors
            released = carried_out(
                made or mechanism, request, data, choice, session, real=real, errors=errors,
                shield=shield,
            )  # fmt: skip
        except (RefusedError, BudgetError) as error:
            _refuse(str(error), as_json, read.name, mechanism)
            return Exit.NO
        save_answers(place, released, session)
        _show(released, output, extras, as_json=as_json)
        shield.tell()
    return Exit.OK


def _show(released: Released, output: str | None, extras: Extras, *, as_json: bool) -> None:
    """Make what goes with the answers, and show them: they are paid for, whatever fails here."""
    released, failed = extras.finish_paid(released)
    more = {"released": True, **({} if failed is None else {"failed": failed})}
    show_released(released, output, extras, more if as_json else None)
    if failed is not None:
        click.echo(f"released, but not all that goes with it was made: {failed}", err=True)


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
