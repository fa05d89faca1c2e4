"""Writing to stdout: one JSON document, or a screen for people; closed pipes end quietly."""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

__all__ = ["Closed", "console", "drawn", "print_all", "quietly", "width", "write", "write_json"]


class Closed(Exception):  # noqa: N818 - it is not an error that somebody stops reading
    """Nobody reads stdout any more."""


def write(text: str) -> None:
    """Write a text to stdout at once; Closed when nobody reads it (`| head`)."""
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError:
        silence()
        raise Closed from None
    except OSError:
        silence()
        raise


def silence() -> None:
    """Send nowhere what is still buffered, so that the interpreter's last flush succeeds."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def write_json(document: Mapping[str, object]) -> None:
    """Write one JSON document (ASCII, so that every terminal and locale carries it)."""
    write(json.dumps(document, indent=2) + "\n" if _is_terminal() else json.dumps(document) + "\n")


def _is_terminal() -> bool:
    return sys.stdout.isatty()


def width() -> int:
    """Return how wide a screen is drawn: the terminal's width, between 60 and 100 (piped: 80)."""
    return max(60, min(100, shutil.get_terminal_size((80, 24)).columns))


def console(*, plain: bool = False) -> Console:
    """Return a console that draws into a string, in colour if stdout is a terminal.

    `plain`: without colours, as wide as what is piped.
    """
    from io import StringIO

    from rich.console import Console

    return Console(
        file=StringIO(),
        width=80 if plain else width(),
        force_terminal=_is_terminal() and not plain,
        highlight=False,
        markup=False,
        emoji=False,
        legacy_windows=False,
    )


def drawn(parts: Iterable[RenderableType], *, plain: bool = False) -> str:
    """Return the parts drawn below each other, without blanks at the ends of lines."""
    from io import StringIO

    target = console(plain=plain)
    for part in parts:
        target.print(part)
    assert isinstance(target.file, StringIO)
    lines = target.file.getvalue().splitlines()
    return "".join(f"{line.rstrip()}\n" for line in lines)


def print_all(parts: Iterable[RenderableType]) -> None:
    """Draw the parts below each other and write them."""
    write(drawn(parts))


@contextmanager
def quietly() -> Iterator[None]:
    """Write the last of what a command says: when nobody reads it, its exit code stands."""
    with suppress(Closed):
        yield
