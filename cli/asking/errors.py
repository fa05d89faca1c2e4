"""Exit codes, and how an error becomes one clear message on stderr."""

from __future__ import annotations

import os
import re
import sys
import traceback
from difflib import get_close_matches
from enum import IntEnum

import click

from blowproof.cli.asking.stoppable import Stopped

__all__ = ["Exit", "describe", "is_debug", "report", "shortened"]

LONGEST, MOST_LINES = 2000, 40
"""Characters of a line of a message, and its lines: more would be a file's, not ours."""

BUG = "this is a bug in blowproof, please report it"


class Exit(IntEnum):
    """The exit codes of the contract."""

    OK = 0
    NO = 1
    BAD_INPUT = 2
    UNDECIDED = 3


def describe(error: BaseException) -> tuple[str, Exit]:
    """Return what to tell a person about an error, and the exit code."""
    if isinstance(error, click.ClickException):
        return _usage(error), Exit.BAD_INPUT
    if isinstance(error, (KeyboardInterrupt, click.Abort)):
        return "stopped before there was an answer", Exit.UNDECIDED
    if isinstance(error, MemoryError):
        return "the memory does not suffice for this question", Exit.UNDECIDED
    if isinstance(error, Stopped):
        return f"{error} before there was an answer", Exit.UNDECIDED
    return _from_models(error)


def _from_models(error: BaseException) -> tuple[str, Exit]:
    from blowproof.models.base.errors import BlowproofError, BudgetError, InternalError

    if isinstance(error, InternalError):
        return f"{BUG}, and trust no answer to this question: {error}", Exit.BAD_INPUT
    if isinstance(error, BudgetError):
        return str(error), Exit.UNDECIDED
    if isinstance(error, BlowproofError):
        return str(error), Exit.BAD_INPUT
    if isinstance(error, OSError):
        return _os_error(error), Exit.BAD_INPUT
    what = f"{type(error).__name__}: {error}".splitlines()[0][:200]
    hint = "blowproof --debug, and the same command after it, shows where it happened"
    return f"{BUG} ({what})\n  try: {hint}", Exit.BAD_INPUT


def _usage(error: click.ClickException) -> str:
    message = error.format_message()
    context = error.ctx if isinstance(error, click.UsageError) else None
    close = _meant(error, message)
    if close is not None:
        return f"{message}\n  try: did you mean {close!r}?"
    return f"{message}\n  try: {context.command_path} --help" if context else message


def _meant(error: click.ClickException, message: str) -> str | None:
    """Return the choice of an option that is nearest to what was written, where one is near."""
    if not (isinstance(error, click.BadParameter) and error.param is not None):
        return None
    written = re.search("'([^']{1,40})' is not one of", message)
    if written is None or not isinstance(error.param.type, click.Choice):
        return None
    close = get_close_matches(written[1], map(str, error.param.type.choices), n=1)
    return close[0] if close else None


def _os_error(error: OSError) -> str:
    where = f"{error.filename}: " if error.filename else ""
    return f"{where}{error.strerror or error}"


def report(error: BaseException, *, debug: bool) -> Exit:
    """Write the message to stderr (after the traceback, when debugging); return the exit code."""
    message, code = describe(error)
    try:
        if debug:
            traceback.print_exception(error)
        label = click.style("error:", fg="red", bold=True)
        click.echo(f"{label} {shortened(message)}", err=True, color=_colour())
    except (OSError, ValueError):
        pass  # nobody is listening
    return code


def shortened(message: str) -> str:
    """Return a message as lines that no file can make long, or use to steer a terminal.

    >>> print(shortened("p.toml: 'x\\x1b[2J' is no key"))
    p.toml: 'x\\x1b[2J' is no key
    """
    from blowproof.models.policy.in_words import printable

    lines = message.split("\n")
    shown = [
        line if len(line) <= LONGEST else f"{line[: LONGEST // 2]} ... {line[-LONGEST // 2 :]}"
        for line in (*lines[:MOST_LINES], *lines[MOST_LINES:][-1:])
    ]
    return "\n".join(map(printable, shown))


def _colour() -> bool:
    try:
        return sys.stderr.isatty() and "NO_COLOR" not in os.environ
    except ValueError:
        return False


def is_debug() -> bool:
    """Whether the environment asks for tracebacks."""
    return os.environ.get("BLOWPROOF_DEBUG", "") not in ("", "0")
