"""Who works: processes of this machine, or those of a Dask cluster, by one code path.

A batch whose worker dies is asked once more, by itself; one that kills its worker again ends as
rows with the reason. The others lose nothing.
"""

from __future__ import annotations

import multiprocessing
import os
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from importlib import import_module
from typing import Any

from blowproof.cli.asking.cluster import DaskWorkers, client_of
from blowproof.cli.sweeping.work import Batch, Row, answer_batch, failed, ready

__all__ = ["cores", "worked"]

LIVES = 2
"""How often a batch may be begun before it is blamed for the death of its worker."""

DIED = "the process that worked on this died (out of memory, or killed)"
AHEAD = 2
"""Batches handed out for each worker, so that none of them waits."""


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


def _local(batches: Sequence[Batch], jobs: int, memory: int | None, go: Go) -> Iterator[list[Row]]:
    waiting: deque[tuple[Batch, int]] = deque((batch, 1) for batch in batches)
    alone = False
    while waiting:
        pool = ProcessPoolExecutor(
            1 if alone else jobs,
            mp_context=multiprocessing.get_context("spawn"),
            initializer=ready,
            initargs=(memory,),
        )
        begun: dict[Future[list[Row]], tuple[Batch, int]] = {}
        try:
            yield from _fed(pool, waiting, begun, 1 if alone else AHEAD * jobs, go)
            alone = False
        except BrokenProcessPool:
            # Nobody knows which of them it was: each is asked once more, by itself.
            for batch, lives in begun.values():
                if not alone:
                    waiting.appendleft((batch, lives))
                elif lives < LIVES:
                    waiting.appendleft((batch, lives + 1))
                else:
                    yield failed(batch, DIED)
            alone = True
        finally:
            _stop(pool)


def _fed(
    pool: Executor,
    waiting: deque[tuple[Batch, int]],
    begun: dict[Future[list[Row]], tuple[Batch, int]],
    most: int,
    go: Go,
) -> Iterator[list[Row]]:
    """Keep workers busy until nothing waits, yielding what they answer."""
    while waiting or begun:
        while waiting and len(begun) < most:
            future = pool.submit(answer_batch, go(waiting[0][0]))  # fails where a process has died
            begun[future] = waiting.popleft()
        done, _ = wait(begun, timeout=1.0, return_when=FIRST_COMPLETED)
        for future in done:
            rows = future.result()
            del begun[future]
            yield rows


def _stop(pool: ProcessPoolExecutor) -> None:
    """End a pool at once: its processes may be in the middle of hours of work."""
    processes = list((getattr(pool, "_processes", None) or {}).values())
    pool.shutdown(wait=False, cancel_futures=True)
    for process in processes:
        with suppress(OSError, ValueError):
            process.terminate()
    for process in processes:
        with suppress(OSError, ValueError, AssertionError):
            process.join(timeout=5)


def _clustered(batches: Sequence[Batch], scheduler: str, go: Go) -> Iterator[list[Row]]:
    client = client_of(scheduler)
    waiting, begun = deque(batches), dict[str, Batch]()
    try:
        done: Any = import_module("distributed").as_completed()
        workers = DaskWorkers(client)
        while waiting or begun:
            while waiting and len(begun) < AHEAD * workers.many:
                batch = waiting.popleft()
                future = client.submit(answer_batch, go(batch), pure=False, retries=LIVES - 1)
                begun[future.key] = batch
                done.add(future)
            future = next(done)
            batch, error = begun.pop(future.key), future.exception()
            if error is None:
                yield future.result()
            else:
                yield failed(batch, f"{DIED}: {type(error).__name__}")
    finally:
        client.close()
