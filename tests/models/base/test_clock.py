"""Work in turns: a worker pauses inside its look at the clock, and goes on where it was."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from blowproof.models.base.clock import Budget, Worker, glance, now, pay, real_left, spend, waiting
from blowproof.models.base.kept import cached_property

LOCKED = re.compile(r"^from functools import .*\bcached_property\b", re.MULTILINE)


def work_for(seconds: float) -> None:
    """Look at the clock for so long, by the worker's own time."""
    end = now() + seconds
    while now() < end:
        pass


def test_a_worker_goes_on_where_it_was() -> None:
    done: list[int] = []

    def work() -> str:
        for number in range(3):
            work_for(0.02)
            done.append(number)
        return "all"

    worker, turns = Worker(work), 0
    while not worker.turn(0.005):
        turns += 1
    assert done == [0, 1, 2] and worker.result == "all"
    assert turns >= 3  # 60 ms of work in turns of 5 ms


def test_its_time_stands_still_while_others_work() -> None:
    seen: list[float] = []

    def work() -> None:
        for _ in range(4):
            seen.append(now())
            work_for(0.002)

    worker = Worker(work)
    while not worker.turn(0.001):
        time.sleep(0.05)
    assert max(seen) - min(seen) < 0.05 * 3  # the pauses do not count


def test_when_the_real_end_has_passed_every_deadline_has() -> None:
    def work() -> int:
        end, count = now() + 1800, 0
        while now() < end:
            count += 1
            if count == 10:
                worker.end = time.monotonic()
        return count

    with Budget(3600):
        worker = Worker(work)
        assert worker.turn(60) and worker.result == 10


def test_a_deadline_counts_work_and_not_the_time_on_the_wall() -> None:
    with Budget():
        end = now() + 1
        time.sleep(0.01)
        assert now() < end
        spend(1)
        assert now() > end


def test_less_than_a_step_of_work_adds_up() -> None:
    with Budget():
        begun = now()
        for _ in range(1 << 14):
            spend(2.0**-14)
        assert now() - begun == 1 + 2.0**-13


def test_a_look_says_how_much_was_done_since_the_last_one() -> None:
    with Budget():
        begun = now()
        for _ in range(1000):
            now(2.0**-16)
        assert now() - begun == 1000 * 2.0**-16 + 2.0**-13
        told: list[float] = []

        def work() -> None:
            told.extend(now(0.5) for _ in range(4))

        worker = Worker(work)
        turns = 1
        while not worker.turn(0.6):
            turns += 1
        assert worker.used == 2.0 and turns == 2
        assert [later - told[0] for later in told] == [0.0, 0.5, 1.0, 1.5]


def test_work_in_one_piece_is_paid_turn_by_turn_before_it_is_done() -> None:
    """Another has its turns while somebody pays, and who has too little time does not begin."""
    done: list[str] = []

    def model() -> str:
        pay(1.0, None)
        done.append("model")
        return "model"

    def walk() -> str:
        for _ in range(3):
            work_for(0.1)
        done.append("walk")
        return "walk"

    workers = [Worker(model), Worker(walk)]
    while workers:
        workers = [worker for worker in workers if not worker.turn(0.2)]
    assert done == ["walk", "model"]
    with Budget() as budget, pytest.raises(TimeoutError):
        pay(1.0, now() + 0.5)
    assert budget.used < 0.5


def test_the_same_work_is_told_the_same_times() -> None:
    told: list[list[float]] = []
    for pause in (0.0, 1.1):
        time.sleep(pause)
        with Budget() as budget:
            for number in range(50):
                spend(0.001 * number)
                now()
            told.append([now() - budget.start, budget.used])
    assert told[0] == told[1]


def test_workers_of_a_worker_spend_its_share() -> None:
    done: list[str] = []

    def outer() -> None:
        def work() -> None:
            work_for(1.0)
            done.append("inner")

        inner = Worker(work)
        while not inner.turn(0.7):
            pass
        done.append("outer")

    with Budget() as budget:
        worker, turns = Worker(outer), 0
        while not worker.turn(0.1):
            turns += 1
        assert done == ["inner", "outer"]
        assert turns >= 9 and 1.0 <= worker.used <= budget.used


@pytest.mark.wall_clock
def test_who_pauses_in_a_property_keeps_nobody_waiting() -> None:
    """The library's has one lock for all objects of a class: the other worker waited for ever."""

    class Square:
        @cached_property
        def side(self) -> int:
            work_for(0.5)
            return 2

    with Budget(5.0):
        workers = [Worker(lambda: Square().side) for _ in range(2)]
        going = list(workers)
        while going:
            going = [worker for worker in going if not worker.turn(0.1)]
        assert [worker.result for worker in workers] == [2, 2]
        assert not glance()


def test_inside_of_a_budget_another_one_counts_nothing_of_its_own() -> None:
    with Budget(100) as outer, Budget(1) as inner:
        now()
        left = real_left()
    assert (inner.used, outer.used > 0) == (0.0, True)
    assert left is not None and left > 1


def test_who_waits_for_a_compiler() -> None:
    assert waiting(0.3) == 0.3 and not glance() and real_left() is None
    with Budget():
        assert waiting(0.3) is None
    with Budget(400):
        left = waiting(0.3)
    assert left is not None and 50 < left <= 100


def test_what_it_raises_is_raised_where_it_had_its_turn() -> None:
    def work() -> None:
        work_for(0.002)
        raise ValueError("as it is")

    worker = Worker(work)
    with pytest.raises(ValueError, match="as it is"):
        while not worker.turn(0.001):
            pass
    assert worker.dead


def test_a_worker_that_is_stopped_lets_go_of_what_it_holds() -> None:
    closed: list[bool] = []

    def work() -> None:
        try:
            work_for(3600)
        finally:
            closed.append(True)

    worker = Worker(work)
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

    worker = Worker(work)
    while not worker.turn(0.001):
        pass
    assert worker.result == sorted(worker.result)


def test_properties_are_kept_without_a_lock() -> None:
    """Whatever is derived where workers take turns: models, verifier, mechanisms."""
    root = Path(__file__).resolve().parents[3]
    paths = [
        path for top in ("models", "verifier", "mechanisms") for path in (root / top).rglob("*.py")
    ]
    assert len(paths) > 500
    locked = [path.name for path in paths if LOCKED.search(path.read_text(encoding="utf-8"))]
    assert not locked
