"""`blowproof explain POLICY`: who is asked for S(f, P), in which order, and why."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, cast

import click

from blowproof.cli.asking.errors import Exit
from blowproof.cli.asking.options import (
    Options,
    json_option,
    policy_argument,
    question_options,
)

if TYPE_CHECKING:
    from rich.console import RenderableType

    from blowproof.cli.asking.ask import Session
    from blowproof.models import BoundQuery, Policy
    from blowproof.models.policy.readings import Reading
    from blowproof.verifier.asked.answer import Answer
    from blowproof.verifier.plan import Step

__all__ = ["explain"]


def _limits(context: click.Context, _: click.Parameter, asked: bool) -> None:
    """Print the table of limits, module by module."""
    if not asked or context.resilient_parsing:
        return
    from itertools import groupby

    from blowproof.verifier.limits.limit import LIMITS

    for module, rows in groupby(LIMITS, key=lambda row: row.module):
        click.echo(module)
        for row in rows:
            default = f"{row.default:_}" if isinstance(row.default, int) else f"{row.default:g}"
            click.echo(f"  {row.name} = {default} {row.unit}: {row.does}")
    context.exit(0)


@click.command(
    short_help="Which theorems and engines are asked, and why.",
    epilog="Example: blowproof explain examples/hospital.toml --run",
)
@policy_argument()
@click.option("--query", default="histogram", show_default=True, help="Which numbers are released.")
@click.option("--run", is_flag=True, help="Answer the question too: what did each give, how long?")
@click.option(
    "--limits",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_limits,
    help="Print every limit of the engines, and end.",
)
@question_options(norm=True)
@json_option
def explain(policy: str, query: str, run: bool, question: Options, as_json: bool) -> int:
    """Which theorems and engines apply to a question, which do not and why, in what order.

    Theorems come first. Engines then take turns, and know at once what the others have found.

    Exit code 0: explained; 2: bad input.
    """
    from blowproof.cli.asking.ask import Session
    from blowproof.cli.asking.error_lines import placed
    from blowproof.cli.text.output import print_all, quietly, write_json

    session = Session(question)
    read, (asked,) = session.open(policy, [query])
    with placed(policy):
        steps, answer, stopped = _explained(session, read, asked, run)
    with quietly():
        if as_json:
            write_json(_document(read, asked, question, steps))
        else:
            print_all(_parts(asked, question, steps, answer, stopped))
    return Exit.OK


def _explained(
    session: Session, policy: Policy, query: BoundQuery, run: bool
) -> tuple[list[Step], Answer | None, str]:
    """Return the steps, the answer where there is one, and what stopped the run if anything did.

    Nothing is lost by a stop: what the steps gave by then is shown.
    """
    from blowproof.cli.asking.ask import Cut, scope_of
    from blowproof.cli.asking.stoppable import Stopped
    from blowproof.verifier.ask import explain as told

    asked = session.question
    begun: list[Step] = []
    found = session.follow(
        f"{query.name}, {asked.reading}",
        lambda post: told(
            policy,
            query,
            reading=cast("Reading", asked.reading),
            answers=scope_of(asked),
            time_limit=asked.time_limit,
            run=run,
            listener=post,
            begun=begun.extend,
        ),
        limit=asked.time_limit,
    )
    if not isinstance(found, Cut):
        return (*found, "")
    if not begun:
        raise Stopped(found.reason)
    return begun, None, found.reason


def _document(
    policy: Policy, query: BoundQuery, question: Options, steps: list[Step]
) -> dict[str, object]:
    from blowproof.cli.asking.ask import scope_of

    return {
        "schema": "blowproof/explain/1",
        "policy": policy.name,
        "query": query.name,
        "norm": query.measure.name,
        "reading": question.reading,
        "answers": policy.with_answers(scope_of(question)).scope,
        "steps": [step.to_json() for step in steps],
    }


def _parts(
    query: BoundQuery,
    question: Options,
    steps: list[Step],
    answer: Answer | None,
    stopped: str,
) -> Iterator[RenderableType]:
    from rich.table import Table
    from rich.text import Text

    from blowproof.cli.text.answer import bounds_text
    from blowproof.models.norms import L1
    from blowproof.models.policy.in_words import printable

    norm = "" if query.measure is L1 else f", norm {query.measure}"
    yield Text(f"query {printable(query.name)}, reading {question.reading}{norm}", style="bold")
    yield Text()
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for heading in ("", "step", "what it does, or why it is left out"):
        table.add_column(heading, overflow="fold")
    ran = answer is not None or bool(stopped)
    if ran:
        for heading in ("gave", "seconds"):
            table.add_column(heading, justify="right", no_wrap=True)
    for step in steps:
        why = step.strategy.does if step.applies else f"left out: {step.why_not}"
        row = ["" if step.applies else "-", step.strategy.name, why]
        if ran:
            row += [_gave(step), "" if step.seconds is None else f"{step.seconds:.2f}"]
        table.add_row(*map(Text, row), style="" if step.applies else "dim")
    yield table
    if stopped:
        yield Text()
        yield Text(f"{stopped}; the table has what was found by then", style="bold")
    if answer is not None:
        yield Text()
        yield Text(bounds_text(answer), style="bold")
        for end, name, reason in answer.decided_by:
            yield Text(f"{end} bound: {name} ({printable(reason)})")


def _gave(step: Step) -> str:
    from blowproof.models.policy.in_words import short

    found = step.told
    if found is None:
        return ""
    low = "" if found.pair is None else short(found.lower)
    high = "" if found.upper is None else short(found.upper)
    return low if low == high else f"{low}..{high}"
