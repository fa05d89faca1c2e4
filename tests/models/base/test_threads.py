"""Matrices are worked on by one thread inside, and by as many as before outside."""

from __future__ import annotations

import threading

import numpy as np  # loaded, so that there is a library
import pytest

from blowproof.mechanisms.planning import planner
from blowproof.mechanisms.planning.workload import workload
from blowproof.mechanisms.release.request import Request
from blowproof.models import Domain, Integers, Policy
from blowproof.models.base import threads
from blowproof.models.base.threads import one_thread


class Library:
    """Stands in for one that was loaded with so many threads."""

    def __init__(self, many: int) -> None:
        self.many = many

    def functions(self) -> threads.Library:
        return lambda: self.many, lambda number: setattr(self, "many", number)


@pytest.fixture
def library(monkeypatch: pytest.MonkeyPatch) -> Library:
    found = Library(4)
    monkeypatch.setattr(threads, "_loaded", lambda: iter([found.functions()]))
    return found


def test_one_thread_inside_and_as_many_as_before_outside(library: Library) -> None:
    with one_thread():
        assert library.many == 1
        with one_thread():
            assert library.many == 1
        assert library.many == 1
    assert library.many == 4


def test_it_is_set_back_after_an_error(library: Library) -> None:
    with pytest.raises(ZeroDivisionError), one_thread():
        raise ZeroDivisionError
    assert library.many == 4


def test_the_last_of_several_threads_sets_it_back(library: Library) -> None:
    inside, leave = threading.Event(), threading.Event()

    def work() -> None:
        with one_thread():
            inside.set()
            leave.wait()

    other = threading.Thread(target=work)
    with one_thread():
        other.start()
        inside.wait()
    assert library.many == 1
    leave.set()
    other.join()
    assert library.many == 4


def test_a_plan_is_made_by_one_thread(library: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[int] = []
    kept = planner.lower_bound

    def bound(*args: object, **more: object) -> object:
        seen.append(library.many)
        return kept(*args, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(planner, "lower_bound", bound)
    policy = Policy(domain=Domain(x=Integers(0, 3)))
    work = workload(["histogram"], [], policy)
    request = Request(policy=policy, query=work.queries[0], epsilon=1)  # type: ignore[arg-type]
    planner.planned(request, work, size=None)
    assert seen == [1]
    assert library.many == 4


def test_the_libraries_that_wheels_bring_are_found() -> None:
    """Where numpy came with an OpenBLAS of its own, what is set is what it says afterwards."""
    assert np.eye(2).trace() == 2
    for get, set_ in threads._loaded():
        before = get()
        with one_thread():
            assert get() == 1
        assert get() == before
        set_(before)
