"""`blowproof sensitivity POLICY`: one number with a witness."""

from __future__ import annotations

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
    from blowproof.cli.asking.ask import Session
    from blowproof.models import BoundQuery, Policy
    from blowproof.verifier.asked.answer import Answer

__all__ = ["sensitivity"]


@click.command(
    short_help="One number with a witness.",
    epilog="Example: blowproof sensitivity examples/census.toml --query 'marginal(size)'",
)
@policy_argument()
@click.option("--query", default="histogram", show_default=True, help="Which numbers are released.")
@click.option("--certificate", type=click.Path(dir_okay=False), metavar="FILE",
              help="Write a proof that a small independent checker accepts.")  # fmt: skip
@click.option("--scheduler", metavar="ADDRESS", help="A Dask cluster for long searches.")
@question_options(norm=True)
@json_option
def sensitivity(  # options
    policy: str,
    query: str,
    certificate: str | None,
    scheduler: str | None,
    question: Options,
    as_json: bool,
) -> int:
    """One number with a witness: how much a query can change between neighbours.

    With --certificate the answer is proved: the checker (see blowproof check) accepted the file
    that is written. Where no proof is found, the answer stays exact, and stderr says why.

    Exit code 0: exact or proved; 2: bad input; 3: bounds only.
    """
    from blowproof.cli.asking.ask import Session
    from blowproof.cli.asking.cluster import searched_on
    from blowproof.cli.asking.error_lines import placed
    from blowproof.cli.text.answer import answer_parts
    from blowproof.cli.text.files import keep_apart
    from blowproof.cli.text.output import print_all, quietly, write_json

    keep_apart({"--certificate": certificate}, [policy])
    session = Session(question)
    read, (asked,) = session.open(policy, [query])
    with searched_on(scheduler):
        with placed(policy):
            answer = session.ask(read, asked, question.reading)
        if certificate is not None:
            answer = _certified(read, asked, answer, certificate, session)
    with quietly():
        if as_json:
            write_json(answer.to_json(read.domain))
        else:
            print_all(answer_parts(read, answer))
    return Exit.UNDECIDED if answer.status == "bounds" else Exit.OK


def _certified(
    policy: Policy, query: BoundQuery, answer: Answer, path: str, session: Session
) -> Answer:
    """Write a certificate, or say why there is none; the answer is proved in the first case."""
    from blowproof.cli.asking.stoppable import Stopped
    from blowproof.cli.text.files import save
    from blowproof.models.policy.in_words import printable
    from blowproof.verifier.proofs.write import certify_answer

    try:
        answer, found = session.run(
            lambda: certify_answer(policy, query, answer, time_limit=session.question.time_limit),
            late=True,
        )
        reason = found.reason
        if found.document is not None:
            save(path, found.text)
    except Stopped as stop:
        reason = stop.reason
    if reason:
        click.echo(f"no certificate: {printable(reason)}", err=True)
    return answer
