"""A release carried out for a command: planned within its time, charged, drawn, and written."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, cast

import click

if TYPE_CHECKING:
    from collections.abc import Mapping

    from blowproof.cli.asking.account_options import AccountChoice
    from blowproof.cli.asking.ask import Session
    from blowproof.cli.releasing.shield import Shield
    from blowproof.mechanisms.budget.accountant import Accountant
    from blowproof.mechanisms.expecting.uncertainty import Uncertainty
    from blowproof.mechanisms.planning.plan_file import PlanFile
    from blowproof.mechanisms.release.publish import OutputFile
    from blowproof.mechanisms.release.release import Oracle, Plan, Released, Request
    from blowproof.models import BoundQuery, Policy
    from blowproof.models.data.dataset import Dataset
    from blowproof.models.policy.readings import Reading
    from blowproof.verifier.certify.base.promise import Promise

__all__ = ["carried_out", "output_file", "request_of", "save_answers"]

MARGIN = 0.5
"""Seconds before the end of the planning at which an engine comes back."""

NO_ERRORS = (
    "no standard error of each number: it would have to be rehearsed, which is too much for so "
    "many numbers or cannot be done; `blowproof plan` tells the error to expect"
)


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
        title = f"planning {request.bound.name}"
        return session.run(work_out, limit=end, title=title)
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


def carried_out(  # noqa: PLR0913 # each of them is an option of the command
    how: str | PlanFile | None,
    request: Request,
    data: str,
    choice: AccountChoice,
    session: Session,
    *,
    real: bool = False,
    errors: bool = False,
    shield: Shield | None = None,
) -> Released:
    """Plan a release, charge it to the account that is chosen, and draw it; or refuse.

    `how`: a mechanism by name, a plan that was read, or None for what a plan would choose. Numbers
    of records are whole, unless `real`. `errors`: with the standard error of each number. `shield`:
    what puts signals off once something is charged.
    """
    from blowproof.cli.asking.progress import display
    from blowproof.cli.releasing.shield import Charged
    from blowproof.mechanisms.expecting.clusters import formed
    from blowproof.mechanisms.expecting.uncertainty import intervals
    from blowproof.mechanisms.planning.default import in_whole_numbers
    from blowproof.mechanisms.release.release import release as carry_out
    from blowproof.models.data.dataset import Dataset

    purse = _account(request, data, choice)
    if purse is not None:
        purse.require_room(request)  # nothing is planned for what cannot be paid
    account = Charged(purse, shield)
    made = _planned(how, request, data, session)
    with Dataset(data, made.request.policy.domain) as dataset:
        _load(dataset, session)
        said = _errors(made, dataset.size, session) if errors else None
        name = made.request.bound.name
        with display(f"releasing {name}" if session.shown else None, stops=False):
            found = formed(carry_out(made, dataset, budget=account))
            if said is not None and len(said.errors) == len(found.answers):
                ends = intervals(found.answers, said.halves)
                notes = found.notes if said.note is None else (*found.notes, said.note)
                found = replace(found, errors=said.errors, ends=ends, notes=notes)
            elif errors and found.form is None:
                found = replace(found, notes=(*found.notes, NO_ERRORS))
    return found if real else in_whole_numbers(found)


def _errors(made: Plan, size: int, session: Session) -> Uncertainty | None:
    """Return the standard errors of the answers to be, where something says what they are.

    They follow from the plan alone, so they are worked out before anything is charged.
    """
    from blowproof.cli.asking.stoppable import Stopped
    from blowproof.mechanisms.base.errors import RefusedError
    from blowproof.mechanisms.expecting.expected import outputs_in
    from blowproof.mechanisms.expecting.uncertainty import uncertainty

    known = made.request.policy.size_known(made.request.reading)
    try:
        return session.run(
            lambda: uncertainty(made, outputs_in(made), size if known else None),
            late=True, title="rehearsing the errors",
        )  # fmt: skip
    except Stopped as stop:
        raise RefusedError(
            f"{stop} while errors were rehearsed: nothing was released and nothing spent"
        ) from None


def _load(dataset: Dataset, session: Session) -> None:
    """Read the data within the limits, and before anything is charged."""
    from blowproof.cli.asking.stoppable import Stopped
    from blowproof.mechanisms.base.errors import RefusedError

    try:
        limit = session.question.time_limit
        session.run(lambda: dataset.size, limit=limit, title="counting the records")
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


def save_answers(place: OutputFile | None, released: Released, session: Session) -> None:
    """Write the answers where a file is asked for, shown on a terminal: many rows take a while."""
    from blowproof.cli.asking.progress import display

    if place is not None:
        with display(f"writing {place.path}" if session.shown else None, stops=False):
            place.save(released)
