"""`blowproof check CERTIFICATE`: the small independent checker."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from blowproof.cli.errors import Exit
from blowproof.cli.options import json_option

if TYPE_CHECKING:
    from blowproof.verifier.kernel import Verdict

__all__ = ["check"]


@click.command(
    short_help="The small independent checker.",
    epilog="Example: blowproof check certificate.json --policy examples/census.toml",
)
@click.argument("certificate", type=click.Path(), metavar="CERTIFICATE")
@click.option("--policy", type=click.Path(), metavar="POLICY",
              help="Reject a certificate that is about another policy than this one.")  # fmt: skip
@json_option
def check(certificate: str, policy: str | None, as_json: bool) -> int:
    """Replay a certificate: claim, two databases, and the proof that no others do worse.

    The checker is blowproof.verifier.kernel; it shares no code with the engines, and runs alone
    too: python -m blowproof.verifier.kernel CERTIFICATE.

    Exit code 0: accepted; 1: rejected; 2: unreadable.
    """
    import time

    from blowproof.verifier.kernel import Unreadable, check_text
    from blowproof.verifier.kernel.document import MOST_BYTES

    start = time.perf_counter()
    try:
        with Path(certificate).open("rb") as file:
            text = file.read(MOST_BYTES + 1).decode("utf-8")
        verdict = check_text(text)
        wanted = None if policy is None else _digest(policy, verdict)
    except (OSError, UnicodeDecodeError, Unreadable) as error:
        return _unreadable(certificate, str(error), as_json)
    seconds = time.perf_counter() - start
    reason = verdict.reason
    if verdict.accepted and wanted not in (None, verdict.digest):
        reason = f"it is a proof about another policy than {policy}"
    return _told(verdict, reason, seconds, as_json)


def _digest(policy: str, verdict: Verdict) -> str:
    """Return the digest of a policy file, under the scope that the certificate names."""
    from blowproof.models.reading import read_policy
    from blowproof.models.writing import digest

    answers: Any = verdict.answers if verdict.answers in ("any", "given") else None
    return digest(read_policy(policy).with_answers(answers))


def _told(verdict: Verdict, reason: str, seconds: float, as_json: bool) -> int:
    from blowproof.cli.output import quietly, write, write_json
    from blowproof.cli.words import printable

    accepted = verdict.accepted and not reason
    with quietly():
        if as_json:
            write_json(
                {
                    "schema": "blowproof/check/1",
                    "verdict": "accepted" if accepted else "rejected",
                    "claim": verdict.claim or None,
                    "kind": verdict.kind or None,
                    "reason": reason or None,
                    "seconds": round(seconds, 3),
                }
            )
        elif accepted:
            write(f"accepted: {printable(verdict.claim)}\nproof {verdict.kind}, {seconds:.2f} s\n")
        else:
            write(f"rejected: {printable(reason)}\n")
    return Exit.OK if accepted else Exit.NO


def _unreadable(path: str, reason: str, as_json: bool) -> int:
    from blowproof.cli.output import quietly, write_json
    from blowproof.cli.words import printable

    if as_json:
        with quietly():
            write_json(
                {
                    "schema": "blowproof/check/1",
                    "verdict": "unreadable",
                    "claim": None,
                    "kind": None,
                    "reason": reason,
                    "seconds": 0.0,
                }
            )
    click.echo(f"unreadable: {printable(path)}: {printable(reason)}", err=True)
    return Exit.BAD_INPUT
