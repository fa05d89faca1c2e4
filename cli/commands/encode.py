"""`blowproof encode POLICY`: the SAT, QBF or ILP model itself, with a map of its variables."""

from __future__ import annotations

import json
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any, cast

import click

from blowproof.cli.asking.errors import Exit
from blowproof.cli.asking.options import (
    READINGS,
    SCOPES,
    Options,
    json_option,
    memory_option,
    not_negative,
    policy_argument,
    seconds,
)

if TYPE_CHECKING:
    from blowproof.models import Policy
    from blowproof.models.policy.policy import Answers
    from blowproof.models.policy.readings import Reading
    from blowproof.verifier.export.files import Encoded, Format

__all__ = ["encode"]

FORMATS = ("dimacs", "lp", "mps", "qdimacs")
"""The names as in `blowproof.verifier.export.files`, which --help must not import."""


@click.command(
    short_help="The SAT or ILP model itself.",
    epilog="Example: blowproof encode examples/exam_queue.toml --format dimacs",
)
@policy_argument()
@click.option("--format", "form", type=click.Choice(FORMATS), required=True,
              help="dimacs: labelled records; lp, mps: histograms and moves; qdimacs: the "
              "definition itself, for given answers.")  # fmt: skip
@click.option("--minimal", is_flag=True,
              help="With the cuts that leave S: the optimum of lp and mps is S; dimacs has a "
              "solution iff S is so much (without --at-least: more than S, so that none is "
              "left).")  # fmt: skip
@click.option("--time-limit", type=seconds, metavar="SECONDS",
              help="Look for cuts no longer than this; what is left bounds S.")  # fmt: skip
@click.option("--query", default="histogram", show_default=True, help="Which numbers are released.")
@click.option("--reading", type=click.Choice(READINGS), default="published", show_default=True,
              help="Which databases may be a pair.")  # fmt: skip
@click.option("--answers", type=click.Choice(SCOPES),
              help="Whose answers: any, or the given ones. Default: the file's.")  # fmt: skip
@click.option("--at-least", type=not_negative, metavar="N",
              help="Ask for a pair whose query changes by N or more.")  # fmt: skip
@click.option("--records", type=click.IntRange(min=0), metavar="N",
              help="dimacs: how many records there are; lp, mps: at most how many D1 holds (given "
              "answers) or change (any). Where the policy does not say.")  # fmt: skip
@click.option("--output", type=click.Path(dir_okay=False), metavar="FILE",
              help="Write the model there, not to stdout.")  # fmt: skip
@click.option("--map", "map_file", type=click.Path(dir_okay=False), metavar="FILE",
              help="Write what the variables mean as JSON, too.")  # fmt: skip
@memory_option
@json_option
def encode(  # noqa: PLR0913 # one argument for each option
    policy: str,
    *,
    form: str,
    minimal: bool,
    time_limit: float | None,
    query: str,
    reading: str,
    answers: str | None,
    at_least: Fraction | None,
    records: int | None,
    output: str | None,
    map_file: str | None,
    as_json: bool,
) -> int:
    """The SAT or ILP model itself, with a map of its variables.

    A solution is a pair of databases that satisfy the facts, with a secret change between them (and
    a change of the query by --at-least N). Minimality is not in the model: that no third database
    refutes the pair speaks about all databases, which no such file can. So no solution means no
    such neighbours; a solution is a candidate; lp and mps maximise the change, and their maximum
    bounds the sensitivity from above.

    With --minimal the engine's cuts are there as well, and any solver finds S in the file. Qdimacs
    can say "for all databases", and is true iff there are such neighbours.

    Exit code 0: written; 2: bad input, which includes what is too large to write.
    """
    from blowproof.cli.asking.ask import Session
    from blowproof.cli.text.files import keep_apart, save
    from blowproof.cli.text.output import quietly, write, write_json
    from blowproof.models import BudgetError, QueryError
    from blowproof.models.base.numbers import plain
    from blowproof.verifier.export import files as encoding

    keep_apart({"--output": output, "--map": map_file}, [policy])
    session = Session(Options(reading, answers, "auto", None, None))
    read, _ = session.open(policy)
    task = partial(
        encoding.encode,
        read,
        query,
        format=cast("Format", form),
        reading=cast("Reading", reading),
        answers=cast("Answers | None", answers),
        at_least=None if at_least is None else plain(at_least),
        records=records,
        minimal=minimal,
        time_limit=time_limit,
    )
    try:
        made = session.run(task)
    except BudgetError as refusal:  # nothing is left undecided here: there is no model
        raise QueryError(str(refusal)) from None
    document = _document(read, made, query, reading, answers)
    if _is_empty(read):
        click.echo(
            "warning: no two values are secret from each other, so no model has a solution: "
            "S = 0, whatever is released",
            err=True,
        )
    if map_file is not None:
        save(map_file, json.dumps({**document, "model": None}, indent=1) + "\n")
    if output is not None:
        save(output, made.text)
    with quietly():
        if as_json:
            write_json(document)
        elif output is None:
            write(made.text)
    return Exit.OK


def _document(
    policy: Policy, made: Encoded, query: str, reading: str, answers: str | None
) -> dict[str, Any]:
    from blowproof.verifier.asked.answer import json_number

    optimum = None
    if made.optimum is not None:
        ends = {"lower": made.optimum.lower, "upper": made.optimum.upper}
        optimum = {
            end: None if value is None else json_number(value) for end, value in ends.items()
        }
    return {
        "schema": "blowproof/encode/1",
        "policy": policy.name,
        "query": query,
        "reading": reading,
        "answers": policy.with_answers(cast("Answers | None", answers)).scope,
        "format": made.format,
        "notes": list(made.notes),
        "optimum": optimum,
        "model": made.text,
        "variables": made.variables,
    }


def _is_empty(policy: Policy) -> bool:
    """Whether there is no secret pair at all, as far as that is seen at once."""
    from blowproof.models import BudgetError

    try:
        return next(iter(policy.graph.edges()), None) is None
    except BudgetError:
        return False
