"""Progress on stderr: on a terminal a bar of closing bounds and the time; silence when piped."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from fractions import Fraction
from math import log
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.table import Table

    from blowproof.models import Exact
    from blowproof.verifier.ask import Progress

__all__ = ["closed", "display", "loading", "progress_line"]

WIDTH = 18
LOADING = "loading ... (Ctrl-C stops)"


def progress_line(title: str, progress: Progress) -> str:
    """Return one line: the question, the bounds, and what is being searched.

    >>> from blowproof.verifier.ask import Progress
    >>> progress_line("histogram, published", Progress(lower=4, upper=None, what="n = 5"))
    'histogram, published: 4 <= S, n = 5'
    """
    from blowproof.models import show as show_number

    upper = "" if progress.upper is None else f" <= {show_number(progress.upper)}"
    what = f", {progress.what}" if progress.what else ""
    return f"{title}: {show_number(progress.lower)} <= S{upper}{what}"


def closed(lower: Exact, upper: Exact | None) -> float:
    """Return how far two bounds have closed: 0 where nothing bounds S from above, 1 if they meet.

    >>> closed(0, None), closed(4, 4), round(closed(4, 40), 2)
    (0.0, 1.0, 0.43)
    """
    if upper is None:
        return 0.0
    return 1.0 if lower >= upper else _size(lower) / _size(upper)


def _size(value: Exact) -> float:
    """The logarithm of 1 + value, however large that is."""
    above = Fraction(value) + 1
    return log(above.numerator) - log(above.denominator)


class _Shown:
    """What is drawn while a question is searched."""

    def __init__(self, title: str, *, stops: bool = True) -> None:
        from rich.spinner import Spinner

        self.title, self.start = title, time.monotonic()
        self.hint = " (Ctrl-C stops)" if stops else ""
        self.latest: Progress | None = None
        self.spinner = Spinner("dots")

    def __rich__(self) -> Table:
        """The line as it is now."""
        from rich.progress_bar import ProgressBar
        from rich.table import Table
        from rich.text import Text

        seconds = int(time.monotonic() - self.start)
        known = self.latest
        share = 0.0 if known is None else closed(known.lower, known.upper)
        line = self.title if known is None else progress_line(self.title, known)
        row = Table.grid(padding=(0, 1))
        row.add_row(
            self.spinner,
            ProgressBar(total=None if known is None else 1.0, completed=share, width=WIDTH),
            Text(f"{seconds // 60}:{seconds % 60:02}"),
            Text(f"{line}{self.hint}", overflow="ellipsis", no_wrap=True),
        )
        return row


_now: list[_Shown] = []
"""What is on the screen: one line at a time."""


@contextmanager
def display(title: str | None, *, stops: bool = True) -> Iterator[Callable[[Progress], None]]:
    """Yield a function that shows how far the search has come; None: nothing.

    A question within larger work is shown in the line of that work. `stops`: whether Ctrl-C does.
    """
    if title is None or not _is_terminal():
        yield lambda progress: None
        return
    from rich.console import Console
    from rich.live import Live

    if _now:
        outer = _now[-1]
        before = outer.title, outer.latest

        def within(progress: Progress) -> None:
            outer.latest = progress

        outer.title, outer.latest = f"{before[0]}: {title}", None
        try:
            yield within
        finally:
            outer.title, outer.latest = before
        return
    shown = _Shown(title, stops=stops)

    def update(progress: Progress) -> None:
        shown.latest = progress

    _now.append(shown)
    try:
        with Live(shown, console=Console(stderr=True), transient=True, refresh_per_second=8):
            yield update
    finally:
        _now.remove(shown)


@contextmanager
def loading() -> Iterator[None]:
    """Say so on a terminal while what a command needs is loaded, which may take half a second.

    The line is gone afterwards. Nothing here needs anything that is slow to load itself.
    """
    if not _is_terminal():
        yield
        return
    _say(f"\r{LOADING}")
    try:
        yield
    finally:
        _say(f"\r{' ' * len(LOADING)}\r")


def _say(text: str) -> None:
    with suppress(OSError, ValueError):  # a terminal that is gone
        sys.stderr.write(text)
        sys.stderr.flush()


def _is_terminal() -> bool:
    try:
        return sys.stderr.isatty()
    except ValueError:
        return False
