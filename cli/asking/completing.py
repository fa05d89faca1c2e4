"""What a shell completes beside commands and options: queries of the policy that was typed."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    Text = click.ParamType[str]
else:
    Text = click.ParamType

__all__ = ["MECHANISMS", "QUERIES", "complete_values"]

KINDS = (
    *("histogram", "marginal(", "difference(", "cumulative(", "range(", "ranges("),
    *("rectangles(", "sum(", "count("),
    *("partition", "matrix(", "cluster-sizes(", "cluster-sums(", "weighted-sum("),
)


class _Queries(Text):
    """A query: read by the command; completed from the policy on the line, if it can be read."""

    name = "text"

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """Return the queries that the policy can answer, or the kinds of queries."""
        from click.shell_completion import CompletionItem

        found = [text for text in (_of_policy(ctx) or KINDS) if text.startswith(incomplete)]
        return [CompletionItem(text) for text in found]


class _Mechanisms(Text):
    """The name of a mechanism: judged by the release, completed from those that there are."""

    name = "text"

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """Return the mechanisms."""
        from click.shell_completion import CompletionItem

        from blowproof.mechanisms.release.registry import MECHANISMS as NAMES

        return [CompletionItem(name) for name in NAMES if name.startswith(incomplete)]


QUERIES, MECHANISMS = _Queries(), _Mechanisms()


def _of_policy(ctx: click.Context) -> list[str]:
    path: Any = ctx.params.get("policy")
    if not isinstance(path, str):  # the line is not whole yet, so it may not be read that far
        words = os.environ.get("COMP_WORDS", "").split()
        path = next((word for word in words if word.endswith(".toml")), "-")
    if path == "-":
        return []
    from blowproof.cli.asking.suggested import suggested
    from blowproof.models import BlowproofError
    from blowproof.models.files.reading import read_policy

    try:
        return suggested(read_policy(path))
    except (BlowproofError, OSError):
        return []


def complete_values(command: click.Command) -> None:
    """Let the options of a command that take queries or mechanisms complete them."""
    for param in command.params:
        if isinstance(param, click.Option) and "--query" in param.opts:
            param.type = QUERIES
        if command.name == "release" and "--mechanism" in param.opts:
            param.type = MECHANISMS
