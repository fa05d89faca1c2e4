"""Who works: processes of this machine, or those of a Dask cluster, by one code path.

Where a worker dies, each question that was out is asked once more, by itself; one that kills its
worker again and again ends as a row with the reason. The others lose nothing.
"""

from __future__ import annotations

import multiprocessing
import os
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from importlib import import_module
from typing import Any

from blowproof.cli.asking.cluster import DaskWorkers, client_of
from blowproof.cli.sweeping.work import (
    Batch,
    Row,
    answer_batch,
    answer_batches,
    failed,
    ready,
    singly,
)
from blowproof.models.base.processes import begun_by, end_at_once

__all__ = ["cores", "worked"]

LIVES = 2
"""How often a question may be begun by itself before it is blamed for the death of its worker."""

DIED = "the process that worked on this died (out of memory, or killed)"
AHEAD = 2
"""Parts handed out for each worker, so that none of them waits."""
SPAN = 0.05
"""Seconds that a part should take at least: handing one out takes about a hundredth of it."""

DEAD = (BrokenProcessPool, OSError, EOFError)
"""How it shows that a process has died: a worker, or the one that they are forked from."""

IN_VAIN = 8
"""Attempts to begin processes that all fail, one after the other, before a sweep gives up."""

Go = Callable[[Batch], Batch]


def cores() -> int:
    """Return how many processes this machine runs at once."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def worked(
    batches: Sequence[Batch],
    *,
    jobs: int,
    memory: int | None,
    scheduler: str | None = None,
    ready_to_go: Go = lambda batch: batch,
) -> Iterator[list[Row]]:
    """Yield the rows of each batch as soon as it is answered, in whatever order that is.

    `ready_to_go` is what a batch becomes when its turn has come, knowing what was answered by then.
    """
    if scheduler is not None:
        yield from _clustered(batches, scheduler, ready_to_go)
    elif jobs == 1:
        for batch in batches:
            yield answer_batch(ready_to_go(batch))
    else:
        yield from _local(batches, jobs, memory, ready_to_go)


class _Parts:
    """What waits, handed out in parts: one batch, or several where batches are answered quickly.

    A part is never so large that others would have nothing to do.
    """

    def __init__(self, waiting: Iterable[Batch], workers: int) -> None:
        self.waiting, self.workers = deque(waiting), workers
        self.answered, self.seconds = 0, 0.0

    def take(self, go: Go) -> list[Batch]:
        """Return the next batches, as they are when their turn has come."""
        each = self.seconds / self.answered if self.answered else SPAN
        most = int(SPAN / each) if each else len(self.waiting)
        many = max(1, min(most, len(self.waiting) // (AHEAD * AHEAD * self.workers)))
        return [go(self.waiting.popleft()) for _ in range(many)]

    def heard(self, rows: Sequence[Row]) -> None:
        """Take note of how long a batch took."""
        self.answered += 1
        self.seconds += sum(row["seconds"] for row in rows)


def _local(batches: Sequence[Batch], jobs: int, memory: int | None, go: Go) -> Iterator[list[Row]]:
    parts = _Parts(batches, jobs)
    suspects: deque[tuple[Batch, int]] = deque()
    in_vain = 0
    while parts.waiting or suspects:
        begun: dict[Future[list[list[Row]]], list[Batch]] = {}
        asked = False
        pool = ProcessPoolExecutor(
            1 if suspects else jobs, mp_context=_context(), initializer=ready, initargs=(memory,)
        )
        try:
            if suspects:
                alone = pool.submit(answer_batches, [suspects[0][0]])
                asked = True
                yield alone.result()[0]
                suspects.popleft()
            else:
                yield from _fed(pool, parts, begun, go)
        except DEAD:
            in_vain = 0 if asked or begun else in_vain + 1
            if in_vain > IN_VAIN:
                raise
            time.sleep(in_vain * 0.05)  # what died may not be gone yet
            if asked:  # else no process could begin, which is no fault of the question
                one, lives = suspects.popleft()
                if lives < LIVES:
                    suspects.appendleft((one, lives + 1))
                else:
                    yield failed(one, DIED)
            # Nobody knows which of them it was: each is asked once more, by itself.
            suspects.extend((one, 1) for part in begun.values() for one in singly(part))
        finally:
            end_at_once(pool)


def _context() -> Any:
    """Return how processes begin: forked from one that has everything loaded, where there is one.

    A copy of this process would take its threads' locks along, and each of its own would load
    everything once more.
    """
    if "forkserver" not in multiprocessing.get_all_start_methods():
        return begun_by("spawn")
    context = begun_by("forkserver")
    context.set_forkserver_preload(["blowproof.cli.sweeping.warm"])
    return context


def _fed(
    pool: Executor, parts: _Parts, begun: dict[Future[list[list[Row]]], list[Batch]], go: Go
) -> Iterator[list[Row]]:
    """Keep workers busy until nothing waits, yielding what they answer."""
    while parts.waiting or begun:
        while parts.waiting and len(begun) < AHEAD * parts.workers:
            part = parts.take(go)
            try:
                begun[pool.submit(answer_batches, part)] = part
            except DEAD:
                parts.waiting.extendleft(reversed(part))
                raise
        done, _ = wait(begun, return_when=FIRST_COMPLETED)
        for future in done:
            found = future.result()
            del begun[future]
            for rows in found:
                parts.heard(rows)
                yield rows


def _clustered(batches: Sequence[Batch], scheduler: str, go: Go) -> Iterator[list[Row]]:
    client = client_of(scheduler)
    begun: dict[str, list[Batch]] = {}
    try:
        done: Any = import_module("distributed").as_completed()
        workers = DaskWorkers(client)
        parts = _Parts(batches, workers.many)
        while parts.waiting or begun:
            parts.workers = workers.many
            while parts.waiting and len(begun) < AHEAD * workers.many:
                part = parts.take(go)
                future = client.submit(answer_batches, part, pure=False, retries=LIVES - 1)
                begun[future.key] = part
                done.add(future)
            future = next(done)
            part, error = begun.pop(future.key), future.exception()
            if error is None:
                for rows in future.result():
                    parts.heard(rows)
                    yield rows
            elif sum(len(batch.asked) for batch in part) > 1:
                parts.waiting.extend(singly(part))  # one of them may be to blame, not all
            else:
                yield failed(part[0], f"{DIED}: {type(error).__name__}")
    finally:
        client.close()
