"""A sweep from its grid to its rows: what is known is taken over, what is not is asked."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, cast

from blowproof.cli.sweeping.grid import Claimed, Grid
from blowproof.cli.sweeping.kept import Kept
from blowproof.cli.sweeping.points import Point, points_of
from blowproof.cli.sweeping.pool import cores, worked
from blowproof.cli.sweeping.travel import Abroad
from blowproof.cli.sweeping.work import Asked, Batch, Row, settings_words
from blowproof.models import Exact
from blowproof.models.base.numbers import exact

if TYPE_CHECKING:
    from blowproof.models.policy.policy import Answers

__all__ = ["Judged", "Swept", "bounds_of", "judged", "settled", "sweep_through"]

MOST_IN_BATCH = 25
BATCHES_EACH = 8
"""How many batches each worker has at least, if there are so many questions."""


@dataclass(frozen=True)
class Judged:
    """A claim of the grid, and whether it holds of every answer (None: some leave it open)."""

    claim: Claimed
    holds: bool | None
    about: int
    against: Row | None = None


@dataclass(frozen=True)
class Swept:
    """What a sweep has found: `size` questions in all, and what stopped it ("": nothing did)."""

    grid: Grid
    size: int
    rows: list[Row]
    taken_over: int
    stopped: str = ""

    @property
    def complete(self) -> bool:
        """Whether every question has an answer without bounds or errors."""
        return len(self.rows) == self.size and all(map(settled, self.rows))


def settled(row: Row) -> bool:
    """Whether a row says what S is."""
    return row["error"] is None and row["status"] != "bounds"


def bounds_of(row: Row) -> tuple[Exact, Exact | None]:
    """Return the bounds of a row as numbers."""
    upper = row["upper"]
    return exact(row["lower"]), None if upper is None else exact(upper)


def sweep_through(
    grid: Grid,
    output: str,
    *,
    version: str,
    jobs: int | None = None,
    memory: int | None = None,
    scheduler: str | None = None,
    tell: Callable[[int, int, list[Row]], None] = lambda done, total, rows: None,
) -> Swept:
    """Return the answers to the grid's questions, or those that were found before Ctrl-C.

    The rows are kept at `output` as they come (see `kept`), so that a sweep which is stopped, or
    whose machine dies, goes on where it was. `tell` hears how many of how many are answered, and
    the rows that just came.
    """
    points = list(points_of(grid, version))
    wanted = [(point.key, _called(point)) for point in points]
    jobs = cores() if jobs is None else jobs
    with Kept(output, wanted) as kept:
        known = {p.key for p in points if kept.enough(p.key, grid.time_limit)}
        waiting = list({p.key: p for p in points if p.key not in known}.values())
        before, keys = sum(p.key in known for p in points), {p.key for p in points}
        share = None if memory is None else max(1, memory // max(1, jobs))
        batches, abroad = list(_batches(waiting, grid, jobs, version)), Abroad()
        for point in points if batches else ():
            if point.key in known:
                abroad.remember(
                    point.source.name, point.policy, _asked(point), kept.rows[point.key]
                )
        done = len(known)
        tell(done, len(keys), [])
        stopped = ""
        try:
            for rows in worked(
                batches, jobs=jobs, memory=share, scheduler=scheduler, ready_to_go=abroad.told
            ):
                for row in rows:
                    abroad.add(row)
                kept.add(rows)
                done += len(rows)
                tell(done, len(keys), rows)
        except KeyboardInterrupt as stop:
            stopped = str(stop) or "Ctrl-C"
        return Swept(grid, len(points), kept.found(), before, stopped)


def _called(point: Point) -> Row:
    """Return what a question is called in this grid: its answer may come from another one."""
    source = point.source
    return {"policy": source.name, "settings": settings_words(source), "counts": point.counts}


def _batches(points: Sequence[Point], grid: Grid, jobs: int, version: str) -> Iterator[Batch]:
    """Yield the questions of each policy together, in parts that keep every worker busy."""
    most = max(1, min(MOST_IN_BATCH, len(points) // (jobs * BATCHES_EACH)))
    for source, group in groupby(points, key=lambda point: point.source):
        group_ = list(group)
        asked = list(map(_asked, group_))
        for start in range(0, len(asked), most):
            part = asked[start : start + most]
            settings, policy = settings_words(source), group_[0].policy
            yield Batch(source.name, settings, policy, part, grid.time_limit, version)


def _asked(point: Point) -> Asked:
    return Asked(
        point.key,
        point.query,
        point.asked,
        point.reading,
        point.norm,
        cast("Answers", point.answers),
        point.counts,
    )


def judged(swept: Swept) -> list[Judged]:
    """Return what became of the grid's claims."""
    found = []
    for claim in swept.grid.claims:
        about, verdicts, against = 0, [], None
        for row in swept.rows:
            if not claim.about(row["policy"], row["query"], row["reading"], row["norm"]):
                continue
            about += 1
            holds = None if row["error"] is not None else claim.holds(*bounds_of(row))
            verdicts.append(holds)
            if holds is False and against is None:
                against = row
        open_ = None in verdicts or len(swept.rows) < swept.size
        found.append(Judged(claim, False if against else None if open_ else True, about, against))
    return found
