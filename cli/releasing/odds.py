"""`blowproof odds MECHANISM --policy POLICY --epsilon E`: what an attacker learns."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from blowproof.cli.asking.errors import Exit
from blowproof.cli.asking.options import Options, attacker_options, json_option, positive

if TYPE_CHECKING:
    from fractions import Fraction

    from blowproof.cli.asking.ask import Session
    from blowproof.cli.audit.findings import Finding
    from blowproof.models import Policy
    from blowproof.models.mechanisms.mechanism import Mechanism
    from blowproof.verifier.odds.base.answer import Odds
    from blowproof.verifier.odds.base.asked import Asked

__all__ = ["odds", "odds_document", "odds_of"]

CODES = {"within": Exit.OK, "exceeded": Exit.NO, "undecided": Exit.UNDECIDED}


@click.command(
    short_help="What an attacker learns: the largest odds ratio of a mechanism.",
    epilog="Example: blowproof odds examples/attackers/queue_count.toml "
    "--policy examples/attackers/queue.toml --epsilon 1",
)
@click.argument("mechanism", type=click.Path(), metavar="MECHANISM")
@click.option("--policy", required=True, type=click.Path(), metavar="POLICY",
              help="The policy: what is secret, and what attackers know.")  # fmt: skip
@click.option("--epsilon", required=True, type=positive, metavar="E",
              help="Nobody's odds may move by more than e^E.")  # fmt: skip
@click.option("--composition", is_flag=True,
              help="Say also whether releases compose linearly against them.")  # fmt: skip
@click.option("--certificate", type=click.Path(dir_okay=False), metavar="FILE",
              help="Write what the small checker needs (see blowproof check).")  # fmt: skip
@attacker_options
@json_option
def odds(
    mechanism: str, policy: str, epsilon: Fraction, composition: bool, certificate: str | None,
    question: Options, as_json: bool,
) -> int:  # fmt: skip
    """What an attacker learns: the largest odds ratio over secret pairs, beliefs and outputs.

    The mechanism file says what is released, and under [attackers] whose beliefs count: independent
    records (the default), identically distributed ones, any belief, listed ones, or chains over
    records. The ratio is exact where a theorem or a finite sum allows it, else in bounds; the
    attacker who shows it is evaluated by itself.

    Exit code 0: within e^epsilon; 1: exceeded; 2: bad input; 3: the bounds leave it open.
    """
    from blowproof.cli.asking.ask import Session
    from blowproof.cli.text.files import keep_apart
    from blowproof.cli.text.odds_screen import odds_parts
    from blowproof.cli.text.output import print_all, quietly, write_json
    from blowproof.models.mechanisms.mechanism_file import located, read_with_text

    keep_apart({"--certificate": certificate}, [mechanism, policy])
    session = Session(question)
    described, content = session.read(mechanism, lambda: read_with_text(mechanism))
    read, _ = session.open(policy)
    found = located(
        lambda: odds_of(
            session, described, read, epsilon, compose=composition, certificate=certificate
        ),
        content,
        file=mechanism,
    )
    with quietly():
        if as_json:
            write_json(found.to_json())
        else:
            print_all(odds_parts(found))
    return CODES[found.verdict]


def odds_document(policy: Policy, finding: Finding, session: Session) -> dict[str, Any] | None:
    """Return what attackers learn from the Laplace noise of an audit; None where there is none."""
    from blowproof.cli.audit.advice import is_useless
    from blowproof.models.mechanisms.mechanism import Mechanism, Release

    if finding.plan.noise.kind != "laplace" or not finding.scale or is_useless(finding):
        return None
    released = Release(query=finding.query, scale=finding.scale)
    mechanism = Mechanism(name="Laplace noise for S", releases=(released,))
    return odds_of(session, mechanism, policy, finding.plan.promised).to_json()


def odds_of(
    session: Session,
    mechanism: Mechanism,
    policy: Policy,
    epsilon: Fraction,
    *,
    compose: bool = False,
    certificate: str | None = None,
) -> Odds:
    """Return the odds ratio; stopped, "undecided" with what is known by then.

    `certificate`: a file to write what the kernel accepted to; why there is none goes to stderr.
    """
    import time

    from blowproof.cli.asking.ask import Cut, scope_of
    from blowproof.verifier.odds.base.board import OddsBoard
    from blowproof.verifier.odds.odds import odds as largest
    from blowproof.verifier.odds.odds import undecided

    asked: list[Asked] = []
    start, limit, board = time.monotonic(), session.question.time_limit, OddsBoard()
    found = session.follow(
        f"{mechanism.name}, attackers",
        lambda post: largest(
            mechanism,
            policy,
            epsilon,
            answers=scope_of(session.question),
            time_limit=limit,
            listener=post,
            board=board,
            compose=compose,
            on_asked=asked.append,
        ),
        limit=limit,
    )
    if not isinstance(found, Cut):
        if certificate is not None:
            _certify(session, asked[0], found, certificate)
        return found
    open_ = undecided(mechanism, policy, epsilon, board, found.reason)
    return replace(open_, seconds=time.monotonic() - start)


def _certify(session: Session, asked: Asked, found: Odds, path: str) -> None:
    """Write a certificate, or say why there is none."""
    from blowproof.cli.asking.stoppable import Stopped
    from blowproof.cli.text.files import save
    from blowproof.models.policy.in_words import printable
    from blowproof.verifier.odds.certificate import certify_odds

    try:
        written = session.run(lambda: certify_odds(asked, found), late=True)
        reason = written.reason
        if written.document is not None:
            save(path, written.text)
    except Stopped as stop:
        reason = stop.reason
    if reason:
        click.echo(f"no certificate: {printable(reason)}", err=True)
