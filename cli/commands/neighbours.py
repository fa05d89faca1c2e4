"""`blowproof neighbours POLICY`: the neighbours, one by one."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import click

from blowproof.cli.asking.errors import Exit
from blowproof.cli.asking.options import (
    Options,
    json_option,
    policy_argument,
    question_options,
)

if TYPE_CHECKING:
    from blowproof.models import Policy
    from blowproof.verifier.asked.answer import Pair

__all__ = ["neighbours"]


@click.command(
    short_help="The neighbours, one by one.",
    epilog="Example: blowproof neighbours examples/exam_queue.toml --limit 3",
)
@policy_argument()
@click.option("--limit", type=click.IntRange(min=0), metavar="N", help="List at most N pairs.")
@click.option(
    "--up-to-relabelling",
    is_flag=True,
    help="List a pair once for all numberings of its records (where no clause names them).",
)
@question_options()
@json_option
def neighbours(
    policy: str, limit: int | None, up_to_relabelling: bool, question: Options, as_json: bool
) -> int:
    """The neighbours one by one: every pair (D1, D2), for given answers.

    Exit code 0: listed (also when --limit cut the list); 2: bad input, which includes the scope
    "any", where there is no end of them; 3: cut by the time limit.
    """
    from blowproof.cli.asking.ask import Session
    from blowproof.cli.asking.error_lines import placed

    session = Session(question)
    read, _ = session.open(policy)
    listing = _as_json if as_json else _for_people
    with placed(policy):
        return listing(read, session.question, limit, every_label=not up_to_relabelling)


def _as_json(policy: Policy, question: Options, limit: int | None, *, every_label: bool) -> int:
    """Write one document. The pairs are kept as text until the end, where the count is known."""
    from blowproof.cli.asking.ask import scope_of, stream_neighbours
    from blowproof.cli.text.output import quietly, write

    pairs: list[str] = []

    def keep(pair: Pair) -> None:
        pairs.append(json.dumps(pair.to_json(policy.domain)))

    complete, reason = stream_neighbours(
        policy, question, limit=limit, every_label=every_label, on_pair=keep
    )
    head = {
        "schema": "blowproof/neighbours/1",
        "policy": policy.name,
        "reading": question.reading,
        "answers": policy.with_answers(scope_of(question)).scope,
        "count": len(pairs),
        "complete": complete,
        "stopped": reason or None,
    }
    with quietly():
        write(json.dumps(head)[:-1] + ', "pairs": [' + ",\n".join(pairs) + "]}\n")
    return _code(reason)


def _for_people(policy: Policy, question: Options, limit: int | None, *, every_label: bool) -> int:
    from blowproof.cli.asking.ask import stream_neighbours
    from blowproof.cli.text.output import print_all, quietly, write
    from blowproof.cli.text.pairs import pair_parts

    count = 0

    def show(pair: Pair) -> None:
        nonlocal count
        count += 1
        write(f"{count}.\n")
        print_all(pair_parts(policy, pair, question.reading))

    complete, reason = stream_neighbours(
        policy, question, limit=limit, every_label=every_label, on_pair=show
    )
    with quietly():
        write(_closing(count, complete, reason))
    return _code(reason)


def _closing(count: int, complete: bool, reason: str) -> str:
    pairs = "1 neighbour pair" if count == 1 else f"{count} neighbour pairs"
    if complete:
        return f"{pairs}, and that is all.\n"
    return f"{pairs}, and there are more{f': {reason}' if reason else ''}.\n"


def _code(reason: str) -> int:
    return Exit.UNDECIDED if reason else Exit.OK
