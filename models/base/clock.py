"""The clock of work that can take turns.

Engines look at the time often, to keep their deadlines. Here that look does two more things. Work
that runs as a `Worker` is told its own time: what it has used, not what passed while others had
their turn or while the machine was busy with something else. And a worker whose share is used up
hands over to whoever gave it its turn, inside of that look; later it goes on where it was. Work
that is no worker is told the time of `time.monotonic`, and never stopped.

>>> worker = Worker(lambda: [now() < now() + 1, "done"], end=None)
>>> worker.turn(1.0), worker.dead, worker.result
(True, True, [True, 'done'])
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from greenlet import GreenletExit, getcurrent, greenlet

__all__ = ["Worker", "finish", "now"]

BUSIEST = 8
"""A machine is never taken to be busier than this: waiting makes a deadline come, too."""


def now() -> float:
    """Return the time by which deadlines are told, in seconds; a worker may pause in here."""
    current = getcurrent()
    return current.clock() if isinstance(current, Worker) else time.monotonic()


def finish() -> None:
    """End the worker that calls this: there is nothing left to do. Nothing happens elsewhere."""
    if isinstance(getcurrent(), Worker):
        raise GreenletExit


class Worker(greenlet):  # type: ignore[misc] # the class is one of a C extension
    """Work that is done in turns; `result` is what it returned, once `dead`.

    `end`: a time of `time.monotonic` after which the worker is told that time, so that all its
    deadlines have passed and it comes back with what it has.
    """

    def __init__(self, work: Callable[[], Any], *, end: float | None) -> None:
        super().__init__(self._run)
        self.work, self.end = work, end
        self.result: Any = None
        self.used = 0.0
        self._started = time.monotonic()
        self.begun = False
        self._share = 0.0
        self._wall = self._processor = 0.0

    def _run(self) -> None:
        self.result = self.work()

    def turn(self, seconds: float) -> bool:
        """Let it work for so long; return whether it has ended. What it raises is raised here."""
        self._share, self.begun = seconds, True
        self._begin()
        self.switch()
        if self.dead:
            self.used += self._spent()
        return bool(self.dead)

    def stop(self) -> None:
        """End it where it is; what it holds is let go as after an exception."""
        if self.begun and not self.dead:
            self._share = float("inf")
            self._begin()
            self.throw()

    def clock(self) -> float:
        """Return the worker's own time, after a pause where its share is used up."""
        spent = self._spent()
        if spent >= self._share:
            self.used += spent
            self.parent.switch()
            spent = self._spent()
        real = time.monotonic()
        if self.end is not None and real >= self.end:
            return real
        return self._started + self.used + spent

    def _begin(self) -> None:
        self._wall, self._processor = time.monotonic(), time.process_time()

    def _spent(self) -> float:
        """Seconds of this turn: those that the process had of the processor, if these are fewer."""
        wall = time.monotonic() - self._wall
        return min(wall, max(time.process_time() - self._processor, wall / BUSIEST))
