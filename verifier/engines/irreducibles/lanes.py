"""The compiled search on all cores: a lane for each, and who has nothing to do takes a task.

A lane is a thread that runs compiled code, which lets go of Python's lock, for a few hundredths of
a second at a time. Between two such slices nobody but the caller touches it: there it hands over
what it found, and there others take what is left of its highest open node (`tasks.steal`). The
first lane is alone until it has worked for a while, so that short searches are what they were.

What is found may come in another order than on one core, and among equally heavy irreducibles
another one first; what a finished search has proved is the same.
"""

from __future__ import annotations

import multiprocessing
import os
import time
from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass

from blowproof.models.base.clock import spend
from blowproof.verifier.engines.irreducibles.search_compiled import NumbaEngine, Tree
from blowproof.verifier.engines.irreducibles.tasks import (
    Found,
    Split,
    Task,
    begin,
    finished,
    steal,
)
from blowproof.verifier.limits.limit import real_limit, whole_limit

__all__ = ["Lanes", "cores"]

ALONE = real_limit(__name__, "ALONE")
SLICE = real_limit(__name__, "SLICE")
FIRST_SLICE = whole_limit(__name__, "FIRST_SLICE")


def cores() -> int:
    """Return how many lanes to run: the cores of this machine, or one where others use them.

    A process that was started by another (a sweep's, a cluster's) is one of many.
    """
    if multiprocessing.parent_process() is not None:
        return 1
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@dataclass(eq=False)
class _Lane:
    """An engine at work on a task."""

    engine: NumbaEngine
    task: Task
    number: int
    slice: int
    outcome: bool | None = False

    @property
    def own(self) -> int:
        """The nodes that it has entered of its task."""
        return self.engine.nodes - len(self.task.path)

    def run(self) -> _Lane:
        """Work for a slice, of about the same length each time."""
        begun, before = time.perf_counter(), self.engine.nodes
        self.outcome = self.engine.advance(self.slice)
        took = time.perf_counter() - begun
        done = self.engine.nodes - before
        self.slice = max(1, min(4 * self.slice, int(done * SLICE / took) if took > 0 else done))
        return self


class Lanes:
    """See `search.Engine`; `lanes`: how many (None: the cores of this machine)."""

    def __init__(self, tree: Tree, lanes: int | None = None) -> None:
        self.tree, self.split = tree, Split(tree)
        self.most = cores() if lanes is None else lanes
        self.alone = ALONE if lanes is None else 0.0
        self.threshold = -1
        self.running: dict[Future[_Lane], _Lane] = {}
        self.ready: list[_Lane] = []
        self.found: list[Found] = []
        self.over = 0
        self.pool: ThreadPoolExecutor | None = None
        self._start(*self._waiting())

    @property
    def first(self) -> NumbaEngine:
        """The engine that begins."""
        return self.ready[0].engine

    @property
    def nodes(self) -> int:
        """Nodes visited so far."""
        return self.over + sum(lane.own for lane in (*self.ready, *self.running.values()))

    @property
    def seconds(self) -> float:
        """What a node costs, where so many lanes work at once."""
        return self.tree.seconds / max(1, len(self.ready) + len(self.running))

    def raise_threshold(self, weight: int) -> None:
        """Report only irreducibles that weigh more than this from now on."""
        self.threshold = weight
        for lane in (*self.ready, *self.running.values()):
            lane.engine.raise_threshold(weight)

    def advance(self, nodes: int) -> bool | None:
        """True when the search is finished, False when it is not, None when it cannot go on."""
        if self.pool is None and (self.most == 1 or self._young()):
            (lane,) = self.ready
            lane.outcome = lane.engine.advance(nodes)
            return self._back(lane)
        stop = self.nodes + nodes
        while True:
            self._hand_out()
            if not self.running:
                return self.split.complete
            done, _ = wait(self.running, return_when=FIRST_COMPLETED)
            for future in done:
                del self.running[future]
                if self._back(future.result()) is None:
                    return None
            if self.found or self.nodes >= stop:
                return self.split.complete

    def take(self) -> Iterator[Found]:
        """The irreducibles found since the last call, each with whether it still needs a check."""
        found, self.found = self.found, []
        return iter(found)

    def _young(self) -> bool:
        return self.nodes * self.tree.seconds < self.alone

    def _hand_out(self) -> None:
        """Give every lane something to do: its own task, or one that is taken from another lane."""
        idle = self.most - len(self.ready) - len(self.running)
        for lane in list(self.ready):
            if idle <= 0:
                break
            for task in steal(lane.engine):
                self.split.add(task, lane.number, lane.own)
                self._start(*self._waiting())
                idle -= 1
        if self.pool is None:
            self.pool = ThreadPoolExecutor(self.most, "blowproof-lane")
        while self.ready:
            lane = self.ready.pop()
            self.running[self.pool.submit(lane.run)] = lane

    def _waiting(self) -> tuple[int, Task]:
        found = self.split.next()
        assert found is not None
        return found

    def _start(self, number: int, task: Task) -> None:
        lane = _Lane(begin(self.tree, task), task, number, FIRST_SLICE)
        lane.engine.raise_threshold(self.threshold)
        self.ready.append(lane)

    def _back(self, lane: _Lane) -> bool | None:
        """Take what a lane found in its slice; return whether all is done."""
        self.found += lane.engine.take()
        spend(lane.engine.owing() / max(1, len(self.ready) + len(self.running)))
        if lane.outcome is False:
            if lane not in self.ready:
                self.ready.append(lane)
            return False
        if lane in self.ready:
            self.ready.remove(lane)
        self.over += lane.own
        self.split.take(lane.number, finished(lane.engine, lane.task, [], [], lane.outcome))
        return None if lane.outcome is None else self.split.complete
