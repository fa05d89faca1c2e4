"""Whose certificate is it? Policy, query, files and data, compared with what it holds of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from blowproof.models import Policy
    from blowproof.verifier.kernel import Verdict

__all__ = ["Compared", "compared"]


@dataclass
class Compared:
    """What is the same, what could not be compared and why, and what differs ("": nothing)."""

    same: list[str] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    other: str = ""

    @property
    def embedded(self) -> str:
        """What the certificate is believed about, in words."""
        return ", ".join(self.missing)


def compared(
    verdict: Verdict, read: Callable[[], Policy], name: str, query: str | None, answers: str | None
) -> Compared:
    """Compare an accepted certificate with a policy, which errors call by a name, and a query.

    What it is about is known by digests that the kernel has made itself. `answers` is the scope to
    read the policy in (None: its own).
    """
    from blowproof.models.base.errors import PolicyError
    from blowproof.models.files.writing import digest

    found, digests = Compared(), dict(verdict.digests)
    scope: Any = answers
    try:
        policy = read().with_answers(scope)
    except PolicyError as error:
        if not error.key.endswith("answers_file"):
            raise
        found.missing.append(f"the policy ({_line(error)})")
        return found
    if policy.scope != verdict.answers:
        found.other = (
            f"it is a proof for the scope {verdict.answers}, and that of {name} is {policy.scope}"
        )
    elif digests["policy"] != digest(policy):
        found.other = f"it is a proof about another policy than {name}"
    elif "mechanism" in digests:
        found.same.append("policy")
        found.missing.append("the mechanism (it stands in the certificate)")
    else:
        found.same.append("policy")
        _query(found, policy, query, digests["query"])
        if "data" in digests and not found.other:
            _data(found, policy, verdict.reading, digests["data"])
    return found


def _query(found: Compared, policy: Policy, text: str | None, told: str) -> None:
    from blowproof.models.base.errors import DataError
    from blowproof.models.stacks.written import parse_question
    from blowproof.verifier.proofs.claim import digest_of, query_table

    if text is None:
        found.missing.append("the query (--query says which one it should be)")
        return
    try:
        query = parse_question(text, policy)
    except DataError as error:
        found.missing.append(f"the query ({_line(error)})")
        return
    table = query_table(query, policy)
    if digest_of(table) == told:
        found.same += ["query", *(["file"] if "data" in table else [])]
        return
    file = ", or the file holds other numbers now" if "data" in table else ""
    found.other = f"it is a proof about another query than {query.name}{file}"


def _data(found: Compared, policy: Policy, reading: str, told: str) -> None:
    from blowproof.models import setting
    from blowproof.models.base.errors import DataError, PolicyError
    from blowproof.verifier.proofs.claim import counted_table, digest_of

    try:
        counted = counted_table(setting(policy), reading)
    except DataError as error:
        found.missing.append(f"the data ({_line(error)})")
    except PolicyError as error:
        found.other = f"the data do not fit the policy: {_line(error)}"
    else:
        if digest_of(counted) == told:
            found.same.append("data")
        else:
            found.other = f"it is a proof about other data than {policy.database.data} holds now"


def _line(error: Exception) -> str:
    return str(error).partition("\n")[0]
