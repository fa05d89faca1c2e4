"""`blowproof certify MECHANISM --policy POLICY`: proved private, or refuted."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from blowproof.cli.asking.options import Options, json_option, question_options
from blowproof.cli.asking.promise_options import promise_options

if TYPE_CHECKING:
    from blowproof.verifier.certify.base.promise import Promise

__all__ = ["certify"]


@click.command(
    short_help="Prove a mechanism private under a policy, or refute it.",
    epilog="Example: blowproof certify mechanism.toml --policy examples/census.toml --epsilon 1",
)
@click.argument("mechanism", type=click.Path(), metavar="MECHANISM")
@click.option("--policy", required=True, type=click.Path(), metavar="POLICY",
              help="The policy that it has to satisfy.")  # fmt: skip
@promise_options()
@click.option("--assume", multiple=True, metavar="NAME",
              help="Take an assumption of the verdict as given; once for each.")  # fmt: skip
@question_options()
@json_option
def certify(
    mechanism: str,
    policy: str,
    promise: Promise,
    assume: tuple[str, ...],
    question: Options,
    as_json: bool,
) -> int:
    """Prove a mechanism private under a policy, or refute it with two neighbours.

    The mechanism file says what is released and with which noise, and nothing else is judged. The
    privacy loss is computed exactly, over all neighbours. What the file only claims (a step after
    the noise, a bound on a choice) is an assumption, listed by name.

    Give one promise: --epsilon (Laplace noise, choices), --rho (Gaussian noise; a pure epsilon is
    converted to epsilon^2 / 2, never back), or --epsilon with --delta (all of them).

    Exit code 0: proved; 1: refuted, or proved under assumptions that --assume does not name;
    2: bad input; 3: undecided in time.
    """
    from blowproof.cli.asking.ask import Session
    from blowproof.cli.asking.judge import judge, open_assumptions, verdict_code
    from blowproof.cli.text.certify_screen import certify_parts
    from blowproof.cli.text.output import print_all, quietly, write_json
    from blowproof.models.mechanisms.mechanism_file import located, read_with_text

    session = Session(question)
    described, content = session.read(mechanism, lambda: read_with_text(mechanism))
    read, _ = session.open(policy)
    limit = session.question.time_limit
    found = located(
        lambda: judge(session, described, read, promise, limit=limit), content, file=mechanism
    )
    missing = open_assumptions(found, assume)
    with quietly():
        if as_json:
            write_json(found.to_json(read.domain))
        else:
            print_all(certify_parts(described, read, found, missing))
    return verdict_code(found, assume)
