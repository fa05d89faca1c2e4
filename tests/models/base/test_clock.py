"""Work in turns: a worker pauses inside its look at the clock, and goes on where it was."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

from blowproof.models.base.clock import Worker, now


def spend(seconds: float) -> None:
    """Work for so long, by the worker's own time."""
    end = now() + seconds
    while now() < end:
        pass


def test_a_worker_goes_on_where_it_was() -> None:
    done: list[int] = []

    def work() -> str:
        for number in range(3):
            spend(0.02)
            done.append(number)
        return "all"

    worker, turns = Worker(work, end=None), 0
    while not worker.turn(0.005):
        turns += 1
    assert done == [0, 1, 2] and worker.result == "all"
    assert turns >= 3  # 60 ms of work in turns of 5 ms


def test_its_time_stands_still_while_others_work() -> None:
    seen: list[float] = []

    def work() -> None:
        for _ in range(4):
            seen.append(now())
            spend(0.002)

    worker = Worker(work, end=None)
    while not worker.turn(0.001):
        time.sleep(0.05)
    assert max(seen) - min(seen) < 0.05 * 3  # the pauses do not count


def test_when_the_time_is_over_every_deadline_has_passed() -> None:
    def work() -> int:
        end, count = now() + 3600, 0
        while now() < end:
            count += 1
            if count > 10:
                worker.end = time.monotonic()
                end = time.monotonic()
        return count

    worker = Worker(work, end=None)
    assert worker.turn(60) and worker.result == 11


def test_what_it_raises_is_raised_where_it_had_its_turn() -> None:
    def work() -> None:
        spend(0.002)
        raise ValueError("as it is")

    worker = Worker(work, end=None)
    with pytest.raises(ValueError, match="as it is"):
        while not worker.turn(0.001):
            pass
    assert worker.dead


def test_a_worker_that_is_stopped_lets_go_of_what_it_holds() -> None:
    closed: list[bool] = []

    def work() -> None:
        try:
            spend(3600)
        finally:
            closed.append(True)

    worker = Worker(work, end=None)
    assert not worker.turn(0.001)
    worker.stop()
    assert closed == [True] and worker.dead


def test_generators_and_solvers_see_the_same_clock() -> None:
    def numbers() -> Iterator[float]:
        while True:
            yield now()

    def work() -> list[float]:
        stream = numbers()
        return [next(stream) for _ in range(5)]

    worker = Worker(work, end=None)
    while not worker.turn(0.001):
        pass
    assert worker.result == sorted(worker.result)
