"""A sweep in the terminal: a bar and the latest answers while it runs, then a table."""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from blowproof.cli.sweeping.run import Judged, Swept, bounds_of, settled
from blowproof.cli.sweeping.work import Row
from blowproof.cli.text.answer import between
from blowproof.models.policy.in_words import counted, printable

if TYPE_CHECKING:
    from rich.console import RenderableType

__all__ = ["live", "sweep_parts"]

LATEST = 5
MOST_ROWS = 40

Tell = Callable[[int, int, list[Row]], None]


def bounds_words(row: Row) -> str:
    """Return the bounds of a row as a person reads them."""
    if row["error"] is not None:
        return "error"
    return between(*bounds_of(row))


@contextmanager
def live(name: str) -> Iterator[Tell]:
    """Yield what is told of each batch: a bar with the latest answers, if stderr is a terminal."""
    if not sys.stderr.isatty():
        yield lambda done, total, rows: None
        return
    from rich.console import Console, Group
    from rich.live import Live
    from rich.progress_bar import ProgressBar
    from rich.text import Text

    latest: deque[Row] = deque(maxlen=LATEST)
    with Live(console=Console(stderr=True), refresh_per_second=4, transient=True) as screen:

        def tell(done: int, total: int, rows: list[Row]) -> None:
            latest.extend(rows)
            words = Text(f"{printable(name)}: {done:,} of {total:,} answered (Ctrl-C stops)")
            bar = ProgressBar(total=total or 1, completed=done)
            screen.update(Group(words, bar, _table(latest)))

        yield tell


def _table(rows: Sequence[Row] | deque[Row]) -> RenderableType:
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for column in ("policy", "query", "reading", "", "status"):
        short = column in ("reading", "status")  # names and numbers are folded, words never
        table.add_column(column, overflow="fold", no_wrap=short)
    for row in rows:
        norm = "" if row["norm"] == "l1" else f", {row['norm']}"
        style = "green" if settled(row) else "yellow" if row["error"] is None else "red"
        table.add_row(
            printable(row["policy"]),
            printable(row["query"]),
            f"{row['reading']}{norm}",
            Text(bounds_words(row), style=style),
            "-" if row["error"] is not None else row["status"],
        )
    return table


def sweep_parts(swept: Swept, claims: Sequence[Judged], output: str) -> Iterator[RenderableType]:
    """Yield the sweep's summary, its table, its claims, and where the rows are."""
    from rich.padding import Padding
    from rich.text import Text

    rows = swept.rows
    exact = sum(map(settled, rows))
    errors = [row for row in rows if row["error"] is not None]
    yield Text(printable(swept.grid.name), style="bold")
    yield Text()
    said = f"{counted(swept.size, 'question')}: {exact:,} exact, "
    said += f"{len(rows) - exact - len(errors):,} in bounds"
    said += f", {len(errors):,} without an answer" if errors else ""
    left = swept.size - len(rows)
    said += f", {left:,} not asked yet" if left else ""
    if swept.taken_over:
        said += f" ({swept.taken_over:,} known before)"
    yield Text(said)
    yield Text()
    yield Padding(_table(rows[:MOST_ROWS]), (0, 0, 0, 2), expand=False)
    if len(rows) > MOST_ROWS:
        yield Text(f"  ... and {len(rows) - MOST_ROWS:,} more, in {printable(output)}")
    for row in errors[:3]:
        reason = printable(str(row["error"]).partition("\n")[0])
        yield Text(f"  {printable(row['policy'])}, {printable(row['query'])}: {reason}", "dim")
    if claims:
        yield Text()
        yield from map(_claim, claims)
    yield Text()
    if swept.stopped:
        yield Text(f"Stopped by {swept.stopped}. What was found is kept: run it again to go on.")
    yield Text(f"Written to {printable(output)}.")


def _claim(found: Judged) -> RenderableType:
    from rich.text import Text

    words = printable(found.claim.words())
    if not found.about:
        return Text(f"claim {words}: speaks about no question of this grid", style="yellow")
    if found.against is not None:
        row = found.against
        what = f"{printable(row['policy'])}, {printable(row['query'])}: {bounds_words(row)}"
        return Text(f"claim {words}: fails: {what}", style="red")
    if found.holds is None:
        return Text(f"claim {words}: open in time", style="yellow")
    return Text(f"claim {words}: holds ({counted(found.about, 'answer')})", style="green")
