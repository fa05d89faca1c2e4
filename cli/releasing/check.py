"""`blowproof check CERTIFICATE`: the small independent checker."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from blowproof.cli.asking.errors import Exit
from blowproof.cli.asking.options import SCOPES, json_option, seconds

if TYPE_CHECKING:
    from collections.abc import Callable

    from blowproof.cli.asking.whose_certificate import Compared
    from blowproof.models import Policy
    from blowproof.verifier.kernel import Verdict

__all__ = ["Checked", "check", "checked"]


@click.command(
    short_help="The small independent checker.",
    epilog="Example: blowproof check certificate.json --policy examples/census.toml "
    "--query histogram",
)
@click.argument("certificate", type=click.Path(), metavar="CERTIFICATE")
@click.option("--policy", type=click.Path(), metavar="POLICY",
              help="Reject a certificate about another policy, or about other data.")  # fmt: skip
@click.option("--query", metavar="Q",
              help="Reject a certificate about another query, or about other files.")  # fmt: skip
@click.option("--answers", type=click.Choice(SCOPES),
              help="The scope that it should be for. Default: the policy's.")  # fmt: skip
@click.option("--embedded", is_flag=True,
              help="Believe the certificate about what cannot be compared.")  # fmt: skip
@click.option("--time-limit", type=seconds, default=600, show_default=True, metavar="SECONDS",
              help="Reject a certificate whose check takes longer.")  # fmt: skip
@json_option
def check(
    certificate: str, policy: str | None, query: str | None, answers: str | None,
    embedded: bool, time_limit: float, as_json: bool,
) -> int:  # fmt: skip
    """Replay a certificate: claim, two databases, and the proof that no others do worse.

    CERTIFICATE may be a report (.html): is the page as it was made, and do the certificates in it
    prove what it says about the policy in it?

    A certificate carries its own policy, query and numbers. With --policy and --query they are
    compared with yours, and so are the files that these name and the data. What cannot be compared
    is said, and is a reason to reject, unless --embedded is given. Without --policy, only the
    digests in the claim tell what was proved.

    The checker is blowproof.verifier.kernel; it shares no code with the engines, and runs alone
    too: python -m blowproof.verifier.kernel CERTIFICATE.

    Exit code 0: accepted; 1: rejected; 2: unreadable.
    """
    from blowproof.cli.releasing.check_report import is_report
    from blowproof.models.files.reading import read_policy
    from blowproof.verifier.kernel import Unreadable

    if is_report(certificate):
        if policy is not None or query is not None:
            raise click.UsageError("a report holds its policy and its queries: leave them out")
        return _report(certificate, time_limit, as_json)
    if policy is None and (query is not None or answers is not None):
        raise click.UsageError("--query and --answers go with --policy: they are read as its")
    other = None if policy is None else (lambda: read_policy(policy), policy)
    try:
        found = checked(
            certificate, other, query, answers, embedded=embedded, time_limit=time_limit
        )
    except Unreadable as error:
        return _unreadable(certificate, str(error), as_json)
    return _told(found, as_json)


@dataclass(frozen=True)
class Checked:
    """What the kernel said, what was compared (None: nothing was asked), and why not ("": so)."""

    verdict: Verdict
    compared: Compared | None
    reason: str
    seconds: float

    @property
    def accepted(self) -> bool:
        """Whether the proof holds, and is about what it was compared with."""
        return self.verdict.accepted and not self.reason

    @property
    def words(self) -> str:
        """What the certificate was compared with: it could be about anything else."""
        found = self.compared
        if found is None:
            return "compared with nothing: policy, query and numbers are the certificate's own"
        taken = f"; taken from the certificate: {found.embedded}" if found.missing else ""
        return f"compared: {', '.join(found.same) or 'nothing'}{taken}"

    def to_json(self) -> dict[str, Any]:
        """Return the document of `blowproof check --json`."""
        from blowproof.verifier.asked.answer import json_number

        verdict, found = self.verdict, self.compared
        document: dict[str, Any] = {
            "schema": "blowproof/check/1",
            "verdict": "accepted" if self.accepted else "rejected",
            "claim": verdict.claim or None,
            "kind": verdict.kind or None,
            "reason": self.reason or None,
            "seconds": round(self.seconds, 3),
        }
        if verdict.accepted:
            exact = verdict.least == verdict.value
            document |= {
                "query": verdict.query,
                "value": json_number(verdict.value),
                **({} if exact else {"at_least": json_number(verdict.least)}),
                "norm": verdict.norm,
                "reading": verdict.reading,
                "answers": verdict.answers,
                "digests": dict(verdict.digests),
                "compared": [] if found is None else found.same,
                "not_compared": ["everything"] if found is None else found.missing,
            }
        return document


def checked(
    certificate: str,
    policy: tuple[Callable[[], Policy], str] | None,
    query: str | None,
    answers: str | None,
    *,
    embedded: bool,
    time_limit: float,
) -> Checked:
    """Replay a certificate file, and compare it with a policy (how to read it, and its name).

    Raises the kernel's Unreadable where the file is no certificate.
    """
    import time

    from blowproof.cli.asking.whose_certificate import Compared, compared
    from blowproof.models.base.door import FileError, read_bytes
    from blowproof.verifier.kernel import Unreadable, check_text
    from blowproof.verifier.kernel.document import MOST_BYTES

    start = time.perf_counter()
    try:
        text = read_bytes(certificate, most=MOST_BYTES).decode("utf-8")
    except FileError as error:
        raise Unreadable(f"it cannot be read ({error.reason})") from None
    except UnicodeDecodeError:
        raise Unreadable("it is no UTF-8 text") from None
    verdict = check_text(text, seconds=time_limit)
    found = Compared()
    if policy is not None and verdict.accepted:
        found = compared(verdict, *policy, query, answers)
    reason = verdict.reason or found.other
    if found.missing and not reason and not embedded:
        reason = f"not compared: {found.embedded}; --embedded believes the certificate there"
    taken = time.perf_counter() - start
    return Checked(verdict, None if policy is None else found, reason, taken)


def _told(found: Checked, as_json: bool) -> int:
    from blowproof.cli.text.output import quietly, write, write_json
    from blowproof.models.policy.in_words import printable

    with quietly():
        if as_json:
            write_json(found.to_json())
        elif found.accepted:
            claim = printable(f"{found.verdict.claim}; {found.words}")
            write(f"accepted: {claim}\nproof {found.verdict.kind}, {found.seconds:.2f} s\n")
        else:
            write(f"rejected: {printable(found.reason)}\n")
    return Exit.OK if found.accepted else Exit.NO


def _report(path: str, time_limit: float, as_json: bool) -> int:
    from blowproof.cli.releasing.check_report import checked_report
    from blowproof.cli.text.output import quietly, write, write_json
    from blowproof.models.policy.in_words import printable
    from blowproof.verifier.kernel import Unreadable

    try:
        found = checked_report(path, time_limit=time_limit)
    except Unreadable as error:
        return _unreadable(path, str(error), as_json)
    with quietly():
        if as_json:
            write_json(found.to_json())
        else:
            verdict = f"rejected: {found.reason}" if found.reason else "accepted"
            lines = [f"{verdict} (made {found.made})", *(f"  {line}" for line in found.lines)]
            write("".join(f"{printable(line)}\n" for line in lines))
    return Exit.NO if found.reason else Exit.OK


def _unreadable(path: str, reason: str, as_json: bool) -> int:
    from blowproof.cli.text.output import quietly, write_json
    from blowproof.models.policy.in_words import printable

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
