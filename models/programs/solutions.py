"""All solutions of a linear model as an iterator, with the search in a thread behind it."""

from __future__ import annotations

import math
import queue
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress

from blowproof.models.base.clock import glance, now
from blowproof.models.programs.linear import LinearModel
from blowproof.models.programs.solving import SolverDisagreementError
from blowproof.models.programs.to_cpsat import AllSolutions

__all__ = ["Solutions"]

_QUEUE_LENGTH = 256
_POLL_SECONDS = 0.02


class Solutions:
    """The solutions, one at a time: iterate, then `complete` says whether these were all.

    The search runs ahead by a few hundred solutions only, and ends when the loop is left. The time
    limit counts the consumer's time too. Each solution has passed `LinearModel.evaluate`, and none
    comes twice (the ones already seen are kept in a set for that).

    >>> model = LinearModel()
    >>> x, y = model.int_var("x", lower=0, upper=2), model.bool_var("y")
    >>> _ = model.add(x + y, lower=2, upper=2)
    >>> found = Solutions(model, limit=10)
    >>> sorted(s["x"] for s in found), found.complete
    ([1, 2], True)
    """

    def __init__(
        self,
        model: LinearModel,
        *,
        limit: int | None = None,
        time_limit: float | None = None,
        stop: Callable[[], bool] | None = None,
    ) -> None:
        self.complete = False
        self._model = model
        self._limit = math.inf if limit is None else limit
        self._time_limit = math.inf if time_limit is None else time_limit
        self._stop = stop

    def __iter__(self) -> Iterator[dict[str, int]]:
        self.complete = False
        seen: set[tuple[int, ...]] = set()
        for assignment in self._found():
            key = tuple(assignment.values())
            if key in seen:
                continue
            if len(seen) >= self._limit:
                return  # one more than asked for, so those were not all
            seen.add(key)
            broken = self._model.evaluate(assignment)
            if broken:
                raise SolverDisagreementError(f"CP-SAT enumerates what violates {broken[0]}")
            yield assignment
        # Here `_found` has ended by itself, and has set `complete`.

    def _found(self) -> Iterator[dict[str, int]]:
        """Yield what the search puts into the queue, until either side ends."""
        deadline = time.monotonic() + self._time_limit
        search = _Background(self._model)
        try:
            while not search.exhausted():
                late = glance() or time.monotonic() >= deadline
                if late or (self._stop is not None and self._stop()):
                    return
                assignment = search.next()
                if assignment is not None:
                    now()  # others may have their turn
                    yield assignment
            self.complete = search.complete()
        finally:
            search.close()


class _Background:
    """The searching thread, and the short queue between it and the consumer."""

    def __init__(self, model: LinearModel) -> None:
        self._found: queue.Queue[dict[str, int] | None] = queue.Queue(_QUEUE_LENGTH)
        self._closed, self._done = threading.Event(), threading.Event()
        self._outcome: list[bool | BaseException] = []
        self._search = AllSolutions(model, self._put)
        threading.Thread(target=self._run, name="blowproof-solutions").start()

    def _run(self) -> None:
        try:
            self._outcome.append(self._search.run())
        except BaseException as error:  # raised in the consumer's thread by `complete`
            self._outcome.append(error)
        finally:
            self._done.set()
            with suppress(queue.Full):
                self._found.put_nowait(None)  # wakes a consumer that waits for one more

    def _put(self, assignment: dict[str, int]) -> None:
        # The main thread may end while somebody still holds an unfinished iterator.
        while not self._closed.is_set() and threading.main_thread().is_alive():
            try:
                return self._found.put(assignment, timeout=_POLL_SECONDS)
            except queue.Full:
                continue
        self._search.cancel()

    def exhausted(self) -> bool:
        """Return whether the search has ended and everything has been taken."""
        return self._done.is_set() and self._found.empty()

    def next(self) -> dict[str, int] | None:
        """Return a solution, or None when there is none for a moment, or none any more."""
        try:
            return self._found.get(timeout=_POLL_SECONDS)
        except queue.Empty:
            return None

    def complete(self) -> bool:
        """Return whether the ended search found everything; raise what ended it otherwise."""
        outcome = self._outcome[0]
        if isinstance(outcome, BaseException):
            raise outcome
        return outcome

    def close(self) -> None:
        """Stop searching, and wait until that is so."""
        self._closed.set()
        while not self._done.wait(_POLL_SECONDS):
            self._search.cancel()
