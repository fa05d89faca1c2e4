"""Refusals of drawn questions are counted, and bounded.

A question that is refused, or ends in bounds, shows nothing about an engine's answers. If tests
merely left it out, an engine that refuses everything would pass them all. So each such question is
counted, and a test fails that meets more of them than its mark `refusals(most)` allows.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NoReturn

from hypothesis import reject

_met: Counter[str] = Counter()


def left_out(error: BaseException | str) -> None:
    """Count a question that is left out, where the drawn example goes on."""
    _met[error if isinstance(error, str) else type(error).__name__] += 1


def refuse(error: BaseException | str) -> NoReturn:
    """Leave this drawn example out, and count it."""
    left_out(error)
    reject()


def answered(fine: bool, why: str) -> None:
    """Leave this example out and count it, unless all is fine: an `assume` that is not silent."""
    if not fine:
        refuse(why)


@contextmanager
def at_most(most: int) -> Iterator[None]:
    """Fail at the end if more examples than `most` were refused."""
    _met.clear()
    yield
    total = _met.total()
    told = ", ".join(f"{times} times {name}" for name, times in sorted(_met.items()))
    assert total <= most, (
        f"{total} drawn questions were refused where at most {most} may be: {told}. "
        "If an engine is to refuse them, raise the number in the mark `refusals`"
    )
