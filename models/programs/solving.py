"""What every solver's adapter shares: a call that a limit or Ctrl-C can end, and one error.

Native solvers run C++ for minutes, during which Python handles no signal. So the call runs in a
thread of its own while the caller's thread waits, watches the clock, and asks the solver to stop.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import TypeVar

from blowproof.models.base.clock import glance, real_left
from blowproof.models.base.errors import InternalError

__all__ = ["SolverDisagreementError", "run_interruptibly"]

_POLL_SECONDS = 0.05
_DRAIN_SECONDS = 5.0

Result = TypeVar("Result")


class SolverDisagreementError(InternalError):
    """A solver's answer does not pass the model's own `evaluate`, or contradicts itself."""


def run_interruptibly(
    work: Callable[[], Result],
    *,
    cancel: Callable[[], None],
    time_limit: float | None = None,
    stop: Callable[[], bool] | None = None,
    watch: Callable[[], None] | None = None,
) -> Result:
    """Return `work()`, asking it to end through `cancel` at the limit, on `stop()` or on Ctrl-C.

    The limit is in real seconds; the real end of the budget (models/base/clock) is one, too.

    `work` must return soon after `cancel` was called, with whatever it has. `watch` is called now
    and then in the caller's thread, for progress. What `work`, `stop` or `watch` raise is raised
    here, and so is KeyboardInterrupt, after the solver has ended.

    >>> run_interruptibly(lambda: 6 * 7, cancel=lambda: None)
    42
    """
    done = threading.Event()
    outcome: list[Result] = []
    failure: list[BaseException] = []

    def body() -> None:
        try:
            outcome.append(work())
        except BaseException as error:  # handed to the caller's thread below
            failure.append(error)
        finally:
            done.set()

    limits = [seconds for seconds in (time_limit, real_left()) if seconds is not None]
    deadline = time.monotonic() + min(limits) if limits else None
    threading.Thread(target=body, name="blowproof-solver").start()
    try:
        _wait(done, deadline=deadline, cancel=cancel, stop=stop, watch=watch)
    except BaseException:
        _drain(done, cancel)
        raise
    if failure:
        raise failure[0]
    return outcome[0]


def _wait(
    done: threading.Event,
    *,
    deadline: float | None,
    cancel: Callable[[], None],
    stop: Callable[[], bool] | None,
    watch: Callable[[], None] | None,
) -> None:
    """Wait for the event (never with Thread.join: cpython#90882, Ctrl-C there loses the thread).

    The request to stop is repeated: a solver that has not begun yet forgets it (or-tools#3621).
    """
    stopping = False
    while not done.wait(_pause(deadline, stopping=stopping)):
        late = deadline is not None and time.monotonic() >= deadline
        stopping = stopping or glance() or late or (stop is not None and stop())
        if stopping:
            cancel()
        elif watch is not None:
            watch()
    if watch is not None:
        watch()


def _pause(deadline: float | None, *, stopping: bool) -> float:
    if deadline is None or stopping:
        return _POLL_SECONDS
    return min(_POLL_SECONDS, max(0.0, deadline - time.monotonic()))


def _drain(done: threading.Event, cancel: Callable[[], None]) -> None:
    """Let the solver end before the error goes on, but not for ever: a person pressed Ctrl-C."""
    give_up = time.monotonic() + _DRAIN_SECONDS
    cancel()
    while not done.wait(_POLL_SECONDS) and time.monotonic() < give_up:
        cancel()
