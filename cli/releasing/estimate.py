"""`blowproof estimate POLICY FILE...`: one estimate from several releases and what is public."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, cast

import click

from blowproof.cli.asking.errors import Exit
from blowproof.cli.asking.options import (
    Options,
    json_option,
    policy_argument,
    question_options,
)
from blowproof.cli.releasing.extras import Extras, extra_options, show_released

if TYPE_CHECKING:
    from collections.abc import Sequence

    from blowproof.mechanisms.combining.estimator import Estimated, Estimator
    from blowproof.mechanisms.combining.measurements import Answers, Measurement
    from blowproof.mechanisms.combining.monotone import Order
    from blowproof.mechanisms.release.release import Released
    from blowproof.models import BoundQuery, Policy
    from blowproof.models.policy.readings import Reading

__all__ = ["estimate"]

NUMBERS = ("real", "positive", "whole")
ORDERS = ("rising", "falling")
CUT = (
    "intervals: of least squares, cut at 0; they hold the truth more often than 95 times in 100 "
    "where to cut off made the errors smaller"
)

PUBLIC = (
    "everybody knows these numbers exactly, for the known facts determine them: publish those; "
    'with answers = "given" and data in the policy, estimates keep to them'
)
LOOK = 0.5
"""Seconds of work for a look at whether the known facts determine a query."""
UNFINISHED = (
    "least squares was stopped before its end, in the estimate or in the rounds that its errors "
    "are made of: the numbers are near the best fit, whose errors stand here"
)


@dataclass(frozen=True)
class Kind:
    """Which numbers are asked for, and in which order they are known to be."""

    numbers: str
    order: Order | None


@click.command(
    short_help="One estimate from several releases.",
    epilog="Example: blowproof estimate policy.toml first.csv second.csv --query 'marginal(age)'",
)
@policy_argument()
@click.argument("files", type=click.Path(), metavar="FILE...", nargs=-1, required=True)
@click.option("--query", help="Which numbers are estimated.  [default: histogram]")
@click.option("--numbers", type=click.Choice(NUMBERS), default="whole", show_default=True,
              help="With fractions and unbiased; none below 0; or whole as well.")  # fmt: skip
@click.option(
    "--monotone",
    type=click.Choice(ORDERS),
    help="The counts of one attribute are known to be in this order; prefixes rise.",
)
@click.option("--output", type=click.Path(), metavar="FILE",
              help="Write the estimates to a .csv, .parquet or .json file.")  # fmt: skip
@click.option("--overwrite", is_flag=True, help="Even if a file exists.")
@extra_options
@question_options()
@json_option
def estimate(  # noqa: PLR0913 # one parameter for each option
    *,
    policy: str,
    files: tuple[str, ...],
    query: str | None,
    numbers: str,
    monotone: str | None,
    output: str | None,
    overwrite: bool,
    extras: Extras,
    question: Options,
    as_json: bool,
) -> int:
    """One estimate of QUERY from all that the FILEs of earlier releases measured: it costs nothing.

    Least squares over all noisy answers, weighed by their variances, with the known counts, n and
    what was released without noise kept exactly. Then, unless --numbers real, no number below 0,
    and whole ones; that biases them, and it is said by how much. --monotone makes cumulative(A)
    rise, which it does for any data, or the counts of marginal(A) rise or fall: that somebody has
    to know, and it is said with them.

    The files are those of `release --output`, about the same people and under this policy.

    Exit code 0: estimated; 1: refused; 2: bad input.
    """
    from blowproof.cli.asking.ask import Session, scope_of
    from blowproof.cli.releasing.carrying_out import output_file
    from blowproof.mechanisms.base.errors import RefusedError
    from blowproof.mechanisms.combining.estimator import Estimator
    from blowproof.mechanisms.combining.measurements import read_answers
    from blowproof.mechanisms.combining.monotone import order_of
    from blowproof.models import BudgetError, parse_query

    session = Session(question)
    read, _ = session.open(policy)
    asked = parse_query("histogram" if query is None else query, read)
    order = None if monotone is None else order_of(monotone, asked, read.domain)
    answers = [read_answers(path, read) for path in files]
    size = _one_source(answers, read)
    with ExitStack() as stack:
        place = output_file(output, (policy, *files), read.domain.names, overwrite=overwrite)
        if place is not None:
            stack.callback(place.discard)
        extras.require(read, (asked,), (policy, *files), {"--output": output}, overwrite=overwrite)
        scope, reading = scope_of(question), cast("Reading", question.reading)

        def worked_out() -> tuple[Estimator, Estimated]:
            made = Estimator(
                read,
                _measurements(answers, read),
                reading=reading,
                answers=scope,
                size=size,
                records=answers[0].records,
            )
            return made, made.answers(asked, numbers, order)

        try:
            made, found = session.run(
                worked_out, limit=question.time_limit, title=f"estimating {asked.name}"
            )
            released = _released(read, asked, answers, found, question, size, Kind(numbers, order))
            if made.unfinished:
                released = replace(released, notes=(*released.notes, UNFINISHED))
            if _is_public(read.with_answers(scope), asked, reading):
                released = replace(released, notes=(PUBLIC, *released.notes))
            released = extras.finish(released, lambda: made)
        except (RefusedError, BudgetError) as error:
            click.echo(f"refused: {error}", err=True)
            return Exit.NO
        if place is not None:
            place.save(released)
    more = {
        "schema": "blowproof/estimate/1",
        "files": list(files),
        "numbers": numbers,
        "monotone": monotone,
        "standard_errors": released.errors,
        "bias": found.bias,
    }
    show_released(released, output, extras, more if as_json else None)
    return Exit.OK


def _is_public(policy: Policy, query: BoundQuery, reading: Reading) -> bool:
    """Whether the known facts fix the query, while their numbers are not in the policy."""
    from blowproof.models import setting
    from blowproof.models.base.clock import now
    from blowproof.verifier.engines.determined import is_determined

    found = setting(policy)
    return found.scope == "any" and is_determined(found, query, reading, deadline=now() + LOOK)


def _one_source(answers: Sequence[Answers], policy: Policy) -> int | None:
    """Refuse files about other people or another policy; return n where they say it."""
    from blowproof.mechanisms.combining.measurements import require_policy
    from blowproof.models import DataError

    for item in answers:
        require_policy(item, policy)
    for at, item in enumerate(answers):
        for other in answers[:at]:
            if item.is_same(other):
                raise DataError(
                    f"{item.path}: this is the release of {other.path} once more, and would count "
                    "twice\n  try: each release once"
                )
    _require_one("different records", {
        "all" if item.records is None else item.records.text for item in answers
    })  # fmt: skip
    for what in ("account", "size"):
        _require_one("different people", {
            f"{what} {getattr(item, what)}" for item in answers if getattr(item, what) is not None
        })  # fmt: skip
    _require_one("different people", {
        f"account {item.account} of ledger {item.ledger[:8]}"
        for item in answers if item.ledger is not None and item.account is not None
    })  # fmt: skip
    sizes = [item.size for item in answers if item.size is not None]
    return sizes[0] if sizes else None


def _require_one(what: str, said: set[str]) -> None:
    from blowproof.models import DataError

    if len(said) > 1:
        raise DataError(
            f"the files are about {what}: {' and '.join(sorted(said))}"
            "\n  try: files of releases about the same data"
        )


def _measurements(answers: Sequence[Answers], policy: Policy) -> list[Measurement]:
    from blowproof.mechanisms.combining.measurements import measured_in

    return [
        measured_in(release, values, policy)
        for item in answers
        for release, values in item.measured
    ]


def _released(
    policy: Policy,
    query: BoundQuery,
    answers: Sequence[Answers],
    found: Estimated,
    question: Options,
    size: int | None,
    kind: Kind,
) -> Released:
    """Return the estimates in the form of a release: what all files together gave away."""
    numbers, order = kind.numbers, kind.order
    from blowproof.cli.asking.ask import scope_of
    from blowproof.mechanisms.answers.vectors import Estimate, Vector, whole
    from blowproof.mechanisms.combining.names import names_of
    from blowproof.mechanisms.release.release import Released, Request
    from blowproof.models.mechanisms.mechanism import Mechanism
    from blowproof.verifier.certify.measures.orders import from_pure

    pure = all(item.rho is None for item in answers)
    epsilon = sum((item.epsilon or Fraction(0) for item in answers), Fraction(0))
    rho = sum((item.rho if item.rho is not None else from_pure(item.epsilon or Fraction(0))
               for item in answers), Fraction(0))  # fmt: skip
    request = Request(
        policy=policy, query=query, epsilon=epsilon if pure else Fraction(0),
        rho=None if pure else rho, reading=cast("Reading", question.reading),
        answers=scope_of(question), records=answers[0].records,
    )  # fmt: skip
    names = names_of(query, policy)
    is_whole = numbers == "whole" and query.binary
    shown = (
        Vector(whole([round(value) for value in found.values.tolist()]), Fraction(1), names)
        if is_whole else Estimate(found.values, names)
    )  # fmt: skip
    steps = ["least squares"] + ["clipping"] * (numbers != "real")
    steps += ["isotonic regression"] * (order is not None) + ["rounding"] * is_whole
    releases = tuple(release for item in answers for release, _ in item.measured)
    bias = (
        "unbiased" if numbers == "real" and order is None else
        "biased where numbers are near 0" if found.bias is None else
        f"biased by {found.bias:.3g} on average, where numbers are nearly alike most"
        if numbers == "real" else
        f"biased by {found.bias:.3g} on average, where numbers are near 0 most"
    )  # fmt: skip
    accounts = {item.account for item in answers}
    ledgers = {item.ledger for item in answers}
    notes = [f"from {len(answers)} release{'s' * (len(answers) > 1)}, at no further cost; {bias}",
             f"standard errors: {found.how}"]  # fmt: skip
    if order is not None and not order.follows:
        way = ORDERS[order.falling]
        notes.append(f"assuming that the true counts are {way}, which nobody checked here")
    if order is not None and numbers == "real":
        notes.append("intervals: of least squares, whatever the order")
    if numbers != "real":
        notes.append(CUT)
    if len(answers) > 1:
        notes.append("assuming that the data did not change between the releases")
    if None in accounts:
        notes.append("a file has no account: nobody checked that it is about the same people")
    return Released(
        request=request, mechanism="estimate",
        description=Mechanism(name="estimate", releases=releases, postprocessing=tuple(steps)),
        answers=shown, measured=(), sensitivity=None, notes=tuple(notes),
        errors=found.errors.tolist(), ends=(found.ends[0].tolist(), found.ends[1].tolist()),
        size=size,
        account=next(iter(accounts)) if len(accounts) == 1 else None,
        ledger=next(iter(ledgers)) if len(ledgers) == 1 else None,
    )  # fmt: skip
