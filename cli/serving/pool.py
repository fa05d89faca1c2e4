"""Worker processes: each answers one question at a time, and ends when nobody wants the answer.

They are forked from a process that has everything loaded, so that a new one takes milliseconds:
stopping a search is ending its worker. Each has a pipe to be asked by, and one that ends when the
server does, however that came about; by that one it also hears that it should stop.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Mapping
from contextlib import suppress
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

__all__ = ["Pool", "Worker", "seconds_of"]

MOST = 4
"""Questions that are answered at the same time; others wait."""
SPARE = 1
"""Workers that wait for a question."""
WAIT = 0.1
AFTER = 25.0
"""Seconds for the plan and the odds, which come after a question's own limit."""
GRACE = 20.0
"""Seconds that a question may take beyond all that, before its worker is ended."""
SECONDS, MOST_SECONDS = 30.0, 600.0
"""How long a question may be searched, unless the page asks for less, and at the most."""


def seconds_of(question: Mapping[str, Any]) -> float | None:
    """Return how long a question may be searched; None where it says what is no number.

    >>> seconds_of({}), seconds_of({"seconds": 5}), seconds_of({"seconds": "soon"})
    (30.0, 5.0, None)
    """
    try:
        return min(MOST_SECONDS, max(1.0, float(question.get("seconds") or SECONDS)))
    except (TypeError, ValueError, OverflowError):
        return None


class Worker:
    """A process that answers questions, seen from the server."""

    def __init__(self, context: Any, memory: int | None) -> None:
        self._asking, theirs = context.Pipe()
        life, self._life = context.Pipe(duplex=False)
        self.process = context.Process(target=_work, args=(theirs, life, memory), daemon=True)
        self.process.start()
        theirs.close()
        life.close()
        self.ended = self.stopped = False

    def ask(self, question: Mapping[str, Any], folder: Path) -> None:
        """Send a question; its events are received one by one."""
        self._asking.send((dict(question), str(folder)))

    def receive(self, seconds: float) -> dict[str, Any] | None:
        """Return the next event, None if none came in so many seconds; EOFError: it has ended."""
        try:
            if self.ended or not self._asking.poll(seconds):
                return None
            event: dict[str, Any] = self._asking.recv()
        except OSError:
            raise EOFError from None
        return event

    def stop(self) -> None:
        """Let the question end soon, with the bounds reached; the worker answers no other one."""
        self.stopped = True
        with suppress(OSError, ValueError):
            self._life.send("Stop")

    def end(self) -> None:
        """End the process at once."""
        self.ended = True
        with suppress(Exception):
            self.process.kill()
            self.process.join(5)
        for pipe in (self._asking, self._life):
            pipe.close()


class Pool:
    """The workers of a server. Used from several threads."""

    def __init__(self, *, memory: int | None = None) -> None:
        forks = "forkserver" in multiprocessing.get_all_start_methods()
        self._context = multiprocessing.get_context("forkserver" if forks else "spawn")
        if forks:
            self._context.set_forkserver_preload(["blowproof.cli.serving.warm"])
        self._memory = memory
        self._lock = threading.Lock()
        self._idle: list[Worker] = []
        self._busy: list[Worker] = []
        self._closed = False
        self.warm = threading.Event()
        """Set when the first worker is there: before, everything has to be loaded."""

    def take(self) -> Worker | None:
        """Return a worker that waits, or a new one; None where too many are at work."""
        with self._lock:
            if self._closed or len(self._busy) >= MOST:
                return None
            worker = self._idle.pop() if self._idle else Worker(self._context, self._memory)
            self._busy.append(worker)
            return worker

    def give_back(self, worker: Worker, *, sound: bool) -> None:
        """End a worker, or keep it for the next question where it answered the last one whole."""
        with self._lock:
            self._busy.remove(worker)
            if sound and not (worker.stopped or self._closed) and len(self._idle) < SPARE:
                self._idle.append(worker)
                return
        worker.end()
        self.prepare()

    def prepare(self) -> None:
        """See to it that a worker waits for the next question."""
        with self._lock:
            if not self._closed and len(self._idle) < SPARE:
                self._idle.append(Worker(self._context, self._memory))
        self.warm.set()

    def prepare_soon(self) -> None:
        """The same, without waiting for it: the first time, everything is loaded."""
        threading.Thread(target=self.prepare, name="workers", daemon=True).start()

    def close(self) -> None:
        """End all workers, and take no questions any more."""
        with self._lock:
            self._closed = True
            workers, self._idle = [*self._idle, *self._busy], []
        for worker in workers:
            worker.end()


def _work(asked: Connection, life: Connection, memory: int | None) -> None:
    """Answer questions until the server goes."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    threading.Thread(target=_hear, args=(life,), name="life", daemon=True).start()
    sys.stdin = None  # nothing is piped into a worker
    from blowproof.cli.asking.memory import allow, default_limit, hold_firmly
    from blowproof.cli.serving.work import answer
    from blowproof.models.base.door import keep_within

    hold_firmly()
    allow(memory or default_limit() // 2)
    with suppress(EOFError, OSError):
        while True:
            question, folder = asked.recv()
            keep_within(Path(folder))
            answer(question, Path(folder), asked.send)


def _hear(life: Connection) -> None:
    """Stop the search when the server says so; end when its end of the pipe is closed."""
    from blowproof.cli.asking.stoppable import wish_to_end

    with suppress(EOFError, OSError):
        while True:
            wish_to_end(life.recv())
    os._exit(0)
