"""`blowproof compare OLD NEW`: does a changed policy need more noise?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from blowproof.cli.asking.errors import Exit
from blowproof.cli.asking.options import (
    Options,
    json_option,
    policy_argument,
    question_options,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rich.console import RenderableType

    from blowproof.models import Policy
    from blowproof.verifier.asked.answer import Answer

    Pairs = Sequence[tuple[Answer, Answer]]

__all__ = ["compare"]

TIME_LIMIT = 60


@click.command(
    short_help="Two policies: does S grow?",
    epilog="Example: blowproof compare old.toml new.toml --query histogram",
)
@policy_argument("old")
@policy_argument("new")
@click.option(
    "--query", "queries", multiple=True, metavar="QUERY",
    help="Which numbers are released; may be repeated.  [default: histogram]",
)  # fmt: skip
@question_options(time_limit=TIME_LIMIT, whole=True, norm=True)
@json_option
def compare(old: str, new: str, queries: tuple[str, ...], question: Options, as_json: bool) -> int:
    """Two policies: S of each query, and what changed between them.

    Policies of different domains are not comparable: a query of the one is another of the other.

    Exit code 0: S does not grow; 1: S grows; 2: bad input; 3: undecided in time, or not comparable.
    """
    from blowproof.cli.asking.ask import Session
    from blowproof.cli.asking.error_lines import placed
    from blowproof.cli.audit.findings import worst
    from blowproof.cli.text.output import print_all, quietly, write_json

    session = Session(question, total=question.time_limit)
    before, first = session.open(old, queries or ("histogram",))
    after, second = session.open(new, queries or ("histogram",))
    policies = before, after
    comparable = before.domain == after.domain
    asked = [
        (file, policy, query)
        for queries_of_both in zip(first, second, strict=True)
        for file, policy, query in zip((old, new), policies, queries_of_both, strict=True)
    ]
    answers = []
    for number, (file, policy, query) in enumerate(asked):
        share = session.share(len(asked) - number)
        with placed(file):
            answers.append(session.ask(policy, query, question.reading, limit=share))
    pairs = list(zip(answers[::2], answers[1::2], strict=True))
    code = worst([_growth(*pair) for pair in pairs]) if comparable else Exit.UNDECIDED
    with quietly():
        if as_json:
            write_json(_document(policies, pairs, code))
        else:
            print_all(_parts(policies, pairs, code))
    return code


def _growth(old: Answer, new: Answer) -> Exit:
    """Return NO if S surely grows, OK if it surely does not."""
    if old.upper is not None and new.lower > old.upper:
        return Exit.NO
    if new.upper is not None and new.upper <= old.lower:
        return Exit.OK
    return Exit.UNDECIDED


def _changes(policies: tuple[Policy, Policy]) -> list[tuple[str, str, str]]:
    """Return what differs between the policies, in words: (what, old, new)."""
    from blowproof.models.policy.in_words import (
        domain_words,
        known_words,
        scope_words,
        secret_words,
    )

    old, new = policies
    stories = [
        ("protected", secret_words(old), secret_words(new)),
        ("domain", domain_words(old), domain_words(new)),
        ("answers", scope_words(old.scope), scope_words(new.scope)),
    ]
    before, after = (
        known_words(policy, policy.database.size, limit=len(policy.known)) for policy in policies
    )
    stories += [("known", line, "") for line in before if line not in after]
    stories += [("known", "", line) for line in after if line not in before]
    return [story for story in stories if story[1] != story[2]]


VERDICTS = {
    Exit.OK: "S does not grow: noise for the old policy is enough for the new one.",
    Exit.NO: "S grows: noise for the old policy is too small for the new one.",
    Exit.UNDECIDED: "Undecided: the bounds overlap. blowproof explain --run says what was tried.",
}


NOT_COMPARABLE = (
    "Not comparable: the domains differ, so that a query asks something else of each. Write both "
    "policies over one domain to compare them."
)


def _parts(policies: tuple[Policy, Policy], pairs: Pairs, code: Exit) -> Iterator[RenderableType]:
    from rich.table import Table
    from rich.text import Text

    from blowproof.cli.text.answer import bounds_text
    from blowproof.models.policy.in_words import printable

    table = Table(box=None, pad_edge=False, padding=(0, 3, 0, 0), header_style="bold")
    old, new = (printable(policy.name) for policy in policies)
    for column in ("query", old, new, ""):
        table.add_column(Text(column), overflow="fold")
    words = {Exit.OK: "does not grow", Exit.NO: "grows", Exit.UNDECIDED: "undecided"}
    comparable = policies[0].domain == policies[1].domain
    for first, second in pairs:
        growth = words[_growth(first, second)] if comparable else "not comparable"
        table.add_row(Text(printable(first.query)), bounds_text(first), bounds_text(second), growth)
    yield table
    yield Text()
    yield from _change_parts(policies)
    yield Text(VERDICTS[code] if comparable else NOT_COMPARABLE, style="bold")


def _change_parts(policies: tuple[Policy, Policy]) -> Iterator[RenderableType]:
    from rich.table import Table
    from rich.text import Text

    table = Table.grid(padding=(0, 2, 0, 0))
    for what, old, new in _changes(policies):
        for sign, words, style in (("-", old, "red"), ("+", new, "green")):
            if words:
                table.add_row(Text(what, style="bold"), Text(sign, style), Text(words))
    if table.row_count:
        yield Text("What changed (- old, + new):")
        yield table
        yield Text()


def _document(policies: tuple[Policy, Policy], pairs: Pairs, code: Exit) -> dict[str, Any]:
    old, new = policies
    comparable = old.domain == new.domain
    return {
        "schema": "blowproof/compare/1",
        "comparable": comparable,
        "old": old.name,
        "new": new.name,
        "grows": {Exit.OK: False, Exit.NO: True, Exit.UNDECIDED: None}[code],
        "queries": [
            {
                "query": first.query,
                "grows": {Exit.OK: False, Exit.NO: True, Exit.UNDECIDED: None}[
                    _growth(first, second) if comparable else Exit.UNDECIDED
                ],
                "old": first.to_json(old.domain),
                "new": second.to_json(new.domain),
            }
            for first, second in pairs
        ],
        "changes": [
            {"what": what, "old": before or None, "new": after or None}
            for what, before, after in _changes(policies)
        ],
    }
