"""Work in a thread that can be stopped: at a limit, by a signal, or when nobody reads the output.

The main thread only waits, so that Ctrl-C works at once, also while a solver outside Python is
busy. What the work posts (progress, results one by one) is handed over there, in order.
"""

from __future__ import annotations

import ctypes
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Generic, NoReturn, TypeVar

from blowproof.cli.asking import memory

__all__ = [
    "Interrupted",
    "Stopped",
    "Terminated",
    "ask_to_end",
    "ignore_late_halts",
    "still_busy",
    "until_alone",
    "watch",
    "wish_to_end",
]

T = TypeVar("T")
Post = Callable[[object], None]

_TICK = 0.1
_PATIENCE = 5.0
_ROOM = 1000


class Stopped(Exception):  # noqa: N818 - being stopped is no error
    """The work was stopped; `reason` says by what, for people."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class Interrupted(Stopped):
    """The work was stopped by Ctrl-C, or by a signal that is treated alike."""

    def __init__(self, signal: str) -> None:
        super().__init__(f"stopped by {signal}")
        self.signal = signal


class Terminated(KeyboardInterrupt):
    """The process was asked to end: what holds for Ctrl-C holds here. Says by which signal."""


def ask_to_end(signal: str) -> NoReturn:
    """Raise Terminated for a signal, and remember it until the work was stopped for it.

    What is raised while Python cleans something up (`__del__`, a weak reference) goes nowhere.
    """
    _unheard.append(signal)
    raise Terminated(signal)


def wish_to_end(signal: str) -> None:
    """Let the work that is watched, or else the next, end as by Ctrl-C: from any thread."""
    _unheard.append(signal)


_unheard: list[str] = []


class _Halt(BaseException):
    """Raised inside the work's thread to end it."""


@dataclass(frozen=True)
class _Posted:
    what: object


@dataclass(frozen=True)
class _Done(Generic[T]):
    result: T


@dataclass(frozen=True)
class _Failed:
    error: BaseException


class _Work(threading.Thread, Generic[T]):
    """A thread that runs a task and reports what it posts, and how it ends.

    A report stays in the row until it was handed over: a signal may come between any two steps of
    the main thread, also in the middle of taking something out of a queue.
    """

    def __init__(self, task: Callable[[Post], T]) -> None:
        super().__init__(daemon=True, name="blowproof-question")
        self.task = task
        self.reports: deque[object] = deque()
        self.ready = threading.Event()
        self.halted = threading.Event()

    def run(self) -> None:
        """Run the task; a halted one reports nothing."""
        try:
            self.report(_Done(self.task(self.post)))
        except _Halt:
            pass
        except BaseException as error:
            with suppress(_Halt):
                self.report(_Failed(error))

    def post(self, what: object) -> None:
        """Hand something to the main thread."""
        self.report(_Posted(what))

    def report(self, item: object) -> None:
        """Wait for room in the row, unless the work was halted."""
        while not self.halted.is_set():
            if len(self.reports) < _ROOM:
                self.reports.append(item)
                self.ready.set()
                return
            self.halted.wait(_TICK / 10)
        raise _Halt

    def halt(self) -> None:
        """Ask the thread to end: at its next post, or its next step in Python."""
        self.halted.set()
        patience = time.monotonic() + _PATIENCE
        while self.is_alive() and _is_delicate(self) and time.monotonic() < patience:
            self.join(timeout=_TICK / 10)
        if self.is_alive() and self.ident is not None:
            ctypes.pythonapi.PyThreadState_SetAsyncExc(
                ctypes.c_ulong(self.ident), ctypes.py_object(_Halt)
            )
            self.join(timeout=1.0)


def _is_delicate(thread: threading.Thread) -> bool:
    """Whether a thread imports (half an import spoils the next question), or starts another thread.

    CPython gives a new thread its creator's identity until it runs, so it would be hit instead.
    """
    frame = sys._current_frames().get(thread.ident or 0)
    while frame is not None:
        code = frame.f_code
        if code is threading.Thread.start.__code__ or "<frozen importlib" in code.co_filename:
            return True
        frame = frame.f_back
    return False


def watch(
    task: Callable[[Post], T], *, time_limit: float | None, on_post: Callable[[object], None]
) -> T:
    """Return the task's result; raise its error, or Stopped at a limit or by Ctrl-C.

    Work that fails for want of memory was stopped, too: its bounds are as sound as any. What was
    posted is handed over at least once: again where a signal came before `on_post` returned.
    """
    deadline = None if time_limit is None else time.monotonic() + time_limit
    work = _Work(task)
    try:
        work.start()
        while True:
            report = _next(work, deadline)
            if isinstance(report, _Posted):
                on_post(report.what)
                work.reports.popleft()
                continue
            if report is not None:
                work.join(timeout=_PATIENCE)  # it ends by itself: a halt would hit its last steps
            if isinstance(report, _Failed) and isinstance(report.error, MemoryError):
                raise Stopped(memory.WORDS)
            if isinstance(report, _Failed):
                raise report.error
            if isinstance(report, _Done):
                result: T = report.result
                return result
    except Stopped:
        _hand_over(work, on_post)
        raise
    except KeyboardInterrupt as stop:
        _unheard.clear()
        _hand_over(work, on_post)
        raise Interrupted(str(stop) or "Ctrl-C") from None
    finally:
        work.halt()


def _hand_over(work: _Work[T], on_post: Callable[[object], None]) -> None:
    """Hand over what was posted before the work was stopped."""
    work.halted.set()  # first: work that goes on posting would never leave the row empty
    while work.reports:
        report = work.reports[0]
        if isinstance(report, _Posted):
            on_post(report.what)
        work.reports.popleft()


def _next(work: _Work[T], deadline: float | None) -> object:
    if _unheard:
        raise Terminated(_unheard[0])
    left = _TICK if deadline is None else min(_TICK, deadline - time.monotonic())
    if left <= 0:
        raise Stopped("stopped at the time limit")
    too_much = memory.over()
    if too_much:
        raise Stopped(too_much)
    if not work.reports:
        work.ready.wait(left)
        work.ready.clear()
    return work.reports[0] if work.reports else None


def ignore_late_halts() -> None:
    """Say nothing where a halt came to a thread while Python cleaned up behind it."""
    before = sys.unraisablehook

    def hook(found: sys.UnraisableHookArgs) -> None:
        if not issubclass(found.exc_type, _Halt):
            before(found)

    sys.unraisablehook = hook


@contextmanager
def until_alone(patience: float = 60.0) -> Iterator[None]:
    """Wait in the end until no thread that was started within goes on: a fork takes none along.

    What went on before is not waited for: a process that forks nothing may import this.
    """
    before = set(threading.enumerate())
    yield
    end = time.monotonic() + patience
    while set(threading.enumerate()) - before and time.monotonic() < end:
        time.sleep(_TICK / 10)


def still_busy() -> bool:
    """Whether some thread of this process goes on, be it halted work or a solver's own."""
    return threading.active_count() > 1
