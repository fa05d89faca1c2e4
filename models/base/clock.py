"""The clock of work that can take turns.

Engines look at the time often, to keep their deadlines. Here that look does two more things. Work
that runs as a `Worker` is told its own time: what it has used, not what passed while others had
their turn or while the machine was busy with something else. And a worker whose share is used up
hands over to whoever gave it its turn, inside of that look; later it goes on where it was. Work
that is no worker is told the time of `time.monotonic`, and never stopped.

A worker has a thread, and only one of the threads runs at a time: who gives a turn waits until it
is over. So nothing that workers share needs a lock.

>>> worker = Worker(lambda: [now() < now() + 1, "done"], end=None)
>>> worker.turn(1.0), worker.dead, worker.result
(True, True, [True, 'done'])
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

__all__ = ["Worker", "finish", "now"]

BUSIEST = 8
"""A machine is never taken to be busier than this: waiting makes a deadline come, too."""

PATIENCE = 2.0
"""Seconds to wait for a worker that was told to end, and may be inside a solver."""

LATE = 1.0
"""Seconds past its end that a worker is waited for."""

GLANCE = 0.05
"""Who waits for a turn to end looks up so often: for Ctrl-C."""


class _End(BaseException):
    """Raised inside a worker to end it."""


def now() -> float:
    """Return the time by which deadlines are told, in seconds; a worker may pause in here."""
    worker = _workers.get(threading.get_ident())
    return time.monotonic() if worker is None else worker.clock()


def finish() -> None:
    """End the worker that calls this: there is nothing left to do. Nothing happens elsewhere."""
    if threading.get_ident() in _workers:
        raise _End


class Worker:
    """Work that is done in turns; `result` is what it returned, once `dead`.

    `end`: a time of `time.monotonic` after which the worker is told that time, so that all its
    deadlines have passed and it comes back with what it has.
    """

    def __init__(self, work: Callable[[], Any], *, end: float | None) -> None:
        self.work, self.end = work, end
        self.result: Any = None
        self.begun = self.dead = False
        self.used = 0.0
        self._error: BaseException | None = None
        self._stopped = False
        self._started = time.monotonic()
        self._share = 0.0
        self._wall = self._processor = 0.0
        self._go, self._back = threading.Event(), threading.Event()

    def turn(self, seconds: float) -> bool:
        """Let it work for so long; return whether it has ended. What it raises is raised here.

        A worker that does not look at the clock takes longer, and is left behind after its end.
        """
        self._share = seconds
        self._back.clear()
        self._begin()
        if not self.begun:
            self.begun = True
            threading.Thread(target=self._run, name="blowproof-worker", daemon=True).start()
        self._go.set()
        while not self._back.wait(GLANCE):
            if self.end is not None and time.monotonic() >= self.end + LATE:
                return False  # it does not look at the clock
        if self._error is not None:
            raise self._error
        return self.dead

    def stop(self) -> None:
        """End it where it is; what it holds is let go as after an exception.

        Inside a solver it ends when that comes back, and nobody waits for it longer than PATIENCE.
        """
        self._stopped = True
        if self.begun and not self.dead:
            late = self.end is not None and time.monotonic() >= self.end + LATE
            self._back.clear()
            self._go.set()
            self._back.wait(GLANCE if late else PATIENCE)

    def clock(self) -> float:
        """Return the worker's own time, after a pause where its share is used up."""
        if self._stopped:
            raise _End
        spent = self._spent()
        if spent >= self._share:
            self.used += spent
            self._pause()
            spent = self._spent()
        real = time.monotonic()
        if self.end is not None and real >= self.end:
            return real
        return self._started + self.used + spent

    def _run(self) -> None:
        self._go.wait()
        ident = threading.get_ident()
        _workers[ident] = self
        try:
            with suppress(_End):
                self.result = self.work()
        except BaseException as error:  # raised again by whoever gave the turn
            self._error = error
        finally:
            del _workers[ident]
            self.used += self._spent()
            self.dead = True
            self._back.set()

    def _pause(self) -> None:
        """Hand over, and go on at the next turn."""
        self._go.clear()
        self._back.set()
        self._go.wait()
        if self._stopped:
            raise _End

    def _begin(self) -> None:
        self._wall, self._processor = time.monotonic(), time.process_time()

    def _spent(self) -> float:
        """Seconds of this turn: those that the process had of the processor, if these are fewer."""
        wall = time.monotonic() - self._wall
        return min(wall, max(time.process_time() - self._processor, wall / BUSIEST))


_workers: dict[int, Worker] = {}
"""The workers that have a thread, by its number."""
