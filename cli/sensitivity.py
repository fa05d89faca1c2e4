"""`blowproof sensitivity POLICY`: one number with a witness."""

from __future__ import annotations

import click

from blowproof.cli.errors import Exit
from blowproof.cli.options import Question, json_option, policy_argument, question_options

__all__ = ["sensitivity"]


@click.command(
    short_help="One number with a witness.",
    epilog="Example: blowproof sensitivity examples/census.toml --query 'marginal(size)'",
)
@policy_argument()
@click.option("--query", default="histogram", show_default=True, help="Which numbers are released.")
@question_options()
@json_option
def sensitivity(policy: str, query: str, question: Question, as_json: bool) -> int:
    """One number with a witness: how much a query can change between neighbours.

    Exit code 0: exact; 2: bad input; 3: bounds only.
    """
    from blowproof.cli.asking import Session
    from blowproof.cli.output import print_all, quietly, write_json
    from blowproof.cli.render import answer_parts
    from blowproof.models import parse_query
    from blowproof.models.reading import read_policy

    read = read_policy(policy)
    answer = Session(question).ask(read, parse_query(query, read), question.reading)
    with quietly():
        if as_json:
            write_json(answer.to_json(read.domain))
        else:
            print_all(answer_parts(read, answer))
    return Exit.UNDECIDED if answer.status == "bounds" else Exit.OK
