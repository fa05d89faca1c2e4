"""Progress on stderr: a spinner with the bounds so far on a terminal, silence when piped."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from blowproof.models import show as show_number

if TYPE_CHECKING:
    from blowproof.verifier.ask import Progress

__all__ = ["display", "progress_line"]


def progress_line(title: str, progress: Progress) -> str:
    """Return one line: the question, the bounds, and what is being searched.

    >>> from blowproof.verifier.ask import Progress
    >>> progress_line("histogram, published", Progress(lower=4, upper=None, what="n = 5"))
    'histogram, published: 4 <= S, n = 5'
    """
    upper = "" if progress.upper is None else f" <= {show_number(progress.upper)}"
    what = f", {progress.what}" if progress.what else ""
    return f"{title}: {show_number(progress.lower)} <= S{upper}{what}"


@contextmanager
def display(title: str | None) -> Iterator[Callable[[Progress], None]]:
    """Yield a function that shows how far the search has come (Ctrl-C stops it); None: nothing."""
    if title is None or not _is_terminal():
        yield lambda progress: None
        return
    from rich.console import Console
    from rich.text import Text

    with Console(stderr=True).status(Text(f"{title} (Ctrl-C stops)")) as status:
        yield lambda progress: status.update(Text(progress_line(title, progress)))


def _is_terminal() -> bool:
    try:
        return sys.stderr.isatty()
    except ValueError:
        return False
