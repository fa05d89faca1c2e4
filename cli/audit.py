"""`blowproof audit POLICY`: the whole story on one screen."""

from __future__ import annotations

from fractions import Fraction

import click

from blowproof.cli.options import (
    Question,
    json_option,
    not_negative,
    policy_argument,
    positive,
    question_options,
)

__all__ = ["audit"]

TIME_LIMIT = 30


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
    "--epsilon", type=positive, default="1", show_default=True, metavar="E",
    help="The privacy that you aim for.",
)  # fmt: skip
@click.option(
    "--claimed", type=not_negative, metavar="S",
    help="Judge a claimed sensitivity (exit code 1: too small).",
)  # fmt: skip
@click.option(
    "--planned-scale", "scale", type=not_negative, metavar="B",
    help="Judge a planned scale of Laplace noise (exit code 1: too small).",
)  # fmt: skip
@question_options(time_limit=TIME_LIMIT)
@json_option
def audit(
    policy: str,
    queries: tuple[str, ...],
    epsilon: Fraction,
    claimed: Fraction | None,
    scale: Fraction | None,
    question: Question,
    as_json: bool,
) -> int:
    """The whole story: what is secret, what is known, and the noise that takes.

    Exit code 0: answered; 1: the planned noise is too small; 2: bad input; 3: undecided in time.
    """
    from blowproof.cli.asking import Session, scope_of
    from blowproof.cli.audit_json import audit_document
    from blowproof.cli.findings import Plan, find, known_size, worst
    from blowproof.cli.output import print_all, quietly, write_json
    from blowproof.cli.screen import audit_parts
    from blowproof.models import parse_query
    from blowproof.models.reading import read_policy

    if len(queries) > 1 and (claimed is not None or scale is not None):
        raise click.UsageError("--claimed and --planned-scale judge one query: give --query once")
    read = read_policy(policy)
    plan = Plan(epsilon=epsilon, claimed=claimed, scale=scale)
    bound = [parse_query(text, read) for text in queries or ("histogram",)]
    size = known_size(read, question)
    session = Session(question)
    findings = [find(read, query, session, plan) for query in bound]
    scope = read.with_answers(scope_of(question)).scope
    with quietly():
        if as_json:
            write_json(audit_document(read, scope, size, findings))
        else:
            print_all(audit_parts(read, scope, size, findings))
    return worst([finding.code for finding in findings])
