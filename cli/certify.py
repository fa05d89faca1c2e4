"""`blowproof certify MECHANISM --policy POLICY --epsilon E`: proved private, or refuted."""

from __future__ import annotations

import time
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, cast

import click

from blowproof.cli.errors import Exit
from blowproof.cli.options import Question, json_option, positive, question_options

if TYPE_CHECKING:
    from blowproof.models import Policy, Reading
    from blowproof.models.mechanism import Mechanism
    from blowproof.verifier.certify.certified import Certified

__all__ = ["certify"]


@click.command(
    short_help="Prove a mechanism private under a policy, or refute it.",
    epilog="Example: blowproof certify mechanism.toml --policy examples/census.toml --epsilon 1",
)
@click.argument("mechanism", type=click.Path(), metavar="MECHANISM")
@click.option("--policy", required=True, type=click.Path(), metavar="POLICY",
              help="The policy that it has to satisfy.")  # fmt: skip
@click.option("--epsilon", required=True, type=positive, metavar="E",
              help="The privacy that it promises.")  # fmt: skip
@question_options()
@json_option
def certify(
    mechanism: str, policy: str, epsilon: Fraction, question: Question, as_json: bool
) -> int:
    """Prove a mechanism private under a policy, or refute it with two neighbours.

    The mechanism file says what is released and with which noise, and nothing else is judged. The
    privacy loss is computed exactly, over all neighbours.

    Exit code 0: proved; 1: refuted; 2: bad input; 3: undecided in time.
    """
    from blowproof.cli.certify_screen import certify_parts
    from blowproof.cli.output import print_all, quietly, write_json
    from blowproof.models.mechanism_file import located, parse_mechanism, read_text
    from blowproof.models.reading import read_policy

    content = read_text(Path(mechanism))
    described = parse_mechanism(content, name=Path(mechanism).stem, file=mechanism)
    read = read_policy(policy)
    found = located(lambda: _watched(described, read, epsilon, question), content, file=mechanism)
    with quietly():
        if as_json:
            write_json(found.to_json(read.domain))
        else:
            print_all(certify_parts(described, read, found))
    return {"proved": Exit.OK, "refuted": Exit.NO}.get(found.verdict, Exit.UNDECIDED)


def _watched(
    mechanism: Mechanism, policy: Policy, epsilon: Fraction, question: Question
) -> Certified:
    """Certify with progress on stderr; stopped, what is known by then."""
    from blowproof.cli.asking import GRACE, scope_of
    from blowproof.cli.progress import display
    from blowproof.cli.watching import Stopped, watch
    from blowproof.models import BudgetError
    from blowproof.verifier.certify.api import certify as judge
    from blowproof.verifier.certify.api import undecided
    from blowproof.verifier.question import Engine, Progress

    start = time.monotonic()
    latest = Progress(lower=0, upper=None, what="")
    limit = question.time_limit
    reading = cast("Reading", question.reading)
    with display(f"{mechanism.name}, {question.reading}") as show:

        def on_post(progress: object) -> None:
            nonlocal latest
            assert isinstance(progress, Progress)
            latest = progress
            show(progress)

        try:
            return watch(
                lambda post: judge(
                    mechanism,
                    policy,
                    epsilon,
                    reading=reading,
                    answers=scope_of(question),
                    engine=cast("Engine", question.engine),
                    time_limit=limit,
                    listener=post,
                ),
                time_limit=None if limit is None else limit + GRACE,
                on_post=on_post,
            )
        except (Stopped, BudgetError) as stop:
            found = undecided(
                mechanism,
                policy,
                epsilon,
                reading=reading,
                answers=scope_of(question),
                latest=latest,
                why=str(stop),
            )
            return replace(found, seconds=time.monotonic() - start)
