"""`blowproof init [DATA]`: a commented policy from a data file, and its first audit."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from shlex import quote
from typing import TYPE_CHECKING, Any

import click

from blowproof.cli.asking.errors import Exit
from blowproof.cli.asking.options import json_option, memory_option
from blowproof.cli.asking.piped import data_argument

if TYPE_CHECKING:
    from blowproof.cli.beginning.choices import Choices
    from blowproof.cli.beginning.source import Source
    from blowproof.models import Policy
    from blowproof.models.data.inferred import Inferred
    from blowproof.models.data.nested import Nested

__all__ = ["init"]


@click.command(
    short_help="A first policy from your data: columns found, questions asked.",
    epilog="Example: blowproof init people.csv --public region --publish region,sex",
)
@data_argument(required=False)
@click.option(
    "--output",
    type=click.Path(),
    metavar="FILE",
    help="Where the policy goes; - is standard output.  [default: beside DATA, as .toml]",
)
@click.option(
    "--secret",
    metavar="WHAT",
    help="What nobody may find out: everything, each-column, within(COLUMN,...) or "
    "near(COLUMN,DISTANCE).",
)
@click.option(
    "--public",
    "public",
    multiple=True,
    metavar="COLUMNS",
    help="Counts that are public, as region,sex; or size; or, of columns of which one lies "
    "within the other, 'school in district'. May be repeated.",
)
@click.option(
    "--publish",
    "queries",
    multiple=True,
    metavar="QUERY",
    help="What will be published: a query, or the columns of a table.",
)
@click.option("--table", metavar="NAME", help="The table of DATA, where DATA is a database.")
@click.option("--columns", metavar="NAMES", help="Only these columns, separated by commas.")
@click.option(
    "--column",
    "described",
    multiple=True,
    metavar="NAME=VALUES",
    help="Without DATA: a column, as sex=F,M or age=0..115. May be repeated.",
)
@click.option("--yes", is_flag=True, help="Ask nothing: what no option says is chosen safely.")
@click.option("--force", is_flag=True, help="Write over a file that is there.")
@click.option("--no-audit", is_flag=True, help="Write the policy, and leave the audit for later.")
@memory_option
@json_option
def init(  # noqa: PLR0913 # one parameter for each option
    *,
    data: str | None,
    table: str | None,
    output: str | None,
    secret: str | None,
    public: tuple[str, ...],
    queries: tuple[str, ...],
    columns: str | None,
    described: tuple[str, ...],
    yes: bool,
    force: bool,
    no_audit: bool,
    as_json: bool,
) -> int:
    """A commented policy: what is in DATA is found out, the rest is asked (or given by options).

    DATA is a CSV, TSV or Parquet file (- for standard input), or with --table the address of a
    database: people.db, people.duckdb, postgres://host/database. Without DATA, columns are
    described. What is written is
    audited at once, so that the first noise scale stands on the screen.
    """
    from blowproof.cli.beginning.choices import column_from
    from blowproof.cli.beginning.source import source_of
    from blowproof.models import PolicyError

    asking = not (yes or as_json) and sys.stdin is not None and sys.stdin.isatty()
    if data is not None and described:
        raise click.UsageError("--column describes columns where there are no DATA: leave it out")
    source = source_of(data, table)
    target = _target(source, output, force)
    rows, found, nested = _found(source, columns)
    if data is None:
        found = [column_from(text) for text in described]
        if not found and not asking:
            raise click.UsageError("there are no DATA, and no --column: name one of them")
    if asking:
        found = _shown(source.shown, rows, found, nested)
    if not any(item.attribute is not None for item in found):
        raise PolicyError(
            f"{source.shown}: no column can be part of a policy: "
            + "; ".join(f"{item.name}: {item.words}" for item in found[:5]),
            hint="group what is written there (ages into decades, texts into a few kinds)",
        )
    choices = _chosen(found, rows, secret, public, queries, nested, asking=asking)
    text = _written(source, target, rows, found, choices, nested)
    if as_json:
        _write_json(target, rows, found, choices, nested)
    elif target != "-":
        _say_written(target, rows, found, [item for item in nested if item not in choices.nested])
    if no_audit or as_json or target == "-":
        return Exit.OK
    return _audited(target, source.path, choices, text)


def _target(source: Source, output: str | None, force: bool) -> str:
    from pathlib import Path

    from blowproof.cli.text.files import keep_apart

    target = output or f"{source.stem}.toml"
    keep_apart({"--output": target}, [source.path])
    if target != "-" and Path(target).exists() and not force:
        raise click.UsageError(
            f"{target} is there already: name another --output, or write over it with --force"
        )
    return target


def _found(source: Source, columns: str | None) -> tuple[int | None, list[Inferred], list[Nested]]:
    """Return the rows and columns of the data, and which columns lie within others.

    Each column is read once more as it will be.
    """
    data = source.data
    if data is None:
        return None, [], []
    from blowproof.cli.asking.progress import display
    from blowproof.models import PolicyError
    from blowproof.models.base.errors import nearest
    from blowproof.models.data.inferred import infer, readable
    from blowproof.models.data.nested import related
    from blowproof.models.queries.arguments import split_arguments

    with display(f"looking at {source.shown}"):
        rows, found = infer(data)
    if columns is not None:
        wanted = split_arguments(columns) or []
        names = [item.name for item in found]
        for name in wanted:
            if name not in names:
                hint = nearest(name, names, what="column")
                raise PolicyError(f"{source.shown}: there is no column {name!r}", hint=hint)
        why = "not among --columns"
        found = [
            item if item.name in wanted else replace(item, kind="left out", attribute=None,
                                                     words=why, alike=())
            for item in found
        ]  # fmt: skip
    with display(f"reading {source.shown}"):
        return rows, *related(data, rows, readable(data, found))


def _shown(
    source: str | None, rows: int | None, found: list[Inferred], nested: Sequence[Nested]
) -> list[Inferred]:
    """Show what was found, or ask for columns where there are no data."""
    from blowproof.cli.beginning.questions import ask_columns
    from blowproof.models.policy.in_words import counted, printable

    if source is None:
        return found or ask_columns()
    click.echo(f"{printable(source)}: {counted(rows or 0, 'row')}", err=True)
    for item in found:
        mark = "-" if item.attribute is None else " "
        click.echo(f"  {mark} {printable(item.name)}: {printable(item.words)}", err=True)
    for one in nested:
        click.echo(f"  each {printable(one.inner)} has one {printable(one.outer)}", err=True)
    return found


def _chosen(
    found: Sequence[Inferred],
    rows: int | None,
    secret: str | None,
    public: Sequence[str],
    queries: Sequence[str],
    nested: Sequence[Nested],
    *,
    asking: bool,
) -> Choices:
    from blowproof.cli.beginning.choices import Choices, published, read_public, read_secret
    from blowproof.cli.beginning.questions import ask_nested, ask_public, ask_queries, ask_secret
    from blowproof.models import PolicyError

    choices = Choices()
    if secret is not None or not asking:
        choices = replace(choices, secret=read_secret(secret or "everything", found))
    else:
        choices = replace(choices, secret=ask_secret(found))
    for text in public:
        told = read_public(text, found, nested)
        if told is None and rows is None:
            raise PolicyError(
                "--public size: there are no data to count", hint="write size into the policy"
            )
        choices = choices.with_public(told)
    if asking and not public:
        choices = ask_public(found, ask_nested(nested, choices), rows)
    if queries or not asking:
        return replace(choices, queries=published(found, queries, rows, nested))
    policy = _policy(rows, found, choices)
    return ask_queries(found, choices, lambda text: _check(policy, text), rows, nested)


def _check(policy: Policy, text: str) -> None:
    from blowproof.models import parse_query

    parse_query(text, policy)


def _policy(rows: int | None, found: Sequence[Inferred], choices: Choices) -> Policy:
    from blowproof.cli.beginning.draft import policy_text
    from blowproof.cli.beginning.source import source_of
    from blowproof.models.files.reading import parse_policy

    return parse_policy(policy_text(source_of(None, None), rows, found, choices))


def _written(
    source: Source,
    target: str,
    rows: int | None,
    found: Sequence[Inferred],
    choices: Choices,
    nested: Sequence[Nested],
) -> str:
    """Write the policy, after it was read back with every query; return its text."""
    from blowproof.cli.beginning.draft import policy_text
    from blowproof.cli.text.files import save
    from blowproof.cli.text.output import write
    from blowproof.models.files.reading import parse_policy

    text = policy_text(source, rows, found, choices, nested)
    text = text.replace(" THIS ", f" {quote(target)} ")
    policy = parse_policy(text)
    for query in choices.queries:
        _check(policy, query)
    if target == "-":
        write(text)
    else:
        save(target, text)
    return text


def _say_written(
    target: str, rows: int | None, found: Sequence[Inferred], nested: Sequence[Nested]
) -> None:
    from blowproof.cli.beginning.choices import nesting_text
    from blowproof.models.policy.in_words import counted, printable

    used = [item for item in found if item.attribute is not None]
    where = "" if rows is None else f" from {counted(rows, 'row')}"
    lines = [f"wrote {target}: {counted(len(used), 'column')}{where}"]
    for item in found:
        name = printable(item.name)
        if item.attribute is None:
            lines.append(f"  {name} is left out: {printable(item.words)}")
        elif item.alike:
            same = "; ".join(" and ".join(map(repr, group)) for group in item.alike[:3])
            lines.append(f"  {name} has labels that are spelled alike: {same}")
        if item.attribute is not None and item.alone:
            lines.append(
                f"  {name}: {counted(item.alone, 'label')} in one row only: a "
                "policy is public, so see that the list gives nobody away"
            )
    for one in nested:
        lines.append(
            f"  each {printable(one.inner)} has one {printable(one.outer)}: if everybody knows "
            f"which, add --public {quote(nesting_text(one))}, which often takes less noise"
        )
    click.echo("\n".join(lines), err=True)


def _audited(target: str, data: str | None, choices: Choices, text: str) -> int:
    from blowproof.cli.commands.audit import first_audit

    click.echo("", err=True)
    code = first_audit(target, choices.queries)
    following = " ".join(["blowproof plan", *(quote(path) for path in (target, data) if path)])
    queries = " ".join(f"--query {quote(query)}" for query in choices.queries)
    click.echo(f"\nnext: {following} {queries} --epsilon 1", err=True)
    return code if code == Exit.BAD_INPUT else Exit.OK


def _write_json(
    target: str,
    rows: int | None,
    found: Sequence[Inferred],
    choices: Choices,
    nested: Sequence[Nested],
) -> None:
    from blowproof.cli.text.output import write_json

    def shown(item: Inferred) -> dict[str, Any]:
        size = None if item.attribute is None else item.attribute.size
        return {
            "name": item.name,
            "kind": item.kind,
            "values": size,
            "words": item.words,
            "empty": item.empty,
            "alike": [list(group) for group in item.alike],
        }

    write_json({
        "schema": "blowproof/init/1",
        "policy": target,
        "rows": rows,
        "columns": [shown(item) for item in found],
        "nested": [
            {"inner": one.inner, "outer": one.outer, "public": one in choices.nested}
            for one in nested
        ],
        "queries": list(choices.queries),
    })  # fmt: skip
