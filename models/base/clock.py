"""The clock of work that is counted, and can take turns.

Engines look at the time often, to keep their deadlines. While a question is answered (inside a
`Budget`), the time that they are told is not that of a clock on the wall: it counts work. A look at
the clock is one step, unless it says how much was done since the last one; and what takes longer
than a step between two looks says so (`spend`): nodes of a search, a solver's own count. Counted
work is the same on a busy machine and on a quiet one, so a question gets the same answer by the
same engine on both. It is written in seconds, as a usual machine would need for it. Real seconds
only stop: past the real end, all deadlines are told to have passed.

Work that runs as a `Worker` does so in turns. When its share of work is used up, it hands over to
whoever gave it its turn, inside of the look; later it goes on where it was. A worker has a thread,
and only one of the threads runs at a time: who gives a turn waits until it is over. So nothing that
workers share needs a lock. Workers may have workers of their own, whose work counts as theirs.

Outside of all this, the time is that of `time.monotonic`.

>>> with Budget(10.0):
...     worker = Worker(lambda: (spend(1.0), now(), "done")[-1])
...     worker.turn(0.5), worker.turn(1.0), worker.result
(False, True, 'done')
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import TracebackType
from typing import Any

__all__ = [
    "SHORT",
    "Budget",
    "Pace",
    "Worker",
    "by_processor",
    "counting",
    "finish",
    "glance",
    "now",
    "pay",
    "real_left",
    "share_left",
    "spend",
    "waiting",
]

STEP = 2.0**-13
"""Seconds that one look at the clock stands for; a power of two, so that sums of it are exact."""

SHORT = 2.0**-16
"""What passes between two looks where a loop looks at one class, or two, in each turn."""

PATIENCE = 2.0
"""Seconds to wait for a worker that was told to end, and may be inside a solver."""

LATE = 1.0
"""Seconds past its end that a worker is waited for."""

PACE = 1e-3
"""Seconds of work in small pieces between two looks."""

GLANCE = 0.05
"""Who waits for a turn to end looks up so often: for Ctrl-C."""


class _End(BaseException):
    """Raised inside a worker to end it."""


def now(work: float = STEP) -> float:
    """Return the time by which deadlines are told, in seconds; a worker may pause in here.

    `work`: the seconds of it since the last look.
    """
    budget = _budgets.get(threading.get_ident())
    return time.monotonic() if budget is None else budget.look(work)


def spend(seconds: float) -> None:
    """Count work that was done since the last look at the clock; less than a step adds up."""
    budget = _budgets.get(threading.get_ident())
    if budget is not None:
        budget.count(seconds)


def pay(seconds: float, end: float | None) -> None:
    """Count work that will be done in one piece, in as many turns as it takes, before it is done.

    So it does not take the turns of others. TimeoutError where `end` comes first.

    >>> with Budget() as budget:
    ...     pay(0.12, None)
    ...     round(budget.used, 2)
    0.12
    """
    if end is not None and now() + seconds > end:
        raise TimeoutError
    while seconds > 0:
        step = min(seconds, GLANCE)
        seconds -= step
        if now(step) > (math.inf if end is None else end):
            raise TimeoutError


@contextmanager
def by_processor() -> Iterator[None]:
    """Count the work in here that looks at no clock by the processor's time of this thread.

    That varies a little, as that of the same work does, but not by how much else a machine has to
    do. What looks at the clock in here counts once.

    >>> with Budget() as budget:
    ...     with by_processor():
    ...         spend(1.0)
    ...     budget.used
    1.0
    """
    budget = _budgets.get(threading.get_ident())
    if budget is None:
        yield
        return
    used, begun = budget.used, time.thread_time()
    try:
        yield
    finally:
        budget.count(max(0.0, time.thread_time() - begun - (budget.used - used)))


def counting() -> bool:
    """Return whether work is counted here."""
    return threading.get_ident() in _budgets


def real_left() -> float | None:
    """Return the real seconds until work has to be back (None: no end); never below zero."""
    budget = _budgets.get(threading.get_ident())
    return None if budget is None else budget.real_left()


def share_left() -> float | None:
    """Return how much work is left of this turn; None where work is not counted in turns."""
    budget = _budgets.get(threading.get_ident())
    return budget.share_left() if budget is not None else None


def glance() -> bool:
    """Return whether the real end has passed, without a step; a worker that was ended ends here."""
    budget = _budgets.get(threading.get_ident())
    return budget is not None and budget.over()


def waiting(seconds: float) -> float | None:
    """Return how long, in real time, to wait for what is made ready elsewhere (None: for ever).

    So long, or a quarter of the real time that is left. Where there is no end to it, work must not
    depend on how busy the machine is.
    """
    left = real_left()
    if left is not None:
        return max(seconds, left / 4)
    return None if counting() else seconds


def finish() -> None:
    """End the worker that calls this: there is nothing left to do. Nothing happens elsewhere."""
    if isinstance(_budgets.get(threading.get_ident()), Worker):
        raise _End


class Budget:
    """Counted work on this thread; `seconds`: when to stop, in work and in real time.

    It starts at a whole number, so that the same work is told the same times but for that number.
    Inside of another budget, work goes on being counted by that one.
    """

    def __init__(self, seconds: float | None = None) -> None:
        self.start, self.used, self.owed = float(math.floor(time.monotonic())), 0.0, 0.0
        self.until = None if seconds is None else self.start + seconds
        self.end = None if seconds is None else time.monotonic() + seconds
        self._entered = False

    def __enter__(self) -> Budget:
        self._entered = threading.get_ident() not in _budgets
        if self._entered:
            _budgets[threading.get_ident()] = self
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._entered:
            del _budgets[threading.get_ident()]

    def count(self, seconds: float) -> None:
        """Count work; less than a step adds up."""
        steps, self.owed = divmod(self.owed + seconds, STEP)
        self.used += steps * STEP

    def look(self, work: float = STEP) -> float:
        """Return the time by work done; far enough on, once the real end has passed."""
        self.count(work)
        if self.end is not None and (late := time.monotonic() - self.end) >= 0:
            return max(self.start + self.used, self.until or 0.0) + late
        return self.start + self.used

    def over(self) -> bool:
        """Return whether the real end has passed."""
        return self.end is not None and time.monotonic() >= self.end

    def real_left(self) -> float | None:
        """Return the real seconds until the end."""
        return None if self.end is None else max(0.0, self.end - time.monotonic())

    def share_left(self) -> float | None:
        """Return how much work is left before others have their turn: here there are none."""
        return None


class Pace:
    """Work in pieces too small to look at the clock after each: it looks once a millisecond of it.

    >>> with Budget() as budget:
    ...     pace = Pace(budget.start + 1.0)
    ...     [pace.over(0.4) for _ in range(4)], budget.used > 1.5
    ([False, False, True, True], True)
    """

    def __init__(self, deadline: float | None = None) -> None:
        self.deadline, self.late, self._unseen = deadline, False, 0.0

    def over(self, seconds: float) -> bool:
        """Count so much work, and return whether the deadline had passed at the last look."""
        self._unseen += seconds
        if self._unseen >= PACE:
            time_told = now(self._unseen)
            self._unseen = 0.0
            self.late = self.deadline is not None and time_told >= self.deadline
        return self.late

    def fits(self, seconds: float) -> bool:
        """Count work that is done in one piece, unless it would not be done by the deadline."""
        if self.deadline is not None and now() + seconds > self.deadline:
            return False
        return not self.over(seconds)


class Worker(Budget):
    """Work that is done in turns; `result` is what it returned, once `dead`.

    `part`: of the real time that is left to whoever makes it. It begins at the time that its maker
    is told, and `until` is when that part has passed by work.
    """

    def __init__(self, work: Callable[[], Any], *, part: float = 1.0) -> None:
        self.maker = _budgets.get(threading.get_ident())
        left = None if self.maker is None else self.maker.real_left()
        super().__init__(None if left is None else part * left)
        if self.maker is not None:
            self.start = self.maker.start + self.maker.used
            self.until = self.maker.until
        self.work = work
        self.result: Any = None
        self.begun = self.dead = False
        self._error: BaseException | None = None
        self._stopped = False
        self._share = 0.0
        self._go, self._back = threading.Event(), threading.Event()

    def turn(self, seconds: float) -> bool:
        """Let it do so much work; return whether it has ended. What it raises is raised here.

        A worker that does not look at the clock takes longer, and is left behind after its end.
        Where its maker is a worker itself, the maker's own turn may end before this one does.
        """
        while seconds > 0 and not self.dead:
            room = None if self.maker is None else self.maker.share_left()
            before, share = self.used, seconds if room is None else min(seconds, room)
            if not self._some(share):
                return False
            done = self.used - before
            seconds -= max(done, STEP)
            if self.maker is not None:
                self.maker.used += done
                self.maker.look()
        return self.dead

    def _some(self, share: float) -> bool:
        """Let it work for one share; return False where it was left behind."""
        self._share = self.used + share
        self._back.clear()
        if not self.begun:
            self.begun = True
            threading.Thread(target=self._run, name="blowproof-worker", daemon=True).start()
        self._go.set()
        while not self._back.wait(GLANCE):
            if self.end is not None and time.monotonic() >= self.end + LATE:
                return False  # it does not look at the clock
        if self._error is not None:
            raise self._error
        return True

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

    def look(self, work: float = STEP) -> float:
        """Return the worker's own time, after a pause where its share is used up."""
        if self._stopped:
            raise _End
        if self.used >= self._share:
            self._pause()
        return super().look(work)

    def over(self) -> bool:
        """Return whether the real end has passed; end here where it was told to."""
        if self._stopped:
            raise _End
        return super().over()

    def share_left(self) -> float | None:
        """Return how much work is left of this turn."""
        return max(0.0, self._share - self.used)

    def _run(self) -> None:
        self._go.wait()
        ident = threading.get_ident()
        _budgets[ident] = self
        try:
            with suppress(_End):
                self.result = self.work()
        except BaseException as error:  # raised again by whoever gave the turn
            self._error = error
        finally:
            del _budgets[ident]
            self.dead = True
            self._back.set()

    def _pause(self) -> None:
        """Hand over, and go on at the next turn."""
        self._go.clear()
        self._back.set()
        self._go.wait()
        if self._stopped:
            raise _End


_budgets: dict[int, Budget] = {}
"""The budget of each thread that has one, by the thread's number."""
