"""`blowproof audit --from registry ENTRY`: what the guarantee of a public deployment really is.

An entry says in prose what is public. What that is exactly stands in a policy beside it (or in the
entry itself, where `--format registry` wrote it); without one, what is missing is asked for.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, cast

from blowproof.cli.asking.errors import Exit
from blowproof.cli.audit.from_others import NORMS, Held, held_code, held_parts
from blowproof.models import Impossible, Policy, QueryError, Reading, show

if TYPE_CHECKING:
    from rich.console import RenderableType

    from blowproof.cli.asking.ask import Session
    from blowproof.models.files.registry_entry import RegistryEntry
    from blowproof.verifier.certify.base.verdict import Certified

__all__ = ["audit_registry"]


@dataclass(frozen=True)
class Found:
    """What an entry's guarantee is under a policy: by queries, or for a mechanism file."""

    entry: RegistryEntry
    policy: Policy | None
    held: tuple[Held, ...] = ()
    judged: Certified | None = None
    bare: Certified | None = None

    @property
    def code(self) -> Exit:
        """The exit code: 1 if the guarantee is less than is claimed, 3 if that is open."""
        from blowproof.cli.asking.judge import verdict_code

        if self.policy is None:
            return Exit.UNDECIDED
        return held_code(self.held) if self.judged is None else verdict_code(self.judged)


def audit_registry(
    path: str,
    policy: str | None,
    mechanism: str | None,
    queries: Sequence[str],
    session: Session,
    *,
    as_json: bool,
) -> int:
    """Print what an entry's guarantee really is, or what it would take to know."""
    from blowproof.cli.text.output import print_all, quietly, write_json
    from blowproof.models.files.registry_entry import policy_of, read_entry

    entry = session.read(path, lambda: read_entry(path))
    bound = (
        session.read(path, lambda: policy_of(entry)) if policy is None else session.open(policy)[0]
    )
    if bound is None:
        found = Found(entry, None)
    elif mechanism is not None or entry.mechanism is not None:
        found = _judged(entry, bound, mechanism, session)
    else:
        held = tuple(_held(entry, bound, text, session) for text in queries)
        found = Found(entry, bound, held)
    with quietly():
        if as_json:
            write_json(_document(found))
        else:
            print_all(_parts(found))
    return found.code


def _judged(entry: RegistryEntry, policy: Policy, mechanism: str | None, session: Session) -> Found:
    """Return what the certifier says of a mechanism file, or of the entry's own block."""
    from blowproof.cli.asking.judge import judge
    from blowproof.models.mechanisms.mechanism_file import (
        located,
        parse_mechanism,
        read_with_text,
    )
    from blowproof.verifier.certify.base.promise import Promise

    if mechanism is not None:
        read, content = session.read(mechanism, lambda: read_with_text(mechanism))
    else:
        content = entry.mechanism or ""
        read = parse_mechanism(content, name=entry.name)
    promise = Promise(**entry.parameters)

    def judged(about: Policy) -> Certified:
        limit = session.share(2)
        return located(
            lambda: judge(session, read, about, promise, limit=limit), content, file=mechanism
        )

    return Found(entry, policy, (), judged(policy), judged(_bare(policy)))


def _bare(policy: Policy) -> Policy:
    """Return the policy of an attacker who knows no count: what plain guarantees are about."""
    return replace(policy, known=tuple(f for f in policy.known if isinstance(f, Impossible)))


def _held(entry: RegistryEntry, policy: Policy, text: str, session: Session) -> Held:
    """Return what the claim really is where noise was set for S of plain differential privacy."""
    from blowproof.models.stacks.written import parse_question
    from blowproof.verifier.ask import sensitivity

    if "delta" in entry.parameters:
        raise QueryError(
            "what an epsilon with a delta really is, depends on the noise itself\n"
            "  try: --mechanism FILE, with the queries and their noise"
        )
    asked = parse_question(text, policy, NORMS[entry.measure])
    reading = cast("Reading", session.question.reading)
    plain = session.run(
        lambda: sensitivity(Policy(domain=policy.domain), asked, reading=reading).upper,
        limit=session.share(2),
    )
    if not plain:
        raise QueryError(f"{asked.name}: what plain noise was set for is not known, or nothing")
    counted = asked.measure.repeated(plain, entry.units)
    answer = session.ask(policy, asked, reading, limit=session.share(1, 0.8))
    return Held(text, reading, entry.measure, entry.claimed, counted, answer)


def _document(found: Found) -> dict[str, Any]:
    entry, policy = found.entry, found.policy
    said: dict[str, Any] = {
        "schema": "blowproof/registry/1",
        "entry": {
            "name": entry.name,
            "variant": entry.variant,
            "parameters": {name: show(value) for name, value in entry.parameters.items()},
            "privacy_unit": entry.unit,
            "units": entry.units,
            "unprotected_quantities": entry.unprotected,
        },
        "missing": list(entry.missing) if policy is None else [],
        "draft": entry.draft() if policy is None else None,
        "held": [],
        "mechanism": None,
        "without_facts": None,
    }
    if policy is not None:
        said["held"] = [item.to_json(policy) for item in found.held]
        for key, judged in (("mechanism", found.judged), ("without_facts", found.bare)):
            said[key] = None if judged is None else judged.to_json(policy.domain)
    return said


def _parts(found: Found) -> Iterator[RenderableType]:
    from rich.text import Text

    from blowproof.cli.audit.mechanism import mechanism_words
    from blowproof.cli.text.pairs import pair_parts
    from blowproof.models.policy.in_words import known_words, printable

    entry, policy = found.entry, found.policy
    claim = " and ".join(f"{name} = {show(value)}" for name, value in entry.parameters.items())
    yield Text(f"{printable(entry.name)}: the entry claims {claim} ({entry.variant})", "bold")
    yield Text(f"unit of privacy: {printable(entry.unit or 'not given')}")
    if policy is None:
        yield from _asked(entry)
        return
    yield Text("the entry's unprotected quantities, in its words:")
    for line in (entry.unprotected or "none named").splitlines():
        yield Text(f"  {printable(line)}")
    yield Text("what the policy says is known; compare it with these words:")
    for line in known_words(policy, None):
        yield Text(f"  {printable(line)}")
    yield from held_parts(policy, found.held)
    if found.judged is not None and found.bare is not None:
        yield Text()
        yield Text(f"known counts left out: {mechanism_words(found.bare)}")
        yield Text(f"with them: {mechanism_words(found.judged)}", "bold")
        if found.judged.witness is not None and found.judged.verdict == "refuted":
            yield from pair_parts(policy, found.judged.witness, found.judged.reading)


def _asked(entry: RegistryEntry) -> Iterator[RenderableType]:
    from rich.text import Text

    from blowproof.models.policy.in_words import printable

    yield Text()
    yield Text("An entry has no place for what a policy needs, and nothing is guessed. Missing:")
    for item in entry.missing:
        yield Text(f"  - {printable(item)}")
    yield Text("Fill in this draft, and ask again with --policy FILE:")
    yield Text()
    for line in entry.draft().splitlines():
        yield Text(printable(line), no_wrap=True, overflow="ignore")
