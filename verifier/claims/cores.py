"""A run over many claims on several cores: each part is the work of one process at a time.

The longest parts (by the record's seconds) are begun first, so that the cores end together. Each
process adds what it finds to the state file, as a run on one core does; so the run can be stopped
at any time, and the same command goes on, on one core or on many.
"""

from __future__ import annotations

import multiprocessing
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from blowproof.models.base.processes import end_at_once
from blowproof.verifier.claims.ledger import select
from blowproof.verifier.claims.record import changes, recorded, tally_from, tally_json
from blowproof.verifier.claims.run import Tally, judge
from blowproof.verifier.claims.session import Checked, Step, check_part
from blowproof.verifier.claims.state import State
from blowproof.verifier.claims.stating.claim import Claim, Level

__all__ = ["Workers", "run_on_cores"]

LIVES = 2
"""How often a part is begun before it is given up: the process died of it, or beside it."""


@dataclass(frozen=True)
class Workers:
    """How many processes, and what each does first (`ready`, with its arguments)."""

    jobs: int
    ready: Callable[..., None] | None = None
    arguments: tuple[Any, ...] = ()

    def pool(self) -> ProcessPoolExecutor:
        """Return a pool of them."""
        context = multiprocessing.get_context("spawn")
        return ProcessPoolExecutor(
            self.jobs, mp_context=context, initializer=self.ready, initargs=self.arguments
        )


@dataclass(frozen=True)
class Task:
    """One part of a claim, and how it is to be checked."""

    claim: str
    place: int
    level: Level
    state: Path | None
    minimise: bool


def work(task: Task, left: float | None) -> dict[str, Any]:
    """Check a part in this process, for so many seconds; return its tally, as JSON."""
    (claim,) = (one for one in select([task.claim]) if one.id == task.claim)
    state = State(task.state, task.level)
    deadline = None if left is None else time.monotonic() + left
    tally = check_part(
        claim, task.place, task.level, state, deadline=deadline, minimise=task.minimise
    )
    return tally_json(claim.parts[task.place], tally)


def run_on_cores(
    claims: Sequence[Claim],
    level: Level,
    workers: Workers,
    *,
    state: State,
    deadline: float | None = None,
    tell: Callable[[Step], None] = lambda step: None,
    minimise: bool = False,
) -> Iterator[Checked]:
    """Yield every claim with its verdict as soon as all its parts are checked.

    Claims that the deadline cuts short, and those whose parts killed their processes, are left out.
    """
    tallies: dict[tuple[str, int], Tally] = {}
    waiting: list[Task] = []
    named = {claim.id: claim for claim in claims}
    for claim in claims:
        for place in range(len(claim.parts)):
            found = state.tally(claim, place)
            if found.finished:
                tallies[claim.id, place] = found
            else:
                waiting.append(Task(claim.id, place, level, state.path, minimise))
    waiting.sort(key=_seconds)
    total = len(tallies) + len(waiting)
    yield from (_checked(claim, tallies) for claim in claims if _whole(claim, tallies))
    for task, item in _worked(waiting, workers, deadline):
        claim, place = named[task.claim], task.place
        tallies[claim.id, place] = tally_from(claim.parts[place], item)
        if item["finished"]:
            step = Step(claim, claim.parts[place], item["instances"], len(tallies), total)
            tell(step)
            if _whole(claim, tallies):
                yield _checked(claim, tallies)


def _whole(claim: Claim, tallies: dict[tuple[str, int], Tally]) -> bool:
    found = [tallies.get((claim.id, place)) for place in range(len(claim.parts))]
    return all(tally is not None and tally.finished for tally in found)


def _checked(claim: Claim, tallies: dict[tuple[str, int], Tally]) -> Checked:
    finding = judge(claim, [tallies[claim.id, place] for place in range(len(claim.parts))])
    return Checked(finding, tuple(changes(finding)))


def _seconds(task: Task) -> float:
    """Return how long a part took when it was recorded; the last of a list to be worked on first.

    One that is not on record comes first: nobody knows how long it takes.
    """
    parts = recorded().get(task.claim, {}).get("parts", [])
    if task.place >= len(parts):
        return float("inf")
    return float(parts[task.place].get("seconds", 0))


def _worked(
    waiting: list[Task], workers: Workers, deadline: float | None
) -> Iterator[tuple[Task, dict[str, Any]]]:
    """Yield each task with its tally, as soon as it is done."""
    lives = dict.fromkeys(waiting, LIVES)
    while waiting:
        begun: dict[Future[dict[str, Any]], Task] = {}
        pool = workers.pool()
        try:
            yield from _fed(pool, waiting, begun, workers.jobs, deadline)
        except BrokenProcessPool:
            for task in begun.values():  # nobody knows which of them it was
                lives[task] -= 1
                if lives[task]:
                    waiting.append(task)
        finally:
            end_at_once(pool)


def _fed(
    pool: ProcessPoolExecutor,
    waiting: list[Task],
    begun: dict[Future[dict[str, Any]], Task],
    jobs: int,
    deadline: float | None,
) -> Iterator[tuple[Task, dict[str, Any]]]:
    while waiting or begun:
        while waiting and len(begun) <= jobs:  # one waits, while what another found is judged
            left = None if deadline is None else deadline - time.monotonic()
            if left is not None and left <= 0:
                waiting.clear()
                break
            future = pool.submit(work, waiting[-1], left)
            begun[future] = waiting.pop()
        done, _ = wait(begun, timeout=1.0, return_when=FIRST_COMPLETED)
        for future in done:
            item = future.result()
            yield begun.pop(future), item
