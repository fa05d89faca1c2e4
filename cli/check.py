"""`blowproof check CERTIFICATE`: the small independent checker."""

from __future__ import annotations

import json
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
              help="Reject a certificate about another policy, or about other data.")  # fmt: skip
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
        other = "" if policy is None else _other(policy, verdict, text)
    except (OSError, UnicodeDecodeError, Unreadable) as error:
        return _unreadable(certificate, _reason(error), as_json)
    seconds = time.perf_counter() - start
    reason = verdict.reason or other
    return _told(verdict, reason, seconds, as_json)


def _other(path: str, verdict: Verdict, text: str) -> str:
    """Return what the certificate is about instead of this policy file, or "".

    The scope is the certificate's. Numbers that it took from the policy's data are counted again,
    where the data is at hand.
    """
    from blowproof.models import setting
    from blowproof.models.reading import read_policy
    from blowproof.models.writing import digest

    answers: Any = verdict.answers if verdict.answers in ("any", "given") else None
    policy = read_policy(path).with_answers(answers)
    if verdict.digest != digest(policy):
        return f"it is a proof about another policy than {path}"
    counted = json.loads(text).get("counted") if verdict.accepted else None
    data = policy.database.data
    if counted is None or data is None or not ((policy.folder or Path()) / str(data)).exists():
        return ""
    found = setting(policy)
    numbers = [fact.answer for fact in found.equalities if fact.name != "size"]
    if counted["answers"] != numbers or counted.get("size", found.size) != found.size:
        return f"it is a proof about other data than {data} holds now"
    return ""


def _reason(error: Exception) -> str:
    if isinstance(error, OSError):
        return f"it cannot be read ({error.strerror})"
    if isinstance(error, UnicodeDecodeError):
        return "it is no UTF-8 text"
    return str(error)


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
