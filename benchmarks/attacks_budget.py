"""Attacks on the budget: processes killed around a charge, and four at once on one budget.

Children are forked and use the public `blowproof.release`, with a ledger of their own in a
temporary folder. What counts is what an observer holds: every complete file of answers costs its
epsilon, whatever became of the process that wrote it.
"""

from __future__ import annotations

import os
import random
import signal
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import blowproof
from blowproof.mechanisms.base.errors import LedgerError, RefusedError
from blowproof.mechanisms.budget.accounts import Book
from blowproof.mechanisms.budget.ledger import Ledger
from blowproof.models import BlowproofError

__all__ = ["four_at_once", "killed"]

POLICY = {"domain": {"region": ["north", "south"], "size": {"min": 1, "max": 3}}}
PEOPLE = "region,size\n" + "north,1\nsouth,3\nnorth,2\n" * 40
AT_ONCE = 4


class Place:
    """A folder with data, a ledger and what was released."""

    def __init__(self, folder: str) -> None:
        self.folder = Path(folder)
        self.data, self.ledger = self.folder / "people.csv", self.folder / "ledger.sqlite"
        self.data.write_text(PEOPLE)
        os.environ["BLOWPROOF_STATE"] = str(self.folder / "state")

    def release(self, name: str, epsilon: Fraction) -> None:
        """Release the histogram into a file of this name, on a budget of 1."""
        blowproof.release(
            POLICY, self.data, epsilon=epsilon, budget=1, ledger=self.ledger,
            output=self.folder / f"{name}.csv",
        )  # fmt: skip

    def held(self, epsilon: Fraction) -> Fraction:
        """What the files that were written cost together."""
        return epsilon * len([p for p in self.folder.glob("out-*.csv") if p.stat().st_size])

    def spent(self) -> Fraction:
        """What the ledger says, once its chain is verified."""
        accounts = Book(Ledger(self.ledger).entries()).accounts
        return sum((item.spent for account in accounts for item in account.guarantees), Fraction(0))


def killed(rng: random.Random, tries: int, counts: Counter[str]) -> Iterator[str | None]:
    """A process that releases in a loop is killed (-9): at any call of Python, or from outside.

    Afterwards the ledger is in order, has charged all that came out and at most one release more,
    and goes on: the rest of the budget can be spent, and nothing beyond it.
    """
    epsilon = Fraction(1, 6)
    calls, seconds = _measured(epsilon)
    for number in range(tries):
        with tempfile.TemporaryDirectory() as folder:
            place = Place(folder)
            loop = _loop(place, epsilon, "first")
            if number % 2:
                child = _forked(partial(_dying, loop, rng.randrange(2 * calls)))
            else:
                child = _forked(loop)
                time.sleep(rng.uniform(0, 3 * seconds))
                with suppress(ProcessLookupError):
                    os.kill(child, signal.SIGKILL)
            _, status = os.waitpid(child, 0)
            counts["killed" if os.WIFSIGNALED(status) else "ended before"] += 1
            yield _verdict(place, epsilon, counts)


def _verdict(place: Place, epsilon: Fraction, counts: Counter[str]) -> str | None:
    """Say what is wrong after the kill, or None."""
    try:
        held, spent = place.held(epsilon), place.spent()
        counts["charged, not written"] += spent > held
        if not held <= spent <= min(held + epsilon, 1):
            return f"answers worth {held} are out, and {spent} is charged"
        _finished(_forked(_loop(place, epsilon, "second")))
        held, spent = place.held(epsilon), place.spent()
    except LedgerError as error:
        return f"the ledger is damaged: {error}"
    left = [path.name for path in place.folder.iterdir() if path.name.startswith(".")]
    if spent != 1 or not 1 - epsilon <= held <= 1:
        return f"in the end answers worth {held} are out, and {spent} is charged"
    return f"temporary files stay: {left}" if left else None


def four_at_once(rng: random.Random, tries: int, counts: Counter[str]) -> Iterator[str | None]:
    """Four processes release on one budget until they are refused: exactly the budget comes out."""
    for _ in range(tries):
        epsilon = Fraction(1, rng.randint(5, 13))
        with tempfile.TemporaryDirectory() as folder:
            place = Place(folder)
            children = [_forked(_loop(place, epsilon, f"{k}")) for k in range(AT_ONCE)]
            for child in children:
                _finished(child)
            held, spent = place.held(epsilon), place.spent()
            counts["releases"] += int(held / epsilon)
            wrong = f"answers worth {held} are out, and {spent} of 1 is charged"
            yield None if held == spent == 1 else wrong


def _loop(place: Place, epsilon: Fraction, name: str) -> Callable[[], None]:
    """Release until refused."""

    def loop() -> None:
        number = 0
        with suppress(RefusedError):
            while True:
                place.release(f"out-{name}-{number}", epsilon)
                number += 1

    return loop


def _measured(epsilon: Fraction) -> tuple[int, float]:
    """Calls of Python functions, and seconds, that one release takes; all is imported then."""
    with tempfile.TemporaryDirectory() as folder:
        Place(folder).release("warm", epsilon)
    with tempfile.TemporaryDirectory() as folder:
        counted = Path(folder) / "counted"

        def task() -> None:
            place, calls = Place(folder), [0]
            place.release("out-0", epsilon)
            start = time.perf_counter()
            place.release("out-1", epsilon)
            seconds = time.perf_counter() - start
            _profiled(lambda: calls.__setitem__(0, calls[0] + 1))
            place.release("out-2", epsilon)
            _profiled(None)
            counted.write_text(f"{calls[0]} {seconds}")

        _finished(_forked(task))
        calls, seconds = counted.read_text().split()
        return int(calls), float(seconds)


def _dying(loop: Callable[[], None], at: int) -> None:
    """Run the loop, and kill this very process at the given call of a Python function."""
    left = [at]

    def count() -> None:
        left[0] -= 1
        if left[0] < 0:
            os.kill(os.getpid(), signal.SIGKILL)

    _profiled(count)
    loop()


def _profiled(each: Callable[[], None] | None) -> None:
    """Call `each` at every call of a function, in this thread and in those that begin."""

    def profile(frame: Any, event: str, argument: Any) -> None:
        if event == "call" and each is not None:
            each()

    threading.setprofile(None if each is None else profile)  # type: ignore[arg-type]
    sys.setprofile(None if each is None else profile)


def _forked(task: Callable[[], None]) -> int:
    """Start a child that runs the task and ends; return its number."""
    child = os.fork()
    if child:
        return child
    code = 1
    try:
        task()
        code = 0
    except BlowproofError as error:
        print(f"a child was refused: {error}", file=sys.stderr)
    finally:
        os._exit(code)


def _finished(child: int) -> None:
    _, status = os.waitpid(child, 0)
    if status:
        raise ChildProcessError(f"a child ended with {status}")
